"""A question and what came of it: its attempts, followed through the cache of replies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from reelbench.llm.defaults import ATTEMPTS
from reelbench.llm.messages import Message, reply_key
from reelbench.llm.reading import UnreadableError
from reelbench.llm.reply import Reply
from reelbench.llm.store import StoredReply

if TYPE_CHECKING:
    from reelbench.llm.asker import Asker

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
        reason: Why there is no value (`unavailable`, `unparsable`, `budget`, `refused`, `rejected`, `pending`), or
            None.
        replies: All replies behind it, in order of attempt.
        error: Why the last reply could not be read, in one line, or None.
    """

    value: T | None
    reason: str | None
    replies: list[CachedReply]
    error: str | None = None


def unfinished(reply: Reply) -> Literal["cut_off", "refused"] | None:
    """Return what befell a reply: the limit on tokens cut it off, or the server's content filter refused it.

    None where the model ended it, and where the server does not say. A reply that was cut off may still hold a readable
    answer.
    """
    return _UNFINISHED.get(reply.finish or "")


class RetryCursor(Generic[T]):
    """A question's place among its attempts: those that the cache has are read, the next one is to be asked for.

    Attributes:
        key: Key of the reply that is to be asked for next; None where nothing is.
        messages: What is to be sent for it.
    """

    def __init__(
        self,
        asker: "Asker",
        messages: Sequence[Message],
        read: Read[T],
        *,
        vote: int = 0,
        again: Again | None = None,
        outdated: Outdated | None = None,
    ) -> None:
        """Read what the cache has; the arguments are those of `Asker.cursor`."""
        self._asker = asker
        self._read = read
        self._vote = vote
        self._again = again
        self._outdated = outdated or asker.options.outdated
        self._limit = ATTEMPTS
        self._may_extend = asker.options.retry_unread
        self._attempt = 0
        self._passed = False
        self._shape = asker.shape(messages)
        self._value: T | None = None
        self._error: str | None = None
        self.messages = messages
        self.replies: list[CachedReply] = []
        self.key: bytes | None = None
        self.advance()
        self._may_extend = False  # for what was in the cache alone

    def advance(self) -> None:
        """Read on, as far as the cache goes."""
        self.key = None
        while self._value is None:
            key = reply_key(self._shape, self._vote, self._attempt)
            stored = self._asker.cache.get(key)
            if stored is None:
                if self._attempt >= self._limit and self._may_extend:
                    self._may_extend, self._limit = False, self._attempt + ATTEMPTS
                self.key = key if self._passed or self._attempt < self._limit else None
                self._outdated, self._passed = None, False  # what is asked for now counts
                return
            if self._outdated is not None and self._outdated(stored):
                self._passed = True
                self._attempt += 1
                continue
            reply, text = stored.reply, stored.reply.raw
            if reply.finish in _UNFINISHED:
                text = (text or "") if self._asker.as_it_stands else None
            self._error = "the reply is empty or was cut short" if text is None else "it could not be read"
            try:
                self._value = None if text is None else self._read(text)
            except UnreadableError as error:
                self._error = str(error)
            if self._value is not None:
                self._error = None
            self.replies.append(CachedReply(key, self._attempt, reply, self._value, stored.at))
            self._attempt += 1
            if self._value is None and self._again is not None:
                self.messages = self._again(self.messages, reply.raw, self._error or "")
                self._shape = self._asker.shape(self.messages)

    def result(self, reason: str | None = None) -> AskResult[T]:
        """Return the question's result so far; `reason` says why it ended before its last attempt."""
        if self._value is None and reason is None:
            reason = UNPARSABLE
        return AskResult(self._value, reason, self.replies, self._error)
