"""`SharedFrames`: stored frames that several machines share, in an object store or a folder.

Each machine keeps frames in a store of its own, which models read, and looks here for what it
lacks. An entry is one object, `<2 hex>/<key>.tar`. Whoever decodes a video claims it first
(`<key>.claim`), so that the others wait for its frames. A claim shows that its holder is alive by
changing every few seconds. No clock of two machines is compared.

The address is the user's own: a folder, or one in an S3 bucket. Whoever may write there may give
wrong frames, but no file outside an entry's folder, and none larger than the store.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import itertools
import logging
import secrets
import shutil
import tarfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self, TypeVar

from reelbench.base.credentials import without_credentials
from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.base.files import is_full, written_aside

PATIENCE_S = 60.0
"""Seconds for which a store that does not answer is asked again."""

BEAT_S = 3.0
"""Seconds between two signs of life of a claim's holder."""

DEAD_AFTER_S = 30.0
"""Seconds without a sign of life after which a claim's holder is taken for dead."""

_PAUSE_S = 0.5

_SCHEMES = frozenset({"", "file", "s3", "s3a"})
"""How an address of a folder or a bucket begins. Others have clients whose errors nobody knows."""

_unreachable_stores: set[str] = set()
"""Addresses that stayed away. This process asks them no more, however many videos are left."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class Claim:
    """The right to decode one video, shown to be alive until it is given back."""

    def __init__(self, write: Callable[[bytes], None], remove: Callable[[], None]) -> None:
        """Begin to show signs of life.

        Args:
            write: Writes the claim anew.
            remove: Removes it.
        """
        self._write = write
        self._remove = remove
        self._ended = threading.Event()
        self._heartbeat_thread = threading.Thread(target=self._send_heartbeats, daemon=True)
        self._heartbeat_thread.start()

    def _send_heartbeats(self) -> None:
        for number in itertools.count(1):
            if self._ended.wait(BEAT_S):
                return
            self._write(str(number).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._heartbeat_thread.join()
        self._remove()


class SharedFrames:
    """Frames at an address that several machines see. Threads may share one."""

    def __init__(self, address: str, max_bytes: int) -> None:
        """Open a shared store. Nothing is asked of it yet.

        Args:
            address: A folder, or one in a bucket (`s3://bucket/folder`).
            max_bytes: The most bytes that an entry may have.

        Raises:
            InputError: The address is none, or what reads it is not installed.
        """
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        _check_address(address)
        self._address = address
        try:
            opened: tuple[Any, str] = url_to_fs(
                address, use_listings_cache=False, skip_instance_cache=True
            )
        except (ImportError, ValueError) as error:
            reason = first_line(error)
            raise InputError(f"{self._address}: no store of frames ({reason})") from None
        self._filesystem = opened[0]
        if isinstance(self._filesystem, LocalFileSystem):
            self._filesystem.auto_mkdir = True
        self._root = opened[1].rstrip("/")
        self._most_bytes = max_bytes
        self._connection_errors, self._other_errors = _errors_of_stores()
        self._last_heartbeats: dict[str, tuple[bytes, float]] = {}

    # --- entries

    def fetch(self, name: str, folder: Path) -> bool:
        """Fetch an entry's files into `folder`. Return False where it is not there or damaged."""

        def fetch_once() -> bool:
            try:
                archive = self._filesystem.open(self._path(name, "tar"), "rb")
            except FileNotFoundError:
                return False
            try:
                with archive, written_aside(folder) as aside:
                    aside.mkdir()
                    _unpack_archive(archive, aside, self._most_bytes)
            except OSError as error:
                if is_full(error):  # this machine's disk, and no word of the store's
                    raise _disk_full_error(folder, error) from None
                raise
            return True

        try:
            return self._ask_patiently(fetch_once, if_unreachable=False)
        except (tarfile.TarError, _DamagedEntryError) as error:
            logger.warning("%s of %s: damaged (%s)", name, self._address, error)
            return False

    def put(self, name: str, folder: Path) -> None:
        """Give an entry's files to the other machines."""
        with TemporaryDirectory(prefix=".sent-", dir=folder.parent) as outgoing:
            archive = Path(outgoing) / "entry.tar"
            try:
                with tarfile.open(archive, "w") as tar:
                    for file in sorted(folder.iterdir()):
                        tar.add(file, file.name)
            except OSError as error:
                raise _disk_full_error(folder, error) from None

            def put_once() -> None:
                self._filesystem.put_file(str(archive), self._path(name, "tar"))

            self._ask_patiently(put_once, if_unreachable=None)

    # --- claims

    def claim(self, name: str) -> Claim | None:
        """Claim an entry. Return None where a living machine has it.

        Where the store is gone the claim is of no use to others, and does no harm.
        """
        owner = secrets.token_hex(8).encode()
        path = self._path(name, "claim")
        if not self._try_to_claim(path, owner):
            return None

        def write(heartbeat: bytes) -> None:
            self._ask_once(lambda: self._filesystem.pipe_file(path, owner + b" " + heartbeat))

        def remove() -> None:
            self._ask_once(lambda: self._filesystem.rm_file(path))

        return Claim(write, remove)

    def wait(self) -> None:
        """Wait a little before the next look at another machine's work."""
        time.sleep(_PAUSE_S)

    def _try_to_claim(self, path: str, owner: bytes) -> bool:
        """Return True where nobody living has a claim, which is the holder's then."""
        create_claim = partial(self._create_claim, path, owner + b" 0")
        if self._ask_patiently(create_claim, if_unreachable=True):
            return True
        heartbeat = self._read_heartbeat(path)
        if heartbeat is None:
            return False
        if heartbeat.startswith(owner):  # it was written, and the answer was lost on the way
            return True
        if not self._has_no_heartbeat(path, heartbeat):
            return False
        logger.warning(
            "%s: the process that decoded the video of %s has ended; it is decoded here",
            self._address,
            PurePosixPath(path).name,
        )
        return self._take_over_claim(path, owner)

    def _create_claim(self, path: str, heartbeat: bytes) -> bool:
        """Write a claim that is not there yet. Return False where it is."""
        try:
            with self._filesystem.open(path, "xb") as file:
                file.write(heartbeat)
        except FileExistsError:
            return False
        except self._connection_errors:
            # Some servers call an object that is there already another error.
            if self._read_heartbeat(path) is None:
                raise
            return False
        return True

    def _take_over_claim(self, path: str, owner: bytes) -> bool:
        """Write a dead machine's claim anew. Return False where another machine did as well."""
        overwrite = partial(self._filesystem.pipe_file, path, owner + b" 0")
        self._ask_patiently(overwrite, if_unreachable=None)
        self.wait()  # another machine may have seen the same, and the last one has it
        heartbeat = self._read_heartbeat(path) or owner
        return heartbeat.startswith(owner)

    def _read_heartbeat(self, path: str) -> bytes | None:
        """Return a claim's text. None where it is gone, or can't be read just now."""
        try:
            return self._filesystem.cat_file(path)
        except FileNotFoundError:
            return None
        except (*self._connection_errors, *self._other_errors):
            # While nobody can write a sign of life, the lack of one says nothing.
            self._last_heartbeats.pop(path, None)
            return None

    def _has_no_heartbeat(self, path: str, heartbeat: bytes) -> bool:
        """Return True where a claim has stood unchanged for too long, by this machine's clock."""
        now = time.monotonic()
        last_heartbeat, since = self._last_heartbeats.get(path, (b"", now))
        if last_heartbeat != heartbeat:
            since = now
        self._last_heartbeats[path] = (heartbeat, since)
        return now - since > DEAD_AFTER_S

    # --- a store that is away

    def _ask_patiently(self, ask: Callable[[], T], *, if_unreachable: T) -> T:
        """Return an answer, asked for again while the store is away.

        Args:
            ask: Asks the store.
            if_unreachable: The answer where the store stays away, which is noted once.

        Raises:
            ReelbenchError: The store refuses.
        """
        deadline = time.monotonic() + PATIENCE_S
        while self._address not in _unreachable_stores:
            try:
                return ask()
            except (PermissionError, FileNotFoundError) as error:
                raise self._refused(error) from None
            except self._connection_errors as error:
                if time.monotonic() < deadline:
                    self.wait()
                    continue
                _unreachable_stores.add(self._address)
                logger.warning(
                    "%s: no answer for %g s (%s); from here on this process shares no frames",
                    self._address,
                    PATIENCE_S,
                    first_line(error),
                )
            except self._other_errors as error:
                raise self._refused(error) from None
        return if_unreachable

    def _refused(self, error: Exception) -> ReelbenchError:
        return ReelbenchError(f"{self._address}: is refused ({first_line(error)})")

    def _ask_once(self, ask: Callable[[], Any]) -> None:
        """Ask once for something that others only wait a little longer without."""
        try:
            ask()
        except (*self._connection_errors, *self._other_errors) as error:
            logger.debug("%s: %s", self._address, error)

    def _path(self, name: str, suffix: str) -> str:
        return f"{self._root}/{name[:2]}/{name}.{suffix}"


def _check_address(address: str) -> None:
    """Raise InputError for an address that is no folder or bucket, or has a password."""
    shown_address = without_credentials(address)
    scheme = ""
    if "://" in address:
        scheme = address.partition("://")[0]
    if "::" in address or scheme not in _SCHEMES:
        raise InputError(
            f"{shown_address}: no store of frames (expected a folder, or s3://bucket/folder)"
        )
    if shown_address != address:
        raise InputError(
            f"{shown_address}: no store of frames (the address has a password or a query; keys are "
            "set with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
        )


def _disk_full_error(folder: Path, error: OSError) -> ReelbenchError:
    return ReelbenchError(
        f"{folder.parent}: frames can't be stored ({error.strerror}); make room there"
    )


class _DamagedEntryError(Exception):
    """An archive is not what `put` writes."""


def _unpack_archive(archive: BinaryIO, folder: Path, max_bytes: int) -> None:
    """Write an archive's files into a folder.

    Raises:
        _DamagedEntryError: One would lie elsewhere, or they are too large.
        tarfile.TarError: It is no archive, or not whole.
    """
    bytes_left = max_bytes
    with tarfile.open(fileobj=archive, mode="r|") as tar:
        for member in tar:
            is_plain_name = member.name == PurePosixPath(member.name).name
            if not member.isreg() or not is_plain_name or member.name.startswith("."):
                raise _DamagedEntryError(f"{member.name[:80]!r} is not a file of an entry")
            bytes_left -= member.size + tarfile.BLOCKSIZE
            if bytes_left < 0:
                raise _DamagedEntryError(f"more than {max_bytes} bytes")
            content = tar.extractfile(member)
            if content is None:
                raise _DamagedEntryError(f"{member.name[:80]!r} has no content")
            with content, (folder / member.name).open("xb") as file:
                shutil.copyfileobj(content, file)


class _StoreErrors(NamedTuple):
    """The errors of stores that are away, and all others that their clients have."""

    connection: tuple[type[Exception], ...]
    other: tuple[type[Exception], ...]


def _errors_of_stores() -> _StoreErrors:
    """Return the errors of the clients that are installed. Their answers are OSErrors."""
    from aiohttp import ClientError

    try:
        from botocore import exceptions
    except ImportError:
        return _StoreErrors((OSError, ClientError), ())
    connection = (OSError, ClientError, exceptions.ConnectionError, exceptions.HTTPClientError)
    return _StoreErrors(connection, (exceptions.BotoCoreError,))
