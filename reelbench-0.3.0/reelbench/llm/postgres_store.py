"""Replies in a PostgreSQL database, for the processes of many machines (extra `postgres`).

Every lease is by the server's clock, so machines need not agree on the time. Text is kept as bytes:
PostgreSQL's own text holds no NUL, and not every database holds every letter.
"""

import logging
import re
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any, TypeAlias

from reelbench.base.errors import InputError, ReelbenchError, first_line, installing
from reelbench.llm.store import AwayError, Ran, SqlStore, Step, statements, tables

SCHEMA = 1
LEASE = 20.0
"""Seconds that a claim lasts unless it is renewed.

It is longer than it takes to find a connection broken and to make a new one.
"""
SILENCE = 10.0
"""Seconds without any renewal after which the server counts as having been away."""
GRACE = 15.0
"""Seconds after it is back in which no claim lapses.

Its owner could not renew it, and may have its reply.
"""
HANDING_OVER = 900.0
"""Seconds for which a batch without an id belongs to the process that hands it over."""
CONNECTIONS = 8
"""Connections of one process at most."""

# psycopg's modules and connections, which for a type checker take commands of one literal only.
_Module: TypeAlias = Any
_Connection: TypeAlias = Any

_WAIT = 2.0  # seconds for a connection, after which the server counts as away
_IDLE = 5.0  # seconds after which one that nobody needs goes back, to other processes
_DEFAULTS = {  # a machine that is gone says nothing: it is noticed after about 20 s
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
"""In the message of a server that takes no connection for now. The client keeps no code of it."""
_LOCK = int.from_bytes(b"reelbnch")  # of PostgreSQL's advisory locks
_STATEMENTS = statements("postgres")
_TIMES = {"lease": LEASE, "silence": SILENCE, "grace": GRACE, "handing_over": HANDING_OVER}


class PostgresStore(SqlStore):
    """The database of replies (see `llm.store`)."""

    lease = LEASE
    is_remote = True

    def __init__(self, psycopg: _Module, psycopg_pool: _Module, name: str, address: str) -> None:
        """Describe a database. `open` opens it.

        Args:
            psycopg: The module of that name.
            psycopg_pool: The module of that name.
            name: The name of the store.
            address: All parameters of a connection.
        """
        super().__init__()
        self.name = name
        self._psycopg = psycopg
        self._pool_errors = (psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed)
        self._address = address
        self._closed = False
        self._pool: Any = psycopg_pool.ConnectionPool(
            self._address,
            kwargs={"autocommit": True},
            min_size=0,
            max_size=CONNECTIONS,
            timeout=_WAIT,
            max_idle=_IDLE,
            reconnect_timeout=0,  # whoever needs a connection asks again
            configure=_configure,
            open=False,
        )

    @classmethod
    def open(cls, address: str) -> "PostgresStore":
        """Open a database, and make its tables where there are none.

        Raises:
            InputError: It can't be used.
            AwayError: It takes no connection now: others have all that it grants.
        """
        try:
            import psycopg.conninfo
            import psycopg_pool
        except ImportError:
            raise InputError(
                f"a judge cache in PostgreSQL: psycopg is not installed; {installing('postgres')}"
            ) from None
        # Their warnings are ours to give.
        logging.getLogger("psycopg").setLevel(logging.ERROR)
        parts = _parse_address(address)
        parameters = psycopg.conninfo.make_conninfo(**{**_DEFAULTS, **parts})
        store = cls(psycopg, psycopg_pool, _name_of(parts), parameters)
        store._check_tables()
        store._pool.open()
        return store

    def _check_tables(self) -> None:
        """Make the tables where there are none. InputError where they are newer than ours."""
        try:
            with self._psycopg.connect(self._address, autocommit=True) as connection:
                if not _has_tables(connection):
                    _make_tables(connection)
                row = connection.execute("SELECT version FROM reelbench.version").fetchone()
        except self._psycopg.Error as error:
            line = f"judge cache {self.name}: {first_line(error)}"
            if _PASSING.search(str(error)):
                raise AwayError(line) from None
            raise InputError(line) from None
        if row is not None and row[0] > SCHEMA:
            raise InputError(
                f"judge cache {self.name}: written by a newer Reelbench (schema {row[0]}); "
                "update yours"
            )

    def size(self) -> int:
        """Return the bytes of the table of replies."""
        return self._query("size")[0][0]

    def close(self, *, away: bool = False) -> None:
        """Give up all claims of this process, unless the server is away, and close."""
        if self._closed:
            return
        if not away:
            whose = {"owner": self._owner}
            with suppress(ReelbenchError):  # then they lapse
                self._write([Step("release_all", whose), Step("give_batches_up", whose)])
        self._closed = True
        self._pool.close()

    def renew(self) -> None:
        """Renew all claims of this process, and note that the server is there."""
        self._write([Step("pulse"), Step("renew_claims", {"owner": self._owner})])

    def _packed(self, text: str | None) -> bytes | None:
        if text is None:
            return None
        return text.encode("utf-8", "surrogatepass")

    def _unpacked(self, value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, bytes):
            return value.decode("utf-8", "surrogatepass")
        return value

    # --- statements

    def _read(self, steps: Sequence[Step]) -> list[Ran]:
        return self._run(steps)

    def _write(self, steps: Sequence[Step]) -> list[Ran]:
        return self._run(steps)

    def _run(self, steps: Sequence[Step]) -> list[Ran]:
        """Run statements, several in one transaction and one round trip."""
        if self._closed:
            raise ReelbenchError(f"judge cache {self.name}: it is closed")
        errors = self._psycopg.errors
        connection = None
        try:
            with self._pool.connection() as connection:
                return _results(connection, steps)
        except self._pool_errors:
            raise AwayError(f"judge cache {self.name}: {self._why_no_connection()}") from None
        except (errors.DeadlockDetected, errors.SerializationFailure):
            return self._run(steps)
        except errors.DiskFull:
            raise ReelbenchError(
                f"judge cache {self.name}: the server's disk is full; replies are kept"
            ) from None
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
            if connection is not None and connection.broken:
                # Its other connections have broken too: they would each cost a try.
                threading.Thread(target=self._pool.check, daemon=True).start()
            raise AwayError(f"judge cache {self.name}: {first_line(error)}") from None
        except self._psycopg.Error as error:
            raise ReelbenchError(f"judge cache {self.name}: {first_line(error)}") from None

    def _why_no_connection(self) -> str:
        """Return the reason for which the pool got no connection, which it doesn't say."""
        try:
            self._psycopg.connect(self._address, connect_timeout=2).close()
        except self._psycopg.Error as error:
            return first_line(error)
        return "no connection"


def _results(connection: _Connection, steps: Sequence[Step]) -> list[Ran]:
    """Run statements on a connection."""
    with ExitStack() as stack:
        if len(steps) > 1:
            stack.enter_context(connection.transaction())
            stack.enter_context(connection.pipeline())
        cursors: list[Any] = []
        for step in steps:
            values = {**_TIMES, **step.values}
            cursors.append(connection.execute(_STATEMENTS[step.statement], values))
    results: list[Ran] = []
    for cursor in cursors:
        rows: list[Any] = []
        if cursor.description:
            rows = cursor.fetchall()
        results.append(Ran(rows, cursor.rowcount))
    return results


def _configure(connection: _Connection) -> None:
    # The claims rely on it.
    connection.execute("SET default_transaction_isolation TO 'read committed'")


def _has_tables(connection: _Connection) -> bool:
    # By a query: `to_regclass` may not see what another process has made while we waited for the
    # lock.
    command = "SELECT 1 FROM pg_tables WHERE schemaname = 'reelbench' AND tablename = 'version'"
    return connection.execute(command).fetchone() is not None


def _make_tables(connection: _Connection) -> None:
    """Make the tables, unless another process makes them first."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if not _has_tables(connection):
            connection.execute(tables("postgres").encode())


def _name_of(parts: dict[str, Any]) -> str:
    """Return the address of a database without its password."""
    host = parts.get("host") or parts.get("hostaddr") or ""
    port = parts.get("port")
    if host and port:
        host = f"{host}:{port}"
    database = parts.get("dbname") or ""
    return f"postgresql://{host}/{database}"


def _parse_address(address: str) -> dict[str, Any]:
    """Return an address's parts.

    Raises:
        InputError: It is no address, or a part of its password would be shown as another part.
    """
    import psycopg.conninfo

    try:
        parts = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        parts = None
    if parts is None or _shows_password(parts):
        raise InputError(
            "a judge cache in PostgreSQL: its address can't be read; "
            "write postgresql://USER:PASSWORD@HOST:5432/DATABASE"
            " with %40 for an @, %2F for a / and %3A for a : in the password"
        )
    return parts


def _shows_password(parts: dict[str, Any]) -> bool:
    """Return True where a part of the password seems to be in another part."""
    if "@" in f"{parts.get('host')} {parts.get('dbname')}":
        return True
    return not _PORTS.fullmatch(str(parts.get("port") or ""))
