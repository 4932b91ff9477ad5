"""Anchors: a few judged answers, fixed once, that a judge whose identity is in doubt is asked about again and again."""

import hashlib
from collections.abc import Sequence

from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.strata import Strata
from reelbench.scoring.aggregation import score_of


def draw(
    spec: BenchmarkSpec, samples: Sequence[Sample], number: int, per: Strata | None = None
) -> list[Sample]:
    """Return `number` of the scored samples at equal steps of their order by the primary metric, lowest first.

    So every part of the scale that the judge uses is there in its share. Equal scores stand in the
    order of the ids' sha256: the same samples give the same anchors. With `per` they are drawn so
    from each label of a field.
    """
    scored = [
        (score, hashlib.sha256(sample.id.encode("utf-8", "surrogatepass")).digest(), sample)
        for sample in samples
        if sample.state == "scored" and (score := score_of(spec, sample)) is not None
    ]
    scored.sort(key=lambda entry: entry[:2])
    in_order = [sample for *_, sample in scored]
    if per is None:
        return _at_equal_steps(in_order, number)
    groups = per.groups(spec.id, {sample.id: sample.facets for sample in in_order})
    drawn = {
        sample.id
        for names in map(frozenset, groups.values())
        for sample in _at_equal_steps(
            [sample for sample in in_order if sample.id in names], per.number
        )
    }
    return [sample for sample in in_order if sample.id in drawn]


def _at_equal_steps(samples: Sequence[Sample], number: int) -> list[Sample]:
    number = min(number, len(samples))
    return [samples[(2 * place + 1) * len(samples) // (2 * number)] for place in range(number)]
