"""Several runs of one model over the same videos: their mean, and an interval that has both sources, videos and runs.

Each run has a score for each item; items lie in videos. The mean of all varies with the videos that were drawn and with
what a run is (its samples, its seed). The two are crossed: the variance of the mean over videos (of the runs' average)
and over runs are estimated apart and added, which counts the noise of a single answer twice and so promises rather too
little; the interval is Student's t with the degrees of freedom of Satterthwaite (1946, Biometrics Bulletin 2). What it
covers is simulated (`tests/stats/test_runs.py`): from three runs on 92 to 98 %; of two runs that differ by more than
their answers' noise 88 %, since two can't tell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import student_t
from reelbench.stats.intervals import MIN_CLUSTERS, UNBOUNDED, Bounds

METHOD = "two-way (videos, runs), t with Satterthwaite's degrees of freedom"


@dataclass(frozen=True, slots=True)
class RunsEstimate:
    """The mean over runs and items, the standard deviation between the runs' means, and the mean's 95 % interval.

    `spread` is None of one run, `ci95` under `MIN_CLUSTERS` videos or where nothing varies.
    """

    value: float
    spread: float | None
    ci95: tuple[float, float] | None


def over_runs(values: NDArray[np.float64], clusters: Sequence[str], *, bounds: Bounds = UNBOUNDED) -> RunsEstimate:
    """Return what runs come to.

    Args:
        values: A row for each run, a column for each item; none is missing.
        clusters: Each item's video.
        bounds: The least and the most that the mean can be.
    """
    runs, items = values.shape
    value = float(values.mean())
    means = values.mean(axis=1)
    spread = float(np.std(means, ddof=1)) if runs > 1 else None
    names, place = np.unique(np.asarray(clusters), return_inverse=True)
    videos = len(names)
    if videos < MIN_CLUSTERS:
        return RunsEstimate(value, spread, None)
    sums = np.bincount(place, values.mean(axis=0) - value, videos)
    by_videos = videos / (videos - 1) * float(sums @ sums) / items**2
    by_runs = spread**2 / runs if spread is not None else 0.0
    error = math.sqrt(by_videos + by_runs)
    if error <= 1e-12 * (1 + abs(value)):
        return RunsEstimate(value, spread, None)
    freedom = (by_videos + by_runs) ** 2 / (by_videos**2 / (videos - 1) + by_runs**2 / max(1, runs - 1))
    reach = student_t.quantile(0.975, max(1, math.floor(freedom))) * error
    return RunsEstimate(value, spread, (max(bounds[0], value - reach), min(bounds[1], value + reach)))
