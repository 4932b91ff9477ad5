"""The frames of a video, written into an entry of the frame store."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.registry.sampling import FrameSampling, Timeline
from reelbench.video.stored_frames import Sound, StoredFrames

if TYPE_CHECKING:
    from reelbench.video.decoder import Frame, VideoFile

_LONGEST_SIDE = {"clip": 16_384, "images": 65_500}
"""Pixels a side that x264 and libjpeg (JPEG_MAX_DIMENSION) encode, by form."""


@dataclass(frozen=True, slots=True)
class CopiedSound:
    """The fate of a video's sound."""

    audio: Sound

    path: Path | None = None
    """The mp4 with the copy."""

    note: str | None = None
    """A line on why it was left out."""


def copy_video_sound(video: "VideoFile", sampling: FrameSampling, folder: Path) -> CopiedSound:
    """Copy a video's sound into a folder, where the sampling keeps it."""
    if not video.info.sound:
        return CopiedSound("none")
    if not sampling.keeps_sound:
        return CopiedSound("dropped")
    from reelbench.video.clip_writer import copy_sound

    copy = folder / "sound.mp4"
    start = video.info.first_frame_time
    end: Fraction | None = None
    if sampling.kind == "window":
        end = start + Fraction(sampling.end or 0)
        start += Fraction(sampling.start or 0)
    failure = copy_sound(video.path, copy, start=start, end=end)
    if failure is not None:
        return CopiedSound("dropped", note=f"the sound is left out: {failure}")
    if not copy.exists():
        return CopiedSound("none")
    return CopiedSound("kept", copy)


class EntryWriter:
    """Writes frames into an entry's folder, one at a time."""

    def __init__(self, folder: Path, key: str, sampling: FrameSampling, timeline: Timeline) -> None:
        self._folder = folder
        self._key = key
        self._sampling = sampling
        self._timeline = timeline
        self._timestamps: list[float] = []
        self._width = 0
        self._height = 0

    def write(
        self,
        frames: Iterable["Frame"],
        notes: tuple[str, ...] = (),
        sound: CopiedSound | None = None,
    ) -> StoredFrames:
        """Write the frames that the sampling picks.

        Args:
            frames: The frames, in order.
            notes: Lines on the video for the record.
            sound: The video's sound, whose copy goes into the clip.
        """
        import numpy as np

        sound = sound or CopiedSound("none")
        if sound.note:
            notes = (*notes, sound.note)
        if self._sampling.form == "clip":
            files = [self._write_clip(frames, sound)]
        else:
            files = self._write_pictures(frames)
        picked_count = len(self._sampling.pick(self._timeline))
        lost_count = picked_count - len(self._timestamps)
        if lost_count > 0:
            damage = f"damaged: {lost_count} of the {picked_count} frames picked can't be decoded"
            notes = (*notes, damage)
        stored = describe_frames(self._sampling, self._timeline, self._timestamps, files, notes)
        steps = np.diff(self._timeline.timestamps)
        step = float(np.median(steps)) if len(steps) else self._timeline.duration
        return replace(stored, width=self._width, height=self._height, audio=sound.audio, step=step)

    def _write_clip(self, frames: Iterable["Frame"], sound: CopiedSound) -> Path:
        from reelbench.video.clip_writer import write_clip

        path = self._folder / f"{self._key}.mp4"
        rate = self._sampling.rate(self._timeline, self._sampling.pick(self._timeline))
        pictures = (frame.picture for frame in self._note_frames(frames))
        write_clip(path, pictures, rate, sound.path)
        if sound.path is not None:
            sound.path.unlink()
        return path

    def _write_pictures(self, frames: Iterable["Frame"]) -> list[Path]:
        from PIL import Image

        paths: list[Path] = []
        for number, frame in enumerate(self._note_frames(frames)):
            path = self._folder / f"{number:05d}.jpg"
            Image.fromarray(frame.rgb).save(path, format="JPEG", quality=95, subsampling=0)
            paths.append(path)
        return paths

    def _note_frames(self, frames: Iterable["Frame"]) -> Iterator[Any]:
        """Yield the frames. Note the time and size of each."""
        longest = _LONGEST_SIDE[self._sampling.form]
        for frame in frames:
            self._timestamps.append(frame.timestamp)
            self._width = frame.picture.width
            self._height = frame.picture.height
            if max(self._width, self._height) > longest:
                raise ValueError(
                    f"{self._width} x {self._height} pixels, as={self._sampling.form} holds up to "
                    f"{longest} a side; give size="
                )
            yield frame


def describe_frames(
    sampling: FrameSampling,
    timeline: Timeline,
    timestamps: Sequence[float],
    files: Sequence[Path],
    notes: tuple[str, ...] = (),
) -> StoredFrames:
    """Return the record of frames, with what the sampling and the video say of them."""
    picked = sampling.pick(timeline)
    asked_count = sampling.frames_asked(timeline)
    if len(picked) < asked_count:
        short = f"short: {asked_count} frames asked for, the video has {len(picked)}"
        notes = (*notes, short)
    path: Path | None = None
    images: tuple[Path, ...] = ()
    if sampling.form == "clip":
        path = files[0]
    else:
        images = tuple(files)
    return StoredFrames(
        sampling=str(sampling),
        form=sampling.form,
        path=path,
        images=images,
        timestamps=tuple(round(seconds, 6) for seconds in timestamps),
        padding=0,
        asked=asked_count,
        given=len(timestamps),
        duration=round(timeline.duration, 6),
        rate=sampling.rate(timeline, picked),
        width=0,
        height=0,
        notes=notes,
        audio="none",
        step=0.0,
    )
