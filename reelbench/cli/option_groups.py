"""Options that several commands share; groups of them are taken as one argument.

A group is declared as the fields of a dataclass or, where it becomes something else, as a function's parameters.
"""

import builtins
import functools
import inspect
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from reelbench.cli.completion import task_names
from reelbench.registry.credentials import without_credentials
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from typer import _click

    from reelbench.registry.decoding import Answering, Candidates
    from reelbench.registry.frames.sampling import FrameSampling
    from reelbench.registry.strata import Strata


class Kind(StrEnum):
    """What an option decides, declared beside it in its annotation; one that declares nothing is the user's own."""

    FRAMES = "frames"
    LANGUAGES = "languages"
    FORMAT = "format"
    COLUMNS = "columns"
    ROWS = "rows"
    LIMIT = "limit"
    ASKED = "who is asked"
    PATH = "path"
    OWN = "the user's own"

    @property
    def of_a_folder(self) -> bool:
        """Whether the `reelbench.toml` of a folder, which may be a stranger's clone, may set such options."""
        return self not in (Kind.ASKED, Kind.PATH, Kind.OWN)


def kind_of(annotation: object) -> Kind:
    """What an option decides, by the annotation that declares it; a path is one whatever stands beside it."""

    def parts(hint: object) -> list[object]:
        return [hint, *(part for inner in get_args(hint) for part in parts(inner))]

    if Path in parts(annotation):
        return Kind.PATH
    return next((part for part in getattr(annotation, "__metadata__", ()) if isinstance(part, Kind)), Kind.OWN)


def option_of(parameter: "_click.Parameter") -> str:
    """Return an option as it is typed: the longest of its names."""
    return max(parameter.opts, key=len)


def before_dashes(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments before a `--`: what stands behind is lmms-eval's."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


TaskName = Annotated[str, typer.Argument(metavar="NAME", help="Benchmark or task.", autocompletion=task_names)]
Split = Annotated[str | None, typer.Option(help="Split; default: the benchmark's main one."), Kind.ROWS]
Data = Annotated[Path | None, typer.Option(help="Path of the benchmark's data, if it isn't found automatically.")]
Store = Annotated[Path, typer.Option(help="Folder of the results store.")]
Engine = Annotated[
    str, typer.Option(help="pool: processes here; ray: a Ray cluster (RAY_ADDRESS, or the one running here).")
]
NoOverlap = Annotated[bool, typer.Option("--no-overlap", help="Leave out BLEU, CIDEr and METEOR."), Kind.FORMAT]
Json = Annotated[bool, typer.Option("--json", help="Print JSON (a list for several results)."), Kind.FORMAT]
Per = Annotated[
    str | None,
    typer.Option(
        "--per",
        metavar="FIELD=N",
        help="Instead: N questions of each label of a field (locale=10); the same ones in every command.",
    ),
    Kind.ROWS,
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and --json."), Kind.FORMAT]


def strata(per: str | None, **other: object) -> "Strata | None":
    """Return the strata of `--per`; InputError where it is wrong, or an `other` option that draws is given too."""
    from reelbench.registry.strata import Strata

    if per is None:
        return None
    for name, value in other.items():
        if value is not None:
            raise InputError(f"--per and --{name}: give one of them")
    return Strata.parse(per)


CachePatience = Annotated[
    float,
    typer.Option(
        "--cache-patience",
        metavar="S",
        help="Seconds to wait if the reply database (REELBENCH_CACHE) is unreachable.",
    ),
]

_SERVED = {
    "url": ("URL", "OpenAI-compatible server; default OPENAI_BASE_URL."),
    "concurrency": ("N", "Maximum concurrent calls."),
    "budget": ("LIMIT", "Maximum calls (500) or dollars ($2.50)."),
    "price": ("IN,OUT", "Dollars per million prompt and completion tokens."),
    "extra": ("JSON", 'Sent with every request, e.g. {"reasoning_effort": "low"}.'),
    "timeout": ("S", "Maximum seconds for one call."),
}
"""What every command that asks a served model may be told, whatever the model is for: name -> value and help."""


def served(prefix: str, name: str, panel: str) -> Any:  # noqa: ANN401 - typer's own
    """Return the option `--PREFIX-NAME` of a served model, as an annotation takes it."""
    metavar, text = _SERVED[name]
    return typer.Option(f"--{prefix}-{name}", metavar=metavar, help=text, rich_help_panel=panel)


def takes(argument: str, group: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that puts the keyword parameters of `group` in the place of a command's parameter `argument`.

    `group` is a function, or a dataclass: then its fields.

    The command is then called with what `group` returns for them. An option that another group of the command has too
    is one option, for both.
    """
    options = inspect.signature(group).parameters
    hints = get_type_hints(group, include_extras=True, localns=_Anything()) if options else {}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        shared = options.keys() & (signature.parameters.keys() - {argument})

        @functools.wraps(command)
        def wrapper(*args: Any, **given: Any) -> None:  # noqa: ANN401 - whatever the command takes
            group_given = {name: given[name] for name in options if name in given}
            given = {name: value for name, value in given.items() if name in shared or name not in options}
            return command(*args, **given, **{argument: group(**group_given)})

        parameters = [
            part
            for name, parameter in signature.parameters.items()
            for part in (
                [option for key, option in options.items() if key not in shared] if name == argument else (parameter,)
            )
        ]
        wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        annotations = {name: hint for name, hint in command.__annotations__.items() if name != argument}
        wrapper.__annotations__ = annotations | {name: hints[name] for name in options}
        return wrapper

    return decorate


StatusFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File to update with the progress (JSON).",
    ),
]


def reports_status(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command whose work is long the option `--status-file`, which `app.Command` takes for itself."""
    signature = inspect.signature(command)
    option = inspect.Parameter("status_file", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=StatusFile)

    @functools.wraps(command)
    def wrapper(*args: Any, status_file: Path | None = None, **given: Any) -> None:  # noqa: ANN401 - the command's
        del status_file
        return command(*args, **given)

    wrapper.__signature__ = signature.replace(parameters=[*signature.parameters.values(), option])  # type: ignore[attr-defined]
    wrapper.__annotations__ = command.__annotations__ | {option.name: StatusFile}
    return wrapper


def given(context: typer.Context, *, only: str = "") -> list[str]:
    """Return the options given on the command line, as words that give them again: for a hint that repeats it.

    Args:
        context: The command's.
        only: Keep the parameters whose names have this in them.
    """
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if only not in name or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        if parameter.param_type_name == "argument":
            words[:0] = [str(part) for part in (value if isinstance(value, list | tuple) else (value,))]
        elif isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            for part in value if isinstance(value, list | tuple) else (value,):
                words += [parameter.opts[0], without_credentials(str(part))]
    return words


ChoiceT = TypeVar("ChoiceT", "FrameSampling", "Candidates", "Answering")


def chosen(spec: str | None, kind: type[ChoiceT]) -> ChoiceT | None:
    """Return the choice of an option's spec, or of the environment where the option was not given."""
    return kind.parse(spec) if spec is not None else kind.from_environment()


class _Anything(dict[str, Any]):
    """A name space for hints that name types imported for checking only (a group's return type)."""

    def __missing__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(builtins, name, object)
