"""Runs of lmms-eval's own task on rows of ours, of which some can't be read and are left out."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.tasks.lmms.twins import twin_items
from reelbench.tasks.submissions import Questions

DECLARED = """\
id: kit
kind: choice
skip: unreadable
answer_is: letter
source: {file: rows.json}
columns: {id: n, video: film, question: q, options: o, answer: a}
"""


@pytest.fixture
def questions(tmp_path):
    rows = [
        {
            "n": f"q{n}",
            "film": "a.mp4",
            "q": f"Which is {n}?",
            "o": ["tea", "oil"],
            "a": "AB"[n % 2],
        }
        for n in range(4)
    ]
    rows[1]["a"] = "NA"
    (tmp_path / "benchmark.yaml").write_text(DECLARED, encoding="utf-8")
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    return Questions(discovery.open_file(tmp_path), "test")


def logged(tmp_path, *numbers):
    """A log of answers to questions by their number, as lmms-eval 0.7.3 writes it."""
    path = tmp_path / "samples_kit.jsonl"
    lines = [
        {
            "doc_id": number,
            "input": f"Which is {number}?\nA. tea\nB. oil",
            "filtered_resps": ["B"],
            "resps": [["B"]],
        }
        for number in numbers
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_answers_to_rows_that_are_left_out_are_counted_and_move_no_other(questions, tmp_path):
    twin = twin_items(logged(tmp_path, 0, 1, 2, 3), questions)
    assert [item.id for item in twin.items] == ["q0", "q2", "q3"]
    assert "; 1 answer to rows that are left out (skip: unreadable)" in twin.note("kit", {})


def test_an_answer_to_no_row_is_refused_all_the_same(questions, tmp_path):
    with pytest.raises(InputError, match="line 2: is about no question of kit"):
        twin_items(logged(tmp_path, 0, 7), questions)
