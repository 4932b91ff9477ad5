"""Rows of a file that somebody made: JSON, JSON Lines, CSV, TSV, Parquet or Excel, each row with where it stands.

CSV's values are text as they stand; the others' have the types that the file gives them.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import csv
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from reelbench.base import bounds
from reelbench.base.errors import InputError, first_line
from reelbench.base.files import (
    Decoder,
    is_json_lines,
    open_input,
    read_json,
    read_text,
    valid_text,
)
from reelbench.base.values import is_array, is_object

Choose = Callable[[list[str]], Sequence[str]]
"""Names of a table's columns -> those that are wanted, in the order in which their values are yielded."""

Cells = Iterator[
    tuple[str, Sequence[Any]]
]  # where each row stands, and the values of the chosen columns

MOST_ROWS, MOST_CELLS, MOST_BYTES = 1_050_000, 20_000_000, 512 << 20
"""Of a packed table (Parquet, Excel); Excel's own sheets end at 1,048,576 rows."""
_MOST_TAGS = 20_000_000  # of a workbook's XML: some eight a cell
_BATCH = 4096
_LONGEST_FIELD = 2**31 - 1


def read_csv(path: Path, choose: Choose) -> Cells:
    """Read a CSV or TSV row by row: pandas drops what stands after a comma that nobody quoted, and says nothing."""
    csv.field_size_limit(_LONGEST_FIELD)

    def decoded(file: IO[bytes]) -> Iterator[str]:
        for number, line in enumerate(file, start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise InputError(
                    f"{path}, line {number}: not UTF-8 text; save it as UTF-8"
                ) from None

    with open_input(path) as file:
        lines = decoded(file)
        first = next(lines, "")
        tabs = path.suffix.lower() == ".tsv" or (
            "\t" in first and "," not in first
        )  # some call those .csv too
        table = csv.reader(chain([first], lines), delimiter="\t" if tabs else ",", strict=True)
        try:
            header = next(table, [])
            bounds.hold(f"{path}: columns", len(header), bounds.COLUMNS)
            at = [header.index(name) for name in choose(header)]
            for row in filter(None, table):
                if len(row) != len(header):
                    raise InputError(
                        f"{path}, line {table.line_num}: {len(row)} fields where the header has {len(header)}; "
                        "put a text that holds commas, tabs or line ends into double quotes"
                    )
                yield f"{path}, line {table.line_num}", [row[column] for column in at]
        except csv.Error as error:
            raise InputError(
                f"{path}, line {table.line_num}: {error}; check its double quotes"
            ) from None


def read_parquet(path: Path, choose: Choose) -> Cells:
    """Read a Parquet file batch by batch, never its other columns; a text that stands in many rows is held once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_input(path) as file:
        try:
            leaves = pq.ParquetFile(file).schema
            texts = [
                leaf.path
                for leaf in map(leaves.column, range(len(leaves)))
                if leaf.physical_type == "BYTE_ARRAY"
            ]
            table = pq.ParquetFile(file, read_dictionary=texts)
            bounds.hold(f"{path}: columns", len(table.schema_arrow.names), bounds.COLUMNS)
            names = choose(table.schema_arrow.names)
            # Refused before anything is decoded: what the footer says is too large.
            groups = [
                table.metadata.row_group(number) for number in range(table.metadata.num_row_groups)
            ]
            chunks = [
                group.column(number) for group in groups for number in range(group.num_columns)
            ]
            wanted = [chunk for chunk in chunks if chunk.path_in_schema.partition(".")[0] in names]
            size = sum(chunk.total_uncompressed_size for chunk in wanted)
            _Held(path).add(
                table.metadata.num_rows, sum(chunk.num_values for chunk in wanted), size
            )
            held = _Held(path)
            for batch in table.iter_batches(_BATCH, columns=list(dict.fromkeys(names))):
                held.add(size=sum(map(_unpacked_size, batch.columns)))
                columns: list[list[Any]] = []
                for column in (batch[name] for name in names):
                    said = column.dictionary.to_pylist() if hasattr(column, "dictionary") else None
                    places = column.indices.to_pylist() if said is not None else column.to_pylist()
                    columns.append(
                        places
                        if said is None
                        else [None if at is None else said[at] for at in places]
                    )
                for values in zip(*columns, strict=True):
                    held.add(1, len(values))
                    yield f"{path}: row {held.rows}", values
            pa.default_memory_pool().release_unused()  # what comes now needs the room
        except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
            raise InputError(
                f"{path}: not a Parquet file that can be read ({first_line(error)})"
            ) from None


def _unpacked_size(column: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of a column's values, each counted as often as it stands there."""
    from importlib import import_module

    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        pc = import_module(
            "pyarrow.compute"
        )  # made at import, so that no checker knows what is in it
        lengths = pc.binary_length(column.dictionary).take(column.indices)
        return pc.sum(lengths.cast(pa.int64())).as_py() or 0
    if pa.types.is_struct(column.type):
        return sum(map(_unpacked_size, column.flatten()))
    if pa.types.is_nested(column.type):
        return _unpacked_size(column.values)
    return column.nbytes


def read_excel(path: Path, choose: Choose) -> Cells:
    """Read a workbook's first sheet row by row; an empty cell is an empty text, and one that holds an error is null."""
    import openpyxl
    from openpyxl.cell.read_only import EMPTY_CELL as nothing  # noqa: N811 - what stands where no cell is

    def value(cell: Any) -> Any:  # noqa: ANN401 - openpyxl's cell -> whatever it holds
        if cell is nothing or cell.value is None:
            return ""
        if cell.data_type == "e":
            return None
        whole = isinstance(cell.value, float) and cell.value.is_integer()
        return int(cell.value) if whole else cell.value

    held, tags = _Held(path), 0
    with open_input(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                _Held(path).add(size=sum(part.file_size for part in archive.infolist()))
                for part in archive.infolist():
                    with archive.open(part) as unpacked:
                        while piece := unpacked.read(1 << 20):
                            tags += piece.count(b"<")
                            _Held(path).add(cells=MOST_CELLS + 1 if tags > _MOST_TAGS else 0)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # what it states of itself need not be so
            at: list[int] | None = None
            for cells in sheet.rows:
                held.add(1, len(cells))
                row = [value(cell) for cell in cells]
                held.add(size=sum(len(text) for text in row if isinstance(text, str)))
                if at is None and any(text != "" for text in row):
                    names = list(map(str, row))
                    at = [names.index(name) for name in choose(names)]
                elif at is not None and any(text != "" for text in row):
                    yield (
                        f"{path}, row {held.rows}",
                        [row[column] if column < len(row) else "" for column in at],
                    )
            if at is None:
                choose([])
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


@dataclass
class _Held:
    """What was read of a packed file so far: a few bytes may unpack to more than a machine holds."""

    path: Path
    rows: int = 0
    cells: int = 0
    size: int = 0

    def add(self, rows: int = 0, cells: int = 0, size: int = 0) -> None:
        """Count rows, cells and bytes; InputError where there are more by now than are read."""
        self.rows, self.cells, self.size = self.rows + rows, self.cells + cells, self.size + size
        what = f"unpacks to more than {MOST_BYTES >> 20} MiB" if self.size > MOST_BYTES else ""
        if self.rows > MOST_ROWS or self.cells > MOST_CELLS:
            what = f"more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells"
        if what:
            raise InputError(
                f"{self.path}: {what}; split it, or give CSV or JSON Lines, which have no bound"
            )


READERS: Mapping[str, Callable[[Path, Choose], Cells]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    ".xlsx": read_excel,
}
"""Suffix -> reader; a file of any other name is JSON or JSON Lines."""

SUFFIXES = (*READERS, ".json", ".jsonl")  # files that can hold a table


def read(path: Path, *, nested: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row of a table, with all its columns, and where it stands; InputError where it can't be read.

    JSON may be a list of objects, an object that holds one such list, or objects by id; if `nested`
    an object is a row.
    """
    if reader := READERS.get(path.suffix.lower()):
        names: list[str] = []

        def choose(header: list[str]) -> list[str]:
            names.extend(header)
            return header

        for number, (where, values) in enumerate(reader(path, choose), start=1):
            row = f" (row {number})" if path.suffix.lower() != ".parquet" else ""
            yield f"{where}{row}", dict(zip(names, values, strict=True))
        return
    text, decoder = read_text(path), Decoder(path)
    found: Iterable[tuple[int | None, Any]]
    if is_json_lines(text):
        found = list(decoder.lines(text))
    else:
        document = decoder.read(text)
        rows = [document] if nested and is_object(document) else entries(document)
        found = ((1 if row is document else None, row) for row in rows)
        if rows is document:
            found = zip(_element_lines(text, len(rows)), rows, strict=True)
    for number, (line, value) in enumerate(found, start=1):
        where = f"{path}: row {number}" if line is None else f"{path}, line {line} (row {number})"
        if not is_object(value):
            raise InputError(
                f"{where}: is a {type(value).__name__}, expected an object with the question's columns"
            )
        yield where, value


def entries(document: Any, key: str = "id") -> Sequence[Any]:  # noqa: ANN401 - any JSON value
    """Return what of a JSON document are rows: a list's values, the only list of objects in an object, or its objects.

    Of these `key` is their name there. A document of another shape is one row.
    """
    if not is_object(document):
        return document if is_array(document) else [document]
    lists = [
        value
        for value in document.values()
        if is_array(value) and value and all(map(is_object, value))
    ]
    if len(lists) == 1:
        return lists[0]
    if not document or not all(map(is_object, document.values())):
        return [document]
    return [{key: name, **value} for name, value in document.items()]


def outer_steps(path: Path) -> str:
    """Return the steps of a file's `each` that lead to what are its rows without one."""
    if (
        path.suffix.lower() in READERS
        or is_json_lines(read_text(path))
        or not is_object(document := read_json(path))
    ):
        return ""
    rows = entries(document)
    return next((f"{name}/{{n}}/" for name, value in document.items() if value is rows), "{video}/")


def _element_lines(text: str, elements: int) -> Iterator[int]:
    """Yield the line on which each element of a JSON array begins."""
    decoder, line, at = json.JSONDecoder(), 1, 0
    end = text.index("[") + 1
    for _ in range(elements):
        start = end
        while text[start].isspace() or text[start] == ",":
            start += 1
        line += text.count("\n", at, start)
        at = start
        yield line
        _, end = decoder.raw_decode(text, start)


def as_text(value: Any, what: str) -> str | None:  # noqa: ANN401 - whatever a cell holds
    """Return a cell as text, None where it is null; a whole number as its digits, whatever type a file gave it."""
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
