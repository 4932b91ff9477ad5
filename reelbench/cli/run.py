"""`reelbench run`: lmms-eval, then scores; it fails when lmms-eval failed, which by itself exits with 0."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console
from reelbench.cli.judging import takes_judge
from reelbench.cli.score import report
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.home import home

if TYPE_CHECKING:
    from reelbench.judges.llm.options import JudgeOptions
    from reelbench.registry.frames.sampling import FrameSampling
    from reelbench.tasks.score import Options, Outcome


@takes_judge
def run(
    context: typer.Context,
    *,
    frames: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Frames that the model is shown: uniform:N, fps:F[,max=N], keyframe:N, window:START-END,N, all, none "
            "(text only) or native (the model's own); options size=PIXELS, as=clip|images. Default: REELBENCH_FRAMES.",
        ),
    ] = None,
    frames_sweep: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Run once for each number of frames (0: text only) and plot the score against it; "
            "--frames then has N for the number, e.g. uniform:N,size=448.",
        ),
    ] = None,
    judge: "JudgeOptions | None",
) -> None:
    """Run lmms-eval with the arguments after `--`, then score what it logged.

    The scores lie beside lmms-eval's own files, in <output_path>/reelbench/<task>/. A sweep has a folder
    <output_path>/frames-<N>/ for each number of frames, and writes sweep.json and a plot for each task.
    """
    from reelbench.registry.frames import asked
    from reelbench.registry.frames.sampling import FrameSampling
    from reelbench.tasks.score import Options

    options = Options(
        judge=judge,
        note=console.note,
    )
    if frames_sweep is not None:
        from reelbench.cli.sweep import planned, sweep

        points = planned(frames, frames_sweep)
        sweep(*with_logging(context.args), points, options)
        return
    sampling = FrameSampling.parse(frames) if frames is not None else asked.from_environment()
    run_once(*with_logging(context.args), sampling, options)


def run_once(
    arguments: list[str], output: Path, sampling: "FrameSampling | None", options: "Options"
) -> "list[Outcome]":
    """Run lmms-eval into `output` with the frames asked for (None: nobody asked), score it and show the scores."""
    from reelbench.registry.frames import asked
    from reelbench.tasks.score import logged_tasks, score_logged

    environ = {}
    if sampling is not None:
        arguments = with_frames(arguments, sampling)
        environ[asked.ENV] = str(sampling)
    before = set(output.rglob("*_results.json"))
    lmms_eval(arguments, environ)
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
    return outcomes


def with_frames(arguments: list[str], sampling: "FrameSampling") -> list[str]:
    """Return lmms-eval's arguments with the adapter's own set to take the frames as they are; say what can't be."""
    from reelbench.tasks import adapters

    model_args = _value(arguments, "--model_args") or ""
    given = dict(re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)=([^,]*)", model_args))
    added, notes = adapters.matched(_value(arguments, "--model"), given, sampling)
    for note in notes:
        console.note(note)
    if not added:
        return arguments
    console.note(
        f"frames {sampling}: --model_args {','.join(f'{name}={value}' for name, value in added.items())} added"
    )
    return replaced(
        arguments,
        "--model_args",
        ",".join(part for part in (model_args, *(f"{name}={value}" for name, value in added.items())) if part),
    )


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
    """Return our tasks that the arguments name, by themselves or by one of our tags; other people's are lmms-eval's."""
    from reelbench.registry import discovery

    wanted: set[str] = set()
    for name in (part.strip() for part in (_value(arguments, "--tasks") or "").split(",")):
        wanted |= {name} if discovery.find_task(name) is not None else _tagged(name)
    return wanted


def _tagged(tag: str) -> set[str]:
    from reelbench.lmms_eval_plugin import tasks_folder

    tasks: set[str] = set()
    for path in tasks_folder().glob("*/*.yaml"):
        fields = dict(re.findall(r"^(task|tag): *(.+?) *$", path.read_text(encoding="utf-8"), re.MULTILINE))
        if tag in re.findall(r"\w+", fields.get("tag", "")):
            tasks.add(fields["task"])
    return tasks


def replaced(arguments: list[str], option: str, value: str) -> list[str]:
    """Return the arguments with an option's value replaced, or the option added."""
    for number, argument in enumerate(arguments):
        if argument == option and number + 1 < len(arguments):
            return [*arguments[: number + 1], value, *arguments[number + 2 :]]
        if argument.startswith(f"{option}="):
            return [*arguments[:number], f"{option}={value}", *arguments[number + 1 :]]
    return [*arguments, option, value]


def _value(arguments: list[str], option: str) -> str | None:
    for number, argument in enumerate(arguments):
        if argument == option and number + 1 < len(arguments):
            return arguments[number + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return None
