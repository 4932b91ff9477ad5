"""`diagnose errors` by a server's Batch API: the same files as asking live."""

import json

import pytest

from reelbench.studio.diagnosis.folder import Folder
from tests.servers.batches import BatchServer, completion
from tests.servers.diagnosis import Models
from tests.servers.judge import Answer, Call, JudgeServer
from tests.studio.test_chains_in_batches import call

TRACED = ("mini1", "mini2", "mini6")


def test_it_comes_to_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a key that is long enough")
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(
        "".join(json.dumps({"key": key, "pred": f"pred {key}"}) + "\n" for key in TRACED)
    )
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "live home"))
    models = Models(scripted=lambda _call, role: Answer("1") if role == "judge" else None)
    with JudgeServer(models) as server:
        place = ["--output", tmp_path / "result", "--judge", "j", "--judge-url", server.url]
        assert call(["score", "curve", "--split", "mini", "--predictions", predictions, *place])
        words = ["diagnose", "errors", tmp_path / "result", "--out", tmp_path / "live"]
        assert call([*words, "--llm", f"m@{server.url}"])
        asked = len(server.calls) - len(TRACED)
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "batch home"))

    def played(_, line):
        body = line["body"]
        answer = models(Call(number=0, path="", headers={}, body=body, in_flight=1))
        response = {"status_code": 200, "request_id": "r", "body": completion(body, answer.content)}
        return {
            "id": "batch_req",
            "custom_id": line["custom_id"],
            "response": response,
            "error": None,
        }

    with BatchServer() as server:
        words = [
            "diagnose",
            "errors",
            tmp_path / "result",
            "--out",
            tmp_path / "batch",
            "--llm",
            f"m@{server.url}",
        ]
        waits = 0
        while not call([*words, "--llm-batch"]):
            server.finish("completed", played)
            waits += 1
            assert waits < 6
        assert waits > 1  # graphs, then tags
        assert (len(server.paid), server.live) == (asked, [])
    for name in ("graphs.jsonl", "isolation.jsonl", "report.json"):
        assert (tmp_path / "batch" / name).read_bytes() == (
            tmp_path / "live" / name
        ).read_bytes(), name


def test_a_link_in_the_place_of_its_lock_empties_no_file(tmp_path):
    (tmp_path / "diagnosis").mkdir()
    (tmp_path / "own").write_text("mine")
    (tmp_path / "diagnosis" / ".lock").symlink_to(tmp_path / "own")
    with pytest.raises(OSError, match="symbolic"), Folder(tmp_path / "diagnosis").locked(print):
        pass
    assert (tmp_path / "own").read_text() == "mine"
