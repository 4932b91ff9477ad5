"""What keeps replies: a file (`llm.sqlite_store`) or a server (`llm.postgres_store`), by one protocol.

A store knows rows, leases and transactions; what they mean, and what the user is told, is `llm.cache`'s.
"""

# ruff: noqa: S608 - commands are made of our own names; what comes from outside is a value
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reelbench.llm.reply import Reply
from reelbench.registry.errors import ReelbenchError

AT_ONCE = 1000
"""Rows read, or keys asked for, in one query."""

Claimed = Literal["mine", "stored", "theirs", "batched"]
"""Whose it is to ask for a reply: ours, nobody's (it is here), another process's, or a batch's that is under way."""


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
        return changed or not self.reply.is_of_its_kinds


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch that is under way.

    Attributes:
        token: Ours, which goes with it to the server.
        id: The server's; None until it came back.
        at: When it was put down, in seconds since 1970.
        held: Whether another process is handing it over now.
    """

    token: str
    id: str | None
    at: float
    held: bool


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be spent at most, in calls and in dollars; None is no limit."""

    calls: int | None
    usd: float | None


@dataclass(frozen=True, slots=True)
class ModelReplies:
    """How many replies there are of a model, and when the first and the last came, in seconds since 1970."""

    model: str
    replies: int
    first: float
    last: float


class AwayError(ReelbenchError):
    """A server that keeps replies can't be reached now; in a moment it may be again."""


class ReplyStore(ABC):
    """Keeps replies, and says whose turn it is to ask for one. Safe to use from several threads and processes.

    A claim is a lease of whoever opened the store: it lapses by itself when that process dies. Every method raises
    ReelbenchError where the store can't be used, and AwayError where it may be again in a moment.

    What a file and a server do by the same commands is here; they are written with `?` for a value and `@` before the
    name of a table.

    Attributes:
        lease: Seconds that a claim lasts unless it is renewed.
        is_remote: Whether each request goes to a server, and so takes its time.
    """

    lease: float
    is_remote: bool
    _is = "="
    """How a field is told to hold a value that may be nothing."""
    _meant = "(? IS NULL OR at < ?) AND (? IS NULL OR model = ?)"

    def __init__(self) -> None:
        self._owner = secrets.token_hex(8)

    @property
    @abstractmethod
    def name(self) -> str:
        """What the user is told that it is called."""

    # --- replies -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def get(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return what is kept under those of `keys` that have a reply."""

    def drop(self, reply: StoredReply) -> None:
        """Remove a reply as it was read; one that has come in its place since stays."""
        command = f"DELETE FROM @replies WHERE key = ? AND at {self._is} ? AND checksum {self._is} ?"
        self._run((command, reply.key, reply.at, reply.checksum))

    @abstractmethod
    def put(self, replies: Sequence[StoredReply]) -> int:
        """Keep replies unless there are some that are as they arrived, and give up the claims -> how many were new."""

    def replies(self, after: bytes = b"") -> Iterator[StoredReply]:
        """Yield the replies whose keys come after one, in the order of the keys."""
        while True:
            rows = self._run((f"{self._select} WHERE key > ? ORDER BY key LIMIT {AT_ONCE}", after)).rows
            yield from map(self._reply, rows)
            if not rows or rows[-1][0] <= after:  # the keys of a damaged file may go round in a circle
                return
            after = rows[-1][0]

    @abstractmethod
    def kept(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` under which there is a reply."""

    def models(self, before: float | None = None, model: str | None = None) -> list[ModelReplies]:
        """Count the replies that came before a moment, of one model or of each, by the models' names."""
        command = f"SELECT model, count(*), min(at), max(at) FROM @replies WHERE {self._meant} GROUP BY model"
        whose = self._bytes(model)
        rows = self._run((f"{command} ORDER BY model", before, before, whose, whose)).rows
        return [ModelReplies(self._text(name), *counts) for name, *counts in rows]

    def remove(self, before: float | None = None, model: str | None = None) -> int:
        """Remove the replies that `models` counts -> how many there were."""
        whose = self._bytes(model)
        meant = before, before, whose, whose
        return self._run(
            (f"DELETE FROM @givers WHERE key IN (SELECT key FROM @replies WHERE {self._meant})", *meant),
            (f"DELETE FROM @replies WHERE {self._meant}", *meant),
        ).count

    @abstractmethod
    def size(self) -> int:
        """Return the bytes that it takes."""

    @abstractmethod
    def close(self) -> None:
        """Give up all claims of this process, and close; may be called twice."""

    # --- whose turn it is --------------------------------------------------------------------------------------------

    @abstractmethod
    def claim(self, keys: Sequence[bytes]) -> dict[bytes, Claimed]:
        """Claim the right to ask for each key, unless its reply is here by now or it is being asked for elsewhere."""

    @abstractmethod
    def taken(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` that another process is asking for now."""

    @abstractmethod
    def renew(self) -> None:
        """Make all claims of this process last a full lease again."""

    def release(self, key: bytes) -> None:
        """Give up a claim: its reply could not be had."""
        self._run(("DELETE FROM @claims WHERE key = ? AND owner = ?", key, self._owner))

    # --- batches -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def batches(self, model: str, host: str) -> list[StoredBatch]:
        """Return the batches of a model on a server, the oldest first."""

    def batched(self, model: str, host: str) -> set[bytes]:
        """Return the keys whose requests are in a batch of a model on a server."""
        command = "SELECT key FROM @batched JOIN @batches USING (token) WHERE model = ? AND host = ?"
        return {key for (key,) in self._run((command, self._bytes(model), self._bytes(host))).rows}

    @abstractmethod
    def begin_batch(self, token: str, model: str, host: str, keys: Sequence[bytes]) -> list[bytes]:
        """Put a batch down before it is sent -> the keys that are its own: not kept, claimed or in another one."""

    def name_batch(self, token: str, name: str) -> None:
        """Keep a batch's id at the server."""
        self._run(("UPDATE @batches SET id = ? WHERE token = ?", self._bytes(name), token))

    def end_batch(self, token: str) -> int:
        """Take a batch off -> how many of its requests had no reply."""
        return self._run(
            ("DELETE FROM @batches WHERE token = ?", token), ("DELETE FROM @batched WHERE token = ?", token)
        ).count

    @abstractmethod
    def put_batched(self, replies: Sequence[StoredReply]) -> int:
        """Keep those replies whose requests are in a batch -> how many that were."""

    def under_way(self) -> int:
        """Return how many batches are under way."""
        return self._run(("SELECT count(*) FROM @batches",)).rows[0][0]

    # --- budgets, and the end of models ------------------------------------------------------------------------------

    @abstractmethod
    def reserve(self, job: str, limit: Limit, estimate: float) -> float | None:
        """Set aside one call of about `estimate` dollars of a job's -> these dollars; None where there is no room."""

    def settle(self, job: str, reserved: float, cost: float, *, kept: bool) -> None:
        """Book what a job's call cost, in dollars; one that brought nothing (not `kept`) is given back."""
        command = (
            "UPDATE @budgets SET reserved = reserved - ?, calls = calls - ?, spent = spent + ?,"
            " dearest = CASE WHEN dearest > ? THEN dearest ELSE ? END WHERE job = ?"
        )
        self._run((command, reserved, int(not kept), cost, cost, cost, self._bytes(job)))

    def last_day(self, model: str, host: str) -> str | None:
        """Return the day (YYYY-MM-DD) on which a server said that it ends a model; None where it said none."""
        command = "SELECT day FROM @shutdowns WHERE model = ? AND host = ?"
        rows = self._run((command, self._bytes(model), self._bytes(host))).rows
        return rows[0][0] if rows else None

    def put_last_day(self, model: str, host: str, day: str | None) -> None:
        """Keep what a server says of a model's end now."""
        whose = self._bytes(model), self._bytes(host)
        steps: list[Step] = [("DELETE FROM @shutdowns WHERE model = ? AND host = ?", *whose)]
        if day is not None:
            command = (
                "INSERT INTO @shutdowns VALUES (?, ?, ?) ON CONFLICT (model, host) DO UPDATE SET day = excluded.day"
            )
            steps.append((command, *whose, day))
        self._run(*steps)

    def mark(self, place: str) -> float:
        """Return the moment from which on replies count that were asked for at a place; 0 where there is none."""
        rows = self._run(("SELECT at FROM @marks WHERE place = ?", place)).rows
        return rows[0][0] if rows else 0.0

    def put_mark(self, place: str, at: float) -> None:
        """Keep such a moment: what was asked for before stays, and counts no more."""
        command = "INSERT INTO @marks VALUES (?, ?) ON CONFLICT (place) DO UPDATE SET at = excluded.at"
        self._run((command, place, at))

    # --- how each does it --------------------------------------------------------------------------------------------

    _select: str
    """What reads whole replies, for `_reply`."""

    @abstractmethod
    def _run(self, *steps: "Step") -> "Ran":
        """Run commands with their values, all or none of them -> what came of the last."""

    @staticmethod
    @abstractmethod
    def _reply(row: tuple[Any, ...]) -> StoredReply: ...

    @staticmethod
    @abstractmethod
    def _bytes(text: str | None) -> object:
        """Return text as a column of it holds it."""

    @staticmethod
    @abstractmethod
    def _text(data: Any) -> str:  # noqa: ANN401 - whatever a damaged file holds
        """Return a column's text."""


Step = tuple[Any, ...]
"""A command, and its values."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The rows that a command gave, and how many it changed."""

    rows: Sequence[tuple[Any, ...]]
    count: int
