"""YAML of unknown authors, read within limits of length, depth and time, and without aliases."""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from typing import Any

import yaml

from reelbench.base.errors import InputError, first_line
from reelbench.base.values import is_object

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 20

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader, in C where it is there."""

_TEXT_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The loader that leaves every value the text that stands there."""


def read_mapping(
    text: str, where: str, *, what: str = "the file", line: int = 1, as_text: bool = False
) -> dict[str, Any]:
    """Return the keys and values of a YAML text. None where it is empty.

    Args:
        text: The YAML.
        where: Name of the file, for errors.
        what: Name of the text in the file, for errors.
        line: Line of the file on which the text begins.
        as_text: Leave every value the text that stands there (`007`, `no`).

    Raises:
        InputError: It is not YAML, not a mapping, beyond the limits, or has aliases (a kilobyte of
            them can stand for gigabytes).
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"{where}: {what} is longer than {MAX_CHARACTERS} characters; shorten it first"
        )
    try:
        check(text, where, what, line)
        loader = _TEXT_LOADER if as_text else LOADER
        values = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        error_line = getattr(mark, "line", 0) + line
        raise InputError(
            f"{where}, line {error_line}: {what} is not valid YAML; fix it first"
        ) from None
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        # A date or a tag without a meaning.
        raise InputError(
            f"{where}: {what} is not valid YAML ({first_line(error)}); fix it first"
        ) from None
    if values is None:
        return {}
    if not is_object(values):
        raise InputError(f"{where}: {what} is a {type(values).__name__}, expected keys and values")
    return values


def check(text: str, where: str, what: str, first: int) -> None:
    """Raise InputError where a YAML text has aliases or is nested too deep.

    `first` is the line of the file on which the text begins.
    """
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        line = event.start_mark.line + first
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InputError(
                f"{where}, line {line}: {what} has YAML aliases (& and *); write the values out"
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise InputError(f"{where}, line {line}: {what} is nested more than {MAX_DEPTH} deep")
