"""Several runs of one model: the mean and its interval by hand, and what the interval covers."""

import numpy as np
import pytest

from reelbench.registry.records import Sample
from reelbench.scoring import aggregation, comparison, runs
from reelbench.stats import intervals
from reelbench.tasks.rextime import SPEC

ACCURACY = SPEC.metric("accuracy")


def of_run(scores, videos=None):
    return [
        Sample(
            id=f"q{n:03}",
            video=videos[n] if videos else f"v{n:03}",
            prediction="A",
            target={"answer": "A"},
            state="unscored" if score is None else "scored",
            reason="model_failed" if score is None else None,
            scores={} if score is None else {"correct": float(score)},
        )
        for n, score in enumerate(scores)
    ]


def test_three_runs_by_hand():
    """Ten videos of one item each; the runs' means are 40, 50 and 60."""
    three = [of_run([1] * right + [0] * (10 - right)) for right in (4, 5, 6)]
    made = aggregation.metric_with_interval(SPEC, ACCURACY, runs.average(three))
    assert made.value == pytest.approx(50)
    # Over videos, the bootstrap of the runs' average: 4 x 1, 2/3, 1/3, 4 x 0 -> its standard error,
    # near the 0.1511 that 10/9 x (4 x 0.25 x 2 + 2/36) / 100 gives; between runs 0.1^2 / 3.
    alone = aggregation.resampled(SPEC, ACCURACY, runs.average(three))
    over_videos = intervals.standard_error(alone.draws, 10) / 100
    assert over_videos == pytest.approx((10 / 9 * 2.0555556 / 100) ** 0.5, rel=0.05)
    a, b = over_videos**2, 0.01 / 3
    # Satterthwaite: 10.8 -> 10 degrees of freedom, t = 2.228139; Wilson of 0.5 with 0.25 / error^2
    # observations.
    assert int((a + b) ** 2 / (a**2 / 9 + b**2 / 2)) == 10
    inverse = 2.228139**2 * (a + b) / 0.25
    half = (inverse / 4 + inverse**2 / 4) ** 0.5 / (1 + inverse)
    assert made.ci95 == pytest.approx((50 - 100 * half, 50 + 100 * half), abs=1e-3)


def test_each_item_is_averaged_and_one_without_a_score_in_a_run_is_unscored():
    made = runs.average([of_run([1, 0, 1]), of_run([1, 1, None]), of_run([0, 1, 1])[:3]])
    assert [sample.scores for sample in made] == [{"correct": pytest.approx(2 / 3)}] * 2 + [{}]
    assert [sample.state for sample in made] == ["scored", "scored", "unscored"]
    values = [aggregation.metric_value(SPEC, ACCURACY, run) for run in aggregation.each_run(made)]
    assert values == [50, 100, 50]
    assert runs.average([of_run([1, 0, 1]), of_run([1, 1])])[-1].id == "q001"


@pytest.mark.parametrize(("videos", "number", "of_video", "of_run_", "noise"), [
    (30, 3, 0.3, 0.0, 0.3),
    (30, 3, 0.1, 0.0, 0.5),
    (100, 5, 0.3, 0.02, 0.3),
    (40, 3, 0.1, 0.1, 0.2),
    (12, 4, 0.3, 0.0, 0.2),
])  # fmt: skip
def test_it_covers_what_it_promises(videos, number, of_video, of_run_, noise):
    """1,000 simulations each: 95 % is promised. Over videos alone the last but one covers under 80."""
    rng = np.random.default_rng(7)
    covered = alone = 0
    counts = rng.multinomial(videos, np.full(videos, 1 / videos), size=400) / videos
    for _ in range(1000):
        values = (
            0.5
            + rng.normal(0, of_video, videos)
            + rng.normal(0, of_run_, (number, 1))
            + rng.normal(0, noise, (number, videos))
        )
        mean, draws = values.mean(), counts @ values.mean(axis=0)
        low, high = intervals.confidence_interval(
            mean, draws, videos, runs=values.mean(axis=1), method="t"
        )
        covered += low <= 0.5 <= high
        low, high = intervals.confidence_interval(mean, draws, videos, method="t")
        alone += low <= 0.5 <= high
    assert 925 <= covered <= 995
    assert alone < 800 or of_run_ < 0.1


def test_two_models_with_several_runs_are_tested_with_the_noise_of_both():
    """No true difference, and runs that differ: over videos alone it would be found far too often."""
    rng = np.random.default_rng(3)
    found = alone = 0
    for _ in range(150):
        sides = []
        for _ in range(2):
            chance = 0.6 + rng.normal(0, 0.06, (3, 1))
            sides.append([of_run(run) for run in (rng.random((3, 60)) < chance).astype(int)])
        one, other = map(runs.average, sides)
        found += comparison.compare(one, other, SPEC).metrics["accuracy"].p <= 0.05
        plain = [
            [Sample(**sample.model_dump(exclude={"of_runs"})) for sample in side]
            for side in (one, other)
        ]
        alone += comparison.compare(*plain, SPEC).metrics["accuracy"].p <= 0.05
    assert found <= 14  # 5 % of 150 is 7.5
    assert alone > 2 * found
