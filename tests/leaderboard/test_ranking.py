"""Ranks in a group and overall, against hand work."""

import math
from dataclasses import replace

import pytest

from reelbench.leaderboard import board, entries, ranking, store
from reelbench.leaderboard.entries import Entry, Group
from reelbench.registry import discovery
from reelbench.registry.records import MetricValue

REXTIME = Group("rextime", 1, "val")
CURVE = Group("curve", 1, "test", None, "gemini-2.5-flash", "official")
DRAMA = Group("dramaqa_cogme", 1, "val")
PRIMARY = {"rextime": "accuracy_at_iou_0.5", "curve": "score", "dramaqa_cogme": "accuracy"}


def entry(model, value, *, group=REXTIME, kind="published", ci95=None, **fields):
    metrics = {PRIMARY[group.benchmark]: MetricValue(value=value, ci95=ci95, n=10)} if value is not None else {}
    values = {
        "key": f"{model}-{group.id}",
        "model": model,
        "revision": None,
        "kind": kind,
        "setting": "zero-shot",
        "group": group,
        "frames": "unknown",
        "metrics": metrics,
        "breakdowns": {},
        "items": None,
        "scored": None,
        "date": None,
    }
    return Entry(**(values | fields))


def ranks_of(rows):
    found = ranking.rank_group(discovery.get("rextime"), rows)
    return {row.model: found.get(row.key) for row in rows}


def test_published_rows_are_ranked_by_what_is_printed_and_equal_ones_share():
    rows = [entry("a", 20.0), entry("b", 30.0), entry("c", 20.0), entry("d", 10.0)]
    assert ranks_of(rows) == {"b": 1, "a": 2, "c": 2, "d": 4}


def test_floors_humans_partial_runs_and_rows_without_the_metric_are_not_ranked():
    rows = [
        entry("floor", 90.0, kind="baseline"),
        entry("human", 99.0, kind="human"),
        entry("partial", 80.0, kind="run", partial="--limit 8"),
        entry("windows only", None),
        entry("a", 20.0),
    ]
    assert ranks_of(rows) == {"floor": None, "human": None, "partial": None, "windows only": None, "a": 1}


@pytest.mark.parametrize(("behind", "ranked"), [(5, False), (6, True), (12, True)])
def test_a_value_with_less_than_half_of_the_items_behind_it_is_not_ranked(behind, ranked):
    row = entry("a", 20.0, kind="run", items=12)
    metrics = {name: MetricValue(value=20.0, n=behind) for name in row.metrics}
    assert (ranks_of([replace(row, metrics=metrics)])["a"] is not None) is ranked


def test_runs_that_a_paired_bootstrap_cannot_tell_apart_share_a_rank(rextime_run, tmp_path):
    for name, right in (("best", 12), ("close", 11), ("some", 3), ("far", 1)):
        store.add(rextime_run(name, model=f"org/{name}", right=right), tmp_path / "store")
    made = board.make(tmp_path / "store", published=False)
    # Four videos of three questions. `close` lacks one. `some` lacks all but one video's: 0, 1, 1, 1 has t = 3 with 3
    # degrees of freedom, p = .058. `far` has one question: 2/3, 1, 1, 1 has t = 11, p = .002.
    ranks = {row.model: made.ranks[row.key] for row in made.entries}
    assert ranks == {"org/best": 1, "org/close": 1, "org/some": 1, "org/far": 4}


def test_a_run_and_a_published_number_share_a_rank_where_it_lies_in_the_runs_interval():
    rows = [entry("p", 52.0), entry("r", 50.0, ci95=(45.0, 55.0)), entry("q", 40.0)]
    assert ranks_of(rows) == {"p": 1, "r": 1, "q": 3}


def overall(*rows):
    made = board.of(discovery.specs(), rows)
    return {model.key[0]: model for model in made.overall}


def test_the_overall_score_is_the_mean_win_rate_over_the_benchmarks_a_model_was_run_on():
    found = overall(
        entry("a", 30.0),
        entry("b", 20.0),
        entry("c", 10.0),
        entry("a", 50.0, group=CURVE),
        entry("b", 60.0, group=CURVE),
    )
    # rextime: a beats 2 of 2, b 1 of 2, c 0 of 2; curve: b beats 1 of 1, a none.
    assert {name: model.win_rate for name, model in found.items()} == {"a": 0.5, "b": 0.75, "c": 0.0}
    assert {name: model.covered for name, model in found.items()} == {"a": 2, "b": 2, "c": 1}
    assert {name: model.rank for name, model in found.items()} == {"b": 1, "a": 2, "c": 3}


def test_a_missing_benchmark_is_neither_a_zero_nor_enough_for_a_rank():
    rows = [
        entry(name, value - i, group=group)
        for i, group in enumerate((REXTIME, CURVE, DRAMA))
        for name, value in (("a", 40.0), ("b", 30.0))
    ]
    found = overall(*rows, entry("only one", 90.0))
    assert found["only one"].win_rate == 1.0
    assert (found["only one"].rank, found["only one"].covered, found["only one"].of) == (None, 1, 3)
    assert found["a"].rank == 1
    assert math.isclose(found["a"].win_rate, (0.5 + 1 + 1) / 3)


def test_a_shared_rank_counts_half():
    found = overall(entry("a", 30.0), entry("b", 30.0), entry("c", 10.0))
    assert {name: model.win_rate for name, model in found.items()} == {"a": 0.75, "b": 0.75, "c": 0.0}
    assert [found[name].rank for name in "abc"] == [1, 1, 3]


def test_units_never_mix_a_models_scale_does_not_matter():
    one = overall(entry("a", 30.0), entry("b", 20.0), entry("a", 1.0, group=CURVE), entry("b", 2.0, group=CURVE))
    assert one["a"].win_rate == one["b"].win_rate == 0.5


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (Group("curve", 1, "test", None, "j", "official"), Group("curve", 1, "test", None, "j", "official"), True),
        (Group("curve", 1, "test", None, "j", "official"), Group("curve", 1, "test", None, "k", "official"), False),
        (Group("curve", 1, "test", None, "j", "official"), Group("curve", 1, "test", None, "j", "own@1"), False),
        (Group("curve", 1, "test"), Group("curve", 2, "test"), False),
        (Group("rextime", 1, "val"), Group("rextime", 1, "test"), False),
    ],
)
def test_split_judge_prompts_and_version_make_columns(left, right, same):
    assert (left == right) is same
    assert (left.id == right.id) is same


def test_the_mini_data_counts_overall_only_where_there_is_nothing_else():
    mini = Group("rextime", 1, "mini")
    alone = board.of(discovery.specs(), [entry("a", 30.0, group=mini), entry("b", 20.0, group=mini)])
    assert alone.main == {"rextime": mini}
    beside = board.of(
        discovery.specs(),
        [entry("a", 30.0, group=mini), entry("b", 20.0, group=mini), entry("c", 9.0, group=CURVE)],
    )
    assert beside.main == {"curve": CURVE}


@pytest.mark.parametrize(
    ("frames", "count"),
    [("uniform:32", 32), ("256", 256), ("native (8)", 8), ("none", 0), ("native", None), ("fps:1,max=64", None)],
)
def test_frame_counts(frames, count):
    assert entries.frame_count(frames) == count
