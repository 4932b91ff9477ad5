"""Several runs of one model: each its own answers, kept apart and resumed; what they come to together."""

import json
from collections import Counter

import pytest

from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
WARM = ("--llm-extra", '{"temperature": 0.7}')


@pytest.fixture
def ask(reelbench, tmp_path):
    def run(server, out, *options):
        where = ("--llm", "m", "--llm-url", server.url, "--frames", "none", "--output", tmp_path / out)
        return reelbench("ask", MINI, *where, "--no-overlap", *options)

    return run


def written(folder):
    runs = json.loads((folder / MINI / "runs.json").read_text())
    results = [json.loads((place / "result.json").read_text()) for place in sorted((folder / MINI).glob("run-*"))]
    return runs, results


def by_turns(server):
    """Each question's first reply is A, its second B, its third C: as samples of one model."""
    asked = Counter()

    def script(call):
        question = json.dumps(call.body["messages"])
        asked[question] += 1
        return Answer(json.dumps({"span": [0, 5], "answer": "ABC"[asked[question] - 1]}))

    server.list_models({"id": "m", "root": "/models/m"})
    server.script(script)


def test_each_run_has_answers_of_its_own_and_a_run_that_was_stopped_goes_on(ask, tmp_path):
    with JudgeServer() as server:
        by_turns(server)
        stopped = ask(server, "out", "--runs", 3, *WARM, "--llm-budget", 20, "--llm-concurrency", 1)
        assert len(server.calls) == 20
        assert "budget" in stopped.stderr
        done = ask(server, "out", "--runs", 3, *WARM)
        assert (done.returncode, len(server.calls)) == (0, 36), done.stderr
        again = ask(server, "again", "--runs", 3, *WARM, "--json")
        assert (again.returncode, len(server.calls)) == (0, 36)
        one = ask(server, "one", *WARM)  # the first of them
        assert (one.returncode, len(server.calls)) == (0, 36)
    runs, results = written(tmp_path / "out")
    assert json.loads(again.stdout) == runs
    answers = []
    for number in range(3):
        samples = (tmp_path / "out" / MINI / f"run-{number + 1}" / "samples.jsonl").read_text().splitlines()
        answers.append({json.loads(sample)["parsed"]["answer"] for sample in samples})
    assert answers == [{"A"}, {"B"}, {"C"}]
    assert (runs["runs"], runs["items"], runs["model"]) == (3, 12, "m")
    accuracy = runs["metrics"]["accuracy"]
    values = [result["metrics"]["accuracy"]["value"] for result in results]
    mean = sum(values) / 3
    assert accuracy["values"] == values
    assert accuracy["mean"] == pytest.approx(mean)
    assert accuracy["spread"] == pytest.approx((sum((value - mean) ** 2 for value in values) / 2) ** 0.5)
    assert accuracy["ci95"] is None  # fewer than 10 videos
    assert "3 runs" in done.stdout


def test_a_seed_is_sent_counted_up_and_recorded(ask, tmp_path):
    with JudgeServer(lambda _: Answer('{"span": [0, 5], "answer": "A"}')) as server:
        assert ask(server, "out", "--runs", 2, "--seed", 5, *WARM).returncode == 0
        assert Counter(call.body["seed"] for call in server.calls) == {5: 12, 6: 12}
        runs, results = written(tmp_path / "out")
        assert runs["seeds"] == [result["settings"]["seed"] for result in results] == [5, 6]
        done = ask(server, "twice", "--seed", 5, "--llm-extra", '{"seed": 1}')
        assert (done.returncode, len(server.calls)) == (2, 24)
        assert done.stderr == "reelbench: --seed and a seed in --llm-extra: give one of them\n"
