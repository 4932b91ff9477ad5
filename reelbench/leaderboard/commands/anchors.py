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
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.registry.records import Sample
    from reelbench.scoring.aggregation import ScoredItems
    from reelbench.terminal.read_results import ResultRead

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
    from reelbench.leaderboard.rejudge import write_anew
    from reelbench.registry import discovery
    from reelbench.scoring import result_files
    from reelbench.terminal.read_results import read_one

    if number < 1:
        raise InputError(f"--number: {number} is not a number from 1 up")
    if not (out / result_files.RESULT_FILE).is_file():
        _draw_anchors(result, out, number, per)
    if judge is None:
        return
    filed = read_one(out)
    scored = _judge_again(filed, judge, str(out))
    spec = discovery.spec_of(filed.result.benchmark)
    new_folder = out / f"asked-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    errata = filed.result.benchmark.errata
    write_anew(new_folder, spec, scored, filed.result, errata, note=_NOTE)
    console.note(f"asked again: {new_folder}; how far that is from the first scores:")
    console.write(shlex.join(["reelbench", "judge", "agree", str(out), str(new_folder)]))


def _draw_anchors(result: Path, out: Path, number: int, per: str | None) -> None:
    """Draw the answers of a judged result that become the anchors, and write them."""
    from reelbench.leaderboard.rejudge import write_anew
    from reelbench.registry import discovery
    from reelbench.scoring import aggregation
    from reelbench.scoring import anchors as drawing
    from reelbench.terminal.read_results import read_one

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


def _judge_again(anchors: "ResultRead", judge: "JudgeOptions", folder_name: str) -> "ScoredItems":
    """Ask a judge about the anchors, without the replies that are cached."""
    from reelbench.judges.judge_run import judge_of
    from reelbench.leaderboard import against_data
    from reelbench.registry import discovery
    from reelbench.scoring import aggregation

    spec = discovery.spec_of(anchors.result.benchmark)
    rows = against_data.KnownRows().rows_of(anchors.result)
    items = against_data.as_asked(spec, anchors.samples, rows, folder_name)
    notes: list[str] = []
    with TemporaryDirectory(prefix="reelbench-anchors-") as folder:
        # An empty cache: the usual one has the judge's earlier replies.
        empty_cache = Path(folder) / "judge.sqlite"
        members = tuple(replace(member, cache=empty_cache) for member in judge.others)
        uncached_judge = replace(judge, cache=empty_cache, others=members)
        ask_judge = judge_of(uncached_judge, notes.append, console.progress)
        scored = aggregation.score(spec, items, overlap=False, judged=ask_judge(spec, items))
    if not scored.counts.scored:
        unread = f"no reply of the judge {judge.name} at {judge.host} could be read"
        raise ReelbenchError("; ".join(notes) or unread)
    for line in notes:
        console.note(line)
    return scored
