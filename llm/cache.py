"""Every reply that a language model ever gave, in one SQLite file.

A reply's key is the sha256 of everything that shapes it: model asked, messages, sampling settings, vote, attempt.
The server's address is not in the key, so a server that comes back on another port is not paid again; the host is kept
beside the reply and a run says when it reuses replies of another host.

Each reply is committed the moment it arrives (write-ahead log), so that a killed process loses only what was in
flight. Many processes may share the file. A process *claims* a reply before it asks for it; the others then wait for it
instead of paying for it too. A claim is a lease: it lapses by itself when its owner dies.
"""

import contextlib
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from reelbench.registry.errors import InputError, ReelbenchError

SCHEMA = 1
LEASE = 6.0
"""Seconds that a claim lasts unless it is renewed."""

_T = TypeVar("_T")

_BUSY = 30.0  # seconds to wait for another process's write

_TABLES = (
    """CREATE TABLE IF NOT EXISTS replies (
        key BLOB PRIMARY KEY, model TEXT NOT NULL, host TEXT NOT NULL, raw TEXT, finish TEXT, returned TEXT,
        prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, at REAL NOT NULL) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply as it came.

    Attributes:
        raw: Its text; None where the server gave none.
        finish: The server's finish reason.
        returned: Model id that the server says answered.
        prompt_tokens: As the server counts; 0 where it does not say.
        completion_tokens: As the server counts; 0 where it does not say.
        host: Host of the server.
    """

    raw: str | None
    finish: str | None
    returned: str | None
    prompt_tokens: int
    completion_tokens: int
    host: str


class ReplyCache:
    """The file of replies; safe to use from several threads, and beside other processes.

    A file that is not (or no longer) a readable database is renamed aside, which `on_note` is told, and a fresh one
    begun: the renamed file is kept for whoever wants to save what is in it.
    """

    def __init__(self, path: Path, on_note: Callable[[str], None]) -> None:
        self.path = path
        self._on_note = on_note
        self._lock = threading.RLock()
        self._owner = secrets.token_hex(8)
        self._connection: sqlite3.Connection | None = None
        with self._lock, self._told():
            self._open()

    def get(self, key: bytes) -> Reply | None:
        """Return the reply kept under `key`, or None."""

        def read(connection: sqlite3.Connection) -> Reply | None:
            row = connection.execute(
                "SELECT raw, finish, returned, prompt_tokens, completion_tokens, host FROM replies WHERE key = ?",
                (key,),
            ).fetchone()
            return None if row is None else Reply(*row)

        return self._do(read)

    def claim(self, key: bytes) -> Literal["mine", "stored", "theirs"]:
        """Claim the right to ask for `key`, unless its reply is here by now or another process is asking for it."""

        def write(connection: sqlite3.Connection) -> Literal["mine", "stored", "theirs"]:
            with _transaction(connection):
                now = time.time()  # read under the lock, so that no claim made before is from the future
                if connection.execute("SELECT 1 FROM replies WHERE key = ?", (key,)).fetchone():
                    return "stored"
                taken = connection.execute("SELECT owner, until FROM claims WHERE key = ?", (key,)).fetchone()
                # A lease from the future (the clock was set back) would never lapse, so it counts for nothing.
                if taken and taken[0] != self._owner and now < taken[1] <= now + LEASE + 1:
                    return "theirs"
                connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (key, self._owner, now + LEASE))
            return "mine"

        return self._do(write)

    def renew(self) -> None:
        """Make this process's claims last a full lease again."""

        def write(connection: sqlite3.Connection) -> None:
            until = time.time() + LEASE
            connection.execute("UPDATE claims SET until = ? WHERE owner = ?", (until, self._owner))

        self._do(write)

    def put(self, key: bytes, model: str, reply: Reply) -> None:
        """Keep a reply, for good, and give up the claim on it."""

        def write(connection: sqlite3.Connection) -> None:
            values = (key, model, reply.host, reply.raw, reply.finish, reply.returned)
            with _transaction(connection):
                connection.execute(
                    "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*values, reply.prompt_tokens, reply.completion_tokens, time.time()),
                )
                connection.execute("DELETE FROM claims WHERE key = ?", (key,))

        self._do(write)

    def release(self, key: bytes) -> None:
        """Give up the claim on `key`: its reply could not be had."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner))

        self._do(write)

    def close(self) -> None:
        """Give up all claims and close the file; nothing that was kept depends on it."""
        with self._lock:
            if self._connection is None:
                return
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    # --- opening, and what can go wrong ------------------------------------------------------------------------------

    def _do(self, action: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._lock, self._told():
            if self._connection is None:
                raise ReelbenchError(f"judge cache {self.path}: it is closed")
            try:
                return action(self._connection)
            except sqlite3.DatabaseError as error:
                if not _is_corrupt(error):
                    raise
                self._set_aside(error)
                self._open()
            return action(self._connection)

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"judge cache {self.path}: its folder can't be made ({error.strerror})") from None
        try:
            self._connect()
        except sqlite3.DatabaseError as error:
            if not _is_corrupt(error):
                raise
            self._set_aside(error)
            self._connect()

    def _connect(self) -> None:
        connection = sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            self._refuse_newer(version)
            self._write_ahead(connection)
            # NORMAL survives a killed process; only a power cut can take the last replies, never the file.
            connection.execute("PRAGMA synchronous = NORMAL")
            if version < SCHEMA:
                with _transaction(connection):
                    for table in _TABLES:
                        connection.execute(table)
                    connection.execute(f"PRAGMA user_version = {SCHEMA}")
            else:
                connection.execute("SELECT count(*) FROM claims").fetchone()
            self._inode = self.path.stat().st_ino
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    @staticmethod
    def _write_ahead(connection: sqlite3.Connection) -> None:
        # Changing the mode does not wait for another process that changes it too; once changed it stays.
        deadline = time.monotonic() + _BUSY
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _refuse_newer(self, version: int) -> None:
        if version > SCHEMA:
            raise InputError(f"judge cache {self.path}: written by a newer Reelbench (schema {version}); update yours")

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
            # Another process may have put a fresh file in its place by now: that one is to be used, not moved.
            if not self.path.exists() or self.path.stat().st_ino != self._inode:
                return
        aside = self.path.with_name(f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}")
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                self.path.with_name(self.path.name + suffix).rename(aside.with_name(aside.name + suffix))
        self._on_note(f"judge cache {self.path}: damaged ({error}); renamed to {aside.name}, starting an empty one")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
                what = "the disk is full" if code == sqlite3.SQLITE_FULL else f"the disk can't be written ({error})"
                todo = "free some space and run again: replies that it holds are kept"
            elif code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                what, todo = f"another process has held it for {_BUSY:.0f} s", "end that process, then run again"
            else:
                what, todo = f"it can't be used ({error})", "make it writable, or set REELBENCH_HOME to another folder"
            raise ReelbenchError(f"judge cache {self.path}: {what}; {todo}") from None


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back by itself, as where the disk is full
            connection.execute("ROLLBACK")
        raise


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
