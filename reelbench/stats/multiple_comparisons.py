"""Multiple comparisons: p values adjusted by Holm's procedure (1979), and the ranks that follow."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reelbench.stats.power import ALPHA


class _Test(NamedTuple):
    """A test's p value and its place among all tests."""

    p: float
    place: int


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p values adjusted by Holm's step-down procedure, in the same order.

    Each adjusted value can be compared with alpha directly. A None (not tested) stays None and does
    not count as a test.
    """
    tests = _ordered_tests(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for step, test in enumerate(tests):
        tests_to_go = len(tests) - step
        largest = max(largest, min(1.0, test.p * tests_to_go))
        adjusted[test.place] = largest
    return adjusted


def holm_levels(p_values: Sequence[float | None], *, alpha: float = ALPHA) -> list[float | None]:
    """Return the level at which Holm's procedure tests each p value, in the same order.

    The procedure stops at the first p value above its level. The tests after it take the same
    level. So a p value is at most its level exactly where `holm` leaves it at most `alpha`, and an
    interval at that level excludes 0 exactly there.
    """
    tests = _ordered_tests(p_values)
    levels: list[float | None] = [None] * len(p_values)
    level = alpha
    rejects = True
    for step, test in enumerate(tests):
        if rejects:
            level = alpha / (len(tests) - step)
            rejects = test.p <= level
        levels[test.place] = level
    return levels


def _ordered_tests(p_values: Sequence[float | None]) -> list[_Test]:
    """Return the tests that have a p value, the smallest first."""
    return sorted(_Test(p, place) for place, p in enumerate(p_values) if p is not None)


def rank_ranges(
    names: Sequence[str],
    differences: Mapping[tuple[str, str], tuple[float, float | None]],
    *,
    alpha: float = ALPHA,
) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank that the data allow each model.

    A model's best rank is one below the models that are significantly better, its worst rank one
    above those that are significantly worse, after Holm's adjustment over all pairs. With
    probability 1 - alpha all ranges are right together (as in Al Mohamad, Goeman and van Zwet,
    arXiv 1708.02729, with Tukey's test in place of Holm's).

    Args:
        names: The models.
        differences: (a, b) -> (a minus b, p of no difference), each pair once and in either order;
            higher is better. A pair that is missing, or whose p is None, can't be told apart.
        alpha: The probability that one range or more is wrong.
    """
    better_models = dict.fromkeys(names, 0)
    worse_models = dict.fromkeys(names, 0)
    adjusted = holm([p for _, p in differences.values()])
    for pair, p_adjusted in zip(differences, adjusted, strict=True):
        difference, _ = differences[pair]
        if p_adjusted is None or p_adjusted > alpha or not difference:
            continue
        winner, loser = pair
        if difference < 0:
            loser, winner = pair
        better_models[loser] += 1
        worse_models[winner] += 1
    return {name: (1 + better_models[name], len(names) - worse_models[name]) for name in names}
