"""Replies of models, read into pydantic models."""

import json

import pytest
from pydantic import BaseModel

from reelbench.llm.reading import UnreadableError, read_model


class Said(BaseModel):
    text: str


@pytest.mark.parametrize("text", ["```json\n{}\n```", "```", "a ``` b", '```\n{"text": "no"}\n```', "}"])
@pytest.mark.parametrize("frame", ["{}", "```json\n{}\n```", "First: ```{{}}```, then\n```json\n{}\n```", "Words.\n{}"])
def test_an_object_is_read_whole_whatever_its_texts_hold(text, frame):
    assert read_model(frame.format(json.dumps({"text": text})), Said).text == text


@pytest.mark.parametrize("reply", ["```", "``````", "```json\n```", '```{"text": "a"', 'a {"text": "b"} c'])
def test_what_does_not_end_in_an_object_is_not_read(reply):
    with pytest.raises(UnreadableError, match="does not end in one whole JSON object"):
        read_model(reply, Said)
