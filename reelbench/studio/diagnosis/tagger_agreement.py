"""The agreement of a tagger of evidence graphs with people, and its finding of first errors.

The second is ProcessBench's measure (Zheng et al. 2024, arXiv 2412.06559): of questions with an
error the share in which the first one is found, of questions without one the share in which none is
seen, and their harmonic mean.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, harmonic_mean
from typing import NamedTuple

import numpy as np

from reelbench.base.errors import InputError
from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.intervals import Estimate, mean_over_clusters
from reelbench.studio.diagnosis.folder import Step
from reelbench.studio.evidence.findings import LABELS

RIGHT = "right"
DIVERGENT = "divergent"
CODES = (RIGHT, *LABELS, DIVERGENT)
"""The codes of a node that is evaluated: right, an error's label, or on another path."""

Node = tuple[str, str]
"""Question id and node id."""


@dataclass(frozen=True, slots=True)
class FirstErrors:
    """ProcessBench's measure, as fractions.

    None where there is no such question.
    """

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
    """A tagger beside people, on `nodes` that both judged.

    `dataclasses.asdict` gives it as JSON. `same` is the share on which they agree, with an interval
    over videos, `kappa` Cohen's over `CODES`. `labels`: code -> how often `people` gave it, the
    `tagger`, and `both`. `first_errors` are of questions judged wholly by people.
    """

    nodes: int
    same: Estimate
    kappa: float | None
    labels: dict[str, dict[str, int]]
    first_errors: FirstErrors


class _JudgedNode(NamedTuple):
    """A node that both judged: its video, and both codes."""

    video: str
    tagger: str
    people: str


def tagger_agreement(judged: Sequence[Step], people: Mapping[Node, str]) -> TaggerAgreement:
    """Compare a tagger with people, on the nodes that people judged.

    Raises:
        InputError: No node is judged by both.
    """
    tagger_codes: dict[str, dict[str, str]] = {}
    steps: dict[str, Step] = {}
    for step in judged:
        codes = {key: tag.label or tag.status for key, tag in step.settled_tags.items()}
        tagger_codes.setdefault(step.question.id, {}).update(codes)
        steps[step.question.id] = step
    nodes: list[_JudgedNode] = []
    for question, codes in tagger_codes.items():
        video = steps[question].question.cluster
        for node, code in codes.items():
            if (question, node) in people:
                nodes.append(_JudgedNode(video, code, people[question, node]))
    if not nodes:
        raise InputError(
            "people judged none of the nodes that this tagger tagged: are these pages from this "
            "diagnosis?"
        )
    agreeing = np.array([node.tagger == node.people for node in nodes], dtype=float)
    videos = [node.video for node in nodes]
    tagger_numbers = [CODES.index(node.tagger) for node in nodes]
    people_numbers = [CODES.index(node.people) for node in nodes]
    return TaggerAgreement(
        nodes=len(nodes),
        same=mean_over_clusters(agreeing, videos, bounds=(0, 1)),
        kappa=cohen_kappa(tagger_numbers, people_numbers),
        labels=_code_counts(nodes),
        first_errors=_first_errors(steps, tagger_codes, people),
    )


def _code_counts(nodes: Iterable[_JudgedNode]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for code in CODES:
        counts[code] = {"people": 0, "tagger": 0, "both": 0}
    for node in nodes:
        counts[node.people]["people"] += 1
        counts[node.tagger]["tagger"] += 1
        if node.tagger == node.people:
            counts[node.tagger]["both"] += 1
    return counts


def _first_errors(
    steps: Mapping[str, Step],
    tagger_codes: Mapping[str, Mapping[str, str]],
    people: Mapping[Node, str],
) -> FirstErrors:
    """Compare the first errors, in the questions whose nodes people judged all."""
    hits_with_error: list[bool] = []
    hits_without_error: list[bool] = []
    for question, codes in tagger_codes.items():
        people_codes: dict[str, str] = {}
        for node in codes:
            if (question, node) in people:
                people_codes[node] = people[question, node]
        if len(people_codes) < len(codes):
            continue
        order = steps[question].graph.order
        people_error = _first_error(order, people_codes)
        is_hit = _first_error(order, codes) == people_error
        if people_error is None:
            hits_without_error.append(is_hit)
        else:
            hits_with_error.append(is_hit)
    found_share = fmean(hits_with_error) if hits_with_error else None
    cleared_share = fmean(hits_without_error) if hits_without_error else None
    f1 = None
    if found_share is not None and cleared_share is not None:
        f1 = harmonic_mean([found_share, cleared_share])
    return FirstErrors(
        len(hits_with_error), found_share, len(hits_without_error), cleared_share, f1
    )


def _first_error(order: Iterable[str], codes: Mapping[str, str]) -> str | None:
    for node in order:
        if codes.get(node) in LABELS:
            return node
    return None
