"""The choice among candidates, from replies as they came."""

import pytest

from reelbench.scoring.candidates import (
    RankedChoice,
    choose,
    longest,
    shuffled_order,
    similarity,
    stated_number,
)


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        ([["3"], ["7"], ["5"]], RankedChoice(1)),
        ([["7"], ['{"score": 7}'], ["2"]], RankedChoice(0, tied=True)),  # the lowest index
        (
            [["eleven"], ["0"], ["11"]],
            RankedChoice(1, unparsed=2),
        ),  # out of range is nothing that was said
        ([["I'd say 9"], [None], [""]], RankedChoice(0, unparsed=3)),  # none: as without a ranker
        ([["5", "6", "x"], ["4", "8", "5"]], RankedChoice(1)),  # means 5.5 and 5.67
        (
            [["9", "x", "x"], ["1", "1", "1"]],
            RankedChoice(1, unparsed=1),
        ),  # one vote of three is no score
    ],
)
def test_the_best_score_is_chosen(replies, expected):
    assert choose("pointwise", "q", len(replies), replies) == expected


def test_votes_on_a_list_count_for_what_they_were_shown_first_in_an_order_of_their_own():
    orders = [shuffled_order("q1", 4, vote) for vote in range(3)]
    assert sorted(orders[0]) == [0, 1, 2, 3]
    assert len({tuple(shuffled_order(f"q{n}", 4)) for n in range(50)}) > 10
    naming_two = [str(1 + order.index(2)) for order in orders]
    assert choose("listwise", "q1", 4, [naming_two]) == RankedChoice(2)
    naming = [str(1 + orders[0].index(3)), str(1 + orders[1].index(1)), "none"]
    assert choose("listwise", "q1", 4, [naming]) == RankedChoice(1, tied=True)
    assert choose("listwise", "q1", 4, [["0", "5", None]]) == RankedChoice(0, unparsed=4)


def test_similarity_is_the_mean_jaccard_index_of_pairs():
    # {a, b} and {a, b, c}: 2/3; {a, b} and {d}: 0; {a, b, c} and {d}: 0.
    assert similarity(["a b", "A b, c!", "d"]) == pytest.approx(2 / 9)
    assert similarity(["same words", "words same"]) == 1
    assert similarity(["only one"]) is None
    assert similarity(["", ""]) == 1


def test_the_longest_has_the_most_words():
    assert longest(["one two", "incomprehensibly", "a b c", "d e f"]) == 2
    assert longest(["二匹の猫が眠る", "猫"]) == 0


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "7",
            " 7\n",
            "7.",
            "7/10",
            "7 / 10.",
            "7 out of 10",
            "**7**",
            "**7/10**",
            "Score: 7",
            "score = 7",
            "**Score:** 7",
        ),
        *("**Score:** 7", "The score is 7.", "Final score: **7**/10", "Rating: 7/10", "`7`"),
        *('{"score": 7}', "<think>8/10</think>7/10"),
    ],
)
def test_a_score_is_read_however_it_is_plainly_stated(reply):
    assert stated_number(reply) == 7


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "I'd say 7",
            "7 or 8",
            "7-8",
            "7.5",
            "7/5",
            "7/100",
            "11",
            "-7",
            "7%",
            "seven",
            "",
            None,
            "7, since it fits",
        ),
        *(
            "Score: 7 Score: 8",
            "Score:",
            "<think>7",
            "/10",
            "07",
            "07/10/2024",
            "٧",
            "*" * 10_000 + "x",
        ),
    ],
)
def test_what_is_not_plainly_a_score_is_none(reply):
    assert stated_number(reply) is None


@pytest.mark.parametrize(
    "reply", ["2", "2.", "**2**", "Answer: 2", "Candidate 2", "The best is 2."]
)
def test_a_place_is_read_likewise(reply):
    assert stated_number(reply, 1, 4, top=None) == 2
    assert stated_number(reply, 1, 1, top=None) is None


def test_a_place_has_no_scale():
    assert stated_number("2/4", 1, 4, top=None) is None
