"""What earlier versions left on users' disks is read as it was: paid replies, results, stores.

`fixtures/v0_1_0` was written by 0.1.0 on the mini data, with a local server as the judge
(`judge-v1`): answers that no row has an owner for but us.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.scored import benchmarks
from tests.servers.judge import Answer, JudgeServer

OLD = Path(__file__).parent / "fixtures" / "v0_1_0"
PREDICTIONS = {path.stem: path for path in (OLD / "predictions").iterdir()}
JUDGED = {"moviecore": 1, "curve": 3}


@pytest.mark.parametrize("name", benchmarks(JUDGED))
def test_replies_that_0_1_0_paid_for_are_not_paid_for_again(name, score, reelbench_home):
    reelbench_home.mkdir()
    shutil.copy(OLD / "judge.sqlite", reelbench_home / "judge.sqlite")
    with JudgeServer(lambda _: Answer(status=500)) as server:
        options = ["--judge", "judge-v1", "--judge-url", server.url, "--judge-votes", JUDGED[name]]
        document = score(name, "--predictions", PREDICTIONS[name], "--split", "mini", *options)
        assert server.calls == []
    old = json.loads((OLD / "results" / name / "result.json").read_text())
    assert document["counts"]["scored"] == old["counts"]["scored"]
    assert _values(document["metrics"]) == _values(old["metrics"])


@pytest.mark.parametrize("name", benchmarks(PREDICTIONS))
def test_the_same_answers_score_the_same(name, score):
    document = score(name, "--predictions", PREDICTIONS[name], "--split", "mini")
    old = json.loads((OLD / "results" / name / "result.json").read_text())
    unjudged = {
        metric for metric, value in document["metrics"].items() if value["value"] is not None
    }
    assert unjudged or name == "curve"
    assert {m: v for m, v in _values(document["metrics"]).items() if m in unjudged} == {
        m: v for m, v in _values(old["metrics"]).items() if m in unjudged
    }


@pytest.mark.parametrize("name", benchmarks(PREDICTIONS))
def test_a_result_of_0_1_0_is_accepted(name, reelbench, tmp_path):
    done = reelbench("leaderboard", "add", OLD / "results" / name, "--store", tmp_path / "store")
    assert done.returncode == 0, done.stderr
    assert "added" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "edit",
    [
        lambda document: document["metrics"]["accuracy"].update(ci95=None),
        lambda document: document["metrics"]["accuracy"].update(ci95=[74, 76]),
        lambda document: document.update(statistics={"interval": "wilson"}),
    ],
    ids=["interval left out", "interval narrowed", "another method named"],
)
def test_its_intervals_are_held_to_the_percentiles_that_they_were(edit, reelbench, tmp_path):
    result = tmp_path / "result"
    shutil.copytree(OLD / "results" / "rextime", result)
    document = json.loads((result / "result.json").read_text())
    edit(document)
    (result / "result.json").write_text(json.dumps(document))
    done = reelbench("leaderboard", "add", result, "--store", tmp_path / "store")
    assert done.returncode != 0
    assert "ci95" in done.stderr + done.stdout


@pytest.mark.java
def test_a_store_of_0_1_0_holds_and_builds(reelbench, tmp_path):
    store = tmp_path / "store"
    shutil.copytree(OLD / "store", store)
    done = reelbench("leaderboard", "check", store)
    assert done.returncode == 0, done.stdout + done.stderr
    done = reelbench("leaderboard", "build", "--store", store, "--out", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    assert "org/fixture" in (tmp_path / "site" / "index.html").read_text() + "".join(
        path.read_text() for path in (tmp_path / "site").rglob("*.js*")
    )


def _values(metrics):
    return {
        name: value["value"] if isinstance(value, dict) else value
        for name, value in metrics.items()
    }
