"""Replies in a PostgreSQL database, for the processes of many machines (extra `postgres`).

Every lease is by the server's clock, so machines need not agree on the time. Text is kept as bytes: PostgreSQL's own
text holds no NUL, and not every database holds every letter. What is one request here is one transaction there.
"""

# ruff: noqa: S608 - commands are made of our own names; what comes from outside is a parameter
import logging
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Any, TypeAlias, TypeVar

from reelbench.llm.reply import REPLY_FIELDS, Reply
from reelbench.llm.store import AwayError, Claimed, Limit, Ran, ReplyStore, Step, StoredBatch, StoredReply
from reelbench.registry.errors import InputError, ReelbenchError, first_line, installing

SCHEMA = 1
LEASE = 20.0
"""Seconds that a claim lasts unless it is renewed: longer than a connection takes to be found broken and made anew."""
SILENCE = 10.0
"""Seconds without any renewal after which the server counts as having been away."""
GRACE = 15.0
"""Seconds after it is back in which no claim lapses: its owner could not renew it, and may hold its reply."""
HANDING_OVER = 900.0
"""Seconds for which a batch is its process's that has no id yet."""
CONNECTIONS = 8
"""Connections of one process at most."""

_T = TypeVar("_T")
_Database: TypeAlias = Any  # psycopg.Connection, which for a type checker takes commands of one literal only

_Pool: TypeAlias = Any  # psycopg_pool.ConnectionPool
_WAIT = 2.0  # seconds for a connection, after which the server counts as away
_IDLE = 5.0  # seconds after which one that nobody needs goes back, to other processes
_DEFAULTS = {  # a machine that is gone says nothing: found after about 20 s
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "2",
    "tcp_user_timeout": "20000",
    "application_name": "reelbench",
    "client_encoding": "UTF8",
}
_PORTS = re.compile(r"[\d,]*")
_PASSING = re.compile("too many|slots are reserved|starting up|not yet accepting|shutting down|recovery mode")
"""In what a server says that takes no connection for now: the client's library keeps no code of it."""
_LOCK = int.from_bytes(b"reelbnch")  # of PostgreSQL's advisory locks

_TABLES = """
CREATE SCHEMA IF NOT EXISTS reelbench;
CREATE TABLE reelbench.version (version integer NOT NULL);
INSERT INTO reelbench.version VALUES (1);
CREATE TABLE reelbench.replies (
    key bytea PRIMARY KEY, model bytea NOT NULL, at double precision NOT NULL, checksum bytea NOT NULL,
    raw bytea, finish bytea, returned bytea, prompt_tokens bigint NOT NULL, completion_tokens bigint NOT NULL,
    host bytea NOT NULL, reasoning_tokens bigint, cached_tokens bigint, seconds double precision);
CREATE TABLE reelbench.claims (key bytea PRIMARY KEY, owner text NOT NULL, until timestamptz NOT NULL);
CREATE TABLE reelbench.pulse (at timestamptz NOT NULL, back timestamptz NOT NULL);
INSERT INTO reelbench.pulse VALUES (clock_timestamp(), 'epoch');
CREATE TABLE reelbench.batches (
    token text PRIMARY KEY, id bytea, model bytea NOT NULL, host bytea NOT NULL, at double precision NOT NULL,
    owner text NOT NULL, until timestamptz NOT NULL);
CREATE TABLE reelbench.batched (key bytea PRIMARY KEY, token text NOT NULL);
CREATE INDEX ON reelbench.batched (token);
CREATE TABLE reelbench.budgets (
    job bytea PRIMARY KEY, calls bigint NOT NULL DEFAULT 0, reserved double precision NOT NULL DEFAULT 0,
    spent double precision NOT NULL DEFAULT 0, dearest double precision NOT NULL DEFAULT 0);
CREATE TABLE reelbench.shutdowns (
    model bytea NOT NULL, host bytea NOT NULL, day text NOT NULL, PRIMARY KEY (model, host));
"""
_UNTIL = "clock_timestamp() + make_interval(secs => %(seconds)s)"
_LAPSED = """(claim.until <= clock_timestamp() AND EXISTS (
    SELECT FROM reelbench.pulse WHERE at > clock_timestamp() - make_interval(secs => %(silence)s)
    AND back <= clock_timestamp() - make_interval(secs => %(grace)s)))"""
_PULSE = """
UPDATE reelbench.pulse SET at = clock_timestamp(), back =
CASE WHEN at > clock_timestamp() - make_interval(secs => %(silence)s) THEN back ELSE clock_timestamp() END
"""
_FIELDS = ", ".join(REPLY_FIELDS)
_GIVER = "(SELECT giver FROM reelbench.givers WHERE givers.key = replies.key)"
_STORED = f"SELECT key, model, at, checksum, {_GIVER}, {_FIELDS} FROM reelbench.replies"
_KEEP_GIVER = "INSERT INTO reelbench.givers VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET giver = excluded.giver"
_ADDED = """
CREATE TABLE IF NOT EXISTS reelbench.givers (key bytea PRIMARY KEY, giver text NOT NULL);
CREATE TABLE IF NOT EXISTS reelbench.marks (place text PRIMARY KEY, at double precision NOT NULL);
"""
_INSERT = (
    f"INSERT INTO reelbench.replies (key, model, at, checksum, {_FIELDS})"
    f" VALUES ({', '.join(['%s'] * (4 + len(REPLY_FIELDS)))}) ON CONFLICT (key) DO NOTHING"
)
_TAKEN = f"SELECT key FROM reelbench.claims AS claim WHERE key = ANY(%(keys)s) AND owner <> %(owner)s AND NOT {_LAPSED}"
_CLAIM = f"""
INSERT INTO reelbench.claims AS claim SELECT key, %(owner)s, {_UNTIL} FROM unnest(%(keys)s::bytea[]) AS key
WHERE key NOT IN ({_TAKEN})
ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE claim.owner = excluded.owner OR {_LAPSED} RETURNING key
"""
_RENEW = f"UPDATE reelbench.claims SET until = {_UNTIL} WHERE owner = %(owner)s"
_BEGIN = (
    "INSERT INTO reelbench.batches"
    f" VALUES (%(token)s, NULL, %(model)s, %(host)s, extract(epoch FROM clock_timestamp()), %(owner)s, {_UNTIL})"
)
_RESERVE = """
UPDATE reelbench.budgets SET calls = calls + 1, reserved = reserved + greatest(%(estimate)s, dearest)
WHERE job = %(job)s AND (%(calls)s::bigint IS NULL OR calls < %(calls)s::bigint) AND (
    %(usd)s::double precision IS NULL
    OR spent + reserved + greatest(%(estimate)s, dearest) <= %(usd)s::double precision)
RETURNING greatest(%(estimate)s, dearest)
"""
_ELSEWHERE = """
SELECT key, 'stored' FROM reelbench.replies WHERE key = ANY(%(keys)s)
UNION ALL SELECT key, 'batched' FROM reelbench.batched WHERE key = ANY(%(keys)s)
"""


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogatepass")


def _row(reply: StoredReply) -> tuple[object, ...]:
    values = (_bytes(value) if isinstance(value, str) else value for value in reply.reply.values)
    return (reply.key, _bytes(reply.model), reply.at, reply.checksum, *values)


def _stored(row: tuple[Any, ...]) -> StoredReply:
    key, model, at, kept, giver, *fields = row
    values: list[Any] = [_text(value) if isinstance(value, bytes) else value for value in fields]
    return StoredReply(key, str(_text(model)), at, Reply(*values), kept, giver=giver)


class PostgresStore(ReplyStore):
    """The database of replies (see `llm.store`)."""

    lease = LEASE
    is_remote = True
    _select = _STORED
    _meant = "(?::double precision IS NULL OR at < ?::double precision) AND (?::bytea IS NULL OR model = ?::bytea)"

    def __init__(self, address: str) -> None:
        """Open it, and make its tables where there are none.

        Raises:
            InputError: It can't be used.
            AwayError: It takes no connection now, as where others have all that it grants.
        """
        super().__init__()
        try:
            import psycopg.conninfo
            import psycopg_pool
        except ImportError:
            raise InputError(
                f"a judge cache in PostgreSQL: psycopg is not installed; {installing('postgres')}"
            ) from None
        logging.getLogger("psycopg").setLevel(logging.ERROR)  # what it and its pool warn of is ours to say
        self._psycopg, self._pool_errors = psycopg, (psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed)
        given = _parsed(address)
        self._name = _shown(given)
        self._address = psycopg.conninfo.make_conninfo(**{**_DEFAULTS, **given})
        self._closed = False
        try:
            with psycopg.connect(self._address, autocommit=True) as connection:
                self._bring_up_to_date(connection)
        except psycopg.Error as error:
            kind = AwayError if _PASSING.search(str(error)) else InputError
            raise kind(f"judge cache {self._name}: {first_line(error)}") from None
        self._pool: _Pool = psycopg_pool.ConnectionPool(
            self._address,
            kwargs={"autocommit": True},
            min_size=0,
            max_size=CONNECTIONS,
            timeout=_WAIT,
            max_idle=_IDLE,
            reconnect_timeout=0,  # asked for again by whoever needs one
            configure=_configure,
            open=True,
        )

    @property
    def name(self) -> str:
        """What the user is told that it is called: its address, without user and password."""
        return self._name

    # --- replies -----------------------------------------------------------------------------------------------------

    def get(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return what is kept under those of `keys` that have a reply."""
        command = f"{self._select} WHERE key = ANY(%s)"
        rows = self._do(lambda database: database.execute(command, (list(keys),)).fetchall())
        return {row[0]: _stored(row) for row in rows}

    def put(self, replies: Sequence[StoredReply]) -> int:
        """Keep replies, for good, and give up the claims on them -> how many were new."""
        ordered = sorted(replies, key=lambda reply: reply.key)  # for all processes, or two could wait for each other

        def write(database: _Database) -> int:
            with database.transaction(), database.cursor() as cursor:
                cursor.executemany(_INSERT, [_row(reply) for reply in ordered])
                new = cursor.rowcount
                given = [(reply.key, reply.giver) for reply in ordered if reply.giver is not None]
                if given:
                    cursor.executemany(_KEEP_GIVER, given)
                cursor.execute("DELETE FROM reelbench.claims WHERE key = ANY(%s)", ([reply.key for reply in ordered],))
                return new

        return self._do(write) if replies else 0

    def claim(self, keys: Sequence[bytes]) -> dict[bytes, Claimed]:
        """Claim the right to ask for each key, unless its reply is here by now or it is being asked for elsewhere."""

        def write(database: _Database) -> dict[bytes, Claimed]:
            # The second is asked when the claims are ours: who had them before has kept the replies by then.
            with database.pipeline():
                ours = database.execute(_CLAIM, self._leased(self._owner, sorted(keys)))
                elsewhere = database.execute(_ELSEWHERE, {"keys": list(keys)})
                mine = {key for (key,) in ours.fetchall()}
                kept: dict[bytes, Claimed] = dict(elsewhere.fetchall())
            if not_asked := [key for key in kept if key in mine]:
                command = "DELETE FROM reelbench.claims WHERE key = ANY(%s) AND owner = %s"
                database.execute(command, (not_asked, self._owner))
            return {key: kept.get(key, "mine" if key in mine else "theirs") for key in keys}

        return self._do(write)

    def taken(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` that another process is asking for now."""
        rows = self._do(lambda database: database.execute(_TAKEN, self._leased(self._owner, list(keys))).fetchall())
        return {key for (key,) in rows}

    def renew(self) -> None:
        """Make all claims of this process last a full lease again."""

        def write(database: _Database) -> None:
            values = self._leased(self._owner)
            with database.pipeline():
                database.execute(_PULSE, values)
                database.execute(_RENEW, values)

        self._do(write)

    def kept(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` under which there is a reply."""
        command = "SELECT key FROM reelbench.replies WHERE key = ANY(%s)"
        return {key for (key,) in self._do(lambda database: database.execute(command, (list(keys),)).fetchall())}

    def size(self) -> int:
        """Return the bytes that it takes."""
        command = "SELECT pg_total_relation_size('reelbench.replies')"
        return self._do(lambda database: database.execute(command).fetchall())[0][0]

    def close(self) -> None:
        """Give up all claims of this process, and close."""
        if self._closed:
            return

        def write(database: _Database) -> None:
            with database.pipeline():
                database.execute("DELETE FROM reelbench.claims WHERE owner = %s", (self._owner,))
                command = "UPDATE reelbench.batches SET until = clock_timestamp() WHERE owner = %s AND id IS NULL"
                database.execute(command, (self._owner,))

        with suppress(ReelbenchError):  # then they lapse
            self._do(write)
        self._closed = True
        self._pool.close()

    # --- batches -----------------------------------------------------------------------------------------------------

    def batches(self, model: str, host: str) -> list[StoredBatch]:
        """Return the batches of a model on a server, the oldest first."""
        command = (
            "SELECT token, id, at, id IS NULL AND owner <> %s AND until > clock_timestamp()"
            " FROM reelbench.batches WHERE model = %s AND host = %s ORDER BY at"
        )
        values = (self._owner, _bytes(model), _bytes(host))
        rows = self._do(lambda database: database.execute(command, values).fetchall())
        return [StoredBatch(token, _text(name), at, held) for token, name, at, held in rows]

    def begin_batch(self, token: str, model: str, host: str, keys: Sequence[bytes]) -> list[bytes]:
        """Put a batch down before it is sent -> the keys that are its own: not kept, claimed or in another one."""

        def write(database: _Database) -> list[bytes]:
            with database.transaction():
                # Claimed first, in one order for all processes: who claims one of them meanwhile waits for us.
                ours = {key for (key,) in database.execute(_CLAIM, self._leased(token, sorted(keys))).fetchall()}
                ours -= {key for key, _ in database.execute(_ELSEWHERE, {"keys": list(ours)}).fetchall()}
                mine = [key for key in keys if key in ours]
                if mine:
                    whose = {"token": token, "model": _bytes(model), "host": _bytes(host)}
                    database.execute(_BEGIN, whose | {"owner": self._owner, "seconds": HANDING_OVER})
                    database.execute("INSERT INTO reelbench.batched SELECT unnest(%s::bytea[]), %s", (mine, token))
                database.execute("DELETE FROM reelbench.claims WHERE owner = %s", (token,))
            return mine

        return self._do(write)

    def put_batched(self, replies: Sequence[StoredReply]) -> int:
        """Keep those replies whose requests are in a batch -> how many that were."""

        def write(database: _Database) -> int:
            with database.transaction(), database.cursor() as cursor:
                keys = [reply.key for reply in replies]
                cursor.execute("DELETE FROM reelbench.batched WHERE key = ANY(%s) RETURNING key", (keys,))
                wanted = {key for (key,) in cursor.fetchall()}
                cursor.executemany(_INSERT, [_row(reply) for reply in replies if reply.key in wanted])
                return len(wanted)

        return self._do(write) if replies else 0

    # --- budgets -----------------------------------------------------------------------------------------------------

    def reserve(self, job: str, limit: Limit, estimate: float) -> float | None:
        """Set aside one call of about `estimate` dollars of a job's -> these dollars; None where there is no room."""
        values = {"job": _bytes(job), "calls": limit.calls, "usd": limit.usd, "estimate": estimate}

        def write(database: _Database) -> float | None:
            with database.pipeline():
                database.execute("INSERT INTO reelbench.budgets (job) VALUES (%(job)s) ON CONFLICT DO NOTHING", values)
                row = database.execute(_RESERVE, values).fetchone()
            return None if row is None else row[0]

        return self._do(write)

    # --- the server, and what can go wrong ---------------------------------------------------------------------------

    def _run(self, *steps: Step) -> Ran:
        def ran(database: _Database) -> Ran:
            with database.transaction() if len(steps) > 1 else nullcontext():
                ours = [(command.replace("@", "reelbench.").replace("?", "%s"), values) for command, *values in steps]
                done = [database.execute(command, values) for command, values in ours][-1]
                return Ran(done.fetchall() if done.description else (), done.rowcount)

        return self._do(ran)

    _reply = staticmethod(_stored)
    _bytes = staticmethod(_bytes)

    @staticmethod
    def _text(data: Any) -> str:  # noqa: ANN401
        return str(_text(data))

    def _do(self, action: Callable[[_Database], _T]) -> _T:
        """Run `action` on a connection; AwayError where there is none, ReelbenchError where the server refuses."""
        errors = self._psycopg.errors
        connection = None
        if self._closed:
            raise ReelbenchError(f"judge cache {self._name}: it is closed")
        try:
            with self._pool.connection() as connection:
                return action(connection)
        except self._pool_errors as error:
            raise AwayError(f"judge cache {self._name}: {self._why_not(error)}") from None
        except (errors.DeadlockDetected, errors.SerializationFailure):
            return self._do(action)
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
            if isinstance(error, errors.DiskFull):
                raise ReelbenchError(f"judge cache {self._name}: the server's disk is full; replies are kept") from None
            if connection is not None and connection.broken:
                # Its other connections have broken too: they would each cost a try.
                threading.Thread(target=self._pool.check, daemon=True).start()
            raise AwayError(f"judge cache {self._name}: {first_line(error)}") from None
        except self._psycopg.Error as error:
            raise ReelbenchError(f"judge cache {self._name}: {first_line(error)}") from None

    def _why_not(self, error: Exception) -> str:
        """Return why the pool got no connection, which it doesn't say."""
        try:
            self._psycopg.connect(self._address, connect_timeout=2).close()
        except self._psycopg.Error as failed:
            return first_line(failed)
        return f"no connection ({first_line(error)})"

    @staticmethod
    def _leased(owner: str, keys: Sequence[bytes] = ()) -> dict[str, object]:
        return {"owner": owner, "keys": keys, "seconds": LEASE, "silence": SILENCE, "grace": GRACE}

    def _bring_up_to_date(self, connection: _Database) -> None:
        if self._version(connection) is None:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                if self._version(connection) is None:
                    connection.execute(_TABLES)
        version = self._version(connection) or 0
        if version > SCHEMA:
            raise InputError(f"judge cache {self._name}: written by a newer Reelbench (schema {version}); update yours")
        if not self._has(connection, "givers"):  # which earlier versions of this schema know nothing of
            try:
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                    connection.execute(_ADDED)
            except self._psycopg.errors.InsufficientPrivilege:
                self._select = _STORED.replace(_GIVER, "NULL")

    def _has(self, connection: _Database, table: str) -> bool:
        # By a query: `to_regclass` may not see what another process has made while we waited for the lock.
        command = "SELECT 1 FROM pg_tables WHERE schemaname = 'reelbench' AND tablename = %s"
        return connection.execute(command, (table,)).fetchone() is not None

    def _version(self, connection: _Database) -> int | None:
        if not self._has(connection, "version"):
            return None
        row = connection.execute("SELECT version FROM reelbench.version").fetchone()
        return row[0] if row else None


def _configure(connection: _Database) -> None:
    connection.execute("SET default_transaction_isolation TO 'read committed'")  # what claims rest on


def _parsed(address: str) -> dict[str, Any]:
    """Return an address's parts; InputError where it is none, or a part of its password would be shown as another."""
    import psycopg.conninfo

    try:
        given = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        given = None
    if (
        given is None
        or "@" in f"{given.get('host')} {given.get('dbname')}"
        or not _PORTS.fullmatch(str(given.get("port") or ""))
    ):
        raise InputError(
            "a judge cache in PostgreSQL: its address can't be read; write postgresql://USER:PASSWORD@HOST:5432/DATABASE"
            " with %40 for an @, %2F for a / and %3A for a : in the password"
        )
    return given


def _shown(given: dict[str, Any]) -> str:
    host, port = given.get("host") or given.get("hostaddr") or "", given.get("port")
    place = f"{host}:{port}" if host and port else str(host)
    return f"postgresql://{place}/{given.get('dbname') or ''}"
