"""Failures in real lmms-eval runs: none becomes an answer, and one task's don't cost the others theirs."""

import contextlib
import io
import json

import pytest

from tests.servers.judge import Answer, JudgeServer
from tests.video import clips

pytestmark = pytest.mark.lmms

REPLY = '{"span": [0, 5], "answer": "A"}'


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    folder = tmp_path / "home" / "mini" / "rextime"
    folder.mkdir(parents=True)
    clips.encode(folder / "v_square00001.mp4", codec="libx264", gop=12, ticks=clips.constant(40, 8))
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:2,size=64")


def evaluate(model, model_args, *tasks, **options):
    from lmms_eval.evaluator import simple_evaluate

    with contextlib.redirect_stdout(io.StringIO()):
        done = simple_evaluate(
            model=model,
            model_args=model_args,
            tasks=list(tasks),
            limit=2,
            log_samples=True,
            **options,
        )
    return {
        task: [
            next(v for v in line.values() if isinstance(v, dict) and "sample" in v)["sample"]
            for line in lines
        ]
        for task, lines in done["samples"].items()
    }


def test_a_dead_server_is_no_wrong_answer(monkeypatch):
    from lmms_eval.models.simple import gpt4v

    monkeypatch.setattr(gpt4v, "NUM_SECONDS_TO_SLEEP", 0)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    samples = evaluate("gpt4v", "model_version=m,max_frames_num=2", "rextime_mini")["rextime_mini"]
    assert [(sample["state"], sample["reason"]) for sample in samples] == [
        ("unscored", "model_failed")
    ] * 2
    assert all("onnection" in sample["prediction"] for sample in samples)


def test_a_task_that_its_server_can_t_be_asked_fails_alone_and_first():
    with JudgeServer(lambda _: Answer(REPLY)) as server:  # it knows no `prompt_logprobs`
        args = f"model=m,base_url={server.url},num_concurrent=1,prefix_aware_queue=False"
        found = evaluate("openai", args, "rextime_mini", "rextime_options_mini")
        assert {sample["state"] for sample in found["rextime_mini"]} == {"scored"}
        assert {sample["reason"] for sample in found["rextime_options_mini"]} == {"model_failed"}
        bodies = [json.dumps(call.body) for call in server.calls]
        assert "prompt_logprobs" in "".join(bodies[:-2])
        assert not any("prompt_logprobs" in body for body in bodies[-2:])


def test_a_thought_that_used_up_the_tokens_is_cut_off_and_no_wrong_answer(tmp_path):
    """Qwen3.5's adapter asks for thoughts unless it is told not to, and keeps what stands after them: here nothing."""
    from tools import tiny_families

    args = f"pretrained={tiny_families.qwen3_5(tmp_path / 'model')},device=cpu,device_map=cpu"
    args += ",min_pixels=3136,max_pixels=12544,fps=1000000,max_num_frames=2"
    asked = {"gen_kwargs": "max_new_tokens=4"}
    thought = evaluate("qwen3_5", args, "rextime_mini", **asked)["rextime_mini"]
    assert [(sample["state"], sample["reason"]) for sample in thought] == [
        ("unscored", "cut_off")
    ] * 2
    said = evaluate("qwen3_5", f"{args},enable_thinking=False", "rextime_mini", **asked)[
        "rextime_mini"
    ]
    assert not {"cut_off"} & {sample["reason"] for sample in said}
    assert all(sample["prediction"] for sample in said)
