"""How a profile changes with the tagger: one result's rates under two tag files, label by label.

How far tags agree says little of what depends on them. Here the same answers are counted under each tag file: the rate
of every label, which labels are weak (CogME, on Figure 4), and whether labels keep their order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.registry.errors import InputError
from reelbench.registry.records import Sample
from reelbench.scoring.cognitive_profile import COMPONENTS, Tags, facets_of, is_weak
from reelbench.stats import intervals
from reelbench.stats.intervals import Estimate, mean_over_clusters
from reelbench.stats.rank_correlation import spearman

_FEWEST = 3  # labels that an order is worth speaking of


@dataclass(frozen=True, slots=True)
class LabelShift:
    """One label under both tag files.

    Attributes:
        n_a: Answers that a gave it.
        n_b: Answers that b gave it.
        a: Per cent right of those with a's label; undefined where a gave it to none.
        b: The same of b's.
        difference: a minus b, in points; its interval is paired over videos.
        weak_a: Whether a's tags make it a weak label; None where its rate is undefined.
        weak_b: The same of b's.
    """

    n_a: int
    n_b: int
    a: Estimate
    b: Estimate
    difference: Estimate
    weak_a: bool | None
    weak_b: bool | None


@dataclass(frozen=True, slots=True)
class ProfileDifference:
    """What taking b's tags in the place of a's does to a result's profile; `dataclasses.asdict` gives it as JSON.

    Attributes:
        answers: Answers that are right or wrong, and tagged in both files: all figures are about them.
        labels: `component.Label` -> the label under both, of labels that either gave.
        mean_absolute: Mean of the absolute differences, in points; None where no label has one.
        largest: The label whose rate differs most; None likewise.
        spearman: Rank correlation of the labels' rates under a and b; None under three labels or without spread.
        weak_a: Labels that are weak by a's tags.
        weak_b: Labels that are weak by b's tags.
    """

    answers: int
    labels: dict[str, LabelShift]
    mean_absolute: float | None
    largest: str | None
    spearman: float | None
    weak_a: list[str]
    weak_b: list[str]


def profile_difference(samples: Sequence[Sample], a: Mapping[str, Tags], b: Mapping[str, Tags]) -> ProfileDifference:
    """Count one result under two tag files; InputError where no answer is right or wrong and tagged in both."""
    known = [sample for sample in samples if "correct" in sample.scores and sample.id in a and sample.id in b]
    if not known:
        raise InputError(
            "no answer of the result is right or wrong and tagged in both files; is it of these questions?"
        )
    right = np.array([100 * sample.scores["correct"] for sample in known])
    videos = np.array([sample.video for sample in known], dtype=object)
    facets = [(facets_of(a[sample.id]), facets_of(b[sample.id])) for sample in known]
    labels: dict[str, LabelShift] = {}
    for component, names in COMPONENTS.items():
        for name in names:
            has = np.array([[name in tags[component] for tags in both] for both in facets])
            if has.any():
                nothing = Estimate(None, None)
                rate_a, rate_b = (
                    mean_over_clusters(right[given], list(videos[given]), bounds=(0, 100)) if given.any() else nothing
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
                counts = [int(n) for n in has.sum(axis=0)]
                weak_a, weak_b = (
                    None if rate.value is None else is_weak(100 * n / len(right), rate.value)
                    for rate, n in zip((rate_a, rate_b), counts, strict=True)
                )
                labels[f"{component}.{name}"] = LabelShift(
                    counts[0], counts[1], rate_a, rate_b, difference, weak_a, weak_b
                )
    shifts = {name: abs(moved) for name, shift in labels.items() if (moved := shift.difference.value) is not None}
    of_both = [labels[name] for name in shifts]
    rates = ([shift.a.value or 0.0 for shift in of_both], [shift.b.value or 0.0 for shift in of_both])
    return ProfileDifference(
        answers=len(known),
        labels=labels,
        mean_absolute=float(np.mean(list(shifts.values()))) if shifts else None,
        largest=max(shifts, key=lambda name: shifts[name]) if shifts else None,
        spearman=spearman(*rates) if len(of_both) >= _FEWEST else None,
        weak_a=[name for name, shift in labels.items() if shift.weak_a],
        weak_b=[name for name, shift in labels.items() if shift.weak_b],
    )
