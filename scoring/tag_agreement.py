"""How far two taggers agree on CogME's labels: people with people, or a language model with people.

Each of the 19 labels is there or not (exact, kappa, F1, Gwet's AC1); TARGET and CONTENT are sets (equal, Jaccard,
Krippendorff's alpha with the MASI distance); THINKING is a scale of three steps (kappa, plain and quadratic, ordinal
alpha). All figures are fractions, 1 is full agreement; intervals are a bootstrap over videos.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reelbench.registry.errors import InputError
from reelbench.scoring.cognitive_profile import COMPONENTS, THINKING, Tags
from reelbench.stats.agreement import Array, RatioSums, Weights, kappa_terms, kappas_of_sums
from reelbench.stats.alternative_annotator import EPSILON, AnnotatorTest, annotator_test
from reelbench.stats.intervals import Bounds, Estimate

SETS = ("target", "content")

_SHARE: Bounds = (0, 1)
_BEYOND_CHANCE: Bounds = (-1, 1)


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement on one label.

    Attributes:
        n_a: Items that a gave it.
        n_b: Items that b gave it.
        exact: Share of items that both gave it or both didn't.
        kappa: Cohen's kappa; undefined where both gave it to all items or to none.
        f1: 2·both / (n_a + n_b); undefined where neither gave it.
        ac1: Gwet's AC1 (2008), which a rare label doesn't pull down as it does kappa.
    """

    n_a: int
    n_b: int
    exact: Estimate
    kappa: Estimate
    f1: Estimate
    ac1: Estimate


@dataclass(frozen=True, slots=True)
class SetAgreement:
    """Agreement on a component with several labels.

    Attributes:
        exact: Share of items with the same set.
        jaccard: Mean of the intersection over the union, 1 for two empty sets.
        alpha_masi: Krippendorff's alpha with the distance `masi`; undefined where all sets are the same.
    """

    exact: Estimate
    jaccard: Estimate
    alpha_masi: Estimate


@dataclass(frozen=True, slots=True)
class ThinkingAgreement:
    """Agreement on THINKING, from Recall to Reasoning; each undefined where both gave everything the same one."""

    kappa: Estimate
    kappa_quadratic: Estimate
    alpha_ordinal: Estimate


@dataclass(frozen=True, slots=True)
class TagAgreement:
    """The agreement of two taggers; `dataclasses.asdict` gives it as JSON.

    Attributes:
        both: Items that both tagged, which all figures are about.
        only_a: Items that only a tagged.
        only_b: Items that only b tagged.
        labels: `component.Label` -> agreement.
        sets: `target` and `content` -> agreement.
        thinking: Agreement on the way of thinking.
    """

    both: int
    only_a: int
    only_b: int
    labels: dict[str, LabelAgreement]
    sets: dict[str, SetAgreement]
    thinking: ThinkingAgreement


def tag_agreement(
    a: Mapping[str, Tags], b: Mapping[str, Tags], videos: Mapping[str, str] | None = None
) -> TagAgreement:
    """Compare two taggers (item -> tags) on the items that both tagged.

    `videos` is item -> its video; None where it isn't known, which leaves the intervals out.

    Raises:
        InputError: There is no item that both tagged, or the video of one isn't known.
    """
    items = sorted(a.keys() & b.keys())
    if not items:
        raise InputError("no item was tagged in both: are these of the same benchmark and split, with the same ids?")
    strangers = [item for item in items if item not in videos] if videos is not None else []
    if strangers:
        raise InputError(f"{strangers[0]}: tagged in both, but its video isn't known ({len(strangers)} such items)")
    clusters = [videos[item] for item in items] if videos is not None else None
    first, second = [a[item] for item in items], [b[item] for item in items]
    labels: dict[str, LabelAgreement] = {}
    for component, names in COMPONENTS.items():
        sets_a, sets_b = _sets(first, component), _sets(second, component)
        for name in names:
            x, y = (np.array([float(name in labels_) for labels_ in sets]) for sets in (sets_a, sets_b))
            table = RatioSums(kappa_terms(x, y, "quadratic"), clusters)

            def ac1(sums: Array) -> Array:
                share = (sums[:, 2] + sums[:, 3]) / (2 * sums[:, 0])
                by_chance = 2 * share * (1 - share)
                return (_second_mean(sums) - by_chance) / (1 - by_chance)

            labels[f"{component}.{name}"] = LabelAgreement(
                n_a=int(x.sum()),
                n_b=int(y.sum()),
                exact=table.estimate(_second_mean, _SHARE),
                kappa=table.estimate(lambda sums: kappas_of_sums(sums, "quadratic"), _BEYOND_CHANCE),
                f1=table.estimate(lambda sums: 2 * sums[:, 6] / (sums[:, 2] + sums[:, 3]), _SHARE),
                ac1=table.estimate(ac1, _BEYOND_CHANCE),
            )
    return TagAgreement(
        both=len(items),
        only_a=len(a) - len(items),
        only_b=len(b) - len(items),
        labels=labels,
        sets={name: _set_agreement(_sets(first, name), _sets(second, name), clusters) for name in SETS},
        thinking=_thinking(first, second, clusters),
    )


def annotator_tests(
    machine: Mapping[str, Tags], people: Mapping[str, Mapping[str, Tags]], *, epsilon: float = EPSILON
) -> dict[str, AnnotatorTest]:
    """Test for each component whether a machine's tags may stand in for people's: sets by Jaccard, thinking equal.

    Raises:
        InputError: There are fewer than two people.
    """
    if len(people) < 2:  # noqa: PLR2004
        raise InputError("the alternative-annotator test needs the tags of two people or more")

    def labels_of(tags: Mapping[str, Tags], component: str) -> dict[str, frozenset[str]]:
        return dict(zip(tags, _sets(list(tags.values()), component), strict=True))

    return {
        component: annotator_test(
            labels_of(machine, component),
            {name: labels_of(tags, component) for name, tags in people.items()},
            jaccard,
            epsilon=epsilon,
        )
        for component in COMPONENTS
    }


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the intersection of two sets over their union, 1 for two empty ones."""
    return len(a & b) / len(a | b) if a or b else 1.0


def masi(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the distance of two sets, 0 for equal ones (two empty ones too) to 1 for disjoint ones.

    One minus Jaccard's index, weighed by 2/3 where one set holds the other, by 1/3 where they only overlap (Measuring
    Agreement on Set-valued Items, Passonneau 2006).
    """
    if a == b:
        return 0.0
    if not a & b:
        return 1.0
    return 1 - jaccard(a, b) * (2 / 3 if a <= b or b <= a else 1 / 3)


def _sets(tags: Sequence[Tags], component: str) -> list[frozenset[str]]:
    return [frozenset([labels] if isinstance(labels := getattr(tag, component), str) else labels) for tag in tags]


def _set_agreement(
    a: Sequence[frozenset[str]], b: Sequence[frozenset[str]], clusters: Sequence[str] | None
) -> SetAgreement:
    pairs = list(zip(a, b, strict=True))
    kinds = sorted({*a, *b}, key=sorted)
    distances = np.array([[masi(x, y) for y in kinds] for x in kinds])
    counts = np.array([[(kind == x) + (kind == y) for kind in kinds] for x, y in pairs], dtype=np.float64)
    columns = np.array([[1, x == y, jaccard(x, y), masi(x, y)] for x, y in pairs], dtype=np.float64)
    table = RatioSums(np.column_stack([columns, counts]), clusters)
    return SetAgreement(
        exact=table.estimate(_second_mean, _SHARE),
        jaccard=table.estimate(lambda sums: sums[:, 2] / sums[:, 0], _SHARE),
        alpha_masi=table.estimate(lambda sums: _alphas(2 * sums[:, 3], sums[:, 4:], distances), _BEYOND_CHANCE),
    )


def _thinking(a: Sequence[Tags], b: Sequence[Tags], clusters: Sequence[str] | None) -> ThinkingAgreement:
    x, y = (np.array([float(THINKING.index(tag.thinking)) for tag in tags]) for tags in (a, b))
    steps = len(THINKING)
    at_a, at_b = np.eye(steps)[x.astype(int)], np.eye(steps)[y.astype(int)]

    def alphas(sums: Array) -> Array:
        pairs = sums.reshape(-1, steps, steps)
        totals = pairs.sum(axis=1) + pairs.sum(axis=2)
        # Krippendorff's ordinal distance: the ratings from one step to the other, the two ends by half, squared.
        upto = np.cumsum(totals, axis=1) - totals / 2
        distances = (upto[:, :, None] - upto[:, None, :]) ** 2
        return _alphas(2 * (pairs * distances).sum(axis=(1, 2)), totals, distances)

    def kappa(weights: Weights) -> Estimate:
        table = RatioSums(kappa_terms(x, y, weights), clusters)
        return table.estimate(lambda sums: kappas_of_sums(sums, weights), _BEYOND_CHANCE)

    pairs = (at_a[:, :, None] * at_b[:, None, :]).reshape(len(x), -1)
    return ThinkingAgreement(
        kappa=kappa("none"),
        kappa_quadratic=kappa("quadratic"),
        alpha_ordinal=RatioSums(pairs, clusters).estimate(alphas, _BEYOND_CHANCE),
    )


def _second_mean(sums: Array) -> Array:
    """Mean of the second column, where the first counts items: in all tables whether two tags are equal."""
    return sums[:, 1] / sums[:, 0]


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
