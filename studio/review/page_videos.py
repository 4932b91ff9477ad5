"""A page's videos: where each lies as seen from the page, what its clock is, and a strip of its frames.

A page holds no path of the machine that made it: films lie beside it, come from an address that its maker names, or are
chosen by each reviewer from the own disk. Where a browser can't play a video, the page shows frames of it from our
store instead, each at its own time.

Small clips may travel with a page. Videos are their owners': clips are made only where the user says so, for the
reviewers alone, and never of a benchmark whose owners forbid it; the page says what may be done with them.
"""

import base64
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reelbench.registry.data.loading import is_mini
from reelbench.registry.errors import InputError, MediaError
from reelbench.registry.files import address
from reelbench.registry.media.library import Library, candidates
from reelbench.registry.progress import Bar, no_bar
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.studio.review.review_items import Place

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
    strip: list[tuple[str, float]] | None = None
    try:
        clock = read_clock(path)
        if strips or not clock.plays:
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
    except MediaError as error:
        note(str(error))
        return facts
    return {**facts, "fps": clock.fps, "duration": clock.duration, "strip": strip}


PAGE_BYTES = 18_000_000
"""Most bytes of clips in one page: as text they are a third more, and a mail of 25 MB still arrives nearly anywhere."""
MARGIN = 15.0
"""Seconds that a cut clip has before and behind what its questions are about."""
_CLIPS = "clips"


def terms(spec: BenchmarkSpec, split: str) -> str:
    """Return the terms of a page with clips; InputError where the benchmark's owners forbid passing on videos."""
    if not spec.open_data and not is_mini(split):
        raise InputError(
            f"--embed: clips of {spec.title} may not be passed on. {spec.license_note} Leave --embed out: on the page "
            "people choose their own copy of each video"
        )
    return (
        f"The clips of {spec.title} on this page belong to their owners. They are only for the page's reviewers. Give "
        "them to nobody, and delete them when you have sent your file."
    )


def window(places: Iterable[Place]) -> tuple[float, float | None]:
    """Return from when to when a video is needed, in seconds; None is its end.

    Where each question shows its time and asks for none, these times with `MARGIN` about them; else the whole video.
    """
    items = [item for place in places for item in place.items]
    shown = [[show["span"] for show in item["shows"] if show["type"] == "span"] for item in items]
    if not all(shown) or any(ask["type"] == "span" for item in items for ask in item["asks"]):
        return 0.0, None
    spans = [span for of_item in shown for span in of_item]
    return max(0.0, min(start for start, _ in spans) - MARGIN), max(end for _, end in spans) + MARGIN


@dataclass(frozen=True, slots=True)
class Excerpts:
    """Media key -> its written clip, called by a number; and what a page knows of it, but for the clip's address."""

    paths: Mapping[str, Path]
    facts: Mapping[str, Facts]

    def in_page(self, videos: Iterable[str]) -> tuple[dict[str, Facts], str]:
        """Return the page's facts on its videos, and its clips as elements of the page."""
        known: dict[str, Facts] = {}
        elements: list[str] = []
        for video in videos:
            path = self.paths.get(video)
            known[video] = {**self.facts[video], "source": f"clip:{path.stem}" if path else None}
            if path:
                text = base64.b64encode(path.read_bytes()).decode()
                elements.append(f'<script type="text/plain" id="clip-{path.stem}">{text}</script>')
        return known, "\n".join(elements)

    def in_folder(self, folder: Path) -> dict[str, Facts]:
        """Copy the clips into a page's folder and return what its page knows of them."""
        (folder / _CLIPS).mkdir(parents=True, exist_ok=True)
        for path in self.paths.values():
            shutil.copyfile(path, folder / _CLIPS / path.name)
        return {
            video: {**facts, "source": f"{_CLIPS}/{self.paths[video].name}" if video in self.paths else None}
            for video, facts in self.facts.items()
        }


def cut(
    parts: Sequence[Sequence[Place]],
    videos: Mapping[str, Path | None],
    folder: Path,
    *,
    most: int | None,
    note: Callable[[str], None],
    bar: Bar = no_bar,
) -> Excerpts:
    """Cut a clip of each video (media key -> file, None where it is not here) to what its questions need.

    `parts` are each rater's places, `folder` is empty, `note` is told what can't be read.

    Raises:
        InputError: The clips of one rater's page would hold more than `most` bytes (None: any number).
    """
    from reelbench.registry.frames.excerpt import write_excerpt

    held = [0] * len(parts)
    paths: dict[str, Path] = {}
    facts: dict[str, Facts] = {}
    with bar("cutting clips", len(videos)) as show:
        for number, (video, source) in enumerate(videos.items(), 1):
            facts[video] = NOT_HERE
            if source is not None:
                target = folder / f"{number}.mp4"
                start, end = window(place for places in parts for place in places if place.video == video)
                try:
                    made = write_excerpt(source, target, start, end)
                except MediaError as error:
                    note(str(error))
                else:
                    paths[video] = target
                    facts[video] = {**NOT_HERE, "fps": made.fps, "duration": made.end, "from": made.start}
                    for part, places in enumerate(parts):
                        held[part] += any(place.video == video for place in places) and target.stat().st_size
                    if most is not None and max(held) > most:
                        raise InputError(
                            f"--embed: after {number} of {len(videos)} videos the clips take {max(held) / 1e6:.0f} MB, "
                            f"more than the {most / 1e6:.0f} MB that a page to be mailed may hold; add --as folder (a "
                            "folder to zip), draw fewer videos (--sample), or share them among more people (--raters)"
                        )
            show(number, video)
    return Excerpts(paths, facts)
