"""ReXTime moves to a hidden test here: its validation split, as the recipe says, at the local Hub."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import reelbench
from reelbench.leaderboard import hidden_test, publish, store
from reelbench.tasks import hidden_answers
from tests.leaderboard.hidden_tests import BOUNDS, DATASET, OFFER, Hidden

RECIPE = Path(__file__).resolve().parents[2] / "docs" / "recipes" / "hidden_test.md"


def _blocks():
    """Return the indented blocks of the recipe's part on ReXTime."""
    part = RECIPE.read_text().partition("### ReXTime")[2].partition("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n)+", part, re.MULTILINE)
    return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in blocks]


@pytest.fixture(scope="module")
def owners_rows(shared_data):
    """The owners' own file, 921 rows, with options as their other file has them."""
    lines = (shared_data / "rextime_val.jsonl").read_text().splitlines()
    rows = []
    for line in lines:
        row = json.loads(line)
        row["question"] = row.pop("query")
        [row["span"]] = row.pop("relevant_windows")
        rows.append({**row, "options": ["the first", "the second", "the third", "the fourth"]})
    return rows


@pytest.fixture
def moved(owners_rows, tmp_path):
    """The recipe's folder and private file, made by the recipe's own lines."""
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed, with which the recipe takes the files apart")
    split_lines, declared, *_ = _blocks()
    (tmp_path / "rextime_val.json").write_text(json.dumps(owners_rows))
    folder = tmp_path / "rextime_val_hidden"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(declared)
    subprocess.run(["sh", "-ec", split_lines], cwd=tmp_path, check=True)
    assert '"ans"' not in (folder / "rows.jsonl").read_text()
    return folder


def _drawn(rows):
    """Draw predictions near the right spans, half of their options right."""
    draw = random.Random(3)
    predictions = []
    for row in rows:
        start, end = row["span"]
        start = max(0, round(start + draw.gauss(0, 8), 1))
        end = round(max(start + 0.5, end + draw.gauss(0, 8)), 1)
        letter = draw.choice((row["ans"], row["ans"], *"ABCD"))
        predictions.append((start, end, letter))
    return predictions


def _computed(rows, predictions):
    """Compute the owners' metrics anew, in percent."""
    true = np.array([row["span"] for row in rows], float)
    given = np.array([prediction[:2] for prediction in predictions], float)
    shared = np.minimum(true[:, 1], given[:, 1]) - np.maximum(true[:, 0], given[:, 0])
    hull = np.maximum(true[:, 1], given[:, 1]) - np.minimum(true[:, 0], given[:, 0])
    iou = np.clip(shared, 0, None) / hull
    right = np.array([row["ans"] for row in rows]) == [letter for _, _, letter in predictions]
    values = {
        "accuracy": right,
        "accuracy_at_iou_0.5": right & (iou >= 0.5),
        "miou": iou,
        "recall_at_0.3": iou >= 0.3,
        "recall_at_0.5": iou >= 0.5,
    }
    return {name: round(100 * float(np.mean(value)), 1) for name, value in values.items()}


@pytest.fixture
def totals_of(moved, owners_rows, tmp_path, hub, monkeypatch):
    """Hand in predictions as the recipe does; return the totals that the comment has."""

    def score(predictions):
        lines = []
        for row, (start, end, letter) in zip(owners_rows, predictions, strict=True):
            windows = [[start, end]]
            lines.append({"qid": row["qid"], "pred_relevant_windows": windows, "ans": letter})
        (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        convert = _blocks()[2].splitlines()[0]
        subprocess.run(["sh", "-ec", convert], cwd=tmp_path, check=True)
        run = tmp_path / "run"
        reelbench.score(str(moved), str(tmp_path / "new.jsonl"), model="me/model").save(run)
        [added] = store.add(run, tmp_path / "mine")
        assert added.outcome == "added", added.why
        hidden = Hidden(tmp_path / "owner", hub, monkeypatch, questions=1)
        hidden.read_here()
        hidden.use("me")
        publish.publish(tmp_path / "mine", dataset=DATASET, options=OFFER)
        hidden.use("bot")
        answers = hidden_answers.read_hidden_answers(str(moved), tmp_path / "answers.jsonl")
        test = hidden_test.HiddenTest(DATASET, answers, hidden.store)
        comment = test.look_at(1, BOUNDS, last=True).comment
        return dict(re.findall(r"^\| (\S+) \| % \| ([\d.]+) \|.*\| 921 \|$", comment, re.MULTILINE))

    return score


@pytest.mark.slow
def test_drawn_answers_score_what_numpy_computes(totals_of, owners_rows):
    predictions = _drawn(owners_rows)
    totals = {name: float(total) for name, total in totals_of(predictions).items()}
    assert _computed(owners_rows, predictions).items() <= totals.items()


@pytest.mark.slow
def test_whole_videos_score_what_the_owners_evaluator_prints(totals_of, owners_rows):
    """Its figures (ReXTime/ReXTime at cb9f484) have two digits, a published total has one."""
    figures = {
        "accuracy_at_iou_0.5": 9.01,
        "accuracy": 26.93,
        "miou": 37.25,
        "recall_at_0.3": 43.97,
        "recall_at_0.5": 32.14,
    }
    totals = totals_of([(0, row["duration"], "A") for row in owners_rows])
    assert {name: float(totals[name]) for name in figures} == pytest.approx(figures, abs=0.055)
