"""Many hostile submissions at once, through the webhook's real process: none keeps the good ones from their comment."""

import asyncio
import subprocess
import sys

import pytest

from reelbench.base import bounded
from reelbench.leaderboard import webhook
from tools.attacking.flood import GOOD, KINDS, flood

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("submitters", [4, 40])
def test_good_submissions_are_not_kept_waiting_by_hostile_ones(
    submitters, hub, rextime_run, tmp_path
):
    hostile = [(kind, f"evil{number % submitters}") for number, kind in enumerate(KINDS * 2)]
    good = [(GOOD, f"user{number}") for number in range(10)]
    done = flood(hub, tmp_path, rextime_run("first", model="org/first", right=8), hostile + good)
    assert [(one.kind, one.outcome()) for one in done] == [
        (kind, "held" if kind == GOOD else "refused") for kind, _ in hostile + good
    ]
    if submitters == 4:  # they take turns: who offers one isn't behind those who offer five each
        last = {
            good: max(one.waited for one in done if (one.kind == GOOD) == good)
            for good in (True, False)
        }
        assert last[True] < last[False]


LOOK = """
import importlib, sys
from reelbench.base.workers import ALONE
for name in {names}: importlib.import_module(name)
before = set(sys.modules)
from pathlib import Path
from reelbench.leaderboard import store
assert [one.outcome for one in store.check(Path({run!r}), workers=ALONE)] == ["same"]
print(*(name for name in sys.modules.keys() - before if name.startswith(("reelbench.", "numpy."))))
"""


def test_what_a_look_needs_is_imported_once_for_all(rextime_run, monkeypatch):
    prepared = []
    monkeypatch.setattr(bounded, "prepare", lambda *names: prepared.extend(names))
    monkeypatch.setattr(asyncio, "run", lambda serving: serving.close())
    webhook.serve(None, "secret", host="127.0.0.1", port=0, note=print)
    code = LOOK.format(names=prepared, run=str(rextime_run()))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    of_score = (
        "reelbench.scoring.answers.scored",
        "reelbench.scoring.answers.options",
        "reelbench.stats.intervals",
    )
    assert not {*of_score, "numpy.random", "reelbench.tasks.rextime"} & set(done.stdout.split())
    assert len(done.stdout.split()) < 10  # what one kind of answer needs
