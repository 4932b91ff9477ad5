"""What the tests of real models share: the folder that `make real` built, and one server."""

import os
from pathlib import Path

import pytest

from tests.servers.real import llama_cpp

MODEL = "smollm2"
SEEN = pytest.StashKey[list[str]]()
"""What the tests saw, for the end of the log."""


@pytest.fixture(scope="session")
def folder():
    """The folder with llama.cpp's server and a small model."""
    named = os.environ.get("REAL_MODEL_DIR")
    if named is None:
        pytest.skip("REAL_MODEL_DIR names no folder: see make real")
    return Path(named)


@pytest.fixture(scope="session")
def text_server(folder, tmp_path_factory):
    """A server of a small model that reads text alone, with two slots of 4,096 tokens."""
    log = tmp_path_factory.mktemp("text_server") / "log.txt"
    words = ("--alias", MODEL, "-c", "8192", "--parallel", "2")
    with llama_cpp(folder, log, *words) as server:
        yield server


@pytest.fixture
def eval_words(reelbench, tmp_path):
    """Run `eval` of a task on questions in words; returns the process."""

    def run(task, server, *words, output="out"):
        given = ("--model", MODEL, "--base-url", server.url, "--frames", "none")
        return reelbench("eval", task, *given, *words, "--output", tmp_path / output)

    return run


@pytest.fixture
def tell(request):
    """Put a line into the summary at the end: figures that no test asserts."""
    lines = request.config.stash.setdefault(SEEN, [])
    return lines.append


def pytest_terminal_summary(terminalreporter, config):
    """Write down what the tests saw."""
    lines = config.stash.get(SEEN, [])
    if lines:
        terminalreporter.section("seen of the real model")
        for line in lines:
            terminalreporter.write_line(line)
