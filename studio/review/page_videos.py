"""A page's videos: where each lies as seen from the page, what its clock is, and a strip of its frames.

A page holds no path of the machine that made it: films lie beside it, come from an address that its maker names, or are
chosen by each reviewer from the own disk. Where a browser can't play a video, the page shows frames of it from our
store instead, each at its own time.

Small clips may travel with a page. Videos are their owners': clips are made only where the user says so, for the
reviewers alone, and never of a benchmark whose owners forbid it; the page says what may be done with them.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reelbench.registry.errors import MediaError
from reelbench.registry.files import address
from reelbench.registry.media.library import Library, candidates
from reelbench.registry.rows import Row

Facts = Mapping[str, object]
"""What a page knows of a video."""

_PLAYED = frozenset({"h264", "vp8", "vp9", "av1"})
_PLAYED_IN = frozenset({".mp4", ".m4v", ".webm"})
NOT_HERE: Facts = {"source": None, "name": None, "fps": None, "duration": None, "strip": None}
"""What a page knows of a video that was not here when it was made."""
STRIP = "uniform:48,size=240,as=images"
"""Frames of a strip."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A video's frames per second, its length in seconds, and whether common browsers play it; None where unknown."""

    fps: float | None
    duration: float | None
    plays: bool


def find_video(library: Library, row: Row) -> Path | None:
    """Return the row's video as one file, or None where it is missing or can't be read."""
    try:
        return library.clip(row)
    except MediaError:
        return None


def read_clock(path: Path) -> Clock:
    """Read a video's clock from its header; MediaError where it is no video."""
    from reelbench.registry.frames.index import open_container, video_stream

    container = open_container(path)
    try:
        stream = video_stream(container, path)
        rate = stream.average_rate or stream.guessed_rate
        length = stream.duration * stream.time_base if stream.duration and stream.time_base else None
        if length is None and container.duration:
            length = container.duration / 1_000_000
        plays = stream.codec_context.name in _PLAYED and path.suffix.lower() in _PLAYED_IN
    finally:
        container.close()
    return Clock(float(rate) if rate else None, float(length) if length is not None else None, plays)


def path_in_library(library: Library, row: Row, path: Path | None) -> str:
    """Return a video's path below its benchmark's folder of videos; of a missing one the likeliest."""
    if path is None:
        return next(iter(candidates(library.spec, row["video"])), row["video"])
    root = next((root for root in library.roots if path.is_relative_to(root)), path.parent)
    return path.relative_to(root).as_posix()


def describe_video(
    path: Path | None, page: Path, source: str | None, *, strips: bool, note: Callable[[str], None]
) -> Facts:
    """Return the page's facts on a video (None: not here): `source`, `fps`, `duration`, `strip` of (source, seconds).

    `source` is its address where its maker names one, else it lies beside the page or has none. `strips` gives a strip,
    which lies beside the page, also to videos that browsers play; `note` is told what can't be read.
    """
    if path is None:
        return {**NOT_HERE, "source": source}
    beside = path.absolute().is_relative_to(page.absolute().parent)
    facts = {**NOT_HERE, "source": source or (address(path, page) if beside else None), "name": path.name}
    try:
        clock = read_clock(path)
        strip = _strip(path, page) if strips or not clock.plays else None
    except MediaError as error:
        note(str(error))
        return facts
    return {**facts, "fps": clock.fps, "duration": clock.duration, "strip": strip}


def _strip(path: Path, page: Path) -> list[tuple[str, float]]:
    from reelbench.registry.frames import take

    frames = take(path, STRIP)
    folder = page.parent / f"{page.stem}-frames" / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    strip = []
    for image, time in zip(frames.images, frames.timestamps, strict=True):
        # A copy: the store may drop its own at any time, and the page may be sent elsewhere with its folder.
        copy = folder / image.name
        shutil.copyfile(image, copy)
        strip.append((address(copy, page), round(time, 3)))
    return strip
