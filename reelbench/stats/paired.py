"""Differences of two models on the same items, tested over videos.

A difference is tested by Student's t, with a guard such as the `wilson` interval of a single score
has, and its interval is that of the test itself. Their coverage is measured (`perf/coverage.py`).
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from reelbench.stats import intervals, student_t
from reelbench.stats.intervals import (
    UNBOUNDED,
    Array,
    Bounds,
    FloatOrArray,
    interval_around,
    standard_error,
)
from reelbench.stats.sorting import distinct

SMALLEST_P = sys.float_info.min
"""What is below it, a float can't tell from 0, which no p is."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Student's t test of a difference on the same clusters.

    Its interval is never a point.

    Attributes:
        difference: a minus b.
        centre: The middle of its interval, a little nearer to 0 than the difference
            (`paired_test`).
        error: Its standard error, which is never 0.
        freedom: Degrees of freedom: one less than the clusters (videos) that take part in it, for
            models of one run.
        bounds: The least and the most that the difference can be.
    """

    difference: float
    centre: float
    error: float
    freedom: int
    bounds: Bounds = UNBOUNDED

    @property
    def p(self) -> float:
        """Two-sided, of no difference. Never 0."""
        p = two_sided_p(
            centre=np.array([self.centre]),
            error=np.array([self.error]),
            freedom=np.array([float(self.freedom)]),
        )
        return float(p[0])

    def interval(self, alpha: float = 0.05) -> Bounds:
        """Return the test's own interval: it excludes 0 exactly where p is at most `alpha`."""
        reach = student_t.quantile(1 - alpha / 2, self.freedom) * self.error
        return interval_around(self.centre, reach, self.bounds)


def two_sided_p(centre: Array, error: Array, freedom: Array) -> Array:
    """Return the p of each test of no difference.

    It is never 0, and NaN where there is no test.

    Args:
        centre: As `PairedTest` has it (tests).
        error: Its standard error (tests).
        freedom: Its degrees of freedom (tests).
    """
    p = np.full(len(centre), np.nan)
    has_test = ~np.isnan(centre)
    t = centre / error
    for number in distinct(freedom[has_test]).tolist():
        is_tested = has_test & (freedom == number)
        tails = student_t.two_sided_p(t[is_tested], int(number))
        p[is_tested] = np.maximum(tails, SMALLEST_P)
    return p


@dataclass(frozen=True, slots=True)
class Parts:
    """A value as the sum of its items' parts.

    Attributes:
        added: What each item adds to the value.
        deviations: How far each item moves it, to first order. The sum of their squares is the
            value's variance if items are independent.
        n: The items that take part.
    """

    added: Array
    deviations: Array
    n: int

    def minus(self, subtrahend: "Parts") -> "Items":
        """Compare the items with those of another value."""
        deviations = self.deviations - subtrahend.deviations
        variances = sums_of_squares(deviations[None, :])
        is_other = without_rounding(self.added) != without_rounding(subtrahend.added)
        return Items(
            n=self.n,
            variance=float(variances[0]),
            differing=int(np.count_nonzero(is_other)),
        )


def parts_of_ratio(numerators: Array, weights: Array) -> Parts:
    """Return the parts of a ratio of two sums."""
    total = weights.sum()
    added = numerators / total
    deviations = added - added.sum() * weights / total
    return Parts(
        added=added,
        deviations=deviations,
        n=int(np.count_nonzero(weights)),
    )


def sums_of_squares(values: Array) -> Array:
    """Return the sum of each row's squares (rows), of values in rows x columns.

    A matrix product would take less time, but rounds by the rows that stand beside one.
    """
    return np.einsum("rc,rc->r", values, values)


def without_rounding(added: Array) -> Array:
    """Return the parts of a value, equal where rounding alone tells them apart."""
    return np.round(added, 12)


@dataclass(frozen=True, slots=True)
class Items:
    """The items behind a paired difference, or behind several.

    Attributes:
        n: How many there are.
        variance: The variance that the difference would have if they were independent.
        differing: How many have another value in a than in b.
    """

    n: int
    variance: FloatOrArray
    differing: FloatOrArray


class GuardedErrors(NamedTuple):
    """The middle and the standard error of paired differences, with pairs added to those seen."""

    centre: Array
    error: Array


def guarded_errors(
    difference: FloatOrArray, error: FloatOrArray, clusters: int, items: Items, bounds: Bounds
) -> GuardedErrors:
    """Add two pairs to those that were seen, so that no difference is a point.

    Agresti and Min add half a pair in which a alone is right, half in which b is, and one without a
    difference (2005, Statistics in Medicine 24). Where few pairs differ, all to one side, that
    covers too little, so as much more is added as they lean to one side. With all of them there it
    is one pair for a and one for b (Bonett and Price 2012, Journal of Educational and Behavioral
    Statistics 37). On a scale with steps the added pairs differ by as much as those that do. Where
    none does, they differ by the whole scale.

    Args:
        difference: Of the whole sample, for each pair of models.
        error: Its standard error over clusters.
        clusters: The clusters (videos) that take part in it.
        items: What the items say of it.
        bounds: The least and the most that each model's value can be.

    Returns:
        The two for each pair of models (pairs). Both are NaN where no item differs on a scale
        without bounds: nothing says by how much one could.
    """
    difference = np.atleast_1d(np.asarray(difference, dtype=np.float64))
    error = np.atleast_1d(np.asarray(error, dtype=np.float64))
    low, high = bounds
    scale = high - low
    step = _typical_difference(difference, items, scale)
    lean = _lean_to_one_side(difference, items, step)
    observations = _independent_items(error, clusters, items)
    total = observations + 2
    with np.errstate(invalid="ignore"):
        centre = observations * difference / total
        seen_squares = observations * (observations * error**2 + difference**2)
        added_squares = (1 + lean) * step**2
        variance = (seen_squares + added_squares) / total - centre**2
        guarded = np.sqrt(variance / total)
    if bounds == UNBOUNDED:
        # Nothing says how far the added pairs lie apart, so a spread that was seen stands alone.
        has_spread = error > 0
        centre = np.where(has_spread, difference, centre)
        guarded = np.where(has_spread, error, guarded)
        nothing_differs = np.asarray(items.differing) == 0
        centre = np.where(nothing_differs, np.nan, centre)
        guarded = np.where(nothing_differs, np.nan, guarded)
    return GuardedErrors(centre, guarded)


def _typical_difference(difference: Array, items: Items, scale: float) -> Array:
    """Return the root mean square difference of the items that differ, at most the scale."""
    differing = np.asarray(items.differing)
    variance = np.asarray(items.variance)
    sum_of_squares = (items.n * variance + difference**2) * items.n
    with np.errstate(divide="ignore", invalid="ignore"):
        root_mean_square = np.sqrt(sum_of_squares / differing)
    root_mean_square = np.where(differing == 0, scale, root_mean_square)
    return np.minimum(root_mean_square, scale)


def _lean_to_one_side(difference: Array, items: Items, step: Array) -> Array:
    """Return the lean to one side of the items that differ, 0 to 1.

    It is 1 where none differs.
    """
    differing = np.asarray(items.differing)
    sum_of_differences = np.abs(difference) * items.n
    with np.errstate(divide="ignore", invalid="ignore"):
        lean = sum_of_differences / (step * differing)
    lean = np.where(differing == 0, 1.0, lean)
    return np.minimum(lean, 1.0)


def _independent_items(error: Array, clusters: int, items: Items) -> Array:
    """Return the number of independent items that would have this standard error.

    It is the number of items by the design effect of so many clusters (Kish 1965), and never more
    than that number. Without spread, the clusters are all the evidence.
    """
    variance = np.asarray(items.variance)
    corrected_variance = variance * clusters / (clusters - 1)  # as in `standard_error`
    with np.errstate(divide="ignore", invalid="ignore"):
        independent_share = corrected_variance / error**2
    independent_share = np.minimum(1.0, independent_share)
    return np.where(error > 0, items.n * independent_share, float(clusters))


def paired_test(
    difference: float,
    draws: Array,
    clusters: int,
    items: Items,
    *,
    first_runs: Sequence[float] = (),
    second_runs: Sequence[float] = (),
    bounds: Bounds = UNBOUNDED,
) -> PairedTest | None:
    """Test a difference of two models on the same clusters, guarded as `guarded_errors` says.

    Args:
        difference: Of the whole sample.
        draws: Of each resample. NaNs are left out.
        clusters: The clusters (videos) that take part in it.
        items: What the items say of it.
        first_runs: The value in each of several runs of the first model (`with_run_noise`).
        second_runs: The same of the second model.
        bounds: The least and the most that each model's value can be.

    Returns:
        The test. None under `MIN_CLUSTERS` clusters, where no interval is given either, and where
        no item differs on a scale without bounds.
    """
    draws = draws[~np.isnan(draws)]
    if clusters < intervals.MIN_CLUSTERS or len(draws) < 2:  # noqa: PLR2004
        return None
    error = standard_error(draws, clusters)
    guarded = guarded_errors(difference, error, clusters, items, bounds)
    centre = float(guarded.centre[0])
    if math.isnan(centre):
        return None
    noisy = intervals.with_run_noise(
        guarded.error,
        freedom=clusters - 1,
        first=intervals.RunNoise.of(first_runs),
        second=intervals.RunNoise.of(second_runs),
    )
    low, high = bounds
    return PairedTest(
        difference=difference,
        centre=centre,
        error=float(noisy.error[0]),
        freedom=int(noisy.freedom[0]),
        bounds=(low - high, high - low),
    )


class TwoMeans(NamedTuple):
    """Two means over the same clusters, and the test of a minus b."""

    a: float
    b: float
    test: PairedTest | None


def difference_of_means(sums: Array, *, bounds: Bounds = UNBOUNDED) -> TwoMeans:
    """Compare two means over the same clusters, of which each is one observation.

    Args:
        sums: Clusters x 4: the sum and the number of a's values, then b's. Each has one at least.
        bounds: The least and the most that a value can be.
    """
    total_a, number_a, total_b, number_b = sums.sum(axis=0)
    mean_a = float(total_a / number_a)
    mean_b = float(total_b / number_b)
    draws_a, draws_number_a, draws_b, draws_number_b = intervals.all_resampled_sums(sums).T
    # A resample may have no value; it is left out.
    with np.errstate(divide="ignore", invalid="ignore"):
        difference_draws = draws_a / draws_number_a - draws_b / draws_number_b
    parts_a = parts_of_ratio(sums[:, 0], sums[:, 1])
    parts_b = parts_of_ratio(sums[:, 2], sums[:, 3])
    items = parts_a.minus(parts_b)
    clusters = len(sums)
    test = paired_test(
        difference=mean_a - mean_b,
        draws=difference_draws,
        clusters=clusters,
        items=replace(items, n=clusters),  # each cluster is one observation
        bounds=bounds,
    )
    return TwoMeans(mean_a, mean_b, test)
