"""`reelbench new`: which column is what, seen from values and names; what can't be seen is named."""

import json
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from reelbench.data import declared_check
from reelbench.data.loading import locate
from reelbench.registry import discovery
from reelbench.tasks.benchmark_folder import NewBenchmark, make
from reelbench.tasks.column_guess import guess
from reelbench.tasks.round_trip import round_trip
from tests.program import app
from tests.tasks.field_formats import FORMATS
from tests.tasks.field_more_formats import MORE_FORMATS

SIX = [
    {"n": n, "film": f"film{n % 2}.mp4", "words": f"Which shape is number {n}?"} for n in range(6)
]
OPTIONS = ["circle", "square", "star"]


def with_each(**more):
    return [{**row, **{name: value(row["n"]) for name, value in more.items()}} for row in SIX]


GUESSES = [
    (
        with_each(pool=lambda _: OPTIONS, truth=lambda n: OPTIONS[n % 3]),
        (
            "choice",
            {"id": "n", "video": "film", "question": "words", "options": "pool", "answer": "truth"},
            "text",
        ),
    ),
    (
        with_each(
            a0=lambda _: "circle",
            a1=lambda _: "square",
            a2=lambda n: f"star {n}",
            right=lambda n: n % 3,
        ),
        (
            "choice",
            {
                "id": "n",
                "video": "film",
                "question": "words",
                "options": ("a0", "a1", "a2"),
                "answer": "right",
            },
            "index0",
        ),
    ),
    (
        with_each(mc=lambda _: dict(zip("ABC", OPTIONS, strict=True)), key=lambda n: "ABC"[n % 3]),
        (
            "choice",
            {"id": "n", "video": "film", "question": "words", "options": "mc", "answer": "key"},
            "letter",
        ),
    ),
    (
        with_each(
            pool=lambda _: OPTIONS, ans=lambda n: "ABC"[n % 3], seen=lambda n: f"[{n}, {n + 2}]"
        ),
        (
            "grounded_choice",
            {
                "id": "n",
                "video": "film",
                "question": "words",
                "options": "pool",
                "answer": "ans",
                "span": "seen",
            },
            "letter",
        ),
    ),
    (
        with_each(t_start=lambda n: n, t_end=lambda n: n + 2),
        (
            "span",
            {"id": "n", "video": "film", "question": "words", "start": "t_start", "end": "t_end"},
            None,
        ),
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


@pytest.mark.parametrize(
    ("rows", "expected"), GUESSES, ids=[expected[0] for _, expected in GUESSES]
)
def test_columns_are_seen_from_their_values(rows, expected):
    made = guess(rows)
    assert (made.kind, made.columns, made.answer_is) == expected
    assert made.missing_columns == []


def test_answers_of_yes_and_no_are_options():
    made = guess(with_each(truth=lambda n: "Yes" if n % 2 else "no"))
    assert (made.kind, made.options, made.columns["answer"]) == (
        "choice",
        "{are: [yes, no]}",
        "truth",
    )
    assert made.missing_columns == []


def test_ids_are_made_where_no_column_is_unique_and_labels_are_facets():
    rows = [
        {
            **row,
            "n": row["n"] // 2,
            "answer": "so it is, as anybody can see",
            "topic": "ab"[row["n"] % 2],
        }
        for row in SIX
    ]
    made = guess(rows)
    assert made.columns["id"] == "{film}_{n}"
    assert made.facets == ["topic"]
    given = guess(
        rows, columns={"id": "{film}_{n}"}
    )  # what makes an id may be the video all the same
    assert (given.columns["video"], given.missing_columns) == ("film", [])
    for row in rows:
        del row["n"]
    assert guess(rows).columns["id"] == "{row}"


@pytest.mark.parametrize("columns", [{}, {"id": "n"}, {"id": "{film}-{n}"}])
def test_ids_of_several_rows_are_listed_and_nothing_is_written(columns, tmp_path):
    rows = [{**row, "n": number, "gt": "ab"[number % 2]} for number, row in enumerate(SIX * 5)]
    rows = [{"qid" if name == "n" else name: value for name, value in row.items()} for row in rows]
    rows[8]["qid"] = rows[2]["qid"]
    rows[14]["qid"] = rows[2]["qid"]
    columns = {ours: theirs.replace("n", "qid") for ours, theirs in columns.items()}
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        make(NewBenchmark("shapes", source, columns=columns), tmp_path / "shapes")
    first = "'2'"
    if "{" in columns.get("id", ""):
        first = "'film0.mp4-2'"
    assert f"several rows share one: {first} (rows 3, 9, 15)" in str(caught.value)
    assert not (tmp_path / "shapes").exists()


def test_what_cannot_be_guessed_is_named_and_nothing_is_written(reelbench, tmp_path):
    rows = [
        {"n": n, "alpha": "x", "q": "Why?", "pool": OPTIONS, "right": 1 + n % 2} for n in range(4)
    ]
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    done = reelbench("new", "shapes", "--from", source, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert (
        "no column looks like the video; answers can be read as index0 or as index1, which differ: "
        "give --answer-is" in line
    )
    assert not (tmp_path / "shapes").exists()
    named = ("--column", "video=alpha", "--answer-is", "index1")
    done = reelbench("new", "shapes", "--from", source, *named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "answer: B" in done.stdout  # 2 of circle, square, star
    assert "answer_is: index1\n" in (tmp_path / "shapes" / "benchmark.yaml").read_text(
        encoding="utf-8"
    )
    again = reelbench("new", "shapes", "--from", source, *named, cwd=tmp_path)
    assert again.returncode == 2
    assert "the folder shapes exists: edit it, or remove it" in again.stderr
    taken = reelbench("new", "rextime", "--from", source, cwd=tmp_path)
    assert (taken.returncode, "there is a benchmark or a task of this name" in taken.stderr) == (
        2,
        True,
    )


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ("video={id}.mp4", {"id": "id", "question": "query"}),
        ("id={film}:{query}", {"video": "film", "question": "query"}),
    ],
)
def test_a_column_within_a_template_may_be_another_field_too(column, found, reelbench, tmp_path):
    rows = [
        {"id": f"v{n}", "film": f"film{n}.mp4", "query": f"What is number {n} doing here?"}
        for n in range(4)
    ]
    if column.startswith("video"):
        rows = [{"id": row["id"], "query": row["query"]} for row in rows]
    source = tmp_path / "rows.json"
    answers = ["It runs over the field.", "It sleeps in the shade."]
    source.write_text(
        json.dumps([{**row, "answer": answers[n % 2]} for n, row in enumerate(rows)]),
        encoding="utf-8",
    )
    done = reelbench("new", "shapes", "--from", source, "--column", column, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for ours, theirs in found.items():
        assert f"{ours} <- {theirs}  (" in done.stdout


def test_several_files_of_rows_are_copied_with_their_names(reelbench, tmp_path):
    (tmp_path / "vm").mkdir()
    for number in range(3):
        row = {"id": f"q{number}", "video": "v.mp4", "question": "Which?", "gt": OPTIONS[number]}
        file = tmp_path / "vm" / f"part{number}.json"
        file.write_text(json.dumps([row]), encoding="utf-8")
    pattern = reelbench("new", "parts", "--from", "vm/*.json", cwd=tmp_path)
    (line,) = pattern.stderr.strip().splitlines()
    assert line.startswith("reelbench: vm/*.json: stands for 3 files; --from vm/part0.json")
    assert """--set 'source={file: "*.json"}'""" in line
    key = 'source={file: "*.json"}'
    done = reelbench(
        *("new", "parts", "--from", "vm/part0.json", "--kind", "exact", "--set", key), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "parts").glob("*.json"))
    assert names == ["part0.json", "part1.json", "part2.json"]
    checked = reelbench("check", "parts", "--no-media", cwd=tmp_path)
    assert "parts test: 3 questions on 1 video" in checked.stdout


def test_what_the_new_file_refuses_leaves_no_folder_and_the_name_free(reelbench, tmp_path):
    rows = [{**row, "gt": OPTIONS[n % 3]} for n, row in enumerate(SIX)]
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    refused = reelbench(
        "new", "shapes", "--from", source, "--set", "primary=best_of_all", cwd=tmp_path
    )
    (line,) = refused.stderr.strip().splitlines()
    assert (refused.returncode, line.endswith("; nothing was written")) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.json"]
    retried = reelbench("new", "shapes", "--from", source, cwd=tmp_path)
    assert retried.returncode == 0, retried.stderr


def test_a_video_s_name_that_no_file_can_have_is_one_line_and_nothing_is_written(
    reelbench, tmp_path
):
    rows = [
        {"n": n, "film": f"{'v' * 900}{n}.mp4", "q": "Why?", "pool": OPTIONS, "right": "A"}
        for n in range(3)
    ]
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    done = reelbench("new", "kitchen", "--from", source, cwd=tmp_path)
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode == 2
    assert len(line) < 500
    assert all(
        words in line for words in (str(source), "film", "255 bytes", "--column video=COLUMN")
    )
    assert not (tmp_path / "kitchen").exists()


def test_frames_with_texts_are_no_questions():
    frames = [{"text": "", "time": 1.2}, {"text": "A man.", "time": 2.7}]
    rows = [
        {**row, "pool": OPTIONS, "answer": OPTIONS[n % 3], "frames": frames}
        for n, row in enumerate(SIX)
    ]
    assert guess(rows).unread == {}
    asked = [{**row, "frames": [{"text": "What?", "answer": "A man."}]} for row in rows]
    assert "whole questions" in str(guess(asked).unread)


def put(path, content):
    lines = isinstance(content, list) and path.suffix == ".jsonl"
    text = "".join(json.dumps(row) + "\n" for row in content) if lines else json.dumps(content)
    path.write_text(content if isinstance(content, str) else text, encoding="utf-8")


@pytest.mark.parametrize("name", [*FORMATS, *MORE_FORMATS])
def test_a_published_format_is_taken_as_it_is_meant_or_refused(name, tmp_path, monkeypatch):
    """What is not guessed is refused with the key that says it; told that, its first row asks what its owners ask."""
    monkeypatch.setattr(discovery, "_registry", None)
    form = (FORMATS | MORE_FORMATS)[name]
    put(tmp_path / form.file, form.content)
    for other, content in form.beside:
        put(tmp_path / other, content)
    new = ["new", "published", "--from", str(tmp_path / form.file), "--out", str(tmp_path / "b")]
    if form.says:
        refused = CliRunner().invoke(app, new)
        assert isinstance(refused.exception, InputError), refused.output
        assert form.says in str(refused.exception)
        assert not (tmp_path / "b").exists()
    if not form.ranks:
        return
    done = CliRunner().invoke(
        app, [*new, *(word for option in form.told for word in option.split(" ", 1))]
    )
    assert done.exit_code == 0, (done.output, done.exception)
    spec = discovery.find(str(tmp_path / "b"))
    row = locate(spec.id).read()[0]
    assert (spec.primary.name, row.get("span") or row["answer"]) == (form.ranks, form.right)
    (split,) = declared_check.check(spec, media=False)
    assert split.problems == []
    trip = round_trip(spec, split.name, split.rows)
    is_scored_here = not (spec.primary.judged or spec.splits["test"].hidden_answers)
    assert (trip is not None) == is_scored_here
    if trip is not None:
        assert (trip.perfect, trip.empty, trip.misread) == (pytest.approx(100), 0, ())


def asked_of(n, answer):
    return {"id": n, "video": f"v{n}.mp4", "question": "When is it?", "answer": answer}


def test_new_fails_where_no_row_can_be_read_and_goes_on_where_one_can(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", None)
    new = ["new", "tried", "--from", str(tmp_path / "rows.json"), "--column", "span=answer"]
    put(tmp_path / "rows.json", [asked_of(n, "at some time") for n in range(3)])
    done = CliRunner().invoke(app, [*new, "--out", str(tmp_path / "none")])
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert "no row can be read: " in said
    assert "'at some time', expected [start, end] in seconds" in said
    assert (tmp_path / "none" / "benchmark.yaml").is_file()
    put(tmp_path / "rows.json", [asked_of(n, [3, 9] if n else "at some time") for n in range(3)])
    monkeypatch.setattr(discovery, "_registry", None)
    done = CliRunner().invoke(app, [*new, "--out", str(tmp_path / "some")])
    assert done.exit_code == 0, done.output
    assert "'at some time', expected [start, end]" in " ".join(done.stderr.split())
    assert "span: 3.0 | 9.0" in done.stdout


def test_new_says_that_numbers_can_count_by_their_distance(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", None)
    put(tmp_path / "rows.json", [asked_of(n, 3 + n) for n in range(3)])
    new = ["new", "counted", "--from", str(tmp_path / "rows.json"), "--out"]
    line = "every answer is a number, but is matched word for word: `numbers: mra`"
    done = CliRunner().invoke(app, [*new, str(tmp_path / "words")])
    assert line in " ".join(done.stderr.split())
    monkeypatch.setattr(discovery, "_registry", None)
    done = CliRunner().invoke(app, [*new, str(tmp_path / "numbers"), "--set", "numbers=mae"])
    assert done.exit_code == 0, done.output
    assert line not in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        # OmniMMI has questions with so many.
        (
            {"options": [f"o{n}" for n in range(52)], "answer": "o3"},
            "'options' contains 52 options, and no key takes more than 26, each with a letter",
        ),
        (
            {"answer": None, "span": [1000, 2000], "time_unit": "pts"},
            "there is a column time_unit: 'pts': say what the spans are counted in",
        ),
        # MECD's answer is a mark for each earlier event.
        (
            {"answer": "so", "relation": [0, 1, 1]},
            "'relation' marks several places with 0 or 1, and no key takes an answer of several",
        ),
    ],
)
def test_what_would_become_something_else_is_refused(columns, line, tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", None)
    put(tmp_path / "rows.json", [asked_of(n, "") | columns for n in range(6)])
    done = CliRunner().invoke(
        app, ["new", "else", "--from", str(tmp_path / "rows.json"), "--out", str(tmp_path / "b")]
    )
    assert line in str(done.exception)
    assert not (tmp_path / "b").exists()


def test_lengths_may_be_clocks(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", None)
    rows = [asked_of(n, "yes") | {"duration": "03:28" if n else "30s"} for n in range(3)]
    put(tmp_path / "rows.json", rows)
    done = CliRunner().invoke(
        app, ["new", "timed", "--from", str(tmp_path / "rows.json"), "--out", str(tmp_path / "b")]
    )
    assert done.exit_code == 0, done.output
    assert [row["duration"] for row in locate("timed").read()] == [30, 208, 208]


def test_a_list_of_one_video_is_the_video(tmp_path, monkeypatch):
    # SITE-Bench has its videos so.
    monkeypatch.setattr(discovery, "_registry", None)
    rows = [asked_of(n, "yes") | {"video": [f"v{n}.mp4"]} for n in range(3)]
    put(tmp_path / "rows.json", rows)
    done = CliRunner().invoke(
        app, ["new", "listed", "--from", str(tmp_path / "rows.json"), "--out", str(tmp_path / "b")]
    )
    assert done.exit_code == 0, done.output
    row = locate("listed").read()[0]
    assert (row["video"], "videos" in row) == ("v0.mp4", False)


def test_the_table_of_formats_says_what_is_tested():
    page = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text("utf-8")
    rows = [
        line.split(" | ")
        for line in page.splitlines()
        if line.startswith("| ") and not line.startswith("| benchmark")
    ]
    said = {name.removeprefix("| "): (told, ranks.strip("`")) for name, told, ranks, _ in rows}
    told = {
        name: "<br>".join(f"`{option}`" for option in form.told) or "nothing"
        for name, form in FORMATS.items()
    }
    assert said == {name: (told[name], form.ranks) for name, form in FORMATS.items()}


def test_keys_that_are_stated_replace_what_is_guessed_and_one_that_no_key_takes_is_named(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(discovery, "_registry", None)
    put(
        tmp_path / "rows.json",
        with_each(ref=lambda n: f"It is number {n}, and it stays.", rubric=lambda n: {"a": n}),
    )
    new = ["new", "asked", "--from", str(tmp_path / "rows.json"), "--out", str(tmp_path / "b")]
    refused = CliRunner().invoke(app, new)
    assert (
        "'rubric' contains what an answer is scored by, row by row: --column rubric=rubric"
        in str(refused.exception)
    )
    stated = [
        "--without",
        "rubric",
        "--set",
        "languages=[de]",
        "--set",
        "judge={prompts: moviecore}",
    ]
    assert CliRunner().invoke(app, [*new, *stated]).exit_code == 0
    text = (tmp_path / "b" / "benchmark.yaml").read_text("utf-8")
    assert (text.count("judge:"), text.count("languages:")) == (1, 1)
    spec = discovery.find(str(tmp_path / "b"))
    assert (spec.languages, spec.primary.name) == (("de",), "average")


def test_a_column_that_is_called_answer_is_it_though_a_row_is_bad_and_numbers_fit_by_chance():
    rows = [
        {
            "n": n,
            "film": f"film{n}.mp4",
            "words": f"Which is {n}?",
            "pool": OPTIONS,
            "part": n % 3,
            "answer": "star",
        }
        for n in range(20)
    ]
    rows[7]["answer"] = "stra"
    assert guess(rows).columns["answer"] == "answer"
    unknown = guess([{**row, "answer": "Nobody knows."} for row in rows])
    assert "--column options=pool --column answer=part" in unknown.unread["pool"]


def test_spans_that_begin_where_they_end_are_no_seconds():
    # DiDeMo: a moment is the numbers of its first and last piece, as several people marked them.
    rows = [
        {"n": n, "video": f"{n}.m4v", "description": "a man waves", "times": [[n, n], [1, 2]]}
        for n in range(4)
    ]
    (doubt,) = guess(rows).units
    assert doubt.startswith("times: 4 of 8 begin where they end")
    spans = [{**row, "times": [[n, n + 5.5]]} for n, row in enumerate(rows)]
    assert guess(spans).units == []


def test_a_column_called_answer_is_it_though_a_tests_answers_are_kept_back():
    # MotionBench: `start` is 0 in all rows, which reads as the number of the first option.
    asked = "What is done first?\nA. Sits\nB. Stands"
    rows = [
        {
            "n": n,
            "video": f"{n}.mp4",
            "question": asked,
            "start": 0,
            "answer": "NA" if n % 3 else "B",
        }
        for n in range(9)
    ]
    assert guess(rows).columns["answer"] == "answer"


def test_a_file_of_chats_is_told_which_rows_are_wanted(tmp_path):
    turns = [{"from": "human", "value": "What?"}, {"from": "gpt", "value": "A cat"}]
    put(tmp_path / "chat.jsonl", [{"video": "a.mp4", "conversations": turns}])
    refused = CliRunner().invoke(
        app, ["new", "chat", "--from", str(tmp_path / "chat.jsonl"), "--out", str(tmp_path / "b")]
    )
    assert 'one row per question is needed: {"video": "a.mp4", "question": ' in str(
        refused.exception
    )
    assert "in nested JSON, --set 'each={film}/qa/{n}' is the path" in str(refused.exception)


@pytest.mark.parametrize(
    ("options", "answers"),
    [
        ("circle|square|star", "ABC"),
        ("circle | square | star", ("circle", "square", "star")),
        ("circle\nsquare\nstar", "ABC"),
        ("A. circle B. square C. star", "ABC"),
        ("(A) circle; (B) square; (C) star", "ABC"),
        (
            "['circle', 'square', 'star']",
            ("<answer>A</answer>", "<answer>B</answer>", "<answer>C</answer>"),
        ),
        ('["circle", "square", "star"]', ("\\boxed{A}", "$\\boxed{B}$", "Option C")),
    ],
)
def test_options_in_one_cell_and_answers_as_models_give_them(options, answers, tmp_path):
    rows = with_each(options=lambda _: options, answer=lambda n: answers[n % 3])
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    spec, seen = make(NewBenchmark("shapes_in_cells", tmp_path / "rows.json"), tmp_path / "new")
    assert (seen.kind, seen.columns["options"], seen.columns["answer"]) == (
        "choice",
        "options",
        "answer",
    )
    discovery.open_file(tmp_path / "new")
    read = locate(spec.id).read()
    assert [list(row["options"]) for row in read] == [OPTIONS] * 6
    assert [row["answer"] for row in read] == [*"ABC"] * 2


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".xlsx"])
@pytest.mark.parametrize(
    "options",
    [
        ["None", "Two", "One"],
        ["NA", "DE", "FR"],
        ["null", "void", "nan"],
        ["TRUE", "FALSE", "N/A"],
        ["Inf", "-inf", "NaN"],
        ["1e5", "1", "1.0"],
    ],
    ids=str,
)
def test_an_option_that_looks_like_no_value_is_an_option(options, suffix, tmp_path):
    """Pandas reads such texts as missing (VLMEvalKit#1559)."""
    columns = [pd.Series([text] * 6, name=name) for name, text in zip("ABC", options, strict=True)]
    table = pd.concat([pd.DataFrame(with_each(answer=lambda n: "ABC"[n % 3])), *columns], axis=1)
    path = tmp_path / f"rows{suffix}"
    match suffix:
        case ".parquet":
            table.to_parquet(path)
        case ".xlsx":
            table.to_excel(path, index=False)
        case _:
            table.to_csv(path, index=False, sep="," if suffix == ".csv" else "\t")
    spec, _ = make(NewBenchmark("shapes_or_none", path), tmp_path / "new")
    discovery.open_file(tmp_path / "new")
    assert [list(row["options"]) for row in locate(spec.id).read()] == [options] * 6


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (
            with_each(
                A=lambda n: "circle" if n % 3 else "",
                B=lambda n: "square" if n % 3 else "",
                answer=lambda n: "AB"[n % 2] if n % 3 else "a hexagon",
            ),
            "A, B contain options: --column options=A,B takes them (of 4 of 6 rows",
        ),
        (
            with_each(
                pool=lambda n: OPTIONS if n % 2 else None,
                answer=lambda n: OPTIONS[n % 3] if n % 2 else "a hexagon with six sides",
            ),
            "'pool' contains options, and the answer is one of them in 3 of 6 rows",
        ),
        (
            with_each(
                pool=lambda n: OPTIONS if n % 6 else [],
                answer=lambda n: OPTIONS[n % 3] if n % 6 else "a hexagon with six sides",
            ),
            "'pool' contains options",
        ),
        (
            with_each(
                pool=lambda n: "circle|square|star" if n % 3 else "",
                answer=lambda n: OPTIONS[n % 3] if n % 3 else "a hexagon with six sides",
            ),
            "'pool' contains options",
        ),
        (
            with_each(
                option_1=lambda n: "circle" if n % 3 else None,
                option_2=lambda n: "square" if n % 3 else None,
                answer=lambda n: n % 2 + 1 if n % 3 else "a hexagon",
            ),
            "option_1, option_2 contain options",
        ),
    ],
)
def test_options_of_some_rows_alone_make_no_other_kind_in_silence(rows, line, tmp_path):
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(InputError) as error:
        make(NewBenchmark("shapes_of_some", tmp_path / "rows.json"), tmp_path / "new")
    assert line in str(error.value)
    assert not (tmp_path / "new").exists()


def test_columns_that_begin_after_thousands_of_rows_are_seen():
    late = [{**SIX[n % 6], "n": n, "answer": "a shape"} for n in range(6000)]
    late[5998:] = [{**row, "pool": OPTIONS, "answer": "star"} for row in late[5998:]]
    assert "'pool' contains options" in guess(late).unread["pool"]


def test_a_workbook_with_several_sheets_names_them(tmp_path):
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    first, second = book.create_sheet("dev"), book.create_sheet("test")
    book.create_sheet("empty")
    for sheet, count in ((first, 4), (second, 2)):
        sheet.append(list(SIX[0]))
        for row in SIX[:count]:
            sheet.append(list(row.values()))
    book.save(tmp_path / "rows.xlsx")
    with pytest.raises(
        InputError, match=r"2 sheets with rows: 'dev' \(4 rows\), 'test' \(2 rows\)"
    ):
        make(NewBenchmark("shapes_in_sheets", tmp_path / "rows.xlsx"), tmp_path / "new")


def test_a_part_of_the_video_is_not_dropped_where_the_kind_is_named():
    rows = [
        {
            "video": f"v{n}.mp4",
            "question": f"How many cups fall in scene {n}?",
            "answer": 2 + n,
            "query_interval": [10.0 + n, 60.5 + n],
        }
        for n in range(6)
    ]
    unread = guess(rows, "exact").unread
    assert "--column clip=query_interval shows only these" in unread["query_interval"]


def test_options_that_are_lists_are_not_dropped():
    orders = [["salt", "tea"], ["tea", "salt"]]
    rows = [
        {"video": f"v{n}.mp4", "question": f"In which order, {n}?", "choices": orders, "answer": n}
        for n in range(6)
    ]
    rows[1]["choices"] = [["milk", "tea"], ["tea", "milk"]]
    assert "options that are lists themselves" in guess(rows).unread["choices"]


def test_a_further_video_is_not_dropped():
    rows = [
        {
            "id": f"q{n}",
            "inputs": {"video 1": {"id": f"a{n}"}, "video 2": {"id": f"b{n}"}},
            "question": f"What is done {n}?",
            "answer": f"tea {n}",
        }
        for n in range(6)
    ]
    unread = guess(rows, columns={"video": "inputs.video 1.id"}).unread
    line = unread["inputs.video 2.id"]
    assert "--column videos=inputs.video 1.id,inputs.video 2.id" in line


def test_columns_that_the_user_names_are_all_in_the_file(tmp_path):
    rows = []
    for n in range(4):
        row = {"video": f"v{n}.mp4", "question": f"Why {n}?", "part": "ab"[n % 2]}
        rows.append(row | {"answer": f"He pours tea into cup {n}.", "Rule": f"It names cup {n}."})
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    request = NewBenchmark("named", tmp_path / "rows.json", columns={"rubric": "Rule"})
    make(request, tmp_path / "b")
    text = (tmp_path / "b" / "benchmark.yaml").read_text(encoding="utf-8")
    assert "  rubric: Rule\n" in text
    misspelt = NewBenchmark("named", tmp_path / "rows.json", columns={"rubrik": "Rule"})
    with pytest.raises(InputError, match=r"unknown key 'columns\.rubrik'"):
        make(misspelt, tmp_path / "c")


def test_a_column_of_labels_is_named_with_its_key_and_missing_videos_are_counted(
    reelbench, tmp_path
):
    rows = [{**row, "gt": OPTIONS[n % 3], "scene": "ab"[n % 2]} for n, row in enumerate(SIX)]
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "videos").mkdir()
    done = reelbench("new", "shapes", "--from", source, "--media", "videos", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "`--set 'facets=[scene]'` breaks results down by labels" in lines
    videos = len({row["film"] for row in rows})
    assert f"videos found in videos: 0 of {videos}" in lines
