"""Intervals, from a bootstrap over clusters: questions on one video are not independent, so whole videos are resampled.

Three intervals are read from the resamples. `percentile` (`percentiles`) covers less than it
promises where videos are few: at 5 videos some 85 % instead of 95. `t` takes from them the standard
error alone and widens it as few videos require; `wilson` does so too and knows the ends of the
scale. What they cover is measured (`perf/coverage.py`): `wilson` 93 to 97 % from 10 clusters on;
under 10 neither does for every population, so that there they say nothing. A difference of two
models is tested by t, and its interval is that test's own (`PairedTest`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import student_t

Method = Literal["percentile", "t", "wilson"]
Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)
METHOD: Method = "wilson"
"""How intervals are made now; a result states how its own were."""

MIN_CLUSTERS = 10
"""Clusters from which on an interval is given; under it `t` covers down to 77 %, and `wilson` up to 99."""

RESAMPLES = 1000
SEED = 0
KEPT_CELLS = 1_000_000  # draws kept for the next metric or result: some 8 MB
BLOCK_CELLS = 4_000_000  # resamples x clusters held at once: bounds memory at some 32 MB


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic and its 95 % interval; each None where it is undefined."""

    value: float | None
    ci95: tuple[float, float] | None


def cluster_sums(values: NDArray[np.float64], clusters: Sequence[str]) -> NDArray[np.float64]:
    """Sum the rows of `values` (items x columns) by cluster, clusters in sorted order -> (clusters x columns)."""
    return sums_by_cluster(values.T, clusters)


def sums_by_cluster(
    columns: Iterable[Sequence[float] | NDArray[np.float64]], clusters: Sequence[str]
) -> NDArray[np.float64]:
    """As `cluster_sums`, of one column after the other: the table of all is never there."""
    places = {name: place for place, name in enumerate(sorted(set(clusters)))}
    index = np.fromiter((places[name] for name in clusters), dtype=np.intp, count=len(clusters))
    sums = [
        np.asarray(np.bincount(index, column, len(places)), dtype=np.float64) for column in columns
    ]
    return np.stack(sums, axis=1)


def resampled_sums(
    sums: NDArray[np.float64], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Iterator[NDArray[np.float64]]:
    """Yield blocks (some resamples x columns) of column sums over clusters drawn with replacement; seeded."""
    clusters = len(sums)
    most = max(1, min(resamples, BLOCK_CELLS // clusters))
    if resamples * clusters <= KEPT_CELLS:
        yield _drawn(clusters, resamples, seed) @ sums
        return
    rng = np.random.default_rng(seed)
    uniform = np.full(clusters, 1.0 / clusters)
    for start in range(0, resamples, most):
        counts = rng.multinomial(clusters, uniform, size=min(most, resamples - start))
        floats = counts.view(np.float64)
        for place in range(
            len(counts)
        ):  # in place, row by row: numpy would hold the whole block twice
            floats[place] = counts[place]
        of_block = floats @ sums
        del counts, floats  # or it stands beside the next one
        yield of_block


@lru_cache(maxsize=4)
def _drawn(clusters: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """How often each cluster is drawn in each resample: the same for every set of so many clusters, so kept."""
    counts = np.random.default_rng(seed).multinomial(
        clusters, np.full(clusters, 1.0 / clusters), size=resamples
    )
    return counts.astype(np.float64)


def percentiles(draws: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the 2.5th and 97.5th percentile of one-dimensional `draws`, NaNs (empty resamples) left out."""
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0:
        return None
    # As np.percentile interpolates, in a fifth of its time: a leaderboard asks for many thousands.
    ordered = np.sort(draws)
    ends: list[float] = []
    for share in (0.025, 0.975):
        place = share * (len(ordered) - 1)
        below = math.floor(place)
        low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
        ends.append(float(low + (high - low) * (place - below)))
    return ends[0], ends[1]


def confidence_interval(
    value: float,
    draws: NDArray[np.float64],
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
        runs: Of several runs of one model, what the statistic is in each: their variance counts too
            (`with_runs`).

    Returns:
        Its two ends; None under `MIN_CLUSTERS` clusters (under two for `percentile`, as once was
        the rule) or two draws, or where there is no spread and the method needs one.
    """
    draws = draws[~np.isnan(draws)]
    if clusters < (2 if method == "percentile" else MIN_CLUSTERS) or len(draws) < 2:  # noqa: PLR2004
        return None
    if method == "percentile":
        return percentiles(draws)
    error, freedom = with_runs(standard_error(draws, clusters), clusters - 1, runs)
    t = student_t.quantile(0.975, freedom)
    if method == "wilson" and bounds != UNBOUNDED:
        low, high = bounds
        share = (value - low) / (high - low)
        spread = share * (1 - share)
        if (
            not 0 < share < 1 and error
        ):  # a corrected value may lie on the bounds, or beyond them, and still be uncertain
            return _cut(value - t * error, value + t * error, bounds)
        # As many independent answers have that standard error; without spread the clusters are all
        # that is known.
        observations = spread * ((high - low) / error) ** 2 if spread and error else clusters
        inverse = t * t / observations
        middle = (share + inverse / 2) / (1 + inverse)
        half = math.sqrt(inverse * spread + inverse**2 / 4) / (1 + inverse)
        return _cut(
            low + (high - low) * (middle - half), low + (high - low) * (middle + half), bounds
        )
    return _cut(value - t * error, value + t * error, bounds) if error else None


def _cut(start: float, end: float, bounds: Bounds) -> tuple[float, float]:
    low, high = bounds
    return min(max(start, low), high), min(max(end, low), high)


def standard_error(draws: NDArray[np.float64], clusters: int) -> float:
    """Return the standard error that the draws of a bootstrap show, corrected for the number of clusters.

    A resample of n clusters varies by (n - 1) / n of what n new ones would. Rounding alone is taken
    for no spread.
    """
    spread = float(np.std(draws, ddof=1))
    return (
        spread * math.sqrt(clusters / (clusters - 1))
        if spread > 1e-12 * (1 + abs(float(draws[0])))
        else 0.0
    )


def with_runs(error: float, freedom: int, *runs: Sequence[float]) -> tuple[float, int]:
    """Return a standard error over videos, and its degrees of freedom, with the noise of several runs counted too.

    A mean over runs varies with the videos that were drawn and with what a run is (its samples, its
    seed). The two are crossed: the variance over videos (of the runs' average) and that between
    runs are estimated apart and added, which counts the noise of a single answer twice and so
    promises rather too little. The degrees of freedom are Satterthwaite's (1946, Biometrics
    Bulletin 2). What that covers is simulated (docs/verification.md).

    Args:
        error: The standard error over videos.
        freedom: Its degrees of freedom.
        runs: The statistic in each run, of each side that has several.
    """
    parts = [(error**2, freedom)]
    parts += [
        (float(np.var(values, ddof=1)) / len(values), len(values) - 1)
        for values in runs
        if len(values) > 1
    ]
    total = math.fsum(variance for variance, _ in parts)
    if len(parts) == 1 or not total:
        return error, freedom
    return math.sqrt(total), max(
        1, math.floor(total**2 / math.fsum(variance**2 / dof for variance, dof in parts))
    )


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Student's t test of a difference on the same clusters, with the bootstrap's standard error.

    Attributes:
        difference: a minus b.
        error: Its standard error; 0 where it is the same whichever clusters are drawn.
        freedom: Degrees of freedom: one less than the clusters (videos) that take part in it, for
            models of one run.
    """

    difference: float
    error: float
    freedom: int

    @property
    def p(self) -> float:
        """Two-sided, of no difference; 0 of a difference without any spread."""
        if not self.error:
            return 1.0 if abs(self.difference) < 1e-12 else 0.0  # noqa: PLR2004 - rounding of a true zero
        return 2 * student_t.cdf(-abs(self.difference) / self.error, self.freedom)

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Return the test's own interval: it excludes 0 exactly where p is at most `alpha`."""
        reach = student_t.quantile(1 - alpha / 2, self.freedom) * self.error if self.error else 0.0
        return self.difference - reach, self.difference + reach


def paired_test(
    difference: float, draws: NDArray[np.float64], clusters: int, *runs: Sequence[float]
) -> PairedTest | None:
    """Test a difference of two models on the same clusters.

    Args:
        difference: Of the whole sample.
        draws: Of each resample; NaNs are left out.
        clusters: The clusters (videos) that take part in it.
        runs: Of each model with several runs, what each of them has (`with_runs`).

    Returns:
        The test; None under `MIN_CLUSTERS` clusters: what can't carry an interval can't carry a p.
    """
    draws = draws[~np.isnan(draws)]
    if clusters < MIN_CLUSTERS or len(draws) < 2:  # noqa: PLR2004
        return None
    return PairedTest(difference, *with_runs(standard_error(draws, clusters), clusters - 1, *runs))


def difference_of_means(sums: NDArray[np.float64]) -> tuple[float, float, PairedTest | None]:
    """Return two means over the same clusters, and the test of a minus b.

    Args:
        sums: Clusters x 4: the sum and the number of a's values, then b's. Each has one at least.
    """
    whole = sums.sum(axis=0)
    a, b = float(whole[0] / whole[1]), float(whole[2] / whole[3])
    draws = np.concatenate(list(resampled_sums(sums)))
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # a resample may have no value: it is left out
        return (
            a,
            b,
            paired_test(a - b, draws[:, 0] / draws[:, 1] - draws[:, 2] / draws[:, 3], len(sums)),
        )


def mean_over_clusters(
    values: NDArray[np.float64], clusters: Sequence[str], *, bounds: Bounds = UNBOUNDED
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
    return Estimate(
        value, confidence_interval(value, draws[:, 0] / draws[:, 1], len(sums), bounds=bounds)
    )
