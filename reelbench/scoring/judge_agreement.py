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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, JudgeSpec
from reelbench.scoring import aggregation, cognitive_profile
from reelbench.stats.agreement import RatioSums, Weights, kappa_terms, kappas_of_sums
from reelbench.stats.intervals import Array

Place = tuple[str, str]
"""Item id and criterion."""

Ratings = Mapping[Place, float]
"""(item id, criterion) -> score."""

_LONG_SCALE = 3  # steps; beyond it kappa is weighted


class _Pair(NamedTuple):
    """An item twice: with a's ratings as its only scores, and with b's."""

    a: Sample
    b: Sample


@dataclass(frozen=True, slots=True)
class _Figures:
    """The agreement on each criterion, and the judged metrics by a and by b."""

    criteria: dict[str, dict[str, Any]]
    metrics: dict[str, tuple[float, float]]


def ratings_of(samples: Iterable[Sample], spec: BenchmarkSpec) -> dict[Place, float]:
    """Return the scores that a judge gave, from the samples of its result."""
    criteria = _judge(spec).criteria
    ratings: dict[Place, float] = {}
    for sample in samples:
        for criterion in criteria:
            if criterion in sample.scores:
                ratings[sample.id, criterion] = sample.scores[criterion]
    return ratings


def read_ratings(path: Path | str, spec: BenchmarkSpec) -> dict[Place, float]:
    """Read people's scores from a CSV file.

    Its columns are `id`, `score` and, where there are several criteria, `criterion`.

    Raises:
        InputError: A column is missing, a score is off the scale, or an item occurs twice. The
            message names the line.
    """
    path = Path(path)
    judge = _judge(spec)
    has_criterion = len(judge.criteria) > 1
    columns = ["id", "score"]
    if has_criterion:
        columns.append("criterion")
    rows = csv.DictReader(io.StringIO(read_text(path, most=bounds.DATA_BYTES), newline=""))
    missing = [name for name in columns if name not in (rows.fieldnames or ())]
    if missing:
        raise InputError(
            f"{path}, line 1: no column {', '.join(missing)}; "
            f"its first line must name {','.join(columns)}"
        )
    ratings: dict[Place, float] = {}
    for row in rows:
        where = f"{path}, line {rows.line_num}"
        criterion = judge.criteria[0]
        if has_criterion:
            criterion = row["criterion"]
        if criterion not in judge.criteria:
            criteria = ", ".join(judge.criteria)
            raise InputError(f"{where}, criterion: {criterion!r} is not one of {criteria}")
        place = (row["id"], criterion)
        if place in ratings:
            raise InputError(f"{where}: {row['id']} is rated twice for {criterion}")
        ratings[place] = _score_on_scale(row["score"], judge, where)
    return ratings


def _score_on_scale(text: str | None, judge: JudgeSpec, where: str) -> float:
    """Return a score from its text.

    Raises:
        InputError: It is no number on the judge's scale.
    """
    try:
        score = float(text or "")
    except ValueError:
        score = float("nan")
    if not judge.low <= score <= judge.high:
        raise InputError(
            f"{where}, score: {text!r} is not a number from {judge.low} to {judge.high}"
        )
    return score


def compare_ratings(
    samples: Sequence[Sample], a: Ratings, b: Ratings, spec: BenchmarkSpec
) -> dict[str, Any]:
    """Compare the ratings of two judges, or of a judge and people.

    Args:
        samples: Of either. They have the videos and labels.
        a: The ratings of one.
        b: The ratings of the other.
        spec: The benchmark.

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
    weights: Weights = "none"
    if judge.high - judge.low + 1 > _LONG_SCALE:
        weights = "quadratic"
    ids = {sample.id for sample in samples}
    rated_by_both = {place for place in a.keys() & b.keys() if place[0] in ids}
    if not rated_by_both:
        raise InputError(
            "no item was rated by both: are these of the same benchmark and split, "
            "with the same ids?"
        )
    samples_a = _with_ratings(samples, a, rated_by_both)
    samples_b = _with_ratings(samples, b, rated_by_both)
    pairs = list(map(_Pair, samples_a, samples_b))
    labels: dict[str, dict[str, Any]] = {}
    label_metrics: dict[str, dict[str, Any]] = {}
    for facet in cognitive_profile.facets(spec):
        for label, labelled_pairs in _by_label(pairs, facet.name).items():
            label_figures = _figures(labelled_pairs, spec, weights)
            labels.setdefault(facet.name, {})[label] = label_figures.criteria
            label_metrics.setdefault(facet.name, {})[label] = label_figures.metrics
    figures = _figures(pairs, spec, weights)
    return {
        "both": len(rated_by_both),
        "only_a": len(a.keys() - b.keys()),
        "only_b": len(b.keys() - a.keys()),
        "weights": weights,
        "criteria": figures.criteria,
        "labels": labels,
        "metrics": figures.metrics,
        "label_metrics": label_metrics,
    }


def _judge(spec: BenchmarkSpec) -> JudgeSpec:
    if spec.judge is None:
        raise InputError(f"{spec.id}: has no judged metric")
    return spec.judge


def _with_ratings(samples: Sequence[Sample], ratings: Ratings, places: set[Place]) -> list[Sample]:
    """Return the items of `places`, sorted by id, with their ratings as scores."""
    scores_by_item: dict[str, dict[str, float]] = {}
    for item, criterion in places:
        scores = scores_by_item.setdefault(item, {})
        scores[criterion] = ratings[item, criterion]
    rated: dict[str, Sample] = {}
    for sample in samples:
        scores = scores_by_item.get(sample.id)
        if scores is not None:
            rated[sample.id] = sample.model_copy(update={"scores": scores})
    return [rated[item] for item in sorted(rated)]


def _by_label(pairs: Sequence[_Pair], facet: str) -> dict[str, list[_Pair]]:
    """Return the pairs with each label of a facet, the labels in sorted order."""
    pairs_by_label: dict[str, list[_Pair]] = {}
    for pair in pairs:
        labels = pair.a.facets.get(facet, ())
        for label in set(labels):
            pairs_by_label.setdefault(label, []).append(pair)
    return dict(sorted(pairs_by_label.items()))


def _figures(pairs: Sequence[_Pair], spec: BenchmarkSpec, weights: Weights) -> _Figures:
    """Return the agreement on each criterion that has scores, and each judged metric."""
    criteria: dict[str, dict[str, Any]] = {}
    for criterion in _judge(spec).criteria:
        scored_pairs = [pair for pair in pairs if criterion in pair.a.scores]
        if scored_pairs:
            criteria[criterion] = _agreement(scored_pairs, criterion, weights)
    samples_a = [pair.a for pair in pairs]
    samples_b = [pair.b for pair in pairs]
    metrics: dict[str, tuple[float, float]] = {}
    for metric in spec.metrics:
        if not metric.judged or isinstance(metric.aggregate, Corpus):
            continue
        value_a = aggregation.metric_value(spec, metric, samples_a)
        value_b = aggregation.metric_value(spec, metric, samples_b)
        if value_a is not None and value_b is not None:
            metrics[metric.name] = (value_a, value_b)
    return _Figures(criteria, metrics)


def _agreement(pairs: Sequence[_Pair], criterion: str, weights: Weights) -> dict[str, Any]:
    """Return the figures of one criterion.

    They are the items, the percentage with equal scores and kappa with their intervals, and both
    means. Kappa is None where both give everything the same one score.
    """
    x = np.array([pair.a.scores[criterion] for pair in pairs])
    y = np.array([pair.b.scores[criterion] for pair in pairs])
    sums = RatioSums(kappa_terms(x, y, weights), [pair.a.video for pair in pairs])

    def percent_equal(rows: Array) -> Array:
        return 100 * rows[:, 1] / rows[:, 0]

    def kappas(rows: Array) -> Array:
        return kappas_of_sums(rows, weights)

    exact = sums.estimate(percent_equal, (0, 100))
    kappa = sums.estimate(kappas, (-1, 1))
    return {
        "n": len(pairs),
        "exact": exact.value,
        "exact_ci95": exact.ci95,
        "kappa": kappa.value,
        "kappa_ci95": kappa.ci95,
        "mean_a": float(x.mean()),
        "mean_b": float(y.mean()),
    }
