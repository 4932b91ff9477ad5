"""The rules of a hidden test: phases, quotas, and when a total takes the place of another."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from reelbench.base.errors import InputError
from reelbench.leaderboard.hidden_rules import HiddenRules, quota_after, takes_the_row
from reelbench.registry import discovery
from reelbench.registry.records import MetricValue

NOW = datetime(2026, 12, 15, 12, tzinfo=UTC)
PHASES = [
    {"name": "validation", "split": "val", "opens": "2026-12-01", "closes": "2026-12-10"},
    {"name": "test", "split": "test", "opens": "2026-12-10", "closes": "2026-12-14", "late": True},
    {"name": "final", "split": "test", "opens": "2027-01-01T09:00:00+01:00"},
]


@pytest.mark.parametrize(
    ("split", "at", "phase"),
    [
        ("val", "2026-12-05", "validation"),
        ("test", "2026-12-13", "test"),
        ("test", "2026-12-15", "test"),  # late
        ("test", "2027-01-01T08:00:00+00:00", "final"),
    ],
)
def test_a_file_is_of_the_phase_that_takes_it(split, at, phase):
    rules = HiddenRules.model_validate({"phases": PHASES})
    now = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert rules.phase_at(split, now).name == phase


@pytest.mark.parametrize(
    ("split", "at", "says"),
    [
        ("val", "2026-12-10", "val is closed"),
        ("val", "2026-11-30", "val opens on 2026-12-01 00:00 UTC"),
        ("test", "2026-12-09", "test opens on 2026-12-10 00:00 UTC"),
        ("train", "2026-12-13", "no phase of this test is on train"),
    ],
)
def test_a_file_that_no_phase_takes_is_refused_with_the_day(split, at, says):
    rules = HiddenRules.model_validate({"phases": PHASES})
    with pytest.raises(InputError, match=says):
        rules.phase_at(split, datetime.fromisoformat(at).replace(tzinfo=UTC))


def test_two_phases_of_one_name_are_refused():
    phases = [{"name": "final", "split": split} for split in ("val", "test")]
    with pytest.raises(ValidationError, match="two phases have the name 'final'"):
        HiddenRules.model_validate({"phases": phases})


def test_without_phases_a_split_is_open_and_a_tenth_of_the_questions_may_be_scored():
    assert HiddenRules().phase_at("test", NOW).name == "test"
    assert [HiddenRules().cap(questions) for questions in (5, 300, 1009)] == [1, 30, 100]
    assert HiddenRules(files_per_month=7).cap(300) == 7


def test_a_quota_is_free_again_when_the_oldest_file_of_its_span_is_older():
    week = timedelta(days=7)
    times = [NOW - timedelta(days=days) for days in (8, 6, 2)]
    assert quota_after(times, 3, week, NOW).remaining == 1
    spent = quota_after(times, 2, week, NOW)
    assert (spent.remaining, spent.next_at) == (0, NOW + timedelta(days=1))
    assert quota_after(times, 1, week, NOW).next_at == NOW + timedelta(days=5)


@pytest.mark.parametrize(
    ("shown", "total", "takes"),
    [
        (None, 1.0, True),
        # 300 questions: the error of 60 % is 2.83 points, of 62.8 % it is 2.79.
        (60.0, 62.8, False),
        (60.0, 62.9, True),
        (60.0, 55.0, False),
        # Of the larger error's total: 0 has none, 0.3 has 0.32.
        (0.0, 0.3, False),
        (0.0, 0.4, True),
    ],
)
def test_a_total_takes_the_row_when_it_is_better_by_a_standard_error(shown, total, takes):
    metric = discovery.find("minerva").primary
    row = None if shown is None else MetricValue(value=shown, n=300)
    assert takes_the_row(metric, MetricValue(value=total, n=300), row) is takes
