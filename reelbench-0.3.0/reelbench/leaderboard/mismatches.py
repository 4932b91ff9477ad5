"""Differences between the numbers that a result states and those computed again, in words."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.errors import InputError, first_of
from reelbench.registry.records import Metrics, MetricValue

_Interval = tuple[float, float]

TOLERANCE = 1e-9
"""Relative difference that two ways of adding up the same numbers may show."""

SHOWN = 3


class MismatchError(InputError):
    """A result that does not match its samples. The message names each difference.

    `metrics` are those that its samples give, where the samples themselves hold.
    """

    def __init__(self, message: str, metrics: Metrics | None = None) -> None:
        self.metrics = metrics
        super().__init__(message)


def score_mismatches(scores: Mapping[str, float], recomputed: Mapping[str, float]) -> Iterator[str]:
    """Yield the columns in which an item's scores differ from those computed again."""
    for name in sorted(scores.keys() | recomputed.keys()):
        before = scores.get(name)
        after = recomputed.get(name)
        if not _close(before, after):
            yield _line(f"scores.{name}", before, after)


def metric_mismatches(
    where: str, metrics: Mapping[str, Any], recomputed: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the metrics that differ in value, interval or number of items.

    A metric that only one side has differs, too. Breakdowns are mappings of mappings, by facet and
    label.
    """
    for name in sorted(metrics.keys() | recomputed.keys()):
        before = metrics.get(name)
        after = recomputed.get(name)
        place = f"{where}.{name}"
        if isinstance(before, Mapping) or isinstance(after, Mapping):
            yield from metric_mismatches(place, before or {}, after or {})
        elif before is None or after is None:
            yield _line(place, _value(before), _value(after))
        elif not _close(before.value, after.value):
            yield _line(place, before.value, after.value)
        elif before.n != after.n:
            yield _line(f"{place}.n", before.n, after.n)
        elif not _same_interval(before.ci95, after.ci95):
            yield _line(f"{place}.ci95", before.ci95, after.ci95)


def _value(metric: MetricValue | None) -> object:
    return "absent" if metric is None else metric.value


def _line(place: str, before: object, after: object) -> str:
    return f"{place} is {before}, recomputed {after}"


def listing(what: str, names: Sequence[str]) -> str:
    """Return `id 'a' is`, or `ids 'a', 'b', 'c' and 2 more are`."""
    quoted = first_of([repr(name) for name in names], SHOWN)
    if len(names) > 1:
        return f"{what}s {quoted} are"
    return f"{what} {quoted} is"


def _same_interval(before: _Interval | None, after: _Interval | None) -> bool:
    if before is None or after is None:
        return before is after
    return all(_close(old, new) for old, new in zip(before, after, strict=True))


def _close(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is after
    return math.isclose(before, after, rel_tol=TOLERANCE, abs_tol=1e-12)
