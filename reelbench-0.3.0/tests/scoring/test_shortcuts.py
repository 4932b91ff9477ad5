"""Shortcuts by hand: which questions most blind runs have right, and what is left when these are out."""

import pytest

from reelbench.registry.records import Sample, SettingsRecord
from reelbench.scoring.shortcuts import column_of, rights, shortcuts
from reelbench.tasks.curve import SPEC as CURVE
from reelbench.tasks.dramaqa_cogme import SPEC as DRAMAQA

NONE, SINGLE = SettingsRecord(frames="none"), SettingsRecord(frames="uniform:1")


def answers(marks, spec_column="correct", scale=1.0):
    """One question a video: 1 right, 0 wrong, - unscored."""
    return [
        Sample(
            id=f"q{n}",
            video=f"v{n}",
            prediction="p",
            target={"text": "t"},
            state="unscored" if mark == "-" else "scored",
            reason="model_failed" if mark == "-" else None,
            scores={} if mark == "-" else {spec_column: scale * float(mark)},
        )
        for n, mark in enumerate(marks)
    ]


@pytest.mark.parametrize(
    ("settings", "column"),
    [
        ({"frames": "none"}, "blind"),
        ({"frames": "none", "audio": "kept"}, None),  # the words and the sound
        ({"frames": "uniform:1,as=images"}, "single frame"),
        ({"frames": "fps:0.01", "frames_given": {"1": 12}}, "single frame"),
        ({"frames": "uniform:1", "frames_given": {"1": 11, "0": 1}}, None),
        ({"frames": "uniform:1,audio=keep", "audio": "kept"}, None),
        ({"frames": "uniform:16"}, None),
        ({"frames": "native"}, None),
        ({"frames": "none,subs=file"}, None),  # the words that are spoken
        ({"frames": "uniform:1,subs=file"}, None),
    ],
)
def test_what_a_run_showed_says_which_column_it_is_of(settings, column):
    assert column_of(SettingsRecord(**settings)) == column


def test_three_blind_runs_and_one_with_a_frame_by_hand():
    blind = ["11110000----", "110010000000", "1-1000000000"]
    runs = [(NONE, answers(marks)) for marks in blind]
    runs += [
        (SINGLE, answers("110000000001")),
        (SettingsRecord(frames="uniform:8"), answers("1" * 12)),
    ]
    found = shortcuts(DRAMAQA, runs)
    # q0 3 of 3, q1 2 of 2, q2 2 of 3; q3 and q4 1 of 3: no majority.
    assert found.questions(["blind"]) == {"q0", "q1", "q2"}
    assert found.questions() == {"q0", "q1", "q2", "q11"}
    assert (found.runs["blind"], found.runs["single frame"]) == (3, 1)
    assert found.share("blind").value == pytest.approx(3 / 12)
    low, high = found.share("blind").ci95
    # Wilson with t for 11 degrees (2.201) and an effective size of about the 12 independent
    # questions.
    t, n, p = 2.201, 11.0, 0.25
    half = t * (p * (1 - p) / n + t * t / (4 * n * n)) ** 0.5 / (1 + t * t / n)
    middle = (p + t * t / (2 * n)) / (1 + t * t / n)
    assert (low, high) == (
        pytest.approx(middle - half, abs=0.02),
        pytest.approx(middle + half, abs=0.02),
    )


def test_half_of_the_runs_are_no_majority_and_part_of_a_score_is_not_right():
    runs = [(NONE, answers("1")), (NONE, answers("0"))]
    assert not shortcuts(DRAMAQA, runs).questions()
    assert rights(CURVE, answers("012-", "score")) == {"q0": False, "q1": False, "q2": True}


def test_frames_matter_where_watching_alone_answers_by_hand():
    whole = SettingsRecord(frames="uniform:16")
    runs = [(NONE, answers("1100---0")), (SINGLE, answers("-01000-0"))]
    runs += [
        (whole, answers("11111101")),
        (whole, answers("11100100")),
        (whole, answers("1110-1-0")),
    ]
    runs += [
        (SettingsRecord(frames="none,subs=file"), answers("1" * 8)),
        (SettingsRecord(frames="unknown"), answers("0" * 8)),
    ]
    found = shortcuts(DRAMAQA, runs, watching=True)
    assert found.watching == 3
    # q0 and q1 are right without frames, q2 with one; q3 is watched wrong by most, q4 right by half
    # alone, q5 right by all and by nobody else; q6 was asked neither without frames nor with one,
    # q7 is watched wrong.
    assert found.frames_matter == {f"q{n}": n == 5 for n in (0, 1, 2, 3, 4, 5, 7)}
    assert not shortcuts(DRAMAQA, runs).frames_matter
