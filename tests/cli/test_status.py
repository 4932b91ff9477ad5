"""Long work seen from outside: a file that says how far it has come, rewritten whole."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.status import StatusFile
from reelbench.cli import commands
from tests.forks import pid_of
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
GOOD = '{"span": [0, 5], "answer": "A"}'


def asked(server, tmp_path, *options):
    words = [
        "ask",
        MINI,
        "--llm",
        "m",
        "--llm-url",
        server.url,
        "--frames",
        "none",
        "--output",
        tmp_path / "out",
    ]
    return [str(word) for word in (*words, "--status-file", tmp_path / "status.json", *options)]


def status(path, code, *options):
    done = CliRunner().invoke(
        app, ["doctor", "status", str(path), *options], catch_exceptions=False
    )
    assert done.exit_code == code
    return done.stdout


def test_it_tells_what_was_done_failed_and_spent(tmp_path):
    path = tmp_path / "status.json"
    with JudgeServer(
        lambda call: Answer(status=400) if call.number == 5 else Answer(GOOD)
    ) as server:
        words = asked(server, tmp_path, "--llm-price", "1,10", "--llm-concurrency", 1)
        assert CliRunner().invoke(app, words).exit_code == 0
    told = json.loads(path.read_text())
    # A reply is 100 tokens at $1 a million and 10 at $10: $0.0002 each.
    assert {key: told[key] for key in ("command", "state", "what", "done", "of", "failed", "error", "eta")} == {
        "command": "ask", "state": "done", "what": "asking rextime", "done": 12, "of": 12, "failed": 1,
        "error": None, "eta": None,
    }  # fmt: skip
    assert told["cost"] == pytest.approx(11 * 0.0002)
    assert status(path, 0).startswith(
        "ask: done; asking rextime, 12 of 12 (100 %); 1 failed; $0.00; updated "
    )
    assert json.loads(status(path, 0, "--json")) == told


def test_a_command_that_fails_says_why(tmp_path):
    with JudgeServer(lambda _: Answer(status=401, error={"message": "wrong key"})) as server:
        done = CliRunner().invoke(app, asked(server, tmp_path))
    assert isinstance(done.exception, ReelbenchError)
    assert "failed" in (line := status(tmp_path / "status.json", 1))
    assert "wrong key" in line


@pytest.mark.parametrize(
    ("end", "state", "code"), [(signal.SIGINT, "stopped", 1), (signal.SIGKILL, "gone", 1)]
)
def test_a_command_that_was_ended_is_not_taken_for_one_that_runs(
    end, state, code, tmp_path, program
):
    path = tmp_path / "status.json"
    with JudgeServer(lambda call: Answer(GOOD, delay=0 if call.number < 3 else 60)) as server:
        command = [
            program,
            *asked(server, tmp_path, "--llm-concurrency", 1),
        ]
        with subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.DEVNULL) as process:
            while len(server.calls) < 4 and process.poll() is None:
                time.sleep(0.05)
            running = json.loads(status(path, 0, "--json"))
            assert (running["state"], running["of"], running["pid"]) == (
                "running",
                12,
                pid_of(process),
            )
            os.kill(pid_of(process), end)
    assert json.loads(status(path, code, "--json"))["state"] == state


def test_the_time_left_follows_from_the_pace(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    kept = StatusFile(tmp_path / "s.json", "score")
    with kept.bar("judging", 40) as show:
        clock[0] += 30
        show(10, "", cost_usd=0.5)
    told = json.loads((tmp_path / "s.json").read_text())
    assert (told["done"], told["eta"], told["cost"]) == (10, 90.0, 0.5)  # 3 s each, 30 of them left
    with kept.bar("judging more", None) as show:
        clock[0] += 2
        show(5, "", cost_usd=0.25)
    told = json.loads((tmp_path / "s.json").read_text())
    assert (told["what"], told["of"], told["eta"], told["cost"]) == (
        "judging more",
        None,
        None,
        0.75,
    )


def test_what_is_no_status_file_is_a_line(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(InputError, match="is not a status file"):
        status(tmp_path / "a.json", 2)


def test_every_command_with_a_bar_has_it():
    """A module that hands a bar on has a command that keeps a status file."""
    folder = Path(commands.__file__).parent
    sources = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    bars = {name for name, text in sources.items() if "console.progress" in text}
    bars = bars - {"sweep_steps.py"} | {"evaluate.py"}  # part of `run`; `ask` and `run` in one
    assert {name for name, text in sources.items() if "reports_status\ndef " in text} == bars
    for command in (
        "score",
        "ask",
        "run",
        "make tags",
        "diagnose errors",
        "frames extract",
        "leaderboard rejudge",
    ):
        assert (
            "--status-file FILE" in CliRunner().invoke(app, [*command.split(), "--help"]).stdout
        ), command


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cost": {}}, "field cost: expected a number"),
        ({"done": "3"}, "field done: expected a number"),
        ({"what": "asking", "done": None}, "field done: expected a number"),
        ({"state": []}, "field state: expected a text"),
        ({"eta": float("nan")}, "field eta: expected a number"),
    ],
)
def test_a_file_that_says_what_no_status_says_is_refused_by_its_field(change, says, tmp_path):
    path = tmp_path / "status.json"
    StatusFile(path, "ask").end("done")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=says):
        status(path, 2)


def test_a_process_that_no_system_counts_to_is_gone(tmp_path):
    path = tmp_path / "status.json"
    StatusFile(path, "ask")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pid": 10**30}))
    assert json.loads(status(path, 1, "--json"))["state"] == "gone"
