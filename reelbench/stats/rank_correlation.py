"""Rank correlation."""

import math
import statistics
from collections.abc import Iterable, Sequence


def ranks(values: Sequence[float]) -> list[float]:
    """Return each value's rank from 1 up, equal values sharing the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Spearman's correlation; None where one side has no spread."""
    first, second = ranks(x), ranks(y)
    return (
        None
        if len(set(first)) == 1 or len(set(second)) == 1
        else statistics.correlation(first, second)
    )


def kendall_tau(differences: Iterable[tuple[float, float]]) -> float | None:
    """Return Kendall's tau-b (Kendall 1945), -1 to 1; None where one side ties every pair.

    Args:
        differences: Of each pair of things that are compared, by how much the first is higher on
            either side.
    """
    signs = [((x > 0) - (x < 0), (y > 0) - (y < 0)) for x, y in differences]
    untied = sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs)
    return sum(x * y for x, y in signs) / math.sqrt(untied) if untied else None
