"""Differences between the numbers that a result states and those computed again, in words."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.errors import InputError, first_of
from reelbench.registry.records import Metrics

TOLERANCE = 1e-9
"""Relative difference that two ways of adding up the same numbers may show."""

SHOWN = 3


class MismatchError(InputError):
    """A result that does not match its samples; the message names each difference.

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
            yield f"scores.{name} is {before}, recomputed {after}"


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
        elif before is None:
            yield f"{place} is absent, recomputed {after.value}"
        elif after is None:
            yield f"{place} is {before.value}, recomputed absent"
        elif not _close(before.value, after.value):
            yield f"{place} is {before.value}, recomputed {after.value}"
        elif before.n != after.n:
            yield f"{place}.n is {before.n}, recomputed {after.n}"
        elif not _same_interval(before.ci95, after.ci95):
            yield f"{place}.ci95 is {before.ci95}, recomputed {after.ci95}"


def listing(what: str, names: Sequence[str]) -> str:
    """Return `id 'a' is`, or `ids 'a', 'b', 'c' and 2 more are`."""
    quoted = first_of([repr(name) for name in names], SHOWN)
    if len(names) > 1:
        return f"{what}s {quoted} are"
    return f"{what} {quoted} is"


def _same_interval(before: tuple[float, float] | None, after: tuple[float, float] | None) -> bool:
    if before is None or after is None:
        return before is after
    return _close(before[0], after[0]) and _close(before[1], after[1])


def _close(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is after
    return math.isclose(before, after, rel_tol=TOLERANCE, abs_tol=1e-12)
