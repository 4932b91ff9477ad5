"""The splits of a benchmark: their names, their mini twins, and the user's own copies."""

from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.registry.spec import (
    BenchmarkSpec,
    FileNextToDeclaration,
    HubFile,
    Source,
    SplitSpec,
    UrlFile,
)

MINI = "mini"
"""The mini split, and the folder of a benchmark with its data in the owners' file format."""


def is_mini(split: str) -> bool:
    """Return True for a mini split: `mini` (the default split's twin) or `mini_<split>`."""
    return split == MINI or split.startswith(f"{MINI}_")


def upstream_split(spec: BenchmarkSpec, split: str) -> str:
    """Return the owners' split that `split` is, or is the mini twin of."""
    if split == MINI:
        return spec.default_split
    if is_mini(split):
        return split.removeprefix(f"{MINI}_")
    return split


def split_spec(spec: BenchmarkSpec, split: str) -> SplitSpec:
    """Return a split's declaration. InputError names the splits that there are."""
    if split not in spec.splits:
        raise InputError(f"{spec.id} has no split {split!r}; it has {', '.join(spec.splits)}, mini")
    return spec.splits[split]


class UserData(NamedTuple):
    """The path of the user's own data, and the option or variable that names it."""

    path: Path
    named_by: str


def user_data(spec: BenchmarkSpec, data: Path | None) -> UserData | None:
    """Return the user's own data. None where the user names none."""
    if data is not None:
        return UserData(settings.with_home_expanded(data), "--data")
    variable = settings.data(spec.id)
    value = variable.get()
    if not value:
        return None
    return UserData(settings.with_home_expanded(value), variable.name)


def expected_files(source: Source, *, published: bool = False) -> tuple[str, ...]:
    """Return the names that a source's file may have, the best first.

    With `published` only those of its owners.
    """
    if isinstance(source, FileNextToDeclaration):
        return (Path(source.path).name,)
    if isinstance(source, UrlFile):
        path = unquote(urlsplit(source.url).path)
        return (PurePosixPath(path).name,)
    if isinstance(source, HubFile) and not published:
        return (*source.filenames, *source.local_names)
    return source.filenames
