"""A store with whole results: the mini data stands in for the real splits."""

import json
import shutil
from pathlib import Path

import pytest

from reelbench.data import loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import store
from reelbench.tasks import moviecore, rextime
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.scored import score_files
from tests.servers.judge import Answer, JudgeServer


@pytest.fixture
def as_real(tmp_path, monkeypatch, few_videos):  # noqa: ARG001 - for what it sets up
    """Let the mini data stand for the real splits: whole, known, and not called mini."""

    def stand_in(package, mini, name):
        folder = tmp_path / f"data-{name}"
        folder.mkdir()
        shutil.copy(Path(package.__path__[0]) / "mini" / mini, folder / name)
        benchmark = package.__name__.rpartition(".")[2]
        monkeypatch.setenv(f"REELBENCH_DATA_{benchmark.upper()}", str(folder))

    stand_in(rextime, "rextime_val.json", "rextime_val.json")
    stand_in(moviecore, "test.json", "test.json")


def as_owners(folder):
    """Let a result say that its rows are the owners'."""
    path = folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"data": "owners"}))
    return folder


def rextime_result(folder, *, model="org/model"):
    """The first half of the questions right, the rest wrong in letter and window."""
    rows = loading.locate("rextime").read()
    folder.mkdir(parents=True)
    lines = []
    for number, row in enumerate(rows):
        right = number < len(rows) // 2
        wrong = "B" if row["answer"] == "A" else "A"
        window = row["span"] if right else [0, 0]
        lines.append(
            {
                "qid": row["id"],
                "pred_relevant_windows": [window],
                "ans": row["answer"] if right else wrong,
            }
        )
    path = folder / "submission.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    score_files("rextime", Inputs(path), folder / "result", Options(), model=model)
    return as_owners(folder / "result")


def moviecore_result(folder, *, unparsable=0):
    """Judged answers, all 4 of 5, of which the first so many questions get replies that can't be read."""
    rows = loading.locate("moviecore").read()
    folder.mkdir(parents=True)
    entries = {}
    for row in rows:
        entries.setdefault(f"{row['video']}.mp4", []).append(
            {
                "question": row["question"],
                "answer": row["answer"],
                "pred": f"It is so, {row['id']}.",
                "classification": ", ".join(row["classification"]),
            }
        )
    path = folder / "predictions.json"
    path.write_text(json.dumps(entries))
    bad = [row["question"] for row in rows[:unparsable]]
    with JudgeServer(
        lambda call: Answer("no" if any(q in call.user for q in bad) else '{"score": 4}')
    ) as server:
        judge = JudgeOptions(model="judge", url=server.url, cache=folder / "judge.sqlite")
        score_files(
            "moviecore",
            Inputs(path),
            folder / "result",
            Options(overlap=False, judge=judge),
            model="org/judged",
        )
    return as_owners(folder / "result")


@pytest.fixture
def stored(as_real, tmp_path):  # noqa: ARG001 - for what it sets up
    """A store with a whole ReXTime result and a judged MovieCORE result of which one answer is unscored."""
    results = tmp_path / "results"
    rextime_result(results / "rextime")
    moviecore_result(results / "moviecore", unparsable=1)
    added = store.add(results, tmp_path / "store")
    assert [one.outcome for one in added] == ["added", "added"], added
    return tmp_path / "store"
