"""The classes of commands: a Typer whose help is plain text, and whose errors are one line.

Options stand under their panels' headings, examples at the end. Typer's own help is drawn by rich,
whose Markdown and tracebacks take 0.25 s to import: more than all of the rest.
"""

import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer._click.exceptions import NoArgsIsHelpError, NoSuchOption, UsageError
from typer.core import TyperCommand, TyperGroup

from reelbench.base.credentials import without_secrets
from reelbench.base.errors import InputError, first_line, printable
from reelbench.terminal import console, defaults, families, synonyms
from reelbench.terminal.families import FAMILIES
from reelbench.terminal.option_groups import (
    Kind,
    before_dashes,
    kind_of,
    option_name,
    shell_line,
    ungrouped,
)

if TYPE_CHECKING:
    from typer import _click

_WIDTH = 100
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}

_TYPE = re.compile(r" <(?:list\[)?([^\]> ]+)[^>]*>")
_METAVARS = {"path": "PATH", "Path": "PATH", "int": "N", "float": "X"}
_SENTENCE_END = re.compile(r"(?<=\.)\s")

_WITHOUT_DEFAULTS = ("doctor",)
"""Commands that take no defaults from a file, as a broken file must not stop them."""


class App(typer.Typer):
    """A group of commands; without a command it shows its help."""

    def __init__(self, help: str, **options: Any) -> None:  # noqa: A002, ANN401 - as Typer calls it
        ours = {
            "cls": Group,
            "no_args_is_help": True,
            "rich_markup_mode": None,
            "context_settings": _SETTINGS,
        }
        super().__init__(help=help, subcommand_metavar="COMMAND", **{**ours, **options})

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:  # noqa: ANN401
        """Return Typer's decorator, for a command that may take groups of options."""
        register = super().command(name, **{"cls": Command, **options})

        def decorate(command: Callable[..., None]) -> Callable[..., None]:
            register(ungrouped(command))
            return command

        return decorate


class _Parsed:
    """The parsing of commands and groups: each usage error is one line of ours."""

    examples: Sequence[str] = ()

    def parse_args(self, ctx: "_click.Context", args: list[str]) -> list[str]:
        """Parse the arguments. InputError for what can't be read."""
        known_options: list[str] = []
        for part in self.get_params(ctx):
            if part.param_type_name == "option" and not getattr(part, "hidden", False):
                known_options += part.opts
        line = _TypedLine(_command_words(ctx), [*args], known_options, self.examples)
        with _usage_errors(line):
            return super().parse_args(ctx, args)  # type: ignore[misc] - of the class beside it

    def get_params(self, ctx: "_click.Context") -> "list[_click.Parameter]":
        """Return the options, Typer's own flags with the default False.

        For the default None Typer would import pydantic, which takes 0.1 s.
        """
        parameters = super().get_params(ctx)  # type: ignore[misc] - of the class beside it
        for parameter in parameters:
            is_flag = getattr(parameter, "is_bool_flag", False)
            if parameter.default is None and is_flag and not parameter.secondary_opts:
                parameter.default = False
        return parameters


class Group(_Parsed, TyperGroup):
    """A group of commands, listed whole, under the headings of `sections` where it has any."""

    sections: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    """Heading -> names of commands."""

    def resolve_command(self, ctx: "_click.Context", args: list[str]) -> Any:  # noqa: ANN401 - click's
        """Return the command that is named; of one that isn't there, say what is."""
        both_words = " ".join(args[:2])
        if len(args) > 1 and both_words in self.commands:
            return super().resolve_command(ctx, [both_words, *args[2:]])
        with _usage_errors(_TypedLine(_command_words(ctx), args, self.commands, ())):
            return super().resolve_command(ctx, args)

    def format_commands(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:  # noqa: ARG002 - click's
        """Write every command with the first sentence of its help, cut nowhere."""
        remaining = dict(self.commands)
        for title, names in self.sections.items():
            _write_commands(formatter, title, {name: remaining.pop(name, None) for name in names})
        title = "Commands"
        if self.sections:
            title = "More"
        _write_commands(formatter, title, remaining)


def _write_commands(
    formatter: "_click.HelpFormatter",
    title: str,
    commands: "Mapping[str, _click.Command | None]",
) -> None:
    rows: list[tuple[str, str]] = []
    for name, command in commands.items():
        is_part_of_another = " " in name
        if command is not None and not command.hidden and not is_part_of_another:
            paragraph = " ".join((command.help or "").split("\n\n", maxsplit=1)[0].split())
            first_sentence = _SENTENCE_END.split(paragraph)[0]
            rows.append((name, first_sentence.removesuffix(".")))
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


class Command(_Parsed, TyperCommand):
    """A command that shows its options by panel, and examples of its use.

    An example is what follows the command's words. `on_stop` says what stays for the next time
    where the command is stopped. `shown_elsewhere` are options that the help only names, by the
    command whose help explains them.
    """

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401 - Typer's
        examples: Sequence[str] = (),
        on_stop: str = "",
        shown_elsewhere: Mapping[str, Sequence[str]] = MappingProxyType({}),
        **options: Any,  # noqa: ANN401 - Typer's
    ) -> None:
        super().__init__(*arguments, **options)
        self.examples = examples
        self.on_stop = on_stop
        self.shown_elsewhere = shown_elsewhere
        annotations = getattr(self.callback, "__annotations__", {})
        for parameter in self.params:
            kind = kind_of(annotations.get(parameter.name))
            if kind != Kind.TYPED and families.family_of(parameter) in families.ASKED:
                kind = Kind.ASKED
            parameter.kind = kind  # type: ignore[attr-defined] - ours, for `defaults`
            if parameter.param_type_name == "argument" and parameter.metavar is None:
                parameter.metavar = (parameter.name or "").upper()

    def collect_usage_pieces(self, ctx: "_click.Context") -> list[str]:  # noqa: ARG002 - click's
        """Return the words of the usage line that follow the command's own.

        NAME… is one or more.
        """
        arguments = [part for part in self.params if part.param_type_name == "argument"]
        return [self.options_metavar or "", *map(shown_argument, arguments)]

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: "_click.Context | None" = None,
        **extra: Any,  # noqa: ANN401 - click's
    ) -> "_click.Context":
        """Return the command's context.

        In it a `reelbench.toml` gives options their defaults.
        """
        is_completing = extra.get("resilient_parsing")
        if parent is None or is_completing or info_name in _WITHOUT_DEFAULTS:
            return super().make_context(info_name, args, parent, **extra)
        words = " ".join([*_command_words(parent).split(), info_name or ""])
        from_files = defaults.defaults_of(words, self, defaults.known_to(parent))
        values = {name: default.value for name, default in from_files.of_parameter.items()}
        try:
            context = super().make_context(info_name, args, parent, default_map=values, **extra)
        except InputError as error:
            file = self._file_at_fault(from_files, args, str(error))
            if file is None:
                raise
            raise InputError(f"{file}: {error}") from None
        context.meta[defaults.NAME] = from_files
        return context

    def _file_at_fault(
        self, from_files: defaults.Defaults, args: list[str], error: str
    ) -> Path | None:
        """Return the file whose default an error is about, or None."""
        typed_names = {argument.partition("=")[0] for argument in before_dashes(args)}
        for parameter in self.params:
            default = from_files.of_parameter.get(parameter.name or "")
            is_typed = not typed_names.isdisjoint(parameter.opts)
            if default is None or is_typed:
                continue
            if option_name(parameter) in error:
                return default.file
        return None

    def parse_args(self, ctx: "_click.Context", args: list[str]) -> list[str]:
        """Parse the arguments, synonyms as our options.

        Raises:
            InputError: An option that takes one value has two, of which the last would count
                without a word, or an option before `--` isn't ours.
        """
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        known_options: set[str] = set()
        for part in self.params:
            known_options |= {*part.opts, *part.secondary_opts}
        our_arguments = before_dashes(args)
        further_arguments = args[len(our_arguments) :]
        self._refuse_model_of_eval(ctx, our_arguments, further_arguments)
        is_quiet = "-q" in our_arguments or "--quiet" in our_arguments
        note = console.note_unless(quiet=is_quiet)
        our_arguments = synonyms.with_our_options(our_arguments, known_options, note)
        typed_names = [argument.partition("=")[0] for argument in our_arguments]
        self._check_single_values(typed_names)
        if ctx.ignore_unknown_options and not self.hidden:
            self._check_before_dashes(ctx, typed_names, known_options)
        return super().parse_args(ctx, [*our_arguments, *further_arguments])

    def _refuse_model_of_eval(
        self, ctx: "_click.Context", our_arguments: Sequence[str], further_arguments: Sequence[str]
    ) -> None:
        """Raise InputError where `run`, which starts lmms-eval, is given what `eval` takes."""
        if _command_words(ctx) != "run" or further_arguments:
            return
        typed_names = [argument.partition("=")[0] for argument in our_arguments]
        if "--model" in typed_names or "-m" in typed_names:
            raise InputError(
                "run starts lmms-eval, whose options go after `--`; a model is asked with "
                "`reelbench eval NAME --model MODEL --base-url URL`"
            )

    def _check_single_values(self, typed_names: Sequence[str]) -> None:
        for parameter in self.params:
            is_flag = getattr(parameter, "is_flag", False)
            if parameter.param_type_name != "option" or is_flag or parameter.multiple:
                continue
            times = [name for name in typed_names if name in parameter.opts]
            if len(times) > 1:
                raise InputError(f"{option_name(parameter)} is given twice; give it once")

    def _check_before_dashes(
        self, ctx: "_click.Context", typed_names: Sequence[str], known_options: Collection[str]
    ) -> None:
        """Raise InputError for an option before `--` that is not ours: lmms-eval's go after it."""
        words = _command_words(ctx)
        for name in typed_names:
            if not name.startswith("-") or name in known_options or name in ctx.help_option_names:
                continue
            close = synonyms.near(name, known_options)
            hint = f"as in `reelbench {words} {self.examples[0]}`"
            if close:
                hint = f"did you mean {close}?"
            raise InputError(f"{words} has no {name}; lmms-eval's options go after `--`: {hint}")

    def invoke(self, ctx: "_click.Context") -> Any:  # noqa: ANN401 - Typer's
        """Run the command, and keep its status file if it has one.

        What files have set is told first, and what of a folder's file is left alone. On Ctrl-C it
        says whether the same command goes on from there.
        """
        self._tell_defaults(ctx)
        status_path = ctx.params.get("status_file")
        try:
            if status_path is None:
                return super().invoke(ctx)
            with _status_file(status_path, _command_words(ctx)):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            if self.on_stop:
                console.note(f"stopped; rerun the command to resume: {self.on_stop}")
            raise

    def _tell_defaults(self, ctx: "_click.Context") -> None:
        from_files = ctx.meta.get(defaults.NAME)
        if from_files is None:
            return
        if from_files.untrusted:
            names = ", ".join(from_files.untrusted)
            console.note(f"{defaults.NAME}: left alone: {names}; {defaults.UNTRUSTED}")
        options = {parameter.name: option_name(parameter) for parameter in self.params}
        applied: dict[str, str] = {}
        for name, default in from_files.of_parameter.items():
            source = ctx.get_parameter_source(name)
            if source is not None and source.name == "DEFAULT_MAP":
                option = options[name]
                value = without_secrets(str(default.value))
                console.note(f"{default.file}: {option} {value}")
                applied[option] = value
        ctx.meta[defaults.APPLIED] = applied

    def format_options(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:
        """Write arguments, options without a panel, and then each panel's."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        elsewhere = set(chain.from_iterable(self.shown_elsewhere.values()))
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None or elsewhere & {*parameter.opts}:
                continue
            panel = getattr(parameter, "rich_help_panel", None)
            if parameter.param_type_name == "argument":
                name = shown_argument(parameter).strip("[]")
                panels.setdefault(panel or "Arguments", []).append((name, record[1]))
            else:
                name = shown_option(record[0])
                panels.setdefault(panel or "Options", []).append((name, record[1]))
        options_in_family: dict[str, int] = {}
        for title, records in panels.items():
            family = families.OF_PANEL.get(title)
            if family:
                options_in_family[family] = options_in_family.get(family, 0) + len(records)
            elif records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if self.shown_elsewhere:
            with formatter.section("As in the help of"):
                rows = [(name, ", ".join(part)) for name, part in self.shown_elsewhere.items()]
                formatter.write_dl(rows)
        if options_in_family:
            title = "More options (`reelbench help NAME`)"
            with formatter.section(title):
                formatter.write_dl(self._family_lines(options_in_family))

    def _family_lines(self, options_in_family: Mapping[str, int]) -> list[tuple[str, str]]:
        known_options: set[str] = set()
        for parameter in self.params:
            known_options.update(parameter.opts)
        lines: list[tuple[str, str]] = []
        for name, count in options_in_family.items():
            family = FAMILIES[name]
            named = [option for option in family.main if option in known_options]
            more = ""
            if count > len(named):
                more = f", and {count - len(named)} more"
            lines.append((name, f"{', '.join(named)}{more}: {family.about}"))
        return lines

    def format_epilog(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:
        """Write the examples as they are typed.

        Each has a line of its own, however long it is.
        """
        formatter.write_paragraph()
        words = _command_words(ctx)
        formatter.write("Examples:\n")
        for example in self.examples:
            line = f"reelbench {words} {example}".strip()
            formatter.write(f"  {line}\n")
        siblings: Mapping[str, Any] = {}
        if ctx.parent is not None:
            siblings = getattr(ctx.parent.command, "commands", {})
        parts = [f"`reelbench {name} --help`" for name in siblings if name.startswith(f"{words} ")]
        if parts:
            formatter.write(f"\nParts of it: {', '.join(parts)}\n")


class _TypedLine:
    """The line that was typed, with the words and examples for a hint."""

    def __init__(
        self,
        words: str,
        typed: Sequence[str],
        known_words: Collection[str],
        examples: Sequence[str],
    ) -> None:
        self.words = words
        self.line = ["reelbench", *words.split(), *typed]
        self.known_words = known_words
        self.examples = examples

    def hint(self, message: str) -> str:
        """Return the advice that belongs to a message of Typer's."""
        wrong_word = message.rpartition(" ")[2].strip("'")
        answer = None
        if message.startswith("No such"):
            answer = self._answer_to_unknown(message, wrong_word)
        elif message.startswith("Got unexpected extra argument"):
            answer = synonyms.GUESSES.get(self._words_with_media)
        elif message.startswith("Invalid value for '--limit'"):
            answer = synonyms.ANSWERS["--limit"]
        elif message.startswith(("Missing", "Option")) and self.examples:
            example = f"reelbench {self.words} {self.examples[0]}".strip()
            answer = f"as in `{example}`"
        if answer is not None:
            return answer
        command = f"reelbench {self.words}".strip()
        return f"see `{command} --help`"

    @property
    def _words_with_media(self) -> str:
        """The command's words; with `--media`, whose folder is the argument too many."""
        if "--media" in self.line:
            return f"{self.words} --media"
        return self.words

    def _answer_to_unknown(self, message: str, wrong_word: str) -> str | None:
        """Return the answer to a command or an option that is not there, or None.

        A guess is answered first: our nearest word would often be another one.
        """
        dashed = synonyms.with_dashes(wrong_word)
        guess = synonyms.GUESSES.get(f"{self.words} {dashed}".strip())
        if guess is not None:
            return guess
        close = synonyms.near(wrong_word, self.known_words)
        if close:
            return f"did you mean `{shell_line(self._corrected_line(close, wrong_word))}`?"
        answer = synonyms.ANSWERS.get(dashed)
        if answer is None and message.startswith("No such command"):
            return synonyms.GUESSES.get(self.words)
        return answer

    def _corrected_line(self, right_word: str, wrong_word: str) -> list[str]:
        """Return the line with one word in the place of another."""
        corrected: list[str] = []
        for word in self.line:
            if word.partition("=")[0] == wrong_word:
                word = word.replace(wrong_word, right_word, 1)  # noqa: PLW2901 - the same word
            corrected.append(word)
        return corrected


@contextmanager
def _usage_errors(line: _TypedLine) -> Generator[None]:
    """Raise Typer's errors about what was typed as InputError, in one line with a hint."""
    try:
        yield
    except NoArgsIsHelpError:
        raise
    except UsageError as error:
        if isinstance(error, NoSuchOption):
            error.possibilities = []
        message = " ".join(error.format_message().split("Did you mean")[0].split()).rstrip(".")
        where = ""
        if line.words:
            where = f"{line.words}: "
        lower_case = message[:1].lower() + message[1:]
        raise InputError(f"{where}{lower_case}; {line.hint(message)}") from None


@contextmanager
def _status_file(path: Path, command: str) -> Generator[None]:
    """Keep a command's status file while the block runs."""
    from reelbench.base.status import StatusFile

    status = StatusFile(path, command)
    console.status = status
    try:
        yield
    except KeyboardInterrupt:
        status.end("stopped")
        raise
    except typer.Exit as end:
        if end.exit_code:
            status.end("failed")
        else:
            status.end("done")
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
    """Yield each command of a group, and of the groups in it, with its words.

    The order is that of `--help`.
    """
    members: dict[str, _click.Command] | None = getattr(command, "commands", None)
    if members is None:
        yield words, command
        return
    for name, part in members.items():
        yield from commands_of(part, f"{words} {name}".strip())


def shown_argument(argument: "_click.Parameter") -> str:
    """Return an argument's name as usage lines have it: NAME, [NAME], NAME…."""
    name = (argument.metavar or argument.name or "").upper().rstrip(".…")
    if argument.nargs != 1:
        name += "…"
    if argument.required:
        return name
    return f"[{name}]"


def shown_option(option: str) -> str:
    """Return an option's names and its value as help shows them.

    The value is in our words, in the place of Typer's types.
    """
    return _TYPE.sub(_shown_type, option)


def _shown_type(typers: re.Match[str]) -> str:
    if "|" in typers[1]:
        return f" {typers[1]}"
    return f" {_METAVARS.get(typers[1], 'TEXT')}"


def _command_words(ctx: "_click.Context") -> str:
    return ctx.command_path.partition(" ")[2]
