"""The transfers of videos from the Hub, from pages and out of archives.

Each transfer verifies what it brings, which lands in its place only when it is whole.
"""

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
from typing import NamedTuple

from reelbench.base.credentials import known_secrets
from reelbench.base.errors import first_line
from reelbench.base.files import read_record, write_text
from reelbench.base.settings import XDG_CONFIG_HOME, with_home_expanded
from reelbench.data import download, hub
from reelbench.registry.spec import MediaSource
from reelbench.video import media_roots, playable

_HEIGHT = 720

_GROWTH = 20
"""How many times the size of its archive a video may have."""

_GROWS_FREELY = 10_000_000
"""Bytes that a video may have whatever the size of its archive."""

# `tarfile` lets through what its decoders raise, and trusts the numbers in a header.
_DECODING_ERRORS = (
    EOFError,
    zlib.error,
    lzma.LZMAError,
    ValueError,
    ArithmeticError,
    RecursionError,
)

OnBytes = Callable[[int], None]
"""Called with the number of bytes that came."""


class Outcome(NamedTuple):
    """A file or video that was to be brought, and why it could not be."""

    name: str
    failure: str | None = None


@dataclass(frozen=True)
class Transfer:
    """One transfer, of one or more files."""

    names: tuple[str, ...]
    """The file names or media keys that it brings."""

    size: int | None
    """Number of bytes to transfer. None where upstream doesn't say."""

    bring: Callable[[OnBytes], Iterator[Outcome]]
    """Transfers and verifies, tells its argument of the bytes, and yields each name's outcome."""


class VerifiedFiles:
    """The fetched videos that have been checked, with the size that they had then."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._path = root / ".verified.json"
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = read_record(self._path) or {}

    def size(self, path: Path) -> int | None:
        """Return the size a file had when it was verified. None where it never was."""
        if not path.is_relative_to(self.root):
            return None
        return self._sizes.get(path.relative_to(self.root).as_posix())

    def add(self, path: Path) -> None:
        """Note that a file has been verified."""
        with self._lock:
            self._sizes[path.relative_to(self.root).as_posix()] = path.stat().st_size
            write_text(self._path, json.dumps(self._sizes, indent=0, sort_keys=True))


# --- from the Hub
# ----------------------------------------------------------------------------------------------


def hub_video(
    listing: hub.Listing,
    name: str,
    target: Path,
    verified: VerifiedFiles,
    advance: OnBytes,
    *,
    key: str,
) -> Iterator[Outcome]:
    """Bring a video of the Hub, checked against the hash that the Hub states."""
    remote_file = listing.files[name]
    present_path = target if target.is_file() else _set_aside(target)
    if present_path.is_file() and hub.mismatch(present_path, remote_file) is None:
        yield Outcome(key, _move_if_whole(present_path, target, verified))
        return
    with _incoming_folder(verified.root, f"{listing.repo_id}@{listing.commit}/{name}") as folder:
        path = hub.download(
            listing.repo_id,
            name,
            revision=listing.commit,
            folder=folder,
            tqdm_class=_bar_class(advance),
        )
        difference = hub.mismatch(path, remote_file)
        if difference is None:
            yield Outcome(key, _move_if_whole(path, target, verified))
        else:
            yield Outcome(key, f"arrived damaged ({difference}); not kept, fetch it again")


def _bar_class(advance: OnBytes) -> type[ExitStack]:
    """Return a progress bar for the Hub client that passes the bytes on."""

    class Bar(ExitStack):
        """As much of tqdm's interface as the Hub client uses, `with` among it."""

        def __init__(self, *args: object, **options: object) -> None:
            del args, options
            super().__init__()

        def update(self, n: float | None = 1) -> None:
            advance(int(n or 0))

    return Bar


# --- from a page
# ----------------------------------------------------------------------------------------------


def online_video(
    source: MediaSource, key: str, command: str, verified: VerifiedFiles, advance: OnBytes
) -> Iterator[Outcome]:
    """Bring a video on a page that yt-dlp, which is `command`, reads."""
    url = source.location.format(video=key)
    # The folder stays on failure: yt-dlp continues the partial file in it.
    with _incoming_folder(verified.root, url, keep_partial=True) as folder:
        secrets = {name for name, _ in known_secrets()}
        environment = {name: value for name, value in os.environ.items() if name not in secrets}
        run = subprocess.run(  # noqa: S603 - no shell; the URL stands after `--`
            [command, *_yt_dlp_arguments(url, folder)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        files = [file for file in folder.glob("video.*") if file.suffix not in {".part", ".ytdl"}]
        if run.returncode != 0 or len(files) != 1:
            reason = f"yt-dlp ended with {run.returncode} and no file"
            lines = [line for line in run.stderr.splitlines() if line.strip()]
            if lines:
                reason = lines[-1]
            yield Outcome(key, f"{url}: {reason}")
            return
        advance(files[0].stat().st_size)
        target = place(verified.root, source, key, files[0].suffix)
        yield Outcome(key, _move_if_whole(files[0], target, verified))


def _yt_dlp_arguments(url: str, folder: Path) -> list[str]:
    """Return yt-dlp's arguments for one video that is written to a folder."""
    arguments = [
        "--ignore-config",
        "--quiet",
        "--no-warnings",
        "--no-progress",
        "--no-playlist",
        "--socket-timeout",
        "30",
    ]
    # By itself it reads the working folder's yt-dlp.conf, by which a stranger's code may run.
    config = with_home_expanded(XDG_CONFIG_HOME.get())
    for path in (config / "yt-dlp" / "config", config / "yt-dlp.conf"):
        if path.is_file():
            arguments += ["--config-locations", str(path)]
    output = folder / "video.%(ext)s"
    arguments += ["--format", _yt_dlp_formats(), "--output", str(output), "--", url]
    return arguments


def _yt_dlp_formats() -> str:
    """Return the formats to ask yt-dlp for, the best first."""
    # One file with picture and sound needs ffmpeg where they come apart; without it, the best that
    # comes as one.
    apart = ""
    if shutil.which("ffmpeg"):
        apart = f"bv*[height<=?{_HEIGHT}]+ba/"
    return f"b[height<=?{_HEIGHT}][ext=mp4]/{apart}b[height<=?{_HEIGHT}]/b/bv*"


# --- out of an archive
# ----------------------------------------------------------------------------------------------


def archive(
    names: Sequence[str], source: MediaSource, verified: VerifiedFiles, advance: OnBytes
) -> Iterator[Outcome]:
    """Bring videos in a tar archive behind a URL."""
    url = source.location
    arrived = 0

    def on_bytes(total: int) -> None:
        nonlocal arrived
        advance(total - arrived)
        arrived = total

    file = download.download(url, download.place(url), on_bytes=on_bytes)
    keys: dict[tuple[str, ...], str] = {}  # parts of a path in the archive -> media key
    for key in names:
        path = PurePosixPath((source.path or "{video}.mp4").format(video=key))
        keys[path.parts] = key
    damage: str | None = None
    try:
        with tarfile.open(file) as tar:
            for member in tar:
                advance(0)  # an archive takes long to read: the chance to be stopped
                path_parts = _end_among(member, keys)
                if path_parts is not None:
                    # The member's own name decides nothing about where it lands: none is written
                    # outside the folder.
                    suffix = PurePosixPath(member.name).suffix
                    target = place(verified.root, source, keys[path_parts], suffix)
                    failure = _extract_video(tar, member, file, target, verified)
                    yield Outcome(keys.pop(path_parts), failure)
                if not keys:
                    break
    except (tarfile.TarError, OSError, *_DECODING_ERRORS) as error:
        # A decoder's OSError has no number; EINVAL comes from a seek to where a header said.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        damage = f"{file} is damaged ({first_line(error)}); delete it and fetch again"
    for path_parts, key in keys.items():
        yield Outcome(key, damage or f"{url} has no {'/'.join(path_parts)}")


def _end_among(member: tarfile.TarInfo, keys: dict[tuple[str, ...], str]) -> tuple[str, ...] | None:
    """Return the end of a member's path that is one of the keys."""
    if not member.isfile():
        return None
    # An archive may put a folder of its own around the path that the spec states.
    parts = PurePosixPath(member.name).parts
    for start in range(len(parts)):
        if parts[start:] in keys:
            return parts[start:]
    return None


def _extract_video(
    tar: tarfile.TarFile, member: tarfile.TarInfo, file: Path, target: Path, verified: VerifiedFiles
) -> str | None:
    """Write a video of an archive to its place. Return its fault, or None."""
    # Video is compressed already: what grows so much is not a video, and would only fill the disk.
    packed_size = file.stat().st_size
    if member.size > max(_GROWTH * packed_size, _GROWS_FREELY):
        return (
            f"{member.name} would take {member.size} bytes, out of an archive of {packed_size}: "
            "not a video"
        )
    with _incoming_folder(verified.root, f"{file}/{member.name}") as folder:
        packed = tar.extractfile(member)
        if packed is None:
            return f"{member.name} is not a file in the archive"
        with packed, (folder / target.name).open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked, 1 << 20)
        return _move_if_whole(folder / target.name, target, verified)


# --- into its place
# ----------------------------------------------------------------------------------------------


def place(root: Path, source: MediaSource, key: str, suffix: str) -> Path:
    """Return a video's path under `root`, by the first layout of its source."""
    layout = source.layouts[0] if source.layouts else "{video}"
    path = media_roots.path_in_layout(layout, key)
    if not media_roots.has_video_suffix(path):
        path += suffix if media_roots.has_video_suffix(suffix) else ".mp4"
    return root / path


@contextmanager
def _incoming_folder(root: Path, name: str, *, keep_partial: bool = False) -> Generator[Path]:
    """Make a folder for a video that is not whole yet, where no search looks."""
    folder = root / ".incoming" / hashlib.sha256(name.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if not keep_partial or not any(folder.glob("*.part")):
            shutil.rmtree(folder, ignore_errors=True)


def _move_if_whole(path: Path, target: Path, verified: VerifiedFiles) -> str | None:
    """Move a whole video to its place. Return why it is no good, or None."""
    # A video that is broken upstream is set aside: no run meets it, and a hash tells that fetching
    # it again won't help.
    fault = playable.defect(path)
    final = target if fault is None else _set_aside(target)
    final.parent.mkdir(parents=True, exist_ok=True)
    path.replace(final)
    if fault is not None:
        return f"broken as upstream has it: {fault}; set aside as {final}"
    verified.add(target)
    return None


def _set_aside(target: Path) -> Path:
    return target.with_name(target.name + ".broken")
