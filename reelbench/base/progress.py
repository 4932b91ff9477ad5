"""Progress, as library code tells it: its caller may hand over a bar to draw; by default nothing is drawn."""

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from reelbench.base.errors import printable


class Show(Protocol):
    """Shows how far work has come; called from any thread."""

    def __call__(
        self, done: float, line: str, *, failed: int = 0, cost_usd: float | None = None
    ) -> None:
        """Show how much is `done`, how much of it failed, dollars spent so far where known, and a line of words."""
        ...


Bar = Callable[[str, float | None], AbstractContextManager[Show]]
"""(title, total; None where that is not known) -> a bar that is there while the block runs."""


def no_show(done: float, line: str, *, failed: int = 0, cost_usd: float | None = None) -> None:
    """Show nothing."""


@contextmanager
def no_bar(title: str, total: float | None) -> Generator[Show]:
    """Draw nothing."""
    del title, total
    yield no_show


@contextmanager
def line_bar(title: str, total: float | None) -> Generator[Show]:
    """Show progress in one line on stderr that is written over, where somebody looks: a terminal or a notebook."""
    stream = sys.stderr
    if stream is None or not (stream.isatty() or "ipykernel" in sys.modules):
        yield no_show
        return
    of = "" if total is None else f" of {total:g}"

    def show(done: float, line: str, *, failed: int = 0, cost_usd: float | None = None) -> None:
        lost = f", {failed} failed" if failed else ""
        cost = f", ${cost_usd:.2f}" if cost_usd else ""
        stream.write("\r" + printable(f"{title}: {done:g}{of}{lost}{cost} {line}")[:100].ljust(100))
        stream.flush()

    try:
        yield show
    finally:
        stream.write("\n")
