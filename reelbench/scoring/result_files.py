"""A result on disk: `result.json` and `samples.jsonl`, written whole.

`questions.jsonl` may lie beside them: what was asked, in the owners' words. It stays on the machine
that it was written on: no store takes it and nothing publishes it.
"""

import hashlib
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

from reelbench.base import bounds, files
from reelbench.base.base_record import record_of
from reelbench.base.containment import contained
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.settings import FILE_DEFAULTS
from reelbench.base.values import is_array, is_object
from reelbench.registry import discovery, records
from reelbench.registry.declaration import declaration, scoring_sha256
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import answers, panel_agreement
from reelbench.scoring.aggregation import ScoredItems, answered
from reelbench.scoring.videos import media_record
from reelbench.stats import intervals
from reelbench.video.library import Library

log = logging.getLogger("reelbench")

RESULT_FILE = "result.json"
SAMPLES_FILE = "samples.jsonl"
_WAITING = f".{SAMPLES_FILE}.{{}}.tmp"
QUESTIONS_FILE = "questions.jsonl"

_GROWING = {
    "metrics",
    "breakdowns",
    "media",
}  # parts of a `result.json` that do so with its labels and videos
_SHA256 = re.compile("[0-9a-f]{64}")
_ENDED_S = 3600
"""Seconds after which what waits for its place was left by a process that was ended."""
_PACKAGES = (
    "reelbench",
    "lmms_eval",
    "numpy",
    "pycocoevalcap",
    "openai",
    "av",
    "transformers",
    "torch",
)


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a record says beside the answers: what was asked, whose data that is, who to cite, where it is described."""

    data: records.Data = "unstated"
    questions_sha256: str | None = None
    citation: str | None = None
    url: str | None = None
    note: str | None = None
    asked: records.AskedRecord | None = None


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

    Both are whole before the first is put in its place; a process that is ended leaves the old two
    or the new two. InputError where the folder has these very answers judged, and these are not.
    """
    if scored.judge is None:
        _keep_judged(folder, scored.samples)
    with _samples_aside(folder) as aside:
        files.write_jsonl(aside, (sample.model_dump(mode="json") for sample in scored.samples))
        digest = files.sha256_of(aside)
        result = records.Result(
            benchmark=records.BenchmarkRecord(
                id=spec.id,
                version=spec.version,
                split=split,
                source=source,
                questions_sha256=attribution.questions_sha256,
                scoring_sha256=scoring_sha256(spec),
                declaration=declaration(spec),
            ),
            data=attribution.data,
            model=model,
            settings=settings,
            judge=panel_agreement.with_agreement(spec, scored.samples, scored.judge),
            metrics=scored.numbers.metrics,
            breakdowns=scored.numbers.breakdowns,
            counts=scored.counts,
            software=software(),
            answers=answers.VERSION,
            media=media_record(scored.samples),
            statistics=records.StatisticsRecord(interval=intervals.METHOD),
            provenance=records.Provenance(
                kind="run",
                url=attribution.url,
                citation=attribution.citation,
                date=datetime.now(UTC).isoformat(timespec="seconds"),
                samples_sha256=digest,
                note=attribution.note,
                asked=attribution.asked,
                defaults=dict(FILE_DEFAULTS) or None,
            ),
        )
        _put(folder, aside, digest, as_text(result))
    return result


@contextmanager
def _samples_aside(folder: Path) -> Generator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / _WAITING.format(os.getpid())
    try:
        yield aside
    finally:
        aside.unlink(missing_ok=True)


def _put(folder: Path, samples: Path, digest: str, result: str) -> None:
    """Put both files in their places; meanwhile the samples lie under their hash, by which the result names them."""
    waiting = folder / _WAITING.format(digest)
    samples.replace(waiting)
    try:
        files.write_text(folder / RESULT_FILE, result)
    except BaseException:
        waiting.unlink(missing_ok=True)
        raise
    with suppress(FileNotFoundError):  # another process with the same samples was faster
        waiting.replace(folder / SAMPLES_FILE)
    for left in folder.glob(_WAITING.format("*")):
        if left.lstat().st_mtime < time.time() - _ENDED_S:
            left.unlink(missing_ok=True)


def samples_of(folder: Path) -> Path:
    """Return the path of a result's samples, `samples.jsonl`; nothing is renamed or repaired.

    Where a process was ended before it could put them there they lie beside, under their hash,
    which the result states and their bytes have. Anything else of such a name is none of ours: that
    is said, and it is not read.
    """
    samples = folder / SAMPLES_FILE
    for waiting in sorted(folder.glob(_WAITING.format("*"))):
        digest = waiting.name.removesuffix(".tmp").rpartition(".")[2]
        if not _SHA256.fullmatch(digest):
            continue  # another process is writing it
        provenance = (files.read_record(folder / RESULT_FILE) or {}).get("provenance")
        stated = provenance.get("samples_sha256") if is_object(provenance) else None
        ours = (
            waiting.is_file() and not waiting.is_symlink()
        )  # a folder or a pipe of that name is nothing to wait for
        if digest == stated and ours and files.sha256_of(waiting) == digest:
            return waiting
        log.warning("%s: its bytes are not what %s states; it is not read", waiting, RESULT_FILE)
    return samples


def changed_after_scoring(folder: Path, result: records.Result) -> bool:
    """Whether a folder's samples are others than its result was computed from, where the result states which."""
    stated, samples = result.provenance.samples_sha256, samples_of(folder)
    return stated is not None and samples.is_file() and files.sha256_of(samples) != stated


def own_result(folder: Path, model: str) -> records.Result | None:
    """Return the model's result in a folder, or None; InputError where it is another model's."""
    if not (folder / RESULT_FILE).is_file():
        return None
    before = read(folder)
    if before.model.id != model:
        raise InputError(
            f"{folder}: has the result of {before.model.id}; give {model} an --output of its own"
        )
    return before


def check_kept(
    folder: Path,
    model: str,
    benchmark: tuple[str, str],
    settings: records.SettingsRecord,
    *,
    answers: int,
    judged: bool,
) -> None:
    """Hold a result to come, of a benchmark's id and split, to what it would replace in `folder`.

    InputError where that is of something else, made in another way, judged where this isn't, or has
    more answers.
    """
    before = own_result(folder, model)
    if before is None or not (there := answered(before.counts)):
        return
    of_its_own = "give this one an --output of its own"
    was, now = (
        {
            "benchmark": of[0],
            "split": of[1],
            **{name: getattr(how, name) for name in _HOW},
            **how.generation,
        }
        for of, how in (
            ((before.benchmark.id, before.benchmark.split), before.settings),
            (benchmark, settings),
        )
    )
    for name in was | now:
        if was.get(name) != now.get(name):
            raise InputError(
                f"{folder}: has a result with {name} {was.get(name)}, not {now.get(name)}; {of_its_own}"
            )
    if before.judge is not None and not judged:
        raise InputError(
            f"{folder}: the answers are judged there, by {before.judge.requested}; name the judge again (its replies "
            f"are kept), or {of_its_own}"
        )
    if answers < there:
        raise InputError(
            f"{folder}: has {there} answers, and this result would have {answers}; {of_its_own}"
        )


_HOW = ("frames", "candidates", "answering", "language", "label", "prompt_sha256")
"""What of the settings, beside `generation`, makes other answers."""


def _keep_judged(folder: Path, samples: Iterable[records.Sample]) -> None:
    if not ((folder / RESULT_FILE).is_file() and samples_of(folder).is_file()):
        return
    judge = read(folder).judge
    if judge is None:
        return
    there = {sample.id: sample.prediction for sample in read_samples(folder)}
    if there == {sample.id: sample.prediction for sample in samples}:
        raise InputError(
            f"{folder}: these answers are judged there, by {judge.requested}; name the judge again (its replies are "
            "kept), or another folder with --output"
        )


def folders(path: Path) -> list[Path]:
    """Return the folders with a result in `path`: itself, those somewhere below it, or the file's own."""
    if path.is_file() and path.name in (RESULT_FILE, SAMPLES_FILE):
        return [path.parent]
    if path.is_file():
        raise InputError(
            f"{path}: no result; score it first: reelbench score NAME --predictions {path.name} --output DIR"
        )
    if not path.is_dir():
        raise InputError(
            f"{path}: no such folder; give the folder that `reelbench score --output` wrote"
        )
    if (path / RESULT_FILE).is_file():
        return [path]
    below = sorted(
        file.parent
        for file in path.rglob(RESULT_FILE)
        if not files.is_aside(file.relative_to(path))
    )
    if not below:
        raise InputError(
            f"{path}: no {RESULT_FILE} in it; `reelbench score … --output {path}` writes one"
        )
    return below


def folder_of_one(path: Path) -> Path:
    """Return the folder of the one result in `path`; InputError where there are several."""
    several = folders(path)
    if len(several) > 1:
        raise InputError(
            f"{path}: has {len(several)} results, {several[0]} the first; name one of them"
        )
    return several[0]


def read(folder: Path) -> records.Result:
    """Read `result.json` in a folder; InputError names the field that is wrong.

    `discovery.spec_of(result.benchmark)` is its benchmark: what it declares of that holds for this
    result alone.
    """
    path = _of_own(folder / RESULT_FILE, bounds.RESULT_BYTES)
    document = files.read_json(path)
    if is_object(document):
        records.check_result_version(document, path)
    for name, part in document.items() if is_object(document) else ():
        if name not in _GROWING:
            said = (
                {of: what for of, what in part.items() if of != "declaration"}
                if is_object(part)
                else part
            )
            bounds.hold(f"{path}: characters of {name[:80]}", bounds.extent(said), bounds.PART)
    result = record_of(records.Result, document, str(path), mark=": ")
    if result.benchmark.declaration is not None:
        try:
            discovery.spec_of(result.benchmark)
        except InputError as error:
            raise InputError(f"{path}: field benchmark.declaration: {error}") from None
    return result


def _of_own(path: Path, most: int) -> Path:
    """Return a file of a result; InputError where it leads out of its folder, or has more bytes than are taken."""
    try:
        if path.is_symlink():  # nothing else leads out; of a name that no file can have it says no
            contained(path.parent, path)
    except InputError:
        raise InputError(f"{path}: leads out of its folder; copy there what it leads to") from None
    bounds.hold(f"{path}: bytes", path.stat().st_size if path.is_file() else 0, most)
    return path


def shared_spec(results: Iterable[records.Result]) -> BenchmarkSpec:
    """Return the benchmark by whose words results on one are shown: ours, else the oldest's; InputError without."""
    oldest = min(results, key=lambda result: result.provenance.date)
    known = discovery.specs().get(oldest.benchmark.id)
    return known or discovery.spec_of(oldest.benchmark)


def read_samples(folder: Path) -> Iterator[records.Sample]:
    """Yield the samples in a folder; InputError names the line and the field that is wrong."""
    path = _of_own(samples_of(folder), bounds.SAMPLES_BYTES)
    there: set[str] = set()
    for number, row in files.Decoder(path).lines(
        files.read_text(path)
    ):  # each is checked before the next is read
        bounds.hold(f"{path}: items", len(there) + 1, bounds.ITEMS)
        for name, part in row.items() if is_object(row) else ():
            if is_array(part):
                bounds.hold(f"{path}, line {number}: {name}", len(part), bounds.OF_ITEM)
        sample = record_of(records.Sample, row, f"{path}, line {number}", mark=": ")
        if sample.id in there:
            raise InputError(f"{path}, line {number}: the id {sample.id!r} is there twice")
        there.add(sample.id)
        yield sample


def answers_sha256(folder: Path) -> str:
    """Return the sha256 of what was answered: the ids and predictions of a folder's samples, in the ids' order."""
    answers_given = sorted(
        (sample.id, json.dumps(sample.prediction)) for sample in read_samples(folder)
    )
    return hashlib.sha256(json.dumps(answers_given).encode()).hexdigest()


def copy(source: Path, folder: Path) -> None:
    """Copy a result's files to `folder` (made if needed), both in place of those before."""
    if (source / QUESTIONS_FILE).is_file():
        with files.written_aside(folder / QUESTIONS_FILE) as aside:
            shutil.copyfile(source / QUESTIONS_FILE, aside)
    with _samples_aside(folder) as aside:
        shutil.copyfile(samples_of(source), aside)
        _put(folder, aside, files.sha256_of(aside), files.read_text(source / RESULT_FILE))


def as_text(result: records.Result) -> str:
    """Return `result.json` as it is written."""
    return files.json_text(result.model_dump(mode="json"))


def read_questions(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the questions, by id, none where the file is not there; InputError where a line is not a question."""
    path = _of_own(folder / QUESTIONS_FILE, bounds.SAMPLES_BYTES)
    asked: dict[str, dict[str, Any]] = {}
    for number, line in files.read_jsonl(path) if path.is_file() else ():
        whole = (
            is_object(line)
            and isinstance(line.get("question"), str)
            and isinstance(line.get("id"), str)
        )
        media = line.get("media") if whole else None
        if (
            not whole
            or not isinstance(line.get("options"), list)
            or not (media is None or isinstance(media, str))
        ):
            raise InputError(
                f"{path}, line {number}: expected an object with id, question, options and media"
            )
        asked[line["id"]] = line
    return asked


def write_questions(
    folder: Path,
    library: Library,
    asked: Iterable[tuple[records.Sample, tuple[str, Sequence[str]]]],
) -> None:
    """Write a line for each sample: `id`, `question`, `options` (empty where none is known) and `media`.

    `media` is the video's file, of a video in pictures the first one, and null where it is not on
    this machine.
    """

    @cache
    def media(video: str) -> str | None:
        try:
            path = library.find({"video": video})
        except ReelbenchError:  # a submission may name what no file can be called
            return None
        return str(path.absolute()) if path else None

    lines = (
        {
            "id": sample.id,
            "question": question,
            "options": list(options) if any(options) else [],
            "media": found,
        }
        for sample, (question, options) in asked
        for found in (media(sample.video),)
    )
    files.write_jsonl(folder / QUESTIONS_FILE, lines)


def software(packages: Iterable[str] = _PACKAGES) -> dict[str, str]:
    """Return the versions of what made the numbers, as far as it is installed."""
    versions = {"python": python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
