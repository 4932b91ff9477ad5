"""Replies in one SQLite file, for the processes of one machine.

Each reply is committed the moment it arrives (write-ahead log), so that a killed process loses only what was in
flight. A file that is not (or no longer) a readable database is renamed aside, which the user is told, and a fresh one
begun with all replies that can still be read from it.
"""

import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from reelbench.llm.reply import REPLY_FIELDS, Reply, checksum
from reelbench.llm.store import AT_ONCE, Claimed, Limit, Ran, ReplyStore, Step, StoredBatch, StoredReply
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.files import is_alive

SCHEMA = 4
"""1: Reelbench 0.1.0. 2: reasoning and cached tokens, seconds, checksum. 3: batches. 4: replies that may have been
edited are marked, and models' shutdown dates. Older files are raised to it."""
LEASE = 6.0
"""Seconds that a claim lasts unless it is renewed."""
EDITED = "[key]"
"""What earlier versions wrote over a key, wherever its text stood in a reply; a key may be one letter."""

_T = TypeVar("_T")

_BUSY = 30.0  # seconds to wait for another process's write

_TABLES = (
    """CREATE TABLE IF NOT EXISTS replies (
        key BLOB PRIMARY KEY, model TEXT NOT NULL, host TEXT NOT NULL, raw TEXT, finish TEXT, returned TEXT,
        prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, at REAL NOT NULL) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS givers (key BLOB PRIMARY KEY, giver TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS marks (place TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS batches (
        token TEXT PRIMARY KEY, id TEXT, model TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, at REAL NOT NULL
        ) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS batched (key BLOB PRIMARY KEY, token TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS shutdowns (
        model TEXT NOT NULL, host TEXT NOT NULL, day TEXT NOT NULL, PRIMARY KEY (model, host)) WITHOUT ROWID""",
)
_BUDGETS = """CREATE TABLE IF NOT EXISTS budgets (
    job TEXT PRIMARY KEY, calls INTEGER NOT NULL, reserved REAL NOT NULL, spent REAL NOT NULL, dearest REAL NOT NULL
    ) WITHOUT ROWID"""  # made when the first job has one: earlier versions know nothing of it
_SINCE_2 = {"reasoning_tokens": "INTEGER", "cached_tokens": "INTEGER", "seconds": "REAL", "checksum": "BLOB"}
_REPLY = REPLY_FIELDS[:6]  # of schema 1
_COLUMNS = ("key", "model", "at", "checksum", *REPLY_FIELDS)
_GIVER = "(SELECT giver FROM givers WHERE givers.key = replies.key)"
_STORED = f"SELECT key, model, at, checksum, edited, {_GIVER}, {', '.join(REPLY_FIELDS)} FROM replies"  # noqa: S608 - our own names
_KEEP = f"INSERT OR IGNORE INTO replies ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
_STATE = """SELECT EXISTS (SELECT 1 FROM replies WHERE key = ?1 AND edited IS NULL),
    EXISTS (SELECT 1 FROM batched WHERE key = ?1),
    (SELECT owner FROM claims WHERE key = ?1), (SELECT until FROM claims WHERE key = ?1)"""
_FAILURES = (sqlite3.DatabaseError, UnicodeDecodeError)  # the latter: SQLite quotes what is damaged, in any bytes


def _stored(row: tuple[Any, ...]) -> StoredReply:
    key, model, at, kept, edited, giver, *fields = row
    return StoredReply(key, model, at, Reply(*fields), kept, bool(edited), giver)


class SqliteStore(ReplyStore):
    """The file of replies (see `llm.store`)."""

    lease = LEASE
    is_remote = False
    _is = "IS"
    _select = _STORED

    def __init__(self, path: Path, on_note: Callable[[str], None]) -> None:
        super().__init__()
        self.path = path
        self._on_note = on_note
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        with self._lock, self._errors_explained():
            self._open()

    @property
    def name(self) -> str:
        """What the user is told that it is called."""
        return str(self.path)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return what is kept under those of `keys` that have a reply."""

        def read(file: sqlite3.Connection) -> dict[bytes, StoredReply]:
            one = f"{self._select} WHERE key = ?"
            return {key: _stored(row) for key in keys if (row := file.execute(one, (key,)).fetchone())}

        return self._do(read)

    def put(self, replies: Sequence[StoredReply]) -> int:
        """Keep replies, for good, and give up the claims on them -> how many were new."""

        def write(file: sqlite3.Connection) -> int:
            new = 0
            with _transaction(file):
                for reply in replies:
                    new += _insert(file, reply)
                    file.execute("DELETE FROM claims WHERE key = ?", (reply.key,))
            return new

        return self._do(write)

    def claim(self, keys: Sequence[bytes]) -> dict[bytes, Claimed]:
        """Claim the right to ask for each key, unless its reply is here by now or it is being asked for elsewhere."""

        def write(file: sqlite3.Connection) -> dict[bytes, Claimed]:
            states: dict[bytes, Claimed] = {}
            with _transaction(file):
                now = time.time()  # read under the lock, so that no claim made before is from the future
                for key in keys:
                    states[key] = _state_of(file, key, self._owner, now)
                    if states[key] == "mine":
                        file.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (key, self._owner, now + LEASE))
            return states

        return self._do(write)

    def taken(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` that another process is asking for now."""

        def read(file: sqlite3.Connection) -> set[bytes]:
            now, theirs = time.time(), set[bytes]()
            for begin in range(0, len(keys), AT_ONCE):
                part = keys[begin : begin + AT_ONCE]
                command = f"SELECT key, owner, until FROM claims WHERE key IN ({', '.join('?' * len(part))})"  # noqa: S608
                theirs |= {key for key, *claim in file.execute(command, part) if _holds(claim, self._owner, now)}
            return theirs

        return self._do(read)

    def renew(self) -> None:
        """Make all claims of this process last a full lease again."""
        command = "UPDATE claims SET until = ? WHERE owner = ?"
        self._do(lambda file: file.execute(command, (time.time() + LEASE, self._owner)))

    def kept(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` under which there is a reply."""
        there = "SELECT 1 FROM replies WHERE key = ? AND edited IS NULL"
        return self._do(lambda file: {key for key in keys if file.execute(there, (key,)).fetchone()})

    def remove(self, before: float | None = None, model: str | None = None) -> int:
        """Remove the replies that `models` counts -> how many there were."""
        removed = super().remove(before, model)
        self._do(lambda file: file.execute("VACUUM"))
        return removed

    def size(self) -> int:
        """Return the bytes that it takes."""
        parts = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def close(self) -> None:
        """Give up all claims of this process, and close; nothing that was kept depends on it."""
        with self._lock:
            if self._connection is None:
                return
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    # --- batches -----------------------------------------------------------------------------------------------------

    def batches(self, model: str, host: str) -> list[StoredBatch]:
        """Return the batches of a model on a server, the oldest first."""
        command = "SELECT token, id, at, pid FROM batches WHERE model = ? AND host = ? ORDER BY at"
        rows = self._do(lambda file: file.execute(command, (model, host)).fetchall())
        return [
            StoredBatch(token, name, at, held=pid != os.getpid() and is_alive(pid)) for token, name, at, pid in rows
        ]

    def begin_batch(self, token: str, model: str, host: str, keys: Sequence[bytes]) -> list[bytes]:
        """Put a batch down before it is sent -> the keys that are its own: not kept, claimed or in another one."""

        def write(file: sqlite3.Connection) -> list[bytes]:
            with _transaction(file):
                now = time.time()
                mine = [key for key in keys if _state_of(file, key, "", now) == "mine"]
                if mine:
                    row = (token, None, model, host, os.getpid(), now)
                    file.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", row)
                    file.executemany("INSERT INTO batched VALUES (?, ?)", [(key, token) for key in mine])
            return mine

        return self._do(write)

    def put_batched(self, replies: Sequence[StoredReply]) -> int:
        """Keep those replies whose requests are in a batch -> how many that were."""

        def write(file: sqlite3.Connection) -> int:
            kept = 0
            with _transaction(file):
                for reply in replies:
                    if file.execute("DELETE FROM batched WHERE key = ?", (reply.key,)).rowcount:
                        _insert(file, reply)
                        kept += 1
            return kept

        return self._do(write)

    # --- budgets -----------------------------------------------------------------------------------------------------

    def reserve(self, job: str, limit: Limit, estimate: float) -> float | None:
        """Set aside one call of about `estimate` dollars of a job's -> these dollars; None where there is no room."""

        def write(file: sqlite3.Connection) -> float | None:
            with _transaction(file):
                file.execute(_BUDGETS)
                file.execute("INSERT OR IGNORE INTO budgets VALUES (?, 0, 0, 0, 0)", (job,))
                command = "SELECT calls, reserved + spent, max(dearest, ?) FROM budgets WHERE job = ?"
                calls, taken, dollars = file.execute(command, (estimate, job)).fetchone()
                if limit.calls is not None and calls >= limit.calls:
                    return None
                if limit.usd is not None and taken + dollars > limit.usd:
                    return None
                command = "UPDATE budgets SET calls = calls + 1, reserved = reserved + ? WHERE job = ?"
                file.execute(command, (dollars, job))
            return dollars

        return self._do(write)

    # --- opening, and what can go wrong ------------------------------------------------------------------------------

    def _run(self, *steps: Step) -> Ran:
        def ran(file: sqlite3.Connection) -> Ran:
            with _transaction(file) if len(steps) > 1 else contextlib.nullcontext():
                done = [file.execute(command.replace("@", ""), values) for command, *values in steps][-1]
                return Ran(done.fetchall(), done.rowcount)

        return self._do(ran)

    _reply = staticmethod(_stored)

    @staticmethod
    def _bytes(text: str | None) -> object:
        return text

    @staticmethod
    def _text(data: Any) -> str:  # noqa: ANN401
        return data if isinstance(data, str) else repr(data)

    def _do(self, action: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `action` on the open file, under the lock; ReelbenchError where the file can't be used."""
        with self._lock, self._errors_explained():
            if self._connection is None:
                raise ReelbenchError(f"judge cache {self.path}: it is closed")
            try:
                return action(self._connection)
            except _FAILURES as error:
                if not _is_corrupt(error):
                    raise
                self._start_anew(error)
            return action(self._connection)

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"judge cache {self.path}: its folder can't be made ({error.strerror})") from None
        try:
            self._connect()
        except _FAILURES as error:
            if _is_corrupt(error):
                self._start_anew(error)
            elif not self._opened_to_read(error):
                raise

    def _opened_to_read(self, error: Exception) -> bool:
        """Open a file that can't be written, as one on a disk that is read only; False where it isn't that."""
        if _code(error) not in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN} or not self.path.is_file():
            return False
        # A log can be read where its index is there too; without a log no index is needed.
        for how in ("mode=ro", "immutable=1"):
            place = f"{self.path.absolute().as_uri()}?{how}"
            connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
            with contextlib.suppress(sqlite3.Error):
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                self._refuse_newer(version)
                if version == SCHEMA:
                    self._connection = connection
                    if not _has_givers(connection):
                        self._select = _STORED.replace(_GIVER, "NULL")
                    self._on_note(f"judge cache {self.path}: it can't be written; what it holds is read")
                    return True
            connection.close()
        return False

    def _connect(self) -> None:
        connection = sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            self._refuse_newer(version)
            self._write_ahead(connection)
            # NORMAL survives a killed process; only a power cut can take the last replies, never the file.
            connection.execute("PRAGMA synchronous = NORMAL")
            if version < SCHEMA:
                _bring_up_to_date(connection)
            else:
                connection.execute("SELECT count(*) FROM claims").fetchone()
                if not _has_givers(connection):  # which earlier versions of this schema know nothing of
                    for table in _TABLES:
                        connection.execute(table)
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

    def _start_anew(self, error: Exception) -> None:
        aside = self._set_aside()
        self._connect()
        if aside is None or self._connection is None:
            return
        saved = 0
        with _transaction(self._connection):
            for reply in _still_readable(aside):
                saved += _insert(self._connection, reply)
        self._on_note(
            f"judge cache {self.path}: damaged ({error}); renamed to {aside.name}, "
            f"{saved} replies could be read and are kept"
        )

    def _set_aside(self) -> Path | None:
        """Rename a damaged file -> its new place; None where another process has put a fresh one there by now."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
            if not self.path.exists() or self.path.stat().st_ino != self._inode:
                return None
        aside = self.path.with_name(f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}")
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                self.path.with_name(self.path.name + suffix).rename(aside.with_name(aside.name + suffix))
        return aside

    @contextmanager
    def _errors_explained(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = _code(error)
            if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
                what = "the disk is full" if code == sqlite3.SQLITE_FULL else f"the disk can't be written ({error})"
                todo = "free some space and run again: replies that it holds are kept"
            elif code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                what, todo = f"another process has held it for {_BUSY:.0f} s", "end that process, then run again"
            else:
                what, todo = f"it can't be used ({error})", "make it writable, or set REELBENCH_HOME to another folder"
            raise ReelbenchError(f"judge cache {self.path}: {what}; {todo}") from None


def _has_givers(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'givers'").fetchone() is not None


def _state_of(connection: sqlite3.Connection, key: bytes, owner: str, now: float) -> Claimed:
    """Return who may ask for `key`, inside a transaction."""
    stored, batched, *claim = connection.execute(_STATE, (key,)).fetchone()
    if stored:
        return "stored"
    if batched:
        return "batched"
    return "theirs" if claim[0] is not None and _holds(claim, owner, now) else "mine"


def _holds(claim: Sequence[Any], owner: str, now: float) -> bool:
    """Whether a claim (whose, until when) keeps another owner off."""
    # A lease from the future (the clock was set back) would never lapse, so it counts for nothing.
    return claim[0] != owner and now < claim[1] <= now + LEASE + 1


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Write all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back by itself, as where the disk is full
            connection.execute("ROLLBACK")
        raise


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_corrupt(error: Exception) -> bool:
    return isinstance(error, UnicodeDecodeError) or _code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _insert(connection: sqlite3.Connection, reply: StoredReply) -> int:
    """Keep a reply unless there is one under its key that is as it arrived -> replies kept."""
    connection.execute("DELETE FROM replies WHERE key = ? AND edited", (reply.key,))
    values = (reply.key, reply.model, reply.at, reply.checksum, *reply.reply.values)
    new = connection.execute(_KEEP, values).rowcount
    if new and reply.giver is not None:
        connection.execute("INSERT OR REPLACE INTO givers VALUES (?, ?)", (reply.key, reply.giver))
    return new


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    connection.create_function("checksum", -1, checksum, deterministic=True)
    with _transaction(connection):
        for table in _TABLES:
            connection.execute(table)
        known = {row[1] for row in connection.execute("PRAGMA table_info(replies)")}
        for name, kind in _SINCE_2.items():
            if name not in known:
                connection.execute(f"ALTER TABLE replies ADD COLUMN {name} {kind}")
        shape = ", ".join(("key", *REPLY_FIELDS))
        connection.execute(f"UPDATE replies SET checksum = checksum({shape}) WHERE checksum IS NULL")  # noqa: S608
        if "edited" not in known:
            connection.execute("ALTER TABLE replies ADD COLUMN edited INTEGER")
            connection.execute("UPDATE replies SET edited = 1 WHERE instr(raw, ?)", (EDITED,))
        connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _still_readable(path: Path) -> Iterator[StoredReply]:
    """Yield all replies of a damaged file that can be read and hold their checksum."""
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        columns, version = REPLY_FIELDS, SCHEMA
        with contextlib.suppress(*_FAILURES):
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < 2:  # noqa: PLR2004 - `_SINCE_2`
            columns = _REPLY
        kept = "checksum" if columns == REPLY_FIELDS else "NULL"
        edited = "edited" if version == SCHEMA else f"instr(raw, '{EDITED}')"
        command = f"SELECT key, model, at, {kept}, {edited}, NULL, {', '.join(columns)} FROM replies"  # noqa: S608
        for row in _in_ranges(connection, f"{command} WHERE key >= ? AND key < ?"):
            reply = _stored(row)
            if not reply.edited and not reply.is_damaged:
                yield replace(reply, checksum=reply.reply.checksum(reply.key))
    for suffix in ("-shm", "-wal"):  # a reader of a log leaves these, and an empty one holds nothing
        beside = path.with_name(path.name + suffix)
        if suffix == "-shm" or (beside.exists() and not beside.stat().st_size):
            beside.unlink(missing_ok=True)


def _in_ranges(connection: sqlite3.Connection, command: str) -> Iterator[tuple[Any, ...]]:
    # A damaged page ends a query, so the keys, which are spread evenly, are asked for in ranges by their first byte,
    # and where that fails by their second one too.
    readable = False
    failed: list[int] = []
    for first in range(256):
        try:
            yield from _range(connection, command, bytes([first]))
            readable = True
        except (*_FAILURES, TypeError):
            failed.append(first)
    for first in failed if readable else ():
        for second in range(256):
            with contextlib.suppress(*_FAILURES, TypeError):
                yield from _range(connection, command, bytes([first, second]))


def _range(connection: sqlite3.Connection, command: str, prefix: bytes) -> list[tuple[Any, ...]]:
    after = int.from_bytes(prefix) + 1
    end = after.to_bytes(len(prefix)) if after < 256 ** len(prefix) else b"\xff" * 33
    return connection.execute(command, (prefix, end)).fetchall()
