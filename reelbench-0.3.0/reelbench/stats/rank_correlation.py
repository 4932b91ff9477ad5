"""Rank correlation."""

import math
import statistics
from collections.abc import Iterable, Sequence


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1 up. Equal values share their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Spearman's correlation. None where one side has no spread."""
    x_ranks = ranks(x)
    y_ranks = ranks(y)
    if len(set(x_ranks)) == 1 or len(set(y_ranks)) == 1:
        return None
    return statistics.correlation(x_ranks, y_ranks)


def kendall_tau(differences: Iterable[tuple[float, float]]) -> float | None:
    """Return Kendall's tau-b (Kendall 1945), -1 to 1. None where one side ties every pair.

    Args:
        differences: For each pair of things, by how much the first is higher on either side.
    """
    untied_x = 0
    untied_y = 0
    concordance = 0
    for x, y in differences:
        sign_x = _sign_of(x)
        sign_y = _sign_of(y)
        untied_x += abs(sign_x)
        untied_y += abs(sign_y)
        concordance += sign_x * sign_y
    untied = untied_x * untied_y
    if not untied:
        return None
    return concordance / math.sqrt(untied)


def _sign_of(value: float) -> int:
    if value > 0:
        return 1
    if value < 0:
        return -1
    return 0
