"""What a user says of answers that were made elsewhere, declared once for the commands that take it."""

from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import families
from reelbench.cli.option_groups import takes

if TYPE_CHECKING:
    from reelbench.tasks.score import RunMetadata

_PANEL = families.ANSWERS


Model = Annotated[
    str | None,
    typer.Option(
        metavar="ID", help="Name of the model; default: the file's name without suffix.", rich_help_panel=_PANEL
    ),
]
Frames = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC", help="Frames that it was shown, e.g. uniform:32; default: unknown.", rich_help_panel=_PANEL
    ),
]
Label = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help='Other conditions of the answers, e.g. "web search".', rich_help_panel=_PANEL),
]
Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Address of a page on the answers or the model.", rich_help_panel=_PANEL),
]


def metadata_options(
    *, model: Model = None, frames: Frames = None, label: Label = None, url: Url = None
) -> "RunMetadata":
    """Return them; InputError where the frames are no sampling."""
    from reelbench.tasks.score import RunMetadata

    return RunMetadata(model=model, frames=frames, label=label, url=url)


takes_metadata = takes("metadata", metadata_options)
"""Gives a command these options; it takes their outcome as its argument `metadata`."""
