"""Write the leaderboard in the formats of others: tables, models' pages, Every Eval Ever."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Exported:
    """The files written for one result, or the reason why there are none."""

    key: str
    files: tuple[Path, ...] = ()
    why: str = ""
