"""A tagger of known mistakes beside people, by hand."""

import pytest

from reelbench.base.errors import InputError
from reelbench.studio.diagnosis.folder import Attempt, ReasonedQuestion, Step
from reelbench.studio.diagnosis.tagger_agreement import tagger_agreement
from reelbench.studio.evidence.findings import LABELS
from reelbench.studio.evidence.graphs import Graph, Node
from reelbench.studio.evidence.isolation import NodeTag, Round

T, A, R = "Temporal Localization", "Attribute Misidentification", "Reasoning"


def judged(question, codes, *, video="v1", number=1):
    """An attempt on a chain of nodes n1, n2, …; a code of None is a node that this attempt did not settle."""
    nodes = tuple(
        Node(
            id=f"n{place}",
            evidence=f"evidence {place}",
            parents=(f"n{place - 1}",) if place > 1 else (),
        )
        for place in range(1, len(codes) + 1)
    )
    tags = {
        f"n{place}": NodeTag(
            status=code if code in ("right", "divergent") else "wrong", label=code if code in LABELS else None,
            settled=number,
        )
        for place, code in enumerate(codes, start=1) if code
    }  # fmt: skip
    asked = ReasonedQuestion(
        id=question, video=video, question="Q", answer="A", reasoning_steps="N"
    )
    record = Round(id=question, round=number, nodes=tags)
    return Step(asked, Graph(id=question, nodes=nodes), Attempt(id=question), record, None)


def people(**said):
    return {
        (question, f"n{place}"): code
        for question, codes in said.items()
        for place, code in enumerate(codes, 1)
    }


TAGGED = [
    judged("q1", [T, None]),  # settled in two attempts
    judged("q1", [None, R], number=2),
    judged("q2", ["right", A], video="v2"),
    judged("q3", ["right", "divergent"], video="v2"),
    judged("q4", [T, "right"], video="v3"),
]
SAID = people(q1=[T, A], q2=[A, A], q3=["right", "right"], q4=["right", "right"])


def test_by_hand():
    found = tagger_agreement(TAGGED, SAID)
    # q1: n1 the same, n2 another label. q2: n2 the same. q3: n1. q4: n2.
    assert (found.nodes, found.same.value) == (8, 4 / 8)
    assert found.labels[A] == {"people": 3, "tagger": 1, "both": 1}
    # Of 8: people say T 1, A 3, right 4; the tagger T 2, A 1, R 1, right 3, divergent 1. By chance
    # (2 + 3 + 12) / 64.  # noqa: ERA001
    assert found.kappa == pytest.approx((4 / 8 - 17 / 64) / (1 - 17 / 64))
    first = found.first_errors
    # Erroneous are q1 (found: n1) and q2 (people say n1, the tagger n2); q3 is cleared, q4 is not.
    assert (first.erroneous, first.found, first.correct, first.cleared) == (2, 0.5, 2, 0.5)
    assert first.f1 == 0.5


def test_the_harmonic_mean_is_of_both_shares():
    found = tagger_agreement(
        [*TAGGED[:2], *TAGGED[3:]], people(q1=[T, A], q3=["right"] * 2, q4=["right"] * 2)
    )
    assert (found.first_errors.found, found.first_errors.cleared) == (1, 0.5)
    assert found.first_errors.f1 == pytest.approx(2 * 1 * 0.5 / 1.5)


def test_a_question_counts_for_first_errors_only_where_people_judged_all_of_it():
    found = tagger_agreement(TAGGED, {("q1", "n1"): T, ("q2", "n1"): "right", ("q2", "n2"): A})
    assert (found.nodes, found.same.value) == (3, 1)
    assert (found.first_errors.erroneous, found.first_errors.correct) == (1, 0)
    assert (found.first_errors.cleared, found.first_errors.f1) == (None, None)


def test_nothing_in_common_is_told():
    with pytest.raises(InputError, match="none of the nodes"):
        tagger_agreement(TAGGED, people(gone=[T]))
