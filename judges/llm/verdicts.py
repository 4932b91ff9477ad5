"""What a judge said of an item, and the rules by which replies become a score: for the engine and for recomputation."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reelbench.judges.llm.options import VoteRule
from reelbench.llm import asked
from reelbench.registry.records import JudgeReply
from reelbench.registry.spec import JudgeSpec

JUDGE_UNAVAILABLE = f"judge_{asked.UNAVAILABLE}"
JUDGE_UNPARSABLE = f"judge_{asked.UNPARSABLE}"
JUDGE_BUDGET = f"judge_{asked.BUDGET}"
JUDGE_REFUSED = f"judge_{asked.REFUSED}"
JUDGE_REJECTED = f"judge_{asked.REJECTED}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge said of one item.

    Attributes:
        id: The item's id.
        scores: Criterion -> score, for the criteria that have one; whole numbers, except under mean votes.
        reasons: Criterion -> why it has none (`judge_unavailable`, `judge_unparsable`, `judge_budget`, `judge_refused`:
            the server serves us not at all, `judge_rejected`: it does not take this request).
        replies: All replies behind it, in order of criterion, vote and attempt.
    """

    id: str
    scores: dict[str, float]
    reasons: dict[str, str]
    replies: Sequence[JudgeReply] = ()

    @property
    def reason(self) -> str | None:
        """Why the item is not (wholly) scored, or None: of several reasons the commonest."""
        return Counter(self.reasons.values()).most_common(1)[0][0] if self.reasons else None


def needs_no_judge(answer: str) -> bool:
    """Whether an answer is nothing but white space: it gets the scale's minimum, and nobody is asked."""
    return not answer.strip()


def takes_bare_integer(prompts: str, judge: JudgeSpec) -> bool:
    """Whether a reply that is one integer counts, under a prompt set of this name (see `judges.llm.prompting`)."""
    return {"official": False, "reelbench": len(judge.criteria) == 1}.get(prompts, True)


def counted(cast: Sequence[int], votes: int, rule: VoteRule | str) -> float | None:
    """Return the score that votes come to, or None where half of those asked for, or fewer, were cast.

    Args:
        cast: The scores that could be read.
        votes: How many were asked for.
        rule: `mean`, or else the most frequent one; of several equally frequent the lower median of all.
    """
    if 2 * len(cast) <= votes:
        return None
    if votes == 1:
        return cast[0]
    if rule == "mean":
        return statistics.fmean(cast)
    most = statistics.multimode(cast)
    return most[0] if len(most) == 1 else statistics.median_low(cast)
