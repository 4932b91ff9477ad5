"""`reelbench.toml`: defaults for options, of this folder and of the user, by command or by family of options.

The command line comes first, then the environment, then this folder's file, then the user's. What a file sets is
printed, and stands in the result's record.

    [frames]                    # a family: every command that takes its options
    frames = "uniform:32"

    [leaderboard.build]         # a command
    out = "site"
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.cli.families import FAMILIES, family_of
from reelbench.cli.option_groups import option_of
from reelbench.registry import settings
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from typer import _click

NAME = "reelbench.toml"

_TRUSTED_FAMILIES = ("judge", "llm")
_TRUSTED = ("model", "preset", "url", "prompts", "log", "endpoint", "secret", "budget", "key")
"""What a folder's file never sets: who is asked, where, for how much, and where the answers go. A folder may be a
stranger's clone."""

_ENVIRONMENT = {
    "judge": settings.JUDGE,
    "judge_url": settings.JUDGE_URL,
    "llm_url": settings.LLM_URL,
    "frames": settings.FRAMES,
    "candidates": settings.CANDIDATES,
    "answering": settings.ANSWERING,
    "label": settings.LABEL,
}
"""Parameter -> the variable that stands before a file's default."""


@dataclass(frozen=True, slots=True)
class Default:
    """A default of one option, and the file that gives it."""

    value: Any
    file: Path


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the files give a command, and what of this folder's file was left alone."""

    of_parameter: dict[str, Default]
    untrusted: tuple[str, ...] = ()


def places() -> tuple[Path, Path]:
    """Return where a file may stand: in this folder, and in the user's configuration."""
    return Path(NAME), Path(settings.XDG_CONFIG_HOME.get()).expanduser() / "reelbench" / NAME


def none_here() -> str:
    """Say that there is no file, and where one may stand."""
    here, configuration = places()
    return f"none; defaults for options may stand in {here.absolute()} or {configuration}"


def files() -> tuple[Path, ...]:
    """Return the files that there are, this folder's first."""
    return tuple(path for path in places() if path.is_file())


def defaults_of(words: str, command: "_click.Command") -> Defaults:
    """Return what the files say of a command's options.

    Raises:
        InputError: A file is no TOML, or has a table or an option that there isn't.
    """
    given: dict[str, Default] = {}
    untrusted: list[str] = []
    for file in files():
        for table, parameter, value in _entries(_read(file), words, command):
            if file.parent == Path() and _needs_trust(parameter):
                untrusted.append(f"[{table}] {_option(parameter)}")
            elif not _in_environment(parameter):
                given.setdefault(parameter.name or "", Default(value, file))
    return Defaults(given, tuple(untrusted))


def entries(file: Path) -> list[tuple[str, str, Any]]:
    """Return a file's defaults: table, option and value, in its order.

    Raises:
        InputError: As `defaults_of`.
    """

    def walk(table: str, content: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
        for name, value in content.items():
            if isinstance(value, dict):
                yield from walk(f"{table}.{name}".lstrip("."), value)
            else:
                yield table, name, value

    return list(walk("", _read(file)))


def _read(file: Path) -> dict[str, Any]:
    import tomllib  # not at every start: most folders have no such file

    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:  # of TOML, of characters, of a number with more digits than Python reads
        raise InputError(f"{file}: not valid TOML: {error}") from None
    _check(document, file)
    return document


def _check(document: dict[str, Any], file: Path) -> None:
    """Raise InputError for a table or an option that no command takes, whichever runs: it would count for nothing."""
    from typer.main import get_command

    from reelbench.cli.app import commands_of
    from reelbench.cli.main import app

    top = get_command(app)
    of_families: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for _, command in commands_of(top):
        for parameter in command.params:
            of_families.get(family_of(parameter) or "", []).append(_option(parameter))

    def walk(table: str, content: dict[str, Any], command: "_click.Command | None") -> None:
        commands = getattr(command, "commands", {})
        family = of_families.get(table)
        own = [] if command is None or commands else [_option(parameter) for parameter in _options(command)]
        options = {*(family or ()), *own}
        for name, value in content.items():
            if not isinstance(value, dict):
                if name not in options:
                    raise InputError(f"{file}: {_unknown(table, name, options, family=family is not None)}")
            elif name in commands or (not table and name in FAMILIES):
                walk(f"{table}.{name}".lstrip("."), value, commands.get(name))
            else:
                known = [*commands, *(() if table else FAMILIES)]
                where = f"{table}.{name}".lstrip(".")
                advice = _close(name, known) or (f"; there are {', '.join(known)}" if known else "")
                raise InputError(f"{file}: [{where}]: no command, and no family of options{advice}")

    walk("", document, top)


def _unknown(table: str, name: str, options: Collection[str], *, family: bool) -> str:
    """Return what to say of an option that its table doesn't have."""
    if not options:
        example = f"[{table}.NAME]" if table else "[ask], or of a family, like [frames]"
        return f"{f'[{table}] ' if table else ''}{name}: an option stands in the table of a command, like {example}"
    words = table.replace(".", " ")
    if family:
        advice = _close(name, options) or f"; there are {', '.join(sorted(options))}"
        return f"[{table}] {name}: this family has no such option{advice}"
    advice = _close(name, options) or f"; see `reelbench {words} --help`"
    return f"[{table}] {name}: `reelbench {words}` has no such option{advice}"


def _close(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _entries(
    document: dict[str, Any], words: str, command: "_click.Command"
) -> "Iterator[tuple[str, _click.Parameter, Any]]":
    """Yield table, parameter and value of what the command takes: its own table's first, then its families'."""
    own: Any = document
    for word in words.split():
        own = own.get(word, {}) if isinstance(own, dict) else {}
    parameters = {_option(parameter): parameter for parameter in _options(command)}
    if isinstance(own, dict):
        for name, value in own.items():
            if name in parameters:
                yield words.replace(" ", "."), parameters[name], value
    for family in FAMILIES:
        table = document.get(family, {})
        for name, value in table.items() if isinstance(table, dict) else ():
            if name in parameters and family_of(parameters[name]) == family and family != words:
                yield family, parameters[name], value


def _needs_trust(parameter: "_click.Parameter") -> bool:
    name = parameter.name or ""
    return family_of(parameter) in _TRUSTED_FAMILIES or any(word in name for word in _TRUSTED)


def _in_environment(parameter: "_click.Parameter") -> bool:
    setting = _ENVIRONMENT.get(parameter.name or "")
    return setting is not None and setting.is_set


def _options(command: "_click.Command") -> "list[_click.Parameter]":
    return [parameter for parameter in command.params if parameter.param_type_name == "option"]


def _option(parameter: "_click.Parameter") -> str:
    return option_of(parameter).removeprefix("--")
