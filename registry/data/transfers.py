"""The transfers of videos that a fetch is made of; each verifies what it brings, which lands only when it is whole."""

import errno
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import tarfile
import threading
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reelbench.registry.credentials import known_secrets
from reelbench.registry.data import download, hub
from reelbench.registry.errors import first_line
from reelbench.registry.files import read_record, write_text
from reelbench.registry.media import library as media
from reelbench.registry.media import playable
from reelbench.registry.settings import XDG_CONFIG_HOME, expanded
from reelbench.registry.spec import MediaSource

_HEIGHT = 720
_GROWTH = 20  # how many times the size of its archive a video may have
_GROWS_FREELY = 10_000_000  # bytes that a video may have whatever the size of its archive
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

    def add(self, path: Path) -> None:
        """Note that a file has been verified."""
        with self._lock:
            self._sizes[path.relative_to(self.root).as_posix()] = path.stat().st_size
            write_text(self._path, json.dumps(self._sizes, indent=0, sort_keys=True))


@dataclass(frozen=True)
class Transfer:
    """One transfer: `names` are the file names or media keys that it brings.

    `size` is the number of bytes to transfer, None where upstream doesn't say. `bring` transfers and verifies, telling
    its argument of the bytes, and yields each of `names` with None, or with the reason why it could not be had.
    """

    names: tuple[str, ...]
    size: int | None
    bring: Callable[[Callable[[int], None]], Iterator[tuple[str, str | None]]]


def hub_video(listing: hub.Listing, name: str, key: str, target: Path, verified: VerifiedFiles) -> Transfer:
    """Return the transfer of a video in a repository of the Hub, checked against the hash that the Hub states."""
    stated = listing.files[name]

    def bring(advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
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

                path = hub.download(listing.repo_id, name, revision=listing.commit, folder=folder, tqdm_class=Bar)
                if (difference := hub.mismatch(path, stated)) is not None:
                    yield key, f"arrived damaged ({difference}); not kept, fetch it again"
                    return
                _move(path, target)
        elif here != target:
            _move(here, target)
        yield key, _accept(target, verified)

    return Transfer((key,), stated.size, bring)


def online_video(source: MediaSource, key: str, command: Sequence[str], verified: VerifiedFiles) -> Transfer:
    """Return the transfer of a video on a page that yt-dlp, which is `command`, reads."""

    def bring(advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        url = source.location.format(video=key)
        # One file with picture and sound needs ffmpeg where they come apart; without it, the best that comes as one.
        best = f"bv*[height<=?{_HEIGHT}]+ba/" if shutil.which("ffmpeg") else ""
        formats = f"b[height<=?{_HEIGHT}][ext=mp4]/{best}b[height<=?{_HEIGHT}]/b/bv*"
        # The folder stays on failure: yt-dlp continues the partial file in it.
        with _incoming(verified.root, url, keep_partial=True) as folder:
            # By itself it reads the working folder's yt-dlp.conf, by which a stranger's code may run.
            home = expanded(XDG_CONFIG_HOME.get())
            own = [path for path in (home / "yt-dlp" / "config", home / "yt-dlp.conf") if path.is_file()]
            arguments = ["--ignore-config", *(word for path in own for word in ("--config-locations", str(path)))]
            arguments += ["--quiet", "--no-warnings", "--no-progress", "--no-playlist", "--socket-timeout", "30"]
            arguments += ["--format", formats, "--output", str(folder / "video.%(ext)s"), "--", url]
            secret = {name for name, _ in known_secrets()}
            environ = {name: value for name, value in os.environ.items() if name not in secret}
            run = subprocess.run(  # noqa: S603 - no shell; the URL stands after `--`
                [*command, *arguments],
                cwd=folder,
                env=environ,
                capture_output=True,
                text=True,
                check=False,
                stdin=subprocess.DEVNULL,
            )
            files = [file for file in folder.glob("video.*") if file.suffix not in {".part", ".ytdl"}]
            if run.returncode != 0 or len(files) != 1:
                lines = [line for line in run.stderr.splitlines() if line.strip()]
                yield key, f"{url}: {lines[-1] if lines else f'yt-dlp ended with {run.returncode} and no file'}"
                return
            advance(files[0].stat().st_size)
            target = place(verified.root, source, key, files[0].suffix)
            _move(files[0], target)
        yield key, _accept(target, verified)

    return Transfer((key,), None, bring)


def archive(names: Sequence[str], size: int | None, source: MediaSource, verified: VerifiedFiles) -> Transfer:
    """Return the transfer of videos in a tar archive behind a URL."""
    url = source.location

    def extracted(tar: tarfile.TarFile, member: tarfile.TarInfo, key: str, packed_size: int) -> str | None:
        # Video is compressed already: what grows so much is not a video, and would only fill the disk.
        if member.size > max(_GROWTH * packed_size, _GROWS_FREELY):
            return f"{member.name} would take {member.size} bytes, out of an archive of {packed_size}: not a video"
        # The member's own name decides nothing about where it lands, so no archive can write outside the media folder.
        target = place(verified.root, source, key, PurePosixPath(member.name).suffix)
        with _incoming(verified.root, f"{url}/{member.name}") as folder:
            packed = tar.extractfile(member)
            if packed is None:
                return f"{member.name} is not a file in the archive"
            with packed, (folder / "video").open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
            _move(folder / "video", target)
        return _accept(target, verified)

    def bring(advance: Callable[[int], None]) -> Iterator[tuple[str, str | None]]:
        arrived = 0

        def on_bytes(have: int) -> None:
            nonlocal arrived
            advance(have - arrived)
            arrived = have

        file = download.download(url, download.place(url), on_bytes=on_bytes)
        left = {PurePosixPath((source.path or "{video}.mp4").format(video=key)).parts: key for key in names}
        damage = None
        try:
            with tarfile.open(file) as tar:
                for member in tar:
                    advance(0)  # an archive takes long to read: the chance to be stopped
                    # It may put a folder of its own around the path that the spec states.
                    parts = PurePosixPath(member.name).parts if member.isfile() else ()
                    path = next((parts[n:] for n in range(len(parts)) if parts[n:] in left), None)
                    if path is not None:
                        reason = extracted(tar, member, left[path], file.stat().st_size)
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

    return Transfer(tuple(names), size, bring)


def place(root: Path, source: MediaSource, key: str, suffix: str) -> Path:
    """Return a video's path under `root`, by the first layout of its source."""
    layout = (source.layouts[0] if source.layouts else "{video}").format(video=key)
    has_suffix = PurePosixPath(layout).suffix in media.SUFFIXES
    return root / (layout if has_suffix else layout + (suffix if suffix in media.SUFFIXES else ".mp4"))


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
