"""`reelbench data check`: what of a split is here, what is missing or broken, and whether upstream has moved."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.data import download, fetch, hub, sources
from reelbench.registry.spec import BenchmarkSpec, HubFile, UrlFile
from reelbench.video import library as media
from reelbench.video import playable


@dataclass(frozen=True)
class Upstream:
    """What of a source is used here, and is there now; `moved` is None where `note` says why it could not be asked."""

    what: str
    used: str
    now: str | None
    moved: bool | None
    note: str = ""


@dataclass(frozen=True)
class CheckReport:
    """What was found, without fetching anything.

    `annotations` is None where they are not here, and `problem` then says how to get them. `here`,
    `missing` and `broken` are media keys, the last with the file and what is wrong with it;
    `looked_in` are the folders searched; `seconds` are the lengths of the videos that are here,
    where their files state any.
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


def check(
    spec: BenchmarkSpec, split: str, data: Path | None = None, wanted: Sequence[str] = ()
) -> CheckReport:
    """Look at a split's annotations, the videos of keys `wanted`, and upstream; InputError as `sources.present`."""
    annotations = sources.present(spec, split, data)
    library = media.Library(spec, split, data)
    verified = fetch.VerifiedFiles(media.fetched_root(spec))
    found: dict[str, Path] = {}
    for key in wanted:
        with suppress(InputError):
            if (path := library.find({"video": key})) is not None:
                found[key] = path

    def looked_at(path: Path) -> tuple[str | None, float | None]:
        size = path.stat().st_size
        if (before := verified.size(path)) is not None and size and size != before:
            return f"{size} bytes, and {before} when it was fetched", None
        reason = playable.defect(path)
        return reason, playable.seconds(path) if reason is None else None

    with ThreadPoolExecutor(max_workers=fetch.WORKERS) as pool:
        states = dict(zip(found, pool.map(looked_at, found.values()), strict=True))
    # Annotations and videos may be of one repository.
    own = annotations is not None and annotations.kind == "local"
    source = spec.splits[split].source
    asked = [
        _repository(source.repo_id, source.revision)
        if isinstance(source, HubFile) and not own
        else None,
        _url(source.url) if isinstance(source, UrlFile) and not own else None,
    ]
    for place in spec.media:
        if not place.splits or split in place.splits:
            asked.append(
                _repository(place.location, place.revision) if place.kind == "hub" else None
            )
            asked.append(_url(place.location) if place.kind == "archive" else None)
    return CheckReport(
        annotations=annotations,
        problem=None if annotations else sources.how_to_get(spec, split),
        here=tuple(key for key, (reason, _) in states.items() if reason is None),
        missing=tuple(key for key in dict.fromkeys(wanted) if key not in found),
        broken=tuple(
            (key, found[key], reason) for key, (reason, _) in states.items() if reason is not None
        ),
        looked_in=tuple(library.roots),
        upstream=tuple(state for state in dict.fromkeys(asked) if state is not None),
        seconds=tuple(length for _, length in states.values() if length is not None),
    )


def _repository(repo_id: str, pinned: str | None) -> Upstream | None:
    used = pinned or hub.recorded_commit(repo_id)
    if used is None:
        return None
    try:
        now = hub.list_files(repo_id).commit
    except DataUnavailableError as error:
        return Upstream(repo_id, used, None, None, str(error))
    return Upstream(repo_id, used, now, now != used)


def _url(url: str) -> Upstream | None:
    if (before := download.read_remote(download.place(url))) is None:
        return None
    now, note = None, "not asked, because HF_HUB_OFFLINE is set" if hub.offline() else ""
    try:
        now = None if note else download.head(url)
    except DataUnavailableError as error:
        note = str(error)
    marks = [
        one.etag or one.last_modified or f"{one.size} bytes"
        for one in (before, now)
        if one is not None
    ]
    if now is None:
        return Upstream(url, marks[0], None, None, note)
    return Upstream(url, marks[0], marks[1], before.differs(now))
