"""What a judge said of an item, and the rules by which replies become a score: for the engine and for recomputation."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reelbench.judges.judge_options import VoteRule
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord, JudgeReply, Sample
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

Judged = tuple[Mapping[str, "Verdict"], JudgeRecord]
"""Verdicts on a benchmark's items, by id, and what is recorded of who judged."""
Judge = Callable[[BenchmarkSpec, Iterable[Item]], Judged]
"""What judges those of a benchmark's items that have an answer."""

_RULES = {"mean": statistics.fmean, "median": statistics.median}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge said of one item."""

    id: str
    scores: dict[
        str, float
    ]  # by criterion, of those that have one; whole numbers, except under mean votes
    reasons: dict[str, Reason]  # criterion -> why it has none
    replies: Sequence[JudgeReply] = ()  # all behind it, in order of criterion, vote and attempt

    @property
    def reason(self) -> Reason | None:
        """Why the item is not (wholly) scored, or None: of several reasons the commonest."""
        return Counter(self.reasons.values()).most_common(1)[0][0] if self.reasons else None


def is_judged(item: Item | Sample) -> bool:
    """Whether an answer is marked by the benchmark's judge: not one to a question with options beside open ones."""
    return "text" in item.target or "answer" not in item.target


def needs_no_judge(answer: str) -> bool:
    """Whether an answer is nothing but white space: it gets the scale's minimum, and nobody is asked."""
    return not answer.strip()


def takes_bare_integer(prompts: str, judge: JudgeSpec) -> bool:
    """Whether a reply that is one integer counts, under a prompt set of this name (see `judges.prompting`)."""
    return {"official": False, "reelbench": len(judge.criteria) == 1}.get(prompts, True)


def score_of_votes(cast: Sequence[int], votes: int, rule: VoteRule | str) -> float | None:
    """Return the vote of the scores that could be read; None where they are half of the `votes` asked for, or fewer.

    The rule is `mean`, `median`, or else the most frequent one; of several equally frequent the
    lower median of all.
    """
    if 2 * len(cast) <= votes:
        return None
    if votes == 1:
        return cast[0]
    if rule in _RULES:
        return _RULES[rule](cast)
    most = statistics.multimode(cast)
    return most[0] if len(most) == 1 else statistics.median_low(cast)


def panel_scores(
    scores: Sequence[Mapping[str, float]], criteria: Sequence[str], rule: str
) -> dict[str, float]:
    """Return a panel's scores, by criterion: the mean or median of its judges', where all of them gave one.

    A mean over those who answered would compare items that different judges scored.
    """
    in_all = [criterion for criterion in criteria if all(criterion in some for some in scores)]
    return {
        criterion: float(_RULES[rule]([some[criterion] for some in scores])) for criterion in in_all
    }


def scores_of(
    judge: JudgeSpec, record: JudgeRecord, sample: Sample, *, of_panel: bool = False
) -> dict[str, float]:
    """Return the scores that an item's replies come to, by criterion, under the rules of the judge's record.

    The record may be that of one judge `of_panel`: only its own replies count then.
    """
    if record.panel:
        scores = [scores_of(judge, member, sample, of_panel=True) for member in record.panel]
        return panel_scores(scores, judge.criteria, record.panel_rule or "mean")
    if needs_no_judge(sample.text):
        return dict.fromkeys(judge.criteria, float(judge.low))
    votes: dict[str, list[int]] = {name: [] for name in judge.criteria}
    for reply in sample.judge_replies:
        own = not of_panel or reply.judge == record.requested
        if own and reply.score is not None and reply.criterion in votes:
            votes[reply.criterion].append(reply.score)
    scores = {}
    for name, cast in votes.items():
        # Where a vote could not be had at all, its criterion stays open whatever the others say.
        left_open = (
            name not in sample.scores and sample.state == "unscored" and len(cast) < record.votes
        )
        score = None if left_open else score_of_votes(cast, record.votes, record.vote_rule)
        if score is not None:
            scores[name] = float(score)
    return scores
