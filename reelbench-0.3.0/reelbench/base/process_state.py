"""State of a process that its worker processes take over.

A room above registers its state by two functions: one reads it in this process, one sets it in
the worker. So `workers` needs to know no room above its own.
"""

from collections.abc import Callable
from typing import Any

Setter = Callable[[Any], None]

_registered: list[tuple[Callable[[], Any], Setter]] = []


def register(read: Callable[[], Any], set_there: Setter) -> None:
    """Let worker processes take over a state.

    Args:
        read: Returns the state of this process, which can be pickled.
        set_there: Sets it in the worker.
    """
    _registered.append((read, set_there))


def current_state() -> list[tuple[Setter, Any]]:
    """Return each registered state, with the function that sets it in another process."""
    states: list[tuple[Setter, Any]] = []
    for read, set_there in _registered:
        states.append((set_there, read()))
    return states


def take_over(state: list[tuple[Setter, Any]]) -> None:
    """Set the state of another process in this one."""
    for set_there, value in state:
        set_there(value)
