"""A reply of a language model, as it came."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import get_type_hints

LONGEST_NAME = 1000
"""Characters of a model's name that a result's record holds. The client keeps fewer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply as it came.

    Attributes:
        raw: Its text. None where the server gave none.
        finish: The server's finish reason.
        returned: Model id that the server says answered.
        prompt_tokens: As the server counts; 0 where it does not say.
        completion_tokens: As the server counts; 0 where it does not say.
        host: Host of the server.
        reasoning_tokens: Completion tokens that were reasoning. None where the server does not say.
        cached_tokens: Prompt tokens that the server had in its own cache. None where it does not
            say.
        seconds: From sending to the last byte. None where that was not measured.
    """

    raw: str | None
    finish: str | None
    returned: str | None
    prompt_tokens: int
    completion_tokens: int
    host: str
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    seconds: float | int | None = None

    def checksum(self, key: bytes) -> bytes:
        """Return 16 bytes that change with any part of the reply."""
        return checksum(key, *values_of(self))


_TYPES = get_type_hints(Reply)
REPLY_FIELDS = tuple(_TYPES)
KINDS = tuple(_TYPES.values())
"""A reply's fields in the order of its checksum, and their types, which SQLite does not enforce."""
values_of: Callable[[Reply], tuple[str | int | float | None, ...]] = attrgetter(*REPLY_FIELDS)
"""A reply's fields, in that order."""


def checksum(*parts: object) -> bytes:
    """Return 16 bytes that change with a key, or a field of its reply."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()[:16]
