"""Frames made ready beside the asking: the order in which questions are asked, what is decoded meanwhile, the waiting.

A video's questions are asked together, so that a server that keeps what it has read (vLLM, SGLang)
reads its pictures once. Long videos come first, so that none is left for the end.
"""

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Generic, Self, TypeVar

from reelbench.base.workers import usable_cores
from reelbench.registry.rows import DURATION, Row

KeyT = TypeVar("KeyT")

WINDOW = 4
"""Videos for each core that are made ready beyond the one that is asked for: bounds what a run takes of the disk. Those
that are decoded at the same time, one for each core, take some 0.2 GB of memory each."""

PAUSE_S = 0.1
"""Time between two looks at what a run waits for."""


turns, waiting = threading.Condition(), dict[int, None]()
"""Threads that work ahead and read no film yet, in the order of what they work on: the next one has all cores."""


def by_video(rows: Sequence[Row]) -> list[int]:
    """Return the rows' places in the order in which they are asked: by video, the longest first where that is known."""
    lengths: dict[str, float] = {}
    for row in rows:
        lengths[row["video"]] = max(lengths.get(row["video"], 0.0), row.get(DURATION.name) or 0.0)
    ranks = {
        video: rank for rank, video in enumerate(sorted(lengths, key=lambda video: -lengths[video]))
    }
    return sorted(range(len(rows)), key=lambda place: ranks[rows[place]["video"]])


class Ahead(Generic[KeyT]):
    """Works on things in their order in threads, one for each core, and not far beyond what was asked for last.

    On Linux they give way to the threads that ask: a request is sent before frames are decoded that
    nobody awaits.
    """

    def __init__(self, work: Mapping[KeyT, Callable[[], object]]) -> None:
        """Set up; what `work` raises is for whoever asks for that thing, and is passed over here."""
        self._work = [*work.values()]
        self._places = {key: place for place, key in enumerate(work)}
        self._ready = [Future[None]() for _ in work]
        self._threads = usable_cores()
        self._next, self._until = 0, WINDOW * self._threads
        self._changed = threading.Condition()

    def reached(self, key: KeyT) -> "Future[None] | None":
        """Note that a thing is asked for now, and those behind it are worked on too -> done when it was worked on."""
        place = self._places.get(key)
        if place is None:
            return None
        with self._changed:
            self._until = max(self._until, place + 1 + WINDOW * self._threads)
            self._changed.notify_all()
        return self._ready[place]

    def _run(self) -> None:
        if (
            sys.platform == "linux"
        ):  # where each thread has a niceness of its own, and hands it on to those it starts
            os.nice(10)
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._next < min(self._until, len(self._work)) or self._until < 0
                )
                if self._until < 0:
                    return
                work, ready = self._work[self._next], self._ready[self._next]
                self._next += 1
                with turns:
                    waiting[threading.get_ident()] = None
            with suppress(Exception):
                work()
            with turns:
                waiting.pop(threading.get_ident(), None)
                turns.notify_all()
            ready.set_result(None)

    def __enter__(self) -> Self:
        for _ in range(min(self._threads, len(self._work))):
            threading.Thread(target=self._run, name="reelbench-ahead", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._until = -1
            self._changed.notify_all()


class Waits(Counter[str | None]):
    """How often a run was seen to wait for what (None: it works itself), said as shares of the time."""

    def __str__(self) -> str:
        """Return the waits as shares of the time, the longest first; empty where there was none."""
        shares = [
            f"for {what} {seen / self.total():.0%}" for what, seen in self.most_common() if what
        ]
        return f"waiting {', '.join(shares)}" if shares else ""

    def worth_saying(self) -> bool:
        """Whether the run was long enough for its shares to say something: ten seconds."""
        return self.total() * PAUSE_S >= 10  # noqa: PLR2004
