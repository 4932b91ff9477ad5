"""Rows of a table file, each with its place: JSON, JSON Lines, CSV, TSV, Parquet or Excel.

CSV's values are text as they stand. The others' have the types that the file gives them.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import csv
import json
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from reelbench.base import bounds, delimited_text, sheet_layout
from reelbench.base.errors import InputError, first_line, number_of
from reelbench.base.files import (
    Decoder,
    is_json_lines,
    is_json_lines_file,
    json_lines,
    open_input,
    read_json,
    read_text,
    valid_text,
)
from reelbench.base.values import is_array, is_object

Choose = Callable[[list[str]], Sequence[str]]
"""Names of a table's columns -> those to read, in the order of the values that are yielded."""

Cells = Iterator[tuple[str, Sequence[Any]]]
"""Each row's place, and the values of its chosen columns."""

# The most of a packed table (Parquet, Excel) whose rows may be held in memory.
MOST_ROWS = 1_050_000  # Excel's own sheets end at 1,048,576 rows
MOST_CELLS = 20_000_000
MOST_BYTES = 512 << 20
ONE_BY_ONE = 20
"""How many times as much is read of a Parquet file whose rows are taken one by one."""
_MOST_TAGS = 20_000_000  # of a workbook's XML: some eight a cell
_BATCH = 4096
_PIECE = 1 << 20
_LONGEST_FIELD = 2**31 - 1
_LONGEST_TAG = 200
_MERGED = re.compile(r'mergeCell ref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"')


def read_csv(path: Path, choose: Choose, *, is_sheet: bool = False) -> Cells:
    """Read a CSV or TSV row by row.

    Pandas would drop, without a word, what stands after a comma that nobody quoted.

    Args:
        path: The file.
        choose: Chooses the columns to read.
        is_sheet: There may be titles above the header, and notes below the rows.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    with open_input(path) as file:
        form = delimited_text.form_of(path, file)
        lines = delimited_text.lines_of(path, file, form.encoding)
        table = csv.reader(lines, delimiter=form.delimiter, strict=True)
        try:
            table_lines = _csv_lines(path, table)
            if is_sheet:
                table_lines = sheet_layout.table_lines(path, table_lines)
            _, header_cells = next(table_lines, ("", []))
            header = list(map(str, header_cells))
            bounds.hold(f"{path}: columns", len(header), bounds.COLUMNS)
            indices = _column_indices(path, header, choose(header))
            for place, row in table_lines:
                if len(row) != len(header):
                    raise InputError(
                        f"{place}: {len(row)} fields where the header has "
                        f"{len(header)}; put a text that contains commas, tabs or line ends into "
                        "double quotes"
                    )
                yield place, [row[index] for index in indices]
        except csv.Error as error:
            raise InputError(
                f"{path}, line {table.line_num}: {error}; check its double quotes"
            ) from None


def _csv_lines(path: Path, table: Any) -> Iterator[sheet_layout.Line]:  # noqa: ANN401 - a csv.reader
    """Yield the lines with something in them: exports of cleared rows leave empty ones."""
    for row in table:
        if any(row):
            yield sheet_layout.Line(f"{path}, line {table.line_num}", row)


def _column_indices(path: Path, header: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the place of each chosen column in the header.

    Raises:
        InputError: Two columns have one of these names.
    """
    for name in dict.fromkeys(names):
        if name and header.count(name) > 1:
            raise InputError(
                f"{path}: {header.count(name)} columns are called {name!r}; rename all but one"
            )
    return [header.index(name) for name in names]


def read_parquet(path: Path, choose: Choose, *, times: int = 1) -> Cells:
    """Read a Parquet file batch by batch, without its other columns.

    A text that stands in many rows is held once.

    Args:
        path: The file.
        choose: Chooses the columns to read.
        times: How many times as much is read as of other packed tables.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_input(path) as file:
        try:
            table = pq.ParquetFile(file, read_dictionary=_text_columns(pq.ParquetFile(file).schema))
            all_names = table.schema_arrow.names
            bounds.hold(f"{path}: columns", len(all_names), bounds.COLUMNS)
            names = choose(all_names)
            _check_parquet_size(_Amount(path, times), table.metadata, names)
            amount = _Amount(path, times)
            for batch in table.iter_batches(_BATCH, columns=list(dict.fromkeys(names))):
                amount.add(size=sum(map(_unpacked_size, batch.columns)))
                columns = [_column_values(batch[name]) for name in names]
                for values in zip(*columns, strict=True):
                    amount.add(rows=1, cells=len(values))
                    yield f"{path}: row {amount.rows}", values
            pa.default_memory_pool().release_unused()  # what comes now needs the room
        except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
            raise InputError(
                f"{path}: not a Parquet file that can be read ({first_line(error)})"
            ) from None


def _text_columns(schema: Any) -> list[str]:  # noqa: ANN401 - pyarrow has no types
    columns = map(schema.column, range(len(schema)))
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


def _check_parquet_size(amount: "_Amount", metadata: Any, names: Sequence[str]) -> None:  # noqa: ANN401
    """Refuse, before anything is decoded, a file whose footer states too much."""
    cells = 0
    size = 0
    for group_number in range(metadata.num_row_groups):
        group = metadata.row_group(group_number)
        for column_number in range(group.num_columns):
            chunk = group.column(column_number)
            if chunk.path_in_schema.partition(".")[0] in names:
                cells += chunk.num_values
                size += chunk.total_uncompressed_size
    amount.add(metadata.num_rows, cells, size)


def _column_values(column: Any) -> list[Any]:  # noqa: ANN401 - pyarrow has no types
    if not hasattr(column, "dictionary"):
        return column.to_pylist()
    texts = column.dictionary.to_pylist()
    values: list[Any] = []
    for index in column.indices.to_pylist():
        value = None if index is None else texts[index]
        values.append(value)
    return values


def _unpacked_size(column: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of a column's values, each counted as often as it stands there."""
    from importlib import import_module

    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        # Made at import, so that no type checker knows what is in it.
        compute = import_module("pyarrow.compute")
        lengths = compute.binary_length(column.dictionary).take(column.indices)
        return compute.sum(lengths.cast(pa.int64())).as_py() or 0
    if pa.types.is_struct(column.type):
        return sum(map(_unpacked_size, column.flatten()))
    if pa.types.is_nested(column.type):
        return _unpacked_size(column.values)
    return column.nbytes


def read_excel(
    path: Path, choose: Choose, *, sheet_name: str = "", is_sheet: bool = False
) -> Cells:
    """Read a workbook's only sheet with rows, row by row.

    An empty cell is an empty text, and one that holds an error is null.

    Args:
        path: The file.
        choose: Chooses the columns to read.
        sheet_name: The sheet to read, where several have rows.
        is_sheet: There may be titles above the header, and notes below the rows.
    """
    import openpyxl

    with open_input(path) as file:
        try:
            _check_workbook_size(path, file)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            sheet = _sheet_called(path, book, sheet_name) if sheet_name else _only_sheet(path, book)
            yield from _sheet_rows(path, sheet, choose, is_sheet=is_sheet)
        except (
            zipfile.BadZipFile,
            zlib.error,
            SyntaxError,
            LookupError,
            TypeError,
            ValueError,
            OSError,
        ) as error:
            raise InputError(
                f"{path}: not an Excel workbook that can be read ({first_line(error)})"
            ) from None


def _only_sheet(path: Path, book: Any) -> Any:  # noqa: ANN401 - openpyxl has no types
    """Return the sheet that has rows. The first one where none has.

    Raises:
        InputError: Several have rows: which one is meant, nothing tells.
    """
    sheets: list[Any] = []
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # what it states of itself need not be so
        if any(map(_has_value, sheet.rows)):
            sheets.append(sheet)
    if len(sheets) > 1:
        names = [f"{sheet.title!r} ({_rows_below_header(sheet)})" for sheet in sheets]
        raise InputError(
            f"{path}: has {len(sheets)} sheets with rows: {', '.join(names)}; "
            "save the one that you mean as a file of its own (`reelbench new NAME --from FILE "
            "--sheet SHEET` reads one)"
        )
    return sheets[0] if sheets else book.worksheets[0]


def _sheet_called(path: Path, book: Any, name: str) -> Any:  # noqa: ANN401 - openpyxl has no types
    titles = [sheet.title for sheet in book.worksheets]
    if name not in titles:
        raise InputError(f"{path}: has no sheet {name!r}; it has {', '.join(map(repr, titles))}")
    sheet = book.worksheets[titles.index(name)]
    sheet.reset_dimensions()
    return sheet


def _has_value(row: Any) -> bool:  # noqa: ANN401 - openpyxl has no types
    """Return True for a row with something in a cell."""
    return any(_excel_value(cell) != "" for cell in row)


def _rows_below_header(sheet: Any) -> str:  # noqa: ANN401 - openpyxl has no types
    """Return the number of a sheet's rows below its first one, in words."""
    rows = 0
    for row in sheet.rows:
        rows += _has_value(row)
        if rows > MOST_ROWS:
            break
    return number_of(rows - 1, "row")


def _check_workbook_size(path: Path, file: IO[bytes]) -> None:
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
        _Amount(path).add(size=sum(part.file_size for part in parts))
        tags = 0
        for part in parts:
            with archive.open(part) as unpacked:
                for piece in iter(partial(unpacked.read, _PIECE), b""):
                    tags += piece.count(b"<")
                    if tags > _MOST_TAGS:
                        _Amount(path).add(cells=MOST_CELLS + 1)


def _sheet_rows(path: Path, sheet: Any, choose: Choose, *, is_sheet: bool) -> Cells:  # noqa: ANN401
    lines = _sheet_lines(path, sheet)
    if is_sheet:
        lines = sheet_layout.table_lines(path, lines)
    header = next(lines, None)
    if header is None:
        choose([])
        return
    names = list(map(str, header.cells))
    indices = _column_indices(path, names, choose(names))
    for place, row in lines:
        padding = [""] * (len(names) - len(row))
        padded_row = [*row, *padding]
        yield place, [padded_row[index] for index in indices]


def _sheet_lines(path: Path, sheet: Any) -> Iterator[sheet_layout.Line]:  # noqa: ANN401 - no types
    """Yield the lines of a sheet with something in them."""
    amount = _Amount(path)
    merged_cells = _merged_cells(sheet)
    open_cells: dict[int, _MergedCell] = {}
    is_below_header = False
    for cells in sheet.rows:
        amount.add(rows=1, cells=len(cells))
        row = [_excel_value(cell) for cell in cells]
        amount.add(size=sum(len(value) for value in row if isinstance(value, str)))
        if is_below_header:
            for merged in merged_cells.get(amount.rows, ()):
                value = ""
                if merged.column < len(row):
                    value = row[merged.column]
                open_cells[merged.column] = merged._replace(value=value)
        if any(value != "" for value in row):
            _fill_merged(row, open_cells, amount.rows)
            filled_cells = sum(value != "" for value in row)
            if filled_cells > 1:
                # A header of two lines would be a row of its own names; a title is one cell.
                is_below_header = True
            yield sheet_layout.Line(f"{path}, row {amount.rows}", row)


class _MergedCell(NamedTuple):
    """A cell that reaches over several rows. `column` counts from 0."""

    column: int
    last_row: int
    value: Any = ""


def _merged_cells(sheet: Any) -> dict[int, list[_MergedCell]]:  # noqa: ANN401 - openpyxl has no types
    """Return a sheet's cells that reach over several rows, by their first row.

    Openpyxl knows none of a sheet that it reads row by row.
    """
    from openpyxl.utils import column_index_from_string

    cells: dict[int, list[_MergedCell]] = {}
    beginning = ""
    with sheet._get_source() as xml:  # noqa: SLF001
        for piece in iter(partial(xml.read, _PIECE), b""):
            text = beginning + piece.decode("latin-1")
            for match in _MERGED.finditer(text):
                column = column_index_from_string(match[1]) - 1
                first_row = int(match[2])
                last_row = int(match[3])
                if last_row > first_row:
                    cells.setdefault(first_row, []).append(_MergedCell(column, last_row))
            beginning = text[-_LONGEST_TAG:].rpartition(">")[2]
    return cells


def _fill_merged(row: list[Any], open_cells: Mapping[int, _MergedCell], number: int) -> None:
    """Put the values of cells that reach down into a row."""
    for column, merged in open_cells.items():
        if number <= merged.last_row:
            row.extend([""] * (column + 1 - len(row)))
            if row[column] == "":
                row[column] = merged.value


def _excel_value(cell: Any) -> Any:  # noqa: ANN401 - openpyxl's cell -> whatever it holds
    if cell.value is None:
        return ""
    if cell.data_type == "e":
        return None
    if isinstance(cell.value, float) and cell.value.is_integer():
        return int(cell.value)
    return cell.value


@dataclass
class _Amount:
    """The amount read of a packed file.

    A few bytes may unpack to more than a machine holds.
    """

    path: Path
    times: int = 1
    rows: int = 0
    cells: int = 0
    size: int = 0

    def add(self, rows: int = 0, cells: int = 0, size: int = 0) -> None:
        """Count rows, cells and bytes. InputError where there are too many by now."""
        self.rows += rows
        self.cells += cells
        self.size += size
        most_rows = self.times * MOST_ROWS
        most_cells = self.times * MOST_CELLS
        most_bytes = self.times * MOST_BYTES
        if self.rows > most_rows or self.cells > most_cells:
            self._refuse_amount(f"more than {most_rows:,} rows or {most_cells:,} cells")
        if self.size > most_bytes:
            self._refuse_amount(f"unpacks to more than {most_bytes >> 20} MiB")

    def _refuse_amount(self, what: str) -> None:
        raise InputError(
            f"{self.path}: {what}; split it, or give CSV or JSON Lines, which have no bound"
        )


_WORKBOOK = ".xlsx"
_MOST_FIELDS = 50

READERS: Mapping[str, Callable[[Path, Choose], Cells]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    _WORKBOOK: read_excel,
}
"""Suffix -> reader. A file of any other name is JSON or JSON Lines."""

NAME = "name_in_file"
"""Column of an object's name among others, where the object has an id of its own."""

SUFFIXES = (*READERS, ".json", ".jsonl")  # files that can hold a table


def read(
    path: Path, *, nested: bool = False, sheet_name: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row of a table as its place and all its columns.

    JSON may be a list of objects, an object that holds one such list, or objects by id. Titles
    above a header and notes below the rows are left out, with a note. Empty rows are skipped.

    Args:
        path: The table's file.
        nested: A JSON object is one row.
        sheet_name: The sheet of a workbook, where several have rows.

    Raises:
        InputError: It can't be read.
    """
    suffix = path.suffix.lower()
    reader = READERS.get(suffix)
    if sheet_name and suffix != _WORKBOOK:
        raise InputError(f"{path}: has no sheets; only a workbook ({_WORKBOOK}) has")
    if reader is None:
        yield from _json_rows(path, nested=nested)
        return
    if suffix == _WORKBOOK:
        reader = partial(read_excel, sheet_name=sheet_name, is_sheet=True)
    elif reader is read_csv:
        reader = partial(read_csv, is_sheet=True)
    names: list[str] = []

    def choose_all(header: list[str]) -> list[str]:
        names.extend(header)
        return header

    states_row = suffix == ".parquet"
    for number, (place, values) in enumerate(reader(path, choose_all), start=1):
        where = place if states_row else f"{place} (row {number})"
        if not _is_blank(values):
            yield where, dict(zip(names, values, strict=True))


def _is_blank(cells: Iterable[Any]) -> bool:
    """Return True where all cells are empty."""
    return all(value is None or value == "" for value in cells)


def _json_rows(path: Path, *, nested: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    name = str(path)
    for number, (line, value) in enumerate(_json_values(path, nested=nested), start=1):
        where = f"{name}: row {number}"
        if line is not None:
            where = f"{name}, line {line} (row {number})"
        if nested and is_array(value):  # a list of lists
            yield where, {"value": value}
            continue
        if not is_object(value):
            raise InputError(
                f"{where}: is a {type(value).__name__}, expected an object with the question's "
                "columns"
            )
        if not value or not _is_blank(value.values()):
            yield where, value


def _json_values(path: Path, *, nested: bool) -> Iterable[tuple[int | None, Any]]:
    """Return the line, or None where it is unknown, and each value."""
    if is_json_lines_file(path):
        return json_lines(path, most=bounds.DATA_BYTES)
    text = read_text(path, most=bounds.DATA_BYTES)
    decoder = Decoder(path)
    document = decoder.read(text)
    if nested and is_object(document):
        return [(1, document)]
    values = rows_of_document(document)
    if values is document:
        return zip(_element_lines(text, len(values)), values, strict=True)
    if len(values) == 1 and values[0] is document:
        return [(1, document)]
    return [(None, value) for value in values]


def rows_of_document(document: Any, key: str = "id") -> Sequence[Any]:  # noqa: ANN401 - any JSON value
    """Return the rows of a JSON document.

    These are a list's values, the only list of objects in an object, or an object's objects with
    their names under `key`, and under `NAME` where an object has something else there. A document
    of another shape is one row.
    """
    if not is_object(document):
        return document if is_array(document) else [document]
    lists_of_objects = [value for value in document.values() if _is_list_of_objects(value)]
    if len(lists_of_objects) == 1:
        return lists_of_objects[0]
    if not document or not all(map(is_object, document.values())):
        return [document]
    named: list[dict[str, Any]] = []
    for name, value in document.items():
        row = {key: name, **value}
        if row[key] != name:
            row = {NAME: name, **row}
        named.append(row)
    return named


class Beside(NamedTuple):
    """The key of a JSON document's rows, and the values under its other keys."""

    rows_key: str
    values: dict[str, Any]


def beside_rows(path: Path, rows_key: str = "") -> Beside:
    """Return the values beside the rows of a JSON document.

    Args:
        path: The file. One that is no JSON document with its rows under a key has none.
        rows_key: The key of the rows. That of the only list of objects where it is empty.
    """
    if path.suffix.lower() in READERS or is_json_lines_file(path):
        return Beside("", {})
    document = read_json(path, most=bounds.DATA_BYTES)
    if not is_object(document):
        return Beside("", {})
    if not rows_key:
        rows = rows_of_document(document)
        for name, value in document.items():
            if value is rows:
                rows_key = name
    if rows_key not in document:
        return Beside("", {})
    values = {name: value for name, value in document.items() if name != rows_key}
    return Beside(rows_key, values)


def is_further_table(value: object) -> bool:
    """Return True for objects in a list or object, or for many values."""
    if is_array(value):
        return any(map(is_object, value))
    if not is_object(value):
        return False
    return len(value) > _MOST_FIELDS or any(is_object(p) or is_array(p) for p in value.values())


def _is_list_of_objects(value: object) -> bool:
    return is_array(value) and len(value) > 0 and all(map(is_object, value))


def outer_steps(path: Path) -> str:
    """Return the steps of `each` that lead to a file's rows by default."""
    if path.suffix.lower() in READERS or is_json_lines(read_text(path, most=bounds.DATA_BYTES)):
        return ""
    document = read_json(path, most=bounds.DATA_BYTES)
    if not is_object(document):
        return ""
    rows = rows_of_document(document)
    for name, value in document.items():
        if value is rows:
            return f"{name}/{{n}}/"
    return "{video}/"


def _element_lines(text: str, elements: int) -> Iterator[int]:
    """Yield the line on which each element of a JSON array begins."""
    decoder = json.JSONDecoder()
    line = 1
    counted_to = 0
    end = text.index("[") + 1
    for _ in range(elements):
        start = end
        while text[start].isspace() or text[start] == ",":
            start += 1
        line += text.count("\n", counted_to, start)
        counted_to = start
        yield line
        _, end = decoder.raw_decode(text, start)


def as_text(value: Any, what: str) -> str | None:  # noqa: ANN401 - whatever a cell holds
    """Return a cell as text, None where it is null.

    A whole number becomes its digits, whatever type a file gave it.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        bounds.hold(f"{what}: characters", len(value), bounds.TEXT)
        return valid_text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool | int | float):
        return str(value)
    raise InputError(f"{what} is a {type(value).__name__}, expected text")
