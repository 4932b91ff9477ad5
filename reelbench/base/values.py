"""The kinds of decoded JSON values: Python takes `true` for a number, and Reelbench never does."""

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeGuard, TypeVar

from reelbench.base.errors import ReelbenchError

EntryT = TypeVar("EntryT")


def is_number(value: object) -> TypeGuard[int | float]:
    """Return True for a finite number that a float holds. `true` and `false` are none."""
    # JSON as Python reads it has NaN and Infinity, and whole numbers that no float holds.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_whole(value: object) -> TypeGuard[int]:
    """Return True for an integer. `true`, `false` and `3.0` are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_id(value: object) -> TypeGuard[str | int]:
    """Return True for an id in a file: an integer, or text that isn't blank."""
    if isinstance(value, str):
        return bool(value.strip())
    return is_whole(value)


def as_text(value: object) -> str:
    """Return a text as it is, any other JSON value as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Return True for a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Return True for a JSON array: a list, or a tuple made of one."""
    return isinstance(value, list | tuple)


def drained(entries: list[EntryT]) -> Iterator[EntryT]:
    """Yield a list's entries in order, and empty the list.

    There may be no room in memory for all entries beside what is made of them.
    """
    entries.reverse()
    while entries:
        yield entries.pop()


def batches(entries: Iterable[EntryT], most: int) -> Iterator[list[EntryT]]:
    """Yield entries in lists of `most`, the last one shorter.

    Those before an error are yielded before it is raised.
    """
    batch: list[EntryT] = []
    try:
        for entry in entries:
            batch.append(entry)
            if len(batch) == most:
                yield batch
                batch = []
    except ReelbenchError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def describe(value: object) -> str:
    """Return a value's description for an error: the keys of an object, else its type."""
    if is_object(value):
        return ", ".join(sorted(value))
    return type(value).__name__


def texts_in(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the texts of a JSON value, at any depth, without objects' names."""
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for part in value.values():
            yield from texts_in(part)
    elif is_array(value):
        for part in value:
            yield from texts_in(part)


def without_folders(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with `local/` and the last part for each local path."""
    if is_object(value):
        return {name: without_folders(part) for name, part in value.items()}
    if is_array(value):
        return [without_folders(part) for part in value]
    if not isinstance(value, str):
        return value
    path = value.removeprefix("file://")
    if PureWindowsPath(path).is_absolute():
        return f"local/{PureWindowsPath(path).name}"
    if path.startswith(("/", "~", "./", "../")):
        return f"local/{PurePosixPath(path).name}"
    return value
