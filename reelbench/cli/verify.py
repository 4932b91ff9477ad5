"""`reelbench verify`: a page for people to rate a dataset on, and the table of what they said."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from reelbench.tasks.verify import Summary

_SUMMARIZE = "summarize"
_SHOWN = 10


def verify(
    name: Annotated[str, typer.Argument(metavar="NAME|summarize", help="Benchmark or task; or the word summarize.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="With summarize: what reviewers saved.")
    ] = None,
    *,
    sample: Annotated[int, typer.Option(help="Videos to review, each with all its questions.", min=1)] = 30,
    seed: Annotated[int, typer.Option(help="Of the draw; reviewers of one draw can be merged.")] = 0,
    split: Annotated[str | None, typer.Option(help="Split, if not the default one.")] = None,
    data: Annotated[Path | None, typer.Option(help="The benchmark's own data, where it isn't found by itself.")] = None,
    output: Annotated[Path | None, typer.Option(help="The page's file; default review-NAME.html here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With summarize: print one JSON object.")] = False,
) -> None:
    """Write a review page (verify NAME), or merge what reviewers saved (verify summarize FILE...)."""
    from reelbench.tasks import verify as verifying

    if name == _SUMMARIZE:
        summary = verifying.summarize(files or [])
        if as_json:
            console.write(json.dumps(summary.document(), ensure_ascii=False))
        else:
            _show(summary)
        return
    if files:
        raise InputError(f"verify {name}: files go with `reelbench verify summarize FILE...`")
    made = verifying.make(name, output or Path(f"review-{name}.html"), sample=sample, seed=seed, split=split, data=data)
    if made.videos < sample:
        console.note(f"{name} has {made.videos} videos: all of them are on the page")
    if made.missing:
        more = f" and {len(made.missing) - _SHOWN} more" if len(made.missing) > _SHOWN else ""
        console.note(f"{len(made.missing)} videos are not here: {', '.join(made.missing[:_SHOWN])}{more}")
    console.note(f"{made.videos} videos, {made.questions} questions; open the page in a browser")
    console.write(str(made.path))


def _show(summary: "Summary") -> None:
    title = f"{summary.benchmark} {summary.split}, {len(summary.reviewers)} reviewers: mean (Krippendorff's alpha)"
    table = console.table(title, "dimension", "#captions", "#questions", "#answers")
    for dimension, cells in summary.table.items():
        shown = []
        for part in ("caption", "question", "answer"):
            cell = cells.get(part)
            alpha = "" if cell is None or cell.alpha is None else f" ({cell.alpha:.2f})"
            shown.append("–" if cell is None else f"{cell.mean:.1f}{alpha}")
        table.add_row(dimension, *shown)
    console.show(table)
    for part, identifier, dimension, mean in summary.low[:_SHOWN]:
        console.note(f"rated low: {part} {identifier}, {dimension} {mean:.1f}")
    if len(summary.low) > _SHOWN:
        console.note(f"and {len(summary.low) - _SHOWN} more rated low; --json lists all")
