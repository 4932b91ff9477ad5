"""From replies to scores: votes, criteria that stay open, and panels of judges."""

import pytest

from reelbench.judges.verdicts import panel_scores, scores_of
from reelbench.registry.records import JudgeRecord, JudgeReply, Sample
from reelbench.tasks.moviecore import SPEC

CRITERIA = SPEC.judge.criteria


def record(votes=1, **fields):
    return JudgeRecord.model_construct(
        requested="j", votes=votes, vote_rule="majority", panel=None, **fields
    )


def sample(replies, *, scores=None, state="scored", text="He left."):
    replies_of_vote = [
        JudgeReply.model_construct(criterion=name, vote=vote, raw="", score=score, judge=judge)
        for name, vote, score, judge in replies
    ]
    return Sample.model_construct(
        id="q",
        prediction=text,
        parsed={"text": text},
        scores=scores or {},
        state=state,
        judge_replies=replies_of_vote,
    )


def test_a_panel_scores_a_criterion_that_all_of_it_scored():
    both = [{"depth": 1.0, "evidence": 4.0}, {"depth": 4.0}]
    assert panel_scores(both, ("depth", "evidence"), "mean") == {"depth": 2.5}
    assert panel_scores([*both, {"depth": 5.0}], ("depth",), "median") == {"depth": 4.0}
    assert panel_scores([{"evidence": 1.0}], ("depth",), "mean") == {}


@pytest.mark.parametrize(
    ("cast", "scores", "state", "expected"),
    [
        ([3, 3, 5], {}, "scored", 3),
        ([3, 5, None], {}, "scored", 3),  # two of three could be read: the lower median
        ([3, None, None], {}, "scored", None),  # no more than half of them
        # A vote could not be had: open, whatever the others say, unless the result has scored it.
        ([3, 3], {}, "unscored", None),
        ([3, 3], {"depth": 3.0}, "unscored", 3),
        ([3, 3], {}, "scored", 3),
        ([3, 3, 3], {}, "unscored", 3),
    ],
)
def test_votes_and_what_is_left_open(cast, scores, state, expected):
    replies = [("depth", vote, score, None) for vote, score in enumerate(cast)]
    scores_read = scores_of(
        SPEC.judge, record(votes=3), sample(replies, scores=scores, state=state)
    )
    assert scores_read == ({} if expected is None else {"depth": expected})


def test_an_empty_answer_has_the_least_of_every_criterion():
    assert scores_of(SPEC.judge, record(), sample([], text="  ")) == dict.fromkeys(
        CRITERIA, SPEC.judge.low
    )
