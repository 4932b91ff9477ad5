"""Whether a model may stand in for people who label: the alternative-annotator test (Calderon, Reichart and Dror 2025).

Each person is left out in turn: is the model at least as near to the others as that person is? A
person's labels are worth more than the model's by `epsilon`, since they cost more. The test takes
items as independent, as the paper does.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from reelbench.stats import student_t

Label = TypeVar("Label")

EPSILON = 0.2
"""For experts; the paper takes 0.15 for skilled people and 0.1 for a crowd (section 3)."""
FEWEST_ITEMS = 30
"""Items that a person must share with the model and another person to be tested against."""


def annotator_test(
    model: Mapping[str, Label],
    people: Mapping[str, Mapping[str, Label]],
    similarity: Callable[[Label, Label], float],
    *,
    epsilon: float = EPSILON,
    alpha: float = 0.05,
) -> dict[str, Any]:
    """Test a model against two people or more; the outcome is JSON.

    Args:
        model: Item -> the model's label.
        people: Person -> item -> label.
        similarity: Of two labels, higher is nearer: equality, or Jaccard's index of sets.
        epsilon: What a person's label is worth more.
        alpha: The false discovery rate.

    Returns:
        `people`, in the given order, each with `n` (items that they, the model and another person
        labelled), `advantage_model` (share of these where the model is at least as near to the
        others as the person is), `advantage_person` (the other way round; ties count for both), `p`
        (one-sided, that the model falls short by `epsilon` or more) and `won` (after Benjamini and
        Yekutieli's adjustment over all people). `winning_rate` is the share of tested people that
        the model wins against (omega), `advantage` the mean of `advantage_model` over them (rho),
        `passes` whether the first is at least 0.5. What could not be tested is None.

    Raises:
        ValueError: There are fewer than two people.
    """
    if len(people) < 2:  # noqa: PLR2004
        raise ValueError("the alternative-annotator test needs two people or more")
    left_out: dict[str, dict[str, Any]] = {}
    for person in people:
        nearer_model: list[bool] = []
        nearer_person: list[bool] = []
        for item, own in people[person].items():
            others = [
                labels[item] for name, labels in people.items() if name != person and item in labels
            ]
            if item not in model or not others:
                continue
            by_model, by_person = (
                sum(similarity(label, other) for other in others) for label in (model[item], own)
            )
            nearer_model.append(by_model >= by_person)
            nearer_person.append(by_person >= by_model)
        n = len(nearer_model)
        behind = np.array(nearer_person, dtype=np.float64) - np.array(
            nearer_model, dtype=np.float64
        )
        p = None  # one-sided, of a t test that the mean lies below `epsilon`
        if n >= FEWEST_ITEMS:
            gap, error = behind.mean() - epsilon, behind.std(ddof=1) / math.sqrt(n)
            p = student_t.cdf(gap / error, n - 1) if error else float(gap >= 0)
        shares = [float(np.mean(nearer)) if n else None for nearer in (nearer_model, nearer_person)]
        left_out[person] = {
            "n": n,
            "advantage_model": shares[0],
            "advantage_person": shares[1],
            "p": p,
            "won": False,
        }
    # Those whose p is significant by Benjamini and Yekutieli's procedure (2001), for tests of any
    # dependence.
    tested = sorted(
        (one for one in left_out.values() if one["p"] is not None), key=lambda one: one["p"]
    )
    harmonic = sum(1 / k for k in range(1, len(tested) + 1))
    ranks = (
        rank
        for rank, one in enumerate(tested, start=1)
        if one["p"] <= rank / len(tested) * alpha / harmonic
    )
    won = max(ranks, default=0)
    for one in tested[:won]:
        one["won"] = True
    winning_rate = won / len(tested) if tested else None
    return {
        "people": left_out,
        "winning_rate": winning_rate,
        "advantage": float(
            np.mean([one["advantage_model"] for one in left_out.values() if one["p"] is not None])
        )
        if tested
        else None,
        "passes": winning_rate is not None and winning_rate >= 0.5,  # noqa: PLR2004 - the paper's threshold
    }
