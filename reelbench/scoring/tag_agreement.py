"""Agreement of two taggers on CogME's labels: of people, or of a language model with people.

Each of the 19 labels is there or not (exact, kappa, F1, Gwet's AC1). TARGET and CONTENT are sets
(equal, Jaccard, Krippendorff's alpha with the MASI distance). THINKING is a scale of three steps
(kappa, plain and quadratic, ordinal alpha). All figures are fractions, 1 is full agreement.
Intervals are a bootstrap over videos.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from reelbench.base.errors import InputError
from reelbench.scoring.cognitive_profile import COMPONENTS, THINKING, Tags
from reelbench.stats.agreement import (
    RatioSums,
    Statistic,
    Weights,
    kappa_terms,
    kappas_of_sums,
)
from reelbench.stats.alternative_annotator import EPSILON, annotator_test
from reelbench.stats.intervals import Array, Bounds

SETS = ("target", "content")

LabelSet = frozenset[str]

_SHARE: Bounds = (0, 1)
_BEYOND_CHANCE: Bounds = (-1, 1)
_TRUE_ZERO = 1e-12
"""What rounding leaves of a zero."""


def _share_equal(sums: Array) -> Array:
    """Return the mean of the second column. The first counts the items.

    In all tables here the second column says whether two tags are equal.
    """
    items = sums[:, 0]
    equal_items = sums[:, 1]
    return equal_items / items


def _mean_jaccard(sums: Array) -> Array:
    items = sums[:, 0]
    sum_of_jaccard = sums[:, 2]
    return sum_of_jaccard / items


def _f1(sums: Array) -> Array:
    """Return F1 of one label: 2·both / (n_a + n_b)."""
    n_a = sums[:, 2]
    n_b = sums[:, 3]
    n_both = sums[:, 6]
    return 2 * n_both / (n_a + n_b)


def _ac1(sums: Array) -> Array:
    """Return Gwet's AC1 (2008), which a rare label doesn't pull down as it does kappa."""
    items = sums[:, 0]
    n_a = sums[:, 2]
    n_b = sums[:, 3]
    share_with_label = (n_a + n_b) / (2 * items)
    agreement_by_chance = 2 * share_with_label * (1 - share_with_label)
    return (_share_equal(sums) - agreement_by_chance) / (1 - agreement_by_chance)


_LABEL_STATISTICS: dict[str, tuple[Statistic, Bounds]] = {
    "exact": (_share_equal, _SHARE),
    # Undefined where all items or none got the label.
    "kappa": (partial(kappas_of_sums, weights="quadratic"), _BEYOND_CHANCE),
    "f1": (_f1, _SHARE),
    "ac1": (_ac1, _BEYOND_CHANCE),
}
"""The figures of one label, from sums of `kappa_terms`."""


def tag_agreement(
    a: Mapping[str, Tags], b: Mapping[str, Tags], videos: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Compare two taggers on the items that both tagged. The outcome is JSON.

    Args:
        a: Item -> the first tagger's tags.
        b: Item -> the second tagger's tags.
        videos: Item -> its video; with None there are no intervals.

    Returns:
        `both`, `only_a` and `only_b` (items tagged by both, which all figures are about, or by one
        alone); `labels`, `component.Label` -> `n_a` and `n_b` (items that got it), `exact`,
        `kappa`, `f1` and `ac1`; `sets`, `target` and `content` -> `exact`, `jaccard` and
        `alpha_masi`; `thinking`. Each figure has a `value` and its `ci95`, None where they are
        undefined.

    Raises:
        InputError: There is no item that both tagged, or the video of one isn't known.
    """
    items = sorted(a.keys() & b.keys())
    if not items:
        raise InputError(
            "no item was tagged in both: are these of the same benchmark and split, "
            "with the same ids?"
        )
    clusters: list[str] | None = None
    if videos is not None:
        clusters = _videos_of(items, videos)
    tags_a = [a[item] for item in items]
    tags_b = [b[item] for item in items]
    labels: dict[str, dict[str, Any]] = {}
    sets: dict[str, dict[str, Any]] = {}
    for component, names in COMPONENTS.items():
        sets_a = [frozenset(tags.facets[component]) for tags in tags_a]
        sets_b = [frozenset(tags.facets[component]) for tags in tags_b]
        if component in SETS:
            sets[component] = _set_agreement(sets_a, sets_b, clusters)
        for name in names:
            labels[f"{component}.{name}"] = _label_agreement(name, sets_a, sets_b, clusters)
    return {
        "both": len(items),
        "only_a": len(a) - len(items),
        "only_b": len(b) - len(items),
        "labels": labels,
        "sets": sets,
        "thinking": _thinking_agreement(tags_a, tags_b, clusters),
    }


def _videos_of(items: Sequence[str], videos: Mapping[str, str]) -> list[str]:
    """Return the items' videos. InputError where one isn't known."""
    strangers = [item for item in items if item not in videos]
    if strangers:
        raise InputError(
            f"{strangers[0]}: tagged in both, but its video isn't known "
            f"({len(strangers)} such items)"
        )
    return [videos[item] for item in items]


def annotator_tests(
    machine: Mapping[str, Tags],
    people: Mapping[str, Mapping[str, Tags]],
    *,
    epsilon: float = EPSILON,
) -> dict[str, dict[str, Any]]:
    """Test for each component whether a machine's tags may stand in for people's.

    Labels are compared by Jaccard's index, which for the one label of THINKING means equality.

    Raises:
        InputError: There are fewer than two people.
    """
    if len(people) < 2:  # noqa: PLR2004
        raise InputError("the alternative-annotator test needs the tags of two people or more")
    tests: dict[str, dict[str, Any]] = {}
    for component in COMPONENTS:
        people_labels = {name: _label_sets(tags, component) for name, tags in people.items()}
        tests[component] = annotator_test(
            _label_sets(machine, component), people_labels, jaccard, epsilon=epsilon
        )
    return tests


def _label_sets(tags: Mapping[str, Tags], component: str) -> dict[str, LabelSet]:
    label_sets: dict[str, LabelSet] = {}
    for item, item_tags in tags.items():
        label_sets[item] = frozenset(item_tags.facets[component])
    return label_sets


def jaccard(a: LabelSet, b: LabelSet) -> float:
    """Return the intersection of two sets over their union, 1 for two empty ones."""
    if not a and not b:
        return 1.0
    return len(a & b) / len(a | b)


def masi(a: LabelSet, b: LabelSet) -> float:
    """Return the MASI distance of two sets, 0 (equal) to 1 (disjoint).

    It is one minus Jaccard's index, weighed by 2/3 where one set contains the other, by 1/3 where
    they only overlap (Measuring Agreement on Set-valued Items, Passonneau 2006).
    """
    if a == b:
        return 0.0
    if not a & b:
        return 1.0
    weight = 1 / 3
    if a <= b or b <= a:
        weight = 2 / 3
    return 1 - jaccard(a, b) * weight


def _label_agreement(
    name: str, a: Sequence[LabelSet], b: Sequence[LabelSet], clusters: Sequence[str] | None
) -> dict[str, Any]:
    """Return the figures of one label."""
    has_label_a = np.array([float(name in labels) for labels in a])
    has_label_b = np.array([float(name in labels) for labels in b])
    terms = kappa_terms(has_label_a, has_label_b, "quadratic")
    estimates = RatioSums(terms, clusters).estimates(_LABEL_STATISTICS)
    return {
        "n_a": int(has_label_a.sum()),
        "n_b": int(has_label_b.sum()),
        **estimates,
    }


def _set_agreement(
    a: Sequence[LabelSet], b: Sequence[LabelSet], clusters: Sequence[str] | None
) -> dict[str, Any]:
    """Return the figures of a component whose labels are sets."""
    distinct_sets = sorted({*a, *b}, key=sorted)
    distances = _masi_distances(distinct_sets)
    rows = [_terms_of_item(*pair, distinct_sets) for pair in zip(a, b, strict=True)]

    def alphas(sums: Array) -> Array:
        sum_of_masi = sums[:, 3]
        ratings_of_sets = sums[:, 4:]
        return _alphas(2 * sum_of_masi, ratings_of_sets, distances)

    table = RatioSums(np.array(rows, dtype=np.float64), clusters)
    return table.estimates(
        {
            "exact": (_share_equal, _SHARE),
            "jaccard": (_mean_jaccard, _SHARE),
            "alpha_masi": (alphas, _BEYOND_CHANCE),
        }
    )


def _masi_distances(label_sets: Sequence[LabelSet]) -> Array:
    """Return the distance of each set to each (sets x sets)."""
    distances = np.zeros((len(label_sets), len(label_sets)))
    for row, set_a in enumerate(label_sets):
        for column, set_b in enumerate(label_sets):
            distances[row, column] = masi(set_a, set_b)
    return distances


def _terms_of_item(
    set_a: LabelSet, set_b: LabelSet, distinct_sets: Sequence[LabelSet]
) -> list[float]:
    """Return an item's row of terms, which are summed over items.

    They are 1, equal or not, Jaccard, MASI, and how many of the two gave each distinct set.
    """
    terms = [
        1.0,
        float(set_a == set_b),
        jaccard(set_a, set_b),
        masi(set_a, set_b),
    ]
    given_sets = [set_a, set_b]
    for label_set in distinct_sets:
        terms.append(float(given_sets.count(label_set)))
    return terms


def _thinking_agreement(
    a: Sequence[Tags], b: Sequence[Tags], clusters: Sequence[str] | None
) -> dict[str, Any]:
    """Return kappa, plain and quadratic, and ordinal alpha of the steps Recall to Reasoning."""
    steps_a = _thinking_steps(a)
    steps_b = _thinking_steps(b)
    figures: dict[str, Any] = {}
    kappas: dict[str, Weights] = {"kappa": "none", "kappa_quadratic": "quadratic"}
    for name, weights in kappas.items():
        kappa = partial(kappas_of_sums, weights=weights)
        table = RatioSums(kappa_terms(steps_a, steps_b, weights), clusters)
        figures[name] = asdict(table.estimate(kappa, _BEYOND_CHANCE))
    # A row per item: 1 at the pair of its two steps (steps x steps), else 0.
    is_step_a = np.eye(len(THINKING))[steps_a.astype(int)]
    is_step_b = np.eye(len(THINKING))[steps_b.astype(int)]
    is_pair = is_step_a[:, :, None] * is_step_b[:, None, :]
    table = RatioSums(is_pair.reshape(len(a), -1), clusters)
    figures["alpha_ordinal"] = asdict(table.estimate(_ordinal_alphas, _BEYOND_CHANCE))
    return figures


def _thinking_steps(tags: Sequence[Tags]) -> Array:
    """Return the number of each item's step, 0 for Recall."""
    return np.array([float(THINKING.index(item_tags.thinking)) for item_tags in tags])


def _ordinal_alphas(sums: Array) -> Array:
    """Return ordinal alpha for each row of counts of pairs of steps."""
    steps = len(THINKING)
    pairs = sums.reshape(-1, steps, steps)
    totals = pairs.sum(axis=1) + pairs.sum(axis=2)
    # Krippendorff's ordinal distance: the number of ratings from one step to the other, squared.
    # The two ends count by half.
    rank = np.cumsum(totals, axis=1) - totals / 2
    distances = (rank[:, :, None] - rank[:, None, :]) ** 2
    disagreement = (pairs * distances).sum(axis=(1, 2))
    return _alphas(2 * disagreement, totals, distances)


def _alphas(disagreement: Array, totals: Array, distances: Array) -> Array:
    """Return Krippendorff's alpha of two raters for each row. NaN where it is undefined.

    Args:
        disagreement: The distance of the two ratings of each item, both ways round, summed (rows).
        totals: How often each value was given (rows x values).
        distances: Between values (values x values, or rows x values x values).
    """
    axes = "ri,ij,rj->r"
    if distances.ndim > totals.ndim:
        axes = "ri,rij,rj->r"
    ratings = totals.sum(axis=1)
    expected_disagreement = np.einsum(axes, totals, distances, totals) / (ratings - 1)
    alphas = 1 - disagreement / expected_disagreement
    return np.where(expected_disagreement > _TRUE_ZERO, alphas, np.nan)
