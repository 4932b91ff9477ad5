"""The command line, made of the table of commands, and the command `help`."""

import logging
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench import __version__, houses
from reelbench.base.errors import InputError
from reelbench.cli.commands import COMMANDS, GROUPS, SECTIONS, CommandEntry
from reelbench.terminal import console
from reelbench.terminal.app import App, Command, Group, commands_of, shown_option
from reelbench.terminal.families import FAMILIES, family_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typer import _click

FLAGS = ("--debug", "--verbose")
"""Options of `reelbench` itself that may also stand behind the command."""

FIRST_WORDS = frozenset(words.partition(" ")[0] for words in COMMANDS)

_ANY_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}


class _Root(Group):
    """The group of all commands, in sections by what a user wants to do."""

    sections = SECTIONS

    def all_commands(self) -> "Mapping[str, _click.Command]":
        """Return every command by its words, whichever of them this command line has."""
        return dict(commands_of(typer.main.get_command(assembled())))


def assembled(named: str | None = None, *, outline: bool = False) -> App:
    """Return the command line, whole or with the one command or group that is named.

    To build all commands takes 30 ms. An `outline`, which is what `--help` shows, has the names and
    summaries alone and imports no command. A command of a part that isn't installed is hidden, and
    ends with a line that says so.
    """
    app = App(
        "Evaluate video-language models on story and culture: tasks for lmms-eval, scores, "
        "a leaderboard, cards.",
        name="reelbench",
        cls=_Root,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root_options)
    is_whole = named == "help" or named not in FIRST_WORDS
    groups: dict[str, App] = {}
    for words, entry in COMMANDS.items():
        first, _, second = words.partition(" ")
        if not is_whole and first != named:
            continue
        if first not in GROUPS:
            if not (outline and second):
                _add_command(app, words, words, entry, outline=outline)
        elif houses.missing(entry.place) is not None and first not in groups:
            _add_command(app, first, first, entry, outline=outline)
        else:
            if first not in groups:
                groups[first] = App(GROUPS[first])
                app.add_typer(groups[first], name=first)
            if not outline:
                _add_command(groups[first], second, words, entry, outline=False)
    return app


def _add_command(app: App, name: str, words: str, entry: CommandEntry, *, outline: bool) -> None:
    missing_room = houses.missing(entry.place)
    if missing_room is not None:
        options = {"context_settings": _ANY_OPTIONS, "hidden": True, "add_help_option": False}
        app.command(name, **options)(_refusing_command(words, missing_room))
        return
    if outline:
        app.command(name, help=entry.summary, hidden=not entry.is_listed)(_command_without_body)
        return
    context_settings = {}
    if entry.takes_any_options:
        context_settings = _ANY_OPTIONS
    command_class = partial(
        Command,
        examples=entry.examples,
        on_stop=entry.on_stop,
        shown_elsewhere=entry.shown_elsewhere,
    )
    app.command(
        name,
        cls=command_class,
        context_settings=context_settings,
        options_metavar=entry.usage,
        hidden=not entry.is_listed,
    )(_function_at(entry.place))


def _function_at(place: str) -> Callable[..., None]:
    module, _, name = place.partition(":")
    function: Callable[..., None] = getattr(import_module(module), name)
    return function


def _command_without_body() -> None:
    """Stand for a command of which an outline shows the summary alone."""


def _refusing_command(words: str, room: str) -> Callable[[], None]:
    def refuse() -> None:
        raise InputError(houses.not_installed(words, room))

    return refuse


def _show_version(value: bool) -> None:
    if value:
        console.write(__version__)
        raise typer.Exit


def _root_options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Log what is decoded, and how long it takes.")
    ] = False,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version.",
        ),
    ] = False,
) -> None:
    level = logging.INFO if debug or verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(message)s", stream=sys.stderr)


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
    root = context.find_root()
    words = words or []
    if len(words) == 1 and words[0] in FAMILIES:
        console.write(_family_page(words[0], root))
        return
    command_context = root
    for word in words:
        command = getattr(command_context.command, "commands", {}).get(word)
        if command is None:
            raise InputError(
                f"help: no command {' '.join(words)!r}, and no family of options; those are "
                f"{', '.join(FAMILIES)}"
            )
        command_context = command.make_context(
            word, [], parent=command_context, resilient_parsing=True
        )
    console.write(command_context.get_help())
    if not words:
        formatter = root.make_formatter()
        with formatter.section("Families of options (`reelbench help NAME` shows one)"):
            formatter.write_dl([(name, family.about) for name, family in FAMILIES.items()])
        console.write(f"\n{formatter.getvalue().rstrip()}")


def _family_page(name: str, root: "_click.Context") -> str:
    """Return a family's use, each of its options once, and the commands that take any."""
    family = FAMILIES[name]
    help_of_option: dict[str, str] = {}
    takers: list[str] = []
    for words, command in commands_of(root.command):
        context = command.make_context(words, [], parent=root, resilient_parsing=True)
        parameters = [part for part in command.params if family_of(part) == name]
        for parameter in parameters:
            record = parameter.get_help_record(context)
            if record is not None:
                help_of_option.setdefault(shown_option(record[0]), record[1])
        if parameters:
            takers.append(words)
    formatter = root.make_formatter()
    formatter.write(f"{name}: {family.about}\n")
    if family.more:
        formatter.write("\n" + "".join(f"  {line}\n" for line in family.more))
    with formatter.section("Options"):
        formatter.write_dl(list(help_of_option.items()))
    with formatter.section("Commands that take them"):
        formatter.write_text(", ".join(takers))
    return formatter.getvalue().rstrip()
