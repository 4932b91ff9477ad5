"""The noise of a benchmark's score, for power analysis: from one result, from two, or assumed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reelbench.base.errors import InputError
from reelbench.registry.metrics import Mean
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec, Metric
from reelbench.scoring import aggregation, comparison
from reelbench.stats import intervals, ratios
from reelbench.stats.power import Pilot


@dataclass(frozen=True, slots=True)
class Assumed:
    """Assumptions in place of a result.

    Attributes:
        score: The score that a model is assumed to have, in the metric's unit.
        icc: Correlation of questions within a video (intraclass), 0 to 1.
        videos: How many videos there are.
        questions: Questions to a video, on average.
    """

    score: float
    icc: float
    videos: int
    questions: float


def of_result(spec: BenchmarkSpec, samples: Sequence[Sample]) -> Pilot:
    """Return the noise of a model's primary metric over its own videos.

    Raises:
        InputError: The metric has no value, is (or a part of it) of one video, or is the same on
            all.
    """
    metric = spec.primary
    return _pilot(metric, aggregation.resampled(spec, metric, samples), paired=False)


def of_two(spec: BenchmarkSpec, a: Sequence[Sample], b: Sequence[Sample]) -> Pilot:
    """Return the noise of two models' difference in the primary metric.

    It is measured on the items that both answered.

    Raises:
        InputError: The two have no item in common, no value on two videos, or differ equally on
            all.
    """
    metric = spec.primary
    both_a, both_b = comparison.on_both(a, b)
    resampled_a = aggregation.resampled(spec, metric, both_a)
    resampled_b = aggregation.resampled(spec, metric, both_b)
    value, draws = resampled_a.minus(resampled_b)
    difference = ratios.Resampled(value, draws, resampled_a.n, resampled_a.clusters)
    pilot = replace(_pilot(metric, difference, paired=True), measured=True)
    return _with_discordant(pilot, metric, both_a, both_b)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two models' scores of one item."""

    a: float
    b: float
    video: str


def _with_discordant(
    pilot: Pilot, metric: Metric, a: Sequence[Sample], b: Sequence[Sample]
) -> Pilot:
    """Add the shares of questions that one model alone has right, or neither.

    A pilot whose answers aren't right or wrong is returned unchanged.
    """
    if not isinstance(metric.aggregate, Mean):
        return pilot
    column = metric.aggregate.column
    pairs: list[_Pair] = []
    for sample_a, sample_b in zip(a, b, strict=True):
        if column in sample_a.scores:
            score_a = sample_a.scores[column]
            pairs.append(_Pair(score_a, sample_b.scores[column], sample_a.video))
    values = {pair.a for pair in pairs} | {pair.b for pair in pairs}
    if not pairs or not values <= {0.0, 1.0}:
        return pilot
    both_wrong = np.array([pair.a == pair.b == 0.0 for pair in pairs], dtype=float)
    room = float(both_wrong.mean())
    columns = np.stack([both_wrong, np.ones(len(pairs))], axis=1)
    sums = intervals.cluster_sums(columns, [pair.video for pair in pairs])
    draws = np.concatenate(list(intervals.resampled_sums(sums)))
    variance = intervals.standard_error(draws[:, 0] / draws[:, 1], len(sums)) ** 2
    independent_variance = room * (1 - room) / len(pairs)
    return replace(
        pilot,
        discordant=sum(pair.a != pair.b for pair in pairs) / len(pairs),
        room=room,
        excess=max(0.0, variance - independent_variance),
    )


def assumed_pilot(metric: Metric, what: Assumed) -> Pilot:
    """Return the noise of a score under assumptions, where nothing else is known.

    The score is the mean of right and wrong answers. With share p of the scale, an answer's
    variance is p (1 - p) of the scale's square: of a scale with steps that is the most it can be. A
    video's questions multiply the mean's by 1 + (questions - 1) icc (Kish 1965, Survey Sampling).

    Raises:
        InputError: The score is off the metric's scale.
    """
    low, high = metric.bounds
    if not low < what.score < high:
        raise InputError(
            f"--score: {what.score:g} is not strictly within the scale of {metric.name}, "
            f"{low:g} to {high:g}"
        )
    share = (what.score - low) / (high - low)
    design_effect = 1 + (what.questions - 1) * what.icc
    variance = share * (1 - share) * design_effect / (what.questions * what.videos)
    return Pilot(
        (high - low) * math.sqrt(variance),
        what.videos,
        paired=False,
        value=what.score,
        bounds=metric.bounds,
    )


def _pilot(metric: Metric, resampled: ratios.Resampled, *, paired: bool) -> Pilot:
    if resampled.value is None:
        raise InputError(f"{metric.name} has no value: judge the answers first")
    if resampled.draws is None:
        raise InputError(
            f"{metric.name}, or a part of it, is of one video; "
            "how far videos differ takes two or more"
        )
    draws = resampled.draws[~np.isnan(resampled.draws)]
    error = intervals.standard_error(draws, resampled.clusters)
    if not error:
        raise InputError(
            f"{metric.name} doesn't differ between the videos, "
            "which says nothing of how far it could"
        )
    return Pilot(
        error, resampled.clusters, paired=paired, value=resampled.value, bounds=metric.bounds
    )
