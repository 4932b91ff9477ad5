"""`reelbench score`: predictions to numbers, without running a model."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.base.settings import home
from reelbench.terminal import console
from reelbench.terminal import option_groups as shared
from reelbench.terminal.asking_options import (
    AboutAnswers,
    AboutModel,
    ChosenQuestions,
    Judge,
    JudgeEstimate,
)
from reelbench.terminal.report import check_judged, report, show_by, show_estimates

if TYPE_CHECKING:
    from reelbench.scoring.cognitive_profile import TagsFile
    from reelbench.tasks.score import Answers, Options, Outcome


_FILL_IN = "fill in the column prediction, and leave out rows without an answer: an empty cell counts as wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """What is scored from files, as it was typed."""

    predictions: Annotated[
        str | None,
        typer.Option(
            "--predictions",
            metavar="FILE",
            help="Predictions: the benchmark's own format, or a table of ids and "
            "texts (CSV, TSV, JSON, JSON Lines, Parquet, Excel; "
            "hf://datasets/ORG/NAME[@REVISION][/FILE]).",
        ),
    ] = None
    references: Annotated[
        Path | None,
        typer.Option("--references", help="References file; default: the benchmark's own data."),
    ] = None
    looked: Annotated[
        Path | None,
        typer.Option(
            "--looked",
            metavar="LOG",
            help="Log of `frames serve`: the frames that an agent looked at.",
            rich_help_panel="What the result says of the answers",
        ),
    ] = None
    split: shared.Split = None
    data: shared.Data = None
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-column",
            metavar="COLUMN",
            help="Column with the ids.",
            rich_help_panel="A table of ids and texts",
        ),
        shared.Kind.COLUMNS,
    ] = None
    text_column: Annotated[
        str | None,
        typer.Option(
            "--text-column",
            metavar="COLUMN",
            help="Column with the texts.",
            rich_help_panel="A table of ids and texts",
        ),
        shared.Kind.COLUMNS,
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What is scored of an lmms-eval run, as it was typed."""

    run: Annotated[
        Path | None,
        typer.Option("--run", help="Output folder of an lmms-eval run with --log_samples."),
    ] = None
    task: Annotated[
        list[str] | None, typer.Option("--task", help="With --run: only this task (repeat).")
    ] = None
    answering: Annotated[
        str | None,
        typer.Option(
            "--answering",
            metavar="SPEC",
            help="With --run: how to compare the options' likelihood in `_options` "
            "tasks (options:norm=sum).",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What is printed of the outcomes, and what counts as a failure."""

    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="FACET", help="Also show the metrics for each label of a facet."
        ),
        shared.Kind.FORMAT,
    ] = None
    as_json: shared.Json = False
    quiet: shared.Quiet = False
    strict: Annotated[
        bool,
        typer.Option(
            "--strict/--no-strict",
            help="Exit with 1 if any answer is unscored, missing, extra or duplicated.",
        ),
        shared.Kind.FORMAT,
    ] = False


@shared.reports_status
def score(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="Benchmark or task; not with --run.", autocompletion=shared.task_names),
    ] = None,
    *,
    files: FileOptions,
    of_run: RunOptions,
    tags: Annotated[
        Path | None, typer.Option("--tags", help="CogME tags of the questions (JSON Lines).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="Output folder for result.json and samples.jsonl; with --template, the file.",
        ),
    ] = None,
    shown: ShowOptions,
    no_overlap: shared.NoOverlap = False,
    log: Annotated[
        str | None,
        typer.Option("--log", metavar="WHERE", help="Also log the result's numbers to wandb."),
    ] = None,
    template: Annotated[
        bool,
        typer.Option(
            "--template",
            help="Write an empty table to fill in: CSV, or the format of --output's suffix.",
            rich_help_panel="A table of ids and texts",
        ),
    ] = False,
    judge_estimate: JudgeEstimate = False,
    metadata: AboutAnswers,
    about: AboutModel,
    judge: Judge,
    chosen_questions: ChosenQuestions,
) -> None:
    """Score a file of predictions, or an lmms-eval run (--run DIR).

    Default output: the run's own folder; for a file, a folder that is printed, the same one for the
    same answers.
    """
    from reelbench.cli import loggers
    from reelbench.registry.decoding import Answering
    from reelbench.scoring.cognitive_profile import read_tags
    from reelbench.tasks.score import Options, evaluation
    from reelbench.tasks.score_runs import run_evaluations

    if template:
        write_template(name, files, output)
        return
    send = loggers.sender(log)
    options = Options(
        overlap=not (no_overlap or judge_estimate),
        judge=None if judge_estimate else judge,
        note=console.note_unless(quiet=shown.quiet),
        bar=console.progress,
        about=about,
        answering=Answering.parse(of_run.answering) if of_run.answering is not None else None,
        earlier=chosen_questions.earlier,
        only=chosen_questions.ids,
        label=metadata.label,
        place=None if judge_estimate else output,
    )
    labels = read_tags(tags) if tags is not None else None
    failures: dict[str, ReelbenchError] = {}
    if shown.by is not None:
        _check_facet(shown.by, name, of_run, tagged=tags is not None or options.earlier is not None)
    if of_run.run is None:
        answers = _answers(
            context, files, of_run, tags=labels, metadata=metadata, options=options, output=output
        )
        of_file = evaluation(answers, options)
        evaluations = iter([(of_file, output or home() / "results" / of_file.name)])
    else:
        if name is not None or files != FileOptions() or replace(metadata, label=None).anything:
            raise InputError(
                "--run reads everything from the run's folder; leave out NAME and the file options"
            )
        failed = None if judge_estimate else failures.__setitem__
        tasks = of_run.task or ()
        evaluations = run_evaluations(
            of_run.run, options.place, options, tags=labels, tasks=tasks, failed=failed
        )
    if judge_estimate:
        from reelbench.judges.cost_estimate import estimate_cost

        if judge is None:
            raise InputError("--judge-estimate needs --judge MODEL")
        costs = [
            cost for made, _ in evaluations for cost in estimate_cost(made.spec, made.items, judge)
        ]
        show_estimates(costs, as_json=shown.as_json)
        return
    outcomes = [evaluation.write(folder) for evaluation, folder in evaluations]
    if failures and not outcomes:
        raise failures.pop(next(iter(failures)))
    report(
        outcomes,
        as_json=shown.as_json,
        again=["reelbench", "score", *shared.options_given(context)],
        quiet=shown.quiet,
    )
    for outcome in outcomes:
        send(outcome.result)
    _conclude(outcomes, failures, shown)


def _conclude(
    outcomes: "list[Outcome]", failures: "dict[str, ReelbenchError]", shown: ShowOptions
) -> None:
    """Print a facet's metrics, and which tasks have none; exit with the status that is due."""
    if shown.by is not None and not shown.as_json and not shown.quiet:
        show_by(outcomes, shown.by)
    for task, error in failures.items():
        console.note(f"{task}: not scored: {error}")
    if failures:
        raise typer.Exit(max(error.exit_code for error in failures.values()))
    check_judged(outcomes)
    if shown.strict and not all(outcome.complete for outcome in outcomes):
        raise typer.Exit(1)


def _check_facet(facet: str, name: str | None, of_run: RunOptions, *, tagged: bool) -> None:
    """Raise InputError where nothing that is scored has a facet, before a judge is paid.

    Tags bring some too.
    """
    from reelbench.data.loading import find_split
    from reelbench.scoring import cognitive_profile
    from reelbench.tasks.lmms.run_logs import logged_tasks, spec_and_task

    specs = [find_split(name)[0]] if name is not None else []
    if of_run.run is not None:
        tasks = [logged.task for logged in logged_tasks(of_run.run)]
        specs += [spec_and_task(task)[0] for task in tasks if task in (of_run.task or tasks)]
    named_facets = (cognitive_profile.facets(spec) if tagged else spec.facets for spec in specs)
    facets = list(dict.fromkeys(each.name for several in named_facets for each in several))
    if specs and facet not in facets:
        names = name or ", ".join(dict.fromkeys(spec.id for spec in specs))
        raise InputError(
            f"--by {facet}: no such facet; {names} is broken down by {', '.join(facets) or 'none'}"
        )


def _answers(
    context: typer.Context,
    files: FileOptions,
    of_run: RunOptions,
    *,
    tags: "TagsFile | None",
    metadata: AboutAnswers,
    options: "Options",
    output: Path | None,
) -> "Answers":
    from reelbench.scoring import result_files
    from reelbench.tasks.predictions import Columns
    from reelbench.tasks.score import read_answers, resolve_predictions
    from reelbench.tasks.submissions import Inputs

    name = context.params["name"]
    if name is None or files.predictions is None:
        if name is not None and (Path(name) / result_files.RESULT_FILE).is_file():
            of, answers = result_files.read(Path(name)), str(result_files.samples_of(Path(name)))
            words = [
                of.benchmark.id,
                "--split",
                of.benchmark.split,
                "--predictions",
                answers,
                "--model",
                of.model.id,
            ]
            words += ["--frames", of.settings.frames] if of.settings.frames else []
            line = shlex.join(
                ["reelbench", "score", *words, *shared.options_given(context, leave_out=("name",))]
            )
            raise InputError(f"{name}: is a result; its answers are scored again by `{line}`")
        if name is not None and Path(name).is_file() and Path(name).suffix != ".yaml":
            raise InputError(
                f"{name}: is a file; score it by `reelbench score NAME --predictions {name}`"
            )
        raise InputError(
            "nothing to score: give NAME --predictions FILE, or --run DIR; `reelbench list` has "
            "the names"
        )
    if of_run.task:
        raise InputError("--task chooses among the tasks of a run; with --predictions give --split")
    if of_run.answering is not None:
        raise InputError(
            "--answering compares the option scores of a run; with --predictions leave it out"
        )
    path, metadata = resolve_predictions(files.predictions, metadata)
    inputs = Inputs(path, files.references, tags, files.split, files.data)
    columns = Columns(files.id_column, files.text_column)
    if options.earlier is not None and output is not None:
        options.earlier.check_apart(output)
    return read_answers(
        name, inputs, options, columns=columns, metadata=metadata, agent_log=files.looked
    )


def write_template(name: str | None, files: FileOptions, output: Path | None) -> None:
    """Write a split's questions as a table to fill in, to a file or as CSV to stdout."""
    from reelbench.data.loading import find_split
    from reelbench.tasks import prediction_template

    if name is None:
        raise InputError("--template needs NAME, the benchmark")
    rows = prediction_template.rows(name, files.split, files.data)
    if output is None:
        console.write(prediction_template.as_csv(rows).rstrip("\n"))
        return
    prediction_template.write(rows, output)
    spec, _, _ = find_split(name, files.split)
    forms = {(True, True): "B [3.5, 12]", (True, False): "B", (False, True): "[3.5, 12]"}
    form = forms.get((spec.asks_choice, spec.asks_span))
    written = f"{number_of(len(rows), 'question')} written to {output}; {_FILL_IN}"
    console.note(f"{written}; write each as {form}" if form else written)
