"""The one event loop of a process in which models are asked, in a thread of its own: there while somebody asks.

All who ask meet in it, so they share what a server takes and what is in flight, and asking works
wherever the caller is: in a program, a notebook that has a loop running, or a host's worker
threads.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

_sharing = threading.Lock()
_loops: dict[int, "_Loop"] = {}  # by process: a thread is not there after a fork


@dataclass(slots=True)
class _Loop:
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    users: int = 0


@contextmanager
def asking() -> Generator[asyncio.AbstractEventLoop]:
    """Hold the loop while the block runs; the last to leave ends it."""
    with _sharing:
        if (held := _loops.get(os.getpid())) is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="reelbench-asking", daemon=True)
            thread.start()
            held = _loops[os.getpid()] = _Loop(loop, thread)
        held.users += 1
    try:
        yield held.loop
    finally:
        with _sharing:
            held.users -= 1
            if ended := not held.users:
                del _loops[os.getpid()]
        # In an interpreter that ends (whoever held it never let go) threads stand still, and would
        # never answer.
        if ended and not sys.is_finalizing():
            asyncio.run_coroutine_threadsafe(
                held.loop.shutdown_default_executor(), held.loop
            ).result()
            held.loop.call_soon_threadsafe(held.loop.stop)
            held.thread.join()
            held.loop.close()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of asking; an interrupted wait ends the work before it goes on. Not for use in the loop."""
    done, tasks = threading.Event(), list[asyncio.Task[T]]()

    def begin() -> None:
        tasks.append(asyncio.ensure_future(work))
        tasks[0].add_done_callback(lambda _: done.set())

    with asking() as loop:
        loop.call_soon_threadsafe(begin)
        try:
            done.wait()
        except BaseException:  # Ctrl-C, as it reaches who waits
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())  # noqa: PLW0108 - begun by then
            done.wait()
            raise
    return tasks[0].result()
