"""The ids by which servers call the models that answered, beside the names that were asked for.

A name without a date is a provider's newest version, a router answers by another model where one
is away, and llama.cpp calls a model by its file. vLLM calls one by its folder. What is filed has
no path: it says where a model lies on somebody's machine, and not which one it is.
"""

import re
from collections.abc import Mapping, Sequence

_DATE = re.compile(
    r"-(?:\d{4}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
)
"""A date behind a model's name: `-2024-07-18`, `-20240718`, or month and day, `-0613`."""

_PATH = re.compile(
    r"[/~].*|\\\\.*|\.{1,2}(?:[/\\].*)?|[A-Za-z]:[/\\].*|.*//.*|.*[/\\]",
    re.DOTALL,
)
"""A path, as servers take it for a name: from the root, a home or here, or by its signs.

`org/name` is none.
"""

_FILE = re.compile(rf"{_PATH.pattern}|.*\.gguf", re.DOTALL)
"""A path, or a file of weights."""

_CACHED = re.compile(r"models--([^/\\]+?)--([^/\\]+)")
"""A model's folder in a Hub cache."""

_WEIGHTS = r"(?:\.(?:gguf|safetensors|bin|pt|pth|ckpt))?"
_COMMON_PART = re.compile(
    r"(?:checkpoint|ckpt)s?(?:[-_=]?\d+)?"
    r"|(?:global[-_]?)?steps?(?:[-_=]\d+.*|\d{2,})?"
    r"|epochs?(?:[-_=]?\d+.*)?"
    r"|final|best|last|latest|merged|outputs?|models?|weights|snapshots?"
    r"|(?:pytorch_|adapter_)?model(?:-\d+-of-\d+)?"
    r"|[0-9a-f]{8,64}",
    re.IGNORECASE,
)
"""A part of a path that says nothing of the model: a training state, a hash, a usual name."""

_HOMES = frozenset(("home", "root", "Users"))
"""Folders of a machine whose parts are its users' names."""

UNNAMED = "unnamed path"
"""What is filed of a path that is a user's name alone."""


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


def filed_name(name: str) -> str | None:
    """Return the name under which a model is filed.

    Of a path it is the last part that names a model. None where no part does. A part that is a
    user's name, directly below `/home`, never does.
    """
    if _PATH.fullmatch(name) is None:
        return name
    parts = _parts_of_path(name)
    for place in range(len(parts) - 1, -1, -1):
        part = parts[place]
        cached_model = _CACHED.fullmatch(part)
        if cached_model is not None:
            return "/".join(cached_model.groups())
        stem = re.sub(rf"{_WEIGHTS}$", "", part)
        if not _is_of_user(parts, place) and _COMMON_PART.fullmatch(stem) is None:
            return part
    return None


def filed_part(name: str) -> str:
    """Return a path's last part, whatever it says. Another name as it is."""
    if _PATH.fullmatch(name) is None:
        return name
    parts = _parts_of_path(name)
    if not parts or _is_of_user(parts, len(parts) - 1):
        return UNNAMED
    return parts[-1]


def _is_of_user(parts: Sequence[str], place: int) -> bool:
    """Return True for a user's name, or the folder of all users."""
    return place <= 1 and parts[0] in _HOMES


def _parts_of_path(path: str) -> list[str]:
    """Return a path's parts, without a drive, a scheme, `.`, `..` and `~`."""
    parts: list[str] = []
    for part in re.split(r"[/\\]+", path):
        if part.strip(" .~") and not part.endswith(":"):
            parts.append(part)
    return parts


def filed_id(returned: str, *, requested: str, filed: str) -> str:
    """Return a returned id as records have it.

    The requested name, with a date or without, becomes the one under which the model is filed.

    Args:
        returned: The id that came with a reply.
        requested: The name that was sent.
        filed: The name under which the model is filed.
    """
    if same_model(requested, returned):
        return filed + returned.removeprefix(requested)
    return filed_name(returned) or filed_part(returned)
