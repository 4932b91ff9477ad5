"""Several runs of one model: the interval by hand, and what it covers."""

import numpy as np
import pytest

from reelbench.stats.runs import over_runs


def test_three_runs_by_hand():
    """Ten videos of one item each; the runs' means are 0.4, 0.5 and 0.6."""
    first = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    second = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    third = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    made = over_runs(np.array([first, second, third], dtype=float), [f"v{n}" for n in range(10)])
    assert made.value == pytest.approx(0.5)
    assert made.spread == pytest.approx(0.1)
    # The runs' average by video, less 0.5: 4 x 0.5, 1/6, -1/6, 4 x -0.5 -> 2 + 1/18;
    # 10/9 x 2.0555556 / 100 = 0.0228395.
    # By run: 0.1^2 / 3 = 0.0033333.
    # Degrees of freedom: 0.0261728^2 / (0.0228395^2 / 9 + 0.0033333^2 / 2) = 10.8 -> 10; t = 2.228139.
    error = (0.0228395 + 0.0033333) ** 0.5
    assert made.ci95 == pytest.approx((0.5 - 2.228139 * error, 0.5 + 2.228139 * error), abs=1e-5)


def test_one_run_has_no_spread_and_few_videos_no_interval():
    one = np.array([[1.0, 0.0] * 10])
    assert over_runs(one, [f"v{n}" for n in range(20)]).spread is None
    assert over_runs(np.vstack([one, one]), [f"v{n % 9}" for n in range(20)]).ci95 is None


@pytest.mark.parametrize(("videos", "runs", "of_video", "of_run", "noise"), [
    (30, 3, 0.3, 0.0, 0.3),
    (30, 3, 0.1, 0.0, 0.5),
    (100, 5, 0.3, 0.02, 0.3),
    (40, 3, 0.1, 0.1, 0.2),
    (12, 4, 0.3, 0.0, 0.2),
])  # fmt: skip
def test_it_covers_what_it_promises(videos, runs, of_video, of_run, noise):
    """1,000 simulations each: 95 % is promised."""
    rng = np.random.default_rng(7)
    items = 4  # of each video
    clusters = [f"v{n}" for n in range(videos) for _ in range(items)]
    covered = 0
    for _ in range(1000):
        values = (
            0.5
            + np.repeat(rng.normal(0, of_video, videos), items)
            + rng.normal(0, of_run, (runs, 1))
            + rng.normal(0, noise, (runs, videos * items))
        )
        low, high = over_runs(values, clusters).ci95
        covered += low <= 0.5 <= high
    assert 930 <= covered <= 990


def test_an_interval_over_videos_alone_covers_less_where_runs_differ():
    """The peer: the runs' average resampled by video alone; it misses what a run is."""
    rng = np.random.default_rng(7)
    clusters = [f"v{n}" for n in range(40)]
    both = videos_alone = 0
    for _ in range(1000):
        values = 0.5 + rng.normal(0, 0.1, 40) + rng.normal(0, 0.1, (3, 1)) + rng.normal(0, 0.2, (3, 40))
        low, high = over_runs(values, clusters).ci95
        both += low <= 0.5 <= high
        mean = values.mean(axis=0)
        reach = 2.0227 * mean.std(ddof=1) / 40**0.5
        videos_alone += abs(mean.mean() - 0.5) <= reach
    assert both >= 915
    assert videos_alone < 800
