"""Bounds of a metric while some items are unscored: each at the scale's lowest, or its highest.

A run with a few unscored items is ranked by the lower bound, so that leaving an answer out never
pays. An item whose video was not there (`media_missing`) does not count: without it the run is of a
subset.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from reelbench.registry.reasons import EXCUSED, Reason
from reelbench.registry.records import MetricValue, Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, Macro, Mean, MeanOf, Metric
from reelbench.scoring import aggregation

MOST_UNSCORED = 0.02
"""Share of a run's items that may be unscored while it is ranked."""

End = Literal["lowest", "highest"]


class _ScaleEnds(NamedTuple):
    """The ends of a column's scale."""

    lowest: float
    highest: float


def is_left_out(sample: Sample) -> bool:
    """Return True where an item lacks a score that it could have.

    Its media were there, and its answer isn't hidden.
    """
    return sample.state == "unscored" and sample.reason not in EXCUSED


def is_few(unscored: int, items: int) -> bool:
    """Return True where a board ranks a run with so many unscored items.

    Args:
        unscored: Items that lack a score that they could have.
        items: The run's items.
    """
    return unscored <= MOST_UNSCORED * items


def few_left_out(samples: Sequence[Sample]) -> bool:
    """Return True where few items lack a score that they could have."""
    unscored = sum(map(is_left_out, samples))
    items = sum(sample.reason not in EXCUSED for sample in samples)
    return is_few(unscored, items)


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """A metric's bounds.

    Attributes:
        lower: The value, interval and items with every unscored item at the scale's lowest.
        upper: The same at its highest.
        items: Items that the metric is of, those without their video left out.
    """

    lower: MetricValue
    upper: MetricValue
    items: int

    @property
    def ci95(self) -> tuple[float, float] | None:
        """From the lower bound's low end to the upper bound's high end.

        None where one of them has no interval.
        """
        if self.lower.ci95 is None or self.upper.ci95 is None:
            return None
        return self.lower.ci95[0], self.upper.ci95[1]


def value_bounds(
    spec: BenchmarkSpec, metric: Metric, samples: Iterable[Sample]
) -> ValueBounds | None:
    """Return a metric's bounds. Both are its value where every item is scored.

    Returns:
        None for a metric of all answers at once (BLEU, CIDEr, METEOR), since no single answer has a
        lowest score there, and where no item has a score of the metric.
    """
    items = [sample for sample in samples if sample.reason != Reason.MEDIA_MISSING]
    columns = _scale_ends(spec, metric).keys()
    scored_columns = set[str]().union(*(sample.scores for sample in items))
    if not columns or not columns <= scored_columns:
        return None
    at_lowest = with_unscored_at("lowest", spec, metric, items)
    at_highest = with_unscored_at("highest", spec, metric, items)
    return ValueBounds(
        aggregation.metric_with_interval(spec, metric, at_lowest),
        aggregation.metric_with_interval(spec, metric, at_highest),
        len(items),
    )


def with_unscored_at(
    end: End, spec: BenchmarkSpec, metric: Metric, samples: Sequence[Sample]
) -> list[Sample]:
    """Return the samples with missing scores of a metric at one end of their scale."""
    scores_at_end = end_scores(end, spec, metric)
    filled: list[Sample] = []
    for sample in samples:
        if not scores_at_end.keys() <= sample.scores.keys():
            sample = sample.model_copy(update={"scores": scores_at_end | sample.scores})  # noqa: PLW2901
        filled.append(sample)
    return filled


def end_scores(end: End, spec: BenchmarkSpec, metric: Metric) -> dict[str, float]:
    """Return one end of the scale of each column that a metric is made of."""
    scores: dict[str, float] = {}
    for column, ends in _scale_ends(spec, metric).items():
        scores[column] = ends.lowest
        if end == "highest":
            scores[column] = ends.highest
    return scores


def _scale_ends(spec: BenchmarkSpec, metric: Metric) -> dict[str, _ScaleEnds]:
    """Return the scale of each column of a metric. None for one of a corpus."""
    how = metric.aggregate
    if isinstance(how, Corpus):
        return {}
    if isinstance(how, MeanOf):
        ends: dict[str, _ScaleEnds] = {}
        for part in how.metrics:
            ends |= _scale_ends(spec, spec.metric(part))
        return ends
    low, high = metric.bounds
    lowest = 0.0
    if isinstance(how, Mean | Macro):
        lowest = how.lowest
    return {how.column: _ScaleEnds(lowest + low / how.scale, lowest + high / how.scale)}
