"""Replies in one SQLite file, for the processes of one machine.

Each reply is committed the moment it arrives (write-ahead log), so that a killed process loses only
what was in flight. A file that is no longer a readable database is renamed aside, with a message,
and a fresh one begun with all replies that can still be read from it: they were paid for. Another
program's file stays as it is.
"""

import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import is_alive
from reelbench.base.values import batches
from reelbench.llm.defaults import CACHE_FILE
from reelbench.llm.store import (
    AT_ONCE,
    Ran,
    SqlStore,
    Step,
    StoredReply,
    statements,
    tables,
)

SCHEMA = 4
"""The version of the tables, as the file states it."""
LEASE = 6.0
"""Seconds that a claim lasts unless it is renewed."""

_BUSY = 30.0  # seconds to wait for another process's write

_STATEMENTS = statements("sqlite")
# The latter because SQLite quotes what is damaged, in any bytes.
_FAILURES = (sqlite3.DatabaseError, UnicodeDecodeError)


class SqliteStore(SqlStore):
    """The file of replies (see `llm.store`)."""

    lease = LEASE
    is_remote = False

    def __init__(self, path: Path, on_note: Callable[[str], None]) -> None:
        """Describe the file. `open` opens it.

        Args:
            path: The file.
            on_note: Called with each line that the user should know.
        """
        super().__init__()
        self.path = path
        self.name = str(path)
        self._on_note = on_note
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    @classmethod
    def open(cls, path: Path, on_note: Callable[[str], None]) -> "SqliteStore":
        """Open a file, a new one where there is none.

        Raises:
            InputError: It is no file of replies, or its folder can't be made.
            ReelbenchError: It can't be used now.
        """
        store = cls(path, on_note)
        with store._errors_explained():
            store._open()
        return store

    def _open(self) -> None:
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
                is_named_by_user = self.path.name != CACHE_FILE
                if _code(error) == sqlite3.SQLITE_NOTADB and is_named_by_user:
                    raise self._foreign() from None
                self._start_anew(error)
            elif not self._opened_to_read(error):
                raise

    def remove(self, before: float | None = None, model: str | None = None) -> int:
        """Remove the replies that `models` counts, and shrink the file."""
        removed = super().remove(before, model)
        self._read([Step("vacuum")])
        return removed

    def size(self) -> int:
        """Return the bytes of the file and its log."""
        parts = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def close(self, *, away: bool = False) -> None:
        """Give up all claims of this process, and close."""
        del away
        with self._lock:
            if self._connection is None:
                return
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute(_STATEMENTS["release_all"], {"owner": self._owner})
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _is_handed_over(self, column: Any) -> bool:  # noqa: ANN401 - the batch's process
        return column != os.getpid() and is_alive(column)

    # --- statements

    def _read(self, steps: Sequence[Step]) -> list[Ran]:
        return self._run(steps, contextlib.nullcontext)

    def _write(self, steps: Sequence[Step]) -> list[Ran]:
        return self._run(steps, _transaction)

    def _run(
        self,
        steps: Sequence[Step],
        context: Callable[[sqlite3.Connection], contextlib.AbstractContextManager[object]],
    ) -> list[Ran]:
        """Run statements in a context.

        Where the file turns out to be damaged, they run in a fresh one.
        """
        with self._lock, self._errors_explained():
            try:
                return self._run_once(steps, context)
            except _FAILURES as error:
                if not _is_corrupt(error):
                    raise
                self._start_anew(error)
            return self._run_once(steps, context)

    def _run_once(
        self,
        steps: Sequence[Step],
        context: Callable[[sqlite3.Connection], contextlib.AbstractContextManager[object]],
    ) -> list[Ran]:
        if self._connection is None:
            raise ReelbenchError(f"judge cache {self.path}: it is closed")
        results: list[Ran] = []
        with context(self._connection):
            for step in steps:
                # The time is read under the file's lock: so no claim made before is from the
                # future.
                surroundings = {"now": time.time(), "lease": LEASE, "pid": os.getpid()}
                cursor = self._connection.execute(
                    _STATEMENTS[step.statement], {**surroundings, **step.values}
                )
                results.append(Ran(cursor.fetchall(), cursor.rowcount))
        return results

    # --- opening

    def _connect(self) -> None:
        """Open the file for reading and writing, and make its tables if it is new."""
        connection = _open_file(self.path, timeout=_BUSY)
        try:
            is_new = self._check_schema(connection)
            _use_write_ahead_log(connection)
            # NORMAL survives a killed process; only a power cut can take the last replies, never
            # the file.
            connection.execute("PRAGMA synchronous = NORMAL")
            if is_new:
                _make_tables(connection)
            connection.execute("SELECT count(*) FROM claims").fetchone()
            self._inode = self.path.stat().st_ino
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _check_schema(self, connection: sqlite3.Connection) -> bool:
        """Return True for a file without tables, False for one of replies.

        Raises:
            InputError: It is of another version, or another program's.
        """
        # One query, so that no other process makes the tables in between.
        version, number, has_replies = connection.execute(
            "SELECT (SELECT user_version FROM pragma_user_version), count(*),"
            " total(name = 'replies') FROM sqlite_schema WHERE type = 'table'"
        ).fetchone()
        if version > SCHEMA:
            raise InputError(
                f"judge cache {self.path}: written by a newer Reelbench (schema {version}); "
                "update yours"
            )
        if number and not has_replies:
            raise self._foreign()
        if number and version < SCHEMA:
            raise InputError(
                f"judge cache {self.path}: written by an earlier, unreleased version "
                f"(schema {version}); name another one"
            )
        return not number

    def _foreign(self) -> InputError:
        return InputError(
            f"judge cache {self.path}: is not a file of replies and was left as it is; name "
            "another one"
        )

    def _opened_to_read(self, error: Exception) -> bool:
        """Open a file that can only be read, as on a read-only disk.

        Returns:
            False where the error is another one.
        """
        is_read_only = _code(error) in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
        if not is_read_only or not self.path.is_file():
            return False
        # A log can be read where its index is there too; without a log no index is needed.
        for mode in ("mode=ro", "immutable=1"):
            connection = _open_file(f"{self.path.absolute().as_uri()}?{mode}", uri=True)
            with contextlib.suppress(sqlite3.Error):
                if not self._check_schema(connection):
                    self._connection = connection
                    self._on_note(
                        f"judge cache {self.path}: it is read-only; the replies in it are used"
                    )
                    return True
            connection.close()
        return False

    # --- damage

    def _start_anew(self, error: Exception) -> None:
        """Rename a damaged file, and begin a fresh one with its readable replies."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
            if not self.path.exists() or self.path.stat().st_ino != self._inode:
                self._connect()  # another process has put a fresh one there by now
                return
        aside = self._rename_aside()
        self._connect()
        saved = 0
        replies = filter(_is_whole, map(self._stored_reply, _readable_rows(aside)))
        for batch in batches(replies, AT_ONCE):
            saved += self.put(batch)
        self._on_note(
            f"judge cache {self.path}: damaged ({error}); renamed to {aside.name}, "
            f"{saved} replies could be read and are kept"
        )

    def _rename_aside(self) -> Path:
        """Rename the file and its log, and return the new path."""
        moment = time.strftime("%Y%m%d-%H%M%S")
        name = f"{self.path.name}.corrupt-{moment}-{secrets.token_hex(2)}"
        for suffix in ("", "-wal", "-shm"):
            part = self.path.with_name(self.path.name + suffix)
            with contextlib.suppress(FileNotFoundError):
                part.rename(self.path.with_name(name + suffix))
        return self.path.with_name(name)

    @contextmanager
    def _errors_explained(self) -> Generator[None]:
        """Turn SQLite's errors into a line that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            match _code(error):
                case sqlite3.SQLITE_FULL:
                    advice = (
                        "the disk is full; free some space and run again: replies in it are kept"
                    )
                case sqlite3.SQLITE_IOERR:
                    advice = (
                        f"the disk can't be written ({error}); "
                        "free some space and run again: replies in it are kept"
                    )
                case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                    advice = (
                        f"another process has held it for {_BUSY:.0f} s; "
                        "end that process, then run again"
                    )
                case _:
                    advice = (
                        f"it can't be used ({error}); "
                        "make it writable, or set REELBENCH_HOME to another folder"
                    )
            raise ReelbenchError(f"judge cache {self.path}: {advice}") from None


def _open_file(place: Path | str, *, timeout: float = 5.0, uri: bool = False) -> sqlite3.Connection:
    """Open a file, which only the user may read: it has what models were asked."""
    if isinstance(place, Path) and not place.exists():
        with contextlib.suppress(OSError):  # SQLite says it
            place.touch(0o600)
    return sqlite3.connect(
        place, timeout=timeout, uri=uri, isolation_level=None, check_same_thread=False
    )


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Change the file's mode. Once changed it stays.

    SQLite does not wait for another process that changes it too.
    """
    deadline = time.monotonic() + _BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another process has made them meanwhile."""
    with _transaction(connection):
        for table in tables("sqlite").split(";"):
            connection.execute(table)
        connection.execute(f"PRAGMA user_version = {SCHEMA}")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Write all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite may have rolled back by itself, as where the disk is full.
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _code(error: Exception) -> int:
    """Return SQLite's primary code of an error; 0 of any other error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_corrupt(error: Exception) -> bool:
    if isinstance(error, UnicodeDecodeError):
        return True
    return _code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


# --- reading a damaged file


def _is_whole(reply: StoredReply) -> bool:
    return not reply.is_damaged


def _readable_rows(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of replies that can be read from a damaged file.

    A damaged page ends a query. So the keys, which are spread evenly, are read in ranges by their
    first byte, and where that fails by their second byte too.
    """
    address = f"{path.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
        damaged: list[int] = []
        for first in range(256):
            rows = _rows_between(connection, bytes([first]))
            if rows is None:
                damaged.append(first)
            else:
                yield from rows
        if len(damaged) < 256:  # noqa: PLR2004 - else nothing can be read
            for first in damaged:
                for second in range(256):
                    yield from _rows_between(connection, bytes([first, second])) or ()
    _remove_log(path)


def _rows_between(connection: sqlite3.Connection, prefix: bytes) -> list[tuple[Any, ...]] | None:
    """Return the rows whose keys begin with a prefix. None where they can't be read."""
    next_prefix = int.from_bytes(prefix) + 1
    end = b"\xff" * 33  # behind all keys
    if next_prefix < 256 ** len(prefix):
        end = next_prefix.to_bytes(len(prefix))
    try:
        rows = connection.execute(
            _STATEMENTS["replies_between"], {"first": prefix, "end": end}
        ).fetchall()
    except (*_FAILURES, TypeError):
        return None
    return rows


def _remove_log(path: Path) -> None:
    """Remove the files that a reader of a log leaves beside a file."""
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and not log.stat().st_size:
        log.unlink(missing_ok=True)
