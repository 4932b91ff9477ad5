"""A few of the steps that `make publishing` draws: `REELBENCH_STEPS` says how many, 1,000 in full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEPS = os.environ.get("REELBENCH_STEPS", "40")
SEED = os.environ.get("REELBENCH_SEED", "7")


@pytest.mark.slow
def test_nothing_lost_nothing_forged_nothing_secret_and_the_same_board_again(tmp_path):
    command = [
        sys.executable,
        "-m",
        "tools.publishing",
        "--steps",
        STEPS,
        "--seed",
        SEED,
        "--log",
        tmp_path / "log",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "41 planted words, 0 fell" in done.stdout
    assert "boards cloned: 1" in done.stdout
