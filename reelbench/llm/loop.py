"""The one event loop of a process in which models are asked, in a thread of its own.

It runs while somebody asks. All who ask use it, so they share the pace of a server and the requests
in flight. Asking works wherever the caller is: in a program, a notebook that has a loop running, or
a host's worker threads.
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
    """Hold the loop while the block runs. The last to leave ends it."""
    with _sharing:
        shared = _loops.get(os.getpid())
        if shared is None:
            shared = _start_loop()
            _loops[os.getpid()] = shared
        shared.users += 1
    try:
        yield shared.loop
    finally:
        with _sharing:
            shared.users -= 1
            is_last = not shared.users
            if is_last:
                del _loops[os.getpid()]
        # In an interpreter that ends (a user never left) threads stand still, and would never
        # answer.
        if is_last and not sys.is_finalizing():
            _end_loop(shared)


def _start_loop() -> _Loop:
    """Return a new loop that runs in a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="reelbench-asking", daemon=True)
    thread.start()
    return _Loop(loop, thread)


def _end_loop(shared: _Loop) -> None:
    """Stop a loop and its thread."""
    ending = shared.loop.shutdown_default_executor()
    asyncio.run_coroutine_threadsafe(ending, shared.loop).result()
    shared.loop.call_soon_threadsafe(shared.loop.stop)
    shared.thread.join()
    shared.loop.close()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of asking; not for use in the loop itself.

    An interrupted wait ends the work before it goes on.
    """
    done = threading.Event()
    tasks: list[asyncio.Task[T]] = []

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
