"""Wherever two models are set side by side, the same is said of them."""

import csv
import json
import random

import pytest

from reelbench.leaderboard import board, headline, row_life, site, store
from tests.leaderboard.test_declarations import kitchen, rows


@pytest.fixture
def filed(reelbench, tmp_path):
    """A store of five models on twelve videos, the better the later, and their runs' folders."""
    folder = kitchen(tmp_path / "kitchen", rows())
    runs = {}
    for number, name in enumerate(("e", "d", "c", "b", "a")):
        generator = random.Random(f"90{name}")
        answers = tmp_path / f"{name}.jsonl"
        lines = [
            {
                "id": row["qid"],
                "prediction": row["gold"] if generator.random() < 0.2 + 0.17 * number else "E",
            }
            for row in rows()
        ]
        answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
        runs[f"lab/{name}"] = tmp_path / "runs" / name
        done = reelbench(
            *(
                "score",
                folder,
                "--predictions",
                answers,
                "--model",
                f"lab/{name}",
                "--output",
                runs[f"lab/{name}"],
            )
        )
        assert done.returncode == 0, done.stderr
        assert [added.outcome for added in store.add(runs[f"lab/{name}"], tmp_path / "store")] == [
            "added"
        ]
    return tmp_path / "store", runs


def test_page_files_terminal_and_sentence_say_the_same_of_each_pair(filed, reelbench, tmp_path):
    place, runs = filed
    made = site.build(place, tmp_path / "site", published=False)
    [group] = made.groups["kitchen"]
    noise, ranked = made.noise[group], [row for row in made.entries if row.group == group]
    told = {
        (a.model, b.model): noise.pair(a.key, b.key).direction
        for a in ranked
        for b in ranked
        if a is not b
    }
    assert {abs(word) for word in told.values()} == {0, 1}
    # The page's ticks: differences in the order of the rows, coloured where p is at most 0.05.
    [path] = (tmp_path / "site" / "data" / "pairs").iterdir()
    document = json.loads(path.read_text().split(",", 1)[1].rsplit(")", 1)[0])
    cells = iter(document["cells"])
    for at, a in enumerate(ranked):
        for b in ranked[at + 1 :]:
            by, p, low, high, _ = next(cells)
            word = 0 if p > 0.05 else 1 if by > 0 else -1
            assert word == told[a.model, b.model] == (low > 0) - (high < 0)
    # The ranges, in the file, in the printed table and in the sentence.
    beaten = {
        row.model: sum(told[other.model, row.model] > 0 for other in ranked if other is not row)
        for row in ranked
    }
    beats = {
        row.model: sum(told[row.model, other.model] > 0 for other in ranked if other is not row)
        for row in ranked
    }
    ranges = {
        name: f"{1 + beaten[name]}–{5 - beats[name]}"
        for name in beats
        if 1 + beaten[name] < 5 - beats[name]
    }
    ranges |= {name: str(1 + beaten[name]) for name in beats if name not in ranges}
    with (tmp_path / "site" / "downloads" / "kitchen.csv").open(
        newline="", encoding="utf-8-sig"
    ) as file:
        assert {row["model"]: row["rank_range"] for row in csv.DictReader(file)} == ranges
    printed = reelbench("leaderboard", "tables", "--store", place).stdout
    assert all(f"| {ranges[name]} | {name} " in printed for name in ranges)
    first = [name for name in ranges if not beaten[name]]
    assert headline.of_board(made, group)[1::2] == first
    # `compare --store`, for a pair that is told apart and one that isn't; alone its p is another.
    for wanted in (0, 1):
        a, b = next(pair for pair, word in told.items() if word == wanted)
        done = reelbench("compare", runs[a], runs[b], "--store", place, "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        keys = [next(row.key for row in ranked if row.model == name) for name in (a, b)]
        pair = noise.pair(*keys)
        assert (found["among"]["told"], found["among"]["pairs"]) == (bool(wanted), 10)
        assert (found["among"]["p"], found["among"]["ci95"]) == (pair.p, list(pair.ci95))
        assert found["metrics"]["accuracy"]["p"] == pytest.approx(pair.p_alone, abs=1e-12)
        words = reelbench("compare", runs[a], runs[b], "--store", place).stdout
        assert ("a is better" if wanted else "can't be told apart") in " ".join(words.split())


def test_what_a_new_row_changes_of_others_is_said_by_check(filed, reelbench, tmp_path):
    place, _ = filed
    _, before = board.make(place, published=False).noise.popitem()
    new = tmp_path / "runs" / "new"
    answers = tmp_path / "new.jsonl"
    answers.write_text(
        "".join(json.dumps({"id": row["qid"], "prediction": "E"}) + "\n" for row in rows())
    )
    reelbench(
        "score",
        tmp_path / "kitchen",
        "--predictions",
        answers,
        "--model",
        "lab/new",
        "--output",
        new,
    )
    done = reelbench("leaderboard", "check", new, "--store", place, "--json")
    [said] = json.loads(done.stdout)["results"]
    store.add(new, place)
    _, after = board.make(place, published=False).noise.popitem()
    moved = [
        pair for pair in before.pairs if before.pair(*pair).direction != after.pair(*pair).direction
    ]
    assert len(moved) == 1  # Holm’s p is 0.046 of ten pairs, 0.056 of fifteen
    assert sum("once it is in the table" in line for line in said["missing"]) == len(moved)


def test_two_that_are_not_compared_are_refused(filed, reelbench):
    place, runs = filed
    row_life.remove([store.read(place)[0].key], place, "a test")
    done = reelbench("compare", *list(runs.values())[-2:], "--store", place)
    assert done.returncode == 2
    assert "add it first" in done.stderr
