"""What a video file holds: every frame's time and every place where decoding can start, read without decoding.

Reading all packets costs about 1 ms per MB from a warm disk (0.1 s for ten minutes of 720p), and is the only way to
know the real frame times and keyframes whatever the container: headers lie, and lists of frames differ from what is
there.
"""

import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from reelbench.registry.frames.errors import MediaError
from reelbench.registry.frames.sampling import Timeline

MAX_PIXELS = 8192 * 8192
"""Pictures with more pixels are refused: a damaged header must not claim gigabytes."""

_NO_TIME = -(2**63)


class Deadline:
    """A moment after which work on a file is given up."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path = path
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, never below 0."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """MediaError once the time is up."""
        if not self.left():
            raise self.error()

    def error(self) -> MediaError:
        """Return the error to raise when the time is up."""
        return MediaError(
            self.path,
            f"decoding took longer than {self.seconds:.0f} s; the file may be damaged (or raise the time limit)",
        )


@dataclass(frozen=True)
class FrameIndex:
    """The packets of a file's first video stream, in the order of decoding (p of them), and the frames (n) they make.

    `pts`, `seek` (p,) are in units of `time_base`; `seek` is where to seek to for that packet. `keyframe` (p,) is true
    where decoding can start. `order` (n,) gives each frame's packet, in order of presentation. Where packets don't tell
    when their frames are shown, `ordinal` is true: then the i-th frame that comes out of the decoder is frame i.
    """

    path: Path
    codec: str
    width: int
    height: int
    rotation: int
    time_base: Fraction
    pts: np.ndarray
    seek: np.ndarray
    keyframe: np.ndarray
    order: np.ndarray
    ordinal: bool
    droppable: bool
    timeline: Timeline
    notes: tuple[str, ...]

    def start_of(self, packet: int, earlier: int = 0) -> int:
        """Return the packet to start decoding at so that `packet` comes out whole; `earlier` counts keyframes back."""
        starts = np.flatnonzero(self.keyframe[: packet + 1])
        # A frame that is shown before its keyframe (an open group of pictures) also needs the group before.
        starts = starts[self.pts[starts] <= self.pts[packet]]
        return int(starts[-1 - earlier]) if len(starts) > earlier else 0

    def packet_at(self, pts: int | None) -> int | None:
        """Return the packet with this time, or None."""
        if pts is None:
            return None
        found = int(np.searchsorted(self._sorted_pts, pts))
        at = int(self._by_pts[min(found, len(self._by_pts) - 1)])
        return at if self.pts[at] == pts else None

    def __post_init__(self) -> None:
        by_pts = np.argsort(self.pts, kind="stable")
        object.__setattr__(self, "_by_pts", by_pts)
        object.__setattr__(self, "_sorted_pts", self.pts[by_pts])

    _by_pts = np.arange(0)
    _sorted_pts = np.arange(0)


def open_container(path: Path) -> InputContainer:
    """Open a media file; MediaError where it is not one."""
    try:
        return av.open(str(path), metadata_errors="replace")
    except FileNotFoundError:
        raise MediaError(path, "no such file") from None
    except IsADirectoryError:
        raise MediaError(path, "is a folder, expected a video file") from None
    except (FFmpegError, OSError, ValueError, MemoryError) as error:
        raise MediaError(path, f"is no video that can be read ({_said(error)}); is it whole?") from None


def video_stream(container: InputContainer, path: Path) -> VideoStream:
    """Return the first stream of moving pictures (not a cover image); MediaError where there is none."""
    for stream in container.streams.video:
        if Disposition.attached_pic in stream.disposition:
            continue
        if stream.codec_context is None:
            raise MediaError(path, "its video codec is unknown to this build of FFmpeg")
        if stream.width * stream.height > MAX_PIXELS:
            raise MediaError(path, f"claims {stream.width} x {stream.height} pixels; the file may be damaged")
        stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
        return stream
    kinds = sorted({stream.type for stream in container.streams})
    raise MediaError(path, f"has no video stream ({', '.join(kinds) if kinds else 'nothing'} only)")


def packets(container: InputContainer, stream: VideoStream) -> Iterator[av.Packet]:
    """Yield the stream's packets in order of decoding, as far as the file can be read."""
    try:
        for packet in container.demux(stream):
            if packet.size:
                yield packet
    except (FFmpegError, OSError):
        return  # cut short: what came before it is good


def read_index(path: Path, deadline: Deadline) -> FrameIndex:
    """Read all packets of a file and decode its first frame; MediaError where there is no frame at all."""
    pts, dts, keys, shown = array("q"), array("q"), array("b"), array("b")
    first: VideoFrame | None = None
    with open_container(path) as container:
        stream = video_stream(container, path)
        context = stream.codec_context
        context.thread_count = 1
        for packet in packets(container, stream):
            deadline.check()
            pts.append(_NO_TIME if packet.pts is None else packet.pts)
            dts.append(_NO_TIME if packet.dts is None else packet.dts)
            keys.append(packet.is_keyframe)
            shown.append(not packet.is_discard)
            if first is None:
                first = _first_frame(stream, packet)
        if first is None and keys:
            first = _first_frame(stream, None)
        if first is None:
            raise MediaError(path, "has a video stream, but not one frame of it can be decoded")
        droppable = _droppable(context.name, context.extradata)
        return _assemble(path, stream, first, droppable, _Table(pts, dts, keys, shown))


@dataclass(frozen=True)
class _Table:
    pts: array
    dts: array
    keys: array
    shown: array


def _first_frame(stream: VideoStream, packet: av.Packet | None) -> VideoFrame | None:
    try:
        frames = stream.decode(packet)
    except (FFmpegError, MemoryError, ValueError):
        return None
    return frames[0] if frames else None


def _assemble(path: Path, stream: VideoStream, first: VideoFrame, droppable: bool, table: _Table) -> FrameIndex:
    pts, dts = np.array(table.pts, np.int64), np.array(table.dts, np.int64)
    key, shown = np.array(table.keys, bool), np.flatnonzero(np.array(table.shown, bool))
    if not len(shown):
        shown = np.arange(len(pts))
    time_base = stream.time_base or Fraction(1, 1000)
    fps = float(stream.average_rate or stream.guessed_rate or 25)
    ordinal = bool((pts == _NO_TIME).any()) or len(np.unique(pts)) != len(pts)
    if ordinal and not (dts == _NO_TIME).any() and len(np.unique(dts)) == len(dts):
        # As in AVI, which has no times of presentation: frames come out one per packet, at even times.
        pts = dts
    elif ordinal:
        pts = np.arange(len(pts), dtype=np.int64)
        time_base = 1 / Fraction(fps).limit_denominator(1001)
    seek = np.where(dts == _NO_TIME, pts, np.minimum(dts, pts))
    order = shown if ordinal else shown[np.argsort(pts[shown], kind="stable")]
    times = (np.sort(pts[shown]) - pts[order].min()) * float(time_base)
    last = float(np.median(np.diff(times[-50:]))) if len(times) > 1 else 1 / fps
    header = int(stream.frames or 0)
    cut = header > len(pts) + 1
    notes = (f"truncated: {len(pts)} of {header} frames are in the file",) if cut else ()
    rotation = round(first.rotation / 90) * 90 % 360
    width, height = (first.height, first.width) if rotation % 180 else (first.width, first.height)
    return FrameIndex(
        path=path,
        codec=stream.codec_context.name,
        width=width,
        height=height,
        rotation=rotation,
        time_base=time_base,
        pts=pts,
        seek=seek,
        keyframe=key if key.any() else np.arange(len(pts)) == 0,
        order=order,
        ordinal=ordinal,
        droppable=droppable,
        timeline=Timeline(times, key[order], float(times[-1]) + last),
        notes=notes,
    )


def _droppable(codec: str, extradata: bytes | None) -> bool:
    """Whether the decoder can be told to drop frames that no other frame refers to, with all others unchanged."""
    if codec in {"h264", "mpeg4", "mpeg2video", "vp8"}:
        return True
    # In HEVC "not referred to" holds within a temporal layer only; hvcC (not Annex B) says how many layers there are.
    layers_at = 21
    return bool(
        codec == "hevc"
        and extradata
        and len(extradata) > layers_at
        and extradata[0] == 1
        and (extradata[layers_at] >> 3) & 7 == 1
    )


def _said(error: Exception) -> str:
    return cast("str", getattr(error, "strerror", None)) or str(error) or type(error).__name__
