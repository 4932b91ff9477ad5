"""From answered items to a result's numbers: the one way that every benchmark is scored.

`score` gives each item its per-item columns (by kind), its state, and the metrics, breakdowns and
counts over all of them. `aggregate` alone recomputes the numbers from samples on disk. Both are
pure: nothing is read, nothing is run, except that overlap metrics start Java on a cache miss and a
judge may be asked.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import fsum
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar

from pydantic import Field

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
from reelbench.scoring import choice, cognitive_profile, exact_match, temporal_span
from reelbench.stats import intervals, ratios

KeyT = TypeVar("KeyT")


def reason_before_judging(sample: Sample) -> Reason | None:
    """Return a sample's reason from before any judge was asked; None where its answer could be scored."""
    return sample.reason if sample.reason in UNANSWERED else None


def reasons(spec: BenchmarkSpec, *, hidden: bool) -> frozenset[Reason]:
    """Return every reason for which an item can be unscored; `hidden` says whether the split's answers are hidden."""
    unanswered = UNANSWERED if hidden else UNANSWERED - {Reason.ANSWERS_HIDDEN}
    return unanswered | OF_JUDGE if spec.judge is not None else unanswered


FAILURE_MARKERS = (
    "[LMMS_EVAL_REQUEST_FAILED",
    "[LMMS_EVAL_BUDGET_EXCEEDED]",
    "Failed to obtain answer",
)
"""What lmms-eval's adapters, and VLMEvalKit's, write in place of an answer when a request failed."""

_COLUMNS: dict[str, Callable[[Item], dict[str, float]]] = {
    "temporal_span": temporal_span.columns,
    "moment": temporal_span.moment_columns,
    "choice": choice.columns,
    "exact_match": exact_match.columns,
    "any_choice": partial(choice.columns, any_of=True),
    "all_choices": choice.columns,
    "mixed": lambda item: (
        exact_match.columns(item, "correct") if "text" in item.target else choice.columns(item)
    ),
    "union_spans": temporal_span.union_columns,
    "ranked_spans": temporal_span.ranked_columns,
    "covered": temporal_span.covered_columns,
}
"""Kind of scoring -> an item's columns, for the kinds that score an item by itself."""


class SampleOfRuns(Sample):
    """An item of several runs of one model: `scores` are its means over them, `of_runs` each run's own."""

    of_runs: list[dict[str, float]] = Field(default_factory=list[dict[str, float]])


def each_run(samples: Sequence[Sample]) -> list[list[Sample]]:
    """Return the samples as each of several runs has them, by its number; nothing where they are of one run."""
    runs = max(
        (len(sample.of_runs) for sample in samples if isinstance(sample, SampleOfRuns)), default=0
    )

    def of(sample: Sample, run: int) -> Sample:
        own = sample.of_runs[run] if isinstance(sample, SampleOfRuns) else {}
        return sample.model_copy(
            update={"scores": {c: own.get(c, score) for c, score in sample.scores.items()}}
        )

    return [[of(sample, run) for sample in samples] for run in range(runs)]


class Numbers(NamedTuple):
    """What a result says over its items."""

    metrics: Metrics
    breakdowns: Breakdowns


@dataclass(frozen=True)
class ScoredItems:
    """The result of scoring: samples in the order of the items. Counts and numbers are made of them on first use.

    Attributes:
        beside: Further counts, such as `extra` and `duplicate`.
        overlap: Whether text overlap is computed, which is slow.
        known: Metrics that are known beforehand, and not computed.
    """

    spec: BenchmarkSpec
    samples: Sequence[Sample]
    judge: JudgeRecord | None = None
    beside: Mapping[str, int] = field(default_factory=dict[str, int])
    overlap: bool = True
    bar: Bar = no_bar
    known: Metrics = field(default_factory=dict[str, MetricValue])

    @cached_property
    def counts(self) -> Counts:
        """How many items are scored, and why others aren't."""
        reasons = Counter(
            sample.reason or "unknown" for sample in self.samples if sample.state == "unscored"
        )
        flags = Counter(flag for sample in self.samples for flag in sample.flags)
        return Counts(
            items=len(self.samples),
            scored=sum(sample.state == "scored" for sample in self.samples),
            unscored=dict(sorted(reasons.items())),
            parse_failed=flags["parse_failed"],
            empty=flags["empty"],
            media_missing=reasons[Reason.MEDIA_MISSING],
            missing=reasons[Reason.PREDICTION_MISSING],
            **self.beside,
        )

    @cached_property
    def numbers(self) -> Numbers:
        """Every metric and breakdown."""
        metrics, breakdowns = aggregate(self.spec, self.samples, overlap=self.overlap, bar=self.bar)
        return Numbers(metrics | self.known, breakdowns)


def is_failure(text: str) -> bool:
    """Whether `text` is a marker of a failed request instead of an answer."""
    return text.startswith(FAILURE_MARKERS)


def item_columns(spec: BenchmarkSpec, item: Item) -> dict[str, float]:
    """Return the item's deterministic per-item scores, by column; empty where there is no answer to score."""
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
    """Score one item, with the judge's verdict where there is one; `columns` are its own scores, where they are known.

    These are as `item_columns` gives them, and whoever hands them over has made them.
    """
    reason = item.reason
    scores = item_columns(spec, item) if columns is None or reason in UNANSWERED else columns
    if reason is not None or spec.judge is None or not is_judged(item):
        return item.sample(reason, scores)
    if verdict is None:
        return item.sample(Reason.JUDGE_UNAVAILABLE, scores)
    return item.sample(verdict.reason, scores | verdict.scores, list(verdict.replies))


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
    """Score `items`, on which `judged` has verdicts; `beside` are further counts, such as `extra` and `duplicate`.

    `columns` are the items' own scores, by id, where they are known.
    """
    verdicts, record = judged or (dict[str, Verdict](), None)
    samples = [to_sample(spec, item, verdicts.get(item.id), columns.get(item.id)) for item in items]
    return ScoredItems(spec, samples, record, beside, overlap, bar)


def answered(counts: Counts) -> int:
    """Count the items that have an answer, scored or not."""
    return counts.items - sum(
        number for reason, number in counts.unscored.items() if reason in NO_ANSWER
    )


# --- numbers from samples
# -------------------------------------------------------------------------------------------


def _weight(sample: Sample, how: Mean, within: tuple[str, str] | None) -> float:
    if within is not None and within[1] not in sample.facets.get(within[0], ()):
        return 0.0
    if how.weight_by is None:
        return 1.0
    labels = sample.facets.get(how.weight_by, [])
    if within is not None and within[0] == how.weight_by:
        labels = [label for label in labels if label == within[1]]
    # A question without any label still counts, once.
    return fsum(how.weights.get(label, 1.0) for label in labels) if labels else 1.0


def _ratio(
    samples: Sequence[Sample], how: Mean, within: tuple[str, str] | None = None
) -> ratios.Ratio:
    weights = array(
        "d",
        (
            _weight(sample, how, within) if how.column in sample.scores else 0.0
            for sample in samples
        ),
    )
    numerators = array(
        "d",
        (
            weight * sample.scores[how.column] if weight else 0.0
            for sample, weight in zip(samples, weights, strict=True)
        ),
    )
    return ratios.Ratio(numerators, weights, how.scale)


def group_score(items: Sequence[tuple[str, str, float]]) -> float:
    """Return a group's score, 0 to 1, of its items: each the rule, its level (1 the first), its score, 0 to 1.

    `quadratic` and `chain` are the rules of Video-MME-v2's evaluator (`cal_relevance`,
    `cal_logic`). `all`: 1 where every item is right. `quadratic`: the square of the mean. `chain`:
    an item of level d is worth 2d - 1; a level counts item by item, and the next one only where all
    of it is right.
    """
    rule = items[0][0]
    scores = [score for *_, score in items]
    if rule == "all":
        return float(min(scores) >= 1)
    if rule == "quadratic":
        return (sum(scores) / len(scores)) ** 2
    worth = [2 * int(level) - 1 for _, level, _ in items]
    broken = min(
        (weight for weight, score in zip(worth, scores, strict=True) if score < 1),
        default=max(worth),
    )
    counted = (
        weight * score for weight, score in zip(worth, scores, strict=True) if weight <= broken
    )
    return sum(counted) / sum(worth)


def _grouped(
    samples: Sequence[Sample], how: Grouped, within: tuple[str, str] | None
) -> ratios.Ratio:
    """Return each group's score, at its first item; one with an item that has no score takes no part."""
    members: dict[str, list[int]] = {}
    for at, sample in enumerate(samples):
        if named := sample.facets.get(GROUP.name):
            members.setdefault(named[0], []).append(at)
    values, weights = (array("d", bytes(8 * len(samples))) for _ in range(2))
    for places in members.values():
        items = [samples[at] for at in places]
        if all(
            how.column in item.scores and (within is None or _weight(item, Mean(column=""), within))
            for item in items
        ):
            named = ((item.facets[GROUP.name], item.scores[how.column]) for item in items)
            scored = [(rule, level, score) for (_, rule, level), score in named]
            values[places[0]], weights[places[0]] = group_score(scored), 1.0
    return ratios.Ratio(values, weights, how.scale)


def _labels(samples: Iterable[Sample], facet: str) -> list[str]:
    return sorted({label for sample in samples for label in sample.facets.get(facet, ())})


def _ratios(
    spec: BenchmarkSpec,
    metric: Metric,
    samples: Sequence[Sample],
    within: tuple[str, str] | None = None,
) -> list[ratios.Ratio]:
    how = metric.aggregate
    if isinstance(how, Mean):
        return [_ratio(samples, how, within)]
    if isinstance(how, Grouped):
        return [_grouped(samples, how, within)]
    if isinstance(how, Macro):
        mean = Mean(column=how.column, scale=how.scale)
        of_labels = (
            _ratio(samples, mean, (how.facet, label)) for label in _labels(samples, how.facet)
        )
        return [ratio for ratio in of_labels if ratio.n]
    if isinstance(how, MeanOf):
        return [
            ratio
            for name in how.metrics
            for ratio in _ratios(spec, spec.metric(name), samples, within)
        ]
    raise TypeError(f"{metric.name}: {how.how} is not made of per-item scores")


def _mean(
    spec: BenchmarkSpec,
    metric: Metric,
    samples: Sequence[Sample],
    runs: Sequence[Sequence[Sample]] = (),
    within: tuple[str, str] | None = None,
) -> ratios.MeanOfRatios:
    of_runs = [ratios.MeanOfRatios(_ratios(spec, metric, run, within)).value for run in runs]
    known = [value for value in of_runs if value is not None]
    return ratios.MeanOfRatios(_ratios(spec, metric, samples, within), known, metric.bounds)


def metric_value(spec: BenchmarkSpec, metric: Metric, samples: Sequence[Sample]) -> float | None:
    """Return one metric's value without its interval: what lmms-eval's table shows."""
    if isinstance(metric.aggregate, Corpus):
        return _overlap(samples, [metric])[metric.name].value
    return _mean(spec, metric, _by_id(samples)).value


def score_of(spec: BenchmarkSpec, sample: Sample) -> float | None:
    """Return the primary metric of one item, in its unit; None where it has no score."""
    return metric_value(spec, spec.primary, [sample]) if sample.scores else None


def metric_with_interval(
    spec: BenchmarkSpec,
    metric: Metric,
    samples: Iterable[Sample],
    *,
    interval: intervals.Method = intervals.METHOD,
) -> MetricValue:
    """Return one metric that is made of per-item scores, with its interval."""
    samples = _by_id(samples)
    wanted = {metric.name: _mean(spec, metric, samples, each_run(samples))}
    return _with_intervals(wanted, samples, interval)[metric.name]


def resampled(spec: BenchmarkSpec, metric: Metric, samples: Sequence[Sample]) -> ratios.Resampled:
    """Resample one metric over videos; equal ids and videos give equal resamples, so two models' draws are paired."""
    samples = _by_id(samples)
    mean = _mean(spec, metric, samples, each_run(samples))
    return ratios.resampled(mean, [sample.video for sample in samples])


def aggregate(
    spec: BenchmarkSpec,
    samples: Iterable[Sample],
    *,
    overlap: bool = True,
    interval: intervals.Method = intervals.METHOD,
    bar: Bar = no_bar,
) -> Numbers:
    """Compute every metric and breakdown of `spec` from samples, independent of their order.

    A metric that the samples can't support (answers only, windows only) is absent; a judged metric
    that nobody judged has the value None. Intervals are of a bootstrap over videos, by the method
    `interval` (`stats.intervals`).
    """
    samples = _by_id(samples)
    corpus = [metric for metric in spec.metrics if isinstance(metric.aggregate, Corpus)]
    overlaps = _overlap(samples, corpus, bar) if overlap and corpus else {}
    runs = each_run(samples)
    broken_down = [
        m for m in spec.metrics if m.in_breakdowns and isinstance(m.aggregate, Mean | MeanOf)
    ]
    wanted: dict[tuple[str, ...], ratios.MeanOfRatios] = {
        (metric.name,): _mean(spec, metric, samples, runs)
        for metric in spec.metrics
        if metric not in corpus
    }
    for facet in cognitive_profile.facets(spec):
        for label in _labels(samples, facet.name):
            for metric in facet.metrics or broken_down:
                wanted[(facet.name, label, metric.name)] = _mean(
                    spec, metric, samples, runs, (facet.name, label)
                )
    values = _with_intervals(wanted, samples, interval)

    metrics: Metrics = {}
    for metric in spec.metrics:
        if isinstance(metric.aggregate, Corpus):
            if metric.name in overlaps:
                metrics[metric.name] = overlaps[metric.name]
        elif (value := values[(metric.name,)]).n or metric.judged:
            metrics[metric.name] = value
    breakdowns: Breakdowns = {}
    for (facet, label, name), value in (
        (key, value) for key, value in values.items() if len(key) > 1
    ):
        if value.n:
            breakdowns.setdefault(facet, {}).setdefault(label, {})[name] = value
    return Numbers(metrics, breakdowns)


def _with_intervals(
    wanted: Mapping[KeyT, ratios.MeanOfRatios], samples: Sequence[Sample], method: intervals.Method
) -> dict[KeyT, MetricValue]:
    estimates = ratios.with_intervals(wanted, [sample.video for sample in samples], method)
    return {
        key: MetricValue(
            value=one.value, ci95=one.ci95, n=0 if one.value is None else wanted[key].n
        )
        for key, one in estimates.items()
    }


def _by_id(samples: Iterable[Sample]) -> list[Sample]:
    # Sorted, so that sums, resamples and overlap caches do not depend on the order in which ranks
    # were gathered.
    return sorted(samples, key=lambda sample: sample.id)


LONGEST_OVERLAP = 10_000
"""Characters of an answer that text overlap reads: METEOR's memory ends somewhere behind 30,000 of a loop."""


def too_long(samples: Iterable[Sample]) -> int:
    """Return of how many answers text overlap reads the end alone, because they are too long for METEOR."""
    return sum(
        sample.reason not in UNANSWERED and len(sample.text) > LONGEST_OVERLAP for sample in samples
    )


def _overlap(samples: Sequence[Sample], metrics: Sequence[Metric], bar: Bar = no_bar) -> Metrics:
    answered = [
        sample
        for sample in _by_id(samples)
        if sample.reason not in UNANSWERED and isinstance(sample.target.get("text"), str)
    ]
    scorers: dict[str, Literal["bleu4", "cider", "meteor"]] = {
        metric.name: metric.aggregate.scorer
        for metric in metrics
        if isinstance(metric.aggregate, Corpus)
    }
    if not answered:
        return {name: MetricValue(value=None, ci95=None, n=0) for name in scorers}
    from reelbench.scoring import text_overlap

    # Left out, an answer that rambles would lift the score of the others: its end is read, from a
    # whole word on.
    texts = {sample.id: sample.text for sample in answered}
    ends = {
        name: text[-LONGEST_OVERLAP:] for name, text in texts.items() if len(text) > LONGEST_OVERLAP
    }
    texts |= {name: end.partition(" ")[2] or end for name, end in ends.items()}
    references = {sample.id: sample.target["text"] for sample in answered}
    with bar(", ".join(metric.title for metric in metrics), None):  # Java takes its seconds
        values = text_overlap.compute_score(references, texts, tuple(scorers.values()))
    return {
        name: MetricValue(value=values[scorer], ci95=None, n=len(answered))
        for name, scorer in scorers.items()
    }
