"""Options that several commands share. Groups of them are taken as one argument.

A group is declared as the fields of a dataclass or, where it becomes something else, as a
function's parameters.
"""

import functools
import inspect
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import is_dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

import typer

from reelbench.base.credentials import without_credentials, without_secrets
from reelbench.base.errors import InputError

if TYPE_CHECKING:
    from typer import _click

    from reelbench.base.settings import Setting
    from reelbench.registry.strata import Strata


_SHELL_SAFE = re.compile(r"[\w./:@+-]+")


class Kind(StrEnum):
    """The kind of an option: it is declared beside it in its annotation.

    An option that declares nothing is the user's own.
    """

    FRAMES = "frames"
    LANGUAGES = "languages"
    FORMAT = "format"
    COLUMNS = "columns"
    ROWS = "rows"
    LIMIT = "limit"
    ASKED = "who is asked"
    PATH = "path"
    OWN = "the user's own"
    TYPED = "typed alone: no file sets it"


def kind_of(annotation: object) -> Kind:
    """Return an option's kind, by the annotation that declares it.

    An option with a path in its type is a path, whatever stands beside the type.
    """
    if _names_path(annotation):
        return Kind.PATH
    for part in getattr(annotation, "__metadata__", ()):
        if isinstance(part, Kind):
            return part
    return Kind.OWN


def _names_path(annotation: object) -> bool:
    """Return True where a type is a path, or has one in it however deep."""
    if annotation is Path:
        return True
    return any(_names_path(part) for part in get_args(annotation))


def option_name(parameter: "_click.Parameter") -> str:
    """Return an option as it is typed: the longest of its names."""
    return max(parameter.opts, key=len)


def before_dashes(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments before a `--`: what stands behind is lmms-eval's."""
    if "--" not in arguments:
        return arguments
    return arguments[: arguments.index("--")]


# What a shell completes. Typer filters by what was typed.


def benchmark_names() -> list[str]:
    """Return every benchmark's name."""
    from reelbench.registry import discovery

    return list(discovery.specs())


def task_names() -> list[str]:
    """Return every benchmark's name, and its tasks' names.

    Tasks that are parts cut from a task are left out.
    """
    from reelbench.registry import discovery

    names: dict[str, None] = {}
    for spec in discovery.specs().values():
        names[spec.id] = None
        for task in spec.tasks:
            if not task.only:
                names[task.name] = None
    return list(names)


def model_names() -> list[str]:
    """Return the models of which replies are kept in a file, and the providers' prefixes."""
    from reelbench.llm.ask_options import cache_location
    from reelbench.llm.cache import open_store
    from reelbench.llm.model_names import PROVIDERS

    names: list[str] = []
    place = cache_location()
    if isinstance(place, Path) and place.is_file():
        kept_models = [reply_count.model for reply_count in open_store(place, print).models()]
        names = [name for name in kept_models if _SHELL_SAFE.fullmatch(name)]
    return [*names, *(f"{provider}/" for provider in PROVIDERS)]


# Options of several commands.


def _split_names(typed: Sequence[str]) -> list[str]:
    """Return the names, of which several may be typed with commas between them."""
    names = ",".join(typed).split(",")
    return [name for name in names if name]


_named = partial(typer.Argument, autocompletion=task_names)
TaskName = Annotated[str, _named(metavar="NAME", help="Benchmark or task.")]
Names = Annotated[
    list[str], _named(callback=_split_names, help="Benchmarks or tasks (rextime_mini).")
]
Split = Annotated[
    str | None, typer.Option("--split", help="Split; default: the benchmark's main one."), Kind.ROWS
]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="Path of the benchmark's data, if it isn't found automatically."),
]
Store = Annotated[Path, typer.Option("--store", help="Folder of the results store.")]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="pool: processes here; ray: a Ray cluster (RAY_ADDRESS, or the one running here).",
    ),
]
NoOverlap = Annotated[
    bool, typer.Option("--no-overlap", help="Leave out BLEU, CIDEr and METEOR."), Kind.FORMAT
]
Errata = Annotated[
    Literal["apply", "ignore"],
    typer.Option(
        "--errata",
        help="apply or ignore the benchmark's errata: rows left out, answers and spans corrected.",
        rich_help_panel="Some questions only",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON (a list for several results)."), Kind.FORMAT
]
Per = Annotated[
    str | None,
    typer.Option(
        "--per",
        metavar="FIELD=N",
        help="Instead: N questions of each label of a field (locale=10); the "
        "same ones in every command.",
    ),
    Kind.ROWS,
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and --json."), Kind.OWN
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="TEXT", help='Other conditions of the answers, e.g. "web search".'
    ),
]
Frames = Annotated[
    str | None,
    typer.Option(
        "--frames",
        metavar="SPEC",
        help="Frames that the model is shown: uniform:N, fps:F[,max=N], "
        "keyframe:N, window:START-END,N, all, none (text only) or native "
        "(the model's own); options size=PIXELS, as=clip|images, "
        "times=text|none, subs=file. Default: REELBENCH_FRAMES, else "
        "native.",
    ),
    Kind.FRAMES,
]
KeepGoing = Annotated[
    bool,
    typer.Option(
        "--keep-going",
        help="Keep asking after 20 replies without an answer, and where pictures don't arrive.",
    ),
]

CachePatience = Annotated[
    float,
    typer.Option(
        "--cache-patience",
        metavar="S",
        help="Seconds to wait for the reply database.",
    ),
]


def strata(per: str | None, **drawing_options: object) -> "Strata | None":
    """Return the strata of `--per`.

    Raises:
        InputError: It is wrong, or another option that draws is given too.
    """
    from reelbench.registry.strata import Strata

    if per is None:
        return None
    for name, value in drawing_options.items():
        if value is not None:
            raise InputError(f"--per and --{name}: give one of them")
    return Strata.parse(per)


# Groups of options.


def _group_of(annotation: Any) -> Callable[..., Any] | None:  # noqa: ANN401 - a type
    """Return the maker of a parameter's value out of options.

    It is a dataclass, whose fields are the options, or a function beside the type. It is None where
    the parameter is one option.
    """
    if isinstance(annotation, type):
        if is_dataclass(annotation):
            return annotation
        return None
    for part in getattr(annotation, "__metadata__", ()):
        if callable(part):
            return part  # type: ignore[no-any-return] - a function
    return None


def options_of(group: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the options of a group, and of the groups in it, by parameter name.

    An option that several groups have is one option, for all of them.
    """
    options: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(group).parameters.items():
        inner_group = _group_of(parameter.annotation)
        if inner_group is None:
            options[name] = parameter
            continue
        for inner_name, option in options_of(inner_group).items():
            options.setdefault(inner_name, option)
    return options


class _GroupMaker:
    """Makes the values of groups from the options that were typed, each group once."""

    def __init__(self, typed: Mapping[str, Any]) -> None:
        self._typed = typed
        self._made: dict[Callable[..., Any], Any] = {}

    def make(self, group: Callable[..., Any]) -> Any:  # noqa: ANN401 - whatever it makes
        """Return the group's value."""
        if group not in self._made:
            self._made[group] = group(**self.arguments_of(group))
        return self._made[group]

    def arguments_of(self, group: Callable[..., Any]) -> dict[str, Any]:
        """Return a function's arguments, those of groups made."""
        arguments: dict[str, Any] = {}
        for name, parameter in inspect.signature(group).parameters.items():
            inner_group = _group_of(parameter.annotation)
            if inner_group is None:
                arguments[name] = self._typed[name]
            else:
                arguments[name] = self.make(inner_group)
        return arguments


def ungrouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of its groups."""
    options = options_of(command)
    if command in _LONG:
        options[_STATUS.name] = _STATUS

    def wrapper(**typed: Any) -> None:  # noqa: ANN401 - whatever the command takes
        return command(**_GroupMaker(typed).arguments_of(command))

    functools.update_wrapper(wrapper, command)
    wrapper.__signature__ = inspect.Signature([*options.values()])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {name: option.annotation for name, option in options.items()}
    return wrapper


_STATUS = inspect.Parameter(
    "status_file",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        Path | None,
        typer.Option(
            "--status-file", metavar="FILE", help="File to update with the progress (JSON)."
        ),
    ],
)
_LONG: set[Callable[..., None]] = set()


def reports_status(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command whose work is long the option `--status-file`.

    `app.Command` takes the option for itself.
    """
    _LONG.add(command)
    return command


# What was typed, as words again.


def typed_parameters(
    context: typer.Context, *, from_files: bool = False
) -> "list[_click.Parameter]":
    """Return the parameters that were given on the command line, or also by a `reelbench.toml`."""
    sources = {"COMMANDLINE", "DEFAULT_MAP"} if from_files else {"COMMANDLINE"}
    parameters: list[_click.Parameter] = []
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name in sources:
            parameters.append(parameter)
    return parameters


def options_given(
    context: typer.Context,
    *,
    only: str = "",
    leave_out: Collection[str] = (),
    for_people: bool = True,
    from_files: bool = False,
) -> list[str]:
    """Return the options given on the command line, as words that give them again.

    Parameters are included that have `only` in their names, but for those named in `leave_out`. In
    words that people see (`for_people`), addresses lose what is nobody's business. With
    `from_files`, what a `reelbench.toml` sets for this command is included.
    """
    words: list[str] = []
    for parameter in typed_parameters(context, from_files=from_files):
        name = parameter.name or ""
        if only not in name or name in leave_out:
            continue
        value = context.params[name]
        values = value
        if not isinstance(value, list | tuple):
            values = [value]
        if parameter.param_type_name == "argument":
            words = [*map(str, values), *words]
        elif value is True:
            words.append(parameter.opts[0])
        elif value is False:
            words.append(parameter.secondary_opts[0])
        else:
            for part in values:
                text = str(part)
                if for_people:
                    text = without_credentials(text)
                words += [parameter.opts[0], text]
    return words


def shell_line(words: Sequence[str]) -> str:
    """Return words as one pastes them into a shell, rid of what is nobody's business."""
    return shlex.join(map(without_secrets, words))


ChoiceT = TypeVar("ChoiceT")


def choice(spec: str | None, setting: "Setting", parse: Callable[[str], ChoiceT]) -> ChoiceT | None:
    """Return the choice of an option's spec, or else of the environment."""
    if spec is not None:
        return parse(spec)
    return setting.read(parse)
