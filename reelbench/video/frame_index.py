"""What a video file holds: every frame's time and every place where decoding can start, read without decoding.

Reading all packets costs about 1 ms per MB from a warm disk (0.1 s for ten minutes of 720p), and is
the only way to know the real frame times and keyframes whatever the container: headers lie, and
lists of frames differ from what is there.
"""

import time
from array import array
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
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
"""Pictures with more pixels are refused: a damaged header must not claim gigabytes. H.264, HEVC and AV1 allow no more
at level 6.2 (35,651,584 luma samples: H.264 table A-1, HEVC table A.8, AV1 annex A.3), which is 8K film."""

# FFmpeg would also open text (as a terminal's output), playlists that name other files, and
# devices.
_FORMATS = (
    "mov,matroska,avi,asf,flv,live_flv,mpeg,mpegts,mpegvideo,m4v,h261,h263,h264,hevc,vvc,av1,obu,ivf,vc1,vc1test,"
    "cavsvideo,avs2,avs3,dirac,dnxhd,ogg,nut,rm,mxf,gxf,dv,wtv,swf,nsv,nuv,amv,roq,smk,bink,mjpeg,mjpeg_2000,gif,apng,"
    "yuv4mpegpipe,jpegxl_anim,jpegxl_pipe,jpeg_pipe,jpegls_pipe,j2k_pipe,png_pipe,webp_pipe,bmp_pipe,gif_pipe,"
    "tiff_pipe,qoi_pipe,pbm_pipe,pgm_pipe,pgmyuv_pipe,ppm_pipe,pam_pipe"
)
_OPTIONS = {"format_whitelist": _FORMATS, "protocol_whitelist": "file"}

# From 19 on PyAV replaces what is not UTF-8 by itself, and has no such argument any more.
_METADATA: dict[str, Any] = (
    {} if int(av.__version__.partition(".")[0]) >= 19 else {"metadata_errors": "replace"}
)  # noqa: PLR2004

_NO_TIME = -(2**63)
_DROPPABLE = frozenset({"h264", "mpeg4", "mpeg2video", "vp8"})
"""Codecs whose decoder can be told to drop frames that no other frame refers to, with all others unchanged."""
_LAYERS_AT = 21  # of hvcC's bytes, the one with the number of temporal layers
_NOT_ONE = "has a video stream, but not one frame of it can be decoded"


@dataclass
class Deadline:
    """A moment after which work on a file is given up: by the `limit` that the user set, or some `seconds` from now."""

    path: Path
    limit: float | None
    seconds: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Return the seconds that are left, never below 0."""
        return max(0.0, self.began + (self.limit or self.seconds) - time.monotonic())

    def check(self) -> None:
        """MediaError once the time is up."""
        if not self.left():
            most = f"{self.limit or self.seconds:g} s"
            raise MediaError(
                self.path,
                f"decoding took longer than {most}; the file may be damaged (or raise the time limit)",
            )


@dataclass(frozen=True)
class FrameIndex:
    """The packets of a file's first video stream, in order of decoding (p of them), and the frames (n) they make.

    `pts` (p,) is when a packet's frame is shown, `seek` (p,) where to seek to for it, both in ticks
    of the stream; `keys` (k,) are the packets where decoding can start. `order` (n,) gives each
    frame's packet as frames are shown. Where packets don't tell when their frames are shown,
    `ordinal` is true, there are no packets (p = 0), and the i-th frame out of the decoder is frame
    i. `droppable` says that the decoder may drop frames that no other refers to. `begins` is when
    the first frame is shown, in seconds on the file's own clock; `sound` says whether it has any.
    `width` and `height` are as shown (after `rotation`, in degrees counter-clockwise).
    """

    path: Path
    codec: str
    width: int
    height: int
    rotation: int
    timeline: Timeline
    droppable: bool
    pts: np.ndarray
    seek: np.ndarray
    keys: np.ndarray
    order: np.ndarray
    ordinal: bool
    begins: Fraction
    sound: bool
    notes: tuple[str, ...]

    def starts_of(self, wanted: np.ndarray) -> np.ndarray:
        """Return the packets (m,) to start decoding at so that the packets `wanted` (m,) come out whole."""
        keys = self.keys
        place = np.searchsorted(keys, wanted, side="right") - 1
        # A frame that is shown before its keyframe (an open group of pictures) also needs the group
        # before.
        while (early := (place > 0) & (self.pts[keys[place]] > self.pts[wanted])).any():
            place[early] -= 1
        return np.where(place >= 0, keys[place], 0)

    def earlier_start(self, start: int, groups: int) -> int:
        """Return the keyframe that lies `groups` keyframes before the packet `start`, or the first packet."""
        place = int(np.searchsorted(self.keys, start, side="right")) - 1 - groups
        return int(self.keys[place]) if place >= 0 else 0

    @property
    def frames(self) -> int:
        """How many there are."""
        return len(self.timeline.timestamps)

    @property
    def fps(self) -> float:
        """Frames per second of the duration."""
        return self.frames / self.timeline.duration

    @property
    def in_words(self) -> str:
        """Codec, size, duration and frames, on one line."""
        turned = f", turned by {self.rotation} degrees" if self.rotation else ""
        keyframes = np.count_nonzero(self.timeline.keyframes)
        frames = f"{self.frames} frames ({self.fps:.3f} per second), {keyframes} keyframes"
        return f"{self.codec}, {self.width} x {self.height}{turned}, {self.timeline.duration:.3f} s, {frames}"


def open_container(path: Path) -> InputContainer:
    """Open a media file; MediaError where it is not one.

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
    """Return the first stream of moving pictures (not a cover image); MediaError where there is none."""
    for stream in container.streams.video:
        if Disposition.attached_pic in stream.disposition:
            continue
        if (
            cast("VideoCodecContext | None", stream.codec_context) is None
        ):  # whatever PyAV's types say
            raise MediaError(path, "its video codec is unknown to this build of FFmpeg")
        if stream.width * stream.height > MAX_PIXELS:
            raise MediaError(
                path, f"claims {stream.width} x {stream.height} pixels; the file may be damaged"
            )
        stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
        return stream
    # Counted by kind: asking a stream of unknown kind for its type crashes PyAV 15.
    kinds = {"sound": container.streams.audio, "a cover image": container.streams.video}
    found = [kind for kind, streams in kinds.items() if streams]
    raise MediaError(path, f"has no video stream (only {' and '.join(found) or 'other data'})")


def packets(container: InputContainer, stream: Stream) -> Iterator[av.Packet]:
    """Yield the stream's packets in order of decoding, as far as the file can be read."""
    while True:
        try:
            for packet in container.demux(stream):
                if packet.size:
                    yield packet
        except IndexError:
            continue  # a packet of a stream that the file's head did not announce (MPEG-TS): PyAV can't name it
        except (FFmpegError, OSError):
            return  # cut short: what came before it is good
        return


def read_index(path: Path, deadline: Deadline) -> FrameIndex:
    """Read all packets of a file and decode its first frame; MediaError where there is no frame at all."""
    pts_of, dts_of, keys_of, shown_of = array("q"), array("q"), array("b"), array("b")
    first: VideoFrame | None = None
    with closing(open_container(path)) as container:
        stream = video_stream(container, path)
        context = stream.codec_context
        context.thread_count = 1
        for packet in packets(container, stream):
            deadline.check()
            pts_of.append(_NO_TIME if packet.pts is None else packet.pts)
            dts_of.append(_NO_TIME if packet.dts is None else packet.dts)
            keys_of.append(packet.is_keyframe)
            shown_of.append(not packet.is_discard)
            first = first or _first_frame(stream, packet)
        if keys_of:
            first = first or _first_frame(stream, None)
        if first is None:
            raise MediaError(path, _NOT_ONE)
        rotation = round(first.rotation / 90) * 90 % 360
        width, height = (
            (first.height, first.width) if rotation % 180 else (first.width, first.height)
        )
        held: dict[str, Any] = {
            "path": path,
            "codec": context.name,
            "sound": bool(container.streams.audio),
        }
        held |= {"rotation": rotation, "width": width, "height": height}
        pts, dts, keys = (
            np.array(pts_of, np.int64),
            np.array(dts_of, np.int64),
            np.array(keys_of, bool),
        )
        timed = not (pts == _NO_TIME).any() and len(np.unique(pts)) == len(pts)
        # Where files were joined the clock jumps back by more than a second: such a file plays as
        # it lies.
        joined = (np.diff(dts[dts != _NO_TIME]) * float(stream.time_base or 1) < -1).any()
        # AVI stores no times of presentation: what FFmpeg gives as such is wrong where frames are
        # reordered.
        if timed and not joined and not (container.format.name == "avi" and context.has_b_frames):
            if not keys.any():
                keys[0] = True
            shown = np.flatnonzero(np.array(shown_of, bool))
            order = shown if len(shown) else np.arange(len(pts))
            order = order[np.argsort(pts[order], kind="stable")]
            times = (pts[order] - pts[order[0]]) * float(stream.time_base or 1)
            header, fps = (
                int(stream.frames or 0),
                float(stream.average_rate or stream.guessed_rate or 25),
            )
            cut = header > len(pts) + 1
            # In HEVC "not referred to" holds within a temporal layer only; hvcC (not Annex B) says
            # how many there are.
            known = context.extradata or b""
            stated = context.name == "hevc" and len(known) > _LAYERS_AT and known[0] == 1
            return FrameIndex(
                **held,
                timeline=_timeline(times, keys[order], fps),
                droppable=context.name in _DROPPABLE
                or (stated and (known[_LAYERS_AT] >> 3) & 7 == 1),
                pts=pts,
                seek=np.where(dts == _NO_TIME, pts, np.minimum(dts, pts)),
                keys=np.flatnonzero(keys),
                order=order,
                ordinal=False,
                begins=int(pts[order[0]]) * (stream.time_base or Fraction(1)),
                notes=(f"truncated: {len(pts)} of {header} frames are in the file",) if cut else (),
            )
    deadline.seconds += 0.05 * len(keys)
    return _from_frames(path, held, deadline)


def _first_frame(stream: VideoStream, packet: av.Packet | None) -> VideoFrame | None:
    try:
        frames = stream.decode(packet)
    except (FFmpegError, MemoryError, ValueError):
        return None
    return frames[0] if frames else None


def _from_frames(path: Path, held: dict[str, Any], deadline: Deadline) -> FrameIndex:
    """Decode the whole file to learn what it holds: only where its packets don't tell."""
    keys = array("b")
    with closing(open_container(path)) as container:
        stream = video_stream(container, path)
        stream.codec_context.thread_type = "AUTO"
        for packet in chain(packets(container, stream), (None,)):
            deadline.check()
            with suppress(FFmpegError, ValueError):
                keys.extend(frame.key_frame for frame in stream.decode(packet))
        fps = float(stream.average_rate or stream.guessed_rate or 25)
        begins = (stream.start_time or 0) * (stream.time_base or Fraction(1))
    if (
        not keys
    ):  # what comes out alone may not do so beside others, in a decoder of several threads
        raise MediaError(path, _NOT_ONE)
    if not any(keys):
        keys[0] = True
    nothing = dict.fromkeys(("pts", "seek", "keys"), np.arange(0))
    return FrameIndex(
        **held,
        **nothing,
        timeline=_timeline(np.arange(len(keys)) / fps, np.array(keys, bool), fps),
        droppable=False,
        order=np.arange(len(keys)),
        ordinal=True,
        begins=begins,
        notes=("the file does not say when its frames are shown: even steps are assumed",),
    )


def _timeline(times: np.ndarray, keys: np.ndarray, fps: float) -> Timeline:
    last = float(np.median(np.diff(times[-50:]))) if len(times) > 1 else 1 / fps
    return Timeline(times, keys, float(times[-1]) + last)
