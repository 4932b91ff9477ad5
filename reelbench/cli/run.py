"""`reelbench run`: lmms-eval, then scores; it fails when lmms-eval failed, which by itself exits with 0."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reelbench.cli import console, loggers, run_options
from reelbench.cli.about import takes_about
from reelbench.cli.asking import check_apart, takes_llm, takes_output_limit, takes_questions, takes_runs
from reelbench.cli.judging import takes_judge
from reelbench.cli.option_groups import Json, Quiet, chosen, given, reports_status
from reelbench.cli.report import check_judged, report
from reelbench.cli.run_options import takes_sweep
from reelbench.registry import settings
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from reelbench.cli.asking import OutputLimit, QuestionChoice
    from reelbench.cli.sweep import Sweep
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.llm.ask_options import AskOptions
    from reelbench.methods.runs import Runs
    from reelbench.registry.frames.sampling import FrameSampling
    from reelbench.registry.records import About


@takes_output_limit
@takes_judge
@takes_about
@takes_llm
@takes_sweep
@takes_runs
@takes_questions
@reports_status
def run(
    context: typer.Context,
    *,
    frames: run_options.Frames = None,
    label: run_options.Label = None,
    candidates: run_options.Candidates = None,
    answering: run_options.Answering = None,
    processes: run_options.Processes = 1,
    strict: run_options.Strict = False,
    as_json: Json = False,
    quiet: Quiet = False,
    several: run_options.SweepChoice,
    llm: "dict[str, AskOptions]",
    about: "About | None",
    judge: "JudgeOptions | None",
    output_limit: "OutputLimit",
    chosen_questions: "QuestionChoice",
    repeats: "Runs",
) -> None:
    """Run lmms-eval with the arguments after `--`, then score its log.

    The scores lie beside lmms-eval's own files, in <output_path>/<model>/reelbench/<task>/. A sweep has a folder for
    each setting (frames-<N>/, language-<TAG>/), a sweep.json and a plot for each task; --runs has run-<N>/ and
    <task>/runs.json. With --json, stdout has the JSON of results, runs or sweep, and stderr lmms-eval's table.
    """
    from reelbench.cli import sweep as sweeps
    from reelbench.registry.about import check_frames
    from reelbench.registry.decoding import Answering, Candidates
    from reelbench.registry.frames.sampling import FrameSampling
    from reelbench.tasks.lmms import process
    from reelbench.tasks.score import Options

    named, earlier = chosen_questions.ids, chosen_questions.earlier
    options = Options(judge=judge, note=console.noted(quiet=quiet), bar=console.progress, about=about, earlier=earlier)
    most, thinking = output_limit.max_tokens, output_limit.thinking
    context.args = process.with_output_limit(context.args, most, options.note, thinking=thinking)
    if output_limit.preset is not None and context.args:
        preset = output_limit.preset.overridden_by(frames=frames or several.frames_sweep)
        context.args, preset = process.with_preset(context.args, preset)
        options, frames = replace(options, preset=preset), frames or preset.get("frames")
    printed = sweeps.Printed(given(context, only="judge"), as_json=as_json, quiet=quiet)
    parts = named is not None or earlier is not None
    several.check(translator=bool(llm), parts=parts, processes=processes)
    context.args = _seeded(loggers.checked(context.args), repeats, chosen_questions, several, processes)
    context.args, folders = process.opened_by_path(context.args)
    beams = chosen(candidates, settings.CANDIDATES, Candidates.parse)
    by_options = chosen(answering, settings.ANSWERING, Answering.parse)
    environ = folders | process.ways_chosen(context.args, beams, by_options)
    environ |= {settings.LABEL.name: label} if label else {}
    if several.frames_sweep is not None:
        process.check_data(context.args, None, videos=False)
        steps = sweeps.of_frames(frames, several.frames_sweep)
        over_frames = sweeps.Sweep("frames (log scale)", steps, several.sweep_by, environ)
        sweeps.sweep(*process.with_logging(context.args), over_frames, options, printed)
        return
    sampling = chosen(frames, settings.FRAMES, FrameSampling.parse)
    questions = process.check_data(context.args, sampling, videos=several.sweep is None)
    if several.sweep is not None:
        over_values = sweeps.Sweep(*sweeps.of_argument(several.sweep, sampling), several.sweep_by, environ)
        sweeps.sweep(*process.with_logging(context.args), over_values, options, printed)
        return
    check_frames(about, "native" if sampling is None else str(sampling))
    arguments, output = process.with_logging(context.args)
    if several.languages is not None:
        over_languages = _languages(several, arguments, output, sampling=sampling, llm=llm, environ=environ)
        sweeps.sweep(arguments, output, over_languages, options, printed)
        return
    environ |= _questions_named(chosen_questions, arguments, output)
    if repeats.number > 1:
        runs = sweeps.of_runs(repeats.number, repeats.seed, arguments, sampling)
        sweeps.repeat(arguments, output, sweeps.Sweep("run", runs, environ=environ, resume=True), options, printed)
        return
    start = process.followed(console.only_told(), partial(process.lmms_eval, processes=processes))
    scored = partial(process.run_and_score, environ=environ, stdout=printed.of_lmms_eval, start=start)
    outcomes = scored(arguments, output, sampling, options, questions=questions)
    report(outcomes, as_json=as_json, again=["reelbench", "score", "--run", str(output), *printed.judging], quiet=quiet)
    process.check_all_there(arguments, outcomes)
    check_judged(outcomes, strict=strict)


def _seeded(
    arguments: list[str],
    repeats: "Runs",
    questions: "QuestionChoice",
    several: run_options.SweepChoice,
    processes: int,
) -> list[str]:
    """Return lmms-eval's arguments with the seed of the one run; of several InputError where they can't be had."""
    if questions.earlier is not None:
        repeats.check_once()
    if repeats.number > 1 and (several != run_options.SweepChoice() or processes > 1):
        raise InputError("--runs is for one setting, in one process; leave out the sweep, and --processes")
    if repeats.number > 1 or repeats.seed is None:
        return arguments
    from reelbench.tasks.lmms import process

    return process.replaced(arguments, "--seed", str(repeats.seed))


def _questions_named(chosen_questions: "QuestionChoice", arguments: list[str], output: Path) -> dict[str, str]:
    """Return the variable by which lmms-eval asks some questions only, and write the file that it names."""
    from reelbench.registry.question_ids import QuestionIds
    from reelbench.tasks.lmms import process

    named, earlier = chosen_questions.ids, chosen_questions.earlier
    if earlier is not None:
        check_apart(earlier, sorted(process.wanted_tasks(arguments)), output)
        named = QuestionIds(earlier.ids)
    if named is None:
        return {}
    path = output / "ids.txt"
    named.write(path)
    return {settings.IDS.name: str(path.resolve())}


def _languages(
    several: run_options.SweepChoice,
    arguments: list[str],
    output: Path,
    *,
    sampling: "FrameSampling | None",
    llm: "dict[str, AskOptions]",
    environ: dict[str, str],
) -> "Sweep":
    """Return a sweep over languages, for which the questions are translated first."""
    from reelbench.cli import languages
    from reelbench.cli import sweep as sweeps

    tags = languages.tags(several.languages or "")
    shown = sampling is None or sampling.kind != "none"
    path = languages.translated(arguments, tags, several.translations, llm, output, shown=shown)
    steps = sweeps.of_languages(tags, path, sampling)
    return sweeps.Sweep("language", steps, environ=environ, finish=languages.report_matrix)
