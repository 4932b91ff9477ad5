"""Whether a model may stand in for people who label: the alternative-annotator test (Calderon, Reichart and Dror 2025).

Each person is left out in turn: is the model at least as near to the others as that person is? A person's labels are
worth more than the model's by `epsilon`, since they cost more. The test takes items as independent, as the paper does.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from reelbench.stats import student_t

Label = TypeVar("Label")

EPSILON = 0.2
"""For experts; the paper takes 0.15 for skilled people and 0.1 for a crowd (section 3)."""
FEWEST_ITEMS = 30
"""Items that a person must share with the model and another person to be tested against."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The model against one person.

    Attributes:
        n: Items that the person, the model and another person labelled.
        advantage_model: Share of items where the model is at least as near to the others as the person is.
        advantage_person: Share where the person is at least as near as the model; ties count for both.
        p: One-sided, that the model falls short by `epsilon` or more; None with fewer than `FEWEST_ITEMS` items.
        won: Whether the model wins, after Benjamini and Yekutieli's adjustment over all people.
    """

    n: int
    advantage_model: float | None
    advantage_person: float | None
    p: float | None
    won: bool


@dataclass(frozen=True, slots=True)
class AnnotatorTest:
    """The test's outcome.

    Attributes:
        people: Person -> the model against them, in the given order.
        winning_rate: Share of the tested people that the model wins against (omega); None where nobody could be tested.
        advantage: Mean of `advantage_model` over tested people (rho); None likewise.
        passes: Whether `winning_rate` is at least 0.5.
    """

    people: dict[str, LeftOut]
    winning_rate: float | None
    advantage: float | None
    passes: bool


def annotator_test(
    model: Mapping[str, Label],
    people: Mapping[str, Mapping[str, Label]],
    similarity: Callable[[Label, Label], float],
    *,
    epsilon: float = EPSILON,
    alpha: float = 0.05,
) -> AnnotatorTest:
    """Test a model against two people or more.

    Args:
        model: Item -> the model's label.
        people: Person -> item -> label.
        similarity: Of two labels, higher is nearer: equality, or Jaccard's index of sets.
        epsilon: What a person's label is worth more.
        alpha: The false discovery rate.

    Raises:
        ValueError: There are fewer than two people.
    """
    if len(people) < 2:  # noqa: PLR2004
        raise ValueError("the alternative-annotator test needs two people or more")
    left_out: dict[str, LeftOut] = {}
    for person in people:
        nearer_model: list[bool] = []
        nearer_person: list[bool] = []
        for item, own in people[person].items():
            others = [labels[item] for name, labels in people.items() if name != person and item in labels]
            if item not in model or not others:
                continue
            by_model, by_person = (sum(similarity(label, other) for other in others) for label in (model[item], own))
            nearer_model.append(by_model >= by_person)
            nearer_person.append(by_person >= by_model)
        n = len(nearer_model)
        if not n:
            left_out[person] = LeftOut(0, None, None, None, won=False)
        else:
            behind = np.array(nearer_person, dtype=np.float64) - np.array(nearer_model, dtype=np.float64)
            p = None  # one-sided, of a t test that the mean lies below `epsilon`
            if n >= FEWEST_ITEMS:
                gap, error = behind.mean() - epsilon, behind.std(ddof=1) / math.sqrt(n)
                p = student_t.cdf(gap / error, n - 1) if error else float(gap >= 0)
            left_out[person] = LeftOut(n, float(np.mean(nearer_model)), float(np.mean(nearer_person)), p, won=False)
    p_values = {person: outcome.p for person, outcome in left_out.items() if outcome.p is not None}
    # The names whose p is significant by Benjamini and Yekutieli's procedure (2001), for tests of any dependence.
    ordered = sorted(p_values, key=lambda name: p_values[name])
    harmonic = sum(1 / k for k in range(1, len(ordered) + 1))
    passing = [
        rank for rank, name in enumerate(ordered, start=1) if p_values[name] <= rank / len(ordered) * alpha / harmonic
    ]
    won = set(ordered[: max(passing, default=0)])
    advantages = [left_out[person].advantage_model or 0.0 for person in p_values]
    winning_rate = len(won) / len(p_values) if p_values else None
    return AnnotatorTest(
        people={person: replace(outcome, won=person in won) for person, outcome in left_out.items()},
        winning_rate=winning_rate,
        advantage=float(np.mean(advantages)) if advantages else None,
        passes=winning_rate is not None and winning_rate >= 0.5,  # noqa: PLR2004 - the paper's threshold
    )
