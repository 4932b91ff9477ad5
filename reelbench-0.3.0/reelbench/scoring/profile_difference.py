"""The change of a profile with the tagger: one result's rates under two tag files, label by label.

The agreement of tags says little of what depends on them. Here the same answers are counted under
each tag file: the rate of every label, which labels are weak (CogME, on Figure 4), and whether
labels keep their order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import InputError
from reelbench.registry.records import Sample
from reelbench.scoring.cognitive_profile import COMPONENTS, Tags, is_weak
from reelbench.stats import intervals, paired
from reelbench.stats.intervals import Array, Estimate, mean_over_clusters
from reelbench.stats.rank_correlation import spearman

_FEWEST = 3  # labels that an order is worth speaking of
_UNDEFINED = Estimate(None, None)


@dataclass(frozen=True, slots=True)
class _LabelRates:
    """One label under both tag files.

    Attributes:
        n_a: Answers with the label by a.
        n_b: Answers with the label by b.
        a: The per cent right of the former.
        b: The per cent right of the latter.
        difference: a minus b, in points.
        weak_a: True where the label is weak by a. None where its rate is undefined.
        weak_b: The same by b.
    """

    n_a: int
    n_b: int
    a: Estimate
    b: Estimate
    difference: Estimate
    weak_a: bool | None
    weak_b: bool | None


def profile_difference(
    samples: Sequence[Sample], a: Mapping[str, Tags], b: Mapping[str, Tags]
) -> dict[str, Any]:
    """Count one result under two tag files. The outcome is JSON.

    Returns:
        `answers` that are right or wrong, and tagged in both files: all figures are about them.
        `labels`, `component.Label` -> the answers that a and b gave it, the per cent right of
        these, `difference` (a minus b, in points, its interval paired over videos), and whether it
        is weak by either. None where undefined. Of these labels `mean_absolute` difference, the
        `largest` one's name, `spearman` (the rank correlation of their rates; None under three
        labels or without spread), and the names of the weak ones.

    Raises:
        InputError: No answer is right or wrong and tagged in both.
    """
    tagged_ids = a.keys() & b.keys()
    answered = [sample for sample in samples if "correct" in sample.scores]
    tagged = [sample for sample in answered if sample.id in tagged_ids]
    if not tagged:
        raise InputError(
            "no answer of the result is right or wrong and tagged in both files; "
            "is it of these questions?"
        )
    percent_right = np.array([100 * sample.scores["correct"] for sample in tagged])
    videos = np.array([sample.video for sample in tagged], dtype=object)
    facets_a = [a[sample.id].facets for sample in tagged]
    facets_b = [b[sample.id].facets for sample in tagged]
    labels: dict[str, _LabelRates] = {}
    for component, names in COMPONENTS.items():
        for name in names:
            has_a = np.array([name in facets[component] for facets in facets_a])
            has_b = np.array([name in facets[component] for facets in facets_b])
            if has_a.any() or has_b.any():
                labels[f"{component}.{name}"] = _label_rates(percent_right, videos, has_a, has_b)
    return {
        "answers": len(tagged),
        "labels": {name: asdict(rates) for name, rates in labels.items()},
        **_summary(labels),
        "weak_a": [name for name, rates in labels.items() if rates.weak_a],
        "weak_b": [name for name, rates in labels.items() if rates.weak_b],
    }


def _summary(labels: Mapping[str, _LabelRates]) -> dict[str, Any]:
    """Return `mean_absolute`, `largest` and `spearman`, of labels with a difference."""
    differences: dict[str, float] = {}
    rates_a: list[float] = []
    rates_b: list[float] = []
    for name, rates in labels.items():
        rate_a = rates.a.value
        rate_b = rates.b.value
        if rates.difference.value is None or rate_a is None or rate_b is None:
            continue
        differences[name] = abs(rates.difference.value)
        rates_a.append(rate_a)
        rates_b.append(rate_b)
    if not differences:
        return {"mean_absolute": None, "largest": None, "spearman": None}
    correlation = None
    if len(differences) >= _FEWEST:
        correlation = spearman(rates_a, rates_b)
    return {
        "mean_absolute": float(np.mean(list(differences.values()))),
        "largest": max(differences, key=differences.__getitem__),
        "spearman": correlation,
    }


def _label_rates(
    percent_right: Array,
    videos: NDArray[np.object_],
    has_a: NDArray[np.bool_],
    has_b: NDArray[np.bool_],
) -> _LabelRates:
    """Return one label under both files.

    Args:
        percent_right: 0 or 100 of each answer.
        videos: Each answer's video.
        has_a: Each answer's label by a, there or not.
        has_b: The same by b.
    """
    rate_a = _rate(percent_right, videos, has_a)
    rate_b = _rate(percent_right, videos, has_b)
    n_a = int(has_a.sum())
    n_b = int(has_b.sum())
    return _LabelRates(
        n_a,
        n_b,
        rate_a,
        rate_b,
        _difference(percent_right, videos, has_a, has_b),
        _is_weak(rate_a, n_a, len(percent_right)),
        _is_weak(rate_b, n_b, len(percent_right)),
    )


def _rate(percent_right: Array, videos: NDArray[np.object_], has: NDArray[np.bool_]) -> Estimate:
    """Return the per cent right of the answers with a label."""
    if not has.any():
        return _UNDEFINED
    return mean_over_clusters(percent_right[has], list(videos[has]), bounds=(0, 100))


def _difference(
    percent_right: Array,
    videos: NDArray[np.object_],
    has_a: NDArray[np.bool_],
    has_b: NDArray[np.bool_],
) -> Estimate:
    """Return the rate by a minus that by b, paired over videos."""
    if not has_a.any() or not has_b.any():
        return _UNDEFINED
    either = has_a | has_b
    count_a = has_a.astype(np.float64)
    count_b = has_b.astype(np.float64)
    columns = [percent_right * count_a, count_a, percent_right * count_b, count_b]
    sums = intervals.cluster_sums(np.stack(columns, axis=1)[either], list(videos[either]))
    mean_a, mean_b, test = paired.difference_of_means(sums, bounds=(0, 100))
    ci95 = None
    if test is not None:
        ci95 = test.interval()
    return Estimate(mean_a - mean_b, ci95)


def _is_weak(rate: Estimate, n: int, answers: int) -> bool | None:
    if rate.value is None:
        return None
    return is_weak(100 * n / answers, rate.value)
