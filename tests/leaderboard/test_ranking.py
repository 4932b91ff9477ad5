"""Ranks in a group, against hand work."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from reelbench.leaderboard import board, entries, ranking, store
from reelbench.leaderboard.entries import RankingGroup
from reelbench.registry import discovery
from reelbench.registry.records import JudgeRecord, MetricValue
from tests.leaderboard.rows import MOVIECORE, entry


def ranks_of(rows):
    found, _ = ranking.rank_group(discovery.get("rextime"), rows)
    return {row.model: found.get(row.key) for row in rows}


def test_published_rows_are_ranked_by_what_is_printed_and_equal_ones_share():
    rows = [entry("a", 20.0), entry("b", 30.0), entry("c", 20.0), entry("d", 10.0)]
    assert ranks_of(rows) == {"b": 1, "a": 2, "c": 2, "d": 4}


def test_floors_humans_partial_runs_and_rows_without_the_metric_are_not_ranked():
    rows = [
        entry("floor", 90.0, kind="baseline"),
        entry("human", 99.0, kind="human"),
        entry("partial", 80.0, kind="run", unranked="--limit 8"),
        entry("windows only", None),
        entry("a", 20.0),
    ]
    assert ranks_of(rows) == {
        "floor": None,
        "human": None,
        "partial": None,
        "windows only": None,
        "a": 1,
    }


@pytest.mark.parametrize(("behind", "ranked"), [(5, False), (6, True), (12, True)])
def test_a_value_with_less_than_half_of_the_items_behind_it_is_not_ranked(behind, ranked):
    row = entry("a", 20.0, kind="run", items=12)
    metrics = {name: MetricValue(value=20.0, n=behind) for name in row.metrics}
    assert (ranks_of([replace(row, metrics=metrics)])["a"] is not None) is ranked


def test_runs_are_placed_by_value_and_few_videos_tell_none_apart(rextime_run, tmp_path):
    for name, right in (("best", 12), ("close", 11), ("some", 3), ("far", 1)):
        store.add(rextime_run(name, model=f"org/{name}", right=right), tmp_path / "store")
    made = board.make(tmp_path / "store", published=False)
    ranks = {row.model: made.ranks[row.key] for row in made.entries}
    assert ranks == {"org/best": 1, "org/close": 2, "org/some": 3, "org/far": 4}
    [noise] = made.noise.values()
    assert set(noise.ranges.values()) == {(1, 4)}  # of four videos


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (
            RankingGroup("curve", 1, "test", None, "j", "official"),
            RankingGroup("curve", 1, "test", None, "j", "official"),
            True,
        ),
        (
            RankingGroup("curve", 1, "test", None, "j", "official"),
            RankingGroup("curve", 1, "test", None, "k", "official"),
            False,
        ),
        (
            RankingGroup("curve", 1, "test", None, "j", "official"),
            RankingGroup("curve", 1, "test", None, "j", "own@1"),
            False,
        ),
        (RankingGroup("curve", 1, "test"), RankingGroup("curve", 2, "test"), False),
        (RankingGroup("rextime", 1, "val"), RankingGroup("rextime", 1, "test"), False),
        (
            RankingGroup("rextime", 1, "val"),
            RankingGroup("rextime", 1, "val", protocol="label web search"),
            False,
        ),
        (
            RankingGroup("rextime", 1, "val"),
            RankingGroup("rextime", 1, "val", setting="fine-tuned"),
            False,
        ),
    ],
)
def test_split_judge_prompts_version_and_way_of_asking_make_columns(left, right, same):
    assert (left == right) is same
    assert (left.id == right.id) is same


@pytest.mark.parametrize(
    ("frames", "count"),
    [
        ("uniform:32", 32),
        ("256", 256),
        ("native (8)", 8),
        ("none", 0),
        ("native", None),
        ("fps:1,max=64", None),
    ],
)
def test_frame_counts(frames, count):
    assert entries.frame_count(frames) == count


def test_a_panels_judges_give_a_range_of_ranks():
    """Three runs, three judges: fair says a, b, c; mild says b, a, c; strict gives b and c the same, a the most."""

    def run(model, **by_judge):
        metrics = {
            name: {"average": {"value": number, "ci95": None, "n": 10}}
            for name, number in by_judge.items()
        }
        panel = [
            JudgeRecord(requested=name, prompt="official", prompt_sha256="0" * 64, metrics=of_judge)
            for name, of_judge in metrics.items()
        ]
        judge = JudgeRecord(
            requested="fair,mild,strict", prompt="official", prompt_sha256="0" * 64, panel=panel
        )
        stored = SimpleNamespace(result=SimpleNamespace(judge=judge))
        return entry(model, 3.0, group=MOVIECORE, kind="run", stored=stored)

    rows = [
        run("a", fair=4.0, mild=4.0, strict=2.0),
        run("b", fair=3.0, mild=5.0, strict=1.0),
        run("c", fair=2.0, mild=3.0, strict=1.0),
        entry("published", 9.0, group=MOVIECORE),
    ]
    found = ranking.over_judges(discovery.get("moviecore"), rows)
    assert {row.model: found.get(row.key) for row in rows} == {
        "a": (1, 2),
        "b": (1, 2),
        "c": (2, 3),
        "published": None,
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            {"judge": "Qwen/Qwen3-8B", "prompts": "reelbench@1"},
            {"judge": "Qwen", "prompts": "Qwen3-8B/reelbench@1"},
        ),
        ({"subset": "locale ja-JP", "judge": "gpt"}, {"judge": "locale ja-JP/gpt"}),
        ({"protocol": "label x", "data": "own"}, {"protocol": "label x/data own"}),
        ({"judge": "a/b/c", "prompts": "p"}, {"judge": "a/b", "prompts": "c/p"}),
    ],
)
def test_two_tables_never_have_one_address(one, other):
    """Whoever names his judge, prompts or label by another's with a slash in it."""
    assert (
        RankingGroup("curve", 1, "test", **one).id != RankingGroup("curve", 1, "test", **other).id
    )
    usual = {"judge": "Qwen/Qwen3-8B", "prompts": "reelbench@1"}
    assert RankingGroup("curve", 1, "test", **usual).id == "curve/v1/test/Qwen/Qwen3-8B/reelbench@1"


def test_the_rules_are_a_page_of_headings_with_the_numbers_that_hold():
    text = " ".join(ranking.rules().split())
    assert len(text.replace("## ", "").split()) <= 480  # the page adds examples
    assert text.startswith("## What a cell says A dash is no result")
    assert "Under 10 videos there is neither" in text
    assert "Up to 2 % don't bar a run" in text
    assert "{" not in text
