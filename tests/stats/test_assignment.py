"""The assignment with the largest sum, against scipy's."""

import numpy as np
import pytest

from reelbench.stats.assignment import largest_assignment


@pytest.mark.parametrize("seed", range(40))
def test_the_sum_is_the_largest(seed):
    optimize = pytest.importorskip("scipy.optimize")
    draw = np.random.default_rng(seed)
    values = draw.random((draw.integers(1, 7), draw.integers(1, 7)))
    if seed % 2:  # windows that do not meet have 0, and many are equal
        values = np.where(values < 0.6, 0, values)
    pairs = largest_assignment(values.tolist())
    rows, columns = optimize.linear_sum_assignment(-values)
    assert sum(values[pair.row][pair.column] for pair in pairs) == pytest.approx(
        values[rows, columns].sum()
    )
    assert len({pair.row for pair in pairs}) == len({pair.column for pair in pairs}) == len(rows)


def test_a_larger_pair_gives_way_to_a_larger_sum():
    # By itself 0.9 is the best, with which only 0.9 + 0.1 are to be had.
    assert largest_assignment([[0.9, 0.8], [0.7, 0.1]]) == [(0, 1), (1, 0)]
