"""Where a split's annotations are: the user's own file or folder first, else the spec's source.

Never the mini data in place of the real ones: that split is asked for by name.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urljoin

from reelbench.base import settings
from reelbench.base.errors import DataUnavailableError, InputError, first_of
from reelbench.data import hub
from reelbench.registry.spec import (
    BenchmarkSpec,
    FileBeside,
    HubFile,
    LocalFile,
    Source,
    SplitSpec,
    UrlFile,
)
from reelbench.registry.splits import expected_files, split_spec, user_data


@dataclass(frozen=True)
class Resolved:
    """Files on disk, and where they are from.

    `location` is what a result records: a repository id, a URL, or the path that the user gave.
    `revision` is the commit of a repository, and None for the others.
    """

    paths: tuple[Path, ...]
    kind: Literal["hub", "url", "local"]
    location: str
    revision: str | None = None


def resolve(
    spec: BenchmarkSpec, split: str, data: Path | None = None, *, refresh: bool = False
) -> Resolved:
    """Find the annotation files of a split, fetching them where the spec's source allows it.

    Looked at in this order: `data` (a file, or a folder in upstream layout), the variable
    `REELBENCH_DATA_<ID>`, the split's source. `refresh` takes what `main` is now, and downloads a
    URL's file again; a pinned commit stays. InputError where the split is unknown, or what the user
    named is not there or holds none of the expected files; DataUnavailableError where the data is
    not here and could not be fetched, or may not be.
    """
    declared = split_spec(spec, split)
    source = declared.source
    if (named := user_data(spec, data)) is not None:
        path, origin = named
        files = find_files(path, expected_files(source), declared.joined, origin)
        needed = [
            file
            for name in declared.needed
            for file in find_files(files[0].parent, (name,), (), origin)
        ]
        return Resolved((*files, *needed), "local", str(path))
    if isinstance(source, FileBeside):
        if not source.path:
            raise DataUnavailableError(
                f"{spec.id}: a result alone declares it here; name its benchmark.yaml"
            )
        files = (Path(source.path), *(Path(source.path).parent / name for name in declared.needed))
        if absent := [file for file in files if not file.is_file()]:
            raise DataUnavailableError(
                f"{spec.id}: the rows of {split!r} are not there: {absent[0]}"
            )
        return Resolved(files, "local", Path(source.path).name)
    if isinstance(source, LocalFile) or not spec.open_data:
        raise DataUnavailableError(how_to_supply(spec, source))
    if isinstance(source, UrlFile):
        return Resolved(_of_addresses(source, declared, refresh=refresh), "url", source.url)
    commit = hub.resolve_commit(source.repo_id, source.revision, refresh=refresh)
    name = next(
        (
            name
            for name in source.filenames
            if hub.in_cache(source.repo_id, name, commit) is not None
        ),
        None,
    )
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
    files = tuple(
        hub.download(source.repo_id, each, revision=commit) for each in (name, *declared.needed)
    )
    return Resolved(files, "hub", source.repo_id, commit)


def present(spec: BenchmarkSpec, split: str, data: Path | None = None) -> Resolved | None:
    """Find a split's annotation files without the network; None where they are not here, InputError as `resolve`."""
    from reelbench.data import download

    declared = split_spec(spec, split)
    source = declared.source
    if user_data(spec, data) is not None or isinstance(source, FileBeside):
        return resolve(spec, split, data)
    if not spec.open_data:
        return None
    if isinstance(source, HubFile):
        commit = source.revision or hub.recorded_commit(source.repo_id)
        for name in source.filenames:
            paths = (
                [hub.in_cache(source.repo_id, each, commit) for each in (name, *declared.needed)]
                if commit
                else []
            )
            if paths and None not in paths:
                return Resolved(
                    tuple(path for path in paths if path), "hub", source.repo_id, commit
                )
    if isinstance(source, UrlFile):
        paths = [download.place(url) for url in _addresses(source, declared)]
        if all(download.read_remote(path) is not None for path in paths):
            return Resolved(tuple(paths), "url", source.url)
    return None


def _of_addresses(source: UrlFile, declared: SplitSpec, *, refresh: bool) -> tuple[Path, ...]:
    """Download a split's files unless they are here; return where they lie."""
    from reelbench.data import download

    for url in _addresses(source, declared):
        path = download.place(url)
        if refresh or download.read_remote(path) is None:
            if hub.offline():
                raise DataUnavailableError(
                    f"{url}: not in {path.parent} and HF_HUB_OFFLINE is set; unset it"
                )
            download.download(
                url, path, sha256=source.sha256 if url == source.url else None, again=refresh
            )
    return tuple(map(download.place, _addresses(source, declared)))


def _addresses(source: UrlFile, declared: SplitSpec) -> list[str]:
    """Return the addresses of a split's files: what is needed beside the first lies beside it."""
    return [source.url, *(urljoin(source.url, name) for name in declared.needed)]


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


def find_files(
    path: Path, names: tuple[str, ...], joined: tuple[str, ...], origin: str
) -> tuple[Path, ...]:
    """Find the first of `names` in a folder, and those of `joined` that are there; a file is itself.

    Looked for at the top, else one or two folders below, as upstream lays its files out. InputError
    where nothing is there, none of the names is, or a name is there more than once at one depth.
    """
    if path.is_file():
        return (path,)
    if not path.is_dir():
        raise InputError(f"{path} (from {origin}): no such file or folder")

    def search(name: str) -> Path | None:
        if (path / name).is_file():
            return path / name
        for depth in ("", "*/", "*/*/"):
            files = sorted(
                file for file in path.glob(depth + PurePosixPath(name).name) if file.is_file()
            )
            if len(files) > 1:
                several = first_of([str(file.relative_to(path)) for file in files])
                raise InputError(
                    f"{path} (from {origin}): {name} is there more than once ({several}); name one file"
                )
            if files:
                return files[0]
        return None

    first = next((file for name in names if (file := search(name)) is not None), None)
    if first is None:
        here = sorted(
            entry.name + "/" * entry.is_dir()
            for entry in path.iterdir()
            if not entry.name.startswith(".")
        )
        raise InputError(
            f"{path} (from {origin}): expected {' or '.join(names)}, found {first_of(here) or 'nothing'}"
        )
    return (first, *(file for name in joined if (file := search(name)) is not None))
