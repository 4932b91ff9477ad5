"""The statistical rules on sets without a fault, and on sets with one."""

from dataclasses import replace

import pytest

from reelbench.tasks.lint.linter import lint
from reelbench.tasks.lint.rules import RULES
from tests.tasks.lint.made_questions import made_set, seeded, with_right_at


def alarms(questions, rules=RULES):
    """Return the rules that find something."""
    return [result.rule.name for result in lint(questions, rules) if result.findings]


def null_runs(runs, rows):
    """Return the alarms on sets whose right options are drawn for each row, and for each video."""
    raised = []
    for run in range(runs):
        rng = seeded(run)
        questions = made_set(
            rng,
            rows,
            per_video=int(rng.integers(1, 60)),
            options=2 + run % 4,
            by_video=run % 2 == 1,
        )
        raised += alarms(questions)
    return raised


def test_chance_raises_no_alarm():
    assert null_runs(20, 300) == []


@pytest.mark.slow
def test_chance_raises_no_alarm_in_five_hundred_runs():
    assert len(null_runs(500, 300)) <= 2


def longest_place(question):
    lengths = [len(option) for option in question.options]
    return lengths.index(max(lengths))


def place_with_stop(question):
    """Return the place of the only option with a full stop, if there is one."""
    indices = [place for place, text in enumerate(question.options) if text.endswith(".")]
    return indices[0] if len(indices) == 1 else None


def with_letters(questions, rng):
    return with_right_at(questions, [0] * len(questions), 0.10, rng)


def with_longest(questions, rng):
    return with_right_at(questions, [longest_place(row) for row in questions], 0.10, rng)


def with_odd_one(questions, rng):
    return with_right_at(questions, [place_with_stop(row) for row in questions], 0.20, rng)


def with_one_answer_in_a_label(questions, rng):
    planted = []
    for question in questions:
        if question.labels == ("part: 3",):
            texts = list(question.options)
            place = int(rng.integers(4))
            texts[place] = "Nobody can tell"
            planted.append(replace(question, options=tuple(texts), right=(place,)))
        else:
            planted.append(question)
    return planted


PLANTED = {
    "letters": with_letters,
    "longest_option": with_longest,
    "odd_option": with_odd_one,
    "constant_answer": with_one_answer_in_a_label,
}
STATISTICAL = [rule for rule in RULES if rule.find_shortcuts is not None]


def share_found(name, draws):
    """Return the share of planted faults of twice the threshold, in 1,000 rows, that are told."""
    found = 0
    texts = made_set(seeded(0), 1000)
    for draw in range(draws):
        rng = seeded(draw)
        indices = rng.integers(4, size=len(texts))
        drawn = [replace(row, right=(int(at),)) for row, at in zip(texts, indices, strict=True)]
        found += name in alarms(PLANTED[name](drawn, rng), STATISTICAL)
    return found / draws


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(name):
    assert share_found(name, 2) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found_in_95_of_100_draws(name):
    assert share_found(name, 200) >= 0.95


@pytest.mark.slow
def test_twenty_clean_sets_have_no_finding():
    for number in range(20):
        questions = made_set(seeded(1000 + number), 1000 + 200 * number, per_video=1 + number)
        assert alarms(questions) == []
