"""The intervals of a table's pairs: each alone, and all at once."""

from reelbench.leaderboard import table_pairs
from reelbench.leaderboard.compared_runs import ComparedRuns, Shape, Stack
from reelbench.stats import all_pairs
from tests.stats.test_paired import resampled_runs


def test_an_interval_is_the_same_alone_and_with_all_others():
    scores = all_pairs.Scores.of(resampled_runs("steps", (0, 5)))
    common = all_pairs.CommonItems(120, 30, (0, 5))
    tests = all_pairs.all_tests(scores, scores, common)
    keys = [f"run {number}" for number in range(7)]
    stack = Stack(("",) * 7, Shape("", "", common), scores, scores, tests)
    places = {key: 6 - place for place, key in enumerate(keys)}
    runs = ComparedRuns(keys, stack, places)
    at_once = dict(table_pairs.TablePairs(runs, lambda *_: []).items())
    one_by_one = table_pairs.TablePairs(runs, lambda *_: [])
    assert len(at_once) == 21
    for pair, difference in at_once.items():
        assert one_by_one[pair] == difference
        assert difference.ci95 is not None
