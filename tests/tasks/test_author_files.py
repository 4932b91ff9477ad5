"""Files as authors have them: each is read as it is meant, or refused with a line."""

import json
from collections import Counter

import openpyxl
import pytest

from reelbench.base import tables
from reelbench.base.errors import InputError
from reelbench.data import declared_check, row_tables
from reelbench.data.loading import locate
from reelbench.registry import discovery
from reelbench.registry.spec import Join
from reelbench.tasks.benchmark_folder import NewBenchmark, make
from reelbench.tasks.column_guess import guess
from reelbench.tasks.round_trip import round_trip
from tests.tasks.author_files import FILES, letter, option_columns, rows, turned, write
from tests.tasks.drawn_tables import end_of


@pytest.mark.parametrize("name", FILES)
def test_a_file_becomes_what_it_is_or_stops_with_a_line(name, tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", None)
    file = FILES[name]
    request = NewBenchmark(
        "authors",
        write(file, tmp_path),
        file.kind,
        columns=file.columns,
        keys=file.keys,
        without=file.without,
        sheet=file.sheet,
    )
    folder = tmp_path / "new"
    if file.stops:
        with pytest.raises(InputError) as refused:
            make(request, folder)
        assert file.stops in str(refused.value)
        assert not folder.exists()
        return
    spec, seen = make(request, folder)
    discovery.open_file(folder)
    first_row = locate(spec.id).read()[0]
    assert (seen.kind, first_row.get("span") or first_row["answer"]) == (file.kind_is, file.right)
    (split,) = declared_check.check(spec, media=False)
    assert split.problems == []
    trip = round_trip(spec, split.name, split.rows)
    if trip is not None:
        assert (trip.perfect, trip.empty, trip.misread) == (pytest.approx(100), 0, ())


def test_every_column_is_used_or_named_with_what_it_holds():
    made = guess(
        rows(
            options=turned,
            answer=letter,
            video_path=lambda n: f"videos/clip{n // 3}.mp4",
            answer_text=lambda n: turned(n)["ABCD".index(letter(n))],
            fps=25,
            width=lambda n: 640 + n,
            topic=lambda n: "ab"[n % 2],
            mood=lambda n: ["calm", "loud"][n % 2],
            notes=lambda n: f"seen on day {n}",
            tags=["tea"],
            empty=None,
        )
    )
    assert made.facets == ["topic"]
    assert made.unread == {}
    assert made.unused == {
        "video_path": "the video's name again",
        "answer_text": "the answer again",
        "fps": "the same in all rows",
        "width": "numbers",
        "mood": "labels",
        "notes": "texts",
        "tags": "the same in all rows",
        "empty": "empty",
    }


def test_all_faults_are_told_at_once(tmp_path):
    made = rows(
        image=lambda n: f"q{n}.jpg",
        rubric=lambda n: {"a": n},
        ask_time=lambda n: 2.5 * n,
        place=lambda n: n // 2,
    )
    for row in made:
        del row["video"]
    file = FILES["two kinds by a column"]
    path = write(type(file)("rows.json", made), tmp_path)
    with pytest.raises(InputError) as refused:
        make(NewBenchmark("authors", path), tmp_path / "new")
    for words in (
        "'image' names pictures",
        "'rubric' contains",
        "'ask_time' contains times",
        "no column looks like the video",
        "not used either: place (numbers)",
    ):
        assert words in str(refused.value)


def test_a_column_to_leave_out_is_not_used_either(tmp_path):
    made = rows(
        answer=lambda n: f"He pours tea into cup {n} there.", steps=lambda n: [f"He comes {n}."]
    )
    assert guess(made).columns["reasoning"] == "steps"
    assert "reasoning" not in guess(made, without=["steps"]).columns
    path = write(type(FILES["open questions"])("rows.json", made), tmp_path)
    with pytest.raises(InputError, match=r"has no column 'stpes' \(--without\)"):
        make(NewBenchmark("authors", path, without=["stpes"]), tmp_path / "new")


def test_a_name_of_the_file_is_not_lost_behind_the_row_s_own(tmp_path):
    films = {"a.mp4": {"id": 7, "qa": [{"id": "q1", "question": "Who comes in?", "answer": "He."}]}}
    path = tmp_path / "films.json"
    path.write_text(json.dumps(films), encoding="utf-8")
    ((_, row),) = tables.read(path)
    assert (row["name_in_file"], row["id"]) == ("a.mp4", 7)
    ((_, asked),) = row_tables.table([path], ["{film}", "qa"])
    assert not isinstance(asked, InputError)
    assert (asked["film"], asked["outer_id"], asked["id"]) == ("a.mp4", 7, "q1")


def test_a_joined_file_fills_what_is_empty(tmp_path):
    for name, content in (
        ("rows", {"qid": "1", "answer": "", "n": 2}),
        ("more", {"qid": "1", "answer": "tea", "n": 3}),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps([content]), encoding="utf-8")
    paths = [tmp_path / "rows.json", tmp_path / "more.json"]
    ((_, row),) = row_tables.table(paths, join=Join(by=("qid",)))
    assert row == {"qid": "1", "answer": "tea", "n": 2}


@pytest.mark.parametrize(
    ("lines", "kept", "said"),
    [
        (
            "Kitchen films\n\nid,video,q\n1,a.mp4,Who?\n",
            1,
            "1 line above the header is no row: 'Kitchen films'",
        ),
        (
            "id,video,q\n1,a.mp4,Who?\nSource: us\n",
            1,
            "1 line below the rows is no row: 'Source: us'",
        ),
        ("id,video,q\n1,a.mp4,Who?\nFilm 2,,\n2,b.mp4,Why?\n", 3, ""),
        ("id,answer\n1,\n2,\n", 2, ""),
    ],
)
def test_what_is_no_row_is_said(lines, kept, said, tmp_path, caplog):
    path = tmp_path / "rows.csv"
    path.write_text(lines, encoding="utf-8")
    for _ in range(2):
        assert len(list(tables.read(path))) == kept
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ([f"{path}: {said}"] if said else [])


def test_a_cell_merged_over_rows_holds_for_all_of_them(tmp_path):
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    sheet = book.create_sheet("test")
    sheet.append(["Kitchen films", "", ""])
    sheet.append(["video", "question", "answer"])
    for n in range(6):
        sheet.append([f"clip{n // 3}.mp4" if n % 3 == 0 else None, f"What is at {n}?", "tea"])
    for cells in ("A1:C1", "A3:A5", "A6:A8"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "rows.xlsx")
    read_rows = [row for _, row in tables.read(tmp_path / "rows.xlsx")]
    assert [row["video"] for row in read_rows] == ["clip0.mp4"] * 3 + ["clip1.mp4"] * 3


def test_a_header_merged_over_two_rows_makes_no_row_of_itself(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Kitchen films"])
    sheet.append(["id", "video", "question", "options"])
    sheet.append([None, None, None, "A", "B"])
    sheet.append(["q1", "a.mp4", "Who?", "tea", "milk"])
    for cells in ("A1:E1", "A2:A3", "B2:B3", "C2:C3", "D2:E2"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "rows.xlsx")
    ids = [row["id"] for _, row in tables.read(tmp_path / "rows.xlsx")]
    assert ids == ["", "q1"]  # the first is refused as one without an id


def test_a_first_line_of_one_word_is_a_header_where_numbers_follow(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id\n1,2,3\n", encoding="utf-8")
    with pytest.raises(InputError, match="3 fields where the header has 1"):
        list(tables.read(path))


def test_a_sheet_that_is_not_there_is_told_with_those_that_are(tmp_path):
    path = write(FILES["two sheets"], tmp_path)
    with pytest.raises(InputError, match="has no sheet 'tset'; it has 'dev', 'test'"):
        make(NewBenchmark("authors", path, sheet="tset"), tmp_path / "new")
    other = write(FILES["open questions"], tmp_path)
    with pytest.raises(InputError, match="has no sheets"):
        make(NewBenchmark("authors", other, sheet="test"), tmp_path / "new")


def test_a_start_behind_its_end_is_told_with_its_row():
    made = rows(start=lambda n: 3 * n, end=lambda n: 3 * n + 2)
    made[4]["end"] = 1
    assert (
        "row 5: start and end is [12, 1], which ends before it starts"
        in guess(made).unread["start"]
    )


@pytest.mark.slow
def test_no_damage_makes_another_benchmark_in_silence(tmp_path, monkeypatch):
    """A thousand damaged tables: each is refused, told by `check`, or of its own kind and scored in full."""
    ends: Counter[str] = Counter()
    for seed in range(1000):
        monkeypatch.setattr(discovery, "_registry", None)
        ends[end_of(seed, tmp_path / str(seed))] += 1
    assert ends["right"] > 300
    assert ends["refused"] > 100


def test_an_answer_that_is_two_equal_options_is_the_same_answer():
    made = rows(
        **option_columns("a0 a1 a2 a3"),
        answer_idx=lambda n: n * 7 % 4,
        ans_corr=lambda n: turned(n)[n * 7 % 4],
    )
    made[5]["a0"] = made[5]["ans_corr"]
    seen = guess(made)
    assert (seen.unread, seen.unused["ans_corr"]) == ({}, "the answer again")
