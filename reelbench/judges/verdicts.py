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
    """Return True where the benchmark's judge scores an answer.

    It scores none to a question with options that stands beside open ones.
    """
    is_open_question = "text" in item.target
    has_right_option = "answer" in item.target
    return is_open_question or not has_right_option


def is_blank_answer(answer: str) -> bool:
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


def score_of_votes(scores: Sequence[int], votes: int, rule: VoteRule | str) -> float | None:
    """Return the score of several votes.

    Args:
        scores: The scores that could be read.
        votes: The number of votes asked for.
        rule: `mean`, `median`, or else the most frequent one; of several equally frequent the lower
            median of all.

    Returns:
        The score. None where no more than half of the votes could be read.
    """
    if 2 * len(scores) <= votes:
        return None
    if votes == 1:
        return scores[0]
    if rule in _RULES:
        return _RULES[rule](scores)
    most_frequent = statistics.multimode(scores)
    if len(most_frequent) == 1:
        return most_frequent[0]
    return statistics.median_low(scores)


def panel_scores(
    scores_by_judge: Sequence[Mapping[str, float]], criteria: Sequence[str], rule: str
) -> dict[str, float]:
    """Return a panel's scores: of each criterion the mean or median of its judges'.

    A criterion that a judge did not score has none: else items would be compared that different
    judges scored.
    """
    mean_or_median = _RULES[rule]
    scores_of_panel: dict[str, float] = {}
    for criterion in criteria:
        scores = [judge[criterion] for judge in scores_by_judge if criterion in judge]
        if len(scores) == len(scores_by_judge):
            scores_of_panel[criterion] = float(mean_or_median(scores))
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
    if is_blank_answer(sample.text):
        return dict.fromkeys(judge.criteria, float(judge.low))
    replies = sample.judge_replies
    if of_panel:
        replies = [reply for reply in replies if reply.judge == record.requested]
    votes_by_criterion: dict[str, list[int]] = {criterion: [] for criterion in judge.criteria}
    for reply in replies:
        if reply.score is not None and reply.criterion in votes_by_criterion:
            votes_by_criterion[reply.criterion].append(reply.score)
    scores_by_criterion: dict[str, float] = {}
    for criterion, votes in votes_by_criterion.items():
        # If a vote was not available at all, its criterion has no score, whatever the others say.
        lacks_votes = sample.state == "unscored" and len(votes) < record.votes
        if lacks_votes and criterion not in sample.scores:
            continue
        score = score_of_votes(votes, record.votes, record.vote_rule)
        if score is not None:
            scores_by_criterion[criterion] = float(score)
    return scores_by_criterion
