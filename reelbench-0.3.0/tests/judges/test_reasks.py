"""Asking a judge once more: in other words, with the schema of its reply, and under a bound."""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from reelbench.base.errors import InputError
from reelbench.judges.prompting import load_prompts
from reelbench.leaderboard import replies
from reelbench.llm.cache import open_store
from reelbench.registry.records import Sample
from tests.judges.conftest import ITEM, verdicts
from tests.servers.batches import BatchServer, answered
from tests.servers.judge import Answer, JudgeServer, always

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "enum": [0, 1, 2]}},
    "required": ["score"],
    "additionalProperties": False,
}
BY_SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
}


def talks(call):
    """A small judge, as the real one was: words without a schema, a mark under one."""
    if "response_format" in call.body:
        return Answer('{"score": 1}')
    return Answer("I like this answer.")


def only(*forms, error="response_format.type must be another"):
    """A judge whose server takes some forms of a schema alone."""

    def script(call):
        form = call.body.get("response_format", {})
        if not form:
            return Answer("I like this answer.")
        if (form["type"], "schema" in form) in forms:
            return Answer('{"score": 1}')
        return Answer(status=400, error={"message": error})

    return script


WITHOUT_SCHEMA = only(("json_object", False))


def formats(server):
    return [call.body.get("response_format") for call in server.calls]


def roles(call):
    return [message["role"] for message in call.body["messages"]]


def test_a_re_ask_says_what_was_wrong_and_carries_the_schema(curve, options):
    with JudgeServer(talks) as server:
        (verdict,), run = verdicts(curve, [ITEM], options(server.url))
        assert formats(server) == [None, BY_SCHEMA]
        first, second = server.calls
        assert second.body["messages"][: len(first.body["messages"])] == first.body["messages"]
        reply, request = second.body["messages"][-2:]
        assert (reply["role"], reply["content"]) == ("assistant", "I like this answer.")
        assert "could not be read" in request["content"]
        assert '{"score": n}' in request["content"]
        assert verdict.scores == {"score": 1}
        assert [reply.by_schema for reply in verdict.replies] == [False, True]
        again, _ = verdicts(curve, [ITEM], options(server.url))
        assert (again, len(server.calls)) == ([verdict], 2)
    assert run.record.structured is None


@pytest.mark.parametrize(
    ("when", "sent", "last_role"),
    [
        ("always", [BY_SCHEMA], "user"),
        ("never", [None, None, None], "assistant"),
        ("retry", [None, BY_SCHEMA], "assistant"),
    ],
)
def test_when_the_schema_is_sent(curve, options, when, sent, last_role):
    with JudgeServer(talks) as server:
        (verdict,), run = verdicts(curve, [ITEM], options(server.url, structured=when))
        assert formats(server) == sent
        assert last_role in roles(server.calls[-1])
    assert verdict.scores == ({} if when == "never" else {"score": 1})
    assert run.record.structured == ("always" if when == "always" else None)


def test_the_owners_prompts_are_asked_again_in_the_same_words_unless_it_is_asked_for(
    moviecore, options, monkeypatch
):
    # The owners' own are downloaded; what makes them the owners' here is their name.
    def official(spec, _):
        return replace(load_prompts(spec, "reelbench"), name="official")

    monkeypatch.setattr("reelbench.judges.judge_run.load_prompts", official)
    with JudgeServer(talks) as server:
        verdicts(moviecore, [ITEM], options(server.url))
        assert len(server.calls) == 15
        assert {tuple(roles(call)) for call in server.calls} == {("system", "user")}
        verdicts(moviecore, [ITEM], options(server.url, model="judge-2", structured="retry"))
        assert sum(form is not None for form in formats(server)) == 5


@pytest.mark.parametrize(
    ("script", "sent"),
    [
        (only(("json_object", True)), ["json_schema", "json_object"]),
        (WITHOUT_SCHEMA, ["json_schema", "json_object", "json_object"]),
        (only(), ["json_schema", "json_object", "json_object", None, None]),
        (
            only(error="This response_format type is unavailable now"),
            ["json_schema", "json_object", "json_object", None, None],
        ),
        (
            only(error="Failed to parse grammar"),
            ["json_schema", "json_object", "json_object", None, None],
        ),
    ],
)
def test_the_form_that_a_server_takes_is_learnt_once(curve, options, items, script, sent):
    def types(calls):
        forms = [call.body.get("response_format") for call in calls]
        return [form and form["type"] for form in forms]

    with JudgeServer(script) as server:
        verdicts(curve, [ITEM], options(server.url))
        assert types(server.calls[1:]) == sent
        before = len(server.calls)
        outcomes, _ = verdicts(curve, items(3), options(server.url))
        assert set(types(server.calls[before:])) == {None, sent[-1]}
    for verdict in outcomes:
        assert bool(verdict.scores) == (sent[-1] is not None)
        has_schema = [reply.by_schema for reply in verdict.replies]
        carries_schema = script is not WITHOUT_SCHEMA
        assert has_schema == ([False, carries_schema] if sent[-1] else [False] * 3)


@pytest.mark.parametrize("kept", ["same words", "words alone"])
def test_kept_re_asks_are_read_before_one_is_sent(curve, options, kept):
    """As other releases sent them: first the same words, then words without a schema."""
    with JudgeServer(always("no")) as server:
        chosen = options(server.url)
        if kept == "words alone":
            verdicts(curve, [ITEM], replace(chosen, structured="never"))
        else:
            _keep_in_same_words(curve, chosen)
        before = len(server.calls)
        (verdict,), _ = verdicts(curve, [ITEM], chosen)
        assert (len(server.calls), verdict.reason) == (before, "judge_unparsable")
        assert [reply.attempt for reply in verdict.replies] == [0, 1, 2]


def _keep_in_same_words(spec, chosen):
    prompts = load_prompts(spec, "reelbench")
    owners = replace(prompts, name="official")
    from reelbench.judges.judge_run import JudgeRun

    list(JudgeRun(spec.judge, owners, [ITEM], chosen))


def test_the_keys_of_re_asks_are_verified(curve, options):
    """By the board: whichever way asked, and none that was put in."""
    for when in ("always", "retry", "never"):
        with JudgeServer(talks) as server:
            chosen = options(server.url, structured=when, model=f"judge-{when}")
            (verdict,), run = verdicts(curve, [ITEM], chosen)
        assert list(_problems(curve, run.record, verdict)) == []
        if when != "always":
            first, *others = verdict.replies
            forged = replace(verdict, replies=[first.model_copy(update={"raw": "Hm"}), *others])
            assert any("key does not fit" in line for line in _problems(curve, run.record, forged))


def _problems(spec, record, verdict):
    reason = verdict.reason
    sample = Sample(
        id="q1",
        video="film",
        state="scored" if reason is None else "unscored",
        reason=reason,
        target={"text": ITEM.target["text"]},
        prediction=ITEM.prediction,
        scores={name: float(score) for name, score in verdict.scores.items()},
        judge_replies=list(verdict.replies),
    )
    row = {"question": ITEM.question}
    prompts = load_prompts(spec, "reelbench")
    return replies.problems(spec.judge, record, sample, prompts, row)


# --- the bound on a reply


def limits(server):
    return [call.body.get("max_tokens") for call in server.calls]


@pytest.mark.parametrize(
    ("more", "sent"),
    [
        ({}, 8192),
        ({"max_tokens": 300}, 300),
        ({"extra": {"reasoning_effort": "low"}}, 32_768),
        ({"extra": {"max_tokens": 77}}, 77),
        ({"extra": {"max_tokens": None}}, None),
    ],
)
def test_a_reply_has_a_bound_which_is_no_part_of_its_key(curve, options, more, sent):
    with JudgeServer(always("1")) as server:
        verdicts(curve, [ITEM], options(server.url, **more))
        assert limits(server) == [sent]
        verdicts(curve, [ITEM], options(server.url, **{"max_tokens": 500} | more))
        assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("window", "more", "sent"),
    [(4096, {}, None), (4096, {"max_tokens": 300}, 300), (20_000, {}, 8192)],
)
def test_a_bound_that_the_stated_window_may_not_hold_is_not_sent(
    curve, options, window, more, sent
):
    with JudgeServer(always("1")) as server:
        server.list_models({"id": "judge-1", "owned_by": "vllm", "max_model_len": window})
        verdicts(curve, [ITEM], options(server.url, **more))
        assert limits(server) == [sent]


def test_a_prompt_that_is_too_long_leaves_the_others_their_bound(curve, options, items):
    def script(call):
        if "(0)" in call.user:
            words = "This model's maximum context length is 4096 tokens, the prompt has 5000"
            return Answer(status=400, error={"message": words})
        return Answer("1")

    with JudgeServer(script) as server:
        outcomes, run = verdicts(curve, items(3), options(server.url, concurrency=1))
        assert limits(server) == [8192, None, 8192, 8192]
    assert [verdict.reason for verdict in outcomes] == ["judge_rejected", None, None]
    assert not any("bound" in note for note in run.notes)


def test_the_bound_is_left_out_after_a_refusal_of_it(curve, options, items):
    def script(call):
        if "max_tokens" in call.body:
            words = "max_tokens is too large: 8192. This model's maximum context length is 4096"
            return Answer(status=400, error={"message": words})
        return Answer("1")

    with JudgeServer(script) as server:
        outcomes, _ = verdicts(curve, items(3), options(server.url, concurrency=1))
        assert limits(server) == [8192, None, None, None]
    assert all(verdict.scores == {"score": 1} for verdict in outcomes)


def test_a_reply_that_was_cut_is_asked_for_once_more(curve, options):
    with JudgeServer(always("So, so, so", finish="length")) as server:
        (verdict,), _ = verdicts(curve, [ITEM], options(server.url, max_tokens=100))
        assert (verdict.reason, formats(server)) == ("judge_cut_off", [None, BY_SCHEMA])
        verdicts(curve, [ITEM], options(server.url, max_tokens=100))
        assert len(server.calls) == 2
        # A higher bound passes the kept ones over.
        server.script(always("1"))
        (verdict,), run = verdicts(curve, [ITEM], options(server.url, max_tokens=200))
        assert (verdict.scores, limits(server)) == ({"score": 1}, [100, 100, 200])
        assert list(_problems(curve, run.record, verdict)) == []
        again, _ = verdicts(curve, [ITEM], options(server.url, max_tokens=100))
        assert (again[0].scores, len(server.calls)) == ({"score": 1}, 3)


def test_a_batched_reply_that_was_cut_is_asked_for_again_under_a_higher_bound(curve, options):
    def cut(_, line):
        made = answered(line, "So, so, so")
        made["response"]["body"]["choices"][0]["finish_reason"] = "length"
        return made

    reasons: list[str | None] = []
    with BatchServer() as server:
        for bound in (100, 100, 100, 200):
            chosen = options(server.url, batch=True, max_tokens=bound)
            (verdict,), _ = verdicts(curve, [ITEM], chosen)
            reasons.append(verdict.reason)
            server.finish("completed", cut)
    assert reasons == ["judge_pending", "judge_pending", "judge_cut_off", "judge_pending"]


def test_a_judge_that_is_seen_to_reason_gets_the_longer_bound(curve, options):
    def script(call):
        if call.body["max_tokens"] == 8192:
            return Answer("<think>Is it", finish="length")
        return Answer("<think>It is.</think>1")

    with JudgeServer(script) as server:
        (verdict,), _ = verdicts(curve, [ITEM], options(server.url))
        assert (verdict.scores, limits(server)) == ({"score": 1}, [8192, 32_768])
        assert formats(server) == [None, None]
        again, _ = verdicts(curve, [ITEM], options(server.url))
        assert (again[0].scores, len(server.calls)) == ({"score": 1}, 2)


def test_the_bound_that_cut_a_reply_is_kept_beside_it(curve, options, home):
    with JudgeServer(always("So, so, so", finish="length")) as server:
        verdicts(curve, [ITEM], options(server.url, max_tokens=100))
    with closing(open_store(home / "judge.sqlite", print)) as store:
        givers = {stored.giver or "" for stored in store.replies()}
    assert [json.loads(giver) for giver in givers] == [{"bound": 100}]


def test_words_that_are_no_time_to_send_a_schema(options):
    with pytest.raises(InputError, match="--judge-structured: 'maybe' is not always, retry, never"):
        options("http://127.0.0.1:1/v1", structured="maybe")
