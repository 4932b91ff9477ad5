"""Intervals from a bootstrap over clusters: what each is, by hand and against scipy, and that they cover."""

import math

import numpy as np
import pytest

from reelbench.stats import intervals, student_t


def draws_with(deviation, mean=0.0, n=1000):
    """Draws whose standard deviation (n - 1) is exactly that."""
    draws = np.random.default_rng(0).normal(size=n)
    return mean + deviation * (draws - draws.mean()) / draws.std(ddof=1)


def resampled(values, clusters):
    values = np.asarray(values, dtype=float)
    sums = intervals.cluster_sums(np.stack([values, np.ones(len(values))], axis=1), clusters)
    draws = np.concatenate(list(intervals.resampled_sums(sums)))
    return values.mean(), draws[:, 0] / draws[:, 1], len(sums)


def test_t_is_students_interval_of_the_clusters():
    # 12 clusters; resamples vary by 11/12 of the variance of new ones: error 2·sqrt(12/11) =
    # 2.0889, t(11) = 2.2010.
    low, high = intervals.confidence_interval(50, draws_with(2.0), 12, method="t")
    assert (low, high) == (
        pytest.approx(50 - 4.5977, abs=1e-3),
        pytest.approx(50 + 4.5977, abs=1e-3),
    )
    assert (
        intervals.confidence_interval(98, draws_with(2.0), 12, bounds=(0, 100), method="t")[1]
        == 100
    )


def test_wilson_is_wilsons_interval_where_the_error_is_a_shares():
    # 81 of 263 (Newcombe 1998, Statistics in Medicine 17, table I): 0.2553 to 0.3662.
    share, clusters = 81 / 263, 10**7
    draws = draws_with(math.sqrt(share * (1 - share) / 263))
    low, high = intervals.confidence_interval(share, draws, clusters, bounds=(0, 1))
    assert (low, high) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))


def test_wilson_on_another_scale_is_the_same_interval():
    on_one = intervals.confidence_interval(0.8, draws_with(0.05), 12, bounds=(0, 1))
    on_five = intervals.confidence_interval(4.0, draws_with(0.25), 12, bounds=(0, 5))
    assert on_five == pytest.approx([5 * end for end in on_one])


def test_all_right_in_few_videos_is_not_certainty():
    # 10 videos as 10 observations, none wrong: Wilson's lower end is 1 / (1 + t²/10) with t(9) =
    # 2.2622.
    value, draws, clusters = resampled([1] * 30, [f"v{i % 10}" for i in range(30)])
    low, high = intervals.confidence_interval(value, draws, clusters, bounds=(0, 1))
    assert (low, high) == (pytest.approx(1 / (1 + 2.2622**2 / 10), abs=1e-4), pytest.approx(1))
    assert intervals.confidence_interval(value, draws, clusters, method="t") is None
    assert (
        intervals.confidence_interval(value, draws, clusters) is None
    )  # no bounds: nothing to say
    assert intervals.confidence_interval(value, draws, clusters, method="percentile") == (1, 1)


def test_a_value_on_the_bounds_or_beyond_is_uncertain_all_the_same():
    assert intervals.confidence_interval(5.1, draws_with(0.2), 10, bounds=(0, 5))[
        0
    ] == pytest.approx(4.623, abs=1e-3)
    low, high = intervals.confidence_interval(0.0, draws_with(0.1), 10, bounds=(0, 1))
    assert low == 0
    assert high == pytest.approx(2.2622 * 0.1 * math.sqrt(10 / 9), abs=1e-4)


def test_percentile_is_numpys_and_what_earlier_versions_gave():
    value, draws, clusters = resampled(
        np.random.default_rng(1).integers(0, 2, 60), [f"v{i % 12}" for i in range(60)]
    )
    old = intervals.confidence_interval(value, draws, clusters, method="percentile")
    assert (
        old
        == intervals.percentiles(draws)
        == pytest.approx(tuple(np.percentile(draws, [2.5, 97.5])))
    )


@pytest.mark.parametrize("method", ["percentile", "t", "wilson"])
def test_one_cluster_or_no_draw_gives_no_interval(method):
    assert (
        intervals.confidence_interval(0.5, draws_with(0.1), 1, bounds=(0, 1), method=method) is None
    )
    empty = np.full(5, np.nan)
    assert intervals.confidence_interval(0.5, empty, 4, bounds=(0, 1), method=method) is None


@pytest.mark.parametrize("method", ["t", "wilson"])
def test_under_ten_clusters_no_interval_is_claimed(method):
    draws = draws_with(0.1, mean=0.5)
    assert intervals.confidence_interval(0.5, draws, 9, bounds=(0, 1), method=method) is None
    assert intervals.confidence_interval(0.5, draws, 10, bounds=(0, 1), method=method) is not None
    assert (
        intervals.confidence_interval(0.5, draws, 9, bounds=(0, 1), method="percentile") is not None
    )


@pytest.mark.parametrize("method", ["percentile", "t", "wilson"])
def test_empty_resamples_are_left_out(method):
    draws = draws_with(0.1, mean=0.5)
    gaps = np.concatenate([draws, np.full(50, np.nan)])
    ends = intervals.confidence_interval(0.5, gaps, 12, bounds=(0, 1), method=method)
    assert ends == intervals.confidence_interval(0.5, draws, 12, bounds=(0, 1), method=method)
    assert ends is not None


def apart(deviations, together=0.0):
    """Draws of two values with exactly these deviations and this correlation."""
    first = draws_with(1.0)
    other = np.random.default_rng(1).normal(size=1000)
    other -= other.mean() + first * (other @ first) / (first @ first)
    other /= other.std(ddof=1)
    return deviations[0] * first, deviations[1] * (
        together * first + math.sqrt(1 - together**2) * other
    )


MANY = intervals.Items(10**9, 1.0, 10**9)
"""So many items that two more of them count for nothing."""


def test_a_difference_is_students_over_videos():
    # 12 videos, deviations 0.3 and 0.4, correlation 0.5: of the difference √(0.09 + 0.16 - 0.12);
    # t(11) = 2.2010.
    a, b = apart((0.3, 0.4), 0.5)
    test = intervals.paired_test(0.5, a - b, 12, MANY)
    error = math.sqrt(0.13 * 12 / 11)
    assert test.interval() == pytest.approx((0.5 - 2.2010 * error, 0.5 + 2.2010 * error), abs=1e-3)
    assert test.p == pytest.approx(
        0.2112, abs=1e-4
    )  # two tails of t(11) beyond 0.5 / 0.37659 = 1.3277
    assert test.interval(0.01)[0] == pytest.approx(0.5 - 3.1058 * error, abs=1e-3)  # t(11) of 0.995
    gaps = np.concatenate([a - b, [np.nan]])
    assert intervals.paired_test(0.5, gaps, 12, MANY) == test


@pytest.mark.parametrize("clusters", [10, 11, 30, 400])
@pytest.mark.parametrize("level", [0.05, 0.01, 0.05 / 66, 0.05 / 4950])
def test_an_interval_excludes_zero_exactly_where_p_is_at_most_its_level(clusters, level):
    limit = student_t.quantile(1 - level / 2, clusters - 1)
    for times in (0.2, 0.9999, 1.0001, 3.0):
        test = intervals.PairedTest(-limit * times, -limit * times, 1.0, clusters - 1)
        low, high = test.interval(level)
        assert (low > 0 or high < 0) is (test.p <= level) is (times > 1)


def test_neither_interval_nor_p_of_few_videos():
    assert intervals.paired_test(0.5, draws_with(0.1), 9, MANY) is None
    assert intervals.paired_test(0.5, draws_with(0.1), 10, MANY) is not None


def test_p_is_the_t_tests_on_video_means():
    stats = pytest.importorskip("scipy.stats")
    # Videos of equal size: the ratio is the mean of video means, and the exact bootstrap error is
    # the t test's.
    means = [1.0, 3.0, -0.5, 2.0, 0.7, 1.9, 0.1, 2.2, -1.0, 0.9, 1.1]
    clusters = [f"v{i:02}" for i in range(11)]
    value, draws, n = resampled(means, clusters)
    exact = (draws - draws.mean()) / draws.std(ddof=1) * np.std(means) / math.sqrt(11)
    found = stats.ttest_1samp(means, 0)
    test = intervals.paired_test(value, exact, n, MANY)
    assert test.p == pytest.approx(found.pvalue, abs=1e-7)
    assert test.interval() == pytest.approx(tuple(found.confidence_interval()), abs=1e-7)
    assert intervals.paired_test(value, draws, n, MANY).p == pytest.approx(found.pvalue, rel=0.3)


def paired(only_a, only_b, n, clusters=None):
    """Test n independent pairs of right and wrong answers."""
    clusters = clusters or n
    difference = (only_a - only_b) / n
    variance = ((only_a + only_b) / n - difference**2) / n
    # A resample of so many clusters varies by less than new ones do.
    draws = draws_with(math.sqrt(variance * (clusters - 1) / clusters), difference)
    items = intervals.Items(n, variance, only_a + only_b)
    return intervals.paired_test(difference, draws, clusters, items, bounds=(0, 1))


@pytest.mark.parametrize(("pairs", "n"), [(3, 40), (8, 100)])
def test_as_many_to_either_side_are_agresti_and_mins(pairs, n):
    # Half a pair is added to each of the four cells: (b - c) / (n + 2) ± t times the root of
    # ((b + 1/2 + c + 1/2) / (n + 2) - its square) / (n + 2).
    test = paired(pairs, pairs, n)
    error = math.sqrt((2 * pairs + 1) / (n + 2) ** 2)
    reach = student_t.quantile(0.975, n - 1) * error
    assert test.interval() == (pytest.approx(-reach, rel=1e-2), pytest.approx(reach, rel=1e-2))
    assert test.p == 1


@pytest.mark.parametrize(("pairs", "n"), [(1, 40), (6, 100), (12, 12), (0, 12)])
def test_all_to_one_side_are_bonett_and_prices(pairs, n):
    # A pair is added to each side: b / (n + 2) ± t times the root of ((b + 2) / (n + 2) - its
    # square) / (n + 2).
    test = paired(pairs, 0, n)
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
        assert paired(pairs, 0, 100).p == pytest.approx(2 / 2**pairs, rel=0.35)


def test_no_difference_is_ever_a_point_and_no_p_0():
    for n in (10, 100, 10_000):
        for only_a in (0, n):
            low, high = paired(only_a, 0, n).interval(0.0001)
            assert low < only_a / n <= high
            assert paired(only_a, 0, n).p > 0


def test_questions_on_one_video_that_differ_alike_count_as_one():
    # 40 videos of 4 questions, and one video's four all differ: as 1 of 40.
    together = draws_with(math.sqrt((1 / 40 - 1 / 1600) / 40 * 39 / 40), 1 / 40)
    items = intervals.Items(160, (1 / 40 - 1 / 1600) / 160, 4)
    test = intervals.paired_test(1 / 40, together, 40, items, bounds=(0, 1))
    assert test.interval() == pytest.approx(paired(1, 0, 40).interval(), rel=0.03)
    # Where nothing differs, each video is one.
    same = intervals.paired_test(0.0, np.zeros(100), 40, intervals.Items(160, 0, 0), bounds=(0, 1))
    assert same.interval() == pytest.approx(paired(0, 0, 40).interval())


def test_where_nothing_differs_on_a_scale_without_ends_nothing_is_said():
    none = intervals.Items(12, 0, 0)
    assert intervals.paired_test(0.0, np.zeros(100), 12, none) is None
    assert intervals.paired_test(0.3, np.full(100, 0.3), 12, intervals.Items(12, 0, 12)).p > 0


def test_a_mean_over_clusters():
    values = np.array([0.0, 1.0, 1.0, 1.0] * 5)
    estimate = intervals.mean_over_clusters(
        values, [f"v{n // 2}" for n in range(20)], bounds=(0, 1)
    )
    assert estimate.value == 0.75
    assert 0 <= estimate.ci95[0] < 0.75 < estimate.ci95[1] <= 1
    assert intervals.mean_over_clusters(values, ["a"] * 20).ci95 is None
    with pytest.raises(ValueError, match="at least one"):
        intervals.mean_over_clusters(np.array([]), [])


@pytest.mark.parametrize("clusters", [10, 30])
def test_wilson_covers_where_percentiles_do_not(clusters):
    """300 seeded benchmarks of so many videos with 5 questions each, right at a chance that the videos share."""
    rng = np.random.default_rng(clusters)
    covered = dict.fromkeys(("percentile", "wilson"), 0)
    for _ in range(300):
        ease = rng.beta(3, 2, clusters)
        answers = rng.random((clusters, 5)) < ease[:, None]
        value, draws, n = resampled(
            answers.ravel(), [f"v{i}" for i in range(clusters) for _ in range(5)]
        )
        for method in covered:
            low, high = intervals.confidence_interval(value, draws, n, bounds=(0, 1), method=method)
            covered[method] += low <= 0.6 <= high
    assert covered["wilson"] >= 0.92 * 300
    assert covered["percentile"] <= covered["wilson"]
    if clusters == 10:
        assert covered["percentile"] < 0.92 * 300


def test_the_interval_of_two_draws_by_hand():
    # 2.5 and 97.5 % of the way from 0 to 10.
    assert intervals.percentiles(np.array([10.0, 0.0])) == pytest.approx((0.25, 9.75))
    assert intervals.percentiles(np.array([3.0])) == (3, 3)


def test_many_clusters_are_drawn_in_blocks_as_they_would_be_at_once(monkeypatch):
    sums = np.random.default_rng(3).normal(size=(40, 2))
    [whole] = intervals.resampled_sums(sums, resamples=101)
    monkeypatch.setattr(intervals, "KEPT_CELLS", 0)
    monkeypatch.setattr(intervals, "BLOCK_CELLS", 410)  # ten resamples at a time
    blocks = list(intervals.resampled_sums(sums, resamples=101))
    assert [len(block) for block in blocks] == [10] * 10 + [1]
    assert np.concatenate(blocks) == pytest.approx(whole)
