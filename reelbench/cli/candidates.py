"""`reelbench candidates`: pass@k, mean@k and the majority's answer, of the candidates that a run kept or a file has."""

from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.terminal import console
from reelbench.terminal.asking_options import AboutAnswers, Judge
from reelbench.terminal.candidate_source import CandidateSource, numbers
from reelbench.terminal.option_groups import Json, reports_status

if TYPE_CHECKING:
    from reelbench.registry.metrics import Metric
    from reelbench.registry.records import MetricValue


@reports_status
def show_candidates(
    *,
    source: CandidateSource,
    k: Annotated[
        str | None, typer.Option("--k", metavar="N,N,…", help="Values of k; default: 1 up to all.")
    ] = None,
    as_json: Json = False,
    metadata: AboutAnswers,
    judge: Judge,
) -> None:
    """Score several answers to a question: pass@k, mean@k, majority.

    pass@k (one of k answers is right) and mean@k are unbiased: averaged over all ways to choose k
    kept answers. The majority is of the first k, for answers that are letters; a tie goes to the
    first. Open answers need --judge.
    """
    from reelbench.methods.candidates import repeat_figures
    from reelbench.tasks.score import Options

    _, cases, answers = source.read(metadata, judged=judge is not None, several=True)
    if answers is None:
        raise InputError("--candidates: name the benchmark that they answer with --benchmark")
    options = Options(overlap=False, judge=judge, note=console.note, bar=console.progress)
    sizes = [size for size in numbers(k) if size is not None]
    figures = repeat_figures(answers, cases, sizes or None, options)
    spec = answers.questions.spec
    if all(made.mean_at.value is None for made in figures):
        why = "the judge gave no score" if judge is not None else "open answers need --judge MODEL"
        raise (ReelbenchError if judge is not None else InputError)(
            f"no candidate has a score: {why}"
        )
    if as_json:
        document = {"benchmark": spec.id, "model": answers.model.id, "metric": spec.primary.name}
        console.write_json(
            {**document, "questions": len(cases), "k": [made.as_json() for made in figures]}
        )
        return
    questions = number_of(len(cases), "question")
    title = (
        f"{spec.title} · {answers.model.id}: {spec.primary.title} of several answers to {questions}"
    )
    table = console.table(title, "#k", "#pass@k (%)", "#mean@k", "#majority@k")
    for made in figures:
        cells = (made.pass_at, made.mean_at, made.majority_at)
        table.add_row(str(made.k), *(_cell(spec.primary, value) for value in cells))
    console.show(table)


def _cell(metric: "Metric", value: "MetricValue | None") -> str:
    if value is None or value.value is None:
        return "–"
    digits = metric.in_unit.long_digits
    ends = (
        "" if value.ci95 is None else f" [{value.ci95[0]:.{digits}f}, {value.ci95[1]:.{digits}f}]"
    )
    return f"{value.value:.{digits}f}{ends}"
