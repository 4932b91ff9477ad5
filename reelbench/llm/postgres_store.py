"""Replies in a PostgreSQL database, for the processes of many machines (extra `postgres`).

Every lease is by the server's clock, so machines need not agree on the time. Text is kept as bytes:
PostgreSQL's own text holds no NUL, and not every database holds every letter. What is one request
here is one transaction there.
"""

# ruff: noqa: S608 - commands are made of our own names; what comes from outside is a value
import logging
import re
import threading
from contextlib import ExitStack, suppress
from typing import Any, TypeAlias

from reelbench.base.errors import InputError, ReelbenchError, first_line, installing
from reelbench.llm.store import AwayError, Ran, SqlStore, Step, tables

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

_Database: TypeAlias = (
    Any  # psycopg.Connection, which for a type checker takes commands of one literal only
)
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
_PASSING = re.compile(
    "too many|slots are reserved|starting up|not yet accepting|shutting down|recovery mode"
)
"""In what a server says that takes no connection for now: the client's library keeps no code of it."""
_LOCK = int.from_bytes(b"reelbnch")  # of PostgreSQL's advisory locks


class PostgresStore(SqlStore):
    """The database of replies (see `llm.store`)."""

    lease = LEASE
    is_remote = True
    _until = f"clock_timestamp() + make_interval(secs => {LEASE})"
    _lapsed = f"""(claim.until <= clock_timestamp() AND EXISTS (
        SELECT FROM @pulse WHERE at > clock_timestamp() - make_interval(secs => {SILENCE})
        AND back <= clock_timestamp() - make_interval(secs => {GRACE})))"""
    _edited = "NULL::boolean"
    _renewed = f"""UPDATE @pulse SET at = clock_timestamp(), back = CASE
        WHEN at > clock_timestamp() - make_interval(secs => {SILENCE}) THEN back ELSE clock_timestamp() END"""

    def __init__(self, address: str) -> None:
        """Open it, and make its tables where there are none.

        InputError where it can't be used, AwayError where it takes no connection now: others have
        all that it grants.
        """
        super().__init__()
        self._held = f"id IS NULL AND owner <> '{self._owner}' AND until > clock_timestamp()"
        handed_over = f"clock_timestamp() + make_interval(secs => {HANDING_OVER})"
        self._batch = f"SELECT ?, NULL, ?, ?, extract(epoch FROM clock_timestamp()), '{self._owner}', {handed_over}"
        try:
            import psycopg.conninfo
            import psycopg_pool
        except ImportError:
            raise InputError(
                f"a judge cache in PostgreSQL: psycopg is not installed; {installing('postgres')}"
            ) from None
        logging.getLogger("psycopg").setLevel(
            logging.ERROR
        )  # what it and its pool warn of is ours to say
        self._psycopg, self._pool_errors = (
            psycopg,
            (psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed),
        )
        given = _parse_address(address)
        host, port = given.get("host") or given.get("hostaddr") or "", given.get("port")
        self.name = f"postgresql://{f'{host}:{port}' if host and port else host}/{given.get('dbname') or ''}"
        self._address = psycopg.conninfo.make_conninfo(**{**_DEFAULTS, **given})
        self._closed = False
        try:
            with psycopg.connect(self._address, autocommit=True) as connection:

                def has(table: str) -> bool:
                    # By a query: `to_regclass` may not see what another process has made while we
                    # waited for the lock.
                    command = (
                        "SELECT 1 FROM pg_tables WHERE schemaname = 'reelbench' AND tablename = %s"
                    )
                    return connection.execute(command, (table,)).fetchone() is not None

                if not has("version"):
                    with connection.transaction():
                        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                        if not has("version"):
                            connection.execute(tables("postgres").encode())
                row = connection.execute("SELECT version FROM reelbench.version").fetchone()
                if row is not None and row[0] > SCHEMA:
                    raise InputError(
                        f"judge cache {self.name}: written by a newer Reelbench (schema {row[0]}); update yours"
                    )
                if not has("givers"):  # which earlier versions of this schema know nothing of
                    try:
                        with connection.transaction():
                            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                            connection.execute(tables("postgres_added").encode())
                    except self._psycopg.errors.InsufficientPrivilege:
                        self._giver = "NULL"
        except psycopg.Error as error:
            kind = AwayError if _PASSING.search(str(error)) else InputError
            raise kind(f"judge cache {self.name}: {first_line(error)}") from None
        self._pool: Any = psycopg_pool.ConnectionPool(
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

    def size(self) -> int:
        """Return the bytes that it takes."""
        return self._run(("SELECT pg_total_relation_size('reelbench.replies')",))[0].rows[0][0]

    def close(self, *, away: bool = False) -> None:
        """Give up all claims of this process, unless the server is away, and close."""
        if self._closed:
            return
        batches = "UPDATE @batches SET until = clock_timestamp() WHERE owner = ? AND id IS NULL"
        with suppress(ReelbenchError):  # then they lapse
            if not away:
                self._run(
                    ("DELETE FROM @claims WHERE owner = ?", self._owner), (batches, self._owner)
                )
        self._closed = True
        self._pool.close()

    def _packed(self, text: str | None) -> bytes | None:
        return None if text is None else text.encode("utf-8", "surrogatepass")

    def _unpacked(self, value: Any) -> Any:  # noqa: ANN401
        return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value

    def _run(self, *steps: Step) -> list[Ran]:
        errors = self._psycopg.errors
        connection = None
        if self._closed:
            raise ReelbenchError(f"judge cache {self.name}: it is closed")
        try:
            with ExitStack() as held:
                connection = held.enter_context(self._pool.connection())
                if len(steps) > 1:
                    held.enter_context(connection.transaction())
                with connection.pipeline() if len(steps) > 1 else ExitStack():
                    ours = (
                        (command.replace("@", "reelbench.").replace("?", "%s"), values)
                        for command, *values in steps
                    )
                    done = [connection.execute(command, values) for command, values in ours]
                return [
                    Ran(one.fetchall() if one.description else (), one.rowcount) for one in done
                ]
        except self._pool_errors as error:
            try:  # why the pool got no connection, which it doesn't say
                self._psycopg.connect(self._address, connect_timeout=2).close()
                why = f"no connection ({first_line(error)})"
            except self._psycopg.Error as failed:
                why = first_line(failed)
            raise AwayError(f"judge cache {self.name}: {why}") from None
        except (errors.DeadlockDetected, errors.SerializationFailure):
            return self._run(*steps)
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
            if isinstance(error, errors.DiskFull):
                raise ReelbenchError(
                    f"judge cache {self.name}: the server's disk is full; replies are kept"
                ) from None
            if connection is not None and connection.broken:
                # Its other connections have broken too: they would each cost a try.
                threading.Thread(target=self._pool.check, daemon=True).start()
            raise AwayError(f"judge cache {self.name}: {first_line(error)}") from None
        except self._psycopg.Error as error:
            raise ReelbenchError(f"judge cache {self.name}: {first_line(error)}") from None


def _configure(connection: _Database) -> None:
    connection.execute(
        "SET default_transaction_isolation TO 'read committed'"
    )  # what claims rest on


def _parse_address(address: str) -> dict[str, Any]:
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
