"""`reelbench new`: which column is what, seen from values and names; what can't be seen is named."""

import json

import pytest

from reelbench.tasks.column_guess import guess

SIX = [{"n": n, "film": f"film{n % 2}.mp4", "words": f"Which shape is number {n}?"} for n in range(6)]
OPTIONS = ["circle", "square", "star"]


def with_each(**more):
    return [{**row, **{name: value(row["n"]) for name, value in more.items()}} for row in SIX]


GUESSES = [
    (
        with_each(pool=lambda _: OPTIONS, truth=lambda n: OPTIONS[n % 3]),
        ("choice", {"id": "n", "video": "film", "question": "words", "options": "pool", "answer": "truth"}, "text"),
    ),
    (
        with_each(a0=lambda _: "circle", a1=lambda _: "square", a2=lambda n: f"star {n}", right=lambda n: n % 3),
        (
            "choice",
            {"id": "n", "video": "film", "question": "words", "options": ("a0", "a1", "a2"), "answer": "right"},
            "index0",
        ),
    ),
    (
        with_each(mc=lambda _: dict(zip("ABC", OPTIONS, strict=True)), key=lambda n: "ABC"[n % 3]),
        ("choice", {"id": "n", "video": "film", "question": "words", "options": "mc", "answer": "key"}, "letter"),
    ),
    (
        with_each(pool=lambda _: OPTIONS, ans=lambda n: "ABC"[n % 3], seen=lambda n: f"[{n}, {n + 2}]"),
        (
            "grounded_choice",
            {"id": "n", "video": "film", "question": "words", "options": "pool", "answer": "ans", "span": "seen"},
            "letter",
        ),
    ),
    (
        with_each(t_start=lambda n: n, t_end=lambda n: n + 2),
        ("span", {"id": "n", "video": "film", "question": "words", "start": "t_start", "end": "t_end"}, None),
    ),
    (
        with_each(ref=lambda n: f"It is the one that crosses the field in the {n}th scene."),
        ("open", {"id": "n", "video": "film", "question": "words", "answer": "ref"}, None),
    ),
    (
        with_each(gt=lambda n: OPTIONS[n % 3]),
        ("exact", {"id": "n", "video": "film", "question": "words", "answer": "gt"}, None),
    ),
]


@pytest.mark.parametrize(("rows", "expected"), GUESSES, ids=[expected[0] for _, expected in GUESSES])
def test_columns_are_seen_from_their_values(rows, expected):
    made = guess(rows)
    assert (made.kind, made.columns, made.answer_is) == expected
    assert made.lacking == []


def test_ids_are_made_where_no_column_is_unique_and_labels_are_facets():
    rows = [
        {**row, "n": row["n"] // 2, "answer": "so it is, as anybody can see", "topic": "ab"[row["n"] % 2]}
        for row in SIX
    ]
    made = guess(rows)
    assert made.columns["id"] == "{film}_{n}"
    assert made.facets == ["topic"]
    for row in rows:
        del row["n"]
    assert guess(rows).columns["id"] == "{row}"


def test_what_cannot_be_guessed_is_named_and_nothing_is_written(reelbench, tmp_path):
    rows = [{"n": n, "alpha": "x", "q": "Why?", "pool": OPTIONS, "right": 1 + n % 2} for n in range(4)]
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    done = reelbench("new", "shapes", "--from", source, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "no column is the video; answers can be read as index0 or as index1, which differ: give --answer-is" in line
    assert not (tmp_path / "shapes").exists()
    named = ("--column", "video=alpha", "--answer-is", "index1")
    done = reelbench("new", "shapes", "--from", source, *named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "answer: B" in done.stdout  # 2 of circle, square, star
    assert "answer_is: index1\n" in (tmp_path / "shapes" / "benchmark.yaml").read_text(encoding="utf-8")
    taken = reelbench("new", "rextime", "--from", source, cwd=tmp_path)
    assert (taken.returncode, "there is a benchmark or a task of this name" in taken.stderr) == (2, True)


def test_a_video_s_name_that_no_file_can_have_is_one_line_and_nothing_is_written(reelbench, tmp_path):
    rows = [{"n": n, "film": f"{'v' * 900}{n}.mp4", "q": "Why?", "pool": OPTIONS, "right": "A"} for n in range(3)]
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    done = reelbench("new", "kitchen", "--from", source, cwd=tmp_path)
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode == 2
    assert len(line) < 500
    assert all(words in line for words in (str(source), "film", "255 bytes", "--column video=COLUMN"))
    assert not (tmp_path / "kitchen").exists()
