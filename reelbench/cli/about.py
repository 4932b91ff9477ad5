"""What a user says of a model or its answers and no run can show, declared once for the commands that take it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from reelbench.cli.families import ANSWERS, MODEL
from reelbench.cli.option_groups import takes
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from reelbench.registry.records import About
    from reelbench.tasks.score import RunMetadata

Facts = Annotated[
    list[str] | None,
    typer.Option(
        "--about",
        metavar="FILE|FACT=VALUE",
        help="A fact of the model (setting, trained_on, parameters, organisation, released, licence, links, frames, "
        "revision), e.g. parameters=7B, or a YAML file of them. Repeat it; a fact overrides the file.",
        rich_help_panel=MODEL,
    ),
]


def _fact(name: str, metavar: str | None = None) -> Any:  # noqa: ANN401 - typer's own
    return typer.Option(f"--{name}", metavar=metavar, hidden=True, rich_help_panel=MODEL)


def about_options(
    *,
    about: Facts = None,
    setting: Annotated[
        Literal["zero-shot", "fine-tuned", "reasoning", "tools", "human"] | None, _fact("setting")
    ] = None,
    trained_on: Annotated[list[str] | None, _fact("trained-on", "NAME")] = None,
    parameters: Annotated[str | None, _fact("parameters", "N")] = None,
    organisation: Annotated[str | None, _fact("organisation", "NAME")] = None,
    released: Annotated[str | None, _fact("released", "DATE")] = None,
    licence: Annotated[str | None, _fact("licence", "TEXT")] = None,
    link: Annotated[list[str] | None, _fact("link", "URL")] = None,
    revision: Annotated[str | None, _fact("revision", "TEXT")] = None,
) -> "About | None":
    """Return the facts of the model, or None; InputError where it is not what its field takes.

    A fact has an option of its own too (`--parameters 7B`), which help leaves out; it overrides `--about`.
    """
    facts: dict[str, Any] = {}
    file = None
    for given in about or ():
        name, is_fact, value = given.partition("=")
        if not is_fact or not name.isidentifier():
            if file is not None:
                raise InputError(f"--about: two files, {file} and {given}; give one")
            file = Path(given)
        elif name in ("trained_on", "links"):
            facts.setdefault(name, []).append(value)
        elif name in facts:
            raise InputError(f"--about: {name} is given twice")
        else:
            facts[name] = value
    own = {
        "setting": setting,
        "trained_on": trained_on,
        "parameters": parameters,
        "organisation": organisation,
        "released": released,
        "licence": licence,
        "links": link,
        "revision": revision,
    }
    facts |= {name: value for name, value in own.items() if value}
    if file is None and not facts:
        return None
    from reelbench.registry import about as abouts

    stated = abouts.parse(facts, "the options") if facts else None
    if file is None:
        return stated
    in_file = abouts.read(file)
    return stated.merged(in_file) if stated else in_file


takes_about = takes("about", about_options)
"""Gives a command these options; it takes their outcome as its argument `about`."""


Model = Annotated[
    str | None,
    typer.Option(
        metavar="ID",
        help="Name of the model; default: the file's name without suffix.",
        rich_help_panel=ANSWERS,
    ),
]
Frames = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="Frames that it was shown, e.g. uniform:32; default: unknown.",
        rich_help_panel=ANSWERS,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help='Other conditions of the answers, e.g. "web search".', rich_help_panel=ANSWERS),
]
Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Address of a page on the answers or the model.", rich_help_panel=ANSWERS),
]


def metadata_options(
    *, model: Model = None, frames: Frames = None, label: Label = None, url: Url = None
) -> "RunMetadata":
    """Return them; InputError where the frames are no sampling."""
    from reelbench.tasks.score import RunMetadata

    return RunMetadata(model=model, frames=frames, label=label, url=url)


takes_metadata = takes("metadata", metadata_options)
"""Gives a command these options; it takes their outcome as its argument `metadata`."""
