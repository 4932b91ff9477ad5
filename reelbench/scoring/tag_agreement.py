"""How far two taggers agree on CogME's labels: people with people, or a language model with people.

Each of the 19 labels is there or not (exact, kappa, F1, Gwet's AC1); TARGET and CONTENT are sets
(equal, Jaccard, Krippendorff's alpha with the MASI distance); THINKING is a scale of three steps
(kappa, plain and quadratic, ordinal alpha). All figures are fractions, 1 is full agreement;
intervals are a bootstrap over videos.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from reelbench.base.errors import InputError
from reelbench.scoring.cognitive_profile import COMPONENTS, THINKING, Tags
from reelbench.stats.agreement import (
    Array,
    RatioSums,
    Statistic,
    Weights,
    kappa_terms,
    kappas_of_sums,
)
from reelbench.stats.alternative_annotator import EPSILON, annotator_test
from reelbench.stats.intervals import Bounds

SETS = ("target", "content")

_SHARE: Bounds = (0, 1)
_BEYOND_CHANCE: Bounds = (-1, 1)


def _second_mean(sums: Array) -> Array:
    """Mean of the second column, where the first counts items: in all tables whether two tags are equal."""
    return sums[:, 1] / sums[:, 0]


def _ac1(sums: Array) -> Array:
    """Gwet's AC1 (2008), which a rare label doesn't pull down as it does kappa."""
    share = (sums[:, 2] + sums[:, 3]) / (2 * sums[:, 0])
    by_chance = 2 * share * (1 - share)
    return (_second_mean(sums) - by_chance) / (1 - by_chance)


_OF_LABEL: dict[str, tuple[Statistic, Bounds]] = {
    "exact": (_second_mean, _SHARE),  # share of items that both gave it or both didn't
    "kappa": (
        partial(kappas_of_sums, weights="quadratic"),
        _BEYOND_CHANCE,
    ),  # undefined where all or none got it
    "f1": (lambda sums: 2 * sums[:, 6] / (sums[:, 2] + sums[:, 3]), _SHARE),  # 2·both / (n_a + n_b)
    "ac1": (_ac1, _BEYOND_CHANCE),
}
"""What is said of one label, of the sums of `kappa_terms`."""


def tag_agreement(
    a: Mapping[str, Tags], b: Mapping[str, Tags], videos: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Compare two taggers (item -> tags) on the items that both tagged; the outcome is JSON.

    `videos` is item -> its video; None where it isn't known, which leaves the intervals out.

    Returns:
        `both`, `only_a` and `only_b` (items tagged by both, which all figures are about, or by one
        alone); `labels`, `component.Label` -> `n_a` and `n_b` (items that got it) and `_OF_LABEL`;
        `sets`, `target` and `content` -> `_OF_SET`; `thinking`. Each figure has a `value` and its
        `ci95`, None where they are undefined.

    InputError where there is no item that both tagged, or the video of one isn't known.
    """
    items = sorted(a.keys() & b.keys())
    if not items:
        raise InputError(
            "no item was tagged in both: are these of the same benchmark and split, with the same ids?"
        )
    strangers = [item for item in items if item not in videos] if videos is not None else []
    if strangers:
        raise InputError(
            f"{strangers[0]}: tagged in both, but its video isn't known ({len(strangers)} such items)"
        )
    clusters = [videos[item] for item in items] if videos is not None else None
    labels: dict[str, dict[str, Any]] = {}
    sets: dict[str, dict[str, Any]] = {}
    for component, names in COMPONENTS.items():
        first, second = (
            [frozenset(tags[item].facets[component]) for item in items] for tags in (a, b)
        )
        if component in SETS:
            sets[component] = _set_agreement(first, second, clusters)
        for name in names:
            x, y = (
                np.array([float(name in labels_) for labels_ in side]) for side in (first, second)
            )
            table = RatioSums(kappa_terms(x, y, "quadratic"), clusters)
            counts = {"n_a": int(x.sum()), "n_b": int(y.sum())}
            labels[f"{component}.{name}"] = counts | table.estimates(_OF_LABEL)
    return {
        "both": len(items),
        "only_a": len(a) - len(items),
        "only_b": len(b) - len(items),
        "labels": labels,
        "sets": sets,
        "thinking": _thinking([a[item] for item in items], [b[item] for item in items], clusters),
    }


def annotator_tests(
    machine: Mapping[str, Tags],
    people: Mapping[str, Mapping[str, Tags]],
    *,
    epsilon: float = EPSILON,
) -> dict[str, dict[str, Any]]:
    """Test for each component whether a machine's tags may stand in for people's: sets by Jaccard, thinking equal.

    InputError where there are fewer than two people.
    """
    if len(people) < 2:  # noqa: PLR2004
        raise InputError("the alternative-annotator test needs the tags of two people or more")
    tests: dict[str, dict[str, Any]] = {}
    for component in COMPONENTS:
        by_machine, *by_people = (
            {item: frozenset(given.facets[component]) for item, given in tags.items()}
            for tags in (machine, *people.values())
        )
        by_name = dict(zip(people, by_people, strict=True))
        tests[component] = annotator_test(by_machine, by_name, jaccard, epsilon=epsilon)
    return tests


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the intersection of two sets over their union, 1 for two empty ones."""
    return len(a & b) / len(a | b) if a or b else 1.0


def masi(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the distance of two sets, 0 for equal ones (two empty ones too) to 1 for disjoint ones.

    One minus Jaccard's index, weighed by 2/3 where one set holds the other, by 1/3 where they only
    overlap (Measuring Agreement on Set-valued Items, Passonneau 2006).
    """
    if a == b:
        return 0.0
    if not a & b:
        return 1.0
    return 1 - jaccard(a, b) * (2 / 3 if a <= b or b <= a else 1 / 3)


def _set_agreement(
    a: Sequence[frozenset[str]], b: Sequence[frozenset[str]], clusters: Sequence[str] | None
) -> dict[str, Any]:
    """Return the share of equal sets, the mean of `jaccard`, and Krippendorff's alpha with the distance `masi`."""
    pairs = list(zip(a, b, strict=True))
    kinds = sorted({*a, *b}, key=sorted)
    distances = np.array([[masi(x, y) for y in kinds] for x in kinds])
    counts = np.array(
        [[(kind == x) + (kind == y) for kind in kinds] for x, y in pairs], dtype=np.float64
    )
    columns = np.array([[1, x == y, jaccard(x, y), masi(x, y)] for x, y in pairs], dtype=np.float64)
    return RatioSums(np.column_stack([columns, counts]), clusters).estimates(
        {
            "exact": (_second_mean, _SHARE),
            "jaccard": (lambda sums: sums[:, 2] / sums[:, 0], _SHARE),
            "alpha_masi": (
                lambda sums: _alphas(2 * sums[:, 3], sums[:, 4:], distances),
                _BEYOND_CHANCE,
            ),
        }
    )


def _thinking(
    a: Sequence[Tags], b: Sequence[Tags], clusters: Sequence[str] | None
) -> dict[str, Any]:
    """Return kappa, plain and quadratic, and ordinal alpha of the steps from Recall to Reasoning."""
    x, y = (np.array([float(THINKING.index(tag.thinking)) for tag in tags]) for tags in (a, b))
    steps = len(THINKING)
    at_a, at_b = np.eye(steps)[x.astype(int)], np.eye(steps)[y.astype(int)]

    def alphas(sums: Array) -> Array:
        pairs = sums.reshape(-1, steps, steps)
        totals = pairs.sum(axis=1) + pairs.sum(axis=2)
        # Krippendorff's ordinal distance: the ratings from one step to the other, the two ends by
        # half, squared.
        upto = np.cumsum(totals, axis=1) - totals / 2
        distances = (upto[:, :, None] - upto[:, None, :]) ** 2
        return _alphas(2 * (pairs * distances).sum(axis=(1, 2)), totals, distances)

    figures: dict[str, Any] = {}
    kinds: dict[str, Weights] = {"kappa": "none", "kappa_quadratic": "quadratic"}
    for name, weights in kinds.items():
        kappa = partial(kappas_of_sums, weights=weights), _BEYOND_CHANCE
        figures |= RatioSums(kappa_terms(x, y, weights), clusters).estimates({name: kappa})
    pairs = (at_a[:, :, None] * at_b[:, None, :]).reshape(len(x), -1)
    return figures | RatioSums(pairs, clusters).estimates(
        {"alpha_ordinal": (alphas, _BEYOND_CHANCE)}
    )


def _alphas(disagreement: Array, totals: Array, distances: Array) -> Array:
    """Krippendorff's alpha of two raters for each row; NaN where it is undefined.

    Args:
        disagreement: The distance of the two ratings of each item, both ways round, summed (rows).
        totals: How often each value was given (rows x values).
        distances: Between values (values x values, or rows x values x values).
    """
    which = "rij" if distances.ndim == totals.ndim + 1 else "ij"
    expected = np.einsum(f"ri,{which},rj->r", totals, distances, totals) / (totals.sum(axis=1) - 1)
    return np.where(expected > 1e-12, 1 - disagreement / expected, np.nan)  # noqa: PLR2004 - rounding of a true zero
