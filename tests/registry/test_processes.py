"""A worker process ends with who started it, without a word, and passes on no setting that was lent to it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reelbench.registry.files import is_alive


def lent(_):
    return os.environ.get("PYTHONSAFEPATH")


def told(_):
    return os.environ.get("PYTHONSAFEPATH")


def pid(_):
    time.sleep(1)
    return os.getpid()


KILLED = """
import os, signal, sys
from concurrent.futures import ProcessPoolExecutor
from reelbench.registry import processes
from tests.registry.test_processes import pid

if __name__ == "__main__":
    pool = ProcessPoolExecutor(2, mp_context=getattr(processes, sys.argv[1])())
    print(*pool.map(pid, range(2)), flush=True)
    pool.submit(pid, 1)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["anew", "copied"])
def test_a_worker_process_ends_with_who_started_it(how, tmp_path):
    (tmp_path / "script.py").write_text(KILLED)
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, tmp_path / "script.py", how]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (-9, "")
    ended = time.monotonic() + 30
    while any(is_alive(int(one)) for one in done.stdout.split()) and time.monotonic() < ended:
        time.sleep(0.1)
    assert not any(is_alive(int(one)) for one in done.stdout.split())
