"""A clip that holds exactly the given frames, on the video's own time line.

Any adapter reads it back as such: all frames are intra-coded H.264 (yuv420p, no B-frames) at one
constant rate, so every decoder and every seek finds the n-th frame, and a model that reads the
clip's clock sees the video's time pass. The settings favour the readers, who come once per
question: pictures without CABAC and deblocking are read three times as fast, and at CRF 14 stay
within 47 dB of the source (film, 720p, some 0.35 MB each).
"""
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import av
from av.container import OutputContainer
from av.error import FFmpegError
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from reelbench.base.errors import first_line
from reelbench.video.frame_index import open_container, packets

if TYPE_CHECKING:
    from av.audio.codeccontext import AudioCodecContext
    from av.audio.stream import AudioStream

CLOCK = 90_000
"""Ticks per second of a clip's time line."""

_LONGEST_TICKS = 2**31 - 1

# One thread: x264 cuts pictures into a slice per thread, so by default the bytes depend on the
# machine's cores, and a store filled by a cluster would not be the one that a single machine fills.
# At this preset more threads gain nothing.
_ENCODER = {
    "preset": "ultrafast",
    "crf": "14",
    "g": "1",
    "bf": "0",
    "rc-lookahead": "0",
    "threads": "1",
}


class TimedPicture(NamedTuple):
    """A picture, and when it is shown, in ticks of the clock."""

    ticks: int
    picture: VideoFrame


def write_clip(
    path: Path, pictures: Iterable[VideoFrame], rate: float, sound: Path | None = None
) -> int:
    """Write prepared pictures as an mp4. Return their number.

    Args:
        path: The file to write.
        pictures: Pictures of one even size.
        rate: Frames per second.
        sound: An mp4 whose sound goes beside them, packet by packet (`copy_sound`).
    """
    lasts = max(1, min(round(CLOCK / rate), _LONGEST_TICKS))
    timed = (TimedPicture(number * lasts, picture) for number, picture in enumerate(pictures))
    return write_film(
        path,
        timed,
        Fraction(CLOCK, lasts),
        lambda _: lasts,
        sound,
        encoder=_ENCODER,
        options={"fflags": "+bitexact"},
    )


def write_film(
    path: Path,
    pictures: Iterable[TimedPicture],
    rate: Fraction | int,
    lasts: Callable[[int], int],
    sound: Path | None,
    *,
    encoder: Mapping[str, str],
    options: Mapping[str, str],
) -> int:
    """Write pictures as H.264 with the sound of an mp4, if any. Return their number.

    Args:
        path: The file to write.
        pictures: The pictures, with when each is shown.
        rate: Frames per second that the file claims.
        lasts: For how long a picture is shown, by when it is shown, in ticks of the clock.
        sound: The mp4 with the sound.
        encoder: Options of libx264.
        options: Options of the mp4.
    """
    count = 0
    with ExitStack() as files:
        container = files.enter_context(
            av.open(str(path), "w", format="mp4", options=dict(options))
        )
        stream: VideoStream | None = None
        write_sound: _SoundWriter | None = None

        def write(video: VideoStream, picture: VideoFrame | None) -> None:
            """Encode a picture, or what is left. Write it, and the sound up to it."""
            for packet in video.encode(picture):
                ticks = packet.pts or 0
                packet.duration = lasts(ticks)
                if write_sound is not None:
                    write_sound(ticks / CLOCK)
                container.mux(packet)

        for ticks, picture in pictures:
            if stream is None:
                stream = container.add_stream("libx264", rate=rate, options=dict(encoder))
                _set_up(stream, picture)
                if sound:
                    write_sound = files.enter_context(sound_writer(sound, container))
            picture.pts = ticks
            picture.time_base = Fraction(1, CLOCK)
            picture.pict_type = 0
            count += 1
            write(stream, picture)
        if stream is not None:
            write(stream, None)
        if write_sound is not None:
            write_sound(None)
    return count


def _set_up(stream: VideoStream, picture: VideoFrame) -> None:
    """Set a stream's size, clock and colours to those of its first picture."""
    stream.width = picture.width
    stream.height = picture.height
    stream.pix_fmt = "yuv420p"
    stream.time_base = Fraction(1, CLOCK)
    stream.codec_context.time_base = Fraction(1, CLOCK)
    stream.codec_context.colorspace = picture.colorspace
    stream.codec_context.color_range = picture.color_range


def repeat_last(source: Path, target: Path) -> None:
    """Write a clip again with its last frame shown once more.

    Nothing is encoded anew, and the sound stays.
    """
    with (
        av.open(str(source)) as old,
        av.open(str(target), "w", format="mp4", options={"fflags": "+bitexact"}) as new,
    ):
        # `opaque` takes the source's decoder along as it is; without it PyAV would open an encoder.
        pictures = new.add_stream_from_template(old.streams.video[0], opaque=True)
        sound: AudioStream | None = None
        if old.streams.audio:
            sound = new.add_stream_from_template(old.streams.audio[0])

        def copy(packet: av.Packet, *, repeats: int) -> None:
            """Write a packet like this one, later by some repeats of its own length."""
            lasts = packet.duration or 0
            ticks = (packet.pts or 0) + repeats * lasts
            twin = av.Packet(bytes(packet))
            twin.pts = ticks
            twin.dts = ticks
            twin.duration = lasts
            twin.time_base = packet.time_base
            twin.stream = pictures
            twin.is_keyframe = True
            new.mux(twin)

        last: av.Packet | None = None
        for packet in old.demux():
            if not packet.size:
                continue
            if sound is not None and packet.stream == old.streams.audio[0]:
                packet.stream = sound
                new.mux(packet)
                continue
            last = packet
            copy(packet, repeats=0)
        if last is not None:
            copy(last, repeats=1)


# --- the sound: the video's own packets, unchanged, on the clip's time line
# ----------------------------------------------------------------------------------------------


def copy_sound(video: Path, target: Path, *, start: Fraction, end: Fraction | None) -> str | None:
    """Copy the packets of a video's sound into an mp4.

    Of several, it is the sound that a player takes by default. Nothing is written where there is no
    packet to copy.

    Args:
        video: The video.
        target: The file to write.
        start: The clip's beginning on the file's own clock (s): the copy counts from there.
        end: With an end, only what sounds between the two is copied, and the packet before it,
            which AAC and MP3 need to decode the first. Without one, all there is.

    Returns:
        The reason why it can't be copied, or None.
    """
    packet_count = 0
    with open_container(video) as source:
        stream = cast("AudioStream | None", source.streams.best("audio"))
        # Whatever PyAV's types say, there may be no codec.
        if stream is None or cast("AudioCodecContext | None", stream.codec_context) is None:
            return "its codec is unknown"
        try:
            with av.open(str(target), "w", format="mp4", options={"fflags": "+bitexact"}) as copy:
                out = copy.add_stream_from_template(stream)
                for packet in packets(source, stream):
                    if end is not None and not _sounds_between(packet, start, end):
                        continue
                    shift = round(start / (packet.time_base or Fraction(1)))
                    packet.pts = None if packet.pts is None else packet.pts - shift
                    packet.dts = None if packet.dts is None else packet.dts - shift
                    packet.stream = out
                    copy.mux(packet)
                    packet_count += 1
        except (FFmpegError, ValueError) as error:
            target.unlink(missing_ok=True)
            return f"{stream.codec_context.name} can't be copied into an mp4 ({first_line(error)})"
    if not packet_count:
        target.unlink(missing_ok=True)
    return None


def _sounds_between(packet: av.Packet, start: Fraction, end: Fraction) -> bool:
    """Return True where a packet, or the one behind it, sounds between two times (s)."""
    tick = packet.time_base or Fraction(1)
    start_tick = int(start / tick)
    end_tick = int(end / tick)
    packet_tick = packet.dts if packet.pts is None else packet.pts
    if packet_tick is None:
        return False
    duration = packet.duration or 0
    end_of_next = packet_tick + 2 * duration
    return packet_tick < end_tick and end_of_next > start_tick


_SoundWriter = Callable[[float | None], None]
"""Writes sound up to a time (s), or all that is left."""


@contextmanager
def sound_writer(path: Path, clip: OutputContainer) -> Generator[_SoundWriter]:
    """Yield a function that writes an mp4's sound into a clip, packet by packet."""
    with av.open(str(path)) as source:
        stream = source.streams.audio[0]
        out = clip.add_stream_from_template(stream)
        remaining = packets(source, stream)
        following = next(remaining, None)

        def write_until(seconds: float | None) -> None:
            nonlocal following
            while following is not None:
                if seconds is not None and following.dts is not None:
                    tick = following.time_base or 1
                    packet_seconds = following.dts * tick
                    if packet_seconds > seconds:
                        return
                following.stream = out
                clip.mux(following)
                following = next(remaining, None)

        yield write_until
