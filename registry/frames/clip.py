"""A clip that holds exactly the frames given, on the video's own time line, and that any adapter reads back as such.

All frames are intra-coded H.264 (yuv420p, no B-frames) at one constant rate, so every decoder and every seek finds
the n-th frame, and a model that reads the clip's clock sees the video's time pass. The settings favour the readers, who
come once per question: pictures without CABAC and deblocking are read three times as fast, and at CRF 14 stay within
47 dB of the source (film, 720p, some 0.35 MB each).
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import av
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

CLOCK = 90_000
"""Ticks per second of a clip's time line."""

# One thread: x264 cuts pictures into a slice per thread, so by default the bytes depend on the machine's cores, and a
# store filled by a cluster would not be the one that a single machine fills. At this preset more threads gain nothing.
_OPTIONS = {"preset": "ultrafast", "crf": "14", "g": "1", "bf": "0", "rc-lookahead": "0", "threads": "1"}


def ticks(rate: float) -> int:
    """Return how many ticks of `CLOCK` a frame lasts at `rate` frames per second."""
    return max(1, min(round(CLOCK / rate), 2**31 - 1))


def write_clip(path: Path, pictures: Iterable[VideoFrame], rate: float) -> int:
    """Write prepared pictures, all of one even size, as an mp4 at `rate` frames per second; return how many."""
    lasts = ticks(rate)
    count = 0
    with av.open(str(path), "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        stream = None
        for picture in pictures:
            if stream is None:
                stream = container.add_stream("libx264", rate=Fraction(CLOCK, lasts), options=dict(_OPTIONS))
                stream.width, stream.height, stream.pix_fmt = picture.width, picture.height, "yuv420p"
                stream.time_base = stream.codec_context.time_base = Fraction(1, CLOCK)
                stream.codec_context.colorspace = picture.colorspace
                stream.codec_context.color_range = picture.color_range
            picture.pts, picture.time_base, picture.pict_type = count * lasts, Fraction(1, CLOCK), 0
            count += 1
            for packet in stream.encode(picture):
                packet.duration = lasts
                container.mux(packet)
        if stream is not None:
            for packet in stream.encode(None):
                packet.duration = lasts
                container.mux(packet)
    return count


def repeat_last(source: Path, target: Path) -> None:
    """Write a clip again with its last frame shown once more; nothing is encoded anew."""
    with av.open(str(source)) as old, av.open(str(target), "w", format="mp4", options={"fflags": "+bitexact"}) as new:
        # `opaque` takes the source's decoder along as it is; without it PyAV would open an encoder.
        stream = new.add_stream_from_template(old.streams.video[0], opaque=True)
        last = None
        for packet in _timed(old):
            last = packet
            new.mux(_copy(packet, stream, later=0))
        if last is not None:
            new.mux(_copy(last, stream, later=1))


def _copy(packet: av.Packet, stream: VideoStream, *, later: int) -> av.Packet:
    """Return a packet like this one, shown `later` of its own lengths later."""
    copy = av.Packet(bytes(packet))
    lasts = packet.duration or 0
    copy.pts = copy.dts = (packet.pts or 0) + later * lasts
    copy.duration, copy.time_base, copy.stream, copy.is_keyframe = lasts, packet.time_base, stream, True
    return copy


def _timed(container: InputContainer) -> Iterator[av.Packet]:
    return (packet for packet in container.demux(container.streams.video[0]) if packet.size)
