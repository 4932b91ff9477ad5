"""Student's t against printed tables, closed forms and scipy."""

import math

import numpy as np
import pytest

from reelbench.stats import student_t


@pytest.mark.parametrize(
    ("share", "dof", "t"),
    [
        (0.975, 1, 12.706),
        (0.975, 4, 2.776),
        (0.975, 9, 2.262),
        (0.975, 29, 2.045),
        (0.95, 2, 2.920),
        (0.5, 7, 0),
    ],
)
def test_quantiles_as_in_any_table(share, dof, t):
    assert student_t.quantile(share, dof) == pytest.approx(t, abs=5e-4)
    assert student_t.quantile(1 - share, dof) == pytest.approx(-t, abs=5e-4)


def test_one_degree_of_freedom_is_cauchys_and_very_many_are_the_normal():
    assert student_t.cdf(1, 1) == pytest.approx(0.75, abs=1e-12)
    assert student_t.cdf(-3, 1) == pytest.approx(0.5 + math.atan(-3) / math.pi, abs=1e-12)
    assert student_t.cdf(1.959964, 10**7) == pytest.approx(0.975, abs=1e-6)


@pytest.mark.parametrize("dof", [1, 2, 4, 9, 58, 338])
@pytest.mark.parametrize("shift", [0, 0.7, 2.8, -3])
def test_as_scipy_has_it(dof, shift):
    stats = pytest.importorskip("scipy.stats")
    for x in (-40, -2.776, -0.3, 0, 1.96, 5, 60):
        theirs = stats.nct.cdf(x, dof, shift) if shift else stats.t.cdf(x, dof)
        assert student_t.cdf(x, dof, shift=shift) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1])
def test_a_quantile_of_no_share_is_refused(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        student_t.quantile(share, 5)


@pytest.mark.parametrize("dof", [1, 2, 3, 9, 58, 199, 200, 338, 9_999])
def test_quantiles_and_p_values_as_scipy_has_them(dof):
    stats = pytest.importorskip("scipy.stats")
    for share in (1e-12, 2.5e-7, 0.0004, 0.025, 0.2, 0.49, 0.6, 0.975, 0.9999):
        theirs = stats.t.ppf(share, dof)
        assert student_t.quantile(share, dof) == pytest.approx(theirs, rel=1e-10, abs=1e-10)
    t = np.array([0, 1e-9, 0.01, 0.3, 1, 1.4, 1.7, 2.776, 10, 60, 400, 1e6])
    theirs = 2 * stats.t.sf(t, dof)
    assert student_t.two_sided_p(-t, dof) == pytest.approx(theirs, rel=1e-9, abs=1e-300)


def test_a_t_beyond_all_floats_has_no_tail():
    assert list(student_t.two_sided_p(np.array([1e200, np.inf]), 200)) == [0, 0]
    assert student_t.cdf(-math.inf, 200) == 0
    assert student_t.cdf(1e200, 200) == 1


@pytest.mark.parametrize("dof", [1, 14, 999])
def test_a_quantile_does_not_depend_on_those_beside_it(dof):
    shares = np.concatenate([1 - 0.025 / np.arange(1, 2000), [0.5, 0.2, 1e-9]])
    together = student_t.quantiles(shares, dof)
    for place in (0, 7, 1998, 1999, 2000, 2001):
        assert together[place] == student_t.quantile(float(shares[place]), dof)
