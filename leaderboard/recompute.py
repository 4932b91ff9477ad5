"""Holding a result to its samples: every number computed again, and what does not match named.

Nothing in `result.json` is believed. Deterministic per-item scores follow from what was parsed and the target, judged
ones from the judge's raw replies, and metrics, breakdowns and counts from those. Where the benchmark's data is on this
machine, ids, targets and labels are held to it as well, and the replies' keys to the very questions they answer.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from reelbench.judges import answers, results, scoring
from reelbench.judges.llm.parsing import parse_score
from reelbench.judges.llm.verdicts import counted, needs_no_judge, takes_bare_integer
from reelbench.llm.messages import reply_key, request_shape
from reelbench.registry import discovery, rows
from reelbench.registry.data import loading
from reelbench.registry.errors import DataUnavailableError, InputError, ReelbenchError
from reelbench.registry.files import sha256_of
from reelbench.registry.records import (
    Breakdowns,
    Item,
    JudgeRecord,
    JudgeReply,
    Metrics,
    MetricValue,
    Result,
    Sample,
)
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

TOLERANCE = 1e-9
"""Relative difference that two ways of adding up the same numbers may show."""

SHOWN = 3

Ids = Literal["checked", "unchecked"]


class RefusedError(InputError):
    """A result that is not what its samples say; the message names each thing that does not match."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A result that holds.

    Attributes:
        result: As it was read.
        samples: As they were read.
        ids: Whether the items were held to the benchmark's own data, or that data is not on this machine.
        subset: The part of the split that is a task of its own (`locale ja-JP`), where that is what was run.
        partial: Why it covers less than its task, or None; a partial result is never ranked.
    """

    result: Result
    samples: list[Sample]
    ids: Ids
    subset: str | None
    partial: str | None


@dataclass
class KnownRows:
    """Rows of the benchmarks whose data is on this machine, each split read once; nothing is fetched."""

    _found: dict[tuple[str, str], dict[str, Row] | None] = field(default_factory=dict)

    def of(self, spec: BenchmarkSpec, split: str) -> dict[str, Row] | None:
        """Return a split's rows by id, or None where they are not here."""
        key = (spec.id, split)
        if key not in self._found:
            self._found[key] = self._read(spec, split)
        return self._found[key]

    def _read(self, spec: BenchmarkSpec, split: str) -> dict[str, Row] | None:
        try:
            located = loading.locate(spec.id, split, fetch=False)
        except DataUnavailableError:
            return None
        return {row["id"]: row for row in located.read()}


def verify(folder: Path, *, known: KnownRows | None = None) -> Verified:
    """Read a result and its samples and compute everything again.

    Args:
        folder: Holds `result.json` and `samples.jsonl`.
        known: Rows to hold the items to.

    Raises:
        RefusedError: Something does not match.
        InputError: A file is missing or not of the schema.
    """
    result = results.read(folder)
    spec = _spec(folder, result)
    path = folder / results.SAMPLES_FILE
    if not path.is_file():
        raise InputError(f"{path}: not there; a result is taken with the samples that it was computed from")
    digest = sha256_of(path)
    if digest != result.provenance.samples_sha256:
        stated = result.provenance.samples_sha256 or "none"
        raise RefusedError(
            f"{folder}: samples.jsonl has the sha256 {digest[:12]}…, result.json states {stated[:12]}…; "
            "the file was changed after scoring"
        )
    samples = list(results.read_samples(folder))
    rows_here = (known or KnownRows()).of(spec, result.benchmark.split)
    problems = list(_problems(spec, result, samples, rows_here))
    if problems:
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise RefusedError(f"{folder}: {'; '.join(problems[:SHOWN])}{more}")
    label = None if rows_here is None else _whole_label(spec, samples, rows_here)
    return Verified(
        result,
        samples,
        ids="unchecked" if rows_here is None else "checked",
        subset=None if label is None else f"{label[0]} {label[1]}",
        partial=None if label is not None else _partial(spec, result, rows_here),
    )


def _spec(folder: Path, result: Result) -> BenchmarkSpec:
    spec = discovery.get(result.benchmark.id)
    split = result.benchmark.split
    if loading.upstream_split(spec, split) not in spec.splits:
        raise RefusedError(f"{folder}: {spec.id} has no split {split!r}; it has {', '.join(spec.splits)}")
    if result.benchmark.version != spec.version:
        raise RefusedError(
            f"{folder}: scored by version {result.benchmark.version} of {spec.id}, this is version {spec.version}; "
            "score its predictions again"
        )
    if result.provenance.kind != "run":
        raise RefusedError(f"{folder}: provenance.kind is {result.provenance.kind}; only runs can be computed again")
    return spec


def _problems(
    spec: BenchmarkSpec,
    result: Result,
    samples: list[Sample],
    rows_here: Mapping[str, Row] | None,
) -> Iterator[str]:
    twice = [name for name, times in Counter(sample.id for sample in samples).items() if times > 1]
    if twice:
        yield f"{_some('id', twice)} more than once in samples.jsonl"
        return
    if rows_here is not None:
        yield from _against_data(spec, result, samples, rows_here)
    hidden = spec.splits[loading.upstream_split(spec, result.benchmark.split)].hidden_answers
    if hidden and (scored := [sample.id for sample in samples if sample.state == "scored" or sample.scores]):
        yield (
            f"the answers of split {result.benchmark.split!r} are hidden, so no score can be known; "
            f"{_some('item', scored)} scored"
        )
    replies = _Replies(spec, result.judge, rows_here)
    for sample in samples:
        yield from _sample(spec, sample, replies, (rows_here or {}).get(sample.id), result.answers == answers.VERSION)
    yield from _numbers(spec, result, samples)


# --- items -----------------------------------------------------------------------------------------------------------


def _sample(
    spec: BenchmarkSpec, sample: Sample, replies: "_Replies", row: Row | None, same_readers: bool
) -> Iterator[str]:
    where = f"item {sample.id!r}"
    if (sample.state == "scored") != (sample.reason is None):
        yield f"{where}: state {sample.state} with reason {sample.reason}"
        return
    judged_columns = set(spec.judge.criteria) if spec.judge else set()
    item = Item(
        id=sample.id,
        video=sample.video,
        target=sample.target,
        prediction=sample.prediction,
        parsed=sample.parsed,
        facets=sample.facets,
        reason=sample.reason,
    )
    try:
        # A reason that came after scoring by rule (a judge's) leaves the deterministic columns in place.
        expected = scoring.item_columns(spec, item)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        yield f"{where}: can't be scored again ({type(error).__name__}: {error})"
        return
    stated = {name: value for name, value in sample.scores.items() if name not in judged_columns}
    # An item whose answers are hidden or that failed keeps no scores; anything else has all of them.
    if stated or sample.reason is None:
        yield from _columns(where, stated, expected)
    # Answers that other readers read are taken as they were read then.
    if same_readers and sample.parsed is not None and sample.prediction is not None:
        read = answers.reread(spec, sample.prediction, row["options"] if row and "options" in row else None)
        for name, value in read.items():
            if name in sample.parsed and sample.parsed[name] != value:
                yield (
                    f"{where}: parsed.{name} is {sample.parsed[name]!r}, its prediction reads {value!r}; "
                    "the answer was edited"
                )
    yield from replies.problems(sample)


def _columns(where: str, stated: Mapping[str, float], expected: Mapping[str, float]) -> Iterator[str]:
    for name in sorted(stated.keys() | expected.keys()):
        if name not in stated or name not in expected or not _close(stated[name], expected[name]):
            yield f"{where}: scores.{name} is {stated.get(name)}, recomputed {expected.get(name)}"


class _Replies:
    """What the judge's raw replies come to, by the rules of the judge's record."""

    def __init__(self, spec: BenchmarkSpec, record: JudgeRecord | None, rows_here: Mapping[str, Row] | None) -> None:
        self._judge = spec.judge
        self._record = record
        self._rows = rows_here
        self._prompts: Any = None
        if self._judge is not None and record is not None and rows_here is not None and record.prompt == "reelbench":
            from reelbench.judges.llm import load_prompts

            prompts = load_prompts(spec, "reelbench")
            if prompts.sha256 == record.prompt_sha256:
                self._prompts = prompts

    def problems(self, sample: Sample) -> Iterator[str]:
        """Yield what of the item's judged scores does not follow from its replies."""
        where = f"item {sample.id!r}"
        judge, record = self._judge, self._record
        if judge is None or record is None:
            if sample.judge_replies or (judge and any(name in sample.scores for name in judge.criteria)):
                yield f"{where}: judged, but result.json names no judge"
            return
        stated = {name: sample.scores[name] for name in judge.criteria if name in sample.scores}
        if sample.reason in scoring.UNANSWERED:
            if stated or sample.judge_replies:
                yield f"{where}: judged, though it is unscored ({sample.reason})"
            return
        expected = self._scores(judge, record, sample)
        for reply in sample.judge_replies:
            read = self._parsed(judge, record, reply)
            if reply.score is not None and reply.score != read:
                yield (
                    f"{where}: the judge's reply on {reply.criterion} is recorded as {reply.score}, "
                    f"its text reads {read}"
                )
        yield from _columns(where, stated, expected)
        if (len(expected) == len(judge.criteria)) != (sample.state == "scored"):
            yield f"{where}: state is {sample.state}, but {len(expected)} of {len(judge.criteria)} criteria are judged"
        yield from self._keys(judge, record, sample)

    def _scores(self, judge: JudgeSpec, record: JudgeRecord, sample: Sample) -> dict[str, float]:
        if needs_no_judge(sample.text):
            return dict.fromkeys(judge.criteria, float(judge.low))
        votes: dict[str, dict[int, int]] = defaultdict(dict)
        for reply in sorted(sample.judge_replies, key=lambda reply: reply.attempt):
            if reply.score is not None and (read := self._parsed(judge, record, reply)) is not None:
                votes[reply.criterion].setdefault(reply.vote, read)
        scores = {
            name: counted(list(cast.values()), record.votes, record.vote_rule)
            for name, cast in votes.items()
            if name in judge.criteria
        }
        return {name: float(score) for name, score in scores.items() if score is not None}

    def _parsed(self, judge: JudgeSpec, record: JudgeRecord, reply: JudgeReply) -> int | None:
        return parse_score(reply.raw, judge.low, judge.high, bare_integer=takes_bare_integer(record.prompt, judge))

    def _keys(self, judge: JudgeSpec, record: JudgeRecord, sample: Sample) -> Iterator[str]:
        """A reply's key is made from the messages that asked for it, so another item's reply shows."""
        row = (self._rows or {}).get(sample.id)
        if self._prompts is None or row is None:
            return
        asked = Item.of(sample, row["question"], None)
        sampling = {} if record.temperature is None else {"temperature": record.temperature}
        for reply in sample.judge_replies:
            if reply.criterion not in judge.criteria:
                yield f"item {sample.id!r}: a reply on {reply.criterion!r}, which is no criterion"
                continue
            messages = self._prompts.messages(reply.criterion, asked)
            key = reply_key(request_shape(record.requested, messages, sampling), reply.vote, reply.attempt)
            if key.hex() != reply.key:
                yield (
                    f"item {sample.id!r}: the judge's reply on {reply.criterion} was given to another question or "
                    "answer (its key does not fit)"
                )


# --- the benchmark's data --------------------------------------------------------------------------------------------


def _against_data(
    spec: BenchmarkSpec, result: Result, samples: Sequence[Sample], rows_here: Mapping[str, Row]
) -> Iterator[str]:
    split = result.benchmark.split
    foreign = [sample.id for sample in samples if sample.id not in rows_here]
    if foreign:
        other = _other_split(spec, split, foreign)
        yield f"{_some('id', foreign)} not in split {split!r} of {spec.id}" + (f", but in {other!r}" if other else "")
    from_files = result.benchmark.source.kind == "files"
    for sample in samples:
        row = rows_here.get(sample.id)
        if row is None or sample.reason == "media_missing":
            continue
        target = rows.target(spec, row)
        if sample.target != target and not (from_files and not _contradicts(sample.target, target)):
            yield f"item {sample.id!r}: its target is not the benchmark's"
        if sample.video != row["video"] and not from_files:
            yield f"item {sample.id!r}: its video is {sample.video!r}, the benchmark says {row['video']!r}"
        labels = rows.facets(spec, row)
        for name, found in labels.items():
            if sample.facets.get(name, []) != found and (sample.facets.get(name) or not from_files):
                yield f"item {sample.id!r}: its {name} is {sample.facets.get(name, [])}, the benchmark says {found}"
    missing = sorted(rows_here.keys() - {sample.id for sample in samples})
    if missing and result.settings.limit is None and _whole_label(spec, samples, rows_here) is None:
        yield f"{_some('id', missing)} missing: split {split!r} has {len(rows_here)} items"


def _contradicts(stated: Mapping[str, Any], target: Mapping[str, Any]) -> bool:
    """Whether two targets differ where both say something (a references file may hold less than the data)."""
    return any(stated[name] != target[name] for name in stated.keys() & target.keys() if stated[name])


def _other_split(spec: BenchmarkSpec, split: str, ids: Iterable[str]) -> str | None:
    wanted = set(ids)
    for name in (*spec.splits, loading.MINI, *(f"{loading.MINI}_{known}" for known in spec.splits)):
        if name == split:
            continue
        try:
            there = KnownRows().of(spec, name)
        except ReelbenchError:
            continue
        if there is not None and wanted & there.keys():
            return name
    return None


def _whole_label(
    spec: BenchmarkSpec, samples: Sequence[Sample], rows_here: Mapping[str, Row]
) -> tuple[str, str] | None:
    """The (facet, label) whose rows the samples are exactly: one of the benchmark's tasks on a part of its split."""
    ids = {sample.id for sample in samples}
    for task in spec.tasks:
        if task.only and ids == {
            name for name, row in rows_here.items() if all(label in row[facet] for facet, label in task.only.items())
        }:
            return next(iter(task.only.items()))
    return None


def _partial(spec: BenchmarkSpec, result: Result, rows_here: Mapping[str, Row] | None) -> str | None:
    items = result.counts.items
    if result.settings.limit is not None:
        return f"--limit {result.settings.limit:g}: {items} items"
    split = spec.splits.get(result.benchmark.split)
    wanted = len(rows_here) if rows_here is not None else split.rows if split else None
    if wanted is not None and items < wanted:
        return f"{items} of {wanted} items"
    return None


# --- numbers ---------------------------------------------------------------------------------------------------------


def _numbers(spec: BenchmarkSpec, result: Result, samples: Sequence[Sample]) -> Iterator[str]:
    corpus = {metric.name for metric in spec.metrics if metric.aggregate.how == "corpus"}
    metrics, breakdowns = scoring.aggregate(spec, samples, overlap=bool(corpus & result.metrics.keys()))
    yield from _metrics("metrics", result.metrics, metrics)
    yield from _breakdowns(result.breakdowns, breakdowns)
    counts = scoring.count(samples, extra=result.counts.extra, duplicate=result.counts.duplicate)
    for name, value in counts:
        stated = getattr(result.counts, name)
        if stated != value:
            yield f"counts.{name} is {stated}, the samples say {value}"


def _breakdowns(stated: Breakdowns, found: Breakdowns) -> Iterator[str]:
    for facet in sorted(stated.keys() | found.keys()):
        ours, theirs = found.get(facet, {}), stated.get(facet, {})
        for label in sorted(ours.keys() | theirs.keys()):
            yield from _metrics(f"breakdowns.{facet}.{label}", theirs.get(label, {}), ours.get(label, {}))


def _metrics(where: str, stated: Metrics, found: Metrics) -> Iterator[str]:
    for name in sorted(stated.keys() | found.keys()):
        here, there = stated.get(name), found.get(name)
        if here is None or there is None:
            yield f"{where}.{name} is {'absent' if here is None else here.value}, recomputed {_shown(there)}"
        elif not _close(here.value, there.value):
            yield f"{where}.{name} is {here.value}, recomputed {there.value}"
        elif here.n != there.n:
            yield f"{where}.{name}.n is {here.n}, recomputed {there.n}"
        elif not _same_interval(here, there):
            yield f"{where}.{name}.ci95 is {here.ci95}, recomputed {there.ci95}"


def _shown(value: MetricValue | None) -> str:
    return "absent" if value is None else str(value.value)


def _same_interval(here: MetricValue, there: MetricValue) -> bool:
    if here.ci95 is None or there.ci95 is None:
        return here.ci95 == there.ci95
    return all(_close(a, b) for a, b in zip(here.ci95, there.ci95, strict=True))


def _close(here: float | None, there: float | None) -> bool:
    if here is None or there is None:
        return here is there
    return math.isclose(here, there, rel_tol=TOLERANCE, abs_tol=1e-12)


def _some(what: str, names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{what}{'s' if len(names) > 1 else ''} {shown}{more}" + (" are" if len(names) > 1 else " is")
