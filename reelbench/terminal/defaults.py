"""`reelbench.toml`: defaults for options, by command or by family of options.

The command line comes first, then the environment, then this folder's file, then the user's. What a
file sets is printed, and stands in the result's record. A folder may be a stranger's clone: its
file sets only options whose kind says that it may (`option_groups.Kind`).

    [frames]                    # a family: every command that takes its options
    frames = "uniform:32"

    [leaderboard.build]         # a command
    out = "site"                # a path: in the user's file only
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer._click.globals import get_current_context

from reelbench.base import bounds, settings
from reelbench.base.errors import InputError
from reelbench.terminal import synonyms
from reelbench.terminal.families import FAMILIES, family_of
from reelbench.terminal.option_groups import Kind, option_name

if TYPE_CHECKING:
    from typer import _click

NAME = "reelbench.toml"
APPLIED = "reelbench.applied_defaults"
"""The key of `applied` in the meta of a command's context."""
_DEEPEST = 5  # tables in each other; no command is so deep
_OF_USER = (Kind.ASKED, Kind.PATH, Kind.OWN)  # no file that came with a folder sets these

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
class Entry:
    """A line of a file: the option that it is for, and its value.

    `idle` is the reason for which it doesn't count, or empty.
    """

    file: Path
    table: str
    option: str
    value: Any
    idle: str


@dataclass(frozen=True, slots=True)
class Defaults:
    """The defaults that the files give a command, by parameter.

    `untrusted` are the lines of this folder's file that were left alone.
    """

    of_parameter: dict[str, Entry]
    untrusted: tuple[str, ...] = ()


Known = Callable[[], "Mapping[str, _click.Command]"]
"""Gives all commands by their words.

Building them takes 30 ms, and most folders have no such file.
"""


def known_to(context: "_click.Context") -> Known:
    """Return the giver of all commands that a context's command line has (its root group)."""
    root_group = context.find_root().command
    return root_group.all_commands  # type: ignore[attr-defined, no-any-return] - of our own group


def places() -> tuple[Path, Path]:
    """Return the paths of the files: this folder's, the user's."""
    return Path(NAME), settings.with_home_expanded(
        settings.XDG_CONFIG_HOME.get()
    ) / "reelbench" / NAME


def files() -> tuple[Path, ...]:
    """Return the files that there are, this folder's first."""
    return tuple(path for path in places() if path.is_file())


def defaults_of(words: str, command: "_click.Command", all_commands: Known) -> Defaults:
    """Return the files' defaults of a command's options.

    Its own table's come before its families'. Raises as `entries` does.
    """
    of_parameter: dict[str, Entry] = {}
    untrusted: list[str] = []
    own_table = words.replace(" ", ".")
    options = {
        _option_without_dashes(part): part
        for part in command.params
        if part.param_type_name == "option"
    }
    for file in files():
        file_entries = entries(file, all_commands)
        for entry in sorted(file_entries, key=lambda entry: entry.table != own_table):
            parameter = options.get(entry.option)
            if parameter is None or entry.table not in (own_table, family_of(parameter)):
                continue
            idle = _why_ignored(file, parameter)
            if idle == UNTRUSTED:
                untrusted.append(f"[{entry.table}] {entry.option}")
            elif not idle:
                of_parameter.setdefault(parameter.name or "", _with_home(entry))
    return Defaults(of_parameter, tuple(untrusted))


def _with_home(entry: Entry) -> Entry:
    """Return an entry with the home folder in the place of `~`.

    No shell has put it there.
    """
    if isinstance(entry.value, str) and entry.value.startswith("~/"):
        return replace(entry, value=os.path.expanduser(entry.value))  # noqa: PTH111
    return entry


def entries(file: Path, all_commands: Known) -> list[Entry]:
    """Return a file's entries, in its order.

    Raises:
        InputError: It is no TOML, or it says what no command takes.
    """
    file_entries: list[Entry] = []
    document = _read_document(file)
    commands = all_commands()
    for table, name, value in _setting_lines("", document):
        parameter = _option_of_line(file, table, name, commands)
        file_entries.append(Entry(file, table, name, value, _why_ignored(file, parameter)))
    return file_entries


def _read_document(file: Path) -> dict[str, Any]:
    import tomllib  # not at every start: most folders have no such file

    bounds.hold(f"{file}: bytes", file.stat().st_size, bounds.TOML_BYTES)
    try:
        text = file.read_text(encoding="utf-8")
        longest_line = max(map(len, text.splitlines()), default=0)
        bounds.hold(f"{file}: characters of a line", longest_line, bounds.TOML_LINE)
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # Of TOML, of characters, of digits, of what is nested too deep.
        raise InputError(f"{file}: not valid TOML: {error}") from None


def _setting_lines(table: str, content: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the table, name and value of each line."""
    for name, value in content.items():
        if isinstance(value, dict) and table.count(".") < _DEEPEST:
            yield from _setting_lines(f"{table}.{name}".lstrip("."), value)
        else:
            yield table, name, value


def _option_of_line(
    file: Path, table: str, name: str, commands: "Mapping[str, _click.Command]"
) -> "_click.Parameter":
    """Return the option that a line is for.

    It is one of the command or of the family that its table names.
    """
    words = table.replace(".", " ")
    command = commands.get(synonyms.COMMANDS.get(words, words))
    parameters_of_family: list[_click.Parameter] = []
    for family_command in commands.values():
        for part in family_command.params:
            if family_of(part) == table:
                parameters_of_family.append(part)
    parameters = parameters_of_family
    if command is not None:
        parameters = [*command.params, *parameters_of_family]
    for parameter in parameters:
        if _option_without_dashes(parameter) == name:
            return parameter
    if command is not None:
        why = f"`reelbench {words}` has no such option"
    elif parameters_of_family:
        why = f"no such option; see `reelbench help {table}`"
    else:
        why = "no such command or family of options; `reelbench help` lists them"
    option_names = [_option_without_dashes(parameter) for parameter in parameters]
    close = get_close_matches(name.replace("_", "-"), option_names, n=1)
    if table and not parameters:
        close = get_close_matches(words, [*commands, *FAMILIES], n=1)
    line = name
    if table:
        line = f"[{table}] {name}"
    hint = ""
    if close:
        hint = f"; did you mean {close[0]!r}?"
    raise InputError(f"{file}: {line}: {why}{hint}")


UNTRUSTED = (
    "a folder's file may set only frames, languages, formats, columns, rows and limits; the rest "
    "goes into {NAME} of ~/.config/reelbench"
)


def _why_ignored(file: Path, parameter: "_click.Parameter") -> str:
    """Return the reason for which a file's value doesn't count, or an empty text.

    It came with the folder and only the user may say it, or a variable is set.
    """
    kind = getattr(parameter, "kind", Kind.OWN)
    if kind == Kind.TYPED:
        return "no file may set it: type it in the command"
    if file.parent == Path() and kind in _OF_USER:
        return UNTRUSTED  # the folder may be a stranger's clone
    setting = _ENVIRONMENT.get(parameter.name or "")
    if setting is not None and setting.is_set:
        return f"{setting.name} is set"
    return ""


def _option_without_dashes(parameter: "_click.Parameter") -> str:
    return option_name(parameter).removeprefix("--")


def applied() -> dict[str, str]:
    """Return the options of the running command that files have set, with their values."""
    context = get_current_context(silent=True)
    if context is None:
        return {}
    return context.meta.get(APPLIED, {})
