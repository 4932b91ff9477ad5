"""`reelbench data fetch`: annotations and videos from a spec's sources, fetched in parallel.

A plan says what will be transferred, and how much, before it starts. Running it never stops at a
failure: what could not be had is reported at the end with its reason, and the next run continues
from what is here.
"""

import logging
import re
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from rich.filesize import decimal

from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError, first_line
from reelbench.base.files import is_full, path_inside
from reelbench.base.progress import Show, no_show
from reelbench.data import download, file_patterns, hub, sources, transfers
from reelbench.data.transfers import OnBytes, Outcome, Transfer, VerifiedFiles
from reelbench.registry.spec import BenchmarkSpec, HubFile, MediaSource, UrlFile
from reelbench.registry.splits import expected_files, split_spec, user_data
from reelbench.video import media_roots, playable
from reelbench.video.library import Library
from reelbench.video.picture_folders import folders_of

if TYPE_CHECKING:
    from filelock import AcquireReturnProxy, FileLock

WORKERS = 4
log = logging.getLogger("reelbench")


class Failure(NamedTuple):
    """A file or video that could not be had, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class FetchPlan:
    """The transfers of a run, the files that are here already, and the problems."""

    spec: BenchmarkSpec
    split: str
    items: tuple[Transfer, ...]
    here: tuple[str, ...] = ()
    problems: tuple[Failure, ...] = ()

    @property
    def size(self) -> int:
        """Bytes to transfer, as far as known."""
        return sum(item.size or 0 for item in self.items)

    @property
    def unknown(self) -> int:
        """Transfers whose size upstream doesn't say."""
        return sum(item.size is None for item in self.items)

    @property
    def names(self) -> int:
        """Number of files and videos to transfer."""
        return sum(len(item.names) for item in self.items)

    def summary(self) -> str:
        """Say in one line what is about to happen."""
        line = f"{self.spec.id} {self.split}: {self.names} to fetch, {decimal(self.size)}"
        if self.unknown:
            line += f" and {self.unknown} of unknown size"
        line += f"; {len(self.here)} here already"
        if self.problems:
            line += f"; {len(self.problems)} can't be fetched"
        return line


# --- the plan
# ----------------------------------------------------------------------------------------------


def plan(
    spec: BenchmarkSpec,
    split: str,
    *,
    media_keys: Sequence[str] = (),
    limit: int | None = None,
    data: Path | None = None,
    refresh: bool = False,
) -> FetchPlan:
    """Plan a fetch of a split's annotations, and of videos.

    The rows name the videos, so a fetch with videos takes two plans: the first without `media_keys`
    brings the annotations.

    Args:
        spec: The benchmark.
        split: One of the owners' splits.
        media_keys: The media keys of the videos.
        limit: The number of videos, of which the first are fetched.
        data: The user's own copy of the annotations. Nothing is fetched in its place.
        refresh: Ask upstream anew (see `sources.resolve`), also for videos on the Hub that have
            changed there.

    Raises:
        InputError: The split is unknown, or the user's data isn't as expected.
    """
    planner = _Planner(spec, split, data, refresh=refresh)
    planner.add_annotations()
    keys = list(dict.fromkeys(media_keys))
    planner.add_videos(keys[:limit])
    return FetchPlan(
        spec, split, tuple(planner.items), tuple(planner.here), tuple(planner.problems)
    )


class _Planner:
    """A plan while it is made."""

    def __init__(
        self, spec: BenchmarkSpec, split: str, data: Path | None, *, refresh: bool
    ) -> None:
        self.items: list[Transfer] = []
        self.here: list[str] = []
        self.problems: list[Failure] = []
        self._spec = spec
        self._split = split
        self._data = data
        self._refresh = refresh
        self._verified = VerifiedFiles(media_roots.fetched_root(spec))

    def add_annotations(self) -> None:
        """Plan the split's annotations."""
        source = split_spec(self._spec, self._split).source
        names = expected_files(source, published=True)
        title = f"annotations ({' or '.join(names)})"
        if user_data(self._spec, self._data) is not None:
            sources.resolve(self._spec, self._split, self._data)  # says what is wrong with it
            self.here.append(title)
            return
        if not self._refresh and self._annotations_are_present():
            self.here.append(title)
            return
        try:
            transfer = _annotation_transfer(self._spec, self._split, title, refresh=self._refresh)
        except DataUnavailableError as error:
            self.problems.append(Failure(title, str(error)))
        else:
            self.items.append(transfer)

    def _annotations_are_present(self) -> bool:
        return sources.present(self._spec, self._split, self._data) is not None

    def add_videos(self, keys: Sequence[str]) -> None:
        """Plan the videos of some media keys."""
        library = Library(self._spec, self._split, self._data)
        keys_by_source: dict[MediaSource, list[str]] = {}
        for key in keys:
            try:
                path = library.find({"video": key})
                if path is None:
                    path_inside(Path(), key, f"{self._spec.id}: media key ")  # where it is written
            except InputError as error:
                self.problems.append(Failure(key, str(error)))
                continue
            source = self._source_of(key)
            if path is not None and self._needs_no_fetching(path, source):
                self.here.append(key)
            elif source is None:
                reason = f"{self._spec.id} names no place where this video can be had"
                self.problems.append(Failure(key, reason))
            else:
                keys_by_source.setdefault(source, []).append(key)
        for source, source_keys in keys_by_source.items():
            self._add_from_source(source, source_keys)

    def _source_of(self, key: str) -> MediaSource | None:
        """Return the first of the split's media sources that has a video."""
        for source in self._spec.media:
            if source.splits and self._split not in source.splits:
                continue
            if source.matches is None or re.search(source.matches, key):
                return source
        return None

    def _needs_no_fetching(self, path: Path, source: MediaSource | None) -> bool:
        """Return True where a video that is here needs no fetching."""
        # Files in the user's own folders are the user's business. In the folder for fetched ones a
        # file must be as it was when it was verified; one that was put there by hand is probed, or
        # compared with the Hub's hash by its transfer.
        if not path.is_relative_to(self._verified.root):
            return True
        has_hash = source is not None and source.kind == "hub"
        if self._refresh and has_hash:
            return False
        if self._verified.size(path) == path.stat().st_size:
            return True
        if has_hash or playable.defect(path) is not None:
            return False
        self._verified.add(path)
        return True

    def _add_from_source(self, source: MediaSource, keys: list[str]) -> None:
        try:
            parts = list(_plan_transfers(source, keys, self._verified, refresh=self._refresh))
        except DataUnavailableError as error:
            videos = keys[0] if len(keys) == 1 else f"{len(keys)} videos"
            self.problems.append(Failure(f"{videos} ({source.title})", str(error)))
            return
        for part in parts:
            if isinstance(part, Transfer):
                self.items.append(part)
            else:
                self.problems.append(part)


def _annotation_transfer(spec: BenchmarkSpec, split: str, title: str, *, refresh: bool) -> Transfer:
    """Return the transfer of a split's annotation files.

    Raises:
        DataUnavailableError: They can't be had.
    """
    source = spec.splits[split].source
    size: int | None = None
    if isinstance(source, HubFile) and spec.open_data:
        token = sources.token_of(spec)
        with sources.naming_the_option(spec):
            commit = hub.resolve_commit(
                source.repo_id, source.revision, refresh=refresh, token=token
            )
            files = hub.list_files(source.repo_id, commit, token=token).files
        size = _size_of_first(source.filenames, files)
    elif not isinstance(source, UrlFile) or not spec.open_data:
        raise DataUnavailableError(sources.how_to_supply(spec, source))
    elif hub.offline():
        raise DataUnavailableError(f"{source.url}: not here and HF_HUB_OFFLINE is set; unset it")
    else:
        size = download.head(source.url).size

    def bring(advance: OnBytes) -> Iterator[Outcome]:
        sources.resolve(spec, split, refresh=refresh)
        advance(size or 0)
        yield Outcome(title)

    return Transfer((title,), size, bring)


def _size_of_first(filenames: Sequence[str], files: Mapping[str, hub.RemoteFile]) -> int | None:
    """Return the size of the first name's file, or of all its files."""
    for name in filenames:
        matching_names = [name]
        if name not in files:
            matching_names = file_patterns.matching(files, name)
        if matching_names:
            return _total_size([files[file_name] for file_name in matching_names])
    return None


def _total_size(files: Iterable[hub.RemoteFile]) -> int | None:
    """Return the bytes of files. None where one states no size."""
    total = 0
    for file in files:
        if file.size is None:
            return None
        total += file.size
    return total


def _plan_transfers(
    source: MediaSource, keys: list[str], verified: VerifiedFiles, *, refresh: bool
) -> Iterator[Transfer | Failure]:
    """Yield the transfers of a source's videos, and a failure for each that it lacks.

    Raises:
        DataUnavailableError: None of them can be had.
    """
    if source.kind == "form":
        raise DataUnavailableError(_how_to_ask(source, keys[0], verified.root))
    if source.kind == "hub":
        yield from _plan_from_hub(source, keys, verified, refresh=refresh)
        return
    is_archive = source.kind == "archive"
    is_fetched = is_archive and download.read_remote(download.place(source.location)) is not None
    if hub.offline() and not is_fetched:
        raise DataUnavailableError(
            f"{source.title}: not fetched, because HF_HUB_OFFLINE is set; unset it"
        )
    if is_archive:
        size = 0 if is_fetched else download.head(source.location).size
        bring = partial(transfers.archive, keys, source, verified)
        yield Transfer(tuple(keys), size, bring)
        return
    command = _yt_dlp()
    for key in keys:
        bring = partial(transfers.online_video, source, key, command, verified)
        yield Transfer((key,), None, bring)


def _how_to_ask(source: MediaSource, key: str, root: Path) -> str:
    """Say how the user gets videos that their owners send on request."""
    name = key
    if source.images:
        folders = folders_of(source.images, {"video": key})
        if folders:
            name = folders[0]
    layout = source.layouts[0] if source.layouts else "{video}"
    note = f" ({source.note})" if source.note else ""
    return (
        f"ask for them at {source.location}, then put them into {root} or a folder of "
        f"REELBENCH_MEDIA, as {media_roots.path_in_layout(layout, name)}{note}"
    )


def _plan_from_hub(
    source: MediaSource, keys: list[str], verified: VerifiedFiles, *, refresh: bool
) -> Iterator[Transfer | Failure]:
    commit = hub.resolve_commit(source.location, source.revision, refresh=refresh)
    listing = hub.list_files(source.location, commit)
    hub.check_access(source.location)
    for key in keys:
        path = media_roots.path_in_layout(source.path or source.layouts[0], key)
        name = _name_in_listing(path, listing)
        if name is None:
            page = hub.page(source.location)
            yield Failure(key, f"{page} at {commit[:12]} has no {path}")
            continue
        suffix = PurePosixPath(name).suffix
        target = transfers.place(verified.root, source, key, suffix)
        bring = partial(transfers.hub_video, listing, name, target, verified, key=key)
        yield Transfer((key,), listing.files[name].size, bring)


def _name_in_listing(path: str, listing: hub.Listing) -> str | None:
    """Return the path that a video has in a repository."""
    if path in listing.files:
        return path
    # A repository may hold a few of its videos in another container than the rest.
    stem = path
    suffix = PurePosixPath(path).suffix
    if media_roots.has_video_suffix(suffix):
        stem = path.removesuffix(suffix)
    for video_suffix in media_roots.VIDEO_SUFFIXES:
        if stem + video_suffix in listing.files:
            return stem + video_suffix
    return None


def _yt_dlp() -> str:
    """Return the yt-dlp on PATH, or the one beside this Python."""
    command = shutil.which("yt-dlp")
    if command is None:
        command = shutil.which("yt-dlp", path=str(Path(sys.executable).parent))
    if command is None:
        raise DataUnavailableError("yt-dlp is not installed: pip install yt-dlp")
    return command


# --- the run
# ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FetchReport:
    """The outcome of a run. Problems of the plan come first among the failures."""

    done: tuple[str, ...]
    skipped: tuple[str, ...]
    failed: tuple[Failure, ...]


def run(plan: FetchPlan, show: Show = no_show, *, workers: int = WORKERS) -> FetchReport:
    """Transfer what a plan holds, several files at a time.

    A failure is reported, and never stops the rest.

    Args:
        plan: The plan.
        show: Told the bytes transferred, and how many of the names are done or have failed.
        workers: The number of transfers at a time.

    Raises:
        DataUnavailableError: The disk has less room than the plan is known to need, or another
            fetch of the benchmark is running. Nothing has been transferred.
    """
    root = media_roots.fetched_root(plan.spec)
    _check_room(plan, root)
    if not plan.items:
        return FetchReport((), plan.here, plan.problems)
    root.mkdir(parents=True, exist_ok=True)
    progress = _Progress(plan.names, show)
    with _lock_fetch(plan, root), ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            list(pool.map(progress.transfer, plan.items))
        finally:
            # On Ctrl-C the pool waits for its threads; each notices the event at its next block of
            # bytes.
            progress.stop.set()
            pool.shutdown(cancel_futures=True)
    done: list[str] = []
    failed = list(plan.problems)
    for name, failure in progress.outcomes.items():
        if failure is None:
            done.append(name)
        else:
            failed.append(Failure(name, failure))
    return FetchReport(tuple(done), plan.here, tuple(failed))


def _check_room(plan: FetchPlan, root: Path) -> None:
    folder = root
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if plan.size > free:
        raise DataUnavailableError(
            f"{plan.spec.id}: {decimal(plan.size)} to fetch and {decimal(free)} free in {folder}; "
            "use --limit, or set REELBENCH_HOME to a larger disk"
        )


def _lock_fetch(plan: FetchPlan, root: Path) -> "AcquireReturnProxy[FileLock]":
    """Take the lock of a benchmark's fetch: two would write the same partial files."""
    from filelock import FileLock, Timeout

    path = root / ".fetch.lock"
    try:
        return FileLock(path, blocking=False).acquire()
    except Timeout:
        raise DataUnavailableError(
            f"{plan.spec.id}: another fetch is running (it holds {path}); wait for it"
        ) from None


class _StoppedError(BaseException):
    """The user stopped the run. It is not caught with the faults of transfers."""


@dataclass
class _Progress:
    """The outcomes and bytes of a run so far, on all its threads."""

    names: int
    show: Show
    outcomes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Name -> None, or the reason why it could not be had."""
    stop: threading.Event = field(default_factory=threading.Event)
    _transferred: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def transfer(self, item: Transfer) -> None:
        """Run a transfer, and note the outcome of each of its names."""
        failure = "its transfer ended without it; please report this"
        try:
            for outcome in item.bring(self._count_progress):
                self._count_progress(0, {outcome.name: outcome.failure})
        except Exception as error:  # noqa: BLE001 - no fault of one must end the others
            failure = _reason_of(error)
        remaining = [name for name in item.names if name not in self.outcomes]
        self._count_progress(0, dict.fromkeys(remaining, failure))

    def _count_progress(
        self, size: int, outcomes: Mapping[str, str | None] = MappingProxyType({})
    ) -> None:
        if self.stop.is_set():
            raise _StoppedError
        with self._lock:
            self.outcomes.update(outcomes)
            self._transferred += size
            self.show(self._transferred, f"{len(self.outcomes)}/{self.names}")


def _reason_of(error: Exception) -> str:
    """Return the line that tells why a transfer failed. Log what nobody foresaw."""
    if isinstance(error, OSError) and is_full(error):
        place = error.filename or "where videos are kept"
        return f"the disk is full ({place}); make room and run the command again"
    if isinstance(error, ReelbenchError):
        return str(error)
    if not isinstance(error, OSError):
        log.error("a transfer failed in an unforeseen way", exc_info=error)
    return f"{type(error).__name__}: {first_line(error)}"
