"""Where a row's video lies on this machine.

Looked for, in this order: every folder of `REELBENCH_MEDIA`, the folder of the user's own
annotations, what `reelbench data fetch` brought (`$REELBENCH_HOME/media/<benchmark>`), and the
roots that a benchmark's media sources name. Under each root the layouts of the sources are tried. A
video is a file, or, where the source says so, folders of numbered pictures. Mini splits have clips
of their own, made when they are first asked for.
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base import settings
from reelbench.base.containment import allowed_folders, contained
from reelbench.base.errors import InputError
from reelbench.base.files import inside
from reelbench.base.languages import language_of
from reelbench.base.lazy import import_object
from reelbench.base.settings import home
from reelbench.registry.rows import Row, videos
from reelbench.registry.spec import BenchmarkSpec, FileBeside, ImageFolders, MediaSource
from reelbench.registry.splits import is_mini, user_data
from reelbench.video import mini_clips as clips
from reelbench.video import subtitles as subtitle_files
from reelbench.video.subtitles import Cue

if TYPE_CHECKING:
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.frame_store import FrameStore
    from reelbench.video.stored_frames import StoredFrames

log = logging.getLogger("reelbench")

VIDEO_SUFFIXES = (".mp4", ".MP4", ".mkv", ".webm", ".mov", ".avi", ".m4v", ".flv", ".ts", ".gif")
"""Tried in this order for a layout that names no suffix of its own."""

_PROBES = 4
_TOLD: set[Path] = set()


@dataclass(frozen=True, slots=True)
class Missing:
    """A row whose video is not here, or is not a video: `broken` then says what is wrong with the file."""

    id: str
    video: str
    looked_in: tuple[str, ...]
    broken: str | None = None


def where_looked(spec: BenchmarkSpec, missing: Sequence[Missing]) -> str:
    """Return a line on videos that are not here: the first, why, and what lists them all."""
    why = (
        missing[0].broken
        or f"looked in {', '.join(missing[0].looked_in)}; REELBENCH_MEDIA names other folders"
    )
    return f"(first: {missing[0].video}; {why}); `reelbench data check {spec.id}` lists them"


@dataclass(frozen=True, slots=True)
class PictureSequence:
    """A video that is there as pictures: their files in order, and when each was on screen.

    `timestamps` are seconds from the first picture. `fps` is the rate that the owners state.
    """

    paths: tuple[Path, ...]
    timestamps: tuple[float, ...]
    fps: float


def fetched_root(spec: BenchmarkSpec) -> Path:
    """Return the folder into which `reelbench data fetch` puts the benchmark's videos."""
    return home() / "media" / spec.id


def roots(spec: BenchmarkSpec, data: Path | None = None) -> list[Path]:
    """Return the folders that are searched, in order, whether or not they exist; `data` is the user's own data."""
    users = settings.MEDIA.paths
    if (named := user_data(spec, data)) is not None:
        users.append(named[0].parent if named[0].is_file() else named[0])
    outside = allowed_folders(spec.folder) if spec.file else []
    return [*users, fetched_root(spec), *_stated_roots(spec), *outside]


def presence(spec: BenchmarkSpec) -> tuple[str, str]:
    """Return the presence of a benchmark's rows and videos, a word or two each; nothing is fetched or parsed."""
    folders = [str(root) for root in roots(spec) if root.is_dir() and any(root.iterdir())]
    videos = ", ".join(folders) or "none found; mini clips are made on first use"
    beside = [
        Path(split.source.path)
        for split in spec.splits.values()
        if isinstance(split.source, FileBeside)
    ]
    saved = home() / "rows" / spec.id
    cached = [split for split in spec.splits if any(saved.glob(f"{split}-*"))]
    if (named := user_data(spec, None)) is not None:
        path, origin = named
        return origin if path.exists() else f"{origin}: {path} is not there", videos
    if absent := [path for path in beside if not path.is_file()]:
        return f"{absent[0]} is not there", videos
    if beside:
        return ", ".join(dict.fromkeys(map(str, beside))), videos
    if cached:
        return f"cached: {', '.join(cached)}", videos
    return (
        "fetched on first use"
        if spec.open_data
        else f"on request: set {settings.data(spec.id).name}",
        videos,
    )


def _stated_roots(spec: BenchmarkSpec) -> list[Path]:
    expanded = (os.path.expandvars(root) for source in spec.media for root in source.roots)
    return [settings.expanded(root) for root in expanded if "$" not in root]


def candidates(spec: BenchmarkSpec, video: str) -> Iterator[str]:
    """Yield the relative paths where `video` may lie under a root."""
    inside(Path(), video, f"{spec.id}: media key ")
    layouts = dict.fromkeys(layout for source in spec.media for layout in source.layouts)
    for layout in (*layouts, "{video}"):
        path = layout.format(video=video)
        if has_video_suffix(path):
            yield path
        else:
            yield from (path + suffix for suffix in VIDEO_SUFFIXES)


def has_video_suffix(name: str) -> bool:
    """Whether a file's name ends as a video's does, in small or capital letters."""
    return name.lower().endswith(VIDEO_SUFFIXES)


class Library:
    """Finds the videos of one split; a folder is listed once, however many rows ask.

    Mini clips are made when they are asked for; with `make=False` only those that were made before
    are found.
    """

    def __init__(
        self, spec: BenchmarkSpec, split: str, data: Path | None = None, *, make: bool = True
    ) -> None:
        self.spec = spec
        self.split = split
        self.make = make
        self.roots = roots(spec, data)
        # Said once of a folder that the user named: its videos would be missing without a word.
        for folder in settings.MEDIA.paths if make and not is_mini(split) else ():
            if folder not in _TOLD and not folder.is_dir():
                log.warning(
                    "%s=%s: no such folder, so no video is looked for there",
                    settings.MEDIA.name,
                    folder,
                )
            _TOLD.add(folder)
        self._searched = [clips.folder(spec.id)] if is_mini(split) else self.roots
        own = _stated_roots(spec) if spec.file else []
        self._own_roots = frozenset(root for root in own if root.is_relative_to(spec.folder))
        self._listings: dict[str, tuple[frozenset[str], tuple[str, ...]]] = {}
        self._in_pictures = next(
            ((source, source.images) for source in spec.media if source.images), None
        )
        self.in_pictures = self._in_pictures is not None
        """Whether the benchmark's videos are there as pictures."""
        self._broken: dict[tuple[Path, ...], str | None] = {}
        self._pictures: dict[tuple[str, ...], PictureSequence | None] = {}
        self._cues: dict[Path, list[Cue]] = {}

    def find(self, row: Row) -> Path | None:
        """Return the row's video, or None where it is missing; of a video in pictures, the first one."""
        if self._in_pictures is not None:
            pictures = self.pictures(row)
            return pictures.paths[0] if pictures else None
        if is_mini(self.split) and self.make:
            return clips.mini_clip(self.spec.id, row["video"], row.get("duration"))
        return self._first(candidates(self.spec, row["video"]))

    def _first(self, names: Iterable[str]) -> Path | None:
        """Return the first such file below a root; InputError where the benchmark's own folder has a link leading out.

        All names are looked for below one root before the next.
        """
        places = [os.path.split(name) for name in names]
        for root in self._searched:
            for folder, name in places:
                if name in self._listing(f"{root}/{folder}")[0]:
                    path = root / folder / name
                    if root not in self._own_roots:
                        return path
                    others = [other for other in self.roots if other not in self._own_roots]
                    return contained(self.spec.folder, path, media=True, also=others)
        return None

    def path_below_root(self, row: Row, path: Path | None) -> str:
        """Return the path of the row's video below its root; of a missing one (`path` is None) the likeliest."""
        if path is None:
            return next(iter(candidates(self.spec, row["video"])), row["video"])
        root = next((root for root in self.roots if path.is_relative_to(root)), path.parent)
        return path.relative_to(root).as_posix()

    def find_named(self, path: str) -> Path | None:
        """Return a file that another file names, where it lies in a folder that is searched; a stranger names any."""
        try:
            file = Path(path).resolve(strict=True)
        except (OSError, ValueError):
            return None
        return (
            file
            if file.is_file()
            and any(file.is_relative_to(root.resolve()) for root in self._searched)
            else None
        )

    def subtitles(self, row: Row) -> Path | None:
        """Return the file of subtitles beside the row's video, or beside where that would be; None where none is.

        It has the video's name with `.srt` or `.vtt`, or the question's language before that:
        `film.ja.vtt`.
        """
        stems = dict.fromkeys(
            Path(name).with_suffix("") for name in candidates(self.spec, row["video"])
        )
        tags = ("", f".{row['language']}", f".{language_of(row['language'])}")
        ends = [f"{tag}{suffix}" for tag in tags for suffix in subtitle_files.SUFFIXES]
        return self._first(f"{stem}{end}" for stem in stems for end in ends)

    def cues(self, row: Row, sampling: "FrameSampling") -> list[Cue] | None:
        """Return the subtitles that go with a row's frames; None where the sampling asks for none.

        MediaError where the file can't be read.
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
        """Return a line where some rows have no subtitles that are asked for, or None; InputError where none has."""
        lacking = (
            [row for row in rows if self.subtitles(row) is None] if sampling.subs == "file" else []
        )
        if not lacking:
            return None
        first = f"first: {lacking[0]['video']}"
        if len(lacking) == len(rows):
            folders = ", ".join(map(str, self._searched))
            raise InputError(
                f"subs=file: no video has a .srt or .vtt beside it ({first}; looked in {folders})"
            )
        return f"{len(lacking)} of {len(rows)} questions have no subtitles beside their video ({first}) and go without"

    def pictures(self, row: Row) -> PictureSequence | None:
        """Return the row's pictures; None where none is here, or where the benchmark's videos are files.

        Folders that are not there are skipped: the owners' own lists name shots without pictures.
        """
        if self._in_pictures is None:
            return None
        source, images = self._in_pictures
        folders = tuple(import_object(images.folders)(row))
        for folder in folders:
            inside(Path(), folder, f"{self.spec.id}: media key ")
        if folders not in self._pictures:  # many questions share a scene of a thousand pictures
            self._pictures[folders] = self._pictures_at(source, images, folders)
        return self._pictures[folders]

    def missing(self, rows: Iterable[Any]) -> list[Missing]:
        """Return the rows whose video is not here or can't be read."""
        looked_in = tuple(str(root) for root in self.roots)
        found: list[
            tuple[str, str, tuple[Path, ...]]
        ] = []  # the files of which one must be readable
        for row in ({**asked, "video": video} for asked in rows for video in videos(asked)):
            pictures = self.pictures(row)
            files = (
                pictures.paths if pictures else tuple(path for path in (self.find(row),) if path)
            )
            found.append((row["id"], row["video"], files))
        if not is_mini(self.split):
            from reelbench.video import playable

            def probe(files: tuple[Path, ...]) -> None:
                for path in files:
                    self._broken[files] = playable.defect(path)
                    if self._broken[files] is None:
                        return

            with ThreadPoolExecutor(max_workers=_PROBES) as pool:
                list(pool.map(probe, dict.fromkeys(files for _, _, files in found)))
        lacking: dict[str, Missing] = {}  # of a row with several videos the first
        for name, video, files in found:
            if not files or self._broken.get(files) is not None:
                lacking.setdefault(name, Missing(name, video, looked_in, self._broken.get(files)))
        return list(lacking.values())

    def clip(self, row: Row) -> Path | None:
        """Return the row's video as one file: its own, or a clip made of all its pictures on their own time line."""
        if self.pictures(row) is None:
            return self.find(row)
        from reelbench.registry.sampling import FrameSampling

        stored = self.frames(row, FrameSampling(kind="all"))
        return stored.path if stored else None

    def frames(
        self, row: Row, sampling: "FrameSampling", *, even: bool = False
    ) -> "StoredFrames | None":
        """Return the row's frames from the store, decoded now or earlier; None where the video is missing.

        `sampling` is one that decodes; for `even` and the errors see `FrameStore.get`.
        """
        pictures = self.pictures(row)
        if pictures is None:
            video = self.find(row)
            return self._store.get(video, sampling, even=even) if video else None
        from reelbench.base.errors import MediaError

        shown = dict(zip(pictures.paths, pictures.timestamps, strict=True))
        while shown:
            try:
                return self._store.get_images(
                    tuple(shown), sampling, tuple(shown.values()), even=even
                )
            except MediaError as error:
                if error.path not in shown:
                    raise
                log.warning("%s: a picture of %s is left out: %s", self.spec.id, row["id"], error)
                del shown[error.path]
        return None

    @cached_property
    def _store(self) -> "FrameStore":
        from reelbench.video.frame_store import FrameStore

        return FrameStore()

    def _pictures_at(
        self, source: MediaSource, images: ImageFolders, folders: Sequence[str]
    ) -> PictureSequence | None:
        if is_mini(self.split) and self.make:
            clips.mini_pictures(self.spec.id, source.layouts[0], folders)
        for root in self._searched:
            for layout in (*source.layouts, "{video}"):
                places = [root / layout.format(video=folder) for folder in folders]
                # Two shots may hold the same moment: a number that does not rise is not shown
                # again.
                rising: list[tuple[int, Path]] = []
                for number, path in (
                    picture
                    for place in places
                    for picture in self._numbered_pictures(place, images)
                ):
                    if not rising or number > rising[-1][0]:
                        rising.append((number, path))
                if rising:
                    times = tuple(
                        (number - rising[0][0]) / images.numbers_per_second for number, _ in rising
                    )
                    return PictureSequence(tuple(path for _, path in rising), times, images.fps)
        return None

    def _numbered_pictures(self, folder: Path, images: ImageFolders) -> list[tuple[int, Path]]:
        """Return a folder's pictures by number; a folder without any has those of its folders."""
        files, folders = self._listing(str(folder))
        matches = [(re.fullmatch(images.number, name), folder / name) for name in files]
        pictures = sorted((int(match[1]), path) for match, path in matches if match is not None)
        return pictures or [
            picture
            for name in folders
            for picture in self._numbered_pictures(folder / name, images)
        ]

    def _listing(self, folder: str) -> tuple[frozenset[str], tuple[str, ...]]:
        # One scan of a folder instead of a stat per row, layout and suffix: half a million stats on
        # 5,000 rows.
        if folder not in self._listings:
            try:
                with os.scandir(folder) as entries:
                    here = list(entries)
            except (FileNotFoundError, NotADirectoryError):
                here = []
            files = frozenset(entry.name for entry in here if entry.is_file())
            self._listings[folder] = (
                files,
                tuple(sorted(entry.name for entry in here if entry.is_dir())),
            )
        return self._listings[folder]
