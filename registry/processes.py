"""Processes of Python beside this one: they take no module of the working folder, and end with who started them."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import context, parent_process, process

_SAFE = "PYTHONSAFEPATH"
_LENT = threading.RLock()


@contextmanager
def _safe_path() -> Generator[None]:
    """Let a Python that starts meanwhile not look for modules in the working folder, as its `-c` would."""
    with _LENT:
        before = os.environ.setdefault(_SAFE, "")
        os.environ[_SAFE] = "1"
        try:
            yield
        finally:
            os.environ[_SAFE] = before
            if not before:
                del os.environ[_SAFE]


class _Process(process.BaseProcess):
    def start(self) -> None:
        self._lent = not os.environ.get(_SAFE)
        with _safe_path():
            super().start()

    def run(self) -> None:
        if self._lent:  # what it starts itself is none of ours
            os.environ.pop(_SAFE, None)
        if caller := parent_process():
            threading.Thread(target=lambda: (caller.join(), os._exit(1)), daemon=True).start()
        super().run()


class _Spawn(context.SpawnContext):
    class Process(_Process, context.SpawnProcess):
        pass


def anew() -> context.BaseContext:
    """Return what starts processes anew: a copy of this one would have its threads, and its memory."""
    if sys.platform != "win32":
        from multiprocessing.resource_tracker import ensure_running

        with _safe_path():  # else the first lock of a pool would start it
            ensure_running()
    return _Spawn()


if sys.platform == "win32":
    copied = anew
else:

    class _Fork(context.ForkServerContext):
        class Process(_Process, context.ForkServerProcess):
            pass

    copied = _Fork
    """Makes what starts processes as copies of a clean one, where the system can."""
