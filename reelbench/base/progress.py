"""The progress of library code; its caller may pass a bar to draw, and by default none is drawn."""

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from reelbench.base.errors import printable

_LINE_WIDTH = 100


class Show(Protocol):
    """Shows the progress of work; called from any thread."""

    def __call__(
        self, done: float, line: str, *, failed: int = 0, cost_usd: float | None = None
    ) -> None:
        """Show the progress.

        Args:
            done: Amount of work that is done.
            line: Words on it.
            failed: How much of the work that is done failed.
            cost_usd: Dollars spent so far, where known.
        """
        ...


Bar = Callable[[str, float | None], AbstractContextManager[Show]]
"""(title, total or None where it is unknown) -> a bar that is there while the block runs."""


def no_show(done: float, line: str, *, failed: int = 0, cost_usd: float | None = None) -> None:
    """Show nothing."""


@contextmanager
def no_bar(title: str, total: float | None) -> Generator[Show]:
    """Draw nothing."""
    del title, total
    yield no_show


@contextmanager
def line_bar(title: str, total: float | None) -> Generator[Show]:
    """Show progress in one line on stderr, in a terminal or a notebook; elsewhere nothing."""
    stream = sys.stderr
    if stream is None or not (stream.isatty() or "ipykernel" in sys.modules):
        yield no_show
        return
    of_total = "" if total is None else f" of {total:g}"

    def show(done: float, line: str, *, failed: int = 0, cost_usd: float | None = None) -> None:
        text = f"{title}: {done:g}{of_total}"
        if failed:
            text += f", {failed} failed"
        if cost_usd:
            text += f", ${cost_usd:.2f}"
        visible_line = printable(f"{text} {line}")[:_LINE_WIDTH].ljust(_LINE_WIDTH)
        stream.write(f"\r{visible_line}")
        stream.flush()

    try:
        yield show
    finally:
        stream.write("\n")
