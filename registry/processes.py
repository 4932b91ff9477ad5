"""Processes of Python beside this one: they take no module of the working folder, and end with who started them."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess

_SAFE = "PYTHONSAFEPATH"
_LENT = threading.RLock()


@contextmanager
def _safe_path() -> Generator[None]:
    """Let a Python that starts meanwhile not look for modules in the working folder, as `-c` makes it do."""
    with _LENT:
        before = os.environ.get(_SAFE)
        os.environ[_SAFE] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE]


class _Process(BaseProcess):
    def start(self) -> None:
        self._lent = _SAFE not in os.environ
        with _safe_path():
            super().start()

    def run(self) -> None:
        if self._lent:  # what it starts itself is none of ours
            os.environ.pop(_SAFE, None)
        if caller := parent_process():
            threading.Thread(target=lambda: (caller.join(), os._exit(1)), daemon=True).start()
        super().run()


class _Spawned(_Process, SpawnProcess):
    pass


class _Spawn(SpawnContext):
    Process = _Spawned


if sys.platform == "win32":
    _Fork = _Spawn
else:
    from multiprocessing.context import ForkServerContext, ForkServerProcess
    from multiprocessing.resource_tracker import ensure_running

    class _Forked(_Process, ForkServerProcess):
        pass

    class _Fork(ForkServerContext):
        Process = _Forked


def context(*, fork: bool = False) -> BaseContext:
    """Return what starts our processes: anew, or with `fork`, where that can be, as copies of a clean one.

    Never as copies of this process, which may have threads and much memory.
    """
    if sys.platform != "win32":
        with _safe_path():  # else the first lock of a pool would start it
            ensure_running()
    return _Fork() if fork else _Spawn()
