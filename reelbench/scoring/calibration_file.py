"""`calibration.json`: people's scores of some judged answers, and the judge's mean corrected by them.

It lies beside `result.json` and says nothing that can't be computed again from it and the samples.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from reelbench.base.base_record import Name, Record, record_of
from reelbench.base.files import read_json, write_text
from reelbench.registry.records import Sample, Score
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.judge_agreement import Ratings
from reelbench.stats.calibration import Calibration, Usefulness, calibrate

FILE = "calibration.json"
_TOLERANCE = 1e-9


class Corrected(Record):
    """One criterion: people's scores, and the prediction-powered mean on the judge's own scale."""

    value: Score | None
    ci95: tuple[Score, Score] | None
    weight: float = Field(description="How much of the judge goes into it, 0 to 1.")
    items: int = Field(description="Answers that the judge scored.")
    verdict: Usefulness
    labels: dict[str, Score] = Field(description="Item -> people's score.")


class CalibrationRecord(Record):
    """The whole file."""

    people: Name = Field(description="Name of the file with people's scores.")
    criteria: dict[str, Corrected]


def calibrations(
    spec: BenchmarkSpec, samples: Sequence[Sample], labels: Ratings
) -> dict[str, Calibration]:
    """Correct each criterion's mean by people's scores; criteria that they did not score are left out."""
    judge = spec.judge
    calibrations: dict[str, Calibration] = {}
    for criterion in judge.criteria if judge else ():
        scored = [sample for sample in samples if criterion in sample.scores]
        given = [labels.get((sample.id, criterion)) for sample in scored]
        if judge is None or not any(label is not None for label in given):
            continue
        calibrations[criterion] = calibrate(
            [sample.scores[criterion] for sample in scored],
            given,
            [sample.video for sample in scored],
            bounds=(judge.low, judge.high),
            steps=range(judge.low, judge.high + 1),
        )
    return calibrations


def record(made: Mapping[str, Calibration], labels: Ratings, people: str) -> CalibrationRecord:
    """Return the record of calibrations and the scores that they were made from."""
    return CalibrationRecord(
        people=people,
        criteria={
            name: Corrected(
                value=one.corrected.value,
                ci95=one.corrected.ci95,
                weight=one.weight,
                items=one.items,
                verdict=one.verdict,
                labels={
                    item: score for (item, criterion), score in labels.items() if criterion == name
                },
            )
            for name, one in made.items()
        },
    )


def write(folder: Path, kept: CalibrationRecord) -> Path:
    """Write the file beside a result."""
    write_text(folder / FILE, kept.model_dump_json(indent=1) + "\n")
    return folder / FILE


def read(folder: Path) -> CalibrationRecord | None:
    """Return the record in a result's folder, None where there is none; InputError where the file is wrong."""
    path = folder / FILE
    if not path.is_file():
        return None
    more = "; rewrite it with `judge calibrate --write`"
    return record_of(CalibrationRecord, read_json(path), str(path), more, mark=": ")


def problems(
    kept: CalibrationRecord, spec: BenchmarkSpec, samples: Sequence[Sample]
) -> Iterator[str]:
    """Yield a line for each number in a file that does not follow from its labels and the samples."""
    judge = spec.judge
    known = {sample.id for sample in samples}
    labels = {
        (item, name): score
        for name, one in kept.criteria.items()
        for item, score in one.labels.items()
    }
    for (item, name), score in labels.items():
        if (
            judge is None
            or name not in judge.criteria
            or item not in known
            or not judge.low <= score <= judge.high
        ):
            yield f"{FILE}: {name} {score:g} of {item!r} is not a score that the benchmark has"
            return
    made = record(calibrations(spec, samples, labels), labels, kept.people)
    for name, one in kept.criteria.items():
        again = made.criteria.get(name)
        if again is None or not _same(one, again):
            computed = "absent" if again is None else f"{again.value}, interval {again.ci95}"
            yield f"{FILE}: criteria.{name} is {one.value}, interval {one.ci95}, recomputed {computed}"


def _same(one: Corrected, other: Corrected) -> bool:
    if (one.items, one.verdict, one.ci95 is None) != (
        other.items,
        other.verdict,
        other.ci95 is None,
    ):
        return False
    if one.value is None or other.value is None:
        return one.value is other.value
    pairs = zip(
        (one.value, one.weight, *(one.ci95 or ())),
        (other.value, other.weight, *(other.ci95 or ())),
        strict=True,
    )
    return all(math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) for a, b in pairs)
