"""Intervals from a bootstrap over clusters.

Questions on one video are not independent, so whole videos are resampled. Three intervals are read
from the resamples. `percentile` (`percentiles`) covers less than it promises where videos are few:
at 5 videos some 85 % instead of 95. `t` takes from them the standard error alone and widens it as
few videos require. `wilson` does so too and knows the ends of the scale. Their coverage is
measured (`perf/coverage.py`): `wilson` covers 93 to 97 % from 10 clusters on. Under 10 neither does
for every population, so that no interval is given there. A difference of two models is tested by t
with a guard such as `wilson` has, and its interval is that of the test itself (`PairedTest`).
"""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import student_t

Array = NDArray[np.float64]
Method = Literal["percentile", "t", "wilson"]
Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)
METHOD: Method = "wilson"
"""How intervals are made now; a result states how its own were."""

MIN_CLUSTERS = 10
"""Clusters from which on an interval is given.

Under it `t` covers down to 77 %, and `wilson` up to 99.
"""

RESAMPLES = 1000
SEED = 0
KEPT_CELLS = 1_000_000  # draws kept for the next metric or result: some 8 MB
BLOCK_CELLS = 4_000_000  # resamples x clusters held at once: bounds memory at some 32 MB

SMALLEST_P = sys.float_info.min
"""What is below it, a float can't tell from 0, which no p is."""

_TRUE_ZERO = 1e-12
"""What rounding leaves of a zero."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic and its 95 % interval; each None where it is undefined."""

    value: float | None
    ci95: tuple[float, float] | None


def cluster_sums(values: Array, clusters: Sequence[str]) -> Array:
    """Sum the rows of `values` (items x columns) by cluster.

    Returns:
        Clusters x columns, the clusters in sorted order.
    """
    return sums_by_cluster(values.T, clusters)


def sums_by_cluster(columns: Iterable[Sequence[float] | Array], clusters: Sequence[str]) -> Array:
    """Sum columns one after the other by cluster.

    As `cluster_sums`, but the whole table of items is never in memory.
    """
    places = {name: place for place, name in enumerate(sorted(set(clusters)))}
    index = np.fromiter(map(places.__getitem__, clusters), dtype=np.intp, count=len(clusters))
    sums: list[Array] = []
    for column in columns:
        column_sums = np.bincount(index, column, len(places))
        sums.append(np.asarray(column_sums, dtype=np.float64))
    return np.stack(sums, axis=1)


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
    if resamples * clusters <= KEPT_CELLS:
        yield _cluster_counts(clusters, resamples, seed) @ sums
        return
    block_size = max(1, min(resamples, BLOCK_CELLS // clusters))
    rng = np.random.default_rng(seed)
    uniform = np.full(clusters, 1.0 / clusters)
    for start in range(0, resamples, block_size):
        counts = rng.multinomial(clusters, uniform, size=min(block_size, resamples - start))
        # Converted in place, row by row: numpy would have the whole block in memory twice.
        floats = counts.view(np.float64)
        for place in range(len(counts)):
            floats[place] = counts[place]
        block = floats @ sums
        del counts, floats  # or they stay in memory beside the next block
        yield block


@lru_cache(maxsize=4)
def _cluster_counts(clusters: int, resamples: int, seed: int) -> Array:
    """Return the number of times that each cluster is drawn in each resample.

    The draws are the same for every set of so many clusters, so they are cached.
    """
    uniform = np.full(clusters, 1.0 / clusters)
    counts = np.random.default_rng(seed).multinomial(clusters, uniform, size=resamples)
    return counts.astype(np.float64)


def percentiles(draws: Array) -> tuple[float, float] | None:
    """Return the 2.5th and 97.5th percentile of draws, without NaNs (empty resamples)."""
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0:
        return None
    ordered = np.sort(draws)
    return _percentile(ordered, 0.025), _percentile(ordered, 0.975)


def _percentile(ordered: Array, share: float) -> float:
    """Interpolate as np.percentile does, in a fifth of its time.

    A leaderboard asks for many thousands.
    """
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    low = ordered[below]
    high = ordered[min(below + 1, len(ordered) - 1)]
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
        draws: The statistic of each resample, one-dimensional; NaNs (empty resamples) are left out.
        clusters: The clusters (videos) that take part in the statistic.
        bounds: The least and the most that the statistic can be: 0 and 100 of a percentage.
        method: `t` is `value` ± Student's t for the clusters times the standard error, cut at
            `bounds`. `wilson` is the score interval (Wilson 1927) of a survey's share with its
            effective sample size, which Franco et al. 2019 recommend for clusters (J. Survey
            Statistics and Methodology 7): the share is the value's place between `bounds`, and the
            number of observations is what would give it that standard error; where the resamples
            are all the same (every item right), each cluster is one observation. It is `t` without
            bounds.
        runs: The statistic in each of several runs of one model: their variance counts too
            (`with_runs`).

    Returns:
        Its two ends; None under `MIN_CLUSTERS` clusters (under two for `percentile`) or two draws,
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
    error, freedom = with_runs(standard_error(draws, clusters), clusters - 1, runs)
    t = student_t.quantile(0.975, freedom)
    if method == "wilson" and bounds != UNBOUNDED:
        return _wilson_interval(value, error, t, clusters, bounds)
    if not error:
        return None
    return _cut(value - t * error, value + t * error, bounds)


def _wilson_interval(
    value: float, error: float, t: float, clusters: int, bounds: Bounds
) -> tuple[float, float]:
    low, high = bounds
    share = (value - low) / (high - low)
    spread = share * (1 - share)
    # A corrected value may lie on the bounds, or beyond them, and still be uncertain.
    if not 0 < share < 1 and error:
        return _cut(value - t * error, value + t * error, bounds)
    observations = float(clusters)  # without spread, the clusters are all the evidence
    if spread and error:
        # As many independent answers have that standard error.
        observations = spread * ((high - low) / error) ** 2
    inverse = t * t / observations
    middle = (share + inverse / 2) / (1 + inverse)
    half = math.sqrt(inverse * spread + inverse**2 / 4) / (1 + inverse)
    start = low + (high - low) * (middle - half)
    end = low + (high - low) * (middle + half)
    return _cut(start, end, bounds)


def _cut(start: float, end: float, bounds: Bounds) -> tuple[float, float]:
    low, high = bounds
    return min(max(start, low), high), min(max(end, low), high)


def standard_error(draws: Array, clusters: int) -> float:
    """Return the standard error of bootstrap draws, corrected for the number of clusters.

    A resample of n clusters varies by (n - 1) / n of what n new ones would. A spread that rounding
    alone explains counts as none.
    """
    spread = float(np.std(draws, ddof=1))
    if spread <= _TRUE_ZERO * (1 + abs(float(draws[0]))):
        return 0.0
    return spread * math.sqrt(clusters / (clusters - 1))


def with_runs(error: float, freedom: int, *runs: Sequence[float]) -> tuple[float, int]:
    """Return a standard error over videos with the noise of several runs added.

    A mean over runs varies with the videos that were drawn and with the run itself (its samples,
    its seed). The two are crossed: the variance over videos (of the runs' average) and that between
    runs are estimated apart and added. That counts the noise of a single answer twice and so
    promises rather too little. The degrees of freedom are Satterthwaite's (1946, Biometrics
    Bulletin 2). The coverage is simulated (docs/verification.md).

    Args:
        error: The standard error over videos.
        freedom: Its degrees of freedom.
        runs: The statistic in each run, of each side that has several.

    Returns:
        The error and its degrees of freedom.
    """
    variances = [error**2]
    freedoms = [freedom]
    for values in runs:
        if len(values) > 1:
            variances.append(float(np.var(values, ddof=1)) / len(values))
            freedoms.append(len(values) - 1)
    total = math.fsum(variances)
    if len(variances) == 1 or not total:
        return error, freedom
    terms = [variance**2 / dof for variance, dof in zip(variances, freedoms, strict=True)]
    return math.sqrt(total), max(1, math.floor(total**2 / math.fsum(terms)))


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
        """Two-sided, of no difference; never 0."""
        if not self.centre:
            return 1.0
        tail = student_t.cdf(-abs(self.centre) / self.error, self.freedom)
        return max(2 * tail, SMALLEST_P)

    def interval(self, alpha: float = 0.05) -> Bounds:
        """Return the test's own interval: it excludes 0 exactly where p is at most `alpha`."""
        reach = student_t.quantile(1 - alpha / 2, self.freedom) * self.error
        return _cut(self.centre - reach, self.centre + reach, self.bounds)


@dataclass(frozen=True, slots=True)
class Parts:
    """A value as the sum of its items' parts.

    Attributes:
        added: What each item adds to the value.
        deviations: How far each item moves it, to first order: the sum of their squares is the
            value's variance if items are independent.
        n: The items that take part.
    """

    added: Array
    deviations: Array
    n: int

    def minus(self, subtrahend: "Parts") -> "Items":
        """Compare the items with those of another value."""
        deviations = self.deviations - subtrahend.deviations
        differing = ~np.isclose(self.added, subtrahend.added, rtol=_TRUE_ZERO, atol=_TRUE_ZERO)
        return Items(self.n, float(deviations @ deviations), int(np.count_nonzero(differing)))


def parts_of_ratio(numerators: Array, weights: Array) -> Parts:
    """Return the parts of a ratio of two sums."""
    total = weights.sum()
    added = numerators / total
    deviations = added - added.sum() * weights / total
    return Parts(added, deviations, int(np.count_nonzero(weights)))


@dataclass(frozen=True, slots=True)
class Items:
    """The items behind a paired difference.

    Attributes:
        n: How many there are.
        variance: The variance that the difference would have if they were independent.
        differing: How many have another value in a than in b.
    """

    n: int
    variance: float
    differing: int

    def observations(self, error: float, clusters: int) -> float:
        """Return the number of independent items that would have this standard error.

        It is `n` by the design effect of so many clusters (Kish 1965), and never more than `n`.
        Without spread, the clusters are all the evidence.
        """
        if not error:
            return float(clusters)
        variance = self.variance * clusters / (clusters - 1)  # corrected as `standard_error` is
        return self.n * min(1.0, variance / error**2)

    def step(self, difference: float) -> float:
        """Return by how much items differ that do: the root of their mean square."""
        return math.sqrt((self.n * self.variance + difference**2) * self.n / self.differing)


def paired_test(
    difference: float,
    draws: Array,
    clusters: int,
    items: Items,
    *runs: Sequence[float],
    bounds: Bounds = UNBOUNDED,
) -> PairedTest | None:
    """Test a difference of two models on the same clusters.

    Two pairs are added as Agresti and Min do (2005, Statistics in Medicine 24): half a pair in
    which a alone is right, half in which b is, and one without a difference. Where few pairs
    differ, all to one side, that covers too little; so as much more is added as they lean to one
    side. With all of them there it is one pair for a and one for b (Bonett and Price 2012, Journal
    of Educational and Behavioral Statistics 37). On a scale with steps the added pairs differ by as
    much as those that do; where none does, by the whole scale. The coverage is simulated
    (`perf/coverage.py`). On a scale without bounds (words of a question) they are added only where
    there is no spread.

    Args:
        difference: Of the whole sample.
        draws: Of each resample; NaNs are left out.
        clusters: The clusters (videos) that take part in it.
        items: What the items say of it.
        runs: For each model with several runs, the value in each of them (`with_runs`).
        bounds: The least and the most that each model's value can be.

    Returns:
        The test. None under `MIN_CLUSTERS` clusters, where no interval is given either, and where
        no item differs on a scale without bounds: nothing says by how much one could.
    """
    draws = draws[~np.isnan(draws)]
    if clusters < MIN_CLUSTERS or len(draws) < 2:  # noqa: PLR2004
        return None
    scale = bounds[1] - bounds[0]
    step = scale
    lean = 1.0
    if items.differing:
        step = min(scale, items.step(difference))
        lean = min(1.0, abs(difference) * items.n / (step * items.differing))
    if math.isinf(step):
        return None
    error = standard_error(draws, clusters)
    observations = items.observations(error, clusters)
    total = observations + 2
    centre = observations * difference / total
    squares = observations * (observations * error**2 + difference**2) + (1 + lean) * step**2
    guarded_error = math.sqrt((squares / total - centre**2) / total)
    if bounds == UNBOUNDED and error:
        centre = difference
        guarded_error = error
    error, freedom = with_runs(guarded_error, clusters - 1, *runs)
    return PairedTest(difference, centre, error, freedom, (-scale, scale))


def difference_of_means(
    sums: Array, *, bounds: Bounds = UNBOUNDED
) -> tuple[float, float, PairedTest | None]:
    """Return two means over the same clusters, and the test of a minus b.

    Each cluster is one observation.

    Args:
        sums: Clusters x 4: the sum and the number of a's values, then b's. Each has one at least.
        bounds: The least and the most that a value can be.
    """
    whole = sums.sum(axis=0)
    a = float(whole[0] / whole[1])
    b = float(whole[2] / whole[3])
    draws = np.concatenate(list(resampled_sums(sums)))
    # A resample may have no value; it is left out.
    with np.errstate(divide="ignore", invalid="ignore"):
        difference_draws = draws[:, 0] / draws[:, 1] - draws[:, 2] / draws[:, 3]
    items = parts_of_ratio(sums[:, 0], sums[:, 1]).minus(parts_of_ratio(sums[:, 2], sums[:, 3]))
    items = replace(items, n=len(sums))
    return a, b, paired_test(a - b, difference_draws, len(sums), items, bounds=bounds)


def mean_over_clusters(
    values: Array, clusters: Sequence[str], *, bounds: Bounds = UNBOUNDED
) -> Estimate:
    """Return the mean of items' values with its `wilson` interval over their clusters.

    Raises:
        ValueError: There is no value.
    """
    if not len(values):
        raise ValueError("a mean needs at least one value")
    sums = cluster_sums(np.stack([values, np.ones(len(values))], axis=1), clusters)
    draws = np.concatenate(list(resampled_sums(sums)))
    value = float(np.mean(values))
    ci95 = confidence_interval(value, draws[:, 0] / draws[:, 1], len(sums), bounds=bounds)
    return Estimate(value, ci95)
