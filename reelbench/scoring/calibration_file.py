"""`calibration.json`: people's scores of some judged answers, and the judge's corrected mean.

It lies beside `result.json` and says nothing that can't be computed again from it and the samples.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from reelbench.base import bounds
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
    """Correct each criterion's mean by people's scores.

    Criteria that people did not score are left out.
    """
    judge = spec.judge
    if judge is None:
        return {}
    calibrations: dict[str, Calibration] = {}
    for criterion in judge.criteria:
        judged = [sample for sample in samples if criterion in sample.scores]
        people_scores = [labels.get((sample.id, criterion)) for sample in judged]
        if all(score is None for score in people_scores):
            continue
        calibrations[criterion] = calibrate(
            [sample.scores[criterion] for sample in judged],
            people_scores,
            [sample.video for sample in judged],
            bounds=(judge.low, judge.high),
            steps=range(judge.low, judge.high + 1),
        )
    return calibrations


def record(
    calibrations: Mapping[str, Calibration], labels: Ratings, people: str
) -> CalibrationRecord:
    """Return the record of calibrations and their labels.

    Args:
        calibrations: Criterion -> calibration.
        labels: People's scores.
        people: The name of the file with them.
    """
    criteria: dict[str, Corrected] = {}
    for name, calibration in calibrations.items():
        criterion_labels: dict[str, float] = {}
        for (item, criterion), score in labels.items():
            if criterion == name:
                criterion_labels[item] = score
        criteria[name] = Corrected(
            value=calibration.corrected.value,
            ci95=calibration.corrected.ci95,
            weight=calibration.weight,
            items=calibration.items,
            verdict=calibration.verdict,
            labels=criterion_labels,
        )
    return CalibrationRecord(people=people, criteria=criteria)


def write(folder: Path, calibration: CalibrationRecord) -> Path:
    """Write the file beside a result."""
    write_text(folder / FILE, calibration.model_dump_json(indent=1) + "\n")
    return folder / FILE


def read(folder: Path) -> CalibrationRecord | None:
    """Return the record in a result's folder, None where there is none.

    Raises:
        InputError: The file is wrong.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    advice = "; rewrite it with `judge calibrate --write`"
    return record_of(
        CalibrationRecord, read_json(path, most=bounds.RESULT_BYTES), str(path), advice, mark=": "
    )


def problems(
    calibration: CalibrationRecord, spec: BenchmarkSpec, samples: Sequence[Sample]
) -> Iterator[str]:
    """Yield a line for each number that does not follow from labels and samples."""
    labels: dict[tuple[str, str], float] = {}
    for name, criterion in calibration.criteria.items():
        labels |= {(item, name): score for item, score in criterion.labels.items()}
    problem = _label_problem(labels, spec, samples)
    if problem is not None:
        yield problem
        return
    recomputed = record(calibrations(spec, samples, labels), labels, calibration.people)
    for name, criterion in calibration.criteria.items():
        again = recomputed.criteria.get(name)
        recomputed_text = "absent"
        if again is not None:
            if _same(criterion, again):
                continue
            recomputed_text = f"{again.value}, interval {again.ci95}"
        yield (
            f"{FILE}: criteria.{name} is {criterion.value}, interval {criterion.ci95}, "
            f"recomputed {recomputed_text}"
        )


def _label_problem(labels: Ratings, spec: BenchmarkSpec, samples: Sequence[Sample]) -> str | None:
    """Return a line on the first label that is none of the benchmark's scores."""
    judge = spec.judge
    ids = {sample.id for sample in samples}
    for (item, name), score in labels.items():
        is_score = (
            judge is not None
            and name in judge.criteria
            and item in ids
            and judge.low <= score <= judge.high
        )
        if not is_score:
            return f"{FILE}: {name} {score:g} of {item!r} is not a score that the benchmark has"
    return None


def _same(a: Corrected, b: Corrected) -> bool:
    """Return True where two records agree, numbers up to rounding."""
    if a.items != b.items or a.verdict != b.verdict:
        return False
    return all(map(_close, _numbers_of(a), _numbers_of(b)))


def _numbers_of(corrected: Corrected) -> list[float | None]:
    """Return the value, its weight and the ends of its interval."""
    low = None
    high = None
    if corrected.ci95 is not None:
        low, high = corrected.ci95
    return [corrected.value, corrected.weight, low, high]


def _close(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
