"""Tables as plain data, for the command line, Python and notebooks."""

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reelbench.base.errors import printable

_LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "≥": r"$\geq$",
    "–": "--",
    "’": "'",
}

_AFTER_A_MARK = re.compile(r"""((?:[;|]|(?<!^)\t)[^\S\t]*+["']?)([=+@＝＋－＠-])""")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def tex(text: str) -> str:
    """Return a text in one line for LaTeX, with its signs escaped."""
    one_line = " ".join(text.split())
    return "".join(_LATEX.get(letter, letter) for letter in one_line)


def spreadsheet_cell(value: object) -> object:
    """Return a cell for a table's file that no spreadsheet runs as a formula.

    Characters that a terminal acts on become spaces, and None an empty text.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    # An apostrophe is how spreadsheets mark text; see OWASP on CSV injection. Some part cells at a
    # semicolon.
    text = _AFTER_A_MARK.sub(r"\1'\2", value)
    if value.startswith(_FORMULA):
        text = f"'{text}"
    if text.isprintable():
        return text
    shown_letters: list[str] = []
    for letter in text:
        if letter.isprintable() or letter in "\t\n":
            shown_letters.append(letter)
        else:
            shown_letters.append(" ")
    return "".join(shown_letters)


SPREADSHEET_MARK = "\ufeff"
"""Begins a CSV file that people open: without it a spreadsheet misreads "≥" and "–"."""


def csv_text(lines: Iterable[Iterable[object]], delimiter: str = ",", end: str = "\n") -> str:
    """Return lines of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(lines)
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class Table:
    """A table with lines below it. Columns whose headings begin with `#` are of numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[str] = ()

    def text(self) -> str:
        """Return the table as lines of text, the columns two spaces apart."""
        lines = [printable(self.title)]
        if self.rows:
            lines += self._aligned_lines()
        lines += map(printable, self.below)
        return "\n".join(lines)

    def _aligned_lines(self) -> list[str]:
        """Return the lines of the headings and the rows, the columns two spaces apart."""
        rows_of_cells = [[printable(cell) for cell in self._column_headings()]]
        for cells in self.rows:
            rows_of_cells.append([printable(cell) for cell in cells])
        widths = [max(map(len, column)) for column in zip(*rows_of_cells, strict=True)]
        lines: list[str] = []
        for cells in rows_of_cells:
            aligned_cells: list[str] = []
            for cell, heading, width in zip(cells, self.columns, widths, strict=True):
                if heading.startswith("#"):
                    aligned_cells.append(cell.rjust(width))
                else:
                    aligned_cells.append(cell.ljust(width))
            lines.append("  ".join(aligned_cells).rstrip())
        return lines

    def latex(self) -> str:
        """Return the table as LaTeX (booktabs), the title and the lines below as comments."""
        sides = ""
        for column in self.columns:
            sides += "r" if column.startswith("#") else "l"
        comments = [f"% {' '.join(line.split())}" for line in (self.title, *self.below)]
        table_lines: list[str] = []
        for cells in (self.columns, *self.rows):
            escaped = [tex(cell.removeprefix("#")) for cell in cells]
            table_lines.append(" & ".join(escaped) + r" \\")
        head, *body = table_lines
        lines = [
            *comments,
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(lines)

    def html(self) -> str:
        """Return the table as HTML."""
        from html import escape

        parts = [f"<table><caption>{escape(self.title)}</caption>"]
        if self.rows:
            parts.append(self._html_row("th", self._column_headings()))
        parts += [self._html_row("td", cells) for cells in self.rows]
        parts.append("</table>")
        parts += [f"<p>{escape(line)}</p>" for line in self.below]
        return "".join(parts)

    def _html_row(self, tag: str, cells: Sequence[str]) -> str:
        from html import escape

        parts: list[str] = []
        for cell, column in zip(cells, self.columns, strict=True):
            side = "right" if column.startswith("#") else "left"
            parts.append(f"<{tag} style='text-align: {side}'>{escape(cell)}</{tag}>")
        return f"<tr>{''.join(parts)}</tr>"

    def _column_headings(self) -> list[str]:
        return [column.removeprefix("#") for column in self.columns]


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as text, a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def interval(ends: Sequence[float] | None, digits: int = 2) -> str:
    """Return an interval as text, "" where there is none."""
    if ends is None:
        return ""
    low, high = ends
    return f"{low:.{digits}f} to {high:.{digits}f}"


def rounded_down(value: float, digits: int) -> float:
    """Round a number down to so many digits."""
    power = 10.0**digits
    # What a float is short of a number of six more digits is rounding's: 55.1 may be 55.099999999.
    return math.floor(round(value * power, 6)) / power


def p_value(p: float | None, digits: int = 4) -> str:
    """Return a p value as text, "" where there is none.

    A small one is below the least that the digits can show, and never 0.
    """
    if p is None:
        return ""
    least = 10.0**-digits
    if p < least:
        return f"< {least:.{digits}f}"
    return f"{p:.{digits}f}"
