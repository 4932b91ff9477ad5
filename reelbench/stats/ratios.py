"""Means of ratios of sums over items, with intervals from a bootstrap over the items' clusters.

A metric is one ratio (a weighted mean), or the mean of several (of labels, of other metrics). For
intervals the sums by cluster (video) are enough, so that items may be many.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TypeVar

import numpy as np

from reelbench.stats import intervals, paired
from reelbench.stats.intervals import ALL_ITEMS, Array, Clusters, Mask, Places

KeyT = TypeVar("KeyT")

MIN_CLUSTERS_PER_RATIO = 5
"""Clusters that each of several ratios needs: with 2 each, 95 % cover 88 (`perf/coverage.py`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A ratio of sums.

    Attributes:
        numerators: One per item, zero where the item does not take part.
        weights: The denominators, one per item, zero where the item does not take part.
        scale: The factor of the ratio.
        items: The items' places among all. The others take no part. None for all in order.
    """

    numerators: Array
    weights: Array
    scale: float
    items: Places | None = None

    @property
    def _places(self) -> "Places | slice":
        return ALL_ITEMS if self.items is None else self.items

    @property
    def n(self) -> int:
        """The number of items that take part."""
        return int(np.count_nonzero(self.weights > 0))

    @property
    def value(self) -> float:
        """The ratio. It needs an item."""
        # A view yields floats one by one, without a list of all.
        return self.scale * fsum(self.numerators.data) / fsum(self.weights.data)

    def taking_part(self, number: int) -> Mask:
        """Return True for each of so many items that takes part."""
        takes_part = np.zeros(number, dtype=np.bool_)
        takes_part[self._places] = self.weights != 0
        return takes_part

    def of_all(self, number: int) -> "Ratio":
        """Return the ratio with a numerator and a weight for every item."""
        numerators = np.zeros(number)
        weights = np.zeros(number)
        numerators[self._places] = self.numerators
        weights[self._places] = self.weights
        return Ratio(numerators, weights, self.scale)

    def summed(self, clusters: Clusters) -> "SummedRatio":
        """Return the ratio's sums by cluster."""
        takes_part = np.zeros(clusters.number, dtype=np.bool_)
        takes_part[clusters.places[self._places][self.weights != 0]] = True
        value = None
        if self.n:
            value = self.value
        return SummedRatio(
            value,
            self.scale,
            clusters.sums(self.numerators, self._places),
            clusters.sums(self.weights, self._places),
            takes_part,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SummedRatio:
    """A ratio, and its sums by cluster.

    Attributes:
        value: The ratio. None where no item takes part.
        scale: The factor of the ratio.
        numerators: The sum of each cluster.
        weights: The sum of each cluster.
        takes_part: True for a cluster with an item that takes part.
    """

    value: float | None
    scale: float
    numerators: Array
    weights: Array
    takes_part: Mask


@dataclass(frozen=True, slots=True)
class MeanOfRatios:
    """A metric's value as the mean of ratios.

    Attributes:
        ratios: The ratios.
        runs: Its value in each of several runs.
        bounds: The least and the most that it can be.
        counts_complete: True where an item counts that takes part in every ratio.
    """

    ratios: Sequence[Ratio]
    runs: Sequence[float] = ()
    bounds: intervals.Bounds = intervals.UNBOUNDED
    counts_complete: bool = False

    @property
    def value(self) -> float | None:
        """The mean of the ratios. None unless every ratio has an item."""
        values: list[float] = []
        for ratio in self.ratios:
            if not ratio.n:
                return None
            values.append(ratio.value)
        if not values:
            return None
        return fsum(values) / len(values)

    def n(self, number: int) -> int:
        """Return the number of items that take part, of so many.

        It is that of the complete items where these count and there are some (the ratios may be
        of different items, too), and else of the items in any of the ratios.
        """
        in_all = np.full(number, self.counts_complete and bool(self.ratios))
        in_any = np.zeros(number, dtype=np.bool_)
        for ratio in self.ratios:
            takes_part = ratio.taking_part(number)
            in_all &= takes_part
            in_any |= takes_part
        return int(np.count_nonzero(in_all)) or int(np.count_nonzero(in_any))

    def summed(self, clusters: Clusters) -> "SummedMean":
        """Return the mean with its ratios' sums by cluster."""
        summed_ratios = [ratio.summed(clusters) for ratio in self.ratios]
        return SummedMean(summed_ratios, self.n(len(clusters.places)), self.runs, self.bounds)


@dataclass(frozen=True, slots=True)
class SummedMean:
    """A metric's value as the mean of ratios that are summed by cluster.

    Attributes:
        ratios: The ratios.
        n: The items that take part.
        runs: Its value in each of several runs.
        bounds: The least and the most that it can be.
    """

    ratios: Sequence[SummedRatio]
    n: int
    runs: Sequence[float] = ()
    bounds: intervals.Bounds = intervals.UNBOUNDED

    @property
    def value(self) -> float | None:
        """The mean of the ratios. None unless every ratio has an item."""
        values = [ratio.value for ratio in self.ratios if ratio.value is not None]
        if not values or len(values) < len(self.ratios):
            return None
        return fsum(values) / len(values)

    @property
    def nonempty_ratios(self) -> list[SummedRatio]:
        """The ratios with an item."""
        return [ratio for ratio in self.ratios if ratio.value is not None]


@dataclass(frozen=True, slots=True)
class Resampled:
    """A mean of ratios with its resamples.

    Attributes:
        value: Of the whole sample.
        draws: Of each resample. None where one cluster alone takes part.
        n: The items that take part.
        clusters: The clusters that take part.
        runs: The value of each of several runs. Empty for one run.
        bounds: The least and the most that the value can be.
        parts: The value as the sum of its items' parts. None where it isn't known.
    """

    value: float | None
    draws: Array | None
    n: int
    clusters: int
    runs: Sequence[float] = ()
    bounds: intervals.Bounds = intervals.UNBOUNDED
    parts: paired.Parts | None = None

    def minus(self, subtrahend: "Resampled") -> tuple[float | None, Array | None]:
        """Return the difference to another mean of the same items: its value and its draws.

        Each is None where one of the two has none.
        """
        value = None
        if self.value is not None and subtrahend.value is not None:
            value = self.value - subtrahend.value
        draws = None
        if self.draws is not None and subtrahend.draws is not None:
            draws = self.draws - subtrahend.draws
        return value, draws

    def test(self, subtrahend: "Resampled") -> paired.PairedTest | None:
        """Test the difference to another mean of the same items.

        None where one of the two has no value, or on too few clusters.
        """
        value, draws = self.minus(subtrahend)
        if value is None or draws is None:
            return None
        if self.parts is None or subtrahend.parts is None:
            return None
        return paired.paired_test(
            value,
            draws,
            self.clusters,
            self.parts.minus(subtrahend.parts),
            first_runs=self.runs,
            second_runs=subtrahend.runs,
            bounds=self.bounds,
        )


def resampled(mean: MeanOfRatios, clusters: Clusters) -> Resampled:
    """Resample a mean over clusters.

    Equal items and clusters give equal resamples, so the draws of two means are paired.
    """
    taking_part = [ratio for ratio in mean.ratios if ratio.n]
    summed = MeanOfRatios(taking_part).summed(clusters)
    draws = _mean_draws(_ratio_draws(summed.ratios))
    parts = None
    if taking_part:
        parts = _item_parts(taking_part, summed.n, len(clusters.places))
    number = _clusters_in_any(summed.ratios)
    return Resampled(mean.value, draws, summed.n, number, mean.runs, mean.bounds, parts)


def _item_parts(ratios: Sequence[Ratio], n: int, items: int) -> paired.Parts:
    """Return the mean of the ratios as the sum of its items' parts."""
    added = np.zeros(items)
    deviations = np.zeros(items)
    for ratio in ratios:
        of_all = ratio.of_all(items)
        parts = paired.parts_of_ratio(of_all.numerators, of_all.weights)
        factor = ratio.scale / len(ratios)
        added += factor * parts.added
        deviations += factor * parts.deviations
    return paired.Parts(added, deviations, n)


def with_intervals(
    means: Mapping[KeyT, SummedMean], method: intervals.Method
) -> dict[KeyT, intervals.Estimate]:
    """Return the value and the interval of each, from the same resamples for all."""
    ratios: list[SummedRatio] = []
    for mean in means.values():
        ratios += mean.nonempty_ratios
    remaining_draws = iter(_ratio_draws(ratios))
    estimates: dict[KeyT, intervals.Estimate] = {}
    for key, mean in means.items():
        draws = [next(remaining_draws) for _ in mean.nonempty_ratios]
        estimates[key] = _estimate_from_draws(mean, _mean_draws(draws), method)
    return estimates


def _estimate_from_draws(
    mean: SummedMean, draws: Array | None, method: intervals.Method
) -> intervals.Estimate:
    value = mean.value
    if value is None or draws is None:
        return intervals.Estimate(value, None)
    if method != "percentile" and len(mean.ratios) > 1:
        fewest_clusters = min(np.count_nonzero(ratio.takes_part) for ratio in mean.ratios)
        if fewest_clusters < MIN_CLUSTERS_PER_RATIO:
            return intervals.Estimate(value, None)
    ci95 = intervals.confidence_interval(
        value,
        draws,
        _clusters_in_any(mean.ratios),
        bounds=mean.bounds,
        method=method,
        runs=mean.runs,
    )
    return intervals.Estimate(value, ci95)


def _clusters_in_any(ratios: Sequence[SummedRatio]) -> int:
    """Return the number of clusters that take part in any of the ratios."""
    if not ratios:
        return 0
    takes_part = np.logical_or.reduce([ratio.takes_part for ratio in ratios])
    return int(np.count_nonzero(takes_part))


def _mean_draws(
    draws: Sequence[Array | None],
) -> Array | None:
    """Return the mean of the ratios in every resample. None where one has none."""
    known_draws = [draw for draw in draws if draw is not None]
    if not known_draws or len(known_draws) < len(draws):
        return None
    return np.mean(known_draws, axis=0)


def _ratio_draws(ratios: Sequence[SummedRatio]) -> list[Array | None]:
    """Return each ratio in every resample. None where it has fewer than two clusters."""
    if not ratios:
        return []
    columns: list[Array] = []
    for ratio in ratios:
        columns += [ratio.numerators, ratio.weights]
    sums = np.stack(columns, axis=1)
    resamples = intervals.all_resampled_sums(sums)
    draws: list[Array | None] = []
    for place, ratio in enumerate(ratios):
        numerator = 2 * place
        weight = numerator + 1
        if np.count_nonzero(sums[:, weight]) < 2:  # noqa: PLR2004 - one cluster can't be resampled
            draws.append(None)
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            draws.append(ratio.scale * resamples[:, numerator] / resamples[:, weight])
    return draws
