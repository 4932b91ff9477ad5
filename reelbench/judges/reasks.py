"""Asking a judge once more, after a reply that has no score."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from reelbench.llm.ask_result import EMPTY_OR_CUT, NOT_READ, Again
from reelbench.llm.material import PromptFiles
from reelbench.llm.messages import Message, reply_key, request_shape
from reelbench.llm.structured import FIELD, score_schema, with_schema
from reelbench.registry.records import JudgeReply
from reelbench.registry.spec import JudgeSpec

_LONGEST_REPLY = 1000
"""Characters of a reply that the judge sees again: one that was cut off may fill its context."""


def score_again(scale: JudgeSpec) -> Again:
    """Return the maker of a re-ask's messages on a scale."""
    form = (
        f'what counts is one JSON object, {{"score": n}}, n a whole number from {scale.low} to '
        f"{scale.high}, and nothing else"
    )

    def again(messages: Sequence[Message], reply: str | None, error: str) -> list[Message]:
        if reply is not None and len(reply) > _LONGEST_REPLY:
            reply = f"{reply[:_LONGEST_REPLY]} …"
        return _reask_prompts().retry(messages, reply, f"{error}; {form}")

    return again


@cache
def _reask_prompts() -> PromptFiles:
    """Return the files with the prompt of a re-ask, which is read once."""
    return PromptFiles(resources.files("reelbench.llm"))


@dataclass(frozen=True, slots=True)
class PossibleRequest:
    """A request that a judge may have been sent.

    Attributes:
        messages: The messages.
        shape: The digest that the reply's key is made of.
    """

    messages: Sequence[Message]
    shape: bytes


class PossibleRequests:
    """The requests by which a judge may have been asked one question, attempt by attempt."""

    def __init__(
        self,
        scale: JudgeSpec,
        model: str,
        messages: Sequence[Message],
        sampling: Mapping[str, Any],
        *,
        structured: bool,
    ) -> None:
        """Begin with the first.

        Args:
            scale: The scale.
            model: The judge's name, as it was sent.
            messages: The question.
            sampling: The settings of each call.
            structured: True where the first call has the schema.
        """
        self._make_retry_messages = score_again(scale)
        self._model = model
        self._sampling = sampling
        self._sampling_with_schema = with_schema(sampling, score_schema(scale.low, scale.high))
        if structured and FIELD not in sampling:
            self._sampling = self._sampling_with_schema
        self._first_request = self._request_of(messages, self._sampling)
        self._possible_requests = [self._first_request]

    def advance(self, reply: JudgeReply) -> bool:
        """Go on to the next attempt. Return False where no request made this reply."""
        makers: list[PossibleRequest] = []
        for request in self._possible_requests:
            key = reply_key(request.shape, reply.vote, reply.attempt)
            if key.hex() == reply.key:
                makers.append(request)
        self._possible_requests = [self._first_request]
        for request in makers:
            self._possible_requests += self._possible_reasks(request.messages, reply.raw)
        return bool(makers)

    def _possible_reasks(
        self, messages: Sequence[Message], raw: str | None
    ) -> Iterator[PossibleRequest]:
        """Yield the re-asks that may follow a reply."""
        for error in (NOT_READ, EMPTY_OR_CUT):
            longer = self._make_retry_messages(messages, raw, error)
            yield self._request_of(longer, self._sampling)
            yield self._request_of(longer, self._sampling_with_schema)

    def _request_of(
        self, messages: Sequence[Message], sampling: Mapping[str, Any]
    ) -> PossibleRequest:
        return PossibleRequest(messages, request_shape(self._model, messages, sampling))
