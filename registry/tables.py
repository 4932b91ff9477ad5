"""Rows of a file that somebody made: JSON, JSON Lines, CSV, TSV, Parquet or Excel, each row with where it stands.

CSV's values are text as they stand; the others' have the types that the file gives them.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import csv
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.registry.errors import InputError, first_line
from reelbench.registry.files import is_json_lines, opened, read_json, read_jsonl, read_text, valid_text
from reelbench.registry.values import is_array, is_object

Choose = Callable[[list[str]], Sequence[str]]
"""Names of a table's columns -> those that are wanted, in the order in which their values are yielded."""

Cells = Iterator[tuple[str, Sequence[Any]]]
"""Where each row stands, and the values of the chosen columns."""

_LONGEST_FIELD = 2**31 - 1


def read_csv(path: Path, choose: Choose) -> Cells:
    """Read a CSV or TSV row by row: pandas drops what stands after a comma that nobody quoted, and says nothing."""
    csv.field_size_limit(_LONGEST_FIELD)
    with opened(path) as file:
        lines = (_decoded(line, path, number) for number, line in enumerate(file, start=1))
        table = csv.reader(lines, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        try:
            header = next(table, [])
            at = [header.index(name) for name in choose(header)]
            for row in table:
                if row and len(row) != len(header):
                    raise InputError(
                        f"{path}, line {table.line_num}: {len(row)} fields where the header has {len(header)}; "
                        "put a text that holds commas, tabs or line ends into double quotes"
                    )
                if row:
                    yield f"{path}, line {table.line_num}", [row[column] for column in at]
        except csv.Error as error:
            raise InputError(f"{path}, line {table.line_num}: {error}; check its double quotes") from None


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}, line {number}: not UTF-8 text; save it as UTF-8") from None


def read_parquet(path: Path, choose: Choose) -> Cells:
    """Read a Parquet file in batches: never the whole file, nor its other columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with opened(path) as file:
        try:
            table = pq.ParquetFile(file)
            names = choose(table.schema_arrow.names)
            number = 0
            for batch in table.iter_batches(columns=list(dict.fromkeys(names))):
                for values in zip(*(batch[name].to_pylist() for name in names), strict=True):
                    number += 1
                    yield f"{path}: row {number}", values
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: not a Parquet file that can be read ({first_line(error)})") from None


def read_excel(path: Path, choose: Choose) -> Cells:
    """Read a workbook's first sheet."""
    import pandas as pd

    with opened(path) as file:
        try:
            sheet = pd.read_excel(file, engine="openpyxl", dtype=object, keep_default_na=False, na_filter=False)
        except (zipfile.BadZipFile, ValueError, KeyError, OSError) as error:
            raise InputError(f"{path}: not an Excel workbook that can be read ({first_line(error)})") from None
    sheet.columns = [str(name) for name in sheet.columns]
    columns = [sheet[name] for name in choose(list(sheet.columns))]
    for number, values in enumerate(zip(*columns, strict=True), start=2):
        yield f"{path}, row {number}", values


READERS: Mapping[str, Callable[[Path, Choose], Cells]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    ".xlsx": read_excel,
}
"""Suffix -> reader; a file of any other name is JSON or JSON Lines."""

SUFFIXES = (*READERS, ".json", ".jsonl")
"""Files that can hold a table."""


def read(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row of a table, with all its columns, and where it stands; InputError where it can't be read.

    JSON may be a list of objects, an object that holds one such list, or objects by id.
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
    for number, (line, value) in enumerate(_json_rows(path), start=1):
        where = f"{path}: row {number}" if line is None else f"{path}, line {line} (row {number})"
        if not is_object(value):
            raise InputError(f"{where}: is a {type(value).__name__}, expected an object with the question's columns")
        yield where, value


def as_text(value: Any, what: str) -> str | None:  # noqa: ANN401 - whatever a cell holds
    """Return a cell as text, None where it is null; a whole number as its digits, whatever type a file gave it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool | int | float):
        return str(value)
    raise InputError(f"{what} is a {type(value).__name__}, expected text")


def _json_rows(path: Path) -> Iterator[tuple[int | None, Any]]:
    """Yield a JSON document's rows, or JSON Lines', each with the line that it begins on where that is known."""
    text = read_text(path)
    if is_json_lines(text):
        yield from read_jsonl(path)
        return
    document = read_json(path)
    if is_object(document):
        lists = [value for value in document.values() if is_array(value) and value and all(map(is_object, value))]
        if len(lists) == 1:
            yield from ((None, value) for value in lists[0])
        elif document and all(map(is_object, document.values())):
            yield from ((None, {"id": name, **value}) for name, value in document.items())
        else:
            yield 1, document
    elif is_array(document):
        yield from zip(_element_lines(text, len(document)), document, strict=True)
    else:
        yield 1, document


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
