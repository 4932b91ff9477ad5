"""What a server of few slots is asked, and when a call to it is given up."""

import asyncio
import threading
import time

import pytest

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.reply import Reply
from tests.servers.judge import Answer, JudgeServer


class Slots:
    """A server of so many slots, as laptops have them: further requests stand in line.

    Ollama and llama.cpp work this way (`--parallel 1`), and vLLM above `--max-num-seqs`.
    """

    def __init__(self, slots, seconds):
        self.seconds = seconds
        self.free_at = [0.0] * slots
        self.lock = threading.Lock()

    def __call__(self, _call):
        now = time.monotonic()
        with self.lock:
            slot = self.free_at.index(min(self.free_at))
            done_at = max(now, self.free_at[slot]) + self.seconds
            self.free_at[slot] = done_at
        return Answer("7", delay=done_at - now)


def ask(server, *, questions=30, **options):
    async def go():
        given = AskOptions(model="m", url=server.url, backoff=0.01, **options)
        async with Asker(given, on_note=lambda _: None) as asker:
            asking = [
                asker.ask([{"role": "user", "content": f"{place}?"}], str)
                for place in range(questions)
            ]
            return await asyncio.gather(*asking), asker.notes

    return asyncio.run(go())


@pytest.mark.parametrize(("slots", "seconds"), [(1, 0.05), (2, 0.1)])
def test_a_slow_server_is_never_drowned(slots, seconds):
    """All of it takes longer than the time limit of one call, and no call is given up."""
    with JudgeServer(Slots(slots, seconds)) as server:
        results, notes = ask(server, timeout=1.0)
        assert {result.value for result in results} == {"7"}
        assert (len(server.calls), notes) == (30, [])
        # Half of the time limit, and the reply's own.
        assert server.most_in_flight <= 1.5 * (0.5 + seconds) * slots / seconds


def test_where_nothing_is_finished_one_call_goes_alone_and_then_asking_stops():
    with JudgeServer(lambda _: Answer(delay=60)) as server:
        results, notes = ask(server, timeout=0.3)
        assert {result.reason for result in results} == {"unavailable"}
        assert len(server.calls) == 4 + 1
        [line] = notes
        assert "did not answer within 0.3 s, asked one question alone: asking stopped" in line
        assert line.endswith("run again later, or with --llm-timeout S, which waits longer")


def test_a_server_that_wakes_up_is_asked_on():
    def script(call):
        return Answer("7", delay=60 if 8 <= call.number < 12 else 0.0)

    with JudgeServer(script) as server:
        results, notes = ask(server, timeout=0.5, concurrency=4)
        assert ({result.value for result in results}, notes) == ({"7"}, [])
        assert len(server.calls) == 34


def test_a_call_that_hangs_while_others_are_finished_is_asked_again():
    def script(call):
        return Answer("7", delay=60 if call.number == 5 else 0.02)

    with JudgeServer(script) as server:
        results, notes = ask(server, questions=200, timeout=0.5, concurrency=4)
        assert ({result.value for result in results}, notes) == ({"7"}, [])
        assert len(server.calls) == 201


def test_503_is_waited_out_as_429_is():
    def script(call):
        if call.in_flight > 4:
            return Answer(status=503)
        return Answer("7", delay=0.01)

    with JudgeServer(script) as server:
        results, notes = ask(server, questions=100)
        assert ({result.value for result in results}, notes) == ({"7"}, [])


def test_a_reply_to_another_process_is_a_sign_of_life():
    """Our call stands in line behind another machine's, which the store knows of."""

    async def ask_twice(server):
        given = AskOptions(model="m", url=server.url, timeout=0.5)
        async with Asker(given, on_note=lambda _: None) as asker:
            asking = asyncio.ensure_future(asker.ask([{"role": "user", "content": "?"}], str))
            for place in range(4):
                await asyncio.sleep(0.3)
                reply = Reply("7", "stop", "m", 9, 1, given.host)
                await asker.cache.put(bytes([place]) * 32, "m", reply)
            return await asking

    with JudgeServer(lambda _: Answer("7", delay=1.2)) as server:
        assert asyncio.run(ask_twice(server)).value == "7"
        assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("options", "seconds", "alone"),
    [
        ({}, 120, 240),
        ({"thinking": True}, 600, 1200),
        ({"max_tokens": 4096}, 120, 240),
        ({"max_tokens": 4097}, 600, 1200),
        ({"thinking": True, "timeout": 30.0}, 30, 30),
    ],
)
def test_the_time_limit_is_as_long_as_answers_may_be(options, seconds, alone):
    given = AskOptions(model="m", **options)
    assert (given.time_limit, given.probe_limit) == (seconds, alone)
