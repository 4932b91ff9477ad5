"""Holding a result's items to the benchmark's own data, where that is on this machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError
from reelbench.data import loading, ownership
from reelbench.leaderboard.mismatches import listing
from reelbench.registry import discovery, rows
from reelbench.registry.reasons import EXCUSED, Reason
from reelbench.registry.records import Item, Result, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, Macro
from reelbench.registry.splits import MINI, upstream_split
from reelbench.scoring.aggregation import reason_before_judging
from reelbench.scoring.value_bounds import is_few


@dataclass
class KnownRows:
    """Rows of the benchmarks whose data is on this machine, each split read once; nothing is fetched."""

    _read_rows: dict[tuple[str, str], dict[str, Row] | None] = field(default_factory=dict)
    _hashes: dict[tuple[str, str], str] = field(default_factory=dict)

    def rows(self, spec: BenchmarkSpec, split: str) -> dict[str, Row] | None:
        """Return a split's rows by id, or None where they are not here."""
        key = (spec.id, split)
        if key not in self._read_rows:
            try:
                located = loading.locate(spec.id, split, fetch=False)
                self._read_rows[key] = {row["id"]: row for row in located.read()}
            except DataUnavailableError:
                self._read_rows[key] = None
        return self._read_rows[key]

    def rows_of(self, result: Result) -> dict[str, Row] | None:
        """Return the rows that a result's items are held to, by id; None where they are not here.

        A benchmark's file here may have changed since: a result that states other questions than
        its rows are isn't of these, and its own are not here. What a package declares changes with
        its version alone, so there they are.
        """
        here = discovery.specs().get(result.benchmark.id)
        split, stated = result.benchmark.split, result.benchmark.questions_sha256
        if here is None or upstream_split(here, split) not in here.splits:
            return None
        rows_here = self.rows(here, split)
        if rows_here is None or here.package or stated is None:
            return rows_here
        if (here.id, split) not in self._hashes:
            self._hashes[here.id, split] = ownership.rows_questions_sha256(here, rows_here.values())
        return rows_here if self._hashes[here.id, split] == stated else None


def problems(
    spec: BenchmarkSpec, result: Result, samples: Sequence[Sample], rows_here: Mapping[str, Row]
) -> Iterator[str]:
    """Yield the items' differences from the benchmark: ids, targets, videos and labels.

    A references file may hold no labels at all; labels that contradict the data's are a problem.
    """
    split = result.benchmark.split
    foreign = [sample.id for sample in samples if sample.id not in rows_here]
    if foreign:
        other = _other_split(spec, split, foreign)
        yield f"{listing('id', foreign)} not in split {split!r} of {spec.id}" + (
            f", but in {other!r}" if other else ""
        )
    from_files = result.benchmark.source.kind == "files"
    # A facet that no item has is younger than the result; one that a metric is a mean over is as
    # old as the metric.
    needed = {
        metric.aggregate.facet for metric in spec.metrics if isinstance(metric.aggregate, Macro)
    }
    known = {name for sample in samples for name in sample.facets} | needed
    for sample in samples:
        row = rows_here.get(sample.id)
        if row is None:
            continue
        if sample.video != row["video"]:
            yield f"item {sample.id!r}: its video is {sample.video!r}, the benchmark says {row['video']!r}"
        if (
            sample.reason == Reason.MEDIA_MISSING
        ):  # what was left out of the run is known by its id and video alone
            continue
        if sample.target != rows.target(spec, row):
            yield f"item {sample.id!r}: its target is not the benchmark's"
        for name, labels in rows.facets(spec, row).items():
            stated = sample.facets.get(name, [])
            if name in known and stated != labels and (stated or not from_files):
                yield f"item {sample.id!r}: its {name} is {stated}, the benchmark says {labels}"
    missing = sorted(rows_here.keys() - {sample.id for sample in samples})
    if missing and result.settings.limit is None and subset(spec, samples, rows_here) is None:
        yield f"{listing('id', missing)} missing: split {split!r} has {len(rows_here)} items"


def as_the_data_has_them(
    spec: BenchmarkSpec, samples: Sequence[Sample], rows_here: Mapping[str, Row] | None
) -> list[Sample]:
    """Return the samples with target, video and labels of the benchmark's data, as far as it is here.

    Labels that are not in the data (of a tags file) stay.
    """
    known = list(samples)
    for place, sample in enumerate(samples):
        row = (rows_here or {}).get(sample.id)
        if row is None or sample.reason == Reason.MEDIA_MISSING:
            continue
        target, facets = rows.target(spec, row), {**sample.facets, **rows.facets(spec, row)}
        if (sample.target, sample.facets, sample.video) != (target, facets, row["video"]):
            known[place] = sample.model_copy(
                update={"target": target, "facets": facets, "video": row["video"]}
            )
    return known


def as_asked(
    spec: BenchmarkSpec, samples: Iterable[Sample], rows_here: Mapping[str, Row] | None, where: str
) -> list[Item]:
    """Return the items that samples were, with their questions, to be judged again.

    InputError, which begins with `where`, if the benchmark's data is not here, or is not what was
    answered.
    """
    if rows_here is None:
        own = f"`reelbench data fetch {spec.id}` brings them, REELBENCH_DATA_{spec.id.upper()} names your own"
        if spec.id not in discovery.specs():  # known by the result's own declaration alone
            own = "REELBENCH_BENCHMARKS names the folder of its benchmark.yaml"
        raise InputError(f"{where}: the questions of {spec.id} are not here; {own}")
    items = []
    for sample in samples:
        row, reason = rows_here.get(sample.id), reason_before_judging(sample)
        if reason is None and (row is None or rows.target(spec, row) != sample.target):
            raise InputError(
                f"{where}: item {sample.id!r} is not in the data here, or has another reference there"
            )
        items.append(sample.item(row["question"] if row else "", reason))
    return items


def subset(
    spec: BenchmarkSpec, samples: Iterable[Sample], rows_here: Mapping[str, Row]
) -> str | None:
    """Return `locale ja-JP` where the samples are exactly those rows: one of the benchmark's tasks on a part."""
    ids = {sample.id for sample in samples}
    for task in spec.tasks:
        if task.only and ids == {
            name
            for name, row in rows_here.items()
            if all(label in row[facet] for facet, label in task.only.items())
        }:
            facet, label = next(iter(task.only.items()))
            return f"{facet} {label}"
    return None


def partial(
    spec: BenchmarkSpec, result: Result, wanted: int | None = None, before: str | None = None
) -> str | None:
    """Return the reason for which a result says too little of its task to be ranked, or None.

    Answers that are hidden can't be scored, and are no reason. Nor are a few unscored items, with
    which it is ranked by its lower bound, nor those without media, which make it a result on a part
    of the split. The task has `wanted` items, by default the split's published number. `before` is
    what an earlier check said, which may have known that number when this one doesn't.
    """
    counts = result.counts
    reasons = {
        reason: number
        for reason, number in counts.unscored.items()
        if reason != Reason.ANSWERS_HIDDEN
    }
    named = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
    unscored = f"{counts.scored} of {counts.items} items scored ({named})" if named else ""
    if wanted is None:
        split = spec.splits.get(result.benchmark.split)
        wanted = split.rows if split else None
    if result.settings.limit is not None:
        covers = f"--limit {result.settings.limit:g}: {counts.items} items"
    elif wanted is not None and counts.items < wanted:
        covers = f"{counts.items} of {wanted} items"
    else:  # the number of items as the check said it, without what it said of unscored ones
        covers = (before or "").removesuffix(unscored).removesuffix(", ")
    # With so few of them a lower bound of the score stands for it.
    items = counts.items - sum(counts.unscored.get(reason, 0) for reason in EXCUSED)
    bounded = is_few(items - counts.scored, items)
    return ", ".join(filter(None, (covers, "" if bounded else unscored))) or None


def _other_split(spec: BenchmarkSpec, split: str, ids: Iterable[str]) -> str | None:
    wanted, known = set(ids), KnownRows()
    for name in (*spec.splits, MINI, *(f"{MINI}_{name}" for name in spec.splits)):
        with suppress(ReelbenchError):
            if name != split and wanted & (known.rows(spec, name) or {}).keys():
                return name
    return None
