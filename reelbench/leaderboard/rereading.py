"""Read the answers of a stored result again, by today's rules.

A result states the version of the rules by which its answers were read. Where that is not today's
version, rows are ranked by today's reading, and what the result states is shown beside it. Its
folder stays as it is. This is the one place that knows of other versions' results.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.lazy import import_object
from reelbench.judges.verdicts import is_judged
from reelbench.registry.decoding import Answering
from reelbench.registry.reasons import UNANSWERED, Reason
from reelbench.registry.records import Result, Sample, SettingsRecord
from reelbench.registry.rows import Row, timing
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, answers, option_scores
from reelbench.tasks.answer_reader import letter_of

READ_WHILE_SCORED = frozenset(
    {"exact_match", "mra", "within_one", "number_right", "error", "relative_error"}
)
"""Columns whose scorer reads the answer itself: another version may have read it otherwise."""


def is_current(result: Result) -> bool:
    """Return True where today's rules read the result's answers."""
    return result.answers == answers.VERSION


def rows_hash(rows: Mapping[str, Row]) -> str:
    """Return the hash of all in a benchmark's rows that reading needs."""
    digest = hashlib.sha256()
    for name, row in rows.items():
        parts = [name, row.get("options"), row["question"], timing(row)]
        digest.update(json.dumps(parts).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def hash_of_reading(
    spec: BenchmarkSpec, result: Result, samples_sha256: str, rows_sha256: str | None
) -> str:
    """Return the hash of all that today's reading of a result's answers follows from.

    Args:
        spec: The benchmark.
        result: The result.
        samples_sha256: The hash of its samples.
        rows_sha256: The `rows_hash` of the benchmark's rows. None where they are not here.
    """
    followed = [
        samples_sha256,
        rows_sha256,
        answers.VERSION,
        result.settings.answering,
        repr(spec),
    ]
    text = json.dumps(followed)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_again(
    spec: BenchmarkSpec, settings: SettingsRecord, sample: Sample, row: Row | None
) -> Mapping[str, Any]:
    """Return today's reading of a sample's answer.

    It has the parts of `parsed` that can be read here. A letter in free text can't be read without
    the options, which stand in the row.
    """
    if sample.option_scores is not None:
        answering = Answering.parse(settings.answering or "")
        return option_scores.parse(sample.option_scores, sample.prediction, answering)
    reading = _reading_of_text(spec, sample, row)
    reading_today: dict[str, Any] = {}
    for part in sample.parsed or {}:
        if part in reading:
            reading_today[part] = reading[part]
        elif _reads_every_part(spec, sample.prediction):
            reading_today[part] = None
    return reading_today


def _reading_of_text(spec: BenchmarkSpec, sample: Sample, row: Row | None) -> dict[str, Any]:
    options = None
    question = ""
    if row is not None:
        options = row.get("options")
        question = row["question"]
    parts = answers.reread(spec, sample.prediction, options, timing(row), question)
    reading = dict(parts)
    is_unread = "answer" in reading and reading["answer"] is None
    if is_unread and sample.read_by is not None:
        reading["answer"] = letter_of(sample.read_by.raw, len(options or ()))
    return reading


def _reads_every_part(spec: BenchmarkSpec, prediction: object) -> bool:
    """Return True where a part that is not read today is unread, not left out.

    A text is read without its options, so parts of it may be left out. An object is read whole by
    the benchmark's own formats, if they can read one again.
    """
    if isinstance(prediction, str):
        return False
    if isinstance(prediction, Mapping):
        return hasattr(import_object(spec.formats), "reread")
    return True


def flags(sample: Sample) -> tuple[str, ...]:
    """Return the faults of a sample's reading."""
    if isinstance(sample.prediction, str):
        return answers.flags(sample.prediction, sample.parsed)
    if sample.parsed is None:
        # An open answer that is not text: no flag can say anything of it.
        return sample.flags
    return answers.flags("-", sample.parsed)


def read_today(
    spec: BenchmarkSpec, result: Result, samples: Sequence[Sample], rows: Mapping[str, Row] | None
) -> list[Sample] | None:
    """Return a result's samples as today's rules read and score them.

    Args:
        spec: The benchmark.
        result: The result, whose answers another version read.
        samples: Its samples.
        rows: The benchmark's, by id. None where they are not on this machine.

    Returns:
        The samples, or None where one needs its options and these are not on this machine.
    """
    samples_today: list[Sample] = []
    for sample in samples:
        if sample.prediction is None or sample.reason in UNANSWERED:
            samples_today.append(sample)
            continue
        row = rows.get(sample.id) if rows else None
        if spec.row_kind == "open" or "text" in sample.target:
            parsed = sample.parsed
            if isinstance(sample.prediction, str):
                parsed = answers.parse(spec, sample.prediction, ())
        else:
            parsed = dict(read_again(spec, result.settings, sample, row))
            if parsed.keys() != (sample.parsed or {}).keys():
                return None
        samples_today.append(_scored_again(spec, sample, parsed))
    return samples_today


def _scored_again(spec: BenchmarkSpec, sample: Sample, parsed: Mapping[str, Any] | None) -> Sample:
    """Return a sample with another reading and the scores of that.

    A judged answer of which other words count today was never judged: its item becomes unscored.
    """
    reread = sample.model_copy(update={"parsed": parsed})
    judged_scores: dict[str, float] = {}
    if spec.judge is not None and is_judged(sample):
        criteria = spec.judge.criteria
        judged_scores = {name: sample.scores[name] for name in criteria if name in sample.scores}
    update: dict[str, Any] = {"flags": flags(reread)}
    if judged_scores and reread.text != sample.text:
        judged_scores = {}
        update["state"] = "unscored"
        update["reason"] = Reason.JUDGE_UNAVAILABLE
        update["judge_replies"] = []
    item = reread.item("", sample.reason)
    update["scores"] = aggregation.item_columns(spec, item) | judged_scores
    return reread.model_copy(update=update)
