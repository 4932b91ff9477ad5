"""Writing one entry of a frame store: frames as they come become a clip or pictures, with the sound beside them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.registry.frames.sampling import FrameSampling, Timeline
from reelbench.registry.frames.stored import Sound, StoredFrames

if TYPE_CHECKING:
    from reelbench.registry.frames.decoder import Frame, VideoFile

_LONGEST = {"clip": 16_384, "images": 65_500}
"""Pixels a side that x264 and libjpeg (JPEG_MAX_DIMENSION) encode."""


def write_frames(
    aside: Path,
    sampling: FrameSampling,
    timeline: Timeline,
    frames: Iterable["Frame"],
    *,
    key: str,
    notes: tuple[str, ...] = (),
    audio: Sound = "none",
    sound: Path | None = None,
) -> StoredFrames:
    """Write frames into an entry's folder, one at a time; `sound` is an mp4 that goes into the clip."""
    from reelbench.registry.frames.clip import write_clip

    positions = sampling.pick(timeline)
    picked = len(positions)
    rate = sampling.rate(timeline, positions)
    timestamps: list[float] = []
    size = (0, 0)
    names: list[str] = []

    def noted() -> Iterator[Any]:
        nonlocal size
        for frame in frames:
            timestamps.append(frame.timestamp)
            size = (frame.picture.width, frame.picture.height)
            longest = _LONGEST[sampling.form]
            if max(size) > longest:
                raise ValueError(
                    f"{size[0]} x {size[1]} pixels, as={sampling.form} holds up to {longest} a side; give size="
                )
            yield frame

    if sampling.form == "clip":
        names.append(f"{key}.mp4")
        write_clip(aside / names[0], (frame.picture for frame in noted()), rate, sound)
        if sound is not None:
            sound.unlink()
    else:
        from PIL import Image

        for number, frame in enumerate(noted()):
            names.append(f"{number:05d}.jpg")
            Image.fromarray(frame.rgb).save(aside / names[-1], format="JPEG", quality=95, subsampling=0)
    if len(timestamps) < picked:
        notes = (*notes, f"damaged: {picked - len(timestamps)} of the {picked} frames picked can't be decoded")
    asked = sampling.asked(timeline)
    if picked < asked:
        notes = (*notes, f"short: {asked} frames asked for, the video has {picked}")
    files = tuple(aside / name for name in names)
    return StoredFrames(
        sampling=str(sampling),
        form=sampling.form,
        path=files[0] if sampling.form == "clip" else None,
        images=() if sampling.form == "clip" else files,
        timestamps=tuple(round(at, 6) for at in timestamps),
        padding=0,
        asked=asked,
        given=len(timestamps),
        duration=round(timeline.duration, 6),
        rate=rate,
        width=size[0],
        height=size[1],
        notes=notes,
        audio=audio,
        step=timeline.step,
    )


def copied_sound(video: "VideoFile", sampling: FrameSampling, aside: Path) -> tuple[Sound, str | None, Path | None]:
    """Copy a video's sound where it is wanted; return what became of it, what to note, and where it lies."""
    if not video.info.sound:
        return "none", None, None
    if not sampling.keeps_sound:
        return "dropped", None, None
    copy = aside / "sound.mp4"
    why = video.copy_sound(sampling, copy)
    if why is not None:
        return "dropped", f"the sound is left out: {why}", None
    return ("kept", None, copy) if copy.exists() else ("none", None, None)


def write_with_repeat(stored: StoredFrames, folder: Path) -> StoredFrames:
    """Write an entry's clip once more, with its last frame twice."""
    from reelbench.registry.frames.clip import repeat_last

    assert stored.path is not None  # noqa: S101 - the form is `clip`
    target = folder / f"{stored.path.stem}-even.mp4"
    repeat_last(stored.path, target)
    return replace(stored.padded(), path=target)


def originals(paths: tuple[Path, ...], sampling: FrameSampling, timeline: Timeline, even: bool) -> StoredFrames:
    """Return the frames picked among pictures as the files that they are."""
    positions = sampling.pick(timeline)
    picked: list[int] = positions.tolist()
    asked = sampling.asked(timeline)
    stored = StoredFrames(
        sampling=str(sampling),
        form="images",
        path=None,
        images=tuple(paths[frame] for frame in picked),
        timestamps=tuple(round(float(timeline.timestamps[frame]), 6) for frame in picked),
        padding=0,
        asked=asked,
        given=len(picked),
        duration=round(timeline.duration, 6),
        rate=sampling.rate(timeline, positions),
        width=0,
        height=0,
        notes=(f"short: {asked} frames asked for, the video has {len(picked)}",) if len(picked) < asked else (),
        audio="none",
    )
    return stored.padded() if even and len(picked) % 2 else stored
