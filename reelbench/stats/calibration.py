"""A judge's scores, corrected by people's on a sample of the same answers.

Two corrections stand side by side. The prediction-powered mean (Angelopoulos et al. 2023; with the
weight of least variance, PPI++, Angelopoulos, Duchi and Zrnic 2023) takes from the judge what goes
with people and is right on average whatever the judge does. On a scale of steps, the confusion
matrix P(judge | people) of the labelled answers says which shares of people's scores would give the
judge's shares on all (as Lee et al. 2025, arXiv 2511.21140, for two classes). Both intervals
resample whole videos, with their labels, all judge's scores and the correction's own weights anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import intervals
from reelbench.stats.intervals import Bounds, Estimate

Usefulness = Literal["helps", "no gain", "too few labels"]

GAIN = 0.95
"""A judge helps where the corrected interval is at most this share of the one that people's scores give alone."""
LABELLED_VIDEOS = 10
"""From under so many videos with labels nothing is said of the judge."""
_TOLD_APART = 1e-3
"""The smallest singular value from which on a judge tells all of people's scores apart."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """A judge's mean corrected by people's scores on a sample, in the scale's own unit.

    Attributes:
        items: Answers that the judge scored.
        labelled: Answers among them that people scored.
        labelled_videos: Videos of those.
        judge: Mean of the judge's scores, of all answers.
        people: Mean of people's scores, of the labelled answers: what one knows without the judge.
        corrected: The prediction-powered mean.
        weight: How much of the judge goes into it (lambda): 0 nothing, 1 the plain difference
            estimator.
        confusion: People's score -> the judge's score -> labelled answers; None off a scale of
            steps.
        shares: People's score -> its share of all answers by the confusion matrix, 0 to 1; None
            where the labelled answers don't determine them.
        confusion_mean: The mean of these shares.
        labels_to_halve: Labels to add until the corrected interval is half as long; None where even
            labels on all answers would not do it, since the videos are too few.
        verdict: Whether the judge makes people's labels worth more.
    """

    items: int
    labelled: int
    labelled_videos: int
    judge: Estimate
    people: Estimate
    corrected: Estimate
    weight: float
    confusion: dict[float, dict[float, int]] | None
    shares: dict[float, Estimate] | None
    confusion_mean: Estimate | None
    labels_to_halve: int | None
    verdict: Usefulness


def calibrate(
    judge: Sequence[float],
    people: Sequence[float | None],
    videos: Sequence[str],
    *,
    bounds: Bounds,
    steps: Sequence[float] | None = None,
) -> Calibration:
    """Correct a judge's mean by people's scores of a random sample of the answers, or of the videos.

    Args:
        judge: The judge's score of each answer.
        people: People's score of each answer in the same order; None (or NaN) where nobody scored
            it.
        videos: Each answer's video.
        bounds: The scale's ends.
        steps: The scale's steps, where it is one of steps; scores off them (a mean of votes) give
            no confusion matrix.

    ValueError where the three differ in length, or no answer has people's score.
    """
    scores = np.asarray(judge, dtype=np.float64)
    labels = np.array([np.nan if label is None else label for label in people], dtype=np.float64)
    if not len(scores) == len(labels) == len(videos):
        raise ValueError("judge, people and videos differ in length")
    given = ~np.isnan(labels)
    if not given.any():
        raise ValueError("no answer has both the judge's score and people's")
    mask = given.astype(np.float64)
    known = np.where(given, labels, 0.0)
    sums = intervals.cluster_sums(
        np.stack([mask, known, mask * scores, np.ones_like(scores), scores], axis=1), videos
    )
    labelled_videos = int(np.count_nonzero(sums[:, 0]))
    point, weight = _corrected(
        sums.sum(axis=0)[None, :], (sums[:, :, None] * sums[:, None, :]).sum(axis=0)[None]
    )
    columns = sums.shape[1]
    products = (sums[:, :, None] * sums[:, None, :]).reshape(len(sums), -1)
    blocks = np.concatenate(
        list(intervals.resampled_sums(np.concatenate([sums, products], axis=1)))
    )
    total, moments = blocks[:, :columns], blocks[:, columns:].reshape(-1, columns, columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_people, of_both = total[:, 1] / total[:, 0], _corrected(total, moments)[0]

    def estimate(value: float, draws: Array) -> Estimate:
        return Estimate(
            value, intervals.confidence_interval(value, draws, labelled_videos, bounds=bounds)
        )

    alone = estimate(float(labels[given].mean()), of_people)
    corrected = estimate(float(point[0]), of_both)
    confusion, shares, confusion_mean = _confusion(scores, labels, videos, steps, labelled_videos)
    verdict: Usefulness = "too few labels"
    if alone.ci95 is not None and corrected.ci95 is not None and labelled_videos >= LABELLED_VIDEOS:
        widths = [ends[1] - ends[0] for ends in (alone.ci95, corrected.ci95)]
        verdict = "helps" if widths[1] <= GAIN * widths[0] else "no gain"
    return Calibration(
        items=len(scores),
        labelled=int(given.sum()),
        labelled_videos=labelled_videos,
        judge=intervals.mean_over_clusters(scores, videos, bounds=bounds),
        people=alone,
        corrected=corrected,
        weight=float(weight[0]),
        confusion=confusion,
        shares=shares,
        confusion_mean=confusion_mean,
        labels_to_halve=_labels_to_halve(sums, float(weight[0]), of_both),
        verdict=verdict,
    )


def _corrected(total: Array, moments: Array) -> tuple[Array, Array]:
    """Return the prediction-powered mean and its weight for each row.

    Args:
        total: Labels, people's scores, the judge's where labelled, answers, the judge's scores;
            summed (rows x 5).
        moments: The products of these five by video, summed over videos (rows x 5 x 5).
    """
    labels, people, judged, items, judge = total.T
    with np.errstate(invalid="ignore", divide="ignore"):
        # What a video adds to a mean's error is (its sum - mean · its count) / count: rows of
        # factors for the columns.
        zero = np.zeros_like(labels)
        in_people = np.stack([-people / labels**2, 1 / labels, zero, zero, zero], axis=1)
        in_judge = np.stack(
            [judged / labels**2, zero, -1 / labels, -judge / items**2, 1 / items], axis=1
        )
        covariance = np.einsum("ri,rij,rj->r", in_people, moments, in_judge)
        variance = np.einsum("ri,rij,rj->r", in_judge, moments, in_judge)
        # A judge that goes against people gets no weight; neither does one that is nowhere alone.
        weight = np.where(variance > 1e-18, np.maximum(0.0, -covariance / variance), 0.0)  # noqa: PLR2004
        return people / labels + weight * (judge / items - judged / labels), weight


def _labels_to_halve(sums: Array, weight: float, draws: Array) -> int | None:
    draws = draws[~np.isnan(draws)]
    labels, items = sums[:, 0].sum(), sums[:, 3].sum()
    clusters = int(np.count_nonzero(sums[:, 0]))
    if clusters < 2 or len(draws) < 2:  # noqa: PLR2004
        return None
    variance = intervals.standard_error(draws, clusters) ** 2
    misses = sums[:, 1] - weight * sums[:, 2]
    sampled = (
        ((misses - misses.sum() / labels * sums[:, 0]) ** 2).sum()
        / labels**2
        * clusters
        / (clusters - 1)
    )
    # Labels on all answers would leave this; the rest falls with 1 / labels - 1 / items.
    floor = max(0.0, variance - sampled * (1 - labels / items))
    if variance / 4 <= floor or not sampled:
        return None
    needed = 1 / (1 / items + (variance / 4 - floor) / (sampled * labels))
    return max(1, int(np.ceil(needed - labels)))


# --- the confusion matrix
# --------------------------------------------------------------------------------------------


def solve_shares(confusion: Array, judged: Array) -> Array | None:
    """Return the shares of people's scores that explain the judge's shares best: least squares on the simplex.

    Args:
        confusion: Labelled answers by people's score and the judge's (steps x steps), as counts.
        judged: Answers by the judge's score (steps), as counts.

    Returns:
        Shares by people's score, which sum to 1, 0 where people never gave it; None where several
        would do as well.
    """
    rows = confusion.sum(axis=1)
    used = np.flatnonzero(rows)
    if not len(used) or not judged.sum():
        return None
    chances = (confusion[used] / rows[used, None]).T
    if np.linalg.svd(chances, compute_uv=False)[-1] < _TOLD_APART:
        return None
    shares = np.zeros(len(rows))
    # Minimise |matrix·x - target| over x >= 0 with sum 1, by active sets; `matrix` has full column
    # rank.
    gram, linear = chances.T @ chances, chances.T @ (judged / judged.sum())
    x = np.zeros(len(linear))
    free = np.zeros(len(x), dtype=bool)
    best = int(np.argmin(gram.diagonal() / 2 - linear))
    x[best], free[best] = 1.0, True
    for _ in range(10 * len(x)):
        slope = linear - gram @ x
        excess = np.where(free, 0.0, slope - x @ slope)  # what moving weight there would gain
        if excess.max() <= 1e-12:  # noqa: PLR2004
            break
        free[excess.argmax()] = True
        trial = _with_sum_one(gram, linear, free)
        while (trial < 0).any():
            negative = trial < 0
            x += (x[negative] / (x[negative] - trial[negative])).min() * (trial - x)
            free &= x > 1e-12  # noqa: PLR2004
            x[~free] = 0
            trial = _with_sum_one(gram, linear, free)
        x = trial
    shares[used] = x
    return shares


def _with_sum_one(gram: Array, linear: Array, free: NDArray[np.bool_]) -> Array:
    """The least squares with sum 1 over the free ones, whatever their signs; the rest is 0."""
    size = int(free.sum())
    system = np.ones((size + 1, size + 1))
    system[:size, :size], system[size, size] = gram[np.ix_(free, free)], 0.0
    x = np.zeros(len(linear))
    x[free] = np.linalg.solve(system, np.append(linear[free], 1.0))[:size]
    return x


def _confusion(
    scores: Array,
    labels: Array,
    videos: Sequence[str],
    steps: Sequence[float] | None,
    clusters: int,
) -> tuple[dict[float, dict[float, int]] | None, dict[float, Estimate] | None, Estimate | None]:
    """Return `confusion`, `shares` and `confusion_mean` of a `Calibration`; None off a scale of steps."""
    given = ~np.isnan(labels)
    if steps is None or not set(scores) | set(labels[given]) <= set(steps):
        return None, None, None
    grid = np.array(steps, dtype=np.float64)
    size = len(grid)
    judged = (scores[:, None] == grid).astype(np.float64)
    pairs = (labels[:, None] == grid)[:, :, None] & (scores[:, None] == grid)[:, None, :]
    table = np.concatenate([pairs.reshape(len(scores), -1), judged], axis=1)
    sums = intervals.cluster_sums(table.astype(np.float64), videos)
    counts = sums.sum(axis=0)[: size * size].reshape(size, size)
    named = {
        x: {y: int(n) for y, n in zip(steps, row, strict=True)}
        for x, row in zip(steps, counts, strict=True)
    }
    shares = solve_shares(counts, judged.sum(axis=0))
    if shares is None:
        return named, None, None
    blocks = np.concatenate(list(intervals.resampled_sums(sums)))
    solved = [
        solve_shares(row[: size * size].reshape(size, size), row[size * size :]) for row in blocks
    ]
    drawn = np.array([np.full(size, np.nan) if x is None else x for x in solved])

    def estimate(value: float, draws: Array, bounds: Bounds) -> Estimate:
        return Estimate(
            value, intervals.confidence_interval(value, draws, clusters, bounds=bounds, method="t")
        )

    return (
        named,
        {step: estimate(float(shares[at]), drawn[:, at], (0, 1)) for at, step in enumerate(steps)},
        estimate(float(shares @ grid), drawn @ grid, (min(steps), max(steps))),
    )
