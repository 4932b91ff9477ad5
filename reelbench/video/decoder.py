"""Exact frames of a video, by the cheaper of two ways: seeking before each, or one pass.

Seeking readers run side by side, one thread each, and drop the frames between a keyframe and the
sought one that no other frame refers to: what comes out is the same picture that a decode of the
whole file gives. Where the frames lie so close that seeking would decode as much as one pass (all
frames, a film with one keyframe), one reader goes through the file with all threads. Frames are
handed on as they come, so memory does not grow with the video's length.
"""

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from av.error import FFmpegError
from av.video.frame import VideoFrame

from reelbench.base.errors import InputError, MediaError
from reelbench.base.workers import usable_cores
from reelbench.registry.sampling import FrameSampling, Timeline
from reelbench.video.decode_ahead import turns, waiting
from reelbench.video.frame_index import (
    Deadline,
    FrameIndex,
    open_container,
    packets,
    read_index,
    video_stream,
)
from reelbench.video.pictures import as_rgb, turn_and_scale
from reelbench.video.run_reader import Run, RunReader, plan_runs

T = TypeVar("T")

_QUEUED = 4

_READER_MEMORY = 160e6
"""Bytes that all readers together may take for decoded pictures."""

_PICTURES_HELD = 20
"""Pictures that a decoder holds."""

_TURN_S = 5.0
"""Time for which a film waits while nothing comes of those before it: they may hang."""

_reading: set["_Job"] = set()
"""The jobs that read now."""


@dataclass(frozen=True)
class Frame:
    """One frame of a video."""

    index: int
    """Its position among the video's frames."""

    timestamp: float
    """Its time in seconds from the first frame."""

    picture: VideoFrame = field(repr=False)
    """Turned upright and scaled, 8-bit yuv420p in limited range."""

    @property
    def rgb(self) -> np.ndarray:
        """The picture as uint8 RGB, (height, width, 3)."""
        return as_rgb(self.picture)


class VideoFile:
    """An opened video: `info`, `timeline`, and its frames under any sampling."""

    def __init__(self, path: Path | str, *, time_limit: float | None = None) -> None:
        """Read the index of a file.

        Args:
            path: The file.
            time_limit: Seconds for opening, and for each `frames` anew. By default 60, and as long
                again as a slow machine needs for a file of this size.

        Raises:
            MediaError: It is not a video that can be decoded.
        """
        self.path = Path(path)
        self._time_limit = time_limit
        try:
            megabytes = self.path.stat().st_size / 1e6
        except OSError as error:
            raise MediaError(self.path, f"can't be read ({error.strerror})") from None
        deadline = Deadline(self.path, time_limit, 60 + megabytes / 10)
        self.info = _work_until_deadline(lambda: read_index(self.path, deadline), deadline)
        """The index of the file."""
        self.timeline = self.info.timeline
        """Times and keyframes of all frames."""

    def frames(self, sampling: FrameSampling) -> Iterator[Frame]:
        """Yield the frames that a sampling picks, in order of presentation, each once.

        A frame that is damaged beyond decoding is left out.

        Raises:
            MediaError: The time limit is reached, or not one frame comes out.
        """
        picked = self._pick_frames(sampling)
        size = sampling.scaled_size(self.info.width, self.info.height)
        decode_runs = plan_runs(self.info, picked)
        threads = self._max_threads()
        with turns:
            _wait_for_free_core()
            seconds = 60 + 0.05 * len(self.timeline.timestamps)
            deadline = Deadline(self.path, self._time_limit, seconds)
            reader_count = 1
            threads_each = threads
            if decode_runs is None:
                decode_runs = [Run(0, tuple(picked.tolist()))]
            else:
                reader_count = min(threads, len(decode_runs))
                threads_each = 1
            jobs = [
                _Job(
                    self.info,
                    decode_runs[number::reader_count],
                    size,
                    deadline,
                    threads=threads_each,
                )
                for number in range(reader_count)
            ]
            _reading.update(jobs)
        frame_count = 0
        try:
            for job in jobs:
                job.thread.start()
            for number in range(len(decode_runs)):
                job = jobs[number % len(jobs)]
                for frame in job.results():
                    frame_count += 1
                    yield frame
        finally:
            for job in jobs:
                job.end()
        if not frame_count:
            raise MediaError(
                self.path, "not one of the frames asked for can be decoded; the file may be damaged"
            )

    def _pick_frames(self, sampling: FrameSampling) -> np.ndarray:
        try:
            picked = sampling.pick(self.timeline)
        except InputError as error:
            raise MediaError(self.path, str(error)) from None
        if not len(picked):
            raise MediaError(
                self.path, f"shows no frame of those that {sampling} takes; take uniform:8, say"
            )
        return picked

    def _max_threads(self) -> int:
        """Return the number of threads that cores and memory allow."""
        picture_bytes = self.info.width * self.info.height * 1.5
        by_memory = int(_READER_MEMORY / (picture_bytes * _PICTURES_HELD))
        return max(1, min(usable_cores(), by_memory))


def _wait_for_free_core() -> None:
    """Let a thread that works ahead wait until those before it leave a core free.

    `turns` is locked by the caller.
    """
    thread = threading.get_ident()
    start = time.monotonic()
    while thread in waiting:
        is_next = next(iter(waiting)) == thread
        if is_next and sum(job.threads for job in _reading) < usable_cores():
            break
        last_progress = max([start, *(job.last_progress for job in _reading)])
        if time.monotonic() - last_progress >= _TURN_S:
            break
        turns.wait(_TURN_S)
    waiting.pop(thread, None)
    turns.notify_all()


def decode(
    path: Path | str, sampling: FrameSampling, *, time_limit: float | None = None
) -> Iterator[Frame]:
    """Yield the frames of a video that a sampling picks. See `VideoFile.frames`."""
    yield from VideoFile(path, time_limit=time_limit).frames(sampling)


def decode_pictures(
    paths: Sequence[Path], timeline: Timeline, sampling: FrameSampling, *, time_limit: float = 600.0
) -> Iterator[Frame]:
    """Yield the frames that a sampling picks from a video that is there as pictures.

    All are given at the first one's size.
    """
    size: tuple[int, int] | None = None
    picked_frames: list[int] = sampling.pick(timeline).tolist()
    for frame in picked_frames:
        path = paths[frame]
        deadline = Deadline(path, time_limit)
        picture = _work_until_deadline(partial(_decode_picture, path), deadline)
        if size is None:
            size = sampling.scaled_size(picture.width, picture.height)
        timestamp = float(timeline.timestamps[frame])
        scaled_picture = turn_and_scale(picture, size, 0)
        yield Frame(frame, timestamp, scaled_picture)


def _decode_picture(path: Path) -> VideoFrame:
    with open_container(path) as container:
        stream = video_stream(container, path)
        stream.codec_context.thread_count = 1
        for packet in itertools.chain(packets(container, stream), (None,)):
            with suppress(FFmpegError, ValueError):
                for picture in stream.decode(packet):
                    return picture
    raise MediaError(path, "is not a picture that can be decoded; is it complete?")


# --- threads
# ----------------------------------------------------------------------------------------------


def _work_until_deadline(work: Callable[[], T], deadline: Deadline) -> T:
    """Run `work` in a thread until the deadline. A decoder that hangs is left behind."""
    done: queue.Queue[Future[T]] = queue.Queue()

    def run() -> None:
        result = Future[T]()
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, and raised there
            result.set_exception(error)
        done.put(result)

    threading.Thread(target=run, name="reelbench-frames", daemon=True).start()
    return _take_from_queue(done, deadline).result()


def _take_from_queue(items: "queue.Queue[T]", deadline: Deadline) -> T:
    """Take the next item from a queue.

    Raises:
        MediaError: None comes until well after the deadline.
    """
    while True:
        try:
            return items.get(timeout=deadline.left() + 1)
        except queue.Empty:
            deadline.check()


class _StopError(Exception):
    """Nobody wants the frames any more."""


class _Job:
    """A thread that decodes some runs and hands their frames over through a short queue."""

    def __init__(
        self,
        index: FrameIndex,
        decode_runs: Sequence[Run],
        size: tuple[int, int],
        deadline: Deadline,
        *,
        threads: int,
    ) -> None:
        self.threads = threads
        self.last_progress = time.monotonic()
        self.thread = threading.Thread(target=self._work, name="reelbench-frames", daemon=True)
        self._index = index
        self._runs = decode_runs
        self._size = size
        self._deadline = deadline
        self._queue: queue.Queue[Frame | BaseException | None] = queue.Queue(_QUEUED)
        self._stopped = threading.Event()

    def results(self) -> Iterator[Frame]:
        """Yield the frames of the next run."""
        while True:
            item = _take_from_queue(self._queue, self._deadline)
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item

    def end(self) -> None:
        """Stop where it is not done, and leave its core to others."""
        self._stopped.set()
        with turns:
            _reading.discard(self)
            turns.notify_all()

    def _work(self) -> None:
        try:
            reader = RunReader(self._index, self.threads, self._check)
            try:
                for run in self._runs:
                    self._read(reader, run)
            finally:
                reader.container.close()
        except _StopError:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the consumer's thread, and raised there
            with suppress(_StopError):
                self._put_or_stop(error)
        finally:
            self.end()

    def _read(self, reader: RunReader, run: Run) -> None:
        """Hand over the frames of a run, then None."""
        for frame, picture in reader.read(run):
            upright = turn_and_scale(picture, self._size, self._index.rotation)
            timestamp = float(self._index.timeline.timestamps[frame])
            self._put_or_stop(Frame(frame, timestamp, upright))
        self._put_or_stop(None)

    def _put_or_stop(self, item: Frame | BaseException | None) -> None:
        while not self._stopped.is_set():
            with suppress(queue.Full):
                self._queue.put(item, timeout=0.1)
                self.last_progress = time.monotonic()
                return
        raise _StopError

    def _check(self) -> None:
        if self._stopped.is_set():
            raise _StopError
        self._deadline.check()
