"""Show small pictures of the frames that models saw, from the frame store.

Pictures are shown where the store still has them, and where its times are those that the sample
records. Nothing is decoded from a video, so no picture is of a frame that the model did not see.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base.errors import ReelbenchError
from reelbench.base.picture_files import opened
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

_SAME_TIME = 1e-3  # seconds
_FOLDER = "frames"

NONE = "The model was shown no frames."
_WITHOUT_TIMES = {
    "native": "The model chose its own frames (native); which ones is not recorded.",
    "none": NONE,
    "unknown": "Which frames the model saw is not recorded.",
}
"""Notes on answers whose sampling does not tell their frames, by the kind of sampling."""

NOT_HERE = "The frames are no longer in this machine's frame store."
LOOKED = (
    "The model chose its frames one look at a time; "
    "their times are recorded, their pictures are not shown."
)
NO_VIDEO = (
    "The video wasn't found on this machine (REELBENCH_MEDIA names folders with videos), "
    "so its frames can't be shown."
)
NO_ROOM = "This page has reached its limit of pictures; those of this video are left out."


def note_without_times(frames: str) -> str:
    """Return a note on the frames of an answer without their times.

    `frames` is the sampling that the answer's record names.
    """
    kind, _, argument = frames.partition(",")[0].partition(":")
    if kind in _WITHOUT_TIMES:
        return _WITHOUT_TIMES[kind]
    sampling = frames
    if kind == "uniform":
        sampling = f"{argument} frames, evenly over the video ({frames})"
    elif kind == "fps":
        sampling = f"{argument} frames a second ({frames})"
    return f"Asked for: {sampling}. The times of the frames that the model saw are not recorded."


class _NoPicturesError(Exception):
    """There are no pictures. The message is a note for the page."""


class _SeenFrames(NamedTuple):
    """The frames that a model saw, as a result records them."""

    row: dict[str, Any]
    """The question's row, or its video alone."""
    times: tuple[float, ...] | None
    sampling: str
    media: str | None
    """The video's file, where it is recorded."""


class _PictureFiles(NamedTuple):
    """Frames as picture files, in order."""

    paths: Sequence[Path]

    def pictures(self, places: Sequence[int]) -> "Iterator[Image]":
        """Yield the small pictures at some places."""
        for place in places:
            yield _small_picture(self.paths[place])


class _ClipFrames(NamedTuple):
    """Frames in a clip, in order."""

    path: Path

    def pictures(self, places: Sequence[int]) -> "Iterator[Image]":
        """Yield the small pictures at some places."""
        from PIL import Image

        from reelbench.video.decoder import decode

        chosen_places = set(places)
        for place, frame in enumerate(decode(self.path, FrameSampling(kind="all", size=SIDE))):
            if place in chosen_places:
                yield Image.fromarray(frame.rgb)


@dataclass(slots=True)
class Strips:
    """The strips of a page, one for each video and list of frames.

    A strip of `all` has the `times` of its pictures in seconds, its `files` before the picture's
    number, and `of`, the number of all frames. `room` is the number of pictures that may still be
    written. `times` has each list of times of an answer's frames once, with its place. `unseen` has
    each reason why there is no strip, with its place.
    """

    library: Library
    folder: Path
    room: int
    all: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    times: dict[tuple[float, ...], int] = field(default_factory=dict[tuple[float, ...], int])
    unseen: dict[str, int] = field(default_factory=dict[str, int])
    _places: dict[tuple[Any, ...], dict[str, int]] = field(
        default_factory=dict[tuple[Any, ...], dict[str, int]]
    )
    _videos: dict[tuple[str, str | None], str | None] = field(
        default_factory=dict[tuple[str, str | None], str | None]
    )

    def frames(
        self, sample: Sample, frames: str, media: str | None, row: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return the strip of a sample's frames, or why there is none.

        Args:
            sample: The sample.
            frames: The sampling, as the result records it.
            media: The video's file, where a question beside the samples names it.
            row: The question's row, where it is on this machine.
        """
        all_times = sample.frame_timestamps
        seen_times = None
        place_of_times = None
        if all_times is not None:
            seen_times = tuple(all_times[: len(all_times) - sample.frame_padding])
            place_of_times = self.times.setdefault(tuple(all_times), len(self.times))
        key = (sample.video, frames, seen_times, media)
        if key not in self._places:
            known_row = dict(row or {"video": sample.video})
            seen_frames = _SeenFrames(known_row, seen_times, frames, media)
            self._places[key] = self._strip_or_reason(seen_frames)
        return {**self._places[key], "times": place_of_times}

    def _strip_or_reason(self, seen_frames: _SeenFrames) -> dict[str, int]:
        """Return the place of a new strip, or of the reason why there is none."""
        try:
            return {"strip": self._new_strip(seen_frames)}
        except _NoPicturesError as error:
            reason = str(error)
        except (ReelbenchError, OSError):
            reason = NOT_HERE
        return {"unseen": self.unseen.setdefault(reason, len(self.unseen))}

    def _new_strip(self, seen_frames: _SeenFrames) -> int:
        """Write the pictures of a strip, and return its place."""
        times = seen_frames.times
        if times is None:
            raise _NoPicturesError(note_without_times(seen_frames.sampling))
        if not times:
            raise _NoPicturesError(NONE)
        source = self._source(seen_frames, times)
        count = len(times)
        places = list(range(count))
        if count > A_STRIP:
            places = [round(i * (count - 1) / (A_STRIP - 1)) for i in range(A_STRIP)]
        if len(places) > self.room:
            raise _NoPicturesError(NO_ROOM)
        files = f"{_FOLDER}/{len(self.all)}/"
        (self.folder / files).mkdir(parents=True)
        for number, picture in enumerate(source.pictures(places)):
            picture.save(self.folder / files / f"{number}.jpg", quality=74)
        self.room -= len(places)
        shown_times = [round(times[place], 3) for place in places]
        self.all.append({"files": files, "times": shown_times, "of": count})
        return len(self.all) - 1

    def video(self, media: str | None, row: Mapping[str, Any]) -> str | None:
        """Return the address of a video's file. None where it isn't here."""
        key = (row["video"], media)
        if key not in self._videos:
            try:
                path = self._file(media, dict(row))
            except (ReelbenchError, OSError):
                path = None
            self._videos[key] = None if path is None else path.resolve().as_uri()
        return self._videos[key]

    def _file(self, media: str | None, row: dict[str, Any]) -> Path | None:
        """Return a video's file: the recorded one, or else the one of the row."""
        if self.library.in_pictures:
            return None
        path = None
        if media:
            path = self.library.find_named(media)
        return path or self.library.find(row)

    def _source(
        self, seen_frames: _SeenFrames, times: Sequence[float]
    ) -> _PictureFiles | _ClipFrames:
        """Return the source of the frames at these times."""
        if self.library.in_pictures:
            return self._folder_pictures(seen_frames.row, times)
        if seen_frames.sampling == AGENTIC:
            raise _NoPicturesError(LOOKED)
        video = self._file(seen_frames.media, seen_frames.row)
        if video is None:
            raise _NoPicturesError(NO_VIDEO)
        stored = _stored_frames(video, seen_frames.sampling, times)
        if stored is None:
            raise _NoPicturesError(NOT_HERE)
        if stored.path is None:
            return _PictureFiles(stored.images)
        return _ClipFrames(stored.path)

    def _folder_pictures(self, row: dict[str, Any], times: Sequence[float]) -> _PictureFiles:
        """Return the pictures of a video that lies in pictures."""
        folder = self.library.pictures(row)
        if folder is None:
            raise _NoPicturesError(NO_VIDEO)
        path_by_time = dict(zip(folder.timestamps, folder.paths, strict=True))
        paths = [path_by_time[time] for time in times if time in path_by_time]
        if len(paths) < len(times):
            raise _NoPicturesError(NOT_HERE)
        return _PictureFiles(paths)


def _stored_frames(video: Path, frames: str, times: Sequence[float]) -> "StoredFrames | None":
    """Return the frames of a video in the store, where their times are these."""
    recorded = FrameSampling.parse(frames)
    if not recorded.decodes:
        return None
    store = FrameStore()
    # An adapter that takes pictures alone got pictures, whatever the record's spec says.
    for sampling in (recorded, recorded.as_images(), replace(recorded, form="clip")):
        stored = store.find(video, sampling)
        if stored is not None and _same_times(stored.timestamps[: stored.given], times):
            return stored
    return None


def _same_times(first: Sequence[float], second: Sequence[float]) -> bool:
    if len(first) != len(second):
        return False
    return all(abs(a - b) < _SAME_TIME for a, b in zip(first, second, strict=True))


def _small_picture(path: Path) -> "Image":
    """Open a picture, no larger than pictures of a strip."""
    with opened(path) as image:
        size = image.size
        scale = SIDE / min(size)
        if scale < 1:
            size = (round(image.width * scale), round(image.height * scale))
        image.draft("RGB", size)
        return image.convert("RGB").resize(size)
