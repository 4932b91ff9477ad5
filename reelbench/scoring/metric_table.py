"""A result's metrics as the rows of a table, for a terminal, for Python and for a notebook."""

from collections.abc import Iterable
from typing import NamedTuple

from reelbench.base import text_tables
from reelbench.registry.records import Breakdowns, Counts, Metrics, MetricValue
from reelbench.registry.spec import BenchmarkSpec, Corpus, MeanOf, Metric
from reelbench.scoring import cognitive_profile

COLUMNS = ("metric", "#value", "unit", "#95 % interval", "#n")
"""Those with `#` are numbers, aligned to the right."""

_WHOLE = 0.9
"""Share of the items from which on a value is printed without its number of items."""


def title(benchmark: str, split: str, counts: Counts, model: str | None = None) -> str:
    """Return the title: the items scored, and those that were not, by reason."""
    parts = [f"{benchmark} {split}"]
    if model:
        parts.append(model)
    parts.append(f"{counts.scored} of {counts.items} scored")
    line = " · ".join(parts)
    if counts.unscored:
        unscored = ", ".join(f"{number} {reason}" for reason, number in counts.unscored.items())
        line += f" ({unscored})"
    return line


def rows(spec: BenchmarkSpec, metrics: Metrics, items: int) -> list[tuple[str, ...]]:
    """Return a row of `COLUMNS` for each metric.

    Args:
        spec: The benchmark.
        metrics: The result's metrics.
        items: The items of the result, scored or not.
    """
    table: list[tuple[str, ...]] = []
    for name, value in metrics.items():
        metric = spec.metric(name)
        label = name
        if metric == spec.primary:
            label = f"{name} (primary)"
        value_text = number(metric, value)
        interval = ""
        if value.value is not None:
            interval = text_tables.interval(value.ci95, metric.in_unit.long_digits)
            if _fewest_items(spec, metric, metrics) < _WHOLE * items:
                value_text += f" ({value.n} of {items})"
        table.append((label, value_text, metric.in_unit.label, interval, str(value.n)))
    return table


def facet_metrics(spec: BenchmarkSpec, breakdowns: Breakdowns, facet: str) -> list[Metric]:
    """Return the metrics of a facet's labels: the facet's own first, then the benchmark's."""
    candidates: dict[str, Metric] = {}
    for declared_facet in cognitive_profile.facets(spec):
        if declared_facet.name == facet:
            candidates |= {metric.name: metric for metric in declared_facet.metrics}
            break
    candidates |= {metric.name: metric for metric in spec.metrics}
    present_names = set[str]().union(*breakdowns[facet].values())
    return [metric for name, metric in candidates.items() if name in present_names]


class LabelTable(NamedTuple):
    """A facet's table: the names of its columns, and a row for each label."""

    columns: list[str]
    rows: list[list[str]]


def by_label(spec: BenchmarkSpec, breakdowns: Breakdowns, facet: str) -> LabelTable:
    """Return the table of a facet: each label's metrics and its items.

    For CogME's components it also has each label's share of the tagged questions, in per cent, and
    says whether the label is weak: rare and answered badly (`cognitive_profile.is_weak`).
    """
    metrics = facet_metrics(spec, breakdowns, facet)
    tagged_questions = 0
    if facet in cognitive_profile.COMPONENTS:
        tagged = breakdowns.get(cognitive_profile.TAGGED, {}).get(cognitive_profile.ALL, {})
        tagged_questions = _most_items(tagged)
    columns = [facet]
    columns += [f"#{metric.name}" for metric in metrics]
    columns.append("#n")
    if tagged_questions:
        columns += ["#% of tagged", ""]
    table: list[list[str]] = []
    for label, values in breakdowns[facet].items():
        n = _most_items(values)
        row = [label]
        for metric in metrics:
            value_text = ""
            if metric.name in values:
                value_text = number(metric, values[metric.name])
            row.append(value_text)
        row.append(str(n))
        if tagged_questions:
            share = 100 * n / tagged_questions
            rate = _rate(metrics[0], values)
            row.append(f"{share:.1f}")
            row.append(_weakness(share, rate))
        table.append(row)
    return LabelTable(columns, table)


def _most_items(values: Metrics) -> int:
    """Return the items of the metric that has the most."""
    return max((value.n for value in values.values()), default=0)


def _rate(metric: Metric, values: Metrics) -> float:
    """Return a metric's value in per cent of its scale; 100 where there is none."""
    if metric.name not in values:
        return 100.0
    value = values[metric.name].value
    if value is None:
        return 100.0
    low, high = metric.bounds
    return 100 * (value - low) / (high - low)


def _weakness(share: float, rate: float) -> str:
    if cognitive_profile.is_weak(share, rate):
        return "weak"
    return ""


def number(metric: Metric, value: MetricValue) -> str:
    """Return a metric's value as it is printed, in its unit."""
    if value.value is None:
        return "N/A"
    digits = metric.in_unit.long_digits
    return f"{value.value:.{digits}f}"


def without_interval(spec: BenchmarkSpec, metrics: Metrics) -> str | None:
    """Return a line on the metrics that would have an interval on more videos.

    None where every metric has its interval.
    """
    names: list[str] = []
    for name, value in metrics.items():
        is_corpus = isinstance(spec.metric(name).aggregate, Corpus)
        if value.value is not None and value.ci95 is None and not is_corpus:
            names.append(name)
    if not names:
        return None
    return no_interval(names)


def no_interval(names: Iterable[str]) -> str:
    """Return the reason for which these metrics have no interval."""
    return f"no interval for {', '.join(names)}: fewer than 10 videos"


def without_answer(spec: BenchmarkSpec, counts: Counts) -> str | None:
    """Return a line on unreadable and empty answers.

    None where there are none.
    """
    if not counts.parse_failed and not counts.empty:
        return None
    # Where the answers are hidden nothing is scored here, and the owners will find them wrong.
    treatment = "read as no answer"
    if counts.scored:
        treatment = "scored as wrong"
        if spec.asks_choice and spec.asks_span:
            treatment = "scored as wrong in what they lack"
    share = ""
    if counts.parse_failed:
        percent = 100 * counts.parse_failed / counts.items
        share = f" ({percent:.1f} % of {counts.items})"
    return f"{treatment}: {counts.parse_failed} unreadable{share}, {counts.empty} empty"


def _fewest_items(spec: BenchmarkSpec, metric: Metric, metrics: Metrics) -> int:
    """Return a value's items; of a mean of metrics, those of its smallest part."""
    fewest = 0
    if metric.name in metrics:
        fewest = metrics[metric.name].n
    if isinstance(metric.aggregate, MeanOf):
        for name in metric.aggregate.metrics:
            fewest = min(fewest, _fewest_items(spec, spec.metric(name), metrics))
    return fewest
