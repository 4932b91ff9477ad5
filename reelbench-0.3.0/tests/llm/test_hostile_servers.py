"""Whatever a server sends is one question's reason, in one line: never a traceback, a leaked key or a lost budget."""

import asyncio
import gzip
import json
import tracemalloc
import zlib

import pytest

from reelbench.base.errors import InputError
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.client import MAX_BYTES
from tests.llm.by_hand import ReplyCache
from tests.servers.judge import Answer, JudgeServer

KEY = "sk-hostile-5c1d7a"
QUESTION = [{"role": "user", "content": "What do you see?"}]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def ask(server, *, questions=1, **more):
    """Ask different questions, one after the other -> what came of each, the tally, the lines for the user."""
    notes = []
    given = {
        "model": "m",
        "url": server.url,
        "api_key": KEY,
        "backoff": 0.001,
        "tries": 2,
        "timeout": 5.0,
    } | more

    async def go():
        async with Asker(
            AskOptions(**given), on_note=lambda line: " is asked at " in line or notes.append(line)
        ) as asker:
            return [
                await asker.ask(
                    [{"role": "user", "content": f"What? ({n})"}], lambda text: text or None
                )
                for n in range(questions)
            ], asker.tally

    asked, tally = asyncio.run(go())
    return asked, tally, notes


def completion(**changes):
    body = {
        "model": "m-1",
        "choices": [{"message": {"content": "A dog."}, "finish_reason": "stop"}],
    } | changes
    return Answer(raw=json.dumps(body).encode())


NOT_HTTP = {
    "closed at once": b"",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "a status line that is none": b"HTTP/9 hello\r\n\r\n",
    "a reason in no encoding": b"HTTP/1.1 200 \xff\xfe\r\nContent-Length: 9000\r\n\r\n{}",
    "a long header": OK + b"X-A: " + b"a" * 9000 + b"\r\nContent-Length: 90\r\n\r\n{}",
    "ten thousand headers": OK + b"X-A: b\r\n" * 10_000 + b"Content-Length: 90\r\n\r\n{}",
    "a negative length": OK + b"Content-Length: -5\r\n\r\n{}",
    "two lengths": OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a cut body": OK + b"Content-Length: 50\r\n\r\n{}",
    "a chunk without a size": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    "gzip that is none": OK + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    "an encoding nobody asked for": OK + b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
    "a status beyond all": b"HTTP/1.1 600 what\r\nContent-Length: 0\r\n\r\n",
}
NOT_A_COMPLETION = {
    "deep JSON": b"[" * 100_000,
    "a deep object": b'{"choices":' * 50_000,
    "a list": b"[1]",
    "a number": b"4",
    "nothing": b"",
    "choices that are a text": b'{"choices": "no"}',
    "a choice that is a text": b'{"choices": ["no"]}',
    "a long number": b'{"choices": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("wire", [pytest.param(wire, id=name) for name, wire in NOT_HTTP.items()])
def test_what_is_no_reply_in_http_is_a_reason(wire):
    with JudgeServer(lambda _: Answer(wire=wire)) as server:
        (asked,), tally, notes = ask(server)
    assert (asked.value, asked.reason, tally.calls) == (None, "unavailable", 0)
    assert len(server.calls) in {
        1,
        2,
    }  # the second may go out on the connection that it is closing, and be seen by nobody
    (note,) = notes
    assert server.url[7:-3] in note
    assert "\n" not in note
    assert len(note) < 450
    assert "did not answer within" not in note


@pytest.mark.parametrize(
    "body", [pytest.param(body, id=name) for name, body in NOT_A_COMPLETION.items()]
)
def test_what_is_no_completion_is_a_reason(body):
    with JudgeServer(lambda _: Answer(raw=body)) as server:
        (asked,), _, (note,) = ask(server)
    assert asked.reason == "unavailable"
    assert "not a chat completion" in note
    assert len(note) < 450


@pytest.mark.parametrize("status", [400, 401, 404, 422, 429, 500])
@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b'{"error": ' * 900 + b"1" + b"}" * 900, b"\xff\xfe", b'{"error": [1]}'],
)
def test_an_error_in_any_words_is_one_line(status, body):
    with JudgeServer(
        lambda _: Answer(status=status, raw=body, headers={"Retry-After": "1e999"})
    ) as server:
        (asked,), _, notes = ask(server, patience=0.2)
    assert asked.reason in {"unavailable", "rejected", "refused"}
    assert all("\n" not in note and len(note) < 600 for note in notes)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        "many",
        {"prompt_tokens": -5, "completion_tokens": -1},
        {"prompt_tokens": 10**30, "completion_tokens": 10**30},
        {"prompt_tokens": True, "completion_tokens": True},
        {"prompt_tokens": "7", "completion_tokens": 3.5},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": None, "prompt_tokens_details": "x", "completion_tokens_details": [1]},
    ],
)
def test_counts_that_can_not_be_are_none_and_a_budget_holds_without(usage):
    prices = {"usd_per_million_prompt": 1e6, "usd_per_million_completion": 1e6}  # a dollar a token
    with JudgeServer(lambda _: completion(usage=usage)) as server:
        asked, tally, notes = ask(server, questions=20, budget_usd=250.0, concurrency=1, **prices)
    # A question is estimated at 2 or 3 tokens and its reply at 64.
    assert [one.value for one in asked[:3]] == ["A dog."] * 3
    assert {one.reason for one in asked[3:]} == {"budget"}
    assert len(server.calls) == 3
    assert 3 * 64 <= tally.spent_usd <= 250
    assert (tally.prompt_tokens, tally.completion_tokens) == (0, 0)
    assert "budget of $250" in notes[-1]


@pytest.mark.parametrize("number", [b"1e999", b"Infinity", b"NaN", b"1" + b"0" * 30])
def test_counts_beyond_every_number(number):
    body = (
        b'{"choices": [{"message": {"content": "A dog."}}], "usage": {"prompt_tokens": %s}}'
        % number
    )
    with JudgeServer(lambda _: Answer(raw=body)) as server:
        (asked,), tally, _ = ask(server)
    assert (asked.value, tally.prompt_tokens) == ("A dog.", 0)


def test_reasoning_and_cached_tokens_are_kept_with_the_reply():
    usage = {
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }
    with JudgeServer(lambda _: Answer("A dog.", usage=usage)) as server:
        _, tally, _ = ask(server)
        assert (tally.reasoning_tokens, tally.cached_tokens) == (7, 64)
        _, tally, _ = ask(server)  # from the cache
        assert (tally.reasoning_tokens, tally.cached_tokens, len(server.calls)) == (7, 64, 1)


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ({"content": None, "reasoning_content": "A dog, I think"}, None),
        ({"content": "", "reasoning": "A dog, I think"}, None),
        ({"content": "A cat.", "reasoning_content": "A dog? No"}, "A cat."),
        (
            {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "A cat."}]},
            "A cat.",
        ),
        ({"content": [{"type": "thinking", "thinking": []}]}, None),
        ({"content": {"text": "A cat."}}, None),
    ],
)
def test_reasoning_in_a_field_of_its_own_is_no_answer(message, value):
    with JudgeServer(lambda _: Answer(message=message)) as server:
        (asked,), _, _ = ask(server)
    assert (asked.value, asked.reason) == (value, None if value else "unparsable")


ERROR = {"message": "upstream is down", "code": 502}


@pytest.mark.parametrize(
    "changes",
    [
        {"choices": [{"message": {"content": "A do"}, "finish_reason": "error"}]},
        {"choices": [{"message": {"content": ""}, "finish_reason": "abort"}]},
        {"choices": [{"message": {"content": None}, "finish_reason": "stop", "error": ERROR}]},
        {"choices": None, "error": ERROR},
    ],
)
def test_a_reply_that_the_server_broke_off_is_none(changes):
    with JudgeServer(
        lambda call: completion(**changes) if call.number == 0 else completion()
    ) as server:
        (asked,), tally, notes = ask(server)
    assert (asked.value, tally.calls, len(server.calls), notes) == ("A dog.", 1, 2, [])


@pytest.mark.parametrize(
    "finish", ["\ud800", {"a": "\udfff"}, ["x" * 100_000], 7, f"stop Bearer {KEY}"]
)
def test_any_finish_reason_can_be_kept_and_none_holds_the_key(finish, reelbench_home):
    choice = {"message": {"content": "A dog."}, "finish_reason": finish}
    with JudgeServer(
        lambda _: completion(choices=[choice], model=f"m \udc00 {KEY} {'x' * 1000}")
    ) as server:
        (asked,), _, _ = ask(server)
    assert asked.value == "A dog."
    assert len(asked.replies[0].reply.finish) <= 200
    assert len(asked.replies[0].reply.returned) <= 200
    for path in reelbench_home.iterdir():
        assert KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("status", "encoding", "raw"),
    [
        (200, None, lambda: b'{"a": "' + b"x" * MAX_BYTES + b'"}'),
        (500, None, lambda: b"x" * (MAX_BYTES + 1)),
        (200, "gzip", lambda: gzip.compress(b" " * 300_000_000, 1)),
        (200, "gzip", lambda: gzip.compress(b"{") + bytes(10_000_000)),
        (200, "deflate", lambda: zlib.compress(b" " * 300_000_000, 1)),
    ],
    ids=["as it is", "an error", "gzip", "gzip that goes on", "deflate"],
)
def test_more_than_the_longest_reply_is_cut_off_while_it_arrives(status, encoding, raw):
    answer = Answer(
        status=status, raw=raw(), headers={"Content-Encoding": encoding} if encoding else {}
    )
    with JudgeServer(lambda _: answer) as server:
        ask(server)  # what is imported and allocated once is not counted
        tracemalloc.start()
        try:
            (asked,), _, (note,) = ask(server)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert asked.reason == "unavailable"
    assert f"more than {MAX_BYTES / 1e6:g} MB" in note
    assert most < 10 * MAX_BYTES


def test_a_compressed_reply_is_read():
    body = completion().raw
    with JudgeServer(
        lambda _: Answer(raw=gzip.compress(body), headers={"Content-Encoding": "gzip"})
    ) as server:
        (asked,), _, _ = ask(server)
        assert server.calls[0].headers["accept-encoding"] == "gzip"
    assert asked.value == "A dog."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_question_is_sent_on_to_another_server(status):
    with JudgeServer(lambda _: Answer("stolen")) as other:
        there = {"Location": f"{other.url}/chat/completions"}
        with JudgeServer(lambda _: Answer(status=status, headers=there, raw=b"")) as server:
            (asked,), _, (note,) = ask(server)
        assert (asked.reason, other.calls, len(server.calls)) == ("refused", [], 1)
    assert "127.0.0.1; give the URL of the server itself as --llm-url" in note


def test_a_refused_connection_is_called_so():
    with JudgeServer() as server:
        url = server.url
    for concurrency in (1, 4):
        _, _, (note,) = ask(server, url=url, concurrency=concurrency)
        assert "no connection to the model" in note
        assert "refused" in note
        assert "did not answer" not in note


def test_a_silent_server_is_called_so():
    with JudgeServer(lambda _: Answer(delay=30)) as server:
        _, _, (note,) = ask(server, timeout=0.3, tries=1)
    assert "did not answer within 0.3 s" in note


@pytest.mark.parametrize("stays", [0, 0.01], ids=["silent", "a byte at a time"])
@pytest.mark.parametrize(
    "wire",
    [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        OK + b"Content-Length: 4000000\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n",
        b"HTTP/1.1 429 Wait\r\nRetry-After: -5\r\nContent-Length: 4000000\r\n\r\n",
    ],
    ids=["in the head", "before the head", "in the body", "in a chunk", "in a 429"],
)
def test_a_server_that_stalls_is_left_after_the_time_for_one_call(wire, stays):
    """However much comes meanwhile: it never ends, so what ends the call is the time for it."""
    with JudgeServer(lambda _: Answer(wire=wire, stays=stays)) as server:
        (asked,), tally, (note,) = ask(server, timeout=0.3)
    assert (asked.value, asked.reason, tally.calls, len(server.calls)) == (
        None,
        "unavailable",
        0,
        2,
    )
    assert "asking stopped" in note
    assert "did not answer within 0.3 s" in note or (
        stays and b"100" in wire
    )  # no status line begins so


NO_WAIT = [
    "-5",
    "-1e9",
    "nan",
    "inf",
    "soon",
    "",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Mon, 01 Jan 0001 00:00:00 -0000",
]


@pytest.mark.parametrize("after", NO_WAIT)
def test_a_wait_that_is_none_is_none_and_the_question_is_asked_again(after):
    said = Answer(status=429, headers={"Retry-After": after})
    with JudgeServer(lambda call: said if call.number < 3 else completion()) as server:
        (asked,), tally, notes = ask(server)
    assert (asked.value, tally.calls, tally.requests, notes) == ("A dog.", 1, 4, [])


def test_a_server_that_always_asks_for_less_than_no_wait_ends_with_the_patience():
    with JudgeServer(lambda _: Answer(status=429, headers={"Retry-After": "-5"})) as server:
        asked, tally, (note,) = ask(server, questions=3, patience=0.05)
    assert ({one.reason for one in asked}, tally.calls) == ({"unavailable"}, 0)
    assert "asking stopped, run again later" in note


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("after", ["1000000000", "1e9", "9" * 300, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_beyond_all_patience_ends_asking_at_once(status, after):
    with JudgeServer(lambda _: Answer(status=status, headers={"Retry-After": after})) as server:
        asked, _, (note,) = ask(server, questions=3)
    assert ({one.reason for one in asked}, len(server.calls)) == ({"unavailable"}, 1)
    assert "it asks to wait" in note


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("http://user:secret@host/v1", "leave user and password out"),
        ("http://user@host/v1", "leave user and password out"),
        ("http://[::x/v1", "not an http"),
        ("http://host:port/v1", "port is not a number"),
    ],
)
def test_a_url_that_can_not_be_used_is_refused_without_being_shown(url, line):
    with pytest.raises(InputError, match="--llm-url") as error:
        AskOptions(model="m", url=url)
    assert line in str(error.value)
    assert "secret" not in str(error.value)


def test_a_token_in_the_url_is_kept_out_of_what_is_stored_and_said(reelbench_home):
    def script(call):
        return Answer(
            f"you asked {call.path}" if call.number else "api-version=1", finish=call.path
        )

    with JudgeServer(script) as server:
        (first, second), _, notes = ask(
            server, questions=2, url=f"{server.url}?token=tk-9f8e7d6c5b&api-version=1"
        )
        assert all("tk-9f8e7d6c5b" in call.path for call in server.calls)
    assert first.value == "api-version=1"
    assert (second.value, second.reason) == (None, "rejected")
    told = "\n".join(notes)
    assert "repeats the key" in told
    assert "tk-9f8e7d6c5b" not in first.replies[0].reply.finish + told
    assert all(b"tk-9f8e7d6c5b" not in path.read_bytes() for path in reelbench_home.iterdir())


@pytest.mark.parametrize("key", ["x", "4", "none", "local", "a key of some length"])
def test_a_reply_is_what_came_whatever_the_key_is(key, reelbench_home):
    text = 'The local x-ray, none of 4: {"score": 4}; expects [key]'
    with JudgeServer(lambda _: Answer(text)) as server:
        (asked,), _, notes = ask(server, api_key=key)
        assert server.calls[0].headers["authorization"] == f"Bearer {key}"
    kept = ReplyCache(reelbench_home / "judge.sqlite", print).get(asked.replies[0].key)
    assert (asked.value, kept.raw, notes) == (text, text, [])


@pytest.mark.parametrize("key", ["x", "4", "none", "local", "a key of some length"])
def test_a_key_of_some_length_leaves_the_lines(key):
    with JudgeServer(
        lambda _: Answer(status=400, error={"message": f"the local key is {key}"})
    ) as server:
        _, _, (note,) = ask(server, api_key=key)
    shown = "[key]" if len(key) >= 12 else key
    assert note == f"the model at 127.0.0.1:{server.port} answered 400: the local key is {shown}"


def test_what_is_kept_is_what_came(reelbench_home):
    with JudgeServer(lambda _: Answer("A dog.", delay=0.05)) as server:
        (asked,), _, _ = ask(server)
    kept = ReplyCache(reelbench_home / "judge.sqlite", print).get(asked.replies[0].key)
    assert kept == asked.replies[0].reply
    assert 0.05 <= kept.seconds < 60
