"""The index of a video file: the time of every frame, and the places where decoding can start.

All packets are read, and none but the first is decoded. That costs about 1 ms per MB from a warm
disk (0.1 s for ten minutes of 720p), and is the only way to know the real frame times and keyframes
whatever the container: headers lie, and lists of frames differ from what is there.
"""

import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import av
import numpy as np
from av import logging
from av.container import InputContainer
from av.error import FFmpegError
from av.stream import Disposition, Stream
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from reelbench.base.errors import MediaError, first_line
from reelbench.registry.sampling import Timeline

if TYPE_CHECKING:
    from av.video.codeccontext import VideoCodecContext

MAX_PIXELS = 8192 * 4352
"""Pictures with more pixels are refused: a damaged header must not claim gigabytes.

H.264, HEVC and AV1 allow no more at level 6.2 (35,651,584 luma samples: H.264 table A-1, HEVC table
A.8, AV1 annex A.3), which is 8K film.
"""

# FFmpeg would also open text (as a terminal's output), playlists that name other files, and
# devices.
_FORMATS = (
    "mov,matroska,avi,asf,flv,live_flv,mpeg,mpegts,mpegvideo,m4v,h261,h263,h264,hevc,vvc,av1,obu,"
    "ivf,vc1,vc1test,cavsvideo,avs2,avs3,dirac,dnxhd,ogg,nut,rm,mxf,gxf,dv,wtv,swf,nsv,nuv,amv,roq,"
    "smk,bink,mjpeg,mjpeg_2000,gif,apng,yuv4mpegpipe,jpegxl_anim,jpegxl_pipe,jpeg_pipe,jpegls_pipe,"
    "j2k_pipe,png_pipe,webp_pipe,bmp_pipe,gif_pipe,tiff_pipe,qoi_pipe,pbm_pipe,pgm_pipe,pgmyuv_pipe,"
    "ppm_pipe,pam_pipe"
)
_OPTIONS = {"format_whitelist": _FORMATS, "protocol_whitelist": "file"}

# From 19 on PyAV replaces what is not UTF-8 by itself, and has no such argument any more.
_METADATA: dict[str, Any] = {}
if int(av.__version__.partition(".")[0]) < 19:  # noqa: PLR2004
    _METADATA["metadata_errors"] = "replace"

_NO_TIME = -(2**63)

_DROPPABLE = frozenset({"h264", "mpeg4", "mpeg2video", "vp8"})
"""Codecs whose decoder can drop frames that no other refers to, with all others unchanged."""

_LAYERS_AT = 21
"""Of hvcC's bytes, the one with the number of temporal layers."""

_DEFAULT_FPS = 25
_NO_FRAME = "has a video stream, but not one frame of it can be decoded"


@dataclass
class Deadline:
    """A moment after which work on a file is given up."""

    path: Path

    limit: float | None
    """Seconds that the user set, which count before `seconds`."""

    seconds: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Return the seconds that are left, never below 0."""
        return max(0.0, self.began + (self.limit or self.seconds) - time.monotonic())

    def check(self) -> None:
        """Raise MediaError once the time is up."""
        if self.left():
            return
        raise MediaError(
            self.path,
            f"decoding took longer than {self.limit or self.seconds:g} s; the file may be damaged "
            "(or raise the time limit)",
        )


@dataclass(frozen=True)
class FrameIndex:
    """The packets (p) of a file's first video stream, and the frames (n) they make.

    Packets are in order of decoding, and times of packets in ticks of the stream.
    """

    path: Path
    codec: str

    width: int
    """As shown, after `rotation`."""

    height: int

    rotation: int
    """Degrees counter-clockwise."""

    timeline: Timeline

    droppable: bool
    """True where the decoder may drop frames that no other refers to."""

    pts: np.ndarray
    """(p,): the time when a packet's frame is shown."""

    seek: np.ndarray
    """(p,): where to seek to for a packet."""

    keys: np.ndarray
    """(k,): the packets where decoding can start."""

    order: np.ndarray
    """(n,): each frame's packet, as frames are shown."""

    ordinal: bool
    """True where packets don't tell when their frames are shown.

    There are no packets then (p = 0), and the i-th frame out of the decoder is frame i.
    """

    first_frame_time: Fraction
    """The time of the first frame, in seconds on the file's own clock."""

    sound: bool
    """True where the file has any."""

    notes: tuple[str, ...]

    def decode_starts(self, frame_packets: np.ndarray) -> np.ndarray:
        """Return the packets (m,) where decoding must start to get the frames of others (m,)."""
        key_positions = np.searchsorted(self.keys, frame_packets, side="right") - 1
        while True:
            # A frame that is shown before its keyframe (an open group of pictures) also needs the
            # group before.
            is_early = self.pts[self.keys[key_positions]] > self.pts[frame_packets]
            needs_earlier = is_early & (key_positions > 0)
            if not needs_earlier.any():
                break
            key_positions[needs_earlier] -= 1
        return np.where(key_positions >= 0, self.keys[key_positions], 0)

    def earlier_start(self, start: int, groups: int) -> int:
        """Return the keyframe some groups before a packet, or the first packet."""
        key_position = int(np.searchsorted(self.keys, start, side="right")) - 1 - groups
        return int(self.keys[key_position]) if key_position >= 0 else 0

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.timeline.timestamps)

    @property
    def fps(self) -> float:
        """Frames per second of the duration."""
        return self.frames / self.timeline.duration

    @property
    def in_words(self) -> str:
        """Codec, size, duration and frames, on one line."""
        keyframes = np.count_nonzero(self.timeline.keyframes)
        line = f"{self.codec}, {self.width} x {self.height}"
        if self.rotation:
            line += f", turned by {self.rotation} degrees"
        line += f", {self.timeline.duration:.3f} s, {self.frames} frames"
        line += f" ({self.fps:.3f} per second), {keyframes} keyframes"
        return line


# --- opening
# ----------------------------------------------------------------------------------------------


def open_container(path: Path) -> InputContainer:
    """Open a media file. MediaError where it is not one.

    Takes PyAV's log callback away (`av.logging.set_level`): FFmpeg calls it in a decoder's threads,
    where it waits for the GIL, which PyAV holds while it closes that decoder and waits for its
    threads. On a damaged video both wait for ever.
    """
    if logging.get_level() is not None:
        logging.set_level(None)
    try:
        # Absolute, so that no name ("pipe:0", "http:/host/x") is read as an address. Not `options`,
        # which go to streams too: before 18, PyAV then writes past its table where a stream turns
        # up late (MPEG-TS).
        return cast(
            "InputContainer",
            av.open(str(path.absolute()), container_options=dict(_OPTIONS), **_METADATA),
        )
    except FileNotFoundError:
        raise MediaError(path, "no such file") from None
    except IsADirectoryError:
        raise MediaError(path, "is a folder, expected a video file") from None
    except (FFmpegError, OSError, ValueError, MemoryError) as error:
        raise MediaError(
            path, f"is not a video that can be read ({first_line(error)}); is it complete?"
        ) from None


def video_stream(container: InputContainer, path: Path) -> VideoStream:
    """Return the stream of moving pictures, which is no cover image and no still.

    Raises:
        MediaError: There is none, or it can't be decoded.
    """
    cover = Disposition.attached_pic
    films = [stream for stream in container.streams.video if cover not in stream.disposition]
    if films:
        return _require_decodable(_choose_film_stream(container, films), path)
    # Counted by kind: asking a stream of unknown kind for its type crashes PyAV 15.
    kinds: list[str] = []
    if container.streams.audio:
        kinds.append("sound")
    if container.streams.video:
        kinds.append("a cover image")
    content = " and ".join(kinds) or "other data"
    raise MediaError(path, f"has no video stream (only {content})")


def _choose_film_stream(container: InputContainer, films: Sequence[VideoStream]) -> VideoStream:
    """Return the first stream that is no single picture in front of the film.

    Some files have a cover as their first stream that isn't flagged as one.
    """
    if len(films) == 1:
        return films[0]
    for stream in films:
        if stream.frames > 1:
            return stream
    # A container that counts no frames (Matroska): FFmpeg has seen which stream goes on.
    best = cast("VideoStream | None", container.streams.best("video"))
    if best is not None and best in films:
        return best
    return films[0]


def _require_decodable(stream: VideoStream, path: Path) -> VideoStream:
    """Return a stream that FFmpeg can decode within our bounds. MediaError where it can't."""
    # Whatever PyAV's types say, there may be no codec.
    if cast("VideoCodecContext | None", stream.codec_context) is None:
        raise MediaError(path, "its video codec is unknown to this build of FFmpeg")
    if stream.width * stream.height > MAX_PIXELS:
        raise MediaError(
            path, f"claims {stream.width} x {stream.height} pixels; the file may be damaged"
        )
    stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
    return stream


def packets(container: InputContainer, stream: Stream) -> Iterator[av.Packet]:
    """Yield the stream's packets in order of decoding, as far as they can be read."""
    while True:
        try:
            for packet in container.demux(stream):
                if packet.size:
                    yield packet
        except IndexError:
            # A packet of a stream that the file's head did not announce (MPEG-TS): PyAV can't name
            # it.
            continue
        except (FFmpegError, OSError):
            return  # cut short: what came before it is good
        return


# --- reading
# ----------------------------------------------------------------------------------------------


def read_index(path: Path, deadline: Deadline) -> FrameIndex:
    """Read all packets of a file and decode its first frame.

    Raises:
        MediaError: There is no frame at all.
    """
    columns = _PacketColumns()
    first: VideoFrame | None = None
    with closing(open_container(path)) as container:
        stream = video_stream(container, path)
        stream.codec_context.thread_count = 1
        for packet in packets(container, stream):
            deadline.check()
            columns.add(packet)
            if first is None:
                first = _first_frame(stream, packet)
        if first is None and columns.keys:
            first = _first_frame(stream, None)
        if first is None:
            raise MediaError(path, _NO_FRAME)
        index = _empty_index(path, stream, first, sound=bool(container.streams.audio))
        # AVI stores no times of presentation: what FFmpeg gives as such is wrong where frames are
        # reordered.
        is_reordered = container.format.name == "avi" and stream.codec_context.has_b_frames
        if columns.have_presentation_times(_tick_of_stream(stream)) and not is_reordered:
            return _index_of_packets(index, columns, stream)
    deadline.seconds += 0.05 * len(columns.keys)
    return _index_of_frames(index, deadline)


class _PacketColumns:
    """The packets of a stream, a column for each field. Compact, since films have millions."""

    def __init__(self) -> None:
        self.pts = array("q")
        self.dts = array("q")
        self.keys = array("b")
        self.shown = array("b")

    def add(self, packet: av.Packet) -> None:
        pts = _NO_TIME if packet.pts is None else packet.pts
        dts = _NO_TIME if packet.dts is None else packet.dts
        self.pts.append(pts)
        self.dts.append(dts)
        self.keys.append(packet.is_keyframe)
        self.shown.append(not packet.is_discard)

    def have_presentation_times(self, tick: Fraction) -> bool:
        """Return True where the packets tell when their frames are shown."""
        pts = np.array(self.pts, np.int64)
        if (pts == _NO_TIME).any() or len(np.unique(pts)) < len(pts):
            return False
        # Where files were joined the clock jumps back by more than a second: such a file plays as
        # it lies.
        dts = np.array(self.dts, np.int64)
        steps = np.diff(dts[dts != _NO_TIME]) * float(tick)
        return not (steps < -1).any()


def _tick_of_stream(stream: VideoStream) -> Fraction:
    return stream.time_base or Fraction(1)


def _average_rate(stream: VideoStream) -> float:
    return float(stream.average_rate or stream.guessed_rate or _DEFAULT_FPS)


def _first_frame(stream: VideoStream, packet: av.Packet | None) -> VideoFrame | None:
    try:
        frames = stream.decode(packet)
    except (FFmpegError, MemoryError, ValueError):
        return None
    return frames[0] if frames else None


def _empty_index(path: Path, stream: VideoStream, first: VideoFrame, *, sound: bool) -> FrameIndex:
    """Return the index of a file with what its first frame tells, and no packets."""
    rotation = round(first.rotation / 90) * 90 % 360
    width = first.width
    height = first.height
    if rotation % 180:
        width = first.height
        height = first.width
    no_values = np.arange(0)
    return FrameIndex(
        path=path,
        codec=stream.codec_context.name,
        width=width,
        height=height,
        rotation=rotation,
        timeline=Timeline(no_values, no_values, 0.0),
        droppable=False,
        pts=no_values,
        seek=no_values,
        keys=no_values,
        order=no_values,
        ordinal=True,
        first_frame_time=Fraction(0),
        sound=sound,
        notes=(),
    )


def _index_of_packets(
    index: FrameIndex, columns: _PacketColumns, stream: VideoStream
) -> FrameIndex:
    """Fill in an index by the packets, which tell when their frames are shown."""
    pts = np.array(columns.pts, np.int64)
    dts = np.array(columns.dts, np.int64)
    keys = np.array(columns.keys, bool)
    if not keys.any():
        keys[0] = True
    order = np.flatnonzero(np.array(columns.shown, bool))
    if not len(order):
        order = np.arange(len(pts))
    order = order[np.argsort(pts[order], kind="stable")]
    first_pts = pts[order[0]]
    times = (pts[order] - first_pts) * float(_tick_of_stream(stream))
    notes: tuple[str, ...] = ()
    frames_in_header = int(stream.frames or 0)
    if frames_in_header > len(pts) + 1:
        notes = (f"truncated: {len(pts)} of {frames_in_header} frames are in the file",)
    return replace(
        index,
        timeline=_make_timeline(times, keys[order], _average_rate(stream)),
        droppable=_is_droppable(stream),
        pts=pts,
        seek=np.where(dts == _NO_TIME, pts, np.minimum(dts, pts)),
        keys=np.flatnonzero(keys),
        order=order,
        ordinal=False,
        first_frame_time=int(first_pts) * _tick_of_stream(stream),
        notes=notes,
    )


def _is_droppable(stream: VideoStream) -> bool:
    """Return True where the decoder may drop frames that no other refers to."""
    context = stream.codec_context
    if context.name in _DROPPABLE:
        return True
    # In HEVC "not referred to" holds within a temporal layer only; hvcC (not Annex B) says how many
    # there are.
    config = context.extradata or b""
    if context.name != "hevc" or len(config) <= _LAYERS_AT or config[0] != 1:
        return False
    layers = (config[_LAYERS_AT] >> 3) & 7
    return layers == 1


def _index_of_frames(index: FrameIndex, deadline: Deadline) -> FrameIndex:
    """Fill in an index by decoding the whole file, where its packets don't tell."""
    keys = array("b")
    with closing(open_container(index.path)) as container:
        stream = video_stream(container, index.path)
        stream.codec_context.thread_type = "AUTO"
        for packet in chain(packets(container, stream), (None,)):
            deadline.check()
            with suppress(FFmpegError, ValueError):
                for frame in stream.decode(packet):
                    keys.append(frame.key_frame)
        fps = _average_rate(stream)
        start_ticks = stream.start_time or 0
        first_frame_time = start_ticks * _tick_of_stream(stream)
    if not keys:
        # What comes out alone may not do so beside others, in a decoder of several threads.
        raise MediaError(index.path, _NO_FRAME)
    if not any(keys):
        keys[0] = True
    order = np.arange(len(keys))
    return replace(
        index,
        timeline=_make_timeline(order / fps, np.array(keys, bool), fps),
        order=order,
        first_frame_time=first_frame_time,
        notes=("the file does not say when its frames are shown: even steps are assumed",),
    )


def _make_timeline(times: np.ndarray, keys: np.ndarray, fps: float) -> Timeline:
    """Return a timeline whose last frame lasts as long as most of the last ones."""
    last_step = 1 / fps
    if len(times) > 1:
        last_step = float(np.median(np.diff(times[-50:])))
    return Timeline(times, keys, float(times[-1]) + last_step)
