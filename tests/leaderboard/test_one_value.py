"""A run with a few items unscored has one value on a board, wherever that is read, and one p against another run."""

import csv
import json
import random

import pytest

from tests.declared import declared

QUESTIONS, VIDEOS, LACKING = 300, 20, 5


@pytest.fixture
def lacking(reelbench, tmp_path):
    """A store of two models, 300 questions on 20 videos; `lab/lacking` has no answer to five of them."""
    rows = [
        {
            "id": f"q{n}",
            "video": f"v{n % VIDEOS}",
            "question": f"Which, at {n}?",
            "options": list("wxyz"),
            "answer": "A",
        }
        for n in range(QUESTIONS)
    ]
    columns = ", ".join(f"{name}: {name}" for name in rows[0])
    text = (
        "id: quiz\ntitle: Quiz\nkind: choice\nanswer_is: letter\nsource: {file: rows.jsonl}\n"
        f"columns: {{{columns}}}\n"
    )
    folder = declared(tmp_path / "quiz", text, rows)
    draw = random.Random(5)
    right = {
        name: sum(draw.random() < share for _ in rows)
        for name, share in (("lacking", 0.6), ("whole", 0.5))
    }
    for name, number in right.items():
        given = [
            {"id": row["id"], "prediction": "A" if n < number else "B"}
            for n, row in enumerate(rows)
        ]
        given = given[: QUESTIONS - LACKING] if name == "lacking" else given
        answers = tmp_path / f"{name}.jsonl"
        answers.write_text("".join(json.dumps(line) + "\n" for line in given))
        where = ("--model", f"lab/{name}", "--output", tmp_path / name)
        done = reelbench("score", folder, "--predictions", answers, *where)
        assert done.returncode == 0, done.stderr
        assert (
            reelbench(
                "leaderboard", "add", tmp_path / name, "--store", tmp_path / "store"
            ).returncode
            == 0
        )
    return right["lacking"], tmp_path / "store"


def bound_of(right):
    """Say what the board's value of so many right answers is."""
    return (
        f"lower bound: of {QUESTIONS} questions {LACKING} without a score count at the scale's lowest; the interval "
        f"ends where each counts at the highest; {100 * right / (QUESTIONS - LACKING):.2f} over the "
        f"{QUESTIONS - LACKING} scored"
    )


def test_a_bound_its_n_its_interval_and_the_score_without_it_are_named_alike_everywhere(
    lacking, reelbench, tmp_path
):
    right, store = lacking
    bound, unbounded = 100 * right / QUESTIONS, 100 * right / (QUESTIONS - LACKING)
    result = json.loads((tmp_path / "lacking" / "result.json").read_text())
    assert result["metrics"]["accuracy"]["value"] == pytest.approx(unbounded)
    assert result["metrics"]["accuracy"]["n"] == QUESTIONS - LACKING
    assert (
        reelbench("leaderboard", "build", "--store", store, "--out", tmp_path / "site").returncode
        == 0
    )
    words = bound_of(right)
    downloads = tmp_path / "site" / "downloads"
    rows = {
        row["model"]: row
        for row in json.loads((downloads / "leaderboard.json").read_text())["rows"]
    }
    row, accuracy = rows["lab/lacking"], rows["lab/lacking"]["metrics"]["accuracy"]
    assert (accuracy["value"], accuracy["n"]) == (pytest.approx(bound), QUESTIONS)
    assert accuracy["ci95"][0] < bound < 100 * (right + LACKING) / QUESTIONS < accuracy["ci95"][1]
    assert (row["bound"], row["unscored"]) == (words, LACKING)
    assert row["stated_score"] == pytest.approx(unbounded)
    assert (rows["lab/whole"]["bound"], rows["lab/whole"]["stated_score"]) == (None, None)
    with (downloads / "quiz.csv").open(newline="", encoding="utf-8-sig") as file:
        cells = next(row for row in csv.DictReader(file) if row["model"] == "lab/lacking")
    assert float(cells["accuracy"]) == pytest.approx(bound)
    assert (cells["bound"], int(cells["unscored"])) == (words, LACKING)
    assert float(cells["stated_score"]) == pytest.approx(unbounded)
    printed = reelbench("leaderboard", "tables", "--store", store).stdout
    assert f"≥ {bound:.1f}" in printed
    assert f"({LACKING} unscored)" in printed


def test_an_export_has_the_bound_and_names_the_score_without_it(lacking, reelbench, tmp_path):
    right, store = lacking
    done = reelbench(
        "leaderboard",
        "export",
        store,
        "--format",
        "eee",
        "--organization",
        "L",
        "--out",
        tmp_path / "eee",
    )
    assert done.returncode == 0, done.stderr
    texts = [path.read_text() for path in (tmp_path / "eee").rglob("*.json")]
    [found] = json.loads(next(text for text in texts if "lab/lacking" in text))[
        "evaluation_results"
    ]
    details = found["score_details"]
    assert details["score"] == pytest.approx(100 * right / (QUESTIONS - LACKING))
    assert details["details"]["ranked_by"] == f"{100 * right / QUESTIONS:.2f}, {bound_of(right)}"


def test_the_board_and_compare_draw_alike(lacking, reelbench, tmp_path):
    _, store = lacking
    sides = (tmp_path / "lacking", tmp_path / "whole")
    alone = json.loads(reelbench("compare", *sides, "--json").stdout)
    among = json.loads(reelbench("compare", *sides, "--store", store, "--json").stdout)
    assert among["among"]["pairs"] == 1
    assert among["among"]["p"] == pytest.approx(among["metrics"]["accuracy"]["p"], abs=1e-12)
    assert among["metrics"]["accuracy"] == alone["metrics"]["accuracy"]
