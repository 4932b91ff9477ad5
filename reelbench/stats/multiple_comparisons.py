"""Multiple comparisons: p values adjusted for their number by Holm's procedure (1979), and the ranks that follow."""

from collections.abc import Mapping, Sequence

from reelbench.stats.power import ALPHA


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p values adjusted for their number by Holm's step-down procedure (Holm 1979), in the same order.

    Each may be held against alpha as it is. None (not tested) stays None and counts for nothing.
    """
    tested = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for place, (p, at) in enumerate(tested):
        least = max(least, min(1.0, p * (len(tested) - place)))
        adjusted[at] = least
    return adjusted


def holm_levels(p_values: Sequence[float | None], *, alpha: float = ALPHA) -> list[float | None]:
    """Return the level at which Holm's procedure tests each p value: that of its step, in the same order.

    Those after the first that is not told apart are never tested; they take that one's level. So a
    p is at most its level exactly where `holm` leaves it at most `alpha`, and an interval at that
    level excludes 0 exactly there.
    """
    tested = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    levels: list[float | None] = [None] * len(p_values)
    level, going = alpha, True
    for place, (p, at) in enumerate(tested):
        if going:
            level = alpha / (len(tested) - place)
            going = p <= level
        levels[at] = level
    return levels


def rank_ranges(
    names: Sequence[str],
    differences: Mapping[tuple[str, str], tuple[float, float | None]],
    *,
    alpha: float = ALPHA,
) -> dict[str, tuple[int, int]]:
    """Return for each model the ranks, best and worst, that the data don't rule out.

    A model's best rank is one below the models that are better beyond Holm's adjustment over all
    pairs, its worst one above those that are worse; with probability 1 - alpha all ranges hold at
    once (as in Al Mohamad, Goeman and van Zwet, arXiv 1708.02729, with Tukey's test in place of
    Holm's).

    Args:
        names: The models.
        differences: (a, b) -> (a minus b, p of no difference), each pair once and in either order;
            higher is better. A pair that is missing, or whose p is None, can't be told apart.
        alpha: How often at most one range or more may be wrong.
    """
    better = dict.fromkeys(names, 0)
    worse = dict.fromkeys(names, 0)
    adjusted = holm([p for _, p in differences.values()])
    for ((a, b), (difference, _)), p in zip(differences.items(), adjusted, strict=True):
        if p is not None and p <= alpha and difference:
            winner, loser = (a, b) if difference > 0 else (b, a)
            better[loser] += 1
            worse[winner] += 1
    return {name: (1 + better[name], len(names) - worse[name]) for name in names}
