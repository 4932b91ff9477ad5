"""A Typer whose help is plain text: options under their panels' headings, examples at the end.

Typer's own help is drawn by rich, whose Markdown and tracebacks take 0.25 s to import: more than all of the rest.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from reelbench.cli import console, defaults, families
from reelbench.cli.families import EXAMPLES, FAMILIES, GUESSED_COMMANDS, GUESSED_OPTIONS, GUESSED_VALUES
from reelbench.cli.option_groups import Kind, before_dashes, kind_of, option_of
from reelbench.registry import settings
from reelbench.registry.credentials import without_credentials
from reelbench.registry.errors import InputError, first_line, printable

if TYPE_CHECKING:
    from typer import _click

_UsageError: Any = typer.BadParameter.__mro__[1]  # click's own, or that of the copy which newer versions of Typer hold
_WIDTH = 100
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}

_TYPE = re.compile(r" <(?:list\[)?([^\]> ]+)[^>]*>")
_METAVARS = {"path": "PATH", "Path": "PATH", "int": "N", "float": "X"}

_REPLIES = "nothing is paid for twice"
_RUN = f"decoded frames are kept, and {_REPLIES}; the model's answers are kept only with lmms-eval's --use_cache"
KEPT = {
    **dict.fromkeys(("score", "ask", "profile", "make discussion", "make moments", "make tags"), _REPLIES),
    **dict.fromkeys(("diagnose graphs", "diagnose errors"), _REPLIES),
    **dict.fromkeys(("run", "diagnose run"), _RUN),
    "cache copy": "what is there already isn't copied again",
    "frames extract": "what the store has is not decoded again",
    "data fetch": "what is here is not fetched again",
}
"""What a command that is stopped leaves for the next time; the others do no long work."""

_ONE_FILE = "a file of predictions is --predictions FILE; `score` each into an --output of its own, then `compare`"

ENDS_WELL = ("doctor",)
"""What takes no defaults from a file, as a broken one must not stop it."""


class App(typer.Typer):
    """A group of commands; without a command it shows its help."""

    def __init__(self, help: str, **options: Any) -> None:  # noqa: A002, ANN401 - as Typer calls it
        given = {"cls": Group, "no_args_is_help": True, "rich_markup_mode": None, "context_settings": SETTINGS}
        super().__init__(help=help, **{**given, **options})

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:  # noqa: ANN401
        """As Typer's, for a command whose help has panels and examples."""
        return super().command(name, **{"cls": Command, **options})


class _Parsed:
    """How a command or a group reads what was typed: an error is one line of ours."""

    def parse_args(self, ctx: "_click.Context", args: list[str]) -> list[str]:
        """Parse the arguments; InputError for what can't be read."""
        hidden = {option for part in self.get_params(ctx) if getattr(part, "hidden", False) for option in part.opts}
        with _usage_errors(_words(ctx), hidden):
            return super().parse_args(ctx, args)  # type: ignore[misc] - of the class beside it

    def get_params(self, ctx: "_click.Context") -> "list[_click.Parameter]":
        """Return the options, Typer's own flags with the default False: for None it would import pydantic, 0.1 s."""
        parameters = super().get_params(ctx)  # type: ignore[misc] - of the class beside it
        for parameter in parameters:
            if parameter.default is None and getattr(parameter, "is_bool_flag", False) and not parameter.secondary_opts:
                parameter.default = False
        return parameters


class Group(_Parsed, TyperGroup):
    """A group of commands, listed whole, under the headings of `sections` where it has any."""

    sections: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    """Heading -> names of commands."""

    def known(self) -> "Mapping[str, _click.Command]":
        """All commands of the command line, by their words."""
        return dict(commands_of(self))

    def resolve_command(self, ctx: "_click.Context", args: list[str]) -> Any:  # noqa: ANN401 - click's
        """Return the command that is named; for a name that others use for it, say ours."""
        if args and args[0] not in self.commands and (hint := GUESSED_COMMANDS.get(args[0])):
            raise InputError(f"no command {args[0]!r}: {hint}")
        with _usage_errors(_words(ctx)):
            return super().resolve_command(ctx, args)

    def collect_usage_pieces(self, ctx: "_click.Context") -> list[str]:  # noqa: ARG002 - click's
        """Return the words of the usage line behind the command's own."""
        return ["[OPTIONS]", "COMMAND"]

    def format_commands(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:  # noqa: ARG002 - click's
        """Write every command with the first sentence of its help, cut nowhere."""
        placed = {name for names in self.sections.values() for name in names}
        rest = tuple(name for name in self.commands if name not in placed)
        for title, names in {**self.sections, "More" if placed else "Commands": rest}.items():
            shown = [(name, self.commands[name]) for name in names if name in self.commands]
            shown = [(name, command) for name, command in shown if not command.hidden]
            if shown:
                with formatter.section(title):
                    formatter.write_dl([(name, _first_sentence(command.help or "")) for name, command in shown])


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
                if default is not None and option_of(parameter) in str(error) and not typed & {*parameter.opts}:
                    raise InputError(f"{default.file}: {error}") from None
            raise
        context.meta[defaults.NAME] = given
        return context

    def parse_args(self, ctx: "_click.Context", args: list[str]) -> list[str]:
        """Parse the arguments; for an option that others use say ours, and refuse one value too many."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        words, given = _words(ctx), [arg.partition("=")[0] for arg in before_dashes(args)]
        for parameter in self.params:  # of an option that takes one value the last would count without a word
            single = parameter.param_type_name == "option" and not getattr(parameter, "is_flag", False)
            if single and not parameter.multiple and sum(arg in parameter.opts for arg in given) > 1:
                hint = f"; {_ONE_FILE}" if parameter.name == "predictions" else ""
                raise InputError(f"{option_of(parameter)} is given twice; give it once{hint}")
        mine = {option for parameter in self.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for option in given:
            hints = {} if option in mine else GUESSED_OPTIONS.get(option, {})
            if hint := hints.get(words) or hints.get(words.partition(" ")[0]) or hints.get(""):
                raise InputError(f"{words} has no {option}: {hint}")
        for value, hint in GUESSED_VALUES.get(words, {}).items():
            if value in args:
                raise InputError(f"{words} writes no {value}: {hint}")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: "_click.Context") -> Any:  # noqa: ANN401 - Typer's
        """Run the command, keep its status file if it has one; on Ctrl-C say whether the same goes on from there."""
        _tell_defaults(ctx)
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
                panel = getattr(parameter, "rich_help_panel", None) or ("Arguments" if argument else "Options")
                name = shown_argument(parameter).strip("[]") if argument else shown_option(record[0])
                panels.setdefault(panel, []).append((name, record[1]))
        shared: dict[str, int] = {}
        for title, records in panels.items():
            if family := families.of_panel(title):
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


@contextmanager
def _usage_errors(words: str, hidden: Collection[str] = ()) -> Iterator[None]:
    """Raise what Typer finds wrong in the words typed after a command's as InputError, in one line.

    It never proposes the options that are `hidden`.
    """
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help itself; older versions of click don't have it
            raise
        if close := getattr(error, "possibilities", None):
            error.possibilities = [option for option in close if option not in hidden]
        message = " ".join(error.format_message().split()).rstrip(".")
        where, hint = f"{words}: " if words else "", f"see `{f'reelbench {words}'.strip()} --help`"
        if words == "score" and "extra argument" in message:
            hint = _ONE_FILE
        elif "missing option '--store'" in message.lower():
            hint = "a folder that `reelbench leaderboard add RUN_DIR --store FOLDER` fills"
        raise InputError(f"{where}{message[:1].lower()}{message[1:]}; {hint}") from None


@contextmanager
def _status_kept(path: Path, command: str) -> Iterator[None]:
    """Keep a command's status file while the block runs."""
    from reelbench.registry.status import StatusFile

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


def _tell_defaults(ctx: "_click.Context") -> None:
    """Say, and leave for the result's record, what files have set; say what of a folder's file is left alone."""
    given = ctx.meta.get(defaults.NAME)
    if given is None:
        return
    if given.untrusted:
        names = ", ".join(given.untrusted)
        console.note(f"{defaults.NAME}: left alone: {names}; {defaults.UNTRUSTED}")
    options = {parameter.name: option_of(parameter) for parameter in ctx.command.params}
    for name, default in given.of_parameter.items():
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "DEFAULT_MAP":
            option = options[name]
            value = without_credentials(str(default.value))
            console.note(f"{default.file}: {option} {value}")
            settings.FILE_DEFAULTS[option] = value


def commands_of(command: "_click.Command", words: str = "") -> "Iterator[tuple[str, _click.Command]]":
    """Yield the commands of a group and of the groups in it, in the order of `--help`, each with its words."""
    inner: dict[str, _click.Command] | None = getattr(command, "commands", None)
    if inner is None:
        yield words, command
        return
    for name, part in inner.items():
        yield from commands_of(part, f"{words} {name}".strip())


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s", " ".join(text.split("\n\n", maxsplit=1)[0].split()))[0].removesuffix(".")


def shown_argument(argument: "_click.Parameter") -> str:
    """Return an argument's name as usage lines have it: NAME, [NAME], NAME…."""
    name = (argument.metavar or argument.name or "").upper().rstrip(".…") + ("…" if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def shown_option(option: str) -> str:
    """Return an option's names with its value in our words, in the place of Typer's types."""
    return _TYPE.sub(lambda shown: f" {shown[1] if '|' in shown[1] else _METAVARS.get(shown[1], 'TEXT')}", option)


def _words(ctx: "_click.Context") -> str:
    return ctx.command_path.partition(" ")[2]
