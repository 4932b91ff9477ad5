"""Several runs of one model over the same questions, together.

Each item's scores are its means over the runs. Metrics, breakdowns and tests of such samples know
the runs: `aggregation` finds each run's own value, and `stats.intervals` makes an interval or a
test with both sources of noise, videos and runs.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any, TypeVar

from reelbench.registry.records import JUDGE_SETTINGS, Metrics, MetricValue, Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.scoring.aggregation import SampleOfRuns

METHOD = "wilson over videos and runs (two-way variance, degrees of freedom by Satterthwaite)"

ResultT = TypeVar("ResultT")


def group_repeats(
    results: Iterable[ResultT], record: Callable[[ResultT], Result]
) -> list[list[ResultT]]:
    """Return results with the runs of one model in one setting together.

    Args:
        results: Anything that has a result. One that is not of several runs is alone.
        record: Returns its result.

    Returns:
        The groups in the order of their first members, each in the order of its runs.
    """
    groups: dict[object, list[ResultT]] = {}
    for number, result in enumerate(results):
        key: object = number
        if record(result).settings.run is not None:
            key = _shared_by_runs(record(result))
        groups.setdefault(key, []).append(result)
    for group in groups.values():
        group.sort(key=lambda result: record(result).settings.run or 0)
    return list(groups.values())


def _shared_by_runs(result: Result) -> str:
    """Return as JSON what the runs of one model in one setting share.

    They share data, model, benchmark, settings and judge, but for the run's number and its seed.
    """
    shared = _without_run(result).model_dump(
        mode="json",
        include={
            "data": True,
            "model": True,
            "settings": True,
            "benchmark": True,
            "judge": set(JUDGE_SETTINGS),
        },
        exclude={
            "settings": {"frames_given", "frames_unlike", "audio"},
            "benchmark": {"source"},
            "model": {"about"},
        },
    )
    # Of what people state the setting alone makes it another thing.
    shared["model"]["setting"] = result.model.setting_beyond
    return json.dumps(shared, sort_keys=True)


def _without_run(result: Result) -> Result:
    """Return a result without its run's number and seed, wherever they are recorded."""
    settings = result.settings.model_copy(
        update={
            "run": None,
            "seed": None,
            "generation": _without_seed(result.settings.generation),
        }
    )
    model = result.model.model_copy(update={"args": _without_seed(result.model.args)})
    return result.model_copy(update={"settings": settings, "model": model})


def _without_seed(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != "seed"}


def average(runs: Sequence[Sequence[Sample]]) -> list[Sample]:
    """Return the items that all runs have, with their mean scores.

    An item that one run has no score of is unscored. All but the scores is the first run's, or of
    an unscored item that of the first run which lacks its score.
    """
    samples_by_id: dict[str, list[Sample]] = {}
    for samples in runs:
        for sample in samples:
            samples_by_id.setdefault(sample.id, []).append(sample)
    averages: list[Sample] = []
    for samples_of_item in samples_by_id.values():
        if len(samples_of_item) == len(runs):
            averages.append(_average_item(samples_of_item))
    return averages


def _average_item(samples: Sequence[Sample]) -> SampleOfRuns:
    """Return one item with its mean scores over the runs."""
    first = samples[0]
    unscored = [sample for sample in samples if sample.state == "unscored"]
    template = first
    if unscored:
        template = unscored[0]
    means: dict[str, float] = {}
    for column in first.scores:
        scores = [sample.scores[column] for sample in samples if column in sample.scores]
        if len(scores) == len(samples):
            means[column] = fmean(scores)
    fields = dict(template)
    fields["scores"] = means
    fields["of_runs"] = [sample.scores for sample in samples]
    return SampleOfRuns.from_checked(fields)


def together(
    spec: BenchmarkSpec, results: Sequence[Result], runs: Sequence[Sequence[Sample]]
) -> tuple[Result, list[Sample]]:
    """Return several runs as one result, and its samples (`average`).

    The record is the first one's with the numbers of all. Metrics of all answers at once (BLEU,
    CIDEr, METEOR) are the mean, without an interval.
    """
    samples = average(runs)
    numbers = aggregation.aggregate(spec, samples, overlap=False, interval=results[0].interval)
    metrics = _mean_metrics(results, results[0].metrics.keys() - numbers.metrics.keys())
    metrics |= numbers.metrics
    parse_failed = round(fmean(result.counts.parse_failed for result in results))
    read_by_model = round(fmean(result.counts.read_by_model for result in results))
    counts = aggregation.ScoredItems(spec, samples).counts
    result = _without_run(results[0]).model_copy(
        update={
            "metrics": {m.name: metrics[m.name] for m in spec.metrics if m.name in metrics},
            "breakdowns": numbers.breakdowns,
            "counts": counts.model_copy(
                update={"parse_failed": parse_failed, "read_by_model": read_by_model}
            ),
            "answers": min(result.answers for result in results),
        }
    )
    return result, samples


def _mean_metrics(results: Sequence[Result], names: Iterable[str]) -> Metrics:
    """Return the means of metrics that every result has a value of."""
    metrics: Metrics = {}
    for name in names:
        values: list[float] = []
        items: list[int] = []
        for result in results:
            metric = result.metrics.get(name)
            if metric is not None and metric.value is not None:
                values.append(metric.value)
                items.append(metric.n)
        if len(values) == len(results):
            metrics[name] = MetricValue(value=fmean(values), n=min(items))
    return metrics
