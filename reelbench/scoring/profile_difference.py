"""How a profile changes with the tagger: one result's rates under two tag files, label by label.

How far tags agree says little of what depends on them. Here the same answers are counted under each
tag file: the rate of every label, which labels are weak (CogME, on Figure 4), and whether labels
keep their order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import InputError
from reelbench.registry.records import Sample
from reelbench.scoring.cognitive_profile import COMPONENTS, Tags, is_weak
from reelbench.stats import intervals
from reelbench.stats.agreement import Array
from reelbench.stats.intervals import Estimate, mean_over_clusters
from reelbench.stats.rank_correlation import spearman

_FEWEST = 3  # labels that an order is worth speaking of


def profile_difference(
    samples: Sequence[Sample], a: Mapping[str, Tags], b: Mapping[str, Tags]
) -> dict[str, Any]:
    """Count one result under two tag files; the outcome is JSON.

    Returns:
        `answers` that are right or wrong, and tagged in both files: all figures are about them.
        `labels`, `component.Label` -> the answers that a and b gave it, the per cent right of
        these, `difference` (a minus b, in points, its interval paired over videos), and whether it
        is weak by either; None where undefined. Of these labels `mean_absolute` difference, the
        `largest` one's name, `spearman` (the rank correlation of their rates; None under three
        labels or without spread), and the names of the weak ones.

    Raises:
        InputError: No answer is right or wrong and tagged in both.
    """
    known = [
        sample
        for sample in samples
        if "correct" in sample.scores and sample.id in a and sample.id in b
    ]
    if not known:
        raise InputError(
            "no answer of the result is right or wrong and tagged in both files; is it of these questions?"
        )
    right = np.array([100 * sample.scores["correct"] for sample in known])
    videos = np.array([sample.video for sample in known], dtype=object)
    facets = [(a[sample.id].facets, b[sample.id].facets) for sample in known]
    labels: dict[str, dict[str, Any]] = {}
    for component, names in COMPONENTS.items():
        for name in names:
            has = np.array([[name in tags[component] for tags in both] for both in facets])
            if has.any():
                labels[f"{component}.{name}"] = _shift(right, videos, has)
    shifts = {
        name: abs(shift["difference"]["value"])
        for name, shift in labels.items()
        if shift["difference"]["value"] is not None
    }
    rates = ([labels[name][side]["value"] for name in shifts] for side in "ab")
    return {
        "answers": len(known),
        "labels": labels,
        "mean_absolute": float(np.mean(list(shifts.values()))) if shifts else None,
        "largest": max(shifts, key=lambda name: shifts[name]) if shifts else None,
        "spearman": spearman(*rates) if len(shifts) >= _FEWEST else None,
        "weak_a": [name for name, shift in labels.items() if shift["weak_a"]],
        "weak_b": [name for name, shift in labels.items() if shift["weak_b"]],
    }


def _shift(right: Array, videos: NDArray[np.object_], has: NDArray[np.bool_]) -> dict[str, Any]:
    """Return one label under both files; `has` is of each answer whether a and b gave it (answers x 2)."""
    nothing = Estimate(None, None)
    a, b = (
        mean_over_clusters(right[given], list(videos[given]), bounds=(0, 100))
        if given.any()
        else nothing
        for given in has.T
    )
    difference = nothing
    if has.any(axis=0).all():
        either = has.any(axis=1)
        of_a, of_b = has.astype(np.float64).T
        columns = np.stack([right * of_a, of_a, right * of_b, of_b], axis=1)[either]
        mean_a, mean_b, test = intervals.difference_of_means(
            intervals.cluster_sums(columns, list(videos[either]))
        )
        difference = Estimate(mean_a - mean_b, test and test.interval())
    n_a, n_b = (int(n) for n in has.sum(axis=0))
    weak_a, weak_b = (
        None if rate.value is None else is_weak(100 * n / len(right), rate.value)
        for rate, n in ((a, n_a), (b, n_b))
    )
    figures = {"a": asdict(a), "b": asdict(b), "difference": asdict(difference)}
    return {"n_a": n_a, "n_b": n_b, **figures, "weak_a": weak_a, "weak_b": weak_b}
