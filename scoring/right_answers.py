"""When an answer is right: by its score alone, from the `right_from` of its benchmark's main metric on.

Viewer, comparison, diagnosis and exports share this. A benchmark states `right_from` in `tasks/<name>/__init__.py`;
without one it is the top of the scale.
"""

from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation


def score_of(spec: BenchmarkSpec, sample: Sample) -> float | None:
    """Return the primary metric of one item, in its unit; None where it has no score."""
    return aggregation.metric_value(spec, spec.primary, [sample]) if sample.scores else None


def is_right(spec: BenchmarkSpec, score: float | None) -> bool | None:
    """Whether a score counts as a right answer; None where there is none."""
    return None if score is None else spec.primary.is_right(score)
