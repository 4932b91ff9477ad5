"""`FrameStore`: frames decoded once per video and sampling, kept on disk for all questions, ranks, models and retries.

An entry is one folder, `<root>/<2 hex>/<key>/`, written aside and renamed, so it is whole or not
there: the clip `<key>.mp4` or the images `00000.jpg`, …, and `frames.json` with the frames' times.
The key is made of the video's content, the sampling and the encoder's version; the video's place,
name and time stamps don't matter. An entry of releases whose keys had the time stamp too is found
by that, as long as the file is the same.
"""

import hashlib
import itertools
import logging
import os
import secrets
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base import settings
from reelbench.base.errors import InputError, MediaError, ReelbenchError, first_line
from reelbench.base.files import written_aside
from reelbench.base.settings import home
from reelbench.registry.sampling import FrameSampling, Timeline
from reelbench.video import stored_frames as entries
from reelbench.video.stored_frames import Sound, StoredFrames

if TYPE_CHECKING:
    from reelbench.video.decoder import Frame, VideoFile

ENCODER_VERSIONS = {"clip": 2, "images": 1}
"""Part of every key, by form; raised when the same frames would be written differently."""

IN_USE_S = (
    3600.0  # an entry asked for within this time is never evicted: a model may be about to read it
)

logger = logging.getLogger(__name__)

_PROBED = 64 * 1024


@dataclass(frozen=True)
class StoreInfo:
    """What a store holds: entries, bytes on disk, and the bytes it is kept to."""

    root: Path
    entries: int
    size_bytes: int
    cap_bytes: int


class FrameStore:
    """Frames on disk under `root` (default `$REELBENCH_HOME/frames`), kept to `cap_bytes`.

    Threads, processes and ranks may share one folder: each video is decoded once per sampling, by
    whoever comes first, and the others wait. `time_limit` is that of `decoder.VideoFile`.
    """

    def __init__(
        self,
        root: Path | str | None = None,
        *,
        cap_bytes: int | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.root = Path(root) if root is not None else home() / "frames"
        if cap_bytes is None:
            text = settings.FRAMES_CAP_GB.get()
            try:
                cap = float(text)
            except ValueError:
                cap = -1.0
            if not 0 < cap < float("inf"):
                raise InputError(
                    f"{settings.FRAMES_CAP_GB.name}={text!r}: not a number of gigabytes above 0"
                )
            cap_bytes = int(cap * 1e9)
        self.cap_bytes = cap_bytes
        self._time_limit = time_limit
        self._failed: dict[str, MediaError] = {}
        self._guard = threading.Lock()
        self._written: int | None = None

    def get(
        self, video: Path | str, sampling: FrameSampling, *, even: bool = False
    ) -> StoredFrames:
        """Return a video's frames, decoded now or earlier.

        `even` repeats the last frame where their number is odd, as adapters built on qwen_vl_utils
        need. MediaError where the video can't be decoded; a store asked again in the same process
        then says so at once. ValueError for `none` and `native`, which decode nothing.
        """
        video, sampling = Path(video), sampling.decoded
        folders = self._folders(_fingerprints(video), sampling)

        def build(aside: Path) -> StoredFrames:
            from reelbench.video.decoder import VideoFile

            began = time.monotonic()
            opened = VideoFile(video, time_limit=self._time_limit)
            audio, note, sound = _copied_sound(opened, sampling, aside)
            notes = (*opened.info.notes, note) if note else opened.info.notes
            frames = opened.frames(sampling)
            key = folders[0].name
            stored = _write_frames(
                aside,
                sampling,
                opened.timeline,
                frames,
                key=key,
                notes=notes,
                audio=audio,
                sound=sound,
            )
            seconds = time.monotonic() - began
            logger.info(
                "decoded %s: %d frames (%s) in %.1f s", video, stored.given, sampling, seconds
            )
            return stored

        return self._entry(folders, even, video, build)

    def get_images(
        self,
        images: Sequence[Path | str],
        sampling: FrameSampling,
        timestamps: Sequence[float],
        *,
        even: bool = False,
    ) -> StoredFrames:
        """Return frames picked from a video that is there as pictures, shown at `timestamps` (seconds, rising).

        Every picture counts as a keyframe, and one by itself lasts a second. With `as=images` and
        no `size` these are the files given, and nothing is written. InputError where times and
        pictures don't fit together; MediaError where a picture can't be read.
        """
        import numpy as np

        sampling = sampling.decoded
        paths = tuple(Path(image) for image in images)
        if not paths:
            raise InputError("no pictures were given to take frames from")
        steps = [after - before for before, after in itertools.pairwise(timestamps)]
        if len(timestamps) != len(paths) or any(step <= 0 for step in steps):
            what = f"{len(paths)} pictures need as many rising timestamps, not {len(timestamps)}"
            raise InputError(f"{paths[0].parent}: {what}")
        array = np.array(timestamps, float) - timestamps[0]
        lasts = statistics.median(steps) if steps else 1.0
        timeline = Timeline(array, np.ones(len(paths), bool), float(array[-1]) + lasts)
        if sampling.decodes and sampling.form == "images" and sampling.size is None:
            # The files that they are.
            picked: list[int] = sampling.pick(timeline).tolist()
            shown_at = [float(timeline.timestamps[frame]) for frame in picked]
            stored = _describe_frames(
                sampling, timeline, shown_at, [paths[frame] for frame in picked]
            )
            return stored.padded() if even and len(picked) % 2 else stored
        marks = zip(*map(_fingerprints, paths), strict=True)
        joined = (
            "|".join(f"{mark}@{at:.6f}" for mark, at in zip(m, timeline.timestamps, strict=True))
            for m in marks
        )
        folders = self._folders(
            [hashlib.sha256(one.encode()).hexdigest() for one in joined], sampling
        )

        def build(aside: Path) -> StoredFrames:
            from reelbench.video.decoder import decode_pictures

            frames = decode_pictures(paths, timeline, sampling)
            return _write_frames(aside, sampling, timeline, frames, key=folders[0].name)

        return self._entry(folders, even, paths[0].parent, build)

    def info(self) -> StoreInfo:
        """Count what is in the store."""
        held = list(self._entries())
        return StoreInfo(self.root, len(held), sum(map(entries.size, held)), self.cap_bytes)

    def samplings(self) -> list[FrameSampling]:
        """Return the samplings that the store's entries were made with, each once; every entry's record is read."""
        records = filter(None, map(entries.read_record, self._entries()))
        parsed: list[FrameSampling] = []
        for text in dict.fromkeys(stored.sampling for stored in records):
            with suppress(InputError):
                parsed.append(FrameSampling.parse(text))
        return parsed

    def find_all(self, video: Path | str, samplings: Iterable[FrameSampling]) -> list[StoredFrames]:
        """Return the stored frames of a video under some samplings; MediaError where it can't be read."""
        return [
            stored
            for entry in self._entries(video, samplings)
            if (stored := entries.read(entry)) is not None
        ]

    def find(self, video: Path | str, sampling: FrameSampling) -> StoredFrames | None:
        """Return a video's frames where they are in the store already; MediaError where the video can't be read."""
        return next(
            filter(
                None, map(entries.read, self._folders(_fingerprints(Path(video)), sampling.decoded))
            ),
            None,
        )

    def clear(
        self, video: Path | str | None = None, samplings: Iterable[FrameSampling] = ()
    ) -> int:
        """Remove everything, or a video's entries under some samplings, in use or not; return how many went."""
        held = list(self._entries(video, samplings))
        for entry in held:
            self._remove(entry)
        return len(held)

    def _entry(
        self,
        folders: Sequence[Path],
        even: bool,
        source: Path,
        build: Callable[[Path], StoredFrames],
    ) -> StoredFrames:
        stored = next(filter(None, map(entries.read, folders)), None) or self._build_entry(
            folders[0], source, build
        )
        if not even or not len(stored.timestamps) % 2:
            return stored
        if stored.form == "images":
            return stored.padded()
        clip = stored.path
        assert clip is not None  # noqa: S101 - the form is `clip`
        twin = clip.parent.with_name(f"{clip.parent.name}-even")

        def with_repeat(aside: Path) -> StoredFrames:
            from reelbench.video.clip_writer import repeat_last

            repeat_last(clip, aside / f"{clip.stem}-even.mp4")
            return replace(stored.padded(), path=aside / f"{clip.stem}-even.mp4")

        return entries.read(twin) or self._build_entry(twin, source, with_repeat)

    def _folders(self, fingerprints: Iterable[str], sampling: FrameSampling) -> list[Path]:
        """Return where an entry may lie, by its key: as it is made now, and as earlier releases made it."""
        if not sampling.decodes:
            raise ValueError(f"{sampling} sampling decodes no frames, so there is nothing to store")
        # Hex only: lmms-eval takes any path with `mkv` or `webm` in it for such a file.
        marks = (
            f"{ENCODER_VERSIONS[sampling.form]}\n{fingerprint}\n{sampling}"
            for fingerprint in fingerprints
        )
        keys = (hashlib.sha256(mark.encode()).hexdigest()[:40] for mark in marks)
        return [self.root / key[:2] / key for key in keys]

    def _build_entry(
        self, folder: Path, source: Path, build: Callable[[Path], StoredFrames]
    ) -> StoredFrames:
        from filelock import FileLock

        key = folder.name
        locks = self.root / ".locks"
        try:
            locks.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReelbenchError(
                f"{locks}: can't be made ({error.strerror}); set REELBENCH_HOME"
            ) from None
        with FileLock(locks / f"{key}.lock"):
            stored = entries.read(folder)
            if stored is not None:
                return stored
            if key in self._failed:
                raise self._failed[key]
            # Whoever holds the lock is the only writer: what else lies there half-written is a
            # killed process's.
            for left in folder.parent.glob(f".{folder.name}.*.tmp"):
                shutil.rmtree(left, ignore_errors=True)
            if folder.exists():
                logger.warning("%s: the entry is damaged; its frames are made anew", folder)
                self._remove(folder)
            try:
                with written_aside(folder) as aside:
                    aside.mkdir()
                    entries.write(build(aside), aside)
            except MediaError as error:
                self._failed[key] = error
                raise
            except OSError as error:
                why = error.strerror or error
                raise ReelbenchError(
                    f"{self.root}: frames can't be stored ({why}); make room there"
                ) from None
            except Exception as error:
                # Whatever a film makes a library do is that film's failure: it never ends a run
                # over many.
                logger.debug("%s: can't be shown", source, exc_info=True)
                self._failed[key] = MediaError(
                    source, f"its frames can't be made ready ({first_line(error)})"
                )
                raise self._failed[key] from error
        stored = entries.read(folder)
        if stored is None:
            raise ReelbenchError(
                f"{folder}: frames were removed while they were being stored; is another clearing it?"
            )
        self._make_room(entries.size(folder))
        return stored

    def _entries(
        self, video: Path | str | None = None, samplings: Iterable[FrameSampling] = ()
    ) -> Iterator[Path]:
        """Return the folders of all entries, or of a video's under some samplings."""
        if video is None:
            return filter(Path.is_dir, self.root.glob("[0-9a-f][0-9a-f]/[0-9a-f]*"))
        marks = _fingerprints(Path(video))
        folders = (folder for sampling in samplings for folder in self._folders(marks, sampling))
        twins = (
            twin for folder in folders for twin in (folder, folder.with_name(f"{folder.name}-even"))
        )
        return filter(Path.is_dir, twins)

    def _make_room(self, written: int) -> None:
        # Sizing the whole store is dear with many entries: done at first, then after each hundredth
        # of the cap.
        with self._guard:
            if self._written is not None and self._written + written < self.cap_bytes / 100:
                self._written += written
                return
            self._written = 0
        held: list[tuple[float, int, Path]] = []
        for entry in self._entries():
            with suppress(OSError):
                record = entry / entries.RECORD
                used = (record if record.exists() else entry).stat().st_mtime
                held.append((used, entries.size(entry), entry))
        total = sum(size for _, size, _ in held)
        idle = time.time() - IN_USE_S
        for used, size, entry in sorted(held):
            if total <= self.cap_bytes or used > idle:
                break
            self._remove(entry)
            total -= size
        # What killed processes left half-written or half-removed.
        for left in (*self.root.glob("[0-9a-f][0-9a-f]/.*.tmp"), *self.root.glob(".gone-*")):
            with suppress(OSError):
                if left.stat().st_mtime < time.time() - 86_400:
                    shutil.rmtree(left, ignore_errors=True)

    def _remove(self, entry: Path) -> None:
        gone = self.root / f".gone-{entry.name}-{secrets.token_hex(4)}"
        with suppress(OSError):
            entry.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)


def _fingerprints(path: Path) -> tuple[str, str]:
    """Return a hash of a file's content, and the one that earlier releases took, which has its time stamp too.

    Content is its size, its head, middle and tail, and what stands at 31 places between.
    """
    try:
        if path.exists() and not path.is_file():
            raise MediaError(path, "is not a regular file")
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            content = hashlib.sha256(f"{stat.st_size}:".encode())
            dated = hashlib.sha256(f"{stat.st_size}:{stat.st_mtime_ns}:".encode())
            for offset in (0, stat.st_size // 2, max(0, stat.st_size - _PROBED)):
                file.seek(offset)
                read = file.read(_PROBED)
                content.update(read)
                dated.update(read)
            if stat.st_size > 3 * _PROBED:  # else that was all of it
                for place in range(1, 32):
                    file.seek(stat.st_size * place // 32)
                    content.update(file.read(_PROBED // 16))
    except OSError as error:
        raise MediaError(path, f"can't be read ({error.strerror})") from None
    return content.hexdigest(), dated.hexdigest()


_LONGEST = {
    "clip": 16_384,
    "images": 65_500,
}  # pixels a side that x264 and libjpeg (JPEG_MAX_DIMENSION) encode


def _write_frames(
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
    import numpy as np

    from reelbench.video.clip_writer import write_clip

    positions = sampling.pick(timeline)
    timestamps: list[float] = []
    size = (0, 0)
    files: list[Path] = []

    def noted() -> Iterator[Any]:
        nonlocal size
        for frame in frames:
            timestamps.append(frame.timestamp)
            size = (frame.picture.width, frame.picture.height)
            if max(size) > (longest := _LONGEST[sampling.form]):
                most = f"as={sampling.form} holds up to {longest} a side; give size="
                raise ValueError(f"{size[0]} x {size[1]} pixels, {most}")
            yield frame

    if sampling.form == "clip":
        files.append(aside / f"{key}.mp4")
        write_clip(
            files[0],
            (frame.picture for frame in noted()),
            sampling.rate(timeline, positions),
            sound,
        )
        if sound is not None:
            sound.unlink()
    else:
        from PIL import Image

        for number, frame in enumerate(noted()):
            files.append(aside / f"{number:05d}.jpg")
            Image.fromarray(frame.rgb).save(files[-1], format="JPEG", quality=95, subsampling=0)
    if (lost := len(positions) - len(timestamps)) > 0:
        notes = (*notes, f"damaged: {lost} of the {len(positions)} frames picked can't be decoded")
    stored = _describe_frames(sampling, timeline, timestamps, files, notes)
    steps = np.diff(timeline.timestamps)
    step = (
        float(np.median(steps)) if len(steps) else timeline.duration
    )  # as long as most frames are on screen
    return replace(stored, width=size[0], height=size[1], audio=audio, step=step)


def _describe_frames(
    sampling: FrameSampling,
    timeline: Timeline,
    timestamps: Sequence[float],
    files: Sequence[Path],
    notes: tuple[str, ...] = (),
) -> StoredFrames:
    """Return the frames that were given, at their times; what the sampling and the video say of them is filled in."""
    picked, asked = sampling.pick(timeline), sampling.frames_asked(timeline)
    short = f"short: {asked} frames asked for, the video has {len(picked)}"
    clip = sampling.form == "clip"
    return StoredFrames(
        sampling=str(sampling),
        form=sampling.form,
        path=files[0] if clip else None,
        images=() if clip else tuple(files),
        timestamps=tuple(round(at, 6) for at in timestamps),
        padding=0,
        asked=asked,
        given=len(timestamps),
        duration=round(timeline.duration, 6),
        rate=sampling.rate(timeline, picked),
        width=0,
        height=0,
        notes=(*notes, short) if len(picked) < asked else notes,
        audio="none",
    )


def _copied_sound(
    video: "VideoFile", sampling: FrameSampling, aside: Path
) -> tuple[Sound, str | None, Path | None]:
    """Copy a video's sound where it is wanted; return what became of it, what to note, and where it lies."""
    if not video.info.sound:
        return "none", None, None
    if not sampling.keeps_sound:
        return "dropped", None, None
    from reelbench.video.clip_writer import copy_sound

    copy, begins, end = aside / "sound.mp4", video.info.begins, None
    if sampling.kind == "window":
        end = begins + Fraction(sampling.end or 0)
        begins += Fraction(sampling.start or 0)
    why = copy_sound(video.path, copy, start=begins, end=end)
    if why is not None:
        return "dropped", f"the sound is left out: {why}", None
    return ("kept", None, copy) if copy.exists() else ("none", None, None)
