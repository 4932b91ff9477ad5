"""The result of a question: its value, or the reason for none, and the replies behind it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from reelbench.llm.endings import ending_of
from reelbench.llm.messages import Message, number_of_pictures
from reelbench.llm.reply import Reply
from reelbench.llm.store import StoredReply

if TYPE_CHECKING:
    from reelbench.llm.pacing import Cause

UNAVAILABLE = "unavailable"
"""The server did not answer, or asking was stopped."""
UNPARSABLE = "unparsable"
"""Replies came, and none could be read."""
BUDGET = "budget"
"""The budget is used up."""
REFUSED = "refused"
"""The server serves us not at all."""
REJECTED = "rejected"
"""The server does not take this request."""
PENDING = "pending"
"""The request is under way in a batch (`llm.batches`)."""

EMPTY_OR_CUT = "the reply is empty or was cut short"
NOT_READ = "it could not be read"
"""Why a reply can't be used, as the next request says it: keys of re-asks are made of it."""

T = TypeVar("T")
Read = Callable[[str], T | None]
"""Reads a reply's text. Returns None, or raises an `UnreadableError`, where it can't be read."""
Again = Callable[[Sequence[Message], str | None, str], Sequence[Message]]
"""(messages, the reply, why it was not read) -> the messages of the next attempt."""
Outdated = Callable[[StoredReply], bool]
"""Returns True for a reply in the cache that is passed over."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a reply.

    Attributes:
        messages: The messages.
        sampling: The settings beside them, in the common form.
        shape: The digest of both; with vote and attempt it makes a reply's key.
        has_schema: True where it asks once more, with the schema of the reply.
    """

    messages: Sequence[Message]
    sampling: Mapping[str, Any]
    shape: bytes
    has_schema: bool = False


@dataclass(frozen=True, slots=True)
class CachedReply:
    """One reply behind an answer.

    Attributes:
        key: Its key.
        attempt: The number of the attempt.
        reply: The reply.
        value: The value that was read from it. None where it can't be read.
        at: When it came, in seconds since 1970.
        by_schema: True where it was asked for once more, with a schema.
    """

    key: bytes
    attempt: int
    reply: Reply
    value: Any
    at: float
    by_schema: bool = False


@dataclass(frozen=True, slots=True)
class AskResult(Generic[T]):
    """The result of a question.

    Attributes:
        value: The value that was read, or None.
        reason: Why there is no value (`unavailable`, `unparsable`, `budget`, `refused`, `rejected`,
            `pending`), or None.
        replies: All replies behind it, in order of attempt.
        error: Why the last reply could not be read, in one line, or None.
        cause: Why the server gave no reply, or None.
    """

    value: T | None
    reason: str | None
    replies: list[CachedReply]
    error: str | None = None
    cause: "Cause | None" = None

    @property
    def is_cut_off(self) -> bool:
        """True where a limit cut the last reply off, and nothing was read."""
        if self.value is not None or not self.replies:
            return False
        return reply_failure_kind(self.replies[-1].reply) == "cut_off"


def reply_failure_kind(reply: Reply) -> Literal["cut_off", "refused"] | None:
    """Return the mishap of a reply.

    The limit on tokens cut it off, or the server's content filter refused it. None where the model
    ended it, and where the server does not say. A reply that was cut off may still have a readable
    answer.
    """
    group = ending_of(reply.finish).group
    if group == "cut_off":
        return "cut_off"
    if group == "refused":
        return "refused"
    return None


def text_of(reply: Reply) -> str | None:
    """Return the text that a reply says something with. None where it has none.

    A blank one for which the server counts no token is none either.
    """
    if reply.raw is None:
        return None
    if not reply.completion_tokens and not reply.raw.strip():
        return None
    if ending_of(reply.finish).instead is not None:
        return None
    return reply.raw


def has_seen_pictures(reply: Reply, messages: Sequence[Message]) -> bool:
    """Return False where the server counted fewer tokens than pictures.

    Of a server that counts none, nobody knows. Tokens in its own cache are added, as some servers
    leave them out of the prompt's.
    """
    if not reply.prompt_tokens:
        return True
    tokens = reply.prompt_tokens + (reply.cached_tokens or 0)
    return tokens >= number_of_pictures(messages)
