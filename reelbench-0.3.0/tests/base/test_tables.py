"""Packed tables that unpack to more than a machine holds, and what a sheet says of its cells."""

import re
import tracemalloc
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reelbench.base import files, tables
from reelbench.base.errors import InputError
from reelbench.base.text_tables import Table, spreadsheet_cell
from tests.alarms import one_pass

ROWS = "more than 1,000 rows or 20,000 cells"
BYTES = "unpacks to more than 8 MiB"
HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row>'


def one_text_in_every_row(path, kind):
    text_kind = kind.value_type if pa.types.is_list(kind) else kind
    texts = pa.array(["x" * 1_000_000], pa.string()).cast(text_kind)
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 600, pa.int32()), texts)
    if pa.types.is_list(kind):
        column = pa.ListArray.from_arrays([0, 600], column)
    pq.write_table(pa.table({"text": column}), path)


def plain_pages(path):
    with pq.ParquetWriter(
        path, pa.schema([("text", pa.string())]), compression="zstd", use_dictionary=False
    ) as writer:
        for _ in range(6):
            writer.write_table(pa.table({"text": ["x" * 20_000] * 100}))


def rows(path):
    pq.write_table(pa.table({"text": pa.nulls(1_100, pa.int8())}), path)


def a_list_in_one_cell(path):
    numbers = pa.nulls(21_000, pa.int8())
    pq.write_table(pa.table({"text": pa.ListArray.from_arrays([0, len(numbers)], numbers)}), path)


def sheet(path, body):
    """Save a workbook whose sheet has these rows, as XML."""
    openpyxl.Workbook().save(path)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    name = "xl/worksheets/sheet1.xml"
    begin = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for part, data in parts.items():
            content = data
            if part == name:
                content = f"{begin}{body}</sheetData></worksheet>"
            book.writestr(part, content)


def a_far_row(path):
    sheet(path, HEADER + '<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>')


def far_columns(path):
    sheet(
        path,
        HEADER + "".join(f'<row r="{n}"><c r="ZZZ{n}"><v>1</v></c></row>' for n in range(2, 20)),
    )


def empty_tags(path):
    sheet(path, HEADER + "<a/>" * 20_000)


def a_long_text(path):
    sheet(path, f'<row r="1"><c r="A1" t="inlineStr"><is><t>{"x" * (9 << 20)}</t></is></c></row>')


@pytest.mark.parametrize(
    ("write", "suffix", "message"),
    [
        (plain_pages, "parquet", BYTES),
        (rows, "parquet", ROWS),
        (a_list_in_one_cell, "parquet", ROWS),
        (a_far_row, "xlsx", ROWS),
        (far_columns, "xlsx", ROWS),
        (empty_tags, "xlsx", ROWS),
        (a_long_text, "xlsx", BYTES),
    ],
)
def test_a_packed_table_that_unpacks_to_too_much_is_refused(
    write, suffix, message, tmp_path, monkeypatch
):
    for name, most in {
        "MOST_ROWS": 1_000,
        "MOST_CELLS": 20_000,
        "_MOST_TAGS": 20_000,
        "MOST_BYTES": 8 << 20,
    }.items():
        monkeypatch.setattr(tables, name, most)
    path = tmp_path / f"answers.{suffix}"
    write(path)
    refused(path, message)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.list_(pa.string())], ids=str
)
def test_a_text_that_stands_in_every_row_of_a_small_parquet_is_refused(kind, tmp_path):
    path = tmp_path / "answers.parquet"
    one_text_in_every_row(path, kind)
    assert path.stat().st_size < 50_000
    refused(path, "unpacks to more than 512 MiB")
    assert pa.default_memory_pool().max_memory() < 100 << 20


def refused(path, message):
    with pytest.raises(InputError, match=rf"answers{path.suffix}: {message}; .*CSV or JSON Lines"):
        for _ in tables.read(path):
            pass


def test_a_text_that_stands_in_many_rows_of_a_parquet_is_held_once(tmp_path):
    pq.write_table(
        pa.table({"id": ["a", "b", "c"], "text": ["one long text", None, "one long text"]}),
        tmp_path / "a.parquet",
    )
    cells = [row for _, row in tables.read(tmp_path / "a.parquet")]
    assert [row["text"] for row in cells] == ["one long text", None, "one long text"]
    assert cells[0]["text"] is cells[2]["text"]


def test_cells_of_a_sheet_and_where_they_stand(tmp_path):
    """A sheet filled in by hand has empty rows, cells left out, and a far cell."""
    book = openpyxl.Workbook()
    page = book.active
    for row in ([], ["id", "text", "n"], ["7", "B", 3.0], [], ["8", None, "x"], ["9"]):
        page.append(row)
    page["B6"] = "#N/A"
    page["B6"].data_type = "e"
    page["F20000"] = " "
    page["F20000"] = None
    book.save(tmp_path / "a.xlsx")
    assert list(tables.read(tmp_path / "a.xlsx")) == [
        (f"{tmp_path}/a.xlsx, row 3 (row 1)", {"id": "7", "text": "B", "n": 3}),
        (f"{tmp_path}/a.xlsx, row 5 (row 2)", {"id": "8", "text": "", "n": "x"}),
        (f"{tmp_path}/a.xlsx, row 6 (row 3)", {"id": "9", "text": None, "n": ""}),
    ]


def test_a_column_of_a_parquet_whose_name_is_no_text_is_one_line(tmp_path):
    pq.write_table(pa.table({"id": ["a"], "prediction": ["B"]}), tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    places = [match.start() for match in re.finditer(b"prediction", data)]
    for place in places:  # the schema's names, and those of the columns' pieces
        (tmp_path / "a.parquet").write_bytes(data[: place + 4] + b"\x97" + data[place + 5 :])
        with pytest.raises(InputError, match="not a Parquet file that can be read"):
            list(tables.read(tmp_path / "a.parquet"))
    assert len(places) >= 2


def test_a_table_of_text_acts_on_no_terminal():
    text = Table("a\x1b[2Jb", ["x\ny", "#n"], [["c\x1b]0;d\x07", "1\n2"]], ["e\x9bf"]).text()
    assert text.splitlines() == ["a [2Jb", "x y        n", "c ]0;d   1 2", "e f"]
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("cell", ["=1+1", "@x", "-2+3", "\t=1", "\r=1", "a;=1"])
def test_a_cell_of_a_file_is_no_formula(cell):
    written = spreadsheet_cell(cell)
    assert "'" in written
    assert not written.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert spreadsheet_cell("a\x1b[2Jb\nc") == "a [2Jb\nc"


@pytest.mark.parametrize("text", ["\t", "\t ", "; ", "; \t"])
def test_a_long_cell_is_made_safe_in_one_pass(text):
    with one_pass():
        assert spreadsheet_cell("a" + text * 500_000 + "=1").endswith("'=1")


TEXT_ROWS = [
    {"id": "1", "question": "Wer kocht in der Küche, um 12:30?"},
    {"id": "2", "question": "Wo?"},
]
COMMAS = 'id,question\n1,"Wer kocht in der Küche, um 12:30?"\n2,Wo?\n'
SEMICOLONS = "id;question\n1;Wer kocht in der Küche, um 12:30?\n2;Wo?\n"
TABS = SEMICOLONS.replace(";", "\t")


def read_rows(path):
    return [cells for _, cells in tables.read(path)]


@pytest.mark.parametrize("text", [COMMAS, SEMICOLONS, TABS], ids=["commas", "semicolons", "tabs"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "cp1252"])
def test_a_csv_is_read_as_spreadsheets_of_all_countries_write_it(text, encoding, tmp_path):
    data = text.encode(encoding.removesuffix("-bom"))
    if encoding == "utf-16-le-bom":
        data = b"\xff\xfe" + data
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    assert read_rows(path) == TEXT_ROWS


def test_a_code_page_is_told_once(tmp_path, caplog):
    path = tmp_path / "rows.csv"
    path.write_bytes(COMMAS.encode("cp1252"))
    read_rows(path)
    read_rows(path)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 1
    assert "Western code page (cp1252)" in messages[0]


def test_blank_rows_of_a_csv_are_no_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,question\n,\n1,Who?\n\n,\n2,Where?\n,\n,\n", encoding="utf-8")
    assert [row["id"] for row in read_rows(path)] == ["1", "2"]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_two_columns_of_one_name_are_refused(suffix, tmp_path):
    path = tmp_path / f"rows.{suffix}"
    if suffix == "csv":
        path.write_text("id,answer,answer\n1,A,B\n", encoding="utf-8")
    else:
        book = openpyxl.Workbook()
        book.active.append(["id", "answer", "answer"])
        book.active.append(["1", "A", "B"])
        book.save(path)
    with pytest.raises(InputError, match="2 columns are called 'answer'; rename all but one"):
        read_rows(path)


@pytest.mark.parametrize("end", [b"x", b"\x00\xd8,\x00"], ids=["half a sign", "half a pair"])
def test_a_cut_utf_16_file_is_one_line(end, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(COMMAS.encode("utf-16") + end)
    with pytest.raises(InputError, match="not UTF-16 text to its end"):
        read_rows(path)


def test_json_lines_are_read_one_after_the_other(tmp_path):
    path = tmp_path / "rows.jsonl"
    line = b'{"id": "%d", "text": "' + b"x" * 1_000 + b'"}\r\n'
    with path.open("wb") as file:
        file.write(b"\xef\xbb\xbf\n")
        for number in range(4_000):
            file.write(line % number)
    tracemalloc.start()
    try:
        for number, (_, row) in enumerate(tables.read(path)):
            assert row["id"] == str(number)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert number == 3_999
    assert peak < path.stat().st_size / 4


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"id": 1}\n\n{"id": 2}\n{"id": "\xfc"}\n', r"not UTF-8 text \(byte 29\); save it as UTF-8"),
        (b'{"id": 1}\n{"id": 2\n', r"rows.jsonl, line 2, column 9: not valid JSON"),
        (b'{"id": 1}\n[2]\n', r"rows.jsonl, line 2 \(row 2\): is a list"),
    ],
)  # fmt: skip
def test_a_line_that_is_wrong_is_named(content, said, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        list(tables.read(path))


def test_a_document_in_one_line_is_no_json_lines_however_long(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LONGEST_LINE", 10)
    path = tmp_path / "rows.json"
    path.write_text('[{"id": "a row that is longer"}]\n', encoding="utf-8")
    assert [row["id"] for _, row in tables.read(path)] == ["a row that is longer"]
