"""A Ray cluster of two nodes: two raylets on this machine, each with one core, as two machines would have."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from perf.leaderboard import make as make_results
from reelbench.video.mini_clips import draw_clip
from tests.alarms import PATIENCE_S
from tests.servers.slurm import free_ports

pytestmark = pytest.mark.slow
RAY = Path(sys.executable).with_name("ray")
COUNT_NODES = """
import subprocess
from reelbench.base.workers import Workers
whose = ["sh", "-c", "sleep 0.5; ps -o ppid= -p $PPID"]  # a worker's parent is the node's raylet
print(len(set(Workers(2, "ray").map(subprocess.check_output, [whose] * 8))))
"""


@pytest.fixture
def two_nodes(tmp_path, monkeypatch):
    """Start two nodes; the environment says where they are."""
    # Ray is never imported here: it changes the environment of its process for good.
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed (pip install 'reelbench[ray]')")
    if "RAY_NODES" not in os.environ:
        pytest.skip("RAY_NODES=2 starts two nodes of Ray, which want an idle machine")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # on loopback alone
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", str(PATIENCE_S))
    monkeypatch.setenv("RAY_agent_register_timeout_ms", str(1000 * PATIENCE_S))
    [port] = free_ports(1)
    address = f"127.0.0.1:{port}"
    of_each = ("--block", "--num-cpus=1", "--node-ip-address=127.0.0.1", "--disable-usage-stats")
    head = ("--head", f"--port={port}", "--include-dashboard=false")
    with ExitStack() as nodes:
        # In the folder that all share, other tests' Ray would find these nodes and join them.
        # It isn't `tmp_path`, which is too long for a socket's name.
        monkeypatch.setenv("RAY_TMPDIR", nodes.enter_context(TemporaryDirectory()))
        for name, place in (("head", head), ("worker", (f"--address={address}",))):
            log = tmp_path / f"{name}.log"
            nodes.enter_context(_node([RAY, "start", *place, *of_each], log))
        _wait_for_nodes(address, 2)
        monkeypatch.setenv("RAY_ADDRESS", address)
        yield


@contextmanager
def _node(command, log):
    with log.open("wb") as file:
        node = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
    try:
        _wait_for_node(node, log)
        yield
    finally:
        node.terminate()
        try:
            node.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(node.pid, signal.SIGKILL)
            node.wait()


def _wait_for_node(node, log):
    deadline = time.monotonic() + PATIENCE_S
    while "Ray runtime started" not in log.read_text():
        assert node.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.5)


def _wait_for_nodes(address, number):
    code = (
        "import sys, ray\n"
        "ray.init(sys.argv[1], logging_level='ERROR')\n"
        "print(sum(node['Alive'] for node in ray.nodes()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, address], capture_output=True, text=True, check=True
    )
    assert int(done.stdout.split()[-1]) == number


@pytest.mark.usefixtures("two_nodes")
def test_two_nodes_share_the_work_and_leave_what_one_process_leaves(reelbench, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", COUNT_NODES], capture_output=True, text=True, check=False
    )
    assert done.stdout == "2\n", done.stderr

    make_results(tmp_path / "results", 8, 40)
    clips = tmp_path / "clips"
    clips.mkdir()
    for number in range(4):
        draw_clip(clips / f"{number}.mp4", str(number), 1)
    ways = {"one": ("--workers", "1"), "nodes": ("--workers", "2", "--engine", "ray")}
    for way, words in ways.items():
        store = tmp_path / way / "store"
        home = {"REELBENCH_HOME": str(tmp_path / way / "home")}
        for command in (
            ("leaderboard", "add", tmp_path / "results", "--store", store),
            ("leaderboard", "build", "--store", store, "--out", tmp_path / way / "site"),
            ("frames", "extract", clips, "--frames", "uniform:4"),
        ):
            done = reelbench(*command, *words, env=home)
            assert done.returncode == 0, done.stderr
    for part in ("store", "site", "home/frames"):
        assert _files(tmp_path / "nodes" / part) == _files(tmp_path / "one" / part), part


def _files(folder):
    """Return the bytes of files, but for locks and the ledger, which has the time."""
    files = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".lock" and path.name != "ledger.jsonl":
            files[path.relative_to(folder)] = path.read_bytes()
    assert files
    return files
