"""Small pictures of the frames that models saw, taken from the frame store and laid beside the page.

Only what the store still has is shown, and only where its times are those that the sample records:
nothing is decoded from a video, so no picture is of a frame that the model did not see.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.registry.records import Sample
from reelbench.registry.sampling import FrameSampling
from reelbench.video.frame_store import FrameStore
from reelbench.video.library import Library
from reelbench.video.look_log import AGENTIC

if TYPE_CHECKING:
    from PIL.Image import Image

    from reelbench.video.stored_frames import StoredFrames

SIDE = 144
"""Short side of a picture, in pixels."""

A_STRIP = 48
"""Pictures of one video at most, evenly over its frames."""

_SAME_TIME = 1e-3
_FOLDER = "frames"

NONE = "The model was shown no frames."
_WITHOUT_TIMES = {
    "native": "The model took frames by itself (native); which ones is not recorded.",
    "none": NONE,
    "unknown": "Which frames the model saw is not recorded.",
}
"""Way of sampling -> the note on an answer whose frames it doesn't tell."""

NOT_HERE = "The frames are no longer in the store of frames on this machine."
LOOKED = "The model chose its frames look by look; their times are recorded, their pictures are not shown."
NO_VIDEO = "The video wasn't found on this machine (REELBENCH_MEDIA names folders with videos), so its frames can't be shown."
NO_ROOM = (
    "This page holds as many pictures as were asked for; those of this video are not among them."
)


def note_without_times(frames: str) -> str:
    """Return a note on the frames of an answer without their times, from the sampling that its record names."""
    kind, _, argument = frames.partition(",")[0].partition(":")
    if kind in _WITHOUT_TIMES:
        return _WITHOUT_TIMES[kind]
    ways = {
        "uniform": f"{argument} frames, evenly over the video",
        "fps": f"{argument} frames a second",
    }
    known = f"{ways[kind]} ({frames})" if kind in ways else frames
    return f"Asked for: {known}. The times of the frames that the model saw are not recorded."


@dataclass(slots=True)
class Strips:
    """The strips of a page, one for each video and list of frames.

    A strip of `all` has the `times` of its pictures (s), its `files` before the picture's number,
    and `of` how many frames they are; `left` pictures may still be written. Each list of `times` of
    all frames of an answer (s) is there once, with its place, as is each reason why there is no
    strip (`unseen`).
    """

    library: Library
    folder: Path
    left: int
    all: list[dict[str, Any]] = field(default_factory=list)
    times: dict[tuple[float, ...], int] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)
    _known: dict[tuple[Any, ...], dict[str, int | None]] = field(default_factory=dict)
    _videos: dict[tuple[str, str | None], str | None] = field(default_factory=dict)

    def frames(
        self, sample: Sample, frames: str, media: str | None, row: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return what a page says of the frames that a sample's model saw: their strip, or why there is none.

        `frames` is the sampling, as the result records it; `media` the video's file, where a
        question beside the samples names it; `row` the question's row, where it is here.
        """
        times = sample.frame_timestamps
        seen = None if times is None else tuple(times[: len(times) - sample.frame_padding])
        key = (sample.video, frames, seen, media)
        if key not in self._known:
            try:
                strip = self._strip(dict(row or {"video": sample.video}), seen, frames, media)
            except (ReelbenchError, OSError):
                strip = NOT_HERE
            if isinstance(strip, str):
                self._known[key] = {"unseen": self.unseen.setdefault(strip, len(self.unseen))}
            else:
                self._known[key] = {"strip": strip}
        place = None if times is None else self.times.setdefault(tuple(times), len(self.times))
        return self._known[key] | {"times": place}

    def _strip(
        self, row: dict[str, Any], times: Sequence[float] | None, frames: str, media: str | None
    ) -> int | str:
        if not times:
            return note_without_times(frames) if times is None else NONE
        pictures = self._pictures_or_reason(row, times, frames, media)
        if isinstance(pictures, str):
            return pictures
        n = len(times)
        chosen = (
            [round(i * (n - 1) / (A_STRIP - 1)) for i in range(A_STRIP)]
            if n > A_STRIP
            else range(n)
        )
        if len(chosen) > self.left:
            return NO_ROOM
        files = f"{_FOLDER}/{len(self.all)}/"
        (self.folder / files).mkdir(parents=True)
        for number, picture in enumerate(pictures(chosen)):
            picture.save(self.folder / files / f"{number}.jpg", quality=74)
        self.left -= len(chosen)
        self.all.append({"files": files, "times": [round(times[i], 3) for i in chosen], "of": n})
        return len(self.all) - 1

    def video(self, media: str | None, row: Mapping[str, Any]) -> str | None:
        """Return the address of a video's file, or None where the video is not on this machine."""
        key = (row["video"], media)
        if key not in self._videos:
            try:
                path = self._file(media, dict(row))
            except (ReelbenchError, OSError):
                path = None
            self._videos[key] = None if path is None else path.resolve().as_uri()
        return self._videos[key]

    def _file(self, media: str | None, row: dict[str, Any]) -> Path | None:
        if self.library.in_pictures:
            return None
        return (self.library.find_named(media) if media else None) or self.library.find(row)

    def _pictures_or_reason(
        self, row: dict[str, Any], times: Sequence[float], frames: str, media: str | None
    ) -> "Callable[[Sequence[int]], Iterator[Image]] | str":
        if self.library.in_pictures:
            here = self.library.pictures(row)
            if here is None:
                return NO_VIDEO
            by_time = dict(zip(here.timestamps, here.paths, strict=True))
            paths = [by_time[time] for time in times if time in by_time]
            return (
                NOT_HERE
                if len(paths) < len(times)
                else lambda chosen: (_opened(paths[i]) for i in chosen)
            )
        if frames == AGENTIC:
            return LOOKED
        if (video := self._file(media, row)) is None:
            return NO_VIDEO
        stored = _kept(video, frames, times)
        return NOT_HERE if stored is None else lambda chosen: _pictures(stored, chosen)


def _kept(video: Path, frames: str, times: Sequence[float]) -> "StoredFrames | None":
    wanted = FrameSampling.parse(frames)
    if not wanted.decodes:
        return None
    store = FrameStore()
    # An adapter that takes pictures alone got pictures, whatever the record's spec says.
    for sampling in (wanted, wanted.as_images(), replace(wanted, form="clip")):
        stored = store.find(video, sampling)
        there = stored.timestamps[: stored.given] if stored is not None else ()
        if len(there) == len(times) and all(
            abs(a - b) < _SAME_TIME for a, b in zip(there, times, strict=True)
        ):
            return stored
    return None


def _pictures(stored: "StoredFrames", chosen: Sequence[int]) -> "Iterator[Image]":
    if stored.path is None:
        yield from (_opened(stored.images[i]) for i in chosen)
        return
    from PIL import Image

    from reelbench.video.decoder import decode

    wanted = set(chosen)
    for number, frame in enumerate(decode(stored.path, FrameSampling(kind="all", size=SIDE))):
        if number in wanted:
            yield Image.fromarray(frame.rgb)


def _opened(path: Path) -> "Image":
    from PIL import Image

    with Image.open(path) as image:
        scale = SIDE / min(image.size)
        size = (
            (round(image.width * scale), round(image.height * scale)) if scale < 1 else image.size
        )
        image.draft("RGB", size)
        return image.convert("RGB").resize(size)
