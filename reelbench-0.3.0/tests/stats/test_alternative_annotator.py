"""The alternative-annotator test by hand, and written out once more with scipy."""

import random

import numpy as np
import pytest

from reelbench.stats.alternative_annotator import annotator_test


def equal(a, b):
    return float(a == b)


def labels(values):
    return {f"q{i}": value for i, value in enumerate(values)}


def test_by_hand():
    # 40 items, three people. Anna and Ben agree on all; Cem differs on the last 10. The model says
    # as Anna throughout.
    agreed = labels("x" * 40)
    people = {"Anna": agreed, "Ben": agreed, "Cem": labels("x" * 30 + "y" * 10)}
    outcome = annotator_test(agreed, people, equal)
    # Beside Anna or Ben it is as near as they are on each item: never behind. Beside Cem it is
    # ahead on 10 of 40.
    assert [
        (p["n"], p["advantage_model"], p["advantage_person"]) for p in outcome["people"].values()
    ] == [
        (40, 1, 1),
        (40, 1, 1),
        (40, 1, 0.75),
    ]
    assert all(person["won"] for person in outcome["people"].values())
    assert (outcome["winning_rate"], outcome["advantage"], outcome["passes"]) == (1, 1, True)


def test_a_model_that_disagrees_with_everybody_fails():
    people = {"Anna": labels("x" * 40), "Ben": labels("x" * 40)}
    outcome = annotator_test(labels("y" * 40), people, equal)
    assert [person["p"] for person in outcome["people"].values()] == [1, 1]
    assert (outcome["winning_rate"], outcome["advantage"], outcome["passes"]) == (0, 0, False)


@pytest.mark.parametrize(
    ("items", "p", "won"), [(40, 0.0220, True), (39, 0.0275, True), (38, 0.0342, False)]
)
def test_two_people_are_tested_at_two_thirds_of_five_percent(items, p, won):
    # Anna and Ben agree on all, the model differs on four: behind by 4 of 40 (38), t against 0.2.
    # Benjamini and Yekutieli's limit for two equal p values is .05 / (1 + 1/2) = .0333.
    agreed = labels("x" * items)
    outcome = annotator_test(
        labels("y" * 4 + "x" * (items - 4)), {"Anna": agreed, "Ben": agreed}, equal
    )
    assert [(person["p"], person["won"]) for person in outcome["people"].values()] == [
        (pytest.approx(p, abs=5e-4), won)
    ] * 2
    assert outcome["passes"] == won


@pytest.mark.parametrize("seed", range(6))
def test_as_scipy_has_its_parts(seed):
    stats = pytest.importorskip("scipy.stats")
    rng = random.Random(seed)
    truth = [rng.choice("abc") for _ in range(60)]

    def rater(right):
        return labels(t if rng.random() < right else rng.choice("abc") for t in truth)

    people = {f"p{i}": rater(0.75) for i in range(4)}
    people["p3"] = {item: label for item, label in people["p3"].items() if int(item[1:]) < 45}
    model = rater(rng.choice([0.5, 0.75, 0.9]))
    epsilon = 0.15
    p, nearer = [], []
    for name, own in people.items():
        rows = []
        for item, label in own.items():
            others = [other[item] for who, other in people.items() if who != name and item in other]
            by_model, by_person = (
                np.mean([model[item] == o for o in others]),
                np.mean([label == o for o in others]),
            )
            rows.append((by_model >= by_person, by_person >= by_model))
        wins = np.array(rows, dtype=float)
        p.append(stats.ttest_1samp(wins[:, 1] - wins[:, 0], epsilon, alternative="less").pvalue)
        nearer.append(wins[:, 0].mean())
    outcome = annotator_test(model, people, equal, epsilon=epsilon)
    assert [person["p"] for person in outcome["people"].values()] == pytest.approx(p, abs=1e-9)
    won = stats.false_discovery_control(p, method="by") <= 0.05
    assert [person["won"] for person in outcome["people"].values()] == list(won)
    assert outcome["winning_rate"] == pytest.approx(won.mean())
    assert outcome["advantage"] == pytest.approx(np.mean(nearer))


def test_a_person_with_few_items_is_shown_and_not_tested():
    people = {
        "Anna": labels("x" * 40),
        "Ben": labels("x" * 40),
        "Cem": labels("x" * 5),
        "Dilek": {"other": "x"},
    }
    outcome = annotator_test(labels("x" * 40), people, equal)
    assert [(person["n"], person["p"] is None) for person in outcome["people"].values()] == [
        (40, False),
        (40, False),
        (5, True),
        (0, True),
    ]
    assert outcome["winning_rate"] == 1
    assert [person["won"] for person in outcome["people"].values()] == [True, True, False, False]
    nobody = annotator_test(labels("x" * 5), people, equal)
    assert (nobody["winning_rate"], nobody["advantage"], nobody["passes"]) == (None, None, False)


def test_one_person_is_too_few():
    with pytest.raises(ValueError, match="two people"):
        annotator_test(labels("x"), {"Anna": labels("x")}, equal)


@pytest.mark.parametrize(("items", "tested"), [(29, False), (30, True)])
def test_thirty_items_are_enough(items, tested):
    people = {"Anna": labels("x" * items), "Ben": labels("x" * items)}
    outcome = annotator_test(labels("x" * items), people, equal)
    assert [person["p"] is not None for person in outcome["people"].values()] == [tested] * 2
