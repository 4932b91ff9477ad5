"""Anchors: a few judged answers, fixed once, that a judge whose identity is in doubt is asked about again and again."""

import hashlib
from collections.abc import Sequence

from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.side_by_side import score_of


def draw(spec: BenchmarkSpec, samples: Sequence[Sample], number: int) -> list[Sample]:
    """Return `number` of the scored samples at equal steps of their order by the primary metric, lowest first.

    So every part of the scale that the judge uses is there in its share. Equal scores stand in the order of the ids'
    sha256: the same samples give the same anchors.
    """
    scored = [
        (score, hashlib.sha256(sample.id.encode("utf-8", "surrogatepass")).digest(), sample)
        for sample in samples
        if sample.state == "scored" and (score := score_of(spec, sample)) is not None
    ]
    scored.sort(key=lambda entry: entry[:2])
    number = min(number, len(scored))
    return [scored[(2 * place + 1) * len(scored) // (2 * number)][2] for place in range(number)]
