"""The folders where a benchmark's videos may lie, and the paths that are tried in them.

In this order: every folder of `REELBENCH_MEDIA`, the folder of the user's own annotations, what
`reelbench data fetch` brought (`$REELBENCH_HOME/media/<benchmark>`), and the roots that a
benchmark's media sources name. Under each root the layouts of the sources are tried.
"""

import os
from pathlib import Path
from typing import NamedTuple

from reelbench.base import settings
from reelbench.base.containment import allowed_folders
from reelbench.base.settings import home
from reelbench.registry.spec import BenchmarkSpec, FileNextToDeclaration
from reelbench.registry.splits import user_data

VIDEO_SUFFIXES = (".mp4", ".MP4", ".mkv", ".webm", ".mov", ".avi", ".m4v", ".flv", ".ts", ".gif")
"""Tried in this order where a name has none of its own."""


def has_video_suffix(name: str) -> bool:
    """Return True where a file's name ends as a video's does, in any case."""
    return name.lower().endswith(VIDEO_SUFFIXES)


def fetched_root(spec: BenchmarkSpec) -> Path:
    """Return the folder into which `reelbench data fetch` puts the benchmark's videos."""
    return home() / "media" / spec.id


def roots(spec: BenchmarkSpec, data: Path | None = None) -> list[Path]:
    """Return the folders that are searched, in order, whether or not they exist.

    `data` is the user's own copy of the annotations.
    """
    folders = settings.MEDIA.paths
    user_copy = user_data(spec, data)
    if user_copy is not None:
        path, _ = user_copy
        folder = path.parent if path.is_file() else path
        folders.append(folder)
    folders.append(fetched_root(spec))
    folders += declared_roots(spec)
    if spec.file:
        folders += allowed_folders(spec.folder)
    return folders


def declared_roots(spec: BenchmarkSpec) -> list[Path]:
    """Return the roots that a benchmark's media sources name, where all variables are set.

    Those of a folder of somebody's were replaced when it was read, and held to what he may name.
    """
    is_foreign = bool(spec.file) and not spec.package
    folders: list[Path] = []
    for source in spec.media:
        for root in source.roots:
            path = root if is_foreign else os.path.expandvars(root)
            if is_foreign or "$" not in path:
                folders.append(settings.with_home_expanded(path))
    return folders


def layouts(spec: BenchmarkSpec) -> list[str]:
    """Return the paths of a video below a root that a benchmark's media sources name."""
    names: dict[str, None] = {}
    for source in spec.media:
        names.update(dict.fromkeys(source.layouts))
    names["{video}"] = None
    return list(names)


def path_in_layout(layout: str, video: str) -> str:
    """Return the place below a root that a layout gives a video.

    `{video}` is the row's path, `{name}` its last part.
    """
    return layout.format(video=video, name=video.rpartition("/")[2])


class Presence(NamedTuple):
    """The presence of a benchmark's rows and videos, a word or two each."""

    rows: str
    videos: str


def presence(spec: BenchmarkSpec) -> Presence:
    """Return the presence of a benchmark's rows and videos. Nothing is fetched or parsed."""
    folders = [str(root) for root in roots(spec) if root.is_dir() and any(root.iterdir())]
    videos = ", ".join(folders) or "none found; mini clips are made on first use"
    return Presence(_presence_of_rows(spec), videos)


def _presence_of_rows(spec: BenchmarkSpec) -> str:
    user_copy = user_data(spec, None)
    if user_copy is not None:
        path, origin = user_copy
        return origin if path.exists() else f"{origin}: {path} is not there"
    sources = [split.source for split in spec.splits.values()]
    files = [Path(source.path) for source in sources if isinstance(source, FileNextToDeclaration)]
    for file in files:
        if not file.is_file():
            return f"{file} is not there"
    if files:
        return ", ".join(dict.fromkeys(map(str, files)))
    saved = home() / "rows" / spec.id
    cached = [split for split in spec.splits if any(saved.glob(f"{split}-*"))]
    if cached:
        return f"cached: {', '.join(cached)}"
    if spec.open_data:
        return "fetched on first use"
    return f"on request: set {settings.data(spec.id).name}"
