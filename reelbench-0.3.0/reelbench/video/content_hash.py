"""The hash of a video's whole content, read once and kept for files that stay as they are.

A hash of a few places of a file is a guess, and a wrong one shows a model another film's frames. A
whole film is read but once: its hash is kept in `REELBENCH_HOME/video_hashes.sqlite` beside the
file's place, size and times. The file may be deleted at any time.
"""

import hashlib
import logging
import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from reelbench.base.errors import MediaError
from reelbench.base.settings import home

HASHES_FILE = "video_hashes.sqlite"

KEPT_FROM_BYTES = 1 << 20
"""A smaller file is hashed faster than its hash is looked up."""

SETTLED_S = 2.0
"""A file that changed more recently may change again without a new time."""

_WAIT_S = 5.0

_TABLE = """
CREATE TABLE IF NOT EXISTS videos (
    path TEXT PRIMARY KEY, state TEXT NOT NULL, sha256 TEXT NOT NULL
) WITHOUT ROWID
"""

logger = logging.getLogger(__name__)


class _FileState(NamedTuple):
    """The facts that change whenever a file's content does."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, file: BufferedReader) -> "_FileState":
        status = os.fstat(file.fileno())
        return cls(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    @property
    def settled(self) -> bool:
        """True where the last change is long enough ago."""
        changed = max(self.mtime_ns, self.ctime_ns) / 1e9
        return changed < time.time() - SETTLED_S

    @property
    def text(self) -> str:
        """The facts as they are kept."""
        return " ".join(map(str, self))


def content_sha256(path: Path) -> str:
    """Return the sha256 of a file's whole content, in hex.

    Raises:
        MediaError: The file can't be read, or is not a regular one.
    """
    try:
        if path.exists() and not path.is_file():
            raise MediaError(path, "is not a regular file")
        with path.open("rb") as file:
            return _hash_of_open_file(path.absolute(), file)
    except OSError as error:
        raise MediaError(path, f"can't be read ({error.strerror})") from None


def _hash_of_open_file(path: Path, file: BufferedReader) -> str:
    state = _FileState.of(file)
    if state.size < KEPT_FROM_BYTES:
        return hashlib.file_digest(file, "sha256").hexdigest()
    kept_hash = _kept_hash(path, state)
    if kept_hash is not None:
        return kept_hash
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    if state.settled and _FileState.of(file) == state:
        _keep_hash(path, state, digest)
    return digest


def _kept_hash(path: Path, state: _FileState) -> str | None:
    """Return the kept hash of a file. None where it has changed since."""
    query = "SELECT sha256 FROM videos WHERE path = ? AND state = ?"
    try:
        with _kept_hashes() as database:
            row = database.execute(query, (os.fsencode(path), state.text)).fetchone()
    except (sqlite3.Error, OSError) as error:
        logger.debug("%s: can't be read (%s)", HASHES_FILE, error)
        return None
    if row is None:
        return None
    return row[0]


def _keep_hash(path: Path, state: _FileState, digest: str) -> None:
    """Keep a file's hash. Where that fails, the file is read again."""
    row = (os.fsencode(path), state.text, digest)
    try:
        with _kept_hashes() as database:
            database.execute("INSERT OR REPLACE INTO videos VALUES (?, ?, ?)", row)
    except (sqlite3.Error, OSError) as error:
        logger.debug("%s: can't be written (%s)", HASHES_FILE, error)


@contextmanager
def _kept_hashes() -> Generator[sqlite3.Connection]:
    """Yield the database of hashes, and commit at the end."""
    path = home() / HASHES_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=_WAIT_S)) as database, database:
        database.execute(_TABLE)
        yield database
