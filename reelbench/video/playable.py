"""Whether a file on disk is a whole, playable video."""

from fractions import Fraction
from pathlib import Path
from typing import Any

_SLACK_S = Fraction(1)
_SLACK = Fraction(2, 100)
"""A stated length may be longer than the picture (the sound goes on): by 1 second, or 2 percent."""


def defect(path: Path) -> str | None:
    """Return the reason for which a file is no usable video, or None where it is one.

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
            return "cut off: its end is not there" if _is_cut_off(container, stream) else None
    except MediaError as error:
        return error.reason
    except (FFmpegError, OSError, ValueError, MemoryError) as error:
        return f"can't be read ({first_line(error)})"


def seconds(path: Path) -> float | None:
    """Return the length that a playable file states; None where it states none."""
    from reelbench.video.frame_index import open_container, video_stream

    with open_container(path) as container:
        length = _length(container, video_stream(container, path))
        return None if length is None else float(length)


def _length(container: Any, stream: Any) -> Fraction | None:  # noqa: ANN401 - PyAV's classes, imported lazily
    import av

    # Matroska and WebM state a length for the container only.
    if stream.time_base and stream.duration:
        return stream.duration * stream.time_base
    return (
        Fraction(container.duration, av.time_base)
        if stream.time_base and container.duration
        else None
    )


def _is_cut_off(container: Any, stream: Any) -> bool:  # noqa: ANN401 - PyAV's classes, imported lazily
    length, base, start = _length(container, stream), stream.time_base, stream.start_time or 0
    if length is None:
        return False
    slack = max(_SLACK_S, _SLACK * length)
    container.seek(start + int(max(0, length - slack) / base), stream=stream)
    last = None
    for packet in container.demux(stream):
        if packet.is_corrupt:
            return True
        if packet.pts is not None:
            last = max(packet.pts + (packet.duration or 0), packet.pts if last is None else last)
    return last is None or (last - start) * base < length - slack
