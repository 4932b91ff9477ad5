"""The progress of library code. Its caller may pass a bar to draw, and by default none is drawn."""

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from reelbench.base.errors import printable

_LINE_WIDTH = 100
LOG_PAUSE_S = 60.0
"""Seconds between two lines in a log, and before the first."""
_MINUTE = 60
_MEGABYTE = 1e6


ItemT = TypeVar("ItemT")


class Show(Protocol):
    """Shows the progress of work. Called from any thread."""

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


def counted(items: Iterable[ItemT], show: Show) -> Iterator[ItemT]:
    """Yield the items, and show how many are done and how fast.

    An item is done when the next one is asked for.
    """
    began = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        rate = number / max(time.monotonic() - began, 1e-9)
        show(number, f"{rate:.3g}/s")


@contextmanager
def line_bar(title: str, total: float | None) -> Generator[Show]:
    """Show progress in one line on stderr, in a terminal or a notebook. Elsewhere nothing."""
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


@contextmanager
def log_lines(
    title: str,
    total: float | None,
    write: Callable[[str], None],
    *,
    in_bytes: bool = False,
    pause_s: float = LOG_PAUSE_S,
) -> Generator[Show]:
    """Write a line of progress each minute, as a log has it.

    It comes whether anything was done or not.

    Args:
        title: What is done.
        total: Amount of work, None where it is unknown.
        write: Writes a line.
        in_bytes: Bytes are counted, and not things.
        pause_s: Seconds between two lines.
    """
    began = time.monotonic()
    lock = threading.Lock()
    ended = threading.Event()
    latest: dict[str, Any] = {"done": 0.0, "line": "", "failed": 0}

    def show(done: float, line: str, *, failed: int = 0, cost_usd: float | None = None) -> None:
        del cost_usd  # the line has it
        with lock:
            latest.update(done=done, line=line, failed=failed)

    def write_lines() -> None:
        while not ended.wait(pause_s):
            with lock:
                state = dict(latest)
            write(_log_line(title, total, time.monotonic() - began, in_bytes=in_bytes, **state))

    writer = threading.Thread(target=write_lines, name="reelbench-progress", daemon=True)
    writer.start()
    try:
        yield show
    finally:
        ended.set()
        writer.join()


def _log_line(
    title: str,
    total: float | None,
    seconds: float,
    *,
    done: float,
    line: str,
    failed: int,
    in_bytes: bool,
) -> str:
    """Return a line on work that has gone on for some seconds."""
    unit = ""
    scale = 1.0
    if in_bytes:
        unit = " MB"
        scale = _MEGABYTE
    parts = [f"{title}: {done / scale:.0f}{unit} done"]
    if total is not None:
        parts = [f"{title}: {done / scale:.0f} of {total / scale:.0f}{unit} done"]
    if failed:
        parts.append(f"{failed} failed")
    if line.strip():
        parts.append(line.strip())
    parts.append(f"{_two_largest_units(seconds)} so far")
    if total is not None and done:
        seconds_left = max(0.0, total - done) * seconds / done
        parts.append(f"about {_two_largest_units(seconds_left)} left")
    return ", ".join(parts)


def _two_largest_units(seconds: float) -> str:
    """Return a time in its two largest units."""
    minutes, rest = divmod(round(seconds), _MINUTE)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, _MINUTE)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes} min"
