"""From answered items to a result's numbers: the one way that every benchmark is scored.

`score` gives each item its per-item columns (by kind), its state, and the metrics, breakdowns and counts over all of
them. `aggregate` alone recomputes the numbers from samples on disk. Both are pure: nothing is read, nothing is run,
except that overlap metrics start Java on a cache miss and a judge may be asked.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import Literal

import numpy as np
from pydantic import Field

from reelbench.judges.verdicts import Judged, Verdict, is_judged
from reelbench.registry.progress import Bar, no_bar
from reelbench.registry.reasons import NO_ANSWER, OF_JUDGE, UNANSWERED, Reason
from reelbench.registry.records import Breakdowns, Counts, Item, JudgeRecord, Metrics, MetricValue, Sample
from reelbench.registry.rows import GROUP
from reelbench.registry.spec import BenchmarkSpec, Corpus, Grouped, Macro, Mean, MeanOf, Metric
from reelbench.scoring import choice, cognitive_profile, exact_match, temporal_span
from reelbench.stats import intervals


def reason_before_judging(sample: Sample) -> Reason | None:
    """Return a sample's reason from before any judge was asked; None where its answer could be scored."""
    return sample.reason if sample.reason in UNANSWERED else None


def reasons(spec: BenchmarkSpec, *, hidden: bool) -> frozenset[Reason]:
    """Return every reason for which an item can be unscored; `hidden` says whether the split's answers are hidden."""
    unanswered = UNANSWERED if hidden else UNANSWERED - {Reason.ANSWERS_HIDDEN}
    return unanswered | OF_JUDGE if spec.judge is not None else unanswered


MIN_CLUSTERS_PER_PART = 5
"""Videos that each label of a mean over labels must have: with 2 in each, 95 % cover 88 (`perf/coverage.py`)."""

FAILURE_MARKERS = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED]", "Failed to obtain answer")
"""What lmms-eval's adapters, and VLMEvalKit's, write in place of an answer when a request failed."""

_COLUMNS: dict[str, Callable[[Item], dict[str, float]]] = {
    "temporal_span": temporal_span.columns,
    "moment": temporal_span.moment_columns,
    "choice": choice.columns,
    "exact_match": exact_match.columns,
    "any_choice": choice.any_columns,
    "all_choices": choice.columns,
    "mixed": lambda item: exact_match.mixed(item) if "text" in item.target else choice.columns(item),
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
    runs = max((len(sample.of_runs) for sample in samples if isinstance(sample, SampleOfRuns)), default=0)

    def of(sample: Sample, run: int) -> Sample:
        own = sample.of_runs[run] if isinstance(sample, SampleOfRuns) else {}
        return sample.model_copy(update={"scores": {c: own.get(c, score) for c, score in sample.scores.items()}})

    return [[of(sample, run) for sample in samples] for run in range(runs)]


@dataclass(frozen=True, slots=True)
class ScoredItems:
    """The result of scoring; `samples` are in the order of the items."""

    samples: list[Sample]
    metrics: Metrics
    breakdowns: Breakdowns
    counts: Counts
    judge: JudgeRecord | None


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
    spec: BenchmarkSpec, item: Item, verdict: Verdict | None = None, columns: dict[str, float] | None = None
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
    metrics, breakdowns = aggregate(spec, samples, overlap=overlap, bar=bar)
    return ScoredItems(samples, metrics, breakdowns, count(samples, **beside), record)


def count(samples: Iterable[Sample], **beside: int) -> Counts:
    """Count scored and unscored items; `beside` are further counts for `Counts`."""
    samples = list(samples)
    reasons = Counter(sample.reason or "unknown" for sample in samples if sample.state == "unscored")
    flags = Counter(flag for sample in samples for flag in sample.flags)
    return Counts(
        items=len(samples),
        scored=sum(sample.state == "scored" for sample in samples),
        unscored=dict(sorted(reasons.items())),
        parse_failed=flags["parse_failed"],
        empty=flags["empty"],
        media_missing=reasons[Reason.MEDIA_MISSING],
        missing=reasons[Reason.PREDICTION_MISSING],
        **beside,
    )


def answered(counts: Counts) -> int:
    """Count the items that have an answer, scored or not."""
    return counts.items - sum(number for reason, number in counts.unscored.items() if reason in NO_ANSWER)


# --- numbers from samples -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Term:
    """A ratio of sums: numerator and denominator per item (zero where the item does not take part)."""

    numerators: "array[float]"
    weights: "array[float]"
    scale: float

    @property
    def n(self) -> int:
        return sum(weight > 0 for weight in self.weights)


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


def _term(samples: Sequence[Sample], how: Mean, within: tuple[str, str] | None = None) -> _Term:
    weights = array("d", (_weight(sample, how, within) if how.column in sample.scores else 0.0 for sample in samples))
    numerators = array(
        "d",
        (
            weight * sample.scores[how.column] if weight else 0.0
            for sample, weight in zip(samples, weights, strict=True)
        ),
    )
    return _Term(numerators, weights, how.scale)


def group_score(items: Sequence[tuple[str, str, float]]) -> float:
    """Return a group's score, 0 to 1, of its items: each the rule, its level (1 the first), its score, 0 to 1.

    `quadratic` and `chain` are the rules of Video-MME-v2's evaluator (`cal_relevance`, `cal_logic`).
    `all`: 1 where every item is right. `quadratic`: the square of the mean. `chain`: an item of level d is worth
    2d - 1; a level counts item by item, and the next one only where all of it is right.
    """
    rule = items[0][0]
    scores = [score for *_, score in items]
    if rule == "all":
        return float(min(scores) >= 1)
    if rule == "quadratic":
        return (sum(scores) / len(scores)) ** 2
    worth = [2 * int(level) - 1 for _, level, _ in items]
    broken = min((weight for weight, score in zip(worth, scores, strict=True) if score < 1), default=max(worth))
    counted = (weight * score for weight, score in zip(worth, scores, strict=True) if weight <= broken)
    return sum(counted) / sum(worth)


def _grouped(samples: Sequence[Sample], how: Grouped, within: tuple[str, str] | None) -> _Term:
    """Return each group's score, at its first item; one with an item that has no score takes no part."""
    members: dict[str, list[int]] = {}
    for at, sample in enumerate(samples):
        if named := sample.facets.get(GROUP.name):
            members.setdefault(named[0], []).append(at)
    values, weights = (array("d", bytes(8 * len(samples))) for _ in range(2))
    for places in members.values():
        items = [samples[at] for at in places]
        if all(
            how.column in item.scores and (within is None or _weight(item, Mean(column=""), within)) for item in items
        ):
            named = ((item.facets[GROUP.name], item.scores[how.column]) for item in items)
            scored = [(rule, level, score) for (_, rule, level), score in named]
            values[places[0]], weights[places[0]] = group_score(scored), 1.0
    return _Term(values, weights, how.scale)


def _labels(samples: Iterable[Sample], facet: str) -> list[str]:
    return sorted({label for sample in samples for label in sample.facets.get(facet, ())})


def _terms(
    spec: BenchmarkSpec, metric: Metric, samples: Sequence[Sample], within: tuple[str, str] | None = None
) -> list[_Term]:
    how = metric.aggregate
    if isinstance(how, Mean):
        return [_term(samples, how, within)]
    if isinstance(how, MeanOf):
        return [term for name in how.metrics for term in _terms(spec, spec.metric(name), samples, within)]
    if isinstance(how, Grouped):
        return [_grouped(samples, how, within)]
    if isinstance(how, Macro):
        mean = Mean(column=how.column, scale=how.scale)
        terms = (_term(samples, mean, (how.facet, label)) for label in _labels(samples, how.facet))
        return [term for term in terms if term.n]
    raise TypeError(f"{metric.name}: {how.how} is not made of per-item scores")


def _value(terms: Sequence[_Term]) -> float | None:
    """Return the mean of the terms' ratios; None unless every term has an item."""
    if not terms or not all(term.n for term in terms):
        return None
    return fsum(term.scale * fsum(term.numerators) / fsum(term.weights) for term in terms) / len(terms)


def _n(terms: Sequence[_Term]) -> int:
    taking_part = (any(column) for column in zip(*(term.weights for term in terms), strict=True))
    return sum(taking_part)


def metric_value(spec: BenchmarkSpec, metric: Metric, samples: Sequence[Sample]) -> float | None:
    """Return one metric's value without its interval: what lmms-eval's table shows."""
    if isinstance(metric.aggregate, Corpus):
        return _overlap(samples, [metric])[metric.name].value
    return _value(_terms(spec, metric, _by_id(samples)))


def score_of(spec: BenchmarkSpec, sample: Sample) -> float | None:
    """Return the primary metric of one item, in its unit; None where it has no score."""
    return metric_value(spec, spec.primary, [sample]) if sample.scores else None


def metric_with_interval(
    spec: BenchmarkSpec, metric: Metric, samples: Iterable[Sample], *, interval: intervals.Method = intervals.METHOD
) -> MetricValue:
    """Return one metric that is made of per-item scores, with its interval."""
    samples = _by_id(samples)
    wanted = {(metric.name,): _part(spec, metric, samples, each_run(samples))}
    return _with_intervals(wanted, [sample.video for sample in samples], interval)[metric.name,]


def run_values(spec: BenchmarkSpec, metric: Metric, runs: Sequence[Sequence[Sample]]) -> list[float]:
    """Return the metric of each of several runs (`each_run`), on the items that have it in all."""
    values = [metric_value(spec, metric, run) for run in runs]
    return [value for value in values if value is not None]


@dataclass(frozen=True, slots=True)
class Resampled:
    """A metric's value, its value in every resample (None from one video alone), and the items and videos behind it.

    `runs` has the value of each of several runs; it is empty of one.
    """

    value: float | None
    draws: np.ndarray | None
    n: int
    videos: int
    runs: Sequence[float] = ()

    def minus(self, other: "Resampled") -> tuple[float | None, np.ndarray | None]:
        """Return the difference of another's value on the same items, and of each resample; None where one has none."""
        value = None if self.value is None or other.value is None else self.value - other.value
        return value, None if self.draws is None or other.draws is None else self.draws - other.draws

    def test(self, other: "Resampled") -> intervals.PairedTest | None:
        """Test it against another's on the same items; None where one has no value, or on too few videos."""
        value, draws = self.minus(other)
        if value is None or draws is None:
            return None
        return intervals.paired_test(value, draws, self.videos, self.runs, other.runs)


def resampled(spec: BenchmarkSpec, metric: Metric, samples: Sequence[Sample]) -> Resampled:
    """Resample one metric over videos; equal ids and videos give equal resamples, so two models' draws are paired."""
    samples = _by_id(samples)
    wanted = _terms(spec, metric, samples)
    terms = [term for term in wanted if term.n]
    videos = [sample.video for sample in samples]
    draws = _draws(terms, videos)
    return Resampled(
        value=_value(wanted),
        draws=_mean_draw(draws),
        n=_n(terms),
        videos=len(_videos(terms, videos)),
        runs=run_values(spec, metric, each_run(samples)),
    )


def aggregate(
    spec: BenchmarkSpec,
    samples: Iterable[Sample],
    *,
    overlap: bool = True,
    interval: intervals.Method = intervals.METHOD,
    bar: Bar = no_bar,
) -> tuple[Metrics, Breakdowns]:
    """Compute every metric and breakdown of `spec` from samples, independent of their order.

    A metric that the samples can't support (answers only, windows only) is absent; a judged metric that nobody judged
    has the value None. Intervals are of a bootstrap over videos, by the method `interval` (`stats.intervals`).
    """
    samples = _by_id(samples)
    wanted: dict[tuple[str, ...], _Part] = {}
    runs = each_run(samples)
    broken_down = [m for m in spec.metrics if m.in_breakdowns and isinstance(m.aggregate, Mean | MeanOf)]
    for metric in spec.metrics:
        if not isinstance(metric.aggregate, Corpus):
            wanted[(metric.name,)] = _part(spec, metric, samples, runs)
    for facet in cognitive_profile.facets(spec):
        for label in _labels(samples, facet.name):
            for metric in facet.metrics or broken_down:
                wanted[(facet.name, label, metric.name)] = _part(spec, metric, samples, runs, (facet.name, label))
    values = _with_intervals(wanted, [sample.video for sample in samples], interval)

    metrics: Metrics = {}
    corpus = [metric for metric in spec.metrics if isinstance(metric.aggregate, Corpus)]
    overlaps = _overlap(samples, corpus, bar) if overlap and corpus else {}
    for metric in spec.metrics:
        if isinstance(metric.aggregate, Corpus):
            if metric.name in overlaps:
                metrics[metric.name] = overlaps[metric.name]
        elif (value := values[(metric.name,)]).n or metric.judged:
            metrics[metric.name] = value
    breakdowns: Breakdowns = {}
    for (facet, label, name), value in ((key, value) for key, value in values.items() if len(key) > 1):
        if value.n:
            breakdowns.setdefault(facet, {}).setdefault(label, {})[name] = value
    return metrics, breakdowns


def _videos(terms: Sequence[_Term], videos: Sequence[str]) -> set[str]:
    """The videos of the items that take part in any of the terms."""
    return {video for term in terms for video, weight in zip(videos, term.weights, strict=True) if weight}


def _by_id(samples: Iterable[Sample]) -> list[Sample]:
    # Sorted, so that sums, resamples and overlap caches do not depend on the order in which ranks were gathered.
    return sorted(samples, key=lambda sample: sample.id)


@dataclass(frozen=True, slots=True)
class _Part:
    """A number to come: of which metric, what it is made of, and its value in each of several runs."""

    metric: Metric
    terms: list[_Term]
    runs: Sequence[float]


def _part(
    spec: BenchmarkSpec,
    metric: Metric,
    samples: Sequence[Sample],
    runs: Sequence[Sequence[Sample]],
    within: tuple[str, str] | None = None,
) -> _Part:
    of_runs = [_value(_terms(spec, metric, run, within)) for run in runs]
    return _Part(metric, _terms(spec, metric, samples, within), [value for value in of_runs if value is not None])


def _with_intervals(
    wanted: dict[tuple[str, ...], _Part], clusters: Sequence[str], method: intervals.Method
) -> dict[tuple[str, ...], MetricValue]:
    """Return each number by where it stands: metric; or facet, label, metric."""
    draws = iter(_draws([term for part in wanted.values() for term in part.terms if term.n], clusters))
    values: dict[tuple[str, ...], MetricValue] = {}
    for key, part in wanted.items():
        mine = [next(draws) for term in part.terms if term.n]
        value = _value(part.terms)
        if value is None:
            values[key] = MetricValue(value=None, ci95=None, n=0)
            continue
        draw, videos, ci95 = _mean_draw(mine), [_videos([term], clusters) for term in part.terms], None
        few = method != "percentile" and len(videos) > 1 and min(map(len, videos)) < MIN_CLUSTERS_PER_PART
        if draw is not None and not few:
            number, bounds = len(set[str]().union(*videos)), (part.metric.low, part.metric.high)
            ci95 = intervals.confidence_interval(value, draw, number, bounds=bounds, method=method, runs=part.runs)
        values[key] = MetricValue(value=value, ci95=ci95, n=_n(part.terms))
    return values


def _mean_draw(draws: Sequence[np.ndarray | None]) -> np.ndarray | None:
    known = [draw for draw in draws if draw is not None]
    return np.mean(known, axis=0) if known and len(known) == len(draws) else None


def _draws(terms: Sequence[_Term], clusters: Sequence[str]) -> list[np.ndarray | None]:
    """Each term's ratio in every resample; None for a term whose items lie in fewer than two clusters."""
    if not terms:
        return []
    sums = intervals.sums_by_cluster((row for term in terms for row in (term.numerators, term.weights)), clusters)
    blocks = np.concatenate(list(intervals.resampled_sums(sums)))
    draws: list[np.ndarray | None] = []
    for i, term in enumerate(terms):
        if np.count_nonzero(sums[:, 2 * i + 1]) < 2:  # noqa: PLR2004 - one cluster can't be resampled
            draws.append(None)
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            draws.append(term.scale * blocks[:, 2 * i] / blocks[:, 2 * i + 1])
    return draws


LONGEST_OVERLAP = 10_000
"""Characters of an answer that text overlap reads: METEOR's memory ends somewhere behind 30,000 of a loop."""


def too_long(samples: Iterable[Sample]) -> int:
    """Return of how many answers text overlap reads the end alone, because they are too long for METEOR."""
    return sum(sample.reason not in UNANSWERED and len(sample.text) > LONGEST_OVERLAP for sample in samples)


def _end(text: str) -> str:
    """Return an answer as text overlap reads it: left out, one that rambles would lift the score of the others."""
    if len(text) <= LONGEST_OVERLAP:
        return text
    end = text[-LONGEST_OVERLAP:]
    return end.partition(" ")[2] or end


def _overlap(samples: Sequence[Sample], metrics: Sequence[Metric], bar: Bar = no_bar) -> Metrics:
    answered = [
        sample
        for sample in _by_id(samples)
        if sample.reason not in UNANSWERED and isinstance(sample.target.get("text"), str)
    ]
    scorers: dict[str, Literal["bleu4", "cider", "meteor"]] = {
        metric.name: metric.aggregate.scorer for metric in metrics if isinstance(metric.aggregate, Corpus)
    }
    if not answered:
        return {name: MetricValue(value=None, ci95=None, n=0) for name in scorers}
    from reelbench.scoring import text_overlap

    with bar(", ".join(metric.title for metric in metrics), None):  # Java takes its seconds
        values = text_overlap.compute_score(
            {sample.id: sample.target["text"] for sample in answered},
            {sample.id: _end(sample.text) for sample in answered},
            tuple(scorers.values()),
        )
    return {name: MetricValue(value=values[scorer], ci95=None, n=len(answered)) for name, scorer in scorers.items()}
