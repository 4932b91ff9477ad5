"""Tests of a difference on the same items: by hand, against scipy, and all pairs of a table at once."""

import math

import numpy as np
import pytest

from reelbench.stats import all_pairs, intervals, paired, ratios, student_t
from tests.stats.test_intervals import draws_with, resampled


def apart(deviations, together=0.0):
    """Draws of two values with exactly these deviations and this correlation."""
    first = draws_with(1.0)
    other = np.random.default_rng(1).normal(size=1000)
    other -= other.mean() + first * (other @ first) / (first @ first)
    other /= other.std(ddof=1)
    return deviations[0] * first, deviations[1] * (
        together * first + math.sqrt(1 - together**2) * other
    )


def some_test(difference, draws, clusters, items, **options):
    """Return the paired test of a difference, which there is."""
    test = paired.paired_test(difference, draws, clusters, items, **options)
    assert test is not None
    return test


MANY = paired.Items(10**9, 1.0, 10**9)
"""So many items that two more of them count for nothing."""


def test_a_difference_is_students_over_videos():
    # 12 videos, deviations 0.3 and 0.4, correlation 0.5: of the difference √(0.09 + 0.16 - 0.12);
    # t(11) = 2.2010.
    a, b = apart((0.3, 0.4), 0.5)
    test = some_test(0.5, a - b, 12, MANY)
    error = math.sqrt(0.13 * 12 / 11)
    assert test.interval() == pytest.approx((0.5 - 2.2010 * error, 0.5 + 2.2010 * error), abs=1e-3)
    assert test.p == pytest.approx(
        0.2112, abs=1e-4
    )  # two tails of t(11) beyond 0.5 / 0.37659 = 1.3277
    assert test.interval(0.01)[0] == pytest.approx(0.5 - 3.1058 * error, abs=1e-3)  # t(11) of 0.995
    gaps = np.concatenate([a - b, [np.nan]])
    assert paired.paired_test(0.5, gaps, 12, MANY) == test


@pytest.mark.parametrize("clusters", [10, 11, 30, 400])
@pytest.mark.parametrize("level", [0.05, 0.01, 0.05 / 66, 0.05 / 4950])
def test_an_interval_excludes_zero_exactly_where_p_is_at_most_its_level(clusters, level):
    limit = student_t.quantile(1 - level / 2, clusters - 1)
    for times in (0.2, 0.9999, 1.0001, 3.0):
        test = paired.PairedTest(-limit * times, -limit * times, 1.0, clusters - 1)
        low, high = test.interval(level)
        assert (low > 0 or high < 0) is (test.p <= level) is (times > 1)


def test_neither_interval_nor_p_of_few_videos():
    assert paired.paired_test(0.5, draws_with(0.1), 9, MANY) is None
    assert paired.paired_test(0.5, draws_with(0.1), 10, MANY) is not None


def test_p_is_the_t_tests_on_video_means():
    stats = pytest.importorskip("scipy.stats")
    # Videos of equal size: the ratio is the mean of video means, and the exact bootstrap error is
    # the t test's.
    means = [1.0, 3.0, -0.5, 2.0, 0.7, 1.9, 0.1, 2.2, -1.0, 0.9, 1.1]
    clusters = [f"v{i:02}" for i in range(11)]
    value, draws, n = resampled(means, clusters)
    exact = (draws - draws.mean()) / draws.std(ddof=1) * np.std(means) / math.sqrt(11)
    found = stats.ttest_1samp(means, 0)
    test = some_test(value, exact, n, MANY)
    assert test.p == pytest.approx(found.pvalue, abs=1e-7)
    assert test.interval() == pytest.approx(tuple(found.confidence_interval()), abs=1e-7)
    assert some_test(value, draws, n, MANY).p == pytest.approx(found.pvalue, rel=0.3)


def pair_of(only_a, only_b, n):
    """Test n independent pairs of right and wrong answers."""
    clusters = n
    difference = (only_a - only_b) / n
    variance = ((only_a + only_b) / n - difference**2) / n
    # A resample of so many clusters varies by less than new ones do.
    draws = draws_with(math.sqrt(variance * (clusters - 1) / clusters), difference)
    items = paired.Items(n, variance, only_a + only_b)
    return some_test(difference, draws, clusters, items, bounds=(0, 1))


@pytest.mark.parametrize(("pairs", "n"), [(3, 40), (8, 100)])
def test_as_many_to_either_side_are_agresti_and_mins(pairs, n):
    # Half a pair is added to each of the four cells: (b - c) / (n + 2) ± t times the root of
    # ((b + 1/2 + c + 1/2) / (n + 2) - its square) / (n + 2).
    test = pair_of(pairs, pairs, n)
    error = math.sqrt((2 * pairs + 1) / (n + 2) ** 2)
    reach = student_t.quantile(0.975, n - 1) * error
    assert test.interval() == (pytest.approx(-reach, rel=1e-2), pytest.approx(reach, rel=1e-2))
    assert test.p == 1


@pytest.mark.parametrize(("pairs", "n"), [(1, 40), (6, 100), (12, 12), (0, 12)])
def test_all_to_one_side_are_bonett_and_prices(pairs, n):
    # A pair is added to each side: b / (n + 2) ± t times the root of ((b + 2) / (n + 2) - its
    # square) / (n + 2).
    test = pair_of(pairs, 0, n)
    centre = pairs / (n + 2)
    error = math.sqrt(((pairs + 2) / (n + 2) - centre**2) / (n + 2))
    reach = student_t.quantile(0.975, n - 1) * error
    low, high = test.interval()
    assert (low, high) == (
        pytest.approx(centre - reach, abs=2e-3),
        pytest.approx(min(1, centre + reach), abs=2e-3),
    )
    assert low < pairs / n <= high


def test_p_of_few_pairs_is_near_mcnemars_exact_one():
    # All of them to one side: 2 / 2**pairs.
    for pairs in (4, 5, 6, 8):
        assert pair_of(pairs, 0, 100).p == pytest.approx(2 / 2**pairs, rel=0.35)


def test_no_difference_is_ever_a_point_and_no_p_0():
    for n in (10, 100, 10_000):
        for only_a in (0, n):
            low, high = pair_of(only_a, 0, n).interval(0.0001)
            assert low < only_a / n <= high
            assert pair_of(only_a, 0, n).p > 0


def test_questions_on_one_video_that_differ_alike_count_as_one():
    # 40 videos of 4 questions, and one video's four all differ: as 1 of 40.
    together = draws_with(math.sqrt((1 / 40 - 1 / 1600) / 40 * 39 / 40), 1 / 40)
    items = paired.Items(160, (1 / 40 - 1 / 1600) / 160, 4)
    test = some_test(1 / 40, together, 40, items, bounds=(0, 1))
    assert test.interval() == pytest.approx(pair_of(1, 0, 40).interval(), rel=0.03)
    # Where nothing differs, each video is one.
    same = some_test(0.0, np.zeros(100), 40, paired.Items(160, 0, 0), bounds=(0, 1))
    assert same.interval() == pytest.approx(pair_of(0, 0, 40).interval())


def test_where_nothing_differs_on_a_scale_without_ends_nothing_is_said():
    none = paired.Items(12, 0, 0)
    assert paired.paired_test(0.0, np.zeros(100), 12, none) is None
    assert some_test(0.3, np.full(100, 0.3), 12, paired.Items(12, 0, 12)).p > 0


def random_runs(rng, runs, items, kind):
    """Runs on the same items: right or wrong, in steps, or with weights; some of them equal."""
    if kind == "steps":
        numerators = rng.integers(0, 6, size=(runs, items)).astype(float)
    else:
        numerators = (rng.random((runs, items)) < 0.6).astype(float)
    numerators[1] = numerators[0]
    numerators[2] = numerators[0]
    numerators[2, 0] = 1 - min(1, numerators[0, 0])
    weights = np.ones(items)
    if kind == "weights":
        weights = rng.integers(1, 4, size=items).astype(float)
    return numerators * weights, weights


def resampled_runs(kind, bounds, several=False):
    """Seven runs on 120 questions about 30 videos, resampled."""
    numerators, weights = random_runs(np.random.default_rng(1), 7, 120, kind)
    videos = intervals.Clusters.of([f"v{item // 4}" for item in range(120)])
    runs = []
    for number, row in enumerate(numerators):
        ratio = ratios.Ratio(row, weights, 1.0)
        values = [0.4, 0.5 + number / 50, 0.7] if several and number % 3 else ()
        runs.append(ratios.resampled(ratios.MeanOfRatios([ratio], values, bounds), videos))
    return runs


@pytest.mark.parametrize("kind", ["right", "steps", "weights"])
@pytest.mark.parametrize("bounds", [(0, 5), intervals.UNBOUNDED])
@pytest.mark.parametrize("several", [False, True])
def test_all_pairs_at_once_are_the_pairs_one_by_one_to_the_bit(kind, bounds, several):
    runs = resampled_runs(kind, bounds, several)
    scores = all_pairs.Scores.of(runs)
    common = all_pairs.CommonItems(120, 30, bounds)
    tests = all_pairs.all_tests(scores, scores, common)
    first, second = np.indices((7, 7)).reshape(2, 49)
    levels = np.array([0.01 / (1 + place % 5) for place in range(49)])
    scale = bounds[1] - bounds[0]
    starts, ends = tests.intervals(first, second, levels, (-scale, scale))
    for place, (a, b) in enumerate(zip(first, second, strict=True)):
        alone = None if a == b else runs[a].test(runs[b])
        if alone is None:
            assert np.isnan([tests.p[a, b], starts[place], ends[place]]).all()
            continue
        assert (starts[place], ends[place]) == alone.interval(levels[place])
        assert tests.p[a, b] == alone.p


def test_a_run_that_is_added_changes_no_bit_of_the_others_tests():
    runs = resampled_runs("weights", (0, 5), several=True)
    higher = resampled_runs("steps", (0, 5), several=True)
    common = all_pairs.CommonItems(120, 30, (0, 5))
    lowest, highest = all_pairs.Scores.of(runs), all_pairs.Scores.of(higher)
    at_once = all_pairs.all_tests(lowest, highest, common)
    tests = None
    for number in range(1, 8):
        some = slice(0, number)
        tests = all_pairs.all_tests(lowest.at(some), highest.at(some), common, tests)
    for name in ("centre", "error", "freedom", "p", "resampled_error"):
        np.testing.assert_array_equal(getattr(tests, name), getattr(at_once, name))
    # The other order of the runs, too.
    order = np.array([4, 0, 6, 2, 1, 5, 3])
    turned = all_pairs.all_tests(lowest.at(order), highest.at(order), common)
    np.testing.assert_array_equal(turned.p, at_once.at(order).p)


@pytest.mark.parametrize("rows_at_once", [1, 2, 3])
def test_the_size_of_a_block_changes_no_bit(monkeypatch, rows_at_once):
    runs = resampled_runs("weights", (0, 5), several=True)
    higher = resampled_runs("steps", (0, 5), several=True)
    lowest, highest = all_pairs.Scores.of(runs), all_pairs.Scores.of(higher)
    common = all_pairs.CommonItems(120, 30, (0, 5))
    draws = np.stack([run.draws for run in runs])
    of_ends = all_pairs.all_tests(lowest, highest, common)
    of_scored = all_pairs.all_tests(lowest, lowest, common)
    errors = all_pairs.errors_of_all_pairs(draws, 30)
    monkeypatch.setattr(all_pairs, "_ROWS_AT_ONCE", rows_at_once)
    for name in ("centre", "error", "freedom", "p", "resampled_error"):
        in_blocks = getattr(all_pairs.all_tests(lowest, highest, common), name)
        np.testing.assert_array_equal(in_blocks, getattr(of_ends, name))
        in_blocks = getattr(all_pairs.all_tests(lowest, lowest, common), name)
        np.testing.assert_array_equal(in_blocks, getattr(of_scored, name))
    np.testing.assert_array_equal(all_pairs.errors_of_all_pairs(draws, 30), errors)


@pytest.mark.parametrize("clusters", [1, 9])
def test_all_pairs_of_few_videos_have_no_test(clusters):
    scores = all_pairs.Scores.of(resampled_runs("right", (0, 1)))
    tests = all_pairs.all_tests(scores, scores, all_pairs.CommonItems(9, clusters, (0, 1)))
    assert np.isnan(tests.p).all()
