"""The bench stands alone: a copy without studio, leaderboard and cards measures, and says in a line what is missing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.judge import Answer, JudgeServer
from tests.several import run_commands

ROOT = Path(__file__).resolve().parent.parent
OTHERS = ("studio", "leaderboard", "hub_cards")
PREDICTIONS = ROOT / "tests" / "fixtures" / "v0_1_0" / "predictions" / "rextime.jsonl"
MODEL = ("--model", "dummy", "--limit", "2", "--batch_size", "1")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A copy of the package without the other houses -> what runs commands of it, one after the other."""
    site = tmp_path_factory.mktemp("bench")
    passed = shutil.ignore_patterns(*OTHERS, "__pycache__")
    shutil.copytree(ROOT / "reelbench", site / "reelbench", ignore=passed)
    # An editable install finds each module in the checkout, whatever package is imported.
    without = "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if '_Editable' not in getattr(f, '__name__', '')]"
    (site / "sitecustomize.py").write_text(without)
    home = tmp_path_factory.mktemp("home")

    def run(*commands, how=None):
        env = {**os.environ, "PYTHONPATH": str(site)}
        if how is None:
            return run_commands(sys.executable, *commands, cwd=home, env=env)
        command = [sys.executable, *how]
        return subprocess.run(
            command, cwd=home, env=env, capture_output=True, text=True, check=False
        )

    where = run(how=("-c", "import reelbench; print(reelbench.__file__)"))
    assert where.stdout.startswith(str(site))
    return run


def worked(done):
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_it_lists_scores_and_compares(bench, tmp_path):
    score = ("score", "rextime_mini", "--predictions", PREDICTIONS, "--model")
    pair = (tmp_path / "first", tmp_path / "second")
    listed, helped, first, second, compared, in_store = bench(
        ("list",),
        ("--help",),
        (*score, "first", "--output", pair[0]),
        (*score, "second", "--output", pair[1]),
        ("compare", *pair, "--json"),
        ("compare", *pair, "--store", tmp_path, "--json"),
    )
    assert "rextime_mini" in worked(listed).stdout
    assert "score" in worked(helped).stdout
    assert not any(line.split()[:1] == ["leaderboard"] for line in helped.stdout.splitlines())
    worked(first)
    worked(second)
    assert json.loads(worked(compared).stdout)
    assert in_store.returncode == 2
    assert "--store: this is a part of Reelbench's board, which is not installed" in in_store.stderr


def test_it_asks_a_server(bench, tmp_path):
    with JudgeServer(lambda _: Answer('{"span": [0, 5], "answer": "A"}')) as server:
        words = ("--llm", "m", "--llm-url", server.url, "--frames", "none", "--output", tmp_path)
        worked(*bench(("ask", "rextime_mini", *words)))
    assert (
        json.loads((tmp_path / "rextime_mini" / "result.json").read_text())["counts"]["scored"]
        == 12
    )


@pytest.mark.lmms
def test_it_runs_lmms_eval_with_ours_and_bare(bench, tmp_path):
    tasks = ("--tasks", "rextime_mini", *MODEL, "--log_samples", "--output_path")
    words = ("run", "--frames", "none", "--", *tasks, tmp_path / "run")
    worked(bench(how=("-m", "reelbench", *words)))
    assert list((tmp_path / "run").rglob("result.json"))
    bare = worked(bench(how=("-m", "lmms_eval", *tasks, tmp_path / "bare")))
    assert "accuracy_at_iou_0.5" in bare.stdout
    assert list((tmp_path / "bare").rglob("*_results.json"))


ABSENT = {
    "make moments --captions x --llm m --out y": "studio",
    "ace out --llm m": "studio",
    "diagnose report x": "studio",
    "leaderboard list --store x": "board",
    "cards render rextime --out x": "board",
    "view out": "board",
    "judge anchors out --out x": "board",
}
"""Command -> the house that it is of."""


def test_what_is_not_there_is_said_in_one_line(bench):
    said = bench(*(words.split() for words in ABSENT))
    for done, house in zip(said, ABSENT.values(), strict=True):
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert f"Reelbench's {house}" in line
        assert "not installed" in line


def test_python_says_so_too(bench):
    code = "import reelbench\ntry:\n    reelbench.results('.')\nexcept reelbench.InputError as error:\n    print(error)"
    said = worked(bench(how=("-c", code))).stdout
    assert (
        "reelbench.results: this is a part of Reelbench's board, which is not installed here"
        in said
    )
