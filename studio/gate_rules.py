"""What questions must pass at the end of a chain, if the user asks for it: gates, and where they part.

Each field has its `help`, from which the command line makes an option.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from reelbench.studio.moment_rules import option


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
        "Drop refusals, near-duplicates of another video's question, answers that what is known of the video doesn't "
        "support (asks the role checker), or questions that a model answers without the video (asks blind and, where "
        "there are no options, checker); repeat the option.",
    )
    duplicate_from: float = option(
        0.6, "Least share of words that near-duplicates have in common (Jaccard, of content words)."
    )
    supported_from: Literal["partly", "fully"] = option("partly", "Least support of an answer that is kept.")
    blind_orders: int = option(
        3, "Orders of the options in which a question is asked blind; right in all drops it.", min=1
    )
