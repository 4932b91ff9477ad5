"""After which statuses a server is asked again, and how often."""

import asyncio

import pytest

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from tests.servers.judge import Answer, JudgeServer

TRIES = 2


def ask(server):
    async def go():
        options = AskOptions(model="m", url=server.url, backoff=0.001, tries=TRIES)
        async with Asker(options, on_note=lambda _: None) as asker:
            return await asker.ask([{"role": "user", "content": "Which?"}], str)

    return asyncio.run(go())


@pytest.mark.parametrize("status", [408, 409, 500, 502, 504])
def test_a_server_that_fails_is_asked_as_often_as_the_user_allows(status):
    with JudgeServer(lambda _: Answer(status=status)) as server:
        result = ask(server)
        assert (result.value, len(server.calls)) == (None, TRIES)


@pytest.mark.parametrize("status", [429, 503, 529])
def test_asking_for_fewer_calls_uses_up_no_try(status):
    replies = [*[Answer(status=status)] * (2 * TRIES), Answer("A")]
    with JudgeServer(lambda call: replies[call.number]) as server:
        result = ask(server)
        assert (result.value, len(server.calls)) == ("A", 2 * TRIES + 1)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 418, 422])
def test_a_request_that_is_refused_is_sent_once(status):
    with JudgeServer(lambda _: Answer(status=status)) as server:
        result = ask(server)
        assert (result.value, len(server.calls)) == (None, 1)
