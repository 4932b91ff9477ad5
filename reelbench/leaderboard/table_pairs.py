"""The pairs of a table's runs, tested all at once and adjusted by Holm.

A table of a thousand runs has half a million pairs. They are kept as arrays, and a pair becomes an
object when somebody asks for it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reelbench.scoring import comparison
from reelbench.scoring.comparison import AtBothEnds
from reelbench.stats import multiple_comparisons, paired, power
from reelbench.stats.all_pairs import (
    PairedTests,
    Scores,
    errors_of_all_pairs,
    tests_of_all_pairs,
)
from reelbench.stats.intervals import Array
from reelbench.stats.ratios import Resampled

RowPair = tuple[str, str]
"""The keys of two rows."""
Tests = list[paired.PairedTest]
Signs = npt.NDArray[np.int8]


class PairedDifference(NamedTuple):
    """The difference of two rows, one less the other, as the rows show it.

    Attributes:
        difference: In the primary metric's unit.
        p: Of no difference, adjusted by Holm for all pairs of the table; None of too few videos.
        ci95: Of the same test at the pair's step in Holm: it excludes 0 exactly where the two are
            told apart.
        p_alone: As if this were the table's only pair.
    """

    difference: float
    p: float | None
    ci95: tuple[float, float] | None = None
    p_alone: float | None = None

    @property
    def direction(self) -> int:
        """1 where the first is better, -1 where it is worse, else 0."""
        return self.told_among(1)

    def told_among(self, tables: int) -> int:
        """Return `direction` where so many tables are looked at together (Bonferroni)."""
        if self.p is None or self.difference == 0:
            return 0
        if self.p * tables > power.ALPHA:
            return 0
        return 1 if self.difference > 0 else -1

    def reversed(self) -> "PairedDifference":
        """Return the difference of the same rows the other way round."""
        ci95 = self.ci95
        if ci95 is not None:
            low, high = ci95
            ci95 = (-high, -low)
        return self._replace(difference=-self.difference, ci95=ci95)


class ResampledErrors(NamedTuple):
    """The errors of pairs of runs on the same items, by the resamples alone."""

    errors: Array
    videos: int


class TablePairs(Mapping[RowPair, PairedDifference]):
    """The differences of all pairs of a table's rows, by the rows' keys."""

    def __init__(
        self,
        runs: Mapping[str, AtBothEnds],
        test_pair: Callable[[str, str], Tests],
    ) -> None:
        """Test all pairs.

        Args:
            runs: Key of a row -> its main metric at both ends of its unscored items.
            test_pair: Returns the tests of two rows, by their keys, that can't be tested with all
                others at once.
        """
        self._keys = list(runs)
        self._place = {key: place for place, key in enumerate(self._keys)}
        self._first, self._second = np.triu_indices(len(self._keys), k=1)
        lowest = [run.lowest for run in runs.values()]
        self._values = np.array([_number(run.value) for run in lowest], dtype=np.float64)
        self._runs = list(runs.values())
        self._tests = _Tests(runs, test_pair)
        self._p_alone = self._tests.p()
        self._p = multiple_comparisons.adjusted_by_holm(self._p_alone)
        self._levels = multiple_comparisons.levels_of_holm(self._p_alone)
        self._intervals: tuple[Array, Array] | None = None

    def __getitem__(self, keys: RowPair) -> PairedDifference:
        first = self._place[keys[0]]
        second = self._place[keys[1]]
        if keys not in self:
            raise KeyError(keys)
        return self._difference(self._pair_of(first, second))

    def __iter__(self) -> Iterator[RowPair]:
        has_value = ~np.isnan(self._values)
        for first, second in combinations(range(len(self._keys)), 2):
            if has_value[first] and has_value[second]:
                yield self._keys[first], self._keys[second]

    def __len__(self) -> int:
        rows = int(np.count_nonzero(~np.isnan(self._values)))
        return rows * (rows - 1) // 2

    def __contains__(self, keys: object) -> bool:
        """Return True where two rows have a difference, in this order."""
        if not isinstance(keys, tuple) or len(keys) != 2:  # noqa: PLR2004 - a pair
            return False
        first = self._place.get(keys[0])
        second = self._place.get(keys[1])
        if first is None or second is None or first >= second:
            return False
        return not np.isnan(self._values[[first, second]]).any()

    def signs(self, keys: Sequence[str], tables: int) -> Signs:
        """Return `PairedDifference.told_among` of each row and each other one, by their keys."""
        difference = self._values[self._first] - self._values[self._second]
        with np.errstate(invalid="ignore"):
            is_told = self._p * tables <= power.ALPHA
        sign = np.where(is_told, np.sign(np.nan_to_num(difference)), 0).astype(np.int8)
        rows = len(self._keys)
        # The last row and column are those of rows that were not compared.
        all_signs = np.zeros((rows + 1, rows + 1), dtype=np.int8)
        all_signs[self._first, self._second] = sign
        all_signs[self._second, self._first] = -sign
        places = [self._place.get(key, rows) for key in keys]
        return all_signs[np.ix_(places, places)]

    def ranges(self) -> dict[str, tuple[int, int]]:
        """Return each row's best and worst rank that the pairs allow, by its key."""
        difference = self._values[self._first] - self._values[self._second]
        has_value = ~np.isnan(difference)
        pairs = multiple_comparisons.Pairs(
            self._first[has_value],
            self._second[has_value],
            difference[has_value],
            self._p_alone[has_value],
        )
        ranges = multiple_comparisons.rank_ranges(len(self._keys), pairs)
        return dict(zip(self._keys, ranges, strict=True))

    def _pair_of(self, first: int, second: int) -> int:
        """Return the place of a pair in the order of `itertools.combinations`."""
        before = first * (2 * len(self._keys) - first - 1) // 2
        return before + second - first - 1

    def _difference(self, pair: int) -> PairedDifference:
        first_value = self._values[self._first[pair]]
        second_value = self._values[self._second[pair]]
        return PairedDifference(
            difference=float(first_value - second_value),
            p=_or_none(self._p[pair]),
            ci95=self._interval(pair),
            p_alone=_or_none(self._p_alone[pair]),
        )

    def _interval(self, pair: int) -> tuple[float, float] | None:
        """Return a pair's interval; at the first call those of all pairs are worked out."""
        if self._intervals is None:
            self._intervals = self._tests.intervals(self._levels)
        starts, ends = self._intervals
        if math.isnan(starts[pair]):
            return None
        return float(starts[pair]), float(ends[pair])

    def resampled_errors(self) -> list[ResampledErrors]:
        """Return the errors of all pairs on the same items, by the items."""
        by_items: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place, run in enumerate(self._runs):
            if run.lowest.draws is not None and run.lowest.clusters > 1:
                by_items[run.ids].append(place)
        every_errors: list[ResampledErrors] = []
        for places in by_items.values():
            if len(places) > 1:
                every_errors.append(self._resampled_errors_of(places))
        return every_errors

    def _resampled_errors_of(self, places: list[int]) -> ResampledErrors:
        videos = self._runs[places[0]].lowest.clusters
        errors = self._tests.resampled_errors(places)
        if errors is None:
            draws: list[Array] = []
            for place in places:
                run_draws = self._runs[place].lowest.draws
                assert run_draws is not None  # noqa: S101 - the caller has looked
                draws.append(run_draws)
            errors = errors_of_all_pairs(np.stack(draws), videos)
        return ResampledErrors(errors, videos)


class _Tests:
    """The tests of all pairs of runs, in the order of `itertools.combinations`.

    Runs on the same items are tested all at once. A pair with another run is tested alone.
    """

    def __init__(
        self, runs: Mapping[str, AtBothEnds], test_pair: Callable[[str, str], Tests]
    ) -> None:
        keys = list(runs)
        first, second = np.triu_indices(len(keys), k=1)
        alike = _on_the_same_items(list(runs.values()))
        is_alike = np.zeros(len(keys), dtype=bool)
        is_alike[alike] = True
        is_at_once = is_alike[first] & is_alike[second]
        self._alike = alike
        self._count = len(first)
        self._at_once = np.flatnonzero(is_at_once)
        self._matrices: list[PairedTests] = []
        if len(alike) > 1:
            self._matrices = _tests_at_both_ends([runs[keys[place]] for place in alike])
        self._alone: dict[int, Tests] = {}
        for pair in np.flatnonzero(~is_at_once).tolist():
            self._alone[pair] = test_pair(keys[first[pair]], keys[second[pair]])

    def intervals(self, levels: Array) -> tuple[Array, Array]:
        """Return the ends of each pair's interval; NaN where there is no test."""
        starts = np.full(self._count, np.nan)
        ends = np.full(self._count, np.nan)
        if self._matrices:
            each = [matrix.intervals(levels[self._at_once]) for matrix in self._matrices]
            starts[self._at_once] = np.min([low for low, _ in each], axis=0)
            ends[self._at_once] = np.max([high for _, high in each], axis=0)
        for pair, tests in self._alone.items():
            interval = comparison.interval_of(tests, float(levels[pair]))
            if interval is not None:
                starts[pair], ends[pair] = interval
        return starts, ends

    def resampled_errors(self, places: list[int]) -> Array | None:
        """Return the errors of the pairs of some runs, where their tests have these."""
        # With unscored items there are two tests, neither of which is of the lowest ends alone.
        if places != self._alike or len(self._matrices) != 1:
            return None
        return self._matrices[0].resampled_error

    def p(self) -> Array:
        """Return each pair's `comparison.p_of`; NaN where there is no test."""
        p_values = np.full(self._count, np.nan)
        if self._matrices:
            p_values[self._at_once] = _p_of_matrices(self._matrices)
        for pair, tests in self._alone.items():
            p_values[pair] = _number(comparison.p_of(tests))
        return p_values


def _on_the_same_items(runs: Sequence[AtBothEnds]) -> list[int]:
    """Return the places of the runs that can be tested at once.

    They are those that have the commonest items.
    """
    counts = Counter(run.ids for run in runs)
    if not counts:
        return []
    commonest = counts.most_common(1)[0][0]
    places: list[int] = []
    for place, run in enumerate(runs):
        if run.ids != commonest or not _can_be_stacked(run.lowest):
            continue
        if not _can_be_stacked(run.highest):
            continue
        if not places or _has_same_shape(run.lowest, runs[places[0]].lowest):
            places.append(place)
    return places


def _can_be_stacked(run: Resampled) -> bool:
    """Return True for a run whose noise is that of videos alone."""
    if run.value is None or run.draws is None or run.parts is None:
        return False
    return len(run.runs) < 2  # noqa: PLR2004 - several runs have noise of their own


def _has_same_shape(run: Resampled, first_run: Resampled) -> bool:
    """Return True where two runs count the same items, videos and resamples."""
    if run.draws is None or first_run.draws is None:
        return False
    if (run.n, run.clusters, run.bounds) != (first_run.n, first_run.clusters, first_run.bounds):
        return False
    return np.array_equal(np.isnan(run.draws), np.isnan(first_run.draws))


def _tests_at_both_ends(runs: Sequence[AtBothEnds]) -> list[PairedTests]:
    """Test all pairs of runs at either end of their unscored items."""
    shape = runs[0].lowest
    lowest = _scores([run.lowest for run in runs])
    ends = [(lowest, lowest)]
    if any(run.lowest is not run.highest for run in runs):
        highest = _scores([run.highest for run in runs])
        ends = [(lowest, highest), (highest, lowest)]
    matrices: list[PairedTests] = []
    for first, second in ends:
        tests = tests_of_all_pairs(
            first, second, n=shape.n, clusters=shape.clusters, bounds=shape.bounds
        )
        if tests is not None:
            matrices.append(tests)
    return matrices


def _scores(runs: Sequence[Resampled]) -> Scores:
    values: list[float] = []
    draws: list[Array] = []
    parts: list[paired.Parts] = []
    for run in runs:
        assert run.value is not None  # noqa: S101 - `_can_be_stacked` has seen it
        assert run.draws is not None  # noqa: S101
        assert run.parts is not None  # noqa: S101
        values.append(run.value)
        draws.append(run.draws)
        parts.append(run.parts)
    return Scores.of(values, draws, parts)


def _p_of_matrices(matrices: Sequence[PairedTests]) -> Array:
    """Return the larger p of the two ends.

    It is 1 where the sign of the difference depends on what is unscored.
    """
    p_values = np.max([matrix.p() for matrix in matrices], axis=0)
    is_positive = np.array([matrix.difference > 0 for matrix in matrices])
    changes_sign = is_positive.any(axis=0) & ~is_positive.all(axis=0)
    return np.where(changes_sign & ~np.isnan(p_values), 1.0, p_values)


def _number(value: float | None) -> float:
    """Return a number, NaN in the place of None."""
    return math.nan if value is None else value


def _or_none(value: float) -> float | None:
    """Return a number, None in the place of NaN."""
    return None if math.isnan(value) else float(value)
