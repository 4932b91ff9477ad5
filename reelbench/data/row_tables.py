"""Tables of upstream rows: from nested JSON, lines of text, and two files joined."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base import bounds, tables
from reelbench.base.errors import InputError, first_of
from reelbench.base.files import read_text
from reelbench.base.tables import as_text
from reelbench.base.values import is_array, is_object
from reelbench.data.row_cells import FILE, Cells, as_list, cell, parse_literal
from reelbench.registry.mapping_words import PLACEHOLDER
from reelbench.registry.spec import Join

OUTER = "outer"
"""Of nested rows, the column with the number of the row that holds them."""

VALUE = "value"
"""Of nested JSON, the column of a value that is no mapping."""


_EMPTY = (None, "")


class Entry(NamedTuple):
    """A row's place in its file, and its cells or why it has none."""

    where: str
    cells: Cells | InputError


def table(
    paths: Sequence[Path],
    each: Sequence[str] = (),
    line: str = "",
    join: Join | None = None,
    *,
    names_files: bool = False,
) -> Iterator[Entry]:
    """Yield the rows of files.

    Args:
        paths: The files; with `join` the last of several is the one that is joined.
        each: The keys that lead to the rows in nested JSON.
        line: A template by which a line of a text file is parted.
        join: How the columns of the last file go with the rows of the others.
        names_files: Give each row the name of its file as the column `file`.
    """
    row_paths = paths
    if len(paths) == 1:
        join = None
    if join:
        row_paths = paths[:-1]
    entries = _rows_of_files(row_paths, each, line, names_files=names_files)
    if join:
        entries = _join_columns(entries, paths[-1], join)
    cell_count = 0
    for entry in entries:
        # What stands beside several rows is held in each of them.
        if (each or join) and not isinstance(entry.cells, InputError):
            cell_count += len(entry.cells)
            what = f"{entry.where}: cells of the rows so far"
            bounds.hold(what, cell_count, tables.MOST_CELLS)
        yield entry


def _rows_of_files(
    paths: Sequence[Path], each: Sequence[str], line: str, *, names_files: bool
) -> Iterator[Entry]:
    for path in paths:
        for entry in _rows_of_file(path, each, line):
            cells = entry.cells
            if names_files and not isinstance(cells, InputError):
                cells = {FILE: path.stem, **cells}
            yield Entry(entry.where, cells)


def _rows_of_file(path: Path, each: Sequence[str], line: str = "") -> Iterator[Entry]:
    if line:
        yield from _rows_of_lines(path, line)
    elif each:
        yield from _rows_of_nested_json(path, each)
    else:
        for where, cells in tables.read(path):
            yield Entry(where, cells)


def _rows_of_lines(path: Path, line: str) -> Iterator[Entry]:
    """Yield a row for each line of a text, parted as a template says."""
    before, *parts = PLACEHOLDER.split(line)
    names = parts[::2]
    pattern_text = re.escape(before)
    for after in parts[1::2]:
        if after:
            # A column ends at the first place of the text behind it, and is not tried again.
            pattern_text += f"(?>(.*?){re.escape(after)})"
        else:
            pattern_text += "(.*)"
    pattern = re.compile(pattern_text)
    for number, text in enumerate(read_text(path, most=bounds.DATA_BYTES).splitlines(), start=1):
        where = f"{path}, line {number}"
        match = pattern.match(text)
        if match:
            values = [value.strip() for value in match.groups()]
            yield Entry(where, dict(zip(names, values, strict=True)))
        elif text.strip():
            yield Entry(where, InputError(f"{where}: is {text[:80]!r}, expected {line} (line)"))


# --- nested JSON
# -------------------------------------------------------------------------------------------


def _rows_of_nested_json(path: Path, each: Sequence[str]) -> Iterator[Entry]:
    is_one_object = False
    if path.suffix.lower() == ".json":
        is_one_object = read_text(path, most=bounds.DATA_BYTES).lstrip().startswith("{")
    entries = tables.read(path, nested=True)
    for number, (where, cells) in enumerate(entries, start=1):
        beside: Cells = {}
        document: Cells = cells
        if is_one_object:
            document = _without_further_tables(cells, each[0])
        else:
            beside = {OUTER: number}
        yield from _nested_rows(document, each, beside, where)


def _without_further_tables(document: Cells, step: str) -> Cells:
    """Return a document without the tables beside the one that a step leads to.

    What stands beside rows is held in each of them, and another table would be in all.
    """
    names = [step] if step in document else step.split("+")
    if not document.keys() >= set(names):
        return document
    fields: dict[str, Any] = {}
    for name, value in document.items():
        if name in names or not tables.is_further_table(value):
            fields[name] = value
    return fields


class _Branches(NamedTuple):
    """The values that a step leads to, and the cells that stand beside them."""

    values: Sequence[tuple[str | int, Any]]
    beside: Cells


def _nested_rows(
    value: Any,  # noqa: ANN401 - any JSON
    steps: Sequence[str],
    beside: Cells,
    where: str,
) -> Iterator[Entry]:
    """Yield the rows to which the steps lead, with the cells beside them."""
    value = parse_literal(value)
    if not steps:
        yield from _rows_of_value(value, beside, where)
        return
    step = steps[0]
    key_column = PLACEHOLDER.fullmatch(step)
    try:
        branches = (
            _all_branches(value, step, where) if key_column else _branch_of_key(value, step, where)
        )
    except InputError as error:
        yield Entry(where, error)
        return
    for name, part in branches.values:
        cells = {**beside, **branches.beside}
        if key_column:
            cells[key_column[1]] = name
        yield from _nested_rows(part, steps[1:], cells, f"{where}, {name}")


def _rows_of_value(value: Any, beside: Cells, where: str) -> Iterator[Entry]:  # noqa: ANN401 - any JSON
    """Yield the rows of a list of objects, or any other value as a row."""
    if is_array(value) and value and all(map(is_object, value)):
        for number, part in enumerate(value, start=1):
            yield Entry(f"{where}, {number}", _with_outer(beside, part))
        return
    columns: Cells = {VALUE: value}
    if is_object(value):
        columns = value
    yield Entry(where, _with_outer(beside, columns))


def _with_outer(beside: Cells, inner: Cells) -> Cells:
    """Return a row's cells and those beside it. One of the same name becomes `outer_NAME`."""
    cells: dict[str, Any] = {}
    for name, value in beside.items():
        if name in inner and inner[name] != value:
            cells[f"{OUTER}_{name}"] = value
        else:
            cells[name] = value
    return {**cells, **inner}


def _branch_of_key(value: Any, step: str, where: str) -> _Branches:  # noqa: ANN401 - any JSON
    """Return an object's value of a key, or the rows of parallel lists (`starts+ends`)."""
    if not is_object(value):
        raise InputError(f"{where}: has no {step!r} (each)")
    names = [step]
    if step not in value:
        names = step.split("+")
    if not value.keys() >= set(names):
        raise InputError(f"{where}: has no {step!r} (each); it has {first_of(list(value), 12)}")
    beside = {name: part for name, part in value.items() if name not in names}
    if len(names) == 1:
        return _Branches([(step, value[step])], beside)
    lists = [as_list(parse_literal(value[name])) for name in names]
    lengths = {len(part) for part in lists}
    if len(lengths) > 1:
        raise InputError(
            f"{where}: the lists {', '.join(names)} are of different lengths (each: {step})"
        )
    cells_of_rows = zip(*lists, strict=True)
    parallel_rows = [dict(zip(names, cells, strict=True)) for cells in cells_of_rows]
    if not parallel_rows:
        return _Branches([], beside)
    return _Branches([(step, parallel_rows)], beside)


def _all_branches(value: Any, step: str, where: str) -> _Branches:  # noqa: ANN401 - any JSON
    """Return all values of a list or a mapping that may hold rows."""
    if is_array(value):
        return _Branches(list(enumerate(value, start=1)), {})
    if not is_object(value):
        raise InputError(
            f"{where}: is a {type(value).__name__}, expected a list or a mapping (each: {step})"
        )
    objects: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for name, part in value.items():
        if is_object(part):
            objects[name] = part
        elif is_array(part):
            lists[name] = part
    branches = objects or lists or value
    beside = {name: part for name, part in value.items() if name not in branches}
    return _Branches(list(branches.items()), beside)


# --- two files
# -------------------------------------------------------------------------------------------


def _join_columns(entries: Iterable[Entry], path: Path, join: Join) -> Iterator[Entry]:
    """Add a second file's columns to the rows, or a fault where it lacks one."""
    columns = ", ".join(join.by)
    joined_cells: dict[tuple[str | None, ...], Cells] = {}
    for where, cells in _rows_of_file(path, join.each):
        if isinstance(cells, InputError):
            raise cells
        key = _join_key(cells, where, join)
        if key in joined_cells:
            key_text = ", ".join(map(str, key))
            raise InputError(f"{where}: {columns} is {key_text} as in a row before (join)")
        joined_cells[key] = cells
    for entry in entries:
        if isinstance(entry.cells, InputError):
            yield entry
            continue
        key = _join_key(entry.cells, entry.where, join)
        if key in joined_cells:
            yield Entry(entry.where, _joined_cells(joined_cells[key], entry.cells))
        else:
            key_text = ", ".join(map(str, key))
            lack = f"{path.name} has no row with {columns} {key_text} (join)"
            yield Entry(entry.where, InputError(f"{entry.where}: {lack}"))


def _joined_cells(joined_cells: Cells, cells: Cells) -> Cells:
    """Return a row's cells and those of the other file, which fill empty ones."""
    fill_template = {name: value for name, value in cells.items() if value not in _EMPTY}
    return {**cells, **joined_cells, **fill_template}


def _join_key(cells: Cells, where: str, join: Join) -> tuple[str | None, ...]:
    return tuple(as_text(cell(cells, name, where), name) for name in join.by)
