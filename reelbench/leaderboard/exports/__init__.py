"""The leaderboard in others' formats: tables as files, models' pages on the Hub, Every Eval Ever."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Exported:
    """What came of one result: the files written, or why it was left out."""

    key: str
    files: tuple[Path, ...] = ()
    why: str = ""
