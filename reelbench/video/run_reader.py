"""Runs of a video's frames: which are decoded after one seek, and a reader that decodes them."""

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import av
import numpy as np
from av.error import FFmpegError
from av.video.frame import VideoFrame

from reelbench.video.frame_index import FrameIndex, open_container, packets, video_stream

_SEEK_COST = 4
"""A seek costs about as much as decoding this many frames."""

_MOST_WAITING = 8
"""Pictures that wait for one that is due before them. A later one is left out."""


@dataclass(frozen=True)
class Run:
    """Frames that are decoded in one go."""

    start: int
    """The packet at which decoding starts."""

    frames: tuple[int, ...]
    """The positions of the frames, rising."""


def plan_runs(index: FrameIndex, frames: np.ndarray) -> list[Run] | None:
    """Return the runs to decode after a seek each. None where one pass is cheaper.

    `frames` are the positions of the frames, rising.
    """
    if index.ordinal:
        return None
    frame_packets = index.order[frames]
    # Where damage lets a frame start after one that is shown later, it starts with that one: runs
    # don't overlap.
    starts_of_frames = np.minimum.accumulate(index.decode_starts(frame_packets)[::-1])[::-1]
    starts, run_of_frame = np.unique(starts_of_frames, return_inverse=True)
    last_packets = np.zeros(len(starts), np.int64)
    np.maximum.at(last_packets, run_of_frame, frame_packets)
    seeking_cost = int((last_packets - starts + 1 + _SEEK_COST).sum())
    one_pass_cost = int(frame_packets.max()) + 1
    if seeking_cost >= one_pass_cost:
        return None
    runs: list[Run] = []
    for number, start in enumerate(starts):
        frames_of_run = frames[run_of_frame == number].tolist()
        runs.append(Run(int(start), tuple(frames_of_run)))
    return runs


class Picture(NamedTuple):
    """A frame's position in the video, and its picture as decoded."""

    frame: int
    picture: VideoFrame


class RunReader:
    """An open file with a decoder, which decodes runs of frames."""

    def __init__(self, index: FrameIndex, threads: int, check: Callable[[], None]) -> None:
        """Open the file.

        Args:
            index: The file's index.
            threads: The number of the decoder's threads.
            check: Called before each packet. Raises to end the work.
        """
        self._index = index
        self._threads = threads
        self._check = check
        self._open_container()

    def _open_container(self) -> None:
        self.container = open_container(self._index.path)
        self._stream = video_stream(self.container, self._index.path)
        self._context = self._stream.codec_context
        self._context.thread_count = self._threads
        self._context.thread_type = "AUTO" if self._threads > 1 else "NONE"
        self._used = False

    def read(self, run: Run) -> Iterator[Picture]:
        """Yield a run's pictures in rising order. What can't be decoded is left out."""
        # A damaged file gives some late, and leaves others out.
        frames_to_yield = deque(run.frames)
        early_pictures: dict[int, VideoFrame] = {}
        if self._index.ordinal:
            pictures = self._by_counting(run)
        else:
            pictures = self._by_seeking(run)
        for frame, picture in pictures:
            if frames_to_yield and frame >= frames_to_yield[0]:
                early_pictures[frame] = picture
            while frames_to_yield:
                next_frame = frames_to_yield[0]
                is_here = next_frame in early_pictures
                if not is_here and len(early_pictures) <= _MOST_WAITING:
                    break
                frames_to_yield.popleft()
                if is_here:
                    yield Picture(next_frame, early_pictures.pop(next_frame))
        for frame in sorted(early_pictures):
            yield Picture(frame, early_pictures[frame])

    # --- by counting

    def _by_counting(self, run: Run) -> Iterator[Picture]:
        """Yield the frames by their places in the decoder's output, from the file's start."""
        frames = frozenset(run.frames)
        count = 0
        for packet in itertools.chain(packets(self.container, self._stream), (None,)):
            self._check()
            for picture in self._decode_packet(packet):
                if count in frames:
                    yield Picture(count, picture)
                count += 1
            if count > run.frames[-1]:
                return

    def _decode_packet(self, packet: av.Packet | None) -> Sequence[VideoFrame]:
        try:
            return self._stream.decode(packet)
        except (FFmpegError, ValueError):
            return ()  # damaged: the frames after it may still be good

    # --- by seeking

    def _by_seeking(self, run: Run) -> Iterator[Picture]:
        missing = set(run.frames)
        # A keyframe is not always what it claims to be (recovery points, a broken index): then the
        # one before is tried.
        for earlier in range(2):
            start = self._index.earlier_start(run.start, earlier)
            for frame, picture in self._frames_from_packet(start, sorted(missing)):
                missing.discard(frame)
                yield Picture(frame, picture)
            if not missing or start == 0:
                return

    def _frames_from_packet(self, start: int, frames: Sequence[int]) -> Iterator[Picture]:
        """Yield frames as they are decoded from a packet on."""
        frame_at: dict[int, int] = {}  # time of presentation -> frame
        for frame in frames:
            frame_at[int(self._index.pts[self._index.order[frame]])] = frame
        last_packet = int(self._index.order[list(frames)].max())
        for position, packet in self._packets_from(start):
            self._check()
            if position < start:
                continue
            if self._index.droppable:
                self._context.skip_frame = "DEFAULT" if packet.pts in frame_at else "NONREF"
            yield from self._take_frames(packet, frame_at)
            if not frame_at:
                return
            if position >= last_packet:
                break
        yield from self._take_frames(None, frame_at)

    def _take_frames(self, packet: av.Packet | None, frame_at: dict[int, int]) -> Iterator[Picture]:
        """Yield the frames that a packet gives, and take them out of `frame_at`."""
        for picture in self._decode_packet(packet):
            if picture.pts in frame_at:
                yield Picture(frame_at.pop(picture.pts), picture)

    def _packets_from(self, start: int) -> "Iterator[_NumberedPacket]":
        """Return the packets from somewhere at or before packet `start`."""
        if start:
            for earlier in (0, 1, 4, 16):
                following = self._seek_to_packet(self._index.earlier_start(start, earlier))
                first = next(following, None)
                if first is not None and first.position <= start:
                    return itertools.chain([first], following)
        if self._used:
            self.container.close()
            self._open_container()
        return self._numbered_from_start()

    def _seek_to_packet(self, packet: int) -> "Iterator[_NumberedPacket]":
        """Yield the packets behind a seek to one of them. None where it fails."""
        with suppress(FFmpegError):
            target = int(self._index.seek[packet])
            self.container.seek(target, stream=self._stream, backward=True)
            self._context.flush_buffers()
            self._used = True
            position: int | None = None
            for following in packets(self.container, self._stream):
                if position is not None:
                    position += 1
                elif following.pts is not None:
                    position = self._position_of(following.pts)
                if position is not None:
                    yield _NumberedPacket(position, following)

    def _position_of(self, pts: int) -> int | None:
        positions = np.flatnonzero(self._index.pts == pts)
        return int(positions[0]) if len(positions) else None

    def _numbered_from_start(self) -> "Iterator[_NumberedPacket]":
        self._used = True
        for position, packet in enumerate(packets(self.container, self._stream)):
            yield _NumberedPacket(position, packet)


class _NumberedPacket(NamedTuple):
    """A packet, and its position in order of decoding."""

    position: int
    packet: av.Packet
