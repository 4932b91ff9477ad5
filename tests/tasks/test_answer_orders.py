"""Orders, which no key scores, and columns that keys of `--set` name."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.tasks.benchmark_folder import NewBenchmark, make


def made(tmp_path, rows, **request):
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    return make(NewBenchmark("mine", file, **request), tmp_path / "mine")


def test_an_order_is_no_answer_and_that_is_said(tmp_path):
    rows = [
        {"id": f"q{n}", "video": f"v{n}.mp4", "question": "In which order?", "gt": [2, 0, 1]}
        for n in range(4)
    ]
    with pytest.raises(
        InputError, match=r"'gt' contains orders, such as \[2, 0, 1\]: no key scores"
    ):
        made(tmp_path, rows)
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("options", [[1, 2, 3, 4], [3, 1, 4, 2]])
def test_numbers_to_choose_from_are_no_order(options, tmp_path):
    rows = [
        {"id": f"q{n}", "video": f"v{n}.mp4", "question": f"How many {n}?", "options": options,
         "answer": "ABCD"[n]}
        for n in range(4)
    ]  # fmt: skip
    assert made(tmp_path, rows).guess.columns["options"] == "options"


def test_a_column_that_is_left_unused_or_named_is_not_refused(tmp_path):
    rows = [
        {"id": f"q{n}", "video": f"v{n}.mp4", "question": f"Which {n}?", "options": ["tea", "milk"],
         "answer": "tea", "log": [1, 2, 3]}
        for n in range(4)
    ]  # fmt: skip
    assert made(tmp_path, rows, without=("log",)).spec.id == "mine"


def test_a_column_that_a_key_names_is_used(tmp_path):
    rows = [
        {"id": f"q{n}", "video": f"v{n}.mp4", "question": f"Which {n}?", "options": ["tea", "milk"],
         "answer": "tea", "part": "first", "other": "x"}
        for n in range(4)
    ]  # fmt: skip
    _, guess = made(tmp_path, rows, keys={"facets": "[part]"})
    assert "other" in guess.unused
    assert "part" not in guess.unused


def test_a_column_is_used_where_a_key_names_it_and_not_where_a_text_has_its_word(tmp_path):
    rows = [
        {"id": f"q{n}", "video": f"v{n}.mp4", "question": f"Which {n}?", "options": ["tea", "milk"],
         "answer": "tea", "the part": "first", "words": "x", "wrong": "x"}
        for n in range(4)
    ]  # fmt: skip
    keys = {"title": "Films, words: all of them", "facets": '["the part"]'}
    _, guess = made(tmp_path, rows, keys=keys)
    assert "the part" not in guess.unused
    assert {"words", "wrong"} <= guess.unused.keys()
