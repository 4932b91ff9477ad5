"""Two diagnoses held against each other: two taggers of the same answers, or two models (CURVE, supplement, D.3)."""

from typing import Any

import numpy as np

from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.intervals import cluster_sums, difference_of_means
from reelbench.studio.diagnosis.folder import Folder
from reelbench.studio.diagnosis.report import PERCEPTION
from reelbench.studio.evidence.findings import LABELS
from reelbench.studio.evidence.isolation import NodeTag, Round


def agreement(first: Folder, second: Folder, number: int | None = None) -> dict[str, Any]:
    """Return how far two diagnoses say the same of nodes of the same graphs, in the questions that both lost.

    Args:
        first: One of them.
        second: The other.
        number: Take what this round found alone; None: all rounds.

    Returns:
        `nodes` that both evaluated, the share on which both have the same status and label (`same`), and Cohen's
        `kappa` (None where it is undefined).
    """
    lost, shared = _both_lost(first, second)
    graphs = [first.graphs, second.graphs]
    kinds: dict[tuple[str, str | None], int] = {}
    pairs: list[tuple[float, float]] = []
    for key in shared:
        if graphs[0].get(key) != graphs[1].get(key):
            continue
        for node, tag in lost[0][key].nodes.items():
            both = (tag, lost[1][key].nodes[node])
            if all(_counts(each, number) for each in both):
                codes = [kinds.setdefault((each.status, each.label), len(kinds)) for each in both]
                pairs.append((codes[0], codes[1]))
    return {
        "nodes": len(pairs),
        "same": sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        "kappa": cohen_kappa([a for a, _ in pairs], [b for _, b in pairs]) if pairs else None,
    }


def differences(first: Folder, second: Folder, number: int | None = None) -> dict[str, Any]:
    """Return how the shares of errors differ in the questions that both lost; arguments as of `agreement`.

    Returns:
        `questions` that both lost, and `shares`: label, and `perception` -> its share of `a`'s errors in them and of
        `b`'s, their `difference` (a minus b) and its `ci95`, paired over videos; None where either has no error.
    """
    lost, shared = _both_lost(first, second)
    clusters = {question.id: question.cluster for question in first.questions}
    errors = [
        {key: [tag.label for tag in ends[key].nodes.values() if tag.label and _counts(tag, number)] for key in shared}
        for ends in lost
    ]
    if not all(any(found.values()) for found in errors):
        return {"questions": len(shared), "shares": None}
    shares: dict[str, Any] = {}
    for name, labels in {**{label: {label} for label in LABELS}, "perception": PERCEPTION}.items():
        columns = [
            [float(count) for found in errors for count in (sum(e in labels for e in found[key]), len(found[key]))]
            for key in shared
        ]
        sums = cluster_sums(np.array(columns), [clusters.get(key, key) for key in shared])
        a, b, ci95, _ = difference_of_means(sums, (0, 1))
        shares[name] = {"a": a, "b": b, "difference": a - b, "ci95": ci95}
    return {"questions": len(shared), "shares": shares}


def _both_lost(first: Folder, second: Folder) -> tuple[list[dict[str, Round]], list[str]]:
    lost = [_lost(folder) for folder in (first, second)]
    return lost, sorted(lost[0].keys() & lost[1].keys())


def _lost(folder: Folder) -> dict[str, Round]:
    """Return the last round of each question that was not right at first."""
    right = {key for key, attempt in folder.answers(1).items() if attempt.right is True}
    return {record.id: record for record in folder.rounds() if record.id not in right}


def _counts(tag: NodeTag, number: int | None) -> bool:
    return tag.settled is not None and number in (None, tag.settled)
