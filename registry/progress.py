"""Progress, as library code tells it: its caller may hand over a bar to draw; by default nothing is drawn."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Show(Protocol):
    """Shows how far work has come; called from any thread."""

    def __call__(self, done: float, line: str, *, failed: int = 0, cost_usd: float | None = None) -> None:
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
