"""`reelbench ask`: a served model asked the benchmarks' questions, without lmms-eval or torch."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.settings import home
from reelbench.registry.sampling import FrameCounts, FrameSampling, parse_frame_counts
from reelbench.terminal import asking_options, console, defaults
from reelbench.terminal import option_groups as shared
from reelbench.terminal.report import check_judged, report, report_runs

if TYPE_CHECKING:
    from reelbench.llm.ask_options import AskOptions
    from reelbench.llm.budget import Budget
    from reelbench.methods.questions import QuestionSet
    from reelbench.registry.records import PresetRecord
    from reelbench.registry.strata import Strata
    from reelbench.tasks.score import Evaluation, Options, Outcome

_FRAMES = "uniform:32"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCommandOptions:
    """The options of `ask` but for its frames, as they were typed."""

    split: shared.Split = None
    data: shared.Data = None
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Only the first N questions of each benchmark."),
        shared.Kind.LIMIT,
    ] = None
    per: shared.Per = None
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            metavar="SPEC",
            help="Answers to each question, of which the first is scored and all are"
            " kept for `ace`: sample:K,t=T. Default: REELBENCH_CANDIDATES.",
        ),
    ] = None
    label: shared.Label = None
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Output folder, with a folder for each benchmark."),
    ] = None
    plan: Annotated[
        bool, typer.Option("--plan", help="Count questions, videos and requests; ask nothing.")
    ] = False
    as_json: shared.Json = False
    quiet: shared.Quiet = False
    no_overlap: shared.NoOverlap = False
    errata: shared.Errata = "apply"
    llm: asking_options.NamedLlm
    output_limit: asking_options.OutputLimit
    chosen_questions: asking_options.ChosenQuestions
    about: asking_options.AboutModel
    keeping: asking_options.Kept
    repeats: asking_options.Repeats
    judge: asking_options.Judge
    reader: asking_options.Reader


@shared.reports_status
def ask(
    context: typer.Context,
    names: shared.Names,
    *,
    frames: Annotated[
        str | None,
        typer.Option(
            "--frames",
            metavar="SPEC",
            help="Frames that the model is shown: as images, or with as=clip as one "
            "video of exactly these; native sends the whole video; 0,8,32 asks once "
            "with each. Default: REELBENCH_FRAMES, else uniform:32.",
        ),
        shared.Kind.FRAMES,
    ] = None,
    options: AskCommandOptions,
) -> None:
    """Ask a model behind an OpenAI-compatible server, and score its answers.

    Prompts, frames and settings are those of `run` with lmms-eval's adapter `openai`. Answers are
    kept: rerun it.

    reelbench ask rextime_mini --llm qwen3-vl --llm-url http://127.0.0.1:8000/v1 --frames uniform:16
    """
    same_command = ["reelbench", "ask", *shared.options_given(context)]
    ask_model(names, frames, options, same_command=same_command)


def ask_model(
    names: Sequence[str],
    frames: str | None,
    options: AskCommandOptions,
    *,
    same_command: Sequence[str],
) -> None:
    """Ask one model the questions of benchmarks, write the results, and print them.

    `frames` are those that the model is shown, as typed, or several numbers to ask with each.
    `same_command` asks the same once more: where something is not judged yet, it is said with it.
    """
    counts = parse_frame_counts(frames or "")
    if counts is not None:
        _check_asked_once(f"--frames {frames}", options)
        _FramesSweep(names, counts, options).start(same_command)
        return
    asking = _Asking(names, frames, options)
    if options.plan:
        asking.print_plan()
        return
    outcomes, failures = asking.ask_all()
    if outcomes and options.repeats.number > 1:
        places = [asking.place_of(name) for name in names]
        report_runs(places, outcomes, as_json=options.as_json, quiet=options.quiet)
    elif outcomes:
        report(outcomes, as_json=options.as_json, again=same_command, quiet=options.quiet)
    if failures:
        raise ReelbenchError("; ".join(failures))
    check_judged(outcomes)


def _check_asked_once(typed_frames: str, options: AskCommandOptions) -> None:
    """Raise InputError where several runs, or questions of an earlier result, are asked for too."""
    if options.repeats.number > 1 or options.chosen_questions.earlier is not None:
        raise InputError(
            f"{typed_frames}: asks once with each number; leave out --runs and --from, or give "
            "one number"
        )


def _asked_frames(frames: str | None, preset: "PresetRecord | None") -> str:
    """Return the frames that are typed, the preset's, the environment's or the default ones."""
    if preset is not None and frames is None:
        frames = preset.get("frames")
    return frames or settings.FRAMES.get() or _FRAMES


class _Asked(NamedTuple):
    """The results of benchmarks, and a line on each benchmark that has none."""

    outcomes: "list[Outcome]"
    failures: list[str]


class _FramesSweep:
    """The questions asked once with each of several numbers of frames."""

    def __init__(
        self, names: Sequence[str], counts: FrameCounts, options: AskCommandOptions
    ) -> None:
        """Check the options for each number: nothing is asked before all of them hold."""
        self.options = options
        self.folder = options.output or _new_folder()
        self.asking_of_count: dict[int, _Asking] = {}
        budget = None
        for count in counts.counts:
            of_count = replace(options, output=self.folder / f"frames-{count}")
            asking = _Asking(names, counts.spec(count), of_count, budget)
            budget = asking.budget
            self.asking_of_count[count] = asking

    def start(self, same_command: Sequence[str]) -> None:
        """Ask with each number of frames, write and draw the scores, and print them."""
        if self.options.plan:
            for asking in self.asking_of_count.values():
                asking.print_plan()
            return
        from reelbench.cli.sweep_points import (
            SWEEP_FILE,
            Drawing,
            Point,
            points_of,
            show_points,
            tell_different_questions,
        )

        drawing = Drawing("frames (log scale)")
        points: list[Point] = []
        outcomes: list[Outcome] = []
        failures: list[str] = []
        silent = self.options.quiet or self.options.as_json
        note = console.note_unless(quiet=self.options.quiet)
        for count, asking in self.asking_of_count.items():
            note(f"frames {asking.frames} into {asking.folder}")
            results = asking.ask_all()
            report(results.outcomes, as_json=False, again=same_command, quiet=silent)
            outcomes += results.outcomes
            failures += [f"frames {asking.frames}: {line}" for line in results.failures]
            sampling = str(FrameSampling.parse(asking.frames))
            fields = {"frames": count, "sampling": sampling}
            at = math.log2(count + 1)
            points += points_of(results.outcomes, self.folder, str(count), at, fields)
            drawing.write(self.folder, points)
        tables = [*drawing.tables(points)]
        show_points(points, tables, as_json=self.options.as_json, quiet=self.options.quiet)
        if not self.options.quiet:
            tell_different_questions(points, note)
        note(f"written to {self.folder / SWEEP_FILE}")
        if failures:
            raise ReelbenchError("; ".join(failures))
        check_judged(outcomes)


def _new_folder() -> Path:
    """Return the folder of a run for which none was named."""
    start = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return home() / "runs" / start


class _Asking:
    """The options of `ask` read and checked: nothing is asked before all of them hold."""

    def __init__(
        self,
        names: Sequence[str],
        frames: str | None,
        options: AskCommandOptions,
        budget: "Budget | None" = None,
    ) -> None:
        """Check the options. `budget` is the one of runs that share it."""
        from reelbench.data.loading import find_split
        from reelbench.registry.decoding import Candidates
        from reelbench.tasks.about import check_frames

        for name in names:
            find_split(name, options.split)
        self.names = names
        self.options = options
        self.earlier = options.chosen_questions.earlier
        self.strata: Strata | None = shared.strata(
            options.per,
            limit=options.limit,
            ids=options.chosen_questions.ids,
            **{"from": self.earlier},
        )
        self.candidates: Candidates | None = shared.choice(
            options.candidates, settings.CANDIDATES, Candidates.parse
        )
        self._typed_frames = frames
        self.frames = _asked_frames(frames, options.output_limit.preset)
        check_frames(options.about, self.frames)
        self.folder = options.output or _new_folder()
        self._check_places()
        self._shared_budget = budget

    @cached_property
    def budget(self) -> "Budget":
        """The one budget of all benchmarks, which needs a model."""
        return self._shared_budget or asking_options.shared_budget(self.options.llm)

    def _check_places(self) -> None:
        """Raise InputError where a result's folder can't be written to."""
        from reelbench.scoring import result_files

        if self.earlier is not None:
            self.earlier.check_apart(self.folder, self.names, self.folder / self.names[0])
            self.options.repeats.check_once()
            return
        model = asking_options.only_model(self.options.llm)
        for name in self.names:
            result_files.own_result(self.place_of(name), model.filed_name)

    def place_of(self, name: str) -> Path:
        """Return the folder of a benchmark's result."""
        from reelbench.registry import discovery

        return self.folder / discovery.plain_name(name)

    def questions(self, name: str) -> "QuestionSet":
        """Return the questions of a benchmark."""
        from reelbench.methods import asking

        return asking.questions(
            name,
            frames=self.frames,
            split=self.options.split,
            limit=self.options.limit,
            data=self.options.data,
            only=self.options.chosen_questions.ids,
            per=self.strata,
        )

    def ask_all(self) -> _Asked:
        """Ask each benchmark's questions: one that fails costs no other one its result.

        Raises:
            InputError: The call was wrong.
        """
        outcomes: list[Outcome] = []
        failures: list[str] = []
        for name in self.names:
            try:
                outcomes += self.ask(name)
            except InputError:
                raise
            except ReelbenchError as error:
                failures.append(str(error))
        return _Asked(outcomes, failures)

    def ask(self, name: str) -> "list[Outcome]":
        """Ask a benchmark's questions, and write the result of each run."""
        from reelbench.tasks.score import Options

        options = self.options
        place = self.place_of(name)
        scoring = Options(
            overlap=not options.no_overlap,
            judge=options.judge,
            reader=options.reader,
            note=console.note_unless(quiet=options.quiet),
            bar=console.progress_unless(quiet=options.quiet),
            about=options.about,
            earlier=self.earlier,
            label=options.label,
            place=place,
            defaults=defaults.applied(),
            errata=options.errata,
        )
        evaluations = self._evaluations_of_runs(self.questions(name), scoring)
        return options.repeats.write(evaluations, place)

    def _evaluations_of_runs(
        self, questions: "QuestionSet", scoring: "Options"
    ) -> "list[Evaluation]":
        from reelbench.methods import asking
        from reelbench.tasks.earlier import OTHER_JUDGE

        if self.earlier is not None and self.earlier.only == OTHER_JUDGE:
            return asking.judged_again(questions, scoring, self.earlier)
        options = self.options
        model, preset = options.output_limit.of_model(
            options.llm, self._typed_frames, self.candidates
        )
        return options.repeats.ask(
            questions,
            replace(scoring, preset=preset),
            model=model,
            candidates=self.candidates,
            budget=self.budget,
            keeping=options.keeping,
        )

    def print_plan(self) -> None:
        """Print what would be asked of each benchmark, and what it may cost."""
        options = self.options
        model, _ = options.output_limit.of_model(options.llm, self._typed_frames, self.candidates)
        for plan in self._planned_requests(model):
            if options.as_json:
                console.write(json.dumps(plan, ensure_ascii=False))
            else:
                console.write(_PLAN.format(**plan))

    def _planned_requests(self, model: "AskOptions") -> "Iterator[dict[str, str | int]]":
        for name in self.names:
            questions = self.questions(name)
            number = 0
            for question_id in questions.ids:
                is_wanted = self.earlier is None or question_id in self.earlier.ids
                if is_wanted and question_id not in questions.media.missing:
                    number += 1
            requests = number * self.options.repeats.number
            if self.candidates is not None:
                requests *= self.candidates.k
            yield {
                "benchmark": questions.spec.id,
                "split": questions.questions.split,
                "questions": number,
                "frames": questions.frames,
                "model": model.model,
                "server": model.host,
                "requests": requests,
                "cost": _most_cost(questions, model, requests),
            }


_PLAN = (
    "{benchmark} {split}: {questions} questions with their videos, frames {frames}, to {model} at "
    "{server}: {requests} requests, fewer if answers are saved; nothing was sent\n{cost}"
)


def _most_cost(questions: "QuestionSet", model: "AskOptions", requests: int) -> str:
    """Return the most that requests to a model cost, or what would tell it."""
    from reelbench.llm.ask_options import THINKING_TOKENS
    from reelbench.llm.messages import TOKENS_PER_ATTACHMENT
    from reelbench.methods.asking import MAX_NEW_TOKENS

    prompt_price = model.usd_per_million_prompt
    completion_price = model.usd_per_million_completion
    if prompt_price is None or completion_price is None:
        return "its cost: add --llm-price IN,OUT (dollars per million tokens)"
    pictures = 0
    if questions.sampling.kind != "none":
        pictures = questions.sampling.frames
    if pictures is None:
        return (
            "its cost is unbounded, as is the number of frames (fps:1,max=32 has a limit); "
            "--llm-budget '$5' "
            "stops at an amount"
        )
    completion_tokens = MAX_NEW_TOKENS
    if questions.questions.task is not None:
        completion_tokens = questions.questions.task.max_new_tokens
    if model.thinking:
        completion_tokens = THINKING_TOKENS
    completion_tokens = model.max_tokens or completion_tokens
    prompt_bytes = [len(questions.prompt(row).encode()) // 3 for row in questions.rows]
    word_tokens = sum(prompt_bytes) / max(1, len(prompt_bytes))
    prompt_tokens = pictures * TOKENS_PER_ATTACHMENT + word_tokens
    dollars_per_request = (
        prompt_tokens * prompt_price + completion_tokens * completion_price
    ) / 1_000_000
    dollars = requests * dollars_per_request
    return f"its cost: about ${dollars:.2f} at most, with {TOKENS_PER_ATTACHMENT} tokens a picture"
