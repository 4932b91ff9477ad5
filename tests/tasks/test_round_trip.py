"""`check` ends with rows as they are asked, and with what right and empty answers score."""

import json

import pytest

from reelbench.data import declared_check
from reelbench.data.loading import locate
from reelbench.registry import discovery
from reelbench.tasks import round_trip
from tests.declared import declared

COLUMNS = "source: {file: rows.json}\ncolumns: {id: n, video: film, question: q, "
CHOICE = {"film": "a.mp4", "options": ["red", "blue", "green"], "answer": "B"}


def declare(folder, text, rows):
    return declared(folder, f"id: kit\n{text}", rows, "rows.json")


def choices(number):
    return [{**CHOICE, "n": f"q{n}", "q": f"Which is number {n}?"} for n in range(number)]


def test_check_ends_with_rows_as_they_are_asked_and_the_scores_of_answers(reelbench, tmp_path):
    text = f"kind: choice\n{COLUMNS}options: options, answer: answer, duration: s}}\n"
    rows = [{**row, "s": 12.5} for row in choices(9)]
    folder = declare(tmp_path / "kit", text, rows)
    done = reelbench("check", folder, "--no-media")
    assert done.returncode == 0
    *_, score = lines = done.stdout.splitlines()
    assert score == "kit test: a perfect answer file scores 100.0, an empty one 0.0 (accuracy)"
    begin = lines.index("3 rows as asked:")
    assert [line.strip() for line in lines[begin + 1 : -1] if line.startswith("  q")] == [
        "q0",
        "q4",
        "q8",
    ]
    assert [line.strip() for line in lines[begin + 1 : begin + 5]] == [
        "q0",
        "video: a.mp4 (12.5 s)",
        "question: Which is number 0?",
        "options: (A) red (B) blue (C) green",
    ]
    assert "right answer" not in done.stdout
    shown = reelbench("check", folder, "--no-media", "--show").stdout
    assert shown.count("right answer: (B)") == 3
    document = json.loads(reelbench("check", folder, "--no-media", "--json").stdout)
    assert document["splits"]["test"]["round_trip"]["perfect"] == 100
    assert [row["right"] for row in document["rows"]] == [None] * 3


def test_right_answers_that_score_as_wrong_are_a_problem(reelbench, tmp_path):
    text = f"kind: span\n{COLUMNS}start: s, end: e}}\n"
    rows = [
        {"n": str(n), "film": "a.mp4", "q": f"He sits down {n} times.", "s": n, "e": n + 2}
        for n in range(4)
    ]
    rows[2]["e"] = rows[2]["s"]  # no answer meets a span without length
    done = reelbench("check", declare(tmp_path / "kit", text, rows), "--no-media")
    assert done.returncode == 2
    assert (
        "kit test: a perfect answer file scores 75.0 in miou, not 100.0: the right answers of "
        "1 question don't score as right ('2')" in done.stderr
    )


MISSING = (
    "REELBENCH_MEDIA names other folders, or `reelbench check kit --allow-outside DIR`; without "
    "videos: `eval --frames none`, `check --no-media`"
)


def test_where_videos_are_missing_one_advice_names_the_option_for_their_folder(reelbench, tmp_path):
    text = f"kind: choice\n{COLUMNS}options: options, answer: answer}}\n"
    folder = declare(tmp_path / "kit", text, choices(3))
    done = reelbench("check", folder)
    assert done.returncode == 2
    assert MISSING in done.stderr
    asked = reelbench("eval", folder, "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert MISSING in asked.stderr
    (tmp_path / "films").mkdir()
    again = reelbench("check", folder, "--allow-outside", tmp_path / "films")
    assert "the video 'a.mp4' is missing" in again.stderr
    assert str(tmp_path / "films") in again.stderr


def test_where_a_judge_scores_there_is_no_score_of_right_answers(reelbench, tmp_path):
    rows = [{"n": "1", "film": "a.mp4", "q": "Why?", "a": "It rained, so they went in."}]
    text = f"kind: open\n{COLUMNS}answer: a}}\n"
    done = reelbench("check", declare(tmp_path / "kit", text, rows), "--no-media")
    assert done.returncode == 0
    assert "1 row as asked:" in done.stdout
    assert "perfect" not in done.stdout


@pytest.mark.parametrize(
    "name", ["dramaqa_cogme", "minerva", "rextime", "timelens", "video_holmes"]
)
def test_right_answers_of_our_own_benchmarks_score_100(name):
    trip = round_trip.round_trip(discovery.find(name), "mini", locate(name, "mini").read())
    assert (trip.perfect, trip.empty, trip.misread) == (100, 0, ())


def test_of_many_rows_some_that_are_evenly_spread_are_answered(monkeypatch, tmp_path):
    monkeypatch.setattr(declared_check, "MOST_ROWS", 4)
    text = f"kind: choice\n{COLUMNS}options: options, answer: answer}}\n"
    spec = discovery.open_file(declare(tmp_path / "kit", text, choices(11)))
    (split,) = declared_check.check(spec, media=False)
    assert ([row["id"] for row in split.rows], split.row_count) == (["q0", "q4", "q8", "q10"], 11)
    trip = round_trip.round_trip(spec, "test", split.rows)
    assert (trip.scored, trip.perfect, trip.empty) == (4, 100, 0)
