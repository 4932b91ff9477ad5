"""What every command shares: stderr for people, stdout for results, one line for an error.

rich is imported where a table is drawn, not before: `list` and errors must not wait for it.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import cut_in_the_middle, printable
from reelbench.base.progress import Show, no_show

if TYPE_CHECKING:
    from rich.table import Table

    from reelbench.base.status import StatusFile

status: "StatusFile | None" = None
"""Where the command that runs tells how far it has come, if it was asked to; set by `app.Command`."""

_WIDEST = 10_000
_LONGEST = 1990
"""Characters of a line on stderr: it may quote anything."""


_ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def inert(text: str) -> str:
    r"""Return a text with each character on which a terminal acts written as its code, as JSON writes it: `\u001b`."""
    return _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write(text: str) -> None:
    """Write text and a newline to stdout, whatever anybody put into it; nothing where stdout is closed."""
    if sys.stdout is None:
        return
    sys.stdout.buffer.write(inert(text).encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.flush()


def write_json(document: object, indent: int | None = None) -> None:
    """Write a JSON document to stdout, in one line unless it is indented."""
    write(json.dumps(document, ensure_ascii=False, indent=indent))


def note(text: str) -> None:
    """Tell the user something on stderr: what it quotes, by anybody, neither acts on the terminal nor fills it."""
    if sys.stderr is None:
        return
    sys.stderr.write(
        "\n".join(cut_in_the_middle(printable(line), _LONGEST) for line in text.split("\n")) + "\n"
    )
    sys.stderr.flush()


def note_unless(*, quiet: bool) -> Callable[[str], None]:
    """Return `note`, or what says nothing."""
    return (lambda _: None) if quiet else note


def table(title: str, *columns: str, rows: Iterable[Iterable[str]] = ()) -> "Table":
    """Return a table of these rows; columns that start with `#` are numbers, set to the right."""
    from rich.table import Table

    class Inert(Table):
        def add_row(self, *cells: Any, **options: Any) -> None:  # noqa: ANN401 - as rich has it
            super().add_row(
                *(inert(cell) if isinstance(cell, str) else cell for cell in cells), **options
            )

    made = Inert(title=title, box=None, pad_edge=False)
    for column in columns:
        number = column.startswith(
            "#"
        )  # one that is cut or broken is another; words give way before it
        made.add_column(
            inert(column.removeprefix("#")),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*row)
    return made


def show(made: "Table") -> None:
    """Print a table on stdout, its title as a line of its own; only a terminal's width cuts it."""
    from rich.console import Console

    console = Console(highlight=False)
    if made.title:
        write(str(made.title))
        made.title = None
    if not console.is_terminal:
        console.width = max(
            console.width,
            console.measure(made, options=console.options.update(width=_WIDEST)).maximum,
        )
    console.print(made, markup=False)


@contextmanager
def progress(title: str, total: float | None, *, in_bytes: bool = False) -> Iterator[Show]:
    """Draw a bar on stderr while the block runs, if that is a terminal, and tell the status file, if there is one.

    It is done at `total`, None where that is not known; with `in_bytes` bytes are counted, and not
    things.
    """
    with status.bar(title, total) if status is not None else nullcontext(no_show) as told:
        if sys.stderr is None or not sys.stderr.isatty():
            yield told
            return
        from rich import progress as parts
        from rich.console import Console

        counted = (
            [parts.DownloadColumn(), parts.TransferSpeedColumn()]
            if in_bytes
            else [parts.MofNCompleteColumn()]
        )
        title_column, said = (
            parts.TextColumn("{task.description}"),
            parts.TextColumn("{task.fields[said]}"),
        )
        columns = (title_column, parts.BarColumn(), *counted, parts.TimeRemainingColumn(), said)
        with parts.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=total, said="")

            def show(
                done: float, line: str, *, failed: int = 0, cost_usd: float | None = None
            ) -> None:
                told(done, line, failed=failed, cost_usd=cost_usd)
                bar.update(task, completed=done, said=line)

            yield show
