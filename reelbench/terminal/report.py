"""What a scored benchmark prints: a table on stdout, or JSON; what did not fit on stderr."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import InputError, ReelbenchError, first_of, number_of, printable
from reelbench.base.files import read_json
from reelbench.base.values import as_text
from reelbench.terminal import console

if TYPE_CHECKING:
    from pathlib import Path

    from reelbench.judges.cost_estimate import CostEstimate
    from reelbench.registry.records import JudgeRecord, Result
    from reelbench.tasks.score import Outcome

_SHOWN = 10
_ID, _ANSWER = 60, 120
"""Characters shown of an unreadable answer's id, and of the answer."""


def report(
    outcomes: "list[Outcome]", *, as_json: bool, again: Sequence[str], quiet: bool = False
) -> None:
    """Print results: JSON on stdout if asked for (a list for several), else tables; notes go to stderr.

    `again` is the command that scores the same once more: what is not judged yet is said with it.
    With `quiet` nothing is printed but the JSON.
    """
    if not quiet:
        for outcome in outcomes:
            for line in outcome.notes:
                console.note(line)
            for what, ids in (
                ("missing", outcome.missing),
                ("extra", outcome.extra),
                ("duplicate", outcome.duplicate),
            ):
                if ids:
                    console.note(f"{number_of(len(ids), f'{what} id')}: {first_of(ids, _SHOWN)}")
    if as_json:
        documents = [
            {"benchmark": result.benchmark.id, "version": result.benchmark.version}
            | result.model_dump(mode="json", include={"counts", "metrics", "breakdowns"})
            for result in (outcome.result for outcome in outcomes)
        ]
        console.write_json(documents[0] if len(documents) == 1 else documents)
    elif not quiet:
        for outcome in outcomes:
            _show(outcome)
    if not quiet:
        _tell_unjudged(outcomes, again)


def report_runs(
    folders: "Sequence[Path]", outcomes: "Sequence[Outcome]" = (), *, as_json: bool, quiet: bool
) -> None:
    """Print what several runs of a model came to, a table a benchmark, and who was asked; with `as_json` the JSON."""
    from reelbench.methods.runs import RUNS_FILE
    from reelbench.registry import discovery

    folders = [folder for folder in folders if (folder / RUNS_FILE).is_file()]
    documents: list[dict[str, Any]] = [read_json(folder / RUNS_FILE) for folder in folders]
    if as_json:
        console.write_json(documents[0] if len(documents) == 1 else list(documents))
    if as_json or quiet:
        return
    for document in documents:
        spec = discovery.get(document["benchmark"])
        title = f"{spec.title} {document['split']} · {document['model']} · {document['runs']} runs"
        table = console.table(title, "metric", "#mean", "#spread", "95 % interval", "#of each run")
        for name, made in document["metrics"].items():
            digits = spec.metric(name).in_unit.long_digits
            interval = (
                ""
                if made["ci95"] is None
                else " to ".join(f"{end:.{digits}f}" for end in made["ci95"])
            )
            runs = ", ".join(f"{value:.{digits}f}" for value in made["values"])
            first = f"{name} (primary)" if name == document["primary"] else name
            table.add_row(
                first, f"{made['mean']:.{digits}f}", f"{made['spread']:.{digits}f}", interval, runs
            )
        console.show(table)
        method = (
            f"intervals over {document['items']} items scored in every run: {document['method']}"
        )
        some = any(made["ci95"] for made in document["metrics"].values())
        console.write(
            method if some else "no interval: fewer than 10 videos, or nothing that varies"
        )
    for outcome in outcomes:
        _show_asked(outcome.result)
    for folder in folders:
        console.write(f"written to {folder}")


def check_judged(outcomes: Sequence["Outcome"], *, strict: bool = False) -> None:
    """Raise ReelbenchError where a judge that was named and needed gave no score, or no answer came to its end.

    With `strict`, too, where an item is unscored or an id doesn't fit, or where a model was shown
    something else than was asked for.
    """
    whys = [
        (outcome.result.benchmark.id, outcome.unanswered or outcome.judge_failed)
        for outcome in outcomes
    ]
    failed = [f"{name}: {why}" for name, why in whys if why]
    for outcome in outcomes if strict else ():
        unscored = [
            f"{number} {reason}" for reason, number in outcome.result.counts.unscored.items()
        ]
        otherwise = outcome.result.settings.shown_otherwise
        if otherwise or not outcome.complete:
            wrong = ", ".join([*unscored, *filter(None, [otherwise])]) or "ids don't fit"
            failed.append(f"--strict: {outcome.folder.name}: {wrong}")
    if failed:
        raise ReelbenchError("; ".join(failed))


def _tell_unjudged(outcomes: "list[Outcome]", again: Sequence[str]) -> None:
    """Say how to finish: by the same command where it names a judge, else with one for each task."""
    from reelbench.registry import discovery

    waiting: dict[str, int] = Counter()
    for outcome in outcomes:
        result = outcome.result
        if number := result.counts.unscored.get("judge_unavailable", 0):
            command = list(again)
            if "--judge" not in command:
                scale = discovery.spec_of(result.benchmark).judge
                judge = (
                    result.judge.requested
                    if result.judge
                    else scale.suggested
                    if scale
                    else "MODEL"
                )
                only = (
                    ["--task", outcome.folder.name]
                    if "--run" in command and len(outcomes) > 1
                    else []
                )
                command += [*only, "--judge", judge]
            waiting[shlex.join(command)] += number
    for command, number in waiting.items():
        why = (
            "the judge"
            if "--judge" in again
            else "a judge; none was named, the one here is the benchmark's own"
        )
        await_ = "answer awaits" if number == 1 else "answers await"
        console.note(f"{number} {await_} {why}; to finish: {command}")


def _show_asked(result: "Result") -> None:
    from reelbench.llm.budget import shown_dates

    if (asked := result.provenance.asked) is not None:
        run = f", run {result.settings.run}" if result.settings.run else ""
        dates = shown_dates(asked.kept_from, asked.kept_to)
        again = (
            f"; {len(asked.rechecked)} of these asked again as a check: the same"
            if asked.rechecked
            else ""
        )
        console.write(
            f"{result.model.id}{run}: {asked.asked} asked, {asked.kept} kept{dates}{again}"
        )


def _show(outcome: "Outcome") -> None:
    from reelbench.registry import discovery
    from reelbench.scoring import metric_table

    result = outcome.result
    counts = result.counts
    spec = discovery.spec_of(result.benchmark)
    title = metric_table.title(result.benchmark.id, result.benchmark.split, counts, result.model.id)
    if result.metrics:
        console.show(
            console.table(
                title,
                *metric_table.COLUMNS,
                rows=metric_table.rows(spec, result.metrics, counts.items),
            )
        )
        if line := metric_table.without_interval(spec, result.metrics):
            console.write(line)
    else:
        console.write(title)
    if counts.parse_failed or counts.empty:
        share = (
            f" ({100 * counts.parse_failed / counts.items:.1f} % of {counts.items})"
            if counts.parse_failed
            else ""
        )
        # Where the answers are hidden nothing is scored here, and the owners will find them wrong.
        lacks = " in what they lack" if spec.asks_choice and spec.asks_span else ""
        what = f"scored as wrong{lacks}" if counts.scored else "read as no answer"
        console.write(f"{what}: {counts.parse_failed} unreadable{share}, {counts.empty} empty")
    for sample in outcome.unread:
        half = spec.asks_choice and spec.asks_span and (sample.parsed or {}).get("answer")
        number = spec.asks_choice and str(sample.prediction).strip().isdecimal()
        lacks = (
            " (an option without its span)"
            if half
            else " (an option goes by its letter)"
            if number
            else ""
        )
        console.write(
            f"  unreadable{lacks}, {line_of(sample.id, _ID)}: {line_of(sample.prediction, _ANSWER)}"
        )
    for name, reply in outcome.unread_replies:
        console.write(
            f"  the judge's reply is unreadable, {line_of(name, _ID)}: {line_of(reply, _ANSWER)}"
        )
    _show_asked(result)
    if result.judge is not None:
        console.write(_judge_line(result.judge))
    console.write(f"written to {outcome.folder}")


def show_by(outcomes: Sequence["Outcome"], facet: str) -> None:
    """Print the metrics for each label of a facet; InputError where no result is broken down by it."""
    from reelbench.registry import discovery
    from reelbench.scoring import metric_table

    shown = [outcome.result for outcome in outcomes if facet in outcome.result.breakdowns]
    if not shown:
        facets = sorted({name for outcome in outcomes for name in outcome.result.breakdowns})
        raise InputError(
            f"--by {facet}: no such facet; results here are broken down by {', '.join(facets) or 'none'}"
        )
    for result in shown:
        spec = discovery.spec_of(result.benchmark)
        columns, rows = metric_table.by_label(spec, result.breakdowns, facet)
        console.show(console.table(f"{spec.id} by {facet}", *columns, rows=rows))


def line_of(value: object, length: int) -> str:
    """Return an input as one line of at most `length` characters: its start and its end, nothing that acts."""
    text = as_text(value)
    # The space between is where a cut falls; an answer stands at the end.
    half = (length - 3) // 2
    head, tail = (
        " ".join(printable(part).split()) for part in (text[: 4 * length], text[-4 * length :])
    )
    return (
        head
        if len(text) <= 4 * length and len(head) <= length
        else f"{head[:half]} … {tail[-half:]}"
    )


def _judge_line(judge: "JudgeRecord") -> str:
    from reelbench.llm.budget import shown_dates

    if judge.panel:
        alphas = (judge.agreement or {}).items()
        agreement = ", ".join(
            f"{name} {'undefined' if alpha is None else f'{alpha:.2f}'}" for name, alpha in alphas
        )
        return "\n".join(
            [
                *map(_judge_line, judge.panel),
                f"the panel's agreement (Krippendorff's alpha): {agreement}",
            ]
        )
    cost = "" if judge.cost_usd is None else f", ${judge.cost_usd:.4f}"
    calls, cached = number_of(judge.calls, "call"), number_of(judge.cached, "reply", "replies")
    dates = shown_dates(judge.kept_from, judge.kept_to)
    return (
        f"judge {judge.requested}: {calls}, {cached} from the cache{dates}, "
        f"{judge.prompt_tokens} tokens in and {judge.completion_tokens} out{cost}"
    )


def show_estimates(estimates: "list[CostEstimate]", *, as_json: bool) -> None:
    """Print what judging would take, a row a judge and benchmark."""
    if as_json:
        console.write_json([asdict(cost) for cost in estimates])
        return
    columns = (
        "judge",
        "#items",
        "#cached",
        "#in a batch",
        "#calls",
        "#tokens in",
        "#out",
        "#$",
        "#time",
    )
    table = console.table("estimate of judging", *columns)
    for cost in estimates:
        dollars = "" if cost.cost_usd is None else f"{cost.cost_usd:.4f}"
        time = "" if cost.seconds is None else f"{cost.seconds:.0f} s"
        numbers = (
            cost.items,
            cost.cached,
            cost.pending,
            cost.calls,
            cost.prompt_tokens,
            cost.completion_tokens,
        )
        table.add_row(cost.judge, *map(str, numbers), dollars, time)
    console.show(table)
    if any(cost.calls and not cost.counted_by for cost in estimates):
        console.note(
            "no reply of this judge is kept yet: tokens are estimated, at 3 bytes each, and the time is unknown"
        )
    if any(cost.calls and cost.cost_usd is None for cost in estimates):
        console.note(
            "no price is known: give --judge-price IN,OUT (dollars per million tokens) or --judge-prices FILE"
        )
    for judge_name, day in {(cost.judge, cost.shutdown) for cost in estimates if cost.shutdown}:
        console.note(f"{judge_name} shuts down on {day}, its server said when it was last asked")
