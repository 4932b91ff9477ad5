"""Prompts of the user's own: with the material after them, or with places for it."""

from importlib import resources

import pytest

from reelbench.base.errors import InputError
from reelbench.llm.material import PromptFiles


@pytest.fixture
def ask(tmp_path):
    """A function: a prompt's text and material -> the messages that it makes."""

    def ask(text, material, **more):
        (tmp_path / "mine.txt").write_text(text)
        return PromptFiles(resources.files("reelbench.llm"), tmp_path).messages(
            "mine.txt", material, **more
        )

    return ask


@pytest.mark.parametrize("place", ["<CAPTIONS>", "{captions}"])
def test_a_prompt_with_places_is_sent_as_it_is_with_them_filled(ask, place):
    text = f'Captions:\n{place}\nReply:\n```json{{\n  "event1": "<EVENT1>", "score": <SCORE>\n}}```'
    shown = "A cat <CAPTIONS> {captions} sleeps.\nA dog barks."
    (message,) = ask(text, [("captions", shown), ("query", "not placed")])
    assert message == {"role": "user", "content": text.replace(place, shown)}


def test_a_part_of_the_material_may_have_a_place_by_another_name(ask):
    (message,) = ask("Question: <QUESTION1>", [("case1", "whole")], parts={"question1": "Why?"})
    assert message["content"] == "Question: Why?"


def test_without_places_the_material_follows_and_what_papers_print_stays(ask):
    system, user = ask("Reply with <ANSWER>, {n} words.", [("captions", "A cat.")], n=3)
    assert system["content"].startswith("Reply with <ANSWER>, 3 words.")
    assert "A cat." in user["content"]


def test_a_place_that_nothing_stands_for_is_named(ask):
    with pytest.raises(InputError, match=r"no value for \{plot\}; there are \{captions\}"):
        ask("{captions} {plot}", [("captions", "A cat.")])
