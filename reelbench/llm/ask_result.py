"""What came of a question: its value, or why there is none, and the replies behind it."""

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
    **dict.fromkeys(("length", "model_length", "model_context_window_exceeded"), "cut_off"),
    **dict.fromkeys(("content_filter", "sensitive"), "refused"),
}
"""A server's reason for the end of a reply that is not the model's -> what befell the answer.

The first of each is OpenAI's, the others are Mistral's and Z.ai's.
"""

T = TypeVar("T")
Read = Callable[[str], T | None]
"""What a reply's text says; None, or an `UnreadableError` that says why, where it does not read."""
Again = Callable[[Sequence[Message], str | None, str], Sequence[Message]]
"""(messages, the reply, why it was not read) -> the messages of the next attempt."""
Outdated = Callable[[StoredReply], bool]
"""Whether a reply in the cache is passed over."""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """One reply behind an answer: its key, which attempt it was, what it reads as (None: it does not), when it came."""

    key: bytes
    attempt: int
    reply: Reply
    value: Any
    at: float


@dataclass(frozen=True, slots=True)
class AskResult(Generic[T]):
    """What came of a question.

    Attributes:
        value: What was read, or None.
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
    """Return the mishap of a reply: the limit on tokens cut it off, or the server's content filter refused it.

    None where the model ended it, and where the server does not say. A reply that was cut off may
    still hold a readable answer.
    """
    return _UNFINISHED.get(reply.finish or "")
