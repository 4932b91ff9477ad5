"""Chains by a server's Batch API: the same command, again and again, comes to the same bytes as asking live."""

import json

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import PendingError
from tests.program import app
from tests.servers import roles
from tests.servers.batches import BatchServer, completion
from tests.servers.judge import Call, JudgeServer
from tests.studio.conftest import files_in
from tests.studio.test_moments import ANET


def call(words):
    """Run a command in this process; whether it is done, and not waiting for a batch."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit | PendingError):
        raise done.exception
    assert done.exit_code == 0 or isinstance(done.exception, PendingError), done.output
    return done.exception is None or isinstance(done.exception, SystemExit)


def played(_, line):
    """What the live server would have answered to a batch's request."""
    body = line["body"]
    answer = roles.play(Call(number=0, path="", headers={}, body=body, in_flight=1))
    response = {"status_code": 200, "request_id": "r", "body": completion(body, answer.content)}
    return {"id": "batch_req", "custom_id": line["custom_id"], "response": response, "error": None}


def in_batches(words, server):
    """Run a command until it is done, a day at the server between the runs -> how often."""
    runs = 1
    while not call([*words, "--llm-batch"]):
        server.finish("completed", played)
        runs += 1
        assert runs < 20
    return runs


@pytest.mark.parametrize(
    ("command", "named"),
    [("discussion", roles.DISCUSSION), ("moments", roles.CAPTIONS), ("tags", ("",))],
)
def test_it_comes_to_the_same_bytes(command, named, *, videos, tmp_path, monkeypatch):
    captions = tmp_path / "captions.json"
    captions.write_text(json.dumps(ANET), encoding="utf-8")

    def words(url, out):
        given = {
            "discussion": lambda: ["discussion", "--videos", videos(3)],
            "moments": lambda: ["moments", "--captions", captions],
            "tags": lambda: ["tags", "dramaqa_cogme", "--split", "mini", "--limit", 3],
        }[command]()
        models = [
            part for role in named for part in ("--llm", f"{role}={role}" if role else "tagger")
        ]
        place = out / "tags.jsonl" if command == "tags" else out
        return ["make", *given, "--out", place, "--llm-url", url, *models]

    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "live home"))
    monkeypatch.setenv("OPENAI_API_KEY", "a key that is long enough")
    with JudgeServer(roles.play) as server:
        assert call(words(server.url, tmp_path / "live" / "made"))
        assert call(
            words(server.url, tmp_path / "live" / "made")
        )  # from the cache, as a batch's last run is
        asked = len(server.calls)
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "batch home"))
    with BatchServer() as server:
        runs = in_batches(words(server.url, tmp_path / "batch" / "made"), server)
        assert runs > 1
        assert not server.live
        assert len(server.paid) == asked
    live, batch = files_in(tmp_path / "live" / "made"), files_in(tmp_path / "batch" / "made")
    assert live.keys() == batch.keys()
    for name in live:
        assert (tmp_path / "batch" / "made" / name).read_bytes() == (
            tmp_path / "live" / "made" / name
        ).read_bytes(), name


def test_what_ace_asks_in_a_batch(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a key that is long enough")
    path = tmp_path / "candidates.jsonl"
    path.write_text(
        "".join(json.dumps({"id": f"q{n}", "candidates": ["a", f"b{n}"]}) + "\n" for n in range(2))
    )

    def scored(_, line):
        score = "7" if "b1" in json.dumps(line["body"]) else "3"
        body = completion(line["body"], score)
        response = {"status_code": 200, "request_id": "r", "body": body}
        return {"id": "x", "custom_id": line["custom_id"], "response": response, "error": None}

    with BatchServer() as server:
        words = [
            "ace",
            "--candidates",
            path,
            "--llm",
            "m",
            "--llm-url",
            server.url,
            "--output",
            tmp_path / "out",
        ]
        assert not call([*words, "--llm-batch"])
        assert not call([*words, "--llm-batch"])  # nothing is handed over twice
        server.finish("completed", scored)
        assert call(words)  # without the option, what the batch has is taken all the same
        assert (len(server.paid), server.live) == (3, [])
    told = json.loads((tmp_path / "out" / "ace.json").read_text())
    assert told["chosen"] == {"q0": 0, "q1": 1}
