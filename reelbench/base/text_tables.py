"""Tables as plain data, as the command line and Python print them and a notebook shows them."""

import csv
import io
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
    """Return a text in one line as LaTeX shows it: no sign of it is a command."""
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def spreadsheet_cell(value: object) -> object:
    """Return a cell of a table's file that no spreadsheet runs, without characters for terminals; None is empty."""
    if isinstance(value, str):
        # An apostrophe is how spreadsheets mark text; see OWASP on CSV injection. Some part cells
        # at a semicolon.
        marked = ("'" if value.startswith(_FORMULA) else "") + _AFTER_A_MARK.sub(r"\1'\2", value)
        return "".join(char if char.isprintable() or char in "\t\n" else " " for char in marked)
    return "" if value is None else value


def csv_text(lines: Iterable[Iterable[object]], delimiter: str = ",", end: str = "\n") -> str:
    """Return lines of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(lines)
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class Table:
    """A table with lines below it; columns whose headings begin with `#` are of numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[str] = ()

    def text(self) -> str:
        """Return it as lines of text, the columns two spaces apart."""
        title, *below = map(printable, (self.title, *self.below))
        if not self.rows:
            return "\n".join([title, *below])
        cells = [[column.removeprefix("#") for column in self.columns], *self.rows]
        lines = [[printable(cell) for cell in line] for line in cells]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        right = [column.startswith("#") for column in self.columns]
        shown = [
            "  ".join(
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(line, widths, right, strict=True)
            )
            for line in lines
        ]
        return "\n".join([title, *(line.rstrip() for line in shown), *below])

    def latex(self) -> str:
        """Return it as LaTeX (booktabs), the title and the lines below it as comments."""
        sides = "".join("r" if column.startswith("#") else "l" for column in self.columns)
        marked = (
            [tex(cell.removeprefix("#")) for cell in cells] for cells in (self.columns, *self.rows)
        )
        head, *body = (" & ".join(cells) + r" \\" for cells in marked)
        lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *body]
        about = [f"% {' '.join(line.split())}" for line in (self.title, *self.below)]
        return "\n".join([*about, *lines, r"\bottomrule", r"\end{tabular}"])

    def html(self) -> str:
        """Return it as HTML."""
        from html import escape

        styles = [
            f"text-align: {'right' if column.startswith('#') else 'left'}"
            for column in self.columns
        ]
        lines = (
            [[column.removeprefix("#") for column in self.columns], *self.rows] if self.rows else []
        )
        table = f"<table><caption>{escape(self.title)}</caption>"
        for number, cells in enumerate(lines):
            tag, marked = "td" if number else "th", zip(cells, styles, strict=True)
            made = (f"<{tag} style='{style}'>{escape(cell)}</{tag}>" for cell, style in marked)
            table += f"<tr>{''.join(made)}</tr>"
        return f"{table}</table>" + "".join(f"<p>{escape(line)}</p>" for line in self.below)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as text, a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def interval(ends: Sequence[float] | None, digits: int = 2) -> str:
    """Return an interval as text, "" where there is none."""
    return "" if ends is None else f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"


def p_value(p: float | None, digits: int = 4) -> str:
    """Return a p value as text, "" where there is none; a small one is below what the digits can show, never 0."""
    least = 10.0**-digits
    return "" if p is None else f"< {least:.{digits}f}" if p < least else f"{p:.{digits}f}"
