"""Units of metrics: how a value is printed, what it is called, and what it can reach; declared here alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

UnitName = Literal["percent", "points_0_5", "points_0_2", "fraction", "cider"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Attributes:
        label: What a table's column of units says.
        noun: What one is called, as Every Eval Ever names units.
        digits: Decimals in the columns of a table, as papers print them.
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
