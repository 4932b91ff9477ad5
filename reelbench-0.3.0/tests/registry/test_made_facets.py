"""Facets made of other columns (lengths and starts of spans, sources, skills, genres), and draws by tags."""

import json
import re

import pytest

from reelbench.data import loading
from reelbench.registry import discovery, rows


@pytest.mark.parametrize(
    ("span", "length", "lead"),
    [
        ([8.0, 12.9], "under 5 s", "within 10 s"),
        ([10.0, 15.0], "5 to 15 s", "after 10 to 30 s"),  # an end belongs to the longer range
        ([119.9, 179.8], "30 to 60 s", "after 60 to 120 s"),
        ([120.0, 180.0], "60 s or more", "after 120 s or more"),
        (
            [0.0, 2.0, 6.0, 9.0],
            "5 to 15 s",
            "within 10 s",
        ),  # two windows: 2 + 3 s, the first at once
        ([], None, None),  # hidden
    ],
)
def test_spans_fall_into_ranges(span, length, lead):
    row = {"category": ["sequential"], "source": "qvhighlights_val", "span": span}
    labels = {"span_length": [length], "lead": [lead]} if length else {}
    assert rows.facets(discovery.get("rextime"), row) == {
        "category": ["sequential"], "source": ["qvhighlights_val"], **labels,
    }  # fmt: skip


def test_results_are_broken_down_by_them(reelbench, tmp_path):
    mini_rows = list(loading.locate("rextime_mini").read())
    answers = [
        {
            "id": row["id"],
            "prediction": {"ans": row["answer"], "pred_relevant_windows": [row["span"]]},
        }
        for row in mini_rows
    ]
    (tmp_path / "answers.jsonl").write_text(
        "".join(
            json.dumps({"qid": answer_row["id"], **answer_row["prediction"]}) + "\n"
            for answer_row in answers
        )
    )
    for facet in ("source", "span_length", "lead"):
        done = reelbench(
            "score", "rextime_mini", "--predictions", tmp_path / "answers.jsonl", "--by", facet
        )
        assert done.returncode == 0, done.stderr
        table_lines = done.stdout[done.stdout.index(f"rextime by {facet}") :].splitlines()[2:]
        counted = set()
        for row in mini_rows:
            counted.update(rows.facets(discovery.get("rextime"), row)[facet])
        assert {line.split("  ")[0] for line in table_lines if re.search(r"\d$", line)} == counted
    skills, labels = set(), set()
    for row in loading.locate("curve_mini").read():
        skills.update(row["skills"])
        labels.update(rows.facets(discovery.get("curve"), row)["skills"])
    assert labels == skills


def test_a_genre_comes_from_moviechats_file(tmp_path):
    """MovieCORE's questions, on the same videos, get it where that file lies beside."""
    question = {"question": "Why?", "answer": "So.", "video": "7.mp4"}
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat" / "test.json").write_text(
        json.dumps({"7_1": question | {"class": "Comedy"}})
    )
    (row,) = loading.locate("moviechat", data=tmp_path / "chat" / "test.json").read()
    assert rows.facets(discovery.get("moviechat"), row) == {"genre": ["Comedy"]}
    core = tmp_path / "core"
    core.mkdir()
    (core / "test.json").write_text(json.dumps({"7_1": question | {"classification": "Theme"}}))
    (row,) = loading.locate("moviecore", data=core).read()
    assert rows.facets(discovery.get("moviecore"), row) == {"classification": ["Theme"]}
    (core / "moviechat_test.json").write_text((tmp_path / "chat" / "test.json").read_text())
    (row,) = loading.locate("moviecore", data=core).read()
    assert rows.facets(discovery.get("moviecore"), row) == {
        "classification": ["Theme"],
        "genre": ["Comedy"],
    }


def test_so_many_of_each_cogme_label_are_drawn(reelbench, tmp_path):
    mini_rows = [row["id"] for row in loading.locate("dramaqa_cogme_mini").read()]
    tags = [
        {
            "qid": name,
            "target": ["Event"],
            "content": ["Means" if place < 2 else "Identity"],
            "thinking": "Recall",
        }
        for place, name in enumerate(mini_rows[:5])
    ]
    (tmp_path / "tags.jsonl").write_text("".join(json.dumps(line) + "\n" for line in tags))
    page = (
        "review",
        "page",
        "dramaqa_cogme_mini",
        "--ask",
        "answers",
        "--output",
        tmp_path / "page.html",
    )
    done = reelbench(*page, "--per", "content=1", "--tags", tmp_path / "tags.jsonl")
    assert done.returncode == 0, done.stderr
    table_lines = re.findall(r'"key":"([^"]+)"', (tmp_path / "page.html").read_text())
    assert [
        sum(name in part for name in table_lines)
        for part in (mini_rows[:2], mini_rows[2:5], mini_rows[5:])
    ] == [
        1,
        1,
        0,
    ]
    refused = reelbench(*page, "--tags", tmp_path / "tags.jsonl")
    assert (refused.returncode, "give --per too" in refused.stderr) == (2, True)


def test_so_many_videos_of_each_genre_are_discussed(reelbench, tmp_path):
    videos = [
        {"video": f"f{n}", "metadata": {"class": genre}, "qa": [], "context": ["c"] * 8}
        for n, genre in enumerate("aab")
    ]
    (tmp_path / "videos.jsonl").write_text("".join(json.dumps(video) + "\n" for video in videos))
    words = (
        "make",
        "discussion",
        "--videos",
        tmp_path / "videos.jsonl",
        "--plan",
        "--json",
        "--llm",
        "m",
    )
    for per, films in (("class=1", 2), ("class=2", 3)):
        done = reelbench(*words, "--per", per)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["stages"][1]["in"] == films
    assert "has the fields class" in reelbench(*words, "--per", "year=1").stderr
