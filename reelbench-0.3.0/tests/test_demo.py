"""`make demo`, as somebody sees it who has never seen the project."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
A_SCREEN = 50  # lines
JUDGED = ("curve", "moviechat", "moviecore")


@pytest.mark.lmms
@pytest.mark.slow
def test_the_demo_tells_the_story_in_a_screen_and_names_pages_that_are_there(tmp_path):
    out = tmp_path / "demo"
    done = subprocess.run(
        [sys.executable, "-m", "tools.demo", out],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= A_SCREEN
    assert max(len(line.replace(str(out), "demo_output")) for line in lines) <= 120
    # Half of each kind of answer is by hand, and none of it is called a model's.
    assert done.stdout.count("by hand") == 2
    rows = [line.split() for line in lines if re.match(r"\w+_mini ", line)]
    assert next(row[1] for row in rows if row[0] == "rextime_mini") == "accuracy_at_iou_0.5"
    assert not [row for row in rows if row[0].startswith(JUDGED)]
    assert "verification   6    2  low_score 4" in done.stdout
    assert re.search(r"Temporal Localization: .*\n.*\n +Reasoning: ", done.stdout)
    pages = [line.split()[0] for line in lines[lines.index("Pages, for a browser:") + 1 :]]
    assert len(pages) == 3
    assert all((ROOT / page).is_file() for page in pages)
    assert "tiny-vlm" in (out / "site" / "data" / "board.js").read_text(encoding="utf-8")
