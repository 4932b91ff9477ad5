"""Holm's adjustment and ranges of ranks, by hand and against what is printed."""

import numpy as np
import pytest

from reelbench.stats.multiple_comparisons import Pairs, holm, levels_of_holm, rank_ranges


def ranges_of(names, differences):
    """Ranges by name, of (a, b) -> (a minus b, p of no difference)."""
    places = {name: place for place, name in enumerate(names)}
    first = np.array([places[a] for a, _ in differences], dtype=np.intp)
    second = np.array([places[b] for _, b in differences], dtype=np.intp)
    values = np.array(list(differences.values()), dtype=np.float64).reshape(-1, 2)
    pairs = Pairs(first, second, values[:, 0], values[:, 1])
    return dict(zip(names, rank_ranges(len(names), pairs), strict=True))


def test_holm_by_hand():
    # Sorted .01 .02 .03 .04 times 4 3 2 1 = .04 .06 .06 .04, and none below the one before it.
    assert holm([0.03, 0.01, None, 0.04, 0.02]) == pytest.approx([0.06, 0.04, None, 0.06, 0.06])
    # The example that is worked in print: .005·4, .01·3, .03·2, .04 raised to .06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]) == [1, 1]
    assert holm([]) == []


def holm_levels(p_values):
    """Levels of p values of which one may be None, as `holm` has them."""
    levels = levels_of_holm(np.array(p_values, dtype=np.float64)).tolist()
    return [None if np.isnan(level) else level for level in levels]


def test_levels_of_holms_steps_by_hand():
    # Of four: 0.05 / 4, / 3 (0.016 is told), / 2 (0.03 is not): the last is never tested, and has
    # that one's.
    levels = holm_levels([0.03, 0.001, None, 0.9, 0.016])
    assert levels == [0.025, 0.0125, None, 0.025, pytest.approx(0.05 / 3)]
    p_values = [0.03, 0.001, 0.9, 0.016, 0.0126, 0.04]
    told = [p <= 0.05 for p in holm(p_values)]
    assert told == [p <= level for p, level in zip(p_values, holm_levels(p_values), strict=True)]


def test_rank_ranges_by_hand():
    # a beats c and d, b beats d; six pairs. Holm: .001·6, .004·5 = .02, .009·4 = .036, .02·3 = .06,
    # …
    differences = {
        ("a", "b"): (1.0, 0.30),
        ("a", "c"): (3.0, 0.004),
        ("d", "a"): (-5.0, 0.001),
        ("b", "c"): (2.0, 0.02),
        ("b", "d"): (4.0, 0.009),
        ("c", "d"): (2.0, 0.08),
    }
    assert ranges_of("abcd", differences) == {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (3, 4)}


def test_models_that_can_not_be_compared_may_have_any_rank():
    assert ranges_of(["a", "b"], {("a", "b"): (9.0, None)}) == {"a": (1, 2), "b": (1, 2)}
    assert ranges_of(["a", "b", "c"], {("a", "b"): (9.0, 0.001)}) == {
        "a": (1, 2),
        "b": (2, 3),
        "c": (1, 3),
    }
    assert ranges_of(["a"], {}) == {"a": (1, 1)}
