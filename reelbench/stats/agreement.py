"""How far raters agree beyond chance: Cohen's kappa of two, Krippendorff's alpha of several.

Kappa takes off the agreement that chance alone would give: unweighted, or with quadratic weights
(Cohen 1968), where a near miss is not a miss. Alpha is for any number of raters, who may leave some
out (Krippendorff, Content Analysis, ch. 11); own code, since the package of that name is under the
GPL.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import intervals
from reelbench.stats.intervals import Bounds, Estimate

Array = NDArray[np.float64]

Statistic = Callable[[Array], Array]
"""Of sums (rows x columns) to values (rows); NaN is undefined."""
Weights = Literal["none", "quadratic"]
"""How kappa weighs a miss."""


def cohen_kappa(
    a: Sequence[float], b: Sequence[float], *, weights: Weights = "none"
) -> float | None:
    """Return Cohen's kappa of two raters' scores of the same items, in the same order; None where it is undefined.

    With quadratic weights a disagreement counts by the square of its size (Cohen 1968).
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    kappa = float(kappas_of_sums(kappa_terms(x, y, weights).sum(axis=0)[None, :], weights)[0])
    return None if np.isnan(kappa) else kappa


def krippendorff_alpha(
    units: Iterable[Sequence[float]], *, level: Literal["ordinal", "nominal"] = "ordinal"
) -> float | None:
    """Return Krippendorff's alpha: 1 is full agreement, 0 chance, below 0 systematic disagreement.

    Args:
        units: For each thing rated, the ratings that it got, in any order; those with fewer than
            two count for nothing.
        level: Of measurement: ratings on a scale, or mere names.

    Returns:
        Alpha, or None where it is undefined: nothing was rated twice, or all ratings are the same.
    """
    paired = [list(unit) for unit in units if len(unit) > 1]
    values = sorted({rating for unit in paired for rating in unit})
    if len(values) < 2:  # noqa: PLR2004
        return None
    # Coincidences (Krippendorff, Content Analysis, ch. 11): each pair of ratings of a unit, weighed
    # by 1 / (m - 1).
    observed = np.zeros((len(values), len(values)))
    for unit in paired:
        counts = np.array([unit.count(value) for value in values], dtype=float)
        observed += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = observed.sum(axis=0)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    if level == "nominal":
        distance = 1.0 - np.eye(len(values))
    else:
        # The ratings that lie from one value to the other, the two ends by half, squared.
        upto = np.cumsum(totals) - totals / 2
        distance = (upto[:, None] - upto[None, :]) ** 2
    return float(1 - (observed * distance).sum() / (expected * distance).sum())


def kappa_terms(x: Array, y: Array, weights: Weights) -> Array:
    """Per item, what kappa needs only the sums of: one, equal or not, and moments or memberships by weights."""
    first = [np.ones_like(x), (x == y).astype(np.float64)]
    if weights == "quadratic":
        return np.stack([*first, x, y, x * x, y * y, x * y], axis=1)
    steps = np.union1d(x, y)
    return np.stack(
        [*first, *(x == step for step in steps), *(y == step for step in steps)], axis=1
    ).astype(np.float64)


def kappas_of_sums(sums: Array, weights: Weights) -> Array:
    """Kappa for each row of sums of `kappa_terms`; NaN where it is undefined."""
    n = sums[:, :1]
    means = sums[:, 1:] / n
    if weights == "quadratic":
        _, x, y, xx, yy, xy = means.T
        seen, by_chance = xx + yy - 2 * xy, xx + yy - 2 * x * y
    else:
        steps = (means.shape[1] - 1) // 2
        seen = 1 - means[:, 0]
        by_chance = 1 - (means[:, 1 : 1 + steps] * means[:, 1 + steps :]).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(by_chance > 1e-12, 1 - seen / by_chance, np.nan)  # noqa: PLR2004 - rounding of a true zero


class RatioSums:
    """Columns whose sums over items give a statistic, and their resamples over videos."""

    def __init__(self, columns: Array, clusters: Sequence[str] | None) -> None:
        self._total = columns.sum(axis=0)[None, :]
        self._clusters = 0
        if clusters is not None:
            sums = intervals.cluster_sums(columns, clusters)
            self._clusters = len(sums)
            self._draws = np.concatenate(list(intervals.resampled_sums(sums)))

    def estimates(
        self, statistics: Mapping[str, tuple[Statistic, Bounds]]
    ) -> dict[str, dict[str, Any]]:
        """Return each statistic's value and interval as JSON."""
        return {name: asdict(self.estimate(*one)) for name, one in statistics.items()}

    def estimate(self, statistic: Statistic, bounds: Bounds) -> Estimate:
        """Return the value and interval of a statistic within its bounds."""
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(statistic(self._total)[0])
            if np.isnan(value):
                return Estimate(None, None)
            if not self._clusters:
                return Estimate(value, None)
            draws = statistic(self._draws)
        return Estimate(
            value, intervals.confidence_interval(value, draws, self._clusters, bounds=bounds)
        )
