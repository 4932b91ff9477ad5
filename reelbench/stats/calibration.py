"""A judge's scores, corrected by people's scores on a sample of the same answers.

Two corrections stand side by side. The prediction-powered mean (Angelopoulos et al. 2023; with the
weight of least variance, PPI++, Angelopoulos, Duchi and Zrnic 2023) takes from the judge what goes
with people, and is right on average whatever the judge does. On a scale of steps, the confusion
matrix P(judge | people) of the labelled answers says which shares of people's scores would give the
judge's shares on all answers (as Lee et al. 2025, arXiv 2511.21140, for two classes). Both
intervals resample whole videos, with their labels and all judge's scores, and compute the
correction's own weights anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import intervals
from reelbench.stats.intervals import Array, Bounds, Estimate

Usefulness = Literal["helps", "no gain", "too few labels"]
Confusion = dict[float, dict[float, int]]
"""People's score -> the judge's score -> labelled answers."""

GAIN = 0.95
"""A judge helps where it shortens the interval of people's scores alone to this share or less."""
LABELLED_VIDEOS = 10
"""With fewer labelled videos there is no verdict on the judge."""
_TOLD_APART = 1e-3
"""The smallest singular value from which on a judge tells all of people's scores apart."""
_TRUE_ZERO = 1e-12
_ZERO_VARIANCE = 1e-18


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
        confusion: The labelled answers by both scores. None off a scale of steps.
        shares: People's score -> its share of all answers by the confusion matrix, 0 to 1. None
            where the labelled answers don't determine them.
        confusion_mean: The mean of these shares.
        labels_to_halve: Labels to add until the corrected interval is half as long. None where even
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
    confusion: Confusion | None
    shares: dict[float, Estimate] | None
    confusion_mean: Estimate | None
    labels_to_halve: int | None
    verdict: Usefulness


class _CorrectedMeans(NamedTuple):
    """The prediction-powered mean of each row, and the judge's weight in it."""

    mean: Array
    weight: Array


@dataclass(frozen=True, slots=True)
class _ConfusionEstimates:
    """The fields of a `Calibration` that come from the confusion matrix."""

    confusion: Confusion | None = None
    shares: dict[float, Estimate] | None = None
    confusion_mean: Estimate | None = None


def calibrate(
    judge: Sequence[float],
    people: Sequence[float | None],
    videos: Sequence[str],
    *,
    bounds: Bounds,
    steps: Sequence[float] | None = None,
) -> Calibration:
    """Correct a judge's mean by people's scores of a random sample.

    The sample is of the answers, or of the videos.

    Args:
        judge: The judge's score of each answer.
        people: People's score of each answer in the same order. None (or NaN) where nobody scored
            it.
        videos: Each answer's video.
        bounds: The scale's ends.
        steps: The scale's steps, where it is one of steps. Scores off them (a mean of votes) give
            no confusion matrix.

    Raises:
        ValueError: The three differ in length, or no answer has people's score.
    """
    scores = np.asarray(judge, dtype=np.float64)
    labels = np.array(people, dtype=np.float64)  # None becomes NaN
    if not len(scores) == len(labels) == len(videos):
        raise ValueError("judge, people and videos differ in length")
    is_labelled = ~np.isnan(labels)
    if not is_labelled.any():
        raise ValueError("no answer has both the judge's score and people's")
    sums = _video_sums(scores, labels, videos)
    labelled_videos = int(np.count_nonzero(sums[:, 0]))
    totals = sums.sum(axis=0, keepdims=True)
    moments = _moments(sums).sum(axis=0, keepdims=True)
    point = _prediction_powered_means(totals, moments)
    weight = float(point.weight[0])
    drawn_totals, drawn_moments = _resampled_moments(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        people_draws = drawn_totals[:, 1] / drawn_totals[:, 0]
        corrected_draws = _prediction_powered_means(drawn_totals, drawn_moments).mean

    def estimate(mean: float, draws: Array) -> Estimate:
        ci95 = intervals.confidence_interval(mean, draws, labelled_videos, bounds=bounds)
        return Estimate(mean, ci95)

    people_mean = float(labels[is_labelled].mean())
    people_estimate = estimate(people_mean, people_draws)
    corrected_mean = float(point.mean[0])
    corrected_estimate = estimate(corrected_mean, corrected_draws)
    by_confusion = _by_confusion(scores, labels, videos, steps, labelled_videos)
    return Calibration(
        items=len(scores),
        labelled=int(is_labelled.sum()),
        labelled_videos=labelled_videos,
        judge=intervals.mean_over_clusters(scores, videos, bounds=bounds),
        people=people_estimate,
        corrected=corrected_estimate,
        weight=weight,
        confusion=by_confusion.confusion,
        shares=by_confusion.shares,
        confusion_mean=by_confusion.confusion_mean,
        labels_to_halve=_labels_to_halve(sums, weight, corrected_draws),
        verdict=_usefulness_of_correction(people_estimate, corrected_estimate, labelled_videos),
    )


def _video_sums(scores: Array, labels: Array, videos: Sequence[str]) -> Array:
    """Return the sums by video (videos x 5) that `_prediction_powered_means` takes."""
    is_labelled = ~np.isnan(labels)
    mask = is_labelled.astype(np.float64)
    labels_or_zero = np.where(is_labelled, labels, 0.0)
    columns = [
        mask,
        labels_or_zero,
        mask * scores,
        np.ones_like(scores),
        scores,
    ]
    return intervals.cluster_sums(np.stack(columns, axis=1), videos)


def _moments(sums: Array) -> Array:
    """Return the products of each row's columns with each other (rows x columns x columns)."""
    return sums[:, :, None] * sums[:, None, :]


def _resampled_moments(sums: Array) -> tuple[Array, Array]:
    """Return the totals and moments of each resample of the videos."""
    videos, columns = sums.shape
    products = _moments(sums).reshape(videos, -1)
    table = np.concatenate([sums, products], axis=1)
    draws = intervals.all_resampled_sums(table)
    totals = draws[:, :columns]
    moments = draws[:, columns:].reshape(-1, columns, columns)
    return totals, moments


def _prediction_powered_means(total: Array, moments: Array) -> _CorrectedMeans:
    """Return the prediction-powered mean and its weight for each row.

    Args:
        total: Labels, people's scores, the judge's where labelled, answers, the judge's scores,
            summed (rows x 5).
        moments: The products of these five by video, summed over videos (rows x 5 x 5).
    """
    labels, people, judge_labelled, items, judge = total.T
    with np.errstate(invalid="ignore", divide="ignore"):
        # A video adds (its sum - mean · its count) / count to a mean's error: rows of factors for
        # the columns.
        zero = np.zeros_like(labels)
        people_factors = [
            -people / labels**2,
            1 / labels,
            zero,
            zero,
            zero,
        ]
        judge_factors = [
            judge_labelled / labels**2,
            zero,
            -1 / labels,
            -judge / items**2,
            1 / items,
        ]
        in_people = np.stack(people_factors, axis=1)
        in_judge = np.stack(judge_factors, axis=1)
        covariance = np.einsum("ri,rij,rj->r", in_people, moments, in_judge)
        variance = np.einsum("ri,rij,rj->r", in_judge, moments, in_judge)
        # A judge that goes against people gets no weight; neither does one that is nowhere alone.
        best_weight = np.maximum(0.0, -covariance / variance)
        weight = np.where(variance > _ZERO_VARIANCE, best_weight, 0.0)
        people_mean = people / labels
        correction = judge / items - judge_labelled / labels
        return _CorrectedMeans(
            mean=people_mean + weight * correction,
            weight=weight,
        )


def _usefulness_of_correction(
    people: Estimate, corrected: Estimate, labelled_videos: int
) -> Usefulness:
    """Say whether the corrected interval is clearly shorter than that of people's scores alone."""
    if labelled_videos < LABELLED_VIDEOS:
        return "too few labels"
    if people.ci95 is None or corrected.ci95 is None:
        return "too few labels"
    people_low, people_high = people.ci95
    corrected_low, corrected_high = corrected.ci95
    people_width = people_high - people_low
    corrected_width = corrected_high - corrected_low
    if corrected_width <= GAIN * people_width:
        return "helps"
    return "no gain"


def _labels_to_halve(sums: Array, weight: float, draws: Array) -> int | None:
    """Return the labels to add until the corrected interval is half as long."""
    draws = draws[~np.isnan(draws)]
    video_labels, video_people, video_judge, video_items, _ = sums.T
    labels = video_labels.sum()
    items = video_items.sum()
    clusters = int(np.count_nonzero(video_labels))
    if clusters < 2 or len(draws) < 2:  # noqa: PLR2004
        return None
    variance = intervals.standard_error(draws, clusters) ** 2
    misses = video_people - weight * video_judge
    mean_miss = misses.sum() / labels
    residuals = misses - mean_miss * video_labels
    squares = (residuals**2).sum()
    label_variance = squares / labels**2 * clusters / (clusters - 1)
    # Labels on all answers would leave this; the rest falls with 1 / labels - 1 / items.
    floor = max(0.0, variance - label_variance * (1 - labels / items))
    wanted_variance = variance / 4
    if wanted_variance <= floor or not label_variance:
        return None
    excess = (wanted_variance - floor) / (label_variance * labels)
    labels_needed = 1 / (1 / items + excess)
    labels_to_add = int(np.ceil(labels_needed - labels))
    return max(1, labels_to_add)


# --- the confusion matrix


def solve_shares(confusion: Array, judged: Array) -> Array | None:
    """Return the shares of people's scores that explain the judge's shares best.

    They are the least squares on the simplex.

    Args:
        confusion: Labelled answers by people's score and the judge's (steps x steps), as counts.
        judged: Answers by the judge's score (steps), as counts.

    Returns:
        Shares by people's score, which sum to 1, 0 where people never gave it. None where several
        solutions are equally good.
    """
    rows = confusion.sum(axis=1)
    used = np.flatnonzero(rows)
    if not len(used) or not judged.sum():
        return None
    judge_given_people = confusion[used] / rows[used, None]
    chances = judge_given_people.T
    singular_values = np.linalg.svd(chances, compute_uv=False)
    if singular_values[-1] < _TOLD_APART:
        return None
    judged_shares = judged / judged.sum()
    shares = np.zeros(len(rows))
    shares[used] = _least_squares_on_simplex(chances, judged_shares)
    return shares


def _least_squares_on_simplex(matrix: Array, target: Array) -> Array:
    """Minimise |matrix·x - target| over x >= 0 with sum 1, by active sets.

    `matrix` has full column rank.
    """
    gram = matrix.T @ matrix
    linear = matrix.T @ target
    x = np.zeros(len(linear))
    free = np.zeros(len(x), dtype=bool)
    misses = gram.diagonal() / 2 - linear
    best = int(np.argmin(misses))
    x[best] = 1.0
    free[best] = True
    for _ in range(10 * len(x)):
        slope = linear - gram @ x
        gain = np.where(free, 0.0, slope - x @ slope)  # of moving weight to each place
        if gain.max() <= _TRUE_ZERO:
            break
        free[gain.argmax()] = True
        trial = _with_sum_one(gram, linear, free)
        while (trial < 0).any():
            negative = trial < 0
            change = trial - x
            step = (-x[negative] / change[negative]).min()
            x += step * change
            free &= x > _TRUE_ZERO
            x[~free] = 0
            trial = _with_sum_one(gram, linear, free)
        x = trial
    return x


def _with_sum_one(gram: Array, linear: Array, free: NDArray[np.bool_]) -> Array:
    """Return the least squares with sum 1 over the free places.

    They may have any sign. All other places are 0.
    """
    size = int(free.sum())
    free_gram = gram[free][:, free]
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = free_gram
    system[size, size] = 0.0
    target = np.append(linear[free], 1.0)
    solution = np.linalg.solve(system, target)
    x = np.zeros(len(linear))
    x[free] = solution[:size]
    return x


def _by_confusion(
    scores: Array,
    labels: Array,
    videos: Sequence[str],
    steps: Sequence[float] | None,
    clusters: int,
) -> _ConfusionEstimates:
    """Return the estimates by the confusion matrix. All None off a scale of steps."""
    labels_present = labels[~np.isnan(labels)]
    if steps is None:
        return _ConfusionEstimates()
    scores_given = set(scores) | set(labels_present)
    if not scores_given <= set(steps):
        return _ConfusionEstimates()
    grid = np.array(steps, dtype=np.float64)
    sums = _confusion_sums(scores, labels, videos, grid)
    counts = _counts_of_row(sums.sum(axis=0), len(grid))
    confusion: Confusion = {}
    for step, row in zip(steps, counts.confusion.astype(int).tolist(), strict=True):
        confusion[step] = dict(zip(steps, row, strict=True))
    shares = solve_shares(counts.confusion, counts.judged)
    if shares is None:
        return _ConfusionEstimates(confusion)

    drawn_shares: list[Array] = []
    for row in intervals.all_resampled_sums(sums):
        drawn_counts = _counts_of_row(row, len(grid))
        solution = solve_shares(drawn_counts.confusion, drawn_counts.judged)
        if solution is None:
            solution = np.full(len(grid), np.nan)
        drawn_shares.append(solution)
    draws = np.array(drawn_shares)

    def estimate(value: float, draws: Array, bounds: Bounds) -> Estimate:
        ci95 = intervals.confidence_interval(
            value,
            draws,
            clusters,
            bounds=bounds,
            method="t",
        )
        return Estimate(value, ci95)

    share_estimates: dict[float, Estimate] = {}
    for step, share, share_draws in zip(steps, shares.tolist(), draws.T, strict=True):
        share_estimates[step] = estimate(share, share_draws, (0, 1))
    scale = (min(steps), max(steps))
    mean = estimate(float(shares @ grid), draws @ grid, scale)
    return _ConfusionEstimates(confusion, share_estimates, mean)


class _ConfusionCounts(NamedTuple):
    """Labelled answers by people's score and the judge's, and all answers by the judge's."""

    confusion: Array
    judged: Array


def _confusion_sums(scores: Array, labels: Array, videos: Sequence[str], grid: Array) -> Array:
    """Return each video's confusion counts in one row, for `_counts_of_row`."""
    is_score = scores[:, None] == grid
    is_label = labels[:, None] == grid
    is_label_and_score = is_label[:, :, None] & is_score[:, None, :]
    pairs = is_label_and_score.reshape(len(scores), -1)
    columns = np.concatenate([pairs, is_score], axis=1)
    return intervals.cluster_sums(columns.astype(np.float64), videos)


def _counts_of_row(row: Array, steps: int) -> _ConfusionCounts:
    """Return the counts of a row of `_confusion_sums`, or of such rows' sum."""
    cells = steps * steps
    return _ConfusionCounts(
        confusion=row[:cells].reshape(steps, steps),
        judged=row[cells:],
    )
