"""CogME's tags: the scheme of the paper's Tables 1 to 3, and a tags file with one thing wrong at a time."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.scoring.cognitive_profile import (
    COMPONENTS,
    THINKING_WEIGHTS,
    Tags,
    from_tags,
    read_tags,
)

GOOD = {
    "qid": 7,
    "target": ["Character", "Emotion"],
    "content": ["Causality"],
    "thinking": "Reasoning",
}


def written(tmp_path, *rows):
    path = tmp_path / "tags.jsonl"
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows),
        encoding="utf-8",
    )
    return path


def test_the_scheme_has_the_papers_nineteen_labels():
    assert COMPONENTS["target"] == (
        *(
            "Character",
            "Object",
            "Place",
            "Conversation",
            "Behavior",
            "Event",
            "Emotion",
            "Commonsense",
        ),
    )
    assert COMPONENTS["content"] == (
        *(
            "Identity",
            "Feature",
            "Relationship",
            "Means",
            "Context",
            "Sequence",
            "Causality",
            "Motivation",
        ),
    )
    assert THINKING_WEIGHTS == {"Recall": 1, "Grasping": 2, "Reasoning": 3}
    assert tuple(THINKING_WEIGHTS) == COMPONENTS["thinking"]


def test_tags_are_read_by_question(tmp_path):
    other = {
        "qid": "q 8",
        "thinking": "Recall",
        "content": ["Identity", "Means", "Motivation"],
        "target": [],
    }
    tags = read_tags(written(tmp_path, GOOD, "", other))

    assert tags == {
        "7": Tags(("Character", "Emotion"), ("Causality",), "Reasoning"),
        "q 8": Tags((), ("Identity", "Means", "Motivation"), "Recall"),
    }
    assert tags["7"].facets == {
        "target": ["Character", "Emotion"],
        "content": ["Causality"],
        "thinking": ["Reasoning"],
    }


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"target": ["Charcter"]},
            r'field "target": no label \'Charcter\'.*did you mean Character\?',
        ),
        (
            {"target": ["character"]},
            r'field "target": no label \'character\'.*did you mean Character\?',
        ),
        (
            {"content": ["Emotion"]},
            r'field "content": no label \'Emotion\'; labels are Identity, Feature',
        ),
        (
            {"thinking": "Reason"},
            r'field "thinking": no label \'Reason\'.*did you mean Reasoning\?',
        ),
        (
            {"target": ["Character", "Object", "Place", "Event"]},
            r'field "target": 4 labels \(Character, Object, Place, Event\); at most 3',
        ),
        ({"content": ["Means"] * 2}, r'field "content": \'Means\' occurs twice'),
        (
            {"thinking": ["Recall", "Grasping"]},
            r'field "thinking": a list of 2 labels; expected exactly one',
        ),
        ({"thinking": None}, r'field "thinking": expected a label as text, found null; '),
        (
            {"target": "Character"},
            r'field "target": expected a list of up to 3 labels, found text(;|$)',
        ),
        ({"content": [3]}, r'field "content": expected a label as text, found a number'),
        ({"qid": None}, r'field "qid": expected a question\'s id .*found null'),
        ({"qid": True}, r'field "qid": .*found true or false'),
        ({"qid": ""}, r'field "qid": expected a question\'s id'),
        ({"targets": ["Place"]}, r'unknown field "targets".*did you mean target\?'),
    ],
)
def test_a_wrong_row_names_the_file_the_line_and_the_field(tmp_path, change, says):
    path = written(tmp_path, {**GOOD, "qid": 1}, {**GOOD, **change})

    with pytest.raises(InputError, match=says) as error:
        read_tags(path)

    assert str(error.value).startswith(f"{path}, line 2")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("field", ["qid", "target", "content", "thinking"])
def test_a_missing_field(tmp_path, field):
    row = {name: value for name, value in GOOD.items() if name != field}

    with pytest.raises(InputError, match=f'line 1: field "{field}" is missing'):
        read_tags(written(tmp_path, row))


def test_a_question_tagged_twice_names_both_lines(tmp_path):
    with pytest.raises(
        InputError, match=r'line 3, field "qid": \'7\' has its tags in line 1 already'
    ):
        read_tags(written(tmp_path, GOOD, {**GOOD, "qid": 8}, {**GOOD, "qid": "7"}))


def test_files_that_hold_no_rows(tmp_path):
    with pytest.raises(InputError, match="no tags in it"):
        read_tags(written(tmp_path, ""))
    with pytest.raises(
        InputError, match=r"line 1: expected an object .* found a list; one object per line"
    ):
        read_tags(written(tmp_path, [GOOD]))
    with pytest.raises(InputError, match=r"line 2, column .*: not valid JSON"):
        read_tags(written(tmp_path, GOOD, '{"qid": 8, "tar'))


def test_the_facets_that_rows_lack_are_those_of_tags():
    assert from_tags(discovery.get("rextime")) == {"target", "content", "thinking", "tagged"}
