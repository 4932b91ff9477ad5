"""The names in folders, listed once."""

import errno
import os
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cached_property

from reelbench.video.media_roots import has_video_suffix


def plain_name(name: str) -> str:
    """Return a file's name in one spelling: Unicode's NFC, its suffix in lower case.

    A Mac writes an umlaut as two characters (NFD), rows have it as one.
    """
    stem, suffix = split_suffix(unicodedata.normalize("NFC", name))
    return stem + suffix.lower()


def split_suffix(name: str) -> tuple[str, str]:
    """Return a name without its video suffix, and that suffix; "" where it has none."""
    if not has_video_suffix(name):
        return name, ""
    stem, dot, suffix = name.rpartition(".")
    return stem, dot + suffix


class Listing:
    """The names of a folder's files and of its folders. None where it is absent."""

    def __init__(self, files: Iterable[str] = (), folders: Iterable[str] = ()) -> None:
        self.files = frozenset(files)
        self.folders = tuple(sorted(folders))

    @cached_property
    def by_stem(self) -> Mapping[str, list[str]]:
        """Name without its suffix -> the videos that have it."""
        names: dict[str, list[str]] = {}
        for name in self.videos:
            stem, _ = split_suffix(name)
            names.setdefault(stem, []).append(name)
        return names

    @cached_property
    def by_plain_name(self) -> Mapping[str, list[str]]:
        """Name in one spelling -> the videos that have it."""
        names: dict[str, list[str]] = {}
        for name in self.videos:
            names.setdefault(plain_name(name), []).append(name)
        return names

    @cached_property
    def by_plain_stem(self) -> Mapping[str, list[str]]:
        """Name in one spelling, without its suffix -> the videos that have it."""
        names: dict[str, list[str]] = {}
        for name in self.videos:
            stem, _ = split_suffix(plain_name(name))
            names.setdefault(stem, []).append(name)
        return names

    @cached_property
    def by_folded_stem(self) -> Mapping[str, list[str]]:
        """Name without case and suffix -> the videos that have it."""
        names: dict[str, list[str]] = {}
        for name in self.videos:
            stem, _ = split_suffix(plain_name(name))
            names.setdefault(stem.casefold(), []).append(name)
        return names

    @cached_property
    def videos(self) -> list[str]:
        """The names of the files that end as a video's does, in order."""
        return sorted(filter(has_video_suffix, self.files))

    def folder_like(self, name: str) -> str | None:
        """Return the folder of that name in one spelling, or None."""
        if name in self.folders:
            return name
        composed_name = unicodedata.normalize("NFC", name)
        for folder in self.folders:
            if unicodedata.normalize("NFC", folder) == composed_name:
                return folder
        return None


class FolderListings:
    """Lists folders, each once.

    One scan of a folder takes the place of a stat for each row, layout and suffix: half a million
    stats on 5,000 rows.
    """

    def __init__(self) -> None:
        self._listings: dict[str, Listing] = {}

    def of(self, folder: str) -> Listing:
        """Return the names in a folder."""
        if folder not in self._listings:
            self._listings[folder] = _list_folder(folder)
        return self._listings[folder]

    def folder_like(self, root: str, below: str) -> str | None:
        """Return the folder below a root whose path is the given one in another spelling."""
        folder = root
        for part in filter(None, below.split("/")):
            name = self.of(folder).folder_like(part)
            if name is None:
                return None
            folder = f"{folder}/{name}"
        return folder


def _list_folder(folder: str) -> Listing:
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    if entry.is_file():
                        files.append(entry.name)
                    if entry.is_dir():
                        folders.append(entry.name)
                except OSError:  # a link to itself, say: who names it is told that it is missing
                    continue
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
    return Listing(files, folders)
