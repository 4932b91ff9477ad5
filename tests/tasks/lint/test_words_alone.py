"""Words alone: what is learnt is found on other videos, and where there is nothing, nothing is."""

from dataclasses import replace

import pytest

from reelbench.tasks.lint.questions import ChoiceQuestions
from tests.tasks.lint.made_questions import made_set, seeded

pytest.importorskip("sklearn")

from reelbench.tasks.lint.words_alone import score_text_only_model


def score_of(questions):
    score = score_text_only_model("test", ChoiceQuestions.of(questions))
    assert score is not None
    return score


def with_a_word(questions, word, share, rng):
    """Return questions whose right option has a word, in a share of them; a wrong one otherwise."""
    planted = []
    for question in questions:
        texts = list(question.options)
        (right,) = question.right
        place = right if rng.random() < share else (right + 1) % len(texts)
        texts[place] = f"{word} {texts[place]}"
        planted.append(replace(question, options=tuple(texts)))
    return planted


def test_a_word_that_tells_the_answer_is_learnt():
    rng = seeded(1)
    questions = with_a_word(made_set(rng, 200), "really", 0.9, rng)
    score = score_of(questions)
    assert score.is_finding
    assert 0.8 < score.test.value < 0.95
    assert (score.rows, score.videos, score.test.chance) == (200, 40, 0.25)
    assert 0.15 < score.constant < 0.4
    interval = score.test.estimate.ci95
    assert interval is not None
    low, high = interval
    assert 0.6 < low < score.test.value < high < 1
    assert list(score.by_label) == [f"part: {number}" for number in range(7)]
    assert {part.rows for part in score.by_label.values()} == {28, 29}
    assert score_of(questions) == score


def test_a_letter_that_is_always_right_is_no_finding_of_words():
    questions = [replace(question, right=(0,)) for question in made_set(seeded(2), 150)]
    score = score_of(questions)
    assert (score.test.value, score.constant, score.is_finding) == (1.0, 1.0, False)


def test_few_questions_or_videos_are_not_tried():
    assert score_text_only_model("test", ChoiceQuestions.of(made_set(seeded(3), 99))) is None
    assert (
        score_text_only_model("test", ChoiceQuestions.of(made_set(seeded(3), 120, per_video=30)))
        is None
    )


def test_chance_is_learnt_as_chance():
    for run in range(2):
        questions = made_set(seeded(run), 300, by_video=run == 1)
        assert not score_of(questions).is_finding


@pytest.mark.slow
def test_chance_is_learnt_as_chance_in_forty_runs():
    findings = 0
    for run in range(40):
        rng = seeded(run)
        questions = made_set(
            rng,
            300,
            per_video=int(rng.integers(1, 40)),
            options=2 + run % 4,
            by_video=run % 2 == 1,
        )
        findings += score_of(questions).is_finding
    assert findings == 0
