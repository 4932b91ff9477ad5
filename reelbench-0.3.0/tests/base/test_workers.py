"""Work spread over processes: its order, its errors, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.base.workers import Workers
from reelbench.registry import discovery
from reelbench.registry.sampling import FrameSampling
from tests.alarms import PATIENCE_S

SCRIPT = """
from tasks import meet
from reelbench.base.workers import Workers
print("started", flush=True)
for _ in Workers(2).map(meet, range({items})):
    print("met", flush=True)
"""
TASKS = """
import os, pathlib, time

def meet(item):
    here = pathlib.Path(__file__).parent
    (here / f"{os.getpid()}.worker").touch()
    while len(list(here.glob("*.worker"))) < 2:
        time.sleep(0.01)
    time.sleep(0.2 if item >= 400 else 0)
"""
"""The first two parts are done when both workers are up; each that follows takes 40 s, in steps of 0.2."""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "tasks.py").write_text(TASKS, encoding="utf-8")

    def write(items):
        (tmp_path / "script.py").write_text(SCRIPT.format(items=items), encoding="utf-8")
        return [sys.executable, tmp_path / "script.py"]

    return write


def test_results_come_in_order_and_an_error_where_it_stands():
    numbers = list(range(1_000))
    assert list(Workers(2).map(json.loads, [str(n) for n in numbers])) == numbers
    with pytest.raises(InputError, match="nonsense"):
        list(
            Workers(2).map(
                FrameSampling.parse, [*["uniform:8"] * 90, "nonsense", *["uniform:8"] * 9]
            )
        )


def test_a_script_needs_no_guard(script):
    done = subprocess.run(
        script(8), check=False, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.stdout.split(), done.stderr) == (["started", *["met"] * 8], "")


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="lists processes as Linux does")
@pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="a system that doesn't list a process' children"
)
@pytest.mark.parametrize("how", ["ctrl-c", "kill"])
def test_workers_end_with_their_caller(script, how):
    process = subprocess.Popen(
        script(4_000),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert [process.stdout.readline() for _ in range(2)] == ["started\n", "met\n"]
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(workers) >= 2
    os.killpg(process.pid, signal.SIGINT) if how == "ctrl-c" else process.kill()
    process.stdout.close()
    errors = process.communicate(timeout=PATIENCE_S)[1]
    if how == "ctrl-c":
        assert (
            errors.count("Traceback") == errors.count("KeyboardInterrupt") == 1
        )  # the script's own
    deadline = time.monotonic() + PATIENCE_S
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < deadline, workers
        time.sleep(0.05)


def test_workers_know_the_benchmark_that_the_user_named_by_its_path(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", None)
    (tmp_path / "rows.jsonl").write_text("{}\n")
    (tmp_path / "benchmark.yaml").write_text(
        "id: kitchen\nkind: exact\nsource: {file: rows.jsonl}\ncolumns: {id: a, video: b, question: c, answer: d}\n"
    )
    spec = discovery.find(str(tmp_path))
    assert list(Workers(2).map(discovery.get, [spec.id, spec.id])) == [spec, spec]
