"""Where a row's video lies on this machine.

A video is a file, or, where the media source says so, folders of numbered pictures. The folders
that are searched are in `media_roots`. Mini splits have clips of their own, made when they are
first asked for.
"""

import logging
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base import settings
from reelbench.base.containment import all_allowed_folders, contained
from reelbench.base.errors import InputError, ReelbenchError, first_of
from reelbench.base.files import path_inside
from reelbench.base.languages import language_of
from reelbench.registry.rows import Row, videos
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini
from reelbench.video import media_roots, mini_clips, pictures_beside
from reelbench.video import subtitles as subtitle_files
from reelbench.video.file_match import (
    FileMatch,
    SeveralFilesError,
    VideoFile,
    conflicts_of_shared_files,
    note_on_other_names,
    path_tails,
)
from reelbench.video.folder_listings import FolderListings
from reelbench.video.picture_folders import PictureFolders, PictureSequence
from reelbench.video.subtitles import Cue

if TYPE_CHECKING:
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.frame_store import FrameStore

log = logging.getLogger("reelbench")

_PROBES = 4

_WARNED: set[Path] = set()
"""Folders of the user that were looked at for a warning."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A row whose video is not here, or is not a video."""

    id: str
    video: str
    searched_folders: tuple[str, ...]

    broken: str | None = None
    """The fault of the file, where there is one."""

    name_in_other_case: str | None = None
    """The name of a file that differs in nothing but the case."""

    is_folder: bool = False
    """True where there is a folder of that name."""

    @property
    def hint(self) -> str:
        """The end of a line on where it was looked for, maybe empty."""
        if self.is_folder:
            return (
                "; a folder has that name: of numbered pictures `media: {frames: 3}`, if 3 a second"
            )
        if self.name_in_other_case is None:
            return ""
        return f"; {self.name_in_other_case!r} is there, which differs in case"


def where_looked(spec: BenchmarkSpec, missing: Sequence[Missing]) -> str:
    """Return a line on missing videos: the first, why, and what lists all."""
    first = missing[0]
    folders = ", ".join(first.searched_folders)
    reason = first.broken or f"looked in {folders}{first.hint}"
    return (
        f"(first: {first.video}; {reason}); `reelbench data check {spec.id}` lists them; "
        f"{advice_on_missing(spec)}"
    )


def advice_on_missing(spec: BenchmarkSpec) -> str:
    """Return the options for videos in another folder, and for none."""
    other_folders = "REELBENCH_MEDIA names other folders"
    if spec.file and not spec.package:
        other_folders += f", or `reelbench check {spec.id} --allow-outside DIR`"
    return f"{other_folders}; without videos: `eval --frames none`, `check --no-media`"


class _LocatedVideo(NamedTuple):
    """One of a row's videos, its files, and why these are not it."""

    id: str
    video: str
    files: tuple[Path, ...]
    fault: str | None = None


def _warn_of_absent_folders() -> None:
    """Tell once of each folder that the user named and that is absent.

    Its videos would else be missing without a word.
    """
    for folder in settings.MEDIA.paths:
        if folder not in _WARNED and not folder.is_dir():
            log.warning(
                "%s=%s: no such folder, so no video is looked for there",
                settings.MEDIA.name,
                folder,
            )
        _WARNED.add(folder)


def _roots_in_folder(spec: BenchmarkSpec) -> frozenset[Path]:
    """Return the roots in the folder of a benchmark that a file declares."""
    if not spec.file:
        return frozenset()
    roots = media_roots.declared_roots(spec)
    return frozenset(root for root in roots if root.is_relative_to(spec.folder))


class Library:
    """Finds the videos of one split. A folder is listed once, however many rows ask.

    Mini clips are made when they are asked for; with `make=False` only those that were made before
    are found.
    """

    def __init__(
        self, spec: BenchmarkSpec, split: str, data: Path | None = None, *, make: bool = True
    ) -> None:
        self.spec = spec
        self.split = split
        self.roots = media_roots.roots(spec, data)
        self._makes_clips = make and is_mini(split)
        self._search_roots = self.roots
        if is_mini(split):
            self._search_roots = [mini_clips.folder(spec.id)]
        elif make:
            _warn_of_absent_folders()
        self._benchmark_roots = _roots_in_folder(spec)
        self._listings = FolderListings()
        self._match = FileMatch(self._search_roots, media_roots.layouts(spec), self._listings)
        self._match_by_video: dict[str, VideoFile | None] = {}
        self._picture_folders: PictureFolders | None = None
        for source in spec.media:
            if source.images and self._picture_folders is None:
                self._picture_folders = PictureFolders(source, self._search_roots, self._listings)
        self.in_pictures = self._picture_folders is not None
        """True where the benchmark's videos are there as pictures."""
        self._pictures: dict[tuple[str, ...], PictureSequence | None] = {}
        self._video_defects: dict[tuple[Path, ...], str | None] = {}
        self._picture_defects: dict[str, str | None] = {}
        self._cues: dict[Path, list[Cue]] = {}

    @cached_property
    def store(self) -> "FrameStore":
        """The store in which frames of the split's videos are kept."""
        from reelbench.video.frame_store import FrameStore

        return FrameStore()

    # --- videos

    def find(self, row: Row) -> Path | None:
        """Return the row's video, or None where it is missing; of pictures the first one."""
        if self.in_pictures:
            pictures = self.pictures(row)
            return pictures.paths[0] if pictures else None
        if self._makes_clips:
            return mini_clips.mini_clip(self.spec.id, row["video"], row.get("duration"))
        file = self.match(row["video"])
        return file.path if file else None

    def match(self, video: str) -> VideoFile | None:
        """Return the file of a row's video, and how it was found.

        Raises:
            SeveralFilesError: Several files fit.
            InputError: A link of the benchmark's own folder leads out of it.
        """
        if video not in self._match_by_video:
            file = self._match.find(video)
            if file is not None:
                self._check_link(file.root, file.path)
            self._match_by_video[video] = file
        return self._match_by_video[video]

    def find_named(self, path: str) -> Path | None:
        """Return a video that another file names, if it is the user's.

        The other file may be a stranger's, and name anything: the folders are those that are
        searched, and those that the user allowed one of his benchmarks. A result doesn't say where
        its benchmark's folder is.
        """
        try:
            file = Path(path).resolve(strict=True)
        except (OSError, ValueError):
            return None
        if not file.is_file():
            return None
        roots = list(self._search_roots)
        if media_roots.has_video_suffix(file.name):
            roots += all_allowed_folders()
        for root in roots:
            if file.is_relative_to(root.resolve()):
                return file
        return None

    def path_below_root(self, row: Row, path: Path | None) -> str:
        """Return the path of the row's video below its root.

        Of a missing one, where `path` is None, it is the likeliest.
        """
        if path is None:
            return self._likely_paths(row["video"])[0]
        for root in self.roots:
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix()
        return path.name

    def _likely_paths(self, video: str) -> list[str]:
        """Return the paths below a root at which a video is looked for first."""
        [end, *_] = path_tails(video)
        candidate_paths: list[str] = []
        for layout in media_roots.layouts(self.spec):
            candidate_path = media_roots.path_in_layout(layout, end.path)
            if not media_roots.has_video_suffix(candidate_path):
                candidate_path += ".mp4"
            candidate_paths.append(candidate_path)
        return candidate_paths

    def _first_existing_file(self, names: Iterable[str]) -> Path | None:
        """Return the first of some files below a root.

        All names are looked for below one root before the next.

        Raises:
            InputError: The benchmark's own folder has a link that leads out.
        """
        candidate_paths = [os.path.split(name) for name in names]
        for root in self._search_roots:
            for folder, name in candidate_paths:
                if name in self._listings.of(f"{root}/{folder}").files:
                    path = root / folder / name
                    self._check_link(root, path)
                    return path
        return None

    def _check_link(self, root: Path, path: Path) -> None:
        """Raise InputError where a link leads out of the benchmark's own folder."""
        if root in self._benchmark_roots:
            user_roots = [folder for folder in self.roots if folder not in self._benchmark_roots]
            contained(self.spec.folder, path, media=True, also=user_roots)

    # --- pictures

    def pictures_beside(self, row: Row) -> tuple[Path, ...]:
        """Return the pictures that are shown with the row's video.

        Raises:
            InputError: One is missing, is none by its name, or a link leads to it.
        """
        paths: list[Path] = []
        for name in pictures_beside.names_of_pictures(row):
            path = self.find_picture(name)
            if path is None:
                raise InputError(f"the picture {name!r} is not here")
            paths.append(path)
        return tuple(paths)

    def find_picture(self, name: str) -> Path | None:
        """Return the picture that a row names. None where it is missing.

        Raises:
            InputError: It is none by its name, or a link leads out of the benchmark's own folder.
        """
        layouts = media_roots.layouts(self.spec)
        return pictures_beside.find(name, layouts, self._first_existing_file)

    def picture_defect(self, name: str) -> str | None:
        """Return why a picture beside a video can't be shown. None where it can."""
        if name not in self._picture_defects:
            self._picture_defects[name] = None
            try:
                path = self.find_picture(name)
                if path is None:
                    folders = first_of(list(map(str, self._search_roots)))
                    self._picture_defects[name] = f"the picture is missing: not in {folders}"
                else:
                    pictures_beside.check(path)
            except ReelbenchError as error:
                self._picture_defects[name] = str(error)
        return self._picture_defects[name]

    def pictures(self, row: Row) -> PictureSequence | None:
        """Return the row's pictures. None where none is here, or videos are files."""
        finder = self._picture_folders
        if finder is None:
            return None
        folders = finder.folders_of(row)
        for folder in folders:
            path_inside(Path(), folder, f"{self.spec.id}: media key ")
        if folders not in self._pictures:  # many questions share a scene of a thousand pictures
            if self._makes_clips:
                mini_clips.mini_pictures(self.spec.id, finder.layout, folders)
            self._pictures[folders] = self._check_picture_links(finder.find(folders))
        return self._pictures[folders]

    def _check_picture_links(self, pictures: PictureSequence | None) -> PictureSequence | None:
        """Return pictures, none of which a link of the benchmark's own folder leads out to."""
        if pictures is None:
            return None
        for root in self._benchmark_roots:
            for path in pictures.paths:
                if path.is_relative_to(root):
                    self._check_link(root, path)
        return pictures

    # --- subtitles

    def subtitles(self, row: Row) -> Path | None:
        """Return the file of subtitles beside the row's video, or beside where that would be.

        It has the video's name with `.srt` or `.vtt`, or the question's language before that:
        `film.ja.vtt`.
        """
        candidate_paths = self._likely_paths(row["video"])
        if not self.in_pictures:
            with suppress(SeveralFilesError):  # told where the video is looked for
                file = self.match(row["video"])
                if file is not None:
                    candidate_paths.insert(0, file.path.relative_to(file.root).as_posix())
        names = _subtitle_names(candidate_paths, row["language"])
        return self._first_existing_file(names)

    def cues(self, row: Row, sampling: "FrameSampling") -> list[Cue] | None:
        """Return the subtitles that go with a row's frames.

        Returns:
            The subtitles. None where the sampling asks for none.

        Raises:
            MediaError: The file can't be read.
        """
        if sampling.subs == "none":
            return None
        path = self.subtitles(row)
        if path is None:
            return []
        if path not in self._cues:  # many questions share a film
            self._cues[path] = subtitle_files.read(path)
        return subtitle_files.within(self._cues[path], *sampling.window)

    def check_subtitles(self, rows: Sequence[Any], sampling: "FrameSampling") -> str | None:
        """Return a line where some rows have no subtitles that are asked for, or None.

        Raises:
            InputError: No row has any.
        """
        if sampling.subs != "file":
            return None
        rows_without = [row for row in rows if self.subtitles(row) is None]
        if not rows_without:
            return None
        first = f"first: {rows_without[0]['video']}"
        if len(rows_without) == len(rows):
            folders = ", ".join(map(str, self._search_roots))
            raise InputError(
                f"subs=file: no video has a .srt or .vtt beside it ({first}; looked in {folders})"
            )
        return (
            f"{len(rows_without)} of {len(rows)} questions have no subtitles beside their video "
            f"({first}) and go without"
        )

    # --- missing videos

    def missing(self, rows: Iterable[Any]) -> list[Missing]:
        """Return the rows whose video is not here, can't be read, or may be another's."""
        located_videos: list[_LocatedVideo] = []
        for row in rows:
            for video in videos(row):
                row_of_video = {**row, "video": video}
                located_videos.append(self._locate_video(row_of_video))
            located_videos += self._pictures_without_file(row)
        if not is_mini(self.split):
            self._probe_videos(dict.fromkeys(located.files for located in located_videos))
        file_by_video: dict[str, VideoFile | None] = {}
        for located in located_videos:
            file_by_video[located.video] = self._match_by_video.get(located.video)
        conflicts = conflicts_of_shared_files(file_by_video)
        missing_by_id: dict[str, Missing] = {}
        for located in located_videos:
            fault = (
                located.fault
                or self._video_defects.get(located.files)
                or conflicts.get(located.video)
            )
            if located.files and fault is None:
                continue
            # Of a row with several videos the first missing one is told.
            missing_by_id.setdefault(located.id, self._missing_video(located, fault))
        return list(missing_by_id.values())

    def _missing_video(self, located: _LocatedVideo, fault: str | None) -> Missing:
        """Return a missing video with hints on why it was not found."""
        name_in_other_case = None
        if fault is None:
            name_in_other_case = self._match.name_in_other_case(located.video)
        return Missing(
            id=located.id,
            video=located.video,
            searched_folders=tuple(map(str, self.roots)),
            broken=fault,
            name_in_other_case=name_in_other_case,
            is_folder=self._is_folder(located.video),
        )

    def _is_folder(self, video: str) -> bool:
        """Return True where a folder has the name of a video."""
        if self.in_pictures:
            return False
        for root in self._search_roots:
            for layout in media_roots.layouts(self.spec):
                parent, _, name = media_roots.path_in_layout(layout, video).rpartition("/")
                if name in self._listings.of(f"{root}/{parent}").folders:
                    return True
        return False

    def _locate_video(self, row: Row) -> _LocatedVideo:
        """Return a row's video with its files, of which one must be readable."""
        name, video = row["id"], row["video"]
        pictures = self.pictures(row)
        if pictures:
            return _LocatedVideo(name, video, pictures.paths)
        try:
            path = self.find(row)
        except SeveralFilesError as error:
            return _LocatedVideo(name, video, (), str(error))
        if path is None:
            return _LocatedVideo(name, video, ())
        return _LocatedVideo(name, video, (path,))

    def _pictures_without_file(self, row: Row) -> list[_LocatedVideo]:
        """Return the pictures beside a row's video that can't be shown, and why."""
        unusable: list[_LocatedVideo] = []
        for name in pictures_beside.names_of_pictures(row):
            fault = self.picture_defect(name)
            if fault is not None:
                unusable.append(_LocatedVideo(row["id"], name, (), fault))
        return unusable

    def note_on_other_names(self) -> str | None:
        """Return a line on videos that were found by another name, or None."""
        return note_on_other_names(self._match_by_video)

    def _probe_videos(self, file_groups: Iterable[tuple[Path, ...]]) -> None:
        """Open each video, and note the defects of those that can't be read."""
        from reelbench.video import playable

        def probe(files: tuple[Path, ...]) -> None:
            for path in files:
                self._video_defects[files] = playable.defect(path)
                if self._video_defects[files] is None:
                    return  # of several pictures one that can be shown is enough

        with ThreadPoolExecutor(max_workers=_PROBES) as pool:
            list(pool.map(probe, file_groups))


def _subtitle_names(candidate_paths: Iterable[str], language: str) -> list[str]:
    """Return the possible names of a video's subtitles, in order."""
    stems = dict.fromkeys(
        Path(candidate_path).with_suffix("") for candidate_path in candidate_paths
    )
    tags = ("", f".{language}", f".{language_of(language)}")
    names: list[str] = []
    for stem in stems:
        for tag in tags:
            for suffix in subtitle_files.SUFFIXES:
                names.append(f"{stem}{tag}{suffix}")
    return names
