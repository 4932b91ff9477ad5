"""Anchors: a few judged answers, fixed once, that are judged again and again.

They show whether a judge whose identity is in doubt still judges as before.
"""

import hashlib
from collections.abc import Sequence

from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.strata import Strata
from reelbench.scoring.aggregation import score_of


def draw(
    spec: BenchmarkSpec, samples: Sequence[Sample], number: int, per: Strata | None = None
) -> list[Sample]:
    """Return scored samples at equal steps of their order by the primary metric.

    The lowest comes first. So every part of the scale that the judge uses is there in its share.
    Equal scores stand in the order of the ids' sha256: the same samples give the same anchors.

    Args:
        spec: The benchmark.
        samples: The judged samples.
        number: How many are drawn.
        per: Where given, so many are drawn from each label of a field instead.
    """
    ordered = _in_order_of_score(spec, samples)
    if per is None:
        return _at_equal_steps(ordered, number)
    drawn_ids: set[str] = set()
    for names in per.groups(spec.id, {sample.id: sample.facets for sample in ordered}).values():
        group_ids = frozenset(names)
        group = [sample for sample in ordered if sample.id in group_ids]
        drawn_ids |= {sample.id for sample in _at_equal_steps(group, per.number)}
    return [sample for sample in ordered if sample.id in drawn_ids]


def _in_order_of_score(spec: BenchmarkSpec, samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples that have a score of the primary metric, lowest first."""
    entries: list[tuple[float, bytes, Sample]] = []
    for sample in samples:
        if sample.state != "scored":
            continue
        score = score_of(spec, sample)
        if score is not None:
            digest = hashlib.sha256(sample.id.encode("utf-8", "surrogatepass")).digest()
            entries.append((score, digest, sample))
    entries.sort(key=lambda entry: entry[:2])
    return [sample for _, _, sample in entries]


def _at_equal_steps(samples: Sequence[Sample], number: int) -> list[Sample]:
    number = min(number, len(samples))
    return [samples[(2 * place + 1) * len(samples) // (2 * number)] for place in range(number)]
