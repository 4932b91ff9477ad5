"""Videos that are there as folders of numbered pictures."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from reelbench.base.lazy import import_object
from reelbench.registry.rows import Row
from reelbench.registry.spec import ImageFolders, MediaSource
from reelbench.video.folder_listings import FolderListings
from reelbench.video.media_roots import path_in_layout


@dataclass(frozen=True, slots=True)
class PictureSequence:
    """A video that is there as pictures."""

    paths: tuple[Path, ...]

    timestamps: tuple[float, ...]
    """When each was on screen, in seconds from the first picture."""

    fps: float
    """The rate that the owners state."""


class _NumberedPicture(NamedTuple):
    number: int
    path: Path


def folders_of(images: ImageFolders, row: Row) -> tuple[str, ...]:
    """Return the names of the folders that hold the pictures of a row's video."""
    if not images.folders:
        return (row["video"],)
    return tuple(import_object(images.folders)(row))


class PictureFolders:
    """Finds the pictures of videos below some roots."""

    def __init__(
        self,
        source: MediaSource,
        roots: Sequence[Path],
        listings: FolderListings,
    ) -> None:
        """Set up. `source` is one whose videos are pictures."""
        assert source.images is not None  # noqa: S101
        self._images: ImageFolders = source.images
        self._layouts = source.layouts
        self._roots = roots
        self._listings = listings

    @property
    def layout(self) -> str:
        """The path of a folder below a root, with `{video}`."""
        return self._layouts[0]

    def folders_of(self, row: Row) -> tuple[str, ...]:
        """Return the names of the folders that hold the pictures of a row's video."""
        return folders_of(self._images, row)

    def find(self, folders: Sequence[str]) -> PictureSequence | None:
        """Return the pictures in a video's folders, in order. None where there are none.

        Folders that are not there are skipped: the owners' own lists name shots without pictures.
        """
        for root in self._roots:
            for layout in (*self._layouts, "{video}"):
                pictures: list[_NumberedPicture] = []
                for folder in folders:
                    pictures += self._pictures_in(root / path_in_layout(layout, folder))
                if pictures:
                    return self._sequence_of(pictures)
        return None

    def _sequence_of(self, pictures: Sequence[_NumberedPicture]) -> PictureSequence:
        first = pictures[0].number
        last: int | None = None
        paths: list[Path] = []
        timestamps: list[float] = []
        for number, path in pictures:
            # Two shots may hold the same moment: a number that does not rise is not shown again.
            if last is not None and number <= last:
                continue
            last = number
            paths.append(path)
            timestamps.append((number - first) / self._images.numbers_per_second)
        return PictureSequence(tuple(paths), tuple(timestamps), self._images.fps)

    def _pictures_in(self, folder: Path) -> list[_NumberedPicture]:
        """Return a folder's pictures by number, or those of its folders where it has none."""
        listing = self._listings.of(str(folder))
        pictures: list[_NumberedPicture] = []
        for name in listing.files:
            match = re.fullmatch(self._images.number, name)
            if match is not None:
                pictures.append(_NumberedPicture(int(match[1]), folder / name))
        if pictures or not self._images.folders:  # links of a stranger's folder may go in circles
            return sorted(pictures)
        for name in listing.folders:
            pictures += self._pictures_in(folder / name)
        return pictures
