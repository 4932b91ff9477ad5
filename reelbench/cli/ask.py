"""`reelbench ask`: a served model asked the benchmarks' questions, without lmms-eval or torch."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.settings import home
from reelbench.terminal import asking_options as groups
from reelbench.terminal import console
from reelbench.terminal import option_groups as shared
from reelbench.terminal.report import check_judged, report, report_runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reelbench.llm.ask_options import AskOptions
    from reelbench.methods.questions import QuestionSet
    from reelbench.registry.decoding import Candidates
    from reelbench.tasks.earlier import EarlierResult
    from reelbench.tasks.score import Outcome

_FRAMES = "uniform:32"


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
            "video of exactly these; native sends the whole video. Default: "
            "REELBENCH_FRAMES, else uniform:32.",
        ),
        shared.Kind.FRAMES,
    ] = None,
    split: shared.Split = None,
    data: shared.Data = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Only the first N questions of each benchmark."),
        shared.Kind.LIMIT,
    ] = None,
    per: shared.Per = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            metavar="SPEC",
            help="Answers to each question, of which the first is scored and all are"
            " kept for `ace`: sample:K,t=T. Default: REELBENCH_CANDIDATES.",
        ),
    ] = None,
    label: shared.Label = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", help="Output folder; each benchmark's result gets a folder in it."
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Count questions, videos and requests, and ask nothing.")
    ] = False,
    as_json: shared.Json = False,
    quiet: shared.Quiet = False,
    no_overlap: shared.NoOverlap = False,
    llm: groups.Llm,
    output_limit: groups.OutputLimit,
    chosen_questions: groups.ChosenQuestions,
    about: groups.AboutModel,
    keeping: groups.Kept,
    repeats: groups.Repeats,
    judge: groups.Judge,
) -> None:
    """Ask a model behind an OpenAI-compatible server, and score its answers.

    Prompts, frames and settings are those of `run` with lmms-eval's adapter `openai`. Answers are
    kept: rerun it.

    reelbench ask rextime_mini --llm qwen3-vl --llm-url http://127.0.0.1:8000/v1 --frames uniform:16
    """
    from reelbench.methods import asking
    from reelbench.registry import discovery
    from reelbench.registry.decoding import Candidates
    from reelbench.scoring import result_files
    from reelbench.tasks.about import check_frames
    from reelbench.tasks.earlier import OTHER_JUDGE
    from reelbench.tasks.score import Options

    earlier = chosen_questions.earlier
    of_each = shared.strata(per, limit=limit, ids=chosen_questions.ids, **{"from": earlier})
    several = shared.choice(candidates, settings.CANDIDATES, Candidates.parse)
    stated = output_limit.preset.get("frames") if output_limit.preset and frames is None else frames
    check_frames(about, spec := stated or settings.FRAMES.get() or _FRAMES)
    note = console.note_unless(quiet=quiet)
    options = Options(
        not no_overlap, judge, note, console.progress, about, earlier=earlier, label=label
    )
    folder = output or home() / "runs" / datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    if earlier is not None:
        earlier.check_apart(folder / names[0], names)
        repeats.check_once()
    else:
        for name in names:  # before anything is asked
            result_files.own_result(
                folder / discovery.plain_name(name), groups.only_model(llm).model
            )
    if earlier is not None and earlier.only == OTHER_JUDGE:
        asked = partial(asking.judged_again, earlier=earlier)
    else:
        model, preset = output_limit.of_model(llm, frames, several)
        options = replace(options, preset=preset)
        asked = partial(
            repeats.ask,
            model=model,
            candidates=several,
            budget=groups.shared_budget(llm),
            keeping=keeping,
        )
    rows = {
        "split": split,
        "limit": limit,
        "data": data,
        "only": chosen_questions.ids,
        "per": of_each,
    }
    questions_of = partial(asking.questions, frames=spec, **rows)
    if plan:
        model = output_limit.of_model(llm, frames, several)[0]
        _tell_plan(
            map(questions_of, names), model, earlier, repeats.number, several, as_json=as_json
        )
        return
    outcomes, failed = (
        list["Outcome"](),
        list[str](),
    )  # those of the other benchmarks are printed all the same
    for name in names:
        place = folder / discovery.plain_name(name)
        try:
            outcomes += repeats.write(
                asked(questions_of(name), replace(options, place=place)), place
            )
        except InputError:
            raise
        except ReelbenchError as error:
            failed.append(str(error))
    if outcomes and repeats.number > 1:
        report_runs(
            [folder / discovery.plain_name(name) for name in names],
            outcomes,
            as_json=as_json,
            quiet=quiet,
        )
    elif outcomes:
        report(
            outcomes,
            as_json=as_json,
            again=["reelbench", "ask", *shared.options_given(context)],
            quiet=quiet,
        )
    if failed:
        raise ReelbenchError("; ".join(failed))
    check_judged(outcomes)


def _cost(asked: "QuestionSet", model: "AskOptions", requests: int) -> str:
    """Say what requests to a model cost at most, about, or what would let it be said."""
    from reelbench.llm.ask_options import THINKING_TOKENS
    from reelbench.llm.messages import TOKENS_PER_ATTACHMENT
    from reelbench.methods.asking import MAX_NEW_TOKENS

    sending, answering = model.usd_per_million_prompt, model.usd_per_million_completion
    if sending is None or answering is None:
        return "its cost: add --llm-price IN,OUT (dollars per million tokens)"
    pictures = 0 if asked.sampling.kind == "none" else asked.sampling.frames
    if pictures is None:
        return "its cost has no bound: nor have its frames (fps:1,max=32 has one); --llm-budget '$5' stops at a sum"
    own = task.max_new_tokens if (task := asked.questions.task) else MAX_NEW_TOKENS
    limit = model.max_tokens or (THINKING_TOKENS if model.thinking else own)
    words = sum(len(asked.prompt(row).encode()) // 3 for row in asked.rows) / max(
        1, len(asked.rows)
    )
    dollars = (
        requests * ((pictures * TOKENS_PER_ATTACHMENT + words) * sending + limit * answering) / 1e6
    )
    return f"its cost: about ${dollars:.2f} at most, with {TOKENS_PER_ATTACHMENT} tokens a picture"


def _tell_plan(
    sets: "Iterable[QuestionSet]",
    model: "AskOptions",
    earlier: "EarlierResult | None",
    runs: int,
    several: "Candidates | None",
    *,
    as_json: bool,
) -> None:
    """Print what would be asked of each benchmark, and what it may cost."""
    for asked in sets:
        number = sum(
            id_ not in asked.missing and (earlier is None or id_ in earlier.ids)
            for id_ in asked.ids
        )
        told = {
            "benchmark": asked.spec.id,
            "split": asked.questions.split,
            "questions": number,
            "frames": asked.frames,
        }
        told |= {
            "model": model.model,
            "server": model.host,
            "requests": number * runs * (several.k if several else 1),
        }
        line = (
            "{benchmark} {split}: {questions} questions with their videos, frames {frames}, to {model} at {server}: "
            "{requests} requests, fewer where answers are kept; nothing was asked\n{cost}"
        )
        told["cost"] = _cost(asked, model, told["requests"])
        console.write(json.dumps(told, ensure_ascii=False) if as_json else line.format(**told))
