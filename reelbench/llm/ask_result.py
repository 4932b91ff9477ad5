"""The result of a question: its value, or the reason for none, and the replies behind it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from reelbench.llm.messages import Message
from reelbench.llm.reply import Reply
from reelbench.llm.store import StoredReply

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

_UNFINISHED: dict[str, Literal["cut_off", "refused"]] = {
    "length": "cut_off",  # OpenAI's
    "model_length": "cut_off",  # Mistral's
    "model_context_window_exceeded": "cut_off",  # Z.ai's
    "content_filter": "refused",  # OpenAI's
    "sensitive": "refused",  # Z.ai's
}
"""A server's reason for the end of a reply, where the model did not end it -> the mishap."""

T = TypeVar("T")
Read = Callable[[str], T | None]
"""Reads a reply's text; returns None, or raises an `UnreadableError`, where it can't be read."""
Again = Callable[[Sequence[Message], str | None, str], Sequence[Message]]
"""(messages, the reply, why it was not read) -> the messages of the next attempt."""
Outdated = Callable[[StoredReply], bool]
"""Returns True for a reply in the cache that is passed over."""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """One reply behind an answer.

    Attributes:
        key: Its key.
        attempt: The number of the attempt.
        reply: The reply.
        value: The value that was read from it; None where it can't be read.
        at: When it came, in seconds since 1970.
    """

    key: bytes
    attempt: int
    reply: Reply
    value: Any
    at: float


@dataclass(frozen=True, slots=True)
class AskResult(Generic[T]):
    """The result of a question.

    Attributes:
        value: The value that was read, or None.
        reason: Why there is no value (`unavailable`, `unparsable`, `budget`, `refused`, `rejected`,
            `pending`), or None.
        replies: All replies behind it, in order of attempt.
        error: Why the last reply could not be read, in one line, or None.
    """

    value: T | None
    reason: str | None
    replies: list[CachedReply]
    error: str | None = None


def unfinished(reply: Reply) -> Literal["cut_off", "refused"] | None:
    """Return the mishap of a reply.

    The limit on tokens cut it off, or the server's content filter refused it. None where the model
    ended it, and where the server does not say. A reply that was cut off may still have a readable
    answer.
    """
    return _UNFINISHED.get(reply.finish or "")
