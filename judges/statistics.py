"""Bootstrap over clusters: questions on one video are not independent, so whole videos are resampled."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
SEED = 0
_KEPT_CELLS = 200_000  # draws kept for the next metric or result: some 1.6 MB
_BLOCK_CELLS = 4_000_000  # resamples x clusters held at once: bounds memory at some 32 MB


def cluster_sums(values: NDArray[np.float64], clusters: Sequence[str]) -> NDArray[np.float64]:
    """Sum the rows of `values` (items x columns) by cluster, clusters in sorted order -> (clusters x columns)."""
    names, index = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, index, values)
    return sums


def resampled_sums(
    sums: NDArray[np.float64], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Iterator[NDArray[np.float64]]:
    """Yield blocks (some resamples x columns) of column sums over clusters drawn with replacement; seeded."""
    clusters = len(sums)
    block = max(1, min(resamples, _BLOCK_CELLS // clusters))
    if resamples * clusters <= _KEPT_CELLS:
        yield _drawn(clusters, resamples, seed) @ sums
        return
    rng = np.random.default_rng(seed)
    uniform = np.full(clusters, 1.0 / clusters)
    for start in range(0, resamples, block):
        counts = rng.multinomial(clusters, uniform, size=min(block, resamples - start))
        yield counts @ sums


@lru_cache(maxsize=4)
def _drawn(clusters: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """How often each cluster is drawn in each resample: the same for every set of so many clusters, so kept."""
    counts = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1.0 / clusters), size=resamples)
    return counts.astype(np.float64)


def interval(draws: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the 2.5th and 97.5th percentile of one-dimensional `draws`, NaNs (empty resamples) left out."""
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0:
        return None
    # As np.percentile interpolates, in a fifth of its time: a leaderboard asks for many thousands.
    ordered = np.sort(draws)
    ends = []
    for share in (0.025, 0.975):
        place = share * (len(ordered) - 1)
        below = math.floor(place)
        low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
        ends.append(float(low + (high - low) * (place - below)))
    return ends[0], ends[1]
