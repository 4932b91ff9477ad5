"""The same command on several machines, which share nothing but a database of replies: each call is paid once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

import reelbench
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import store
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.alarms import PATIENCE_S
from tests.scored import score_files
from tests.servers import diagnosis, ranker, roles
from tests.servers.judge import Answer, JudgeServer

QUESTIONS, CRITERIA, CONCURRENCY = 850, 5, 32
OF_THE_RUN = {
    "date",
    "host",
    "calls",
    "cached",
    "cost_usd",
    "seconds",
    "command",
    "asked",
    "kept_from",
    "kept_to",
}
"""What results of one command may differ in."""


def judged(call):
    """A score that depends on the question and the dimension alone."""
    return Answer(
        json.dumps({"score": sha256(f"{call.system}{call.user}".encode()).digest()[0] % 6}),
        delay=0.2,
    )


@pytest.fixture
def scoring(tmp_path, postgres):
    """Starts `reelbench score` on machine N: a home and an output of its own."""
    rows = {
        f"v{n // 5}_{n % 5}": {"question": f"Why {n}?", "answer": f"Because of {n}.", "video": f"v{n // 5}",
                               "classification": "A"} for n in range(QUESTIONS)
    }  # fmt: skip
    entries = {}
    for n, row in enumerate(rows.values()):
        said = {
            "question": row["question"],
            "answer": row["answer"],
            "pred": f"I think {n}.",
            "classification": "A",
        }
        entries.setdefault(f"{row['video']}.mp4", []).append(said)
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "predictions.json").write_text(json.dumps(entries))
    place, started = postgres.database(), []

    def start(machine, url, *more):
        environ = os.environ | {
            "REELBENCH_HOME": str(tmp_path / f"home{machine}"),
            "REELBENCH_CACHE": place,
        }
        command = [
            *(
                Path(sys.executable).with_name("reelbench"),
                "score",
                "moviecore",
                "--no-overlap",
                "--quiet",
            ),
            *(
                "--predictions",
                tmp_path / "predictions.json",
                "--references",
                tmp_path / "rows.json",
            ),
            *("--judge", "judge-1", "--judge-url", url, "--judge-concurrency", str(CONCURRENCY)),
            *("--output", tmp_path / f"out{machine}", *more),
        ]
        process = subprocess.Popen(
            command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def plain(value):
    """Drop what is of the run alone."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items() if name not in OF_THE_RUN}
    return [plain(part) for part in value] if isinstance(value, list) else value


def until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_four_machines_of_which_two_die_pay_each_call_once(scoring, postgres, tmp_path):
    with JudgeServer(judged) as server:
        machines = [scoring(number, server.url) for number in range(4)]
        until(lambda: len(server.calls) > 1000)
        for machine in machines[:2]:
            machine.send_signal(signal.SIGKILL)
            machine.communicate()
        until(lambda: len(server.calls) > 2000)
        postgres.stop()
        time.sleep(2)  # calls under way end
        paid = len(server.calls)
        time.sleep(1)
        assert len(server.calls) == paid  # nothing new is sent
        postgres.start()
        for machine in machines[2:]:
            _, said = machine.communicate(timeout=300)
            assert machine.returncode == 0, said
        asked = Counter((call.system, call.user) for call in server.calls)
    results = [tmp_path / f"out{number}" for number in (2, 3)]
    assert len(asked) == QUESTIONS * CRITERIA
    assert (
        sum(asked.values()) - len(asked) <= 2 * CONCURRENCY
    )  # what was in flight at the two that were killed
    first, second = ((folder / "samples.jsonl").read_bytes() for folder in results)
    assert first == second
    documents = [json.loads((folder / "result.json").read_text()) for folder in results]
    assert documents[0]["counts"]["scored"] == QUESTIONS
    assert plain(documents[0]) == plain(documents[1])
    calls = [document["judge"]["calls"] for document in documents]
    assert all(call > 0 for call in calls)


@pytest.mark.slow
def test_machines_that_begin_later_take_their_share(scoring, tmp_path):
    with JudgeServer(judged) as server:
        machines = [scoring(0, server.url)]
        until(lambda: len(server.calls) > 300)
        machines += [scoring(number, server.url) for number in (1, 2, 3)]
        for machine in machines:
            _, said = machine.communicate(timeout=300)
            assert machine.returncode == 0, said
        assert len(server.calls) == QUESTIONS * CRITERIA
    documents = [
        json.loads((tmp_path / f"out{number}" / "result.json").read_text()) for number in range(4)
    ]
    assert all(plain(document) == plain(documents[0]) for document in documents)
    assert min(document["judge"]["calls"] for document in documents) > 100


@pytest.mark.slow
def test_a_database_that_stays_away_ends_the_runs_in_a_line_and_costs_nothing(scoring, postgres):
    """Both end, though hundreds of questions wait for the database and replies lie in the spools."""
    with JudgeServer(judged) as server:
        machines = [scoring(number, server.url, "--cache-patience", "3") for number in range(2)]
        until(lambda: len(server.calls) > 300)
        postgres.stop()
        try:
            said = [machine.communicate(timeout=300)[1] for machine in machines]
        finally:
            postgres.start()
        for machine, lines in zip(machines, said, strict=True):
            assert machine.returncode == 1
            assert "Traceback" not in lines
            assert "(--cache-patience)" in lines.splitlines()[-1]
        assert 300 < len(server.calls) < QUESTIONS * CRITERIA
        # Each hands over its own spool, so the first pays again for what lies in the other's.
        for number in range(2):
            again = scoring(number, server.url)
            _, lines = again.communicate(timeout=300)
            assert again.returncode == 0, lines
        asked = Counter((call.system, call.user) for call in server.calls)
    assert len(asked) == QUESTIONS * CRITERIA
    assert sum(asked.values()) - len(asked) <= 2 * CONCURRENCY


def of_ace(tmp_path):
    rows = [{"id": f"q{n}", "candidates": [f"Answer {i} to {n} is worth {(n + i) % 4}" for i in range(4)]}
            for n in range(40)]  # fmt: skip
    written(tmp_path / "candidates.jsonl", rows)
    words = [
        "ace",
        "--candidates",
        tmp_path / "candidates.jsonl",
        "--llm",
        "ranker",
        "--output",
        "OUT",
    ]
    return ranker.play, words, "--llm"


def of_discussion(tmp_path):
    rows = [
        {"video": f"v{n}", "context": [f"A keeper lights lamp {n}, {i}." for i in range(8)]}
        for n in range(12)
    ]
    written(tmp_path / "videos.jsonl", rows)
    words = ["make", "discussion", "--videos", tmp_path / "videos.jsonl", "--out", "OUT"]
    words += [word for role in (*roles.DISCUSSION, "judge") for word in ("--llm", f"{role}={role}")]
    return roles.play, words, "--llm"


def of_ask(tmp_path):
    folder = tmp_path / "kitchen"
    folder.mkdir()
    rows = [{"qid": f"k{n}", "clip": "v", "q": f"What boils at {n}?", "opts": ["Tea", "Soup"], "right": "AB"[n % 2]}
            for n in range(40)]  # fmt: skip
    written(folder / "rows.jsonl", rows)
    (folder / "benchmark.yaml").write_text(
        "id: kitchen\ntitle: Kitchen\nkind: choice\nsource: {file: rows.jsonl}\nanswer_is: letter\n"
        "columns: {id: qid, video: clip, question: q, options: opts, answer: right}\n"
    )

    def answers(call):
        return Answer("AB"[sha256(roles.text_of(call).encode()).digest()[0] % 2])

    return (
        answers,
        ["ask", folder, "--frames", "none", "--llm", "m", "--no-recheck", "--output", "OUT"],
        "--llm",
    )


def of_errors(tmp_path):
    with JudgeServer(lambda _: Answer("0")) as server:
        keys = [row["id"] for row in reelbench.load("curve_mini")]
        written(tmp_path / "answers.jsonl", [{"key": key, "pred": f"pred {key}"} for key in keys])
        given, options = (
            Inputs(tmp_path / "answers.jsonl"),
            Options(judge=JudgeOptions(model="j", url=server.url)),
        )
        score_files("curve_mini", given, tmp_path / "result", options, model="m")
    return (
        diagnosis.Models(),
        [
            "diagnose",
            "errors",
            tmp_path / "result",
            "--llm",
            "m",
            "--llm-votes",
            "1",
            "--out",
            "OUT",
        ],
        "--llm",
    )


def of_rejudge(tmp_path):
    with JudgeServer(lambda _: Answer('{"score": 1}')) as server:
        options = Options(judge=JudgeOptions(model="earlier", url=server.url))
        keys = [row["id"] for row in reelbench.load("curve_mini")]
        for model in ("first", "second", "third"):
            written(
                tmp_path / f"{model}.jsonl",
                [{"key": key, "pred": f"{model} {key}"} for key in keys],
            )
            given = Inputs(tmp_path / f"{model}.jsonl")
            score_files("curve_mini", given, tmp_path / "runs" / model, options, model=model)
    for machine in range(4):  # each its own store: the new results are filed there
        store.add(tmp_path / "runs", tmp_path / f"store{machine}")

    def judges(call):
        return Answer(json.dumps({"score": sha256(call.user.encode()).digest()[0] % 3}))

    words = ["leaderboard", "rejudge", "--store", "STORE", "--judge", "later", "--out", "OUT"]
    return judges, words, "--judge"


SHARED = {"ace": of_ace, "make discussion": of_discussion, "ask": of_ask, "diagnose errors": of_errors,
          "leaderboard rejudge": of_rejudge}  # fmt: skip


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def results_in(folder):
    return {
        path.relative_to(folder): plain(json.loads(path.read_text()))
        if path.suffix == ".json"
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".json", ".jsonl"}
    }


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True], ids=["two end", "one is killed"])
@pytest.mark.parametrize("command", SHARED)
def test_other_commands_share_their_calls_too(command, killed, postgres, tmp_path):
    """Several at once have one result, and a later one asks nothing. One that dies costs what was in flight."""
    script, words, asked = SHARED[command](tmp_path)
    place = postgres.database()

    def start(machine, url):
        environ = os.environ | {
            "REELBENCH_HOME": str(tmp_path / f"home{machine}"),
            "REELBENCH_CACHE": place,
        }
        places = {"OUT": tmp_path / f"out{machine}", "STORE": tmp_path / f"store{machine}"}
        line = [
            Path(sys.executable).with_name("reelbench"),
            *(places.get(word, word) for word in words),
        ]
        line += [f"{asked}-url", url, f"{asked}-concurrency", "3"]
        return subprocess.Popen(
            line, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def ended(running):
        for process in running:
            _, said = process.communicate(timeout=300)
            assert process.returncode == 0, said
        return len(server.calls)

    with JudgeServer(lambda call: replace(script(call), delay=0.2)) as server:
        running = [start(machine, server.url) for machine in range(2)]
        if killed:
            until(lambda: len(server.calls) >= 6)
            running[0].send_signal(signal.SIGKILL)
            running.pop(0).communicate()
            running.append(start(2, server.url))
        paid = ended(running)
        assert ended([start(3, server.url)]) == paid
        times = Counter(json.dumps(call.body, sort_keys=True) for call in server.calls)
    models = {json.loads(body)["model"] for body in times}
    assert times.total() - len(times) <= (
        3 * max(len(models), ROLES.get(command, 1)) if killed else 0
    )
    whole = [
        results_in(tmp_path / f"out{machine}") for machine in ((1, 2, 3) if killed else (0, 1, 3))
    ]
    assert whole[0]
    assert whole[0] == whole[1] == whole[2]


ROLES = {"diagnose errors": 3}
"""Roles that one model plays, each with its own calls in flight."""
