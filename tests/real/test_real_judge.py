"""A small language model that judges, tags, draws graphs and ranks: with a schema and without."""

import json
from pathlib import Path

import pytest

from reelbench.data.loading import locate
from tests.servers.real import llama_cpp

pytestmark = pytest.mark.slow
MODEL = "smollm2"
CURVE = Path(__file__).parents[2] / "reelbench" / "tasks" / "curve" / "mini" / "curve.json"
WAYS = ("never", "retry", "always")


@pytest.fixture
def predictions(tmp_path):
    """Answers to all questions of MovieChat's mini split."""
    path = tmp_path / "predictions.jsonl"
    lines = []
    for number, row in enumerate(locate("moviechat", "mini").read()):
        text = row["answer"] if number % 2 else "I can't tell."
        lines.append(json.dumps({"id": row["id"], "prediction": text}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def judged(predictions, reelbench, tmp_path):
    """Let the model judge all answers; returns the process."""

    def run(server, way):
        return reelbench(
            *("score", "moviechat_mini", "--predictions", predictions, "--no-overlap"),
            *("--judge", MODEL, "--judge-url", server.url, "--judge-structured", way),
            *("--judge-max-tokens", "64", "--output", tmp_path / "out"),
        )

    return run


@pytest.mark.parametrize("way", WAYS)
def test_marks_come_with_a_schema_and_seldom_without(way, judged, text_server, tmp_path, tell):
    done = judged(text_server, way)
    lines = (tmp_path / "out" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [json.loads(line) for line in lines]
    marks = sum(sample["state"] == "scored" for sample in samples)
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    calls = result["judge"]["calls"]
    tell(f"judge, {way}: {calls} calls, {marks} marks of {len(samples)}")
    if way == "never":
        assert done.returncode in {0, 1}, done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert marks == len(samples)


def test_a_prompt_that_the_window_does_not_hold_is_told_with_its_way_out(
    folder, judged, tmp_path, tell
):
    """A judge's prompt has about 490 tokens here."""
    log = tmp_path / "log.txt"
    with llama_cpp(folder, log, "--alias", MODEL, "-c", "256", "--parallel", "1") as server:
        done = judged(server, "retry")
    tell_of(tell, "a judge behind 256 tokens", done)
    assert done.returncode == 1
    assert "llama.cpp: -c" in done.stderr


# --- chains of language models


WITHOUT_A_SCHEMA = json.dumps({"max_tokens": 96, "response_format": None})
WITH_A_SCHEMA = json.dumps({"max_tokens": 96})


@pytest.mark.parametrize("extra", [WITHOUT_A_SCHEMA, WITH_A_SCHEMA], ids=["without", "with"])
def test_tags(extra, text_server, reelbench, tmp_path, tell):
    done = reelbench(
        *("make", "tags", "rextime_mini", "--limit", "3", "--llm-votes", "1"),
        *("--llm", MODEL, "--llm-url", text_server.url, "--llm-extra", extra),
        *("--out", tmp_path / "tags.jsonl"),
    )
    tell_of(tell, f"tags, {extra}", done)
    assert done.returncode in {0, 1}
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("extra", [WITHOUT_A_SCHEMA, WITH_A_SCHEMA], ids=["without", "with"])
def test_graphs(extra, text_server, reelbench, tmp_path, tell):
    questions = json.loads(CURVE.read_text(encoding="utf-8"))
    path = tmp_path / "curve.json"
    path.write_text(json.dumps(questions[:2]), encoding="utf-8")  # a prompt has 1,500 tokens
    done = reelbench(
        *("diagnose", "graphs", "curve", "--data", path, "--out", tmp_path / "graphs"),
        *("--llm", MODEL, "--llm-url", text_server.url, "--llm-extra", extra),
    )
    tell_of(tell, f"graphs, {extra}", done)
    assert done.returncode in {0, 1}
    assert "Traceback" not in done.stderr


def test_candidates_are_ranked(text_server, reelbench, tmp_path, tell):
    path = tmp_path / "candidates.jsonl"
    lines = []
    for row in locate("moviechat", "mini").read():
        candidates = ["I can't tell.", row["answer"]]
        lines.append(json.dumps({"id": row["id"], "candidates": candidates}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    done = reelbench(
        *("ace", "--candidates", path, "--benchmark", "moviechat_mini"),
        *("--llm", MODEL, "--llm-url", text_server.url, "--llm-extra", WITH_A_SCHEMA),
        *("--output", tmp_path / "out"),
    )
    tell_of(tell, "ace", done)
    assert done.returncode == 0, done.stderr


def tell_of(tell, title, done):
    """Tell what a command said at its end."""
    said = " | ".join([*done.stdout.splitlines()[-3:], *done.stderr.splitlines()[-3:]])
    tell(f"{title}: status {done.returncode}: {said}")
