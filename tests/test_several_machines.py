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

from tests.servers import ranker, roles
from tests.servers.judge import Answer, JudgeServer

QUESTIONS, CRITERIA, CONCURRENCY = 850, 5, 32
OF_THE_RUN = {"date", "host", "calls", "cached", "cost_usd", "seconds", "command"}
"""What results of one command may differ in."""


def judged(call):
    """A score that depends on the question and the dimension alone."""
    return Answer(json.dumps({"score": sha256(f"{call.system}{call.user}".encode()).digest()[0] % 6}), delay=0.2)


@pytest.fixture
def scoring(tmp_path, postgres):
    """Starts `reelbench score` on machine N: a home and an output of its own."""
    rows = {
        f"v{n // 5}_{n % 5}": {"question": f"Why {n}?", "answer": f"Because of {n}.", "video": f"v{n // 5}",
                               "classification": "A"} for n in range(QUESTIONS)
    }  # fmt: skip
    entries = {}
    for n, row in enumerate(rows.values()):
        said = {"question": row["question"], "answer": row["answer"], "pred": f"I think {n}.", "classification": "A"}
        entries.setdefault(f"{row['video']}.mp4", []).append(said)
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "predictions.json").write_text(json.dumps(entries))
    place, started = postgres.database(), []

    def start(machine, url, *more):
        environ = os.environ | {"REELBENCH_HOME": str(tmp_path / f"home{machine}"), "REELBENCH_CACHE": place}
        command = [
            *(Path(sys.executable).with_name("reelbench"), "score", "moviecore", "--no-overlap", "--quiet"),
            *("--predictions", tmp_path / "predictions.json", "--references", tmp_path / "rows.json"),
            *("--judge", "judge-1", "--judge-url", url, "--judge-concurrency", str(CONCURRENCY)),
            *("--output", tmp_path / f"out{machine}", *more),
        ]
        process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
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
    deadline = time.monotonic() + 300
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
    assert sum(asked.values()) - len(asked) <= 2 * CONCURRENCY  # what was in flight at the two that were killed
    first, second = ((folder / "samples.jsonl").read_bytes() for folder in results)
    assert first == second
    documents = [json.loads((folder / "result.json").read_text()) for folder in results]
    assert documents[0]["counts"]["scored"] == QUESTIONS
    assert plain(documents[0]) == plain(documents[1])
    calls = [document["judge"]["calls"] for document in documents]
    assert all(call > 0 for call in calls)


@pytest.mark.slow
def test_a_database_that_stays_away_ends_the_run_in_a_line_and_costs_nothing(scoring, postgres):
    with JudgeServer(judged) as server:
        machine = scoring(0, server.url, "--cache-patience", "3")
        until(lambda: len(server.calls) > 300)
        postgres.stop()
        try:
            _, said = machine.communicate(timeout=300)
        finally:
            postgres.start()
        assert machine.returncode == 1
        assert "Traceback" not in said
        assert "(--cache-patience)" in said.splitlines()[-1]
        assert 300 < len(server.calls) < QUESTIONS * CRITERIA
        again = scoring(0, server.url)
        _, said = again.communicate(timeout=300)
        assert again.returncode == 0, said
        asked = Counter((call.system, call.user) for call in server.calls)
    assert len(asked) == sum(asked.values()) == QUESTIONS * CRITERIA


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ace", "make discussion"])
def test_chains_of_calls_are_shared_too(command, postgres, tmp_path):
    """Two machines at once, one result; what is left to a third asks nothing."""
    if command == "ace":
        given = tmp_path / "candidates.jsonl"
        rows = [
            {"id": f"q{n}", "candidates": [f"Answer {i} to {n} is worth {(n + i) % 4}" for i in range(4)]}
            for n in range(40)
        ]
        script, words = ranker.play, ["ace", "--candidates", given, "--llm", "ranker"]
    else:
        given = tmp_path / "videos.jsonl"
        rows = [{"video": f"v{n}", "context": [f"A keeper lights lamp {n}, {i}." for i in range(8)]} for n in range(12)]
        script, words = roles.play, ["make", "discussion", "--videos", given]
        words += [word for role in (*roles.DISCUSSION, "judge") for word in ("--llm", f"{role}={role}")]
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    place = postgres.database()

    def start(machine, url):
        environ = os.environ | {"REELBENCH_HOME": str(tmp_path / f"home{machine}"), "REELBENCH_CACHE": place}
        line = [Path(sys.executable).with_name("reelbench"), *words, "--llm-url", url, "--llm-concurrency", "4"]
        line += ["--output" if command == "ace" else "--out", tmp_path / f"out{machine}"]
        return subprocess.Popen(line, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    with JudgeServer(lambda call: replace(script(call), delay=0.1)) as server:
        paid = []
        for machines in ((0, 1), (2,)):
            running = [start(machine, server.url) for machine in machines]
            for process in running:
                _, said = process.communicate(timeout=300)
                assert process.returncode == 0, said
            paid.append(len(server.calls))
        assert paid[0] == paid[1]
        assert set(Counter(json.dumps(call.body, sort_keys=True) for call in server.calls).values()) == {1}
    of_each = [
        {
            path.relative_to(folder): plain(json.loads(path.read_text()))
            if path.suffix == ".json"
            else path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.suffix in {".json", ".jsonl"}
        }
        for folder in (tmp_path / f"out{machine}" for machine in range(3))
    ]
    assert of_each[0]
    assert of_each[0] == of_each[1] == of_each[2]
