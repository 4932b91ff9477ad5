"""Several runs of one model over the same questions, taken together: each item's scores are its means over the runs.

What is made of such samples (metrics, breakdowns, tests) knows the runs: `aggregation` finds each
run's own value, and `stats.intervals` makes an interval or a test that has both sources, videos and
runs.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import TypeVar

from reelbench.registry.records import Metrics, MetricValue, Result, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.scoring.aggregation import SampleOfRuns

METHOD = "wilson over videos and runs (two-way variance, degrees of freedom by Satterthwaite)"

Kept = TypeVar("Kept")


def group_repeats(results: Iterable[Kept], record: Callable[[Kept], Result]) -> list[list[Kept]]:
    """Return results with the runs of one model in one setting together, in their order; any other is alone."""
    groups: dict[object, list[Kept]] = defaultdict(list)
    for number, one in enumerate(results):
        result = record(one)
        key = number
        if result.settings.run is not None:
            # What runs share: model, benchmark, settings and judge, but for the run's number and
            # its seed.
            settings = {"frames_given", "frames_unlike", "audio"}
            judge = {"requested", "prompt_sha256", "temperature", "extra", "votes", "vote_rule"}
            of_all = _of_no_run(result)
            shared = of_all.model_dump(
                mode="json",
                include={
                    "data": True,
                    "model": True,
                    "settings": True,
                    "benchmark": True,
                    "judge": judge,
                },
                exclude={"settings": settings, "benchmark": {"source"}, "model": {"about"}},
            )
            key = json.dumps(shared, sort_keys=True)
        groups[key].append(one)
    return [
        sorted(group, key=lambda one: record(one).settings.run or 0) for group in groups.values()
    ]


def _of_no_run(result: Result) -> Result:
    """Return a result without what tells its run from the others: number and seed, wherever it is on record."""
    settings, model = result.settings, result.model
    generation, args = (
        {name: value for name, value in values.items() if name != "seed"}
        for values in (settings.generation, model.args)
    )
    plain = {"run": None, "seed": None, "generation": generation}
    return result.model_copy(
        update={
            "settings": settings.model_copy(update=plain),
            "model": model.model_copy(update={"args": args}),
        }
    )


def average(runs: Sequence[Sequence[Sample]]) -> list[Sample]:
    """Return the items that all runs have, with their mean scores; what one run has no score of is unscored.

    All but the scores is the first run's, or of an unscored item that of the first run which lacks
    its score.
    """
    by_id = [{sample.id: sample for sample in samples} for samples in runs]
    together: list[Sample] = []
    for name in by_id[0]:
        of_item = [samples[name] for samples in by_id if name in samples]
        if len(of_item) < len(by_id):
            continue
        shown = next((sample for sample in of_item if sample.state == "unscored"), of_item[0])
        columns = [c for c in of_item[0].scores if all(c in sample.scores for sample in of_item)]
        fields = {field: getattr(shown, field) for field in Sample.model_fields}
        means = {c: fmean(sample.scores[c] for sample in of_item) for c in columns}
        together.append(
            SampleOfRuns.from_checked(
                fields | {"scores": means, "of_runs": [sample.scores for sample in of_item]}
            )
        )
    return together


def together(
    spec: BenchmarkSpec, results: Sequence[Result], runs: Sequence[Sequence[Sample]]
) -> tuple[Result, list[Sample]]:
    """Return the sum of several runs: their record, the first one's with the numbers of all, and `averaged` samples.

    Of metrics that are of all answers at once (BLEU, CIDEr, METEOR) the mean stands, without an
    interval.
    """
    samples = average(runs)
    metrics, breakdowns = aggregation.aggregate(
        spec, samples, overlap=False, interval=results[0].interval
    )
    stated: Metrics = {}
    for name in results[0].metrics.keys() - metrics.keys():
        values = [result.metrics[name] for result in results if name in result.metrics]
        known = [one.value for one in values if one.value is not None]
        if len(known) == len(results):
            stated[name] = MetricValue(value=fmean(known), n=min(one.n for one in values))
    unread = round(fmean(result.counts.parse_failed for result in results))
    made = _of_no_run(results[0]).model_copy(
        update={
            "metrics": {
                m.name: (stated | metrics)[m.name]
                for m in spec.metrics
                if m.name in stated | metrics
            },
            "breakdowns": breakdowns,
            "counts": aggregation.ScoredItems(spec, samples).counts.model_copy(
                update={"parse_failed": unread}
            ),
            "answers": min(result.answers for result in results),
        }
    )
    return made, samples
