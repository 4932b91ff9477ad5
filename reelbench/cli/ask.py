"""`reelbench ask`: a served model asked the benchmarks' questions, without lmms-eval or torch."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console, run_options
from reelbench.cli.about import takes_about
from reelbench.cli.asking import (
    check_apart,
    only_model,
    shared_budget,
    takes_kept,
    takes_llm,
    takes_output_limit,
    takes_questions,
    takes_runs,
)
from reelbench.cli.completion import task_names
from reelbench.cli.judging import takes_judge
from reelbench.cli.option_groups import (
    Data,
    Json,
    Kind,
    NoOverlap,
    Per,
    Quiet,
    Split,
    chosen,
    given,
    option,
    reports_status,
    strata,
)
from reelbench.cli.report import check_judged, report, report_runs
from reelbench.registry import settings
from reelbench.registry.errors import InputError, ReelbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reelbench.cli.asking import OutputLimit, QuestionChoice
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.llm.ask_options import AskOptions
    from reelbench.methods.kept import Keeping
    from reelbench.methods.runs import Runs
    from reelbench.registry.records import About
    from reelbench.tasks.score import Outcome

_FRAMES = "uniform:32"
_option = partial(option, "ask")


@takes_judge
@takes_kept
@takes_runs
@takes_llm
@takes_output_limit
@takes_questions
@takes_about
@reports_status
def ask(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Benchmarks or tasks (rextime_mini).", autocompletion=task_names)],
    *,
    frames: Annotated[str | None, _option("--frames"), Kind.FRAMES] = None,
    split: Split = None,
    data: Data = None,
    limit: Annotated[int | None, _option("--limit"), Kind.LIMIT] = None,
    per: Per = None,
    candidates: Annotated[str | None, _option("--candidates")] = None,
    label: run_options.Label = None,
    output: Annotated[Path | None, _option("--output")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_overlap: NoOverlap = False,
    llm: "dict[str, AskOptions]",
    output_limit: "OutputLimit",
    chosen_questions: "QuestionChoice",
    about: "About | None",
    keeping: "Keeping",
    repeats: "Runs",
    judge: "JudgeOptions | None",
) -> None:
    """Ask a model behind an OpenAI-compatible server, and score its answers.

    Prompts, frames and settings are those of `run` with lmms-eval's adapter `openai`. Answers are kept: rerun to
    resume, and nothing is paid for twice. Whose they are is looked at: one kept question is asked again where all is.

    reelbench ask rextime_mini --llm qwen3-vl --llm-url http://127.0.0.1:8000/v1 --frames uniform:16
    """
    from reelbench.methods import asking
    from reelbench.methods.asking import judged_again
    from reelbench.registry import discovery
    from reelbench.registry.about import check_frames
    from reelbench.registry.decoding import Candidates
    from reelbench.registry.home import home
    from reelbench.scoring import result_files
    from reelbench.tasks.earlier import OTHER_JUDGE
    from reelbench.tasks.score import Options

    earlier = chosen_questions.earlier
    of_each = strata(per, limit=limit, ids=chosen_questions.ids, **{"from": earlier})
    several = chosen(candidates, settings.CANDIDATES, Candidates.parse)
    stated = output_limit.preset.get("frames") if output_limit.preset and frames is None else frames
    spec = stated or settings.FRAMES.get() or _FRAMES
    check_frames(about, spec)
    options = Options(not no_overlap, judge, console.noted(quiet=quiet), console.progress, about)
    options = replace(options, earlier=earlier, label=label)
    folder = output or home() / "runs" / datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    if earlier is not None:
        check_apart(earlier, names, folder / names[0])
        repeats.check_once()
    else:
        result_files.check_own([folder / discovery.plain_name(name) for name in names], only_model(llm).model)
    if earlier is not None and earlier.only == OTHER_JUDGE:
        asked = partial(judged_again, earlier=earlier)
    else:
        model, preset = output_limit.of_model(llm, frames, several)
        options = replace(options, preset=preset)
        asked = partial(repeats.ask, model=model, candidates=several, budget=shared_budget(llm), keeping=keeping)

    def outcomes_of(name: str) -> "list[Outcome]":
        place, only = folder / discovery.plain_name(name), chosen_questions.ids
        questions = asking.questions(name, spec, split=split, limit=limit, data=data, only=only, per=of_each)
        return repeats.write(asked(questions, replace(options, place=place)), place)

    outcomes, failed = _each(names, outcomes_of)
    if outcomes and repeats.number > 1:
        report_runs([folder / discovery.plain_name(name) for name in names], as_json=as_json, quiet=quiet)
    elif outcomes:
        report(outcomes, as_json=as_json, again=["reelbench", "ask", *given(context)], quiet=quiet)
    if failed:
        raise ReelbenchError("; ".join(failed))
    check_judged(outcomes)


def _each(names: list[str], outcomes_of: "Callable[[str], list[Outcome]]") -> "tuple[list[Outcome], list[str]]":
    """Return the benchmarks' outcomes, and why others have none: theirs are printed all the same."""
    outcomes, failed = [], []
    for name in names:
        try:
            outcomes += outcomes_of(name)
        except InputError:
            raise
        except ReelbenchError as error:
            failed.append(str(error))
    return outcomes, failed
