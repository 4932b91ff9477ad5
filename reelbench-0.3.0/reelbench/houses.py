"""The parts of the other houses that the bench uses.

They are named here and in the table of commands, and imported on use.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from reelbench.base.errors import InputError

_HOUSES = {
    "reelbench.studio": "studio",
    "reelbench.leaderboard": "board",
    "reelbench.hub_cards": "board",
}
"""Room -> the house that it is a part of."""

_PARTS = {
    "compare --store": "reelbench.leaderboard.board:pair_in_store",
    "reelbench.results": "reelbench.leaderboard.columns:of_store",
    "Scored.view": "reelbench.leaderboard.view.page:write_of_folder",
}
"""What the bench offers, as an option or in Python, and another house does."""


def missing(place: str) -> str | None:
    """Return the room of a `package.module:name` where its house is not installed, else None."""
    for room in _HOUSES:
        if place.startswith(f"{room}.") and find_spec(room) is None:
            return room
    return None


def not_installed(words: str, room: str) -> str:
    """Return the line that says that a part of a house is not installed."""
    return (
        f"{words}: this is a part of Reelbench's {_HOUSES[room]}, which is not installed here "
        f"({room})"
    )


def of_house(words: str) -> Any:  # noqa: ANN401 - whatever the part is
    """Import what another house does for an option or a function.

    Raises:
        InputError: The house isn't installed.
    """
    place = _PARTS[words]
    room = missing(place)
    if room is not None:
        raise InputError(not_installed(words, room))
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
