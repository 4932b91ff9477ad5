"""Work on what strangers send, in a process of its own with bounds of time and memory.

The process is ended when it takes more. The deadline holds everywhere. Memory is bounded where the
system counts what a process has (Linux). Elsewhere `MEMORY_IS_BOUNDED` is False, and who runs such
work says so.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any, TypeVar

from reelbench.base.errors import ReelbenchError, failure_in_a_line
from reelbench.base.workers import starting

MEMORY_IS_BOUNDED = sys.platform == "linux"
_FORKS = sys.platform != "win32"
_GB = 1_000_000_000
_NICE = 10

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a process.

    Attributes:
        seconds: Seconds by the clock.
        memory: Bytes of memory.
        patient: It lets all other processes go first.
    """

    seconds: float
    memory: int = 2 * _GB
    patient: bool = False


class EndedError(ReelbenchError):
    """The process was ended before its work was done."""


class OverrunError(EndedError):
    """The process was ended because its time was over."""


def prepare(*modules: str) -> None:
    """Import modules once for all processes to come, where these begin as copies."""
    if _FORKS:
        get_context("forkserver").set_forkserver_preload(["__main__", *modules])


def run_bounded(
    work: Callable[..., ResultT],
    *arguments: Any,  # noqa: ANN401 - whatever the work takes
    bounds: Bounds,
    hear: Callable[[Any], None] = lambda _: None,
) -> ResultT:
    """Return the result of `work(tell, *arguments)`, done in a process of its own.

    Args:
        work: A function that can be imported.
        *arguments: Its arguments, after `tell`.
        bounds: The bounds of the process.
        hear: Gets each value that the work gives `tell`, while it goes on.

    Raises:
        OverrunError: It was not done in time.
        EndedError: It needed more memory than it may have, or its process ended by itself.
        ReelbenchError: It failed. The message is its own error's line.
    """
    # Never a copy of this process, which has threads.
    context = get_context("forkserver") if _FORKS else get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(
        target=_work_within_bounds,
        args=(sending, bounds, dict(os.environ), work, arguments),
        daemon=True,
    )
    with starting():
        process.start()
    sending.close()
    end = monotonic() + bounds.seconds
    try:
        while True:
            if not receiving.poll(max(0.0, end - monotonic())):
                raise OverrunError(f"it took longer than {bounds.seconds:g} s")
            kind, value = receiving.recv()
            if kind == "done":
                return value
            if kind == "memory":
                raise EndedError(f"it needed more than {bounds.memory / _GB:g} GB of memory")
            if kind == "failed":
                raise ReelbenchError(value)
            hear(value)
    except EOFError:
        process.join()
        if _FORKS and process.exitcode == -signal.SIGALRM:
            raise OverrunError(f"it took longer than {bounds.seconds:g} s") from None
        raise EndedError(
            f"its process ended by itself (status {process.exitcode}; out of memory?)"
        ) from None
    finally:
        process.kill()
        process.join()
        receiving.close()


def _work_within_bounds(
    sending: Connection,
    bounds: Bounds,
    environ: dict[str, str],
    work: Callable[..., object],
    arguments: tuple[object, ...],
) -> None:
    """Bound this new process, work in it, and send the outcome."""
    os.environ.clear()
    os.environ.update(environ)  # a copy has those of the time when what it is a copy of began
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (bounds.memory, bounds.memory))
    if sys.platform != "win32":
        # The system's own clock: this process ends too where the one that should end it is gone.
        signal.setitimer(signal.ITIMER_REAL, bounds.seconds)
        if bounds.patient:
            os.nice(_NICE)

    def tell(value: object) -> None:
        sending.send(("told", value))

    try:
        outcome = ("done", work(tell, *arguments))
    except MemoryError:
        outcome = ("memory", None)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is said in the process that asked
        outcome = ("failed", failure_in_a_line(error))
    sending.send(outcome)
