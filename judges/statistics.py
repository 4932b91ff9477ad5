"""Bootstrap over clusters: questions on one video are not independent, so whole videos are resampled."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
SEED = 0
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
    rng = np.random.default_rng(seed)
    clusters = len(sums)
    block = max(1, min(resamples, _BLOCK_CELLS // clusters))
    uniform = np.full(clusters, 1.0 / clusters)
    for start in range(0, resamples, block):
        counts = rng.multinomial(clusters, uniform, size=min(block, resamples - start))
        yield counts @ sums


def interval(draws: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the 2.5th and 97.5th percentile of one-dimensional `draws`, NaNs (empty resamples) left out."""
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0:
        return None
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)
