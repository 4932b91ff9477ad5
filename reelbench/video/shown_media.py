"""The media that any model is shown of a row's video.

These are frames as a clip or as pictures, their times, sound and subtitles.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from reelbench.base import bounds
from reelbench.base.attachment import Attachment
from reelbench.base.errors import ReelbenchError
from reelbench.base.languages import time_tag
from reelbench.base.picture_files import open_rgb
from reelbench.registry.row_columns import CLIP, PICTURES, VIDEOS
from reelbench.registry.rows import Row, videos
from reelbench.registry.sampling import FrameSampling
from reelbench.video import pictures_beside
from reelbench.video.row_frames import clip_of_row, frames_of_row
from reelbench.video.stored_frames import Sound, StoredFrames, note_use
from reelbench.video.subtitles import Cue

if TYPE_CHECKING:
    from PIL.Image import Image

    from reelbench.registry.records import Audio  # takes 50 ms to load, and a chain needs none
    from reelbench.video.library import Library


@dataclass(frozen=True, slots=True)
class Shown:
    """The media shown for one row: a `video`, `images`, or neither."""

    video: Path | None = None
    images: tuple[Path, ...] = ()

    timestamps: tuple[float, ...] | None = None
    """The times of the frames (s). None where the model samples by itself."""

    padding: int = 0
    """Number of frames at the end that are repeats."""

    problem: str | None = None
    """The reason why nothing can be shown."""

    audio: Sound | None = None
    """The fate of the video's sound.

    None where the video itself is handed over, and nobody knows whether its sound is listened to.
    """

    timed: bool = False
    """True where each picture goes with the time when it is on screen."""

    subtitles: tuple[Cue, ...] | None = None
    """Those of the frames' time. None where none are asked for."""

    told: tuple[float, ...] | None = None
    """The times that a clip's readers see, where they are others than `timestamps`."""

    parts: tuple[int, ...] = ()
    """The number of pictures of each of several videos."""

    extra_pictures: tuple[Path, ...] = ()
    """Pictures that are shown after the video."""

    @classmethod
    def of(
        cls, stored: StoredFrames, *, timed: bool = False, subtitles: tuple[Cue, ...] | None = None
    ) -> Self:
        """Return an entry of the frame store as shown media."""
        return cls(
            video=stored.path,
            images=stored.images,
            timestamps=stored.timestamps,
            padding=stored.padding,
            audio=stored.audio,
            timed=timed,
            subtitles=subtitles,
            told=stored.differing_clock_times,
        )

    @property
    def picture_count(self) -> int:
        """Number of frames and of pictures beside them. 0 where the model samples by itself."""
        return len(self.timestamps or ()) + len(self.extra_pictures)

    @property
    def lines(self) -> int | None:
        """Number of lines of subtitles before the question. None where none are asked for."""
        return None if self.subtitles is None else len(self.subtitles)

    def subtitle_text(self, language: str) -> str:
        """Return the subtitles as they stand before the question. Empty where there are none.

        Each is a line with its times.
        """
        if not self.subtitles:
            return ""
        lines = [f"{time_tag(language, cue.start, cue.end)} {cue.text}" for cue in self.subtitles]
        return "\n".join(["Subtitles:", *lines, "", ""])

    def files_exist(self) -> bool:
        """Return True where its files are on the disk.

        Where they are the frame store's, it is noted that they are in use.
        """
        if not all(picture.exists() for picture in self.extra_pictures):
            return False
        first = self.video or next(iter(self.images), None)
        if first is None:
            return True
        note_use(first.parent)
        return first.exists()

    @property
    def media(self) -> list[Attachment]:
        """The video or the pictures, by themselves."""
        if self.video is not None:
            return [_attachment_of("video_url", self.video, "video/mp4")]
        return [_attachment_of("image_url", image, "image/jpeg") for image in self.images]

    def _titles_by_index(self) -> dict[int, str]:
        """Return the place of a video's first picture -> its title, of several videos."""
        titles: dict[int, str] = {}
        if self.parts:
            first_indices = accumulate(self.parts[:-1], initial=0)
            for number, index in enumerate(first_indices, start=1):
                titles[index] = f"Video {number}:"
        return titles

    def attachments(self, language: str) -> list[str | Attachment]:
        """Return the parts before the question in a message.

        They are the video, or the pictures, each after its time. Of several videos each begins with
        its number, and so does each picture beside the video.
        """
        title_by_index = self._titles_by_index()
        message: list[str | Attachment] = []
        for index, picture in enumerate(self.media):
            if index in title_by_index:
                message.append(title_by_index[index])
            if self.timed and self.timestamps:
                message.append(time_tag(language, self.timestamps[index]))
            message.append(picture)
        for number, path in enumerate(self.extra_pictures, start=1):
            message.append(f"Picture {number}:")
            message.append(_attachment_of("image_url", path, "image/jpeg"))
        return message

    def visuals(self) -> "list[str | Image]":
        """Return the visuals of a simple model: a path to a video, or opened pictures."""
        if self.video is not None:
            return [str(self.video)]
        return [open_rgb(path) for path in (*self.images, *self.extra_pictures)]


def _attachment_of(
    kind: Literal["video_url", "image_url"], path: Path, default_type: str
) -> Attachment:
    return Attachment(kind, guess_type(path.name)[0] or default_type, path)


def sound(sampling: FrameSampling, sound_of_videos: Iterable[Sound | None]) -> "Audio":
    """Return the fate of the sound of all videos that were shown, for the record."""
    if sampling.kind == "none":
        return "none"
    if sampling.kind == "native":
        return "unknown"
    sounds = set(sound_of_videos)
    most_informative_first: tuple[Sound, ...] = ("kept", "dropped", "none")
    for sound_kept in most_informative_first:
        if sound_kept in sounds:
            return sound_kept
    return "unknown"


def show(library: "Library", row: Row, sampling: FrameSampling, *, even: bool = False) -> Shown:
    """Return a row's video as shown under a sampling.

    Args:
        library: Finds the video.
        row: The row.
        sampling: The frames to show.
        even: Give a clip an even number of frames.

    Raises:
        ReelbenchError: The video is not here, or can't be read.
    """
    clip = row.get(CLIP.name) if CLIP in library.spec.columns else None
    if clip and sampling.kind != "none":
        sampling = sampling.within(*clip)
    has_several_videos = VIDEOS in library.spec.columns
    has_pictures = PICTURES in library.spec.columns
    if sampling.kind == "none" or not (has_several_videos or has_pictures):
        return _show_video(library, row, sampling, even=even)
    if sampling.kind == "native":
        what = "a picture is shown after the pictures of the video"
        if has_several_videos:
            what = "several videos are shown as pictures of each"
        raise ReelbenchError(f"{what}: name frames, such as --frames uniform:8")
    sampling = sampling.as_images()
    if has_several_videos:
        shown_videos: list[Shown] = []
        for video in videos(row):
            row_of_video = {**row, "video": video}
            shown_videos.append(_show_video(library, row_of_video, sampling))
        media_of_row = _combine_videos(shown_videos)
    else:
        media_of_row = _show_video(library, row, sampling)
    return _with_pictures(library, row, media_of_row)


def _with_pictures(library: "Library", row: Row, videos_alone: Shown) -> Shown:
    """Add the pictures beside a row's video, each of which is opened first."""
    extra_pictures = library.pictures_beside(row)
    size = sum(path.stat().st_size for path in extra_pictures)
    bounds.hold("bytes of the pictures beside the video", size, bounds.FILE_BYTES)
    for path in extra_pictures:
        pictures_beside.check(path)
    return replace(videos_alone, extra_pictures=extra_pictures)


def _combine_videos(shown_videos: Sequence[Shown]) -> Shown:
    """Return the pictures of several videos as those of one."""
    images: list[Path] = []
    timestamps: list[float] = []
    cues: list[Cue] = []
    for video in shown_videos:
        images += video.images
        timestamps += video.timestamps or ()
        cues += video.subtitles or ()
    first = shown_videos[0]
    subtitles = None if first.subtitles is None else tuple(cues)
    return replace(
        first,
        images=tuple(images),
        timestamps=tuple(timestamps),
        subtitles=subtitles,
        parts=tuple(len(video.images) for video in shown_videos),
    )


def _show_video(
    library: "Library", row: Row, sampling: FrameSampling, *, even: bool = False
) -> Shown:
    cues = library.cues(row, sampling)
    subtitles = None if cues is None else tuple(cues)
    if sampling.kind == "none":
        return Shown(timestamps=(), audio="none", subtitles=subtitles)
    if sampling.kind == "native":
        video = clip_of_row(library, row)
        if video is None:
            raise _video_missing_error(row)
        return Shown(video=video, subtitles=subtitles)
    stored = frames_of_row(library, row, sampling, even=even)
    if stored is None:
        raise _video_missing_error(row)
    if library.in_pictures:
        for path in stored.images:  # the store passes the owners' own on as they are
            pictures_beside.check(path)
    return Shown.of(stored, timed=sampling.times == "text", subtitles=subtitles)


def _video_missing_error(row: Row) -> ReelbenchError:
    return ReelbenchError(f"the video {row['video']!r} is not here any more")
