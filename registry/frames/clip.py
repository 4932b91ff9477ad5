"""A clip that holds exactly the frames given, on the video's own time line, and that any adapter reads back as such.

All frames are intra-coded H.264 (yuv420p, no B-frames) at one constant rate, so every decoder and every seek finds
the n-th frame, and a model that reads the clip's clock sees the video's time pass. The settings favour the readers, who
come once per question: pictures without CABAC and deblocking are read three times as fast, and at CRF 14 stay within
47 dB of the source (film, 720p, some 0.35 MB each).
"""
# pyright: reportUnknownMemberType=false

from collections.abc import Iterable
from contextlib import ExitStack, closing
from fractions import Fraction
from itertools import chain
from pathlib import Path

import av
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from reelbench.registry.frames.sound import Beside

CLOCK = 90_000
"""Ticks per second of a clip's time line."""

# One thread: x264 cuts pictures into a slice per thread, so by default the bytes depend on the machine's cores, and a
# store filled by a cluster would not be the one that a single machine fills. At this preset more threads gain nothing.
_OPTIONS = {"preset": "ultrafast", "crf": "14", "g": "1", "bf": "0", "rc-lookahead": "0", "threads": "1"}


def ticks(rate: float) -> int:
    """Return the ticks of `CLOCK` that a frame lasts at `rate` frames per second."""
    return max(1, min(round(CLOCK / rate), 2**31 - 1))


def write_clip(path: Path, pictures: Iterable[VideoFrame], rate: float, sound: Path | None = None) -> int:
    """Write prepared pictures, all of one even size, as an mp4 at `rate` frames per second; return how many.

    `sound` is an mp4 whose sound goes beside them, packet by packet (`sound.copy_sound`).
    """
    lasts = ticks(rate)
    count = 0
    with ExitStack() as opened:
        container = opened.enter_context(av.open(str(path), "w", format="mp4", options={"fflags": "+bitexact"}))
        stream, beside = None, None
        for picture in chain(pictures, (None,)):
            if picture is not None:
                if stream is None:
                    stream = container.add_stream("libx264", rate=Fraction(CLOCK, lasts), options=dict(_OPTIONS))
                    stream.width, stream.height, stream.pix_fmt = picture.width, picture.height, "yuv420p"
                    stream.time_base = stream.codec_context.time_base = Fraction(1, CLOCK)
                    stream.codec_context.colorspace = picture.colorspace
                    stream.codec_context.color_range = picture.color_range
                    beside = opened.enter_context(closing(Beside(sound, container))) if sound else None
                picture.pts, picture.time_base, picture.pict_type = count * lasts, Fraction(1, CLOCK), 0
                count += 1
            for packet in stream.encode(picture) if stream else ():
                packet.duration = lasts
                if beside is not None:
                    beside.until((packet.pts or 0) / CLOCK)
                container.mux(packet)
        if beside is not None:
            beside.until(None)
    return count


def repeat_last(source: Path, target: Path) -> None:
    """Write a clip again with its last frame shown once more; nothing is encoded anew, the sound stays."""
    with av.open(str(source)) as old, av.open(str(target), "w", format="mp4", options={"fflags": "+bitexact"}) as new:
        # `opaque` takes the source's decoder along as it is; without it PyAV would open an encoder.
        pictures = new.add_stream_from_template(old.streams.video[0], opaque=True)
        sound = new.add_stream_from_template(old.streams.audio[0]) if old.streams.audio else None
        last = None
        for packet in old.demux():
            if not packet.size:
                continue
            if sound is not None and packet.stream == old.streams.audio[0]:
                packet.stream = sound
                new.mux(packet)
                continue
            last = packet
            new.mux(_copy(packet, pictures, later=0))
        if last is not None:
            new.mux(_copy(last, pictures, later=1))


def _copy(packet: av.Packet, stream: VideoStream, *, later: int) -> av.Packet:
    """Return a packet like this one, shown `later` of its own lengths later."""
    copy = av.Packet(bytes(packet))
    lasts = packet.duration or 0
    copy.pts = copy.dts = (packet.pts or 0) + later * lasts
    copy.duration, copy.time_base, copy.stream, copy.is_keyframe = lasts, packet.time_base, stream, True
    return copy
