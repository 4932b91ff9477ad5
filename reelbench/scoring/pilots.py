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
        score: The score that a model is taken to have, in the metric's unit.
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

    InputError where it has no value, is (or a part of it) of one video, or is the same on all.
    """
    metric = spec.primary
    return _pilot(metric, aggregation.resampled(spec, metric, samples), paired=False)


def of_two(spec: BenchmarkSpec, a: Sequence[Sample], b: Sequence[Sample]) -> Pilot:
    """Return the noise of two models' difference in the primary metric, on what both answered.

    InputError where they have no item in common, no value on two videos, or differ equally on all.
    """
    metric = spec.primary
    both = comparison.on_both(a, b)
    by_a, by_b = (aggregation.resampled(spec, metric, samples) for samples in both)
    pilot = _pilot(metric, ratios.Resampled(*by_a.minus(by_b), by_a.n, by_a.clusters), paired=True)
    return replace(pilot, measured=True, **_discordant(metric, *both))


def _discordant(metric: Metric, a: Sequence[Sample], b: Sequence[Sample]) -> dict[str, float]:
    """Return the fields of a `Pilot` on questions that one model alone has right; none where answers aren't so."""
    if not isinstance(metric.aggregate, Mean):
        return {}
    column = metric.aggregate.column
    pairs = [
        (x.scores[column], y.scores[column], x.video)
        for x, y in zip(a, b, strict=True)
        if column in x.scores
    ]
    if not pairs or any(value not in (0.0, 1.0) for pair in pairs for value in pair[:2]):
        return {}
    both_wrong = np.array([one == other == 0.0 for one, other, _ in pairs], dtype=float)
    videos, share = [video for *_, video in pairs], float(both_wrong.mean())
    sums = intervals.cluster_sums(np.stack([both_wrong, np.ones(len(pairs))], axis=1), videos)
    draws = np.concatenate(list(intervals.resampled_sums(sums)))
    variance = intervals.standard_error(draws[:, 0] / draws[:, 1], len(sums)) ** 2
    excess = max(0.0, variance - share * (1 - share) / len(pairs))
    return {
        "discordant": sum(one != other for one, other, _ in pairs) / len(pairs),
        "room": share,
        "excess": excess,
    }


def assumed_pilot(metric: Metric, what: Assumed) -> Pilot:
    """Return the noise of a score that is the mean of right and wrong answers, where nothing else is known.

    With share p of the scale, an answer's variance is p (1 - p) of the scale's square: of a scale
    with steps that is the most it can be. A video's questions multiply the mean's by 1 + (questions
    - 1) icc (Kish 1965, Survey Sampling). InputError where the score is off the metric's scale.
    """
    low, high = bounds = metric.bounds
    if not low < what.score < high:
        raise InputError(
            f"--score: {what.score:g} is not strictly within the scale of {metric.name}, {low:g} to {high:g}"
        )
    share = (what.score - low) / (high - low)
    variance = (
        share * (1 - share) * (1 + (what.questions - 1) * what.icc) / (what.questions * what.videos)
    )
    return Pilot(
        (high - low) * math.sqrt(variance),
        what.videos,
        paired=False,
        value=what.score,
        bounds=bounds,
    )


def _pilot(metric: Metric, of: ratios.Resampled, *, paired: bool) -> Pilot:
    if of.value is None:
        raise InputError(f"{metric.name} has no value: judge the answers first")
    if of.draws is None:
        raise InputError(
            f"{metric.name}, or a part of it, is of one video; how far videos differ takes two or more"
        )
    error = intervals.standard_error(of.draws[~np.isnan(of.draws)], of.clusters)
    if not error:
        raise InputError(
            f"{metric.name} doesn't differ between the videos, which says nothing of how far it could"
        )
    return Pilot(error, of.clusters, paired=paired, value=of.value, bounds=metric.bounds)
