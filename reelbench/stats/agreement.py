"""Agreement of raters beyond chance: Cohen's kappa of two, Krippendorff's alpha of several.

Kappa takes off the agreement that chance alone would give. It is unweighted, or has quadratic
weights (Cohen 1968), where a near miss is not a miss. Alpha is for any number of raters, who may
leave some items out (Krippendorff, Content Analysis, ch. 11). It is our own code, since the package
of that name is under the GPL.
"""

import itertools
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
Level = Literal["ordinal", "nominal"]
"""Of measurement: ratings on a scale, or mere names."""

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
    terms = kappa_terms(x, y, weights)
    sums = terms.sum(axis=0, keepdims=True)
    kappas = kappas_of_sums(sums, weights)
    kappa = float(kappas[0])
    if np.isnan(kappa):
        return None
    return kappa


def krippendorff_alpha(
    units: Iterable[Sequence[float]], *, level: Level = "ordinal"
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
    paired_units = [unit for unit in units if len(unit) > 1]
    ratings = itertools.chain.from_iterable(paired_units)
    values = sorted(set(ratings))
    if len(values) < 2:  # noqa: PLR2004
        return None
    observed = _observed_coincidences(paired_units, values)
    totals = observed.sum(axis=0)
    expected = _pairs_of_different_ratings(totals) / (totals.sum() - 1)
    distance = _distance_of_values(totals, level)
    observed_miss = (observed * distance).sum()
    expected_miss = (expected * distance).sum()
    return float(1 - observed_miss / expected_miss)


def _observed_coincidences(units: Iterable[Sequence[float]], values: Sequence[float]) -> Array:
    """Return the pairs of ratings of one unit, by their values (values x values).

    A pair weighs 1 / (m - 1), where the unit has m ratings (Krippendorff, ch. 11).
    """
    observed = np.zeros((len(values), len(values)))
    for unit in units:
        ratings_of_values = [unit.count(value) for value in values]
        pairs = _pairs_of_different_ratings(np.array(ratings_of_values, dtype=float))
        observed += pairs / (len(unit) - 1)
    return observed


def _pairs_of_different_ratings(counts: Array) -> Array:
    """Return the number of ordered pairs of two ratings, by their values."""
    return np.outer(counts, counts) - np.diag(counts)


def _distance_of_values(totals: Array, level: Level) -> Array:
    """Return the weight of a disagreement, by the two values.

    Args:
        totals: The ratings of each value.
        level: Of measurement.
    """
    if level == "nominal":
        return 1.0 - np.eye(len(totals))
    # The number of ratings from one value to the other, squared; the two ends count by half.
    rank = np.cumsum(totals) - totals / 2
    return (rank[:, None] - rank[None, :]) ** 2


def kappa_terms(x: Array, y: Array, weights: Weights) -> Array:
    """Return a row per item whose sums over items are all that kappa needs.

    The columns are 1, whether both scores are equal, and then the moments of the scores (quadratic)
    or their membership in each step (unweighted).
    """
    is_equal = x == y
    columns = [np.ones_like(x), is_equal.astype(np.float64)]
    if weights == "quadratic":
        columns += [
            x,
            y,
            x * x,
            y * y,
            x * y,
        ]
        return np.stack(columns, axis=1)
    steps = np.union1d(x, y)
    for scores in (x, y):
        is_step = scores[:, None] == steps
        columns.extend(is_step.T.astype(np.float64))
    return np.stack(columns, axis=1)


def kappas_of_sums(sums: Array, weights: Weights) -> Array:
    """Return kappa for each row of sums of `kappa_terms`. NaN where it is undefined."""
    items = sums[:, :1]
    means = sums[:, 1:] / items
    if weights == "quadratic":
        _, x, y, xx, yy, xy = means.T
        observed_miss = xx + yy - 2 * xy
        expected_miss = xx + yy - 2 * x * y
    else:
        equal = means[:, 0]
        shares = means[:, 1:]
        shares_x, shares_y = np.split(shares, 2, axis=1)
        expected_equal = (shares_x * shares_y).sum(axis=1)
        observed_miss = 1 - equal
        expected_miss = 1 - expected_equal
    with np.errstate(invalid="ignore", divide="ignore"):
        kappas = 1 - observed_miss / expected_miss
    return np.where(expected_miss > _TRUE_ZERO, kappas, np.nan)


class RatioSums:
    """Columns whose sums over items give a statistic, and their resamples over videos."""

    def __init__(self, columns: Array, clusters: Sequence[str] | None) -> None:
        """Sum the columns (items x columns), and resample them by the items' clusters.

        Without clusters there are no intervals.
        """
        self._total = columns.sum(axis=0, keepdims=True)
        self._clusters = 0
        if clusters is not None:
            sums = intervals.cluster_sums(columns, clusters)
            self._clusters = len(sums)
            self._draws = intervals.all_resampled_sums(sums)

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
            values = statistic(self._total)
            value = float(values[0])
            if np.isnan(value):
                return Estimate(None, None)
            if not self._clusters:
                return Estimate(value, None)
            draws = statistic(self._draws)
        ci95 = intervals.confidence_interval(value, draws, self._clusters, bounds=bounds)
        return Estimate(value, ci95)
