"""Krippendorff's alpha: how far people who rated the same things agree beyond chance, whoever left some out.

Own code, since the package of that name is under the GPL; its test is Krippendorff's own worked example.
"""

from collections.abc import Iterable, Sequence

import numpy as np


def krippendorff_alpha(units: Iterable[Sequence[int]]) -> float | None:
    """Return alpha for ordinal ratings: 1 is full agreement, 0 chance, below 0 systematic disagreement.

    Args:
        units: For each thing rated, the ratings that it got, in any order; those with fewer than two count for nothing.

    Returns:
        Alpha, or None where it is undefined: nothing was rated twice, or all ratings are the same.
    """
    paired = [list(unit) for unit in units if len(unit) > 1]
    values = sorted({rating for unit in paired for rating in unit})
    if len(values) < 2:  # noqa: PLR2004
        return None
    # Coincidences (Krippendorff, Content Analysis, ch. 11): each pair of ratings of a unit, weighed by 1 / (m - 1).
    observed = np.zeros((len(values), len(values)))
    for unit in paired:
        counts = np.array([unit.count(value) for value in values], dtype=float)
        observed += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = observed.sum(axis=0)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    # Ordinal distance: the ratings that lie from one value to the other, the two ends by half, squared.
    upto = np.cumsum(totals) - totals / 2
    distance = (upto[:, None] - upto[None, :]) ** 2
    return float(1 - (observed * distance).sum() / (expected * distance).sum())
