"""The layouts by which the videos of a table lie in a folder, seen from both."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reelbench.base.errors import InputError, first_of
from reelbench.video.file_match import (
    FileMatch,
    SeveralFilesError,
    VideoFile,
    conflicts_of_shared_files,
    note_on_other_names,
    path_tails,
)
from reelbench.video.folder_listings import FolderListings, plain_name, split_suffix
from reelbench.video.media_roots import has_video_suffix

_MOST_LAYOUTS = 100

_WHOLE = "{video}"
_LAST_PART = "{name}"


class VideoFolder:
    """A folder with videos, and the folders in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listings = FolderListings()
        self._by_stem: dict[str, list[str]] = {}
        """Name in one spelling, without its suffix -> the files' paths below the folder."""
        for outer, inner_folders, names in os.walk(folder):
            inner_folders.sort()
            for name in filter(has_video_suffix, sorted(names)):
                path = Path(outer, name).relative_to(folder).as_posix()
                self._by_stem.setdefault(_plain_stem(name), []).append(path)

    def has(self, video: str) -> bool:
        """Return True where a file has the name of a row's video, in any spelling."""
        try:
            return _plain_stem(path_tails(video)[-1].path) in self._by_stem
        except InputError:
            return False

    def layouts(self, videos: Iterable[str]) -> "FolderLayouts":
        """Return the layouts by which a table's videos are files of this folder.

        Raises:
            InputError: Several files fit a video, several videos have one file, or they lie in too
                many folders.
        """
        match = FileMatch([self._folder], [_WHOLE], self._listings)
        layouts: dict[str, None] = {}
        distinct_videos = dict.fromkeys(videos)
        for video in distinct_videos:
            if not self.has(video):
                continue
            file = match.find(video)
            if file is None:
                layouts[self._layout_of(video)] = None
            elif file.method == "end" and file.path.parent == self._folder:
                layouts[_LAST_PART] = None
        if len(layouts) > _MOST_LAYOUTS:
            raise InputError(
                f"{self._folder}: its videos are in {len(layouts)} folders, which the rows don't "
                "name; a column with the folder does: --column 'video={folder}/{file}.mp4'"
            )
        layouts[_WHOLE] = None
        return self._check_layouts(list(layouts), distinct_videos)

    def _layout_of(self, video: str) -> str:
        """Return the layout of a video in a folder that the row doesn't name.

        Raises:
            SeveralFilesError: Several files fit.
        """
        tails = path_tails(video)
        paths = self._by_stem[_plain_stem(tails[-1].path)]
        for tail in tails:
            matching_paths = [path for path in paths if _has_tail(path, tail.path)]
            if len(matching_paths) > 1:
                raise SeveralFilesError(
                    f"the video {video!r} may be {first_of(matching_paths)} in {self._folder}: the "
                    "rows must say which, with the folder in its path"
                )
            if matching_paths:
                folders = matching_paths[0].split("/")
                outer_folders = folders[: -len(tail.path.split("/"))]
                is_last_part = tail is tails[-1] and not tail.is_whole
                last_part = _LAST_PART if is_last_part else _WHOLE
                return "/".join([*outer_folders, last_part])
        return _WHOLE

    def _check_layouts(self, layouts: list[str], videos: Collection[str]) -> "FolderLayouts":
        """Hold layouts to the rule that finds the videos of a run."""
        match = FileMatch([self._folder], layouts, self._listings)
        files = {video: match.find(video) for video in videos if self.has(video)}
        faults = conflicts_of_shared_files(files)
        if faults:
            raise InputError(f"{next(iter(faults.values()))}; the rows must say which is which")
        return FolderLayouts(self._folder, layouts, files, len(videos))


@dataclass(frozen=True, slots=True)
class FolderLayouts:
    """The layouts of a table's videos, and their files by the rows' paths."""

    folder: Path
    layouts: list[str]
    files: Mapping[str, VideoFile | None]
    videos: int  # of the table

    @property
    def found(self) -> str:
        """A line on how many of the table's videos are in the folder."""
        number_found = sum(file is not None for file in self.files.values())
        return f"videos found in {self.folder}: {number_found} of {self.videos}"

    @property
    def note(self) -> str | None:
        """A line on the videos that were found by another name, or None."""
        return note_on_other_names(self.files)


def _has_tail(path: str, tail: str) -> bool:
    """Return True where a file's path ends as a row's does, whatever its suffix."""
    path_stem, _ = split_suffix(plain_name(path))
    end_stem, _ = split_suffix(plain_name(tail))
    return f"/{path_stem}".endswith(f"/{end_stem}")


def _plain_stem(path: str) -> str:
    stem, _ = split_suffix(plain_name(path.rpartition("/")[2]))
    return stem
