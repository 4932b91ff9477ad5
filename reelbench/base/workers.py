"""Work spread over processes on this machine, or over a Ray cluster; results come in the order of what was given."""

import os
import signal
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing import current_process, get_context, parent_process
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from reelbench.base import bounds, process_state
from reelbench.base.errors import InputError, ReelbenchError, installing

ENGINES = ("pool", "ray")
MANY = 64  # items from which on it pays to start a second process, unless a number of workers is asked for

_MOST = 8  # processes, unless more are asked for
_LONGEST = 200  # items of one part
_OURS = ("REELBENCH_", "HF_", "HUGGINGFACE_")
_interrupted = threading.Event()
_STARTING = threading.RLock()
_SAFE = "PYTHONSAFEPATH"
_DIED = (
    "a worker's process ended (out of memory?): run again, with fewer --workers (`score`: on one core); what was done "
    "is kept"
)
_MASK = getattr(signal, "pthread_sigmask", None)  # not on Windows

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Workers:
    """Who does the work: so many processes at once, of an engine.

    None is as many as this process may use cores (at most 8), or all that the cluster has, and one
    where there is little to do. `pool` are processes on this machine, `ray` is the cluster of
    `RAY_ADDRESS`, the one that runs on this machine, or else a new one on it; every node must see
    the files under the same paths.
    """

    number: int | None = None
    engine: str = "pool"

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise InputError(f"--engine {self.engine}: not an engine; give {' or '.join(ENGINES)}")
        bounds.hold("--workers", self.number or 0, bounds.WORKERS)

    def alone(self, items: int, many: int = MANY) -> bool:
        """Whether so many items are best worked on in this process; a second one pays from `many` on."""
        number = self.number or (usable_cores() if items >= many else 1)
        # A daemon of multiprocessing's may have no processes of its own.
        return self.engine == "pool" and (min(number, items) < 2 or current_process().daemon)  # noqa: PLR2004

    def map(
        self,
        work: Callable[[ItemT], ResultT],
        items: Sequence[ItemT],
        by: Callable[[ItemT], Hashable] | None = None,
    ) -> Iterator[ResultT]:
        """Yield `work`'s result on each item, `work` being importable; items alike `by` go to one worker, in order.

        InputError where Ray is not installed, ReelbenchError where a worker's process has ended or
        the cluster can't be reached.
        """
        # The places of items, part by part: some parts for each worker, and what is alike `by` in
        # one of them.
        longest = max(1, min(_LONGEST, len(items) // (4 * (self.number or usable_cores()))))
        alike: dict[Hashable, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            alike[by(item) if by else place].append(place)
        parts = list[list[int]]()
        for places in alike.values():
            if not parts or len(parts[-1]) >= longest:
                parts.append([])
            parts[-1] += places
        work_on = partial(_worked, work)
        given = [[items[place] for place in part] for part in parts]
        if self.engine == "ray":
            results = _over_ray(work_on, given, self.number)
        else:
            results = _in_pool(work_on, given, min(self.number or usable_cores(), len(parts)))
        done: dict[int, ResultT] = {}
        following = 0
        for part, of_part in zip(parts, results, strict=True):
            done |= zip(part, of_part, strict=True)
            while following in done:
                yield done.pop(following)
                following += 1


ALLOTTED = Workers()  # as many as pays
ALONE = Workers(1)  # this process


@contextmanager
def starting() -> Generator[None]:
    """Let processes of Python start: one caller's at a time, and none that takes modules of the working folder."""
    with _STARTING:
        before = os.environ.get(_SAFE)
        os.environ[_SAFE] = "1"
        try:
            yield
        finally:
            del os.environ[_SAFE]
            os.environ |= {} if before is None else {_SAFE: before}


def usable_cores() -> int:
    """Return the number of cores that this process may use, at most 8."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, _MOST)


@contextmanager
def cluster() -> Generator[Any]:
    """Yield Ray, on the cluster that is there, else on one of our own while the block runs.

    InputError where Ray is not installed, ReelbenchError where there is no cluster.
    """
    os.environ.setdefault(
        "RAY_USAGE_STATS_ENABLED", "0"
    )  # read when Ray is imported; nothing is sent unasked
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise InputError(
            f"--engine ray: Ray is not installed; use --engine pool, or {installing('ray')}"
        ) from None
    ours = not ray.is_initialized()
    if ours:
        try:
            ray.init(log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        except Exception as error:  # noqa: BLE001 - Ray raises bare ones where a node does not start
            raise ReelbenchError(
                f"--engine ray: no cluster: {' '.join(str(error).split())}"
            ) from None
    try:
        yield ray
    finally:
        if ours:
            ray.shutdown()


def _worked(work: Callable[[ItemT], ResultT], items: Sequence[ItemT]) -> list[ResultT]:
    done: list[ResultT] = []
    for item in items:
        if _interrupted.is_set():
            raise ReelbenchError("interrupted; what was done is kept")
        done.append(work(item))
    return done


def _in_pool(
    work: Callable[[ItemT], ResultT], parts: Sequence[ItemT], workers: int
) -> Iterator[ResultT]:
    state = process_state.current_state()
    context = get_context("spawn")
    # Spawned, not forked: the caller may have threads, and much memory.
    with starting():
        pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_follow_caller, initargs=(state,)
        )
    try:
        # It starts the processes, which wait with Ctrl-C until they are up, and don't run the
        # caller's script again: that may lack the guard for it, or have no file; what a worker
        # works on is imported by its name.
        with starting():
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            before = _MASK and _MASK(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                results = pool.map(work, parts)
            finally:
                sys.modules["__main__"] = main
                if _MASK:
                    _MASK(signal.SIG_SETMASK, before)
        yield from results
    except BrokenProcessPool:
        raise ReelbenchError(_DIED) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_caller(state: list[tuple[process_state.Setter, Any]]) -> None:
    """Let a worker go no further after Ctrl-C, which reaches every process of a terminal, and end if its caller dies.

    It doesn't end by Ctrl-C itself: a pool that loses a worker while it is writing to it waits for
    ever.
    """
    signal.signal(signal.SIGINT, lambda _signal, _frame: _interrupted.set())
    if _MASK:
        _MASK(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_caller()
    process_state.take_over(state)


def end_with_caller() -> None:
    """Let this process end, without a word, when the one that started it does."""
    if caller := parent_process():
        threading.Thread(target=lambda: (caller.join(), os._exit(1)), daemon=True).start()


def _over_ray(
    work: Callable[[ItemT], ResultT], parts: Sequence[ItemT], workers: int | None
) -> Iterator[ResultT]:
    # A worker on another machine has a folder and an environment of its own: it takes over what is
    # here.
    environ = {name: text for name, text in os.environ.items() if name.startswith(_OURS)}
    here = (Path.cwd(), environ, process_state.current_state(), work)
    with cluster() as ray:
        remote = ray.remote(num_cpus=1, max_retries=2)(_as_here)
        running: deque[Any] = deque()
        for number, part in enumerate(parts, start=1):
            running.append(remote.remote(*here, part))
            while running and (
                number == len(parts) or (workers is not None and len(running) >= workers)
            ):
                try:
                    yield ray.get(running.popleft())
                except ray.exceptions.WorkerCrashedError:
                    raise ReelbenchError(_DIED) from None
                except ray.exceptions.RayError as error:
                    raise ReelbenchError(
                        f"--engine ray: {str(error).strip().splitlines()[-1]}"
                    ) from None


def _as_here(
    folder: Path,
    environ: dict[str, str],
    state: list[tuple[process_state.Setter, Any]],
    work: Callable[[ItemT], ResultT],
    part: ItemT,
) -> ResultT:
    os.chdir(folder)
    os.environ.update(environ)
    process_state.take_over(state)
    return work(part)
