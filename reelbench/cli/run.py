"""`reelbench run`: lmms-eval, then scores; it fails when lmms-eval failed, which by itself exits with 0."""

from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console
from reelbench.cli.judging import takes_judge
from reelbench.cli.options import given
from reelbench.cli.report import check_judged, report

if TYPE_CHECKING:
    from reelbench.judges.llm.options import JudgeOptions


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
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Answers to each question, of which the first is scored and all are kept: beam:K (the best of one "
            "beam search; models of Hugging Face's) or sample:K,t=T. Default: REELBENCH_CANDIDATES.",
        ),
    ] = None,
    answering: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="How an `_options` task compares its options' likelihood: options[:norm=mean|sum|chars,over=sentence|"
            "option,span=predicted|truth|none]. Default: REELBENCH_ANSWERING, else the first of each.",
        ),
    ] = None,
    judge: "JudgeOptions | None",
) -> None:
    """Run lmms-eval with the arguments after `--`, then score what it logged.

    The scores lie beside lmms-eval's own files, in <output_path>/reelbench/<task>/. A sweep has a folder
    <output_path>/frames-<N>/ for each number of frames, and writes sweep.json and a plot for each task.
    """
    from reelbench.cli.sweep import planned, sweep
    from reelbench.registry.frames.sampling import FrameSampling
    from reelbench.registry.ways import Answering, Candidates
    from reelbench.tasks.lmms import process
    from reelbench.tasks.score import Options

    options = Options(
        judge=judge,
        note=console.note,
        bar=console.progress,
    )
    environ = process.ways_chosen(
        context.args,
        Candidates.parse(candidates) if candidates is not None else Candidates.from_environment(),
        Answering.parse(answering) if answering is not None else Answering.from_environment(),
    )
    if frames_sweep is not None:
        points = planned(frames, frames_sweep)
        sweep(*process.with_logging(context.args), points, options, given(context, only="judge"), environ=environ)
        return
    sampling = FrameSampling.parse(frames) if frames is not None else FrameSampling.from_environment()
    arguments, output = process.with_logging(context.args)
    outcomes = process.run_and_score(arguments, output, sampling, options, environ=environ)
    again = ["reelbench", "score", "--run", str(output), *given(context, only="judge")]
    report(outcomes, as_json=False, again=again)
    process.check_all_there(arguments, outcomes)
    check_judged(outcomes)
