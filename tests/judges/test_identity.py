"""Who judged: ids that were returned beside the one that was asked for."""

import pytest

from reelbench.judges.identity import (
    judge_as_answered,
    judges_under_several_ids,
    other_than_requested,
    returned_ids,
)
from reelbench.registry.model_ids import same_model
from reelbench.registry.records import JudgeRecord


def record(requested, panel=None, **returned):
    ids = {name.replace("_", "-"): count for name, count in returned.items()}
    return JudgeRecord.model_construct(requested=requested, returned=ids, panel=panel)


@pytest.mark.parametrize(
    ("requested", "returned", "same"),
    [
        ("gpt-4o-mini", "gpt-4o-mini", True),
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4", "gpt-4-0613", True),
        ("claude-sonnet-4", "claude-sonnet-4-20250514", True),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2025-01-01", False),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gemini-2.5-flash", "gemini-3.5-flash-lite", False),
        ("gemini-2.5-flash", "gemini-2.5-flash-lite", False),
        ("gpt-4", "gpt-4-9999", False),
        ("gpt-4", "gpt-4-2024-13-01", False),
    ],
)
def test_a_date_behind_a_name_is_no_other_model(requested, returned, same):
    assert same_model(requested, returned) is same


def test_one_judge_is_named_as_it_answered():
    assert judge_as_answered(record("judge")) == "judge (as requested, not stated)"
    assert judge_as_answered(record("judge", judge=3)) == "judge"
    dated = record("gpt-4o", **{"gpt-4o": 1, "gpt-4o-2024-08-06": 9})
    assert (judge_as_answered(dated), judges_under_several_ids(dated)) == ("gpt-4o-2024-08-06", [])
    assert other_than_requested(dated) == []


def test_one_judge_under_several_ids_is_told():
    rerouted = record("gemini-2.5-flash", **{"gemini-2.5-flash": 60, "gemini-3.5-flash-lite": 40})
    assert judge_as_answered(rerouted) == "gemini-2.5-flash + gemini-3.5-flash-lite"
    assert judges_under_several_ids(rerouted) == ["gemini-2.5-flash"]
    assert other_than_requested(rerouted) == [("gemini-2.5-flash", "gemini-3.5-flash-lite")]
    two_dates = record("gpt-4o", **{"gpt-4o-2024-05-13": 1, "gpt-4o-2024-08-06": 9})
    assert returned_ids(two_dates) == ["gpt-4o-2024-05-13", "gpt-4o-2024-08-06"]
    assert judges_under_several_ids(two_dates) == ["gpt-4o"]


def test_each_judge_of_a_panel_counts_by_itself():
    panel = record(
        "a,b", [record("a", a=5), record("b", **{"b-2025-01-01": 5})], a=5, **{"b-2025-01-01": 5}
    )
    assert judge_as_answered(panel) == "a, b-2025-01-01"
    assert (judges_under_several_ids(panel), other_than_requested(panel)) == ([], [])
    odd = record("a,b", [record("a", a=4, c=1), record("b")])
    assert judge_as_answered(odd) == "a + c, b (as requested, not stated)"
    assert judges_under_several_ids(odd) == ["a"]
