"""A clip that holds exactly the frames given, on the video's own time line, and that any adapter reads back as such.

All frames are intra-coded H.264 (yuv420p, no B-frames) at one constant rate, so every decoder and
every seek finds the n-th frame, and a model that reads the clip's clock sees the video's time pass.
The settings favour the readers, who come once per question: pictures without CABAC and deblocking
are read three times as fast, and at CRF 14 stay within 47 dB of the source (film, 720p, some 0.35
MB each).
"""
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

import av
from av.container import OutputContainer
from av.error import FFmpegError
from av.video.frame import VideoFrame

from reelbench.base.errors import first_line
from reelbench.video.frame_index import open_container, packets

if TYPE_CHECKING:
    from av.audio.codeccontext import AudioCodecContext
    from av.audio.stream import AudioStream

CLOCK = 90_000  # ticks per second of a clip's time line

# One thread: x264 cuts pictures into a slice per thread, so by default the bytes depend on the
# machine's cores, and a store filled by a cluster would not be the one that a single machine fills.
# At this preset more threads gain nothing.
_OPTIONS = {
    "preset": "ultrafast",
    "crf": "14",
    "g": "1",
    "bf": "0",
    "rc-lookahead": "0",
    "threads": "1",
}


def write_clip(
    path: Path, pictures: Iterable[VideoFrame], rate: float, sound: Path | None = None
) -> int:
    """Write prepared pictures, all of one even size, as an mp4 at `rate` frames per second; return how many.

    `sound` is an mp4 whose sound goes beside them, packet by packet (`copy_sound`).
    """
    lasts = max(1, min(round(CLOCK / rate), 2**31 - 1))  # ticks of the clock
    timed = ((number * lasts, picture) for number, picture in enumerate(pictures))
    options = {"fflags": "+bitexact"}
    return write_film(
        path,
        timed,
        Fraction(CLOCK, lasts),
        lambda _: lasts,
        sound,
        encoder=_OPTIONS,
        options=options,
    )


def write_film(
    path: Path,
    pictures: Iterable[tuple[int, VideoFrame]],
    rate: Fraction | int,
    lasts: Callable[[int], int],
    sound: Path | None,
    *,
    encoder: Mapping[str, str],
    options: Mapping[str, str],
) -> int:
    """Write pictures as H.264 with the sound of an mp4, if any; return how many.

    Each is given with when it is shown, and `lasts` says for how long, in ticks of the clock;
    `rate` is the frames per second that the file claims, `encoder` and `options` are libx264's and
    the mp4's.
    """
    count = 0
    with ExitStack() as opened:
        container = opened.enter_context(
            av.open(str(path), "w", format="mp4", options=dict(options))
        )
        stream, sound_until = None, None
        for at, picture in chain(pictures, ((0, None),)):
            if picture is not None:
                if stream is None:
                    stream = container.add_stream("libx264", rate=rate, options=dict(encoder))
                    stream.width, stream.height, stream.pix_fmt = (
                        picture.width,
                        picture.height,
                        "yuv420p",
                    )
                    stream.time_base = stream.codec_context.time_base = Fraction(1, CLOCK)
                    stream.codec_context.colorspace = picture.colorspace
                    stream.codec_context.color_range = picture.color_range
                    sound_until = (
                        opened.enter_context(sound_writer(sound, container)) if sound else None
                    )
                picture.pts, picture.time_base, picture.pict_type = at, Fraction(1, CLOCK), 0
                count += 1
            for packet in stream.encode(picture) if stream else ():
                packet.duration = lasts(packet.pts or 0)
                if sound_until is not None:
                    sound_until((packet.pts or 0) / CLOCK)
                container.mux(packet)
        if sound_until is not None:
            sound_until(None)
    return count


def repeat_last(source: Path, target: Path) -> None:
    """Write a clip again with its last frame shown once more; nothing is encoded anew, the sound stays."""
    with (
        av.open(str(source)) as old,
        av.open(str(target), "w", format="mp4", options={"fflags": "+bitexact"}) as new,
    ):
        # `opaque` takes the source's decoder along as it is; without it PyAV would open an encoder.
        pictures = new.add_stream_from_template(old.streams.video[0], opaque=True)
        sound = new.add_stream_from_template(old.streams.audio[0]) if old.streams.audio else None
        last = None

        def copy(packet: av.Packet, *, later: int) -> None:
            """Write a packet like this one, shown `later` of its own lengths later."""
            made, lasts = av.Packet(bytes(packet)), packet.duration or 0
            made.pts = made.dts = (packet.pts or 0) + later * lasts
            made.duration, made.time_base, made.stream, made.is_keyframe = (
                lasts,
                packet.time_base,
                pictures,
                True,
            )
            new.mux(made)

        for packet in old.demux():
            if not packet.size:
                continue
            if sound is not None and packet.stream == old.streams.audio[0]:
                packet.stream = sound
                new.mux(packet)
                continue
            last = packet
            copy(packet, later=0)
        if last is not None:
            copy(last, later=1)


# --- its sound: the video's own packets, unchanged, on the clip's time line
# -----------------------------------------


def copy_sound(video: Path, target: Path, *, start: Fraction, end: Fraction | None) -> str | None:
    """Copy the packets of a video's sound into an mp4; return why that can't be done, or None where it is.

    Of several, the sound that a player takes by default. `start` is the clip's beginning on the
    file's own clock (s): the copy counts from there. Where there is an `end`, only what sounds
    between the two is copied, and the packet before it, which AAC and MP3 need to decode the first;
    without one, all there is. Nothing is written where no packet falls in between.
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
                        if (
                            at is None
                            or not at < int(end / step)
                            or not at + lasts > int(start / step)
                        ):
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


@contextmanager
def sound_writer(path: Path, clip: OutputContainer) -> Generator[Callable[[float | None], None]]:
    """Yield what writes the sound in an mp4 into a clip, packet by packet, up to a time (s), or all that is left."""
    with av.open(str(path)) as source:
        stream = source.streams.audio[0]
        out = clip.add_stream_from_template(stream)
        left = packets(source, stream)
        following = next(left, None)

        def until(seconds: float | None) -> None:
            nonlocal following
            while following is not None:
                at = following.dts
                if (
                    seconds is not None
                    and at is not None
                    and at * (following.time_base or 1) > seconds
                ):
                    return
                following.stream = out
                clip.mux(following)
                following = next(left, None)

        yield until
