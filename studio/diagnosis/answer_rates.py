"""How many first answers were right, by the size of their evidence (CURVE, section 5.3) and by the skills they take."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from reelbench.stats.intervals import mean_over_clusters
from reelbench.studio.diagnosis.questions import ReasonedQuestion
from reelbench.studio.diagnosis.tagging import Attempt
from reelbench.studio.evidence.findings import LABELS, Label
from reelbench.studio.evidence.graphs import Graph

_NODES = ((1, 2), (3, 4), (5, 6), (7, 9), (10, None))
_DEPTHS = ((0, 0), (1, 1), (2, 2), (3, 4), (5, None))
_Bins = Sequence[tuple[int, int | None]]


def by_size(
    attempts: Iterable[Attempt], questions: Mapping[str, ReasonedQuestion], graphs: Mapping[str, Graph]
) -> dict[str, Any] | None:
    """Return the share of right answers by number of nodes and by depth (edges of the longest path).

    Returns:
        `nodes` and `depth`: bin (`3–4`) -> `n`, `right` (a share, 0 to 1) and `ci95` over videos. None unless all
        judged answers have a graph, the right ones too: those of lost questions alone have no share to tell.
    """
    judged = [attempt for attempt in attempts if attempt.right is not None]
    if not judged or not all(attempt.id in graphs and attempt.id in questions for attempt in judged):
        return None
    sizes: dict[str, tuple[_Bins, Callable[[Graph], int]]] = {
        "nodes": (_NODES, lambda graph: len(graph.nodes)),
        "depth": (_DEPTHS, lambda graph: max(graph.depths.values())),
    }
    rates: dict[str, Any] = {}
    for name, (bins, size) in sizes.items():
        groups: dict[str, list[Attempt]] = {_in_words(bounds): [] for bounds in bins}
        for attempt in judged:
            groups[_in_words(_bin(size(graphs[attempt.id]), bins))].append(attempt)
        rates[name] = {label: _rate(members, questions) for label, members in groups.items() if members}
    return rates


def by_skill(
    attempts: Iterable[Attempt], questions: Mapping[str, ReasonedQuestion], errors: Iterable[tuple[str, Label]]
) -> dict[str, Any]:
    """Return skill -> `n`, `right`, `ci95`, and `labels`: errors found in its questions, each over the questions.

    Args:
        attempts: First answers.
        questions: Of all of them; answers to others are left out.
        errors: (question, label) of each error.
    """
    asked: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        if attempt.right is not None and attempt.id in questions:
            for skill in questions[attempt.id].skills:
                asked.setdefault(skill, []).append(attempt)
    counts = Counter((skill, label) for question, label in errors for skill in questions[question].skills)
    return {
        skill: _rate(asked[skill], questions)
        | {"labels": {label: counts[skill, label] / len(asked[skill]) for label in LABELS}}
        for skill in sorted(asked)
    }


def _rate(attempts: Sequence[Attempt], questions: Mapping[str, ReasonedQuestion]) -> dict[str, Any]:
    right = np.array([float(attempt.right is True) for attempt in attempts])
    share = mean_over_clusters(right, [questions[attempt.id].cluster for attempt in attempts], bounds=(0, 1))
    return {"n": len(attempts), "right": share.value, "ci95": share.ci95}


def _bin(size: int, bins: _Bins) -> tuple[int, int | None]:
    return next((low, high) for low, high in bins if high is None or size <= high)


def _in_words(bounds: tuple[int, int | None]) -> str:
    low, high = bounds
    return f"{low} and more" if high is None else str(low) if low == high else f"{low}–{high}"
