"""What keeps replies: a file (`llm.sqlite_store`) or a server (`llm.postgres_store`), by one protocol.

A store knows rows, leases and transactions; what they mean, and what the user is told, is `llm.cache`'s.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from reelbench.llm.reply import Reply
from reelbench.registry.errors import ReelbenchError

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
    """

    key: bytes
    model: str
    at: float
    reply: Reply
    checksum: bytes | None
    edited: bool = False

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


class ReplyStore(Protocol):
    """Keeps replies, and says whose turn it is to ask for one. Safe to use from several threads and processes.

    A claim is a lease of whoever opened the store: it lapses by itself when that process dies. Every method raises
    ReelbenchError where the store can't be used, and AwayError where it may be again in a moment.

    Attributes:
        lease: Seconds that a claim lasts unless it is renewed.
        is_remote: Whether each request goes to a server, and so takes its time.
    """

    lease: float
    is_remote: bool

    @property
    def name(self) -> str:
        """What the user is told that it is called."""
        ...

    def get(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return what is kept under those of `keys` that have a reply."""
        ...

    def drop(self, reply: StoredReply) -> None:
        """Remove a reply as it was read; one that has come in its place since stays."""
        ...

    def put(self, replies: Sequence[StoredReply]) -> int:
        """Keep replies unless there are some that are as they arrived, and give up the claims -> how many were new."""
        ...

    def claim(self, keys: Sequence[bytes]) -> dict[bytes, Claimed]:
        """Claim the right to ask for each key, unless its reply is here by now or it is being asked for elsewhere."""
        ...

    def taken(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` that another process is asking for now."""
        ...

    def renew(self) -> None:
        """Make all claims of this process last a full lease again."""
        ...

    def release(self, key: bytes) -> None:
        """Give up a claim: its reply could not be had."""
        ...

    def shutdown(self, model: str, host: str) -> str | None:
        """Return the day (YYYY-MM-DD) on which a server said that it ends a model; None where it said none."""
        ...

    def put_shutdown(self, model: str, host: str, day: str | None) -> None:
        """Keep what a server says of a model's end now."""
        ...

    def batches(self, model: str, host: str) -> list[StoredBatch]:
        """Return the batches of a model on a server, the oldest first."""
        ...

    def batched(self, model: str, host: str) -> set[bytes]:
        """Return the keys whose requests are in a batch of a model on a server."""
        ...

    def begin_batch(self, token: str, model: str, host: str, keys: Sequence[bytes]) -> list[bytes]:
        """Put a batch down before it is sent -> the keys that are its own: not kept, claimed or in another one."""
        ...

    def name_batch(self, token: str, name: str) -> None:
        """Keep a batch's id at the server."""
        ...

    def end_batch(self, token: str) -> int:
        """Take a batch off -> how many of its requests had no reply."""
        ...

    def put_batched(self, replies: Sequence[StoredReply]) -> int:
        """Keep those replies whose requests are in a batch -> how many that were."""
        ...

    def reserve(self, job: str, limit: Limit, estimate: float) -> float | None:
        """Set aside one call of about `estimate` dollars of a job's -> these dollars; None where there is no room."""
        ...

    def settle(self, job: str, reserved: float, cost: float, *, kept: bool) -> None:
        """Book what a job's call cost, in dollars; one that brought nothing (not `kept`) is given back."""
        ...

    def replies(self, after: bytes = b"") -> Iterator[StoredReply]:
        """Yield the replies whose keys come after one, in the order of the keys."""
        ...

    def kept(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` under which there is a reply."""
        ...

    def models(self, before: float | None = None, model: str | None = None) -> list[ModelReplies]:
        """Count the replies that came before a moment, of one model or of each, by the models' names."""
        ...

    def remove(self, before: float | None = None, model: str | None = None) -> int:
        """Remove the replies that `models` counts -> how many there were."""
        ...

    def under_way(self) -> int:
        """Return how many batches are under way."""
        ...

    def size(self) -> int:
        """Return the bytes that it takes."""
        ...

    def close(self) -> None:
        """Give up all claims of this process, and close; may be called twice."""
        ...
