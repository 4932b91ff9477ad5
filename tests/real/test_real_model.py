"""A real small language model behind a real llama.cpp server: `make real` runs these, and CI never.

REAL_MODEL_DIR is a folder with `llama-server` and `model.gguf`, a model that reads text alone.
"""

import os
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

FOLDER = os.environ.get("REAL_MODEL_DIR")
MODEL = "smollm2"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(FOLDER is None, reason="REAL_MODEL_DIR names no folder: see make real"),
]
START_S = 120


@pytest.fixture(scope="module")
def url():
    """The address of the server, which is started for this file."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(FOLDER or "")
    words = ["-m", folder / "model.gguf", "--alias", MODEL, "-c", "4096", "--parallel", "2"]
    command = [folder / "llama-server", "--host", "127.0.0.1", "--port", str(port), *words]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def wait_for(page):
    """Wait until a page is there."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(page):  # noqa: S310 - of this machine
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"no answer from {page} in {START_S} s")


def test_it_answers_questions_in_words(url, reelbench, tmp_path):
    words = ("--model", MODEL, "--base-url", url, "--frames", "none", "--limit", "2")
    done = reelbench("eval", "rextime_mini", *words, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 asked, 0 kept" in done.stdout


def test_pictures_are_refused_before_the_first_call(url, reelbench, tmp_path):
    words = ("--model", MODEL, "--base-url", url, "--frames", "4")
    done = reelbench("eval", "rextime_mini", *words, "--output", tmp_path)
    assert done.returncode == 1
    assert "takes text alone" in done.stderr
    assert "--mmproj" in done.stderr
