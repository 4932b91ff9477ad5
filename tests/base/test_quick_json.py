"""Lines of JSON are decoded to what Python's own decoder makes of them, and faults are told as before."""

import json
import logging
import math
import random
import struct

import pytest

from reelbench.base.errors import InputError
from reelbench.base.files import Decoder
from reelbench.base.quick_json import quick_value

PLAIN = [
    '{"id": "q1", "parsed": {"answer": "B", "span": [0.0, 5.5]}, "flags": [], "reason": null}',
    '{"prediction": "it ends at 12:30", "facets": {"kind": ["a: b"]}}',
    r'{"prediction": "{\"answer\": \"B\"}", "replies": [{"raw": "1"}, {"raw": "2"}]}',
    r'{"a": "\ud83d\ude00", "b": -0, "c": -0.0, "d": 123456789012345678901234567890, "e": NaN}',
]
UNSURE = [
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": 2}}',
    '{"a": [{"b": 1, "b": 2}]}',
    '{"a": 1, "a" : ":"}',
    r'{"a\\": ":", "b": 1, "b": 2}',
    r'{"a": "\":", "a": 1}',
    '{"a": [[{"b": 1}]]}',
    r'{"a": "\ud83d"}',
    '{"a": ' + "[" * 120 + "]" * 120 + "}",
    '{"a": ' + "9" * 5000 + "}",
    '{"a": 01}',
    "[1]",
    "null",
    "",
]


def written(value):
    """The value with all digits, and the order of its keys."""
    return repr(value)


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_line_is_what_pythons_decoder_makes_of_it(text):
    assert written(quick_value(text)) == written(json.loads(text))


@pytest.mark.parametrize("text", UNSURE, ids=range(len(UNSURE)))
def test_a_line_of_which_something_is_to_be_said_is_looked_at(text):
    assert quick_value(text) is None


def test_numbers_are_equal_to_the_last_bit():
    draw = random.Random(3)
    numbers = [struct.unpack("d", draw.randbytes(8))[0] for _ in range(2000)]
    texts = []
    for number in filter(math.isfinite, numbers):
        texts += [repr(number), f"{number:.{draw.randrange(25)}e}", f"{number:.25g}"]
    line = [f'{{"a": {text}}}' for text in texts]
    assert [written(quick_value(text)) for text in line] == [written(json.loads(text)) for text in line]  # fmt: skip


def test_lines_say_what_they_said(caplog):
    lines = "\n".join([PLAIN[0], '{"a": 1, "a": 2}', "", '{"a": 3}'])
    with caplog.at_level(logging.WARNING):
        values = list(Decoder("x").lines(lines))
    assert values == [(1, json.loads(PLAIN[0])), (2, {"a": 2}), (4, {"a": 3})]
    assert [entry.getMessage() for entry in caplog.records] == [
        "x, line 2: the key 'a' occurs twice in one object; the last one counts"
    ]
    with pytest.raises(InputError, match="x, line 2: the key 'a' occurs twice in one object; keep"):
        list(Decoder("x", unique=True).lines(lines))
