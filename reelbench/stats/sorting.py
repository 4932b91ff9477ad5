"""Distinct numbers and the median, from sorted ones.

numpy's own load its module of masked arrays, which takes as long as a hundred rows of a board.
"""

import numpy as np

from reelbench.stats.intervals import Array


def distinct(values: Array) -> Array:
    """Return each value once, in order. There is no NaN among them."""
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def median(values: Array) -> float:
    """Return the median of some values: NaN where one is NaN.

    Raises:
        ValueError: There is none.
    """
    if not len(values):
        raise ValueError("a median needs at least one value")
    ordered = np.sort(values)
    if np.isnan(ordered[-1]):  # where a NaN stands
        return float("nan")
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    below = float(ordered[middle - 1])
    above = float(ordered[middle])
    return (below + above) / 2
