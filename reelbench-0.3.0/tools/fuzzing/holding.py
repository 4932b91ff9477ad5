"""What no input may make of us, said once: an error that is not ours, or not one readable line."""

from collections.abc import Callable
from typing import Any

from reelbench.base.errors import ReelbenchError

LIMIT_S = 60
"""Seconds that one input may take, on a busy machine."""
MOST_CHARACTERS = 2000
"""Of an error's line."""


class Finding(Exception):  # noqa: N818 - what it is
    """What must never happen."""


def hold(work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the work returns
    """Do the work; None where it ends in an error as ours must be: of our own kind, in one readable line."""
    try:
        return work()
    except ReelbenchError as error:
        one_line(str(error))
        return None


def one_line(told: str) -> None:
    """Hold what users are told to one readable line."""
    if not told.isprintable() or not told.strip() or len(told) > MOST_CHARACTERS:
        raise Finding(f"an error that is not one readable line: {told[:300]!r}")


def require(holds: object, what: str) -> None:
    """Finding where something does not hold."""
    if not holds:
        raise Finding(what)
