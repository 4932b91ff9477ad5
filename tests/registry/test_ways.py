"""The ways of asking, as words."""

import pytest

from reelbench.registry.errors import InputError
from reelbench.registry.ways import Candidates


@pytest.mark.parametrize("text", ["beam:5", "beam:2", "sample:5,t=0.7", "sample:64,t=1", "sample:2,t=0.05"])
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
