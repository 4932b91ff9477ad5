"""Power and smallest differences, against printed values, scipy and hand work."""

import math

import pytest

from reelbench.stats.power import Pilot, power, smallest_difference, videos_needed

# A score whose videos vary by 1 point: its standard error on n videos is 1 / sqrt(n).
ONE_POINT = {n: Pilot(error=1 / math.sqrt(n), videos=n, paired=True) for n in (10, 34, 100)}


def test_the_textbooks_one_sample_t_test():
    # Cohen 1988, table 2.4.1 for d = 0.5 (one sample, two-sided, 5 %, power 80 %): 34 observations.
    assert videos_needed(ONE_POINT[100], 0.5) == 34
    assert power(ONE_POINT[100], 0.5, 34) >= 0.8 > power(ONE_POINT[100], 0.5, 33)


def test_the_textbooks_two_sample_t_test():
    # d = 0.5: 64 in each group; d = 0.8: 26; d = 0.2: 394 (Cohen 1988; G*Power).
    pilot = Pilot(error=0.1, videos=100, paired=False)
    assert [videos_needed(pilot, d) for d in (0.5, 0.8, 0.2)] == [64, 26, 394]


@pytest.mark.parametrize("videos", [5, 10, 30, 170])
@pytest.mark.parametrize("effect", [0, 0.2, 0.6])
def test_power_is_the_noncentral_t_of_scipy(videos, effect):
    stats = pytest.importorskip("scipy.stats")
    for pilot, dof, shift in (
        (Pilot(1, 1, paired=True), videos - 1, effect * math.sqrt(videos)),
        (Pilot(1, 1, paired=False), 2 * videos - 2, effect * math.sqrt(videos / 2)),
    ):
        limit = stats.t.ppf(0.975, dof)
        theirs = stats.nct.sf(limit, dof, shift) + stats.nct.cdf(-limit, dof, shift)
        assert power(pilot, effect, videos) == pytest.approx(theirs, abs=1e-6)


def test_the_smallest_difference_is_the_effect_that_has_the_power():
    for pilot in (Pilot(2.0, 30, paired=True), Pilot(2.0, 30, paired=False)):
        for videos in (5, 30, 170):
            effect = smallest_difference(pilot, videos)
            assert power(pilot, effect, videos) == pytest.approx(0.8, abs=1e-6)
            assert power(pilot, -effect, videos) == pytest.approx(0.8, abs=1e-6)
            assert videos_needed(pilot, effect * 1.0001) == videos
    # Many videos: (1.960 + 0.842) standard errors.
    assert smallest_difference(Pilot(0.5, 10_000, paired=True), 10_000) == pytest.approx(
        2.802 * 0.5, rel=1e-3
    )


def test_the_smallest_difference_has_the_scores_unit():
    of_unit, of_millionth = (
        smallest_difference(Pilot(error, 30, paired=True), 30) for error in (1.0, 1e-6)
    )
    assert of_millionth == pytest.approx(1e-6 * of_unit, rel=1e-6)


def test_on_a_bounded_scale_the_better_model_varies_as_its_score_lets_it():
    # From 50 to 80 % the variance falls from .25 to .16: 1 + .64 in place of 2.
    pilot = Pilot(5.0, 20, paired=False, value=50.0, bounds=(0, 100))
    assert pilot.difference(20, 30.0) == (pytest.approx(5 * math.sqrt(1.64)), 38)
    assert pilot.difference(20, -30.0) == pilot.difference(20, 30.0)
    assert pilot.difference(20, 70.0) == (
        pytest.approx(5.0),
        38,
    )  # beyond the scale: no noise of its own
    assert Pilot(5.0, 20, paired=False).difference(80, 30.0) == (
        pytest.approx(2.5 * math.sqrt(2)),
        158,
    )
    # The same shares of a scale from 1 to 5.
    judged = Pilot(0.2, 20, paired=False, value=3.0, bounds=(1, 5))
    assert judged.difference(20, 1.2) == (pytest.approx(0.2 * math.sqrt(1.64)), 38)
    # Where all was right the pilot says nothing of how noise goes with the score.
    assert Pilot(5.0, 20, False, 100.0, (0, 100)).difference(20, -10.0) == (
        pytest.approx(5 * math.sqrt(2)),
        38,
    )


def test_what_can_not_be_asked():
    with pytest.raises(ValueError, match="difference of 0"):
        videos_needed(ONE_POINT[10], 0)
    with pytest.raises(ValueError, match="needs two"):
        smallest_difference(ONE_POINT[10], 1)
    assert videos_needed(ONE_POINT[10], 1e-6) is None


def test_no_noise_shows_everything():
    silent = Pilot(0.0, 10, paired=True)
    assert power(silent, 0.1, 5) == 1
    assert power(silent, 0, 5) == 0.05
    assert smallest_difference(silent, 5) == 0
    assert videos_needed(silent, 0.1) == 2
