"""A difference is never a point: what `compare` and the board say of models that hardly differ."""

import csv
import json
import re

import pytest

from tests.leaderboard.test_declarations import kitchen, rows


@pytest.fixture
def scored(reelbench, tmp_path):
    """Score a model by its right answers, a question a video."""

    def run(name, right, of):
        questions = [{**row, "clip": f"{row['qid']}.mp4"} for row in rows(of)]
        folder = tmp_path / f"kitchen{of}"
        if not folder.exists():
            kitchen(folder, questions)
        answers = tmp_path / f"{name}.jsonl"
        lines = []
        for place, row in enumerate(questions):
            prediction = row["gold"] if place < right else "no idea"
            lines.append(json.dumps({"id": row["qid"], "prediction": prediction}) + "\n")
        answers.write_text("".join(lines))
        out = tmp_path / "runs" / name
        done = reelbench(
            "score", folder, "--predictions", answers, "--model", f"lab/{name}", "--output", out
        )
        assert done.returncode == 0, done.stderr
        return out

    return run


# (b + 2) / 14 and its like by Bonett and Price: a pair is added to each side, t of 11 and of 99
# degrees is 2.2010 and 1.9842.
@pytest.mark.parametrize(
    ("right", "ci95", "p_values"),
    [
        ((12, 12, 12), (-22.23, 22.23), (1, 1)),
        ((12, 0, 12), (55.41, 100), (0.0000647, 2 / 2**12)),
        ((98, 97, 100), (-2.38, 4.34), (0.564, 1)),
    ],
)
def test_few_pairs_differ(scored, reelbench, right, ci95, p_values):
    a, b, of = right
    p, mcnemar_p = p_values
    folders = (scored("first", a, of), scored("second", b, of))
    document = json.loads(reelbench("compare", *folders, "--json").stdout)
    accuracy = document["metrics"]["accuracy"]
    assert accuracy["difference"] == pytest.approx(100 * (a - b) / of)
    assert accuracy["ci95"] == [pytest.approx(end, abs=0.08) for end in ci95]
    assert accuracy["p"] == pytest.approx(p, rel=0.02)
    assert accuracy["mcnemar"]["p"] == pytest.approx(mcnemar_p)
    table = reelbench("compare", *folders).stdout
    low, high = accuracy["ci95"]
    assert f"{low:.2f} to {high:.2f}" in table
    assert "0.00 to 0.00" not in table


def test_on_the_board_a_range_is_wide_where_a_difference_is_not_sure(scored, reelbench, tmp_path):
    store = tmp_path / "store"
    for name, right in (("best", 12), ("same", 12), ("near", 8), ("none", 0)):
        done = reelbench("leaderboard", "add", scored(name, right, 12), "--store", store)
        assert done.returncode == 0, done.stderr
    # By hand, of six pairs: 12 to none .00006, twice; 8 to none .0064 * 4 = .026; 4 of 12 .096.
    printed = reelbench("leaderboard", "tables", "--store", store).stdout
    assert re.findall(r"\| (\d+) \| (\S+) \| lab/(\w+)", printed) == [
        ("1", "1–3", "best"),
        ("1", "1–3", "same"),
        ("3", "1–3", "near"),
        ("4", "4", "none"),
    ]
    site = tmp_path / "site"
    assert reelbench("leaderboard", "build", "--store", store, "--out", site).returncode == 0
    with (site / "downloads" / "kitchen.csv").open(newline="") as file:
        ranges = [row["rank_range"] for row in csv.DictReader(file)]
    assert ranges == ["1–3", "1–3", "1–3", "4"]
    [path] = (site / "data" / "pairs").iterdir()
    document = json.loads(path.read_text().split(",", 1)[1].rsplit(")", 1)[0])
    for difference, p, low, high, _ in document["cells"]:
        assert low < high
        assert low <= difference <= high
        assert p > 0
        assert (p <= 0.05) is (low > 0 or high < 0)
