"""How far a tagger of evidence graphs agrees with people, and whether it finds where a model first went wrong.

The second is ProcessBench's measure (Zheng et al. 2024, arXiv 2412.06559): of questions with an
error the share in which the first one is found, of questions without one the share in which none is
seen, and their harmonic mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, harmonic_mean

import numpy as np

from reelbench.base.errors import InputError
from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.intervals import Estimate, mean_over_clusters
from reelbench.studio.diagnosis.folder import Step
from reelbench.studio.evidence.findings import LABELS

RIGHT, DIVERGENT = "right", "divergent"
CODES = (RIGHT, *LABELS, DIVERGENT)
"""What is said of a node that is evaluated: right, an error's label, or that the model took another path."""

Node = tuple[str, str]
"""Question id and node id."""


@dataclass(frozen=True, slots=True)
class FirstErrors:
    """ProcessBench's measure, as fractions; None where there is no such question."""

    erroneous: int
    """Questions in which people see an error."""
    found: float | None
    """Share of them in which the tagger's first error is people's first one."""
    correct: int
    """Questions in which people see none."""
    cleared: float | None
    """Share of them in which the tagger sees none."""
    f1: float | None
    """Harmonic mean of `found` and `cleared`."""


@dataclass(frozen=True, slots=True)
class TaggerAgreement:
    """A tagger beside people, on `nodes` that both judged; `dataclasses.asdict` gives it as JSON.

    `same` is the share on which they say the same, with an interval over videos, `kappa` Cohen's
    over `CODES`; `labels` says how often people and the tagger gave a code, and both.
    `first_errors` are of questions judged wholly by people.
    """

    nodes: int
    same: Estimate
    kappa: float | None
    labels: dict[str, dict[str, int]]
    first_errors: FirstErrors


def tagger_agreement(judged: Sequence[Step], people: Mapping[Node, str]) -> TaggerAgreement:
    """Hold a tagger against what people say of nodes, as far as they do; InputError where no node is judged by both."""
    tagger: dict[str, dict[str, str]] = {}
    for step in judged:
        codes = {key: tag.label or tag.status for key, tag in step.settled_tags.items()}
        tagger.setdefault(step.question.id, {}).update(codes)
    steps = {step.question.id: step for step in judged}
    triples = [
        (steps[question].question.cluster, code, people[question, node])
        for question, labels in tagger.items()
        for node, code in labels.items()
        if (question, node) in people
    ]
    if not triples:
        raise InputError(
            "people judged none of the nodes that this tagger did: are these pages of this diagnosis?"
        )
    videos, first, second = zip(*triples, strict=True)
    equal = np.array([float(tagger == person) for _, tagger, person in triples])
    found: list[float] = []
    cleared: list[float] = []
    for question, labels in tagger.items():
        said = {node: people[question, node] for node in labels if (question, node) in people}
        if len(said) == len(labels):
            truth, guess = (
                next(
                    (
                        node
                        for node in steps[question].graph.order
                        if given.get(node, RIGHT) in LABELS
                    ),
                    None,
                )
                for given in (said, labels)
            )
            (found if truth is not None else cleared).append(float(guess == truth))
    share, clear = (fmean(known) if known else None for known in (found, cleared))
    f1 = None if share is None or clear is None else harmonic_mean([share, clear])
    return TaggerAgreement(
        nodes=len(triples),
        same=mean_over_clusters(equal, videos, bounds=(0, 1)),
        kappa=cohen_kappa(
            [CODES.index(code) for code in first], [CODES.index(code) for code in second]
        ),
        labels={
            code: {
                "people": sum(person == code for _, _, person in triples),
                "tagger": sum(tagger == code for _, tagger, _ in triples),
                "both": sum(tagger == code == person for _, tagger, person in triples),
            }
            for code in CODES
        },
        first_errors=FirstErrors(len(found), share, len(cleared), clear, f1),
    )
