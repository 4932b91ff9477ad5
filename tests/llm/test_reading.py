"""Replies of models, read into pydantic models."""

import json

import pytest
from pydantic import BaseModel

from reelbench.llm.reading import (
    UnreadableError,
    beside_dictionary,
    is_refusal,
    last_dictionary,
    read_model,
)
from tests.alarms import one_pass


class Said(BaseModel):
    text: str


@pytest.mark.parametrize(
    "text", ["```json\n{}\n```", "```", "a ``` b", '```\n{"text": "no"}\n```', "}"]
)
@pytest.mark.parametrize(
    "frame", ["{}", "```json\n{}\n```", "First: ```{{}}```, then\n```json\n{}\n```", "Words.\n{}"]
)
def test_an_object_is_read_whole_whatever_its_texts_hold(text, frame):
    assert read_model(frame.format(json.dumps({"text": text})), Said).text == text


@pytest.mark.parametrize(
    "reply", ["```", "``````", "```json\n```", '```{"text": "a"', "a {text} c"]
)
def test_what_does_not_end_in_an_object_is_not_read(reply):
    with pytest.raises(UnreadableError, match="does not end in one complete JSON object"):
        read_model(reply, Said)


@pytest.mark.parametrize("unit", ['"\\', '\\"', "'\\", ",'\\\""])
def test_a_string_that_never_ends_is_read_in_one_pass(unit):
    # Looked for anew from every quote, as it was, its end takes 10^10 steps: minutes, where a pass
    # takes 10^5.
    with (
        one_pass(),
        pytest.raises(UnreadableError, match="does not end in one complete JSON object"),
    ):
        read_model('{"text"' + (unit * 90_000)[:180_000], Said)


WHOLE = '{"text": "a } b"}'


@pytest.mark.parametrize(
    "reply",
    [
        f"{WHOLE} I hope this helps.",
        f"```json\n{WHOLE}\n```\nThese questions require the whole film.",
        f"See {{this}} first:\n```\n{WHOLE}\n``` and {{that}}.",
        "{'text': 'a } b'}, as you asked; don't use it elsewhere.",
        f"{WHOLE} Once more: {WHOLE}",
        f'{{"of another shape": 1}} {WHOLE} {{"note": "done"}} Bye.',
    ],
)
def test_a_whole_object_is_read_whatever_stands_around_it(reply):
    assert read_model(reply, Said).text == "a } b"


@pytest.mark.parametrize(
    "reply", ['{"text": "a"} or {"text": "b"}?', '{"text": "a"}\n```\n{"text": "b"}\n```\nDone.']
)
def test_two_objects_that_differ_are_not_read(reply):
    with pytest.raises(UnreadableError, match="two whole JSON objects that differ"):
        read_model(reply, Said)
    assert last_dictionary(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        '{"text": "a", "text": "b"} as asked',
        '{"all": [{"text": "a"}, {"text": "b"}',
        '{"all": [{"text": "a"}, {"text": "b"}, {"te and so on',
        '{"all": {"text": "a"}, "all": 2} That is it.',
    ],
)
def test_a_part_of_a_broken_object_is_not_read(reply):
    with pytest.raises(UnreadableError):
        read_model(reply, Said)


@pytest.mark.parametrize(
    ("reply", "refused"),
    [
        ("I'm sorry, but I can't assist with that.", True),
        ("I’m sorry, I cannot help with this request.", True),
        ("Sorry, but as an AI I am unable to provide that.", True),
        ("I cannot assist with that.", True),
        ("As an AI language model, I am unable to review this.", True),
        ("I can't help but notice that question 2 needs no video.", False),
        ("Unfortunately, question 2 can be answered from the title.", False),
        ("I can't answer question 3 without the video, which is good.", False),
        (
            "I'm sorry, but I can't help thinking that all is well. "
            + "The first question is sound. " * 20,
            False,
        ),
    ],
)
def test_a_refusal_is_told_from_a_review(reply, refused):
    assert is_refusal(reply) is refused


@pytest.mark.parametrize(
    ("reply", "words", "value"),
    [
        ('As seen {here}.\n```json\n{"a": {"b": 1}}\n```', "As seen {here}.", {"a": {"b": 1}}),
        ('{"a": 1} is what I say.', "is what I say.", {"a": 1}),
        ("first {'a': 1}, no: {'b': 2}", "first {'a': 1}, no:", {"b": 2}),
        ("Only words {", "Only words {", None),
    ],
)
def test_the_words_beside_a_dictionary(reply, words, value):
    assert beside_dictionary(reply) == (words, value)
