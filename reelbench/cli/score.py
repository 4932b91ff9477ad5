"""`reelbench score`: predictions to numbers, without running a model."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.base.settings import home
from reelbench.terminal import console, defaults
from reelbench.terminal import option_groups as shared
from reelbench.terminal.asking_options import (
    AboutAnswers,
    AboutModel,
    ChosenQuestions,
    Judge,
    JudgeEstimate,
    Reader,
)
from reelbench.terminal.report import check_judged, report, show_by, show_estimates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.scoring.cognitive_profile import TagsFile
    from reelbench.tasks.score import Answers, Evaluation, Options, Outcome


_FILL_IN = (
    "fill in the column prediction, and leave out rows without an answer: "
    "an empty cell counts as wrong"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """The files to score, as they were typed."""

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
            rich_help_panel="What the result records about the answers",
        ),
    ] = None
    split: shared.Split = None
    data: shared.Data = None
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-column",
            metavar="COLUMN",
            help="Column with the ids, or a template of several: '{video}-{number}'.",
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
    """The lmms-eval run to score, as it was typed."""

    run: Annotated[
        Path | None,
        typer.Option("--run", help="Output folder of an lmms-eval run (--log_samples)."),
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
    """The printed parts of the outcomes, and the outcomes that count as failures."""

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
    show: ShowOptions,
    no_overlap: shared.NoOverlap = False,
    errata: shared.Errata = "apply",
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
    reader: Reader,
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
        overlap=not no_overlap,
        judge=judge,
        reader=reader,
        note=console.note_unless(quiet=show.quiet),
        bar=console.progress_unless(quiet=show.quiet),
        about=about,
        earlier=chosen_questions.earlier,
        only=chosen_questions.ids,
        label=metadata.label,
        place=output,
        defaults=defaults.applied(),
        errata=errata,
        filed=True,
    )
    if judge_estimate:
        options = replace(options, overlap=False, judge=None, reader=None, place=None, filed=False)
    if of_run.answering is not None:
        options = replace(options, answering=Answering.parse(of_run.answering))
    tags_file = None
    if tags is not None:
        tags_file = read_tags(tags)
    failures: dict[str, ReelbenchError] = {}
    if show.by is not None:
        is_tagged = tags is not None or options.earlier is not None
        _check_facet(show.by, name, of_run, tagged=is_tagged)
    if of_run.run is None:
        answers = _answers(
            context,
            files,
            of_run,
            tags=tags_file,
            metadata=metadata,
            options=options,
            output=output,
        )
        of_file = evaluation(answers, options)
        evaluations = iter([(of_file, output or home() / "results" / of_file.name)])
    else:
        _check_only_run(name, files, metadata)
        options = replace(options, file_as=metadata.model)
        note_failure = failures.__setitem__
        if judge_estimate:
            note_failure = None
        evaluations = run_evaluations(
            of_run.run,
            options.place,
            options,
            tags=tags_file,
            tasks=of_run.task or (),
            failed=note_failure,
        )
    if judge_estimate:
        _show_costs(evaluations, judge, as_json=show.as_json)
        return
    outcomes = [evaluation.write(folder) for evaluation, folder in evaluations]
    if failures and not outcomes:
        raise failures.pop(next(iter(failures)))
    same_command = ["reelbench", "score", *shared.options_given(context)]
    report(outcomes, as_json=show.as_json, again=same_command, quiet=show.quiet)
    for outcome in outcomes:
        send(outcome.result)
    _conclude(outcomes, failures, show)


def _check_only_run(name: str | None, files: FileOptions, metadata: AboutAnswers) -> None:
    """Raise InputError where options of files stand beside `--run`."""
    has_file_options = files != FileOptions()
    further_metadata = replace(metadata, label=None, model=None)
    if name is not None or has_file_options or further_metadata.anything:
        raise InputError(
            "--run reads everything from the run's folder but --name and --label; leave out NAME "
            "and the file options"
        )


def _show_costs(
    evaluations: "Iterator[tuple[Evaluation, Path]]", judge: "JudgeOptions | None", *, as_json: bool
) -> None:
    """Print the cost of judging the answers of evaluations."""
    from reelbench.judges.cost_estimate import CostEstimate, estimate_cost

    if judge is None:
        raise InputError("--judge-estimate needs --judge MODEL")
    costs: list[CostEstimate] = []
    for evaluation, _ in evaluations:
        costs += estimate_cost(evaluation.spec, evaluation.items, judge)
    show_estimates(costs, as_json=as_json)


def _conclude(
    outcomes: "list[Outcome]", failures: "dict[str, ReelbenchError]", show: ShowOptions
) -> None:
    """Print a facet's metrics and the failed tasks.

    Exits with the status that is due.
    """
    if show.by is not None and not show.as_json and not show.quiet:
        show_by(outcomes, show.by)
    for task, error in failures.items():
        console.note(f"{task}: not scored: {error}")
    if failures:
        raise typer.Exit(max(error.exit_code for error in failures.values()))
    check_judged(outcomes)
    if show.strict and not all(outcome.complete for outcome in outcomes):
        raise typer.Exit(1)


def _check_facet(facet: str, name: str | None, of_run: RunOptions, *, tagged: bool) -> None:
    """Raise InputError where nothing that is scored has a facet, before a judge is paid.

    Tags bring some too.
    """
    from reelbench.data.loading import find_split
    from reelbench.scoring import cognitive_profile
    from reelbench.tasks.lmms.run_logs import logged_tasks, spec_and_task

    specs: list[BenchmarkSpec] = []
    if name is not None:
        specs.append(find_split(name)[0])
    if of_run.run is not None:
        tasks = [logged.task for logged in logged_tasks(of_run.run)]
        chosen_tasks = of_run.task or tasks
        specs += [spec_and_task(task)[0] for task in tasks if task in chosen_tasks]
    facet_names: dict[str, None] = {}
    for spec in specs:
        facets = spec.facets
        if tagged:
            facets = cognitive_profile.facets(spec)
        for spec_facet in facets:
            facet_names[spec_facet.name] = None
    if specs and facet not in facet_names:
        names = name or ", ".join(dict.fromkeys(spec.id for spec in specs))
        known_facets = ", ".join(facet_names) or "none"
        raise InputError(f"--by {facet}: no such facet; {names} is broken down by {known_facets}")


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
    """Read the answers of a file of predictions."""
    from reelbench.tasks.predictions import Columns
    from reelbench.tasks.score import read_answers, resolve_predictions
    from reelbench.tasks.submissions import Inputs

    name = context.params["name"]
    if name is None or files.predictions is None:
        raise _nothing_to_score(context, name)
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


def _nothing_to_score(context: typer.Context, name: str | None) -> InputError:
    """Return the error for a command without predictions, which says what to type."""
    from reelbench.scoring import result_files

    if name is not None and (Path(name) / result_files.RESULT_FILE).is_file():
        line = _again_of_result(context, Path(name))
        return InputError(f"{name}: is a result; its answers are scored again by `{line}`")
    if name is not None and Path(name).is_file() and Path(name).suffix != ".yaml":
        return InputError(
            f"{name}: is a file; score it by `reelbench score NAME --predictions {name}`"
        )
    return InputError(
        "nothing to score: give NAME --predictions FILE, or --run DIR; `reelbench list` has "
        "the names"
    )


def _again_of_result(context: typer.Context, folder: Path) -> str:
    """Return the command that scores a result's answers again."""
    from reelbench.scoring import result_files

    result = result_files.read(folder)
    benchmark = result.benchmark
    words = ["reelbench", "score", benchmark.id, "--split", benchmark.split]
    words += ["--predictions", str(result_files.samples_of(folder)), "--model", result.model.id]
    if result.settings.frames:
        words += ["--frames", result.settings.frames]
    words += shared.options_given(context, leave_out=("name",))
    return shlex.join(words)


def write_template(name: str | None, files: FileOptions, output: Path | None) -> None:
    """Write a split's questions as a table to fill in.

    It goes to a file, or as CSV to stdout.
    """
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
    parts_of_answer: list[str] = []
    if spec.asks_choice:
        parts_of_answer.append("B")
    if spec.asks_span:
        parts_of_answer.append("[3.5, 12]")
    note = f"{number_of(len(rows), 'question')} written to {output}; {_FILL_IN}"
    if parts_of_answer:
        note += f"; write each as {' '.join(parts_of_answer)}"
    console.note(note)
