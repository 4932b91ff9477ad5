"""What a server may send in place of a reply, to every command that asks: one line, nothing kept, nothing scored.

`tests/llm/test_hostile_servers.py` has what the client makes of each by itself.
"""

import gzip
import json
import sqlite3
import sys
from contextlib import closing

import pytest

from reelbench.cli.main import main
from reelbench.judges.judge_options import JudgeOptions
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.client import MAX_BYTES
from tests.servers.judge import Answer, JudgeServer

pytestmark = pytest.mark.slow
LINES = 6

GOOD = '{"score": 5}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def completion(content=GOOD, finish="stop", **more):
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": finish,
    } | more
    return json.dumps({"id": "1", "model": "m", "choices": [choice]}).encode()


def body(**document):
    return Answer(raw=json.dumps({"id": "1", "model": "m", **document}).encode())


NO_REPLY = {
    "a page": Answer(raw=b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"),
    "an error alone": Answer(raw=b'{"error": {"message": "upstream is down", "code": 502}}'),
    "an error and no choice": body(choices=[], error={"message": "upstream is down", "code": 502}),
    "an error in a choice": Answer(
        raw=completion(None, "error", error={"message": "upstream is down"})
    ),
    "broken off by an error": Answer(raw=completion(GOOD, "error")),
    "aborted": Answer(raw=completion("", "abort")),
    "cut JSON": Answer(raw=completion()[:-9]),
    "two documents": Answer(raw=completion() + completion()),
    "no UTF-8": Answer(raw=completion("@@").replace(b"@@", b"\xff\xfe")),
    "nothing": Answer(raw=b""),
    "no content": Answer(status=204, raw=b""),
    "a length too long": Answer(wire=HEAD + b"Content-Length: 9999\r\n\r\n" + completion()),
    "a length too short": Answer(wire=HEAD + b"Content-Length: 40\r\n\r\n" + completion()),
    "a cut chunk": Answer(wire=HEAD + b"Transfer-Encoding: chunked\r\n\r\nfff\r\n" + completion()),
    "a long header": Answer(
        wire=HEAD + b"X-A: " + b"a" * 9000 + b"\r\nContent-Length: 2\r\n\r\n{}"
    ),
    "a bomb": Answer(
        raw=gzip.compress(b" " * (MAX_BYTES + 1)), headers={"Content-Encoding": "gzip"}
    ),
    "a loop": Answer(status=307, headers={"Location": "/v1/chat/completions"}, raw=b""),
    "a list": Answer(raw=b"[]"),
    "an event stream": Answer(
        raw=b'data: {"choices": [{"delta": {"content": "A"}}]}\n\ndata: [DONE]\n\n'
    ),
}
NO_TEXT = {
    "no choice": body(choices=[]),
    "choices that are null": body(choices=None),
    "no message": body(choices=[{"message": None, "finish_reason": "stop"}]),
    "null": Answer(raw=completion(None)),
    "a number": Answer(raw=completion(3)),
    "a list of images": Answer(raw=completion([{"type": "image_url", "image_url": {"url": "x"}}])),
    "a call": Answer(raw=completion(None, "tool_calls")),
    "a refusal": Answer(
        raw=completion(None, message={"content": None, "refusal": "I can't help with that."})
    ),
    "an empty text beside reasoning": Answer(
        raw=completion("", message={"content": "", "reasoning_content": GOOD})
    ),
    "an empty text beside a call": Answer(
        raw=completion("", message={"content": "", "tool_calls": [{"id": "1"}]})
    ),
    "an empty text of no tokens": Answer(raw=completion("")),
    "cut off": Answer(raw=completion("", "length")),
    "cut off as Gemini says it": Answer(raw=completion("", "FinishReason.MAX_TOKENS")),
    "cut off by the context": Answer(raw=completion(None, "model_length")),
    "filtered": Answer(raw=completion("", "content_filter")),
    "thinking alone": Answer(raw=completion("<think>Who is", "length")),
}


@pytest.fixture
def run(monkeypatch, capfd):
    """Run a command in this process, which waits for no server; returns its status and what it said."""
    for options in (AskOptions, JudgeOptions):
        monkeypatch.setitem(options.__init__.__kwdefaults__, "backoff", 0.001)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["reelbench", *map(str, words)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
        return status, capfd.readouterr().err

    return run


@pytest.fixture
def judged(score, tmp_path):
    """A result whose answer was judged wrong: what `diagnose errors` reads."""
    folder = tmp_path / "judged"
    traced = tmp_path / "traced.jsonl"
    traced.write_text('{"key": "mini1", "pred": "pred mini1"}\n')
    with JudgeServer(lambda _: Answer('{"score": 1}')) as judge:
        words = ("--output", folder, "--judge", "j", "--judge-url", judge.url)
        score("curve", "--split", "mini", "--predictions", traced, *words)
    return folder


@pytest.fixture
def commands(tmp_path):
    """Name -> the words of a command that asks."""
    rows, videos, candidates = (tmp_path / f"{name}.jsonl" for name in ("rows", "videos", "cands"))
    rows.write_text('{"id": "lantern_1", "prediction": "He left."}\n')
    candidates.write_text('{"id": "7", "candidates": ["one", "another"]}\n')
    asked = {
        "video": "film",
        "metadata": {},
        "qa": [{"question": "Who?", "answer": "He."}],
        "context": [f"part {n}" for n in range(8)],
    }
    videos.write_text(json.dumps(asked) + "\n")
    return {
        "ask": ("ask", "rextime_mini", "--limit", 1, "--frames", "none", "--output"),
        "judge": ("score", "moviecore_mini", "--predictions", rows, "--no-overlap", "--output"),
        "ace": ("ace", "--candidates", candidates, "--output"),
        "discussion": ("make", "discussion", "--videos", videos, "--out"),
        "tags": ("make", "tags", "dramaqa_cogme_mini", "--limit", 1, "--out"),
        "errors": ("diagnose", "errors", tmp_path / "judged", "--out"),
    }


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        (name, sent)
        for number, sent in enumerate([*NO_REPLY, *NO_TEXT])
        for name in ("ask", "judge", ("ace", "discussion", "tags", "errors")[number % 4])
    ],
)
def test_nothing_comes_of_it_and_that_is_said(
    name, sent, *, commands, run, reelbench_home, tmp_path, request
):
    if name == "errors":
        request.getfixturevalue("judged")
    out, option = tmp_path / "out" / "made", "--judge" if name == "judge" else "--llm"
    with JudgeServer(lambda _: (NO_REPLY | NO_TEXT)[sent]) as server:
        status, said = run(*commands[name], out, option, "m", f"{option}-url", server.url)
        assert server.calls
    assert (status, "Traceback" in said) == (1, False), said
    lines = [
        line for line in said.splitlines() if " written to " not in line and "open /" not in line
    ]
    assert len(lines) <= LINES, said
    assert ("it is only in reasoning_content" in said) == ("beside reasoning" in sent)
    assert sent in NO_TEXT or f"127.0.0.1:{server.port}" in said
    with closing(sqlite3.connect(reelbench_home / "judge.sqlite")) as kept:
        replies = kept.execute("SELECT raw, finish FROM replies WHERE model = 'm'").fetchall()
    ended = {"length", "content_filter", "FinishReason.MAX_TOKENS"}
    assert all(not raw or finish in ended for raw, finish in replies)
    assert bool(replies) == (sent in NO_TEXT)
    for path in out.parent.rglob("result.json"):
        result = json.loads(path.read_text())
        assert result["counts"]["scored"] == 0
        assert all(metric["value"] is None for metric in result["metrics"].values())
    for path in out.parent.rglob("*"):
        if path.name in {"made", "annotations.json"} and path.is_file():
            assert path.read_text().strip() in {"", "{}"}
