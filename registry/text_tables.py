"""Tables as plain data, as the command line and Python print them and a notebook shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Table:
    """A table with lines below it; columns whose headings begin with `#` are of numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[str] = ()

    def text(self) -> str:
        """Return it as lines of text, the columns two spaces apart."""
        if not self.rows:
            return "\n".join([self.title, *self.below])
        lines = [[column.removeprefix("#") for column in self.columns], *self.rows]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        right = [column.startswith("#") for column in self.columns]
        shown = [
            "  ".join(
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(line, widths, right, strict=True)
            )
            for line in lines
        ]
        return "\n".join([self.title, *(line.rstrip() for line in shown), *self.below])

    def html(self) -> str:
        """Return it as HTML."""
        styles = [f"text-align: {'right' if column.startswith('#') else 'left'}" for column in self.columns]

        def row(tag: str, cells: Sequence[str]) -> str:
            marked = zip(cells, styles, strict=True)
            made = (f"<{tag} style='{style}'>{escape(cell)}</{tag}>" for cell, style in marked)
            return f"<tr>{''.join(made)}</tr>"

        head = row("th", [column.removeprefix("#") for column in self.columns]) if self.rows else ""
        body = "".join(row("td", cells) for cells in self.rows)
        table = f"<table><caption>{escape(self.title)}</caption>{head}{body}</table>"
        return table + "".join(f"<p>{escape(line)}</p>" for line in self.below)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as text, a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def interval(ends: Sequence[float] | None, digits: int = 2) -> str:
    """Return an interval as text, "" where there is none."""
    return "" if ends is None else f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"
