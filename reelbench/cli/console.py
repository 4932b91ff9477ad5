"""What every command shares: stderr for people, stdout for results, one line for an error.

rich is imported where a table is drawn, not before: `list` and errors must not wait for it.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def write(text: str) -> None:
    """Write plain text and a newline to stdout, whatever characters are in it."""
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Tell the user something on stderr, as it stands."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def table(title: str, *columns: str) -> "Table":
    """Return an empty table; columns that start with `#` are numbers, set to the right."""
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        made.add_column(column.removeprefix("#"), justify="right" if column.startswith("#") else "left")
    return made


def show(made: "Table") -> None:
    """Print a table on stdout."""
    from rich.console import Console

    Console(highlight=False).print(made, markup=False)
