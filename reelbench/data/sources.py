"""Where a split's annotations are: the user's own file or folder first, else the spec's source.

The mini data never take the place of the real ones: that split is asked for by name.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urljoin

from reelbench.base import containment, settings
from reelbench.base.errors import DataUnavailableError, InputError, first_of
from reelbench.base.files import read_record, write_json
from reelbench.data import file_patterns, hub
from reelbench.registry.spec import (
    BenchmarkSpec,
    FileNextToDeclaration,
    HubFile,
    LocalFile,
    Source,
    SplitSpec,
    UrlFile,
)
from reelbench.registry.splits import expected_files, split_spec, user_data

_PUBLIC_LIST = "public_datasets.json"
"""In the user's home: the datasets that were read without a token."""


@dataclass(frozen=True)
class Resolved:
    """Files on disk, and where they are from."""

    paths: tuple[Path, ...]
    kind: Literal["hub", "url", "local"]

    location: str
    """What a result records: a repository id, a URL, or the path that the user gave."""

    revision: str | None = None
    """The commit of a repository. None for the other kinds."""


def resolve(
    spec: BenchmarkSpec, split: str, data: Path | None = None, *, refresh: bool = False
) -> Resolved:
    """Find a split's annotation files, and fetch them where that is allowed.

    Looked at in this order: `data`, the variable `REELBENCH_DATA_<ID>`, the split's source.

    Args:
        spec: The benchmark.
        split: One of the owners' splits.
        data: A file, or a folder in upstream layout.
        refresh: Take what `main` is now, and download a URL's file again. A pinned commit stays.

    Raises:
        InputError: The split is unknown, or what the user named is not there or holds none of the
            expected files.
        DataUnavailableError: The data is not here and could not, or may not, be fetched.
    """
    declared = split_spec(spec, split)
    source = declared.source
    user_copy = user_data(spec, data)
    if user_copy is not None:
        path, origin = user_copy
        return _of_user(path, origin, declared)
    if isinstance(source, FileNextToDeclaration):
        return _beside_declaration(spec, split, source, declared)
    if isinstance(source, LocalFile) or not spec.open_data:
        raise DataUnavailableError(how_to_supply(spec, source))
    if isinstance(source, UrlFile):
        paths = _downloaded_files(source, declared, refresh=refresh)
        return Resolved(paths, "url", source.url)
    return _resolve_on_hub(spec, source, declared, refresh=refresh)


def _of_user(path: Path, origin: str, declared: SplitSpec) -> Resolved:
    files = find_files(path, expected_files(declared.source), declared.joined, origin)
    for name in declared.needed:
        files += find_files(files[0].parent, (name,), (), origin)
    return Resolved(files, "local", str(path))


def _beside_declaration(
    spec: BenchmarkSpec, split: str, source: FileNextToDeclaration, declared: SplitSpec
) -> Resolved:
    if not source.path:
        raise DataUnavailableError(
            f"{spec.id}: only a result declares it here; name its benchmark.yaml"
        )
    path = Path(source.path)
    if file_patterns.is_pattern(path.name):
        return _beside_by_pattern(spec, split, path, declared)
    needed = [path.parent / name for name in declared.needed]
    for file in (path, *needed):
        if not file.is_file():
            raise DataUnavailableError(f"{spec.id}: the rows of {split!r} are not there: {file}")
    return Resolved((path, *needed), "local", path.name)


def _beside_by_pattern(
    spec: BenchmarkSpec, split: str, path: Path, declared: SplitSpec
) -> Resolved:
    """Return all files of the declaration's folder that a name with `*` stands for."""
    files = [file for file in sorted(path.parent.glob(path.name)) if file.is_file()]
    if not files:
        raise DataUnavailableError(f"{spec.id}: the rows of {split!r} are not there: {path}")
    files += [path.parent / name for name in declared.needed]
    for file in files:
        containment.contained(spec.folder, file)
    return Resolved(tuple(files), "local", path.name)


def _resolve_on_hub(
    spec: BenchmarkSpec, source: HubFile, declared: SplitSpec, *, refresh: bool
) -> Resolved:
    token = token_of(spec)
    with naming_the_option(spec):
        commit = hub.resolve_commit(source.repo_id, source.revision, refresh=refresh, token=token)
        _check_it_is_public(source.repo_id, token)
        names = _names_in_cache(source, commit)
        if not names:
            names = _names_in_repository(spec, source, commit)
        paths: list[Path] = []
        for filename in (*names, *declared.needed):
            path = hub.download(source.repo_id, filename, revision=commit, token=token)
            paths.append(path)
    return Resolved(tuple(paths), "hub", source.repo_id, commit)


def token_of(spec: BenchmarkSpec) -> hub.Token:
    """Return False for a benchmark whose files are asked for without the user's token.

    A folder that somebody else wrote could name the user's private datasets, whose rows then go to
    a model and into a result.
    """
    is_a_folder_of_others = spec.file and not spec.package
    if is_a_folder_of_others and not containment.may_use_token(spec.folder):
        return False
    return None


@contextmanager
def naming_the_option(spec: BenchmarkSpec) -> Generator[None]:
    """Name the option for the user's token where something failed without it."""
    try:
        yield
    except DataUnavailableError as error:
        if token_of(spec) is None:
            raise
        raise DataUnavailableError(
            f"{error}; your token isn't used for what a folder names: if you trust who wrote it, "
            f"`reelbench check {spec.folder} --allow-token`"
        ) from error


def _check_it_is_public(repo_id: str, token: hub.Token) -> None:
    """Check that a dataset can be read without a token, once.

    A private one may be in the client's cache, of a command that used the token.

    Raises:
        DataUnavailableError: It can't.
    """
    if token is None:
        return
    if _is_known_as_public(repo_id):
        return
    if hub.offline():
        raise DataUnavailableError(
            f"{hub.page(repo_id)}: whether it is public can't be asked, because HF_HUB_OFFLINE is "
            "set; unset it and fetch once"
        )
    hub.list_files(repo_id, token=token)
    file = settings.home() / _PUBLIC_LIST
    write_json(file, {**(read_record(file) or {}), repo_id: True})


def _is_known_as_public(repo_id: str) -> bool:
    return repo_id in (read_record(settings.home() / _PUBLIC_LIST) or {})


def _names_in_cache(source: HubFile, commit: str) -> tuple[str, ...]:
    """Return the names of a source's files where all are in the cache. Else none."""
    for name in source.filenames:
        names = _recorded_names(source, commit, name)
        cached_files = [hub.cached_file(source.repo_id, file_name, commit) for file_name in names]
        if names and None not in cached_files:
            return names
    return ()


def _recorded_names(source: HubFile, commit: str, name: str) -> tuple[str, ...]:
    """Return the files that a name stands for, without the network."""
    if not file_patterns.is_pattern(name):
        return (name,)
    return file_patterns.recorded_names(source.repo_id, commit, name)


def _names_in_repository(spec: BenchmarkSpec, source: HubFile, commit: str) -> tuple[str, ...]:
    """Return the names that a source's files have at a commit, by the repository's list."""
    copy = f"give a copy with --data or {settings.data(spec.id).name}"
    if hub.offline():
        raise DataUnavailableError(
            f"{spec.id}: {source.repo_id} at {commit[:12]} is not in {hub.cache_dir()} and "
            "HF_HUB_OFFLINE is set; unset it and run "
            f"`reelbench data fetch {spec.id}` once, or {copy}"
        )
    files = hub.list_files(source.repo_id, commit, token=token_of(spec)).files
    for name in source.filenames:
        if name in files:
            return (name,)
        names = file_patterns.matching(files, name) if file_patterns.is_pattern(name) else ()
        if names:
            file_patterns.record_names(source.repo_id, commit, name, names)
            return names
    listing = first_of(sorted(files)) or "nothing"
    raise DataUnavailableError(
        f"{spec.id}: {hub.page(source.repo_id)} at {commit[:12]} has no "
        f"{' or '.join(source.filenames)}; it has {listing}; {copy}"
    )


def present(spec: BenchmarkSpec, split: str, data: Path | None = None) -> Resolved | None:
    """Find a split's annotation files without the network. None where they are not here.

    Raises:
        InputError: As in `resolve`.
    """
    declared = split_spec(spec, split)
    source = declared.source
    if user_data(spec, data) is not None or isinstance(source, FileNextToDeclaration):
        return resolve(spec, split, data)
    if not spec.open_data:
        return None
    if isinstance(source, HubFile):
        if token_of(spec) is not None and not _is_known_as_public(source.repo_id):
            return None
        return _present_of_hub(source, declared)
    if isinstance(source, UrlFile):
        return _present_of_url(source, declared)
    return None


def _present_of_hub(source: HubFile, declared: SplitSpec) -> Resolved | None:
    commit = source.revision or hub.recorded_commit(source.repo_id)
    if not commit:
        return None
    names = _names_in_cache(source, commit)
    if not names:
        return None
    paths: list[Path] = []
    for filename in (*names, *declared.needed):
        path = hub.cached_file(source.repo_id, filename, commit)
        if path is None:
            return None
        paths.append(path)
    return Resolved(tuple(paths), "hub", source.repo_id, commit)


def _present_of_url(source: UrlFile, declared: SplitSpec) -> Resolved | None:
    from reelbench.data import download

    paths: list[Path] = []
    for url in _addresses(source, declared):
        path = download.place(url)
        if download.read_remote(path) is None:
            return None
        paths.append(path)
    return Resolved(tuple(paths), "url", source.url)


def _downloaded_files(source: UrlFile, declared: SplitSpec, *, refresh: bool) -> tuple[Path, ...]:
    """Download a split's files unless they are here. Return where they lie."""
    from reelbench.data import download

    paths: list[Path] = []
    for url in _addresses(source, declared):
        path = download.place(url)
        paths.append(path)
        if download.read_remote(path) is not None and not refresh:
            continue
        if hub.offline():
            raise DataUnavailableError(
                f"{url}: not in {path.parent} and HF_HUB_OFFLINE is set; unset it"
            )
        sha256 = source.sha256 if url == source.url else None
        download.download(url, path, sha256=sha256, again=refresh)
    return tuple(paths)


def _addresses(source: UrlFile, declared: SplitSpec) -> list[str]:
    """Return the addresses of a split's files. The further ones lie beside the first."""
    needed = [urljoin(source.url, name) for name in declared.needed]
    return [source.url, *needed]


def how_to_supply(spec: BenchmarkSpec, source: Source) -> str:
    """Say, in one line, how the user gets agreement-gated data to Reelbench."""
    form = ""
    if isinstance(source, LocalFile):
        form = f" ask for it at {source.form_url},"
    names = " or ".join(expected_files(source))
    return (
        f"{spec.title}'s data is under an agreement and is never fetched:{form} "
        f"then give the folder that contains {names} with --data or {settings.data(spec.id).name}"
    )


def how_to_get(spec: BenchmarkSpec, split: str) -> str:
    """Say, in one line, how a split's data gets here."""
    source = split_spec(spec, split).source
    if not spec.open_data or not isinstance(source, HubFile | UrlFile):
        return how_to_supply(spec, source)
    name = spec.id
    if spec.file and not spec.package:
        name = str(Path(spec.file).parent)
    return f"not here; run `reelbench data fetch {name} --split {split}`"


def find_files(
    path: Path, names: tuple[str, ...], joined: tuple[str, ...], origin: str
) -> tuple[Path, ...]:
    """Find the first of some names in a folder, and its joined files.

    A file is itself. In a folder the names are looked for at the top, else one or two folders
    below, as upstream lays its files out.

    Args:
        path: The file or folder.
        names: The names that the file may have, the best first.
        joined: The names of further files, which may be absent.
        origin: The option or variable that named the path, for errors.

    Raises:
        InputError: Nothing is there, none of the names is, or one is there more than once at one
            depth.
    """
    if path.is_file():
        return (path,)
    if not path.is_dir():
        raise InputError(f"{path} (from {origin}): no such file or folder")
    files: list[Path] = []
    for name in names:
        if file_patterns.is_pattern(name):
            files += file_patterns.matching_files(path, name)
        else:
            file = _find_file(path, name, origin)
            if file is not None:
                files.append(file)
        if files:
            break
    if not files:
        listing = first_of(_visible_names(path)) or "nothing"
        raise InputError(f"{path} (from {origin}): expected {' or '.join(names)}, found {listing}")
    for name in joined:
        file = _find_file(path, name, origin)
        if file is not None:
            files.append(file)
    return tuple(files)


def _find_file(folder: Path, name: str, origin: str) -> Path | None:
    """Return the file of a name in a folder or up to two folders below."""
    if (folder / name).is_file():
        return folder / name
    for depth in ("", "*/", "*/*/"):
        matches = folder.glob(depth + PurePosixPath(name).name)
        files = sorted(file for file in matches if file.is_file())
        if len(files) > 1:
            listing = first_of([str(file.relative_to(folder)) for file in files])
            raise InputError(
                f"{folder} (from {origin}): {name} is there more than once ({listing}); "
                "name one file"
            )
        if files:
            return files[0]
    return None


def _visible_names(folder: Path) -> list[str]:
    """Return the names in a folder, sorted, with a slash behind folders."""
    names: list[str] = []
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        name = entry.name
        if entry.is_dir():
            name += "/"
        names.append(name)
    return sorted(names)
