"""Filling a frame store ahead of a run: many videos at once, by a pool of processes here or over a Ray cluster.

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
    """What came of one video: how many frames it gave, what was odd about it, and why it failed, if it did."""

    video: Path
    given: int = 0
    notes: tuple[str, ...] = ()
    error: str | None = None


def fill(
    videos: Sequence[Path],
    sampling: FrameSampling,
    *,
    engine: str = "pool",
    store: FrameStore | None = None,
    workers: int | None = None,
    even: bool = False,
) -> Iterator[Filled]:
    """Decode videos into a store, the default one if None; yield each as it is done, in no particular order.

    `even` is as in `FrameStore.get`; `engine` and `workers` are as in `Workers`, but for the
    default: half the cores here, since decoding takes threads of its own. On a cluster every node
    must see the videos, and the store, under the same paths. InputError where the engine is not one
    of ours, Ray is not installed, or the sampling decodes nothing; ReelbenchError where the cluster
    can't be reached.
    """
    Workers(workers, engine)  # refuses what is none
    if not sampling.decodes:
        raise InputError(f"frames {sampling}: decodes nothing, so there is nothing to store")
    store = store or FrameStore()
    # Absolute, and as plain values: workers have a working folder and an environment of their own.
    work = partial(
        _fill_one,
        root=store.root.absolute(),
        cap_bytes=store.cap_bytes,
        sampling=str(sampling),
        even=even,
    )
    unique = list(dict.fromkeys(video.absolute() for video in videos))
    if engine == "ray":
        return _over_ray(unique, work, workers)
    workers = min(workers or max(1, (os.cpu_count() or 2) // 2), len(unique))
    return map(work, unique) if len(unique) == 1 else _in_pool(unique, work, workers)


Work = Callable[[Path], Filled]


def _fill_one(video: Path, *, root: Path, cap_bytes: int, sampling: str, even: bool) -> Filled:
    try:
        stored = FrameStore(root, cap_bytes=cap_bytes).get(
            video, FrameSampling.parse(sampling), even=even
        )
    except ReelbenchError as error:
        return Filled(video, error=str(error))
    except Exception as error:  # noqa: BLE001 - one video never ends the others
        return Filled(video, error=f"{video}: {type(error).__name__}: {error}")
    return Filled(video, stored.given, stored.notes)


def _in_pool(videos: Sequence[Path], work: Work, workers: int) -> Iterator[Filled]:
    own = threading.local()

    def decoded(video: Path) -> Filled | None:
        """Decode in this thread's own process; None where that ends, so that it is known at which video."""
        try:
            with starting():  # spawned, not forked: the caller may have threads
                if not hasattr(own, "pool"):
                    pool = ProcessPoolExecutor(
                        1, mp_context=get_context("spawn"), initializer=end_with_caller
                    )
                    own.pool = pools.enter_context(pool)
                running = own.pool.submit(work, video)
            return running.result()
        except BrokenProcessPool:
            del own.pool
            return None

    with ExitStack() as pools, ThreadPoolExecutor(workers) as threads:
        pending = {threads.submit(decoded, video): video for video in videos}
        try:
            yield from filter(None, (done.result() for done in as_completed(pending)))
        finally:
            threads.shutdown(cancel_futures=True)
        # Again, each alone: there may not have been the memory for all at once.
        for video in [video for done, video in pending.items() if done.result() is None]:
            yield decoded(video) or Filled(video, error=f"{video}: {_DIED}")


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
            for done in ray.wait(list(running), num_returns=1)[0]:
                video = running.pop(done)
                try:
                    yield ray.get(done)
                except ray.exceptions.WorkerCrashedError:
                    yield Filled(video, error=f"{video}: {_DIED}")
                except ray.exceptions.RayError as error:
                    why = str(error).strip().splitlines()[-1]
                    yield Filled(video, error=f"{video}: Ray gave it up: {why}")
