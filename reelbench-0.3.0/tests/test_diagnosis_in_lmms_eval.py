"""`diagnose run` with real processes: lmms-eval for each round, a tiny VLM or a server as the model under test."""

import json

import pytest

from tests.servers.diagnosis import Models
from tests.servers.judge import Answer, JudgeServer

pytestmark = pytest.mark.lmms

KEY = "sk-this-key-must-be-nowhere"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def diagnose(reelbench, tmp_path, shared_home):
    """Run `diagnose run curve_mini` for two rounds into `out`; replies are cached apart from other tests'."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("mini", "frames"):
        (shared_home / name).mkdir(exist_ok=True)
        (home / name).symlink_to(shared_home / name)

    def run(server, *arguments, **environ):
        return reelbench(
            "diagnose", "run", "curve_mini", "--llm", f"m@{server.url}", "--judge", "j", "--judge-url", server.url,
            "--rounds", "2", "--out", tmp_path / "out", "--json", "--", *arguments, "--limit", "2",
            env={"REELBENCH_HOME": str(home), "REELBENCH_LLM_API_KEY": KEY, "CUDA_VISIBLE_DEVICES": "", **environ},
            timeout=1800,
        )  # fmt: skip

    return run


@pytest.mark.slow
def test_a_real_vlm_is_asked_twice(diagnose, reelbench, tiny_vlm, tmp_path):
    small = "device=cpu,device_map=cpu,max_num_frames=4,min_pixels=3136,max_pixels=12544"
    arguments = (
        "--model", "qwen2_5_vl", "--model_args", f"pretrained={tiny_vlm},{small}", "--gen_kwargs", "max_new_tokens=4",
    )  # fmt: skip
    with JudgeServer(Models()) as server:
        done = diagnose(server, *arguments)
        assert done.returncode == 0, done.stderr[-3000:]
        paid = len(server.calls)
        again = diagnose(server, *arguments)
        assert again.returncode == 0, again.stderr[-3000:]
        assert len(server.calls) == paid
    report = json.loads(done.stdout)
    assert json.loads(again.stdout) == report
    # It sees neither moment; told the first, it writes neither down, and the second is still not
    # found.
    assert [line["open"] for line in report["rounds"]] == [2, 2]
    assert report["labels"]["Temporal Localization"]["n"] == 4
    assert report["stops"] == {"limit": 2}
    assert len(list((tmp_path / "out").rglob("*_results.json"))) == 2
    assert not list((tmp_path / "out").rglob("result.json"))
    assert [line["cue"] for line in lines(tmp_path / "out/rounds/1/run-1/cues.jsonl")] == [""] * 12
    assert not any(
        KEY.encode() in path.read_bytes()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    )
    scored = reelbench("score", "--run", tmp_path / "out/rounds/2/run-1/lmms_eval")
    assert scored.returncode == 2
    assert (
        "curve_reasoned_mini: its answers may rest on cues, so they have no score" in scored.stderr
    )


def test_a_model_behind_a_server_is_told_the_cue_and_judged_by_its_last_line(diagnose, tmp_path):
    def under_test(call, role):
        if role == "judge" and isinstance(call.body["messages"][-1]["content"], list):
            return Answer(
                "<think>hm</think>\n1. I looked.\n"
                + ("right" if " a (at 00:00)" in said(call) else "wrong")
            )
        if role == "judge":
            return Answer("2" if "right" in call.user and "wrong" not in call.user else "0")
        return None

    def said(call):
        return next(
            part["text"] for part in call.body["messages"][-1]["content"] if part["type"] == "text"
        )

    with JudgeServer(Models(scripted=under_test)) as server:
        done = diagnose(
            server, "--model", "openai", "--model_args", f"model=m,base_url={server.url},max_frames_num=4",
            REELBENCH_FRAMES="uniform:4", OPENAI_API_KEY="x",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        asked = [
            said(call)
            for call in server.calls
            if isinstance(call.body["messages"][-1]["content"], list)
        ]
    report = json.loads(done.stdout)
    assert report["stops"] == {"answer_right": 2}
    assert ["What to work from next:" in prompt for prompt in asked] == [False, False, True, True]
    first = lines(tmp_path / "out/rounds/1/run-1/answers.jsonl")
    assert {answer["answer"] for answer in first} == {"wrong"}
    assert {answer["output"] for answer in first} == {"<think>hm</think>\n1. I looked.\nwrong"}
