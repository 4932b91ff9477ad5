"""The command line that all commands make, and `help`, which shows them and their options."""

import logging
import sys
from copy import copy
from functools import update_wrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench import __version__, houses
from reelbench.base.errors import InputError
from reelbench.cli import console
from reelbench.cli.app import App, Group, commands_of, shown_option
from reelbench.cli.families import COMMANDS, FAMILIES, SECTIONS, family_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typer import _click

FLAGS = ("--debug", "--verbose")
"""Options of `reelbench` itself that may also stand behind the command."""


class _Commands(Group):
    """All of them, by what one wants to do."""

    sections = SECTIONS

    def known(self) -> "Mapping[str, _click.Command]":
        """All commands, whichever of them this is."""
        return dict(commands_of(typer.main.get_command(assembled())))


FIRSTS = frozenset(words.partition(" ")[0] for words in COMMANDS)
"""The first word of each."""


def assembled(named: str | None = None, *, outline: bool = False) -> App:
    """Return the command line: whole, or the one command or group that is named alone: all take 30 ms to build.

    An `outline` has all of them without their options and parts, which is what `--help` shows. A
    command of a part that isn't installed is no part of the help, and ends with a line that says
    so.
    """
    whole = named == "help" or named not in FIRSTS
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
        command, options = _command(words, place)
        if isinstance(command, App):
            groups[words] = part = copy(command)
            part.registered_commands = [] if outline else [*command.registered_commands]
            app.add_typer(part, name=words)
        elif not (outline and second):
            if outline:
                command = update_wrapper(lambda: None, command, ("__doc__",), ())
                del command.__wrapped__
            # A part of a command, as `compare power`, is one of the same group under both words
            # (`Group`).
            within = groups.get(first)
            (within or app).command((second or first) if within else words, **options)(command)
    return app


_ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True}

_OPTIONS: dict[str, dict[str, Any]] = {
    "help": {"hidden": True},
    "run": {
        "context_settings": _ANY_ARGUMENTS,
        "options_metavar": "[OPTIONS] -- LMMS_EVAL_ARGUMENTS",
    },
}


def _command(words: str, place: str) -> tuple[Any, dict[str, Any]]:
    """A command's function, or a group, and how it is added."""
    try:
        return houses.of_house(words, place), _OPTIONS.get(words, {})
    except InputError as error:
        line = str(error)

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
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Log what is decoded, and how long it takes.")
    ] = False,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    logging.basicConfig(
        level=logging.INFO if debug or verbose else logging.WARNING,
        format="%(message)s",
        stream=sys.stderr,
    )


def show_help(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAMILY|COMMAND", help=f"{', '.join(FAMILIES)}, or a command's words."
        ),
    ] = None,
) -> None:
    """Show a family of options, or a command's help."""
    top = context.find_root()
    words = words or []
    if len(words) == 1 and words[0] in FAMILIES:
        console.write(_page(words[0], top))
        return
    shown = top
    for word in words:
        command = getattr(shown.command, "commands", {}).get(word)
        if command is None:
            raise InputError(
                f"help: no command {' '.join(words)!r}, and no family of options; those are {', '.join(FAMILIES)}"
            )
        shown = command.make_context(word, [], parent=shown, resilient_parsing=True)
    console.write(shown.get_help())
    if not words:
        formatter = top.make_formatter()
        with formatter.section("Families of options, each whole in `reelbench help NAME`"):
            formatter.write_dl([(name, family.about) for name, family in FAMILIES.items()])
        console.write(f"\n{formatter.getvalue().rstrip()}")


def _page(name: str, top: "_click.Context") -> str:
    """Return a family: what it is for, each of its options once, and the commands that take any."""
    family = FAMILIES[name]
    records: dict[str, str] = {}
    takers: list[str] = []
    for words, command in commands_of(top.command):
        context = command.make_context(words, [], parent=top, resilient_parsing=True)
        mine = [part for part in command.params if family_of(part) == name]
        for parameter in mine:
            if record := parameter.get_help_record(context):
                records.setdefault(shown_option(record[0]), record[1])
        takers += [words] if mine else []
    formatter = top.make_formatter()
    formatter.write(f"{name}: {family.about}\n")
    if family.more:
        formatter.write("\n" + "".join(f"  {line}\n" for line in family.more))
    with formatter.section("Options"):
        formatter.write_dl(list(records.items()))
    with formatter.section("Commands that take them"):
        formatter.write_text(", ".join(takers))
    return formatter.getvalue().rstrip()
