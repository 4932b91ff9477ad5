"""What a metric can be at least and at most while some items are unscored: each at the scale's lowest, or its highest.

The lower bound is what a run with a few unscored items is ranked by, so that leaving an answer out
never pays. An item whose video was not there (`media_missing`) is no part of it: without it the run
is of a subset.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from reelbench.registry.reasons import EXCUSED, Reason
from reelbench.registry.records import MetricValue, Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, MeanOf, Metric
from reelbench.scoring import aggregation

MOST_UNSCORED = 0.02
"""Share of a run's items that may be unscored while it is ranked."""


def is_left_out(sample: Sample) -> bool:
    """Whether an item lacks a score that it could have: its media were here, and its answer isn't hidden."""
    return sample.state == "unscored" and sample.reason not in EXCUSED


def is_few(unscored: int, items: int) -> bool:
    """Whether so few of a run's items lack a score that they could have that a board ranks it, by its lower bound."""
    return unscored <= MOST_UNSCORED * items


def few_left_out(samples: Sequence[Sample]) -> bool:
    """Whether few items lack a score that they could have."""
    return is_few(
        sum(map(is_left_out, samples)), sum(sample.reason not in EXCUSED for sample in samples)
    )


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
        """From the low end of the lower bound's 95 % interval to the high end of the upper one's; None without them."""
        if self.lower.ci95 is None or self.upper.ci95 is None:
            return None
        return self.lower.ci95[0], self.upper.ci95[1]


def value_bounds(
    spec: BenchmarkSpec, metric: Metric, samples: Iterable[Sample]
) -> ValueBounds | None:
    """Return a metric's bounds; both are its value where every item is scored.

    Returns:
        None for a metric of all answers at once (BLEU, CIDEr, METEOR), since no single answer has a
        lowest score there, and where no item has a score of the metric.
    """
    items = [sample for sample in samples if sample.reason != Reason.MEDIA_MISSING]
    columns = _ends(spec, metric)
    if not columns or not all(any(name in sample.scores for sample in items) for name in columns):
        return None
    lower, upper = (
        aggregation.metric_with_interval(spec, metric, with_unscored_at(end, spec, metric, items))
        for end in ("lowest", "highest")
    )
    return ValueBounds(lower, upper, len(items))


def with_unscored_at(
    end: Literal["lowest", "highest"],
    spec: BenchmarkSpec,
    metric: Metric,
    samples: Sequence[Sample],
) -> list[Sample]:
    """Return the samples with the scores that a metric needs and an item lacks, at one end of their scale."""
    at = {name: ends[end == "highest"] for name, ends in _ends(spec, metric).items()}
    return [
        sample
        if at.keys() <= sample.scores.keys()
        else sample.model_copy(update={"scores": at | sample.scores})
        for sample in samples
    ]


def _ends(spec: BenchmarkSpec, metric: Metric) -> dict[str, tuple[float, float]]:
    """Return the columns that a metric is made of -> their lowest and highest score; none where it is of a corpus."""
    how = metric.aggregate
    if isinstance(how, Corpus):
        return {}
    if isinstance(how, MeanOf):
        return {
            name: ends
            for part in how.metrics
            for name, ends in _ends(spec, spec.metric(part)).items()
        }
    low, high = metric.bounds
    return {how.column: (low / how.scale, high / how.scale)}
