"""A result on disk: `result.json` and `samples.jsonl`, written whole.

`questions.jsonl` may lie beside them: the questions, in the owners' words. It stays on the machine
that it was written on: no store takes it and nothing publishes it.
"""

import hashlib
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from reelbench.base import bounds, files, software
from reelbench.base.base_record import record_of
from reelbench.base.containment import contained
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.values import is_array, is_object
from reelbench.registry import discovery, records
from reelbench.registry.declaration import declaration, scoring_sha256
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import answers, panel_agreement
from reelbench.scoring.aggregation import ScoredItems, answered
from reelbench.scoring.filed_samples import FiledSamples
from reelbench.scoring.sample_lines import quick_sample
from reelbench.stats import intervals
from reelbench.video.library import Library

log = logging.getLogger("reelbench")

RESULT_FILE = "result.json"
SAMPLES_FILE = "samples.jsonl"
_WAITING = f".{SAMPLES_FILE}.{{}}.tmp"
QUESTIONS_FILE = "questions.jsonl"

# Parts of a `result.json` that grow with its labels and videos.
_GROWING = {"metrics", "breakdowns", "media"}
_SHA256 = re.compile("[0-9a-f]{64}")
_ENDED_S = 3600
"""Seconds after which a waiting file is taken for one of a process that was ended."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The parts of a record that are not of the answers.

    Attributes:
        data: Whose data the questions are.
        questions_sha256: The hash of the questions.
        errata: The errata that were applied.
        citation: Who to cite.
        url: Where the result is described.
        note: A remark.
        asked: What was asked.
        reading: What reading by a model took.
        defaults: The command's options that a `reelbench.toml` set, with their values.
    """

    data: records.Data = "unstated"
    questions_sha256: str | None = None
    errata: records.ErrataRecord | None = None
    citation: str | None = None
    url: str | None = None
    note: str | None = None
    asked: records.AskedRecord | None = None
    reading: records.ReadingRecord | None = None
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])


_UNSTATED = Attribution()


def write(
    folder: Path,
    spec: BenchmarkSpec,
    scored: ScoredItems,
    *,
    split: str,
    source: records.SourceRecord,
    model: records.ModelRecord,
    settings: records.SettingsRecord,
    attribution: Attribution = _UNSTATED,
) -> records.Result:
    """Write both files to `folder` (made if needed) and return the result.

    Both are whole before the first is put in its place. A process that is ended leaves the old two
    or the new two.

    Raises:
        InputError: The folder has these very answers judged, and these are not.
    """
    if scored.judge is None:
        _refuse_to_lose_judgements(folder, scored.samples)
    benchmark = records.BenchmarkRecord(
        id=spec.id,
        version=spec.version,
        split=split,
        source=source,
        questions_sha256=attribution.questions_sha256,
        scoring_sha256=scoring_sha256(spec),
        errata=attribution.errata,
        declaration=declaration(spec),
    )
    with _samples_aside(folder) as aside:
        _put_samples(aside, scored.samples)
        samples_sha256 = files.sha256_of(aside)
        result = records.Result(
            benchmark=benchmark,
            data=attribution.data,
            model=model,
            settings=settings,
            judge=panel_agreement.with_agreement(spec, scored.samples, scored.judge),
            metrics=scored.numbers.metrics,
            breakdowns=scored.numbers.breakdowns,
            counts=scored.counts,
            software=software.versions(),
            answers=answers.VERSION,
            media=scored.tally.media(),
            statistics=records.StatisticsRecord(interval=intervals.METHOD),
            provenance=_provenance(attribution, samples_sha256),
        )
        _put_both(folder, aside, samples_sha256, as_text(result))
    if isinstance(scored.samples, FiledSamples):
        scored.samples.lines.path = folder / SAMPLES_FILE
    return result


def _put_samples(path: Path, samples: Sequence[records.Sample]) -> None:
    """Write samples to a file, or move the one that they are in."""
    if isinstance(samples, FiledSamples):
        samples.lines.move(path)
    else:
        files.write_jsonl(path, (sample.model_dump(mode="json") for sample in samples))


def _provenance(attribution: Attribution, samples_sha256: str) -> records.Provenance:
    return records.Provenance(
        kind="run",
        url=attribution.url,
        citation=attribution.citation,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        samples_sha256=samples_sha256,
        note=attribution.note,
        asked=attribution.asked,
        reading=attribution.reading,
        defaults=dict(attribution.defaults) or None,
    )


@contextmanager
def _samples_aside(folder: Path) -> Generator[Path]:
    """Yield the path of a file beside `samples.jsonl`; at the end it is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / _WAITING.format(os.getpid())
    try:
        yield aside
    finally:
        aside.unlink(missing_ok=True)


def _put_both(folder: Path, samples: Path, samples_sha256: str, result: str) -> None:
    """Put both files in their places.

    Meanwhile the samples lie under their hash, by which the result names them.
    """
    waiting = folder / _WAITING.format(samples_sha256)
    samples.replace(waiting)
    try:
        files.write_text(folder / RESULT_FILE, result)
    except BaseException:
        waiting.unlink(missing_ok=True)
        raise
    with suppress(FileNotFoundError):  # another process with the same samples was faster
        waiting.replace(folder / SAMPLES_FILE)
    oldest = time.time() - _ENDED_S
    for leftover in folder.glob(_WAITING.format("*")):
        if leftover.lstat().st_mtime < oldest:
            leftover.unlink(missing_ok=True)


def samples_of(folder: Path) -> Path:
    """Return the path of a result's samples. Nothing is renamed or repaired.

    It is `samples.jsonl`. Where a process was ended before it could put them there, they lie
    beside it, under their hash, which the result states and their bytes have. Any other file of
    such a name is not read, and a warning says so.
    """
    for waiting in sorted(folder.glob(_WAITING.format("*"))):
        digest = waiting.name.removesuffix(".tmp").rpartition(".")[2]
        if not _SHA256.fullmatch(digest):
            continue  # another process is writing it
        # A folder or a pipe of that name is nothing to wait for.
        is_file = waiting.is_file() and not waiting.is_symlink()
        is_named = is_file and digest == _stated_samples_sha256(folder)
        if is_named and files.sha256_of(waiting) == digest:
            return waiting
        log.warning("%s: its bytes are not what %s states; it is not read", waiting, RESULT_FILE)
    return folder / SAMPLES_FILE


def _stated_samples_sha256(folder: Path) -> object:
    """Return the hash of the samples that `result.json` states, if it does."""
    provenance = (files.read_record(folder / RESULT_FILE) or {}).get("provenance")
    if not is_object(provenance):
        return None
    return provenance.get("samples_sha256")


def changed_after_scoring(folder: Path, result: records.Result) -> bool:
    """Return True where a folder's samples are not those that its result was computed from."""
    stated_sha256 = result.provenance.samples_sha256
    if stated_sha256 is None:
        return False
    samples = samples_of(folder)
    return samples.is_file() and files.sha256_of(samples) != stated_sha256


def own_result(folder: Path, model: str) -> records.Result | None:
    """Return the model's result in a folder, or None.

    Raises:
        InputError: The result is another model's.
    """
    if not (folder / RESULT_FILE).is_file():
        return None
    before = read(folder)
    if before.model.id != model:
        raise InputError(
            f"{folder}: has the result of {before.model.id}; give {model} its own --output"
        )
    return before


_SETTINGS_OF_ANSWERS = (
    "frames",
    "candidates",
    "answering",
    "language",
    "label",
    "prompt_sha256",
)
"""The settings, beside `generation`, that change the answers."""


def check_kept(
    folder: Path,
    model: str,
    benchmark: tuple[str, str],
    settings: records.SettingsRecord,
    *,
    answers: int,
    judged: bool,
) -> None:
    """Compare a result to come with the one that it would replace in `folder`.

    Args:
        folder: The folder.
        model: The model's id.
        benchmark: The benchmark's id, and the split.
        settings: How the model was asked.
        answers: The number of answers.
        judged: Whether they are judged.

    Raises:
        InputError: The result there is of something else, made in another way, judged where this
            isn't, or has more answers.
    """
    before = own_result(folder, model)
    if before is None:
        return
    answers_before = answered(before.counts)
    if not answers_before:
        return
    advice = "give this one its own --output"
    benchmark_before = (before.benchmark.id, before.benchmark.split)
    facts_before = _facts_of_answers(benchmark_before, before.settings)
    facts = _facts_of_answers(benchmark, settings)
    for name in facts_before | facts:
        if facts_before.get(name) != facts.get(name):
            raise InputError(
                f"{folder}: has a result with {name} {facts_before.get(name)}, "
                f"not {facts.get(name)}; {advice}"
            )
    reader_before = before.settings.reader
    if reader_before is not None and reader_before != settings.reader:
        raise InputError(
            f"{folder}: unread answers are read there by {reader_before.model}; "
            f"give the same --reader (its replies are kept), or {advice}"
        )
    if before.judge is not None and not judged:
        raise InputError(
            f"{folder}: the answers there were judged by {before.judge.requested}; "
            f"name the judge again (its replies are kept), or {advice}"
        )
    if answers < answers_before:
        raise InputError(
            f"{folder}: has {answers_before} answers, and this result would have {answers}; "
            f"{advice}"
        )


def _facts_of_answers(
    benchmark: tuple[str, str], settings: records.SettingsRecord
) -> dict[str, Any]:
    """Return the benchmark, split and settings, which decide on a model's answers."""
    benchmark_id, split = benchmark
    facts: dict[str, Any] = {"benchmark": benchmark_id, "split": split}
    for name in _SETTINGS_OF_ANSWERS:
        facts[name] = getattr(settings, name)
    return facts | settings.generation


def _refuse_to_lose_judgements(folder: Path, samples: Iterable[records.Sample]) -> None:
    """Raise an InputError where a folder has these very answers judged."""
    if not ((folder / RESULT_FILE).is_file() and samples_of(folder).is_file()):
        return
    judge = read(folder).judge
    if judge is None:
        return
    predictions_before = {sample.id: sample.prediction for sample in read_samples(folder)}
    if predictions_before == {sample.id: sample.prediction for sample in samples}:
        raise InputError(
            f"{folder}: these answers were judged there by {judge.requested}; "
            "name the judge again (its replies are kept), or another folder with --output"
        )


def folders(path: Path) -> list[Path]:
    """Return the folders with a result in `path`.

    They are the folder itself, those somewhere below it, or the folder of a result's file.
    """
    if path.is_file() and path.name in (RESULT_FILE, SAMPLES_FILE):
        return [path.parent]
    if path.is_file():
        raise InputError(
            f"{path}: no result; score it first: "
            f"reelbench score NAME --predictions {path.name} --output DIR"
        )
    if not path.is_dir():
        if (path.parent / RESULT_FILE).is_file():
            raise InputError(f"{path}: no such folder; the result is in {path.parent} itself")
        raise InputError(f"{path}: no such folder; give one that `reelbench eval` or `score` wrote")
    if (path / RESULT_FILE).is_file():
        return [path]
    result_files = path.rglob(RESULT_FILE)
    below = [file.parent for file in result_files if not files.is_aside(file.relative_to(path))]
    if not below:
        raise InputError(
            f"{path}: no {RESULT_FILE} in it; `reelbench score … --output {path}` writes one"
        )
    return sorted(below)


def folder_of_one(path: Path) -> Path:
    """Return the folder of the one result in `path`.

    Raises:
        InputError: There are several results.
    """
    result_folders = folders(path)
    if len(result_folders) > 1:
        raise InputError(
            f"{path}: has {len(result_folders)} results, {result_folders[0]} the first; "
            "name one of them"
        )
    return result_folders[0]


def read(folder: Path) -> records.Result:
    """Read `result.json` in a folder.

    `discovery.spec_of(result.benchmark)` is its benchmark, whose declaration holds for this result
    alone.

    Raises:
        InputError: The message names the field that is wrong.
    """
    path = _checked_file(folder / RESULT_FILE, bounds.RESULT_BYTES)
    document = files.read_json(path)
    if is_object(document):
        records.check_result_version(document, path)
        _check_extent(document, path)
    result = record_of(records.Result, document, str(path), mark=": ")
    if result.benchmark.declaration is not None:
        try:
            discovery.spec_of(result.benchmark)
        except InputError as error:
            raise InputError(f"{path}: field benchmark.declaration: {error}") from None
    return result


def _check_extent(document: dict[str, Any], path: Path) -> None:
    """Raise an InputError where a part of a `result.json` is too long."""
    # No part has more characters and entries than the file has bytes.
    if path.stat().st_size <= bounds.PART:
        return
    for name, part in document.items():
        if name in _GROWING:
            continue
        bounded = part
        if is_object(part):
            bounded = {key: value for key, value in part.items() if key != "declaration"}
        label = f"{path}: characters of {name[:80]}"
        bounds.hold(label, bounds.extent(bounded), bounds.PART)


def _checked_file(path: Path, most_bytes: int) -> Path:
    """Return the path of a result's file.

    Raises:
        InputError: It leads out of its folder, or has too many bytes.
    """
    # Nothing else leads out of a folder.
    if path.is_symlink():
        try:
            contained(path.parent, path)
        except InputError:
            raise InputError(f"{path}: points outside its folder; copy the file there") from None
    files.hold_size(path, most_bytes)
    return path


def shared_spec(results: Iterable[records.Result]) -> BenchmarkSpec:
    """Return the benchmark by whose words results on one are shown.

    It is ours, else that of the oldest result.

    Raises:
        InputError: There is neither.
    """
    oldest = min(results, key=lambda result: result.provenance.date)
    ours = discovery.specs().get(oldest.benchmark.id)
    return ours or discovery.spec_of(oldest.benchmark)


def read_samples(folder: Path) -> Iterator[records.Sample]:
    """Yield the samples in a folder.

    Raises:
        InputError: The message names the line and the field that is wrong.
    """
    path = _checked_file(samples_of(folder), bounds.SAMPLES_BYTES)
    text = files.read_text(path, most=bounds.SAMPLES_BYTES)
    decoder = files.Decoder(path)
    ids: set[str] = set()
    # Each line is checked before the next is read. What is said of one is made where it is said.
    for number, line in decoder.texts(text):
        if len(ids) >= bounds.ITEMS:
            bounds.hold(f"{path}: items", len(ids) + 1, bounds.ITEMS)
        sample = quick_sample(line)
        if sample is None:
            sample = _sample_of_row(decoder.read(line, number), f"{path}, line {number}")
        if sample.id in ids:
            raise InputError(f"{path}, line {number}: the id {sample.id!r} is there twice")
        ids.add(sample.id)
        yield sample


def _sample_of_row(row: object, where: str) -> records.Sample:
    """Return the sample of a line's value.

    Raises:
        InputError: The message names the line and the field that is wrong.
    """
    if is_object(row):
        _check_lists(row, where)
    return record_of(records.Sample, row, where, mark=": ")


def _check_lists(row: dict[str, Any], where: str) -> None:
    """Raise an InputError where a list in a line of samples is too long."""
    for name, part in row.items():
        if is_array(part):
            bounds.hold(f"{where}: {name}", len(part), bounds.OF_ITEM)


def answers_sha256(samples: Iterable[records.Sample]) -> str:
    """Return the sha256 of the answers: ids and predictions, in the ids' order."""
    rows = sorted((sample.id, json.dumps(sample.prediction)) for sample in samples)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def copy(source: Path, folder: Path) -> None:
    """Copy a result's files to `folder` (made if needed), both in place of those before."""
    questions = source / QUESTIONS_FILE
    if questions.is_file():
        with files.written_aside(folder / QUESTIONS_FILE) as aside:
            shutil.copyfile(questions, aside)
    result_text = files.read_text(source / RESULT_FILE)
    with _samples_aside(folder) as aside:
        shutil.copyfile(samples_of(source), aside)
        _put_both(folder, aside, files.sha256_of(aside), result_text)


def as_text(result: records.Result) -> str:
    """Return `result.json` as it is written."""
    return files.json_text(result.model_dump(mode="json"))


def read_questions(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the questions by id. None where the file is not there.

    Raises:
        InputError: A line is not a question.
    """
    path = _checked_file(folder / QUESTIONS_FILE, bounds.SAMPLES_BYTES)
    questions: dict[str, dict[str, Any]] = {}
    if not path.is_file():
        return questions
    for number, line in files.read_jsonl(path):
        if not is_object(line) or not _is_question(line):
            raise InputError(
                f"{path}, line {number}: expected an object with id, question, options and media"
            )
        questions[line["id"]] = line
    return questions


def _is_question(line: dict[str, Any]) -> bool:
    """Return True where a line has the fields of a question."""
    return (
        isinstance(line.get("question"), str)
        and isinstance(line.get("id"), str)
        and isinstance(line.get("options"), list)
        and isinstance(line.get("media"), str | None)
    )


QuestionRow = Callable[[records.Sample, str, Sequence[str]], dict[str, Any]]
"""A sample, its question and options -> the line on them."""


def question_rows(library: Library) -> QuestionRow:
    """Return the way to a sample's line of `questions.jsonl`.

    It has `id`, `question`, `options` and `media`. `options` is empty where no option is known.
    `media` is the video's file, of a video in pictures the first one, and null where it is not on
    this machine.

    Args:
        library: Finds the videos.
    """

    @cache
    def media(video: str) -> str | None:
        try:
            path = library.find({"video": video})
        except ReelbenchError:  # a submission may name what no file can be called
            return None
        if path is None:
            return None
        return str(path.absolute())

    def row(sample: records.Sample, question: str, options: Sequence[str]) -> dict[str, Any]:
        known_options: list[str] = []
        if any(options):
            known_options = list(options)
        return {
            "id": sample.id,
            "question": question,
            "options": known_options,
            "media": media(sample.video),
        }

    return row
