"""`reelbench candidates`: pass@k, mean@k and the majority's answer.

The candidates are those that a run kept, or a file has.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.terminal import console, defaults
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
    kept answers. The majority is of the first k, for answers that are letters. A tie goes to the
    first. Open answers need --judge.
    """
    from reelbench.methods.candidates import repeat_figures
    from reelbench.tasks.score import Options

    _, cases, answers = source.read(metadata, judged=judge is not None, several=True)
    if answers is None:
        raise InputError("--candidates: name the benchmark that they answer with --benchmark")
    options = Options(
        overlap=False,
        judge=judge,
        note=console.note,
        bar=console.progress,
        defaults=defaults.applied(),
    )
    sizes = [size for size in numbers(k) if size is not None]
    figures = repeat_figures(answers, cases, sizes or None, options)
    spec = answers.questions.spec
    if all(figure.mean_at.value is None for figure in figures):
        if judge is not None:
            raise ReelbenchError("no candidate has a score: the judge gave no score")
        raise InputError("no candidate has a score: open answers need --judge MODEL")
    if as_json:
        document = {
            "benchmark": spec.id,
            "model": answers.model.id,
            "metric": spec.primary.name,
            "questions": len(cases),
            "k": [figure.as_json() for figure in figures],
        }
        console.write_json(document)
        return
    questions = number_of(len(cases), "question")
    subject = f"{spec.title} · {answers.model.id}"
    title = f"{subject}: {spec.primary.title} of several answers to {questions}"
    table = console.table(title, "#k", "#pass@k (%)", "#mean@k", "#majority@k")
    for figure in figures:
        pass_cell = _metric_cell(spec.primary, figure.pass_at)
        mean_cell = _metric_cell(spec.primary, figure.mean_at)
        majority_cell = _metric_cell(spec.primary, figure.majority_at)
        table.add_row(str(figure.k), pass_cell, mean_cell, majority_cell)
    console.show(table)


def _metric_cell(metric: "Metric", value: "MetricValue | None") -> str:
    if value is None or value.value is None:
        return "–"
    digits = metric.in_unit.long_digits
    cell = f"{value.value:.{digits}f}"
    if value.ci95 is not None:
        low, high = value.ci95
        cell += f" [{low:.{digits}f}, {high:.{digits}f}]"
    return cell
