"""A server's own noise is no other model, and another model is one: drawn servers of both kinds."""

import asyncio
import itertools
import random

import pytest

from reelbench.methods.repeats import FIRST, MOST, repeat

QUESTIONS = [str(number) for number in range(200)]


def asked(reading_of, ids=QUESTIONS):
    """Ask kept questions, all answered "A", once more; returns the outcome and the calls."""
    calls = []

    async def ask(names):
        calls.extend(names)
        return [reading_of(name) for name in names]

    outcome = asyncio.run(repeat(ids, lambda _: "A", ask, lambda one, other: one == other))
    return outcome, calls


def noisy(draw, *, varying, firmly):
    """A server that answers a share of questions otherwise, part of these each time alike."""
    kinds = {}
    for name in QUESTIONS:
        chance = draw.random()
        kinds[name] = "same"
        if chance < firmly:
            kinds[name] = "firm"
        elif chance < varying:
            kinds[name] = "varies"

    def reading_of(name):
        return {"same": "A", "firm": "B", "varies": draw.choice("AB")}[kinds[name]]

    return reading_of


def test_the_noise_of_a_real_server_ends_at_most_one_run_of_a_hundred():
    draw = random.Random(1)
    verdicts = [asked(noisy(draw, varying=1 / 6, firmly=1 / 12))[0].verdict for _ in range(200)]
    assert verdicts.count("another") <= 2


@pytest.mark.parametrize(("share", "found"), [(1 / 2, 97), (1 / 3, 60)])
def test_another_model_is_found(share, found):
    draw = random.Random(2)
    outcomes = [asked(noisy(draw, varying=share, firmly=share))[0] for _ in range(100)]
    assert sum(outcome.verdict == "another" for outcome in outcomes) >= found
    assert sum(outcome.number for outcome in outcomes) / 100 <= 40


def test_the_same_server_is_asked_eight_questions_once():
    outcome, calls = asked(lambda _: "A")
    assert (outcome.verdict, outcome.same, calls) == ("same", QUESTIONS[:FIRST], QUESTIONS[:FIRST])


def test_one_that_reads_otherwise_is_asked_three_times_more_and_not_right_after_itself():
    outcome, calls = asked(lambda name: "B" if name == "3" else "A", QUESTIONS[:8])
    assert (outcome.otherwise, outcome.firm) == (["3"], ["3"])
    assert calls.count("3") == 4
    assert all(one != other for one, other in itertools.pairwise(calls))
    assert outcome.verdict is None  # of eight, one firm difference decides nothing


def test_a_difference_that_is_not_four_times_alike_is_noise():
    replies = iter("BBBC")
    outcome, _ = asked(lambda name: next(replies) if name == "0" else "A")
    assert (outcome.otherwise, outcome.firm, outcome.verdict) == (["0"], [], "same")


def test_few_kept_questions_decide_nothing_and_replies_may_lack():
    assert asked(lambda _: "B", QUESTIONS[:7])[0].verdict is None
    outcome, _ = asked(lambda _: None)
    assert (outcome.number, outcome.verdict) == (0, "same")


def test_at_most_64_questions_are_asked():
    firm = {name for place, name in enumerate(QUESTIONS) if place % 4 == 0}
    outcome, _ = asked(lambda name: "B" if name in firm else "A")
    assert outcome.verdict is None
    assert outcome.number == MOST
