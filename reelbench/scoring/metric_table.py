"""A result's metrics as the rows of a table: on a terminal, in Python and in a notebook alike."""

from collections.abc import Iterable

from reelbench.base import text_tables
from reelbench.registry.records import Breakdowns, Counts, Metrics, MetricValue
from reelbench.registry.spec import BenchmarkSpec, Corpus, MeanOf, Metric
from reelbench.scoring import cognitive_profile

COLUMNS = ("metric", "#value", "unit", "#95 % interval", "#n")
"""Those with `#` are numbers, set to the right."""

_WHOLE = 0.9
"""Share of the items from which on a value is printed without saying how many are behind it."""


def title(benchmark: str, split: str, counts: Counts, model: str | None = None) -> str:
    """Return the title: the items scored, and those that were not, by reason."""
    unscored = ", ".join(f"{number} {reason}" for reason, number in counts.unscored.items())
    parts = [
        f"{benchmark} {split}",
        *([model] if model else []),
        f"{counts.scored} of {counts.items} scored",
    ]
    return " · ".join(parts) + (f" ({unscored})" if unscored else "")


def rows(spec: BenchmarkSpec, metrics: Metrics, items: int) -> list[tuple[str, ...]]:
    """Return a row of `COLUMNS` for each metric; `items` are those of the result, scored or not."""
    made: list[tuple[str, ...]] = []
    for name, value in metrics.items():
        metric, shown, interval = spec.metric(name), number(spec.metric(name), value), ""
        if value.value is not None:
            partial = _behind(spec, metric, metrics) < _WHOLE * items
            shown += f" ({value.n} of {items})" if partial else ""
            interval = text_tables.interval(value.ci95, metric.in_unit.long_digits)
        named = f"{name} (primary)" if metric == spec.primary else name
        made.append((named, shown, metric.in_unit.label, interval, str(value.n)))
    return made


def facet_metrics(spec: BenchmarkSpec, breakdowns: Breakdowns, facet: str) -> list[Metric]:
    """Return the metrics that a facet's labels have, its own first, in the order of their declaration."""
    own = next(
        (known.metrics for known in cognitive_profile.facets(spec) if known.name == facet), ()
    )
    there = {name for values in breakdowns[facet].values() for name in values}
    return [
        metric
        for metric in {metric.name: metric for metric in (*own, *spec.metrics)}.values()
        if metric.name in there
    ]


def by_label(
    spec: BenchmarkSpec, breakdowns: Breakdowns, facet: str
) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of a facet's table: each label's metrics and its items.

    Of CogME's components also each label's share of the tagged questions, in per cent, and whether
    it is weak: rare and answered badly (`cognitive_profile.is_weak`).
    """
    metrics = facet_metrics(spec, breakdowns, facet)
    tagged = breakdowns.get(cognitive_profile.TAGGED, {}).get(cognitive_profile.ALL, {})
    total = (
        max((value.n for value in tagged.values()), default=0)
        if facet in cognitive_profile.COMPONENTS
        else 0
    )
    rows: list[list[str]] = []
    for label, values in breakdowns[facet].items():
        n = max((value.n for value in values.values()), default=0)
        row = [
            label,
            *(number(m, values[m.name]) if m.name in values else "" for m in metrics),
            str(n),
        ]
        if total:
            rate = values[metrics[0].name].value if metrics[0].name in values else None
            low, high = metrics[0].bounds
            credit = 100.0 if rate is None else 100 * (rate - low) / (high - low)
            row += [
                f"{100 * n / total:.1f}",
                "weak" if cognitive_profile.is_weak(100 * n / total, credit) else "",
            ]
        rows.append(row)
    more = ["#% of tagged", ""] if total else []
    return [facet, *(f"#{metric.name}" for metric in metrics), "#n", *more], rows


def number(metric: Metric, value: MetricValue) -> str:
    """Return a metric's value as it is printed, in its unit."""
    return "N/A" if value.value is None else f"{value.value:.{metric.in_unit.long_digits}f}"


def without_interval(spec: BenchmarkSpec, metrics: Metrics) -> str | None:
    """Return a line on the metrics that would have an interval on more videos; None where there are none."""
    names = [
        name
        for name, metric in metrics.items()
        if metric.value is not None
        and metric.ci95 is None
        and not isinstance(spec.metric(name).aggregate, Corpus)
    ]
    return no_interval(names) if names else None


def no_interval(names: Iterable[str]) -> str:
    """Return the reason for which these metrics have no interval."""
    return f"no interval for {', '.join(names)}: fewer than 10 videos"


def _behind(spec: BenchmarkSpec, metric: Metric, metrics: Metrics) -> int:
    """Count the items behind a value; of a mean of metrics, behind the one with the fewest."""
    how = metric.aggregate
    parts = [spec.metric(name) for name in how.metrics] if isinstance(how, MeanOf) else []
    own = metrics[metric.name].n if metric.name in metrics else 0
    return min([own, *(_behind(spec, part, metrics) for part in parts)])
