"""What the bench takes of the other houses: named here, and in the table of commands, and imported when it is used."""

from importlib import import_module
from typing import Any

from reelbench.base.errors import InputError

_HOUSES = {
    "reelbench.studio": "studio",
    "reelbench.leaderboard": "board",
    "reelbench.hub_cards": "board",
}

_PARTS = {
    "compare --store": "leaderboard.board:pair_in_store",
    "reelbench.results": "leaderboard.columns:of_store",
    "Scored.view": "leaderboard.view.page:write_of_folder",
}
"""What the bench offers, as an option or in Python, and another house does."""


def of_house(words: str, place: str | None = None) -> Any:  # noqa: ANN401 - a command's function, a group, …
    """Import the `MODULE:NAME` behind a command's words, or a part's; InputError where its house isn't installed."""
    module, _, name = (place or _PARTS[words]).partition(":")
    try:
        return getattr(import_module(f"reelbench.{module}"), name)
    except ModuleNotFoundError as error:
        house = next((house for house in _HOUSES if f"{error.name}.".startswith(f"{house}.")), None)
        if house is None:
            raise
    raise InputError(
        f"{words}: this is a part of Reelbench's {_HOUSES[house]}, which is not installed here ({house})"
    )
