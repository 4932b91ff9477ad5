"""`reelbench judge calibrate`: a judge's scores, corrected by people's on a sample of the same answers."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console
from reelbench.cli.option_groups import Json, option
from reelbench.registry.errors import InputError, number_of
from reelbench.registry.text_tables import interval, number

if TYPE_CHECKING:
    from reelbench.stats.calibration import Calibration


def calibrate(
    result: Annotated[Path, typer.Argument(help="A judged result: its folder, or its result.json.")],
    people: Annotated[Path, typer.Argument(help="People's scores of a random sample, as CSV (id,score[,criterion]).")],
    *,
    write: Annotated[bool, option("calibrate", "--write")] = False,
    as_json: Json = False,
) -> None:
    """Correct the judge's mean with people's scores, on the judge's scale; shown beside the mean, never instead."""
    from reelbench.registry import discovery
    from reelbench.scoring import calibration_file, result_files
    from reelbench.scoring.judge_agreement import read_ratings

    folder = result_files.folder_of_one(result)
    record, samples = result_files.read(folder), list(result_files.read_samples(folder))
    spec = discovery.spec_of(record.benchmark)
    labels = read_ratings(people, spec)
    judge = spec.judge
    assert judge is not None  # noqa: S101 - read_ratings refused
    criteria = calibration_file.calibrations(spec, samples, labels)
    if not criteria:
        raise InputError(
            f"{people}: none of its {len(labels)} scores is of an answer that the judge of {folder} scored"
        )
    answers = {sample.id for sample in samples}
    strangers = sorted({item for item, _ in labels if item not in answers})
    if strangers:
        answers = number_of(len(strangers), "answer")
        console.note(f"left out: people's scores of {answers} that the result lacks (first: {strangers[0]})")
    if write:
        of_answers = {place: score for place, score in labels.items() if place[0] in answers}
        path = calibration_file.write(folder, calibration_file.record(criteria, of_answers, people.name))
        console.note(f"written to {path}")
    if as_json:
        by = record.judge.requested if record.judge else None
        made = {name: asdict(found) for name, found in criteria.items()}
        console.write_json({"benchmark": spec.id, "judge": by, "people": people.name, "criteria": made})
        return
    for name, found in criteria.items():
        _show(f"{spec.id}: {name}, {judge.low} to {judge.high}", found)


def _show(title: str, found: "Calibration") -> None:
    title = f"{title}; {found.labelled} of {found.items} answers scored by people"
    estimates = {
        "judge alone, all answers": found.judge,
        "people alone, their sample": found.people,
        f"calibrated (prediction-powered, weight {found.weight:.2f})": found.corrected,
        "calibrated (confusion matrix)": found.confusion_mean,
    }
    rows = [(name, number(of.value), interval(of.ci95)) for name, of in estimates.items() if of is not None]
    console.show(console.table(title, "mean", "#value", "#95 % interval", rows=rows))
    if found.confusion:
        steps = list(found.confusion)
        columns = ("people", *(f"#{step:g}" for step in steps), "#share of all, %")
        matrix = console.table("people (rows) and judge", *columns)
        for step, row in found.confusion.items():
            share = found.shares[step].value if found.shares else None
            percent = number(None if share is None else 100 * share, 1)
            matrix.add_row(f"{step:g}", *(str(row[to]) for to in steps), percent)
        console.show(matrix)
        same = sum(row[step] for step, row in found.confusion.items())
        console.write(
            f"the judge gave people's score on {same} of {found.labelled} answers ({same / found.labelled:.1%})"
        )
    more = found.labels_to_halve
    console.write(
        f"the judge: {found.verdict}; to halve the interval: "
        + ("more videos are needed, labels alone won't do it" if more is None else f"{more} more labels")
    )
