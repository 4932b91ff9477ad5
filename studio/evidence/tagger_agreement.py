"""How far a tagger of evidence graphs agrees with people, and whether it finds where a model first went wrong.

The second is ProcessBench's measure (Zheng et al. 2024, arXiv 2412.06559): of questions with an error the share in
which the first one is found, of questions without one the share in which none is seen, and their harmonic mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, harmonic_mean

import numpy as np

from reelbench.registry.errors import InputError
from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.intervals import Estimate, mean_over_clusters
from reelbench.studio.evidence.findings import LABELS
from reelbench.studio.evidence.graphs import Graph

RIGHT, DIVERGENT = "right", "divergent"
CODES = (RIGHT, *LABELS, DIVERGENT)
"""What is said of a node that is evaluated: right, an error's label, or that the model took another path."""

Node = tuple[str, str]
"""Question id and node id."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An attempt, and what a tagger said of the nodes that it settled on it.

    Attributes:
        question: The question's id.
        video: Its video.
        language: Its language.
        texts: `question`, `answer` and `notes` (a person's steps).
        round: From 1.
        cue: What the model was told, or "".
        output: What the model wrote.
        graph: The question's evidence.
        labels: Node id -> one of `CODES`, in topological order.
    """

    question: str
    video: str
    language: str
    texts: Mapping[str, str]
    round: int
    cue: str
    output: str
    graph: Graph
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FirstErrors:
    """ProcessBench's measure, as fractions; None where there is no such question.

    Attributes:
        erroneous: Questions in which people see an error.
        found: Share of them in which the tagger's first error is people's first one.
        correct: Questions in which people see none.
        cleared: Share of them in which the tagger sees none.
        f1: Harmonic mean of `found` and `cleared`.
    """

    erroneous: int
    found: float | None
    correct: int
    cleared: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class TaggerAgreement:
    """A tagger beside people; `dataclasses.asdict` gives it as JSON.

    Attributes:
        nodes: Nodes that both judged.
        same: Share on which they say the same, with an interval over videos.
        kappa: Cohen's, over `CODES`; None where it is undefined.
        labels: Code -> how often people and the tagger gave it, and both.
        first_errors: Of the questions of which people judged every node.
    """

    nodes: int
    same: Estimate
    kappa: float | None
    labels: dict[str, dict[str, int]]
    first_errors: FirstErrors


def tagger_agreement(judged: Sequence[Judged], people: Mapping[Node, str]) -> TaggerAgreement:
    """Hold a tagger against people.

    Args:
        judged: What the tagger said.
        people: What people say of nodes, as far as they do.

    Raises:
        InputError: There is no node that both judged.
    """
    triples = [
        (one.video or one.question, code, people[one.question, node])
        for one in judged
        for node, code in one.labels.items()
        if (one.question, node) in people
    ]
    if not triples:
        raise InputError("people judged none of the nodes that this tagger did: are these pages of this diagnosis?")
    videos = [video for video, _, _ in triples]
    equal = np.array([float(tagger == person) for _, tagger, person in triples])
    first, second = ([float(CODES.index(triple[place])) for triple in triples] for place in (1, 2))
    return TaggerAgreement(
        nodes=len(triples),
        same=mean_over_clusters(equal, videos, bounds=(0, 1)),
        kappa=cohen_kappa(first, second),
        labels={
            code: {
                "people": sum(person == code for _, _, person in triples),
                "tagger": sum(tagger == code for _, tagger, _ in triples),
                "both": sum(tagger == code == person for _, tagger, person in triples),
            }
            for code in CODES
        },
        first_errors=_first_errors(judged, people),
    )


def _first_errors(judged: Sequence[Judged], people: Mapping[Node, str]) -> FirstErrors:
    graphs = {one.question: one.graph for one in judged}
    tagger: dict[str, dict[str, str]] = {}
    for one in judged:
        tagger.setdefault(one.question, {}).update(one.labels)
    found: list[float] = []
    cleared: list[float] = []
    for question, labels in tagger.items():
        said = {node: people[question, node] for node in labels if (question, node) in people}
        if len(said) < len(labels):
            continue
        truth, guess = (_first_error(graphs[question], codes) for codes in (said, labels))
        (found if truth is not None else cleared).append(float(guess == truth))
    shares = [fmean(known) if known else None for known in (found, cleared)]
    known = [share for share in shares if share is not None]
    f1 = harmonic_mean(known) if len(known) == len(shares) else None
    return FirstErrors(len(found), shares[0], len(cleared), shares[1], f1)


def _first_error(graph: Graph, codes: Mapping[str, str]) -> str | None:
    return next((node for node in graph.order if codes.get(node, RIGHT) not in (RIGHT, DIVERGENT)), None)
