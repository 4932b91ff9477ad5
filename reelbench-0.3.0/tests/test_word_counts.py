"""A card and a profile of one data set count the same words."""

from statistics import fmean

import pytest

import reelbench
from reelbench.base.languages import words
from reelbench.hub_cards import split_counts
from reelbench.registry import discovery
from reelbench.studio.profile import Extras, profile, read_benchmark


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's a half-hidden – almost lost – letter.", 6),  # a dash by itself is not a word
        ("वर्ग किस दिशा में चलता है?", 6),  # vowel signs are part of their word
        ("சதுரம் எந்த திசையில் நகர்கிறது?", 4),
        ("ما هو اَلْمُرَبَّع؟", 3),
        ("snake_case, 3.5 %", 4),  # snake, case, 3, 5
        ("", 0),
    ],
)
def test_words_are_runs_of_letters_and_digits(text, expected):
    assert len(words(text)) == expected


@pytest.mark.parametrize("name", ["moviecore", "rextime", "curve"])
def test_a_card_and_a_profile_agree(name):
    rows = list(reelbench.load(f"{name}_mini"))
    card = {
        found.title: fmean(found.values)
        for found in split_counts.of_split(discovery.get(name), rows).distributions
    }
    measured = profile(read_benchmark(name, "mini"), Extras()).model_dump()["words"]
    assert measured["question"] == pytest.approx(card["Words per question"])
    if "Words per answer" in card:
        assert measured["answer"] == pytest.approx(card["Words per answer"])
