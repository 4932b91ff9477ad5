"""Units of metrics: how a value is printed, what it is called, and what it can reach; declared here alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

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
