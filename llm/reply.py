"""A reply of a language model, as it came."""

import hashlib
from dataclasses import dataclass

REPLY_FIELDS = (
    *("raw", "finish", "returned", "prompt_tokens", "completion_tokens", "host"),
    *("reasoning_tokens", "cached_tokens", "seconds"),
)
"""A reply's fields, in the order of the class and of its checksum."""

KINDS = (
    *(str | None, str | None, str | None, int, int, str),
    *(int | None, int | None, float | int | None),
)
"""What each field holds, in the same order; SQLite lets any field hold anything."""

LONGEST_NAME = 1000
"""Characters of a model's name that a result's record holds; the client keeps fewer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply as it came.

    Attributes:
        raw: Its text; None where the server gave none.
        finish: The server's finish reason.
        returned: Model id that the server says answered.
        prompt_tokens: As the server counts; 0 where it does not say.
        completion_tokens: As the server counts; 0 where it does not say.
        host: Host of the server.
        reasoning_tokens: Completion tokens that were reasoning; None where the server does not say.
        cached_tokens: Prompt tokens that the server had in its own cache; None where it does not say.
        seconds: From sending to the last byte; None where that was not measured.
    """

    raw: str | None
    finish: str | None
    returned: str | None
    prompt_tokens: int
    completion_tokens: int
    host: str
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    seconds: float | None = None

    def checksum(self, key: bytes) -> bytes:
        """Return 16 bytes that change with any part of the reply."""
        return checksum(key, *self.values)

    @property
    def values(self) -> tuple[str | int | float | None, ...]:
        """Its fields, in the order of `REPLY_FIELDS`."""
        return (
            *(self.raw, self.finish, self.returned, self.prompt_tokens, self.completion_tokens, self.host),
            *(self.reasoning_tokens, self.cached_tokens, self.seconds),
        )


def checksum(*parts: object) -> bytes:
    """Return 16 bytes that change with any part: a key, and the fields of the reply under it."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()[:16]
