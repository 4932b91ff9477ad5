"""The models of a table against each other: one paired test for each pair, all counted at once (`rules.md`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import Literal, NamedTuple

import numpy as np

from reelbench.leaderboard.against_data import is_left_out
from reelbench.leaderboard.entries import BoardEntry
from reelbench.leaderboard.standing import ranked_samples
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.scoring.aggregation import Resampled
from reelbench.scoring.value_bounds import with_unscored_at
from reelbench.stats import intervals, power
from reelbench.stats.intervals import PairedTest

MOST_COMPARED = 100
"""Models that are compared each with each: of so many that is 4,950 tests, some two seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """A run's primary metric with unscored items at the scale's lowest and at its highest; one where all are scored."""

    ids: tuple[str, ...]
    lowest: Resampled
    highest: Resampled


class PairedDifference(NamedTuple):
    """By how much one row is above another, as the rows show it.

    `p`, of no difference, is adjusted by Holm for all pairs of the table (`alone` as if this were the only one), None
    of too few videos; `ci95` is that same test's at the pair's step in Holm: it excludes 0 exactly where `told`.
    """

    by: float
    p: float | None
    ci95: tuple[float, float] | None = None
    alone: float | None = None

    @property
    def told(self) -> int:
        """1 where the row is better, -1 where it is worse, 0 where the two can't be told apart."""
        return self.told_among(1)

    def told_among(self, tables: int) -> int:
        """Return the same where so many tables are looked at together (Bonferroni)."""
        return 0 if self.p is None or self.p * tables > power.ALPHA else (self.by > 0) - (self.by < 0)


@dataclass(frozen=True, slots=True)
class Noise:
    """What a table's pairs say together.

    Attributes:
        ranges: Key of a model's row -> its best and its worst rank: 1 and those that are better, and all less those
            that are worse.
        smallest: The smallest difference that two of its runs show with power 0.8, in the primary metric's unit, by the
            median noise of its pairs; None of fewer than two runs, and where so few videos promise no power.
        pairs: Keys of two models' rows -> their difference.
        videos: Those behind its runs; 0 where nobody ran it.
    """

    ranges: Mapping[str, tuple[int, int]]
    smallest: float | None
    pairs: Mapping[tuple[str, str], PairedDifference] = field(default_factory=dict)
    videos: int = 0

    def pair(self, ours: str, theirs: str) -> PairedDifference | None:
        """Return by how much one row, named by its key, is above another; None where they weren't compared."""
        if (found := self.pairs.get((ours, theirs))) is not None:
            return found
        if (found := self.pairs.get((theirs, ours))) is None:
            return None
        return found._replace(by=-found.by, ci95=found.ci95 and (-found.ci95[1], -found.ci95[0]))


def compared(spec: BenchmarkSpec, rows: Sequence[BoardEntry]) -> Noise:
    """Compare runs of one table with each other, a row a model, whatever their items without a score would be."""
    if len(rows) > MOST_COMPARED:
        return Noise({}, None, videos=_run(spec, rows[0]).lowest.videos)
    runs = {row.key: _run(spec, row) for row in rows}
    tests = {(a.key, b.key): _tests(spec, (a, b), (runs[a.key], runs[b.key])) for a, b in combinations(rows, 2)}
    alone: list[float | None] = []
    for some in tests.values():  # where the sign hangs on the unscored items, nothing is told
        unsure = len({test.difference > 0 for test in some}) > 1
        alone.append(1.0 if unsure else max((test.p for test in some), default=None))
    adjusted, levels = power.holm(alone), power.holm_levels(alone)
    pairs: dict[tuple[str, str], PairedDifference] = {}
    for (pair, some), p, one, level in zip(tests.items(), adjusted, alone, levels, strict=True):
        by = _by(runs[pair[0]].lowest, runs[pair[1]].lowest)
        ends = [] if level is None else [test.interval(level) for test in some]
        interval = (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None
        if by is not None:
            pairs[pair] = PairedDifference(by, p, interval, one)
    return Noise(
        power.rank_ranges(list(runs), {pair: (found.by, found.alone) for pair, found in pairs.items()}),
        _smallest(runs.values()),
        pairs,
        max((run.lowest.videos for run in runs.values()), default=0),
    )


def _run(spec: BenchmarkSpec, entry: BoardEntry, only: set[str] | None = None) -> _Run:
    assert entry.stored is not None  # noqa: S101 - runs only
    counted = [
        sample
        for sample in ranked_samples(entry.stored)
        if (sample.state == "scored" or is_left_out(sample)) and (only is None or sample.id in only)
    ]
    ends: tuple[Literal["lowest", "highest"], ...] = ("lowest", "highest")
    drawn = [
        aggregation.resampled(spec, spec.primary, with_unscored_at(end, spec, spec.primary, counted))
        for end in (ends if any(map(is_left_out, counted)) else ends[:1])
    ]
    return _Run(tuple(sorted(sample.id for sample in counted)), drawn[0], drawn[-1])


def _tests(spec: BenchmarkSpec, rows: tuple[BoardEntry, BoardEntry], runs: tuple[_Run, _Run]) -> list[PairedTest]:
    """Return the test at either end of what is unscored, on the items that both have; none of too few videos."""
    if runs[0].ids != runs[1].ids:
        shared = set(runs[0].ids) & set(runs[1].ids)
        if not shared:
            return []
        runs = _run(spec, rows[0], shared), _run(spec, rows[1], shared)
    a, b = runs
    unsure = a.lowest is not a.highest or b.lowest is not b.highest
    tests = []
    for ours, theirs in ((a.lowest, b.highest), *([(a.highest, b.lowest)] if unsure else [])):
        by = _by(ours, theirs)
        if by is None or ours.draws is None or theirs.draws is None:
            return []
        tests.append(intervals.paired_test(by, ours.draws - theirs.draws, ours.videos, ours.runs, theirs.runs))
    return [test for test in tests if test is not None] if None not in tests else []


def _by(a: Resampled, b: Resampled) -> float | None:
    return None if a.value is None or b.value is None else a.value - b.value


def _smallest(runs: Iterable[_Run]) -> float | None:
    pilots = [
        (intervals.standard_error(draws[~np.isnan(draws)], a.videos), a.videos)
        for one, other in combinations(runs, 2)
        for a, b in [(one.lowest, other.lowest)]
        if one.ids == other.ids and a.videos > 1 and a.draws is not None and b.draws is not None
        for draws in [a.draws - b.draws]
    ]
    if not pilots:
        return None
    error, videos = median(error for error, _ in pilots), min(videos for _, videos in pilots)
    pilot = power.Pilot(error, videos, paired=True)
    return power.smallest_difference(pilot, videos) if error and power.not_promised(pilot, videos) is None else None
