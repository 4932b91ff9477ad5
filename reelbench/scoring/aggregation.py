"""From answered items to a result's numbers. Every benchmark is scored in this way.

`score` gives each item its per-item columns (by kind) and its state. Metrics, breakdowns and counts
over all of them follow. `aggregate` recomputes the numbers from samples on disk. Both are pure:
nothing is read and nothing is run, except that overlap metrics start Java on a cache miss.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import fsum
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from pydantic import Field

from reelbench.base.errors import first_of
from reelbench.base.progress import Bar, no_bar
from reelbench.judges.verdicts import Judged, Verdict, is_judged
from reelbench.registry.reasons import NO_ANSWER, OF_JUDGE, UNANSWERED, Reason
from reelbench.registry.records import (
    Breakdowns,
    Counts,
    Item,
    JudgeRecord,
    Metrics,
    MetricValue,
    Sample,
)
from reelbench.registry.rows import GROUP
from reelbench.registry.spec import BenchmarkSpec, Corpus, Grouped, Macro, Mean, MeanOf, Metric
from reelbench.scoring import (
    choice,
    cognitive_profile,
    exact_match,
    number_match,
    temporal_span,
)
from reelbench.scoring.item_columns import Facets, ItemColumns, Label
from reelbench.scoring.tally import SampleTally
from reelbench.stats import intervals, ratios
from reelbench.stats.intervals import Array, Mask, Places

KeyT = TypeVar("KeyT")


def reason_before_judging(sample: Sample) -> Reason | None:
    """Return a sample's reason from before judging. None where its answer could be scored."""
    if sample.reason in UNANSWERED:
        return sample.reason
    return None


def reasons(spec: BenchmarkSpec, *, hidden: bool) -> frozenset[Reason]:
    """Return every reason for which an item can be unscored.

    Args:
        spec: The benchmark.
        hidden: True where the split's answers are hidden.
    """
    possible = UNANSWERED
    if not hidden:
        possible -= {Reason.ANSWERS_HIDDEN}
    if spec.judge is not None:
        possible |= OF_JUDGE
    return possible


FAILURE_MARKERS = (
    "[LMMS_EVAL_REQUEST_FAILED",
    "[LMMS_EVAL_BUDGET_EXCEEDED]",
    "Failed to obtain answer",
)
"""Text in place of an answer when a request failed, by adapters of lmms-eval and VLMEvalKit."""

BLOCKED_MARKER = "[SAFETY_BLOCKED"
"""The words of lmms-eval's adapter of Gemini for an answer that the server held back."""


def _mixed_columns(item: Item) -> dict[str, float]:
    """Return the columns of an item of a benchmark with both options and short answers."""
    if "text" in item.target:
        return exact_match.columns(item, "correct")
    return choice.columns(item)


def _mixed_number_columns(item: Item, closeness: number_match.Closeness) -> dict[str, float]:
    """Return the columns of an item of a benchmark with both options and numbers."""
    if "text" in item.target:
        return number_match.columns(item, "correct", closeness)
    return choice.columns(item)


_COLUMNS: dict[str, Callable[[Item], dict[str, float]]] = {
    "temporal_span": temporal_span.columns,
    "moment": temporal_span.moment_columns,
    "choice": choice.columns,
    "exact_match": exact_match.columns,
    "any_choice": partial(choice.columns, any_of=True),
    "all_choices": choice.columns,
    "mixed": _mixed_columns,
    "union_spans": temporal_span.union_columns,
    "ranked_spans": temporal_span.ranked_columns,
    "covered": temporal_span.covered_columns,
    "f1_spans": temporal_span.f1_columns,
    "matched_spans": temporal_span.matched_columns,
    "above_chance": choice.above_chance,
    "relative_accuracy": partial(
        number_match.columns, column="mra", closeness=number_match.relative_accuracy
    ),
    "off_by_one": partial(
        number_match.columns, column="within_one", closeness=number_match.off_by_one
    ),
    "number_error": number_match.error_columns,
    "mixed_relative_accuracy": partial(
        _mixed_number_columns, closeness=number_match.relative_accuracy
    ),
    "mixed_off_by_one": partial(_mixed_number_columns, closeness=number_match.off_by_one),
}
"""Kind of scoring -> an item's columns, for the kinds that score an item by itself."""


class SampleOfRuns(Sample):
    """An item of several runs of one model.

    `scores` are its means over the runs, `of_runs` the scores of each run.
    """

    of_runs: list[dict[str, float]] = Field(default_factory=list[dict[str, float]])


def each_run(samples: Sequence[Sample]) -> list[list[Sample]]:
    """Return the samples as each of several runs has them. Nothing for a single run."""
    number_of_runs = 0
    for sample in samples:
        if isinstance(sample, SampleOfRuns):
            number_of_runs = max(number_of_runs, len(sample.of_runs))
    return [_in_run(samples, run) for run in range(number_of_runs)]


def _in_run(samples: Sequence[Sample], run: int) -> list[Sample]:
    """Return the samples with one run's scores. A score that it lacks is the mean."""
    samples_in_run: list[Sample] = []
    for sample in samples:
        scores = dict(sample.scores)
        if isinstance(sample, SampleOfRuns):
            for name, score in sample.of_runs[run].items():
                if name in scores:
                    scores[name] = score
        samples_in_run.append(sample.model_copy(update={"scores": scores}))
    return samples_in_run


class Numbers(NamedTuple):
    """The numbers of a result over its items."""

    metrics: Metrics
    breakdowns: Breakdowns


@dataclass(frozen=True)
class ScoredItems:
    """The result of scoring. Counts and numbers are computed on first use.

    Attributes:
        spec: The benchmark.
        samples: In the order of the items. They may lie in a file.
        judge: The judge's record.
        beside: Further counts, such as `extra` and `duplicate`.
        overlap: Whether text overlap is computed, which is slow.
        bar: Shows the progress of text overlap.
        known: Metrics that are known beforehand, and not computed.
        counted: What was counted while they were made. None where nobody has counted yet.
    """

    spec: BenchmarkSpec
    samples: Sequence[Sample]
    judge: JudgeRecord | None = None
    beside: Mapping[str, int] = field(default_factory=dict[str, int])
    overlap: bool = True
    bar: Bar = no_bar
    known: Metrics = field(default_factory=dict[str, MetricValue])
    counted: SampleTally | None = None

    @cached_property
    def tally(self) -> SampleTally:
        """The columns, counts and videos of all samples."""
        return self.counted or SampleTally.of(self.samples)

    @cached_property
    def counts(self) -> Counts:
        """The number of scored items, and of the others by reason."""
        return self.tally.counts(self.beside)

    @cached_property
    def numbers(self) -> Numbers:
        """Every metric and breakdown."""
        overlaps = _corpus_values(self.spec, self.samples, overlap=self.overlap, bar=self.bar)
        columns = _Columns(self.tally.columns, ())
        numbers = _numbers_of(self.spec, columns, overlaps, intervals.METHOD)
        return Numbers(numbers.metrics | self.known, numbers.breakdowns)


def is_failure(text: str) -> bool:
    """Return True where `text` is a marker of a failed request instead of an answer."""
    return text.lstrip().startswith(FAILURE_MARKERS)


def reason_in_text(text: str) -> Reason | None:
    """Return why a text is no answer but the mark of a failure, else None."""
    if is_failure(text):
        return Reason.MODEL_FAILED
    if text.startswith(BLOCKED_MARKER):
        return Reason.REFUSED
    return None


def item_columns(spec: BenchmarkSpec, item: Item) -> dict[str, float]:
    """Return the item's own scores, by column. Empty where there is no answer to score."""
    if item.reason in UNANSWERED:
        return {}
    columns: dict[str, float] = {}
    for kind in spec.kinds:
        if kind in _COLUMNS:
            columns |= _COLUMNS[kind](item)
    return columns


def to_sample(
    spec: BenchmarkSpec,
    item: Item,
    verdict: Verdict | None = None,
    columns: dict[str, float] | None = None,
) -> Sample:
    """Score one item.

    Args:
        spec: The benchmark.
        item: The item.
        verdict: The judge's verdict, where there is one.
        columns: The item's own scores as `item_columns` returns them, where they are known.
    """
    if columns is None or item.reason in UNANSWERED:
        columns = item_columns(spec, item)
    if item.reason is not None or spec.judge is None or not is_judged(item):
        return item.sample(item.reason, columns)
    if verdict is None:
        return item.sample(Reason.JUDGE_UNAVAILABLE, columns)
    return item.sample(verdict.reason, columns | verdict.scores, list(verdict.replies))


def score(
    spec: BenchmarkSpec,
    items: Iterable[Item],
    *,
    overlap: bool = True,
    judged: Judged | None = None,
    bar: Bar = no_bar,
    columns: Mapping[str, dict[str, float]] = MappingProxyType({}),
    **beside: int,
) -> ScoredItems:
    """Score items.

    Args:
        spec: The benchmark.
        items: The items.
        overlap: Whether text overlap is computed.
        judged: The judge's verdicts and record, where the items were judged.
        bar: Shows the progress of text overlap.
        columns: The items' own scores, by id, where they are known.
        beside: Further counts, such as `extra` and `duplicate`.
    """
    verdicts: Mapping[str, Verdict] = {}
    record: JudgeRecord | None = None
    if judged is not None:
        verdicts, record = judged
    samples = [to_sample(spec, item, verdicts.get(item.id), columns.get(item.id)) for item in items]
    return ScoredItems(spec, samples, record, beside, overlap, bar)


def answered(counts: Counts) -> int:
    """Count the items that have an answer, scored or not."""
    without_answer = 0
    for reason, number in counts.unscored.items():
        if reason in NO_ANSWER:
            without_answer += number
    return counts.items - without_answer


# --- numbers from samples


_ONES = np.broadcast_to(1.0, 1 << 40)
"""Ones for as many items as there may be, in the memory of one."""


def _weight(facets: Facets, mean: Mean, within: Label | None) -> float:
    """Return the weight in a mean of items with these facets.

    `within` limits the mean to a label's items.
    """
    if within is not None and not within.is_of(facets):
        return 0.0
    if mean.weight_by is None:
        return 1.0
    labels: Sequence[str] = facets.get(mean.weight_by, [])
    if within is not None and within.facet == mean.weight_by:
        labels = [label for label in labels if label == within.name]
    if not labels:
        return 1.0  # a question without any label still counts, once
    return fsum(mean.weights.get(label, 1.0) for label in labels)


def _ratio(columns: ItemColumns, mean: Mean, within: Label | None = None) -> ratios.Ratio:
    """Return the weighted mean of a column as a ratio of sums."""
    scores = columns.scores.get(mean.column)
    if scores is None:
        return _empty_ratio(mean.scale)
    if mean.weight_by is None:
        takes_part = None
        if within is not None:
            takes_part = columns.having(within)
        return plain_ratio(mean, scores, takes_part)
    weights_of_sets = [_weight(facets, mean, within) for facets in columns.label_sets]
    weights = np.where(np.isnan(scores), 0.0, np.array(weights_of_sets)[columns.label_places])
    numerators = np.where(weights, weights * (scores - mean.lowest), 0.0)
    return ratios.Ratio(numerators, weights, mean.scale)


def _empty_ratio(scale: float) -> ratios.Ratio:
    """Return a ratio in which no item takes part."""
    return ratios.Ratio(np.empty(0), np.empty(0), scale, np.empty(0, dtype=np.intp))


def plain_ratio(mean: Mean, scores: Array, takes_part: Mask | None = None) -> ratios.Ratio:
    """Return the unweighted mean of scores that are not NaN.

    Args:
        mean: The mean.
        scores: One per item.
        takes_part: True for each item that may take part. None for all.
    """
    counts = ~np.isnan(scores)
    if takes_part is not None:
        counts &= takes_part
    items: Places | None = None
    if not np.logical_and.reduce(counts):
        items = np.flatnonzero(counts)
        scores = scores[items]
    numerators = scores
    if mean.lowest:
        numerators = scores - mean.lowest
    return ratios.Ratio(numerators, _ONES[: len(numerators)], mean.scale, items)


def group_score(items: Sequence[tuple[str, str, float]]) -> float:
    """Return a group's score, 0 to 1.

    `quadratic` and `chain` are the rules of Video-MME-v2's evaluator (`cal_relevance`,
    `cal_logic`). `all`: 1 where every item is right. `quadratic`: the square of the mean. `chain`:
    an item of level d is worth 2d - 1. A level counts item by item, and the next one only where all
    of it is right. `gate` is the rule of RTV-Bench's `compute_score.py`: the mean of the items of
    the last level where all others are right, else 0.

    Args:
        items: For each item the rule, its level (1 the first) and its score, 0 to 1.
    """
    rule, _, _ = items[0]
    scores = [item_score for _, _, item_score in items]
    if rule == "all":
        return float(min(scores) >= 1)
    if rule == "quadratic":
        return (sum(scores) / len(scores)) ** 2
    if rule == "gate":
        return _gate_score(items)
    worths = [2 * int(level) - 1 for _, level, _ in items]
    last_counted = max(worths)
    for worth, item_score in zip(worths, scores, strict=True):
        if item_score < 1:
            last_counted = min(last_counted, worth)
    gains: list[float] = []
    for worth, item_score in zip(worths, scores, strict=True):
        if worth <= last_counted:
            gains.append(worth * item_score)
    return sum(gains) / sum(worths)


def _gate_score(items: Sequence[tuple[str, str, float]]) -> float:
    """Return the mean of the last level, or 0 where an earlier item is wrong."""
    last_level = max(int(level) for _, level, _ in items)
    gated_scores: list[float] = []
    for _, level, item_score in items:
        if int(level) == last_level:
            gated_scores.append(item_score)
        elif item_score < 1:
            return 0.0
    return sum(gated_scores) / len(gated_scores)


def _group_weight(items: Sequence[tuple[str, str, float]]) -> float:
    """Return a group's weight. That of a gate is the number of its last items."""
    rule, _, _ = items[0]
    if rule != "gate":
        return 1.0
    levels = [int(level) for _, level, _ in items]
    return float(levels.count(max(levels)))


def _grouped(columns: ItemColumns, how: Grouped, within: Label | None) -> ratios.Ratio:
    """Return the mean of group scores as a ratio of sums.

    A group's score is at its first item. A group with an item that has no score takes no part.
    """
    scores = columns.scores.get(how.column)
    if scores is None:
        return _empty_ratio(how.scale)
    label_places: list[int] = columns.label_places.tolist()
    groups: dict[str, list[int]] = {}
    for place, label_place in enumerate(label_places):
        facet = columns.label_sets[label_place].get(GROUP.name)
        if facet:
            group_name = facet[0]
            groups.setdefault(group_name, []).append(place)
    has_score = ~np.isnan(scores)
    if within is not None:
        has_score &= columns.having(within)
    numerators = np.zeros(len(columns))
    weights = np.zeros(len(columns))
    for places in groups.values():
        if not has_score[places].all():
            continue
        items: list[tuple[str, str, float]] = []
        for place in places:
            _, rule, level = columns.label_sets[label_places[place]][GROUP.name]
            items.append((rule, level, float(scores[place])))
        weight = _group_weight(items)
        numerators[places[0]] = weight * group_score(items)
        weights[places[0]] = weight
    return ratios.Ratio(numerators, weights, how.scale)


def _ratios_by_label(
    columns: ItemColumns, mean: Mean, facet: str, outer: Label | None = None
) -> list[ratios.Ratio]:
    """Return the plain mean of each label's items, where any has a score.

    Only items with the outer label take part.
    """
    scores = columns.scores.get(mean.column)
    if scores is None:
        return []
    label_ratios: list[ratios.Ratio] = []
    for name in columns.labels(facet, outer):
        takes_part = columns.having(Label(facet, name))
        if outer is not None:
            takes_part &= columns.having(outer)
        ratio = plain_ratio(mean, scores, takes_part)
        if ratio.n:
            label_ratios.append(ratio)
    return label_ratios


def _macro_ratios(columns: ItemColumns, how: Macro) -> list[ratios.Ratio]:
    """Return the ratios whose plain mean is the mean over labels.

    Within labels, each ratio's scale holds its share, so that every outer label counts alike.
    """
    mean = Mean(column=how.column, scale=how.scale, lowest=how.lowest)
    if how.within is None:
        return _ratios_by_label(columns, mean, how.facet)
    ratios_by_outer_label: list[list[ratios.Ratio]] = []
    for name in columns.labels(how.facet):
        outer_label = Label(how.facet, name)
        inner_ratios = _ratios_by_label(columns, mean, how.within, outer_label)
        if inner_ratios:
            ratios_by_outer_label.append(inner_ratios)
    number_of_ratios = sum(map(len, ratios_by_outer_label))
    shared_ratios: list[ratios.Ratio] = []
    for inner_ratios in ratios_by_outer_label:
        ratios_of_equal_shares = len(ratios_by_outer_label) * len(inner_ratios)
        scale = how.scale * number_of_ratios / ratios_of_equal_shares
        shared_ratios += [replace(ratio, scale=scale) for ratio in inner_ratios]
    return shared_ratios


def note_on_labels(spec: BenchmarkSpec, columns: ItemColumns) -> str | None:
    """Return a line on labels that the headline, a mean over labels, is without.

    None where each label has an answer with a score, or where none has.
    """
    how = spec.primary.aggregate
    if not isinstance(how, Macro):
        return None
    scored_sets: set[int] = set()
    scores = columns.scores.get(how.column)
    if scores is not None:
        scored_sets.update(columns.label_places[~np.isnan(scores)].tolist())
    has_score: dict[str, bool] = {}
    for place, facets in enumerate(columns.label_sets):
        for name in _names_in_mean(facets, how):
            has_score[name] = has_score.get(name, False) or place in scored_sets
    lacking = sorted(name for name, is_scored in has_score.items() if not is_scored)
    if not lacking or len(lacking) == len(has_score):
        return None
    counted = len(has_score) - len(lacking)
    return (
        f"{spec.primary.name} is over {counted} of {len(has_score)} labels of "
        f"{how.within or how.facet}: no scored answer in {first_of(lacking)}"
    )


def _names_in_mean(facets: Facets, how: Macro) -> list[str]:
    """Return the labels, or pairs of labels, of an item in a mean over them."""
    outer = facets.get(how.facet, ())
    if how.within is None:
        return list(outer)
    names: list[str] = []
    for name in outer:
        names += [f"{name} / {inner}" for inner in facets.get(how.within, ())]
    return names


def _ratios(
    spec: BenchmarkSpec, metric: Metric, columns: ItemColumns, within: Label | None = None
) -> list[ratios.Ratio]:
    """Return the ratios whose mean is a metric."""
    how = metric.aggregate
    if isinstance(how, Mean):
        return [_ratio(columns, how, within)]
    if isinstance(how, Grouped):
        return [_grouped(columns, how, within)]
    if isinstance(how, Macro):
        return _macro_ratios(columns, how)
    metric_ratios: list[ratios.Ratio] = []
    if isinstance(how, MeanOf):
        for name in how.metrics:
            metric_ratios += _ratios(spec, spec.metric(name), columns, within)
        return metric_ratios
    raise TypeError(f"{metric.name}: {how.how} is not made of per-item scores")


def _mean(
    spec: BenchmarkSpec,
    metric: Metric,
    columns: ItemColumns,
    runs: Sequence[ItemColumns] = (),
    within: Label | None = None,
) -> ratios.MeanOfRatios:
    """Return a metric as a mean of ratios, with its value in each run."""
    run_values: list[float] = []
    for run in runs:
        value = ratios.MeanOfRatios(_ratios(spec, metric, run, within)).value
        if value is not None:
            run_values.append(value)
    return ratios.MeanOfRatios(
        _ratios(spec, metric, columns, within),
        run_values,
        metric.interval_bounds,
        counts_complete=isinstance(metric.aggregate, MeanOf),
    )


class _Columns(NamedTuple):
    """The columns of samples in the order of their ids, and of each run."""

    items: ItemColumns
    runs: Sequence[ItemColumns]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "_Columns":
        """Return the columns of samples that are in the order of their ids."""
        return cls(ItemColumns.of(samples), list(map(ItemColumns.of, each_run(samples))))


def metric_value(spec: BenchmarkSpec, metric: Metric, samples: Sequence[Sample]) -> float | None:
    """Return one metric's value without its interval, as lmms-eval's table shows it."""
    if isinstance(metric.aggregate, Corpus):
        return _overlap(samples, [metric])[metric.name].value
    return _mean(spec, metric, ItemColumns.of(_by_id(samples))).value


def score_of(spec: BenchmarkSpec, sample: Sample) -> float | None:
    """Return the primary metric of one item. None where it has no score."""
    if not sample.scores:
        return None
    if isinstance(spec.primary.aggregate, Corpus):
        return metric_value(spec, spec.primary, [sample])
    return _mean(spec, spec.primary, ItemColumns.of([sample])).value


def metric_with_interval(
    spec: BenchmarkSpec,
    metric: Metric,
    samples: Iterable[Sample],
    *,
    interval: intervals.Method = intervals.METHOD,
) -> MetricValue:
    """Return one metric that is made of per-item scores, with its interval."""
    columns, runs = _Columns.of(_by_id(samples))
    mean = _mean(spec, metric, columns, runs)
    means = {metric.name: mean.summed(columns.clusters)}
    return _with_intervals(means, interval)[metric.name]


def resampled(spec: BenchmarkSpec, metric: Metric, samples: Sequence[Sample]) -> ratios.Resampled:
    """Resample one metric over videos.

    Equal ids and videos give equal resamples, so the draws of two models are paired.
    """
    columns, runs = _Columns.of(_by_id(samples))
    return ratios.resampled(_mean(spec, metric, columns, runs), columns.clusters)


class _Cell(NamedTuple):
    """A metric over all samples, or over those with a label."""

    metric: str
    label: Label | None = None


def aggregate(
    spec: BenchmarkSpec,
    samples: Iterable[Sample],
    *,
    overlap: bool = True,
    interval: intervals.Method = intervals.METHOD,
    bar: Bar = no_bar,
    before_intervals: Callable[[Numbers], None] | None = None,
) -> Numbers:
    """Compute every metric and breakdown from samples, independent of their order.

    A metric that the samples can't support (answers only, windows only) is absent. A judged metric
    without any judged sample has the value None.

    Args:
        spec: The benchmark.
        samples: The samples.
        overlap: Whether text overlap is computed.
        interval: The method of the intervals, which are of a bootstrap over videos
            (`stats.intervals`).
        bar: Shows the progress of text overlap.
        before_intervals: Called with the numbers before intervals and text overlap are computed,
            which take the time. It may raise.
    """
    samples = _by_id(samples)
    overlaps = _corpus_values(spec, samples, overlap=overlap, bar=bar)
    return _numbers_of(spec, _Columns.of(samples), overlaps, interval, before_intervals)


def aggregate_columns(
    spec: BenchmarkSpec, columns: ItemColumns, *, interval: intervals.Method = intervals.METHOD
) -> Numbers:
    """Compute what `aggregate` does without text overlap, from columns in the order of ids."""
    return _numbers_of(spec, _Columns(columns, ()), dict, interval)


def _corpus_values(
    spec: BenchmarkSpec, samples: Iterable[Sample], *, overlap: bool, bar: Bar
) -> Callable[[], Metrics]:
    """Return a function that computes the metrics of all texts at once.

    Without overlap there are none.
    """
    metrics = [metric for metric in spec.metrics if isinstance(metric.aggregate, Corpus)]
    if not overlap or not metrics:
        return dict
    return partial(_overlap, samples, metrics, bar)


def _numbers_of(
    spec: BenchmarkSpec,
    columns: "_Columns",
    overlaps: Callable[[], Metrics],
    interval: intervals.Method,
    before_intervals: Callable[[Numbers], None] | None = None,
) -> Numbers:
    """Return every metric and breakdown; for the arguments see `aggregate`."""
    means = _means(spec, columns)
    if before_intervals is not None:
        before_intervals(_numbers(spec, _without_intervals(means), {}))
    corpus_metrics = overlaps()
    # One call for all, so that all have the same resamples.
    return _numbers(spec, _with_intervals(means, interval), corpus_metrics)


def _numbers(
    spec: BenchmarkSpec, values: Mapping[_Cell, MetricValue], overlaps: Metrics
) -> Numbers:
    """Return values as metrics, in the order of the benchmark, and breakdowns."""
    metrics: Metrics = {}
    for metric in spec.metrics:
        if isinstance(metric.aggregate, Corpus):
            if metric.name in overlaps:
                metrics[metric.name] = overlaps[metric.name]
            continue
        value = values[_Cell(metric.name)]
        if value.n or metric.judged:
            metrics[metric.name] = value
    breakdowns: Breakdowns = {}
    for cell, value in values.items():
        if cell.label is not None and value.n:
            facet_values = breakdowns.setdefault(cell.label.facet, {})
            facet_values.setdefault(cell.label.name, {})[cell.metric] = value
    return Numbers(metrics, breakdowns)


def _without_intervals(means: Mapping[_Cell, ratios.SummedMean]) -> dict[_Cell, MetricValue]:
    values: dict[_Cell, MetricValue] = {}
    for cell, mean in means.items():
        if mean.value is None:
            values[cell] = MetricValue(value=None, ci95=None, n=0)
        else:
            values[cell] = MetricValue(value=mean.value, ci95=None, n=mean.n)
    return values


def _means(spec: BenchmarkSpec, columns: _Columns) -> dict[_Cell, ratios.SummedMean]:
    """Return all metrics but those of a corpus, over all items and over each label's."""
    items, runs = columns
    means: dict[_Cell, ratios.SummedMean] = {}
    for metric in spec.metrics:
        if not isinstance(metric.aggregate, Corpus):
            mean = _mean(spec, metric, items, runs)
            means[_Cell(metric.name)] = mean.summed(items.clusters)
    broken_down = _broken_down(spec)
    for facet in cognitive_profile.facets(spec):
        for name in items.labels(facet.name):
            label = Label(facet.name, name)
            for metric in facet.metrics or broken_down:
                mean = _mean(spec, metric, items, runs, label)
                means[_Cell(metric.name, label)] = mean.summed(items.clusters)
    return means


def _broken_down(spec: BenchmarkSpec) -> list[Metric]:
    """Return the metrics that are broken down by each facet that names none."""
    return [
        metric
        for metric in spec.metrics
        if metric.in_breakdowns and isinstance(metric.aggregate, Mean | MeanOf)
    ]


def value_count(spec: BenchmarkSpec, samples: Sequence[Sample]) -> int:
    """Return the number of values that `aggregate` computes: metrics, and these by label."""
    broken_down = _broken_down(spec)
    columns = ItemColumns.of(samples)
    number = len(spec.metrics)
    for facet in cognitive_profile.facets(spec):
        metrics = facet.metrics or broken_down
        number += len(metrics) * len(columns.labels(facet.name))
    return number


def _with_intervals(
    means: Mapping[KeyT, ratios.SummedMean], method: intervals.Method
) -> dict[KeyT, MetricValue]:
    values: dict[KeyT, MetricValue] = {}
    for key, estimate in ratios.with_intervals(means, method).items():
        n = 0
        if estimate.value is not None:
            n = means[key].n
        values[key] = MetricValue(value=estimate.value, ci95=estimate.ci95, n=n)
    return values


def _by_id(samples: Iterable[Sample]) -> list[Sample]:
    # Sorted, so that sums, resamples and overlap caches do not depend on the order in which ranks
    # were gathered.
    return sorted(samples, key=lambda sample: sample.id)


# --- text overlap

LONGEST_OVERLAP = 10_000
"""Characters of an answer that text overlap reads.

METEOR runs out of memory somewhere behind 30,000 characters of a loop.
"""


def is_too_long(sample: Sample) -> bool:
    """Return True for an answer of which text overlap reads the end alone."""
    return sample.reason not in UNANSWERED and len(sample.text) > LONGEST_OVERLAP


def _overlap(samples: Iterable[Sample], metrics: Sequence[Metric], bar: Bar = no_bar) -> Metrics:
    """Return metrics of a corpus, over samples with an answer and a reference."""
    scorers: dict[str, Literal["bleu4", "cider", "meteor"]] = {}
    for metric in metrics:
        if isinstance(metric.aggregate, Corpus):
            scorers[metric.name] = metric.aggregate.scorer
    texts: dict[str, str] = {}
    references: dict[str, str] = {}
    for sample in samples:
        reference = sample.target.get("text")
        if sample.reason not in UNANSWERED and isinstance(reference, str):
            texts[sample.id] = _end_of(sample.text)
            references[sample.id] = reference
    if not texts:
        return {name: MetricValue(value=None, ci95=None, n=0) for name in scorers}
    from reelbench.scoring import text_overlap

    with bar(", ".join(metric.title for metric in metrics), None):  # Java takes its seconds
        texts = dict(sorted(texts.items()))
        values = text_overlap.compute_score(references, texts, tuple(scorers.values()))
    overlaps: Metrics = {}
    for name, scorer in scorers.items():
        overlaps[name] = MetricValue(value=values[scorer], ci95=None, n=len(texts))
    return overlaps


def _end_of(text: str) -> str:
    """Return the end of an answer that is too long, from a whole word on.

    Without it, an answer that rambles would lift the score of all other answers.
    """
    if len(text) <= LONGEST_OVERLAP:
        return text
    end = text[-LONGEST_OVERLAP:]
    _, _, from_whole_word = end.partition(" ")
    return from_whole_word or end
