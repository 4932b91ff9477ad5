"""What any model is shown of a row's video: frames as a clip or as pictures, their times, sound and subtitles."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Self

from reelbench.base.attachment import Attachment
from reelbench.base.errors import ReelbenchError
from reelbench.base.languages import time_tag
from reelbench.registry.row_columns import CLIP, VIDEOS
from reelbench.registry.rows import Row, videos
from reelbench.registry.sampling import FrameSampling
from reelbench.video.stored_frames import Sound, StoredFrames, note_use
from reelbench.video.subtitles import Cue

if TYPE_CHECKING:
    from PIL.Image import Image

    from reelbench.registry.records import (
        Audio,
    )  # records take 50 ms to load, and a chain needs none
    from reelbench.video.library import Library


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown for one row: a `video`, `images`, or neither.

    `timestamps` are those of the frames (s), or None where the model samples by itself; the last
    `padding` of them are repeats. `problem` says why nothing can be shown. `audio` is what became
    of the video's sound; None where the video itself is handed over, and nobody knows whether its
    sound is listened to. `timed`: each picture goes with the time when it is on screen. `subtitles`
    are those of the frames' time; None where none are asked for. `told` are the times that a clip's
    readers make of its frames, where these are others than `timestamps`. `parts` are the numbers of
    pictures of each of several videos.
    """

    video: Path | None = None
    images: tuple[Path, ...] = ()
    timestamps: tuple[float, ...] | None = None
    padding: int = 0
    problem: str | None = None
    audio: Sound | None = None
    timed: bool = False
    subtitles: tuple[Cue, ...] | None = None
    told: tuple[float, ...] | None = None
    parts: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, stored: StoredFrames, *, timed: bool = False, subtitles: tuple[Cue, ...] | None = None
    ) -> Self:
        """Return an entry of the frame store as what is shown."""
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
    def lines(self) -> int | None:
        """How many lines of subtitles go before the question; None where none are asked for."""
        return None if self.subtitles is None else len(self.subtitles)

    def subtitle_text(self, language: str) -> str:
        """Return the subtitles as they stand before the question, a line each with its times; empty where none are."""
        lines = [
            f"{time_tag(language, cue.start, cue.end)} {cue.text}" for cue in self.subtitles or ()
        ]
        return "\n".join(["Subtitles:", *lines, "", ""]) if lines else ""

    def still_there(self) -> bool:
        """Whether its files are on the disk; where they are the frame store's, it is noted that they are in use."""
        first = self.video or next(iter(self.images), None)
        if first is not None:
            note_use(first.parent)
        return first is None or first.exists()

    @property
    def media(self) -> list[Attachment]:
        """The video or the pictures, by themselves."""
        files = (self.video,) if self.video is not None else self.images
        kind, otherwise = (
            ("video_url", "video/mp4") if self.video is not None else ("image_url", "image/jpeg")
        )
        return [Attachment(kind, guess_type(file.name)[0] or otherwise, file) for file in files]

    def attachments(self, language: str) -> list[str | Attachment]:
        """Return the parts before the question in a message: the video, or the pictures, each after its time.

        Of several videos each begins with its number.
        """
        if not self.timed and not self.parts:
            return [*self.media]
        begins = {
            at: f"Video {number}:"
            for number, at in enumerate(accumulate(self.parts[:-1], initial=0), 1)
        }
        pieces: list[str | Attachment] = []
        for at, picture in enumerate(self.media):
            pieces += [begins[at]] if self.parts and at in begins else []
            if self.timed and self.timestamps:
                pieces.append(time_tag(language, self.timestamps[at]))
            pieces.append(picture)
        return pieces

    def visuals(self) -> "list[str | Image]":
        """Return the visuals of a simple model: a path to a video, or opened pictures."""
        if self.video is not None:
            return [str(self.video)]
        from PIL import Image

        visuals: list[str | Image.Image] = []
        for path in self.images:
            with Image.open(path) as image:
                visuals.append(image.convert("RGB"))
        return visuals


def sound(sampling: FrameSampling, heard: Iterable[Sound | None]) -> "Audio":
    """Return the fate of the sound of all videos that were shown, as the record says it."""
    if sampling.kind in {"none", "native"}:
        return "none" if sampling.kind == "none" else "unknown"
    became = set(heard)
    telling_first: tuple[Audio, ...] = ("kept", "dropped", "none", "unknown")
    return next(what for what in telling_first if what in became or what == "unknown")


def show(library: "Library", row: Row, wanted: FrameSampling, *, even: bool = False) -> Shown:
    """Return a row's video as shown under a sampling; with `even`, a clip of an even number of frames.

    ReelbenchError where its video is not here, or can't be read.
    """
    if CLIP in library.spec.columns and wanted.kind != "none":
        wanted = wanted.within(*row[CLIP.name])
    if VIDEOS not in library.spec.columns or wanted.kind == "none":
        return _show_video(library, row, wanted, even=even)
    if wanted.kind == "native":
        raise ReelbenchError(
            "several videos are shown as pictures of each: name frames, such as --frames uniform:8"
        )
    each = [
        _show_video(library, {**row, "video": video}, wanted.as_images()) for video in videos(row)
    ]
    return replace(
        each[0],
        images=tuple(image for shown in each for image in shown.images),
        timestamps=tuple(at for shown in each for at in shown.timestamps or ()),
        subtitles=None
        if each[0].subtitles is None
        else tuple(cue for shown in each for cue in shown.subtitles or ()),
        parts=tuple(len(shown.images) for shown in each),
    )


def _show_video(
    library: "Library", row: Row, wanted: FrameSampling, *, even: bool = False
) -> Shown:
    cues = library.cues(row, wanted)
    said = None if cues is None else tuple(cues)
    if wanted.kind == "none":
        return Shown(timestamps=(), audio="none", subtitles=said)
    if wanted.kind == "native":
        video = library.clip(row)
        if video is None:
            raise ReelbenchError(f"the video {row['video']!r} is not here any more")
        return Shown(video=video, subtitles=said)
    stored = library.frames(row, wanted, even=even)
    if stored is None:
        raise ReelbenchError(f"the video {row['video']!r} is not here any more")
    if library.in_pictures:
        # The owners' own, which the store passes on as they are: an adapter would fail on a broken
        # one.
        from PIL import Image

        for path in stored.images:
            try:
                with Image.open(path) as image:
                    image.load()
            except OSError as error:
                raise ReelbenchError(
                    f"{path}: is not a picture that can be read ({error})"
                ) from None
    return Shown.of(stored, timed=wanted.times == "text", subtitles=said)
