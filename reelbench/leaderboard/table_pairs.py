"""The pairs of a table's runs, tested all at once and adjusted by Holm.

A table of a thousand runs has half a million pairs. They are kept as arrays, and a pair becomes an
object when somebody asks for it.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reelbench.leaderboard.compared_runs import ComparedRuns, Stack
from reelbench.scoring import comparison
from reelbench.stats import multiple_comparisons, paired, power
from reelbench.stats.all_pairs import errors_of_all_pairs
from reelbench.stats.intervals import Array, Places

_FEW = 50
RowPair = tuple[str, str]
"""The keys of two rows."""
Tests = list[paired.PairedTest]
Signs = npt.NDArray[np.int8]


class PairedDifference(NamedTuple):
    """The difference of two rows, one less the other, as the rows show it.

    Attributes:
        difference: In the primary metric's unit.
        p: Of no difference, adjusted by Holm for all pairs of the table. None of too few videos.
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
        return direction_of(self.difference, self.p)

    def reversed(self) -> "PairedDifference":
        """Return the difference of the same rows the other way round."""
        ci95 = self.ci95
        if ci95 is not None:
            low, high = ci95
            ci95 = (-high, -low)
        return self._replace(difference=-self.difference, ci95=ci95)


def direction_of(difference: float, p: float | None) -> int:
    """Return the sign of a difference, 0 where it can't be told from none.

    `p` is adjusted.
    """
    if p is None or math.isnan(p) or p > power.ALPHA or difference == 0:
        return 0
    return 1 if difference > 0 else -1


class ResampledErrors(NamedTuple):
    """The errors of pairs of runs on the same items, by the resamples alone."""

    errors: Array
    videos: int


class TablePairs(Mapping[RowPair, PairedDifference]):
    """The differences of all pairs of a table's rows, by the rows' keys.

    Arrays are (rows), or (pairs) in the order of `itertools.combinations` of the rows.
    """

    def __init__(self, runs: ComparedRuns, test_pair: Callable[[str, str], Tests]) -> None:
        """Take the tests of all pairs together.

        Args:
            runs: The rows' runs.
            test_pair: Returns the tests of two rows, by their keys, that can't be tested with all
                others at once.
        """
        self._keys = runs.keys
        self._place = {key: place for place, key in enumerate(self._keys)}
        self._runs = runs
        self._first, self._second = np.triu_indices(len(self._keys), k=1)
        values = [_value_of(runs, key) for key in self._keys]
        self._values = np.array(values, dtype=np.float64)
        self._differences = self._values[self._first] - self._values[self._second]
        self._tests = _Tests(runs, self._first, self._second, test_pair)
        self._p_alone = self._tests.p()
        self._p = multiple_comparisons.adjusted_by_holm(self._p_alone)
        self._levels = multiple_comparisons.levels_of_holm(self._p_alone)
        self._intervals: tuple[Array, Array] | None = None
        """The intervals of all pairs, once many were asked for."""
        self._asked = 0
        """How many intervals were asked for."""

    def __getitem__(self, keys: RowPair) -> PairedDifference:
        if keys not in self:
            raise KeyError(keys)
        first, second = keys
        return self._difference(self._pair_of(self._place[first], self._place[second]))

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

    @property
    def p_alone(self) -> Array:
        """Each pair's p as if it were the only one (pairs).

        NaN where there is no test.
        """
        return self._p_alone

    def signs(self, keys: Sequence[str], p_values: Array | None = None) -> Signs:
        """Return each row's `direction_of` against each other one, by their keys.

        Args:
            keys: The rows' keys.
            p_values: Each pair's adjusted p (pairs); by default that of this table alone.
        """
        if p_values is None:
            p_values = self._p
        with np.errstate(invalid="ignore"):
            is_told = p_values <= power.ALPHA
        sign = np.where(is_told, np.sign(np.nan_to_num(self._differences)), 0).astype(np.int8)
        rows = len(self._keys)
        # The last row and column are those of rows that were not compared.
        all_signs = np.zeros((rows + 1, rows + 1), dtype=np.int8)
        all_signs[self._first, self._second] = sign
        all_signs[self._second, self._first] = -sign
        places = [self._place.get(key, rows) for key in keys]
        return all_signs[np.ix_(places, places)]

    def ranges(self) -> dict[str, tuple[int, int]]:
        """Return each row's best and worst rank that the pairs allow, by its key."""
        has_value = ~np.isnan(self._differences)
        pairs = multiple_comparisons.Pairs(
            self._first[has_value],
            self._second[has_value],
            self._differences[has_value],
            self._p_alone[has_value],
        )
        ranges = multiple_comparisons.rank_ranges(len(self._keys), pairs)
        return dict(zip(self._keys, ranges, strict=True))

    def _pair_of(self, first: int, second: int) -> int:
        """Return the place of a pair in the order of `itertools.combinations`."""
        before = first * (2 * len(self._keys) - first - 1) // 2
        return before + second - first - 1

    def _difference(self, pair: int) -> PairedDifference:
        return PairedDifference(
            difference=float(self._differences[pair]),
            p=_or_none(self._p[pair]),
            ci95=self._interval(pair),
            p_alone=_or_none(self._p_alone[pair]),
        )

    def _interval(self, pair: int) -> tuple[float, float] | None:
        """Return a pair's interval.

        The first few are worked out alone, and then those of all pairs: these take seconds in a
        table of a thousand rows, of which a page shows a few.
        """
        if self._intervals is None and self._asked < _FEW:
            self._asked += 1
            start, end = self._tests.interval(pair, float(self._levels[pair]))
        else:
            if self._intervals is None:
                self._intervals = self._tests.intervals(self._levels)
            starts, ends = self._intervals
            start, end = float(starts[pair]), float(ends[pair])
        return None if math.isnan(start) else (start, end)

    def resampled_errors(self) -> list[ResampledErrors]:
        """Return the errors of all pairs on the same items, by the items."""
        every_errors: list[ResampledErrors] = []
        stack = self._runs.stack
        if stack is not None and len(stack.contents) > 1:
            below = np.tri(len(stack.contents), k=-1, dtype=bool)
            errors = stack.tests.resampled_error[below]
            every_errors.append(ResampledErrors(errors, stack.shape.common.clusters))
        draws_of_items: dict[tuple[str, int], list[Array]] = defaultdict(list)
        for run in self._runs.alone.values():
            if run.lowest.draws is not None and run.lowest.clusters > 1:
                draws_of_items[run.items, run.lowest.clusters].append(run.lowest.draws)
        for (_, videos), draws in draws_of_items.items():
            if len(draws) > 1:
                errors = errors_of_all_pairs(np.stack(draws), videos)
                every_errors.append(ResampledErrors(errors, videos))
        return every_errors


def _value_of(runs: ComparedRuns, key: str) -> float:
    """Return a run's value, with unscored items at the lowest. NaN where it has none."""
    if key in runs.alone:
        value = runs.alone[key].lowest.value
        return math.nan if value is None else value
    assert runs.stack is not None  # noqa: S101 - a run is in the stack or alone
    return float(runs.stack.lowest.values[runs.places[key]])


class _Tests:
    """The tests of all pairs of runs, in the order of `itertools.combinations`.

    Those of runs in the stack are there. A pair with another run is tested alone.
    """

    def __init__(
        self,
        runs: ComparedRuns,
        first: Places,
        second: Places,
        test_pair: Callable[[str, str], Tests],
    ) -> None:
        """Test the pairs that are not in the stack.

        Args:
            runs: The runs.
            first: The place of each pair's first row among the keys (pairs).
            second: That of its second row (pairs).
            test_pair: Returns the tests of two rows, by their keys.
        """
        keys = runs.keys
        places = np.array([runs.places.get(key, -1) for key in keys], dtype=np.intp)
        is_stacked = (places[first] >= 0) & (places[second] >= 0)
        self._count = len(first)
        self._stack = runs.stack
        self._stacked = np.flatnonzero(is_stacked)
        """The pairs of which both runs are in the stack."""
        self._first = places[first[is_stacked]]
        """The place in the stack of each such pair's first run."""
        self._second = places[second[is_stacked]]
        self._alone: dict[int, Tests] = {}
        for pair in np.flatnonzero(~is_stacked).tolist():
            self._alone[pair] = test_pair(keys[first[pair]], keys[second[pair]])

    def p(self) -> Array:
        """Return each pair's `comparison.p_of`. NaN where there is no test."""
        p_values = np.full(self._count, np.nan)
        if self._stack is not None:
            p_values[self._stacked] = self._stacked_p(self._stack)
        for pair, tests in self._alone.items():
            p = comparison.p_of(tests)
            if p is not None:
                p_values[pair] = p
        return p_values

    def _stacked_p(self, stack: Stack) -> Array:
        """Return the larger p of both ends of unscored items.

        It is 1 where the sign of the difference depends on them.
        """
        lowest = stack.lowest.values
        highest = stack.highest.values
        p_at_ends = [
            stack.tests.p[self._first, self._second],
            stack.tests.p[self._second, self._first],
        ]
        p_values = np.max(p_at_ends, axis=0)
        is_first_better = lowest[self._first] - highest[self._second] > 0
        may_be_better = highest[self._first] - lowest[self._second] > 0
        changes_sign = (is_first_better != may_be_better) & ~np.isnan(p_values)
        return np.where(changes_sign, 1.0, p_values)

    def interval(self, pair: int, level: float) -> tuple[float, float]:
        """Return the ends of a pair's interval. NaN where there is no test."""
        if pair in self._alone:
            return comparison.interval_of(self._alone[pair], level) or (math.nan, math.nan)
        places = np.searchsorted(self._stacked, [pair])
        starts, ends = self._stacked_intervals(places, np.array([level]))
        return float(starts[0]), float(ends[0])

    def intervals(self, levels: Array) -> tuple[Array, Array]:
        """Return the ends of each pair's interval. NaN where there is no test."""
        starts = np.full(self._count, np.nan)
        ends = np.full(self._count, np.nan)
        if self._stack is not None:
            every_place = np.arange(len(self._stacked))
            stacked = self._stacked_intervals(every_place, levels[self._stacked])
            starts[self._stacked], ends[self._stacked] = stacked
        for pair, tests in self._alone.items():
            interval = comparison.interval_of(tests, float(levels[pair]))
            if interval is not None:
                starts[pair], ends[pair] = interval
        return starts, ends

    def _stacked_intervals(self, places: Places, levels: Array) -> tuple[Array, Array]:
        """Return the intervals of some pairs in the stack, at both ends of unscored items.

        Args:
            places: The pairs' places among those in the stack (pairs).
            levels: Their levels (pairs).
        """
        stack = self._stack
        assert stack is not None  # noqa: S101 - the pairs are in it
        first = self._first[places]
        second = self._second[places]
        low, high = stack.shape.common.bounds
        bounds = (low - high, high - low)
        starts, ends = stack.tests.intervals(first, second, levels, bounds)
        if stack.highest is stack.lowest:
            return starts, ends
        low_ends, high_ends = stack.tests.intervals(second, first, levels, bounds)
        return np.minimum(starts, -high_ends), np.maximum(ends, -low_ends)


def _or_none(value: float) -> float | None:
    """Return a number, None in the place of NaN."""
    return None if math.isnan(value) else float(value)
