"""`reelbench.toml`: defaults for options, of this folder and of the user, by command or by family of options.

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

from reelbench.base import bounds, settings
from reelbench.base.errors import InputError
from reelbench.terminal.families import FAMILIES, family_of
from reelbench.terminal.option_groups import Kind, option_name

if TYPE_CHECKING:
    from typer import _click

NAME = "reelbench.toml"
_DEEPEST = 5  # tables in each other; no command is so deep

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
    """A line of a file, the option that it is for, and whether it counts: `idle` is why not, or empty."""

    file: Path
    table: str
    option: str
    value: Any
    idle: str


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the files give a command, and what of this folder's file was left alone."""

    of_parameter: dict[str, Entry]
    untrusted: tuple[str, ...] = ()


Known = Callable[[], "Mapping[str, _click.Command]"]
"""Gives all commands by their words: building them takes 30 ms, and most folders have no such file."""


def known_to(context: "_click.Context") -> Known:
    """The giver of all commands that a context's command line has (its root group)."""
    return context.find_root().command.all_commands  # type: ignore[attr-defined, no-any-return] - of our own group


def places() -> tuple[Path, Path]:
    """Return the paths of the files: this folder's, the user's."""
    return Path(NAME), settings.expanded(settings.XDG_CONFIG_HOME.get()) / "reelbench" / NAME


def files() -> tuple[Path, ...]:
    """Return the files that there are, this folder's first."""
    return tuple(path for path in places() if path.is_file())


def defaults_of(words: str, command: "_click.Command", known: "Known") -> Defaults:
    """Return the files' defaults of a command's options: its own table's before its families'.

    Errors as `entries`.
    """
    given: dict[str, Entry] = {}
    untrusted: list[str] = []
    own = words.replace(" ", ".")
    options = {_option(part): part for part in command.params if part.param_type_name == "option"}
    for file in files():
        for entry in sorted(entries(file, known), key=lambda entry: entry.table != own):
            parameter = options.get(entry.option)
            if parameter is None or entry.table not in (own, family_of(parameter)):
                continue
            idle = _why_ignored(file, parameter)
            if idle == UNTRUSTED:
                untrusted.append(f"[{entry.table}] {entry.option}")
            elif not idle:
                if isinstance(entry.value, str) and entry.value.startswith(
                    "~/"
                ):  # no shell makes it the home here
                    entry = replace(entry, value=os.path.expanduser(entry.value))  # noqa: PLW2901, PTH111
                given.setdefault(parameter.name or "", entry)
    return Defaults(given, tuple(untrusted))


def entries(file: Path, known: "Known") -> list[Entry]:
    """Return a file's entries, in its order.

    InputError where it is no TOML, or says what no command takes.
    """
    import tomllib  # not at every start: most folders have no such file

    bounds.hold(f"{file}: bytes", file.stat().st_size, bounds.TOML_BYTES)
    try:
        text = file.read_text(encoding="utf-8")
        bounds.hold(
            f"{file}: characters of a line",
            max(map(len, text.splitlines()), default=0),
            bounds.TOML_LINE,
        )
        document = tomllib.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # of TOML, of characters, of digits, of what is nested too deep
        raise InputError(f"{file}: not valid TOML: {error}") from None
    commands = known()

    def walk(table: str, content: dict[str, Any]) -> Iterator[Entry]:
        for name, value in content.items():
            if isinstance(value, dict) and table.count(".") < _DEEPEST:
                yield from walk(f"{table}.{name}".lstrip("."), value)
            else:
                yield Entry(
                    file,
                    table,
                    name,
                    value,
                    _why_ignored(file, _option_of_line(file, table, name, commands)),
                )

    return list(walk("", document))


def _option_of_line(
    file: Path, table: str, name: str, commands: "Mapping[str, _click.Command]"
) -> "_click.Parameter":
    """Return the option that a line is for, of the command or the family that its table names."""
    words = table.replace(".", " ")
    command = commands.get(words)
    of_family = [
        part for other in commands.values() for part in other.params if family_of(part) == table
    ]
    taken = [*(command.params if command is not None else ()), *of_family]
    for parameter in taken:
        if _option(parameter) == name:
            return parameter
    why = "no such command or family of options; `reelbench help` lists them"
    if command is not None:
        why = f"`reelbench {words}` has no such option"
    elif of_family:
        why = f"no such option; see `reelbench help {table}`"
    close = get_close_matches(name.replace("_", "-"), map(_option, taken), n=1)
    if not taken and table:
        close = get_close_matches(words, [*commands, *FAMILIES], n=1)
    raise InputError(
        f"{file}: {f'[{table}] ' if table else ''}{name}: {why}"
        + (f"; did you mean {close[0]!r}?" if close else "")
    )


UNTRUSTED = (
    "a folder's file sets frames, languages, formats, columns, rows and limits alone; "
    f"the rest goes into {NAME} of ~/.config/reelbench"
)


def _why_ignored(file: Path, parameter: "_click.Parameter") -> str:
    """Why a file's value doesn't count: it came with the folder and only the user may say it, or a variable is set."""
    if file.parent == Path() and getattr(parameter, "kind", Kind.OWN) in (
        Kind.ASKED,
        Kind.PATH,
        Kind.OWN,
    ):
        return UNTRUSTED  # the folder may be a stranger's clone
    setting = _ENVIRONMENT.get(parameter.name or "")
    return f"{setting.name} is set" if setting is not None and setting.is_set else ""


def _option(parameter: "_click.Parameter") -> str:
    return option_name(parameter).removeprefix("--")
