"""A question and what came of it: its attempts, followed through the cache of replies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from reelbench.llm.cache import ReplyCache
from reelbench.llm.defaults import ATTEMPTS
from reelbench.llm.messages import Message, reply_key
from reelbench.llm.reading import UnreadableError
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
        reason: Why there is no value (`unavailable`, `unparsable`, `budget`, `refused`, `rejected`, `pending`), or
            None.
        replies: All replies behind it, in order of attempt.
        error: Why the last reply could not be read, in one line, or None.
    """

    value: T | None
    reason: str | None
    replies: list[CachedReply]
    error: str | None = None

    @property
    def unfinished(self) -> Literal["cut_off", "refused"] | None:
        """What befell the last reply: the limit on tokens cut it off, or the server's content filter refused it.

        None where the model ended it, and where the server does not say. A reply that was cut off may still hold a
        readable answer.
        """
        return unfinished(self.replies[-1].reply) if self.replies else None


def unfinished(reply: Reply) -> Literal["cut_off", "refused"] | None:
    """Return what ended a reply before the model did; None where nothing did, or the server does not say."""
    return _UNFINISHED.get(reply.finish or "")


@dataclass(frozen=True, slots=True)
class ReplySource:
    """Where the replies to questions are, and which of them count.

    Attributes:
        cache: The replies.
        shape: Digest of a request, of which vote and attempt make a reply's key.
        retry_unread: Allow as many attempts more where all in the cache can't be read.
        as_it_stands: Read a reply that was cut short too (see `AskResult.unfinished`).
        outdated: Says of a reply in the cache that it is passed over; where all of them are, one more is asked for,
            which counts whatever it is.
    """

    cache: ReplyCache
    shape: Callable[[Sequence[Message]], bytes]
    retry_unread: bool = False
    as_it_stands: bool = False
    outdated: Outdated | None = None


class RetryCursor(Generic[T]):
    """A question's place among its attempts: those that the cache has are read, the next one is to be asked for.

    Attributes:
        key: Key of the reply that is to be asked for next; None where nothing is.
        messages: What is to be sent for it.
    """

    def __init__(
        self,
        source: ReplySource,
        messages: Sequence[Message],
        read: Read[T],
        *,
        vote: int = 0,
        again: Again | None = None,
        outdated: Outdated | None = None,
    ) -> None:
        """Read what the cache has.

        Args:
            source: Where replies are, and which count.
            messages: The question.
            read: What a reply's text says.
            vote: Number of the reply among several wanted for one question.
            again: Makes the messages of the next attempt; by default the same are sent again.
            outdated: Says which replies are passed over; by default the source's.
        """
        self._cache = source.cache
        self._shape_of = source.shape
        self._read = read
        self._vote = vote
        self._again = again
        self._limit = ATTEMPTS
        self._may_extend = source.retry_unread
        self._as_it_stands = source.as_it_stands
        self._outdated = outdated or source.outdated
        self._attempt = 0
        self._passed = False
        self._shape = source.shape(messages)
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
            stored = self._cache.get(key)
            if stored is None:
                self.key = key if self._passed or self._may_ask() else None
                self._outdated, self._passed = None, False  # what is asked for now counts
                return
            if self._outdated is not None and self._outdated(stored):
                self._passed = True
                self._attempt += 1
                continue
            reply = stored.reply
            text = self._text(reply)
            self._value, self._error = self._reading(text)
            self.replies.append(CachedReply(key, self._attempt, reply, self._value, stored.at))
            self._attempt += 1
            if self._value is None and self._again is not None:
                self.messages = self._again(self.messages, reply.raw, self._error or "it could not be read")
                self._shape = self._shape_of(self.messages)

    def _text(self, reply: Reply) -> str | None:
        if reply.finish not in _UNFINISHED:
            return reply.raw
        return (reply.raw or "") if self._as_it_stands else None

    def _reading(self, text: str | None) -> tuple[T | None, str | None]:
        if text is None:
            return None, "the reply is empty or was cut short"
        try:
            value = self._read(text)
        except UnreadableError as error:
            return None, str(error)
        return value, None if value is not None else "it could not be read"

    def _may_ask(self) -> bool:
        if self._attempt < self._limit:
            return True
        if self._may_extend:
            self._may_extend = False
            self._limit = self._attempt + ATTEMPTS
            return True
        return False

    def result(self, reason: str | None = None) -> AskResult[T]:
        """Return what has come of the question so far; `reason` says why it ended before its last attempt."""
        if self._value is None and reason is None:
            reason = UNPARSABLE
        return AskResult(self._value, reason, self.replies, self._error)
