"""`reelbench data check`: the state of a split's data here, and of its sources upstream."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.data import download, fetch, hub, sources, transfers
from reelbench.registry.spec import BenchmarkSpec, HubFile, UrlFile
from reelbench.video import media_roots, playable
from reelbench.video.library import Library


@dataclass(frozen=True)
class Upstream:
    """A source as it is used here, and as it is upstream now."""

    what: str
    used: str
    now: str | None

    moved: bool | None
    """None where it could not be asked. `note` then says why."""

    note: str = ""


@dataclass(frozen=True)
class CheckReport:
    """The state of a split. Nothing was fetched for it."""

    annotations: sources.Resolved | None

    problem: str | None
    """How to get the annotations, where they are not here."""

    here: tuple[str, ...]
    """Media keys whose videos are here and whole."""

    missing: tuple[str, ...]

    broken: tuple[tuple[str, Path, str], ...]
    """Media keys whose files are broken, with the file and its fault."""

    looked_in: tuple[Path, ...]
    """The folders that were searched."""

    upstream: tuple[Upstream, ...]

    seconds: tuple[float, ...] = ()
    """The lengths of the whole videos, where their files state any."""

    @property
    def complete(self) -> bool:
        """True where everything is here and whole, even if upstream has moved."""
        return self.annotations is not None and not self.missing and not self.broken


class _FileState(NamedTuple):
    """A video file's fault, or the length in seconds that it states."""

    fault: str | None = None
    seconds: float | None = None


def check(
    spec: BenchmarkSpec, split: str, data: Path | None = None, media_keys: Sequence[str] = ()
) -> CheckReport:
    """Look at a split's annotations, its videos, and upstream.

    Args:
        spec: The benchmark.
        split: One of the owners' splits.
        data: The user's own copy of the annotations.
        media_keys: The media keys of the videos to look for.

    Raises:
        InputError: As in `sources.present`.
    """
    annotations = sources.present(spec, split, data)
    library = Library(spec, split, data)
    files: dict[str, Path] = {}
    for key in media_keys:
        with suppress(InputError):
            path = library.find({"video": key})
            if path is not None:
                files[key] = path
    verified = transfers.VerifiedFiles(media_roots.fetched_root(spec))
    state_of_file = partial(_state_of_file, verified=verified)
    with ThreadPoolExecutor(max_workers=fetch.WORKERS) as pool:
        states = list(pool.map(state_of_file, files.values()))
    whole: list[str] = []
    broken: list[tuple[str, Path, str]] = []
    lengths: list[float] = []
    for (key, path), state in zip(files.items(), states, strict=True):
        if state.fault is None:
            whole.append(key)
        else:
            broken.append((key, path, state.fault))
        if state.seconds is not None:
            lengths.append(state.seconds)
    problem = None
    if annotations is None:
        problem = sources.how_to_get(spec, split)
    return CheckReport(
        annotations=annotations,
        problem=problem,
        here=tuple(whole),
        missing=tuple(key for key in dict.fromkeys(media_keys) if key not in files),
        broken=tuple(broken),
        looked_in=tuple(library.roots),
        upstream=_states_upstream(spec, split, annotations),
        seconds=tuple(lengths),
    )


def _state_of_file(path: Path, verified: transfers.VerifiedFiles) -> _FileState:
    size = path.stat().st_size
    fetched_size = verified.size(path)
    if fetched_size is not None and size not in (0, fetched_size):
        return _FileState(f"{size} bytes, and {fetched_size} when it was fetched")
    fault = playable.defect(path)
    if fault is not None:
        return _FileState(fault)
    return _FileState(seconds=playable.seconds(path))


# --- upstream
# ----------------------------------------------------------------------------------------------


def _states_upstream(
    spec: BenchmarkSpec, split: str, annotations: sources.Resolved | None
) -> tuple[Upstream, ...]:
    """Return the state of each source that a split's annotations and videos are from."""
    states: list[Upstream | None] = []
    source = spec.splits[split].source
    is_users = annotations is not None and annotations.kind == "local"
    if isinstance(source, HubFile) and not is_users:
        states.append(_state_of_repository(source.repo_id, source.revision))
    elif isinstance(source, UrlFile) and not is_users:
        states.append(_state_of_url(source.url))
    for place in spec.media:
        if place.splits and split not in place.splits:
            continue
        if place.kind == "hub":
            states.append(_state_of_repository(place.location, place.revision))
        elif place.kind == "archive":
            states.append(_state_of_url(place.location))
    # Annotations and videos may be of one repository.
    return tuple(state for state in dict.fromkeys(states) if state is not None)


def _state_of_repository(repo_id: str, pinned: str | None) -> Upstream | None:
    used = pinned or hub.recorded_commit(repo_id)
    if used is None:
        return None
    try:
        now = hub.list_files(repo_id).commit
    except DataUnavailableError as error:
        return Upstream(repo_id, used, None, None, str(error))
    return Upstream(repo_id, used, now, now != used)


def _state_of_url(url: str) -> Upstream | None:
    fetched = download.read_remote(download.place(url))
    if fetched is None:
        return None
    used = _version_mark(fetched)
    if hub.offline():
        return Upstream(url, used, None, None, "not asked, because HF_HUB_OFFLINE is set")
    try:
        current = download.head(url)
    except DataUnavailableError as error:
        return Upstream(url, used, None, None, str(error))
    return Upstream(url, used, _version_mark(current), fetched.differs(current))


def _version_mark(remote: download.Remote) -> str:
    return remote.etag or remote.last_modified or f"{remote.size} bytes"
