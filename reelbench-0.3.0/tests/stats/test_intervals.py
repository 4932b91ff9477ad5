"""Intervals from a bootstrap over clusters: what each is, by hand and against scipy, and that they cover."""

import math

import numpy as np
import pytest

from reelbench.stats import intervals


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


@pytest.mark.parametrize("kept", [0, 10_000])
def test_many_clusters_are_drawn_in_blocks_as_they_would_be_at_once(monkeypatch, kept):
    sums = np.random.default_rng(3).normal(size=(40, 2))
    [whole] = intervals.resampled_sums(sums, resamples=101)
    monkeypatch.setattr(intervals, "KEPT_CELLS", 0)
    monkeypatch.setattr(intervals, "KEPT_SMALL_CELLS", kept)
    monkeypatch.setattr(intervals, "BLOCK_CELLS", 410)  # ten resamples at a time
    blocks = list(intervals.resampled_sums(sums, resamples=101))
    assert [len(block) for block in blocks] == [10] * 10 + [1]
    assert np.concatenate(blocks) == pytest.approx(whole)
