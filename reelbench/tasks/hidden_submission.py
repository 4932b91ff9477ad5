"""A submission to a hidden test: a model's answers, and the facts of its run, without a number.

`submission.jsonl` has an id and a prediction a line, `submission.json` the rest. Both are read as a
stranger's: a line says what is wrong with them, and nothing of them is run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reelbench.base import bounds
from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import hold_size, json_lines, read_json, write_json
from reelbench.base.values import is_object, without_folders
from reelbench.registry.records import BenchmarkRecord, ModelRecord, Record, Result, SettingsRecord

FILE = "submission.json"
PREDICTIONS_FILE = "submission.jsonl"
FILES = (FILE, PREDICTIONS_FILE)

_FIELDS = {"id", "prediction"}


class Submission(Record):
    """The whole `submission.json`: which questions were asked, and of whom.

    `benchmark` names the questions by their hash, which has no answer in it.
    """

    schema_version: Literal[1] = 1
    benchmark: BenchmarkRecord
    model: ModelRecord
    settings: SettingsRecord


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A submission that was read: its record, and the predictions by their ids."""

    record: Submission
    predictions: Mapping[str, str]


def write(folder: Path, result: Result) -> None:
    """Write the record of a run on a hidden test beside its answers."""
    source = result.benchmark.source
    public_source = source.model_copy(update={"location": without_folders(source.location)})
    record = Submission(
        benchmark=result.benchmark.model_copy(update={"source": public_source}),
        model=result.model.model_copy(update={"args": without_folders(result.model.args)}),
        settings=result.settings.model_copy(
            update={"generation": without_folders(result.settings.generation)}
        ),
    )
    write_json(folder / FILE, record.model_dump(mode="json"))


def read(folder: Path) -> HandedIn:
    """Return a stranger's submission.

    Raises:
        InputError: A file is missing, too large, or not of its form.
    """
    for name in FILES:
        file = folder / name
        if file.is_symlink() or not file.is_file():
            raise InputError(
                f"{name}: is no file of its own; a submission has {' and '.join(FILES)}"
            )
    return HandedIn(read_record(folder), _predictions(folder / PREDICTIONS_FILE))


def read_record(folder: Path) -> Submission:
    """Return the record of a submission. InputError where it is none."""
    document = read_json(folder / FILE, most=bounds.BESIDE_BYTES)
    return record_of(Submission, document, FILE, "; `reelbench score` writes it", mark=": ")


def _predictions(file: Path) -> dict[str, str]:
    hold_size(file, bounds.PREDICTIONS_BYTES)
    predictions: dict[str, str] = {}
    for number, line in json_lines(file, most=bounds.PREDICTIONS_BYTES):
        where = f"{PREDICTIONS_FILE}, line {number}"
        if not is_object(line) or line.keys() != _FIELDS:
            raise InputError(f"{where}: expected an object of `id` and `prediction` alone")
        question_id = line["id"]
        prediction = line["prediction"]
        if not isinstance(question_id, str) or not isinstance(prediction, str):
            raise InputError(f"{where}: `id` and `prediction` are texts")
        if question_id in predictions:
            raise InputError(f"{where}: the id {question_id[:80]!r} occurs twice")
        bounds.hold(f"{where}: characters of the prediction", len(prediction), bounds.PREDICTION)
        predictions[question_id] = prediction
    return predictions
