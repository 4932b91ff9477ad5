import pytest

from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.registry.records import JudgeRecord, Sample
from reelbench.scoring.comparison import compare, compare_by_video, judging_apart, mcnemar
from reelbench.tasks.curve import SPEC as CURVE
from reelbench.tasks.moviecore import SPEC as MOVIECORE
from reelbench.tasks.rextime import SPEC as REXTIME
from tests.scoring.samples import sample

ACCURACY = MOVIECORE.metric("accuracy")


def choices(marks, prefix="q"):
    return [sample(f"{prefix}{n}", {"correct": float(mark == "1")}) for n, mark in enumerate(marks)]


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [
        (1, 5, 2 * (1 + 6) / 64),  # both tails of a fair coin thrown six times
        (5, 1, 2 * (1 + 6) / 64),
        (0, 3, 2 / 8),
        (3, 3, 1.0),
        (0, 0, 1.0),
        (4, 5, 1.0),
    ],
)
def test_mcnemar_by_hand(only_a, only_b, p):
    assert mcnemar(only_a, only_b).p == pytest.approx(p, abs=1e-15)


def test_mcnemar_as_scipy_has_it_and_beyond_floats():
    stats = pytest.importorskip("scipy.stats")
    assert mcnemar(520, 600).p == pytest.approx(stats.binomtest(520, 1120, 0.5).pvalue, rel=1e-9)
    assert 0 < mcnemar(0, 5000).p < 1e-300


def test_choices_are_compared_on_the_items_that_both_answered():
    a, b = choices("1110001111"), choices("1000110000")
    a[8] = sample("q8", {})
    b[9] = sample("q9", {})
    found = compare(a, b, REXTIME)
    assert (found.both, found.only_a, found.only_b) == (8, 1, 1)
    accuracy = found.metrics["accuracy"]
    assert (accuracy.n, accuracy.videos) == (8, 8)
    assert (accuracy.a, accuracy.b, accuracy.difference) == (62.5, 37.5, 25.0)
    assert (accuracy.mcnemar.only_a, accuracy.mcnemar.only_b) == (4, 2)
    assert (accuracy.ci95, accuracy.p, accuracy.mcnemar.p) == (None, None, None)  # of 8 videos
    assert "miou" not in found.metrics  # nobody gave a window


def test_a_metric_is_compared_where_both_have_it():
    a = [sample(f"q{n}", {"correct": 1.0, "iou": 0.5}) for n in range(4)]
    b = [sample(f"q{n}", {"correct": 0.0} | ({"iou": 0.25} if n < 2 else {})) for n in range(4)]
    found = compare(a, b, REXTIME).metrics
    assert (found["accuracy"].n, found["miou"].n, found["miou"].videos) == (4, 2, 2)
    assert (found["miou"].a, found["miou"].b, found["miou"].difference) == (50, 25, 25)


def test_three_videos_carry_neither_interval_nor_p():
    found = compare(choices("111"), choices("001"), REXTIME).metrics["accuracy"]
    assert found.difference == pytest.approx(200 / 3)
    assert (found.ci95, found.p) == (None, None)


def test_twelve_videos_by_hand():
    # Four times 1, 1, 0: mean 2/3, standard error 0.14213. With 1 and -1 added the mean of 14 is
    # 0.5714, its error 0.1701: t = 3.359, and t(11) = 2.2010: ± 0.3744.
    found = compare(choices("111" * 4), choices("001" * 4), REXTIME).metrics["accuracy"]
    assert found.ci95 == (pytest.approx(19.7, abs=1.2), pytest.approx(94.6, abs=1.2))
    assert found.p == pytest.approx(0.0064, rel=0.3)


def test_equal_models_do_not_differ():
    a = choices("110100" * 2)
    found = compare(a, a, REXTIME).metrics["accuracy"]
    assert (found.difference, found.p, found.mcnemar.p) == (0.0, 1.0, 1.0)
    # Twelve differences of 0, and 1 and -1: their mean varies by √2 / 14, times t(11) = 2.2010.
    assert found.ci95 == (pytest.approx(-22.23, abs=0.01), pytest.approx(22.23, abs=0.01))


def test_a_model_that_is_always_better_by_the_same():
    a = [sample(f"q{n}", {"score": 2}, locale="ja-JP") for n in range(20)]
    b = [sample(f"q{n}", {"score": 1}, locale="ja-JP") for n in range(20)]
    found = compare(a, b, CURVE).metrics["score"]
    assert (found.a, found.b, found.difference) == (100, 50, 50)
    # Twenty times 50, and 50 and -50: mean 45.45, error √(2500 - 45.45²) / √22 = 4.441; t(19) =
    # 2.0930.
    assert found.ci95 == (pytest.approx(36.16, abs=0.01), pytest.approx(54.75, abs=0.01))
    assert 0 < found.p < 1e-8
    assert found.mcnemar is None  # points of a judge are not right or wrong


def test_what_makes_a_video_hard_cancels_out():
    """Scores differ wildly between videos, and by 0.1 of a point within: unpaired, no test could tell."""

    def scores(shift):
        return [sample(f"q{n}", {"depth": (n % 5) + shift}, classification="x") for n in range(50)]

    found = compare(scores(0.1), scores(0.0), MOVIECORE).metrics["depth"]
    assert found.difference == pytest.approx(0.1)
    assert found.p < 0.001


def test_videos_are_drawn_not_questions():
    """A hundred questions on one of two videos are one draw, not a hundred."""

    def of(right):
        return [
            sample(f"{v}-{n}", {"correct": float(v in right)}, video=v)
            for v in ("v1", "v2")
            for n in range(100)
        ]

    found = compare(of(("v1",)), of(("v2",)), REXTIME).metrics["accuracy"]
    assert (found.videos, found.ci95, found.p) == (2, None, None)
    assert (found.mcnemar.only_a, found.mcnemar.only_b, found.mcnemar.p) == (100, 100, None)


def test_one_video_has_no_interval():
    a, b = ([sample("q1", {"correct": 1.0}, "v")], [sample("q1", {"correct": 0.0}, "v")])
    found = compare(a, b, REXTIME).metrics["accuracy"]
    assert (found.difference, found.ci95, found.p) == (100, None, None)


def test_the_order_does_not_matter():
    a, b = choices("1110001111"), choices("1000110000")
    assert compare(a, b, REXTIME) == compare(a[::-1], b[::-1], REXTIME)


def test_swapping_the_models_turns_the_sign():
    a, b = choices("1110001111"), choices("1000110000")
    there, back = (
        compare(a, b, REXTIME).metrics["accuracy"],
        compare(b, a, REXTIME).metrics["accuracy"],
    )
    assert there.difference == -back.difference
    assert there.ci95 == pytest.approx((-back.ci95[1], -back.ci95[0]))
    assert there.p == back.p


def test_nothing_in_common_is_an_error():
    with pytest.raises(InputError, match="no item was answered by both"):
        compare(choices("11"), choices("11", prefix="other"), REXTIME)


def _scored(video, number, accuracy):
    return Sample(
        id=f"{video}_{number}", video=video, prediction="x", target={"text": "x"}, state="scored",
        scores={"accuracy": accuracy},
    )  # fmt: skip


class TestPairedByVideo:
    """Worked by hand: film a has means 2 and 4, film b 3 and 3, film c 1 and 4; film d stands on one side only."""

    A = (
        _scored("a", 1, 1),
        _scored("a", 2, 3),
        _scored("b", 1, 3),
        _scored("c", 1, 1),
        _scored("d", 1, 5),
    )
    B = (_scored("a", 1, 4), _scored("b", 1, 3), _scored("b", 2, 3), _scored("c", 1, 4))

    def test_each_video_counts_once(self):
        paired = compare_by_video(self.A, self.B, ACCURACY)
        assert (paired["videos"], paired["a"], paired["b"]) == (3, 2.0, pytest.approx(11 / 3))
        assert paired["difference"] == pytest.approx(-5 / 3)
        assert paired["ci95"] is None
        assert paired["a_higher"] == pytest.approx(0.5 / 3)  # b is a tie

    def test_half_a_point_is_higher(self):
        ahead = (_scored("a", 1, 2), _scored("a", 2, 3), _scored("b", 1, 3))
        assert (
            compare_by_video(ahead, (_scored("a", 1, 2), _scored("b", 1, 3)), ACCURACY)["a_higher"]
            == 0.75
        )

    def test_right_answers_are_converted_as_the_paper_does(self):
        paired = compare_by_video(self.A, self.B, ACCURACY)
        assert paired["right"][0] == (0.0, 0.0)
        assert paired["right"][1] == (50.0, 2.5)

    def test_no_shared_video_is_an_error(self):
        with pytest.raises(InputError, match="no video has 'accuracy'"):
            compare_by_video(self.A, [_scored("e", 1, 3)], ACCURACY)

    def test_the_papers_conversion(self):
        published = discovery.find("moviechat").published
        assert [row.metrics["accuracy"] for row in published] == [
            pytest.approx(3.93),
            pytest.approx(4.245),
        ]


def judge(requested="gpt", returned=("gpt-2025-01-02",), **fields):
    counts = dict.fromkeys(returned, 3)
    given = {"prompt": "reelbench", "prompt_sha256": "a" * 64} | fields
    return JudgeRecord(requested=requested, returned=counts, **given)


PANEL = [judge("x", ("x-0613",)), judge("y", ())]


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (judge(), judge(), None),
        (judge(), None, None),
        (judge(), judge(returned=()), None),  # a name and the same with a date
        (judge(), judge(requested="proxy/gpt"), None),  # who answered counts, not who was asked
        (
            judge(),
            judge(returned=("gpt-2025-03-04",)),
            "different judges: a has gpt-2025-01-02, b has gpt-2025-03-04",
        ),
        (judge(), judge(returned=("gpt-2025-01-02", "other")), "different judges"),
        (judge(), judge(returned=("gpt-mini",)), "different judges"),
        (
            judge(),
            judge(prompt="official", prompt_sha256="b" * 64),
            "different judge prompts: a has reelbench",
        ),
        (judge(), judge(votes=3, temperature=0.5), None),
        (judge(panel=PANEL), judge(panel=PANEL[::-1]), None),
        (judge(panel=PANEL), judge(panel=PANEL[:1]), "different judges"),
    ],
)
def test_scores_of_two_judges_are_told_apart(a, b, why):
    for first, second in ((a, b), (b, a)):
        told = judging_apart(first, second)
        assert (told is None) is (why is None)
    assert why is None or judging_apart(a, b).startswith(why)


def test_twins_are_told_apart_by_judge_and_prompt_set():
    twins = [judge(prompt_sha256=sha * 64) for sha in "ab"]
    assert judging_apart(*twins, twins=True) is None  # their criteria are their own
    other = judge(prompt="official", prompt_sha256="b" * 64)
    assert "different judge prompts" in judging_apart(twins[0], other, twins=True)
