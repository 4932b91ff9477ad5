"""Replies in one SQLite file, for the processes of one machine.

Each reply is committed the moment it arrives (write-ahead log), so that a killed process loses only
what was in flight. A file that is no longer a readable database is renamed aside, which the user is
told, and a fresh one begun with all replies that can still be read from it; another program's file
stays as it is.
"""

# ruff: noqa: S608 - commands are made of our own names
import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import is_alive
from reelbench.llm.defaults import CACHE_FILE
from reelbench.llm.reply import REPLY_FIELDS, checksum
from reelbench.llm.store import AT_ONCE, Ran, SqlStore, Step, StoredReply, tables

SCHEMA = 4
"""1: Reelbench 0.1.0. 2: reasoning and cached tokens, seconds, checksum. 3: batches. 4: replies that may have been
edited are marked, and models' shutdown dates. Older files are raised to it."""
LEASE = 6.0
"""Seconds that a claim lasts unless it is renewed."""
EDITED = "[key]"
"""What earlier versions wrote over a key, wherever its text stood in a reply; a key may be one letter."""

_BUSY = 30.0  # seconds to wait for another process's write

_TABLES = tables("sqlite").split(";")
_SINCE_2 = {
    "reasoning_tokens": "INTEGER",
    "cached_tokens": "INTEGER",
    "seconds": "REAL",
    "checksum": "BLOB",
}
_REPLY = REPLY_FIELDS[:6]  # of schema 1
_FAILURES = (
    sqlite3.DatabaseError,
    UnicodeDecodeError,
)  # the latter: SQLite quotes what is damaged, in any bytes


class SqliteStore(SqlStore):
    """The file of replies (see `llm.store`)."""

    lease = LEASE
    is_remote = False
    _until = f"clock() + {LEASE}"
    # A lease from the future (the clock was set back) would never lapse, so it counts for nothing.
    _lapsed = f"NOT (clock() < claim.until AND claim.until <= clock() + {LEASE + 1})"
    _edited = "edited"
    _held = "held(pid)"
    _batch = "(token, id, model, host, at, pid) SELECT ?, NULL, ?, ?, clock(), pid()"

    def __init__(self, path: Path, on_note: Callable[[str], None]) -> None:
        super().__init__()
        self.path, self.name = path, str(path)
        self._on_note = on_note
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        with self._lock, self._errors_explained():
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    f"judge cache {self.path}: its folder can't be made ({error.strerror})"
                ) from None
            try:
                self._connect()
            except _FAILURES as error:
                if _is_corrupt(error):
                    if (
                        _code(error) == sqlite3.SQLITE_NOTADB and self.path.name != CACHE_FILE
                    ):  # the user named it
                        raise self._foreign() from None
                    self._start_anew(error)
                elif not self._opened_to_read(error):
                    raise

    def remove(self, before: float | None = None, model: str | None = None) -> int:
        """Remove the replies that `models` counts -> how many there were."""
        removed = super().remove(before, model)
        self._run(("VACUUM",))
        return removed

    def size(self) -> int:
        """Return the bytes that it takes."""
        parts = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def close(self, *, away: bool = False) -> None:
        """Give up all claims of this process, and close; nothing that was kept depends on it."""
        del away
        with self._lock:
            if self._connection is None:
                return
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _insert_steps(self, replies: Sequence[StoredReply]) -> list[Step]:
        edited: list[Step] = [
            ("DELETE FROM @replies WHERE key = ? AND edited", reply.key) for reply in replies
        ]
        return edited + super()._insert_steps(replies)

    # --- opening, and what can go wrong
    # ------------------------------------------------------------------------------

    def _run(self, *steps: Step) -> list[Ran]:
        with self._lock, self._errors_explained():
            if self._connection is None:
                raise ReelbenchError(f"judge cache {self.path}: it is closed")
            began_anew = False
            while True:
                try:
                    with (
                        _transaction(self._connection)
                        if len(steps) > 1
                        else contextlib.nullcontext()
                    ):
                        run = (
                            self._connection.execute(step.replace("@", ""), values)
                            for step, *values in steps
                        )
                        return [Ran(cursor.fetchall(), cursor.rowcount) for cursor in run]
                except _FAILURES as error:
                    if began_anew or not _is_corrupt(error):
                        raise
                    self._start_anew(error)
                    began_anew = True

    def _opened_to_read(self, error: Exception) -> bool:
        """Open a file that can't be written, as one on a disk that is read only; False where it isn't that."""
        if (
            _code(error) not in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
            or not self.path.is_file()
        ):
            return False
        # A log can be read where its index is there too; without a log no index is needed.
        for how in ("mode=ro", "immutable=1"):
            connection = _open_file(f"{self.path.absolute().as_uri()}?{how}", uri=True)
            with contextlib.suppress(sqlite3.Error):
                if self._version_of(connection) == SCHEMA:
                    self._connection = connection
                    if not connection.execute(
                        "SELECT 1 FROM sqlite_master WHERE name = 'givers'"
                    ).fetchone():
                        self._giver = "NULL"  # earlier versions of this schema know nothing of it
                    self._on_note(
                        f"judge cache {self.path}: it can't be written; what it holds is read"
                    )
                    return True
            connection.close()
        return False

    def _foreign(self) -> InputError:
        return InputError(
            f"judge cache {self.path}: is no file of replies; it stays as it is, name another one"
        )

    def _connect(self) -> None:
        connection = _open_file(self.path, timeout=_BUSY)
        try:
            version = self._version_of(connection)
            # Changing the mode does not wait for another process that changes it too; once changed
            # it stays.
            deadline = time.monotonic() + _BUSY
            while True:
                try:
                    connection.execute("PRAGMA journal_mode = WAL")
                    break
                except sqlite3.OperationalError as error:
                    if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
            # NORMAL survives a killed process; only a power cut can take the last replies, never
            # the file.
            connection.execute("PRAGMA synchronous = NORMAL")
            if version < SCHEMA:
                connection.create_function("checksum", -1, checksum, deterministic=True)
                with _transaction(connection):
                    for table in _TABLES:
                        connection.execute(table)
                    known = {row[1] for row in connection.execute("PRAGMA table_info(replies)")}
                    for name, kind in _SINCE_2.items():
                        if name not in known:
                            connection.execute(f"ALTER TABLE replies ADD COLUMN {name} {kind}")
                    shape = ", ".join(("key", *REPLY_FIELDS))
                    connection.execute(
                        f"UPDATE replies SET checksum = checksum({shape}) WHERE checksum IS NULL"
                    )
                    if "edited" not in known:
                        connection.execute("ALTER TABLE replies ADD COLUMN edited INTEGER")
                        connection.execute(
                            "UPDATE replies SET edited = 1 WHERE instr(raw, ?)", (EDITED,)
                        )
                    connection.execute(f"PRAGMA user_version = {SCHEMA}")
            else:
                connection.execute("SELECT count(*) FROM claims").fetchone()
                for table in _TABLES:  # of which earlier versions of this schema may lack some
                    connection.execute(table)
            self._inode = self.path.stat().st_ino
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _version_of(self, connection: sqlite3.Connection) -> int:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA:
            raise InputError(
                f"judge cache {self.path}: written by a newer Reelbench (schema {version}); update yours"
            )
        tables = "SELECT count(*), total(name = 'replies') FROM sqlite_schema WHERE type = 'table'"
        number, named = connection.execute(tables).fetchone()
        if number and not named:
            raise self._foreign()
        return version

    def _start_anew(self, error: Exception) -> None:
        """Rename a damaged file, and begin a fresh one with what can be read of it."""
        aside = self.path.with_name(
            f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        )
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
            if not self.path.exists() or self.path.stat().st_ino != self._inode:
                self._connect()  # another process has put a fresh one there by now
                return
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                self.path.with_name(self.path.name + suffix).rename(
                    aside.with_name(aside.name + suffix)
                )
        self._connect()
        replies, saved = _readable_replies(aside, self._reply_of_row), 0
        while some := list(islice(replies, AT_ONCE)):
            saved += self.put(some)
        self._on_note(
            f"judge cache {self.path}: damaged ({error}); renamed to {aside.name}, "
            f"{saved} replies could be read and are kept"
        )

    @contextmanager
    def _errors_explained(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = _code(error)
            if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
                what = (
                    "the disk is full"
                    if code == sqlite3.SQLITE_FULL
                    else f"the disk can't be written ({error})"
                )
                todo = "free some space and run again: replies that it holds are kept"
            elif code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                what, todo = (
                    f"another process has held it for {_BUSY:.0f} s",
                    "end that process, then run again",
                )
            else:
                what, todo = (
                    f"it can't be used ({error})",
                    "make it writable, or set REELBENCH_HOME to another folder",
                )
            raise ReelbenchError(f"judge cache {self.path}: {what}; {todo}") from None


def _open_file(place: Path | str, *, timeout: float = 5.0, uri: bool = False) -> sqlite3.Connection:
    """Open a file, with the functions that commands of ours call; none of them is in what the file itself holds."""
    if isinstance(place, Path) and not place.exists():
        with contextlib.suppress(OSError):  # SQLite says it
            place.touch(0o600)  # what a model was asked, and said, is the user's own
    connection = sqlite3.connect(
        place, timeout=timeout, uri=uri, isolation_level=None, check_same_thread=False
    )
    # Read when a command runs, which is under the lock: so no claim made before is from the future.
    connection.create_function("clock", 0, lambda: time.time())  # noqa: PLW0108 - as it is by then
    connection.create_function("pid", 0, os.getpid)
    connection.create_function("held", 1, _is_held)
    return connection


def _is_held(pid: int) -> bool:
    return pid != os.getpid() and is_alive(pid)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Write all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(
            sqlite3.Error
        ):  # SQLite may have rolled back by itself, as where the disk is full
            connection.execute("ROLLBACK")
        raise


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_corrupt(error: Exception) -> bool:
    return isinstance(error, UnicodeDecodeError) or _code(error) in {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    }


def _readable_replies(
    path: Path, stored: Callable[[Sequence[Any]], StoredReply]
) -> Iterator[StoredReply]:
    """Yield all replies of a damaged file that can be read and hold their checksum."""
    with contextlib.closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    ) as connection:
        columns, version = REPLY_FIELDS, SCHEMA
        with contextlib.suppress(*_FAILURES):
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < 2:  # noqa: PLR2004 - `_SINCE_2`
            columns = _REPLY
        kept = "checksum" if columns == REPLY_FIELDS else "NULL"
        edited = "edited" if version == SCHEMA else f"instr(raw, '{EDITED}')"
        command = (
            f"SELECT key, model, at, {kept}, {edited}, NULL, {', '.join(columns)} FROM replies"
        )
        for row in _in_ranges(connection, f"{command} WHERE key >= ? AND key < ?"):
            reply = stored(row)
            if not reply.edited and not reply.is_damaged:
                yield replace(reply, checksum=reply.reply.checksum(reply.key))
    for suffix in (
        "-shm",
        "-wal",
    ):  # a reader of a log leaves these, and an empty one holds nothing
        beside = path.with_name(path.name + suffix)
        if suffix == "-shm" or (beside.exists() and not beside.stat().st_size):
            beside.unlink(missing_ok=True)


def _in_ranges(connection: sqlite3.Connection, command: str) -> Iterator[tuple[Any, ...]]:
    # A damaged page ends a query, so the keys, which are spread evenly, are asked for in ranges by
    # their first byte, and where that fails by their second one too.
    prefixes, readable = [bytes([first]) for first in range(256)], False
    for _ in range(2):
        failed: list[bytes] = []
        for prefix in prefixes:
            after = int.from_bytes(prefix) + 1
            end = after.to_bytes(len(prefix)) if after < 256 ** len(prefix) else b"\xff" * 33
            try:
                yield from connection.execute(command, (prefix, end)).fetchall()
                readable = True
            except (*_FAILURES, TypeError):
                failed.append(prefix)
        prefixes = [
            prefix + bytes([second]) for prefix in failed if readable for second in range(256)
        ]
