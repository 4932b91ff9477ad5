"""All pairs of a table's rows at once: ranges of ranks, and the smallest difference, by hand."""

from types import SimpleNamespace

import pytest

from reelbench.leaderboard import board, columns, pairs, ranking, store
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
            Item(id=f"q{n:02}", video=f"v{n:02}", target={"answer": "A"}).sample(None, {"correct": float(mark)})
            for n, mark in enumerate(marks)
        ]
        folder = tmp_path / model
        folder.mkdir()
        text = "".join(sample.model_dump_json() + "\n" for sample in samples)
        (folder / "samples.jsonl").write_text(text)
        value = 100 * sum(map(int, marks)) / len(marks)
        stored = store.StoredResult(
            model, folder, SimpleNamespace(judge=None, answers=answers.VERSION, settings=SettingsRecord()), None
        )
        return entry(model, value, group=DRAMA, kind="run", setting="run", stored=stored, ci95=(value - 1, value + 1))

    return run


def ranked(rows):
    ranks, noise = ranking.ranked(discovery.get("dramaqa_cogme"), rows)
    return {row.model: (ranks[row.key], noise.ranges.get(row.key)) for row in rows}, noise.smallest


def test_ranges_of_ranks_by_hand(drama_run):
    # p by the t test on 12 differences; all - none: 2 / 2^12, as every difference is the same.
    # In order, times 6, 5, 4, 3, 2, 1: all - none .0005 -> .003; eight - none .0007 -> .003; all - six and six - none
    # .0069 -> .028; all - eight .0388 -> .078: told apart alone, but not among six; eight - six .166.
    rows = [
        drama_run("all", "1" * 12),
        drama_run("eight", "101010101111"),
        drama_run("six", "101010101010"),
        drama_run("none", "0" * 12),
    ]
    found, smallest = ranked(rows)
    assert found == {"all": (1, (1, 2)), "eight": (2, (1, 3)), "six": (2, (2, 3)), "none": (4, (4, 4))}
    assert smallest is None  # of 12 videos no power is promised
    made = board.ranked_board(discovery.specs(), rows)
    assert [columns.rank_range(made, row) for row in made.entries] == ["1–2", "1–3", "2–3", "4"]
    assert "| 1 | 1–2 | all |" in tables.tables(made, "markdown")
    assert "1 & 1--2 & all" in tables.tables(made, "latex")


def test_the_smallest_difference_by_hand(drama_run):
    # Of 30 videos the pairs differ by 100 on 15, 10 and 5: standard errors 9.28, 8.75 and 6.92. 30 videos show 2.90 of
    # the middle one four times in five.
    rows = [drama_run("all", "1" * 30), drama_run("half", "10" * 15), drama_run("more", "10" * 10 + "1" * 10)]
    found, smallest = ranked(rows)
    assert found["all"] == (1, (1, 1))
    assert smallest == pytest.approx(2.90 * 8.75, rel=0.05)


def test_a_published_number_is_exact_and_has_no_range(drama_run):
    # 50 with a standard error of 15.08 over 12 videos: 30 is 1.3 away (p .21), 5 is 3.0 (p .013).
    rows = [drama_run("six", "101010101010"), *(entry(f"at {v:g}", v, group=DRAMA) for v in (30.0, 5.0))]
    assert ranked(rows) == ({"six": (1, (1, 2)), "at 30": (2, None), "at 5": (3, None)}, None)
    # Wilson's interval of .5 with 11 answers, which is what that standard error is worth, and t of 11, 2.201:
    # 2.201 / 2 / sqrt(11 + 2.201²) = .2765. The number is exact, so the interval only moves by it.
    _, noise = ranking.ranked(discovery.get("dramaqa_cogme"), rows)
    for row, by in zip(rows[1:], (20.0, 45.0), strict=True):
        pair = noise.pair(rows[0].key, row.key)
        assert (pair.by, pair.ci95) == (by, pytest.approx((by - 27.65, by + 27.65), abs=0.5))


def test_runs_on_other_questions_are_not_held_against_each_other(drama_run):
    found, smallest = ranked([drama_run("a", "1" * 12), drama_run("b", "0" * 13)])
    assert (found["a"][1], found["b"][1], smallest) == ((1, 2), (1, 2), None)


def test_a_table_that_is_too_long_has_no_ranges(drama_run, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_COMPARED", 1)
    found, smallest = ranked([drama_run("a", "1" * 12), drama_run("b", "0" * 12)])
    assert (found, smallest) == ({"a": (1, None), "b": (2, None)}, None)


def test_a_table_that_is_too_long_still_says_how_many_videos_its_runs_had(drama_run, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_COMPARED", 1)
    published = [entry(f"at {v:g}", v, group=DRAMA) for v in (30.0, 5.0)]
    spec = discovery.get("dramaqa_cogme")
    assert ranking.ranked(spec, [*published, drama_run("a", "1" * 12)])[1].videos == 12
    assert ranking.ranked(spec, published)[1].videos == 0  # nobody ran it
