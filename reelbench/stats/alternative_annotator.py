"""The alternative-annotator test (Calderon, Reichart and Dror 2025): may a model label for people?

Each person is left out in turn. Is the model at least as near to the other people as that person
is? A person's labels are worth more than the model's by `epsilon`, since they cost more. The test
takes items as independent, as the paper does.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from reelbench.stats import student_t

Label = TypeVar("Label")

EPSILON = 0.2
"""For experts. The paper takes 0.15 for skilled people and 0.1 for a crowd (section 3)."""
FEWEST_ITEMS = 30
"""Items that a person must share with the model and another person to be tested against."""
_PASSING_RATE = 0.5  # the paper's threshold


@dataclass(slots=True)
class _Advantages:
    """The comparison of the model with one person.

    Attributes:
        n: Items that the person, the model and another person labelled.
        advantage_model: Share of them where the model is at least as near to the other people.
        advantage_person: Share of them where the person is.
        p: One-sided p of the model falling short by `epsilon` or more.
        won: True where the model wins after the adjustment over all people.
    """

    n: int
    advantage_model: float | None
    advantage_person: float | None
    p: float | None
    won: bool = False


def annotator_test(
    model: Mapping[str, Label],
    people: Mapping[str, Mapping[str, Label]],
    similarity: Callable[[Label, Label], float],
    *,
    epsilon: float = EPSILON,
    alpha: float = 0.05,
) -> dict[str, Any]:
    """Test a model against two people or more. The outcome is JSON.

    Args:
        model: Item -> the model's label.
        people: Person -> item -> label.
        similarity: Of two labels, higher is nearer: equality, or Jaccard's index of sets.
        epsilon: By how much a person's label is worth more.
        alpha: The false discovery rate.

    Returns:
        `people`, in the order of the argument, each with `n` (items that they, the model and
        another person labelled), `advantage_model` (share of these where the model is at least as
        near to the other people as the person is), `advantage_person` (the other way round; ties
        count for both), `p` (one-sided, that the model falls short by `epsilon` or more) and `won`
        (after Benjamini and Yekutieli's adjustment over all people). `winning_rate` is the share of
        tested people that the model wins against (omega), `advantage` the mean of `advantage_model`
        over them (rho), `passes` is true where the first is at least 0.5. What could not be tested
        is None.

    Raises:
        ValueError: There are fewer than two people.
    """
    if len(people) < 2:  # noqa: PLR2004
        raise ValueError("the alternative-annotator test needs two people or more")
    by_person = {
        person: _advantages_over_person(model, people, person, similarity, epsilon)
        for person in people
    }
    p_values = sorted(each.p for each in by_person.values() if each.p is not None)
    wins = _count_discoveries(p_values, alpha)
    for advantages in by_person.values():
        advantages.won = advantages.p in p_values[:wins]
    winning_rate = None
    advantage = None
    if p_values:
        winning_rate = wins / len(p_values)
        tested_advantages = [
            each.advantage_model for each in by_person.values() if each.p is not None
        ]
        advantage = float(np.mean(np.array(tested_advantages, dtype=np.float64)))
    return {
        "people": {person: asdict(advantages) for person, advantages in by_person.items()},
        "winning_rate": winning_rate,
        "advantage": advantage,
        "passes": winning_rate is not None and winning_rate >= _PASSING_RATE,
    }


def _advantages_over_person(
    model: Mapping[str, Label],
    people: Mapping[str, Mapping[str, Label]],
    person: str,
    similarity: Callable[[Label, Label], float],
    epsilon: float,
) -> _Advantages:
    """Compare the model with one person by their nearness to everybody else."""
    model_is_near: list[bool] = []
    person_is_near: list[bool] = []
    for item, person_label in people[person].items():
        peer_labels: list[Label] = []
        for name, labels in people.items():
            if name != person and item in labels:
                peer_labels.append(labels[item])
        if item not in model or not peer_labels:
            continue
        nearness_of_model = sum(similarity(model[item], label) for label in peer_labels)
        nearness_of_person = sum(similarity(person_label, label) for label in peer_labels)
        model_is_near.append(nearness_of_model >= nearness_of_person)
        person_is_near.append(nearness_of_person >= nearness_of_model)
    n = len(model_is_near)
    if not n:
        return _Advantages(0, None, None, None)
    return _Advantages(
        n,
        float(np.mean(model_is_near)),
        float(np.mean(person_is_near)),
        _p_of_falling_short(model_is_near, person_is_near, epsilon),
    )


def _p_of_falling_short(
    model_is_near: list[bool], person_is_near: list[bool], epsilon: float
) -> float | None:
    """Return the one-sided p of a t test that the mean shortfall lies below `epsilon`."""
    n = len(model_is_near)
    if n < FEWEST_ITEMS:
        return None
    shortfall = np.array(person_is_near, dtype=np.float64) - np.array(
        model_is_near, dtype=np.float64
    )
    gap = shortfall.mean() - epsilon
    error = shortfall.std(ddof=1) / math.sqrt(n)
    if not error:
        return float(gap >= 0)
    return student_t.cdf(gap / error, n - 1)


def _count_discoveries(p_values: list[float], alpha: float) -> int:
    """Count the significant p values, smallest first, by Benjamini and Yekutieli (2001).

    Their procedure holds for tests of any dependence.
    """
    tests = len(p_values)
    harmonic = sum(1 / k for k in range(1, tests + 1))
    discoveries = 0
    for rank, p in enumerate(p_values, start=1):
        threshold = rank / tests * alpha / harmonic
        if p <= threshold:
            discoveries = rank
    return discoveries
