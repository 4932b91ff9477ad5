"""`reelbench review`: a page for people to rate a dataset on, and the table of what they said."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console

if TYPE_CHECKING:
    from reelbench.making.review import Summary

_SHOWN = 10

app = typer.Typer(help="Have people review a dataset on a page, and merge what they said.", no_args_is_help=True)


@app.command()
def page(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Benchmark or task.")],
    *,
    sample: Annotated[int, typer.Option(help="Videos to review, each with all its questions.", min=1)] = 30,
    seed: Annotated[int, typer.Option(help="Of the draw; reviewers of one draw can be merged.")] = 0,
    split: Annotated[str | None, typer.Option(help="Split, if not the default one.")] = None,
    data: Annotated[Path | None, typer.Option(help="The benchmark's own data, where it isn't found by itself.")] = None,
    output: Annotated[Path | None, typer.Option(help="The page's file; default review-NAME.html here.")] = None,
) -> None:
    """Write a page on which people rate captions, questions and answers."""
    from reelbench.making import review

    written = review.make(name, output or Path(f"review-{name}.html"), sample=sample, seed=seed, split=split, data=data)
    if written.videos < sample:
        console.note(f"{name} has {written.videos} videos: all of them are on the page")
    if written.missing:
        more = f" and {len(written.missing) - _SHOWN} more" if len(written.missing) > _SHOWN else ""
        console.note(f"{len(written.missing)} videos are not here: {', '.join(written.missing[:_SHOWN])}{more}")
    console.note(f"{written.videos} videos, {written.questions} questions; open the page in a browser")
    console.write(str(written.path))


@app.command()
def summarize(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What reviewers saved.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Merge what reviewers saved, with their agreement."""
    from reelbench.making import review

    summary = review.summarize(files)
    if as_json:
        console.write(json.dumps(summary.document(), ensure_ascii=False))
    else:
        _show(summary)


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
