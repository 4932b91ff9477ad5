"""A judge that thinks first, through the whole engine: scored, kept, recorded, and paid for once."""

import pytest

from reelbench.judges.judge_run import judge_items
from tests.judges.conftest import judged_item
from tests.servers.judge import Answer, JudgeServer, always

ITEM = judged_item("q1", "Why?", "Because.", "Hm.")
USAGE = {
    "completion_tokens_details": {"reasoning_tokens": 8},
    "prompt_tokens_details": {"cached_tokens": 60},
}


def verdicts(spec, items, options):
    run = judge_items(spec, items, options)
    return list(run), run


def test_it_is_scored_and_paid_for_once(moviecore, options, items):
    thought = Answer('<think>Is it 1? No.\n{"score": 1}</think>\n\n{"score": 4}', usage=USAGE)
    with JudgeServer(lambda _: thought) as server:
        outcomes, run = verdicts(moviecore, items(3), options(server.url))
        assert [verdict.scores for verdict in outcomes] == [
            dict.fromkeys(moviecore.judge.criteria, 4)
        ] * 3
        assert all(
            reply.raw == thought.content for verdict in outcomes for reply in verdict.replies
        )
        assert (run.record.calls, run.record.reasoning_tokens, run.record.cached_tokens) == (
            15,
            15 * 8,
            15 * 60,
        )
        again, run = verdicts(moviecore, items(3), options(server.url))
        assert (again, len(server.calls)) == (outcomes, 15)
        assert (run.record.calls, run.record.cached, run.record.reasoning_tokens) == (0, 15, 15 * 8)


def test_what_no_server_says_is_not_recorded(curve, options):
    with JudgeServer(always("1")) as server:
        _, run = verdicts(curve, [ITEM], options(server.url))
    written = run.record.model_dump()
    assert not {"reasoning_tokens", "cached_tokens", "extra"} & written.keys()


@pytest.mark.parametrize(
    "answer",
    [
        Answer("<think>It is 2, I am sure"),
        Answer("<think>2</think>"),
        Answer("<think>2</think>I give it 2."),
        Answer(None, message={"reasoning_content": "2"}),
        Answer("", message={"reasoning_content": "2"}),
    ],
)
def test_a_verdict_that_never_came_is_no_score(curve, options, answer):
    with JudgeServer(lambda _: answer) as server:
        (verdict,), _ = verdicts(curve, [ITEM], options(server.url))
    assert (verdict.scores, verdict.reason, len(server.calls)) == ({}, "judge_unparsable", 3)


def test_what_is_sent_along_changes_the_key_and_without_it_the_key_stays(curve, options):
    with JudgeServer(always("1")) as server:
        for extra in ({}, {"reasoning_effort": "low"}, {"reasoning_effort": "high"}, {}):
            (verdict,), run = verdicts(curve, [ITEM], options(server.url, extra=extra))
            assert run.record.extra == (extra or None)
        sent = [call.body.get("reasoning_effort") for call in server.calls]
    assert sent == [None, "low", "high"]
    assert verdict.scores == {"score": 1}
