"""`reelbench run`: lmms-eval, then scores.

It fails when lmms-eval failed, which by itself exits with 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.cli import loggers
from reelbench.registry.sampling import parse_frame_counts
from reelbench.terminal import console, defaults
from reelbench.terminal.asking_options import (
    AboutModel,
    ChosenQuestions,
    Judge,
    Llm,
    ModelName,
    OutputLimit,
    Reader,
    Repeats,
)
from reelbench.terminal.option_groups import (
    Errata,
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

if TYPE_CHECKING:
    from reelbench.cli.sweep import Sweep
    from reelbench.cli.sweep_steps import Step
    from reelbench.registry.sampling import FrameSampling

_sweeps = partial(typer.Option, rich_help_panel="Several settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepChoice:
    """The setting that a run is repeated over, as it was typed.

    At most one of `frames_sweep`, `sweep` and `languages` is given.
    """

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommandOptions:
    """The options of `run` but for its frames, as they were typed."""

    label: Label = None
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            metavar="SPEC",
            help="Answers to each question; the first is scored, all are kept: "
            "beam:K (Hugging Face models only) or sample:K,t=T. Default: "
            "REELBENCH_CANDIDATES.",
        ),
    ] = None
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
    ] = None
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            metavar="N",
            min=1,
            help="Processes that share the questions, one GPU each.",
        ),
    ] = 1
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit 1 if a question is unscored, or was shown other frames or "
            "times than asked for.",
        ),
    ] = False
    errata: Errata = "apply"
    as_json: Json = False
    quiet: Quiet = False
    several: SweepChoice
    llm: Llm
    name: ModelName = None
    about: AboutModel
    judge: Judge
    reader: Reader
    output_limit: OutputLimit
    chosen_questions: ChosenQuestions
    repeats: Repeats


@reports_status
def run(context: typer.Context, *, frames: Frames = None, options: RunCommandOptions) -> None:
    """Run lmms-eval with the arguments after `--`, then score its log.

    The scores lie beside lmms-eval's own files, in <output_path>/<model>/reelbench/<task>/. A sweep
    has a folder for each setting (frames-<N>/, language-<TAG>/), a sweep.json and a plot for each
    task; --runs has run-<N>/ and <task>/runs.json. With --json, stdout has the JSON of results,
    runs or sweep, and stderr lmms-eval's table.
    """
    judging = options_given(context, only="judge")
    run_checkpoint(context.args, frames, options, judging=judging)


def run_checkpoint(
    arguments: list[str],
    frames: str | None,
    options: RunCommandOptions,
    *,
    judging: Sequence[str],
) -> None:
    """Run lmms-eval with its arguments, score its log, and print the results.

    `frames` are those that the model is shown, as typed, or several numbers to run with each.
    `judging` are the options that say who judges, as words: a command that judges the rest is said
    with them.
    """
    sweep_choice = options.several
    counts = parse_frame_counts(frames or "")
    if counts is not None:
        if sweep_choice.frames_sweep is not None:
            raise InputError(f"--frames {frames} and --frames-sweep: give one of them")
        sweep_choice = replace(sweep_choice, frames_sweep=",".join(map(str, counts.counts)))
        frames = counts.pattern
    _Run(arguments, frames, sweep_choice, options, judging).start()


class _Run:
    """A run by the options of `run`: once, several times, or a sweep."""

    def __init__(
        self,
        arguments: list[str],
        frames: str | None,
        sweep_choice: SweepChoice,
        options: RunCommandOptions,
        judging: Sequence[str],
    ) -> None:
        from reelbench.cli.sweep import Printed
        from reelbench.tasks.lmms import accelerator
        from reelbench.tasks.score import Options

        self.options = options
        self.sweep_choice = sweep_choice
        self.frames = frames
        self.scoring = Options(
            judge=options.judge,
            reader=options.reader,
            note=console.note_unless(quiet=options.quiet),
            bar=console.progress_unless(quiet=options.quiet),
            about=options.about,
            file_as=options.name,
            earlier=options.chosen_questions.earlier,
            defaults=defaults.applied(),
            errata=options.errata,
        )
        self.arguments = self._with_limit_and_preset(arguments)
        self.printed = Printed(judging, as_json=options.as_json, quiet=options.quiet)
        _check_options_together(sweep_choice, options)
        loggers.check_arguments(self.arguments)
        accelerator.check(self.arguments)
        self.environ = self._lmms_eval_environment()

    def _with_limit_and_preset(self, arguments: list[str]) -> list[str]:
        """Return lmms-eval's arguments with the longest answer and the preset's settings."""
        from reelbench.tasks.lmms import process

        output_limit = self.options.output_limit
        arguments = process.with_output_limit(
            arguments,
            output_limit.max_tokens,
            self.scoring.note,
            thinking=output_limit.thinking,
        )
        if output_limit.preset is not None and arguments:
            typed_frames = self.frames or self.sweep_choice.frames_sweep
            preset = output_limit.preset.overridden_by(frames=typed_frames)
            arguments, preset = process.with_preset(arguments, preset)
            self.scoring = replace(self.scoring, preset=preset)
            self.frames = self.frames or preset.get("frames")
        return arguments

    def _lmms_eval_environment(self) -> dict[str, str]:
        """Return the variables of lmms-eval's process, and open what is named by its path."""
        from reelbench.registry.decoding import Answering, Candidates
        from reelbench.tasks.lmms import process

        options = self.options
        repeats = options.repeats
        if repeats.number == 1 and repeats.seed is not None:
            self.arguments = process.set_option(self.arguments, "--seed", str(repeats.seed))
        self.arguments, folders = process.opened_by_path(self.arguments)
        candidates = choice(options.candidates, settings.CANDIDATES, Candidates.parse)
        answering = choice(options.answering, settings.ANSWERING, Answering.parse)
        environ = {**folders, **process.way_variables(self.arguments, candidates, answering)}
        if options.label:
            environ[settings.LABEL.name] = options.label
        return environ

    def start(self) -> None:
        """Run lmms-eval as the options say."""
        from reelbench.cli import sweep_steps
        from reelbench.cli.sweep import write_matrix
        from reelbench.registry.sampling import FrameSampling
        from reelbench.tasks.about import check_frames
        from reelbench.tasks.lmms import process

        chosen = self.sweep_choice
        if chosen.frames_sweep is not None:
            process.check_data(self.arguments, None, videos=False)
            steps = sweep_steps.of_frames(self.frames, chosen.frames_sweep)
            sweep = self._sweep_of_steps("frames (log scale)", steps, by=chosen.sweep_by)
            sweep.run(*process.with_logging(self.arguments))
            return
        sampling = choice(self.frames, settings.FRAMES, FrameSampling.parse)
        questions = process.check_data(self.arguments, sampling, videos=chosen.sweep is None)
        if chosen.sweep is not None:
            key, steps = sweep_steps.of_argument(chosen.sweep, sampling)
            sweep = self._sweep_of_steps(key, steps, by=chosen.sweep_by)
            sweep.run(*process.with_logging(self.arguments))
            return
        shown_frames = "native"
        if sampling is not None:
            shown_frames = str(sampling)
        check_frames(self.options.about, shown_frames)
        arguments, output = process.with_logging(self.arguments)
        if chosen.languages is not None:
            steps = sweep_steps.of_languages(
                chosen.languages,
                chosen.translations,
                self.options.llm,
                arguments,
                output,
                sampling=sampling,
            )
            self._sweep_of_steps("language", steps, finish=write_matrix).run(arguments, output)
            return
        self.environ |= _questions_named(self.options.chosen_questions, arguments, output)
        repeats = self.options.repeats
        if repeats.number > 1:
            steps = sweep_steps.of_runs(repeats.number, repeats.seed, arguments, sampling)
            self._sweep_of_steps("run", steps, resume=True).repeat(arguments, output)
            return
        self._run_once(arguments, output, sampling, questions)

    def _sweep_of_steps(self, axis: str, steps: "list[Step]", **more: Any) -> "Sweep":  # noqa: ANN401 - its fields
        from reelbench.cli.sweep import Sweep

        return Sweep(
            axis,
            steps,
            options=self.scoring,
            printed=self.printed,
            environ=self.environ,
            **more,
        )

    def _run_once(
        self,
        arguments: list[str],
        output: Path,
        sampling: "FrameSampling | None",
        questions: Any,  # noqa: ANN401 - as `check_data` returns them
    ) -> None:
        from reelbench.tasks.lmms import process

        run_lmms_eval = partial(process.lmms_eval, processes=self.options.processes)
        outcomes = process.run_and_score(
            arguments,
            output,
            sampling,
            self.scoring,
            questions=questions,
            environ=self.environ,
            stdout=self.printed.of_lmms_eval,
            start=partial(process.run_with_progress, console.status, run_lmms_eval),
        )
        report(
            outcomes,
            as_json=self.options.as_json,
            again=["reelbench", "score", "--run", str(output), *self.printed.judging],
            quiet=self.options.quiet,
        )
        process.check_all_there(arguments, outcomes)
        check_judged(outcomes, strict=self.options.strict)


def _check_options_together(several: SweepChoice, options: RunCommandOptions) -> None:
    """Raise InputError where options don't go together."""
    questions = options.chosen_questions
    repeats = options.repeats
    is_swept = several != SweepChoice()
    axes = [several.frames_sweep, several.sweep, several.languages]
    if is_swept and options.processes > 1:
        raise InputError("--processes is for one run; leave out the sweep")
    if is_swept and (questions.ids is not None or questions.earlier is not None):
        raise InputError("--ids, --only and --from are for one run; leave out the sweep")
    if len(axes) - axes.count(None) > 1:
        raise InputError("--frames-sweep, --sweep and --languages: one of them at a time")
    if (several.translations is not None or options.llm) and several.languages is None:
        raise InputError("--translations and --llm are for --languages; name the languages")
    if several.sweep_by is not None and several.frames_sweep is None and several.sweep is None:
        raise InputError("--sweep-by is for --frames-sweep or --sweep")
    if questions.earlier is not None:
        repeats.check_once()
    if repeats.number > 1 and (is_swept or options.processes > 1):
        raise InputError(
            "--runs is for one setting, in one process; leave out the sweep, and --processes"
        )


def _questions_named(
    chosen_questions: ChosenQuestions, arguments: list[str], output: Path
) -> dict[str, str]:
    """Return the variable by which lmms-eval asks some questions only.

    The file that it names is written.
    """
    from reelbench.registry.question_files import QuestionIds
    from reelbench.tasks.lmms import process

    ids = chosen_questions.ids
    earlier = chosen_questions.earlier
    if earlier is not None:
        earlier.check_apart(output, process.wanted_tasks(arguments))
        ids = QuestionIds(earlier.ids)
    if ids is None:
        return {}
    path = output / "ids.txt"
    ids.write(path)
    return {settings.IDS.name: str(path.resolve())}
