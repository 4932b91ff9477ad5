"""`reelbench data fetch`: annotations and videos from a spec's sources, planned first, then fetched in parallel.

A plan says what will be transferred and how much before it starts. Running it never stops at a
failure: what could not be had is reported at the end with its reason, and the next run continues
from what is here.
"""

import errno
import hashlib
import json
import logging
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from rich.filesize import decimal

from reelbench.base.credentials import known_secrets
from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError, first_line
from reelbench.base.files import is_full, read_record, write_text
from reelbench.base.lazy import import_object
from reelbench.base.progress import Show, no_show
from reelbench.base.settings import XDG_CONFIG_HOME, expanded
from reelbench.data import download, hub, sources
from reelbench.registry.spec import BenchmarkSpec, HubFile, MediaSource, UrlFile
from reelbench.registry.splits import expected_files, split_spec, user_data
from reelbench.video import library as media
from reelbench.video import playable

WORKERS = 4
log = logging.getLogger("reelbench")

_HEIGHT = 720
_GROWTH = 20  # how many times the size of its archive a video may have
_GROWS_FREELY = 10_000_000  # bytes that a video may have whatever the size of its archive
# `tarfile` lets through what its decoders raise, and trusts the numbers in a header.
_DECODING = (EOFError, zlib.error, lzma.LZMAError, ValueError, ArithmeticError, RecursionError)

Failure = tuple[str, str]  # what could not be had, and why
Outcome = tuple[str, str | None]  # what was to be brought, and None, or why it could not be had
OnBytes = Callable[[int], None]  # called with the number of bytes that came


class VerifiedFiles:
    """Which fetched videos have been checked, by relative path, with the size that they had then."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._path = root / ".verified.json"
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = read_record(self._path) or {}

    def size(self, path: Path) -> int | None:
        """Return the size a file had when it was verified; None where it never was, or isn't one of ours."""
        return (
            self._sizes.get(path.relative_to(self.root).as_posix())
            if path.is_relative_to(self.root)
            else None
        )

    def add(self, path: Path) -> None:
        """Note that a file has been verified."""
        with self._lock:
            self._sizes[path.relative_to(self.root).as_posix()] = path.stat().st_size
            write_text(self._path, json.dumps(self._sizes, indent=0, sort_keys=True))


@dataclass(frozen=True)
class Transfer:
    """One transfer: `names` are the file names or media keys that it brings.

    `size` is the number of bytes to transfer, None where upstream doesn't say. `bring` transfers
    and verifies, telling its argument of the bytes, and yields the outcome of each of `names`.
    """

    names: tuple[str, ...]
    size: int | None
    bring: Callable[[OnBytes], Iterator[Outcome]]


@dataclass(frozen=True)
class FetchPlan:
    """What a run will transfer, what is here already, and what is not available as things stand."""

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
        unknown = f" and {self.unknown} of unknown size" if self.unknown else ""
        return (
            f"{self.spec.id} {self.split}: {self.names} to fetch, {decimal(self.size)}{unknown}; "
            f"{len(self.here)} here already"
            + (f"; {len(self.problems)} can't be fetched" if self.problems else "")
        )


def plan(
    spec: BenchmarkSpec,
    split: str,
    *,
    wanted: Sequence[str] = (),
    limit: int | None = None,
    data: Path | None = None,
    refresh: bool = False,
) -> FetchPlan:
    """Plan a fetch: the split's annotations, and the videos of the media keys `wanted`, or the first `limit` of these.

    The rows name the videos, so a fetch with videos takes two plans: the first without `wanted`
    brings the annotations. Nothing is fetched in place of the user's own (`data`). `refresh` asks
    upstream anew (see `sources.resolve`), also for videos on the Hub that have changed there.
    InputError where the split is unknown, or the user's data isn't as expected.
    """
    names = expected_files(split_spec(spec, split).source, published=True)
    what = f"annotations ({' or '.join(names)})"
    users = user_data(spec, data) is not None
    items: list[Transfer] = []
    here = (
        [what] if users or (not refresh and sources.present(spec, split, data) is not None) else []
    )
    problems: list[Failure] = []
    if users:
        sources.resolve(spec, split, data)  # says what is wrong with it
    elif not here:
        try:
            items.append(_annotations(spec, split, what, refresh=refresh))
        except DataUnavailableError as error:
            problems.append((what, str(error)))
    library = media.Library(spec, split, data)
    verified = VerifiedFiles(media.fetched_root(spec))
    by_source: dict[MediaSource, list[str]] = {}
    for key in list(dict.fromkeys(wanted))[:limit]:
        try:
            found = library.find({"video": key})
        except InputError as error:
            problems.append((key, str(error)))
            continue
        places = (place for place in spec.media if not place.splits or split in place.splits)
        source = next(
            (place for place in places if place.matches is None or re.search(place.matches, key)),
            None,
        )
        hashed = source is not None and source.kind == "hub"
        stale = refresh and hashed and found is not None and found.is_relative_to(verified.root)
        if found is not None and not stale and _is_good(found, verified, hashed=hashed):
            here.append(key)
        elif source is None:
            problems.append((key, f"{spec.id} names no place where this video can be had"))
        else:
            by_source.setdefault(source, []).append(key)
    for source, keys in by_source.items():
        try:
            planned = list(_plan_transfers(source, keys, verified, refresh=refresh))
            items += [part for part in planned if isinstance(part, Transfer)]
            problems += [part for part in planned if not isinstance(part, Transfer)]
        except DataUnavailableError as error:
            several = keys[0] if len(keys) == 1 else f"{len(keys)} videos"
            problems.append((f"{several} ({source.title})", str(error)))
    return FetchPlan(spec, split, tuple(items), tuple(here), tuple(problems))


def _annotations(spec: BenchmarkSpec, split: str, what: str, *, refresh: bool) -> Transfer:
    """Return the transfer of a split's annotation files; DataUnavailableError where they can't be had."""
    source = spec.splits[split].source
    if isinstance(source, HubFile) and spec.open_data:
        commit = hub.resolve_commit(source.repo_id, source.revision, refresh=refresh)
        files = hub.list_files(source.repo_id, commit).files
        size = next((files[name].size for name in source.filenames if name in files), None)
    elif not isinstance(source, UrlFile) or not spec.open_data:
        raise DataUnavailableError(sources.how_to_supply(spec, source))
    elif hub.offline():
        raise DataUnavailableError(f"{source.url}: not here and HF_HUB_OFFLINE is set; unset it")
    else:
        size = download.head(source.url).size

    def bring(advance: OnBytes) -> Iterator[Outcome]:
        sources.resolve(spec, split, refresh=refresh)
        advance(size or 0)
        yield what, None

    return Transfer((what,), size, bring)


def _plan_transfers(
    source: MediaSource, keys: list[str], verified: VerifiedFiles, *, refresh: bool
) -> Iterator[Transfer | Failure]:
    """Yield the transfers of a source's videos, and what it lacks; DataUnavailableError where none can be had."""
    if source.kind == "form":
        layout = source.layouts[0] if source.layouts else "{video}"
        folders = source.images and import_object(source.images.folders)({"video": keys[0]})
        example = layout.format(video=folders[0] if folders else keys[0])
        note = f" ({source.note})" if source.note else ""
        raise DataUnavailableError(
            f"ask for them at {source.location}, then put them into {verified.root} or a folder of REELBENCH_MEDIA, as "
            f"{example}{note}"
        )
    if source.kind == "hub":
        commit = hub.resolve_commit(source.location, source.revision, refresh=refresh)
        listing = hub.list_files(source.location, commit)
        hub.check_access(source.location)
        for key in keys:
            # A repository may hold a few of its videos in another container than the rest.
            path = (source.path or source.layouts[0]).format(video=key)
            suffix = PurePosixPath(path).suffix
            bare = path.removesuffix(suffix) if media.has_video_suffix(suffix) else path
            names = (path, *(bare + suffix for suffix in media.VIDEO_SUFFIXES))
            name = next((name for name in names if name in listing.files), None)
            if name is None:
                yield key, f"{hub.page(source.location)} at {commit[:12]} has no {path}"
                continue
            target = place(verified.root, source, key, PurePosixPath(name).suffix)
            bring = partial(hub_video, listing, name, target, verified, key=key)
            yield Transfer((key,), listing.files[name].size, bring)
        return
    fetched = (
        source.kind == "archive"
        and download.read_remote(download.place(source.location)) is not None
    )
    if hub.offline() and not fetched:
        raise DataUnavailableError(
            f"{source.title}: not fetched, because HF_HUB_OFFLINE is set; unset it"
        )
    if source.kind == "archive":
        size = 0 if fetched else download.head(source.location).size
        yield Transfer(tuple(keys), size, partial(archive, keys, source, verified))
        return
    # On PATH, or beside this Python.
    command = shutil.which("yt-dlp") or shutil.which(
        "yt-dlp", path=str(Path(sys.executable).parent)
    )
    if command is None:
        raise DataUnavailableError("yt-dlp is not installed: pip install yt-dlp")
    yield from (
        Transfer((key,), None, partial(online_video, source, key, command, verified))
        for key in keys
    )


def _is_good(found: Path, verified: VerifiedFiles, *, hashed: bool) -> bool:
    # Files in the user's own folders are the user's business. In the folder for fetched ones a file
    # must be as it was when it was verified; one that was put there by hand is probed, or compared
    # with the Hub's hash by its transfer.
    if not found.is_relative_to(verified.root) or verified.size(found) == found.stat().st_size:
        return True
    if hashed or playable.defect(found) is not None:
        return False
    verified.add(found)
    return True


@dataclass(frozen=True)
class FetchReport:
    """What a run did. Failures hold what could not be had and why, in the plan's order where it knew them before."""

    done: tuple[str, ...]
    skipped: tuple[str, ...]
    failed: tuple[Failure, ...]


class _StoppedError(BaseException):
    """The user stopped the run; no fault of a transfer, so nobody who catches those catches it."""


def run(plan: FetchPlan, show: Show = no_show, *, workers: int = WORKERS) -> FetchReport:
    """Transfer what the plan holds, several at a time. A failure is reported, and never stops the rest.

    `show` is told the bytes transferred, and how many of the names are done, or have failed for
    good. DataUnavailableError where the disk has less room than the plan is known to need, or
    another fetch of the benchmark is running: nothing has been transferred.
    """
    from filelock import FileLock, Timeout

    root = folder = media.fetched_root(plan.spec)
    while not folder.exists():
        folder = folder.parent
    if plan.size > (free := shutil.disk_usage(folder).free):
        raise DataUnavailableError(
            f"{plan.spec.id}: {decimal(plan.size)} to fetch and {decimal(free)} free in {folder}; "
            "use --limit, or set REELBENCH_HOME to a larger disk"
        )
    if not plan.items:
        return FetchReport((), plan.here, plan.problems)
    path = root / ".fetch.lock"
    root.mkdir(parents=True, exist_ok=True)
    try:
        # Two fetches of one benchmark would write the same partial files.
        lock = FileLock(path, blocking=False).acquire()
    except Timeout:
        raise DataUnavailableError(
            f"{plan.spec.id}: another fetch is running (it holds {path}); wait for it"
        ) from None
    outcomes: dict[str, str | None] = {}  # name -> None, or the reason why it could not be had
    transferred, telling, stop = 0, threading.Lock(), threading.Event()

    def advance(size: int, finished: Mapping[str, str | None] = MappingProxyType({})) -> None:
        nonlocal transferred
        if stop.is_set():
            raise _StoppedError
        with telling:
            outcomes.update(finished)
            transferred += size
            show(transferred, f"{len(outcomes)}/{plan.names}")

    def transfer(item: Transfer) -> None:
        why = "its transfer ended without it; please report this"
        try:
            for what, reason in item.bring(advance):
                advance(0, {what: reason})
        except (
            Exception
        ) as error:  # one transfer's fault, of whatever kind, must not end the others
            why = (
                str(error)
                if isinstance(error, ReelbenchError)
                else f"{type(error).__name__}: {first_line(error)}"
            )
            if isinstance(error, OSError) and is_full(error):
                full = error.filename or "where videos are kept"
                why = f"the disk is full ({full}); make room and run the command again"
            elif not isinstance(error, ReelbenchError | OSError):
                log.exception("a transfer failed in an unforeseen way")
        advance(0, {what: why for what in item.names if what not in outcomes})

    with lock, ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            list(pool.map(transfer, plan.items))
        finally:
            # On Ctrl-C the pool waits for its threads; each notices the event at its next block of
            # bytes.
            stop.set()
            pool.shutdown(cancel_futures=True)
    failed = ((what, reason) for what, reason in outcomes.items() if reason is not None)
    return FetchReport(
        tuple(what for what, reason in outcomes.items() if reason is None),
        plan.here,
        (*plan.problems, *failed),
    )


# --- the transfers: each verifies what it brings, which lands only when it is whole ---


def hub_video(
    listing: hub.Listing,
    name: str,
    target: Path,
    verified: VerifiedFiles,
    advance: OnBytes,
    *,
    key: str,
) -> Iterator[Outcome]:
    """Bring a video in a repository of the Hub, checked against the hash that the Hub states."""
    stated = listing.files[name]
    here = next((path for path in (target, _aside(target)) if path.is_file()), None)
    if here is None or hub.mismatch(here, stated) is not None:
        with _incoming(verified.root, f"{listing.repo_id}@{listing.commit}/{name}") as folder:

            class Bar(ExitStack):
                """As much of tqdm's interface as the Hub client uses, `with` among it; passes the bytes on."""

                def __init__(self, *args: object, **options: object) -> None:
                    del args, options
                    super().__init__()

                def update(self, n: float | None = 1) -> None:
                    advance(int(n or 0))

            path = hub.download(
                listing.repo_id, name, revision=listing.commit, folder=folder, tqdm_class=Bar
            )
            if (difference := hub.mismatch(path, stated)) is not None:
                yield key, f"arrived damaged ({difference}); not kept, fetch it again"
            else:
                yield key, _accept(path, target, verified)
    else:
        yield key, _accept(here, target, verified)


def online_video(
    source: MediaSource, key: str, command: str, verified: VerifiedFiles, advance: OnBytes
) -> Iterator[Outcome]:
    """Bring a video on a page that yt-dlp, which is `command`, reads."""
    url = source.location.format(video=key)
    # One file with picture and sound needs ffmpeg where they come apart; without it, the best that
    # comes as one.
    best = f"bv*[height<=?{_HEIGHT}]+ba/" if shutil.which("ffmpeg") else ""
    formats = f"b[height<=?{_HEIGHT}][ext=mp4]/{best}b[height<=?{_HEIGHT}]/b/bv*"
    # The folder stays on failure: yt-dlp continues the partial file in it.
    with _incoming(verified.root, url, keep_partial=True) as folder:
        # By itself it reads the working folder's yt-dlp.conf, by which a stranger's code may run.
        home = expanded(XDG_CONFIG_HOME.get())
        own = [
            path for path in (home / "yt-dlp" / "config", home / "yt-dlp.conf") if path.is_file()
        ]
        arguments = [
            "--ignore-config",
            *(word for path in own for word in ("--config-locations", str(path))),
        ]
        arguments += [
            "--quiet",
            "--no-warnings",
            "--no-progress",
            "--no-playlist",
            "--socket-timeout",
            "30",
        ]
        arguments += ["--format", formats, "--output", str(folder / "video.%(ext)s"), "--", url]
        secret = {name for name, _ in known_secrets()}
        run = subprocess.run(  # noqa: S603 - no shell; the URL stands after `--`
            [command, *arguments],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name not in secret},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        files = [file for file in folder.glob("video.*") if file.suffix not in {".part", ".ytdl"}]
        if run.returncode != 0 or len(files) != 1:
            lines = [line for line in run.stderr.splitlines() if line.strip()]
            yield (
                key,
                f"{url}: {lines[-1] if lines else f'yt-dlp ended with {run.returncode} and no file'}",
            )
            return
        advance(files[0].stat().st_size)
        yield key, _accept(files[0], place(verified.root, source, key, files[0].suffix), verified)


def archive(
    names: Sequence[str], source: MediaSource, verified: VerifiedFiles, advance: OnBytes
) -> Iterator[Outcome]:
    """Bring videos in a tar archive behind a URL."""
    url, arrived = source.location, 0

    def on_bytes(have: int) -> None:
        nonlocal arrived
        advance(have - arrived)
        arrived = have

    file = download.download(url, download.place(url), on_bytes=on_bytes)
    left = {
        PurePosixPath((source.path or "{video}.mp4").format(video=key)).parts: key for key in names
    }
    damage = None
    try:
        with tarfile.open(file) as tar:
            for member in tar:
                advance(0)  # an archive takes long to read: the chance to be stopped
                # It may put a folder of its own around the path that the spec states.
                parts = PurePosixPath(member.name).parts if member.isfile() else ()
                path = next((parts[n:] for n in range(len(parts)) if parts[n:] in left), None)
                if path is not None:
                    # The member's own name decides nothing about where it lands: none is written
                    # outside the folder.
                    target = place(
                        verified.root, source, left[path], PurePosixPath(member.name).suffix
                    )
                    reason = _extracted(tar, member, file, target, verified)
                    yield left.pop(path), reason
                if not left:
                    break
    except (tarfile.TarError, OSError, *_DECODING) as error:
        # A decoder's OSError has no number; EINVAL comes from a seek to where a header said.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        damage = f"{file} is damaged ({first_line(error)}); delete it and fetch again"
    for path, key in left.items():
        yield key, damage or f"{url} has no {'/'.join(path)}"


def _extracted(
    tar: tarfile.TarFile, member: tarfile.TarInfo, file: Path, target: Path, verified: VerifiedFiles
) -> str | None:
    # Video is compressed already: what grows so much is not a video, and would only fill the disk.
    packed_size = file.stat().st_size
    if member.size > max(_GROWTH * packed_size, _GROWS_FREELY):
        return f"{member.name} would take {member.size} bytes, out of an archive of {packed_size}: not a video"
    with _incoming(verified.root, f"{file}/{member.name}") as folder:
        packed = tar.extractfile(member)
        if packed is None:
            return f"{member.name} is not a file in the archive"
        with packed, (folder / target.name).open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked, 1 << 20)
        return _accept(folder / target.name, target, verified)


def place(root: Path, source: MediaSource, key: str, suffix: str) -> Path:
    """Return a video's path under `root`, by the first layout of its source."""
    layout = (source.layouts[0] if source.layouts else "{video}").format(video=key)
    if not media.has_video_suffix(layout):
        layout += suffix if media.has_video_suffix(suffix) else ".mp4"
    return root / layout


@contextmanager
def _incoming(root: Path, name: str, *, keep_partial: bool = False) -> Generator[Path]:
    # A video is moved to its place only when it is whole; until then it lies where no search for
    # media looks.
    folder = root / ".incoming" / hashlib.sha256(name.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if not keep_partial or not any(folder.glob("*.part")):
            shutil.rmtree(folder, ignore_errors=True)


def _accept(path: Path, target: Path, verified: VerifiedFiles) -> str | None:
    # A video that is broken upstream is set aside: no run meets it, and a hash tells that fetching
    # it again won't help.
    reason = playable.defect(path)
    final = target if reason is None else _aside(target)
    final.parent.mkdir(parents=True, exist_ok=True)
    path.replace(final)
    if reason is not None:
        return f"broken as upstream has it: {reason}; set aside as {final}"
    verified.add(target)
    return None


def _aside(target: Path) -> Path:
    return target.with_name(target.name + ".broken")
