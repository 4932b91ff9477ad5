"""All pairs of a table's rows at once: ranges of ranks, and the smallest difference, by hand."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from reelbench.leaderboard import board, columns, ranking, store
from reelbench.leaderboard.entries import RankingGroup
from reelbench.leaderboard.exports import tables
from reelbench.registry import discovery
from reelbench.registry.records import Item, SettingsRecord
from reelbench.scoring import answers
from tests.leaderboard.test_ranking import entry

DRAMA = RankingGroup("dramaqa_cogme", 1, "val")


@pytest.fixture
def drama_run(tmp_path):
    """A row of a run with one question on each of its videos: `1` is a right answer."""

    def run(model, marks):
        samples = [
            Item(id=f"q{n:02}", video=f"v{n:02}", target={"answer": "A"}).sample(
                None, {"correct": float(mark)}
            )
            for n, mark in enumerate(marks)
        ]
        folder = tmp_path / model
        folder.mkdir()
        text = "".join(sample.model_dump_json() + "\n" for sample in samples)
        (folder / "samples.jsonl").write_text(text)
        value = 100 * sum(map(int, marks)) / len(marks)
        stored = store.StoredResult(
            model,
            folder,
            SimpleNamespace(
                judge=None,
                answers=answers.VERSION,
                settings=SettingsRecord(),
                provenance=SimpleNamespace(date="2026-01-01"),
            ),
            SimpleNamespace(order=0, account=None),
        )
        return entry(
            model,
            value,
            group=DRAMA,
            kind="run",
            setting="run",
            stored=stored,
            ci95=(value - 1, value + 1),
        )

    return run


def ranked(rows):
    ranks, noise = ranking.rank_group(discovery.get("dramaqa_cogme"), rows)
    return {row.model: (ranks[row.key], noise.ranges.get(row.key)) for row in rows}, noise.smallest


def test_ranges_of_ranks_by_hand(drama_run):
    # p by the t test on 12 differences and two that are added, one for each side. In order, times
    # 6, 5, 4, 3, 2, 1: all - none .00006 -> .0004; eight - none .0064 -> .032; all - six, six - none
    # .029 -> .115: told apart alone, but not among six; all - eight .096, eight - six .277.
    rows = [
        drama_run("all", "1" * 12),
        drama_run("eight", "101010101111"),
        drama_run("six", "101010101010"),
        drama_run("none", "0" * 12),
    ]
    found, smallest = ranked(rows)
    assert found == {
        "all": (1, (1, 3)),
        "eight": (2, (1, 3)),
        "six": (3, (1, 4)),
        "none": (4, (3, 4)),
    }
    assert smallest is None  # of 12 videos no power is promised
    made = board.ranked_board(discovery.specs(), rows)
    ranges = [columns.rank_range(made, row) for row in made.entries]
    assert ranges == ["1–3", "1–3", "1–4", "3–4"]
    assert "| 1 | 1–3 | all |" in tables.tables(made, "markdown")
    assert "1 & 1--3 & all" in tables.tables(made, "latex")


def test_every_word_of_a_table_is_that_of_its_interval(drama_run):
    generator = random.Random(4)
    rows = [
        drama_run(
            f"m{n}",
            "".join("1" if generator.random() < 0.25 + 0.07 * n else "0" for _ in range(40)),
        )
        for n in range(9)
    ]
    made = board.ranked_board(discovery.specs(), rows)
    noise = made.noise[DRAMA]
    assert len(noise.pairs) == 36
    beaten, beats = dict.fromkeys(noise.ranges, 0), dict.fromkeys(noise.ranges, 0)
    for (a, b), pair in noise.pairs.items():
        low, high = pair.ci95
        assert (low > 0 or high < 0) is (pair.direction != 0) is (pair.p <= 0.05)
        assert pair.p_alone <= pair.p
        if pair.direction:
            winner, loser = (a, b) if pair.direction > 0 else (b, a)
            beats[winner] += 1
            beaten[loser] += 1
    assert 0 < sum(beats.values()) < 36
    assert noise.ranges == {key: (1 + beaten[key], 9 - beats[key]) for key in beats}
    values = [row.metrics["accuracy"].value for row in made.entries]
    assert values == sorted(values, reverse=True)
    assert [made.ranks[row.key] for row in made.entries] == [
        1 + sum(v > own for v in values) for own in values
    ]


def test_under_ten_videos_nothing_is_told_apart(drama_run):
    rows = [drama_run("a", "1" * 9), drama_run("b", "0" * 9)]
    _, noise = ranking.rank_group(discovery.get("dramaqa_cogme"), rows)
    assert noise.pair("a-dramaqa_cogme/v1/val", "b-dramaqa_cogme/v1/val") == (100, None, None, None)
    assert set(noise.ranges.values()) == {(1, 2)}


def test_a_model_is_compared_by_its_best_row_alone(drama_run):
    rows = [
        drama_run("a", "1" * 12),
        drama_run("b", "0" * 12),
        drama_run("a, fewer frames", "1" * 6 + "0" * 6),
    ]
    rows[2] = replace(rows[2], model="a", frames="uniform:4")
    ranks, noise = ranking.rank_group(discovery.get("dramaqa_cogme"), rows)
    assert [ranks[row.key] for row in rows] == [1, 2, 1]
    assert list(noise.ranges.values()) == [(1, 1), (2, 2)]
    assert len(noise.pairs) == 1


def test_the_smallest_difference_by_hand(drama_run):
    # Of 30 videos the pairs differ by 100 on 15, 10 and 5: standard errors 9.28, 8.75 and 6.92. 30
    # videos show 2.90 of the middle one four times in five.
    rows = [
        drama_run("all", "1" * 30),
        drama_run("half", "10" * 15),
        drama_run("more", "10" * 10 + "1" * 10),
    ]
    found, smallest = ranked(rows)
    assert found["all"] == (1, (1, 1))
    assert smallest == pytest.approx(2.90 * 8.75, rel=0.05)


def test_a_published_number_stands_below_runs_in_no_comparison(drama_run):
    rows = [drama_run("six", "101010101010"), entry("at 90", 90.0, group=DRAMA)]
    ranks, noise = ranking.rank_group(discovery.get("dramaqa_cogme"), rows)
    assert ranks == {rows[0].key: 1}
    assert (noise.pairs, noise.ranges) == ({}, {rows[0].key: (1, 1)})
    made = board.ranked_board(discovery.specs(), rows)
    assert [row.model for row in made.entries] == ["six", "at 90"]


def test_runs_are_compared_on_the_questions_that_both_have(drama_run):
    found, _ = ranked([drama_run("a", "1" * 12), drama_run("b", "0" * 13)])
    assert (found["a"][1], found["b"][1]) == ((1, 1), (2, 2))


def test_a_long_table_has_ranges_too(drama_run):
    # 101 runs: one is right in all of 40 videos, the others in none, and can't be told apart.
    rows = [drama_run("best", "1" * 40)]
    rows += [drama_run(f"m{n:03}", "0" * 40) for n in range(100)]
    found, smallest = ranked(rows)
    assert found["best"] == (1, (1, 1))
    assert found["m000"] == (2, (2, 101))
    assert smallest is None  # half of the pairs and more don't differ


def test_pairs_on_other_questions_are_tested_among_the_others(drama_run):
    # b has another question; its pairs are those that it would have alone, in their places.
    rows = [drama_run("a", "1" * 12), drama_run("b", "0" * 13), drama_run("c", "110011001100")]
    _, noise = ranking.rank_group(discovery.get("dramaqa_cogme"), rows)
    for first, second in (("a", "b"), ("a", "c"), ("c", "b")):
        chosen = [row for row in rows if row.model in (first, second)]
        _, alone = ranking.rank_group(discovery.get("dramaqa_cogme"), chosen)
        keys = [f"{name}-dramaqa_cogme/v1/val" for name in (first, second)]
        assert noise.pair(*keys).difference == alone.pair(*keys).difference
        assert noise.pair(*keys).p_alone == pytest.approx(alone.pair(*keys).p_alone, rel=1e-9)


def test_a_table_says_how_many_videos_its_runs_had(drama_run):
    published = [entry(f"at {v:g}", v, group=DRAMA) for v in (30.0, 5.0)]
    spec = discovery.get("dramaqa_cogme")
    assert ranking.rank_group(spec, [*published, drama_run("a", "1" * 12)])[1].videos == 12
    assert ranking.rank_group(spec, published)[1].videos == 0  # nobody ran it
