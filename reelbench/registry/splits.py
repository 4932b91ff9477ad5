"""The splits of a benchmark: their names, their mini twins, and where the user's own copy of one lies."""

from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.registry.spec import BenchmarkSpec, FileBeside, Source, SplitSpec, UrlFile

MINI = "mini"
"""The mini split, and the folder in a benchmark's own that holds its data in the owners' file format."""


def is_mini(split: str) -> bool:
    """Whether `split` is one of the mini splits: `mini` (the default split's twin) or `mini_<split>`."""
    return split == MINI or split.startswith(f"{MINI}_")


def upstream_split(spec: BenchmarkSpec, split: str) -> str:
    """Return the owners' split that `split` is, or is the mini twin of."""
    if not is_mini(split):
        return split
    return split.removeprefix(f"{MINI}_") if split != MINI else spec.default_split


def split_spec(spec: BenchmarkSpec, split: str) -> SplitSpec:
    """Return a split's declaration; InputError names the splits that there are."""
    if split not in spec.splits:
        raise InputError(f"{spec.id} has no split {split!r}; it has {', '.join(spec.splits)}, mini")
    return spec.splits[split]


def user_data(spec: BenchmarkSpec, data: Path | None) -> tuple[Path, str] | None:
    """Return the path that the user named and how they named it; None where they named none."""
    if data is not None:
        return settings.expanded(data), "--data"
    variable = settings.data(spec.id)
    if value := variable.get():
        return settings.expanded(value), variable.name
    return None


def expected_files(source: Source, *, published: bool = False) -> tuple[str, ...]:
    """Return the names that a source's file may have, the best first; where `published`, only those of its owners."""
    if isinstance(source, FileBeside):
        return (Path(source.path).name,)
    if isinstance(source, UrlFile):
        return (PurePosixPath(unquote(urlsplit(source.url).path)).name,)
    return (
        source.filenames if published else (*source.filenames, *getattr(source, "local_names", ()))
    )
