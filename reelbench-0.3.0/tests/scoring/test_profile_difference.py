"""What another tag file makes of the same answers, by hand."""

import pytest

from reelbench.base.errors import InputError
from reelbench.registry.records import Sample
from reelbench.scoring.cognitive_profile import Tags
from reelbench.scoring.profile_difference import profile_difference


def answer(number, right):
    return Sample(
        id=f"q{number}", video=f"v{number // 2}", prediction="A", target={"answer": "A"}, state="scored",
        scores={"correct": float(right)},
    )  # fmt: skip


def tags(target, content="Identity", thinking="Recall"):
    return Tags(tuple(target.split()), tuple(content.split()), thinking)


# q0 to q5: right, right, wrong, wrong, right, wrong.
ANSWERS = [answer(number, right) for number, right in enumerate([1, 1, 0, 0, 1, 0])]
A = {
    f"q{n}": tags("Character" if n < 4 else "Object", thinking="Recall" if n < 3 else "Grasping")
    for n in range(6)
}
B = {
    f"q{n}": tags("Character" if n < 2 else "Object", thinking="Recall" if n < 3 else "Reasoning")
    for n in range(6)
}


def test_rates_under_both_by_hand():
    found = profile_difference(ANSWERS, A, B)
    # Character: a has q0 to q3, two right of four; b has q0 and q1, both right.
    character = found["labels"]["target.Character"]
    assert (character["n_a"], character["n_b"]) == (4, 2)
    assert (character["a"]["value"], character["b"]["value"], character["difference"]["value"]) == (
        50,
        100,
        -50,
    )
    # Object: a has q4 and q5, one right; b has q2 to q5, one right of four.
    thing = found["labels"]["target.Object"]
    assert (thing["a"]["value"], thing["b"]["value"], thing["difference"]["value"]) == (50, 25, 25)
    assert found["labels"]["content.Identity"]["difference"]["value"] == 0
    assert found["labels"]["thinking.Recall"]["difference"]["value"] == 0
    # Grasping is a's alone, and Reasoning b's: no difference can be told.
    grasping = found["labels"]["thinking.Grasping"]
    assert (grasping["n_b"], grasping["b"]["value"], grasping["difference"]["value"]) == (
        0,
        None,
        None,
    )
    assert (found["answers"], found["largest"], found["mean_absolute"]) == (
        6,
        "target.Character",
        (50 + 25 + 0 + 0) / 4,
    )
    # Of Character, Object, Identity and Recall a's rates are 50, 50, 50, 66.7 and b's 100, 25, 50,
    # 66.7: ranks 2, 2, 2, 4 and 4, 1, 2, 3; from their means -.5, -.5, -.5, 1.5 and 1.5, -1.5, -.5,
    # .5: 1 / sqrt(3 x 5).
    assert found["spearman"] == pytest.approx(1 / 15**0.5)


def test_a_label_may_be_weak_by_one_file_alone():
    many = [answer(number, number != 0) for number in range(40)]
    a = {sample.id: tags("Place" if sample.id == "q0" else "Character") for sample in many}
    b = {sample.id: tags("Place" if sample.id in {"q0", "q1"} else "Character") for sample in many}
    found = profile_difference(many, a, b)
    # 1 of 40 questions is 2.5 %, and wrong; 2 of 40 are 5 %, which is not under 5.
    assert (found["weak_a"], found["weak_b"]) == (["target.Place"], [])


def test_intervals_lie_over_videos():
    many = [answer(number, number % 3 == 0) for number in range(60)]
    a = {f"q{n}": tags("Character") for n in range(60)}
    b = {f"q{n}": tags("Character" if n % 2 and n < 50 else "Object") for n in range(60)}
    found = profile_difference(many, a, b)["labels"]
    character, thing = found["target.Character"], found["target.Object"]
    assert character["a"]["ci95"][0] < 100 / 3 < character["a"]["ci95"][1]
    assert (
        character["difference"]["ci95"][0]
        < character["difference"]["value"]
        < character["difference"]["ci95"][1]
    )
    # b's Objects lie on all thirty videos, a has none: no difference can be told.
    assert thing["b"]["ci95"] is not None
    assert (thing["a"]["ci95"], thing["difference"]["ci95"]) == (None, None)
    # Six answers on three videos are too few for an interval.
    assert profile_difference(ANSWERS, A, B)["labels"]["target.Character"]["a"]["ci95"] is None


def test_the_interval_of_what_is_wrong_mirrors_that_of_what_is_right():
    a = {f"q{n}": tags("Character") for n in range(60)}
    b = {f"q{n}": tags("Character" if n % 2 else "Object") for n in range(60)}
    right, wrong = (
        profile_difference([answer(n, (n % 7 == 0) == is_right) for n in range(60)], a, b)[
            "labels"
        ]["target.Character"]["difference"]["ci95"]
        for is_right in (True, False)
    )
    assert right == pytest.approx((-wrong[1], -wrong[0]))


def test_the_same_tags_differ_in_nothing():
    found = profile_difference(ANSWERS, A, A)
    assert (found["mean_absolute"], found["spearman"]) == (0, 1)


def test_answers_of_other_questions_are_refused():
    with pytest.raises(InputError, match="tagged in both"):
        profile_difference([answer(9, 1)], A, B)
