"""The rules of chains: what ReXTime leaves to whoever makes questions, and the gates at a chain's end.

Each field has its `help`, from which the command line makes an option. Shares are of the video's length, times are in
seconds.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from reelbench.registry.errors import InputError


def option(default: Any, help: str, **more: object) -> Any:  # noqa: A002, ANN401 - a field of any type
    """Return a field with what the command line says of it."""
    return field(default=default, metadata={"help": help, **more})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRules:
    """What a source must be like (supplement, C.2, where it says: 80 %, 60 %, 10 s)."""

    longest_event: float = option(0.8, "Maximum length of an event, as a share of the video.")
    long_event_drops: Literal["video", "event"] = option(
        "video", "Drop the video of a longer event, or only the event."
    )
    least_coverage: float = option(0.6, "Minimum share of the video that its events cover.")
    coverage: Literal["sum", "union"] = option("sum", "How the cover is counted: lengths added up, or overlaps once.")
    gap: float = option(10.0, "Maximum gap in seconds within a group of events; the largest group is used.")
    least_events: int = option(2, "Minimum number of events of that group.", min=2)
    overlap: str = option(
        "partial",
        "How far two events of a pair may overlap: none, partial (neither covers the other), or SECONDS at most.",
        metavar="none|partial|SECONDS",
    )
    whole_tolerance: float = option(0.0, "A window that lacks no more at either end is the whole clip, and dropped.")
    most_windows: int = option(1, "Maximum windows of a query; with more, its event occurs repeatedly.", min=1)

    def __post_init__(self) -> None:
        if self.overlap not in ("none", "partial") and not re.fullmatch(r"\d+(\.\d+)?", self.overlap):
            raise InputError(f"--overlap: {self.overlap!r} is not none, partial or a number of seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Which ratings keep a question; the supplement prints none of these."""

    similar_from: int = option(2, "Similarity that makes a pair one repeated action, and drops it.")
    causal_from: int = option(2, "Minimum Directness and Necessity of a causal pair.")
    means_from: int = option(2, "Minimum Intentionality and Purpose that make a causal pair means and end.")
    alignment_from: Literal["low", "medium", "high"] = option("high", "Minimum alignment of an event with a query.")
    not_causal: Literal["sequential", "drop"] = option(
        "sequential", "An event beside a query that doesn't cause it, or follow from it: ask for its order, or drop it."
    )
    verified_from: int = option(3, "Minimum verification score of a question.")
    keep: Literal["best", "both"] = option("best", "Keep the better of a pair's two questions, or both.")
    query_answers: Literal["query", "any"] | None = option(
        None,
        "Questions on queries: keep those answered by the query (its time is known), or any; default any, and query "
        "with --no-options.",
    )


class GateName(StrEnum):
    """The gates, in the order in which questions pass them: what costs nothing first."""

    REFUSALS = "refusals"
    DUPLICATES = "duplicates"
    UNSUPPORTED = "unsupported"
    ANSWERABLE = "answerable"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """Which gates there are, and where they part."""

    gate: list[GateName] | None = option(  # noqa: RUF009 - a field
        None,
        "Drop refusals, near-duplicates of another video's question, answers that the information about the video "
        "doesn't support (asks the role checker), or questions that a model answers without the video (asks blind and, "
        "without options, checker); repeat the option.",
    )
    duplicate_from: float = option(
        0.6, "Least share of words that near-duplicates have in common (Jaccard, of content words)."
    )
    supported_from: Literal["partly", "fully"] = option("partly", "Least support of an answer that is kept.")
    blind_orders: int = option(
        3, "Orders of the options in which a question is asked blind; right in all drops it.", min=1
    )
