"""A Typer whose help is plain text: options under their panels' headings, examples at the end.

Typer's own help is drawn by rich, whose Markdown and tracebacks take 0.25 s to import: more than
all of the rest.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from reelbench.base import settings
from reelbench.base.credentials import without_secrets
from reelbench.base.errors import InputError, first_line, printable
from reelbench.cli import console, defaults, families, synonyms
from reelbench.cli.families import EXAMPLES, FAMILIES, KEPT
from reelbench.cli.option_groups import (
    Kind,
    before_dashes,
    kind_of,
    option_name,
    shell_line,
    ungrouped,
)
from reelbench.cli.synonyms import near

if TYPE_CHECKING:
    from typer import _click

_UsageError: Any = typer.BadParameter.__mro__[
    1
]  # click's own, or that of the copy which newer versions of Typer hold
_WIDTH = 100
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}

_TYPE = re.compile(r" <(?:list\[)?([^\]> ]+)[^>]*>")
_METAVARS = {"path": "PATH", "Path": "PATH", "int": "N", "float": "X"}

ENDS_WELL = ("doctor",)
"""What takes no defaults from a file, as a broken one must not stop it."""


class App(typer.Typer):
    """A group of commands; without a command it shows its help."""

    def __init__(self, help: str, **options: Any) -> None:  # noqa: A002, ANN401 - as Typer calls it
        given = {
            "cls": Group,
            "no_args_is_help": True,
            "rich_markup_mode": None,
            "context_settings": SETTINGS,
        }
        super().__init__(help=help, subcommand_metavar="COMMAND", **{**given, **options})

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:  # noqa: ANN401
        """As Typer's, for a command that takes groups of options, and whose help has panels and examples."""
        typers = super().command(name, **{"cls": Command, **options})

        def declared(command: Callable[..., None]) -> Callable[..., None]:
            typers(ungrouped(command))
            return command

        return declared


class _Parsed:
    """How a command or a group reads what was typed: an error is one line of ours."""

    def parse_args(self, ctx: "_click.Context", args: list[str]) -> list[str]:
        """Parse the arguments; InputError for what can't be read."""
        parts = [part for part in self.get_params(ctx) if part.param_type_name == "option"]
        shown = [
            option for part in parts if not getattr(part, "hidden", False) for option in part.opts
        ]
        with _usage_errors(_words(ctx), [*args], shown):
            return super().parse_args(ctx, args)  # type: ignore[misc] - of the class beside it

    def get_params(self, ctx: "_click.Context") -> "list[_click.Parameter]":
        """Return the options, Typer's own flags with the default False: for None it would import pydantic, 0.1 s."""
        parameters = super().get_params(ctx)  # type: ignore[misc] - of the class beside it
        for parameter in parameters:
            if (
                parameter.default is None
                and getattr(parameter, "is_bool_flag", False)
                and not parameter.secondary_opts
            ):
                parameter.default = False
        return parameters


class Group(_Parsed, TyperGroup):
    """A group of commands, listed whole, under the headings of `sections` where it has any."""

    sections: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    """Heading -> names of commands."""

    def resolve_command(self, ctx: "_click.Context", args: list[str]) -> Any:  # noqa: ANN401 - click's
        """Return the command that is named; of one that isn't there, say what is."""
        if len(args) > 1 and (both := " ".join(args[:2])) in self.commands:
            return super().resolve_command(ctx, [both, *args[2:]])
        with _usage_errors(_words(ctx), args, self.commands):
            return super().resolve_command(ctx, args)

    def format_commands(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:  # noqa: ARG002 - click's
        """Write every command with the first sentence of its help, cut nowhere."""
        placed = {name for names in self.sections.values() for name in names}
        rest = tuple(name for name in self.commands if name not in placed)
        for title, names in {**self.sections, "More" if placed else "Commands": rest}.items():
            shown = [(name, self.commands[name]) for name in names if name in self.commands]
            shown = [
                (name, command) for name, command in shown if not command.hidden and " " not in name
            ]
            if shown:
                helps = {
                    name: " ".join((command.help or "").split("\n\n", maxsplit=1)[0].split())
                    for name, command in shown
                }
                with formatter.section(title):
                    firsts = {
                        name: re.split(r"(?<=\.)\s", text)[0].removesuffix(".")
                        for name, text in helps.items()
                    }
                    formatter.write_dl([*firsts.items()])


class Command(_Parsed, TyperCommand):
    """A command that shows its options by panel, and examples of its use."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - Typer's
        super().__init__(*arguments, **options)
        declared = getattr(self.callback, "__annotations__", {})
        for parameter in self.params:
            asked = families.family_of(parameter) in families.ASKED
            kind = Kind.ASKED if asked else kind_of(declared.get(parameter.name))
            parameter.kind = kind  # type: ignore[attr-defined] - ours, for `defaults`
            if parameter.param_type_name == "argument" and parameter.metavar is None:
                parameter.metavar = (parameter.name or "").upper()

    def collect_usage_pieces(self, ctx: "_click.Context") -> list[str]:  # noqa: ARG002 - click's
        """Return the words of the usage line behind the command's own; NAME… is one or more."""
        arguments = [part for part in self.params if part.param_type_name == "argument"]
        return [self.options_metavar or "", *map(shown_argument, arguments)]

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: "_click.Context | None" = None,
        **extra: Any,  # noqa: ANN401 - click's
    ) -> "_click.Context":
        """Return the command's context, in which a `reelbench.toml` gives options their defaults."""
        if parent is None or extra.get("resilient_parsing") or info_name in ENDS_WELL:
            return super().make_context(info_name, args, parent, **extra)
        words = " ".join([*_words(parent).split(), info_name or ""])
        given = defaults.defaults_of(words, self, defaults.known_to(parent))
        values = {name: default.value for name, default in given.of_parameter.items()}
        try:
            context = super().make_context(info_name, args, parent, default_map=values, **extra)
        except InputError as error:
            typed = {arg.partition("=")[0] for arg in before_dashes(args)}
            for parameter in self.params:
                default = given.of_parameter.get(parameter.name or "")
                if (
                    default is not None
                    and option_name(parameter) in str(error)
                    and not typed & {*parameter.opts}
                ):
                    raise InputError(f"{default.file}: {error}") from None
            raise
        context.meta[defaults.NAME] = given
        return context

    def parse_args(self, ctx: "_click.Context", args: list[str]) -> list[str]:
        """Parse the arguments; for an option that others use say ours, and refuse one value too many."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        words = _words(ctx)
        mine = {option for part in self.params for option in (*part.opts, *part.secondary_opts)}
        own_arguments = before_dashes(args)
        note = console.note_unless(quiet=not {"-q", "--quiet"}.isdisjoint(own_arguments))
        args = [
            *synonyms.with_our_options(own_arguments, mine, note),
            *args[len(own_arguments) :],
        ]
        given = [arg.partition("=")[0] for arg in before_dashes(args)]
        for (
            parameter
        ) in self.params:  # of an option that takes one value the last would count without a word
            single = parameter.param_type_name == "option" and not getattr(
                parameter, "is_flag", False
            )
            if (
                single
                and not parameter.multiple
                and sum(arg in parameter.opts for arg in given) > 1
            ):
                raise InputError(f"{option_name(parameter)} is given twice; give it once")
        if ctx.ignore_unknown_options and not self.hidden:  # what stands behind `--` is lmms-eval's
            unknown = next(
                (option for option in given if option.startswith("-") and option not in mine), None
            )
            if unknown is not None and unknown not in ctx.help_option_names:
                close = near(unknown, mine)
                hint = f"did you mean {close}?" if close else f"see `reelbench {words} --help`"
                raise InputError(
                    f"{words} has no {unknown}; what is lmms-eval's stands behind `--`: {hint}"
                )
        return super().parse_args(ctx, [*args])

    def invoke(self, ctx: "_click.Context") -> Any:  # noqa: ANN401 - Typer's
        """Run the command, keep its status file if it has one; on Ctrl-C say whether the same goes on from there.

        What files have set is told first, and what of a folder's file is left alone.
        """
        given = ctx.meta.get(defaults.NAME, defaults.Defaults({}))
        if given.untrusted:
            names = ", ".join(given.untrusted)
            console.note(f"{defaults.NAME}: left alone: {names}; {defaults.UNTRUSTED}")
        options = {parameter.name: option_name(parameter) for parameter in self.params}
        for name, default in given.of_parameter.items():
            source = ctx.get_parameter_source(name)
            if source is not None and source.name == "DEFAULT_MAP":
                option, value = options[name], without_secrets(str(default.value))
                console.note(f"{default.file}: {option} {value}")
                settings.FILE_DEFAULTS[option] = value  # left for the result's record
        path = ctx.params.get("status_file")
        try:
            if path is None:
                return super().invoke(ctx)
            with _status_kept(path, _words(ctx)):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            if kept := KEPT.get(_words(ctx)):
                console.note(f"stopped; rerun the command to resume: {kept}")
            raise

    def format_options(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:
        """Write arguments, options without a panel, and then each panel's."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                argument = parameter.param_type_name == "argument"
                panel = getattr(parameter, "rich_help_panel", None) or (
                    "Arguments" if argument else "Options"
                )
                name = (
                    shown_argument(parameter).strip("[]") if argument else shown_option(record[0])
                )
                panels.setdefault(panel, []).append((name, record[1]))
        shared: dict[str, int] = {}
        for title, records in panels.items():
            if family := families.OF_PANEL.get(title):
                shared[family] = shared.get(family, 0) + len(records)
            elif records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if shared:
            mine = {option for parameter in self.params for option in parameter.opts}
            lines = []
            for name, count in shared.items():
                named = [option for option in FAMILIES[name].main if option in mine]
                more = f", and {count - len(named)} more" if count > len(named) else ""
                lines.append((name, f"{', '.join(named)}{more}: {FAMILIES[name].about}"))
            with formatter.section("Shared with other commands, whole in `reelbench help NAME`"):
                formatter.write_dl(lines)

    def format_epilog(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:
        """Write the examples as they are typed, each on a line of its own however long it is."""
        formatter.write_paragraph()
        words = _words(ctx)
        lines = (f"  {f'reelbench {words} {rest}'.strip()}\n" for rest in EXAMPLES.get(words, ()))
        formatter.write("Examples:\n" + "".join(lines))
        parts = [
            name
            for name in getattr(ctx.parent and ctx.parent.command, "commands", {})
            if name.startswith(f"{words} ")
        ]
        if parts:
            formatter.write(
                "\nParts of it: " + ", ".join(f"`reelbench {part} --help`" for part in parts) + "\n"
            )


@contextmanager
def _usage_errors(words: str, typed: Sequence[str], known: Collection[str]) -> Iterator[None]:
    """Raise what Typer finds wrong in the words typed after a command's as InputError, in one line.

    It proposes what is `known`, a command or an option, where a slip of it was typed, and the line
    as it would run.
    """
    line = ["reelbench", *words.split(), *typed]
    try:
        yield
    except _UsageError as error:
        if (
            type(error).__name__ == "NoArgsIsHelpError"
        ):  # the help itself; older versions of click don't have it
            raise
        if hasattr(error, "possibilities"):
            error.possibilities = []
        message = " ".join(error.format_message().split("Did you mean")[0].split()).rstrip(".")
        where, hint = f"{words}: " if words else "", f"see `{f'reelbench {words}'.strip()} --help`"
        wrong = message.rpartition(" ")[2].strip("'")
        if message.startswith("No such") and (close := near(wrong, known)):
            meant = [
                word.replace(wrong, close, 1) if word.partition("=")[0] == wrong else word
                for word in line
            ]
            hint = f"did you mean `{shell_line(meant)}`?"
        elif message.startswith("No such option"):
            hint = synonyms.ANSWERS.get(synonyms.with_dashes(wrong), hint)
        elif message.startswith("Invalid value for '--limit'"):
            hint = synonyms.ANSWERS["--limit"]
        elif message.startswith(("Missing", "Option")) and EXAMPLES.get(words):
            hint = f"as in `{f'reelbench {words} {EXAMPLES[words][0]}'.strip()}`"
        raise InputError(f"{where}{message[:1].lower()}{message[1:]}; {hint}") from None


@contextmanager
def _status_kept(path: Path, command: str) -> Iterator[None]:
    """Keep a command's status file while the block runs."""
    from reelbench.base.status import StatusFile

    status = console.status = StatusFile(path, command)
    try:
        yield
    except KeyboardInterrupt:
        status.end("stopped")
        raise
    except typer.Exit as ended:
        status.end("failed" if ended.exit_code else "done")
        raise
    except Exception as error:
        status.end("failed", printable(first_line(error)))
        raise
    else:
        status.end("done")
    finally:
        console.status = None


def commands_of(
    command: "_click.Command", words: str = ""
) -> "Iterator[tuple[str, _click.Command]]":
    """Yield the commands of a group and of the groups in it, in the order of `--help`, each with its words."""
    inner: dict[str, _click.Command] | None = getattr(command, "commands", None)
    if inner is None:
        yield words, command
        return
    for name, part in inner.items():
        yield from commands_of(part, f"{words} {name}".strip())


def shown_argument(argument: "_click.Parameter") -> str:
    """Return an argument's name as usage lines have it: NAME, [NAME], NAME…."""
    name = (argument.metavar or argument.name or "").upper().rstrip(".…") + (
        "…" if argument.nargs != 1 else ""
    )
    return name if argument.required else f"[{name}]"


def shown_option(option: str) -> str:
    """Return an option's names with its value in our words, in the place of Typer's types."""
    return _TYPE.sub(
        lambda shown: f" {shown[1] if '|' in shown[1] else _METAVARS.get(shown[1], 'TEXT')}", option
    )


def _words(ctx: "_click.Context") -> str:
    return ctx.command_path.partition(" ")[2]
