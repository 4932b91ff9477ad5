"""Rows, prompts and declarations of strangers: what would hang, or fill a machine, is read at once or refused."""

import csv
import json

import pytest

import reelbench as face
from reelbench.base import bounds, settings, tables
from reelbench.base.errors import InputError
from reelbench.data import mapped_rows, option_texts, video_windows
from reelbench.registry import benchmark_file, prompts
from reelbench.tasks.prompting import prompt_of
from tests.alarms import one_pass
from tests.declared import declared

OPEN = "id: shapes\nkind: exact\nsource: {file: rows.jsonl}\ncolumns: {id: n, video: clip, question: q, answer: a}\n"
ROW = {"n": "1", "clip": "one.mp4", "q": "Which cup?", "a": "red"}


def written(folder, more="", head=OPEN, row=ROW):
    return declared(folder, head + more, [row])


@pytest.mark.parametrize(
    "text", ["A" + "  B" * 10_000 + "!", "A" + " " * 1_000_000, "A, B" * 9_000 + "?"]
)
def test_letters_of_several_options_are_read_in_one_pass(text):
    with one_pass():
        assert option_texts.SEVERAL_LETTERS.fullmatch(text) is None
    for several in ("A,B", "A B  C", " b & C ", "AB", "A / D"):
        assert option_texts.SEVERAL_LETTERS.fullmatch(several)


@pytest.mark.parametrize(
    "text",
    [
        " " * 1_000_000,
        "A" + " " * 1_000_000 + "!",
        "option" + "\t " * 500_000 + "!",
        ("option" + " " * 999) * 1_000,
    ],
)
def test_an_option_s_name_is_found_in_one_pass(text):
    options = option_texts.read_options(["red", "blue"], "here")
    with one_pass():
        assert option_texts.option_index(text, options, "letter") is None
        assert option_texts.split_off_options(f"Which?\n{text}\nA. red") is None
    assert option_texts.option_index("  Option  b", options, "letter") == 1
    question = "Which?\n  option  A. red\n\tOption B) blue"
    assert option_texts.split_options(question, "here")[1].texts == ("red", "blue")


@pytest.mark.parametrize("cell", ["{[]: 1}", "{{}: 1}", "[1, {(1, []): 2}]"])
def test_a_literal_that_python_can_t_make_is_the_text_itself(cell, tmp_path):
    (row,) = face.load(str(written(tmp_path / "b", row=ROW | {"a": cell})))
    assert dict(row)["answer"] == cell
    with pytest.raises(InputError, match=r"fewer|options"):
        option_texts.read_options(cell, "here: options")


@pytest.mark.parametrize("time", ["9" * 400 + ":00:01", "1e400", 10**400, "-" + "9" * 400 + ":1"])
def test_a_time_that_no_number_holds_is_refused(time):
    with pytest.raises(InputError, match="expected a time in seconds"):
        video_windows.seconds(time, "here")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_a_table_of_too_many_columns_is_refused_with_both_figures(suffix, tmp_path):
    path, names = (
        tmp_path / f"rows.{suffix}",
        [f"c{number}" for number in range(bounds.COLUMNS + 1)],
    )
    if suffix == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({name: ["1"] for name in names}), path)
    else:
        with path.open("w", newline="") as file:
            delimiter = "\t" if suffix == "tsv" else ","
            csv.writer(file, delimiter=delimiter).writerows([names, names])
    with pytest.raises(InputError, match="columns: 10,001, and at most 10,000 are taken"):
        next(tables.read(path))


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(InputError, match="2 columns are called 'a'; rename all but one"):
        list(tables.read(tmp_path / "rows.csv"))


@pytest.mark.parametrize("column", ["q", "a", "clip", "n"])
def test_a_cell_beyond_its_bound_is_its_row_s_fault(column, tmp_path):
    folder = written(tmp_path / "b", row=ROW | {column: "x" * (bounds.TEXT + 1)})
    with pytest.raises(
        InputError, match=rf"\({column}\): characters: 1,000,001, and at most 1,000,000 are taken"
    ):
        face.load(str(folder))


def test_a_template_that_makes_more_of_long_cells_is_refused_before_it_is_filled_in(tmp_path):
    head = OPEN.replace("question: q", "question: '" + "{q}" * 30 + "'")
    with pytest.raises(InputError, match="characters: 1,200,000, and at most 1,000,000 are taken"):
        face.load(str(written(tmp_path / "a", head=head, row=ROW | {"q": "x" * 40_000})))
    folder = written(tmp_path / "b", "prompt: ask.txt\n", row=ROW | {"q": "x" * 40_000})
    (folder / "ask.txt").write_text("{question}" * 30)
    spec = benchmark_file.read(folder)
    (row,) = mapped_rows.read(spec, [folder / "rows.jsonl"], "test")
    with pytest.raises(
        InputError, match=r"prompt of the question '1': 1,200,300, and at most 1,000,000 are taken"
    ):
        prompt_of(spec, row)


@pytest.mark.parametrize("place", ["{question:>999999999}", "{question!r}", "{question:{options}}"])
def test_a_prompt_s_place_has_no_width(place, tmp_path):
    folder = written(tmp_path / "b", "prompt: ask.txt\n")
    (folder / "ask.txt").write_text(f"Say it: {place}")
    with pytest.raises(InputError, match=r"\{question…\} has a form; write \{question\}"):
        prompts.check(benchmark_file.read(folder))


def test_a_prompt_has_no_more_bytes_than_settings_have(tmp_path, monkeypatch):
    folder = written(tmp_path / "b", "prompt: ask.txt\n")
    (folder / "ask.txt").write_text("{question}" + " " * 300)
    monkeypatch.setattr(bounds, "SETTINGS_BYTES", 300)
    with pytest.raises(InputError, match=r"ask.txt: bytes: 310, and at most 300 are taken"):
        prompts.check(benchmark_file.read(folder))


@pytest.mark.parametrize(
    "more",
    [
        "splits: {"
        + ", ".join(f"s{n}: {{source: {{file: rows.jsonl}}}}" for n in range(201))
        + "}\n",
        f"facets: [{', '.join(f'f{n}' for n in range(201))}]\n",
        "media: {layouts: [" + ", ".join(f"'f{n}/{{video}}'" for n in range(201)) + "]}\n",
    ],
    ids=["splits", "facets", "layouts"],
)
def test_a_list_of_a_declaration_has_an_end(more, tmp_path):
    with pytest.raises(InputError, match=r"entries of [\w.]+: 201, and at most 200 are taken"):
        benchmark_file.read(written(tmp_path / "b", more))


@pytest.mark.parametrize(
    "layout", ["{video}{", "{video}}", "{{video}}", "{video}{0}", "{video}/{video}", "{}"]
)
def test_a_layout_with_braces_of_its_own_is_refused(layout, tmp_path):
    with pytest.raises(InputError, match=r"media.layouts: .* must name \{video\} once"):
        benchmark_file.read(written(tmp_path / "b", f"media: {{layouts: ['{layout}']}}\n"))


def test_declared_words_are_one_line_each(tmp_path):
    spec = benchmark_file.read(
        written(tmp_path / "b", 'title: "Kitchen\\nrextime  0 rows"\nsummary: "a\\n\\nb"\n')
    )
    assert (spec.title, spec.summary) == ("Kitchen rextime 0 rows", "a b")


def test_the_home_of_nobody_is_a_path_like_any_other(reelbench, tmp_path, monkeypatch):
    monkeypatch.setenv("REELBENCH_MEDIA", "~nosuchuser/films")
    assert [str(path) for path in settings.MEDIA.paths] == ["~nosuchuser/films"]
    for words in (["check", "~nosuchuser/b"], ["eval", "rextime_mini", "--model", "~nosuchuser/m"]):
        done = reelbench(*words)
        assert (done.returncode, done.stderr.count("\n"), "~nosuchuser" in done.stderr) == (
            2,
            1,
            True,
        ), done.stderr
    done = reelbench("score", "rextime", "--template", "--data", "~nosuchuser/x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert benchmark_file.read(written(tmp_path / "b", "media: {roots: ['~nosuchuser/films']}\n"))


def test_what_stands_beside_many_rows_is_no_bomb(tmp_path, monkeypatch):
    """A megabyte may have 20,000 names beside 20,000 rows: 400 million cells."""
    monkeypatch.setattr(tables, "MOST_CELLS", 1_000)
    rows = [ROW | {"n": number} for number in range(40)]
    head = OPEN.replace("rows.jsonl", "rows.json") + "each: list\n"
    folder = written(tmp_path / "b", head=head)
    (folder / "rows.json").write_text(
        json.dumps({"list": rows, **{f"k{number}": 1 for number in range(40)}})
    )
    with pytest.raises(
        InputError, match=r"list, 23: cells of the rows so far: 1,035, and at most 1,000 are taken"
    ):
        face.load(str(folder))
    (folder / "rows.json").write_text(json.dumps({"list": rows, "k": 1}))
    assert len(face.load(str(folder))) == 40
    joined = OPEN.replace("id: shapes", "id: joined") + "join: {file: more.jsonl, by: n}\n"
    folder = written(tmp_path / "c", head=joined)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    wide = {f"k{number}": 1 for number in range(40)}
    (folder / "more.jsonl").write_text(
        "".join(json.dumps({"n": row["n"]} | wide) + "\n" for row in rows)
    )
    with pytest.raises(
        InputError, match=r"cells of the rows so far: 1,035, and at most 1,000 are taken"
    ):
        face.load(str(folder))


def test_a_line_of_many_places_is_refused(tmp_path):
    line = " ".join(f"{{p{number}}}" for number in range(101))
    with pytest.raises(InputError, match="places of line: 101, and at most 100 are taken"):
        benchmark_file.read(written(tmp_path / "b", f"line: '{line}'\n"))
