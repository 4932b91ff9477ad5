"""Judging by a server that fails, is slow or refuses, and what a budget stops."""

import time
from collections import Counter
from email.utils import formatdate

import pytest

from reelbench.judges.judge_options import JudgeOptions
from reelbench.llm.pace import FIRST
from tests.judges.conftest import ITEM, KEY, verdicts
from tests.servers.judge import Answer, JudgeServer, always

# --- a server in trouble
# ---------------------------------------------------------------------------------------------


def failing(times, answer, then='{"score": 3}'):
    """Fail the first `times` requests for each text, then answer."""
    seen = Counter()

    def script(call):
        key = call.system + call.user
        seen[key] += 1
        return answer(call) if seen[key] <= times else Answer(then)

    return script


TROUBLE = {
    "429": lambda _: Answer(status=429),
    "500": lambda _: Answer(status=500),
    "502 in HTML": lambda _: Answer(status=502, raw=b"<html>busy</html>"),
    "408": lambda _: Answer(status=408),
    "409": lambda _: Answer(status=409),
    "dropped in the middle": lambda _: Answer(drop=True),
    "garbage": lambda _: Answer(raw=b"<html>hello</html>"),
    "an error with status 200": lambda _: Answer(raw=b'{"error": {"message": "overloaded"}}'),
    "half a reply": lambda _: Answer(raw=b'{"choices": [{"message": {"content": "{\\"score'),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_trouble_that_passes_leaves_no_trace(moviecore, options, items, trouble):
    with JudgeServer(failing(2, TROUBLE[trouble])) as server:
        outcomes, run = verdicts(moviecore, items(4), options(server.url))
    assert [verdict.scores for verdict in outcomes] == [
        dict.fromkeys(moviecore.judge.criteria, 3)
    ] * 4
    assert len(server.calls) == 60
    assert (run.record.calls, run.notes) == (20, [])


def test_a_slow_reply_times_out_and_is_asked_for_again(curve, options):
    with JudgeServer(failing(1, lambda _: Answer("2", delay=30), then="1")) as server:
        (verdict,), _ = verdicts(curve, [ITEM], options(server.url, timeout=3.0))
    assert (verdict.scores, len(server.calls)) == ({"score": 1}, 2)


@pytest.mark.parametrize("trouble", ["500", "dropped in the middle", "garbage"])
def test_a_server_that_is_down_ends_judging_and_a_rerun_completes_it(
    moviecore, options, items, trouble
):
    with JudgeServer(TROUBLE[trouble]) as server:
        outcomes, run = verdicts(moviecore, items(100), options(server.url, tries=3, concurrency=4))
        assert {verdict.reason for verdict in outcomes} == {"judge_unavailable"}
        assert not any(verdict.scores for verdict in outcomes)
        assert len(server.calls) < 40  # not 500 items x 3 tries
        (note,) = run.notes
        assert server.url[7:-3] in note
        server.script(always())
        outcomes, _ = verdicts(moviecore, items(100), options(server.url))
        assert all(verdict.scores for verdict in outcomes)


def test_what_stopped_the_server_is_told_and_not_an_earlier_trouble(curve, options, items):
    def script(call):
        if call.number == 0:
            return Answer(status=503, error={"message": "loading"})
        if call.number > 2:
            return Answer(status=500, error={"message": "out of power"})
        return Answer("1")

    with JudgeServer(script) as server:
        outcomes, _ = verdicts(curve, items(9), options(server.url, tries=2, concurrency=1))
    causes = [verdict.cause.line for verdict in outcomes if verdict.cause]
    assert len(causes) == 7
    assert all(line.endswith("answered 500: out of power") for line in causes)


def test_nobody_listening(moviecore, options):
    (verdict,), run = verdicts(moviecore, [ITEM], options("http://127.0.0.1:9/v1", tries=2))
    assert verdict.reason == "judge_unavailable"
    assert len(run.notes) == 1
    assert "127.0.0.1:9" in run.notes[0]


def test_one_request_that_always_fails_does_not_end_judging(curve, options, items):
    def script(call):
        return Answer(status=500) if "(3)" in call.user else Answer("1", delay=0.001)

    with JudgeServer(script) as server:
        outcomes, _ = verdicts(curve, items(300), options(server.url, tries=3, concurrency=2))
    assert [verdict.id for verdict in outcomes if verdict.reason] == ["q3"]
    assert outcomes[3].reason == "judge_unavailable"


@pytest.mark.parametrize(
    "headers",
    [
        lambda: {"Retry-After": "1"},
        lambda: {"retry-after-ms": "1000"},
        lambda: {
            "Retry-After": formatdate(time.time() + 2, usegmt=True)
        },  # whole seconds: between 1 and 2 ahead
    ],
)
def test_retry_after_is_honoured_by_all(curve, options, items, headers):
    came = []

    def script(_):
        came.append(time.monotonic())
        return Answer(status=429, headers=headers()) if len(came) <= FIRST else Answer("1")

    with JudgeServer(script) as server:
        outcomes, _ = verdicts(curve, items(5), options(server.url))
    assert all(verdict.scores == {"score": 1} for verdict in outcomes)
    assert came[FIRST] - came[0] >= 0.95


def test_a_wait_beyond_patience_ends_judging(curve, options, items):
    with JudgeServer(lambda _: Answer(status=429, headers={"Retry-After": "7200"})) as server:
        outcomes, run = verdicts(curve, items(5), options(server.url))
    assert {verdict.reason for verdict in outcomes} == {"judge_unavailable"}
    assert len(server.calls) <= FIRST
    assert "7200 s" in run.notes[0]


def test_a_storm_of_429_lowers_the_calls_in_flight_and_loses_nothing(curve, options, items):
    capacity = 4
    refused = []

    def script(call):
        if call.in_flight > capacity:
            refused.append(call.number)
            return Answer(status=429, delay=0.002)
        return Answer("2", delay=0.01)

    with JudgeServer(script) as server:
        outcomes, _ = verdicts(curve, items(400), options(server.url, concurrency=32))
    assert [verdict.scores for verdict in outcomes] == [{"score": 2}] * 400
    late = [call.in_flight for call in server.calls if call.number > len(server.calls) // 2]
    assert max(late) <= 2 * capacity + 2  # it hunts around what the server bears, far from 32
    assert len(refused) < 200


def test_after_a_storm_the_calls_in_flight_climb_again(curve, options, items):
    def script(call):
        return Answer(status=429) if 20 <= call.number < 40 else Answer("2", delay=0.1)

    with JudgeServer(script) as server:
        verdicts(curve, items(150), options(server.url, concurrency=8))
    after = [call.in_flight for call in server.calls if call.number > 40]
    assert min(after) < 4
    assert max(after) == 8


# --- a server that refuses
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_ends_judging_after_the_first_calls(moviecore, options, items, status):
    error = {"message": f"Incorrect API key provided: {KEY}.\nSee the docs."}
    with JudgeServer(lambda _: Answer(status=status, error=error)) as server:
        outcomes, run = verdicts(moviecore, items(50), options(server.url))
    assert len(server.calls) <= FIRST
    assert {verdict.reason for verdict in outcomes} == {"judge_refused"}
    (note,) = run.notes
    assert str(status) in note
    assert "\n" not in note
    assert KEY not in note


def test_a_spent_quota_is_a_refusal(curve, options, items):
    error = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
    with JudgeServer(lambda _: Answer(status=429, error=error)) as server:
        outcomes, _ = verdicts(curve, items(5), options(server.url))
    assert {verdict.reason for verdict in outcomes} == {"judge_refused"}
    assert len(server.calls) <= FIRST


def test_a_model_that_takes_no_temperature_is_asked_without_and_it_is_told(curve, options, items):
    error = {
        "message": "Unsupported value: 'temperature'",
        "param": "temperature",
        "code": "unsupported_value",
    }

    def script(call):
        return Answer(status=400, error=error) if "temperature" in call.body else Answer("1")

    with JudgeServer(script) as server:
        outcomes, run = verdicts(curve, items(5), options(server.url))
        assert all(verdict.scores for verdict in outcomes)
        # Each of the first calls may be refused once.
        assert 5 < len(server.calls) <= 5 + FIRST
        assert run.record.temperature is None
        assert "takes no temperature, so none is sent" in run.notes[0]


def test_a_request_that_is_not_taken_is_not_asked_again(curve, options, items):
    def script(call):
        return (
            Answer(status=400, error={"code": "content_filter"})
            if "(2)" in call.user
            else Answer("1")
        )

    with JudgeServer(script) as server:
        outcomes, run = verdicts(curve, items(20), options(server.url))
    assert [verdict.id for verdict in outcomes if verdict.reason == "judge_rejected"] == ["q2"]
    assert (len(server.calls), len(run.notes)) == (20, 1)


def test_when_every_request_is_rejected_judging_ends(curve, options, items):
    with JudgeServer(lambda _: Answer(status=400)) as server:
        outcomes, _ = verdicts(curve, items(500), options(server.url, concurrency=4))
    assert not any(verdict.scores for verdict in outcomes)
    assert len(server.calls) < 20


def test_without_a_key_and_a_url_nothing_is_sent(curve):
    (verdict,), run = verdicts(curve, [ITEM], JudgeOptions(model="gpt-4o-mini"))
    assert verdict.reason == "judge_refused"
    assert "REELBENCH_JUDGE_API_KEY" in run.notes[0]


def test_a_local_server_needs_no_key(curve, options):
    with JudgeServer(always("1")) as server:
        (verdict,), _ = verdicts(curve, [ITEM], options(server.url, api_key=None))
    assert verdict.scores == {"score": 1}


# --- budgets
# ---------------------------------------------------------------------------------------------------------


def test_a_budget_in_calls_is_never_passed_and_the_next_run_goes_on(moviecore, options, items):
    with JudgeServer(always(delay=0.01)) as server:
        outcomes, run = verdicts(moviecore, items(20), options(server.url, budget_calls=33))
        assert len(server.calls) == 33
        assert run.record.calls == 33
        assert sum(len(verdict.scores) for verdict in outcomes) == 33
        assert {verdict.reason for verdict in outcomes} == {None, "judge_budget"}
        assert len(run.notes) == 1
        outcomes, _ = verdicts(moviecore, items(20), options(server.url, budget_calls=1000))
    assert len(server.calls) == 100
    assert not any(verdict.reason for verdict in outcomes)


def test_failures_do_not_use_up_a_budget_in_calls(curve, options, items):
    with JudgeServer(failing(2, lambda _: Answer(status=500), then="1")) as server:
        outcomes, _ = verdicts(curve, items(5), options(server.url, budget_calls=5))
    assert [verdict.scores for verdict in outcomes] == [{"score": 1}] * 5


def test_a_budget_in_dollars(curve, options, items):
    # The server counts 100 tokens in and 10 out: 100 * $10 / 1e6 + 10 * $100 / 1e6 = $0.002 a call.
    prices = {"usd_per_million_prompt": 10.0, "usd_per_million_completion": 100.0}
    with JudgeServer(always("1")) as server:
        outcomes, run = verdicts(
            curve, items(100), options(server.url, budget_usd=0.101, concurrency=1, **prices)
        )
    assert len(server.calls) <= 50
    assert len(server.calls) >= 40  # the estimate before the first bill is dearer, not wild
    assert sum(asker.tally.spent_usd for asker in run.askers) == pytest.approx(
        0.002 * len(server.calls)
    )
    assert run.record.cost_usd == pytest.approx(0.002 * len(server.calls))
    assert sum(verdict.reason == "judge_budget" for verdict in outcomes) == 100 - len(server.calls)
