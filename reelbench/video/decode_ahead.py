"""Frames decoded while questions are asked, in the order in which they will be asked.

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
from reelbench.registry.row_columns import DURATION
from reelbench.registry.rows import Row

KeyT = TypeVar("KeyT")

WINDOW = 4
"""Videos for each core that are made ready beyond the one that is asked for.

It bounds what a run takes of the disk. Those that are decoded at the same time, one for each core,
take some 0.2 GB of memory each.
"""

PAUSE_S = 0.1
"""Time between two looks at what a run waits for."""

_WORTH_TELLING_S = 10

turns = threading.Condition()
"""Guards `waiting`, and tells of its changes."""

waiting: dict[int, None] = {}
"""Threads that work ahead and read no film yet, in the order of their work.

The next one has all cores.
"""


def by_video(rows: Sequence[Row]) -> list[int]:
    """Return the rows' places in the order of asking: by video, the longest first."""
    lengths: dict[str, float] = {}
    places_by_video: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        video = row["video"]
        length = row.get(DURATION.name) or 0.0
        lengths[video] = max(lengths.get(video, 0.0), length)
        places_by_video.setdefault(video, []).append(place)
    places: list[int] = []
    for video in sorted(lengths, key=lengths.__getitem__, reverse=True):
        places += places_by_video[video]
    return places


class Ahead(Generic[KeyT]):
    """Works on things in their order, not far beyond the last one asked for.

    There is a thread for each core. On Linux they give way to the threads that ask: a request is
    sent before frames are decoded that nobody awaits.
    """

    def __init__(self, work: Mapping[KeyT, Callable[[], object]]) -> None:
        """Set up. An error of `work` is left to whoever asks for the thing."""
        self._work = list(work.values())
        self._places = {key: place for place, key in enumerate(work)}
        self._ready = [Future[None]() for _ in work]
        self._threads = usable_cores()
        self._window = WINDOW * self._threads
        self._next = 0
        self._end = self._window
        self._stopped = False
        self._changed = threading.Condition()

    def __enter__(self) -> Self:
        for _ in range(min(self._threads, len(self._work))):
            threading.Thread(target=self._run, name="reelbench-ahead", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def reached(self, key: KeyT) -> "Future[None] | None":
        """Note that a thing is asked for now. Work on those behind it.

        Returns:
            A future that is done when the thing was worked on. None where nobody works on it.
        """
        place = self._places.get(key)
        if place is None:
            return None
        with self._changed:
            self._end = max(self._end, place + 1 + self._window)
            self._changed.notify_all()
        return self._ready[place]

    def _run(self) -> None:
        if sys.platform == "linux":
            # Here each thread has a niceness of its own, and hands it on to those it starts.
            os.nice(10)
        while True:
            place = self._next_place()
            if place is None:
                return
            with suppress(Exception):
                self._work[place]()
            with turns:
                waiting.pop(threading.get_ident(), None)
                turns.notify_all()
            self._ready[place].set_result(None)

    def _next_place(self) -> int | None:
        """Wait for the next thing to work on. Return its place, or None."""
        with self._changed:
            self._changed.wait_for(self._may_go_on)
            if self._stopped:
                return None
            place = self._next
            self._next += 1
            with turns:
                waiting[threading.get_ident()] = None
            return place

    def _may_go_on(self) -> bool:
        return self._stopped or self._next < min(self._end, len(self._work))


class Waits(Counter[str | None]):
    """The number of times that a run waited for each thing. None: it worked."""

    def __str__(self) -> str:
        """Return the waits as shares of the time, the longest first. Empty without any."""
        shares: list[str] = []
        for thing, count in self.most_common():
            if thing:
                shares.append(f"for {thing} {count / self.total():.0%}")
        if not shares:
            return ""
        return f"waiting {', '.join(shares)}"

    def worth_saying(self) -> bool:
        """Return True where the run was long enough for its shares to tell something."""
        return self.total() * PAUSE_S >= _WORTH_TELLING_S
