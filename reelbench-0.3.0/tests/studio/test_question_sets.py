"""The intervals of a comparison of questions, by hand."""

import pytest

from reelbench.studio import question_sets
from reelbench.studio.discussion_files import WrittenQuestion


def pair(number):
    """A video's questions: four words in a single pass, a fifth in every other discussion."""
    after = "Who holds the key" + " now" * (number % 2)
    return [WrittenQuestion(question="Who holds the key", answer="a")], [
        WrittenQuestion(question=after, answer="a")
    ]


def test_a_difference_of_means_is_students_over_videos():
    pairs = {f"v{n:02}": pair(n) for n in range(12)}
    found = question_sets.comparison_document(pairs, None)["measures"]["words_question"]
    assert (found["single_pass"], found["discussion"], found["difference"]) == (4, 4.5, 0.5)
    # Twelve differences, half of them 1: their mean varies by 0.1508, and t(11) is 2.2010.
    assert found["ci95"] == pytest.approx([0.5 - 0.3318, 0.5 + 0.3318], abs=0.02)


def test_a_share_of_wins_is_wilsons_over_videos():
    verdicts = {f"v{n:02}": (1.0, 1.0) if n < 9 else (0.0, 0.0) for n in range(12)}
    found = question_sets.comparison_document({video: pair(0) for video in verdicts}, verdicts)[
        "win_rate"
    ]
    # 9 of 12 with the error of 11 answers: Wilson's with t(11)² / 11 = 0.4404.
    assert (found["value"], found["videos"]) == (0.75, 12)
    assert found["ci95"] == pytest.approx([0.4222, 0.9249], abs=0.02)


def test_levels_are_compared_likewise():
    levels = {"question": {"Who holds the key": 6, "Who holds the key now": 5}, "answer": {"a": 6}}
    pairs = {f"v{n:02}": pair(n) for n in range(12)}
    found = question_sets.comparison_document(pairs, None, None, levels)["measures"]
    assert found["higher_order_question"] == {
        "single_pass": 100,
        "discussion": 100,
        "difference": 0,
        "ci95": None,  # nothing says by how much one could differ
    }
    # Twelve differences, half of them -1: ± 2.2010 times 0.1508.
    assert found["bloom_question"]["ci95"] == pytest.approx([-0.832, -0.168], abs=0.02)


def test_few_videos_claim_no_interval():
    pairs = {f"v{n}": pair(n) for n in range(9)}
    found = question_sets.comparison_document(pairs, dict.fromkeys(pairs, (1.0, 0.0)))
    assert {measure["ci95"] is None for measure in found["measures"].values()} == {True}
    assert found["win_rate"]["ci95"] is None
    nothing = question_sets.comparison_document({}, None)["measures"]["words_question"]
    assert nothing == {"single_pass": None, "discussion": None, "difference": None, "ci95": None}
