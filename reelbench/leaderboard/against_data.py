"""Compare a result's items with the benchmark's own data, where that is on this machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError
from reelbench.data import loading, ownership
from reelbench.leaderboard.mismatches import listing
from reelbench.leaderboard.rereading import rows_hash
from reelbench.registry import discovery, rows
from reelbench.registry.errata import LEAVE_OUT, read_errata
from reelbench.registry.reasons import EXCUSED, Reason
from reelbench.registry.records import ErrataRecord, Item, Result, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, Macro
from reelbench.registry.splits import MINI, upstream_split
from reelbench.scoring.aggregation import reason_before_judging
from reelbench.scoring.value_bounds import is_few

_Split = tuple[str, str]
"""A benchmark's id and the name of its split."""


class _CorrectedRows(NamedTuple):
    """Rows by id with the benchmark's errata."""

    errata: ErrataRecord
    by_id: dict[str, Row]


@dataclass
class KnownRows:
    """Rows of the benchmarks whose data is on this machine.

    Each split is read once. Nothing is fetched.
    """

    _read_rows: dict[_Split, dict[str, Row] | None] = field(default_factory=dict)
    _hashes: dict[_Split, str] = field(default_factory=dict)
    _corrected_rows: dict[_Split, _CorrectedRows | None] = field(default_factory=dict)
    _row_hashes: dict[int, str] = field(default_factory=dict)

    def rows(self, spec: BenchmarkSpec, split: str) -> dict[str, Row] | None:
        """Return a split's rows by id, or None where they are not on this machine."""
        key = (spec.id, split)
        if key not in self._read_rows:
            try:
                located = loading.locate(spec.id, split, fetch=False)
                self._read_rows[key] = {row["id"]: row for row in located.read()}
            except DataUnavailableError:
                self._read_rows[key] = None
        return self._read_rows[key]

    def rows_of(self, result: Result) -> dict[str, Row] | None:
        """Return the rows that a result's items are compared with, by id.

        A benchmark's file may have changed since the result was made. So rows with other questions
        than the result states are not its rows. What a package declares changes only with its
        version, so a package's rows always are.

        Returns:
            The rows, or None where they are not on this machine.
        """
        spec = discovery.specs().get(result.benchmark.id)
        split = result.benchmark.split
        if spec is None or upstream_split(spec, split) not in spec.splits:
            return None
        local_rows = self.rows(spec, split)
        if local_rows is None:
            return None
        stated_hash = result.benchmark.questions_sha256
        if not spec.package and stated_hash is not None:
            key = (spec.id, split)
            if key not in self._hashes:
                rows_hash = ownership.rows_questions_sha256(spec, split, local_rows.values())
                self._hashes[key] = rows_hash
            if self._hashes[key] != stated_hash:
                return None
        return self._with_errata(spec, result, local_rows)

    def rows_sha256(self, rows: dict[str, Row]) -> str:
        """Return the `rows_hash` of rows that `rows_of` returned, made once."""
        if id(rows) not in self._row_hashes:
            self._row_hashes[id(rows)] = rows_hash(rows)
        return self._row_hashes[id(rows)]

    def _with_errata(
        self, spec: BenchmarkSpec, result: Result, local_rows: dict[str, Row]
    ) -> dict[str, Row] | None:
        """Return rows with the errata that a result states. None where those here are others."""
        record = result.benchmark.errata
        if record is None:
            return local_rows
        split = result.benchmark.split
        key = (spec.id, split)
        if key not in self._corrected_rows:
            self._corrected_rows[key] = None
            errata_here = read_errata(spec, split)
            if errata_here is not None:
                corrected = {row["id"]: row for row in errata_here.rows(local_rows.values())}
                self._corrected_rows[key] = _CorrectedRows(errata_here.record, corrected)
        corrected_rows = self._corrected_rows[key]
        if corrected_rows is None or corrected_rows.errata != record:
            return None
        return corrected_rows.by_id


def problems(
    spec: BenchmarkSpec, result: Result, samples: Sequence[Sample], rows_here: Mapping[str, Row]
) -> Iterator[str]:
    """Yield the items' differences from the benchmark: ids, targets, videos and labels.

    A references file may hold no labels at all. Labels that contradict the data's are a problem.
    """
    split = result.benchmark.split
    foreign = [sample.id for sample in samples if sample.id not in rows_here]
    if foreign:
        text = f"{listing('id', foreign)} not in split {split!r} of {spec.id}"
        right_split = _split_with(spec, foreign, but_not=split)
        if right_split is not None:
            text += f", but in {right_split!r}"
        yield text
    facet_names = _facets_of_result(spec, samples)
    from_files = result.benchmark.source.kind == "files"
    for sample in samples:
        row = rows_here.get(sample.id)
        if row is not None:
            yield from _problems_of_item(spec, sample, row, facet_names, from_files=from_files)
    missing = sorted(rows_here.keys() - {sample.id for sample in samples})
    is_limited = result.settings.limit is not None
    if missing and not is_limited and subset(spec, samples, rows_here) is None:
        yield f"{listing('id', missing)} missing: split {split!r} has {len(rows_here)} items"


def _facets_of_result(spec: BenchmarkSpec, samples: Sequence[Sample]) -> set[str]:
    # A facet that no item has was declared after the result was made. One that a metric is a mean
    # over is as old as the metric.
    names: set[str] = set()
    for metric in spec.metrics:
        if isinstance(metric.aggregate, Macro):
            names.add(metric.aggregate.facet)
            if metric.aggregate.within:
                names.add(metric.aggregate.within)
    for sample in samples:
        names.update(sample.facets)
    return names


def _problems_of_item(
    spec: BenchmarkSpec, sample: Sample, row: Row, facet_names: set[str], *, from_files: bool
) -> Iterator[str]:
    if sample.video != row["video"]:
        yield (
            f"item {sample.id!r}: its video is {sample.video!r}, "
            f"the benchmark says {row['video']!r}"
        )
    if sample.reason == Reason.MEDIA_MISSING:
        # The run left the item out: it has only its id and video.
        return
    is_left_out = row.get(LEAVE_OUT, False)
    if is_left_out and sample.reason != Reason.LEFT_OUT:
        yield f"item {sample.id!r}: the errata leave it out, and the result doesn't"
    if sample.reason == Reason.LEFT_OUT and not is_left_out:
        yield f"item {sample.id!r}: the result leaves it out, and no errata do"
    if sample.target != rows.target(spec, row):
        yield f"item {sample.id!r}: its target is not the benchmark's"
    for name, labels in rows.facets(spec, row).items():
        sample_labels = sample.facets.get(name, [])
        if name not in facet_names or sample_labels == labels:
            continue
        if sample_labels or not from_files:
            yield f"item {sample.id!r}: its {name} is {sample_labels}, the benchmark says {labels}"


def as_the_data_has_them(
    spec: BenchmarkSpec, samples: Sequence[Sample], rows_here: Mapping[str, Row] | None
) -> list[Sample]:
    """Return the samples with the target, video and labels of the benchmark's data.

    Samples without a row stay as they are, and so do labels that the data lacks (of a tags file).
    """
    if rows_here is None:
        return list(samples)
    corrected: list[Sample] = []
    for sample in samples:
        row = rows_here.get(sample.id)
        if row is None or sample.reason == Reason.MEDIA_MISSING:
            corrected.append(sample)
        else:
            corrected.append(_with_data_of(spec, sample, row))
    return corrected


def _with_data_of(spec: BenchmarkSpec, sample: Sample, row: Row) -> Sample:
    target = rows.target(spec, row)
    facets = {**sample.facets, **rows.facets(spec, row)}
    video = row["video"]
    if sample.target == target and sample.facets == facets and sample.video == video:
        return sample
    return sample.model_copy(update={"target": target, "facets": facets, "video": video})


def as_asked(
    spec: BenchmarkSpec, samples: Iterable[Sample], rows_here: Mapping[str, Row] | None, where: str
) -> list[Item]:
    """Return the samples as items with their questions, to be judged again.

    Raises:
        InputError: If the benchmark's data is not on this machine, or has other references. The
            message begins with `where`.
    """
    if rows_here is None:
        advice = (
            f"`reelbench data fetch {spec.id}` brings them, "
            f"REELBENCH_DATA_{spec.id.upper()} names your own"
        )
        if spec.id not in discovery.specs():  # known by the result's own declaration alone
            advice = "REELBENCH_BENCHMARKS names the folder of its benchmark.yaml"
        raise InputError(f"{where}: the questions of {spec.id} are not here; {advice}")
    items: list[Item] = []
    for sample in samples:
        row = rows_here.get(sample.id)
        reason = reason_before_judging(sample)
        is_same = row is not None and rows.target(spec, row) == sample.target
        if reason is None and not is_same:
            raise InputError(
                f"{where}: item {sample.id!r} is not in the data here, "
                "or has another reference there"
            )
        question = row["question"] if row else ""
        items.append(sample.item(question, reason))
    return items


def subset(
    spec: BenchmarkSpec, samples: Iterable[Sample], rows_here: Mapping[str, Row]
) -> str | None:
    """Return the part of the benchmark that the samples are exactly, as in `locale ja-JP`.

    Parts are those on which the benchmark has a task. None where the samples are none of them.
    """
    sample_ids = {sample.id for sample in samples}
    for task in spec.tasks:
        if not task.only:
            continue
        part_ids = {
            row_id for row_id, row in rows_here.items() if loading.has_labels(row, task.only)
        }
        if sample_ids == part_ids:
            facet, label = next(iter(task.only.items()))
            return f"{facet} {label}"
    return None


def partial(
    spec: BenchmarkSpec, result: Result, task_items: int | None = None, before: str | None = None
) -> str | None:
    """Return why a result covers too little of its task to be ranked.

    Answers that are hidden can't be scored and are no reason. Nor are a few unscored items, with
    which the result is ranked by its lower bound. Items without media are none either: they make
    the result one on a part of the split.

    Args:
        spec: The benchmark.
        result: The result.
        task_items: The number of items of the task; by default the split's published number.
        before: The reason in an earlier check, which may have known that number when this one
            doesn't.

    Returns:
        The reason, or None where it covers enough.
    """
    counts = result.counts
    named: list[str] = []
    for reason, number in counts.unscored.items():
        if reason not in (Reason.ANSWERS_HIDDEN, Reason.LEFT_OUT):
            named.append(f"{number} {reason}")
    unscored = ""
    if named:
        reasons = ", ".join(named)
        unscored = f"{counts.scored} of {counts.items} items scored ({reasons})"
    if task_items is None:
        split = spec.splits.get(result.benchmark.split)
        task_items = split.rows if split else None
    if result.settings.limit is not None:
        coverage = f"--limit {result.settings.limit:g}: {counts.items} items"
    elif task_items is not None and counts.items < task_items:
        coverage = f"{counts.items} of {task_items} items"
    else:  # the number of items in the earlier check, without its words on unscored ones
        coverage = (before or "").removesuffix(unscored).removesuffix(", ")
    excused = sum(counts.unscored.get(reason, 0) for reason in EXCUSED)
    items = counts.items - excused
    if is_few(items - counts.scored, items):
        # A lower bound of the score stands for it.
        unscored = ""
    parts = [part for part in (coverage, unscored) if part]
    return ", ".join(parts) or None


def _split_with(spec: BenchmarkSpec, ids: Iterable[str], *, but_not: str) -> str | None:
    """Return the name of a split in which some of the ids are."""
    known_rows = KnownRows()
    mini_splits = [MINI] + [f"{MINI}_{name}" for name in spec.splits]
    for name in [*spec.splits, *mini_splits]:
        if name == but_not:
            continue
        try:
            split_rows = known_rows.rows(spec, name) or {}
        except ReelbenchError:
            continue
        if not split_rows.keys().isdisjoint(ids):
            return name
    return None
