"""A submission to a hidden test: a model's answers, and the facts of its run, without a number.

`submission.jsonl` has an id and a prediction a line, `submission.json` the rest. A question that
got no answer has the prediction `null` and the reason. A text that marks a failed or held-back
request is no answer either. Both files are read as a stranger's: a line
says what is wrong with them, and nothing of them is run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from reelbench.base import bounds
from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError, first_of, number_of
from reelbench.base.files import hold_size, json_lines, read_json, write_json
from reelbench.base.values import is_object, without_folders
from reelbench.registry.reasons import NO_ANSWER, Reason
from reelbench.registry.records import BenchmarkRecord, ModelRecord, Record, Result, SettingsRecord
from reelbench.scoring import aggregation

FILE = "submission.json"
PREDICTIONS_FILE = "submission.jsonl"
FILES = (FILE, PREDICTIONS_FILE)

_ID_SHOWN = 80
"""So many characters of an id are shown in errors."""

_FIELDS = {"id", "prediction"}
_UNANSWERED_FIELDS = {"id", "prediction", "reason"}


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
    """A submission that was read.

    Attributes:
        record: Its record.
        predictions: The predictions by their ids.
        unanswered: Why there is no answer, by the id of each other question.
    """

    record: Submission
    predictions: Mapping[str, str]
    unanswered: Mapping[str, Reason] = field(default_factory=dict[str, Reason])

    @property
    def texts(self) -> dict[str, str]:
        """The text of each line. An empty one, for no answer, scores lowest."""
        return {**self.predictions, **dict.fromkeys(self.unanswered, "")}


def write_record(folder: Path, result: Result) -> None:
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


def read_submission(folder: Path) -> HandedIn:
    """Return a stranger's submission.

    Raises:
        InputError: A file is missing, too large, or not of its form.
    """
    for name in FILES:
        file = folder / name
        if file.is_symlink() or not file.is_file():
            raise InputError(
                f"{name}: is not a file of its own; a submission has {' and '.join(FILES)}"
            )
    return _with_predictions(read_record(folder), folder / PREDICTIONS_FILE)


def read_record(folder: Path) -> Submission:
    """Return the record of a submission. InputError where it is none."""
    document = read_json(folder / FILE, most=bounds.BESIDE_BYTES)
    return record_of(Submission, document, FILE, "; `reelbench score` writes it", mark=": ")


def refuse_other_ids(given_ids: Iterable[str], own_ids: Iterable[str], test: str) -> None:
    """Refuse answers to other questions than a test's, or to a part of them. InputError."""
    ids_in_file = set(given_ids)
    ids_of_test = set(own_ids)
    missing = sorted(ids_of_test - ids_in_file)
    if missing:
        raise InputError(
            f"{test}: {len(missing)} of {len(ids_of_test)} questions have no line: "
            f"{_first_ids(missing)}; a file has a line for every question, and where there is no "
            'answer, `{"id": …, "prediction": null, "reason": "model_failed"}`'
        )
    foreign = sorted(ids_in_file - ids_of_test)
    if foreign:
        ids = number_of(len(foreign), "id")
        raise InputError(f"{test}: {ids} of no question: {_first_ids(foreign)}; take them out")


def _first_ids(ids: Sequence[str]) -> str:
    """Return the first ids in one line, each cut where a stranger made it long."""
    return first_of([repr(name[:_ID_SHOWN]) for name in ids], most=4)


def hand_in_advice(folder: Path) -> str:
    """Return the commands that hand in the submission of a folder."""
    return (
        f"to hand them in, `reelbench leaderboard add {folder} --store STORE`, then "
        "`reelbench leaderboard publish --store STORE --dataset ORG/RESULTS --create-pr`"
    )


def lengthy_note(file: Path) -> str | None:
    """Return a note on predictions that are too long, or None."""
    lengthy: list[str] = []
    for _, line in json_lines(file, most=bounds.SAMPLES_BYTES):
        if len(line["prediction"] or "") > bounds.PREDICTION:
            lengthy.append(line["id"])
    if not lengthy:
        return None
    return (
        f"{number_of(len(lengthy), 'prediction')} of over {bounds.PREDICTION:,} characters, "
        f"the first {lengthy[0]!r}: a hidden test refuses the file"
    )


def _with_predictions(record: Submission, file: Path) -> HandedIn:
    hold_size(file, bounds.PREDICTIONS_BYTES)
    predictions: dict[str, str] = {}
    unanswered: dict[str, Reason] = {}
    for number, line in json_lines(file, most=bounds.PREDICTIONS_BYTES):
        where = f"{PREDICTIONS_FILE}, line {number}"
        if not is_object(line) or line.keys() not in (_FIELDS, _UNANSWERED_FIELDS):
            raise InputError(
                f"{where}: expected an object of `id` and `prediction` alone, with a `reason` "
                "where the prediction is null"
            )
        question_id = line["id"]
        if not isinstance(question_id, str):
            raise InputError(f"{where}: `id` and `prediction` are texts")
        if question_id in predictions or question_id in unanswered:
            raise InputError(f"{where}: the id {question_id[:_ID_SHOWN]!r} occurs twice")
        if "reason" in line:
            unanswered[question_id] = _reason_of_no_answer(line, where)
            continue
        prediction = _checked_prediction(line, where)
        reason = aggregation.reason_in_text(prediction)
        if reason is None:
            predictions[question_id] = prediction
        else:
            unanswered[question_id] = reason
    return HandedIn(record, predictions, unanswered)


def _checked_prediction(line: Mapping[str, Any], where: str) -> str:
    prediction = line["prediction"]
    if not isinstance(prediction, str):
        raise InputError(f"{where}: `id` and `prediction` are texts")
    bounds.hold(f"{where}: characters of the prediction", len(prediction), bounds.PREDICTION)
    return prediction


def _reason_of_no_answer(line: Mapping[str, Any], where: str) -> Reason:
    """Return the reason why there is no answer."""
    if line["prediction"] is not None or line["reason"] not in NO_ANSWER:
        expected = ", ".join(sorted(NO_ANSWER))
        raise InputError(
            f"{where}: a `reason` goes with the prediction null, and is one of {expected}"
        )
    return Reason(line["reason"])
