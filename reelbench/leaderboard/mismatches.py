"""Two ways to the same numbers, and what does not match said in words."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.errors import InputError, first_of
from reelbench.registry.records import Metrics

TOLERANCE = 1e-9
"""Relative difference that two ways of adding up the same numbers may show."""

SHOWN = 3


class MismatchError(InputError):
    """A result that is not what its samples say; the message names each thing that does not match.

    `metrics` are those that its samples give, where the samples themselves hold.
    """

    def __init__(self, message: str, metrics: Metrics | None = None) -> None:
        self.metrics = metrics
        super().__init__(message)


def score_mismatches(stated: Mapping[str, float], expected: Mapping[str, float]) -> Iterator[str]:
    """Yield the columns in which an item's scores differ from the recomputed ones, or that only one side has."""
    for name in sorted(stated.keys() | expected.keys()):
        if name not in stated or name not in expected or not _close(stated[name], expected[name]):
            yield f"scores.{name} is {stated.get(name)}, recomputed {expected.get(name)}"


def metric_mismatches(
    where: str, stated: Mapping[str, Any], expected: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the metrics that differ in value, interval or number of items, or that only one side has.

    Those of breakdowns stand in mappings within each other, by facet and label.
    """
    for name in sorted(stated.keys() | expected.keys()):
        here, there = stated.get(name), expected.get(name)
        if isinstance(here, Mapping) or isinstance(there, Mapping):
            yield from metric_mismatches(f"{where}.{name}", here or {}, there or {})
        elif here is None or there is None:
            values = ("absent" if value is None else value.value for value in (here, there))
            yield "{}.{} is {}, recomputed {}".format(where, name, *values)
        elif not _close(here.value, there.value):
            yield f"{where}.{name} is {here.value}, recomputed {there.value}"
        elif here.n != there.n:
            yield f"{where}.{name}.n is {here.n}, recomputed {there.n}"
        elif (here.ci95 is None) != (there.ci95 is None) or not all(
            _close(a, b) for a, b in zip(here.ci95 or (), there.ci95 or (), strict=True)
        ):
            yield f"{where}.{name}.ci95 is {here.ci95}, recomputed {there.ci95}"


def listing(what: str, names: Sequence[str]) -> str:
    """Return `id 'a' is`, or `ids 'a', 'b', 'c' and 2 more are`."""
    shown = first_of([repr(name) for name in names], SHOWN)
    return f"{what}{'s' if len(names) > 1 else ''} {shown}" + (" are" if len(names) > 1 else " is")


def _close(here: float | None, there: float | None) -> bool:
    if here is None or there is None:
        return here is there
    return math.isclose(here, there, rel_tol=TOLERANCE, abs_tol=1e-12)
