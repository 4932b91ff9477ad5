"""`reelbench score`: predictions to numbers, without running a model."""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console
from reelbench.cli.judging import takes_judge
from reelbench.cli.options import given
from reelbench.registry.errors import InputError
from reelbench.registry.home import home

if TYPE_CHECKING:
    from reelbench.judges.llm.options import JudgeOptions
    from reelbench.tasks.score import Outcome

_SHOWN = 10


@takes_judge
def score(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Benchmark; left out with --run.")] = None,
    *,
    predictions: Annotated[Path | None, typer.Option(help="Predictions in the benchmark's own format.")] = None,
    references: Annotated[Path | None, typer.Option(help="References; by default the benchmark's own data.")] = None,
    tags: Annotated[Path | None, typer.Option(help="CogME tags (JSON Lines), for dramaqa_cogme.")] = None,
    run: Annotated[Path | None, typer.Option(help="Output folder of an lmms-eval run with --log_samples.")] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="With --run: this task only; may be given several times.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split that is scored, if not the default one.")] = None,
    data: Annotated[Path | None, typer.Option(help="The benchmark's own data, where it isn't found by itself.")] = None,
    model: Annotated[str | None, typer.Option(help="Model id, as the result records it.")] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for result.json and samples.jsonl.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
    strict: Annotated[
        bool, typer.Option(help="Exit with 1 if anything is unscored, missing, extra or double.")
    ] = False,
    no_overlap: Annotated[bool, typer.Option("--no-overlap", help="Leave out BLEU, CIDEr and METEOR.")] = False,
    judge: "JudgeOptions | None",
) -> None:
    """Score predictions from a file (NAME --predictions FILE) or from an lmms-eval run (--run DIR).

    Without --output a run's scores are written where `reelbench run` writes them: a run made without a judge is
    completed in its own folder.
    """
    from reelbench.tasks.score import Options, score_files, score_run
    from reelbench.tasks.submissions import Inputs

    options = Options(
        overlap=not no_overlap,
        judge=judge,
        note=console.note,
    )
    if run is not None:
        if name is not None or predictions is not None or references is not None:
            raise InputError("--run reads everything from the run's folder; leave out NAME and the file options")
        outcomes = list(score_run(run, output, options, tags=tags, tasks=task))
    else:
        if name is None or predictions is None:
            raise InputError("nothing to score: give NAME --predictions FILE, or --run DIR")
        if task:
            raise InputError("--task chooses among the tasks of a run; with --predictions give --split")
        inputs = Inputs(predictions, references, tags, split, data)
        outcomes = [score_files(name, inputs, output or fresh_folder(name), options, model=model)]
    again = ["reelbench", "score", *given(context)]
    report(outcomes, as_json=as_json, again=again)
    if strict and not all(outcome.complete for outcome in outcomes):
        raise typer.Exit(1)


def fresh_folder(name: str) -> Path:
    """Return a folder for results that is not there yet, named by the time."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return home() / "results" / f"{stamp}-{name}"


def report(outcomes: "list[Outcome]", *, as_json: bool, again: Sequence[str]) -> None:
    """Print results: JSON on stdout if asked for (a list for several), else tables; notes go to stderr.

    `again` is the command that scores the same once more: what is not judged yet is said with it.
    """
    from reelbench.judges.results import as_json as document

    for outcome in outcomes:
        _tell(outcome)
    _tell_unjudged(outcomes, again)
    if as_json:
        documents = [document(outcome.result) for outcome in outcomes]
        console.write(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False))
        return
    for outcome in outcomes:
        _show(outcome)


def _tell(outcome: "Outcome") -> None:
    for line in outcome.notes:
        console.note(line)
    for what, ids in (("missing", outcome.missing), ("extra", outcome.extra), ("duplicate", outcome.duplicate)):
        if ids:
            more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
            console.note(f"{len(ids)} {what} ids: {', '.join(ids[:_SHOWN])}{more}")


def _tell_unjudged(outcomes: "list[Outcome]", again: Sequence[str]) -> None:
    """Say how to finish: by the same command where it names a judge, else with one for each task."""
    from reelbench.registry import discovery

    waiting: dict[str, int] = Counter()
    for outcome in outcomes:
        result = outcome.result
        if number := result.counts.unscored.get("judge_unavailable", 0):
            command = list(again)
            if "--judge" not in command:
                scale = discovery.get(result.benchmark.id).judge
                judge = result.judge.requested if result.judge else scale.default_model if scale else "MODEL"
                only = ["--task", outcome.folder.name] if "--run" in command and len(outcomes) > 1 else []
                command += [*only, "--judge", judge]
            waiting[shlex.join(command)] += number
    for command, number in waiting.items():
        console.note(f"{number} answers are not judged (judge_unavailable); to finish: {command}")


def _show(outcome: "Outcome") -> None:
    result = outcome.result
    counts = result.counts
    unscored = ", ".join(f"{number} {reason}" for reason, number in counts.unscored.items())
    title = (
        f"{result.benchmark.id} {result.benchmark.split} · {result.model.id} · {counts.scored} of {counts.items} scored"
        + (f" ({unscored})" if unscored else "")
    )
    table = console.table(title, "metric", "#value", "#95 % interval", "#n")
    for name, metric in result.metrics.items():
        value = "N/A" if metric.value is None else f"{metric.value:.2f}"
        interval = "" if metric.ci95 is None else f"{metric.ci95[0]:.2f} to {metric.ci95[1]:.2f}"
        table.add_row(name, value, interval, str(metric.n))
    console.show(table)
    if counts.parse_failed or counts.empty:
        console.write(f"scored as wrong: {counts.parse_failed} unreadable, {counts.empty} empty")
    console.write(f"written to {outcome.folder}")
