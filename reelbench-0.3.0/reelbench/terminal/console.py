"""The console of every command: stderr for people, stdout for results.

rich is imported where a table is drawn, not before: `list` and errors must not wait for it.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import cut_in_the_middle, printable
from reelbench.base.progress import Bar, Show, log_lines, no_show

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

    from reelbench.base.status import StatusFile

status: "StatusFile | None" = None
"""The file that the running command keeps its progress in, if any. Set by `app.Command`."""

_WIDEST = 10_000
_BAR = 20  # columns
_LONGEST = 1990
"""Characters of a line on stderr: it may quote anything."""


_ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def inert(text: str) -> str:
    r"""Return a text with each character on which a terminal acts as its code: `\u001b`."""
    return _ACTING.sub(_code_of, text)


def _code_of(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def write(text: str) -> None:
    """Write text and a newline to stdout.

    A terminal acts on nothing in it.
    """
    if sys.stdout is None:
        return
    sys.stdout.buffer.write(inert(text).encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.flush()


def write_json(document: object, indent: int | None = None) -> None:
    """Write a JSON document to stdout, in one line unless it is indented."""
    write(json.dumps(document, ensure_ascii=False, indent=indent))


def note(text: str) -> None:
    """Tell the user something on stderr.

    A text that it quotes neither acts on the terminal nor fills it.
    """
    if sys.stderr is None:
        return
    lines = [cut_in_the_middle(printable(line), _LONGEST) for line in text.split("\n")]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()


def note_unless(*, quiet: bool) -> Callable[[str], None]:
    """Return `note`, or a function that says nothing."""
    if quiet:
        return _say_nothing
    return note


def _say_nothing(_: str) -> None:
    pass


def table(title: str, *columns: str, rows: Iterable[Iterable[str]] = ()) -> "Table":
    """Return a table. Columns that start with `#` are numbers, set right."""
    from rich.table import Table

    class InertTable(Table):
        def add_row(self, *cells: Any, **options: Any) -> None:  # noqa: ANN401 - as rich has it
            super().add_row(*map(_inert_cell, cells), **options)

    made_table = InertTable(title=title, box=None, pad_edge=False)
    for column in columns:
        heading = inert(column.removeprefix("#"))
        if column.startswith("#"):
            # A number that is cut or broken is another; words give way before it.
            made_table.add_column(heading, justify="right", no_wrap=True, overflow="fold")
        else:
            made_table.add_column(heading, justify="left", no_wrap=False, overflow="fold")
    for row in rows:
        made_table.add_row(*row)
    return made_table


def _inert_cell(cell: Any) -> Any:  # noqa: ANN401 - as rich has it
    if isinstance(cell, str):
        return inert(cell)
    return cell


def show(shown_table: "Table") -> None:
    """Print a table on stdout. Only a terminal's width cuts it."""
    from rich.console import Console

    console = Console(highlight=False)
    if shown_table.title:
        write(str(shown_table.title))
        shown_table.title = None
    if not console.is_terminal:
        options = console.options.update(width=_WIDEST)
        widest = console.measure(shown_table, options=options).maximum
        console.width = max(console.width, widest)
    console.print(shown_table, markup=False)


@contextmanager
def progress(title: str, total: float | None, *, in_bytes: bool = False) -> Iterator[Show]:
    """Draw a bar on stderr while the block runs.

    Where that is no terminal, a line a minute is written. The status file is told too, if there is
    one. The bar is done at `total`, None where that is not known; with `in_bytes` bytes are
    counted, and not things.
    """
    with _show_in_status_file(title, total) as tell_status:
        if sys.stderr is None:
            yield tell_status
        elif sys.stderr.isatty():
            with _drawn_bar(in_bytes=in_bytes, ends=total is not None) as bar:
                task = bar.add_task(title, total=total, line="")

                def draw(
                    done: float, line: str, *, failed: int = 0, cost_usd: float | None = None
                ) -> None:
                    tell_status(done, line, failed=failed, cost_usd=cost_usd)
                    bar.update(task, completed=done, line=line)

                yield draw
        else:
            with log_lines(title, total, note, in_bytes=in_bytes) as tell_log:

                def tell(
                    done: float, line: str, *, failed: int = 0, cost_usd: float | None = None
                ) -> None:
                    tell_status(done, line, failed=failed, cost_usd=cost_usd)
                    tell_log(done, line, failed=failed, cost_usd=cost_usd)

                yield tell


def progress_unless(*, quiet: bool) -> Bar:
    """Return `progress`, or what tells the status file alone."""
    if quiet:
        return _show_in_status_file
    return progress


@contextmanager
def _show_in_status_file(title: str, total: float | None) -> Iterator[Show]:
    """Tell the status file of progress, if there is one."""
    telling = nullcontext(no_show)
    if status is not None:
        telling = status.bar(title, total)
    with telling as tell_status:
        yield tell_status


def _drawn_bar(*, in_bytes: bool, ends: bool) -> "Progress":
    """Return a bar of rich's that has no task yet.

    One of work that states no end shows how long it takes already.
    """
    from rich import progress as parts
    from rich.console import Console
    from rich.table import Column

    counters: list[parts.ProgressColumn] = [parts.TimeElapsedColumn()]
    if in_bytes:
        counters = [
            parts.DownloadColumn(),
            parts.TransferSpeedColumn(),
            parts.TimeRemainingColumn(),
        ]
    elif ends:
        counters = [parts.MofNCompleteColumn(), parts.TimeRemainingColumn()]
    # The line has what the other columns leave: a long one takes no room from bar and total.
    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    return parts.Progress(
        parts.TextColumn("{task.description}"),
        parts.BarColumn(bar_width=_BAR),
        *counters,
        parts.TextColumn("{task.fields[line]}", table_column=rest),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
