"""The loop in which models are asked, at the end of a process."""

import subprocess
import sys

from tests.alarms import PATIENCE_S

HOST = """
from reelbench.llm import loop
held = loop.asking()
held.__enter__()
"""


def test_a_host_that_never_closes_its_judge_ends_all_the_same():
    done = subprocess.run(
        [sys.executable, "-c", HOST],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
