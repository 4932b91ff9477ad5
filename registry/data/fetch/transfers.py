"""The transfers that a fetch is made of: an annotation file, a video, or an archive of videos.

Each verifies what it brings; a video comes to its place only when it is whole.
"""

import errno
import hashlib
import json
import lzma
import shutil
import subprocess
import tarfile
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Self

from reelbench.registry.data import download, hub, sources
from reelbench.registry.errors import first_line
from reelbench.registry.files import read_record, write_text
from reelbench.registry.media import library as media
from reelbench.registry.media import playable
from reelbench.registry.spec import BenchmarkSpec, MediaSource

_HEIGHT = 720
_GROWTH = 20
"""How many times the size of its archive a video may have."""
_GROWS_FREELY = 10_000_000
"""Bytes that a video may have whatever the size of its archive."""
# `tarfile` lets through what its decoders raise, and trusts the numbers in a header.
_DECODING = (EOFError, zlib.error, lzma.LZMAError, ValueError, ArithmeticError, RecursionError)


class VerifiedFiles:
    """Which fetched videos have been checked, by relative path, with the size that they had then."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._path = root / ".verified.json"
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = read_record(self._path) or {}

    def size(self, path: Path) -> int | None:
        """Return the size a file had when it was verified; None where it never was, or isn't one of ours."""
        return self._sizes.get(path.relative_to(self.root).as_posix()) if path.is_relative_to(self.root) else None

    def holds(self, path: Path) -> bool:
        """Return whether a file is here as it was verified."""
        return path.is_file() and self.size(path) == path.stat().st_size

    def add(self, path: Path) -> None:
        """Note that a file has been verified."""
        with self._lock:
            self._sizes[path.relative_to(self.root).as_posix()] = path.stat().st_size
            write_text(self._path, json.dumps(self._sizes, indent=0, sort_keys=True))


@dataclass(frozen=True)
class Transfer(ABC):
    """One transfer: `names` are the file names or media keys that it brings.

    `size` is the number of bytes to transfer, None where upstream doesn't say.
    """

    names: tuple[str, ...]
    size: int | None

    @abstractmethod
    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        """Transfer and verify; yield each of `names` with None, or with the reason why it could not be had."""


@dataclass(frozen=True)
class Annotations(Transfer):
    """A split's annotation files."""

    spec: BenchmarkSpec
    split: str
    refresh: bool

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        """See `Transfer.bring`."""
        sources.resolve(self.spec, self.split, refresh=self.refresh)
        advance(self.size or 0)
        yield self.names[0], None


@dataclass(frozen=True)
class HubVideo(Transfer):
    """A video in a repository of the Hub, checked against the hash that the Hub states."""

    repo_id: str
    commit: str
    name: str
    stated: hub.RemoteFile
    target: Path
    verified: VerifiedFiles

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        """See `Transfer.bring`."""
        here = next((path for path in (self.target, _aside(self.target)) if path.is_file()), None)
        if here is None or hub.mismatch(here, self.stated) is not None:
            with _incoming(self.verified.root, f"{self.repo_id}@{self.commit}/{self.name}") as folder:
                path = hub.download(
                    self.repo_id, self.name, revision=self.commit, folder=folder, tqdm_class=_bar(advance)
                )
                if (difference := hub.mismatch(path, self.stated)) is not None:
                    yield self.names[0], f"arrived damaged ({difference}); not kept, fetch it again"
                    return
                _move(path, self.target)
        elif here != self.target:
            _move(here, self.target)
        yield self.names[0], _accept(self.target, self.verified)


@dataclass(frozen=True)
class OnlineVideo(Transfer):
    """A video on a page that yt-dlp reads."""

    source: MediaSource
    command: tuple[str, ...]
    verified: VerifiedFiles

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        """See `Transfer.bring`."""
        url = self.source.location.format(video=self.names[0])
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
                reason = lines[-1] if lines else f"yt-dlp ended with {run.returncode} and no file"
                yield self.names[0], f"{url}: {reason}"
                return
            advance(files[0].stat().st_size)
            target = place(self.verified.root, self.source, self.names[0], files[0].suffix)
            _move(files[0], target)
        yield self.names[0], _accept(target, self.verified)


@dataclass(frozen=True)
class Archive(Transfer):
    """A tar archive behind a URL, with many videos."""

    source: MediaSource
    verified: VerifiedFiles

    def bring(self, advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        """See `Transfer.bring`."""
        url = self.source.location
        arrived = 0

        def on_bytes(have: int) -> None:
            nonlocal arrived
            advance(have - arrived)
            arrived = have

        archive = download.download(url, download.place(url), on_bytes=on_bytes)
        left = {self._member(key): key for key in self.names}
        damage = None
        try:
            with tarfile.open(archive) as tar:
                for member in tar:
                    advance(0)  # an archive takes long to read: the chance to be stopped
                    if (path := _wanted(member, left)) is not None:
                        reason = self._extract(tar, member, left[path], archive.stat().st_size)
                        yield left.pop(path), reason
                    if not left:
                        break
        except (tarfile.TarError, OSError, *_DECODING) as error:
            # A decoder's OSError has no number; EINVAL comes from a seek to where a header said.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            damage = f"{archive} is damaged ({first_line(error)}); delete it and fetch again"
        for key in left.values():
            yield key, damage or f"{url} has no {'/'.join(self._member(key))}"

    def _member(self, key: str) -> tuple[str, ...]:
        return PurePosixPath((self.source.path or "{video}.mp4").format(video=key)).parts

    def _extract(self, tar: tarfile.TarFile, member: tarfile.TarInfo, key: str, packed_size: int) -> str | None:
        # Video is compressed already: what grows so much is not a video, and would only fill the disk.
        if member.size > max(_GROWTH * packed_size, _GROWS_FREELY):
            return f"{member.name} would take {member.size} bytes, out of an archive of {packed_size}: not a video"
        # The member's own name decides nothing about where it lands, so no archive can write outside the media folder.
        target = place(self.verified.root, self.source, key, PurePosixPath(member.name).suffix)
        with _incoming(self.verified.root, f"{self.source.location}/{member.name}") as folder:
            packed = tar.extractfile(member)
            if packed is None:
                return f"{member.name} is not a file in the archive"
            with packed, (folder / "video").open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
            _move(folder / "video", target)
        return _accept(target, self.verified)


def place(root: Path, source: MediaSource, key: str, suffix: str) -> Path:
    """Return a video's path under `root`, by the first layout of its source."""
    layout = (source.layouts[0] if source.layouts else "{video}").format(video=key)
    has_suffix = PurePosixPath(layout).suffix in media.SUFFIXES
    return root / (layout if has_suffix else layout + (suffix if suffix in media.SUFFIXES else ".mp4"))


def _wanted(member: tarfile.TarInfo, left: Container[tuple[str, ...]]) -> tuple[str, ...] | None:
    # An archive may put a folder of its own around the path that the spec states.
    parts = PurePosixPath(member.name).parts
    return next((parts[n:] for n in range(len(parts)) if parts[n:] in left), None) if member.isfile() else None


@contextmanager
def _incoming(root: Path, name: str, *, keep_partial: bool = False) -> Generator[Path]:
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


def _accept(target: Path, verified: VerifiedFiles) -> str | None:
    # A video that is broken upstream is set aside: no run meets it, and a hash tells that fetching it again won't help.
    if (reason := playable.broken(target)) is not None:
        _move(target, _aside(target))
        return f"broken as upstream has it: {reason}; set aside as {_aside(target)}"
    verified.add(target)
    return None


def _aside(target: Path) -> Path:
    return target.with_name(target.name + ".broken")


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
