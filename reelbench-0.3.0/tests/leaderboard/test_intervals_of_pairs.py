"""The intervals of a table's pairs: the first few alone, then all at once."""

from reelbench.leaderboard import table_pairs
from reelbench.leaderboard.compared_runs import ComparedRuns, Shape, Stack
from reelbench.stats import all_pairs
from tests.stats.test_paired import resampled_runs


def test_an_interval_is_the_same_alone_and_with_all_others(monkeypatch):
    monkeypatch.setattr(table_pairs, "_FEW", 5)
    scores = all_pairs.Scores.of(resampled_runs("steps", (0, 5)))
    common = all_pairs.CommonItems(120, 30, (0, 5))
    tests = all_pairs.all_tests(scores, scores, common)
    keys = [f"run {number}" for number in range(7)]
    stack = Stack(("",) * 7, Shape("", "", common), scores, scores, tests)
    places = {key: 6 - place for place, key in enumerate(keys)}
    pairs = table_pairs.TablePairs(ComparedRuns(keys, stack, places), lambda *_: [])
    first = [pair.ci95 for pair in pairs.values()]
    again = [pair.ci95 for pair in pairs.values()]
    assert len(first) == 21
    assert first == again
    assert None not in first
