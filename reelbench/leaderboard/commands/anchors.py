"""`reelbench judge anchors`: ask a judge again about a few answers, to see whether it changed."""

import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.terminal import console
from reelbench.terminal.asking_options import Judge
from reelbench.terminal.option_groups import Per, reports_status, strata

if TYPE_CHECKING:
    from reelbench.registry.records import Sample

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
    """Draw a few answers of a result, by quantile of score.

    With --judge, that judge is asked about them again.

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
        judged = read_one(result)
        spec = discovery.spec_of(judged.result.benchmark)
        drawn: list[Sample] = []
        if judged.result.judge and spec.judge:
            drawn = drawing.draw(spec, judged.samples, number, strata(per))
        if not drawn:
            raise InputError(
                f"{result}: no answer in it has a judge's score; "
                "judge it first (reelbench score --judge)"
            )
        scored = aggregation.ScoredItems(spec, drawn, judged.result.judge, overlap=False)
        write_anew(out, spec, scored, judged.result, judged.result.benchmark.errata, note=_NOTE)
        console.note(f"{number_of(len(drawn), 'anchor')} drawn into {out}")
    if judge is None:
        return
    first = read_one(out)
    spec = discovery.spec_of(first.result.benchmark)
    rows = against_data.KnownRows().rows_of(first.result)
    items = against_data.as_asked(spec, first.samples, rows, str(out))
    with TemporaryDirectory(prefix="reelbench-anchors-") as folder:
        # A cache of its own, since the usual one has replies of the judge as it was.
        cache = Path(folder) / "judge.sqlite"
        members = tuple(replace(member, cache=cache) for member in judge.others)
        uncached_judge = replace(judge, cache=cache, others=members)
        notes: list[str] = []
        ask = judge_of(uncached_judge, notes.append, console.progress)
        scored = aggregation.score(spec, items, overlap=False, judged=ask(spec, items))
    if not scored.counts.scored:
        unread = f"no reply of the judge {judge.name} at {judge.host} could be read"
        raise ReelbenchError("; ".join(notes) or unread)
    for line in notes:
        console.note(line)
    new_folder = out / f"asked-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    write_anew(new_folder, spec, scored, first.result, first.result.benchmark.errata, note=_NOTE)
    console.note(f"asked again: {new_folder}; how far that is from the first scores:")
    console.write(shlex.join(["reelbench", "judge", "agree", str(out), str(new_folder)]))
