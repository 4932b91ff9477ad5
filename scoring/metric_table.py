"""A result's metrics as the rows of a table: on a terminal, in Python and in a notebook alike."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from reelbench.registry.records import Counts, MetricValue
from reelbench.registry.spec import BenchmarkSpec, Corpus, MeanOf, Metric

COLUMNS = ("metric", "#value", "unit", "#95 % interval", "#n")
"""Those with `#` are numbers, set to the right."""

_WHOLE = 0.9
"""Share of the items from which on a value is printed without saying how many are behind it."""


class Numbers(Protocol):
    """What has metrics: a result on disk, or one that nothing is written of."""

    @property
    def metrics(self) -> Mapping[str, MetricValue]:
        """Name -> value."""
        ...

    @property
    def counts(self) -> Counts:
        """How many items ended how."""
        ...


def title(benchmark: str, split: str, counts: Counts, model: str | None = None) -> str:
    """Return what stands above: what was scored, and how many items were not, by reason."""
    unscored = ", ".join(f"{number} {reason}" for reason, number in counts.unscored.items())
    parts = [f"{benchmark} {split}", *([model] if model else []), f"{counts.scored} of {counts.items} scored"]
    return " · ".join(parts) + (f" ({unscored})" if unscored else "")


def rows(spec: BenchmarkSpec, result: Numbers) -> list[tuple[str, ...]]:
    """Return a row of `COLUMNS` for each metric."""
    made: list[tuple[str, ...]] = []
    for name, value in result.metrics.items():
        metric = spec.metric(name)
        shown = f"{name} (primary)" if metric == spec.primary else name
        made.append((shown, *cells(spec, metric, value, result), str(value.n)))
    return made


def cells(spec: BenchmarkSpec, metric: Metric, value: MetricValue, result: Numbers) -> tuple[str, str, str]:
    """Return a metric's value, unit and interval as they are printed."""
    unit = metric.in_unit
    if value.value is None:
        return number(metric, value), unit.label, ""
    partial = _behind(spec, metric, result) < _WHOLE * result.counts.items
    shown = number(metric, value) + (f" ({value.n} of {result.counts.items})" if partial else "")
    interval = "" if value.ci95 is None else " to ".join(f"{bound:.{unit.long_digits}f}" for bound in value.ci95)
    return shown, unit.label, interval


def number(metric: Metric, value: MetricValue) -> str:
    """Return a metric's value as it is printed, in its unit."""
    return "N/A" if value.value is None else f"{value.value:.{metric.in_unit.long_digits}f}"


def without_interval(spec: BenchmarkSpec, result: Numbers) -> str | None:
    """Return a line on the metrics that would have an interval on more videos; None where there are none."""
    names = [
        name
        for name, metric in result.metrics.items()
        if metric.value is not None and metric.ci95 is None and not isinstance(spec.metric(name).aggregate, Corpus)
    ]
    return no_interval(names) if names else None


def no_interval(names: Iterable[str]) -> str:
    """Return why there is no interval for these metrics."""
    return f"no interval for {', '.join(names)}: fewer than 10 videos"


def _behind(spec: BenchmarkSpec, metric: Metric, result: Numbers) -> int:
    """Return how many items are behind a value; of a mean of metrics, behind the one with the fewest."""
    how = metric.aggregate
    parts = [spec.metric(name) for name in how.metrics] if isinstance(how, MeanOf) else []
    own = result.metrics[metric.name].n if metric.name in result.metrics else 0
    return min([own, *(_behind(spec, part, result) for part in parts)])
