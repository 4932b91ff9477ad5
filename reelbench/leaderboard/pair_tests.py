"""The tests of all pairs of a table's runs, in arrays.

Runs on the same items are tested at once, in a stack. A pair with any other run is tested alone.
Pairs are in the order of `itertools.combinations` of the runs.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reelbench.leaderboard.compared_runs import ComparedRuns, Stack
from reelbench.scoring import comparison
from reelbench.stats import paired
from reelbench.stats.intervals import Array, Places

Tests = list[paired.PairedTest]
TestPair = Callable[[str, str], Tests]
"""Returns the tests of two rows, by their keys."""


class Ends(NamedTuple):
    """The low and the high ends of intervals. NaN where there is no test."""

    low: Array
    high: Array


class StackedPairs(NamedTuple):
    """Pairs of runs that are both in a stack.

    Attributes:
        first: The place in the stack of each pair's first run (pairs).
        second: That of its second run (pairs).
    """

    first: Places
    second: Places

    def at(self, places: Places) -> "StackedPairs":
        """Return some of the pairs."""
        return StackedPairs(self.first[places], self.second[places])


class PairTests:
    """The tests of all pairs of a table's runs."""

    def __init__(self, runs: ComparedRuns, first: Places, second: Places, test: TestPair) -> None:
        """Test the pairs that are not in the stack.

        Args:
            runs: The runs.
            first: The place of each pair's first row among the keys (pairs).
            second: That of its second row (pairs).
            test: Returns the tests of two rows, by their keys.
        """
        self._count = len(first)
        self._stack = runs.stack
        stack_places = [runs.places.get(key, -1) for key in runs.keys]
        place_of_row = np.array(stack_places, dtype=np.intp)
        first_places = place_of_row[first]
        second_places = place_of_row[second]
        is_stacked = (first_places >= 0) & (second_places >= 0)
        self._stacked = np.flatnonzero(is_stacked)
        """The pairs of which both runs are in the stack."""
        self._pairs = StackedPairs(first_places, second_places).at(self._stacked)
        self._alone: dict[int, Tests] = {}
        """Pair -> its tests, of the other pairs."""
        for pair in np.flatnonzero(~is_stacked).tolist():
            first_key = runs.keys[first[pair]]
            second_key = runs.keys[second[pair]]
            self._alone[pair] = test(first_key, second_key)

    def p(self) -> Array:
        """Return each pair's `comparison.p_of`. NaN where there is no test."""
        p_values = np.full(self._count, np.nan)
        if self._stack is not None:
            p_values[self._stacked] = _p_in_stack(self._stack, self._pairs)
        for pair, tests in self._alone.items():
            p = comparison.p_of(tests)
            if p is not None:
                p_values[pair] = p
        return p_values

    def interval(self, pair: int, level: float) -> tuple[float, float]:
        """Return the ends of a pair's interval. NaN where there is no test."""
        if pair in self._alone:
            interval = comparison.interval_of(self._alone[pair], level)
            return interval or (math.nan, math.nan)
        assert self._stack is not None  # noqa: S101 - the pair is in it
        place = np.searchsorted(self._stacked, [pair])
        ends = _intervals_in_stack(
            self._stack,
            self._pairs.at(place),
            levels=np.array([level]),
        )
        return float(ends.low[0]), float(ends.high[0])

    def intervals(self, levels: Array) -> Ends:
        """Return each pair's interval.

        Args:
            levels: Each pair's level (pairs).
        """
        low = np.full(self._count, np.nan)
        high = np.full(self._count, np.nan)
        if self._stack is not None:
            levels_in_stack = levels[self._stacked]
            ends = _intervals_in_stack(self._stack, self._pairs, levels_in_stack)
            low[self._stacked] = ends.low
            high[self._stacked] = ends.high
        for pair, tests in self._alone.items():
            level = float(levels[pair])
            interval = comparison.interval_of(tests, level)
            if interval is not None:
                low[pair], high[pair] = interval
        return Ends(low, high)


def _p_in_stack(stack: Stack, pairs: StackedPairs) -> Array:
    """Return the larger p of both ends of unscored items.

    It is 1 where the sign of the difference depends on them.
    """
    first, second = pairs
    p_of_tests = stack.tests.p
    p_values = np.maximum(
        p_of_tests[first, second],
        p_of_tests[second, first],
    )
    lowest = stack.lowest.values
    highest = stack.highest.values
    least_difference = lowest[first] - highest[second]
    largest_difference = highest[first] - lowest[second]
    is_surely_better = least_difference > 0
    may_be_better = largest_difference > 0
    has_test = ~np.isnan(p_values)
    changes_sign = (is_surely_better != may_be_better) & has_test
    return np.where(changes_sign, 1.0, p_values)


def _intervals_in_stack(stack: Stack, pairs: StackedPairs, levels: Array) -> Ends:
    """Return the intervals of pairs, at both ends of unscored items.

    Args:
        stack: The stack.
        pairs: The pairs.
        levels: Their levels (pairs).
    """
    first, second = pairs
    low, high = stack.shape.common.bounds
    bounds = (low - high, high - low)
    tests = stack.tests
    starts, ends = tests.intervals(first, second, levels, bounds)
    if stack.highest is stack.lowest:
        return Ends(starts, ends)
    # The same differences the other way round, with unscored items at their other ends.
    opposite_starts, opposite_ends = tests.intervals(second, first, levels, bounds)
    return Ends(
        low=np.minimum(starts, -opposite_ends),
        high=np.maximum(ends, -opposite_starts),
    )
