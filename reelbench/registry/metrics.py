"""A metric: its name and unit, how per-item scores become its value, and when one answer counts as right."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from reelbench.registry.declared import Declared

UnitName = Literal["percent", "points_0_5", "points_0_2", "fraction", "cider"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: what a table's column says, its name at Every Eval Ever, decimals as papers print them, and its range."""

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
    """Weighted mean over items of one column of per-item scores, times `scale`.

    `weight_by` names a facet: an item then counts once for each of its labels (MovieCORE's official
    aggregation), and within a breakdown by that facet once per label.
    """

    how: Literal["mean"] = "mean"
    column: str
    scale: float = 1.0
    weight_by: str | None = None
    weights: dict[str, float] = field(
        default_factory=dict[str, float]
    )  # label of `weight_by` -> weight; default 1


class MeanOf(Declared):
    """Unweighted mean of other metrics; it is scored only if all of them are."""

    how: Literal["mean_of"] = "mean_of"
    metrics: tuple[str, ...]


class Macro(Declared):
    """Unweighted mean over a facet's labels of the label's mean of a column, times `scale`."""

    how: Literal["macro"] = "macro"
    column: str
    facet: str
    scale: float = 1.0


class Grouped(Declared):
    """Mean over groups of items (`rows.GROUP`) of what each group's rule makes of one column, times `scale`."""

    how: Literal["grouped"] = "grouped"
    column: str
    scale: float = 1.0


class Corpus(Declared):
    """An overlap score of a corpus, computed over all answers together; there is no mean per item."""

    how: Literal["corpus"] = "corpus"
    scorer: Literal["bleu4", "cider", "meteor"]


class Metric(Declared):
    """A metric: its name and unit, and how per-item scores become its value."""

    name: str
    title: str
    unit: UnitName
    right_from: float = math.inf
    """The value, of one answer alone, from which on that answer counts as right; by default the top of the scale."""
    aggregate: Mean | MeanOf | Macro | Grouped | Corpus
    judged: bool = False  # True where an LLM judge scores the items
    in_breakdowns: bool = True  # whether facets that name no metrics of their own break it down
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
        """The title as a narrow column has room for: `R@.3` for recall at IoU 0.3."""
        shorter = self.title.replace("Recall@1, IoU ≥ 0", "R@").replace(
            "Accuracy at IoU ≥ 0", "Acc@"
        )
        return shorter.removesuffix(" (per label)")

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value."""
        return self.in_unit.low, self.in_unit.high

    def is_right(self, value: float | None) -> bool | None:
        """Whether an answer with this value, in the metric's unit, counts as right; None where it has none."""
        return None if value is None else value >= self.right_from - 1e-9
