"""Tables as plain data, to be printed by the command line."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table to print; columns that start with `#` are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as text, a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def interval(ends: Sequence[float] | None, digits: int = 2) -> str:
    """Return an interval as text, "" where there is none."""
    return "" if ends is None else f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"
