"""What one entry of a frame store holds: `StoredFrames`, its record `frames.json`, and whether its files are whole."""

import json
import os
import struct
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from reelbench.base.errors import InputError
from reelbench.base.files import read_json, write_text
from reelbench.registry.sampling import Form

Sound = Literal["kept", "dropped", "none"]
"""What became of a video's sound: copied as it is, left out, or there was none."""

RECORD = "frames.json"

_TOUCH_EVERY_S = 60.0


@dataclass(frozen=True)
class StoredFrames:
    """The frames of one video under one sampling, as files.

    `path` is the clip (None with `as=images`), `images` the pictures in order (empty with
    `as=clip`). `timestamps` has one entry per frame delivered, in seconds from the video's first
    frame, and the last `padding` of them repeat the one before. `asked` is what the sampling asks
    for, `given` how many different frames the video gave. `duration` is the video's, in seconds;
    `rate` is the clip's frames per second, `notes` says what was not as expected. `audio` is what
    became of the video's sound; entries of releases that did not say so have none in their clips.
    `step` is how long most of the video's frames are on screen (s).
    """

    sampling: str
    form: Form
    path: Path | None
    images: tuple[Path, ...]
    timestamps: tuple[float, ...]
    padding: int
    asked: int
    given: int
    duration: float
    rate: float
    width: int
    height: int
    notes: tuple[str, ...]
    audio: Sound = "dropped"
    step: float = 0.0

    @property
    def differing_clock_times(self) -> tuple[float, ...] | None:
        """The times that a clip's readers make of its frames: number ÷ rate (s), one per frame delivered.

        None of pictures, and where the clip's clock is the video's: each frame within one of its
        own, repeats apart.
        """
        if self.path is None:
            return None
        told = tuple(number / self.rate for number in range(len(self.timestamps)))
        seen = len(told) - self.padding
        pairs = zip(told[:seen], self.timestamps[:seen], strict=True)
        return None if all(abs(at - shown) <= self.step + 0.01 for at, shown in pairs) else told

    @property
    def files(self) -> tuple[Path, ...]:
        """The clip, or the pictures in order."""
        return self.images if self.path is None else (self.path,)

    def padded(self) -> "StoredFrames":
        """Return the same frames with the last one once more."""
        images, timestamps = (
            (*self.images, *self.images[-1:]),
            (*self.timestamps, self.timestamps[-1]),
        )
        return replace(self, images=images, timestamps=timestamps, padding=1)


_RECORDED = TypeAdapter(StoredFrames)


def write(stored: StoredFrames, folder: Path) -> None:
    """Write an entry's record; its files are named in it, without the folder."""
    fields = asdict(stored)
    fields["path"] = stored.path.name if stored.path else None
    fields["images"] = [image.name for image in stored.images]
    write_text(folder / RECORD, json.dumps(fields, indent=1))


def read_record(folder: Path) -> StoredFrames | None:
    """Return the frames by an entry's record, or None where there is none, or it makes no sense."""
    try:
        fields: Any = read_json(folder / RECORD)
        stored = _RECORDED.validate_python(fields)
    except (OSError, ValueError, RecursionError, InputError):
        return None
    of_the_form = (stored.path is None) == (stored.form == "images") == bool(stored.images)
    counted = len(stored.timestamps) == stored.given + stored.padding > 0
    inside = all(str(file) == file.name for file in stored.files)
    if not (of_the_form and counted and inside):
        return None
    path = None if stored.path is None else folder / stored.path
    return replace(stored, path=path, images=tuple(folder / image for image in stored.images))


def read(folder: Path) -> StoredFrames | None:
    """Return an entry, noting that it was used, or None where there is none, or not a whole one."""
    stored = read_record(folder)
    if stored is None or not all(map(_is_whole, stored.files)):
        return None
    note_use(folder)
    return stored


def note_use(folder: Path) -> None:
    """Note that an entry is in use, so that it is not evicted; nothing where the folder is no entry."""
    with suppress(OSError):  # somebody else's store may be read-only
        if time.time() - (folder / RECORD).stat().st_mtime > _TOUCH_EVERY_S:
            os.utime(folder / RECORD)


def size(folder: Path) -> int:
    """Return the bytes that an entry takes."""
    with suppress(OSError):
        return sum(file.stat().st_size for file in folder.iterdir())
    return 0


def _is_whole(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            length = os.fstat(opened.fileno()).st_size
            if file.suffix == ".jpg":
                ends = opened.read(2), opened.seek(max(0, length - 2)), opened.read(2)
                return (ends[0], ends[2]) == (b"\xff\xd8", b"\xff\xd9")
            kinds: set[bytes] = set()
            at = 0
            while at < length:
                opened.seek(at)
                # A box (ISO/IEC 14496-12, 4.2): its length, its kind, and a longer length where the
                # first is 1.
                head = opened.read(16)
                extent, kind = struct.unpack_from(">I4s", head)
                if extent == 1:
                    (extent,) = struct.unpack_from(">Q", head, 8)
                if extent < 8:  # noqa: PLR2004 - length and kind
                    return False
                kinds.add(kind)
                at += extent
    except (OSError, struct.error):
        return False
    return at == length and b"moov" in kinds
