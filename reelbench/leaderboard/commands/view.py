"""`reelbench view`: a page of one run, or of several side by side."""

from pathlib import Path
from typing import Annotated

import typer

from reelbench.base.errors import InputError
from reelbench.terminal import console
from reelbench.terminal.option_groups import reports_status


@reports_status
def view(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Folders with results, or result.json files; the first is A."
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR|FILE.html",
            help="Output folder, or one file to send: without films and paths of "
            "this machine; default: a folder in Reelbench's home.",
        ),
    ] = None,
    pictures: Annotated[
        int, typer.Option("--pictures", min=0, help="Maximum number of thumbnails; 0 for none.")
    ] = 2000,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="WHICH",
            help="Only questions that are wrong in every run, differ in score, or A-not-B.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            help="Also write these questions, options, right and given answers and scores as CSV.",
        ),
    ] = None,
) -> None:
    """Make a page of a run, or of several side by side.

    It has every question and answer, and opens from disk: a large one is a page and its parts.

    It contains the owners' data: do not publish it. Its path is printed. Where the runs are of
    several benchmarks, there is a page for each.
    """
    from reelbench.base.files import write_text
    from reelbench.base.text_tables import SPREADSHEET_MARK
    from reelbench.leaderboard.view import page, parts

    for path in runs:
        if not path.exists():
            raise InputError(
                f"{path}: no such run; give the folder that `reelbench eval` or `score` wrote"
            )
    groups = page.read_groups(runs)
    one_file = table
    if out is not None and out.suffix == ".html":
        one_file = out
    if len(groups) > 1 and one_file is not None:
        raise InputError(
            f"{one_file}: the runs are of {len(groups)} benchmarks, and this is one file"
        )
    if table is not None:
        write_text(table, SPREADSHEET_MARK + page.as_csv(groups[0], only))
        console.note(f"the questions as CSV: {table}")
    for group in groups:
        place = page.place_of(group, out, several=len(groups) > 1)
        ids: set[str] = set()
        for run in group:
            ids.update(run.samples)
        with console.progress("questions", len(ids)) as bar:
            written = page.write(
                group, place, pictures=pictures, show=lambda done, bar=bar: bar(done, ""), only=only
            )
        console.write(str(written.path))
        size = written.path.stat().st_size
        if size > parts.MOST_SIGNS:
            console.note(
                f"{written.path}: has {size / 1e6:.0f} MB, which browsers are slow to open; "
                "--out FOLDER puts the questions into parts, and --only leaves some out"
            )
        for line in written.faults:
            console.note(f"the numbers are not what the samples say: {line}")
        missing = written.items - written.with_question
        if missing:
            console.note(
                f"{missing} of {written.items} questions are not on this machine: their ids are "
                "shown instead"
            )
