"""The sound of a clip: a video's own packets, unchanged, on the clip's time line."""
# pyright: reportUnknownMemberType=false

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

import av
from av.container import OutputContainer
from av.error import FFmpegError

from reelbench.registry.errors import first_line
from reelbench.registry.frames.index import open_container, packets

if TYPE_CHECKING:
    from av.audio.codeccontext import AudioCodecContext
    from av.audio.stream import AudioStream


def copy_sound(video: Path, target: Path, *, start: Fraction, end: Fraction | None) -> str | None:
    """Copy the packets of a video's sound into an mp4; return why that can't be done, or None where it is.

    Of several, the sound that a player takes by default. `start` is the clip's beginning on the file's own clock (s):
    the copy counts from there. Where there is an `end`, only what sounds between the two is copied, and the packet
    before it, which AAC and MP3 need to decode the first; without one, all there is. Nothing is written where no packet
    falls in between.
    """
    written = 0
    with open_container(video) as source:
        stream = cast("AudioStream | None", source.streams.best("audio"))
        # Whatever PyAV's types say, there may be no codec.
        if stream is None or cast("AudioCodecContext | None", stream.codec_context) is None:
            return "its codec is unknown"
        try:
            with av.open(str(target), "w", format="mp4", options={"fflags": "+bitexact"}) as copy:
                out = copy.add_stream_from_template(stream)
                for packet in packets(source, stream):
                    step = packet.time_base or Fraction(1)
                    if end is not None:
                        at = packet.pts if packet.pts is not None else packet.dts
                        lasts = 2 * (packet.duration or 0)
                        if at is None or not at < int(end / step) or not at + lasts > int(start / step):
                            continue
                    shift = round(start / step)
                    packet.pts = None if packet.pts is None else packet.pts - shift
                    packet.dts = None if packet.dts is None else packet.dts - shift
                    packet.stream = out
                    copy.mux(packet)
                    written += 1
        except (FFmpegError, ValueError) as error:
            target.unlink(missing_ok=True)
            return f"{stream.codec_context.name} can't be copied into an mp4 ({first_line(error)})"
    if not written:
        target.unlink(missing_ok=True)
    return None


class Beside:
    """The sound in an mp4, written into a clip packet by packet, each before the picture that follows it."""

    def __init__(self, path: Path, clip: OutputContainer) -> None:
        self._source = av.open(str(path))
        stream = self._source.streams.audio[0]
        self._out = clip.add_stream_from_template(stream)
        self._clip = clip
        self._packets = packets(self._source, stream)
        self._next = next(self._packets, None)

    def until(self, seconds: float | None) -> None:
        """Write the packets up to a time, or all that are left."""
        while self._next is not None:
            at = self._next.dts
            if seconds is not None and at is not None and at * (self._next.time_base or 1) > seconds:
                return
            self._next.stream = self._out
            self._clip.mux(self._next)
            self._next = next(self._packets, None)

    def close(self) -> None:
        """Close the mp4 that the sound comes from."""
        self._source.close()
