"""`reelbench judge anchors`: is the judge still the one that it was?"""

import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.terminal import console
from reelbench.terminal.asking_options import Judge
from reelbench.terminal.option_groups import Per, reports_status, strata

_NOTE = "anchors: a few answers, to ask a judge about again"


@reports_status
def anchors(
    result: Annotated[
        Path, typer.Argument(help="A judged result: its folder, or its result.json.")
    ],
    *,
    out: Annotated[
        Path, typer.Option("--out", help="Folder of the anchors; existing ones are kept.")
    ],
    number: Annotated[
        int,
        typer.Option(
            "--number",
            metavar="N",
            help="Number of answers to draw, at equal steps of their scores.",
        ),
    ] = 40,
    per: Per = None,
    judge: Judge,
) -> None:
    """Draw a few answers of a result, by quantile of score; with --judge, ask that judge about them again.

    Kept replies are not used, so each call pays for all anchors. `judge agree` says how far the
    judge has drifted.
    """
    from reelbench.judges.judge_run import judge_of
    from reelbench.leaderboard import against_data
    from reelbench.leaderboard.rejudge import write_anew
    from reelbench.registry import discovery
    from reelbench.scoring import aggregation, result_files
    from reelbench.scoring import anchors as drawing
    from reelbench.terminal.read_results import read_one

    if number < 1:
        raise InputError(f"--number: {number} is not a number from 1 up")
    if not (out / result_files.RESULT_FILE).is_file():
        given = read_one(result)
        spec = discovery.spec_of(given.result.benchmark)
        drawn = (
            drawing.draw(spec, given.samples, number, strata(per))
            if given.result.judge and spec.judge
            else []
        )
        if not drawn:
            raise InputError(
                f"{result}: no answer in it has a judge's score; judge it first (reelbench score --judge)"
            )
        scored = aggregation.ScoredItems(spec, drawn, given.result.judge, overlap=False)
        write_anew(out, spec, scored, given.result, note=_NOTE)
        console.note(f"{number_of(len(drawn), 'anchor')} drawn into {out}")
    if judge is None:
        return
    # Ask a judge about a folder's anchors and write its result to a folder of its own in it, named
    # by the time.
    first = read_one(out)
    spec = discovery.spec_of(first.result.benchmark)
    items = against_data.as_asked(
        spec, first.samples, against_data.KnownRows().rows_of(first.result), str(out)
    )
    asked = out / f"asked-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    with TemporaryDirectory(prefix="reelbench-anchors-") as kept:
        # A cache of its own: kept replies are what the judge was.
        cache = Path(kept) / "judge.sqlite"
        others = tuple(replace(other, cache=cache) for other in judge.others)
        notes: list[str] = []
        ask = judge_of(replace(judge, cache=cache, others=others), notes.append, console.progress)
        scored = aggregation.score(spec, items, overlap=False, judged=ask(spec, items))
    if not scored.counts.scored:
        raise ReelbenchError(
            "; ".join(notes) or f"no reply of the judge {judge.name} at {judge.host} could be read"
        )
    for line in notes:
        console.note(line)
    write_anew(asked, spec, scored, first.result, note=_NOTE)
    console.note(f"asked again: {asked}; how far that is from the first scores:")
    console.write(shlex.join(["reelbench", "judge", "agree", str(out), str(asked)]))
