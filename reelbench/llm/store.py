"""What keeps replies: one SQL store. Its dialects are a file (`llm.sqlite_store`), a server (`llm.postgres_store`).

A store knows rows, leases and transactions; what they mean, and what the user is told, is
`llm.cache`'s.
"""

# ruff: noqa: S608 - commands are made of our own names; what comes from outside is a value
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.progress import Show, no_show
from reelbench.llm.reply import KINDS, LONGEST_NAME, REPLY_FIELDS, Reply, values_of

AT_ONCE = 1000
"""Rows read, or keys asked for, in one query."""

_OTHER_ADDRESS = re.compile(
    r"\s*(?:[a-z][\w+.-]+:/|(?:\w+\s*=\s*\S*\s+)*(?:host|dbname|password)\s*=)", re.IGNORECASE
)

Claimed = Literal["mine", "stored", "theirs", "batched"]
"""Whose it is to ask for a reply: ours, nobody's (it is here), another process's, or a batch's that is under way."""

Step = tuple[Any, ...]
"""A command, and its values: `?` stands for a value and `@` before the name of a table."""

_ASKED = "WITH asked(key) AS (VALUES @keys)"


class Ran(NamedTuple):
    """The rows that a command gave, and how many it changed."""

    rows: Sequence[tuple[Any, ...]]
    changed: int


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply as a store has it.

    Attributes:
        key: What it is kept under.
        model: Model asked.
        at: When it came, in seconds since 1970.
        reply: The reply.
        checksum: Of it when it came; None where none was made.
        edited: Whether an earlier version may have written over a part of its text.
        giver: Who gave it, as its asker says (JSON); None where nothing was said, as of a judge's.
    """

    key: bytes
    model: str
    at: float
    reply: Reply
    checksum: bytes | None
    edited: bool = False
    giver: str | None = None

    @property
    def is_damaged(self) -> bool:
        """Whether the reply is not what it was when it came."""
        changed = self.checksum is not None and self.checksum != self.reply.checksum(self.key)
        as_kinds = (
            all(map(isinstance, values_of(self.reply), KINDS))
            and len(self.reply.returned or "") <= LONGEST_NAME
        )
        return changed or not as_kinds


class StoredBatch(NamedTuple):
    """A batch that is under way: our token, which goes with it to the server, and the server's id once it came back.

    `at` is when it was put down, in seconds since 1970; it is `held` while another process hands it
    over.
    """

    token: str
    id: str | None
    at: float
    held: bool


class Limit(NamedTuple):
    """What may be spent at most, in calls and in dollars; None is no limit."""

    calls: int | None
    usd: float | None


class ModelReplies(NamedTuple):
    """How many replies there are of a model, and when the first and the last came, in seconds since 1970."""

    model: str
    replies: int
    first: float
    last: float


class AwayError(ReelbenchError):
    """A server that keeps replies can't be reached now; in a moment it may be again."""


class SqlStore(ABC):
    """Keeps replies, and says whose turn it is to ask for one. Safe to use from several threads and processes.

    A claim is a lease of whoever opened the store: it lapses by itself when that process dies.
    Every method raises ReelbenchError where the store can't be used, and AwayError where it may be
    again in a moment.

    Attributes:
        name: What the user is told that it is called.
        lease: Seconds that a claim lasts unless it is renewed.
        is_remote: Whether each request goes to a server, and so takes its time.
    """

    name: str
    lease: float
    is_remote: bool

    # What a dialect says in words of its own:
    _until: str
    """When a lease that begins now ends."""
    _lapsed: str
    """Whether a `claim` is nobody's any more."""
    _edited: str
    """Whether an earlier version may have edited a reply."""
    _held: str
    """Whether another process is handing a batch over."""
    _batch: str
    """The columns of a batch, and a query for them whose values are token, model and host."""
    _giver = "(SELECT giver FROM @givers AS given WHERE given.key = reply.key)"
    _renewed: str | None = None
    """What goes with each renewal of claims."""

    def __init__(self) -> None:
        self._owner = secrets.token_hex(8)

    @abstractmethod
    def _run(self, *steps: Step) -> list[Ran]:
        """Run commands with their values, all or none of them -> what came of each."""

    @abstractmethod
    def size(self) -> int:
        """Return the bytes that it takes."""

    @abstractmethod
    def close(self, *, away: bool = False) -> None:
        """Give up all claims of this process, and close; nothing that was kept depends on it. May be called twice.

        Claims at a server that is `away` lapse by themselves.
        """

    def _packed(self, text: str | None) -> object:
        """Return text of others' as a column holds it; `_unpacked` reads it."""
        return text

    def _unpacked(self, value: Any) -> Any:  # noqa: ANN401 - whatever a damaged file holds
        return value

    # --- replies
    # -----------------------------------------------------------------------------------------------------

    @property
    def _select(self) -> str:
        shape = (
            f"key, model, at, checksum, {self._edited}, {self._giver}, {', '.join(REPLY_FIELDS)}"
        )
        return f"SELECT {shape} FROM @replies AS reply"

    def _reply_of_row(self, row: Sequence[Any]) -> StoredReply:
        key, model, at, kept, edited, giver, *fields = row
        return StoredReply(
            key,
            self._unpacked(model),
            at,
            Reply(*map(self._unpacked, fields)),
            kept,
            bool(edited),
            giver,
        )

    def get(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return the replies kept under `keys`, by key."""
        ran = self._run(*_of_keys(f"{self._select} WHERE key IN (@keys)", keys))
        return {row[0]: self._reply_of_row(row) for part in ran for row in part.rows}

    def stored_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` under which there is a reply."""
        there = f"SELECT key FROM @replies WHERE {self._edited} IS NULL AND key IN (@keys)"
        ran = self._run(*_of_keys(there, keys))
        return {key for part in ran for (key,) in part.rows}

    def replies(self, after: bytes = b"") -> Iterator[StoredReply]:
        """Yield the replies whose keys come after one, in the order of the keys."""
        while True:
            rows = self._run((f"{self._select} WHERE key > ? ORDER BY key LIMIT {AT_ONCE}", after))[
                0
            ].rows
            yield from map(self._reply_of_row, rows)
            if (
                not rows or rows[-1][0] <= after
            ):  # the keys of a damaged file may go round in a circle
                return
            after = rows[-1][0]

    def drop(self, reply: StoredReply) -> None:
        """Remove a reply as it was read; one that has come in its place since stays."""
        same = "checksum IS NULL" if reply.checksum is None else "checksum = ?"
        values = [value for value in (reply.key, reply.at, reply.checksum) if value is not None]
        self._run((f"DELETE FROM @replies WHERE key = ? AND at = ? AND {same}", *values))

    def put(self, replies: Sequence[StoredReply]) -> int:
        """Keep replies unless there are some that are as they arrived, and give up the claims -> how many were new."""
        keys = [reply.key for reply in replies]
        steps = self._insert_steps(replies)
        steps += _of_keys("DELETE FROM @claims WHERE key IN (@keys)", keys)
        ran = zip(steps, self._run(*steps), strict=True)
        return sum(done.changed for step, done in ran if step[0].startswith("INSERT INTO @replies"))

    def _insert_steps(self, replies: Sequence[StoredReply]) -> list[Step]:
        columns = ("key", "model", "at", "checksum", *REPLY_FIELDS)
        marks = ", ".join("?" * len(columns))
        keep = f"INSERT INTO @replies ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT (key) DO NOTHING"
        # Where an earlier reply stays, so does what is said of who gave it.
        give = (
            "INSERT INTO @givers SELECT ?, ? WHERE EXISTS (SELECT 1 FROM @replies WHERE key = ? AND at = ?)"
            " ON CONFLICT (key) DO UPDATE SET giver = excluded.giver"
        )
        steps: list[Step] = []
        for kept in sorted(replies, key=lambda reply: reply.key):  # as `_claim_steps` does
            fields = (
                self._packed(value) if isinstance(value, str) else value
                for value in values_of(kept.reply)
            )
            steps.append(
                (keep, kept.key, self._packed(kept.model), kept.at, kept.checksum, *fields)
            )
            if kept.giver is not None:
                steps.append((give, kept.key, kept.giver, kept.key, kept.at))
        return steps

    def _where_clause(self, before: float | None, model: str | None) -> tuple[str, list[object]]:
        """Return the condition for replies of before a moment and of a model, and its values; None for any."""
        conditions: dict[str, object] = {} if before is None else {"at < ?": before}
        conditions |= {} if model is None else {"model = ?": self._packed(model)}
        return " AND ".join(conditions) or "1 = 1", list(conditions.values())

    def models(self, before: float | None = None, model: str | None = None) -> list[ModelReplies]:
        """Count the replies that came before a moment, of one model or of each, by the models' names."""
        where, values = self._where_clause(before, model)
        command = f"SELECT model, count(*), min(at), max(at) FROM @replies WHERE {where} GROUP BY model ORDER BY model"
        counted = [
            (self._unpacked(name), *counts)
            for name, *counts in self._run((command, *values))[0].rows
        ]
        return [
            ModelReplies(name if isinstance(name, str) else repr(name), *counts)
            for name, *counts in counted
        ]

    def remove(self, before: float | None = None, model: str | None = None) -> int:
        """Remove the replies that `models` counts -> how many there were."""
        where, values = self._where_clause(before, model)
        givers = f"DELETE FROM @givers WHERE key IN (SELECT key FROM @replies WHERE {where})"
        return self._run((givers, *values), (f"DELETE FROM @replies WHERE {where}", *values))[
            -1
        ].changed

    # --- whose turn it is
    # --------------------------------------------------------------------------------------------

    def claim(self, keys: Sequence[bytes]) -> dict[bytes, Claimed]:
        """Claim the right to ask for each key, unless its reply is here by now or it is being asked for elsewhere."""
        state = (
            f"{_ASKED} SELECT key, 'stored' FROM asked JOIN @replies USING (key) WHERE {self._edited} IS NULL"
            " UNION ALL SELECT key, 'batched' FROM asked JOIN @batched USING (key)"
            " UNION ALL SELECT key, 'mine' FROM asked JOIN @claims USING (key) WHERE owner = ?"
        )
        states = _of_keys(state, keys, self._owner)
        rows = [
            row
            for done in self._run(*self._claim_steps(keys, self._owner), *states)
            for row in done.rows
        ]
        claims: dict[bytes, Claimed] = dict.fromkeys(keys, "theirs")
        claims.update(
            sorted(rows, key=lambda row: row[1])
        )  # "stored" last: where a reply is here, nothing else counts
        return claims

    def _claim_steps(self, keys: Sequence[bytes], owner: str) -> list[Step]:
        """Return the steps that claim keys for an owner that nobody else has, and give up those kept or in a batch.

        Claims are written before the others are looked for: who had them has kept the replies by
        then.
        """
        theirs = f"SELECT 1 FROM @claims AS claim WHERE claim.key = asked.key AND owner <> ? AND NOT {self._lapsed}"
        claim = (
            f"{_ASKED} INSERT INTO @claims AS claim SELECT key, ?, {self._until} FROM asked WHERE NOT EXISTS ({theirs})"
            " ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, until = excluded.until"
            f" WHERE claim.owner = excluded.owner OR {self._lapsed}"
        )
        release = (
            f"{_ASKED} DELETE FROM @claims WHERE owner = ? AND key IN ("
            f"SELECT key FROM asked JOIN @replies USING (key) WHERE {self._edited} IS NULL"
            " UNION ALL SELECT key FROM asked JOIN @batched USING (key))"
        )
        keys = sorted(keys)  # in one order for all processes, or two could wait for each other
        return [*_of_keys(claim, keys, owner, owner), *_of_keys(release, keys, owner)]

    def claimed_elsewhere(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` that another process is asking for now."""
        theirs = f"SELECT key FROM @claims AS claim WHERE key IN (@keys) AND owner <> ? AND NOT {self._lapsed}"
        ran = self._run(*_of_keys(theirs, keys, self._owner))
        return {key for done in ran for (key,) in done.rows}

    def renew(self) -> None:
        """Make all claims of this process last a full lease again."""
        claims = (f"UPDATE @claims SET until = {self._until} WHERE owner = ?", self._owner)
        self._run(claims) if self._renewed is None else self._run((self._renewed,), claims)

    def release(self, key: bytes) -> None:
        """Give up a claim: its reply could not be had."""
        self._run(("DELETE FROM @claims WHERE key = ? AND owner = ?", key, self._owner))

    # --- batches
    # -----------------------------------------------------------------------------------------------------

    def batches(self, model: str, host: str) -> list[StoredBatch]:
        """Return the batches of a model on a server, the oldest first."""
        command = f"SELECT token, id, at, {self._held} FROM @batches WHERE model = ? AND host = ? ORDER BY at"
        rows = self._run((command, self._packed(model), self._packed(host)))[0].rows
        return [
            StoredBatch(token, self._unpacked(name), at, bool(held))
            for token, name, at, held in rows
        ]

    def batched_keys(self, model: str, host: str) -> set[bytes]:
        """Return the keys whose requests are in a batch of a model on a server."""
        command = (
            "SELECT key FROM @batched JOIN @batches USING (token) WHERE model = ? AND host = ?"
        )
        return {
            key for (key,) in self._run((command, self._packed(model), self._packed(host)))[0].rows
        }

    def begin_batch(self, token: str, model: str, host: str, keys: Sequence[bytes]) -> list[bytes]:
        """Put a batch down before it is sent -> the keys that are its own: not kept, claimed or in another one."""
        whose = token, self._packed(model), self._packed(host)
        rows = self._run(
            *self._claim_steps(keys, token),  # whoever claims one of them meanwhile waits for us
            (
                f"INSERT INTO @batches {self._batch} WHERE EXISTS (SELECT 1 FROM @claims WHERE owner = ?)",
                *whose,
                token,
            ),
            ("INSERT INTO @batched SELECT key, owner FROM @claims WHERE owner = ?", token),
            ("DELETE FROM @claims WHERE owner = ?", token),
            ("SELECT key FROM @batched WHERE token = ?", token),
        )[-1].rows
        mine = {key for (key,) in rows}
        return [key for key in keys if key in mine]

    def name_batch(self, token: str, name: str) -> None:
        """Keep a batch's id at the server."""
        self._run(("UPDATE @batches SET id = ? WHERE token = ?", self._packed(name), token))

    def put_batched(self, replies: Sequence[StoredReply]) -> int:
        """Keep those replies whose requests are in a batch -> how many that were."""
        keys = [reply.key for reply in replies]
        ran = self._run(*_of_keys("SELECT key FROM @batched WHERE key IN (@keys)", keys))
        wanted = {key for done in ran for (key,) in done.rows}
        ended = _of_keys("DELETE FROM @batched WHERE key IN (@keys)", keys)
        ran = self._run(
            *self._insert_steps([reply for reply in replies if reply.key in wanted]), *ended
        )
        return sum(done.changed for done in ran[len(ran) - len(ended) :])

    def end_batch(self, token: str) -> int:
        """Take a batch off -> how many of its requests had no reply."""
        steps = (f"DELETE FROM @{table} WHERE token = ?" for table in ("batches", "batched"))
        return self._run(*((step, token) for step in steps))[-1].changed

    def under_way(self) -> int:
        """Count the batches under way."""
        return self._run(("SELECT count(*) FROM @batches",))[0].rows[0][0]

    # --- budgets, and the end of models
    # ------------------------------------------------------------------------------

    def reserve(self, job: str, limit: Limit, estimate: float) -> float | None:
        """Set aside one call of about `estimate` dollars of a job's -> these dollars; None where there is no room."""
        dollars, room, values = "CASE WHEN dearest > ? THEN dearest ELSE ? END", "", list[object]()
        if limit.calls is not None:
            room, values = " AND calls < ?", [limit.calls]
        if limit.usd is not None:
            room, values = (
                f"{room} AND spent + reserved + {dollars} <= ?",
                [*values, estimate, estimate, limit.usd],
            )
        book = f"UPDATE @budgets SET calls = calls + 1, reserved = reserved + {dollars} WHERE job = ?{room}"
        whose = self._packed(job)
        rows = self._run(
            ("INSERT INTO @budgets VALUES (?, 0, 0, 0, 0) ON CONFLICT (job) DO NOTHING", whose),
            (f"{book} RETURNING {dollars}", estimate, estimate, whose, *values, estimate, estimate),
        )[-1].rows
        return rows[0][0] if rows else None

    def settle(self, job: str, reserved: float, cost: float, *, kept: bool) -> None:
        """Book what a job's call cost, in dollars; one that brought nothing (not `kept`) is given back."""
        command = (
            "UPDATE @budgets SET reserved = reserved - ?, calls = calls - ?, spent = spent + ?,"
            " dearest = CASE WHEN dearest > ? THEN dearest ELSE ? END WHERE job = ?"
        )
        self._run((command, reserved, int(not kept), cost, cost, cost, self._packed(job)))

    def last_day(self, model: str, host: str) -> str | None:
        """Return the day (YYYY-MM-DD) on which a server said that it ends a model; None where it said none."""
        command = "SELECT day FROM @shutdowns WHERE model = ? AND host = ?"
        rows = self._run((command, self._packed(model), self._packed(host)))[0].rows
        return rows[0][0] if rows else None

    def put_last_day(self, model: str, host: str, day: str | None) -> None:
        """Keep what a server says of a model's end now."""
        whose = self._packed(model), self._packed(host)
        steps: list[Step] = [("DELETE FROM @shutdowns WHERE model = ? AND host = ?", *whose)]
        if day is not None:
            upsert = "INSERT INTO @shutdowns VALUES (?, ?, ?) ON CONFLICT (model, host) DO UPDATE SET day = ?"
            steps.append((upsert, *whose, day, day))
        self._run(*steps)

    def valid_from(self, place: str) -> float:
        """Return the moment from which on replies count that were asked for at a place; 0 where there is none."""
        rows = self._run(("SELECT at FROM @marks WHERE place = ?", place))[0].rows
        return rows[0][0] if rows else 0.0

    def set_valid_from(self, place: str, at: float) -> None:
        """Keep such a moment: what was asked for before stays, and counts no more."""
        self._run(
            (
                "INSERT INTO @marks VALUES (?, ?) ON CONFLICT (place) DO UPDATE SET at = excluded.at",
                place,
                at,
            )
        )


def is_address(place: Path | str) -> bool:
    """Whether a place of replies is a database's address, and no file; InputError for another kind of address."""
    if str(place).startswith(("postgresql://", "postgres://")):
        return True
    if _OTHER_ADDRESS.match(str(place)):  # as a file's name its password would be shown
        raise InputError(
            "a judge cache: its address can't be read; give a file, or postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        )
    return False


@dataclass(slots=True)
class Copied:
    """What came of replies: how many were copied, were there already, or are damaged and were left out."""

    copied: int = 0
    there: int = 0
    damaged: int = 0


def copy(source: SqlStore, target: SqlStore, show: Show = no_show) -> Copied:
    """Copy all replies as they are; what is there already isn't sent again, so a copy that was stopped goes on.

    A reply that an earlier version may have edited counts as damaged: where it is needed it is
    asked again.
    """
    copied = Copied()
    replies = source.replies()
    while chunk := list(islice(replies, AT_ONCE // 2)):
        whole = [reply for reply in chunk if not reply.edited and not reply.is_damaged]
        there = target.stored_keys([reply.key for reply in whole])
        copied.damaged += len(chunk) - len(whole)
        copied.there += len(there)
        copied.copied += target.put([reply for reply in whole if reply.key not in there])
        show(copied.copied + copied.there + copied.damaged, "")
    return copied


def tables(dialect: str) -> str:
    """Return the commands that make the tables in a dialect."""
    return resources.files("reelbench.llm").joinpath(f"{dialect}.sql").read_text(encoding="utf-8")


def _of_keys(command: str, keys: Sequence[bytes], *values: object) -> list[Step]:
    """Return the steps of a command, with its values, on keys: as many at once as may stand in its `@keys`."""
    steps: list[Step] = []
    for begin in range(0, len(keys), AT_ONCE):
        part = keys[begin : begin + AT_ONCE]
        steps.append((command.replace("@keys", ", ".join(["(?)"] * len(part))), *part, *values))
    return steps
