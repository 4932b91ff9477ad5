"""Rank correlations by hand, ties among them."""

import pytest

from reelbench.stats.rank_correlation import kendall_tau, ranks, spearman


def test_equal_values_share_the_mean_of_their_ranks():
    assert ranks([30, 10, 20, 20]) == [4, 1, 2.5, 2.5]


def test_spearmans_is_of_ranks():
    # Ranks 1, 2, 3, 4 and 1, 3, 2, 4: differences 0, 1, 1, 0, so 1 - 6 * 2 / (4 * 15).
    assert spearman([1, 10, 100, 1000], [0.1, 0.3, 0.2, 9]) == pytest.approx(0.8)
    assert spearman([1, 2, 3], [5, 5, 5]) is None


def test_kendalls_tau_b_counts_no_tie():
    # Of five pairs two stand alike, one is turned round, and each side ties one: (2 - 1) / sqrt(4 *
    # 4).
    pairs = [(0.5, 0.25), (-0.5, -0.25), (0.5, -0.25), (0.0, 0.25), (0.5, 0.0)]
    assert kendall_tau(pairs) == pytest.approx(0.25)
    assert kendall_tau([(0.0, 1.0), (0.0, -1.0)]) is None
