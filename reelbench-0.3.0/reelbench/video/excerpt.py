"""A small mp4 of a video or of a part of it, for people to watch in a browser.

It has few and small frames, and its sound. Unlike a clip for models (`clip_writer`) it is
compressed as film: H.264 with a keyframe every two seconds, which every browser plays and seeks in,
some 25 kB a second. Each frame keeps the time that it has in the video.
"""
# pyright: reportUnknownMemberType=false

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import av
from av.audio.resampler import AudioResampler
from av.error import FFmpegError

from reelbench.base.errors import MediaError, first_line
from reelbench.registry.sampling import FrameSampling
from reelbench.video.clip_writer import CLOCK, TimedPicture, write_film
from reelbench.video.decoder import Frame, VideoFile
from reelbench.video.frame_index import open_container, video_stream

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame

log = logging.getLogger("reelbench")

FPS = 12
"""Most frames a second."""

SIDE = 320
"""Most pixels of the short side."""

_ENCODER = {"preset": "medium", "crf": "31", "g": str(2 * FPS), "bf": "0", "threads": "1"}
_SOUND_RATE = 24_000  # Hz
_SOUND_BITS = 32_000  # a second


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A written excerpt: its window of the video, in seconds, and its frames a second."""

    start: float
    end: float
    fps: float


def write_excerpt(
    video: Path, target: Path, start: float = 0.0, end: float | None = None
) -> Excerpt:
    """Write a small mp4 of a part of a video.

    Sound that can't be decoded is left out.

    Args:
        video: The video.
        target: The file to write.
        start: Seconds from the video's first frame.
        end: Likewise. None for the video's end.

    Raises:
        MediaError: The video can't be decoded.
    """
    source = VideoFile(video)
    length = source.timeline.duration
    start = max(0.0, start)
    end = length if end is None else min(end, length)
    fps = min(FPS, source.info.fps)
    if (start, end) == (0.0, length):
        sampling = FrameSampling(kind="fps", fps=fps, size=SIDE)
    else:
        count = max(1, round((end - start) * fps))
        sampling = FrameSampling(kind="window", start=start, end=end, frames=count, size=SIDE)
    sound = target.with_suffix(".sound.mp4")
    try:
        clip_sound: Path | None = None
        if source.info.sound and _write_sound(video, sound, start, end):
            clip_sound = sound
        # The last is on screen until the end.
        last_tick = round((end - start) * CLOCK)
        write_film(
            target,
            _timed_from_start(source.frames(sampling), start),
            FPS,
            lambda ticks: max(1, last_tick - ticks),
            clip_sound,
            encoder=_ENCODER,
            options={"movflags": "+faststart"},
        )
    finally:
        sound.unlink(missing_ok=True)
    return Excerpt(start, end, fps)


def _timed_from_start(frames: Iterable[Frame], start: float) -> Iterator[TimedPicture]:
    """Yield the pictures with their times from the start of a window, in ticks.

    The first on screen may be a little older than the window.
    """
    for frame in frames:
        seconds = max(0.0, frame.timestamp - start)
        yield TimedPicture(round(seconds * CLOCK), frame.picture)


def _write_sound(video: Path, target: Path, start: float, end: float) -> bool:
    """Write a window's sound as one channel of AAC. Return True for any."""
    is_written = False
    try:
        with open_container(video) as source, av.open(str(target), "w", format="mp4") as out:
            stream = source.streams.best("audio")
            pictures = video_stream(source, video)
            start_ticks = pictures.start_time or 0
            tick = pictures.time_base or 1
            video_start = float(start_ticks * tick)
            copy = out.add_stream("aac", rate=_SOUND_RATE, layout="mono", bit_rate=_SOUND_BITS)
            resampler = AudioResampler(format="fltp", layout="mono", rate=_SOUND_RATE)
            for frame in cast("Iterator[AudioFrame]", source.decode(stream)):
                if frame.time is None:
                    continue
                seconds = frame.time - video_start
                if not start <= seconds < end:
                    continue
                frame.pts = round((seconds - start) / (frame.time_base or 1))
                for part in resampler.resample(frame):
                    out.mux(copy.encode(part))
                    is_written = True
            for part in resampler.resample(None):
                out.mux(copy.encode(part))
            out.mux(copy.encode(None))
    except (FFmpegError, ValueError, MediaError) as error:
        target.unlink(missing_ok=True)
        log.warning("%s: its sound is left out: %s", video, first_line(error))
        return False
    return is_written
