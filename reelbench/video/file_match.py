"""The rule by which a row's video is one of the files in some folders.

A row names its video by a path. These are tried, and the first that fits a file is taken:

1. the path itself, in each layout, below each root;
2. the same in another spelling: Unicode's NFC, the suffix in any case, the name in any case where
   the file system has none;
3. the name with another video suffix;
4. 1 to 3 with the end of the path: `b/c.mp4` and `c.mp4` of `/home/somebody/a/b/c.mp4`.

Where two files of a folder fit equally well, neither is taken.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from reelbench.base.errors import InputError, first_of, number_of
from reelbench.video.folder_listings import FolderListings, plain_name, split_suffix
from reelbench.video.media_roots import path_in_layout


class SeveralFilesError(InputError):
    """Several files fit a video equally well."""


MatchMethod = Literal["path", "spelling", "suffix", "end"]
"""The step of the rule that found a file."""

_MATCH_METHODS: tuple[MatchMethod, ...] = ("path", "spelling", "suffix")
"""The steps that are tried with each end of a path."""

_METHOD_DESCRIPTIONS: Mapping[MatchMethod, str] = {
    "spelling": "in another spelling",
    "suffix": "with another suffix",
    "end": "by the end of their path",
}

_MAX_TAILS = 12
"""Ends of a path that are tried, the longest first."""

_IN_NO_NAME = re.compile("[\0\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:/")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, slots=True)
class VideoFile:
    """A row's video: its file, the root above that, and how it was found."""

    root: Path
    path: Path
    method: MatchMethod

    @property
    def is_uncertain(self) -> bool:
        """True where the file's path is not all that the row says."""
        return self.method in ("suffix", "end")


@dataclass(frozen=True, slots=True)
class PathTail:
    """The end of a path.

    `is_whole` is True where it is all of the path, and that leads out of no folder.
    """

    path: str
    is_whole: bool = False


def path_tails(video: str) -> list[PathTail]:
    """Return the paths below a root that a row's video may have, the likeliest first.

    Of `/home/a/b.mp4`, of one with a drive, and of an address (without what follows `?` or `#`)
    these are its ends. Of `../a/b.mp4` they are those behind the dots.

    Raises:
        InputError: It can't be a file's name.
    """
    path = video.replace("\\", "/")
    is_relative = not path.startswith("/")
    address = _SCHEME.match(path)
    if address is not None:
        path = re.split("[?#]", path, maxsplit=1)[0]
    prefix = address or _DRIVE.match(path)
    if prefix is not None:
        is_relative = False
        path = path[prefix.end() :]
    parts = [part for part in path.split("/") if part not in ("", ".")]
    while ".." in parts:
        is_relative = False
        parts = parts[parts.index("..") + 1 :]
    if not parts or _IN_NO_NAME.search(video):
        raise InputError(f"media key {video[:200]!r} is not a file's name")
    tails: dict[str, PathTail] = {}
    if is_relative:
        # A backslash may be part of a file's name.
        for full_path in (str(PurePosixPath(video)), "/".join(parts)):
            tails[full_path] = PathTail(full_path, is_whole=True)
    last_parts = parts[-_MAX_TAILS:]
    for start in range(len(last_parts)):
        tail = "/".join(last_parts[start:])
        tails.setdefault(tail, PathTail(tail))
    return list(tails.values())


def conflicts_of_shared_files(files: Mapping[str, VideoFile | None]) -> dict[str, str]:
    """Return a fault for each video whose file may be another video's.

    `files` are the files by the rows' paths. Two paths may mean one file where both say its name.
    """
    paths: dict[Path, list[str]] = {}
    uncertain_paths: set[Path] = set()
    for video, file in files.items():
        if file is None:
            continue
        paths.setdefault(file.path, []).append(video)
        if file.is_uncertain:
            uncertain_paths.add(file.path)
    conflicts: dict[str, str] = {}
    for path in uncertain_paths:
        videos = paths[path]
        if len(videos) > 1:
            listed = first_of([repr(video) for video in videos], 3)
            conflict = f"{path.name} in {path.parent} would be {len(videos)} videos: {listed}"
            conflicts.update(dict.fromkeys(videos, conflict))
    return conflicts


def note_on_other_names(files: Mapping[str, VideoFile | None]) -> str | None:
    """Return a line on the videos whose file is not called as the rows say.

    `files` are the files by the rows' paths. None where there is nothing to say.
    """
    parts: list[str] = []
    for method, words in _METHOD_DESCRIPTIONS.items():
        examples: list[str] = []
        for video, file in files.items():
            if file is not None and file.method == method:
                below_root = file.path.relative_to(file.root).as_posix()
                examples.append(f"{video!r} is {below_root}")
        if examples:
            parts.append(f"{number_of(len(examples), 'video')} {words} ({examples[0]})")
    if not parts:
        return None
    return f"found by another name: {'; '.join(parts)}"


class FileMatch:
    """Finds the files of videos below some roots."""

    def __init__(
        self, roots: Sequence[Path], layouts: Sequence[str], listings: FolderListings
    ) -> None:
        self._roots = [(root, str(root)) for root in roots]
        self._layouts = layouts
        self._listings = listings
        self._ignores_case: dict[str, bool] = {}

    def find(self, video: str) -> VideoFile | None:
        """Return the file that a row's video is, or None.

        Raises:
            SeveralFilesError: Several files fit.
            InputError: It can't be a file's name.
        """
        for tail in path_tails(video):
            for method in _MATCH_METHODS:
                for root, root_name, layout in self._roots_and_layouts():
                    path_below_root = path_in_layout(layout, tail.path)
                    path = self._match_file(video, root_name, path_below_root, method)
                    if path is None:
                        continue
                    is_shortened = "{name}" in layout and "/" in tail.path
                    if is_shortened or not tail.is_whole:
                        return VideoFile(root, path, "end")
                    return VideoFile(root, path, method)
        return None

    def name_in_other_case(self, video: str) -> str | None:
        """Return the name of a file that differs in nothing but the case, or None."""
        for tail in path_tails(video):
            for _, root_name, layout in self._roots_and_layouts():
                parent, name = os.path.split(path_in_layout(layout, tail.path))
                names = self._with_any_case(f"{root_name}/{parent}", name)
                if names:
                    return names[0]
        return None

    def _roots_and_layouts(self) -> Iterator[tuple[Path, str, str]]:
        """Yield each root, its name and each layout, all of one root first."""
        for root, root_name in self._roots:
            for layout in self._layouts:
                yield root, root_name, layout

    def _match_file(
        self, video: str, root: str, path_below_root: str, method: MatchMethod
    ) -> Path | None:
        """Return the file at a place below a root, looked for in one way.

        Raises:
            SeveralFilesError: Several files fit.
        """
        parent, name = os.path.split(path_below_root)
        folder: str | None = f"{root}/{parent}"
        if method != "path":
            folder = self._listings.folder_like(root, parent)
        if folder is None:
            return None
        if method == "path":
            names = self._with_exact_name(folder, name)
        elif method == "spelling":
            names = self._with_other_spelling(folder, name)
        else:
            names = self._with_other_suffix(folder, name)
        if len(names) > 1:
            raise SeveralFilesError(
                f"{video!r} may be {first_of(names)} in {folder.rstrip('/')}: keep one of them "
                "there, or name it in the rows"
            )
        if not names:
            return None
        return Path(folder, names[0])

    def _with_exact_name(self, folder: str, name: str) -> list[str]:
        listing = self._listings.of(folder)
        _, suffix = split_suffix(name)
        if not suffix:
            return listing.by_stem.get(name, [])
        if name in listing.files:
            return [name]
        return []

    def _with_other_spelling(self, folder: str, name: str) -> list[str]:
        listing = self._listings.of(folder)
        _, suffix = split_suffix(name)
        plain = plain_name(name)
        names = listing.by_plain_stem
        if suffix:
            names = listing.by_plain_name
        if plain in names:
            return names[plain]
        names_in_any_case = self._with_any_case(folder, name)
        if names_in_any_case and self._is_case_insensitive(folder, names_in_any_case[0]):
            return names_in_any_case
        return []

    def _with_other_suffix(self, folder: str, name: str) -> list[str]:
        stem, suffix = split_suffix(plain_name(name))
        if not suffix:
            return []
        return self._listings.of(folder).by_plain_stem.get(stem, [])

    def _with_any_case(self, folder: str, name: str) -> list[str]:
        stem, suffix = split_suffix(plain_name(name))
        names = self._listings.of(folder).by_folded_stem.get(stem.casefold(), [])
        if not suffix:
            return names
        return [name for name in names if name.lower().endswith(suffix)]

    def _is_case_insensitive(self, folder: str, name: str) -> bool:
        """Return True where the file system finds a file by its name in another case."""
        if folder not in self._ignores_case:
            swapped = name.swapcase()
            is_listed = swapped in self._listings.of(folder).files
            self._ignores_case[folder] = not is_listed and Path(folder, swapped).exists()
        return self._ignores_case[folder]
