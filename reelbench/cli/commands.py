"""All commands: where each is, and the command line that they make."""

import logging
import sys
from copy import copy
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench import __version__
from reelbench.cli import console
from reelbench.cli.app import App, Group, commands_of
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typer import _click

FLAGS = ("--debug", "--verbose")
"""Options of `reelbench` itself that may also stand behind the command."""


class _Commands(Group):
    """All of them, by what one wants to do."""

    sections = MappingProxyType(
        {
            "Measure": ("run", "ask", "score"),
            "Look": ("view", "compare", "candidates", "shortcuts", "power", "profile"),
            "Compare and publish": ("judge", "leaderboard", "cards"),
            "Make": ("new", "check", "make", "ace"),
            "People": ("review",),
            "Diagnose": ("diagnose",),
            "Manage": (
                *("list", "info", "data", "frames", "cache"),
                *("path", "presets", "settings", "status", "doctor", "help"),
            ),
        }
    )

    def known(self) -> "Mapping[str, _click.Command]":
        """All commands, whichever of them this is."""
        return dict(commands_of(typer.main.get_command(assembled())))


COMMANDS = MappingProxyType(
    {
        "list": "cli.info:list_benchmarks",
        "path": "cli.info:path",
        "info": "cli.info:info",
        "settings": "cli.settings:show_settings",
        "presets": "cli.info:show_presets",
        "status": "cli.status:show_status",
        "doctor": "cli.doctor:doctor",
        "new": "cli.new:new",
        "check": "cli.new:check",
        "help": "cli.help_pages:show_help",
        "score": "cli.score:score",
        "ask": "cli.ask:ask",
        "ace": "studio.commands.ace:ace",
        "candidates": "cli.candidates:show_candidates",
        "compare": "cli.compare:compare",
        "shortcuts": "cli.shortcuts:show_shortcuts",
        "view": "leaderboard.commands.view:view",
        "profile": "studio.commands.profile:profile",
        "data": "cli.data:app",
        "make": "studio.commands.make:app",
        "diagnose": "studio.commands.diagnose:app",
        "review": "studio.commands.review:app",
        "judge": "cli.compare:app",
        "judge calibrate": "cli.calibrate:calibrate",
        "judge anchors": "leaderboard.commands.anchors:anchors",
        "judge presets": "cli.judging:presets",
        "frames": "cli.frames:app",
        "cache": "cli.cache:app",
        "power": "cli.power:power",
        "cards": "hub_cards.command:app",
        "leaderboard": "leaderboard.commands.leaderboard:app",
        "run": "cli.run:run",
    }
)
"""Every command -> where it is. Those of the other houses are named here alone, and imported when they are called."""

_HOUSES = {"reelbench.studio": "studio", "reelbench.leaderboard": "board", "reelbench.hub_cards": "board"}


def assembled(named: str | None = None) -> App:
    """Return the command line: whole, or the one command or group that is named alone: all take 30 ms to build.

    A command of a part that isn't installed is no part of the help, and ends with a line that says so.
    """
    firsts = {words.partition(" ")[0] for words in COMMANDS}
    whole = named == "help" or named not in firsts
    app = App(
        "Evaluate video-language models on story and culture: tasks for lmms-eval, scores, a leaderboard, cards.",
        name="reelbench",
        cls=_Commands,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    groups: dict[str, App] = {}
    for words, place in COMMANDS.items():
        first, _, second = words.partition(" ")
        if not whole and first != named:
            continue
        command, options = _loaded(words, place)
        if isinstance(command, App):
            groups[words] = part = copy(command)
            part.registered_commands = [*command.registered_commands]
            app.add_typer(part, name=words)
        else:
            (groups[first] if second else app).command(second or first, **options)(command)
    return app


_ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True}

_OPTIONS: dict[str, dict[str, Any]] = {
    "run": {"context_settings": _ANY_ARGUMENTS, "options_metavar": "[OPTIONS] -- LMMS_EVAL_ARGUMENTS"}
}


def _loaded(words: str, place: str) -> tuple[Any, dict[str, Any]]:
    """A command's function, or a group, and how it is added."""
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(f"reelbench.{module}"), name), _OPTIONS.get(words, {})
    except ModuleNotFoundError as error:
        house = next((house for house in _HOUSES if f"{error.name}.".startswith(f"{house}.")), None)
        if house is None:
            raise
    line = f"{words}: this is a command of Reelbench's {_HOUSES[house]}, which is not installed here ({house})"

    def missing() -> None:
        raise InputError(line)

    return missing, {"context_settings": _ANY_ARGUMENTS, "hidden": True, "add_help_option": False}


def _version(value: bool) -> None:
    if value:
        console.write(__version__)
        raise typer.Exit


def _options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log what is decoded, and how long it takes.")] = False,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    logging.basicConfig(
        level=logging.INFO if debug or verbose else logging.WARNING, format="%(message)s", stream=sys.stderr
    )
