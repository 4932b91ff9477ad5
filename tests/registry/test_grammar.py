"""Keys of a `benchmark.yaml` that say which rows are asked, and what stands in no column."""

import json

import pytest

import reelbench as face
from reelbench.base.errors import InputError
from reelbench.registry import benchmark_file, discovery
from tests.declared import declared
from tests.servers.judge import Answer, JudgeServer

CHOICE = "id: grammar\nkind: choice\nsource: {file: rows.jsonl}\n"
SPAN = "id: grammar\nkind: span\nsource: {file: rows.jsonl}\n"
OPEN = "id: grammar\nkind: open\nsource: {file: rows.jsonl}\n"
ROW = {"id": "q1", "video": "v", "question": "Which?", "options": ["tea", "milk"], "answer": "A"}
COLUMNS = "columns: {id: id, video: video, question: question, options: options, answer: answer}\n"
SPANS = "columns: {id: id, video: video, question: question, span: span, clip: clip}\n"


def loaded(folder, text, rows):
    return list(face.load(str(declared(folder, text, rows))))


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("{clip: true}", ["q0", "q2"]),
        ("{clip: True, task: [count, order]}", ["q0"]),
        ("{level: 2}", ["q1", "q2"]),
        ("{info.part: b}", ["q2"]),
    ],
)
def test_rows_are_asked_by_their_words(where, ids, tmp_path):
    further = [
        {"clip": True, "task": "count", "level": 1, "info": {"part": "a"}},
        {"clip": False, "task": "order", "level": 2.0, "info": {"part": "a"}},
        {"clip": True, "task": "tell", "level": "2", "info": {"part": "b"}},
    ]
    rows = [{**ROW, "id": f"q{n}", **cells} for n, cells in enumerate(further)]
    assert [
        row["id"] for row in loaded(tmp_path / "b", f"{CHOICE}where: {where}\n{COLUMNS}", rows)
    ] == ids


def test_words_that_no_row_has_are_named(tmp_path):
    # A number of a file is its digits: `2.0` of a row is the word 2.
    text = f"{CHOICE}where: {{level: 2.0, task: [count, order]}}\n{COLUMNS}"
    with pytest.raises(InputError, match=r"asks no row \(level: 2\.0; task: count or order\)"):
        loaded(tmp_path / "b", text, [{**ROW, "level": 2.0, "task": "count"}])


@pytest.mark.parametrize(
    ("rule", "cells", "level"),
    [
        ("gate", {"level": 2.0}, "2"),
        ("gate", {"level": "0"}, "0"),
        ("chain", {"level": [[1, 2], 3]}, "1"),
        ("all", {"level": None}, "1"),
    ],
)
def test_a_level_of_a_group_is_a_number_or_a_list(rule, cells, level, tmp_path):
    text = f"{CHOICE}group: {{by: video, rule: {rule}, levels: level}}\n{COLUMNS}"
    (row,) = loaded(tmp_path / "b", text, [{**ROW, **cells}])
    assert row["counts_with"] == ["v", rule, level]


@pytest.mark.parametrize(
    ("rule", "cell", "line"),
    [
        ("gate", "basic", "level is 'basic', expected a level, or a list that places rows"),
        ("gate", None, "level is '', expected a level"),
        ("chain", 0, "level is 0, and the levels of a chain begin at 1"),
        ("chain", [], "level places 0 rows, and its group has 1 or more"),
    ],
)
def test_a_cell_that_is_no_level_is_named(rule, cell, line, tmp_path):
    text = f"{CHOICE}group: {{by: video, rule: {rule}, levels: level}}\n{COLUMNS}"
    with pytest.raises(InputError, match=line):
        loaded(tmp_path / "b", text, [{**ROW, "level": cell}])


def test_other_rows_are_other_data(tmp_path):
    whole = benchmark_file.read(declared(tmp_path / "a", CHOICE + COLUMNS, [ROW]))
    part = benchmark_file.read(
        declared(tmp_path / "b", f"{CHOICE}where: {{task: count}}\n{COLUMNS}", [ROW])
    )
    assert whole.reader != part.reader


def test_columns_may_be_the_same_in_all_rows_or_have_other_words(tmp_path):
    columns = (
        "columns:\n  id: id\n  video: video\n  question: {always: Is it so?}\n"
        "  answer: {column: right, true: 'yes', false: 'no'}\n"
        "  part: {column: task, count: number, order: time}\n"
    )
    text = f"{CHOICE}options: {{are: ['yes', 'no']}}\nfacets: [part]\n{columns}"
    rows = [
        {"id": "q0", "video": "v", "right": True, "task": "count"},
        {"id": "q1", "video": "v", "right": False, "task": "order"},
    ]
    first, second = loaded(tmp_path / "b", text, rows)
    assert (first["question"], first["answer"], first["part"]) == ("Is it so?", "A", ["number"])
    assert (second["question"], second["answer"], second["part"]) == ("Is it so?", "B", ["time"])
    discovery._registry = None
    with pytest.raises(InputError, match=r"task\) is 'tell', expected count, order"):
        loaded(tmp_path / "b", text, [{**rows[0], "task": "tell"}])


def test_a_right_option_and_wrong_ones_are_shuffled_by_seed_and_id(tmp_path):
    columns = "columns: {id: id, video: video, question: question}\n"
    rows = [
        {
            "id": f"q{n}",
            "video": "v",
            "question": "Which?",
            "right": "tea",
            "wrong": ["milk", "oil", "rain"],
        }
        for n in range(200)
    ]
    text = f"{CHOICE}options: {{right: right, wrong: wrong, seed: SEED}}\n{columns}"
    orders = []
    for seed in ("1", "1", "2"):
        discovery._registry = None
        drawn = loaded(tmp_path / "b", text.replace("SEED", seed), rows)
        for row in drawn:
            assert sorted(row["options"]) == ["milk", "oil", "rain", "tea"]
            assert row["options"]["ABCD".index(row["answer"])] == "tea"
        orders.append([row["answer"] for row in drawn])
    assert orders[0] == orders[1] != orders[2]
    # Each place has about 50 of 200: 4.5 standard deviations are 27.
    assert all(abs(orders[0].count(letter) - 50) < 28 for letter in "ABCD")


def test_a_missing_wrong_option_is_none(tmp_path):
    text = (
        f"{CHOICE}options: {{right: right, wrong: [w1, w2]}}\nabsent: N/A\n"
        "columns: {id: id, video: video, question: question}\n"
    )
    row = {"id": "q", "video": "v", "question": "Which?", "right": "tea"}
    (read,) = loaded(tmp_path / "b", text, [{**row, "w1": "milk", "w2": "N/A"}])
    assert sorted(read["options"]) == ["milk", "tea"]


@pytest.mark.parametrize(
    ("head", "cells", "span", "clip"),
    [
        ("span_from: clip\n", {"clip": [100, 160], "span": [3, 9]}, [103, 109], [100, 160]),
        ("span_from: clip\n", {"clip": None, "span": [3, 9]}, [3, 9], []),
        ("", {"clip": [None, None], "span": [3, 9]}, [3, 9], []),
        ("", {"clip": [None, 12], "span": [3, 9]}, [3, 9], [0, 12]),
        ("", {"clip": "", "span": [3, 9]}, [3, 9], []),
        ("", {"clip": "[0, 00:01:05]", "span": ["3s", "9.5 sec"]}, [3, 9.5], [0, 65]),
        (
            "span_from: clip\nspan_unit: milliseconds\n",
            {"clip": [5, 9], "span": [1000, 2000]},
            [6, 7],
            [5, 9],
        ),
    ],
)
def test_spans_may_count_from_the_part_shown_which_may_be_all(head, cells, span, clip, tmp_path):
    row = {"id": "q", "video": "v", "question": "When?", **cells}
    (read,) = loaded(tmp_path / "b", SPAN + head + SPANS, [row])
    assert (read["span"], read["clip"]) == (span, clip)


def test_a_part_without_an_end_ends_with_its_video(tmp_path):
    row = {"id": "q", "video": "v", "question": "When?", "clip": [5, None], "span": [6, 7]}
    with pytest.raises(InputError, match=r"clip has no end; columns\.duration would say it"):
        loaded(tmp_path / "b", SPAN + SPANS, [row])
    discovery._registry = None
    text = SPAN + SPANS.replace("clip: clip", "clip: clip, duration: length")
    (read,) = loaded(tmp_path / "b", text, [{**row, "length": 30}])
    assert read["clip"] == [5, 30]


def test_a_column_is_parted_by_a_template(tmp_path):
    text = (
        f"{CHOICE}parts: {{id: '{{scene}}_{{place}}'}}\ngroup: {{by: scene, rule: all}}\n{COLUMNS}"
    )
    rows = [{**ROW, "id": name} for name in ("my_kitchen_1", "my_kitchen_2", "yard_1")]
    groups = [row["counts_with"][0] for row in loaded(tmp_path / "b", text, rows)]
    assert groups == ["my_kitchen", "my_kitchen", "yard"]
    discovery._registry = None
    with pytest.raises(InputError, match=r"id is 'yard', expected \{scene\}_\{place\}"):
        loaded(tmp_path / "b", text, [{**ROW, "id": "yard"}])


def test_the_judge_is_told_further_answers_and_what_to_look_for(tmp_path, monkeypatch):
    monkeypatch.setenv("REELBENCH_JUDGE_API_KEY", "x")
    text = (
        f"{OPEN}answers: any\njudge: {{prompts: marks, scale: [0, 1]}}\n"
        "columns: {id: id, video: video, question: question, answer: [answer, more], rubric: rule}\n"
    )
    row = {
        "id": "q",
        "video": "v",
        "question": "Why?",
        "answer": "heat",
        "more": ["fire"],
        "rule": "name it",
    }
    folder = declared(tmp_path / "b", text, [row])
    (folder / "marks").mkdir()
    (folder / "marks" / "right.txt").write_text("Mark it as JSON.", encoding="utf-8")
    (folder / "marks" / "user.txt").write_text(
        "{question}|{reference}|{also}|{rubric}|{answer}", encoding="utf-8"
    )
    (folder / "answers.json").write_text(json.dumps({"q": "the fire"}), encoding="utf-8")
    with JudgeServer(lambda _: Answer('{"score": 1}')) as server:
        face.score(str(folder), folder / "answers.json", judge=f"marker@{server.url}")
        (call,) = server.calls
    assert call.user == "Why?|heat|fire|name it|the fire"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{CHOICE}where: {{task: }}\n{COLUMNS}", "line 4: where.task has no word"),
        (f"{CHOICE}span_from: clip\n{COLUMNS}", "span_from: a choice benchmark has no spans"),
        (f"{SPAN}span_from: clip\n{SPANS.replace(', clip: clip', '')}", "needs columns.clip"),
        (f"{CHOICE}parts: {{id: '{{a}}{{b}}'}}\n{COLUMNS}", "with something between them"),
        (
            f"{CHOICE}options: {{right: a, wrong: b}}\n{COLUMNS}",
            "line 4: options.right is the answer",
        ),
        (f"{CHOICE}columns: {{id: {{always: }}}}\n", "columns.id.always is missing"),
        (f"{CHOICE}columns: {{id: {{column: x}}}}\n", "columns.id: expected `{always: TEXT}` or"),
    ],
)
def test_a_key_in_the_wrong_place_is_a_line(text, line, tmp_path):
    with pytest.raises(InputError) as caught:
        benchmark_file.read(declared(tmp_path / "b", text, [ROW]))
    assert line in str(caught.value)


def test_rows_may_lie_in_a_list_of_lists(tmp_path):
    columns = COLUMNS.replace("id: id", "id: '{outer}-{turn}'")
    head = CHOICE.replace("rows.jsonl", "rows.json") + "each: value/{turn}/questions\n"
    asked = {name: ROW[name] for name in ("question", "options", "answer")}
    sessions = [[{"video": "v", "questions": [asked]}] * 2, [{"video": "w", "questions": [asked]}]]
    (tmp_path / "benchmark.yaml").write_text(head + columns, encoding="utf-8")
    (tmp_path / "rows.json").write_text(json.dumps(sessions), encoding="utf-8")
    assert [row["id"] for row in face.load(str(tmp_path))] == ["1-1", "1-2", "2-1"]
