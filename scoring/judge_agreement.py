"""Agreement of two judges, or of a judge and people: the reliability of a judged number.

As in CURVE's supplement (§C.3, Tables 3 and 4): scores side by side, overall and by label (its locales), and the share
of items with exactly equal scores. Beside them Cohen's kappa, which takes off the agreement that chance alone would
give: unweighted on scales of up to three steps (0 to 2), with quadratic weights on longer ones (0 to 5), where a near
miss is not a miss. All intervals are a bootstrap over videos (`stats.intervals`).
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_text
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, JudgeSpec
from reelbench.scoring import aggregation, cognitive_profile
from reelbench.stats.agreement import RatioSums, Weights, kappa_terms, kappas_of_sums

Ratings = Mapping[tuple[str, str], float]
"""(item id, criterion) -> score."""

Interval = tuple[float, float] | None

_LONG_SCALE = 3  # steps; beyond it kappa is weighted


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two raters, `a` and `b`, on the items that both scored.

    Attributes:
        n: Items.
        exact: Percentage of items with equal scores, 0 to 100.
        exact_ci95: Its 95 % interval; None from one video alone.
        kappa: Cohen's kappa, at most 1; None where it is undefined (both give everything the same one score).
        kappa_ci95: Its 95 % interval.
        mean_a: Mean of a's scores, on the judge's scale.
        mean_b: Mean of b's scores.
    """

    n: int
    exact: float
    exact_ci95: Interval
    kappa: float | None
    kappa_ci95: Interval
    mean_a: float
    mean_b: float


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """All that is said of two raters.

    Attributes:
        both: Ratings (item and criterion) that both gave.
        only_a: Ratings that only a gave.
        only_b: Ratings that only b gave.
        weights: How kappa weighs a miss.
        criteria: Criterion -> agreement.
        labels: Facet -> label -> criterion -> agreement on the items with that label.
        metrics: Judged metric -> (by a, by b), on the items that both scored, in the metric's own unit.
        label_metrics: Facet -> label -> judged metric -> (by a, by b).
    """

    both: int
    only_a: int
    only_b: int
    weights: Weights
    criteria: dict[str, Agreement]
    labels: dict[str, dict[str, dict[str, Agreement]]]
    metrics: dict[str, tuple[float, float]]
    label_metrics: dict[str, dict[str, dict[str, tuple[float, float]]]]


def ratings_of(samples: Iterable[Sample], spec: BenchmarkSpec) -> dict[tuple[str, str], float]:
    """Return the scores that a judge gave, from the samples of its result."""
    criteria = _judge(spec).criteria
    return {(s.id, criterion): s.scores[criterion] for s in samples for criterion in criteria if criterion in s.scores}


def read_ratings(path: Path | str, spec: BenchmarkSpec) -> dict[tuple[str, str], float]:
    """Read people's scores from a CSV file with the columns `id`, `score` and, where there are several, `criterion`.

    Raises:
        InputError: A column is missing, a score is not a number on the scale, or an item occurs twice; with the line.
    """
    path, judge = Path(path), _judge(spec)
    several = len(judge.criteria) > 1
    wanted = ["id", "score", *(["criterion"] if several else [])]
    ratings: dict[tuple[str, str], float] = {}
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    missing = [name for name in wanted if name not in (rows.fieldnames or ())]
    if missing:
        raise InputError(f"{path}, line 1: no column {', '.join(missing)}; its first line must name {','.join(wanted)}")
    for row in rows:
        where = f"{path}, line {rows.line_num}"
        criterion = row["criterion"] if several else judge.criteria[0]
        if criterion not in judge.criteria:
            raise InputError(f"{where}, criterion: {criterion!r} is not one of {', '.join(judge.criteria)}")
        place = (row["id"], criterion)
        if place in ratings:
            raise InputError(f"{where}: {row['id']} is rated twice for {criterion}")
        try:
            score = float(row["score"] or "")
        except ValueError:
            score = float("nan")
        if not judge.low <= score <= judge.high:
            raise InputError(f"{where}, score: {row['score']!r} is not a number from {judge.low} to {judge.high}")
        ratings[place] = score
    return ratings


def agree(samples: Sequence[Sample], a: Ratings, b: Ratings, spec: BenchmarkSpec) -> AgreementReport:
    """Compare the ratings of two judges, or of a judge and people; the samples, of either, have videos and labels.

    Raises:
        InputError: There is nothing that both rated.
    """
    judge = _judge(spec)
    weights: Weights = "quadratic" if judge.high - judge.low + 1 > _LONG_SCALE else "none"
    known = {sample.id for sample in samples}
    both = {place for place in a.keys() & b.keys() if place[0] in known}
    if not both:
        raise InputError("no item was rated by both: are these of the same benchmark and split, with the same ids?")
    rated_a, rated_b = _rated(samples, a, both), _rated(samples, b, both)
    criteria = {c: found for c in judge.criteria if (found := _agreement(rated_a, rated_b, c, weights)) is not None}
    labels: dict[str, dict[str, dict[str, Agreement]]] = {}
    label_metrics: dict[str, dict[str, dict[str, tuple[float, float]]]] = {}
    for facet in cognitive_profile.facets(spec):
        for label in sorted({label for sample in rated_a for label in sample.facets.get(facet.name, ())}):
            at = [i for i, sample in enumerate(rated_a) if label in sample.facets.get(facet.name, ())]
            mine, theirs = [rated_a[i] for i in at], [rated_b[i] for i in at]
            here = {c: found for c in judge.criteria if (found := _agreement(mine, theirs, c, weights)) is not None}
            labels.setdefault(facet.name, {})[label] = here
            label_metrics.setdefault(facet.name, {})[label] = _side_by_side(mine, theirs, spec)
    return AgreementReport(
        both=len(both),
        only_a=len(a.keys() - b.keys()),
        only_b=len(b.keys() - a.keys()),
        weights=weights,
        criteria=criteria,
        labels=labels,
        metrics=_side_by_side(rated_a, rated_b, spec),
        label_metrics=label_metrics,
    )


def _judge(spec: BenchmarkSpec) -> JudgeSpec:
    if spec.judge is None:
        raise InputError(f"{spec.id}: has no judged metric")
    return spec.judge


def _rated(samples: Sequence[Sample], ratings: Ratings, both: set[tuple[str, str]]) -> list[Sample]:
    """The items that both rated, with these ratings as their only scores."""
    scores: dict[str, dict[str, float]] = {}
    for item, criterion in both:
        scores.setdefault(item, {})[criterion] = ratings[item, criterion]
    rated = {s.id: s.model_copy(update={"scores": scores[s.id]}) for s in samples if s.id in scores}
    return [rated[item] for item in sorted(rated)]


def _side_by_side(a: Sequence[Sample], b: Sequence[Sample], spec: BenchmarkSpec) -> dict[str, tuple[float, float]]:
    values: dict[str, tuple[float, float]] = {}
    for metric in spec.metrics:
        if not metric.judged or isinstance(metric.aggregate, Corpus):
            continue
        by_a, by_b = aggregation.metric_value(spec, metric, a), aggregation.metric_value(spec, metric, b)
        if by_a is not None and by_b is not None:
            values[metric.name] = (by_a, by_b)
    return values


def _agreement(a: Sequence[Sample], b: Sequence[Sample], criterion: str, weights: Weights) -> Agreement | None:
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if criterion in x.scores]
    if not pairs:
        return None
    x = np.array([pair[0].scores[criterion] for pair in pairs])
    y = np.array([pair[1].scores[criterion] for pair in pairs])
    sums = RatioSums(kappa_terms(x, y, weights), [pair[0].video for pair in pairs])
    exact = sums.estimate(lambda rows: 100 * rows[:, 1] / rows[:, 0], (0, 100))
    kappa = sums.estimate(lambda rows: kappas_of_sums(rows, weights), (-1, 1))
    return Agreement(
        n=len(pairs),
        exact=exact.value or 0.0,
        exact_ci95=exact.ci95,
        kappa=kappa.value,
        kappa_ci95=kappa.ci95,
        mean_a=float(x.mean()),
        mean_b=float(y.mean()),
    )
