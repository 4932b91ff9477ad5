"""Means of ratios of sums over items, with intervals and draws from a bootstrap over the items' clusters.

A metric is one ratio (a weighted mean), or the mean of several (of labels, of other metrics).
`clusters` names the cluster (the video) of each item, in the order of the ratios' items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import intervals

if TYPE_CHECKING:
    from array import array

KeyT = TypeVar("KeyT")

MIN_CLUSTERS_PER_RATIO = 5
"""Clusters that each ratio of a mean of several must have: with 2 in each, 95 % cover 88 (`perf/coverage.py`)."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of sums: numerator and denominator per item (zero where the item does not take part)."""

    numerators: "array[float]"
    weights: "array[float]"
    scale: float

    @property
    def n(self) -> int:
        """How many items take part."""
        return sum(weight > 0 for weight in self.weights)

    def clusters(self, clusters: Sequence[str]) -> set[str]:
        """Return the clusters of the items that take part."""
        return {cluster for cluster, weight in zip(clusters, self.weights, strict=True) if weight}


@dataclass(frozen=True, slots=True)
class MeanOfRatios:
    """A number to come: its ratios, its value in each of several runs, the least and the most that it can be."""

    ratios: Sequence[Ratio]
    runs: Sequence[float] = ()
    bounds: intervals.Bounds = intervals.UNBOUNDED

    @property
    def value(self) -> float | None:
        """The mean of the ratios; None unless every ratio has an item."""
        if not self.ratios or not all(ratio.n for ratio in self.ratios):
            return None
        values = (
            ratio.scale * fsum(ratio.numerators) / fsum(ratio.weights) for ratio in self.ratios
        )
        return fsum(values) / len(self.ratios)

    @property
    def n(self) -> int:
        """How many items take part in any of the ratios."""
        return sum(
            any(column) for column in zip(*(ratio.weights for ratio in self.ratios), strict=True)
        )


@dataclass(frozen=True, slots=True)
class Resampled:
    """A mean of ratios, and in every resample (None from one cluster alone), and the items and clusters behind it.

    `runs` has the value of each of several runs; it is empty of one.
    """

    value: float | None
    draws: NDArray[np.float64] | None
    n: int
    clusters: int
    runs: Sequence[float] = ()

    def minus(self, other: "Resampled") -> tuple[float | None, NDArray[np.float64] | None]:
        """Return the difference of another's value on the same items, and of each resample; None where one has none."""
        value = None if self.value is None or other.value is None else self.value - other.value
        return (
            value,
            None if self.draws is None or other.draws is None else self.draws - other.draws,
        )

    def test(self, other: "Resampled") -> intervals.PairedTest | None:
        """Test it against another's on the same items; None where one has no value, or on too few clusters."""
        value, draws = self.minus(other)
        if value is None or draws is None:
            return None
        return intervals.paired_test(value, draws, self.clusters, self.runs, other.runs)


def resampled(mean: MeanOfRatios, clusters: Sequence[str]) -> Resampled:
    """Resample clusters; equal items and clusters give equal resamples, so the draws of two means are paired."""
    taking_part = [ratio for ratio in mean.ratios if ratio.n]
    there = set[str]().union(*(ratio.clusters(clusters) for ratio in taking_part))
    draws = _mean_draw(_draws(taking_part, clusters))
    return Resampled(mean.value, draws, MeanOfRatios(taking_part).n, len(there), mean.runs)


def with_intervals(
    means: Mapping[KeyT, MeanOfRatios], clusters: Sequence[str], method: intervals.Method
) -> dict[KeyT, intervals.Estimate]:
    """Return the value and the interval of each, from the same resamples for all."""
    draws = iter(
        _draws([ratio for mean in means.values() for ratio in mean.ratios if ratio.n], clusters)
    )
    estimates: dict[KeyT, intervals.Estimate] = {}
    for key, mean in means.items():
        mine = [next(draws) for ratio in mean.ratios if ratio.n]
        value = mean.value
        if value is None:
            estimates[key] = intervals.Estimate(None, None)
            continue
        draw, parts, ci95 = (
            _mean_draw(mine),
            [ratio.clusters(clusters) for ratio in mean.ratios],
            None,
        )
        few = (
            method != "percentile"
            and len(parts) > 1
            and min(map(len, parts)) < MIN_CLUSTERS_PER_RATIO
        )
        if draw is not None and not few:
            number = len(set[str]().union(*parts))
            ci95 = intervals.confidence_interval(
                value, draw, number, bounds=mean.bounds, method=method, runs=mean.runs
            )
        estimates[key] = intervals.Estimate(value, ci95)
    return estimates


def _mean_draw(draws: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    known = [draw for draw in draws if draw is not None]
    return np.mean(known, axis=0) if known and len(known) == len(draws) else None


def _draws(ratios: Sequence[Ratio], clusters: Sequence[str]) -> list[NDArray[np.float64] | None]:
    """Each ratio in every resample; None for one whose items lie in fewer than two clusters."""
    if not ratios:
        return []
    sums = intervals.sums_by_cluster(
        (row for one in ratios for row in (one.numerators, one.weights)), clusters
    )
    blocks = np.concatenate(list(intervals.resampled_sums(sums)))
    draws: list[NDArray[np.float64] | None] = []
    for i, ratio in enumerate(ratios):
        if np.count_nonzero(sums[:, 2 * i + 1]) < 2:  # noqa: PLR2004 - one cluster can't be resampled
            draws.append(None)
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            draws.append(ratio.scale * blocks[:, 2 * i] / blocks[:, 2 * i + 1])
    return draws
