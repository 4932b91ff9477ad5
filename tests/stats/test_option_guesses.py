"""A way to choose an option held to chance: values and bounds beside exact ones."""

from itertools import product
from math import comb

import numpy as np
import pytest

from reelbench.stats.option_guesses import RightOptions


def always_first(indices, options, videos):
    credit = np.zeros((len(indices), max(options)))
    credit[:, 0] = 1
    right = RightOptions(np.array(indices), np.array(options), videos)
    return right.test(credit)


@pytest.mark.parametrize(("rows", "hits"), [(20, 20), (20, 15), (200, 75), (1000, 320)])
def test_the_bound_is_the_binomial_tail_or_a_little_above_it(rows, hits):
    indices = [0] * hits + [1] * (rows - hits)
    test = always_first(indices, [4] * rows, [str(row) for row in range(rows)])
    exact = sum(
        comb(rows, number) * 0.25**number * 0.75 ** (rows - number)
        for number in range(hits, rows + 1)
    )
    assert exact <= test.p_above * (1 + 1e-9)
    assert test.p_above < 20 * exact
    assert test.p_below == 1
    assert (test.value, test.chance) == (hits / rows, 0.25)


def test_the_bound_holds_for_all_shifts_of_few_videos():
    rng = np.random.default_rng(5)
    options = [2, 3, 3, 4, 4, 4, 2, 3, 4, 4, 2, 4]
    videos = list("aabbbcccdddd")
    indices = [int(rng.integers(count)) for count in options]
    credit = rng.random((len(indices), 4))
    test = RightOptions(np.array(indices), np.array(options), videos).test(credit)
    seen = test.value * len(indices)
    steps = 12
    sums = []
    for shifts in product(range(steps), repeat=4):
        shift_of_video = dict(zip("abcd", shifts, strict=True))
        total = 0.0
        for row, (place, count, video) in enumerate(zip(indices, options, videos, strict=True)):
            total += credit[row, (place + shift_of_video[video] * count // steps) % count]
        sums.append(total)
    shifted = np.array(sums)
    assert test.chance == pytest.approx(shifted.mean() / len(indices))
    assert np.mean(shifted >= seen - 1e-9) <= test.p_above + 1e-12
    assert np.mean(shifted <= seen + 1e-9) <= test.p_below + 1e-12


def test_one_draw_a_video_is_one_fact():
    videos = [str(row // 50) for row in range(200)]
    assert always_first([0] * 200, [4] * 200, videos).p_above == pytest.approx(0.25**4, rel=0.01)


def test_a_way_that_is_the_same_everywhere_tells_nothing():
    right = RightOptions(np.array([0, 1]), np.array([2, 2]), ["a", "b"])
    test = right.test(np.full((2, 2), 0.5))
    assert (test.p_above, test.p_below, test.value) == (1, 1, 0.5)


def test_no_question_is_no_test():
    right = RightOptions(np.array([], dtype=np.intp), np.array([], dtype=np.intp), [])
    with pytest.raises(ValueError, match="at least one"):
        right.test(np.zeros((0, 2)))
