"""The statistical rules on sets without a fault, and on sets with one."""

import pytest

from reelbench.tasks.lint.linter import lint
from tests.tasks.lint.made_questions import made_set, seeded


def alarms(questions):
    """Return the rules that find something."""
    return [result.rule.name for result in lint(questions) if result.findings]


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
