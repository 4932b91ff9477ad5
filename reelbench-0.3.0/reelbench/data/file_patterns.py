"""Names of files with `*`, which stand for all files that match."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from reelbench.base import settings
from reelbench.base.files import read_record, write_json

_RECORD = "hub_patterns.json"
"""In the user's home: the files that a pattern stands for at a commit of a repository."""


def is_pattern(name: str) -> bool:
    """Return True for a name that stands for several files."""
    return "*" in name


def matching(names: Iterable[str], pattern: str) -> tuple[str, ...]:
    """Return the names that a pattern stands for, in order. `*` goes past folders, too."""
    return tuple(sorted(name for name in names if fnmatchcase(name, pattern)))


def matching_files(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Return the files in a folder, or two folders below, that a pattern stands for."""
    names: list[str] = []
    for depth in ("*", "*/*", "*/*/*"):
        for file in folder.glob(depth):
            if file.is_file():
                names.append(file.relative_to(folder).as_posix())
    return tuple(folder / name for name in matching(names, pattern))


def recorded_names(repo_id: str, commit: str, pattern: str) -> tuple[str, ...]:
    """Return the files that a pattern stood for. Empty where nobody asked yet."""
    record = read_record(settings.home() / _RECORD) or {}
    return tuple(record.get(_key(repo_id, commit, pattern), ()))


def record_names(repo_id: str, commit: str, pattern: str, names: Iterable[str]) -> None:
    """Record the files that a pattern stands for at a commit."""
    file = settings.home() / _RECORD
    record = read_record(file) or {}
    write_json(file, {**record, _key(repo_id, commit, pattern): list(names)})


def _key(repo_id: str, commit: str, pattern: str) -> str:
    return f"{repo_id}@{commit}:{pattern}"
