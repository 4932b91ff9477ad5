"""`reelbench run`: lmms-eval, then scores; it fails when lmms-eval failed, which by itself exits with 0."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import typer

from reelbench.cli import console
from reelbench.cli.judging import (
    Budget,
    Concurrency,
    JudgeModel,
    JudgeUrl,
    NoJudge,
    Price,
    Prompts,
    Retry,
    VoteRule,
    Votes,
    judge_options,
)
from reelbench.cli.score import report
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.home import home


def run(
    context: typer.Context,
    *,
    judge: JudgeModel = None,
    no_judge: NoJudge = False,
    judge_url: JudgeUrl = None,
    judge_concurrency: Concurrency = 32,
    judge_votes: Votes = 1,
    judge_vote_rule: VoteRule = "majority",
    judge_prompts: Prompts = "reelbench",
    judge_budget: Budget = None,
    judge_price: Price = None,
    retry_unscored: Retry = False,
) -> None:
    """Run lmms-eval with the arguments after `--`, then score what it logged.

    The scores lie beside lmms-eval's own files, in <output_path>/reelbench/<task>/.
    """
    from reelbench.tasks.score import Options, logged_tasks, score_logged

    options = Options(
        judge=judge_options(
            judge,
            no_judge=no_judge,
            url=judge_url,
            concurrency=judge_concurrency,
            votes=judge_votes,
            vote_rule=judge_vote_rule,
            prompts=judge_prompts,
            budget=judge_budget,
            price=judge_price,
            retry_unscored=retry_unscored,
        ),
        note=console.note,
    )
    arguments, output = with_logging(context.args)
    before = set(output.rglob("*_results.json"))
    lmms_eval(arguments)
    made = set(output.rglob("*_results.json")) - before
    if not made:
        raise ReelbenchError("lmms-eval ended without results, though it may have exited with 0; its messages say why")
    outcomes = [
        score_logged(logged, logged.results.parent / "reelbench" / logged.task, options)
        for logged in logged_tasks(output)
        if logged.results in made
    ]
    report(outcomes, as_json=False, again=f"--run {output}")
    absent = wanted_tasks(arguments) - {outcome.folder.name for outcome in outcomes}
    if absent:
        raise ReelbenchError(f"no results for {', '.join(sorted(absent))}; lmms-eval's messages say why")


def with_logging(arguments: list[str]) -> tuple[list[str], Path]:
    """Return lmms-eval's arguments with samples logged to an output folder, and that folder."""
    if not arguments:
        raise InputError(
            "nothing to run: give lmms-eval's arguments after --, e.g. reelbench run -- --tasks moviecore …"
        )
    arguments = list(arguments)
    output = _value(arguments, "--output_path")
    if output is None:
        output = str(home() / "runs" / datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f"))
        arguments += ["--output_path", output]
    if "--log_samples" not in arguments:
        arguments.append("--log_samples")
    return arguments, Path(output)


def lmms_eval(arguments: list[str], environ: dict[str, str] | None = None) -> None:
    """Run lmms-eval in a process of its own; ReelbenchError where it says that it failed."""
    from importlib.util import find_spec

    if find_spec("lmms_eval") is None:
        raise InputError("lmms-eval is not installed; pip install 'reelbench[lmms-eval]'")
    # -P keeps the current folder off the path: a folder `datasets` or `evaluate` there would shadow a library.
    command = [sys.executable, "-P", "-m", "lmms_eval", *arguments]
    # The judge is asked afterwards, in one batch: many calls at once, and none that holds up the model.
    inherited = {name: value for name, value in os.environ.items() if name != "REELBENCH_JUDGE"}
    status = subprocess.run(command, env={**inherited, **(environ or {})}, check=False).returncode  # noqa: S603
    if status != 0:
        raise ReelbenchError(f"lmms-eval failed with exit status {status}; its messages say why")


def wanted_tasks(arguments: list[str]) -> set[str]:
    """Return our tasks that the arguments name; tags and other people's tasks are left to lmms-eval."""
    from reelbench.registry import discovery

    named = (_value(arguments, "--tasks") or "").split(",")
    return {name.strip() for name in named if discovery.find_task(name.strip()) is not None}


def _value(arguments: list[str], option: str) -> str | None:
    for number, argument in enumerate(arguments):
        if argument == option and number + 1 < len(arguments):
            return arguments[number + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return None
