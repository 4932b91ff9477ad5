"""State of a process that its worker processes take over, whatever part of Reelbench it belongs to.

A room above registers its state by two functions: one reads it here, one sets it there. So
`workers` needs to know no room above its own.
"""

from collections.abc import Callable
from typing import Any

Setter = Callable[[Any], None]

_registered: list[tuple[Callable[[], Any], Setter]] = []


def register(read: Callable[[], Any], set_there: Setter) -> None:
    """Let worker processes take over a state: `read` returns it, picklable; `set_there` sets it in the worker."""
    _registered.append((read, set_there))


def current_state() -> list[tuple[Setter, Any]]:
    """Return each registered state of this process, with the function that sets it in another."""
    return [(set_there, read()) for read, set_there in _registered]


def take_over(state: list[tuple[Setter, Any]]) -> None:
    """Set in this process the state that another one had."""
    for set_there, value in state:
        set_there(value)
