import math
import random

import numpy as np
import pytest

from reelbench.base.errors import InputError
from reelbench.scoring.judge_agreement import compare_ratings, ratings_of, read_ratings
from reelbench.stats.agreement import cohen_kappa, krippendorff_alpha
from reelbench.tasks.curve import SPEC as CURVE
from reelbench.tasks.moviecore import SPEC as MOVIECORE
from reelbench.tasks.rextime import SPEC as REXTIME
from tests.scoring.samples import sample

# --- kappa
# -----------------------------------------------------------------------------------------------------------


def test_kappa_of_a_textbook_table():
    # Of 50: both yes 20, only a yes 5, only b yes 10, both no 15. Seen 0.7, by chance 0.5*0.6 +
    # 0.5*0.4 = 0.5.
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert cohen_kappa(*zip(*pairs, strict=True)) == pytest.approx(0.4, abs=1e-12)


def test_quadratic_kappa_by_hand():
    # Squared misses seen: (0 + 1 + 0) / 3. By chance, all nine pairs: 0 4 4, 1 1 1, 4 0 0, so 15 /
    # 9.
    assert cohen_kappa([0, 1, 2], [0, 2, 2], weights="quadratic") == pytest.approx(0.8, abs=1e-12)


@pytest.mark.parametrize("weights", ["none", "quadratic"])
def test_kappa_as_scikit_learn_has_it(weights):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = random.Random(4)
    for _ in range(20):
        a = [rng.randrange(6) for _ in range(80)]
        b = [min(5, max(0, score + rng.choice([-2, -1, 0, 0, 0, 1]))) for score in a]
        theirs = metrics.cohen_kappa_score(a, b, weights=None if weights == "none" else weights)
        assert cohen_kappa(a, b, weights=weights) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("weights", ["none", "quadratic"])
def test_kappa_is_undefined_where_both_always_say_the_same(weights):
    assert cohen_kappa([2, 2, 2], [2, 2, 2], weights=weights) is None
    assert cohen_kappa([2, 2, 1], [2, 2, 1], weights=weights) == pytest.approx(1)


def test_judges_who_always_agree_are_as_sure_as_their_videos_are_many():
    # Wilson's interval where all of n = 12 say the same: n / (n + t²) to 1, Student's t for 12
    # videos 2.200985.
    samples = [sample(f"q{n}", {"score": n % 3}, video=f"v{n}") for n in range(12)]
    found = compare_ratings(samples, ratings_of(samples, CURVE), ratings_of(samples, CURVE), CURVE)[
        "criteria"
    ]["score"]
    assert (found["n"], found["exact"]) == (12, 100)
    assert found["exact_ci95"] == pytest.approx((71.24056, 100), abs=1e-4)


def test_the_agreement_is_a_share_and_has_a_share_s_interval():
    from reelbench.stats.intervals import mean_over_clusters

    rng = random.Random(2)
    scores = [(rng.randrange(3), rng.randrange(3)) for _ in range(60)]
    a, b = (
        [sample(f"q{n}", {"score": pair[i]}, video=f"v{n % 20}") for n, pair in enumerate(scores)]
        for i in (0, 1)
    )
    found = compare_ratings(a, ratings_of(a, CURVE), ratings_of(b, CURVE), CURVE)["criteria"][
        "score"
    ]
    same = np.array([100.0 * (one == other) for one, other in scores])
    alone = mean_over_clusters(same, [one.video for one in a], bounds=(0, 100))
    assert (found["exact"], found["exact_ci95"]) == (
        pytest.approx(alone.value),
        pytest.approx(alone.ci95),
    )


# --- two judges
# ------------------------------------------------------------------------------------------------------

# ja-JP: a gives 2 1 0 (50 %), b gives 2 2 0 (66.7 %); ko-KR: a gives 2 (100 %), b gives 0; q6 only
# a, q7 only b.
A = [
    ("q1", 2, "ja-JP"),
    ("q2", 1, "ja-JP"),
    ("q3", 0, "ja-JP"),
    ("q4", 2, "ko-KR"),
    ("q6", 2, "ko-KR"),
]
B = [
    ("q1", 2, "ja-JP"),
    ("q2", 2, "ja-JP"),
    ("q3", 0, "ja-JP"),
    ("q4", 0, "ko-KR"),
    ("q7", 2, "ko-KR"),
]


def curve_samples(rows):
    return [
        sample(id_, {"score": score}, locale=locale, category="Sports")
        for id_, score, locale in rows
    ]


def test_two_judges_by_hand():
    a, b = curve_samples(A), curve_samples(B)
    report = compare_ratings(a, ratings_of(a, CURVE), ratings_of(b, CURVE), CURVE)
    assert (report["both"], report["only_a"], report["only_b"], report["weights"]) == (
        4,
        1,
        1,
        "none",
    )
    overall = report["criteria"]["score"]
    assert (overall["n"], overall["exact"], overall["mean_a"], overall["mean_b"]) == (
        4,
        50.0,
        1.25,
        1.0,
    )
    # a gives 0 1 2 to 1/4 1/4 2/4, b to 2/4 0 2/4: by chance 1/8 + 0 + 1/4 = 3/8; (1/2 - 3/8) /
    # (5/8) = 1/5.
    assert overall["kappa"] == pytest.approx(0.2, abs=1e-12)
    assert overall["exact_ci95"] is overall["kappa_ci95"] is None  # of four videos
    assert report["metrics"]["score"] == (pytest.approx(62.5), pytest.approx(50))
    assert report["metrics"]["macro"] == (pytest.approx(75), pytest.approx(100 / 3))
    assert report["label_metrics"]["locale"]["ja-JP"]["score"] == (
        pytest.approx(50),
        pytest.approx(200 / 3),
    )
    assert report["label_metrics"]["locale"]["ko-KR"]["score"] == (
        pytest.approx(100),
        pytest.approx(0),
    )
    assert report["labels"]["locale"]["ja-JP"]["score"]["exact"] == pytest.approx(200 / 3)
    korean = report["labels"]["locale"]["ko-KR"]["score"]
    assert (korean["n"], korean["exact"], korean["exact_ci95"]) == (
        1,
        0.0,
        None,
    )  # one video has no interval


def test_the_order_of_the_samples_does_not_matter():
    a, b = curve_samples(A), curve_samples(B)
    forward = compare_ratings(a, ratings_of(a, CURVE), ratings_of(b, CURVE), CURVE)
    backward = compare_ratings(
        a[::-1], ratings_of(a[::-1], CURVE), ratings_of(b[::-1], CURVE), CURVE
    )
    assert forward == backward


def test_a_missing_dimension_is_left_out_not_zero():
    a = [sample("q1", {"depth": 4, "evidence": 5}), sample("q2", {"depth": 2})]
    b = [sample("q1", {"depth": 4}), sample("q2", {"depth": 2, "evidence": 1})]
    report = compare_ratings(a, ratings_of(a, MOVIECORE), ratings_of(b, MOVIECORE), MOVIECORE)
    assert list(report["criteria"]) == ["depth"]
    assert (report["both"], report["only_a"], report["only_b"], report["weights"]) == (
        2,
        1,
        1,
        "quadratic",
    )
    assert report["criteria"]["depth"]["exact"] == 100


def test_intervals_are_over_videos():
    """Ten questions on each of 12 videos, all alike within a video: 12 observations, half of them equal.

    Their variance is 12/11 · 1/4, so 11 would give a share's: Wilson's interval of 11 with t(11) =
    2.2010, by hand.
    """
    rows = [(f"v{video}-{n}", f"v{video}") for video in range(12) for n in range(10)]
    a = [sample(id_, {"score": 2}, video=video, locale="ja-JP") for id_, video in rows]
    b = [
        sample(id_, {"score": 2 if int(video[1:]) % 2 else 0}, video=video, locale="ja-JP")
        for id_, video in rows
    ]
    report = compare_ratings(a, ratings_of(a, CURVE), ratings_of(b, CURVE), CURVE)
    assert report["criteria"]["score"]["exact_ci95"] == (
        pytest.approx(22.35, abs=1),
        pytest.approx(77.65, abs=1),
    )


def test_nothing_in_common_is_an_error():
    a, b = curve_samples(A[:2]), curve_samples(B[3:])
    with pytest.raises(InputError, match="no item was rated by both"):
        compare_ratings(a, ratings_of(a, CURVE), ratings_of(b, CURVE), CURVE)
    with pytest.raises(InputError, match="no judged metric"):
        ratings_of(a, REXTIME)


# --- people
# ----------------------------------------------------------------------------------------------------------


def test_people_against_a_judge(tmp_path):
    path = tmp_path / "human.csv"
    path.write_text(
        '\ufeffid,score,remark\nq1,2,"fine, yes"\nq2,1,\nq9,0,not in the run\n', encoding="utf-8"
    )
    a = curve_samples(A)
    report = compare_ratings(a, ratings_of(a, CURVE), read_ratings(path, CURVE), CURVE)
    assert (report["both"], report["only_a"], report["only_b"]) == (2, 3, 1)
    assert report["criteria"]["score"]["exact"] == 100
    assert math.isclose(report["metrics"]["score"][1], 75)


def test_people_rate_several_dimensions(tmp_path):
    path = tmp_path / "human.csv"
    path.write_text("id,criterion,score\nq1,depth,4\nq1,evidence,3\n", encoding="utf-8")
    assert read_ratings(path, MOVIECORE) == {("q1", "depth"): 4, ("q1", "evidence"): 3}


@pytest.mark.parametrize(
    ("spec", "text", "message"),
    [
        (CURVE, "key,score\nq1,2\n", r"line 1: no column id"),
        (MOVIECORE, "id,score\nq1,2\n", r"line 1: no column criterion"),
        (CURVE, "id,score\nq1,2\nq2,3\n", r"line 3, score: '3' is not a number from 0 to 2"),
        (CURVE, "id,score\nq1,good\n", r"line 2, score: 'good'"),
        (CURVE, "id,score\nq1,nan\n", r"line 2, score: 'nan'"),
        (CURVE, "id,score\nq1\n", r"line 2, score: None"),
        (CURVE, "id,score\nq1,1\nq1,2\n", r"line 3: q1 is rated twice"),
        (MOVIECORE, "id,criterion,score\nq1,wit,2\n", r"line 2, criterion: 'wit'"),
        (CURVE, "", r"no column id"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, spec, text, message):
    path = tmp_path / "human.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_ratings(path, spec)
    assert str(path) in str(caught.value)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv"):
        read_ratings(tmp_path / "none.csv", CURVE)


# --- Krippendorff's alpha
# ---------------------------------------------------------------------------------------------

# "Computing Krippendorff's Alpha-Reliability" (2011), example with four observers and twelve units.
OBSERVERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


def test_krippendorffs_example_gives_his_ordinal_alpha():
    units = [
        [int(r) for r in unit if r != "."] for unit in zip(*map(str.split, OBSERVERS), strict=True)
    ]
    assert krippendorff_alpha(units) == pytest.approx(0.815, abs=5e-4)


def test_full_agreement_is_one_and_order_does_not_matter():
    assert krippendorff_alpha([[1, 1], [3, 3], [5, 5, 5]]) == 1
    assert krippendorff_alpha([[1, 2, 5], [4, 4]]) == krippendorff_alpha([[5, 1, 2], [4, 4]])


def test_two_ratings_by_hand():
    # Units (1, 2) and (2, 1): two ratings of each value. D_o = 4 pairs at distance 1 step; expected
    # 2·2/3 each way. alpha = 1 - 4 / (2 · 4 / 3) = -0.5
    assert krippendorff_alpha([[1, 2], [2, 1]]) == pytest.approx(-0.5)


@pytest.mark.parametrize("units", [[], [[3]], [[3], [4]], [[3, 3], [3, 3]]])
def test_it_is_undefined_without_two_ratings_or_without_two_values(units):
    assert krippendorff_alpha(units) is None
