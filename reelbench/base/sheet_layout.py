"""Where the table begins and ends in a sheet that people wrote: below titles, above notes."""

import logging
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import first_of, number_of

log = logging.getLogger("reelbench")

_MOST_TITLES = 20
_FEWEST_COLUMNS = 3
_SHOWN = 40
_TOTALS = frozenset({"total", "totals", "sum", "average", "mean", "count", "all"})
_FILES_TOLD_OF: set[tuple[Path, str]] = set()


class Line(NamedTuple):
    """A line of a sheet with something in it."""

    place: str
    cells: Sequence[Any]

    def filled_cells(self) -> list[Any]:
        """Return the cells with something in them."""
        return [cell for cell in self.cells if cell not in {"", None}]

    def texts(self) -> list[str]:
        """Return the cells with something in them, as text."""
        return [str(cell) for cell in self.filled_cells()]


def table_lines(path: Path, lines: Iterator[Line]) -> Iterator[Line]:
    """Yield the lines of a sheet's table, its header first.

    Lines of a single cell above a header of three columns or more are titles, and those of several
    words below its last row are notes, as totals are. Both are left out, with one note.
    """
    first_lines = list(islice(lines, _MOST_TITLES))
    titles = _title_lines(first_lines)
    _tell_left_out_lines(path, "above the header", titles)
    table = chain(first_lines[len(titles) :], lines)
    header = next(table, None)
    if header is None:
        return
    yield header
    columns = len(header.filled_cells())
    if columns < _FEWEST_COLUMNS:
        yield from table
        return
    waiting: list[Line] = []
    for line in table:
        texts = line.texts()
        if _may_be_note(texts) or _may_be_total(texts, columns):
            waiting.append(line)
            continue
        yield from waiting
        waiting.clear()
        yield line
    _tell_left_out_lines(path, "below the rows", waiting)


def _title_lines(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the first lines, where they are titles above a header."""
    for number, line in enumerate(lines):
        if len(line.filled_cells()) == 1:
            continue
        if _is_header(line):
            return lines[:number]
        return []
    return []


def _is_header(line: Line) -> bool:
    """Return True for three or more different texts, none of which is a number."""
    cells = line.filled_cells()
    if len(cells) < _FEWEST_COLUMNS:
        return False
    if not all(isinstance(cell, str) for cell in cells):
        return False
    has_number = any(_is_number(cell) for cell in cells)
    return not has_number and len(set(cells)) == len(cells)


def _is_number(text: str) -> bool:
    digits = text.strip().replace(".", "", 1).replace(",", "", 1)
    return digits.isdigit()


def _may_be_note(texts: Sequence[str]) -> bool:
    """Return True for a line of a single cell of several words.

    A single value is a row that lacks all others.
    """
    if len(texts) != 1:
        return False
    words = texts[0].split()
    return len(words) > 1


def _may_be_total(texts: Sequence[str], columns: int) -> bool:
    """Return True for a line of few cells that begins with a word for totals."""
    return _plain_word(texts[0]) in _TOTALS and len(texts) <= columns / 2


def _plain_word(text: str) -> str:
    """Return a text in small letters, without a colon at its end."""
    return text.strip().lower().removesuffix(":").strip()


def _tell_left_out_lines(path: Path, where: str, lines: Sequence[Line]) -> None:
    """Say once which lines of a file are left out."""
    if not lines or (path, where) in _FILES_TOLD_OF:
        return
    _FILES_TOLD_OF.add((path, where))
    texts: list[str] = []
    for line in lines:
        text = " ".join(line.texts())
        if len(text) > _SHOWN:
            text = f"{text[:_SHOWN]}…"
        texts.append(repr(text))
    verb = "are no rows"
    if len(lines) == 1:
        verb = "is no row"
    count = number_of(len(lines), "line")
    log.warning("%s: %s %s %s: %s", path, count, where, verb, first_of(texts))
