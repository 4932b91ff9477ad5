"""Fetching runs of exact frames from an open file, each after a seek or from the start."""

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import av
import numpy as np
from av.error import FFmpegError
from av.video.frame import VideoFrame

from reelbench.registry.frames.index import FrameIndex, open_container, packets, video_stream

_HELD = 8
"""Pictures that wait for one that is due before them; what comes later still is left out."""


@dataclass(frozen=True)
class DecodingRun:
    """Frames fetched in one go: decoding starts at packet `start`, `wanted` are positions of frames, rising."""

    start: int
    wanted: tuple[int, ...]


class Reader:
    """An open file with a decoder, which fetches runs of frames."""

    def __init__(self, index: FrameIndex, threads: int, check: Callable[[], None]) -> None:
        self._index, self._threads, self._check = index, threads, check
        self._open()

    def close(self) -> None:
        """Close the file."""
        self._container.close()

    def fetch(self, run: DecodingRun) -> Iterator[tuple[int, VideoFrame]]:
        """Yield (frame, picture) for the run's frames, rising; what can't be decoded is left out."""
        # A damaged file gives some late, and leaves others out.
        due, held = deque(run.wanted), dict[int, VideoFrame]()
        for frame, picture in self._counted(run.wanted) if self._index.ordinal else self._sought(run):
            if due and frame >= due[0]:
                held[frame] = picture
            while due and (due[0] in held or len(held) > _HELD):
                if (frame := due.popleft()) in held:
                    yield frame, held.pop(frame)
        yield from sorted(held.items())

    def _sought(self, run: DecodingRun) -> Iterator[tuple[int, VideoFrame]]:
        left = run.wanted
        # A keyframe is not always what it claims to be (recovery points, a broken index): then the one before is tried.
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
        for position, packet in self._landed(start):
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

    def _counted(self, wanted: tuple[int, ...]) -> Iterator[tuple[int, VideoFrame]]:
        """Yield the frames that come out of the decoder at the wanted places, from the file's start."""
        count, last = 0, wanted[-1]
        chosen = frozenset(wanted)
        for packet in itertools.chain(packets(self._container, self._stream), (None,)):
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

    def _landed(self, start: int) -> Iterator[tuple[int, av.Packet]]:
        """Yield (position, packet) from somewhere at or before packet `start`."""
        for earlier in (0, 1, 4, 16) if start else ():
            target = self._index.earlier_start(start, earlier)
            with suppress(FFmpegError):
                self._container.seek(int(self._index.seek[target]), stream=self._stream, backward=True)
                self._context.flush_buffers()
                following = self._numbered(None)
                first = next(following, None)
                if first is not None and first[0] <= start:
                    return itertools.chain([first], following)
        if self._used:
            self.close()
            self._open()
        return self._numbered(-1)

    def _numbered(self, position: int | None) -> Iterator[tuple[int, av.Packet]]:
        self._used = True
        for packet in packets(self._container, self._stream):
            if position is None and packet.pts is not None:
                found = np.flatnonzero(self._index.pts == packet.pts)
                position = int(found[0]) if len(found) else None
            elif position is not None:
                position += 1
            if position is not None:
                yield position, packet

    def _open(self) -> None:
        self._container = open_container(self._index.path)
        self._stream = video_stream(self._container, self._index.path)
        self._context = self._stream.codec_context
        self._context.thread_count = self._threads
        self._context.thread_type = "AUTO" if self._threads > 1 else "NONE"
        self._used = False
