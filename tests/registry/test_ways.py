"""The ways of asking, as words."""

import re

import pytest

from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.registry.decoding import Answering, Candidates, check


@pytest.mark.parametrize(
    "text", ["beam:5", "beam:2", "sample:5,t=0.7", "sample:64,t=1", "sample:2,t=0.05"]
)
def test_candidates_are_read_and_said_alike(text):
    assert str(Candidates.parse(text)) == text


def test_one_spelling_stands_for_all():
    assert str(Candidates.parse(" sample:05,t=.70 ")) == "sample:5,t=0.7"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("beam", "give beam:K or sample:K,t=T"),
        ("beam:5,t=0.7", "give beam:K or sample:K,t=T"),
        ("sample:5", "give beam:K or sample:K,t=T"),
        ("sample:5,t=-1", "give beam:K or sample:K,t=T"),
        ("sample:5,t=0", "at t=0 all samples are the same"),
        ("beam:1", "K is from 2 to 64"),
        ("beam:65", "K is from 2 to 64"),
    ],
)
def test_what_is_not_candidates_says_what_is(text, why):
    with pytest.raises(InputError, match=why):
        Candidates.parse(text)


def test_answering_is_said_in_full_and_takes_a_task_s_own_span():
    chosen = Answering.parse("options")
    assert str(chosen) == "options:norm=mean,over=sentence"
    grounded, alone = (
        discovery.find_task(name)[1] for name in ("rextime_options", "dramaqa_cogme_options")
    )
    assert str(chosen.for_task(grounded)) == "options:norm=mean,over=sentence,span=predicted"
    assert str(chosen.for_task(alone)) == "options:norm=mean,over=sentence,span=none"
    text = "options:norm=chars,over=option,span=truth"
    assert str(Answering.parse(text).for_task(grounded)) == text
    assert Answering.parse(text).span == "truth"
    with pytest.raises(InputError, match="the answers of dramaqa_cogme_options name no span"):
        Answering.parse(text).for_task(alone)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("letters", "give options"),
        ("options:norm=mean,norm=sum", "each at most once"),
        (
            "options:norm",
            "norm= is not known; there are norm=mean|sum|chars; over=sentence|option; span=",
        ),
        ("options:norm=median", "norm=median is not known"),
        ("options:size=3", "size=3 is not known"),
    ],
)
def test_what_is_not_an_answering_says_what_is(text, why):
    with pytest.raises(InputError, match=re.escape(why)):
        Answering.parse(text)


def test_a_task_is_asked_in_ways_of_its_own_only():
    scored, written = (discovery.find_task(name)[1] for name in ("rextime_options", "rextime"))
    with pytest.raises(
        InputError, match="rextime: its answers are free text, so they can't be chosen by options:"
    ):
        check(written, None, Answering())
    with pytest.raises(
        InputError,
        match="rextime_options: its options are scored and no text is written, so there are no beam",
    ):
        check(scored, Candidates("beam", 5), None)
    check(scored, None, None)
    check(written, Candidates("beam", 5), None)
