"""Replies that were paid for are found again: their keys stay the same from version to version.

`fixtures/v0_1_0/judge.sqlite` was written on the mini data, with a local server as the judge
(`judge-v1`).
"""

import shutil
from pathlib import Path

import pytest

from tests.servers.judge import Answer, JudgeServer

FIXTURES = Path(__file__).parents[1] / "fixtures" / "v0_1_0"
PREDICTIONS = {path.stem: path for path in (FIXTURES / "predictions").iterdir()}
VOTES = {"moviecore": 1, "curve": 3}


@pytest.mark.parametrize("name", VOTES)
def test_replies_that_were_paid_for_are_not_paid_for_again(name, score, reelbench_home):
    reelbench_home.mkdir()
    shutil.copy(FIXTURES / "judge.sqlite", reelbench_home / "judge.sqlite")
    with JudgeServer(lambda _: Answer(status=500)) as server:
        options = ["--judge", "judge-v1", "--judge-url", server.url, "--judge-votes", VOTES[name]]
        options.append("--no-overlap")
        document = score(name, "--predictions", PREDICTIONS[name], "--split", "mini", *options)
        assert server.calls == []
    assert document["counts"]["scored"] == document["counts"]["items"]
