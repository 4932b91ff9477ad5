"""Two rows of a group: whether their difference can be told from none, one pair at a time or all at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelbench.leaderboard.against_data import is_left_out
from reelbench.leaderboard.entries import BoardEntry
from reelbench.leaderboard.standing import ranked_samples
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.scoring.value_bounds import with_unscored_at
from reelbench.stats import intervals, power

MOST_COMPARED = 100
"""Rows that are compared each with each: of so many that is 4,950 tests, some two seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    """A run's primary metric on its items, resampled over videos."""

    ids: tuple[str, ...]
    value: float | None
    draws: NDArray[np.float64] | None
    videos: int


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """A run with each unscored item at the scale's lowest and at its highest; the same where all are scored."""

    lowest: _Draws
    highest: _Draws


class PairedDifference(NamedTuple):
    """By how much one row is above another, the 95 % interval of that, and the p of none; None where not known."""

    by: float
    p: float | None
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """What a group's pairs say together.

    Attributes:
        ranges: Key of a run -> its best and its worst rank, by Holm's adjustment over all pairs.
        smallest: The smallest difference that two of its runs show with power 0.8, in the primary metric's unit, by the
            median noise of its pairs; None of fewer than two runs, and where so few videos promise no power.
        pairs: Keys of a run and of another row -> their difference, its p adjusted for all pairs (Holm).
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
        return PairedDifference(-found.by, found.p, found.ci95 and (-found.ci95[1], -found.ci95[0]))


class Pairs:
    """The rows of one group; a run's samples are read once as long as there are no more than `MOST_COMPARED`."""

    def __init__(self, spec: BenchmarkSpec) -> None:
        self._spec = spec
        self._runs: dict[str, _Run] = {}
        self._ids: dict[tuple[str, ...], tuple[str, ...]] = {}

    def differ(self, ours: BoardEntry, theirs: BoardEntry) -> bool:
        """Whether two rows can be told apart, by `ranking.RULES`: an item without a score is as a wrong one."""
        our, their = (entry.lowest or entry.metrics[self._spec.primary.name] for entry in (ours, theirs))
        if our.value is None or their.value is None or our.value == their.value:
            return False
        if ours.stored is None or theirs.stored is None:
            given = [metric.ci95 for metric in (our, their) if metric.ci95 is not None]
            point = their.value if our.ci95 is not None else our.value
            return not any(low <= point <= high for low, high in given)
        a, b = self._run(ours).lowest, self._run(theirs).lowest
        if a.ids != b.ids:
            shared = set(a.ids) & set(b.ids)
            if not shared:
                return True
            a, b = (self._resampled(entry, shared).lowest for entry in (ours, theirs))
        p = _p(a, b)
        return p is None or p <= power.ALPHA  # of one video only nothing speaks for a tie

    def together(self, entries: Sequence[BoardEntry], ranks: Mapping[str, int]) -> Noise:
        """Compare all ranked rows of the group with each other, whatever the items without a score would be."""
        rows = [entry for entry in entries if entry.key in ranks]
        ran = [entry for entry in rows if entry.stored is not None]
        if len(rows) > MOST_COMPARED:
            return Noise({}, None, videos=self._run(ran[0]).lowest.videos if ran else 0)
        runs = {entry.key: self._run(entry) for entry in ran}
        bounds = self._spec.primary.low, self._spec.primary.high
        differences: dict[tuple[str, str], PairedDifference] = {}
        for a, b in combinations(rows, 2):
            if a.key in runs and b.key in runs:
                differences[a.key, b.key] = _least_difference(runs[a.key], runs[b.key], bounds)
            elif a.key in runs or b.key in runs:
                run, published = (a, b) if a.key in runs else (b, a)
                exact = published.metrics[self._spec.primary.name].value
                differences[run.key, published.key] = _least_difference(runs[run.key], exact, bounds)
        tests = {pair: (difference.by, difference.p) for pair, difference in differences.items()}
        ranges = power.rank_ranges([entry.key for entry in rows], tests)
        adjusted = power.holm([p for _, p in tests.values()])
        return Noise(
            {key: _with(ranges[key], ranks[key]) for key in runs},
            _smallest([run.lowest for run in runs.values()]),
            {pair: found._replace(p=p) for (pair, found), p in zip(differences.items(), adjusted, strict=True)},
            max((run.lowest.videos for run in runs.values()), default=0),
        )

    def _run(self, entry: BoardEntry) -> _Run:
        if entry.key not in self._runs:
            if len(self._runs) >= MOST_COMPARED:
                self._runs.pop(next(iter(self._runs)))
            self._runs[entry.key] = self._resampled(entry)
        return self._runs[entry.key]

    def _resampled(self, entry: BoardEntry, only: set[str] | None = None) -> _Run:
        assert entry.stored is not None  # noqa: S101 - runs only
        counted = [
            sample
            for sample in ranked_samples(entry.stored)
            if (sample.state == "scored" or is_left_out(sample)) and (only is None or sample.id in only)
        ]
        lowest = self._draws("lowest", counted)
        bounded = any(map(is_left_out, counted))
        return _Run(lowest, self._draws("highest", counted) if bounded else lowest)

    def _draws(self, end: Literal["lowest", "highest"], samples: Sequence[Sample]) -> _Draws:
        ids = tuple(sorted(sample.id for sample in samples))
        samples = with_unscored_at(end, self._spec, self._spec.primary, samples)
        metric = aggregation.resampled(self._spec, self._spec.primary, samples)
        return _Draws(self._ids.setdefault(ids, ids), metric.value, metric.draws, metric.videos)


def _least_difference(a: _Run, b: _Run | float | None, bounds: intervals.Bounds) -> PairedDifference:
    """Return by how much `a` is higher by the lower bounds; interval and p leave open what is unscored."""
    by = _difference(a.lowest, b.lowest if isinstance(b, _Run) else b, bounds).by
    ends = {(a.lowest, b.highest), (a.highest, b.lowest)} if isinstance(b, _Run) else {(a.lowest, b), (a.highest, b)}
    differences = [_difference(*pair, bounds) for pair in ends]
    given = [found.ci95 for found in differences if found.ci95 is not None]
    whole = len(given) == len(differences)
    ci95 = (min(low for low, _ in given), max(high for _, high in given)) if whole else None
    chances = [found.p for found in differences if found.p is not None]
    if len(chances) < len(differences):
        return PairedDifference(by, None, ci95)
    # Where the sign hangs on the unscored items, nothing is told.
    signs = {found.by > 0 for found in differences}
    return PairedDifference(by, 1.0 if len(signs) > 1 else max(chances), ci95)


def _difference(a: _Draws, b: _Draws | float | None, bounds: intervals.Bounds) -> PairedDifference:
    """Return how two runs differ, or a run and a number that is taken as exact."""
    value, draws = (b.value, b.draws) if isinstance(b, _Draws) else (b, b)
    if a.value is None or value is None or a.draws is None or draws is None:
        return PairedDifference(0.0, None)
    by = a.value - value
    if not isinstance(b, _Draws):
        own = intervals.confidence_interval(a.value, a.draws, a.videos, bounds=bounds)
        ci95 = None if own is None else (own[0] - value, own[1] - value)
        return PairedDifference(by, _p(a, b), ci95)
    if a.ids != b.ids or b.draws is None:
        return PairedDifference(by, None)
    ci95, p = intervals.difference_ci((a.value, value), (a.draws, b.draws), a.videos, bounds)
    return PairedDifference(by, p, ci95)


def _p(a: _Draws, b: _Draws | float | None) -> float | None:
    """Return the p of no difference of two runs on the same items, or of a run and a number."""
    value, draws = (b.value, b.draws) if isinstance(b, _Draws) else (b, b)
    if a.value is None or value is None or a.draws is None or draws is None:
        return None
    return intervals.p_value(a.value - value, a.draws - draws, a.videos)


def _with(ranks: tuple[int, int], rank: int) -> tuple[int, int]:
    # A rank is anchored at the best of those that share it, who may be told from some of them.
    return min(*ranks, rank), max(*ranks, rank)


def _smallest(runs: Sequence[_Draws]) -> float | None:
    pilots = [
        (intervals.standard_error(draws[~np.isnan(draws)], a.videos), a.videos)
        for a, b in combinations(runs, 2)
        if a.ids == b.ids and a.videos > 1 and a.draws is not None and b.draws is not None
        for draws in [a.draws - b.draws]
    ]
    if not pilots:
        return None
    error, videos = median(error for error, _ in pilots), min(videos for _, videos in pilots)
    pilot = power.Pilot(error, videos, paired=True)
    return power.smallest_difference(pilot, videos) if error and power.is_promised(pilot, videos) else None
