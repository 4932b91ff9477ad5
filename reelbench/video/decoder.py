"""Exact frames of a video, by the cheaper of two ways: seeking before each, or one pass through the file.

Seeking readers run side by side, one thread each, and drop the frames between a keyframe and the
wanted one that no other frame refers to: what comes out is the same picture that a decode of the
whole file gives. Where the wanted frames lie so close that seeking would decode as much as one pass
(all frames, a film with one keyframe), one reader goes through the file with all threads. Frames
are handed on as they come, so memory does not grow with the video's length.
"""

import itertools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import av
import numpy as np
from av.error import FFmpegError
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation

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

T = TypeVar("T")

_QUEUED = 4
_READER_MEMORY = 160e6
"""Bytes that all readers together may take for decoded pictures; a decoder holds some 20 of them."""

_SEEK_COST = 4  # A seek costs about as much as decoding this many frames
_TURN_S = 5.0  # for which a film waits while nothing comes of those before it: they may hang
_reading: set["_Job"] = set()

_HELD = 8  # pictures that wait for one that is due before them; what comes later still is left out


@dataclass(frozen=True)
class Frame:
    """One frame: its position among the video's frames, its time in seconds from the first frame, and its picture.

    `picture` is already turned upright and scaled, 8-bit yuv420p in limited range.
    """

    index: int
    timestamp: float
    picture: VideoFrame = field(repr=False)

    @property
    def rgb(self) -> np.ndarray:
        """The picture as uint8 RGB, (height, width, 3); an untagged one counts as BT.601, as in FFmpeg."""
        source = Colorspace.ITU709 if self.picture.colorspace == _BT709 else Colorspace.ITU601
        shown = self.picture.reformat(
            format="rgb24", src_colorspace=source, dst_colorspace=Colorspace.ITU601
        )
        return shown.to_ndarray()


class VideoFile:
    """An opened video: `info`, `timeline`, and its frames under any sampling."""

    def __init__(self, path: Path | str, *, time_limit: float | None = None) -> None:
        """Read the index of a file; MediaError where it is not a video that can be decoded.

        `time_limit` is in seconds and holds for opening and for each `frames` anew; by default 60
        s, and as long again as a slow machine needs for a file of this size.
        """
        self.path = Path(path)
        self._time_limit = time_limit
        try:
            megabytes = self.path.stat().st_size / 1e6
        except OSError as error:
            raise MediaError(self.path, f"can't be read ({error.strerror})") from None
        deadline = Deadline(self.path, time_limit, 60 + megabytes / 10)
        self.info = _abandonable(lambda: read_index(self.path, deadline), deadline)
        """What the file holds."""
        self.timeline = self.info.timeline
        """Times and keyframes of all frames."""

    def frames(self, sampling: FrameSampling) -> Iterator[Frame]:
        """Yield the frames that `sampling` picks, in order of presentation, each once.

        A frame that is damaged beyond decoding is left out. MediaError where the time limit is
        reached or not one frame comes out.
        """
        try:
            wanted = sampling.pick(self.timeline)
        except InputError as error:
            raise MediaError(self.path, str(error)) from None
        if not len(wanted):
            raise MediaError(
                self.path, f"shows no frame of those that {sampling} takes; take uniform:8, say"
            )
        index, size = self.info, sampling.scaled_size(self.info.width, self.info.height)
        runs = _plan(index, wanted)
        threads = max(
            1, min(usable_cores(), int(_READER_MEMORY / (index.width * index.height * 1.5 * 20)))
        )
        work = [_Run(0, tuple(wanted.tolist()))] if runs is None else runs
        readers = 1 if runs is None else min(threads, len(runs))
        of_each = threads if runs is None else 1
        with turns:
            _await_turn()
            deadline = Deadline(
                self.path, self._time_limit, 60 + 0.05 * len(self.timeline.timestamps)
            )
            jobs = [
                _Job(index, work[number::readers], size, deadline, of_each)
                for number in range(readers)
            ]
            _reading.update(jobs)
        given = 0
        try:
            for job in jobs:
                job.thread.start()
            for number in range(len(work)):
                for frame in jobs[number % len(jobs)].results():
                    given += 1
                    yield frame
        finally:
            for job in jobs:
                job.end()
        if not given:
            raise MediaError(
                self.path, "not one of the frames asked for can be decoded; the file may be damaged"
            )


def _await_turn() -> None:
    """Where this thread works ahead, wait, `turns` held, until those before it read and leave a core free."""
    mine, since = threading.get_ident(), time.monotonic()
    while mine in waiting and (
        next(iter(waiting)) != mine or sum(job.threads for job in _reading) >= usable_cores()
    ):
        if time.monotonic() - max([since, *(job.gave for job in _reading)]) >= _TURN_S:
            break
        turns.wait(_TURN_S)
    waiting.pop(mine, None)
    turns.notify_all()


def decode(
    path: Path | str, sampling: FrameSampling, *, time_limit: float | None = None
) -> Iterator[Frame]:
    """Yield the frames of a video that `sampling` picks; see `VideoFile.frames`."""
    yield from VideoFile(path, time_limit=time_limit).frames(sampling)


def decode_pictures(
    paths: Sequence[Path], timeline: Timeline, sampling: FrameSampling, *, time_limit: float = 600.0
) -> Iterator[Frame]:
    """Yield the frames that `sampling` picks from a video that is there as pictures, all at the first one's size."""

    def decoded(path: Path) -> VideoFrame:
        with open_container(path) as container:
            stream = video_stream(container, path)
            stream.codec_context.thread_count = 1
            for packet in itertools.chain(packets(container, stream), (None,)):
                with suppress(FFmpegError, ValueError):
                    for picture in stream.decode(packet):
                        return picture
        raise MediaError(path, "is not a picture that can be decoded; is it complete?")

    size = None
    picked: list[int] = sampling.pick(timeline).tolist()
    for frame in picked:
        deadline = Deadline(paths[frame], time_limit)
        picture = _abandonable(partial(decoded, paths[frame]), deadline)
        if size is None:
            size = sampling.scaled_size(picture.width, picture.height)
        yield Frame(frame, float(timeline.timestamps[frame]), turn_and_scale(picture, size, 0))


def _abandonable(work: Callable[[], T], deadline: Deadline) -> T:
    """Run `work` in a thread of its own and wait until the deadline: a decoder that hangs is left behind."""
    done: queue.Queue[Future[T]] = queue.Queue()

    def run() -> None:
        result = Future[T]()
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, and raised there
            result.set_exception(error)
        done.put(result)

    threading.Thread(target=run, name="reelbench-frames", daemon=True).start()
    return _next(done, deadline).result()


def _next(waiting: "queue.Queue[T]", deadline: Deadline) -> T:
    """Take the next item from a queue; MediaError where none comes until well after the deadline."""
    while True:
        try:
            return waiting.get(timeout=deadline.left() + 1)
        except queue.Empty:
            deadline.check()


@dataclass(frozen=True)
class _Run:
    """Frames fetched in one go: decoding starts at packet `start`, `wanted` are positions of frames, rising."""

    start: int
    wanted: tuple[int, ...]


def _plan(index: FrameIndex, wanted: np.ndarray) -> list[_Run] | None:
    """Return the runs of frames to decode after a seek each, or None where one pass through the file is cheaper."""
    if index.ordinal:
        return None
    packet = index.order[wanted]
    # Where damage lets a frame start after one that is shown later, it starts with that one: runs
    # don't overlap.
    needed = np.minimum.accumulate(index.starts_of(packet)[::-1])[::-1]
    starts, run_of = np.unique(needed, return_inverse=True)
    last = np.zeros(len(starts), np.int64)
    np.maximum.at(last, run_of, packet)
    seeking = int((last - starts + 1 + _SEEK_COST).sum())
    if seeking >= int(packet.max()) + 1:
        return None
    return [
        _Run(int(start), tuple(wanted[run_of == run].tolist())) for run, start in enumerate(starts)
    ]


class _Reader:
    """An open file with a decoder, which fetches runs of frames."""

    def __init__(self, index: FrameIndex, threads: int, check: Callable[[], None]) -> None:
        self._index, self._threads, self._check = index, threads, check
        self._open()

    def fetch(self, run: _Run) -> Iterator[tuple[int, VideoFrame]]:
        """Yield (frame, picture) for the run's frames, rising; what can't be decoded is left out."""
        # A damaged file gives some late, and leaves others out.
        due, held = deque(run.wanted), dict[int, VideoFrame]()
        for frame, picture in (
            self._by_counting(run.wanted) if self._index.ordinal else self._by_seeking(run)
        ):
            if due and frame >= due[0]:
                held[frame] = picture
            while due and (due[0] in held or len(held) > _HELD):
                if (frame := due.popleft()) in held:
                    yield frame, held.pop(frame)
        yield from sorted(held.items())

    def _by_seeking(self, run: _Run) -> Iterator[tuple[int, VideoFrame]]:
        left = run.wanted
        # A keyframe is not always what it claims to be (recovery points, a broken index): then the
        # one before is tried.
        for earlier in range(2):
            start = self._index.earlier_start(run.start, earlier)
            for frame, picture in self._from(start, left):
                left = tuple(other for other in left if other != frame)
                yield frame, picture
            if not left or start == 0:
                return

    def _from(self, start: int, wanted: tuple[int, ...]) -> Iterator[tuple[int, VideoFrame]]:
        index = self._index
        at = {int(index.pts[index.order[frame]]): frame for frame in wanted}
        last = int(index.order[list(wanted)].max())
        for position, packet in self._packets_from(start):
            self._check()
            if position < start:
                continue
            if index.droppable:
                self._context.skip_frame = "DEFAULT" if packet.pts in at else "NONREF"
            for picture in self._pictures(packet):
                if picture.pts in at:
                    yield at.pop(picture.pts), picture
            if not at:
                return
            if position >= last:
                break
        for picture in self._pictures(None):
            if picture.pts in at:
                yield at.pop(picture.pts), picture

    def _by_counting(self, wanted: tuple[int, ...]) -> Iterator[tuple[int, VideoFrame]]:
        """Yield the frames that come out of the decoder at the wanted places, from the file's start."""
        count, last = 0, wanted[-1]
        chosen = frozenset(wanted)
        for packet in itertools.chain(packets(self.container, self._stream), (None,)):
            self._check()
            for picture in self._pictures(packet):
                if count in chosen:
                    yield count, picture
                count += 1
            if count > last:
                return

    def _pictures(self, packet: av.Packet | None) -> Sequence[VideoFrame]:
        try:
            return self._stream.decode(packet)
        except (FFmpegError, ValueError):
            return ()  # damaged: the frames after it may still be good

    def _packets_from(self, start: int) -> Iterator[tuple[int, av.Packet]]:
        """Yield (position, packet) from somewhere at or before packet `start`."""
        for earlier in (0, 1, 4, 16) if start else ():
            target = self._index.earlier_start(start, earlier)
            with suppress(FFmpegError):
                self.container.seek(
                    int(self._index.seek[target]), stream=self._stream, backward=True
                )
                self._context.flush_buffers()
                following = self._numbered(None)
                first = next(following, None)
                if first is not None and first[0] <= start:
                    return itertools.chain([first], following)
        if self._used:
            self.container.close()
            self._open()
        return self._numbered(-1)

    def _numbered(self, position: int | None) -> Iterator[tuple[int, av.Packet]]:
        self._used = True
        for packet in packets(self.container, self._stream):
            if position is None and packet.pts is not None:
                found = np.flatnonzero(self._index.pts == packet.pts)
                position = int(found[0]) if len(found) else None
            elif position is not None:
                position += 1
            if position is not None:
                yield position, packet

    def _open(self) -> None:
        self.container = open_container(self._index.path)
        self._stream = video_stream(self.container, self._index.path)
        self._context = self._stream.codec_context
        self._context.thread_count = self._threads
        self._context.thread_type = "AUTO" if self._threads > 1 else "NONE"
        self._used = False


class _StopError(Exception):
    """Nobody wants the frames any more."""


class _Job:
    """A thread that fetches some runs and hands their frames over through a short queue."""

    def __init__(
        self,
        index: FrameIndex,
        runs: Sequence[_Run],
        size: tuple[int, int],
        deadline: Deadline,
        threads: int,
    ) -> None:
        self._index, self._runs, self._size, self._deadline, self.threads = (
            index,
            runs,
            size,
            deadline,
            threads,
        )
        self.gave = time.monotonic()
        self._queue: queue.Queue[Frame | BaseException | None] = queue.Queue(_QUEUED)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._work, name="reelbench-frames", daemon=True)

    def end(self) -> None:
        """Stop where it is not done, and leave its core to others."""
        self.stopped.set()
        with turns:
            _reading.discard(self)
            turns.notify_all()

    def results(self) -> Iterator[Frame]:
        """Yield the frames of the next run."""
        while True:
            item = _next(self._queue, self._deadline)
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item

    def _put(self, item: Frame | BaseException | None) -> None:
        while not self.stopped.is_set():
            with suppress(queue.Full):
                self._queue.put(item, timeout=0.1)
                self.gave = time.monotonic()
                return
        raise _StopError

    def _check(self) -> None:
        if self.stopped.is_set():
            raise _StopError
        self._deadline.check()

    def _work(self) -> None:
        try:
            reader = _Reader(self._index, self.threads, self._check)
            try:
                for run in self._runs:
                    for frame, picture in reader.fetch(run):
                        upright = turn_and_scale(picture, self._size, self._index.rotation)
                        self._put(
                            Frame(frame, float(self._index.timeline.timestamps[frame]), upright)
                        )
                    self._put(None)
            finally:
                reader.container.close()
        except _StopError:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the consumer's thread, and raised there
            with suppress(_StopError):
                self._put(error)
        finally:
            self.end()


# --- pictures
# ------------------------------------------------------------------------------------------------------

_BT709 = 1  # ITU-T H.273 code of the BT.709 matrix, in a frame's tags as in libswscale
_RGB = 0

_FULL = np.arange(256)
_LUMA = np.rint(16 + _FULL * 219 / 255).astype(np.uint8)
_CHROMA = np.rint(128 + (_FULL - 128) * 224 / 255).astype(np.uint8)
"""Full range to limited range, ITU-T H.273 section 8.3."""


def turn_and_scale(picture: VideoFrame, size: tuple[int, int], rotation: int) -> VideoFrame:
    """Return a picture turned by `rotation` degrees counter-clockwise, then scaled to `size` (width, height), even."""
    width, height = size[::-1] if rotation % 180 else size
    matrix = picture.colorspace
    name = picture.format.name
    if (picture.width, picture.height, name) != (width, height, "yuv420p"):
        picture = picture.reformat(
            width,
            height,
            "yuv420p",
            interpolation=Interpolation.BICUBIC,
            dst_color_range=ColorRange.MPEG,
        )
    # Before PyAV 17 libswscale squeezes the range of yuvj, gray and RGB pictures by itself, but not
    # that of others, and the tag stays; from 17 on it squeezes all, and the tag says so.
    if (
        picture.color_range == ColorRange.JPEG
        and name.startswith(("yuv", "nv"))
        and not name.startswith("yuvj")
    ):
        planes = picture.to_ndarray().astype(
            np.uint8, copy=False
        )  # one below the other: (height * 3 / 2, width)
        planes[:height] = _LUMA[planes[:height]]
        planes[height:] = _CHROMA[planes[height:]]
        picture = VideoFrame.from_ndarray(planes, format="yuv420p")
    if rotation:
        height, width, planes = (
            picture.height,
            picture.width,
            picture.to_ndarray().astype(np.uint8, copy=False),
        )
        chroma = planes[height:].reshape(2, height // 2, width // 2)
        turned = [np.rot90(plane, rotation // 90) for plane in (planes[:height], *chroma)]
        # Joined as bytes: a chroma plane by itself need not fill whole rows of the picture's width.
        joined = np.concatenate([plane.ravel() for plane in turned])
        picture = VideoFrame.from_ndarray(joined.reshape(-1, turned[0].shape[1]), format="yuv420p")
    # RGB sources become YUV by libswscale's default matrix, BT.601.
    picture.colorspace = Colorspace.ITU601 if matrix == _RGB else matrix
    picture.color_range = ColorRange.MPEG
    return picture
