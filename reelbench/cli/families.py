"""All commands, and families of options that several share: a line in a command's help, whole in `help FAMILY`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typer import _click


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Options that belong together: those under some headings, and some without one, by their parameter's name.

    A command's help names the `main` ones of those that it takes; `reelbench help FAMILY` says
    `more`.
    """

    panels: tuple[str, ...]
    about: str
    main: tuple[str, ...]
    more: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


def _by_word(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table of `help.json`, in which words with one answer share a key, with a key for each."""
    made: dict[str, Any] = {}
    for words, answer in table.items():
        for word in words.split(", "):
            made[word] = made.get(word, {}) | answer if isinstance(answer, dict) else answer
    return made


_WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("help.json").read_bytes())

COMMANDS: dict[str, str] = _WORDS["commands"]
"""Every command -> where it is; a second word is a group's command, or a part of the command that is the first.

Those of the other houses are named there alone, and imported when they are called.
"""

FAMILIES = {name: Family(**family) for name, family in _WORDS["families"].items()}

OF_PANEL = {panel: name for name, family in FAMILIES.items() for panel in family.panels}
"""Heading of options -> the family that it belongs to."""

ASKED = ("judge", "llm")
"""Families that say who is asked, where, how often and for how much."""

EXAMPLES: dict[str, list[str]] = _WORDS["examples"]
"""Command -> examples: what follows its words on the command line."""

KEPT: dict[str, str] = _by_word(_WORDS["kept"])
"""Command -> what it leaves for the next time where it is stopped; the others do no long work."""

SECTIONS: dict[str, list[str]] = _WORDS["sections"]
"""Heading of `--help` -> its commands."""


def family_of(parameter: "_click.Parameter") -> str | None:
    """The family that an option belongs to, or None."""
    if panel := getattr(parameter, "rich_help_panel", None):
        return OF_PANEL.get(panel)
    return next(
        (name for name, family in FAMILIES.items() if parameter.name in family.parameters), None
    )
