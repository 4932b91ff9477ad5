"""Work spread over processes on this machine, or over a Ray cluster.

Results come in the order of the items.
"""

import os
import signal
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import chain, islice
from multiprocessing import current_process, get_context, parent_process
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from reelbench.base import bounds, process_state
from reelbench.base.errors import InputError, ReelbenchError, installing
from reelbench.base.progress import Bar, counted, no_bar

ENGINES = ("pool", "ray")
MANY = 64  # items from which on a second process pays, unless a number of workers is asked for

_MOST_PROCESSES = 8  # unless more are asked for
_MOST_ITEMS = 200  # of one part
_BATCH = 20_000  # items of `map_each` that are in memory
_PARTS_FOR_EACH_WORKER = 4
_OUR_VARIABLES = ("REELBENCH_", "HF_", "HUGGINGFACE_")
_interrupted = threading.Event()
_STARTING = threading.RLock()
_SAFE_PATH = "PYTHONSAFEPATH"
_WORKER_ENDED = (
    "a worker's process ended (out of memory?): run again, with fewer --workers (`score`: on one "
    "core); what was done is kept"
)
_SIGNAL_MASK = getattr(signal, "pthread_sigmask", None)  # not on Windows

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes that do work, of an engine.

    Attributes:
        number: Processes at once. None is as many as this process may use cores (at most 8), or
            all that the cluster has, and one where there is little to do.
        engine: `pool` are processes on this machine. `ray` is the cluster of `RAY_ADDRESS`, the
            one that runs on this machine, or else a new one on it. Every node must see the files
            under the same paths.
        bar: It shows how much is done.
    """

    number: int | None = None
    engine: str = "pool"
    bar: Bar = field(default=no_bar, compare=False)

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise InputError(f"--engine {self.engine}: not an engine; give {' or '.join(ENGINES)}")
        bounds.hold("--workers", self.number or 0, bounds.WORKERS)

    def alone(self, items: int, many: int = MANY) -> bool:
        """Return True where so many items are best worked on in this process.

        A second process pays from `many` items on.
        """
        if self.engine != "pool":
            return False
        if self.number:
            processes = self.number
        elif items >= many:
            processes = usable_cores()
        else:
            processes = 1
        if processes <= 1 or items <= 1:
            return True
        # A daemon of multiprocessing's may have no processes of its own.
        return current_process().daemon

    def each(
        self, title: str, work: Callable[[ItemT], ResultT], items: Sequence[ItemT]
    ) -> Iterator[ResultT]:
        """Yield the result of each item, in order, in this process where that is best.

        Args:
            title: What is done.
            work: A function that can be imported.
            items: Its arguments.
        """
        results = map(work, items) if self.alone(len(items)) else self.map(work, items)
        yield from self.shown(title, results, len(items))

    def shown(self, title: str, results: Iterable[ResultT], total: int) -> Iterator[ResultT]:
        """Yield results, and show how many of them there are already."""
        with self.bar(title, total) as show:
            yield from counted(results, show)

    def map(
        self,
        work: Callable[[ItemT], ResultT],
        items: Sequence[ItemT],
        by: Callable[[ItemT], Hashable] | None = None,
    ) -> Iterator[ResultT]:
        """Yield the result of each item, in order.

        Args:
            work: A function that can be imported.
            items: Its arguments.
            by: Items with an equal value of it go to one worker, in their order.

        Raises:
            InputError: Ray is not installed.
            ReelbenchError: A worker's process has ended, or the cluster can't be reached.
        """
        parts = self._parts_for_workers(items, by)
        work_on_part = partial(_results_of_part, work)
        items_by_part = [list(map(items.__getitem__, part)) for part in parts]
        if self.engine == "ray":
            results_by_part = _over_ray(work_on_part, items_by_part, self.number)
        else:
            processes = min(self.number or usable_cores(), len(parts))
            results_by_part = _in_pool(work_on_part, items_by_part, processes)
        results: dict[int, ResultT] = {}
        next_index = 0
        for part, results_of_part in zip(parts, results_by_part, strict=True):
            results.update(zip(part, results_of_part, strict=True))
            while next_index in results:
                yield results.pop(next_index)
                next_index += 1

    def map_each(
        self, work: Callable[[ItemT], ResultT], items: Iterable[ItemT], many: int = MANY
    ) -> Iterator[ResultT]:
        """Yield the result of each of any number of items, in order.

        A batch of them is taken at a time, by processes of this machine that stay.

        Args:
            work: A function that can be imported.
            items: Its arguments.
            many: Items from which on a second process pays.

        Raises:
            ReelbenchError: A worker's process has ended.
        """
        source = iter(items)
        batch = list(islice(source, _BATCH))
        if self.alone(len(batch), many):
            yield from map(work, chain(batch, source))
            return
        work_on_part = partial(_results_of_part, work)
        with _process_pool(self.number or usable_cores()) as pool:
            while batch:
                parts = self._parts_for_workers(batch, None)
                items_by_part = [list(map(batch.__getitem__, part)) for part in parts]
                for results in _results_of_processes(pool, work_on_part, items_by_part):
                    yield from results
                batch = list(islice(source, _BATCH))

    def _parts_for_workers(
        self, items: Sequence[ItemT], by: Callable[[ItemT], Hashable] | None
    ) -> list[list[int]]:
        """Return the indices of the items, part by part: several parts for each worker."""
        workers = self.number or usable_cores()
        most_parts = workers * _PARTS_FOR_EACH_WORKER
        most_items = max(1, min(_MOST_ITEMS, len(items) // most_parts))
        indices_by_key: dict[Hashable, list[int]] = defaultdict(list)
        for index, item in enumerate(items):
            key = by(item) if by else index
            indices_by_key[key].append(index)
        parts: list[list[int]] = []
        for indices in indices_by_key.values():
            if not parts or len(parts[-1]) >= most_items:
                parts.append([])
            parts[-1] += indices
        return parts


ALLOTTED = Workers()  # as many as pays
ALONE = Workers(1)  # this process


@contextmanager
def starting() -> Generator[None]:
    """Let processes of Python start, one caller's at a time.

    They take no modules of the working folder.
    """
    with _STARTING:
        value_before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            if value_before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = value_before


def usable_cores() -> int:
    """Return the number of cores that this process may use, at most 8."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return min(cores, _MOST_PROCESSES)


@contextmanager
def cluster() -> Generator[Any]:
    """Yield Ray, on the cluster that is there, else on a new one.

    A new one ends with the block.

    Raises:
        InputError: Ray is not installed.
        ReelbenchError: There is no cluster.
    """
    # Read when Ray is imported; nothing is sent unasked.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise InputError(
            f"--engine ray: Ray is not installed; use --engine pool, or {installing('ray')}"
        ) from None
    starts_here = not ray.is_initialized()
    if starts_here:
        try:
            ray.init(log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        except Exception as error:  # noqa: BLE001 - Ray raises bare ones where a node does not start
            line = " ".join(str(error).split())
            raise ReelbenchError(f"--engine ray: no cluster: {line}") from None
    try:
        yield ray
    finally:
        if starts_here:
            ray.shutdown()


def _results_of_part(work: Callable[[ItemT], ResultT], items: Sequence[ItemT]) -> list[ResultT]:
    results: list[ResultT] = []
    for item in items:
        if _interrupted.is_set():
            raise ReelbenchError("interrupted; what was done is kept")
        results.append(work(item))
    return results


def _in_pool(
    work: Callable[[ItemT], ResultT], parts: Sequence[ItemT], workers: int
) -> Iterator[ResultT]:
    with _process_pool(workers) as pool:
        yield from _results_of_processes(pool, work, parts)


@contextmanager
def _process_pool(workers: int) -> Generator[ProcessPoolExecutor]:
    """Yield processes that begin with the first work."""
    state = process_state.current_state()
    # Spawned, not forked: the caller may have threads, and much memory.
    context = get_context("spawn")
    with starting():
        pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_follow_caller, initargs=(state,)
        )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _results_of_processes(
    pool: ProcessPoolExecutor, work: Callable[[ItemT], ResultT], parts: Sequence[ItemT]
) -> Iterator[ResultT]:
    """Yield the result of each part. ReelbenchError where a process has ended."""
    try:
        with starting(), _main_module_hidden(), _interrupts_blocked():
            results = pool.map(work, parts)  # this starts the processes
        yield from results
    except BrokenProcessPool:
        raise ReelbenchError(_WORKER_ENDED) from None


@contextmanager
def _main_module_hidden() -> Generator[None]:
    """Let processes start that don't run the caller's script again.

    It may lack the guard for that, or have no file. The workers' function is imported by its name.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _interrupts_blocked() -> Generator[None]:
    """Let processes start that wait with Ctrl-C until they are up."""
    if _SIGNAL_MASK is None:
        yield
        return
    mask_before = _SIGNAL_MASK(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        _SIGNAL_MASK(signal.SIG_SETMASK, mask_before)


def _follow_caller(state: list[tuple[process_state.Setter, Any]]) -> None:
    """Let a worker begin no item after Ctrl-C, and end if its caller dies.

    Ctrl-C reaches every process of a terminal. The worker doesn't end by it at once: a pool that
    loses a worker while it is writing to it waits for ever.
    """
    signal.signal(signal.SIGINT, lambda _signal, _frame: _interrupted.set())
    if _SIGNAL_MASK is not None:
        _SIGNAL_MASK(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_caller()
    process_state.take_over(state)


def end_with_caller() -> None:
    """Let this process end, without a word, when the one that started it does."""
    caller = parent_process()
    if caller is None:
        return

    def wait_and_end() -> None:
        caller.join()
        os._exit(1)

    threading.Thread(target=wait_and_end, daemon=True).start()


def _over_ray(
    work: Callable[[ItemT], ResultT], parts: Sequence[ItemT], workers: int | None
) -> Iterator[ResultT]:
    # A worker on another machine has a folder and an environment of its own, and takes over these.
    environ = {name: text for name, text in os.environ.items() if name.startswith(_OUR_VARIABLES)}
    caller = (Path.cwd(), environ, process_state.current_state(), work)
    with cluster() as ray:
        remote = ray.remote(num_cpus=1, max_retries=2)(_work_as_caller)
        running: deque[Any] = deque()
        for part in parts:
            running.append(remote.remote(*caller, part))
            if workers is not None and len(running) >= workers:
                yield _ray_result(ray, running.popleft())
        while running:
            yield _ray_result(ray, running.popleft())


def _ray_result(ray: Any, reference: Any) -> Any:  # noqa: ANN401 - Ray has no types
    try:
        return ray.get(reference)
    except ray.exceptions.WorkerCrashedError:
        raise ReelbenchError(_WORKER_ENDED) from None
    except ray.exceptions.RayError as error:
        last_line = str(error).strip().splitlines()[-1]
        raise ReelbenchError(f"--engine ray: {last_line}") from None


def _work_as_caller(
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
