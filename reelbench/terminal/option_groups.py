"""Options that several commands share; groups of them are taken as one argument.

A group is declared as the fields of a dataclass or, where it becomes something else, as a
function's parameters.
"""

import functools
import inspect
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import typer

from reelbench.base.credentials import without_credentials, without_secrets
from reelbench.base.errors import InputError

if TYPE_CHECKING:
    from typer import _click

    from reelbench.base.settings import Setting
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


def kind_of(annotation: object) -> Kind:
    """What an option decides, by the annotation that declares it; a path is one whatever stands beside it."""
    hints = [annotation]
    for hint in hints:  # and what is in it, however deep
        hints += get_args(hint)
    if Path in hints:
        return Kind.PATH
    return next(
        (part for part in getattr(annotation, "__metadata__", ()) if isinstance(part, Kind)),
        Kind.OWN,
    )


def option_name(parameter: "_click.Parameter") -> str:
    """Return an option as it is typed: the longest of its names."""
    return max(parameter.opts, key=len)


def before_dashes(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments before a `--`: what stands behind is lmms-eval's."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


# --- what a shell completes; Typer filters by what was typed
# ----------------------------------------------------------


def benchmark_names() -> list[str]:
    """Return every benchmark's name."""
    from reelbench.registry import discovery

    return list(discovery.specs())


def task_names() -> list[str]:
    """Return every benchmark's name, and its tasks' (of those cut from a task, not each part's)."""
    from reelbench.registry import discovery

    specs = discovery.specs().values()
    return list(
        dict.fromkeys(
            name
            for spec in specs
            for name in (spec.id, *(t.name for t in spec.tasks if not t.only))
        )
    )


def model_names() -> list[str]:
    """Return the providers' prefixes, and the models of which replies are kept in the file of replies."""
    from reelbench.llm.ask_options import cache_place
    from reelbench.llm.cache import open_store
    from reelbench.llm.model_names import PROVIDERS

    place, seen = cache_place(), list[str]()
    if isinstance(place, Path) and place.is_file():
        models = (kept.model for kept in open_store(place, print).models())
        seen = [
            model for model in models if re.fullmatch(r"[\w./:@+-]+", model)
        ]  # a shell reads them
    return [*seen, *(f"{name}/" for name in PROVIDERS)]


# --- options of several commands
# --------------------------------------------------------------------------------------


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
CachePatience = Annotated[
    float,
    typer.Option(
        "--cache-patience",
        metavar="S",
        help="Seconds to wait if the reply database (REELBENCH_CACHE) is unreachable.",
    ),
]


def strata(per: str | None, **other: object) -> "Strata | None":
    """Return the strata of `--per`; InputError where it is wrong, or an `other` option that draws is given too."""
    from reelbench.registry.strata import Strata

    if per is None:
        return None
    for name, value in other.items():
        if value is not None:
            raise InputError(f"--per and --{name}: give one of them")
    return Strata.parse(per)


def _group_of(annotation: Any) -> Callable[..., Any] | None:  # noqa: ANN401 - a type
    """Return what makes a command's parameter of options: a dataclass of its fields, or a function beside the type."""
    if isinstance(annotation, type):
        return annotation if is_dataclass(annotation) else None
    return next(filter(callable, getattr(annotation, "__metadata__", ())), None)


def ungrouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of its groups; one that several of them have is one option, for all."""
    taken = inspect.signature(command).parameters
    groups = {
        name: group
        for name, part in taken.items()
        if (group := _group_of(part.annotation)) is not None
    }
    parts = {name: inspect.signature(group).parameters for name, group in groups.items()}
    options: dict[str, inspect.Parameter] = {}
    for name, parameter in taken.items():
        options |= dict(parts[name]) | options if name in parts else {name: parameter}
    if command in _LONG:
        options[_STATUS.name] = _STATUS

    def wrapper(**given: Any) -> None:  # noqa: ANN401 - whatever the command takes
        made = {
            name: group(**{part: given[part] for part in parts[name]})
            for name, group in groups.items()
        }
        return command(**{name: value for name, value in given.items() if name in taken} | made)

    functools.update_wrapper(wrapper, command)
    wrapper.__signature__ = inspect.Signature([*options.values()])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {name: parameter.annotation for name, parameter in options.items()}
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
    """Give a command whose work is long the option `--status-file`, which `app.Command` takes for itself."""
    _LONG.add(command)
    return command


def handed_on(*groups: Callable[..., Any], without: Sequence[str] = ()) -> Callable[..., None]:
    """Return all options of groups as one that makes nothing of them: for a command that hands them on as typed."""

    def nothing(**_: Any) -> None:  # noqa: ANN401 - whatever they take
        pass

    taken = {
        name: part for group in groups for name, part in inspect.signature(group).parameters.items()
    }
    kept = [part for name, part in taken.items() if name not in without]
    nothing.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
    return nothing


def options_given(
    context: typer.Context, *, only: str = "", leave_out: Sequence[str] = (), shown: bool = True
) -> list[str]:
    """Return the options given on the command line, as words that give them again: for a hint that repeats it.

    Kept are parameters with `only` in their names, but for those named in `leave_out`. Where people
    are shown the words, addresses lose what is nobody's business.
    """
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if only not in name or name in leave_out or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        if parameter.param_type_name == "argument":
            words[:0] = [
                str(part) for part in (value if isinstance(value, list | tuple) else (value,))
            ]
        elif isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            for part in value if isinstance(value, list | tuple) else (value,):
                words += [parameter.opts[0], without_credentials(str(part)) if shown else str(part)]
    return words


def shell_line(words: Sequence[str]) -> str:
    """Return words as one pastes them into a shell, rid of what is nobody's business."""
    return shlex.join(map(without_secrets, words))


ChoiceT = TypeVar("ChoiceT")


def choice(spec: str | None, setting: "Setting", parse: Callable[[str], ChoiceT]) -> ChoiceT | None:
    """Return the choice of an option's spec, or of the environment where the option was not given."""
    return parse(spec) if spec is not None else setting.read(parse)
