"""Distinct numbers and the median, held against numpy's own."""

import math

import numpy as np
import pytest

from reelbench.stats import sorting

NUMBERS = np.random.default_rng(5).normal(size=50).round(1)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 49, 50])
def test_distinct_numbers_are_those_of_numpy(count):
    values = NUMBERS[:count]
    assert sorting.distinct(values).tolist() == np.unique(values).tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 49, 50])
def test_the_median_is_that_of_numpy(count):
    values = NUMBERS[:count]
    assert sorting.median(values) == np.median(values)
    assert math.isnan(sorting.median(np.append(values, np.nan)))


def test_no_number_has_no_median():
    with pytest.raises(ValueError, match="at least one value"):
        sorting.median(np.array([]))
