"""One entry of a frame store: its files, and its record `frames.json`."""

import json
import os
import struct
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

from pydantic import TypeAdapter

from reelbench.base.errors import InputError
from reelbench.base.files import read_json, write_text
from reelbench.registry.sampling import Form

Sound = Literal["kept", "dropped", "none"]
"""The fate of a video's sound: copied as it is, left out, or there was none."""

RECORD = "frames.json"

_TOUCH_EVERY_S = 60.0


@dataclass(frozen=True)
class StoredFrames:
    """The frames of one video under one sampling, as files."""

    sampling: str
    form: Form

    path: Path | None
    """The clip. None with `as=images`."""

    images: tuple[Path, ...]
    """The pictures in order. Empty with `as=clip`."""

    timestamps: tuple[float, ...]
    """One for each frame delivered, in seconds from the video's first frame."""

    padding: int
    """Number of frames at the end that repeat the one before."""

    asked: int
    """Number of frames that the sampling asks for."""

    given: int
    """Number of different frames that the video gave."""

    duration: float
    """The video's, in seconds."""

    rate: float
    """The clip's frames per second."""

    width: int
    height: int

    notes: tuple[str, ...]
    """Lines on what was not as expected."""

    audio: Sound

    step: float
    """Time for which most of the video's frames are on screen, in seconds."""

    @property
    def differing_clock_times(self) -> tuple[float, ...] | None:
        """The times that a clip's readers see, where they are not the video's.

        A reader takes a frame's number ÷ the clip's rate, in seconds. None for pictures, and where
        each frame's time is within one frame of the video, repeats apart.
        """
        if self.path is None:
            return None
        clock_times = tuple(number / self.rate for number in range(len(self.timestamps)))
        frame_count = len(self.timestamps) - self.padding
        for place in range(frame_count):
            difference = abs(clock_times[place] - self.timestamps[place])
            if difference > self.step + 0.01:
                return clock_times
        return None

    @property
    def files(self) -> tuple[Path, ...]:
        """The clip, or the pictures in order."""
        return self.images if self.path is None else (self.path,)

    def padded(self) -> "StoredFrames":
        """Return the same frames with the last one once more."""
        images = self.images + self.images[-1:]
        timestamps = self.timestamps + self.timestamps[-1:]
        return replace(self, images=images, timestamps=timestamps, padding=1)


# --- entries
# ----------------------------------------------------------------------------------------------

_RECORD_TYPE = TypeAdapter(StoredFrames)


def write(stored: StoredFrames, folder: Path) -> None:
    """Write an entry's record. Its files are named in it, without the folder."""
    fields = asdict(stored)
    fields["path"] = stored.path.name if stored.path else None
    fields["images"] = [image.name for image in stored.images]
    write_text(folder / RECORD, json.dumps(fields, indent=1))


def read_record(folder: Path) -> StoredFrames | None:
    """Return the frames by an entry's record, or None without a sensible one."""
    try:
        stored = _RECORD_TYPE.validate_python(read_json(folder / RECORD))
    except (OSError, ValueError, RecursionError, InputError):
        return None
    if not _makes_sense(stored):
        return None
    path = None if stored.path is None else folder / stored.path
    images = tuple(folder / image for image in stored.images)
    return replace(stored, path=path, images=images)


def _makes_sense(stored: StoredFrames) -> bool:
    """Return True where the fields of an entry fit each other."""
    has_clip = stored.path is not None
    has_images = bool(stored.images)
    if has_clip == has_images or has_images != (stored.form == "images"):
        return False
    frame_count = stored.given + stored.padding
    if not stored.timestamps or len(stored.timestamps) != frame_count:
        return False
    return all(str(file) == file.name for file in stored.files)


def read(folder: Path) -> StoredFrames | None:
    """Return a whole entry, and note that it was used. None where there is none."""
    stored = read_record(folder)
    if stored is None or not all(map(_is_whole, stored.files)):
        return None
    note_use(folder)
    return stored


def note_use(folder: Path) -> None:
    """Note that an entry is in use, so that it is not evicted.

    Nothing happens where the folder is no entry.
    """
    with suppress(OSError):  # somebody else's store may be read-only
        if time.time() - (folder / RECORD).stat().st_mtime > _TOUCH_EVERY_S:
            os.utime(folder / RECORD)


def size_of_entry(folder: Path) -> int:
    """Return the bytes that an entry takes."""
    with suppress(OSError):
        return sum(file.stat().st_size for file in folder.iterdir())
    return 0


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            length = os.fstat(file.fileno()).st_size
            if path.suffix == ".jpg":
                return _is_whole_jpeg(file, length)
            return _is_whole_mp4(file, length)
    except (OSError, struct.error):
        return False


def _is_whole_jpeg(file: BinaryIO, length: int) -> bool:
    start = file.read(2)
    file.seek(max(0, length - 2))
    end = file.read(2)
    return start == b"\xff\xd8" and end == b"\xff\xd9"


def _is_whole_mp4(file: BinaryIO, length: int) -> bool:
    """Return True where a file's boxes fill it, and its index is among them."""
    kinds: set[bytes] = set()
    position = 0
    while position < length:
        file.seek(position)
        # A box (ISO/IEC 14496-12, 4.2): its length, its kind, and a longer length where the first
        # is 1.
        head = file.read(16)
        extent, kind = struct.unpack_from(">I4s", head)
        if extent == 1:
            (extent,) = struct.unpack_from(">Q", head, 8)
        if extent < 8:  # noqa: PLR2004 - length and kind
            return False
        kinds.add(kind)
        position += extent
    return position == length and b"moov" in kinds
