"""Where a split's annotations are: the user's own file or folder first, else the spec's source.

Never the mini data in place of the real ones: that split is asked for by name.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import unquote, urlsplit

from reelbench.registry import settings
from reelbench.registry.data import hub
from reelbench.registry.errors import DataUnavailableError, InputError, first_of
from reelbench.registry.spec import BenchmarkSpec, FileBeside, HubFile, LocalFile, Source, SplitSpec, UrlFile


@dataclass(frozen=True)
class Resolved:
    """Files on disk, and where they are from.

    `location` is what a result records: a repository id, a URL, or the path that the user gave. `revision` is the
    commit of a repository, and None for the others.
    """

    paths: tuple[Path, ...]
    kind: Literal["hub", "url", "local"]
    location: str
    revision: str | None = None


def resolve(spec: BenchmarkSpec, split: str, data: Path | None = None, *, refresh: bool = False) -> Resolved:
    """Find the annotation files of a split, fetching them where the spec's source allows it.

    Looked at in this order: `data` (a file, or a folder in upstream layout), the variable `REELBENCH_DATA_<ID>`, the
    split's source. `refresh` takes what `main` is now, and downloads a URL's file again; a pinned commit stays.
    InputError where the split is unknown, or what the user named is not there or holds none of the expected files;
    DataUnavailableError where the data is not here and could not be fetched, or may not be.
    """
    declared = split_spec(spec, split)
    source = declared.source
    if (named := user_data(spec, data)) is not None:
        path, origin = named
        return Resolved(find_files(path, expected_files(source), declared.joined, origin), "local", str(path))
    if isinstance(source, FileBeside):
        if not source.path:
            raise DataUnavailableError(f"{spec.id}: a result alone declares it here; name its benchmark.yaml")
        if not Path(source.path).is_file():
            raise DataUnavailableError(f"{spec.id}: the rows of {split!r} are not there: {source.path}")
        return Resolved((Path(source.path),), "local", Path(source.path).name)
    if isinstance(source, LocalFile) or not spec.open_data:
        raise DataUnavailableError(how_to_supply(spec, source))
    if isinstance(source, UrlFile):
        from reelbench.registry.data import download

        path = download.place(source.url)
        if refresh or download.recorded(path) is None:
            if hub.offline():
                raise DataUnavailableError(f"{source.url}: not in {path.parent} and HF_HUB_OFFLINE is set; unset it")
            download.download(source.url, path, sha256=source.sha256, again=refresh)
        return Resolved((path,), "url", source.url)
    commit = hub.resolve_commit(source.repo_id, source.revision, refresh=refresh)
    name = next((name for name in source.filenames if hub.in_cache(source.repo_id, name, commit) is not None), None)
    copy = f"give a copy with --data or {settings.data(spec.id).name}"
    if name is None and hub.offline():
        raise DataUnavailableError(
            f"{spec.id}: {source.repo_id} at {commit[:12]} is not in {hub.cache_dir()} and HF_HUB_OFFLINE is set; "
            f"unset it and run `reelbench data fetch {spec.id}` once, or {copy}"
        )
    if name is None:
        files = hub.list_files(source.repo_id, commit).files
        name = next((name for name in source.filenames if name in files), None)
        if name is None:
            raise DataUnavailableError(
                f"{spec.id}: {hub.page(source.repo_id)} at {commit[:12]} has no {' or '.join(source.filenames)}; "
                f"it has {first_of(sorted(files)) or 'nothing'}; {copy}"
            )
    return Resolved((hub.download(source.repo_id, name, revision=commit),), "hub", source.repo_id, commit)


def present(spec: BenchmarkSpec, split: str, data: Path | None = None) -> Resolved | None:
    """Find a split's annotation files without the network; None where they are not on this machine.

    InputError as `resolve`.
    """
    from reelbench.registry.data import download

    source = split_spec(spec, split).source
    if user_data(spec, data) is not None or isinstance(source, FileBeside):
        return resolve(spec, split, data)
    if not spec.open_data:
        return None
    if isinstance(source, HubFile):
        commit = source.revision or hub.recorded_commit(source.repo_id)
        for name in source.filenames:
            if commit and (path := hub.in_cache(source.repo_id, name, commit)) is not None:
                return Resolved((path,), "hub", source.repo_id, commit)
    if isinstance(source, UrlFile) and download.recorded(path := download.place(source.url)) is not None:
        return Resolved((path,), "url", source.url)
    return None


def split_spec(spec: BenchmarkSpec, split: str) -> SplitSpec:
    """Return a split's declaration; InputError names the splits that there are."""
    if split not in spec.splits:
        raise InputError(f"{spec.id} has no split {split!r}; its splits are {', '.join(spec.splits)}")
    return spec.splits[split]


def user_data(spec: BenchmarkSpec, data: Path | None) -> tuple[Path, str] | None:
    """Return the path that the user named and how they named it; None where they named none."""
    if data is not None:
        return Path(data).expanduser(), "--data"
    variable = settings.data(spec.id)
    if value := variable.get():
        return Path(value).expanduser(), variable.name
    return None


def published_files(source: Source) -> tuple[str, ...]:
    """Return the file names that the owners have for this source, in order of preference."""
    return source.filenames if isinstance(source, HubFile) else expected_files(source)


def expected_files(source: Source) -> tuple[str, ...]:
    """Return the file names that a local folder may hold for this source, in order of preference."""
    if isinstance(source, FileBeside):
        return (Path(source.path).name,)
    if isinstance(source, UrlFile):
        return (PurePosixPath(unquote(urlsplit(source.url).path)).name,)
    return (*source.filenames, *getattr(source, "local_names", ()))


def how_to_supply(spec: BenchmarkSpec, source: Source) -> str:
    """Say, in one line, how the user gets agreement-gated data to Reelbench."""
    form = f" ask for it at {source.form_url}," if isinstance(source, LocalFile) else ""
    names = " or ".join(expected_files(source))
    return (
        f"{spec.title}'s data is under an agreement and is never fetched:{form} "
        f"then give the folder that holds {names} with --data or {settings.data(spec.id).name}"
    )


def how_to_get(spec: BenchmarkSpec, split: str) -> str:
    """Say, in one line, how a split's data gets here."""
    source = split_spec(spec, split).source
    if not spec.open_data or not isinstance(source, HubFile | UrlFile):
        return how_to_supply(spec, source)
    name = Path(spec.file).parent if spec.file and not spec.package else spec.id
    return f"not here; run `reelbench data fetch {name} --split {split}`"


def find_files(path: Path, names: tuple[str, ...], joined: tuple[str, ...], origin: str) -> tuple[Path, ...]:
    """Find the first of `names` in a folder, and those of `joined` that are there; a file is itself.

    Looked for at the top, else one or two folders below, as upstream lays its files out. InputError where nothing is
    there, none of the names is, or a name is there more than once at one depth.
    """
    if path.is_file():
        return (path,)
    if not path.is_dir():
        raise InputError(f"{path} (from {origin}): no such file or folder")

    def search(name: str) -> Path | None:
        if (path / name).is_file():
            return path / name
        for depth in ("", "*/", "*/*/"):
            files = sorted(file for file in path.glob(depth + PurePosixPath(name).name) if file.is_file())
            if len(files) > 1:
                several = first_of([str(file.relative_to(path)) for file in files])
                raise InputError(f"{path} (from {origin}): {name} is there more than once ({several}); name one file")
            if files:
                return files[0]
        return None

    first = next((file for name in names if (file := search(name)) is not None), None)
    if first is None:
        here = sorted(entry.name + "/" * entry.is_dir() for entry in path.iterdir() if not entry.name.startswith("."))
        raise InputError(f"{path} (from {origin}): expected {' or '.join(names)}, found {first_of(here) or 'nothing'}")
    return (first, *(file for name in joined if (file := search(name)) is not None))
