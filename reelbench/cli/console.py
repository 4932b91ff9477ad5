"""What every command shares: stderr for people, stdout for results, one line for an error."""

import sys

from rich.console import Console
from rich.table import Table

err = Console(stderr=True, highlight=False, soft_wrap=True)
"""For people: progress, notes and errors."""

out = Console(highlight=False, soft_wrap=True)
"""For results that a person reads; JSON is written with `write`, unstyled."""


def write(text: str) -> None:
    """Write plain text and a newline to stdout, whatever characters are in it."""
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Tell the user something on stderr, as it stands (no markup)."""
    err.print(text, markup=False)


def table(title: str, *columns: str) -> Table:
    """Return an empty table; columns that start with `#` are numbers, set to the right."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        made.add_column(column.removeprefix("#"), justify="right" if column.startswith("#") else "left")
    return made
