"""Filling a frame store ahead of a run: many videos at once, here or over a Ray cluster.

A video that fails, or that ends its process, is reported and doesn't touch the others. What the
store has is not decoded again, so a run that was stopped goes on where it was. All engines leave
the same files.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.workers import Workers, cluster, end_with_caller, starting
from reelbench.registry.sampling import FrameSampling
from reelbench.video.frame_store import FrameStore

_RETRIES = 2
_DIED = "decoding it ends the process (out of memory, or a fault in a codec)"


@dataclass(frozen=True, slots=True)
class Filled:
    """The outcome of one video."""

    video: Path

    given: int = 0
    """Number of frames that it gave."""

    notes: tuple[str, ...] = ()
    """Lines on what was odd about it."""

    error: str | None = None
    """The reason why it failed, if it did."""


Work = Callable[[Path], Filled]


def fill(
    videos: Sequence[Path],
    sampling: FrameSampling,
    *,
    engine: str = "pool",
    store: FrameStore | None = None,
    workers: int | None = None,
    even: bool = False,
) -> Iterator[Filled]:
    """Decode videos into a store. Yield each as it is done, in no particular order.

    Args:
        videos: The files. On a cluster every node must see them, and the store, under the same
            paths.
        sampling: The frames to take.
        engine: As in `Workers`.
        store: The store, by default the usual one.
        workers: As in `Workers`, but by default half the cores here, since decoding takes threads
            of its own.
        even: As in `FrameStore.get`.

    Raises:
        InputError: The engine is none of ours, Ray is not installed, or the sampling decodes
            nothing.
        ReelbenchError: The cluster can't be reached.
    """
    Workers(workers, engine)  # refuses a wrong engine
    if not sampling.decodes:
        raise InputError(f"frames {sampling}: decodes nothing, so there is nothing to store")
    store = store or FrameStore()
    # Absolute, and as plain values: workers have a working folder and an environment of their own.
    work = partial(
        _fill_one,
        root=store.root.absolute(),
        cap_bytes=store.cap_bytes,
        shared=store.shared_address,
        sampling=str(sampling),
        even=even,
    )
    unique = list(dict.fromkeys(video.absolute() for video in videos))
    if engine == "ray":
        return _over_ray(unique, work, workers)
    if len(unique) == 1:
        return map(work, unique)
    half_of_cores = max(1, (os.cpu_count() or 2) // 2)
    return _in_pool(unique, work, min(workers or half_of_cores, len(unique)))


def _fill_one(
    video: Path, *, root: Path, cap_bytes: int, shared: str, sampling: str, even: bool
) -> Filled:
    try:
        store = FrameStore(root, cap_bytes=cap_bytes, shared=shared)
        stored = store.get(video, FrameSampling.parse(sampling), even=even)
    except ReelbenchError as error:
        return Filled(video, error=str(error))
    except Exception as error:  # noqa: BLE001 - one video never ends the others
        return Filled(video, error=f"{video}: {type(error).__name__}: {error}")
    return Filled(video, stored.given, stored.notes)


def _in_pool(videos: Sequence[Path], work: Work, workers: int) -> Iterator[Filled]:
    """Decode videos in as many processes as there are workers."""
    thread_local = threading.local()

    def decode(video: Path) -> Filled | None:
        """Decode in this thread's own process. Return None where the process dies.

        So it is known at which video it did.
        """
        try:
            with starting():  # spawned, not forked: the caller may have threads
                if not hasattr(thread_local, "pool"):
                    pool = ProcessPoolExecutor(
                        1, mp_context=get_context("spawn"), initializer=end_with_caller
                    )
                    thread_local.pool = pools.enter_context(pool)
                running = thread_local.pool.submit(work, video)
            return running.result()
        except BrokenProcessPool:
            del thread_local.pool
            return None

    with ExitStack() as pools, ThreadPoolExecutor(workers) as threads:
        pending = {threads.submit(decode, video): video for video in videos}
        try:
            for future in as_completed(pending):
                filled = future.result()
                if filled is not None:
                    yield filled
        finally:
            threads.shutdown(cancel_futures=True)
        # Again, each alone: there may not have been the memory for all at once.
        for future, video in pending.items():
            if future.result() is None:
                yield decode(video) or _not_filled(video)


def _not_filled(video: Path) -> Filled:
    return Filled(video, error=f"{video}: {_DIED}")


def _over_ray(
    videos: Sequence[Path], work: "partial[Filled]", workers: int | None
) -> Iterator[Filled]:
    with cluster() as ray:
        # A worker that dies is replaced, and its video tried again. Ray takes a function, and none
        # with its arguments.
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(work.func)
        waiting = deque(videos)
        running: dict[Any, Path] = {}
        while waiting or running:
            while waiting and (workers is None or len(running) < workers):
                video = waiting.popleft()
                running[remote.remote(video, **work.keywords)] = video
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                yield _ray_result(ray, reference, running.pop(reference))


def _ray_result(ray: Any, reference: Any, video: Path) -> Filled:  # noqa: ANN401 - Ray has no types
    try:
        return ray.get(reference)
    except ray.exceptions.WorkerCrashedError:
        return _not_filled(video)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[-1]
        return Filled(video, error=f"{video}: Ray gave it up: {reason}")
