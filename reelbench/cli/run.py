"""`reelbench run`: lmms-eval, then scores; it fails when lmms-eval failed, which by itself exits with 0."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.cli import loggers
from reelbench.terminal import console
from reelbench.terminal.asking_options import (
    AboutModel,
    ChosenQuestions,
    Judge,
    Llm,
    OutputLimit,
    Repeats,
)
from reelbench.terminal.option_groups import (
    Frames,
    Json,
    Kind,
    Label,
    Quiet,
    choice,
    options_given,
    reports_status,
)
from reelbench.terminal.report import check_judged, report

_sweeps = partial(typer.Option, rich_help_panel="Several settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepChoice:
    """Which setting a run is repeated over, as it was typed; at most one of `frames_sweep`, `sweep` and `languages`."""

    frames_sweep: Annotated[
        str | None,
        _sweeps(
            "--frames-sweep",
            metavar="N,N,...",
            help="Run once for each number of frames (0: text only) and plot the "
            "score against it; --frames then has N for the number, e.g. "
            "uniform:N,size=448.",
        ),
    ] = None
    sweep: Annotated[
        str | None,
        _sweeps(
            "--sweep",
            metavar="KEY=A,B,...",
            help="Run once for each value of an argument of the adapter's, or with "
            "gen_kwargs.KEY of generation.",
        ),
    ] = None
    languages: Annotated[
        str | None,
        _sweeps(
            "--languages",
            metavar="TAG,TAG,...",
            help="Run once in the original language and once in each of these "
            "(en,es,ja), translated by --llm translator=MODEL or read from "
            "--translations.",
        ),
        Kind.LANGUAGES,
    ] = None
    translations: Annotated[
        Path | None,
        _sweeps(
            "--translations",
            metavar="FILE",
            help='JSON Lines {"id", "language", "question"} for --languages.',
        ),
    ] = None
    sweep_by: Annotated[
        str | None,
        _sweeps(
            "--sweep-by",
            metavar="FACET",
            help="One line per label of a facet (locale), beside the total.",
        ),
    ] = None


@reports_status
def run(
    context: typer.Context,
    *,
    frames: Frames = None,
    label: Label = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            metavar="SPEC",
            help="Answers to each question; the first is scored, all are kept: "
            "beam:K (Hugging Face models only) or sample:K,t=T. Default: "
            "REELBENCH_CANDIDATES.",
        ),
    ] = None,
    answering: Annotated[
        str | None,
        typer.Option(
            "--answering",
            metavar="SPEC",
            help="How an `_options` task compares its options' likelihood: "
            "options[:K=V,…] with norm=mean|sum|chars, over=sentence|option, "
            "span=predicted|truth|none. Default: REELBENCH_ANSWERING, else the "
            "first of each.",
        ),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            metavar="N",
            min=1,
            help="Processes that share the questions, a GPU each.",
        ),
    ] = 1,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit 1 if a question is unscored, or was shown other frames or "
            "times than asked for.",
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    several: SweepChoice,
    llm: Llm,
    about: AboutModel,
    judge: Judge,
    output_limit: OutputLimit,
    chosen_questions: ChosenQuestions,
    repeats: Repeats,
) -> None:
    """Run lmms-eval with the arguments after `--`, then score its log.

    The scores lie beside lmms-eval's own files, in <output_path>/<model>/reelbench/<task>/. A sweep
    has a folder for each setting (frames-<N>/, language-<TAG>/), a sweep.json and a plot for each
    task; --runs has run-<N>/ and <task>/runs.json. With --json, stdout has the JSON of results,
    runs or sweep, and stderr lmms-eval's table.
    """
    from reelbench.cli import sweep as sweeps
    from reelbench.registry.decoding import Answering, Candidates
    from reelbench.registry.sampling import FrameSampling
    from reelbench.tasks.about import check_frames
    from reelbench.tasks.lmms import process
    from reelbench.tasks.score import Options

    note, earlier = console.note_unless(quiet=quiet), chosen_questions.earlier
    options = Options(judge=judge, note=note, bar=console.progress, about=about, earlier=earlier)
    most, thinking = output_limit.max_tokens, output_limit.thinking
    context.args = process.with_output_limit(context.args, most, note, thinking=thinking)
    if output_limit.preset is not None and context.args:
        preset = output_limit.preset.overridden_by(frames=frames or several.frames_sweep)
        context.args, preset = process.with_preset(context.args, preset)
        options, frames = replace(options, preset=preset), frames or preset.get("frames")
    printed = sweeps.Printed(options_given(context, only="judge"), as_json=as_json, quiet=quiet)
    _check(several, repeats, chosen_questions, llm, processes)
    loggers.check_arguments(context.args)
    if repeats.number == 1 and repeats.seed is not None:
        context.args = process.set_option(context.args, "--seed", str(repeats.seed))
    context.args, folders = process.opened_by_path(context.args)
    beams = choice(candidates, settings.CANDIDATES, Candidates.parse)
    by_options = choice(answering, settings.ANSWERING, Answering.parse)
    environ = folders | process.way_variables(context.args, beams, by_options)
    environ |= {settings.LABEL.name: label} if label else {}
    over = partial(sweeps.Sweep, options=options, printed=printed, environ=environ)
    if several.frames_sweep is not None:
        process.check_data(context.args, None, videos=False)
        steps = sweeps.of_frames(frames, several.frames_sweep)
        over("frames (log scale)", steps, by=several.sweep_by).run(
            *process.with_logging(context.args)
        )
        return
    sampling = choice(frames, settings.FRAMES, FrameSampling.parse)
    questions = process.check_data(context.args, sampling, videos=several.sweep is None)
    if several.sweep is not None:
        over_values = over(*sweeps.of_argument(several.sweep, sampling), by=several.sweep_by)
        over_values.run(*process.with_logging(context.args))
        return
    check_frames(about, "native" if sampling is None else str(sampling))
    arguments, output = process.with_logging(context.args)
    if several.languages is not None:
        steps = sweeps.of_languages(
            several.languages, several.translations, llm, arguments, output, sampling=sampling
        )
        over("language", steps, finish=sweeps.write_matrix).run(arguments, output)
        return
    environ |= _questions_named(chosen_questions, arguments, output)
    if repeats.number > 1:
        runs = sweeps.of_runs(repeats.number, repeats.seed, arguments, sampling)
        over("run", runs, environ=environ, resume=True).repeat(arguments, output)
        return
    start = partial(
        process.followed, console.status, partial(process.lmms_eval, processes=processes)
    )
    scored = partial(
        process.run_and_score, environ=environ, stdout=printed.of_lmms_eval, start=start
    )
    outcomes = scored(arguments, output, sampling, options, questions=questions)
    report(
        outcomes,
        as_json=as_json,
        again=["reelbench", "score", "--run", str(output), *printed.judging],
        quiet=quiet,
    )
    process.check_all_there(arguments, outcomes)
    check_judged(outcomes, strict=strict)


def _check(
    several: SweepChoice, repeats: Repeats, questions: ChosenQuestions, llm: Llm, processes: int
) -> None:
    """Raise InputError where options don't go together."""
    swept = several != SweepChoice()
    if swept and processes > 1:
        raise InputError("--processes is for one run; leave out the sweep")
    if swept and (questions.ids is not None or questions.earlier is not None):
        raise InputError("--ids, --only and --from are for one run; leave out the sweep")
    if (
        sum(
            chosen is not None
            for chosen in (several.frames_sweep, several.sweep, several.languages)
        )
        > 1
    ):
        raise InputError("--frames-sweep, --sweep and --languages: one of them at a time")
    if (several.translations is not None or llm) and several.languages is None:
        raise InputError("--translations and --llm are for --languages; name the languages")
    if several.sweep_by is not None and several.frames_sweep is None and several.sweep is None:
        raise InputError("--sweep-by is for --frames-sweep or --sweep")
    if questions.earlier is not None:
        repeats.check_once()
    if repeats.number > 1 and (swept or processes > 1):
        raise InputError(
            "--runs is for one setting, in one process; leave out the sweep, and --processes"
        )


def _questions_named(
    chosen_questions: ChosenQuestions, arguments: list[str], output: Path
) -> dict[str, str]:
    """Return the variable by which lmms-eval asks some questions only, and write the file that it names."""
    from reelbench.registry.question_files import QuestionIds
    from reelbench.tasks.lmms import process

    named, earlier = chosen_questions.ids, chosen_questions.earlier
    if earlier is not None:
        earlier.check_apart(output, process.wanted_tasks(arguments))
        named = QuestionIds(earlier.ids)
    if named is None:
        return {}
    path = output / "ids.txt"
    named.write(path)
    return {settings.IDS.name: str(path.resolve())}
