"""The rules of chains: limits on sources, on ratings and at the gates.

ReXTime leaves most of them open. Each field is an option of the command line. Shares are of the
video's length, times are in seconds.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from reelbench.base.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRules:
    """Limits on a source.

    The supplement (C.2) states 80 %, 60 % and 10 s.
    """

    longest_event: float = field(
        default=0.8, metadata={"help": "Maximum length of an event, as a share of the video."}
    )
    long_event_drops: Literal["video", "event"] = field(
        default="video", metadata={"help": "Drop the video of a longer event, or only the event."}
    )
    least_coverage: float = field(
        default=0.6, metadata={"help": "Minimum share of the video that its events must cover."}
    )
    coverage: Literal["sum", "union"] = field(
        default="sum",
        metadata={
            "help": ("How coverage is counted: event lengths added up, or overlaps counted once.")
        },
    )
    gap: float = field(
        default=10.0,
        metadata={
            "help": "Maximum gap in seconds within a group of events; the largest group is used."
        },
    )
    least_events: int = field(
        default=2, metadata={"help": "Minimum number of events of that group.", "min": 2}
    )
    overlap: str = field(
        default="partial",
        metadata={
            "help": "How far two events of a pair may overlap: none, partial (neither covers "
            "the other), or SECONDS at most.",
            "metavar": "none|partial|SECONDS",
        },
    )
    whole_tolerance: float = field(
        default=0.0,
        metadata={
            "help": "A window within this distance of both ends of the clip counts as the whole "
            "clip and is dropped."
        },
    )
    most_windows: int = field(
        default=1,
        metadata={
            "help": "Maximum windows of a query; with more, its event occurs repeatedly.",
            "min": 1,
        },
    )

    def __post_init__(self) -> None:
        is_word = self.overlap in ("none", "partial")
        if not is_word and not re.fullmatch(r"\d+(\.\d+)?", self.overlap):
            raise InputError(
                f"--overlap: {self.overlap!r} is not none, partial or a number of seconds"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """The ratings that keep a question. The supplement prints none of these."""

    similar_from: int = field(
        default=2,
        metadata={"help": "Similarity that makes a pair one repeated action, and drops it."},
    )
    causal_from: int = field(
        default=2, metadata={"help": "Minimum Directness and Necessity of a causal pair."}
    )
    means_from: int = field(
        default=2,
        metadata={
            "help": "Minimum Intentionality and Purpose that make a causal pair means and end."
        },
    )
    alignment_from: Literal["low", "medium", "high"] = field(
        default="high", metadata={"help": "Minimum alignment of an event with a query."}
    )
    not_causal: Literal["sequential", "drop"] = field(
        default="sequential",
        metadata={
            "help": "An event near a query, neither its cause nor its effect: ask for their "
            "order, or drop it."
        },
    )
    verified_from: int = field(
        default=3, metadata={"help": "Minimum verification score of a question."}
    )
    keep: Literal["best", "both"] = field(
        default="best", metadata={"help": "Keep the better of a pair's two questions, or both."}
    )
    query_answers: Literal["query", "any"] | None = field(
        default=None,
        metadata={
            "help": "Questions on queries: keep those answered by the query (its time is "
            "known), or any; default any, and query with --no-options."
        },
    )


class GateName(StrEnum):
    """The gates, in order: those that cost nothing come first."""

    REFUSALS = "refusals"
    DUPLICATES = "duplicates"
    UNSUPPORTED = "unsupported"
    ANSWERABLE = "answerable"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """The chosen gates and their limits."""

    gate: list[GateName] | None = field(
        default=None,
        metadata={
            "help": "Drop refusals, near-duplicates of another video's question, answers that"
            " the information about the video doesn't support (asks the role "
            "checker), or questions that a model answers without the video (asks "
            "blind and, without options, checker); repeat the option."
        },
    )
    duplicate_from: float = field(
        default=0.6,
        metadata={
            "help": "Minimum share of words that near-duplicates have in common (Jaccard, of "
            "content words)."
        },
    )
    supported_from: Literal["partly", "fully"] = field(
        default="partly", metadata={"help": "Minimum support for an answer to be kept."}
    )
    blind_orders: int = field(
        default=3,
        metadata={
            "help": "Number of option orders in which a question is asked without the video. It "
            "is dropped if all are answered right.",
            "min": 1,
        },
    )
