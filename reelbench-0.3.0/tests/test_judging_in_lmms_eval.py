"""A judge inside a bare lmms-eval: only when it is named, through the same cache, and never at the run's cost."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reelbench import registry
from tests import lmms_runs
from tests.servers.judge import Answer, JudgeServer

pytestmark = pytest.mark.lmms

SCORES = {"accuracy": 5, "comprehensiveness": 4, "depth": 3, "evidence": 2, "coherence": 1}
KEY = "sk-this-key-must-be-nowhere"


def by_dimension(call):
    dimension = call.system.splitlines()[0].removeprefix("Dimension: ")
    return Answer(json.dumps({"score": SCORES[dimension]}))


@pytest.fixture
def home(tmp_path, monkeypatch, shared_home):
    """A home of its own, since a reply in the shared one's cache would answer for the server; METEOR's is shared."""
    own, overlap = tmp_path / "judged", shared_home / "overlap"
    own.mkdir()
    overlap.mkdir(exist_ok=True)
    (own / "overlap").symlink_to(overlap)
    monkeypatch.setenv("REELBENCH_HOME", str(own))
    return own


@pytest.fixture
def evaluate():
    from lmms_eval.evaluator import simple_evaluate

    def run():
        with contextlib.redirect_stdout(io.StringIO()):
            done = simple_evaluate(
                model="reelbench_baseline",
                model_args="kind=echo",
                tasks=["moviecore_mini"],
                log_samples=True,
            )
        return done["results"]["moviecore_mini"], done["samples"]["moviecore_mini"]

    return run


def name_judge(monkeypatch, server):
    monkeypatch.setenv("REELBENCH_JUDGE", "judge-model")
    monkeypatch.setenv("REELBENCH_JUDGE_URL", server.url)
    monkeypatch.setenv("REELBENCH_JUDGE_API_KEY", KEY)


def test_a_named_judge_scores_and_a_second_run_pays_nothing(evaluate, home, monkeypatch):
    with JudgeServer(by_dimension) as server:
        name_judge(monkeypatch, server)
        results, samples = evaluate()
        assert len(server.calls) == 60
        again, repeated = evaluate()
        assert len(server.calls) == 60
    for name, score in SCORES.items():
        assert results[f"{name},none"] == again[f"{name},none"] == score
    assert results["average,none"] == 3
    detail = samples[0]["average"]
    assert detail["judge"]["requested"] == "judge-model"
    # The second run, in the same process, is charged with nothing of the first.
    assert max(sample["average"]["judge"]["calls"] for sample in samples) == 60
    assert {sample["average"]["judge"]["calls"] for sample in repeated} == {0}
    assert len(detail["sample"]["judge_replies"]) == 5
    assert KEY not in json.dumps(samples)
    assert not any(KEY.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())


@pytest.mark.usefixtures("home")
def test_a_judge_that_refuses_stops_after_the_first_calls_and_the_run_goes_on(
    evaluate, monkeypatch, caplog
):
    with JudgeServer(lambda _: Answer(status=401, error={"message": f"bad key {KEY}"})) as server:
        name_judge(monkeypatch, server)
        results, samples = evaluate()
        assert len(server.calls) <= 5  # one question's dimensions were in flight together
    assert results["average,none"] is None
    assert results["meteor,none"] is not None
    assert {sample["average"]["sample"]["reason"] for sample in samples} == {"judge_refused"}
    assert KEY not in caplog.text
    assert sum("answered 401" in record.getMessage() for record in caplog.records) == 1


@pytest.mark.usefixtures("home")
def test_a_judge_that_can_not_be_set_up_costs_nothing_but_its_scores(evaluate, monkeypatch, caplog):
    monkeypatch.setenv("REELBENCH_JUDGE", "judge-model")
    monkeypatch.setenv("REELBENCH_JUDGE_URL", "not a url")
    results, _ = evaluate()
    assert results["average,none"] is None
    assert results["bleu4,none"] is not None
    assert "not an http(s) URL" in caplog.text


@pytest.mark.usefixtures("home")
def test_a_key_alone_asks_nobody(evaluate, monkeypatch):
    with JudgeServer(by_dimension) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        results, _ = evaluate()
        assert server.calls == []
    assert results["average,none"] is None


@pytest.mark.usefixtures("home")
@pytest.mark.slow
def test_two_processes_give_exactly_the_scores_of_one(tmp_path, reelbench, monkeypatch):
    environ = os.environ | {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    arguments = [
        "--tasks", "moviecore_mini,rextime_mini", "--model", "reelbench_baseline", "--model_args", "kind=random,seed=3",
        "--log_samples", "--output_path",
    ]  # fmt: skip
    launch = [
        Path(sys.executable).with_name("torchrun"),
        "--nproc-per-node",
        "2",
        "--master-port",
        "29731",
        "-m",
    ]
    with JudgeServer(by_dimension) as server:
        environ |= {
            "REELBENCH_JUDGE": "j",
            "REELBENCH_JUDGE_URL": server.url,
            "REELBENCH_JUDGE_API_KEY": KEY,
        }
        done = subprocess.run(
            [*map(str, launch), "lmms_eval", *arguments, str(tmp_path / "two")],
            env=environ, capture_output=True, text=True, timeout=1800, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        assert len(server.calls) == 60  # shared between the processes, nothing asked twice
        monkeypatch.setenv("REELBENCH_JUDGE_API_KEY", KEY)
        judge = ("--judge", "j", "--judge-url", server.url)
        lmms_runs.run_here(monkeypatch, "run", *judge, "--", *arguments, tmp_path / "one")
        assert len(server.calls) == 60  # the batch afterwards finds every reply in the cache
    both = reelbench("score", "--run", tmp_path / "two", "--output", tmp_path / "scored")
    assert both.returncode == 0, both.stderr
    for task in ("moviecore_mini", "rextime_mini"):
        (single,) = (tmp_path / "one").rglob(f"reelbench/{task}/result.json")
        results = [
            json.loads(path.read_text("utf-8"))
            for path in (single, tmp_path / "scored" / task / "result.json")
        ]
        for part in ("metrics", "breakdowns", "counts"):
            assert results[0][part] == results[1][part]
        if task == "moviecore_mini":
            assert [result["metrics"]["average"]["value"] for result in results] == [3, 3]
            assert [result["judge"]["calls"] + result["judge"]["cached"] for result in results] == [
                60,
                60,
            ]
            assert results[1]["judge"]["returned"] == results[0]["judge"]["returned"]
    leaked = [p for p in tmp_path.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    assert leaked == []


def test_every_judged_benchmark_names_its_owners_judge():
    for spec in registry.specs().values():
        if spec.judge is not None:
            assert spec.judge.default_model
            assert spec.judge.low < spec.judge.high
