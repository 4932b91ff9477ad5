"""Verdicts on items, and the rules by which replies become scores.

The rules serve the judging of items and the recomputation of results.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reelbench.judges.judge_options import VoteRule
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord, JudgeReply, Sample
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

if TYPE_CHECKING:
    from reelbench.llm.pacing import Cause

Judged = tuple[Mapping[str, "Verdict"], JudgeRecord]
"""Verdicts on a benchmark's items, by id, and the judge's record."""

Judge = Callable[[BenchmarkSpec, Iterable[Item]], Judged]
"""Judges those of a benchmark's items that have an answer."""

_RULES = {"mean": statistics.fmean, "median": statistics.median}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's verdict on one item.

    Attributes:
        id: The item's id.
        scores: Criterion -> score, where there is one. A whole number, except under mean votes.
        reasons: Criterion -> the reason why it has no score.
        replies: All replies behind it, in order of criterion, vote and attempt.
        cause: Why the judge's server gave no reply, where it gave none.
    """

    id: str
    scores: dict[str, float]
    reasons: dict[str, Reason]
    replies: Sequence[JudgeReply] = ()
    cause: "Cause | None" = None

    @property
    def reason(self) -> Reason | None:
        """The reason why the item is not (wholly) scored, of several the commonest; or None."""
        if not self.reasons:
            return None
        [(reason, _)] = Counter(self.reasons.values()).most_common(1)
        return reason


def is_judged(item: Item | Sample) -> bool:
    """Return True where the benchmark's judge marks an answer.

    It marks none to a question with options that stands beside open ones.
    """
    return "text" in item.target or "answer" not in item.target


def needs_no_judge(answer: str) -> bool:
    """Return True for an answer that is only white space.

    It gets the scale's minimum, and nobody is asked.
    """
    return not answer.strip()


def takes_bare_integer(prompts: str, judge: JudgeSpec) -> bool:
    """Return True where a reply that is one integer counts.

    That follows from the prompt set's name. See `judges.prompting` for the names.
    """
    if prompts == "official":
        return False
    if prompts == "reelbench":
        return len(judge.criteria) == 1
    return True


def score_of_votes(cast: Sequence[int], votes: int, rule: VoteRule | str) -> float | None:
    """Return the score of several votes.

    Args:
        cast: The scores that could be read.
        votes: The number of votes asked for.
        rule: `mean`, `median`, or else the most frequent one; of several equally frequent the lower
            median of all.

    Returns:
        The score. None where no more than half of the votes could be read.
    """
    if 2 * len(cast) <= votes:
        return None
    if votes == 1:
        return cast[0]
    if rule in _RULES:
        return _RULES[rule](cast)
    most_frequent = statistics.multimode(cast)
    if len(most_frequent) == 1:
        return most_frequent[0]
    return statistics.median_low(cast)


def panel_scores(
    scores: Sequence[Mapping[str, float]], criteria: Sequence[str], rule: str
) -> dict[str, float]:
    """Return a panel's scores: of each criterion the mean or median of its judges'.

    Only where all of them gave one: a mean over those who answered would compare items that
    different judges scored.
    """
    mean_or_median = _RULES[rule]
    scores_of_panel: dict[str, float] = {}
    for criterion in criteria:
        judges_scores = [judge[criterion] for judge in scores if criterion in judge]
        if len(judges_scores) == len(scores):
            score = mean_or_median(judges_scores)
            scores_of_panel[criterion] = float(score)
    return scores_of_panel


def scores_of(
    judge: JudgeSpec, record: JudgeRecord, sample: Sample, *, of_panel: bool = False
) -> dict[str, float]:
    """Return an item's scores, by criterion, from its replies.

    Args:
        judge: The benchmark's judge.
        record: The judge's record, which has the rules.
        sample: The item, with its replies.
        of_panel: The record is that of one judge of a panel: only its own replies count.
    """
    if record.panel:
        scores = [scores_of(judge, member, sample, of_panel=True) for member in record.panel]
        return panel_scores(scores, judge.criteria, record.panel_rule or "mean")
    if needs_no_judge(sample.text):
        return dict.fromkeys(judge.criteria, float(judge.low))
    replies = sample.judge_replies
    if of_panel:
        replies = [reply for reply in replies if reply.judge == record.requested]
    votes: dict[str, list[int]] = {name: [] for name in judge.criteria}
    for reply in replies:
        if reply.score is not None and reply.criterion in votes:
            votes[reply.criterion].append(reply.score)
    scores_by_criterion: dict[str, float] = {}
    for criterion, cast in votes.items():
        # Where a vote could not be had at all, its criterion stays open whatever the others say.
        lacks_votes = sample.state == "unscored" and len(cast) < record.votes
        if lacks_votes and criterion not in sample.scores:
            continue
        score = score_of_votes(cast, record.votes, record.vote_rule)
        if score is not None:
            scores_by_criterion[criterion] = float(score)
    return scores_by_criterion
