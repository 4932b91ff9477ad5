"""Agreement of raters beyond chance: Cohen's kappa of two, Krippendorff's alpha of several.

Kappa takes off the agreement that chance alone would give. It is unweighted, or has quadratic
weights (Cohen 1968), where a near miss is not a miss. Alpha is for any number of raters, who may
leave some items out (Krippendorff, Content Analysis, ch. 11). It is our own code, since the package
of that name is under the GPL.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from reelbench.stats import intervals
from reelbench.stats.intervals import Array, Bounds, Estimate

Statistic = Callable[[Array], Array]
"""From sums (rows x columns) to values (rows). NaN is undefined."""
Weights = Literal["none", "quadratic"]
"""How kappa weighs a miss."""

_TRUE_ZERO = 1e-12
"""What rounding leaves of a zero."""


def cohen_kappa(
    a: Sequence[float], b: Sequence[float], *, weights: Weights = "none"
) -> float | None:
    """Return Cohen's kappa of two raters. None where it is undefined.

    Args:
        a: The first rater's scores.
        b: The second rater's scores of the same items, in the same order.
        weights: With quadratic weights a disagreement counts by the square of its size.
    """
    x = np.asarray(a, dtype=np.float64)
    y = np.asarray(b, dtype=np.float64)
    sums = kappa_terms(x, y, weights).sum(axis=0)
    kappa = float(kappas_of_sums(sums[None, :], weights)[0])
    if np.isnan(kappa):
        return None
    return kappa


def krippendorff_alpha(
    units: Iterable[Sequence[float]], *, level: Literal["ordinal", "nominal"] = "ordinal"
) -> float | None:
    """Return Krippendorff's alpha of any number of raters.

    1 is full agreement, 0 is chance, below 0 is systematic disagreement.

    Args:
        units: For each thing rated, the ratings that it got, in any order. Those with fewer than
            two count for nothing.
        level: Of measurement: ratings on a scale, or mere names.

    Returns:
        Alpha, or None where it is undefined: nothing was rated twice, or all ratings are the same.
    """
    paired_units = [list(unit) for unit in units if len(unit) > 1]
    values = sorted(set[float]().union(*paired_units))
    if len(values) < 2:  # noqa: PLR2004
        return None
    # Coincidences (Krippendorff, Content Analysis, ch. 11): each pair of ratings of a unit, weighed
    # by 1 / (m - 1).
    observed = np.zeros((len(values), len(values)))
    for unit in paired_units:
        counts = np.array([unit.count(value) for value in values], dtype=float)
        observed += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = observed.sum(axis=0)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    if level == "nominal":
        distance = 1.0 - np.eye(len(values))
    else:
        # The number of ratings from one value to the other, squared; the two ends count by half.
        rank = np.cumsum(totals) - totals / 2
        distance = (rank[:, None] - rank[None, :]) ** 2
    return float(1 - (observed * distance).sum() / (expected * distance).sum())


def kappa_terms(x: Array, y: Array, weights: Weights) -> Array:
    """Return a row per item whose sums over items are all that kappa needs.

    The columns are 1, whether both scores are equal, and then the moments of the scores (quadratic)
    or their membership in each step (unweighted).
    """
    columns = [np.ones_like(x), (x == y).astype(np.float64)]
    if weights == "quadratic":
        columns += [x, y, x * x, y * y, x * y]
        return np.stack(columns, axis=1)
    steps = np.union1d(x, y)
    columns += [(x == step).astype(np.float64) for step in steps]
    columns += [(y == step).astype(np.float64) for step in steps]
    return np.stack(columns, axis=1)


def kappas_of_sums(sums: Array, weights: Weights) -> Array:
    """Return kappa for each row of sums of `kappa_terms`. NaN where it is undefined."""
    n = sums[:, :1]
    means = sums[:, 1:] / n
    if weights == "quadratic":
        _, x, y, xx, yy, xy = means.T
        observed_miss = xx + yy - 2 * xy
        expected_miss = xx + yy - 2 * x * y
    else:
        steps = (means.shape[1] - 1) // 2
        shares_x = means[:, 1 : 1 + steps]
        shares_y = means[:, 1 + steps :]
        observed_miss = 1 - means[:, 0]
        expected_miss = 1 - (shares_x * shares_y).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappas = 1 - observed_miss / expected_miss
    return np.where(expected_miss > _TRUE_ZERO, kappas, np.nan)


class RatioSums:
    """Columns whose sums over items give a statistic, and their resamples over videos."""

    def __init__(self, columns: Array, clusters: Sequence[str] | None) -> None:
        """Sum the columns (items x columns), and resample them by the items' clusters.

        Without clusters there are no intervals.
        """
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
        estimates: dict[str, dict[str, Any]] = {}
        for name, (statistic, bounds) in statistics.items():
            estimates[name] = asdict(self.estimate(statistic, bounds))
        return estimates

    def estimate(self, statistic: Statistic, bounds: Bounds) -> Estimate:
        """Return the value and interval of a statistic within its bounds."""
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(statistic(self._total)[0])
            if np.isnan(value):
                return Estimate(None, None)
            if not self._clusters:
                return Estimate(value, None)
            draws = statistic(self._draws)
        ci95 = intervals.confidence_interval(value, draws, self._clusters, bounds=bounds)
        return Estimate(value, ci95)
