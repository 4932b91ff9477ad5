"""Agreement of two judges, or of a judge and people: the reliability of a judged number.

As in CURVE's supplement (§C.3, Tables 3 and 4): scores side by side, overall and by label (its
locales), and the share of items with exactly equal scores. Beside them Cohen's kappa, which takes
off the agreement that chance alone would give: unweighted on scales of up to three steps (0 to 2),
with quadratic weights on longer ones (0 to 5), where a near miss is not a miss. All intervals are a
bootstrap over videos (`stats.intervals`).
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, JudgeSpec
from reelbench.scoring import aggregation, cognitive_profile
from reelbench.stats.agreement import RatioSums, Weights, kappa_terms, kappas_of_sums

Ratings = Mapping[tuple[str, str], float]
"""(item id, criterion) -> score."""

Pair = tuple[Sample, Sample]
"""An item by a and by b."""

_LONG_SCALE = 3  # steps; beyond it kappa is weighted


def ratings_of(samples: Iterable[Sample], spec: BenchmarkSpec) -> dict[tuple[str, str], float]:
    """Return the scores that a judge gave, from the samples of its result."""
    criteria = _judge(spec).criteria
    return {
        (s.id, criterion): s.scores[criterion]
        for s in samples
        for criterion in criteria
        if criterion in s.scores
    }


def read_ratings(path: Path | str, spec: BenchmarkSpec) -> dict[tuple[str, str], float]:
    """Read people's scores from a CSV file with the columns `id`, `score` and, where there are several, `criterion`.

    InputError, with the line, where a column is missing, a score is off the scale, or an item
    occurs twice.
    """
    path, judge = Path(path), _judge(spec)
    several = len(judge.criteria) > 1
    wanted = ["id", "score", *(["criterion"] if several else [])]
    ratings: dict[tuple[str, str], float] = {}
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    missing = [name for name in wanted if name not in (rows.fieldnames or ())]
    if missing:
        raise InputError(
            f"{path}, line 1: no column {', '.join(missing)}; its first line must name {','.join(wanted)}"
        )
    for row in rows:
        where = f"{path}, line {rows.line_num}"
        criterion = row["criterion"] if several else judge.criteria[0]
        if criterion not in judge.criteria:
            raise InputError(
                f"{where}, criterion: {criterion!r} is not one of {', '.join(judge.criteria)}"
            )
        place = (row["id"], criterion)
        if place in ratings:
            raise InputError(f"{where}: {row['id']} is rated twice for {criterion}")
        try:
            score = float(row["score"] or "")
        except ValueError:
            score = float("nan")
        if not judge.low <= score <= judge.high:
            raise InputError(
                f"{where}, score: {row['score']!r} is not a number from {judge.low} to {judge.high}"
            )
        ratings[place] = score
    return ratings


def compare_ratings(
    samples: Sequence[Sample], a: Ratings, b: Ratings, spec: BenchmarkSpec
) -> dict[str, Any]:
    """Compare the ratings of two judges, or of a judge and people; the samples, of either, have videos and labels.

    Returns:
        As JSON `both`, `only_a` and `only_b` (ratings, of an item and a criterion, that both or one
        alone gave), `weights` (how kappa weighs a miss), `criteria` (criterion -> `_agreement`),
        `metrics` (judged metric -> by a and by b, on the items that both scored, in its own unit),
        and both of these on the items with each label, as `labels` and `label_metrics`: facet ->
        label -> the same.

    Raises:
        InputError: There is nothing that both rated.
    """
    judge = _judge(spec)
    weights: Weights = "quadratic" if judge.high - judge.low + 1 > _LONG_SCALE else "none"
    known = {sample.id for sample in samples}
    both = {place for place in a.keys() & b.keys() if place[0] in known}
    if not both:
        raise InputError(
            "no item was rated by both: are these of the same benchmark and split, with the same ids?"
        )
    pairs = list(
        zip(_rated_by_both(samples, a, both), _rated_by_both(samples, b, both), strict=True)
    )
    labels: dict[str, dict[str, Any]] = {}
    label_metrics: dict[str, dict[str, Any]] = {}
    for facet in cognitive_profile.facets(spec):
        for label in sorted(
            {label for sample, _ in pairs for label in sample.facets.get(facet.name, ())}
        ):
            there = [pair for pair in pairs if label in pair[0].facets.get(facet.name, ())]
            of_label, metrics_there = _figures(there, spec, weights)
            labels.setdefault(facet.name, {})[label] = of_label
            label_metrics.setdefault(facet.name, {})[label] = metrics_there
    criteria, metrics = _figures(pairs, spec, weights)
    return {
        "both": len(both),
        "only_a": len(a.keys() - b.keys()),
        "only_b": len(b.keys() - a.keys()),
        "weights": weights,
        "criteria": criteria,
        "labels": labels,
        "metrics": metrics,
        "label_metrics": label_metrics,
    }


def _judge(spec: BenchmarkSpec) -> JudgeSpec:
    if spec.judge is None:
        raise InputError(f"{spec.id}: has no judged metric")
    return spec.judge


def _rated_by_both(
    samples: Sequence[Sample], ratings: Ratings, both: set[tuple[str, str]]
) -> list[Sample]:
    """The items that both rated, with these ratings as their only scores."""
    scores: dict[str, dict[str, float]] = {}
    for item, criterion in both:
        scores.setdefault(item, {})[criterion] = ratings[item, criterion]
    rated = {s.id: s.model_copy(update={"scores": scores[s.id]}) for s in samples if s.id in scores}
    return [rated[item] for item in sorted(rated)]


def _figures(
    pairs: Sequence[Pair], spec: BenchmarkSpec, weights: Weights
) -> tuple[dict[str, dict[str, Any]], dict[str, tuple[float, float]]]:
    """Return the agreement on each criterion that has scores, and each judged metric by a and by b."""
    criteria = {
        criterion: _agreement(there, criterion, weights)
        for criterion in _judge(spec).criteria
        if (there := [pair for pair in pairs if criterion in pair[0].scores])
    }
    values: dict[str, tuple[float, float]] = {}
    for metric in spec.metrics:
        if not metric.judged or isinstance(metric.aggregate, Corpus):
            continue
        by_a, by_b = (
            aggregation.metric_value(spec, metric, samples) for samples in zip(*pairs, strict=True)
        )
        if by_a is not None and by_b is not None:
            values[metric.name] = (by_a, by_b)
    return criteria, values


def _agreement(pairs: Sequence[Pair], criterion: str, weights: Weights) -> dict[str, Any]:
    """Return the items, the percentage with equal scores and kappa with their intervals, and both means.

    Kappa is None where both give everything the same one score.
    """
    x, y = (
        np.array([sample.scores[criterion] for sample in side]) for side in zip(*pairs, strict=True)
    )
    sums = RatioSums(kappa_terms(x, y, weights), [sample.video for sample, _ in pairs])
    exact = sums.estimate(lambda rows: 100 * rows[:, 1] / rows[:, 0], (0, 100))
    kappa = sums.estimate(lambda rows: kappas_of_sums(rows, weights), (-1, 1))
    return {
        "n": len(pairs),
        "exact": exact.value,
        "exact_ci95": exact.ci95,
        "kappa": kappa.value,
        "kappa_ci95": kappa.ci95,
        "mean_a": float(x.mean()),
        "mean_b": float(y.mean()),
    }
