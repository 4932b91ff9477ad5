"""The models of a table against each other: one paired test for each pair, all counted at once (`rules.md`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import NamedTuple

import numpy as np

from reelbench.leaderboard.entries import BoardEntry
from reelbench.leaderboard.standing import ranked_samples
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import comparison
from reelbench.scoring.comparison import AtBothEnds
from reelbench.stats import intervals, multiple_comparisons, power
from reelbench.stats.intervals import PairedTest

MOST_COMPARED = 100
"""Models that are compared each with each: of so many that is 4,950 tests, some two seconds."""


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
    alone = [comparison.p_of(some) for some in tests.values()]
    adjusted, levels = multiple_comparisons.holm(alone), multiple_comparisons.holm_levels(alone)
    pairs: dict[tuple[str, str], PairedDifference] = {}
    for (pair, some), p, one, level in zip(tests.items(), adjusted, alone, levels, strict=True):
        a, b = (runs[key].lowest.value for key in pair)
        interval = None if level is None else comparison.interval_of(some, level)
        if a is not None and b is not None:
            pairs[pair] = PairedDifference(a - b, p, interval, one)
    pilots = [
        (intervals.standard_error(draws[~np.isnan(draws)], a.lowest.videos), a.lowest.videos)
        for a, b in combinations(runs.values(), 2)
        if a.ids == b.ids and a.lowest.videos > 1 and a.lowest.draws is not None and b.lowest.draws is not None
        for draws in [a.lowest.draws - b.lowest.draws]
    ]
    smallest = None
    if pilots:
        error, videos = median(error for error, _ in pilots), min(videos for _, videos in pilots)
        pilot = power.Pilot(error, videos, paired=True)
        if error and power.not_promised(pilot, videos) is None:
            smallest = power.smallest_difference(pilot, videos)
    return Noise(
        multiple_comparisons.rank_ranges(list(runs), {pair: (found.by, found.alone) for pair, found in pairs.items()}),
        smallest,
        pairs,
        max((run.lowest.videos for run in runs.values()), default=0),
    )


def _run(spec: BenchmarkSpec, entry: BoardEntry, only: set[str] | None = None) -> AtBothEnds:
    assert entry.stored is not None  # noqa: S101 - runs only
    return comparison.at_both_ends(spec, ranked_samples(entry.stored), only)


def _tests(
    spec: BenchmarkSpec, rows: tuple[BoardEntry, BoardEntry], runs: tuple[AtBothEnds, AtBothEnds]
) -> list[PairedTest]:
    """Return the test at either end of what is unscored, on the items that both have; none of too few videos."""
    if runs[0].ids != runs[1].ids:
        shared = set(runs[0].ids) & set(runs[1].ids)
        if not shared:
            return []
        runs = _run(spec, rows[0], shared), _run(spec, rows[1], shared)
    return comparison.tests_at_both_ends(*runs)
