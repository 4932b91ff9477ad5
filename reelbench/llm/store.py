"""The store of replies. It is a file (`llm.sqlite_store`) or a server (`llm.postgres_store`).

A store knows rows, leases and transactions. Their meaning, and messages to the user, belong to
`llm.cache`. Both kinds share the code here. Each has its SQL in two files, one with the tables and
one with named statements.
"""

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.progress import Show, no_show
from reelbench.base.values import batches
from reelbench.llm.reply import KINDS, LONGEST_NAME, REPLY_FIELDS, Reply, values_of

AT_ONCE = 1000
"""Rows read in one query."""

_OTHER_ADDRESS = re.compile(
    r"\s*(?:[a-z][\w+.-]+:/|(?:\w+\s*=\s*\S*\s+)*(?:host|dbname|password)\s*=)", re.IGNORECASE
)

Claimed = Literal["mine", "stored", "theirs", "batched"]
"""Who asks for a reply.

`mine`: this process. `stored`: nobody, the reply is here. `theirs`: another process. `batched`: a
batch that is under way.
"""

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of a store's SQL file, by its name, and its values."""

    statement: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])


class Ran(NamedTuple):
    """The rows that a statement gave, and how many it changed."""

    rows: Sequence[Row]
    changed: int


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply as a store has it.

    Attributes:
        key: The key that it is kept under.
        model: Model asked.
        at: When it came, in seconds since 1970.
        reply: The reply.
        checksum: Of it when it came. None where none was made.
        giver: Who gave it, as its asker says (JSON). None where nothing was said, as of a judge's.
    """

    key: bytes
    model: str
    at: float
    reply: Reply
    checksum: bytes | None
    giver: str | None = None

    @property
    def is_damaged(self) -> bool:
        """True where the reply is not what it was when it came."""
        if self.checksum is not None and self.checksum != self.reply.checksum(self.key):
            return True
        values = values_of(self.reply)
        if not all(map(isinstance, values, KINDS)):
            return True
        return len(self.reply.returned or "") > LONGEST_NAME


class StoredBatch(NamedTuple):
    """A batch that is under way.

    Attributes:
        token: Our name of it, which goes with it to the server.
        id: The server's name of it. None until it is known.
        at: When it was written down, in seconds since 1970.
        elsewhere: True while another process hands it over.
    """

    token: str
    id: str | None
    at: float
    elsewhere: bool


class Limit(NamedTuple):
    """The most that may be spent, in calls and in dollars. None is no limit."""

    calls: int | None
    usd: float | None


class ModelReplies(NamedTuple):
    """The number of a model's replies.

    Attributes:
        model: The model's name.
        replies: How many there are.
        first: When the first came, in seconds since 1970.
        last: When the last came.
    """

    model: str
    replies: int
    first: float
    last: float


class AwayError(ReelbenchError):
    """A server of replies can't be reached now. It may be back in a moment."""


class SqlStore(ABC):
    """Keeps replies, and says whose turn it is to ask for one.

    It is safe to use from several threads and processes. A claim is a lease of the process that
    opened the store: it lapses by itself when that process dies. Every method raises ReelbenchError
    where the store can't be used, and AwayError where it may be usable again in a moment.

    Attributes:
        name: Its name in messages to the user.
        lease: Seconds that a claim lasts unless it is renewed.
        is_remote: True where each request goes to a server, and so takes its time.
    """

    name: str
    lease: float
    is_remote: bool

    def __init__(self) -> None:
        self._owner = secrets.token_hex(8)

    @abstractmethod
    def _read(self, steps: Sequence[Step]) -> list[Ran]:
        """Run queries."""

    @abstractmethod
    def _write(self, steps: Sequence[Step]) -> list[Ran]:
        """Run statements in one transaction: all or none of them."""

    @abstractmethod
    def size(self) -> int:
        """Return the bytes of the store."""

    @abstractmethod
    def close(self, *, away: bool = False) -> None:
        """Give up all claims of this process, and close.

        Nothing that was kept depends on it. It may be called twice.

        Args:
            away: True for a server that can't be reached: its claims lapse by themselves.
        """

    def _packed(self, text: str | None) -> object:
        """Return a text of others as a column holds it. `_unpacked` reads it."""
        return text

    def _unpacked(self, value: Any) -> Any:  # noqa: ANN401 - whatever a damaged file holds
        return value

    def _is_handed_over(self, column: Any) -> bool:  # noqa: ANN401 - of either store
        """Return True where another process hands a batch over, from the batch's last column."""
        return bool(column)

    def _query(self, statement: str, **values: object) -> Sequence[Row]:
        """Return the rows of one query."""
        (result,) = self._read([Step(statement, values)])
        return result.rows

    def _query_keys(self, statement: str, keys: Iterable[bytes], **values: object) -> set[bytes]:
        """Return the keys that a query by key finds."""
        stored_keys: set[bytes] = set()
        for result in self._read(_by_key(statement, keys, **values)):
            stored_keys |= {key for (key,) in result.rows}
        return stored_keys

    # --- replies

    def _stored_reply(self, row: Row) -> StoredReply:
        key, model, at, checksum, giver, *fields = row
        unpacked_fields = map(self._unpacked, fields)
        return StoredReply(
            key=key,
            model=self._unpacked(model),
            at=at,
            reply=Reply(*unpacked_fields),
            checksum=checksum,
            giver=giver,
        )

    def get(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return the replies kept under `keys`, by key."""
        replies: dict[bytes, StoredReply] = {}
        for result in self._read(_by_key("get_reply", keys)):
            for row in result.rows:
                reply = self._stored_reply(row)
                replies[reply.key] = reply
        return replies

    def stored_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` under which there is a reply."""
        return self._query_keys("has_reply", keys)

    def replies(self, after: bytes = b"") -> Iterator[StoredReply]:
        """Yield the replies whose keys come after one, in the order of the keys."""
        while True:
            rows = self._query("next_replies", after=after, limit=AT_ONCE)
            yield from map(self._stored_reply, rows)
            if not rows:
                return
            last_key = rows[-1][0]
            # The keys of a damaged file may go round in a circle.
            if last_key <= after:
                return
            after = last_key

    def drop(self, reply: StoredReply) -> None:
        """Remove a reply as it was read. A later one in its place stays."""
        values = {"key": reply.key, "at": reply.at, "checksum": reply.checksum}
        self._write([Step("drop_reply", values)])

    def put(self, replies: Sequence[StoredReply]) -> int:
        """Keep replies, and give up the claims on them.

        A reply stays where there is one that is as it arrived.

        Returns:
            How many were new.
        """
        steps: list[Step] = []
        for reply in _sorted_by_key(replies):
            steps += self._insert_steps(reply)
            steps.append(Step("release_whoever_claimed", {"key": reply.key}))
        return _count_rows_changed_by("insert_reply", steps, self._write(steps))

    def _insert_steps(self, stored: StoredReply) -> list[Step]:
        """Return the steps that keep a reply, and its giver."""
        values: dict[str, object] = {
            "key": stored.key,
            "model": self._packed(stored.model),
            "at": stored.at,
            "checksum": stored.checksum,
        }
        for name, value in zip(REPLY_FIELDS, values_of(stored.reply), strict=True):
            values[name] = value
            if isinstance(value, str):
                values[name] = self._packed(value)
        steps = [Step("insert_reply", values)]
        if stored.giver is not None:
            giver = {"key": stored.key, "giver": stored.giver, "at": stored.at}
            steps.append(Step("insert_giver", giver))
        return steps

    def models(self, before: float | None = None, model: str | None = None) -> list[ModelReplies]:
        """Count the replies of each model, by the models' names.

        Args:
            before: Where given, only replies that came before this moment count.
            model: Where given, only replies of this model count.
        """
        counts: list[ModelReplies] = []
        rows = self._query("count_models", before=before, model=self._packed(model))
        for name, replies, first, last in rows:
            text = self._unpacked(name)
            if not isinstance(text, str):  # of a damaged file
                text = repr(text)
            counts.append(ModelReplies(text, replies, first, last))
        return counts

    def latest_reply(self, host: str) -> float | None:
        """Return when the latest reply of a server came, to any process.

        It is in seconds since 1970, or None. All replies are looked through.
        """
        ((latest,),) = self._query("latest_reply", host=self._packed(host))
        return latest

    def remove(self, before: float | None = None, model: str | None = None) -> int:
        """Remove the replies that `models` counts, and return how many there were."""
        values = {"before": before, "model": self._packed(model)}
        steps = [
            Step("remove_givers", values),
            Step("remove_replies", values),
        ]
        _, removed = self._write(steps)
        return removed.changed

    # --- whose turn it is

    def claim(self, keys: Sequence[bytes]) -> dict[bytes, Claimed]:
        """Claim the right to ask for each key.

        A claim fails where the reply is here by now, or is being asked for elsewhere.
        """
        steps = _claim_steps(keys, self._owner)
        steps += _by_key("claim_state", keys, owner=self._owner)
        results = self._write(steps)
        states = results[-len(keys) :]
        claims: dict[bytes, Claimed] = {}
        for key, state in zip(keys, states, strict=True):
            ((claimed,),) = state.rows
            claims[key] = claimed
        return claims

    def claimed_elsewhere(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` that another process is asking for now."""
        return self._query_keys("claimed_elsewhere", keys, owner=self._owner)

    def renew(self) -> None:
        """Make all claims of this process last a full lease again."""
        self._write([Step("renew_claims", {"owner": self._owner})])

    def release(self, key: bytes) -> None:
        """Give up a claim: its reply could not be had."""
        self._write([Step("release", {"key": key, "owner": self._owner})])

    # --- batches

    def batches(self, model: str, host: str) -> list[StoredBatch]:
        """Return the batches of a model on a server, the oldest first."""
        rows = self._query(
            "batches",
            model=self._packed(model),
            host=self._packed(host),
            owner=self._owner,
        )
        batches: list[StoredBatch] = []
        for token, name, at, handed_over in rows:
            elsewhere = self._is_handed_over(handed_over)
            batches.append(StoredBatch(token, self._unpacked(name), at, elsewhere))
        return batches

    def batched_keys(self, model: str, host: str) -> set[bytes]:
        """Return the keys whose requests are in a batch of a model on a server."""
        rows = self._query("batched_keys", model=self._packed(model), host=self._packed(host))
        return {key for (key,) in rows}

    def begin_batch(self, token: str, model: str, host: str, keys: Sequence[bytes]) -> list[bytes]:
        """Write a batch down before it is sent.

        Returns:
            The keys that are its own: without a reply, not claimed and in no other batch.
        """
        batch = {
            "token": token,
            "model": self._packed(model),
            "host": self._packed(host),
            "owner": self._owner,
        }
        # For the time of this transaction the token is the owner of the claims: whoever claims one
        # of the keys meanwhile waits for us.
        steps = _claim_steps(keys, token)
        steps.append(Step("insert_batch", batch))
        steps.append(Step("move_claims_into_batch", {"token": token}))
        steps.append(Step("release_all", {"owner": token}))
        steps.append(Step("keys_of_batch", {"token": token}))
        results = self._write(steps)
        batch_keys = {key for (key,) in results[-1].rows}
        return [key for key in keys if key in batch_keys]

    def name_batch(self, token: str, name: str) -> None:
        """Keep a batch's id at the server."""
        self._write([Step("name_batch", {"token": token, "id": self._packed(name)})])

    def put_batched(self, replies: Sequence[StoredReply]) -> int:
        """Keep those replies whose requests are in a batch, and return how many are."""
        batched_keys = self._query_keys("is_batched", [reply.key for reply in replies])
        steps: list[Step] = []
        for reply in _sorted_by_key(replies):
            if reply.key in batched_keys:
                steps += self._insert_steps(reply)
            steps.append(Step("end_request", {"key": reply.key}))
        return _count_rows_changed_by("end_request", steps, self._write(steps))

    def end_batch(self, token: str) -> int:
        """Remove a batch, and return how many of its requests had no reply."""
        values = {"token": token}
        return self._write([Step("end_batch", values), Step("end_requests_of_batch", values)])[
            -1
        ].changed

    def under_way(self) -> int:
        """Count the batches under way."""
        return self._query("count_batches")[0][0]

    # --- budgets, and the end of models

    def reserve(self, job: str, limit: Limit, estimate: float) -> float | None:
        """Set aside one call of a job, and return its dollars.

        Args:
            job: The job.
            limit: The most that the job may spend.
            estimate: The call's estimated dollars.

        Returns:
            The dollars that were set aside. None where there is no room.
        """
        whose = self._packed(job)
        reservation = {
            "job": whose,
            "estimate": estimate,
            "most_calls": limit.calls,
            "most_usd": limit.usd,
        }
        steps = [Step("open_budget", {"job": whose}), Step("reserve", reservation)]
        rows = self._write(steps)[-1].rows
        if not rows:
            return None
        return rows[0][0]

    def settle(self, job: str, reserved: float, cost: float, *, counts: bool) -> None:
        """Book the cost of a job's call.

        Args:
            job: The job.
            reserved: The dollars that were set aside for the call.
            cost: The dollars that it cost.
            counts: False for a call that brought nothing: it is given back.
        """
        values = {
            "job": self._packed(job),
            "reserved": reserved,
            "cost": cost,
            "calls_back": int(not counts),
        }
        self._write([Step("settle", values)])

    def last_day(self, model: str, host: str) -> str | None:
        """Return the day (YYYY-MM-DD) on which a server ends a model, if it said one."""
        rows = self._query("last_day", model=self._packed(model), host=self._packed(host))
        if not rows:
            return None
        return rows[0][0]

    def put_last_day(self, model: str, host: str, day: str | None) -> None:
        """Keep the day on which a server now says that it ends a model."""
        whose = {"model": self._packed(model), "host": self._packed(host)}
        steps = [Step("delete_last_day", whose)]
        if day is not None:
            steps.append(Step("insert_last_day", {**whose, "day": day}))
        self._write(steps)

    def valid_from(self, place: str) -> float:
        """Return the moment from which on replies to a place's requests count, or 0."""
        rows = self._query("valid_from", place=place)
        if not rows:
            return 0.0
        return rows[0][0]

    def set_valid_from(self, place: str, at: float) -> None:
        """Keep such a moment: earlier replies stay, and count no more."""
        self._write([Step("set_valid_from", {"place": place, "at": at})])


def is_address(place: Path | str) -> bool:
    """Return True where a place of replies is a database's address, and no file.

    Raises:
        InputError: It is another kind of address.
    """
    if str(place).startswith(("postgresql://", "postgres://")):
        return True
    if _OTHER_ADDRESS.match(str(place)):  # as a file's name its password would be shown
        raise InputError(
            "a judge cache: its address can't be read; give a file, "
            "or postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        )
    return False


@dataclass(slots=True)
class Copied:
    """The result of a copy.

    Attributes:
        copied: Replies that were copied.
        there: Replies that were there already.
        damaged: Replies that are damaged, and were left out.
    """

    copied: int = 0
    there: int = 0
    damaged: int = 0


def copy(source: SqlStore, target: SqlStore, show: Show = no_show) -> Copied:
    """Copy all replies as they are.

    A reply that is there already isn't sent again, so a copy that was stopped goes on.
    """
    result = Copied()
    for batch in batches(source.replies(), AT_ONCE // 2):
        whole_replies = [reply for reply in batch if not reply.is_damaged]
        stored_keys = target.stored_keys([reply.key for reply in whole_replies])
        new_replies = [reply for reply in whole_replies if reply.key not in stored_keys]
        result.damaged += len(batch) - len(whole_replies)
        result.there += len(stored_keys)
        result.copied += target.put(new_replies)
        show(result.copied + result.there + result.damaged, "")
    return result


# --- SQL


def tables(dialect: str) -> str:
    """Return the statements that make the tables in a dialect."""
    return _sql_file(f"{dialect}.sql")


def statements(dialect: str) -> dict[str, str]:
    """Return the statements of a dialect by their names."""
    by_name: dict[str, str] = {}
    for part in _sql_file(f"{dialect}_statements.sql").split("-- name: ")[1:]:
        name, _, statement = part.partition("\n")
        by_name[name] = statement.strip().removesuffix(";")
    return by_name


def _sql_file(name: str) -> str:
    return resources.files("reelbench.llm").joinpath(name).read_text(encoding="utf-8")


def _by_key(statement: str, keys: Iterable[bytes], **values: object) -> list[Step]:
    """Return a step of a statement for each key."""
    return [Step(statement, {**values, "key": key}) for key in keys]


def _claim_steps(keys: Sequence[bytes], owner: str) -> list[Step]:
    """Return the steps that claim the keys that nobody else has.

    Claims on keys with a reply, or in a batch, are given up. Claims are written before replies are
    looked for: a process that had a claim has kept its reply by then. All processes claim in one
    order, or two could wait for each other.
    """
    ordered = sorted(keys)
    steps = _by_key("claim", ordered, owner=owner)
    return steps + _by_key("release_answered", ordered, owner=owner)


def _sorted_by_key(replies: Iterable[StoredReply]) -> list[StoredReply]:
    """Return replies in the order in which all processes write them."""
    return sorted(replies, key=lambda reply: reply.key)


def _count_rows_changed_by(statement: str, steps: Sequence[Step], results: Sequence[Ran]) -> int:
    """Count the rows that the steps with a statement changed."""
    changed = 0
    for step, result in zip(steps, results, strict=True):
        if step.statement == statement:
            changed += result.changed
    return changed
