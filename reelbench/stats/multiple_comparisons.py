"""Multiple comparisons: p values adjusted by Holm's procedure (1979), and the ranks that follow."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reelbench.stats.intervals import Array, Places
from reelbench.stats.power import ALPHA


class _OrderedTests(NamedTuple):
    """The tests that have a p value, the smallest first.

    Attributes:
        places: Their places among all tests.
        p: Their p values.
        to_go: The number of tests from each of them on.
    """

    places: Places
    p: Array
    to_go: Array


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p values adjusted by Holm's step-down procedure, in the same order.

    A None (not tested) stays None and does not count as a test.
    """
    adjusted = adjusted_by_holm(np.array(p_values, dtype=np.float64))
    is_untested = np.isnan(adjusted)
    numbers: list[float | None] = adjusted.tolist()
    for place in np.flatnonzero(is_untested):
        numbers[place] = None
    return numbers


def adjusted_by_holm(p_values: Array) -> Array:
    """Return the p values adjusted by Holm's step-down procedure, in the same order.

    Each adjusted value can be compared with alpha directly. A NaN (not tested) stays NaN and does
    not count as a test.
    """
    tests = _ordered_tests(p_values)
    adjusted = np.full(len(p_values), np.nan)
    steps = np.minimum(1.0, tests.p * tests.to_go)
    adjusted[tests.places] = np.maximum.accumulate(steps)
    return adjusted


def levels_of_holm(p_values: Array, *, alpha: float = ALPHA) -> Array:
    """Return the level at which Holm's procedure tests each p value, in the same order.

    The procedure stops at the first p value above its level. The tests after it take the same
    level. So a p value is at most its level exactly where `adjusted_by_holm` leaves it at most
    `alpha`, and an interval at that level excludes 0 exactly there. A NaN (not tested) stays NaN.
    """
    tests = _ordered_tests(p_values)
    levels = np.full(len(p_values), np.nan)
    steps = alpha / tests.to_go
    not_rejected = np.flatnonzero(tests.p > steps)
    if len(not_rejected):
        first = not_rejected[0]
        steps[first:] = steps[first]
    levels[tests.places] = steps
    return levels


def _ordered_tests(p_values: Array) -> _OrderedTests:
    """Return the tests that have a p value, the smallest first."""
    has_p = ~np.isnan(p_values)
    count = int(np.count_nonzero(has_p))
    all_places = np.argsort(p_values, kind="stable")
    places = all_places[:count]  # NaNs stand last
    return _OrderedTests(
        places=places,
        p=p_values[places],
        to_go=np.arange(count, 0, -1, dtype=np.float64),
    )


class Pairs(NamedTuple):
    """The differences of pairs of models.

    Attributes:
        first: The place of each pair's first model.
        second: The place of its second model.
        difference: The first less the second. Higher is better.
        p: Of no difference. NaN where the two can't be told apart.
    """

    first: Places
    second: Places
    difference: Array
    p: Array


def rank_ranges(models: int, pairs: Pairs, *, alpha: float = ALPHA) -> list[tuple[int, int]]:
    """Return the best and the worst rank that the data allow each model.

    A model's best rank is one below the models that are significantly better, its worst rank one
    above those that are significantly worse, after Holm's adjustment over all pairs. With
    probability 1 - alpha all ranges are right together (as in Al Mohamad, Goeman and van Zwet,
    arXiv 1708.02729, with Tukey's test in place of Holm's).

    Args:
        models: The number of models.
        pairs: Their differences, each pair once and in either order. One that is missing can't be
            told apart.
        alpha: The probability that one range or more is wrong.
    """
    with np.errstate(invalid="ignore"):
        is_significant = adjusted_by_holm(pairs.p) <= alpha
    is_significant &= pairs.difference != 0
    is_first_better = pairs.difference > 0
    winners = np.where(is_first_better, pairs.first, pairs.second)
    losers = np.where(is_first_better, pairs.second, pairs.first)
    worse_models = np.bincount(winners[is_significant], minlength=models)
    better_models = np.bincount(losers[is_significant], minlength=models)
    best_ranks = 1 + better_models
    worst_ranks = models - worse_models
    return list(zip(best_ranks.tolist(), worst_ranks.tolist(), strict=True))
