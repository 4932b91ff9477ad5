"""The noise of a benchmark's score, for power analysis: from one result, from two, or assumed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reelbench.registry.errors import InputError
from reelbench.registry.metrics import Mean
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec, Metric
from reelbench.scoring import aggregation, comparison
from reelbench.stats import intervals
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

    Raises:
        InputError: It has no value, is (or a part of it) of one video, or is the same on all.
    """
    metric = spec.primary
    return _pilot(metric, aggregation.resampled(spec, metric, samples), paired=False)


def of_two(spec: BenchmarkSpec, a: Sequence[Sample], b: Sequence[Sample]) -> Pilot:
    """Return the noise of two models' difference in the primary metric, on what both answered.

    Raises:
        InputError: They have no item in common, no value on two videos, or differ equally on all.
    """
    metric = spec.primary
    both = comparison.on_both(a, b)
    by_a, by_b = (aggregation.resampled(spec, metric, samples) for samples in both)
    draws = None if by_a.draws is None or by_b.draws is None else by_a.draws - by_b.draws
    value = None if by_a.value is None or by_b.value is None else by_a.value - by_b.value
    pilot = _pilot(metric, aggregation.Resampled(value, draws, by_a.n, by_a.videos), paired=True)
    return replace(pilot, discordant=_discordant(metric, *both), measured=True)


def _discordant(metric: Metric, a: Sequence[Sample], b: Sequence[Sample]) -> float | None:
    """Return the share of questions that one model alone has right; None where answers are not right or wrong."""
    if not isinstance(metric.aggregate, Mean):
        return None
    right = [{sample.id: sample.scores.get(metric.aggregate.column) for sample in side} for side in (a, b)]
    pairs = [(right[0][key], right[1][key]) for key in right[0].keys() & right[1].keys()]
    scored = [(one, other) for one, other in pairs if one is not None and other is not None]
    if not scored or any(value not in (0.0, 1.0) for pair in scored for value in pair):
        return None
    return sum(one != other for one, other in scored) / len(scored)


def assumed(metric: Metric, what: Assumed) -> Pilot:
    """Return the noise of a score that is the mean of right and wrong answers, where nothing else is known.

    With share p of the scale, an answer's variance is p (1 - p) of the scale's square: of a scale with steps that is
    the most it can be. A video's questions multiply the mean's by 1 + (questions - 1) icc (Kish 1965, Survey Sampling).

    Raises:
        InputError: The score is off the metric's scale.
    """
    low, high = bounds = (metric.low, metric.high)
    if not low < what.score < high:
        raise InputError(
            f"--score: {what.score:g} is not strictly within the scale of {metric.name}, {low:g} to {high:g}"
        )
    share = (what.score - low) / (high - low)
    variance = share * (1 - share) * (1 + (what.questions - 1) * what.icc) / (what.questions * what.videos)
    return Pilot((high - low) * math.sqrt(variance), what.videos, paired=False, value=what.score, bounds=bounds)


def _pilot(metric: Metric, of: aggregation.Resampled, *, paired: bool) -> Pilot:
    if of.value is None:
        raise InputError(f"{metric.name} has no value: judge the answers first")
    if of.draws is None:
        raise InputError(f"{metric.name}, or a part of it, is of one video; how far videos differ takes two or more")
    error = intervals.standard_error(of.draws[~np.isnan(of.draws)], of.videos)
    if not error:
        raise InputError(f"{metric.name} doesn't differ between the videos, which says nothing of how far it could")
    return Pilot(error, of.videos, paired=paired, value=of.value, bounds=(metric.low, metric.high))
