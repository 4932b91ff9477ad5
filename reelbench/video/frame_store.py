"""`FrameStore`: frames decoded once per video and sampling, and kept on disk.

All questions, ranks, models and retries share them. An entry is one folder,
`<root>/<2 hex>/<key>/`, written aside and renamed, so it is whole or not there: the clip
`<key>.mp4` or the images `00000.jpg`, …, and `frames.json` with the frames' times. The key is made
of the video's whole content, the sampling and the encoder's version. The video's place, name and
time stamps don't matter. Behind a store may stand another that several machines share
(`shared_frames`): what one of them has decoded, the others fetch.
"""

import hashlib
import itertools
import logging
import secrets
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from reelbench.base import settings
from reelbench.base.errors import InputError, MediaError, ReelbenchError, first_line
from reelbench.base.files import written_aside
from reelbench.base.settings import home
from reelbench.registry.sampling import FrameSampling, Timeline
from reelbench.video import stored_frames as entries
from reelbench.video.content_hash import content_sha256
from reelbench.video.entry_writer import EntryWriter, copy_video_sound, describe_frames
from reelbench.video.shared_frames import SharedFrames
from reelbench.video.stored_frames import StoredFrames

ENCODER_VERSIONS = {"clip": 2, "images": 1}
"""Part of every key, by form. Raised when the same frames would be written differently."""

IN_USE_S = 3600.0
"""An entry used within this time is never evicted: a model may be about to read it."""

logger = logging.getLogger(__name__)

_DAY_S = 86_400

_Build = Callable[[Path], StoredFrames]
"""Writes an entry's files into a folder, and returns their record."""


@dataclass(frozen=True)
class StoreInfo:
    """A store's entries, its bytes on disk, and the most it may have."""

    root: Path
    entries: int
    size_bytes: int
    cap_bytes: int


class _EntryUse(NamedTuple):
    """An entry's last use, as seconds since 1970, and its bytes."""

    last_use: float
    size: int
    folder: Path


class FrameStore:
    """Frames on disk, in a folder that threads, processes and ranks may share.

    Each video is decoded once per sampling, by whoever comes first, and the others wait.
    """

    def __init__(
        self,
        root: Path | str | None = None,
        *,
        cap_bytes: int | None = None,
        time_limit: float | None = None,
        shared: str | None = None,
    ) -> None:
        """Open a store.

        Args:
            root: The folder, by default `$REELBENCH_HOME/frames`.
            cap_bytes: The bytes that it is kept to, by default those of the setting.
            time_limit: As in `decoder.VideoFile`.
            shared: The address of the store behind it, by default that of the setting. None is
                behind it where both are empty.

        Raises:
            InputError: The cap or the address is none.
        """
        self.root = home() / "frames" if root is None else Path(root)
        self.cap_bytes = _cap_of_settings() if cap_bytes is None else cap_bytes
        self.shared_address = settings.FRAMES_STORE.get() if shared is None else shared
        self._shared: SharedFrames | None = None
        if self.shared_address:
            self._shared = SharedFrames(self.shared_address, self.cap_bytes)
        self._time_limit = time_limit
        self._failures: dict[str, MediaError] = {}
        self._count_lock = threading.Lock()
        self._bytes_since_count: int | None = None
        """Bytes written since the store was sized. None before that."""

    def get(
        self, video: Path | str, sampling: FrameSampling, *, even: bool = False
    ) -> StoredFrames:
        """Return a video's frames, decoded now or earlier.

        Args:
            video: The file.
            sampling: The frames to take.
            even: Repeat the last frame where their number is odd, as adapters built on
                qwen_vl_utils need.

        Raises:
            MediaError: The video can't be decoded. A store asked again in the same process then
                says so at once.
            ValueError: The sampling is `none` or `native`, which decode nothing.
        """
        video = Path(video)
        sampling = sampling.decoded
        folder = self._entry_folder(content_sha256(video), sampling)

        def build(temporary_folder: Path) -> StoredFrames:
            from reelbench.video.decoder import VideoFile

            start = time.monotonic()
            video_file = VideoFile(video, time_limit=self._time_limit)
            sound = copy_video_sound(video_file, sampling, temporary_folder)
            frames = video_file.frames(sampling)
            writer = EntryWriter(temporary_folder, folder.name, sampling, video_file.timeline)
            stored = writer.write(frames, video_file.info.notes, sound)
            seconds = time.monotonic() - start
            logger.info(
                "decoded %s: %d frames (%s) in %.1f s", video, stored.given, sampling, seconds
            )
            return stored

        return self._get_or_build(folder, video, build, even=even)

    def get_images(
        self,
        images: Sequence[Path | str],
        sampling: FrameSampling,
        timestamps: Sequence[float],
        *,
        even: bool = False,
    ) -> StoredFrames:
        """Return frames picked from a video that is there as pictures.

        Every picture counts as a keyframe, and one by itself lasts a second. With `as=images` and
        no `size` the frames are the given files, and nothing is written.

        Args:
            images: The pictures, in order.
            sampling: The frames to take.
            timestamps: The times at which they are on screen, in seconds, rising.
            even: As in `get`.

        Raises:
            InputError: Times and pictures don't fit together.
            MediaError: A picture can't be read.
        """
        sampling = sampling.decoded
        paths = tuple(Path(image) for image in images)
        timeline = _timeline_of_pictures(paths, timestamps)
        if sampling.decodes and sampling.form == "images" and sampling.size is None:
            stored = _pictures_as_stored_frames(paths, timeline, sampling)
            return stored.padded() if even and len(stored.images) % 2 else stored
        marks: list[str] = []
        for path, seconds in zip(paths, timeline.timestamps, strict=True):
            marks.append(f"{content_sha256(path)}@{seconds:.6f}")
        fingerprint = hashlib.sha256("|".join(marks).encode()).hexdigest()
        folder = self._entry_folder(fingerprint, sampling)

        def build(temporary_folder: Path) -> StoredFrames:
            from reelbench.video.decoder import decode_pictures

            frames = decode_pictures(paths, timeline, sampling)
            return EntryWriter(temporary_folder, folder.name, sampling, timeline).write(frames)

        return self._get_or_build(folder, paths[0].parent, build, even=even)

    # --- what is there

    def info(self) -> StoreInfo:
        """Count what is in the store."""
        folders = list(self._entries())
        size_bytes = sum(map(entries.size_of_entry, folders))
        return StoreInfo(self.root, len(folders), size_bytes, self.cap_bytes)

    def samplings(self) -> list[FrameSampling]:
        """Return the samplings that the store's entries were made with, each once."""
        texts: dict[str, None] = {}
        for folder in self._entries():
            stored = entries.read_record(folder)
            if stored is not None:
                texts[stored.sampling] = None
        samplings: list[FrameSampling] = []
        for text in texts:
            with suppress(InputError):
                samplings.append(FrameSampling.parse(text))
        return samplings

    def find_all(self, video: Path | str, samplings: Iterable[FrameSampling]) -> list[StoredFrames]:
        """Return the stored frames of a video under some samplings.

        Raises:
            MediaError: The video can't be read.
        """
        frames = map(entries.read, self._entries_of(Path(video), samplings))
        return [stored for stored in frames if stored is not None]

    def find(self, video: Path | str, sampling: FrameSampling) -> StoredFrames | None:
        """Return a video's frames where they are in the store already.

        Raises:
            MediaError: The video can't be read.
        """
        return entries.read(self._entry_folder(content_sha256(Path(video)), sampling.decoded))

    def clear(
        self, video: Path | str | None = None, samplings: Iterable[FrameSampling] = ()
    ) -> int:
        """Remove everything, or a video's entries under some samplings. Return their number.

        Entries in use go too.
        """
        if video is None:
            folders = list(self._entries())
        else:
            folders = list(self._entries_of(Path(video), samplings))
        for folder in folders:
            self._remove(folder)
        return len(folders)

    def _entry_folder(self, fingerprint: str, sampling: FrameSampling) -> Path:
        """Return the folder of an entry, by its key."""
        if not sampling.decodes:
            raise ValueError(f"{sampling} sampling decodes no frames, so there is nothing to store")
        key_text = f"{ENCODER_VERSIONS[sampling.form]}\n{fingerprint}\n{sampling}"
        # Hex only: lmms-eval takes any path with `mkv` or `webm` in it for such a file.
        key = hashlib.sha256(key_text.encode()).hexdigest()[:40]
        return self.root / key[:2] / key

    def _entries(self) -> Iterator[Path]:
        """Yield the folders of all entries."""
        for folder in self.root.glob("[0-9a-f][0-9a-f]/[0-9a-f]*"):
            if folder.is_dir():
                yield folder

    def _entries_of(self, video: Path, samplings: Iterable[FrameSampling]) -> Iterator[Path]:
        """Yield the folders of a video's entries under some samplings."""
        fingerprint = content_sha256(video)
        for sampling in samplings:
            folder = self._entry_folder(fingerprint, sampling)
            for entry in (folder, _even_entry_folder(folder)):
                if entry.is_dir():
                    yield entry

    # --- making entries

    def _get_or_build(
        self, folder: Path, source: Path, build: _Build, *, even: bool
    ) -> StoredFrames:
        """Return an entry, made where it is not there.

        Args:
            folder: The entry's folder.
            source: The video, for errors.
            build: Makes the entry.
            even: As in `get`.
        """
        stored = entries.read(folder)
        if stored is None:
            stored = self._build_entry(folder, source, build, self._shared)
        if not even or len(stored.timestamps) % 2 == 0:
            return stored
        if stored.path is None:  # pictures: the last file is named twice
            return stored.padded()
        return self._get_or_build_even_clip(stored, stored.path, source)

    def _get_or_build_even_clip(
        self, stored: StoredFrames, clip: Path, source: Path
    ) -> StoredFrames:
        """Return an entry whose clip repeats the last frame of another entry's clip."""
        even_folder = _even_entry_folder(clip.parent)
        even_clip_name = f"{clip.stem}-even.mp4"

        def build_even(temporary_folder: Path) -> StoredFrames:
            from reelbench.video.clip_writer import repeat_last

            even_clip = temporary_folder / even_clip_name
            repeat_last(clip, even_clip)
            return replace(stored.padded(), path=even_clip)

        even_entry = entries.read(even_folder)
        if even_entry is None:
            # Without the shared store: it is made from the clip faster than it is fetched.
            even_entry = self._build_entry(even_folder, source, build_even, None)
        return even_entry

    def _build_entry(
        self, folder: Path, source: Path, build: _Build, shared: SharedFrames | None
    ) -> StoredFrames:
        """Make an entry, or wait for its maker; then evict others beyond the cap."""
        from filelock import FileLock

        locks = self.root / ".locks"
        try:
            locks.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReelbenchError(
                f"{locks}: can't be made ({error.strerror}); set REELBENCH_HOME"
            ) from None
        with FileLock(locks / f"{folder.name}.lock"):
            stored = entries.read(folder)
            if stored is not None:
                return stored
            if folder.name in self._failures:
                raise self._failures[folder.name]
            if shared is None:
                self._write_entry(folder, source, build)
            else:
                self._fetch_or_build(shared, folder, source, build)
        stored = entries.read(folder)
        if stored is None:
            raise ReelbenchError(
                f"{folder}: frames were removed while they were being stored; is another clearing "
                "it?"
            )
        self._evict_until_below_cap(entries.size_of_entry(folder))
        return stored

    def _fetch_or_build(
        self, shared: SharedFrames, folder: Path, source: Path, build: _Build
    ) -> None:
        """Fetch an entry of another machine, or make it and give it to the others."""
        while not self._fetch_entry(shared, folder):
            claim = shared.claim(folder.name)
            if claim is None:
                shared.wait()
                continue
            with claim:
                # Its last holder may have given it between the two looks.
                if not self._fetch_entry(shared, folder):
                    self._write_entry(folder, source, build)
                    shared.put(folder.name, folder)
            return

    def _fetch_entry(self, shared: SharedFrames, folder: Path) -> bool:
        """Return True where an entry came whole from the shared store."""
        self._remove_leftovers(folder)
        if not shared.fetch(folder.name, folder):
            return False
        return entries.read(folder) is not None

    def _remove_leftovers(self, folder: Path) -> None:
        """Remove what lies in the place of an entry to be written."""
        # What lies there half-written is a killed process's.
        for leftover in folder.parent.glob(f".{folder.name}.*.tmp"):
            shutil.rmtree(leftover, ignore_errors=True)
        if folder.exists():
            logger.warning("%s: the entry is damaged; its frames are rebuilt", folder)
            self._remove(folder)

    def _write_entry(self, folder: Path, source: Path, build: _Build) -> None:
        """Write an entry, as the only writer. Remember a failure."""
        self._remove_leftovers(folder)
        try:
            with written_aside(folder) as temporary_folder:
                temporary_folder.mkdir()
                entries.write(build(temporary_folder), temporary_folder)
        except MediaError as error:
            self._failures[folder.name] = error
            raise
        except OSError as error:
            reason = error.strerror or error
            raise ReelbenchError(
                f"{self.root}: frames can't be stored ({reason}); make room there"
            ) from None
        except Exception as error:
            # Whatever a film makes a library do is that film's failure: it never ends a run over
            # many.
            logger.debug("%s: can't be shown", source, exc_info=True)
            reason = f"its frames can't be made ready ({first_line(error)})"
            failure = MediaError(source, reason)
            self._failures[folder.name] = failure
            raise failure from error

    # --- room

    def _evict_until_below_cap(self, written: int) -> None:
        """Evict the entries that were used last, until the store is within its cap."""
        # Sizing the whole store is dear with many entries: done at first, then after each hundredth
        # of the cap.
        with self._count_lock:
            if self._bytes_since_count is not None:
                self._bytes_since_count += written
                if self._bytes_since_count < self.cap_bytes / 100:
                    return
            self._bytes_since_count = 0
        uses = self._entry_uses()
        total = sum(use.size for use in uses)
        in_use_since = time.time() - IN_USE_S
        for use in sorted(uses):
            if total <= self.cap_bytes or use.last_use > in_use_since:
                break
            self._remove(use.folder)
            total -= use.size
        self._remove_old_leftovers()

    def _entry_uses(self) -> list[_EntryUse]:
        uses: list[_EntryUse] = []
        for folder in self._entries():
            with suppress(OSError):
                record = folder / entries.RECORD
                touched = record if record.exists() else folder
                uses.append(
                    _EntryUse(touched.stat().st_mtime, entries.size_of_entry(folder), folder)
                )
        return uses

    def _remove_old_leftovers(self) -> None:
        """Remove what killed processes left half-written or half-removed."""
        written = self.root.glob("[0-9a-f][0-9a-f]/.*.tmp")
        sent = self.root.glob("[0-9a-f][0-9a-f]/.sent-*")
        removed = self.root.glob(".gone-*")
        for leftover in (*written, *sent, *removed):
            with suppress(OSError):
                if leftover.stat().st_mtime < time.time() - _DAY_S:
                    shutil.rmtree(leftover, ignore_errors=True)

    def _remove(self, entry: Path) -> None:
        gone = self.root / f".gone-{entry.name}-{secrets.token_hex(4)}"
        with suppress(OSError):
            entry.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)


def _cap_of_settings() -> int:
    text = settings.FRAMES_CAP_GB.get()
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = -1.0
    if not 0 < gigabytes < float("inf"):
        raise InputError(
            f"{settings.FRAMES_CAP_GB.name}={text!r}: not a number of gigabytes above 0"
        )
    return int(gigabytes * 1e9)


def _even_entry_folder(folder: Path) -> Path:
    """Return the folder of the same frames with the last one repeated."""
    return folder.with_name(f"{folder.name}-even")


def _timeline_of_pictures(paths: Sequence[Path], timestamps: Sequence[float]) -> Timeline:
    """Return the timeline of pictures. InputError where their times don't fit."""
    import numpy as np

    if not paths:
        raise InputError("no pictures were given to take frames from")
    steps = [after - before for before, after in itertools.pairwise(timestamps)]
    if len(timestamps) != len(paths) or any(step <= 0 for step in steps):
        raise InputError(
            f"{paths[0].parent}: {len(paths)} pictures need as many rising timestamps, "
            f"not {len(timestamps)}"
        )
    times = np.array(timestamps, float) - timestamps[0]
    last_step = 1.0
    if steps:
        last_step = statistics.median(steps)
    duration = float(times[-1]) + last_step
    keyframes = np.ones(len(paths), bool)
    return Timeline(times, keyframes, duration)


def _pictures_as_stored_frames(
    paths: Sequence[Path], timeline: Timeline, sampling: FrameSampling
) -> StoredFrames:
    """Return picked pictures as the files that they are."""
    picked: list[int] = sampling.pick(timeline).tolist()
    timestamps = [float(timeline.timestamps[frame]) for frame in picked]
    files = [paths[frame] for frame in picked]
    return describe_frames(sampling, timeline, timestamps, files)
