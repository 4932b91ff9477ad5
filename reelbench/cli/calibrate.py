"""`reelbench judge calibrate`: a judge's scores, corrected by people's on a sample of the same answers."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.cli import console
from reelbench.cli.review_tables import interval, number
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reelbench.judges.calibration import Calibration
    from reelbench.registry.spec import BenchmarkSpec

FILE = "calibration.json"
SCHEMA = 1


def calibrate(
    result: Annotated[Path, typer.Argument(help="A judged result: its folder, or its result.json.")],
    people: Annotated[Path, typer.Argument(help="People's scores of a random sample, as CSV (id,score[,criterion]).")],
    *,
    save: Annotated[
        bool, typer.Option("--save", help=f"Write it as {FILE} into the result's folder, to lie beside its scores.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Correct the judge's mean by people's scores: beside it, never instead of it, and on the judge's own scale."""
    from reelbench.judges import results
    from reelbench.judges.agreement import read_ratings
    from reelbench.judges.calibration import calibrate as calibrated
    from reelbench.registry import discovery

    folder = result if result.is_dir() else result.parent
    record, samples = results.read(folder), list(results.read_samples(folder))
    spec = discovery.get(record.benchmark.id)
    labels = read_ratings(people, spec)
    judge = spec.judge
    assert judge is not None  # noqa: S101 - read_ratings refused
    criteria = {}
    for criterion in judge.criteria:
        scored = [sample for sample in samples if criterion in sample.scores]
        given = [labels.get((sample.id, criterion)) for sample in scored]
        if not any(label is not None for label in given):
            continue
        criteria[criterion] = calibrated(
            [sample.scores[criterion] for sample in scored],
            given,
            [sample.video for sample in scored],
            bounds=(judge.low, judge.high),
            steps=range(judge.low, judge.high + 1),
        )
    if not criteria:
        raise InputError(
            f"{people}: none of its {len(labels)} scores is of an answer that the judge of {folder} scored"
        )
    answers = {sample.id for sample in samples}
    strangers = sorted({item for item, _ in labels if item not in answers})
    if strangers:
        console.note(f"left out: people's scores of {len(strangers)} answers that the result lacks ({strangers[0]}, …)")
    document = {
        "benchmark": spec.id,
        "judge": record.judge.requested if record.judge else None,
        "people": people.name,
        "criteria": {name: asdict(found) for name, found in criteria.items()},
    }
    if save:
        _save(folder, document, _metrics(spec, criteria))
    if as_json:
        console.write(json.dumps(document))
        return
    for name, found in criteria.items():
        _show(f"{spec.id}: {name}, {judge.low} to {judge.high}", found)
    if save:
        console.write(f"written to {folder / FILE}")


def _metrics(spec: "BenchmarkSpec", criteria: "Mapping[str, Calibration]") -> dict[str, dict[str, Any]]:
    """Return metric -> its corrected value, of metrics that are one criterion's plain mean over answers."""
    metrics = {}
    for metric in spec.metrics:
        how = metric.aggregate
        if how.how != "mean" or how.weight_by is not None or how.column not in criteria:
            continue
        found = criteria[how.column]
        ends = found.corrected.ci95
        metrics[metric.name] = {
            "value": None if found.corrected.value is None else how.scale * found.corrected.value,
            "ci95": None if ends is None else [how.scale * end for end in ends],
            "items": found.items,
            "labelled": found.labelled,
            "verdict": found.verdict,
        }
    return metrics


def _save(folder: Path, document: dict[str, Any], metrics: dict[str, dict[str, Any]]) -> None:
    from reelbench.judges.results import SAMPLES_FILE
    from reelbench.registry.files import sha256_of, write_text

    # Of these very samples: scores that came later have no calibration yet.
    whole = {"schema_version": SCHEMA, "samples_sha256": sha256_of(folder / SAMPLES_FILE), "metrics": metrics}
    write_text(folder / FILE, json.dumps({**whole, **document}, indent=1) + "\n")


def _show(title: str, found: "Calibration") -> None:
    table = console.table(
        f"{title}; {found.labelled} of {found.items} answers scored by people", "mean", "#value", "#95 % interval"
    )
    rows = [
        ("judge alone, all answers", found.judge),
        ("people alone, their sample", found.people),
        (f"calibrated (prediction-powered, weight {found.weight:.2f})", found.corrected),
        ("calibrated (confusion matrix)", found.confusion_mean),
    ]
    for name, estimate in rows:
        if estimate is not None:
            table.add_row(name, number(estimate.value), interval(estimate.ci95))
    console.show(table)
    if found.confusion:
        steps = list(found.confusion)
        matrix = console.table(
            "people (rows) and judge", "people", *(f"#{step:g}" for step in steps), "#share of all, %"
        )
        for step, row in found.confusion.items():
            share = found.shares[step].value if found.shares else None
            matrix.add_row(
                f"{step:g}", *(str(row[to]) for to in steps), number(None if share is None else 100 * share, 1)
            )
        console.show(matrix)
    more = found.labels_to_halve
    console.write(
        f"the judge: {found.verdict}; to halve the interval: "
        + ("more videos are needed, labels alone won't do it" if more is None else f"{more} more labels")
    )
