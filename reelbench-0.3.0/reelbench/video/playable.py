"""The test whether a file is a whole, playable video."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

_SLACK_S = Fraction(1)
_SLACK = Fraction(2, 100)
"""A file's length may be longer than the picture (the sound goes on): by 1 second, or 2 percent."""


def defect(path: Path) -> str | None:
    """Return the reason why a file is no usable video, or None.

    It is opened, its first frame is decoded, and its last packets are read: a file that was cut off
    may open like a whole one, because its index can stand at the front.
    """
    from av.error import FFmpegError

    from reelbench.base.errors import MediaError, first_line
    from reelbench.video.frame_index import open_container, video_stream

    if path.stat().st_size == 0:
        return "the file is empty"
    try:
        with open_container(path) as container:
            stream = video_stream(container, path)
            if next(container.decode(stream), None) is None:
                return "no frame can be decoded"
            if _is_cut_off(container, stream):
                return "cut off: its end is not there"
    except MediaError as error:
        return error.reason
    except (FFmpegError, OSError, ValueError, MemoryError) as error:
        return f"can't be read ({first_line(error)})"
    return None


def seconds(path: Path) -> float | None:
    """Return the length that a playable file states. None where it states none."""
    from reelbench.video.frame_index import open_container, video_stream

    with open_container(path) as container:
        length = _stream_length(container, video_stream(container, path))
        return None if length is None else float(length)


def _stream_length(container: "InputContainer", stream: "VideoStream") -> Fraction | None:
    import av

    if not stream.time_base:
        return None
    if stream.duration:
        return stream.duration * stream.time_base
    # Matroska and WebM state a length for the container only.
    if container.duration:
        return Fraction(container.duration, av.time_base)
    return None


def _is_cut_off(container: "InputContainer", stream: "VideoStream") -> bool:
    """Return True where the packets end well before the length that a file states."""
    length = _stream_length(container, stream)
    if length is None:
        return False
    tick = stream.time_base or Fraction(1)
    start = stream.start_time or 0
    whole_until = length - max(_SLACK_S, _SLACK * length)
    container.seek(start + int(max(0, whole_until) / tick), stream=stream)
    last_end: int | None = None
    for packet in container.demux(stream):
        if packet.is_corrupt:
            return True
        if packet.pts is not None:
            packet_end = packet.pts + (packet.duration or 0)
            if last_end is None or packet_end > last_end:
                last_end = packet_end
    if last_end is None:
        return True
    return (last_end - start) * tick < whole_until
