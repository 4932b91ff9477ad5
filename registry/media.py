"""Where a row's video lies on this machine.

Looked for, in this order: every folder of `REELBENCH_MEDIA`, what `reelbench data fetch` brought
(`$REELBENCH_HOME/media/<benchmark>`), and the roots that a benchmark's media sources name. Under each root the layouts
of the sources are tried. Mini splits have clips of their own, made when they are first asked for.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from reelbench.registry import clips
from reelbench.registry.errors import InputError
from reelbench.registry.home import home
from reelbench.registry.loading import is_mini
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec

SUFFIXES = (".mp4", ".MP4", ".mkv", ".webm", ".mov", ".avi")
"""Tried in this order for a layout that names no suffix of its own."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A row whose video is not here."""

    id: str
    video: str
    looked_in: tuple[str, ...]


def fetched_root(spec: BenchmarkSpec) -> Path:
    """Return where `reelbench data fetch` puts the benchmark's videos."""
    return home() / "media" / spec.id


def roots(spec: BenchmarkSpec, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Return the folders that are searched, in order, whether or not they exist."""
    users = [Path(part).expanduser() for part in environ.get("REELBENCH_MEDIA", "").split(os.pathsep) if part]
    known = [
        Path(os.path.expandvars(root)).expanduser()
        for source in spec.media
        for root in source.roots
        if "$" not in os.path.expandvars(root)
    ]
    return [*users, fetched_root(spec), *known]


def candidates(spec: BenchmarkSpec, video: str) -> Iterator[str]:
    """Yield the relative paths where `video` may lie under a root."""
    if not video or Path(video).is_absolute() or ".." in Path(video).parts:
        raise InputError(f"{spec.id}: {video!r} is not a media key; expected a name without '..' and leading '/'")
    layouts = dict.fromkeys(layout for source in spec.media for layout in source.layouts)
    for layout in (*layouts, "{video}"):
        path = layout.format(video=video)
        if Path(path).suffix in SUFFIXES:
            yield path
        else:
            yield from (path + suffix for suffix in SUFFIXES)


class Library:
    """Finds the videos of one split; a folder is listed once, however many rows ask."""

    def __init__(self, spec: BenchmarkSpec, split: str) -> None:
        self.spec = spec
        self.split = split
        self.roots = roots(spec)
        self._listings: dict[Path, frozenset[str]] = {}

    def find(self, row: Row) -> Path | None:
        """Return the row's video, or None where it is missing."""
        if is_mini(self.split):
            return clips.mini_clip(self.spec.id, row["video"], row.get("duration"))
        names = list(candidates(self.spec, row["video"]))
        for root in self.roots:
            for name in names:
                path = root / name
                if path.name in self._listing(path.parent):
                    return path
        return None

    def missing(self, rows: Iterable[Row]) -> list[Missing]:
        """Return the rows whose video is not here."""
        looked_in = tuple(str(root) for root in self.roots)
        return [Missing(row["id"], row["video"], looked_in) for row in rows if self.find(row) is None]

    def _listing(self, folder: Path) -> frozenset[str]:
        # One scan of a folder instead of a stat per row, layout and suffix: half a million stats on 5,000 rows.
        if folder not in self._listings:
            try:
                with os.scandir(folder) as entries:
                    self._listings[folder] = frozenset(entry.name for entry in entries if entry.is_file())
            except (FileNotFoundError, NotADirectoryError):
                self._listings[folder] = frozenset()
        return self._listings[folder]
