"""Krippendorff's alpha against his own worked example."""

import pytest

from reelbench.judges.reliability import krippendorff_alpha

# "Computing Krippendorff's Alpha-Reliability" (2011), example with four observers and twelve units.
OBSERVERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


def test_krippendorffs_example_gives_his_ordinal_alpha():
    units = [[int(r) for r in unit if r != "."] for unit in zip(*map(str.split, OBSERVERS), strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.815, abs=5e-4)


def test_full_agreement_is_one_and_order_does_not_matter():
    assert krippendorff_alpha([[1, 1], [3, 3], [5, 5, 5]]) == 1
    assert krippendorff_alpha([[1, 2, 5], [4, 4]]) == krippendorff_alpha([[5, 1, 2], [4, 4]])


def test_two_ratings_by_hand():
    # Units (1, 2) and (2, 1): two ratings of each value. D_o = 4 pairs at distance 1 step; expected 2·2/3 each way.
    # alpha = 1 - 4 / (2 · 4 / 3) = -0.5
    assert krippendorff_alpha([[1, 2], [2, 1]]) == pytest.approx(-0.5)


@pytest.mark.parametrize("units", [[], [[3]], [[3], [4]], [[3, 3], [3, 3]]])
def test_it_is_undefined_without_two_ratings_or_without_two_values(units):
    assert krippendorff_alpha(units) is None
