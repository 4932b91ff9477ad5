"""`reelbench leaderboard rejudge`: the answers of a store under another judge, and how its scores relate to the old."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console
from reelbench.cli.judging import JudgeEstimate, takes_judge
from reelbench.cli.option_groups import Json, Per, Store, reports_status, strata
from reelbench.registry.errors import InputError, ReelbenchError, first_of, number_of
from reelbench.registry.home import home

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.leaderboard.bridge import Bridge


@takes_judge
@reports_status
def rejudge(
    *,
    store: Store,
    out: Annotated[Path | None, typer.Option(help="Output folder; default: one in Reelbench's home.")] = None,
    sample: Annotated[
        int | None,
        typer.Option(metavar="N", help="Judge only N answers of each result: relates the judges, gives no rank."),
    ] = None,
    per: Per = None,
    as_json: Json = False,
    judge_estimate: JudgeEstimate = False,
    judge: "JudgeOptions | None",
) -> None:
    """Judge a store's answers with another judge, file each new result beside the old one, and relate the two.

    Answers and their judge's replies stay. What the new judge has scored is not asked again: run it once more after an
    interruption.
    """
    from reelbench.leaderboard import bridge
    from reelbench.leaderboard.rejudgement import Rejudgement

    if judge is None:
        raise InputError("rejudge needs --judge MODEL, the judge that is to score the stored answers")
    work = Rejudgement(
        store, judge, sample=sample, per=strata(per, sample=sample), note=console.note, bar=console.progress
    )
    if judge_estimate:
        from reelbench.cli.score import show_estimates

        show_estimates(list(work.estimates()), as_json=as_json)
        for line in work.refused:
            console.note(f"left out: {line}")
        return
    failed = []
    for done in work.judge(out or home() / "rejudged"):
        if done.failed:
            failed.append(f"{done.key}: {done.why}")
        else:
            console.note(f"judged: {done.folder}" if done.folder else f"waiting: {done.key}: {done.why}")
    kept = sum(not answers.wanted for answers in work.answers)
    if kept:
        console.note(f"judged by {judge.name} already: {number_of(kept, 'result')}")
    made = {name: bridge.bridges(pairs) for name, pairs in work.pairs().items()}
    if as_json:
        console.write_json({name: bridge.as_json(some) for name, some in made.items()})
    for each in () if as_json else chain.from_iterable(made.values()):
        show(each)
    if failed:
        raise ReelbenchError(first_of(failed, separator="; "))
    if work.refused:
        raise InputError(first_of(work.refused, separator="; "))


def show(made: "Bridge") -> None:
    """Print a bridge: a row a result, then what the two orders have in common."""
    table = console.table(
        f"{made.old.benchmark}: old = {made.old.label}; new = {made.new.label}",
        *("model", "#old", "#new", "#shift", "#95 % interval", "#equal %", "#kappa", "#answers", "#rank old", "#new"),
    )
    for one in made.results:
        shift = one.shift
        ci95 = "" if shift.ci95 is None else f"{shift.ci95[0]:+.2f} to {shift.ci95[1]:+.2f}"
        values = (f"{value:.2f}" for value in one.values)
        kappa = "undefined" if one.kappa is None else f"{one.kappa:.3f}"
        agreement = (f"{100 * one.exact:.1f}", kappa, str(shift.n))
        model = one.new.result.model.id
        table.add_row(model, *values, f"{shift.difference:+.2f}", ci95, *agreement, *map(str, one.ranks))
    console.show(table)
    if len(made.results) > 1:
        tau = "undefined" if made.tau is None else f"{made.tau:.2f}"
        console.write(f"Kendall's tau of the two orders: {tau}; {_changed(made)}")
    console.note("shift is new less old, over the answers that both scored; no value is converted")


def _changed(made: "Bridge") -> str:
    if made.changed is None:
        return "too many results to compare each with each"
    pairs = [
        f"{pair.first.result.model.id} and {pair.second.result.model.id} (p = {pair.p:.4f})" for pair in made.changed
    ]
    return f"changed places beyond chance: {', '.join(pairs)}" if pairs else "no pair changed places beyond chance"
