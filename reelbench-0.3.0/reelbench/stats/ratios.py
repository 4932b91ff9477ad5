"""Means of ratios of sums over items, with intervals from a bootstrap over the items' clusters.

A metric is one ratio (a weighted mean), or the mean of several (of labels, of other metrics).
`clusters` names the cluster (the video) of each item, in the order of the ratios' items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from reelbench.stats import intervals, paired
from reelbench.stats.intervals import Array

if TYPE_CHECKING:
    from array import array

KeyT = TypeVar("KeyT")

MIN_CLUSTERS_PER_RATIO = 5
"""Clusters that each of several ratios needs: with 2 each, 95 % cover 88 (`perf/coverage.py`)."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of sums.

    Attributes:
        numerators: One per item, zero where the item does not take part.
        weights: The denominators, one per item, zero where the item does not take part.
        scale: The factor of the ratio.
    """

    numerators: "array[float]"
    weights: "array[float]"
    scale: float

    @property
    def n(self) -> int:
        """The number of items that take part."""
        return int(np.count_nonzero(np.asarray(self.weights) > 0))

    @property
    def value(self) -> float:
        """The ratio. It needs an item."""
        return self.scale * fsum(self.numerators) / fsum(self.weights)

    def clusters(self, clusters: Sequence[str]) -> set[str]:
        """Return the clusters of the items that take part."""
        return {cluster for cluster, weight in zip(clusters, self.weights, strict=True) if weight}


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
        if not self.ratios or not all(ratio.n for ratio in self.ratios):
            return None
        return fsum(ratio.value for ratio in self.ratios) / len(self.ratios)

    @property
    def n(self) -> int:
        """The number of items that take part.

        It is that of the complete items where these count and there are some (the ratios may be
        of different items, too), and else of the items in any of the ratios.
        """
        weights_by_item = list(zip(*(ratio.weights for ratio in self.ratios), strict=True))
        complete = 0
        if self.counts_complete:
            complete = sum(map(all, weights_by_item))
        return complete or sum(map(any, weights_by_item))


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


def resampled(mean: MeanOfRatios, clusters: Sequence[str]) -> Resampled:
    """Resample a mean over clusters.

    Equal items and clusters give equal resamples, so the draws of two means are paired.
    """
    taking_part = [ratio for ratio in mean.ratios if ratio.n]
    names = _clusters_of(taking_part, clusters)
    draws = _mean_draws(_ratio_draws(taking_part, clusters))
    n = MeanOfRatios(taking_part).n
    parts = _item_parts(taking_part, n) if taking_part else None
    return Resampled(mean.value, draws, n, len(names), mean.runs, mean.bounds, parts)


def _item_parts(ratios: Sequence[Ratio], n: int) -> paired.Parts:
    """Return the mean of the ratios as the sum of its items' parts."""
    added = np.zeros(len(ratios[0].weights))
    deviations = np.zeros(len(ratios[0].weights))
    for ratio in ratios:
        parts = paired.parts_of_ratio(np.asarray(ratio.numerators), np.asarray(ratio.weights))
        factor = ratio.scale / len(ratios)
        added += factor * parts.added
        deviations += factor * parts.deviations
    return paired.Parts(added, deviations, n)


def with_intervals(
    means: Mapping[KeyT, MeanOfRatios], clusters: Sequence[str], method: intervals.Method
) -> dict[KeyT, intervals.Estimate]:
    """Return the value and the interval of each, from the same resamples for all."""
    ratios: list[Ratio] = []
    for mean in means.values():
        ratios += [ratio for ratio in mean.ratios if ratio.n]
    remaining_draws = iter(_ratio_draws(ratios, clusters))
    estimates: dict[KeyT, intervals.Estimate] = {}
    for key, mean in means.items():
        draws = [next(remaining_draws) for ratio in mean.ratios if ratio.n]
        estimates[key] = _estimate_from_draws(mean, _mean_draws(draws), clusters, method)
    return estimates


def _estimate_from_draws(
    mean: MeanOfRatios,
    draws: Array | None,
    clusters: Sequence[str],
    method: intervals.Method,
) -> intervals.Estimate:
    value = mean.value
    if value is None or draws is None:
        return intervals.Estimate(value, None)
    if method != "percentile" and len(mean.ratios) > 1:
        fewest_clusters = min(len(ratio.clusters(clusters)) for ratio in mean.ratios)
        if fewest_clusters < MIN_CLUSTERS_PER_RATIO:
            return intervals.Estimate(value, None)
    ci95 = intervals.confidence_interval(
        value,
        draws,
        len(_clusters_of(mean.ratios, clusters)),
        bounds=mean.bounds,
        method=method,
        runs=mean.runs,
    )
    return intervals.Estimate(value, ci95)


def _clusters_of(ratios: Sequence[Ratio], clusters: Sequence[str]) -> set[str]:
    """Return the clusters of the items that take part in any of the ratios."""
    return set[str]().union(*(ratio.clusters(clusters) for ratio in ratios))


def _mean_draws(
    draws: Sequence[Array | None],
) -> Array | None:
    """Return the mean of the ratios in every resample. None where one has none."""
    known_draws = [draw for draw in draws if draw is not None]
    if not known_draws or len(known_draws) < len(draws):
        return None
    return np.mean(known_draws, axis=0)


def _ratio_draws(ratios: Sequence[Ratio], clusters: Sequence[str]) -> list[Array | None]:
    """Return each ratio in every resample. None where it has fewer than two clusters."""
    if not ratios:
        return []
    columns: list[array[float]] = []
    for ratio in ratios:
        columns += [ratio.numerators, ratio.weights]
    sums = intervals.sums_by_cluster(columns, clusters)
    resamples = np.concatenate(list(intervals.resampled_sums(sums)))
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
