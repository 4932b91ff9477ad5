"""`reelbench data fetch`: annotations and videos from a spec's sources, planned first, then brought in parallel.

A plan says what will be transferred and how much before it starts. Running it never stops at a failure: what could not
be had is reported at the end with its reason, and the next run continues from what is here.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, Self

from reelbench.registry import media, probe
from reelbench.registry.data import download, hub, sources
from reelbench.registry.data.loading import imported
from reelbench.registry.errors import DataUnavailableError, InputError, ReelbenchError
from reelbench.registry.files import read_json, write_text
from reelbench.registry.spec import BenchmarkSpec, HubFile, MediaSource, UrlFile

WORKERS = 4
_HEIGHT = 720
_NO_YT_DLP = "yt-dlp is not installed: pip install yt-dlp"

Failure = tuple[str, str]
"""What could not be had, and why."""


class Progress(Protocol):
    """Told how a run goes on; called from several threads."""

    def advance(self, transferred: int) -> None:
        """Count bytes transferred."""

    def finished(self, what: str) -> None:
        """Count one thing as done, or as failed for good."""


class _Quiet:
    def advance(self, transferred: int) -> None:
        """Do nothing."""

    def finished(self, what: str) -> None:
        """Do nothing."""


# --- what has been verified ----------------------------------------------------------------------------------------


class Verified:
    """Which fetched videos have been checked, by relative path, with the size that they had then."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._path = root / ".verified.json"
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = read_json(self._path) if self._path.is_file() else {}

    def size(self, path: Path) -> int | None:
        """Return the size a file had when it was verified; None where it never was, or isn't one of ours."""
        return self._sizes.get(path.relative_to(self.root).as_posix()) if path.is_relative_to(self.root) else None

    def holds(self, path: Path) -> bool:
        """Tell whether a file is here as it was verified."""
        return path.is_file() and self.size(path) == path.stat().st_size

    def add(self, path: Path) -> None:
        """Note that a file has been verified."""
        with self._lock:
            self._sizes[path.relative_to(self.root).as_posix()] = path.stat().st_size
            write_text(self._path, json.dumps(self._sizes, indent=0, sort_keys=True))


# --- what a plan holds ---------------------------------------------------------------------------------------------


class Item(Protocol):
    """One transfer: an annotation file, a video, or an archive of videos."""

    @property
    def whats(self) -> tuple[str, ...]:
        """What it brings: file names or media keys."""
        ...

    @property
    def size(self) -> int | None:
        """Bytes to transfer, None where upstream doesn't say."""
        ...

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        """Transfer and verify; yield each of `whats` with None, or with the reason why it could not be had."""
        ...


@dataclass(frozen=True)
class FetchPlan:
    """What a run will transfer, what is here already, and what can't be had as things stand."""

    spec: BenchmarkSpec
    split: str
    items: tuple[Item, ...]
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

    def summary(self) -> str:
        """Say in one line what is about to happen."""
        total = sum(len(item.whats) for item in self.items)
        unknown = f" and {self.unknown} of unknown size" if self.unknown else ""
        return (
            f"{self.spec.id} {self.split}: {total} to fetch, {human_bytes(self.size)}{unknown}; "
            f"{len(self.here)} here already" + (f"; {len(self.problems)} can't be fetched" if self.problems else "")
        )


@dataclass(frozen=True)
class FetchReport:
    """What a run did. Failures hold what could not be had and why, in the plan's order where it knew them before."""

    done: tuple[str, ...]
    skipped: tuple[str, ...]
    failed: tuple[Failure, ...]


def human_bytes(size: float) -> str:
    """Write a number of bytes with a decimal unit."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:  # noqa: PLR2004 - decimal units
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


# --- planning ------------------------------------------------------------------------------------------------------


def plan(
    spec: BenchmarkSpec,
    split: str,
    *,
    wanted: Sequence[str] = (),
    limit: int | None = None,
    data: Path | None = None,
    refresh: bool = False,
) -> FetchPlan:
    """Plan a fetch: the split's annotations, and the videos of `wanted`.

    The rows name the videos, so a fetch with videos takes two plans: the first without `wanted` brings the annotations.

    Args:
        spec: The benchmark.
        split: One of its splits.
        wanted: Media keys of the rows, as they come; none for annotations only.
        limit: Take only the first so many different videos.
        data: The user's own annotations: nothing is fetched in their place.
        refresh: Ask upstream anew (see `sources.resolve`): annotations, and videos on the Hub that have changed there.

    Raises:
        InputError: The split is unknown, or the user's own data isn't as expected.
    """
    builder = _Builder(spec, split, refresh=refresh)
    builder.annotations(data)
    builder.videos(list(dict.fromkeys(wanted))[:limit], data)
    return FetchPlan(spec, split, tuple(builder.items), tuple(builder.here), tuple(builder.problems))


class _Builder:
    def __init__(self, spec: BenchmarkSpec, split: str, *, refresh: bool) -> None:
        self.spec = spec
        self.split = split
        self.refresh = refresh
        self.items: list[Item] = []
        self.here: list[str] = []
        self.problems: list[Failure] = []

    def annotations(self, data: Path | None) -> None:
        source = sources.split_spec(self.spec, self.split).source
        what = f"annotations ({' or '.join(sources.expected_files(source))})"
        if not self.refresh and sources.present(self.spec, self.split, data) is not None:
            self.here.append(what)
            return
        if sources.user_data(self.spec, data) is not None:
            sources.resolve(self.spec, self.split, data)
            self.here.append(what)
            return
        try:
            size = self._annotation_size(source)
        except DataUnavailableError as error:
            self.problems.append((what, str(error)))
        else:
            self.items.append(_Annotations(self.spec, self.split, what, size, self.refresh))

    def _annotation_size(self, source: sources.Source) -> int | None:
        if isinstance(source, HubFile) and self.spec.open_data:
            commit = hub.resolve_commit(source.repo_id, source.revision, refresh=self.refresh)
            files = hub.list_files(source.repo_id, commit).files
            return next((files[name].size for name in source.filenames if name in files), None)
        if isinstance(source, UrlFile) and self.spec.open_data:
            if hub.offline():
                raise DataUnavailableError(f"{source.url}: not here and HF_HUB_OFFLINE is set; unset it")
            return download.head(source.url).size
        raise DataUnavailableError(sources.how_to_supply(self.spec, source))

    def videos(self, wanted: list[str], data: Path | None) -> None:
        library = media.Library(self.spec, self.split, data)
        verified = Verified(media.fetched_root(self.spec))
        by_source: dict[int, list[str]] = {}
        for key in wanted:
            try:
                found = library.find({"video": key})
            except InputError as error:
                self.problems.append((key, str(error)))
                continue
            number = next((n for n, source in enumerate(self.spec.media) if _is_from(source, key, self.split)), None)
            hashed = number is not None and self.spec.media[number].kind == "hub"
            stale = self.refresh and hashed and found is not None and found.is_relative_to(verified.root)
            if found is not None and not stale and _is_good(found, verified, hashed=hashed):
                self.here.append(key)
            elif number is None:
                self.problems.append((key, f"{self.spec.id} names no place where this video can be had"))
            else:
                by_source.setdefault(number, []).append(key)
        for number, keys in by_source.items():
            source = self.spec.media[number]
            try:
                _PLANNERS[source.kind](self, source, keys, verified)
            except DataUnavailableError as error:
                self.problems.append((_several(keys, source), str(error)))

    def from_hub(self, source: MediaSource, keys: list[str], verified: Verified) -> None:
        commit = hub.resolve_commit(source.location, source.revision, refresh=self.refresh)
        listing = hub.list_files(source.location, commit)
        hub.check_access(source.location)
        for key in keys:
            names = _names(source, key)
            name = next((name for name in names if name in listing.files), None)
            if name is None:
                self.problems.append((key, f"{hub.page(source.location)} at {commit[:12]} has no {names[0]}"))
                continue
            target = _target(verified.root, source, key, PurePosixPath(name).suffix)
            self.items.append(_HubVideo(key, source.location, commit, name, listing.files[name], target, verified))

    def from_archive(self, source: MediaSource, keys: list[str], verified: Verified) -> None:
        path = download.place(source.location)
        size: int | None = 0
        if download.recorded(path) is None:
            _refuse_offline(source)
            size = download.head(source.location).size
        self.items.append(_Archive(source, tuple(keys), size, verified))

    def from_youtube(self, source: MediaSource, keys: list[str], verified: Verified) -> None:
        _refuse_offline(source)
        command = yt_dlp()
        if command is None:
            raise DataUnavailableError(_NO_YT_DLP)
        self.items.extend(_OnlineVideo(key, source, tuple(command), verified) for key in keys)

    def from_form(self, source: MediaSource, keys: list[str], verified: Verified) -> None:
        layout = source.layouts[0] if source.layouts else "{video}"
        folders = source.images and imported(source.images.folders)({"video": keys[0]})
        example = layout.format(video=folders[0] if folders else keys[0])
        self.problems.append(
            (
                _several(keys, source),
                f"ask for them at {source.location}, then put them into {verified.root} "
                f"or a folder of REELBENCH_MEDIA, as {example}" + (f" ({source.note})" if source.note else ""),
            )
        )


_PLANNERS: Mapping[str, Callable[[_Builder, MediaSource, list[str], Verified], None]] = {
    "hub": _Builder.from_hub,
    "archive": _Builder.from_archive,
    "youtube": _Builder.from_youtube,
    "form": _Builder.from_form,
}


def _is_good(found: Path, verified: Verified, *, hashed: bool) -> bool:
    # Files in the user's own folders are the user's business. In the folder for fetched ones a file must be as it was
    # when it was verified; one that was put there by hand is probed, or compared with the Hub's hash by its transfer.
    if not found.is_relative_to(verified.root) or verified.holds(found):
        return True
    if hashed or probe.broken(found) is not None:
        return False
    verified.add(found)
    return True


def _is_from(source: MediaSource, key: str, split: str) -> bool:
    return (not source.splits or split in source.splits) and (
        source.matches is None or re.search(source.matches, key) is not None
    )


def _several(keys: Sequence[str], source: MediaSource) -> str:
    return f"{keys[0]} ({source.title})" if len(keys) == 1 else f"{len(keys)} videos ({source.title})"


def _names(source: MediaSource, key: str) -> list[str]:
    # A repository may hold a few of its videos in another container than the rest.
    path = (source.path or source.layouts[0]).format(video=key)
    bare = path.removesuffix(PurePosixPath(path).suffix) if PurePosixPath(path).suffix in media.SUFFIXES else path
    return list(dict.fromkeys((path, *(bare + suffix for suffix in media.SUFFIXES))))


def _target(root: Path, source: MediaSource, key: str, suffix: str) -> Path:
    layout = (source.layouts[0] if source.layouts else "{video}").format(video=key)
    has_suffix = PurePosixPath(layout).suffix in media.SUFFIXES
    return root / (layout if has_suffix else layout + (suffix if suffix in media.SUFFIXES else ".mp4"))


def _refuse_offline(source: MediaSource) -> None:
    if hub.offline():
        raise DataUnavailableError(f"{source.title}: not fetched, because HF_HUB_OFFLINE is set; unset it")


def yt_dlp() -> list[str] | None:
    """Return the command of the yt-dlp that is installed (on PATH, or beside this Python); None where there is none."""
    found = shutil.which("yt-dlp") or shutil.which("yt-dlp", path=str(Path(sys.executable).parent))
    return [found] if found else None


# --- transfers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Annotations:
    spec: BenchmarkSpec
    split: str
    what: str
    size: int | None
    refresh: bool

    @property
    def whats(self) -> tuple[str, ...]:
        return (self.what,)

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        sources.resolve(self.spec, self.split, refresh=self.refresh)
        advance(self.size or 0)
        yield self.what, None


@dataclass(frozen=True)
class _HubVideo:
    key: str
    repo_id: str
    commit: str
    name: str
    stated: hub.RemoteFile
    target: Path
    verified: Verified

    @property
    def whats(self) -> tuple[str, ...]:
        return (self.key,)

    @property
    def size(self) -> int | None:
        return self.stated.size

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        here = next((path for path in (self.target, _aside(self.target)) if path.is_file()), None)
        if here is None or hub.mismatch(here, self.stated) is not None:
            with _incoming(self.verified.root, f"{self.repo_id}@{self.commit}/{self.name}") as folder:
                path = hub.download(
                    self.repo_id, self.name, revision=self.commit, folder=folder, tqdm_class=_bar(advance)
                )
                if (difference := hub.mismatch(path, self.stated)) is not None:
                    yield self.key, f"arrived damaged ({difference}); not kept, fetch it again"
                    return
                _move(path, self.target)
        elif here != self.target:
            _move(here, self.target)
        yield self.key, _accept(self.target, self.verified)


@dataclass(frozen=True)
class _OnlineVideo:
    key: str
    source: MediaSource
    command: tuple[str, ...]
    verified: Verified

    @property
    def whats(self) -> tuple[str, ...]:
        return (self.key,)

    @property
    def size(self) -> int | None:
        return None

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        url = self.source.location.format(video=self.key)
        # One file with picture and sound needs ffmpeg where they come apart; without it, the best that comes as one.
        best = f"bv*[height<=?{_HEIGHT}]+ba/" if shutil.which("ffmpeg") else ""
        formats = f"b[height<=?{_HEIGHT}][ext=mp4]/{best}b[height<=?{_HEIGHT}]/b/bv*"
        # The folder stays on failure: yt-dlp continues the partial file in it.
        with _incoming(self.verified.root, url, keep_partial=True) as folder:
            arguments = ["--quiet", "--no-warnings", "--no-progress", "--no-playlist", "--socket-timeout", "30"]
            arguments += ["--format", formats, "--output", str(folder / "video.%(ext)s"), "--", url]
            run = subprocess.run(  # noqa: S603 - no shell; the URL stands after `--`
                [*self.command, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
            )
            files = [file for file in folder.glob("video.*") if file.suffix not in {".part", ".ytdl"}]
            if run.returncode != 0 or len(files) != 1:
                lines = [line for line in run.stderr.splitlines() if line.strip()]
                yield self.key, f"{url}: {lines[-1] if lines else f'yt-dlp ended with {run.returncode} and no file'}"
                return
            advance(files[0].stat().st_size)
            target = _target(self.verified.root, self.source, self.key, files[0].suffix)
            _move(files[0], target)
        yield self.key, _accept(target, self.verified)


@dataclass(frozen=True)
class _Archive:
    source: MediaSource
    keys: tuple[str, ...]
    size: int | None
    verified: Verified

    @property
    def whats(self) -> tuple[str, ...]:
        return self.keys

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        url = self.source.location
        archive = download.download(url, download.place(url), on_bytes=_deltas(advance))
        left = {self._member(key): key for key in self.keys}
        damage = None
        try:
            with tarfile.open(archive) as tar:
                for member in tar:
                    if (key := self._wanted(member, left)) is not None:
                        yield key, self._extract(tar, member, key)
                    if not left:
                        break
        except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
            damage = f"{archive} is damaged ({error}); delete it and fetch again"
        for key in left.values():
            yield key, damage or f"{url} has no {'/'.join(self._member(key))}"

    def _member(self, key: str) -> tuple[str, ...]:
        return PurePosixPath((self.source.path or "{video}.mp4").format(video=key)).parts

    def _wanted(self, member: tarfile.TarInfo, left: dict[tuple[str, ...], str]) -> str | None:
        # An archive may put a folder of its own around the path that the spec states.
        parts = PurePosixPath(member.name).parts
        if not member.isfile():
            return None
        return next((left.pop(parts[n:]) for n in range(len(parts)) if parts[n:] in left), None)

    def _extract(self, tar: tarfile.TarFile, member: tarfile.TarInfo, key: str) -> str | None:
        # The member's own name decides nothing about where it lands, so no archive can write outside the media folder.
        target = _target(self.verified.root, self.source, key, PurePosixPath(member.name).suffix)
        with _incoming(self.verified.root, f"{self.source.location}/{member.name}") as folder:
            packed = tar.extractfile(member)
            if packed is None:
                return f"{member.name} is no file in the archive"
            with packed, (folder / "video").open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
            _move(folder / "video", target)
        return _accept(target, self.verified)


@contextmanager
def _incoming(root: Path, name: str, *, keep_partial: bool = False) -> Iterator[Path]:
    # A video is moved to its place only when it is whole; until then it lies where no search for media looks.
    folder = root / ".incoming" / hashlib.sha256(name.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if not keep_partial or not any(folder.glob("*.part")):
            shutil.rmtree(folder, ignore_errors=True)


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)


def _accept(target: Path, verified: Verified) -> str | None:
    # A video that is broken upstream is set aside: no run meets it, and a hash tells that fetching it again won't help.
    if (reason := probe.broken(target)) is not None:
        _move(target, _aside(target))
        return f"broken as upstream has it: {reason}; set aside as {_aside(target)}"
    verified.add(target)
    return None


def _aside(target: Path) -> Path:
    return target.with_name(target.name + ".broken")


def _deltas(advance: Callable[[int], None]) -> Callable[[int], None]:
    last = 0

    def on_bytes(have: int) -> None:
        nonlocal last
        advance(have - last)
        last = have

    return on_bytes


def _bar(advance: Callable[[int], None]) -> Any:  # noqa: ANN401 - what the Hub client takes for a tqdm class
    class Bar:
        """As much of tqdm's interface as the Hub client uses; passes the bytes on."""

        def __init__(self, *args: object, **options: object) -> None:
            del args, options

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *error: object) -> None:
            del error

        def update(self, n: float | None = 1) -> None:
            advance(int(n or 0))

    return Bar


# --- running -------------------------------------------------------------------------------------------------------


def run(plan: FetchPlan, progress: Progress | None = None, *, workers: int = WORKERS) -> FetchReport:
    """Transfer what the plan holds, several at a time. A failure is reported, and never stops the rest.

    Raises:
        DataUnavailableError: The disk has less room than the plan is known to need, or another fetch of the benchmark
            is running; nothing has been transferred.
    """
    _refuse_full_disk(plan)
    if not plan.items:
        return FetchReport((), plan.here, plan.problems)
    with _alone(plan.spec):
        return _transfer(plan, progress or _Quiet(), workers)


@contextmanager
def _alone(spec: BenchmarkSpec) -> Iterator[None]:
    # Two fetches of one benchmark would write the same partial files.
    from filelock import FileLock, Timeout

    path = media.fetched_root(spec) / ".fetch.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(path, blocking=False).acquire()
    except Timeout:
        raise DataUnavailableError(f"{spec.id}: another fetch is running (it holds {path}); wait for it") from None
    with lock:
        yield


def _transfer(plan: FetchPlan, told: Progress, workers: int) -> FetchReport:
    done: list[str] = []
    failed: list[Failure] = list(plan.problems)
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            for future in as_completed([pool.submit(_outcomes, item, told, stop) for item in plan.items]):
                for what, reason in future.result():
                    if reason is None:
                        done.append(what)
                    else:
                        failed.append((what, reason))
        finally:
            # On Ctrl-C the pool waits for its threads; each notices the event at its next block of bytes.
            stop.set()
            pool.shutdown(cancel_futures=True)
    return FetchReport(tuple(done), plan.here, tuple(failed))


class _StoppedError(Exception):
    """The user stopped the run."""


def _outcomes(item: Item, told: Progress, stop: threading.Event) -> list[tuple[str, str | None]]:
    outcomes: list[tuple[str, str | None]] = []

    def note(what: str, reason: str | None) -> None:
        outcomes.append((what, reason))
        told.finished(what)

    def advance(transferred: int) -> None:
        if stop.is_set():
            raise _StoppedError
        told.advance(transferred)

    try:
        for what, reason in item.bring(advance):
            note(what, reason)
    except (ReelbenchError, OSError) as error:
        known = {what for what, _ in outcomes}
        for what in item.whats:
            if what not in known:
                note(what, str(error))
    return outcomes


def _refuse_full_disk(plan: FetchPlan) -> None:
    if not plan.size:
        return
    folder = media.fetched_root(plan.spec)
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if plan.size > free:
        raise DataUnavailableError(
            f"{plan.spec.id}: {human_bytes(plan.size)} to fetch and {human_bytes(free)} free in {folder}; "
            "use --limit, or set REELBENCH_HOME to a larger disk"
        )


@contextmanager
def progress_bar(plan: FetchPlan) -> Iterator[Progress]:
    """Show a bar on standard error while a plan runs; on anything but a terminal nothing is shown."""
    if not sys.stderr.isatty() or not plan.items:
        yield _Quiet()
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[items]}"),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Shown(bars, sum(len(item.whats) for item in plan.items), plan)


@dataclass
class _Shown:
    bars: Any
    items: int
    plan: FetchPlan
    finished_items: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        total = None if self.plan.unknown else self.plan.size
        self.task = self.bars.add_task(self.plan.spec.id, total=total, items=f"0/{self.items}")

    def advance(self, transferred: int) -> None:
        self.bars.advance(self.task, transferred)

    def finished(self, what: str) -> None:
        del what
        with self.lock:
            self.finished_items += 1
            self.bars.update(self.task, items=f"{self.finished_items}/{self.items}")
