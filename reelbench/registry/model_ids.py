"""The ids by which servers call the models that answered, beside the names that were asked for.

A name without a date is a provider's newest version, a router answers by another model where one
is away, and llama.cpp calls a model by its file.
"""

import re
from collections.abc import Mapping

_DATE = re.compile(
    r"-(?:\d{4}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
)
"""A date behind a model's name: `-2024-07-18`, `-20240718`, or month and day, `-0613`."""

_FILE = re.compile(r"(?:[A-Za-z]:)?[\\/~.].*|.*\.gguf", re.DOTALL)
"""A path, or a file of weights."""


def same_model(requested: str, returned: str) -> bool:
    """Return True where a returned id is the requested one, or it and a date.

    Two dates are two models.
    """
    if requested == returned:
        return True
    if not returned.startswith(requested):
        return False
    return _DATE.fullmatch(returned.removeprefix(requested)) is not None


def answering_ids(requested: str, returned: Mapping[str, int]) -> list[str]:
    """Return the ids under which one model answered, sorted.

    The requested one isn't counted beside the same one with a date, or beside its file.

    Args:
        requested: The name that was asked for.
        returned: Id -> replies.
    """
    ids = sorted(returned)
    unlike_ids = [name for name in ids if name != requested]
    for name in unlike_ids:
        if same_model(requested, name) or _FILE.fullmatch(name):
            return unlike_ids
    return ids


def other_ids(requested: str, returned: Mapping[str, int]) -> list[str]:
    """Return the answering ids that are neither the requested name nor it with a date."""
    ids = answering_ids(requested, returned)
    return [name for name in ids if not same_model(requested, name)]


def filed_id(returned: str) -> str:
    """Return a returned id as records have it: of a path its last part."""
    if _FILE.fullmatch(returned) is None:
        return returned
    return re.split(r"[\\/]", returned.rstrip("\\/"))[-1] or returned
