"""The frames of a row's video, taken from the file or the pictures that a library finds."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.errors import MediaError
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling

if TYPE_CHECKING:
    from reelbench.video.library import Library
    from reelbench.video.picture_folders import PictureSequence
    from reelbench.video.stored_frames import StoredFrames

log = logging.getLogger("reelbench")


def frames_of_row(
    library: "Library", row: Row, sampling: FrameSampling, *, even: bool = False
) -> "StoredFrames | None":
    """Return the row's frames from the store, decoded now or earlier.

    Args:
        library: Finds the row's video.
        row: The row.
        sampling: The frames to take. One that decodes.
        even: As in `FrameStore.get`.

    Returns:
        The frames. None where the video is missing.

    Raises:
        MediaError: As in `FrameStore.get`.
    """
    pictures = library.pictures(row)
    if pictures is not None:
        return _frames_of_pictures(library, row, pictures, sampling, even=even)
    video = library.find(row)
    if video is None:
        return None
    return library.store.get(video, sampling, even=even)


def _frames_of_pictures(
    library: "Library",
    row: Row,
    pictures: "PictureSequence",
    sampling: FrameSampling,
    *,
    even: bool,
) -> "StoredFrames | None":
    """Return frames of those pictures that can be read. None where none can."""
    timestamps = dict(zip(pictures.paths, pictures.timestamps, strict=True))
    while timestamps:
        paths = tuple(timestamps)
        try:
            return library.store.get_images(paths, sampling, tuple(timestamps.values()), even=even)
        except MediaError as error:
            if error.path not in timestamps:
                raise
            log.warning("%s: a picture of %s is left out: %s", library.spec.id, row["id"], error)
            del timestamps[error.path]
    return None


def clip_of_row(library: "Library", row: Row) -> Path | None:
    """Return the row's video as one file, or a clip of all its pictures.

    The clip has the pictures' own time line. None where the video is missing.
    """
    if library.pictures(row) is None:
        return library.find(row)
    stored = frames_of_row(library, row, FrameSampling(kind="all"))
    return stored.path if stored else None
