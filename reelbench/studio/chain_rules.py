"""The rules of chains: what ReXTime leaves to whoever makes questions, and the gates at a chain's end.

Each field is an option of the command line, whose words are in `commands/options.json`. Shares are
of the video's length, times are in seconds.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from reelbench.base.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRules:
    """What a source must be like (supplement, C.2, where it says: 80 %, 60 %, 10 s)."""

    longest_event: float = 0.8
    long_event_drops: Literal["video", "event"] = "video"
    least_coverage: float = 0.6
    coverage: Literal["sum", "union"] = "sum"
    gap: float = 10.0
    least_events: int = 2
    overlap: str = "partial"
    whole_tolerance: float = 0.0
    most_windows: int = 1

    def __post_init__(self) -> None:
        if self.overlap not in ("none", "partial") and not re.fullmatch(
            r"\d+(\.\d+)?", self.overlap
        ):
            raise InputError(
                f"--overlap: {self.overlap!r} is not none, partial or a number of seconds"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Which ratings keep a question; the supplement prints none of these."""

    similar_from: int = 2
    causal_from: int = 2
    means_from: int = 2
    alignment_from: Literal["low", "medium", "high"] = "high"
    not_causal: Literal["sequential", "drop"] = "sequential"
    verified_from: int = 3
    keep: Literal["best", "both"] = "best"
    query_answers: Literal["query", "any"] | None = None


class GateName(StrEnum):
    """The gates, in the order in which questions pass them: what costs nothing first."""

    REFUSALS = "refusals"
    DUPLICATES = "duplicates"
    UNSUPPORTED = "unsupported"
    ANSWERABLE = "answerable"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """Which gates there are, and where they part."""

    gate: list[GateName] | None = None
    duplicate_from: float = 0.6
    supported_from: Literal["partly", "fully"] = "partly"
    blind_orders: int = 3
