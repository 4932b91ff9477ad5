"""Several runs of one model: each its own answers, kept apart and resumed; what they come to together."""

import json
import re
from collections import Counter

import pytest

from reelbench.video.mini_clips import draw_clip
from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
WARM = ("--llm-extra", '{"temperature": 0.7}')


@pytest.fixture
def ask(reelbench, tmp_path):
    def run(server, out, *options):
        where = (
            "--llm",
            "m",
            "--llm-url",
            server.url,
            "--frames",
            "none",
            "--output",
            tmp_path / out,
        )
        return reelbench("ask", MINI, *where, "--no-overlap", *options)

    return run


def written(folder, name=MINI):
    runs = json.loads((folder / name / "runs.json").read_text())
    results = [
        json.loads((place / "result.json").read_text())
        for place in sorted((folder / name).glob("run-*"))
    ]
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
        said = re.findall(r"^m, run (\d): (\d+) asked, (\d+) kept", done.stdout, re.MULTILINE)
        assert said == [("1", "0", "12"), ("2", "4", "8"), ("3", "12", "0")]
        again = ask(server, "again", "--runs", 3, *WARM, "--json")
        assert (again.returncode, len(server.calls)) == (0, 36)
        one = ask(server, "one", *WARM)  # the first of them
        assert (one.returncode, len(server.calls)) == (0, 36)
    runs, results = written(tmp_path / "out")
    assert json.loads(again.stdout) == runs
    answers = []
    for number in range(3):
        samples = (
            (tmp_path / "out" / MINI / f"run-{number + 1}" / "samples.jsonl")
            .read_text()
            .splitlines()
        )
        answers.append({json.loads(sample)["parsed"]["answer"] for sample in samples})
    assert answers == [{"A"}, {"B"}, {"C"}]
    assert (runs["runs"], runs["items"], runs["model"]) == (3, 12, "m")
    assert [result["settings"]["run"] for result in results] == [1, 2, 3]
    accuracy = runs["metrics"]["accuracy"]
    values = [result["metrics"]["accuracy"]["value"] for result in results]
    mean = sum(values) / 3
    assert accuracy["values"] == values
    assert accuracy["mean"] == pytest.approx(mean)
    assert accuracy["spread"] == pytest.approx(
        (sum((value - mean) ** 2 for value in values) / 2) ** 0.5
    )
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


@pytest.fixture
def kit(tmp_path):
    """A benchmark of twelve videos, a question each."""
    rows = [
        {
            "id": f"q{n}",
            "video": f"v{n}",
            "question": f"Which is {n}?",
            "options": ["a", "b", "c"],
            "answer": "A",
        }
        for n in range(12)
    ]
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = ", ".join(f"{name}: {name}" for name in rows[0])
    text = f"id: kit\ntitle: Kit\nkind: choice\nsource: {{file: rows.jsonl}}\ncolumns: {{{columns}}}\nanswer_is: letter\n"
    (tmp_path / "kit" / "benchmark.yaml").write_text(text)
    for n in range(12):
        draw_clip(tmp_path / "kit" / f"v{n}.mp4", f"v{n}", 0.2)
    return tmp_path / "kit"


def of_run(right):
    """Run r has the first `right[r]` questions right."""
    asked = Counter()

    def script(call):
        question = json.dumps(call.body["messages"])
        asked[question] += 1
        number = int(question.split("Which is ")[1].split("?")[0])
        run = asked[question]
        return Answer("A" if number < right[run - 1] else "B", usage={"prompt_tokens": 100 * run})

    return script


def test_three_runs_are_one_side_of_a_comparison_and_one_row_of_a_board(kit, reelbench, tmp_path):
    for model, right in (("m", (6, 7, 8)), ("n", (10, 11, 11))):
        with JudgeServer(of_run(right)) as server:
            where = (
                "--llm",
                model,
                "--llm-url",
                server.url,
                "--frames",
                "1",
                "--no-probe",
                "--output",
                tmp_path / model,
            )
            done = reelbench("ask", kit, *where, "--runs", 3, *WARM)
            assert done.returncode == 0, done.stderr
    store = tmp_path / "store"
    for model in "mn":
        done = reelbench("leaderboard", "add", tmp_path / model, "--store", store)
        assert (done.returncode, done.stderr.count("added")) == (0, 3), done.stderr
    compared = json.loads(
        reelbench("compare", tmp_path / "m", tmp_path / "n", "--store", store, "--json").stdout
    )
    accuracy, among = compared["metrics"]["accuracy"], compared["among"]
    assert compared["runs"] == {"a": 3, "b": 3}
    assert (accuracy["a"], accuracy["b"]) == (
        pytest.approx(100 * 21 / 36),
        pytest.approx(100 * 32 / 36),
    )
    assert (among["p"], among["ci95"]) == (
        accuracy["p"],
        accuracy["ci95"],
    )  # the board draws as `compare` does
    one = json.loads(
        reelbench(
            "compare", *(tmp_path / model / "kit" / "run-1" for model in "mn"), "--json"
        ).stdout
    )
    assert "runs" not in one
    assert (one["metrics"]["accuracy"]["a"], one["settings"].get("settings.run")) == (50, None)
    done = reelbench("leaderboard", "build", "--store", store, "--out", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    rows = [
        row
        for row in json.loads((tmp_path / "site" / "downloads" / "leaderboard.json").read_text())[
            "rows"
        ]
        if row["benchmark"] == "kit"
    ]
    assert [(row["model"], row["runs"], row["rank"]) for row in rows] == [("n", 3, 1), ("m", 3, 2)]
    assert [row["tokens_in"] for row in rows] == [200, 200]  # of 100, 200 and 300 in the three runs
    runs, _ = written(tmp_path / "m", "kit")
    assert rows[1]["metrics"]["accuracy"]["ci95"] == runs["metrics"]["accuracy"]["ci95"]
    assert rows[1]["metrics"]["accuracy"]["value"] == pytest.approx(
        runs["metrics"]["accuracy"]["mean"]
    )
