"""A small mp4 of a video or of a part of it, for people to watch in a browser: few frames, small, with its sound.

Unlike a clip for models (`clip`) it is compressed as film: H.264 with a keyframe every two seconds,
which every browser plays and seeks in, some 25 kB a second. Each frame keeps the time that it has
in the video.
"""
# pyright: reportUnknownMemberType=false

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import av
from av.audio.resampler import AudioResampler
from av.error import FFmpegError

from reelbench.base.errors import MediaError, first_line
from reelbench.registry.sampling import FrameSampling
from reelbench.video.clip_writer import CLOCK, write_film
from reelbench.video.decoder import VideoFile
from reelbench.video.frame_index import open_container

if TYPE_CHECKING:
    from collections.abc import Iterator

    from av.audio.frame import AudioFrame

log = logging.getLogger("reelbench")

FPS = 12  # most frames a second
SIDE = 320  # most pixels of the short side
_PICTURE = {"preset": "medium", "crf": "31", "g": str(2 * FPS), "bf": "0", "threads": "1"}
_SOUND_RATE, _SOUND_BITS = 24_000, 32_000  # Hz, bits per second


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A written excerpt: from when to when in the video, in seconds, at how many frames a second."""

    start: float
    end: float
    fps: float


def write_excerpt(
    video: Path, target: Path, start: float = 0.0, end: float | None = None
) -> Excerpt:
    """Write a small mp4 of `video` from `start` to `end` seconds (None: to its end).

    Sound that can't be decoded is left out. MediaError where the video can't be decoded.
    """
    source = VideoFile(video)
    length = source.timeline.duration
    start, end = max(0.0, start), length if end is None else min(end, length)
    if (start, end) == (0.0, length):
        sampling = FrameSampling(kind="fps", fps=min(FPS, source.info.fps), size=SIDE)
    else:
        most = max(1, round((end - start) * min(FPS, source.info.fps)))
        sampling = FrameSampling(kind="window", start=start, end=end, frames=most, size=SIDE)
    sound = target.with_suffix(".sound.mp4")
    try:
        heard = source.info.sound and _write_sound(video, sound, start, end)
        # Each at its own time, and the last until the end; of a window, what is on screen first may
        # be a little older.
        frames = source.frames(sampling)
        timed = (
            (round(max(0.0, frame.timestamp - start) * CLOCK), frame.picture) for frame in frames
        )
        until, options = round((end - start) * CLOCK), {"movflags": "+faststart"}
        heard = sound if heard else None
        write_film(
            target,
            timed,
            FPS,
            lambda at: max(1, until - at),
            heard,
            encoder=_PICTURE,
            options=options,
        )
    finally:
        sound.unlink(missing_ok=True)
    return Excerpt(start, end, min(FPS, source.info.fps))


def _write_sound(video: Path, target: Path, start: float, end: float) -> bool:
    """Write what sounds between two times as one channel of AAC; return whether anything does."""
    written = False
    try:
        with open_container(video) as source, av.open(str(target), "w", format="mp4") as out:
            stream = source.streams.best("audio")
            pictures = source.streams.video[0]
            begins = float((pictures.start_time or 0) * (pictures.time_base or 1))
            copy = out.add_stream("aac", rate=_SOUND_RATE, layout="mono", bit_rate=_SOUND_BITS)
            resampler = AudioResampler(format="fltp", layout="mono", rate=_SOUND_RATE)
            for heard in cast("Iterator[AudioFrame]", source.decode(stream)):
                if heard.time is None or not start <= heard.time - begins < end:
                    continue
                heard.pts = round((heard.time - begins - start) / (heard.time_base or 1))
                for part in resampler.resample(heard):
                    out.mux(copy.encode(part))
                    written = True
            for part in resampler.resample(None):
                out.mux(copy.encode(part))
            out.mux(copy.encode(None))
    except (FFmpegError, ValueError, MediaError) as error:
        target.unlink(missing_ok=True)
        log.warning("%s: its sound is left out: %s", video, first_line(error))
        return False
    return written
