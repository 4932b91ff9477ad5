"""Judges corrected by people: by hand, against the plain estimators they contain, and with known truth."""

import numpy as np
import pytest

from reelbench.stats.calibration import calibrate, solve_shares

SCALE = range(6)


def simulated(seed, *, videos=120, bias=0.5, strays=0.6):
    """People's scores of all answers, the judge's, an order to label them in, the videos (five answers each)."""
    rng = np.random.default_rng(seed)
    ease = np.repeat(rng.normal(size=videos), 5)
    people = np.clip(np.rint(2.5 + 0.8 * ease + 1.1 * rng.normal(size=5 * videos)), 0, 5)
    judge = np.clip(np.rint(people + bias + strays * rng.normal(size=5 * videos)), 0, 5)
    order = rng.permutation(5 * videos)
    return people, judge, order, [f"v{i // 5}" for i in range(5 * videos)]


def some(people, order, labels):
    given = set(order[:labels])
    return [float(score) if i in given else None for i, score in enumerate(people)]


# --- by hand
# ---------------------------------------------------------------------------------------------------------


def test_the_corrected_mean_by_hand():
    # One answer a video. Labelled: people 1 3, the judge 2 4; the judge alone: 0 2. Means: people
    # 2, judge 3 there, 2 on all. A video's part in the error of the people's mean: (-1, 1, 0, 0) /
    # 2, in that of (judge on all - judge on the labelled): (0, 2, -2, 0) / 4 - (-1, 1, 0, 0) / 2 =
    # (.5, 0, -.5, 0). Covariance -.25, variance .5, weight .5: 2 + .5 · (2 - 3) = 1.5.
    result = calibrate([2, 4, 0, 2], [1, 3, None, None], list("abcd"), bounds=(0, 5))
    assert result.weight == pytest.approx(0.5)
    assert result.corrected.value == pytest.approx(1.5)
    assert (result.people.value, result.judge.value) == (2, 2)
    assert (result.items, result.labelled, result.labelled_videos) == (4, 2, 2)
    assert result.verdict == "too few labels"


def test_the_confusion_matrix_by_hand():
    # Right or wrong: people's 0 the judge calls 1 in 1 of 4, people's 1 it calls 0 in 1 of 5; of
    # all it calls 60 % a 1. .25 · (1 - s) + .8 · s = .6 gives s = 7/11.
    counts = np.array([[3, 1], [1, 4]], dtype=float)
    assert solve_shares(counts, np.array([40.0, 60.0])) == pytest.approx([4 / 11, 7 / 11])


def test_shares_stay_on_the_simplex():
    counts = np.array([[3, 1], [1, 4]], dtype=float)
    # The judge calls 10 % a 1, less than it would if all were 0: none are 1. And 95 %, more than if
    # all were 1.
    assert solve_shares(counts, np.array([90.0, 10.0])) == pytest.approx([1, 0])
    assert solve_shares(counts, np.array([5.0, 95.0])) == pytest.approx([0, 1])


@pytest.mark.parametrize("steps", [2, 3, 6, 11])
@pytest.mark.filterwarnings("error")
def test_shares_are_the_least_squares_of_scipys_solver(steps):
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(steps)
    solved = 0
    for _ in range(100):
        # Few labels, some scores never given: most solutions lie on an edge.
        counts = rng.integers(0, 4, (steps, steps)) + rng.choice([0.0, 5.0]) * np.eye(steps)
        judged = rng.integers(0, 30, steps) + 0.5
        shares = solve_shares(counts, judged)
        if shares is None:
            continue
        solved += 1
        given = counts.sum(axis=1) > 0
        chances, target = (
            (counts[given] / counts[given].sum(axis=1, keepdims=True)).T,
            judged / judged.sum(),
        )
        theirs, _ = optimize.nnls(
            np.vstack([chances, np.full(given.sum(), 1e4)]), np.append(target, 1e4)
        )
        assert shares[given] == pytest.approx(theirs, abs=1e-4)
        assert shares.sum() == pytest.approx(1)
        assert (shares >= 0).all()
        assert not shares[~given].any()
    assert solved > 50


def test_scores_that_a_judge_does_not_tell_apart_have_no_shares():
    assert solve_shares(np.array([[2.0, 2.0], [3.0, 3.0]]), np.array([5.0, 5.0])) is None
    result = calibrate(
        [1] * 40,
        [i % 2 for i in range(40)],
        [f"v{i}" for i in range(40)],
        bounds=(0, 1),
        steps=(0, 1),
    )
    assert result.confusion == {0: {0: 0, 1: 20}, 1: {0: 0, 1: 20}}
    assert result.shares is result.confusion_mean is None
    assert (result.corrected.value, result.weight, result.verdict) == (0.5, 0, "no gain")


def test_a_score_that_people_never_gave_has_no_share():
    counts = np.array([[5.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 5.0]])
    assert solve_shares(counts, np.array([5.0, 2.0, 5.0])) == pytest.approx([0.5, 0, 0.5])


# --- what it must come to
# --------------------------------------------------------------------------------------------


def test_labels_on_all_answers_leave_nothing_to_correct():
    people, judge, order, videos = simulated(1)
    result = calibrate(judge, some(people, order, len(people)), videos, bounds=(0, 5), steps=SCALE)
    assert result.corrected == result.people
    assert result.people.value == pytest.approx(people.mean())
    assert result.confusion_mean.value == pytest.approx(people.mean())
    assert result.labels_to_halve is None
    assert sum(map(sum, (row.values() for row in result.confusion.values()))) == len(people)


def test_a_good_judge_makes_the_interval_shorter_and_its_bias_goes():
    people, judge, order, videos = simulated(2)
    result = calibrate(judge, some(people, order, 100), videos, bounds=(0, 5), steps=SCALE)
    alone, corrected = (e.ci95[1] - e.ci95[0] for e in (result.people, result.corrected))
    assert result.judge.value > people.mean() + 0.3  # kind by half a point
    for estimate in (result.corrected, result.confusion_mean):
        assert estimate.ci95[0] < people.mean() < estimate.ci95[1]
    assert corrected < 0.8 * alone
    assert 0.6 < result.weight < 1.3
    assert result.verdict == "helps"
    assert sum(share.value for share in result.shares.values()) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["noise", "contrary", "constant"])
def test_a_bad_judge_is_said_to_be_of_no_use(kind):
    people, _, order, videos = simulated(3)
    rng = np.random.default_rng(0)
    judge = {
        "noise": rng.integers(0, 6, len(people)),
        "contrary": 5 - people,
        "constant": np.full(len(people), 3),
    }[kind]
    result = calibrate(judge.astype(float), some(people, order, 100), videos, bounds=(0, 5))
    assert result.verdict == "no gain"
    assert result.weight < 0.2
    assert result.corrected.value == pytest.approx(result.people.value, abs=0.05)


def test_the_promised_labels_halve_the_interval():
    people, judge, order, videos = simulated(4, videos=1000)
    few = calibrate(judge, some(people, order, 60), videos, bounds=(0, 5))
    enough = calibrate(judge, some(people, order, 60 + few.labels_to_halve), videos, bounds=(0, 5))
    lengths = [e.corrected.ci95[1] - e.corrected.ci95[0] for e in (few, enough)]
    assert lengths[1] / lengths[0] == pytest.approx(0.5, abs=0.1)


def test_the_corrected_interval_covers():
    """200 seeded benchmarks of 40 videos, 60 labels."""
    covered = 0
    for seed in range(200):
        people, judge, order, videos = simulated(seed, videos=40)
        low, high = calibrate(judge, some(people, order, 60), videos, bounds=(0, 5)).corrected.ci95
        covered += low <= 2.5 <= high
    assert 0.92 * 200 <= covered <= 0.98 * 200


# --- input
# -----------------------------------------------------------------------------------------------------------


def test_scores_off_the_steps_give_no_matrix():
    result = calibrate([1.5, 2, 3], [1, 2, None], list("abc"), bounds=(0, 5), steps=SCALE)
    assert result.confusion is result.shares is None
    assert result.corrected.value is not None


def test_what_can_not_be_calibrated_is_refused():
    with pytest.raises(ValueError, match="no answer"):
        calibrate([1, 2], [None, float("nan")], ["a", "b"], bounds=(0, 5))
    with pytest.raises(ValueError, match="length"):
        calibrate([1, 2], [1], ["a", "b"], bounds=(0, 5))


@pytest.mark.parametrize(("videos", "enough"), [(9, False), (10, True)])
def test_ten_videos_with_labels_are_enough_for_a_verdict(videos, enough):
    people, judge, _, names = simulated(2)
    labelled = [
        float(score) if int(name[1:]) < videos else None
        for score, name in zip(people, names, strict=True)
    ]
    result = calibrate(judge, labelled, names, bounds=(0, 5))
    assert (result.verdict != "too few labels") == enough
