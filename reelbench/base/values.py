"""What a decoded JSON value is: to Python `true` is a number, to us it never is."""

import json
import math
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeGuard, TypeVar

EntryT = TypeVar("EntryT")


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number that a float holds, and not `true` or `false`."""
    # JSON as Python reads it has NaN and Infinity, and whole numbers that no float holds.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer, and not `true` or `false`; `3.0` is not one."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_id(value: object) -> TypeGuard[str | int]:
    """Whether a value names something in a file of others: text that isn't blank, or an integer."""
    return bool(value.strip()) if isinstance(value, str) else is_whole(value)


def as_text(value: object) -> str:
    """Return a text as it is, any other JSON value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether a value is a JSON array: a list, or a tuple where we made one of it."""
    return isinstance(value, list | tuple)


def drained(entries: list[EntryT]) -> Iterator[EntryT]:
    """Yield a list's entries in order and let go of each: there may be no room for all beside what is made of them."""
    entries.reverse()
    while entries:
        yield entries.pop()


def describe(value: object) -> str:
    """Return a value's description for an error: the keys of an object, else its type."""
    return ", ".join(sorted(value)) if is_object(value) else type(value).__name__


def texts_in(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the texts of a JSON value, at any depth; the names in its objects are none."""
    if isinstance(value, str):
        yield value
    for part in value.values() if is_object(value) else value if is_array(value) else ():
        yield from texts_in(part)


def without_folders(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value in which each text that is a path of somebody's machine is `local/` and its last part."""
    if is_object(value):
        return {name: without_folders(part) for name, part in value.items()}
    if is_array(value):
        return [without_folders(part) for part in value]
    if not isinstance(value, str):
        return value
    path = value.removeprefix("file://")
    if PureWindowsPath(path).is_absolute():
        return f"local/{PureWindowsPath(path).name}"
    return (
        f"local/{PurePosixPath(path).name}" if path.startswith(("/", "~", "./", "../")) else value
    )
