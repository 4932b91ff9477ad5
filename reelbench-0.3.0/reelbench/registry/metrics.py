"""Metrics: their names and units, and the ways in which per-item scores become their values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from reelbench.registry.declared import Declared

UnitName = Literal["percent", "points_0_5", "points_0_2", "fraction", "cider"]

_ROUNDING = 1e-9  # of a value that should be on the threshold


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of metrics.

    Attributes:
        label: Its text in a table's column.
        noun: Its name at Every Eval Ever.
        digits: Decimals as papers print them.
        low: The least value.
        high: The greatest value.
    """

    label: str
    noun: str
    digits: int
    low: float
    high: float

    @property
    def long_digits(self) -> int:
        """Decimals where a value stands beside its interval."""
        return max(2, self.digits)

    @property
    def range(self) -> str:
        """The scale in words."""
        return f"{self.low:g} to {self.high:g}"


UNITS: Mapping[UnitName, Unit] = MappingProxyType(
    {
        "percent": Unit("%", "percent", 1, 0, 100),
        "points_0_5": Unit("points, 0 to 5", "points", 2, 0, 5),
        "points_0_2": Unit("points, 0 to 2", "points", 2, 0, 2),
        "fraction": Unit("fraction, 0 to 1", "proportion", 4, 0, 1),
        "cider": Unit("CIDEr, 0 to 10", "points", 3, 0, 10),
    }
)


class Mean(Declared):
    """Weighted mean over items of one column of per-item scores, less `lowest`, times `scale`.

    `weight_by` names a facet: an item then counts once for each of its labels (MovieCORE's official
    aggregation), and within a breakdown by that facet once per label. `weights` are by label. A
    label's default is 1.
    """

    how: Literal["mean"] = "mean"
    column: str
    scale: float = 1.0
    weight_by: str | None = None
    weights: dict[str, float] = field(default_factory=dict[str, float])
    lowest: float = 0.0
    """The score that is worth 0, such as a judge's lowest mark."""

    def value_of(self, score: float) -> float:
        """Return the value, in the metric's unit, of an item with this score."""
        return self.scale * (score - self.lowest)


class MeanOf(Declared):
    """Unweighted mean of other metrics. It is scored only if all of them are."""

    how: Literal["mean_of"] = "mean_of"
    metrics: tuple[str, ...]


class Macro(Declared):
    """Unweighted mean over a facet's labels of each label's `Mean`.

    With `within`, a label's mean is in turn the unweighted mean over the labels of that facet which
    its items have: tasks within parts, as OVO-Bench counts.
    """

    how: Literal["macro"] = "macro"
    column: str
    facet: str
    scale: float = 1.0
    lowest: float = 0.0
    within: str | None = None


class Grouped(Declared):
    """Mean over groups of items (`rows.GROUP`), times `scale`.

    A group's value follows from one column by the group's rule.
    """

    how: Literal["grouped"] = "grouped"
    column: str
    scale: float = 1.0


class Corpus(Declared):
    """An overlap score over all answers together. There is no mean per item."""

    how: Literal["corpus"] = "corpus"
    scorer: Literal["bleu4", "cider", "meteor"]


class Metric(Declared):
    """A metric: its name and unit, and how per-item scores become its value."""

    name: str
    title: str
    unit: UnitName
    right_from: float = math.inf
    """The value of one answer from which on it is right; by default the top of the scale."""
    aggregate: Mean | MeanOf | Macro | Grouped | Corpus
    judged: bool = False  # True where an LLM judge scores the items
    in_breakdowns: bool = True  # True where facets without metrics of their own break it down
    cite: str = ""  # paper and section, or the owner's file
    about: str = ""  # one line on what it measures, for a reader of the table

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "right_from", min(self.right_from, self.in_unit.high))

    @property
    def in_unit(self) -> Unit:
        """The unit: digits, names, range."""
        return UNITS[self.unit]

    @property
    def short(self) -> str:
        """The title for a narrow column: `R@.3` for recall at IoU 0.3."""
        title = self.title.replace("Recall@1, IoU ≥ 0", "R@")
        title = title.replace("Accuracy at IoU ≥ 0", "Acc@")
        return title.removesuffix(" (per label)")

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value."""
        return self.in_unit.low, self.in_unit.high

    def is_right(self, value: float | None) -> bool | None:
        """Return True where an answer with this value, in the metric's unit, is right.

        None where there is no value.
        """
        if value is None:
            return None
        return value >= self.right_from - _ROUNDING
