"""The pairs of a table's runs, tested all at once and adjusted by Holm.

A table of a thousand runs has half a million pairs. They are kept as arrays, and a pair becomes an
object when somebody asks for it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reelbench.leaderboard.compared_runs import ComparedRuns, Stack
from reelbench.leaderboard.pair_tests import Ends, PairTests, TestPair
from reelbench.scoring.comparison import AtBothEnds
from reelbench.stats import multiple_comparisons, power
from reelbench.stats.all_pairs import errors_of_all_pairs
from reelbench.stats.intervals import Array

RowPair = tuple[str, str]
"""The keys of two rows."""
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

    def __init__(self, runs: ComparedRuns, test_pair: TestPair) -> None:
        """Take the tests of all pairs together.

        Args:
            runs: The rows' runs.
            test_pair: Returns the tests of two rows, by their keys, that can't be tested with all
                others at once.
        """
        self._runs = runs
        self._keys = runs.keys
        self._place = {key: place for place, key in enumerate(self._keys)}
        values = [_value_of(runs, key) for key in self._keys]
        self._values = np.array(values, dtype=np.float64)
        self._first, self._second = np.triu_indices(len(self._keys), k=1)
        self._differences = self._values[self._first] - self._values[self._second]
        self._tests = PairTests(runs, self._first, self._second, test_pair)
        self._p_alone = self._tests.p()
        self._p = multiple_comparisons.adjusted_by_holm(self._p_alone)
        self._levels = multiple_comparisons.levels_of_holm(self._p_alone)
        self._intervals: Ends | None = None
        """The intervals of all pairs, once somebody asked for all."""

    def __getitem__(self, keys: RowPair) -> PairedDifference:
        if keys not in self:
            raise KeyError(keys)
        pair = self._pair_of(*keys)
        difference = float(self._differences[pair])
        return PairedDifference(
            difference,
            _or_none(self._p[pair]),
            self._interval(pair),
            _or_none(self._p_alone[pair]),
        )

    def __iter__(self) -> Iterator[RowPair]:
        self.work_out_intervals()
        has_value = ~np.isnan(self._values)
        compared_places = np.flatnonzero(has_value).tolist()
        for first, second in combinations(compared_places, 2):
            yield self._keys[first], self._keys[second]

    def __len__(self) -> int:
        has_value = ~np.isnan(self._values)
        rows = int(np.count_nonzero(has_value))
        return rows * (rows - 1) // 2

    def __contains__(self, keys: object) -> bool:
        """Return True where two rows have a difference, in this order."""
        if not isinstance(keys, tuple) or len(keys) != 2:  # noqa: PLR2004 - a pair
            return False
        first, second = keys
        first_place = self._place.get(first)
        second_place = self._place.get(second)
        if first_place is None or second_place is None:
            return False
        if first_place >= second_place:
            return False
        has_first = not math.isnan(self._values[first_place])
        has_second = not math.isnan(self._values[second_place])
        return has_first and has_second

    @property
    def p_alone(self) -> Array:
        """Each pair's p as if it were the only one (pairs).

        NaN where there is no test.
        """
        return self._p_alone

    def work_out_intervals(self) -> None:
        """Work out the intervals of all pairs, for who looks at most of them.

        An interval alone takes a millisecond, and all of a thousand rows together take seconds.
        """
        if self._intervals is None:
            self._intervals = self._tests.intervals(self._levels)

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
        direction = np.sign(np.nan_to_num(self._differences))
        sign = np.where(is_told, direction, 0).astype(np.int8)
        rows = len(self._keys)
        # The last row and column are those of rows that were not compared.
        all_signs = np.zeros((rows + 1, rows + 1), dtype=np.int8)
        all_signs[self._first, self._second] = sign
        all_signs[self._second, self._first] = -sign
        places = [self._place.get(key, rows) for key in keys]
        square = np.ix_(places, places)
        return all_signs[square]

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

    def resampled_errors(self) -> list[ResampledErrors]:
        """Return the errors of all pairs on the same items, by the items."""
        every_errors: list[ResampledErrors] = []
        stack = self._runs.stack
        if stack is not None and len(stack.contents) > 1:
            every_errors.append(_errors_in_stack(stack))
        every_errors += _errors_of_others(self._runs.alone.values())
        return every_errors

    def _pair_of(self, first: str, second: str) -> int:
        """Return the place of two rows in the order of `itertools.combinations`."""
        first_place = self._place[first]
        second_place = self._place[second]
        rows = len(self._keys)
        before = first_place * (2 * rows - first_place - 1) // 2
        return before + second_place - first_place - 1

    def _interval(self, pair: int) -> tuple[float, float] | None:
        """Return a pair's interval. None where there is no test."""
        if self._intervals is None:
            level = float(self._levels[pair])
            low, high = self._tests.interval(pair, level)
        else:
            low = float(self._intervals.low[pair])
            high = float(self._intervals.high[pair])
        return None if math.isnan(low) else (low, high)


def _errors_in_stack(stack: Stack) -> ResampledErrors:
    """Return the errors of all pairs of a stack's runs."""
    runs = len(stack.contents)
    is_below = np.tri(runs, k=-1, dtype=bool)
    errors = stack.tests.resampled_error[is_below]
    videos = stack.shape.common.clusters
    return ResampledErrors(errors, videos)


def _errors_of_others(runs: Iterable[AtBothEnds]) -> Iterator[ResampledErrors]:
    """Yield the errors of all pairs of runs in no stack, by their items."""
    draws_of_items: dict[tuple[str, int], list[Array]] = defaultdict(list)
    for run in runs:
        lowest = run.lowest
        if lowest.draws is not None and lowest.clusters > 1:
            draws_of_items[run.items, lowest.clusters].append(lowest.draws)
    for (_, videos), draws in draws_of_items.items():
        if len(draws) > 1:
            errors = errors_of_all_pairs(np.stack(draws), videos)
            yield ResampledErrors(errors, videos)


def _value_of(runs: ComparedRuns, key: str) -> float:
    """Return a run's value, with unscored items at the lowest. NaN where it has none."""
    if key in runs.alone:
        value = runs.alone[key].lowest.value
        return math.nan if value is None else value
    assert runs.stack is not None  # noqa: S101 - a run is in the stack or alone
    values = runs.stack.lowest.values
    place = runs.places[key]
    return float(values[place])


def _or_none(value: float) -> float | None:
    """Return a number, None in the place of NaN."""
    return None if math.isnan(value) else float(value)
