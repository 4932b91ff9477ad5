"""Samples that are decoded and checked in one step are those of two steps, and faults are told as before."""

import copy
import json
import logging
import random

import pytest

from reelbench.base.errors import InputError
from reelbench.registry.records import Sample
from reelbench.scoring import result_files
from reelbench.scoring.sample_lines import quick_sample

REPLY = {"criterion": "score", "raw": '{"a": 1}', "score": 4, "key": "k", "model": "m"}
READER = {"raw": "B", "key": "k", "model": None}
LIKELIHOOD = {"sum": -1.5, "tokens": 2, "characters": 9}
WHOLE = {
    "id": "q1",
    "video": "film",
    "prediction": {"ans": "B", "pred_relevant_windows": [[0, 5.5]]},
    "parsed": {"answer": "B", "span": [0.0, 5.5]},
    "target": {"answer": "A", "spans": [[0.0, 10.0]]},
    "reason": None,
    "flags": ["empty"],
    "facets": {"kind": ["cause", "effect"], "length": []},
    "frame_timestamps": [0.0, 1.5],
    "frame_padding": 1,
    "frame_times_told": [0.0, 2.0],
    "frames_arrived": "unknown",
    "subtitles": 3,
    "tokens": {"prompt": 12, "completion": 4},
    "seconds": 0.25,
    "candidates": ["B", "C"],
    "option_scores": [{"sentence": LIKELIHOOD, "option": LIKELIHOOD}],
    "ranker_replies": [["1", None]],
    "read_by": READER,
    "state": "scored",
    "scores": {"correct": 0.1, "iou": 1e-3},
    "judge_replies": [REPLY, {**REPLY, "vote": 1, "by_schema": True}],
}
"""Every field of a sample."""
VALUES = [
    *(None, True, 0, 1, -1, 1.0, 0.5, 1e300, 2**60, "", "B", "1", "0.5", "true", "unscored", "nan"),
    *(
        [],
        [1],
        ["a"],
        [[0, 1]],
        {},
        {"a": 1},
        {"a": {"b": 2}},
        [None],
        'line: of " text',
        float("inf"),
    ),
]


def in_two_steps(text):
    """The sample that two steps make of a line."""
    return Sample.model_validate(json.loads(text))


def test_a_sample_has_every_field():
    assert WHOLE.keys() == Sample.model_fields.keys()


@pytest.mark.parametrize("omitted", [None, *WHOLE])
def test_a_line_gives_the_sample_of_two_steps(omitted):
    text = json.dumps({name: part for name, part in WHOLE.items() if name != omitted})
    sample = quick_sample(text)
    if omitted in {"id", "video", "prediction", "target", "state"}:
        assert sample is None
    else:
        assert repr(sample) == repr(in_two_steps(text))


def drawn_line(draw):
    """A whole sample's line with one to three values replaced."""
    row = json.loads(json.dumps(WHOLE))
    for _ in range(draw.randrange(1, 4)):
        value = copy.deepcopy(draw.choice(VALUES))
        name = draw.choice(list(row))
        part = row[name]
        if isinstance(part, dict) and part and draw.random() < 0.5:
            part[draw.choice(list(part))] = value
        elif isinstance(part, list) and part and draw.random() < 0.5:
            part[0] = value
        else:
            row[name] = value
    return json.dumps(row)


def test_drawn_lines_give_the_sample_of_two_steps_or_none():
    draw = random.Random(4)
    samples = 0
    for _ in range(4000):
        text = drawn_line(draw)
        sample = quick_sample(text)
        if sample is not None:
            samples += 1
            assert repr(sample) == repr(in_two_steps(text)), text
    assert 400 < samples < 3600


@pytest.mark.parametrize("path", [(), ("target",), ("facets",), ("scores",), ("tokens",), ("parsed",),
    ("prediction",), ("judge_replies", 0), ("read_by",), ("option_scores", 0),
    ("option_scores", 0, "option")], ids=str)  # fmt: skip
def test_a_repeated_key_is_in_doubt_wherever_it_is(path):
    row = json.loads(json.dumps(WHOLE))
    part = row
    for step in path:
        part = part[step]
    name = next(iter(part))
    part["__again__"] = part[name]
    text = json.dumps(row).replace("__again__", name)
    assert quick_sample(text) is None


@pytest.mark.parametrize("text", ["", "null", "[1]", "{", json.dumps(WHOLE)[:-1], json.dumps({**WHOLE, "other": 1}),
    json.dumps({**WHOLE, "prediction": "x" * 5000}), json.dumps(WHOLE).replace('"q1"', r'"\ud83d"')], ids=range(8))  # fmt: skip
def test_what_is_no_sample_or_long_is_in_doubt(text):
    assert quick_sample(text) is None


def write_samples(folder, *lines):
    """A result's samples."""
    (folder / result_files.SAMPLES_FILE).write_text("\n".join(lines) + "\n")


def line_of(**changes):
    """A sample's line with other values."""
    return json.dumps({**WHOLE, **changes})


def test_lines_in_doubt_are_read_and_said_as_before(tmp_path, caplog):
    repeated = line_of(id="q2")[:-1] + ', "id": "q3"}'
    long = line_of(id="q4", prediction="x" * 5000)
    write_samples(tmp_path, line_of(), repeated, "", long)
    with caplog.at_level(logging.WARNING):
        samples = list(result_files.read_samples(tmp_path))
    assert [sample.id for sample in samples] == ["q1", "q3", "q4"]
    [message] = [entry.getMessage() for entry in caplog.records]
    assert message == (
        f"{tmp_path}/samples.jsonl, line 2: the key 'id' occurs twice in one object; "
        "the last one counts"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (line_of(id="q2", state="done"), "line 2: field state: Input should be 'scored' or"),
        (line_of(id="q2", other=1), "line 2: field other: Extra inputs are not permitted"),
        (line_of(id="q2")[:-1], "line 2, column .*not valid JSON"),
        (line_of(), "line 2: the id 'q1' is there twice"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, message):
    write_samples(tmp_path, line_of(), line)
    with pytest.raises(InputError, match=message):
        list(result_files.read_samples(tmp_path))
