"""The asker against a real local server: what is asked again, what is sent, what is paid for."""

import asyncio
import base64
import gc
import hashlib
import json
import threading

import pytest
from pydantic import BaseModel, ConfigDict

from reelbench.base.errors import ReelbenchError
from reelbench.llm import ask_result
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker, RetryCursor
from reelbench.llm.budget import Budget
from reelbench.llm.messages import Attachment
from reelbench.llm.reading import UnreadableError, read_model
from reelbench.llm.reply import Reply
from tests.alarms import PATIENCE_S
from tests.servers.judge import Answer, JudgeServer

PIXEL = bytes.fromhex("ffd8ffe000104a46494600")


class Colour(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


def said(text):
    return [{"role": "user", "content": text}]


def run(server, question, *, budget=None, **options):
    """Ask in one event loop: `question(asker)` is a coroutine."""

    async def go():
        given = {"model": "m", "url": server.url, "backoff": 0.01} | options
        async with Asker(AskOptions(**given), budget=budget, on_note=lambda _: None) as asker:
            return await question(asker), asker.tally

    return asyncio.run(go())


def colour(text):
    return read_model(text, Colour)


def told(messages, reply, error):
    return [
        *messages,
        {"role": "assistant", "content": reply or ""},
        {"role": "user", "content": f"Wrong: {error}"},
    ]


def test_a_reply_that_does_not_read_is_asked_again_with_the_error():
    replies = ["I'd say blue.", '{"nam": "blue"}', 'Now:\n```json\n{"name": "blue"}\n```']
    with JudgeServer(lambda call: Answer(replies[call.number])) as server:
        asked, _ = run(server, lambda a: a.ask(said("Which?"), colour, again=told))
        assert asked.value == Colour(name="blue")
        assert [kept.attempt for kept in asked.replies] == [0, 1, 2]
        sent = [call.body["messages"] for call in server.calls]
        assert sent[1][:1] == sent[0]
        assert sent[1][1] == {"role": "assistant", "content": "I'd say blue."}
        assert "does not end in one complete JSON object" in sent[1][2]["content"]
        assert "name: Field required" in sent[2][-1]["content"]
        again, tally = run(server, lambda a: a.ask(said("Which?"), colour, again=told))
        assert (again.value, tally.calls, len(server.calls)) == (asked.value, 0, 3)


def test_three_replies_that_do_not_read_are_all_that_is_asked():
    with JudgeServer(lambda _: Answer("no")) as server:
        asked, _ = run(server, lambda a: a.ask(said("Which?"), colour))
        assert (asked.value, asked.reason, len(server.calls)) == (None, "unparsable", 3)
        assert "JSON object" in asked.error
        asked, _ = run(server, lambda a: a.ask(said("Which?"), colour))
        assert (asked.reason, len(server.calls)) == ("unparsable", 3)
        asked, _ = run(server, lambda a: a.ask(said("Which?"), colour), retry_unread=True)
        assert (asked.reason, len(server.calls)) == ("unparsable", 6)
        asked, _ = run(server, lambda a: a.ask(said("Another?"), colour), retry_unread=True)
        assert (asked.reason, len(server.calls)) == ("unparsable", 9)


def test_an_image_goes_as_a_data_url_and_enters_the_key_by_its_hash(tmp_path):
    path = tmp_path / "frame.jpg"
    path.write_bytes(PIXEL)
    question = [
        {"role": "user", "content": ["Which?", Attachment("image_url", "image/jpeg", path)]}
    ]
    same = [{"role": "user", "content": ["Which?", Attachment("image_url", "image/jpeg", PIXEL)]}]
    with JudgeServer(lambda _: Answer('{"name": "red"}')) as server:
        first, _ = run(server, lambda a: a.ask(question, colour))
        url = "data:image/jpeg;base64," + base64.b64encode(PIXEL).decode()
        assert server.calls[0].body["messages"][0]["content"] == [
            {"type": "text", "text": "Which?"},
            {"type": "image_url", "image_url": {"url": url}},
        ]
        run(server, lambda a: a.ask(same, colour))
        assert len(server.calls) == 1
        path.write_bytes(PIXEL + b"x")
        run(server, lambda a: a.ask(question, colour))
        assert len(server.calls) == 2
    # By hand: the sha256 stands where the bytes were, and the whole is hashed with vote and
    # attempt.
    url = f"sha256:{hashlib.sha256(PIXEL).hexdigest()}"
    content = [{"type": "text", "text": "Which?"}, {"type": "image_url", "image_url": {"url": url}}]
    shape = hashlib.sha256(
        json.dumps(["m", [{"role": "user", "content": content}], {}]).encode()
    ).digest()
    assert first.replies[0].key == hashlib.sha256(shape + b"|0|0").digest()


def test_what_is_sent_next_is_made_ready_while_the_server_is_waited_for(monkeypatch):
    made, next_one, content = [], threading.Event(), Attachment.content

    def noted(attachment):
        made.append(attachment.data)
        if len(made) > 1:
            next_one.set()
        return content(attachment)

    monkeypatch.setattr(Attachment, "content", noted)
    seen = []

    def script(_):
        seen.append((next_one.wait(PATIENCE_S), len(made)))
        return Answer('{"name": "red"}')

    pictures = [
        Attachment("image_url", "image/jpeg", PIXEL + bytes([number])) for number in range(8)
    ]
    with JudgeServer(script) as server:

        async def go(asker):
            asking = (
                asker.ask([{"role": "user", "content": [one, "Which?"]}], colour)
                for one in pictures
            )
            return [asked.reason for asked in await asyncio.gather(*asking)]

        assert run(server, go, concurrency=1)[0] == [None] * 8
    assert seen[0][0]
    assert all(
        number <= done + 3 for done, (_, number) in enumerate(seen)
    )  # the one that is sent, and two
    assert sorted(made) == [one.data for one in pictures]


def test_askers_that_share_a_budget_stop_together():
    with JudgeServer(lambda _: Answer('{"name": "red"}')) as server:
        budget = Budget(calls=3)

        async def go(asker):
            other = Asker(
                AskOptions(model="other", url=server.url), budget=budget, on_note=lambda _: None
            )
            async with other:
                asked = [
                    await each.ask(said(f"{n}?"), colour)
                    for n in range(2)
                    for each in (asker, other)
                ]
            return [one.reason for one in asked]

        reasons, _ = run(server, go, budget=budget)
        assert reasons == [None, None, None, "budget"]
        assert len(server.calls) == 3


def test_an_error_that_nobody_waits_for_any_more_is_not_printed(caplog):
    gone = threading.Event()

    async def leave(asker):
        asked, loop = asyncio.Event(), asyncio.get_running_loop()

        def refuse(_):
            loop.call_soon_threadsafe(asked.set)
            gone.wait()
            return Answer(status=500)

        server.script(refuse)

        def full(*_):
            raise ReelbenchError("the disk is full")

        asker.cache.store.release = full
        asking = asyncio.ensure_future(asker.ask(said("Which?"), colour))
        await asked.wait()
        fetching = next(iter(asker.cache.in_flight.values()))
        asking.cancel()
        gone.set()
        await asyncio.wait([asking, fetching])
        return [asking.cancelled(), fetching.done()]

    with JudgeServer() as server:
        assert run(server, leave, tries=1)[0] == [True, True]
    gc.collect()
    assert [line for line in caplog.messages if "never retrieved" in line] == []


def test_askers_of_one_server_share_the_calls_in_flight():
    refused, holding = Answer(status=401), Answer('{"name": "red"}', delay=0.02)
    for answer, reasons, most_calls in ((refused, {"refused"}, 4), (holding, {None}, 16)):
        with JudgeServer(lambda _, answer=answer: answer) as server:

            async def go(server=server):
                options = [
                    AskOptions(model=name, url=server.url, concurrency=4)
                    for name in ("one", "other")
                ]
                askers = [Asker(one, on_note=lambda _: None) for one in options]
                asking = [each.ask(said(f"{n}?"), colour) for n in range(8) for each in askers]
                asked = await asyncio.gather(*asking)
                for each in askers:
                    await each.shut()
                    each.close()
                return {one.reason for one in asked}

            assert asyncio.run(go()) == reasons
            assert len(server.calls) <= most_calls
            assert server.most_in_flight <= 4


def test_a_budget_in_dollars_counts_images():
    image = Attachment("image_url", "image/jpeg", PIXEL)
    prices = {"usd_per_million_prompt": 100.0, "usd_per_million_completion": 100.0}
    with JudgeServer(lambda _: Answer('{"name": "red"}')) as server:
        messages = [{"role": "user", "content": ["Which?", image]}]
        asked, _ = run(server, lambda a: a.ask(messages, colour), budget_usd=0.05, **prices)
        assert (asked.reason, server.calls) == ("budget", [])  # about 1,024 tokens at $0.0001
        asked, _ = run(server, lambda a: a.ask(said("Which?"), colour), budget_usd=0.05, **prices)
        assert asked.value == Colour(name="red")


def test_what_else_is_sent_is_part_of_the_key():
    with JudgeServer(lambda _: Answer('{"name": "red"}')) as server:
        run(server, lambda a: a.ask(said("Which?"), colour))
        run(server, lambda a: a.ask(said("Which?"), colour), extra={"reasoning_effort": "low"})
        run(server, lambda a: a.ask(said("Which?"), colour), extra={"reasoning_effort": "low"})
        assert [call.body.get("reasoning_effort") for call in server.calls] == [None, "low"]


def test_looking_sends_nothing_and_counts_nothing():
    async def look(asker):
        return RetryCursor(asker, said("Which?"), colour)

    with JudgeServer(lambda _: Answer('{"name": "red"}')) as server:
        assert run(server, look)[0].key is not None
        run(server, lambda a: a.ask(said("Which?"), colour))
        cursor, tally = run(server, look)
        assert (cursor.result().value, tally.replies, len(server.calls)) == (
            Colour(name="red"),
            0,
            1,
        )


def test_a_cache_that_cant_be_written_ends_the_work_before_another_call(monkeypatch):
    from reelbench.llm import cache

    kept = cache.ReplyCache.put
    puts = []

    async def full(self, key, *more):
        puts.append(key)
        if len(puts) > 10:
            raise ReelbenchError("the disk is full")
        await kept(self, key, *more)

    monkeypatch.setattr(cache.ReplyCache, "put", full)
    with JudgeServer(lambda _: Answer('{"name": "red"}', delay=0.01)) as server:

        async def go(asker):
            asks = [asker.ask(said(f"{n}?"), colour) for n in range(200)]
            return await asyncio.gather(*asks, return_exceptions=True)

        outcomes, _ = run(server, go, concurrency=8)
        lost = len(server.calls) - 10
    assert lost <= 8  # what was in flight, and no call more
    assert any(isinstance(outcome, ReelbenchError) for outcome in outcomes)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (None, "empty or was cut short"),
        ("", "complete JSON object"),
        ('{"name": "a", "name": "b"}', "each key once"),
        ('{"name": "a"} or {"name": "b"}?', "two whole JSON objects that differ"),
        ('{"name": 3}', "name: Input should be a valid string"),
        ('{"name": "a", "x": 1}', "x: Extra inputs"),
        ('{"name": ' + "[" * 5000 + "]" * 5000 + "}", "complete JSON object"),
        ('{"name": ' + "9" * 5000 + "}", "complete JSON object"),
        ("{" * 150_000 + "}", "complete JSON object"),
        ('{"name": "' + "x" * 300_000 + '"}', "longer than"),
    ],
)
def test_what_is_not_an_object_is_said_in_one_line(reply, problem):
    with pytest.raises(UnreadableError) as caught:
        read_model(reply, Colour)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        '{"name": "blue"}',
        "{'name': 'blue'}",
        '```json\n{"name": "blue"}\n```',
        'Think {first}. I was told {"name": "red"} before.\n\nSo: {"name": "blue"}',
        'Draft:\n```json\n{"name": "red"}\n```\nFinal:\n```json\n{"name": "blue"}\n```',
        '\ufeff{"name": "blue"}\n',
        '{"name": "blue"} and more',
    ],
)
def test_the_last_object_of_a_reply_is_read(reply):
    assert read_model(reply, Colour) == Colour(name="blue")


@pytest.mark.parametrize(
    ("finish", "content", "value", "unfinished"),
    [
        ("length", "The answer is B. Beca", "The answer is B. Beca", "cut_off"),
        ("length", None, "", "cut_off"),
        ("content_filter", "", "", "refused"),
        ("stop", "B", "B", None),
        ("stop", "", "", None),
        (None, "B", "B", None),
    ],
)
def test_what_ended_a_reply_reaches_the_caller_now_and_from_the_cache(
    finish, content, value, unfinished
):
    async def ask_as_it_stands(server):
        async with Asker(AskOptions(model="m", url=server.url), accepts_cut_off=True) as asker:
            return await asker.ask(said("Which?"), str)

    with JudgeServer(lambda _: Answer(content, finish=finish)) as server:
        asked = [asyncio.run(ask_as_it_stands(server)) for _ in range(2)]
        assert len(server.calls) == 1
    for it in asked:
        reply = it.replies[-1].reply
        assert (it.value, ask_result.reply_failure_kind(reply), reply.finish) == (
            value,
            unfinished,
            finish,
        )


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": 3}, "finish_reason": "stop"}]},
    ],
)
def test_what_holds_no_text_is_no_answer_even_as_it_stands(body):
    async def ask_as_it_stands(server):
        async with Asker(AskOptions(model="m", url=server.url), accepts_cut_off=True) as asker:
            return await asker.ask(said("Which?"), str), asker.tally

    with JudgeServer(lambda _: Answer(raw=json.dumps(body).encode())) as server:
        asked, tally = asyncio.run(ask_as_it_stands(server))
    assert (asked.value, asked.reason, tally.questions, tally.unread) == (None, "unparsable", 1, 1)


@pytest.mark.parametrize(
    ("given", "own", "sent"),
    [
        ({}, {"max_tokens": 512, "temperature": 0}, {"max_tokens": 512, "temperature": 0}),
        (
            {"max_tokens": 64},
            {"max_tokens": 512, "temperature": 0},
            {"max_tokens": 64, "temperature": 0},
        ),
        ({"max_tokens": 64}, {}, {"max_tokens": 64}),
        ({"max_tokens": 64, "model": "gpt-5-mini"}, {}, {"max_completion_tokens": 64}),
        ({"thinking": True}, {"max_tokens": 512, "temperature": 0}, {"max_tokens": 32768}),
        ({"thinking": True}, {"max_completion_tokens": 512}, {"max_completion_tokens": 32768}),
        ({"thinking": True, "max_tokens": 9}, {"temperature": 0}, {"max_tokens": 9}),
        (
            {"thinking": True, "extra": {"max_tokens": 7, "temperature": 1}},
            {},
            {"max_tokens": 7, "temperature": 1},
        ),
    ],
)
def test_limits_and_thinking_are_sent(given, own, sent):
    async def ask_with_own(server):
        async with Asker(AskOptions(**{"model": "m", "url": server.url} | given), own) as asker:
            await asker.ask(said("Which?"), str)

    with JudgeServer() as server:
        asyncio.run(ask_with_own(server))
        body = server.calls[0].body
    assert {
        name: value for name, value in body.items() if name not in {"model", "messages"}
    } == sent


def test_what_was_cut_off_under_one_limit_is_asked_under_another():
    with JudgeServer(
        lambda call: Answer("B" if call.body["max_tokens"] > 9 else None, finish="length")
    ) as server:
        for limit, calls in (
            (9, 3),
            (9, 3),
            (99, 6),
        ):  # three attempts, as a reply cut off can't be read here
            run(server, lambda a: a.ask(said("Which?"), str), max_tokens=limit)
            assert len(server.calls) == calls


def test_a_kept_reply_without_text_is_not_paid_for_again():
    """Until it counted as no answer, one such reply was kept as the answer."""

    async def ask(server):
        given = AskOptions(model="m", url=server.url)
        async with Asker(given, accepts_cut_off=True, on_note=lambda _: None) as asker:
            cursor = RetryCursor(asker, said("Which?"), str)
            if cursor.key is not None:
                reply = Reply("", "stop", "m", 9, 0, given.host)
                await asker.cache.put(cursor.key, "m", reply)
            return await asker.ask(said("Which?"), str)

    with JudgeServer() as server:
        assert asyncio.run(ask(server)).reason == ask_result.UNPARSABLE
        assert len(server.calls) == 0
