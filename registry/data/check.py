"""`reelbench data check`: what of a split is here, what is missing or broken, and whether upstream has moved."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reelbench.registry.data import download, fetch, hub, sources
from reelbench.registry.errors import DataUnavailableError, InputError
from reelbench.registry.media import library as media
from reelbench.registry.media import playable
from reelbench.registry.spec import BenchmarkSpec, HubFile, UrlFile


@dataclass(frozen=True)
class Upstream:
    """A source's state: what is used here, and what upstream is now.

    `moved` is None where it could not be asked; `note` then says why.
    """

    what: str
    used: str
    now: str | None
    moved: bool | None
    note: str = ""


@dataclass(frozen=True)
class CheckReport:
    """What was found, without fetching anything.

    `annotations` is None where they are not here, and `problem` then says how to get them. `here`, `missing` and
    `broken` are media keys, the last with the file and what is wrong with it; `looked_in` are the folders searched;
    `seconds` are the lengths of the videos that are here, where their files state any.
    """

    annotations: sources.Resolved | None
    problem: str | None
    here: tuple[str, ...]
    missing: tuple[str, ...]
    broken: tuple[tuple[str, Path, str], ...]
    looked_in: tuple[Path, ...]
    upstream: tuple[Upstream, ...]
    seconds: tuple[float, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything is here and whole; an upstream that moved takes nothing away."""
        return self.annotations is not None and not self.missing and not self.broken


def check(spec: BenchmarkSpec, split: str, data: Path | None = None, wanted: Sequence[str] = ()) -> CheckReport:
    """Look at a split's annotations, at the videos of `wanted`, and at upstream.

    Args:
        spec: The benchmark.
        split: One of its splits.
        data: The user's own annotations.
        wanted: Media keys of the rows.

    Raises:
        InputError: The split is unknown, or what the user named as data isn't there.
    """
    annotations = sources.present(spec, split, data)
    library = media.Library(spec, split, data)
    verified = fetch.VerifiedFiles(media.fetched_root(spec))
    here: list[str] = []
    missing: list[str] = []
    broken: list[tuple[str, Path, str]] = []
    keys = list(dict.fromkeys(wanted))
    found: list[Path | None] = []
    for key in keys:
        try:
            found.append(library.find({"video": key}))
        except InputError:
            found.append(None)

    def why_broken(path: Path | None) -> str | None:
        if path is None:
            return None
        size = path.stat().st_size
        if (before := verified.size(path)) is not None and size and size != before:
            return f"{size} bytes, and {before} when it was fetched"
        return playable.broken(path)

    with ThreadPoolExecutor(max_workers=fetch.WORKERS) as pool:
        reasons = list(pool.map(why_broken, found))
        whole = [path for path, reason in zip(found, reasons, strict=True) if path is not None and reason is None]
        lengths = list(pool.map(playable.seconds, whole))
    for key, path, reason in zip(keys, found, reasons, strict=True):
        if path is None:
            missing.append(key)
        elif reason is not None:
            broken.append((key, path, reason))
        else:
            here.append(key)
    return CheckReport(
        annotations=annotations,
        problem=None if annotations else sources.how_to_get(spec, split),
        here=tuple(here),
        missing=tuple(missing),
        broken=tuple(broken),
        looked_in=tuple(library.roots),
        upstream=tuple(_upstream(spec, split, annotations)),
        seconds=tuple(length for length in lengths if length is not None),
    )


def _upstream(spec: BenchmarkSpec, split: str, annotations: sources.Resolved | None) -> list[Upstream]:
    found: list[Upstream | None] = []
    source = spec.splits[split].source
    users_own = annotations is not None and annotations.kind == "local"
    if isinstance(source, HubFile) and not users_own:
        found.append(_repository(source.repo_id, source.revision))
    elif isinstance(source, UrlFile) and not users_own:
        found.append(_url(source.url))
    for place in spec.media:
        if place.splits and split not in place.splits:
            continue
        if place.kind == "hub":
            found.append(_repository(place.location, place.revision))
        elif place.kind == "archive":
            found.append(_url(place.location))
    # Annotations and videos may be of one repository.
    return [state for state in dict.fromkeys(found) if state is not None]


def _repository(repo_id: str, pinned: str | None) -> Upstream | None:
    used = pinned or hub.recorded_commit(repo_id)
    if used is None:
        return None
    try:
        now = hub.current_commit(repo_id)
    except DataUnavailableError as error:
        return Upstream(repo_id, used, None, None, str(error))
    return Upstream(repo_id, used, now, now != used)


def _url(url: str) -> Upstream | None:
    before = download.recorded(download.place(url))
    if before is None:
        return None
    if hub.offline():
        return Upstream(url, _mark(before), None, None, "not asked, because HF_HUB_OFFLINE is set")
    try:
        now = download.head(url)
    except DataUnavailableError as error:
        return Upstream(url, _mark(before), None, None, str(error))
    return Upstream(url, _mark(before), _mark(now), before.differs(now))


def _mark(remote: download.Remote) -> str:
    return remote.etag or remote.last_modified or f"{remote.size} bytes"
