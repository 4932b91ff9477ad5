"""`reelbench judge`: judges held against other judges, and against people."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from reelbench.base.errors import InputError, number_of
from reelbench.base.text_tables import interval, number
from reelbench.cli.compare import same_benchmark
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json
from reelbench.terminal.read_results import ResultRead, read_one

if TYPE_CHECKING:
    from reelbench.registry.records import Result
    from reelbench.scoring.judge_agreement import Ratings
    from reelbench.stats.calibration import Calibration

_RATINGS = 10
"""Ratings by both from which on a label has rows of its own: over fewer no kappa says anything."""


def agree(
    a: Annotated[Path, typer.Argument(help="A judged result: its folder, or its result.json.")],
    b: Annotated[
        Path,
        typer.Argument(
            help="The same answers by another judge, or people's scores as CSV (id,score)."
        ),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Show two judges' scores side by side, and how far they agree.

    Exact agreement and Cohen's kappa have intervals. Tables show labels with ten or more ratings by
    both; --json has all.
    """
    from reelbench.registry import discovery
    from reelbench.scoring.judge_agreement import compare_ratings, ratings_of, read_ratings

    first = read_one(a)
    spec = discovery.spec_of(first.result.benchmark)
    ratings: Ratings
    if b.suffix.lower() == ".csv":
        ratings = read_ratings(b, spec)
        name_b = b.name
    else:
        second = read_one(b)
        same_benchmark(first.result, second.result, a, b)
        ratings = _of_the_same_answers(first, second, ratings_of(second.samples, spec), b)
        name_b = _judge_name(second.result)
    name_a = _judge_name(first.result)
    report = compare_ratings(first.samples, ratings_of(first.samples, spec), ratings, spec)
    if as_json:
        console.write_json({"a": name_a, "b": name_b, **report})
        return
    title = f"{spec.id}: a = {name_a}, b = {name_b}; means of {report['both']} ratings by both"
    if report["weights"] == "quadratic":
        title += ", kappa by quadratic weights"
    _show_agreement(title, report)


class _LabelCriterion(NamedTuple):
    """The agreement on one criterion over the answers with one label."""

    facet: str
    label: str
    criterion: str
    agreement: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The row's name."""
        return f"{self.label.replace('_', ' ')} · {self.criterion}"


def _show_agreement(title: str, report: Mapping[str, Any]) -> None:
    """Print the agreement of two judges, all in all and by label."""
    by_label: list[_LabelCriterion] = []
    for facet, labels in report["labels"].items():
        for label, criteria in labels.items():
            for criterion, agreement in criteria.items():
                by_label.append(_LabelCriterion(facet, label, criterion, agreement))
    enough = {(row.facet, row.label) for row in by_label if row.agreement["n"] >= _RATINGS}
    table = console.table(title, "", "#a", "#b", "#exact %", "#95 %", "#kappa", "#95 %", "#n")
    for criterion, agreement in report["criteria"].items():
        table.add_row(criterion, *_agreement_cells(agreement))
    for row in by_label:
        if (row.facet, row.label) in enough:
            table.add_row(row.name, *_agreement_cells(row.agreement))
    console.show(table)
    _show_scores(report, enough)
    if any(agreement["kappa"] is None for agreement in report["criteria"].values()):
        console.note("no kappa where both gave every answer the same score: it is undefined")
    few = {(row.facet, row.label) for row in by_label} - enough
    if few:
        console.note(
            f"not shown: {number_of(len(few), 'label')} with fewer than {_RATINGS} ratings by "
            "both; --json has them"
        )
    if report["only_a"] or report["only_b"]:
        console.note(
            f"left out: {number_of(report['only_a'], 'rating')} by a alone, {report['only_b']} by "
            "b alone"
        )


def _show_scores(report: Mapping[str, Any], enough: Collection[tuple[str, str]]) -> None:
    """Print both judges' scores, all in all and of the labels with `enough` ratings."""
    scores = console.table("scores on the items rated by both", "metric", "#by a", "#by b")
    for name, (by_a, by_b) in report["metrics"].items():
        scores.add_row(name, f"{by_a:.2f}", f"{by_b:.2f}")
    for facet, labels in report["label_metrics"].items():
        for label, metrics in labels.items():
            if (facet, label) not in enough:
                continue
            for name, (by_a, by_b) in metrics.items():
                shown_label = label.replace("_", " ")
                scores.add_row(f"{shown_label} · {name}", f"{by_a:.2f}", f"{by_b:.2f}")
    console.show(scores)


def _agreement_cells(agreement: Mapping[str, Any]) -> list[str]:
    kappa = "–"
    if agreement["kappa"] is not None:
        kappa = f"{agreement['kappa']:.2f}"
    return [
        f"{agreement['mean_a']:.2f}",
        f"{agreement['mean_b']:.2f}",
        f"{agreement['exact']:.1f}",
        interval(agreement["exact_ci95"]),
        kappa,
        interval(agreement["kappa_ci95"]),
        str(agreement["n"]),
    ]


def _of_the_same_answers(a: ResultRead, b: ResultRead, ratings: "Ratings", path: Path) -> "Ratings":
    """Return the ratings of what both results answered alike.

    Raises:
        InputError: They share questions and no answer.
    """
    answers = {sample.id: sample.prediction for sample in a.samples}
    different: set[str] = set()
    for sample in b.samples:
        if answers.get(sample.id, sample.prediction) != sample.prediction:
            different.add(sample.id)
    alike = {place: score for place, score in ratings.items() if place[0] not in different}
    if ratings and not alike:
        raise InputError(
            f"{path}: its answers differ; give the same answers judged twice, or "
            "`reelbench compare`"
        )
    if different:
        console.note(
            f"left out: {number_of(len(different), 'item')} that the two results answer differently"
        )
    return alike


def _judge_name(result: "Result") -> str:
    from reelbench.judges.identity import judge_as_answered

    if not result.judge:
        return "no judge"
    return judge_as_answered(result.judge)


def calibrate(
    result: Annotated[
        Path, typer.Argument(help="A judged result: its folder, or its result.json.")
    ],
    people: Annotated[
        Path,
        typer.Argument(help="People's scores of a random sample, as CSV (id,score[,criterion])."),
    ],
    *,
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Save it beside the result, where `leaderboard add` reads it."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Correct the judge's mean with people's scores, on the judge's scale.

    The corrected mean is shown beside the judge's, never instead.
    """
    from reelbench.registry import discovery
    from reelbench.scoring import calibration_file, result_files
    from reelbench.scoring.judge_agreement import read_ratings

    folder = result_files.folder_of_one(result)
    record = result_files.read(folder)
    samples = list(result_files.read_samples(folder))
    spec = discovery.spec_of(record.benchmark)
    scores = read_ratings(people, spec)
    judge = spec.judge
    assert judge is not None  # noqa: S101 - read_ratings refused
    calibrations = calibration_file.calibrations(spec, samples, scores)
    if not calibrations:
        raise InputError(
            f"{people}: none of its {len(scores)} scores is of an answer that the judge of "
            f"{folder} scored"
        )
    answer_ids = {sample.id for sample in samples}
    unknown_ids = sorted({answer_id for answer_id, _ in scores} - answer_ids)
    if unknown_ids:
        console.note(
            f"left out: people's scores of {number_of(len(unknown_ids), 'answer')} that the result "
            f"lacks (first: {unknown_ids[0]})"
        )
    if write:
        of_answers = {place: score for place, score in scores.items() if place[0] in answer_ids}
        calibration_record = calibration_file.record(calibrations, of_answers, people.name)
        path = calibration_file.write(folder, calibration_record)
        console.note(f"written to {path}")
    if as_json:
        judge_id = None
        if record.judge:
            judge_id = record.judge.requested
        criteria = {name: asdict(calibration) for name, calibration in calibrations.items()}
        console.write_json(
            {
                "benchmark": spec.id,
                "judge": judge_id,
                "people": people.name,
                "criteria": criteria,
            }
        )
        return
    for name, calibration in calibrations.items():
        _show_calibration(f"{spec.id}: {name}, {judge.low} to {judge.high}", calibration)


def _show_calibration(title: str, calibration: "Calibration") -> None:
    """Print the judge's mean beside people's and the corrected ones."""
    weight = f"{calibration.weight:.2f}"
    estimates = {
        "judge alone, all answers": calibration.judge,
        "people alone, their sample": calibration.people,
        f"calibrated (prediction-powered, weight {weight})": calibration.corrected,
        "calibrated (confusion matrix)": calibration.confusion_mean,
    }
    columns = ("mean", "#value", "#95 % interval")
    table = console.table(
        f"{title}; {calibration.labelled} of {calibration.items} answers scored by people",
        *columns,
    )
    for name, estimate in estimates.items():
        if estimate is not None:
            table.add_row(name, number(estimate.value), interval(estimate.ci95))
    console.show(table)
    if calibration.confusion:
        _show_confusion(calibration, calibration.confusion)
    needed = "more videos are needed, labels alone won't do it"
    if calibration.labels_to_halve is not None:
        needed = f"{calibration.labels_to_halve} more labels"
    console.write(f"the judge: {calibration.verdict}; to halve the interval: {needed}")


def _show_confusion(
    calibration: "Calibration", confusion: Mapping[float, Mapping[float, int]]
) -> None:
    """Print how often the judge gave each score where people gave another."""
    steps = list(confusion)
    columns = [f"#{step:g}" for step in steps]
    matrix = console.table("people (rows) and judge", "people", *columns, "#share of all, %")
    same = 0
    for step, row in confusion.items():
        percent = None
        if calibration.shares:
            share_of_step = calibration.shares[step].value
            if share_of_step is not None:
                percent = 100 * share_of_step
        counts = [str(row[judged_step]) for judged_step in steps]
        matrix.add_row(f"{step:g}", *counts, number(percent, 1))
        same += row[step]
    console.show(matrix)
    share = same / calibration.labelled
    console.write(
        f"the judge gave people's score on {same} of {calibration.labelled} answers ({share:.1%})"
    )
