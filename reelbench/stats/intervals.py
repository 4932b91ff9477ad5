"""Intervals from a bootstrap over clusters.

Questions on one video are not independent, so whole videos are resampled. Three intervals are read
from the resamples. `percentile` (`percentiles`) covers less than it promises where videos are few:
at 5 videos some 85 % instead of 95. `t` takes from them the standard error alone and widens it as
few videos require. `wilson` does so too and knows the ends of the scale. Their coverage is
measured (`perf/coverage.py`): `wilson` covers 93 to 97 % from 10 clusters on. Under 10 neither does
for every population, so that no interval is given there. Differences of two models are tested in
`stats.paired`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import student_t

Array = NDArray[np.float64]
FloatOrArray = float | Array
Places = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]
Method = Literal["percentile", "t", "wilson"]
Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)
ALL_ITEMS = slice(None)
METHOD: Method = "wilson"
"""How intervals are made now. A result states how its own were."""

MIN_CLUSTERS = 10
"""Clusters from which on an interval is given.

Under it `t` covers down to 77 %, and `wilson` up to 99.
"""

RESAMPLES = 1000
SEED = 0
KEPT_CELLS = 1_000_000  # draws kept for the next metric or result: some 8 MB
KEPT_SMALL_CELLS = 8_000_000  # the same of larger tables, in two bytes each: some 16 MB
BLOCK_CELLS = 4_000_000  # resamples x clusters held at once: bounds memory at some 32 MB

TRUE_ZERO = 1e-12
"""What rounding leaves of a zero."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic and its 95 % interval. Each None where it is undefined."""

    value: float | None
    ci95: tuple[float, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The cluster (the video) of each item.

    Attributes:
        places: Of each item, the place of its cluster's name in sorted order.
        number: How many clusters there are.
    """

    places: Places
    number: int

    @classmethod
    def of(cls, names: Sequence[str]) -> "Clusters":
        """Return the clusters of items, by the names of these."""
        place_of = {name: place for place, name in enumerate(sorted(set(names)))}
        item_places = map(place_of.__getitem__, names)
        places = np.fromiter(item_places, dtype=np.intp, count=len(names))
        return cls(places, len(place_of))

    def sums(self, values: Array, items: "Places | slice") -> Array:
        """Sum the values of items, given by their places, by cluster."""
        sums = np.zeros(self.number)
        # It adds as `bincount` does, which makes a copy of places and values first.
        np.add.at(sums, self.places[items], values)
        return sums


def cluster_sums(values: Array, clusters: Sequence[str]) -> Array:
    """Sum the rows of `values` (items x columns) by cluster.

    Returns:
        Clusters x columns, the clusters in sorted order.
    """
    of_items = Clusters.of(clusters)
    columns = [of_items.sums(column, ALL_ITEMS) for column in values.T]
    return np.stack(columns, axis=1)


def all_resampled_sums(sums: Array) -> Array:
    """Return the blocks of `resampled_sums` as one table (resamples x columns)."""
    blocks = list(resampled_sums(sums))
    return np.concatenate(blocks)


def resampled_sums(sums: Array, *, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[Array]:
    """Yield column sums over clusters drawn with replacement.

    Args:
        sums: Clusters x columns.
        resamples: How many resamples are drawn.
        seed: The same seed and number of clusters give the same draws.

    Yields:
        Blocks of resamples x columns.
    """
    clusters = len(sums)
    cells = resamples * clusters
    if cells <= KEPT_CELLS:
        yield _cluster_counts(clusters, resamples, seed) @ sums
        return
    block_size = max(1, min(resamples, BLOCK_CELLS // clusters))
    if cells <= KEPT_SMALL_CELLS:
        counts = _small_cluster_counts(clusters, resamples, seed, block_size)
        for start in range(0, resamples, block_size):
            block = counts[start : start + block_size]
            yield block.astype(np.float64) @ sums
        return
    for counts in _drawn_counts(clusters, resamples, seed, block_size):
        # Converted in place, row by row: numpy would have the whole block in memory twice.
        floats = counts.view(np.float64)
        for place in range(len(counts)):
            floats[place] = counts[place]
        block = floats @ sums
        del counts, floats  # or they stay in memory beside the next block
        yield block


def _drawn_counts(
    clusters: int, resamples: int, seed: int, block_size: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the number of times that each cluster is drawn, in blocks of resamples."""
    rng = np.random.default_rng(seed)
    uniform = np.full(clusters, 1.0 / clusters)
    for start in range(0, resamples, block_size):
        size = min(block_size, resamples - start)
        yield rng.multinomial(clusters, uniform, size=size)


@lru_cache(maxsize=1)
def _small_cluster_counts(
    clusters: int, resamples: int, seed: int, block_size: int
) -> NDArray[np.uint16]:
    """Return all blocks of `_drawn_counts`, in two bytes a number.

    Drawing takes a hundred times as long as adding up, and all runs of a table have the same draws.
    """
    counts = np.empty((resamples, clusters), dtype=np.uint16)
    start = 0
    for block in _drawn_counts(clusters, resamples, seed, block_size):
        counts[start : start + len(block)] = block
        start += len(block)
    return counts


@lru_cache(maxsize=4)
def _cluster_counts(clusters: int, resamples: int, seed: int) -> Array:
    """Return the number of times that each cluster is drawn in each resample.

    The draws are the same for every set of so many clusters, so they are cached.
    """
    counts = next(_drawn_counts(clusters, resamples, seed, block_size=resamples))
    return counts.astype(np.float64)


def percentiles(draws: Array) -> tuple[float, float] | None:
    """Return the 2.5th and 97.5th percentile of draws, without NaNs (empty resamples)."""
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0:
        return None
    ordered = np.sort(draws)
    low = _interpolated_percentile(ordered, 0.025)
    high = _interpolated_percentile(ordered, 0.975)
    return low, high


def _interpolated_percentile(ordered: Array, share: float) -> float:
    """Interpolate as np.percentile does, in a fifth of its time.

    A leaderboard asks for many thousands.
    """
    last = len(ordered) - 1
    place = share * last
    below = math.floor(place)
    above = min(below + 1, last)
    low = ordered[below]
    high = ordered[above]
    return float(low + (high - low) * (place - below))


def confidence_interval(
    value: float,
    draws: Array,
    clusters: int,
    *,
    bounds: Bounds = UNBOUNDED,
    method: Method = METHOD,
    runs: Sequence[float] = (),
) -> tuple[float, float] | None:
    """Return the 95 % interval of a statistic from its bootstrap over clusters.

    Args:
        value: The statistic of the whole sample.
        draws: The statistic of each resample, one-dimensional. NaNs (empty resamples) are left out.
        clusters: The clusters (videos) that take part in the statistic.
        bounds: The least and the most that the statistic can be: 0 and 100 of a percentage.
        method: `t` is `value` ± Student's t for the clusters times the standard error, cut at
            `bounds`. `wilson` is the score interval (Wilson 1927) of a survey's share with its
            effective sample size, which Franco et al. 2019 recommend for clusters (J. Survey
            Statistics and Methodology 7): the share is the value's place between `bounds`, and the
            number of observations is what would give it that standard error; where the resamples
            are all the same (every item right), each cluster is one observation. It is `t` without
            two bounds.
        runs: The statistic in each of several runs of one model: their variance counts too
            (`with_run_noise`).

    Returns:
        Its two ends. None under `MIN_CLUSTERS` clusters (under two for `percentile`) or two draws,
        or where there is no spread and the method needs one.
    """
    draws = draws[~np.isnan(draws)]
    fewest_clusters = MIN_CLUSTERS
    if method == "percentile":
        fewest_clusters = 2
    if clusters < fewest_clusters or len(draws) < 2:  # noqa: PLR2004
        return None
    if method == "percentile":
        return percentiles(draws)
    error = standard_error(draws, clusters)
    noisy = with_run_noise(error, clusters - 1, RunNoise.of(runs), NO_RUNS)
    return interval_of_error(
        value,
        float(noisy.error[0]),
        int(noisy.freedom[0]),
        clusters,
        bounds=bounds,
        method=method,
    )


def interval_of_error(
    value: float,
    error: float,
    freedom: int,
    clusters: int,
    *,
    bounds: Bounds = UNBOUNDED,
    method: Method = METHOD,
) -> tuple[float, float] | None:
    """Return the 95 % interval of a statistic whose standard error over clusters is known.

    Args:
        value: The statistic.
        error: Its standard error.
        freedom: The error's degrees of freedom.
        clusters: The clusters (videos) that take part in it.
        bounds: The least and the most that it can be.
        method: `t` or `wilson`, as in `confidence_interval`.

    Returns:
        Its two ends. None where there is no spread and the method needs one.
    """
    t = student_t.quantile(0.975, freedom)
    low, high = bounds
    is_bounded = math.isfinite(low) and math.isfinite(high)
    if method == "wilson" and is_bounded:
        return _wilson_interval(value, error, t, clusters, bounds)
    if not error:
        return None
    return interval_around(value, t * error, bounds)


def _wilson_interval(
    value: float, error: float, t: float, clusters: int, bounds: Bounds
) -> tuple[float, float]:
    low, high = bounds
    scale = high - low
    share = (value - low) / scale
    variance = share * (1 - share)
    # A corrected value may lie on the bounds, or beyond them, and still be uncertain.
    if not 0 < share < 1 and error:
        return interval_around(value, t * error, bounds)
    observations = float(clusters)  # without variance, the clusters are all the evidence
    if variance and error:
        # As many independent answers have that standard error.
        observations = variance * (scale / error) ** 2
    inverse = t * t / observations
    middle = (share + inverse / 2) / (1 + inverse)
    root = math.sqrt(inverse * variance + inverse**2 / 4)
    half_length = root / (1 + inverse)
    start = low + scale * (middle - half_length)
    end = low + scale * (middle + half_length)
    return within_bounds(start, end, bounds)


def interval_around(middle: float, reach: float, bounds: Bounds) -> tuple[float, float]:
    """Return the interval of equal reach to both sides, within its scale's bounds."""
    return within_bounds(middle - reach, middle + reach, bounds)


def within_bounds(start: float, end: float, bounds: Bounds) -> tuple[float, float]:
    """Return an interval within the bounds of its scale."""
    low, high = bounds
    inner_start = min(max(start, low), high)
    inner_end = min(max(end, low), high)
    return inner_start, inner_end


def standard_error(draws: Array, clusters: int) -> float:
    """Return the standard error of bootstrap draws, corrected for the number of clusters.

    A resample of n clusters varies by (n - 1) / n of what n new ones would. A spread that rounding
    alone explains counts as none.
    """
    errors = standard_errors(draws[None, :], clusters)
    return float(errors[0])


def standard_errors(draws: Array, clusters: int, room: Array | None = None) -> Array:
    """Return the `standard_error` of each row of draws.

    Args:
        draws: The draws (rows x resamples).
        clusters: The clusters.
        room: An array as large as the draws that is overwritten, such as the draws themselves. By
            default a new one.
    """
    resamples = draws.shape[1]
    rounding = TRUE_ZERO * (1 + np.abs(draws[:, 0]))
    # As numpy.std rounds, which would take a new array.
    means = np.add.reduce(draws, axis=1, keepdims=True) / resamples
    deviations = np.subtract(draws, means, out=room)
    squares = np.multiply(deviations, deviations, out=deviations)
    variance = np.add.reduce(squares, axis=1) / (resamples - 1)
    spread = np.sqrt(variance)
    correction = math.sqrt(clusters / (clusters - 1))
    return np.where(spread <= rounding, 0.0, spread * correction)


@dataclass(frozen=True, slots=True)
class RunNoise:
    """The noise of a mean over several runs of one model.

    It is one number each, or an array of many such means.

    Attributes:
        variance: Of the mean between the runs; 0 where there is one run.
        freedom: Its degrees of freedom.
    """

    variance: FloatOrArray
    freedom: FloatOrArray

    @classmethod
    def of(cls, runs: Sequence[float]) -> "RunNoise":
        """Return the noise of a mean, by the value in each run."""
        if len(runs) < 2:  # noqa: PLR2004 - one run says nothing of its noise
            return NO_RUNS
        variance = float(np.var(runs, ddof=1))
        return cls(
            variance=variance / len(runs),
            freedom=len(runs) - 1.0,
        )


NO_RUNS = RunNoise(0.0, 0.0)
"""Of one run alone."""


class NoisyErrors(NamedTuple):
    """Standard errors and their degrees of freedom, each as many as there are values."""

    error: Array
    freedom: Array


def with_run_noise(
    error: FloatOrArray, freedom: int, first: RunNoise, second: RunNoise
) -> NoisyErrors:
    """Return standard errors over videos with the noise of several runs added.

    A mean over runs varies with the videos that were drawn and with the run itself (its samples,
    its seed). The two are crossed: the variance over videos (of the runs' average) and that between
    runs are estimated apart and added. That counts the noise of a single answer twice and so
    promises rather too little. The degrees of freedom are Satterthwaite's (1946, Biometrics
    Bulletin 2). The coverage is simulated (docs/verification.md).

    Args:
        error: Standard errors over videos.
        freedom: Their degrees of freedom.
        first: The noise of one side's runs.
        second: That of the other side's.
    """
    error = np.atleast_1d(np.asarray(error, dtype=np.float64))
    variance = error * error
    # The two sides stand together, so that their order changes no bit.
    run_variance = np.asarray(first.variance) + np.asarray(second.variance)
    run_terms = _run_noise_term(first) + _run_noise_term(second)
    total = variance + run_variance
    terms = variance * variance / freedom + run_terms
    is_noisy = (run_variance > 0) & (total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedoms = np.maximum(1.0, np.floor(total * total / terms))
    return NoisyErrors(
        error=np.where(is_noisy, np.sqrt(total), error),
        freedom=np.where(is_noisy, freedoms, float(freedom)),
    )


def _run_noise_term(noise: RunNoise) -> Array:
    """Return the part of Satterthwaite's sum that is the runs'."""
    variance = np.asarray(noise.variance)
    return variance * variance / np.maximum(noise.freedom, 1.0)


def share_over_clusters(values: Array, clusters: Places) -> Estimate:
    """Return a mean of values in 0 to 1 with its `wilson` interval over clusters.

    As `mean_over_clusters`, with the standard error of a ratio of sums in place of a bootstrap's:
    for many clusters the two are the same, and this one takes no time.

    Args:
        values: A number in 0 to 1 an item.
        clusters: The number of each item's cluster, from 0.

    Raises:
        ValueError: There is no value.
    """
    if not len(values):
        raise ValueError("a mean needs at least one value")
    value = float(np.mean(values))
    sizes = np.bincount(clusters)
    count = int(np.count_nonzero(sizes))
    if count < MIN_CLUSTERS:
        return Estimate(value, None)
    residuals = np.bincount(clusters, values - value, len(sizes))
    squares = float((residuals**2).sum())
    error = math.sqrt(squares * count / (count - 1)) / len(values)
    ci95 = interval_of_error(
        value,
        error,
        freedom=count - 1,
        clusters=count,
        bounds=(0, 1),
    )
    return Estimate(value, ci95)


def mean_over_clusters(
    values: Array, clusters: Sequence[str], *, bounds: Bounds = UNBOUNDED
) -> Estimate:
    """Return the mean of items' values with its `wilson` interval over their clusters.

    Raises:
        ValueError: There is no value.
    """
    if not len(values):
        raise ValueError("a mean needs at least one value")
    columns = np.stack([values, np.ones(len(values))], axis=1)
    sums = cluster_sums(columns, clusters)
    totals, counts = all_resampled_sums(sums).T
    value = float(np.mean(values))
    ci95 = confidence_interval(value, totals / counts, len(sums), bounds=bounds)
    return Estimate(value, ci95)
