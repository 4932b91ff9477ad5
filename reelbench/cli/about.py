"""What a user says of a model or its answers and no run can show, declared once for the commands that take it."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from reelbench.cli.option_groups import Group, option
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from reelbench.registry.records import About
    from reelbench.tasks.score import RunMetadata

_model, _answers = partial(option, "model"), partial(option, "answers")


def about_options(
    *,
    about: Annotated[list[str] | None, _model("--about")] = None,
    setting: Annotated[
        Literal["zero-shot", "fine-tuned", "reasoning", "tools", "human"] | None, _model("--setting")
    ] = None,
    trained_on: Annotated[list[str] | None, _model("--trained-on")] = None,
    parameters: Annotated[str | None, _model("--parameters")] = None,
    organisation: Annotated[str | None, _model("--organisation")] = None,
    released: Annotated[str | None, _model("--released")] = None,
    licence: Annotated[str | None, _model("--licence")] = None,
    links: Annotated[list[str] | None, _model("--link")] = None,
    revision: Annotated[str | None, _model("--revision")] = None,
) -> "About | None":
    """Return the facts of the model, or None; InputError where it is not what its field takes.

    A fact has an option of its own too (`--parameters 7B`), which help leaves out; it overrides `--about`.
    """
    own = {name: value for name, value in locals().items() if name != "about" and value}
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
    facts |= own
    if file is None and not facts:
        return None
    from reelbench.registry import about as abouts

    stated = abouts.parse(facts, "the options") if facts else None
    if file is None:
        return stated
    in_file = abouts.read(file)
    return stated.merged(in_file) if stated else in_file


AboutModel = Annotated["About | None", Group(about_options)]


def metadata_options(
    *,
    model: Annotated[str | None, _answers("--model")] = None,
    frames: Annotated[str | None, _answers("--frames")] = None,
    label: Annotated[str | None, _answers("--label")] = None,
    url: Annotated[str | None, _answers("--url")] = None,
) -> "RunMetadata":
    """Return them; InputError where the frames are no sampling."""
    from reelbench.tasks.score import RunMetadata

    return RunMetadata(model=model, frames=frames, label=label, url=url)


AboutAnswers = Annotated["RunMetadata", Group(metadata_options)]
