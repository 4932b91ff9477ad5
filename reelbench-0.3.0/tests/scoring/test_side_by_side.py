"""Two results side by side: what is right, what differs, item by item; the expected values are worked out by hand."""

import pytest

from reelbench.registry import discovery
from reelbench.registry.records import (
    BenchmarkRecord,
    Counts,
    JudgeRecord,
    JudgeReply,
    MediaRecord,
    MetricValue,
    ModelRecord,
    Provenance,
    Result,
    Sample,
    SettingsRecord,
    SourceRecord,
    StatisticsRecord,
)
from reelbench.scoring import aggregation, side_by_side

DIMENSIONS = ("accuracy", "comprehensiveness", "depth", "evidence", "coherence")


def sample(name, scores, **fields):
    state = "scored" if scores else "unscored"
    return Sample(
        id=name, video="v", prediction="x", target={}, state=state, scores=scores, **fields
    )


@pytest.mark.parametrize(
    ("benchmark", "scores", "score", "right"),
    [
        # MovieCORE: the mean of five dimensions, 0 to 5; from 4 on it is right.
        ("moviecore", dict.fromkeys(DIMENSIONS, 4.0), 4.0, True),
        ("moviecore", dict(zip(DIMENSIONS, (5, 4, 4, 3, 3), strict=True)), 3.8, False),
        # CURVE: 0, 1 or 2 of 2.
        ("curve", {"score": 2.0}, 100.0, True),
        ("curve", {"score": 1.0}, 50.0, False),
        ("dramaqa_cogme", {"correct": 1.0}, 100.0, True),
        # ReXTime ranks by the option with a span that fits: the option alone is not enough.
        ("rextime", {"correct": 1.0, "iou": 0.4, "correct_at_iou_0.5": 0.0}, 0.0, False),
        ("rextime", {}, None, None),
    ],
)
def test_an_answer_is_right_from_four_fifths_of_the_primary_metric_on(
    benchmark, scores, score, right
):
    spec = discovery.get(benchmark)
    facets = {"classification": ["Theme"]} if benchmark == "moviecore" else {}
    given = aggregation.score_of(spec, sample("a", scores, facets=facets))
    assert given == pytest.approx(score)
    assert spec.primary.is_right(given) is right


def replies(*scores, criterion="score"):
    return [
        JudgeReply(
            criterion=criterion, vote=vote, raw=str(score), score=score, key=f"{criterion}{vote}"
        )
        for vote, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("given", "disagree"),
    [
        (replies(2, 2, 1), True),
        (replies(2, 2, 2), False),
        # What a judge says of two criteria is not compared with each other; a reply without a score
        # says nothing.
        (replies(3, criterion="depth") + replies(4, criterion="evidence"), False),
        (replies(2, None, 2), False),
        ([], False),
    ],
)
def test_judges_disagree_where_they_give_one_criterion_different_scores(given, disagree):
    assert (
        side_by_side.judges_disagree(sample("a", {"score": 1.0}, judge_replies=given)) is disagree
    )


def result(*, model="org/model", **settings):
    source = SourceRecord(kind="mini", location="rextime mini", fingerprint="0" * 64)
    return Result(
        benchmark=BenchmarkRecord(
            id="rextime", version=1, split="mini", source=source, scoring_sha256="0" * 64
        ),
        model=ModelRecord(id=model, args={"pretrained": model, "max_pixels": 100}),
        settings=SettingsRecord(**settings),
        judge=None,
        metrics={},
        breakdowns={},
        counts=Counts(items=0, scored=0),
        software={"python": "3.11"},
        provenance=Provenance(kind="run", date="2026-01-01T00:00:00+00:00"),
        answers=1,
        media=MediaRecord(sha256="0" * 64, of=0, videos=[]),
        statistics=StatisticsRecord(interval="wilson"),
    )


def test_what_tells_two_runs_of_one_model_apart():
    a = result(frames="uniform:8", generation={"temperature": 0}, frames_given={"8": 12})
    b = result(
        frames="uniform:32", generation={"temperature": 0.7, "top_p": 0.9}, frames_given={"32": 12}
    )
    assert side_by_side.settings_apart([a, b]) == {
        "settings.frames": ["uniform:8", "uniform:32"],
        "settings.generation.temperature": [0, 0.7],
        "settings.generation.top_p": [None, 0.9],
    }
    assert side_by_side.settings_apart([a, a]) == {}


def test_judges_are_told_apart_by_who_answered_and_data_by_whose_it_is():
    def judged(requested, returned):
        record = JudgeRecord(
            requested=requested, returned={returned: 3}, prompt="reelbench", prompt_sha256="0" * 64
        )
        return result(frames="uniform:8").model_copy(update={"judge": record})

    assert side_by_side.settings_apart([judged("gpt", "gpt-1"), judged("proxy", "gpt-1")]) == {}
    assert side_by_side.settings_apart([judged("gpt", "gpt-1"), judged("gpt", "gpt-2")]) == {
        "judge": ["gpt-1", "gpt-2"]
    }
    # What came of judging is no setting: calls, costs, a panel's agreement, its members' numbers.
    one = judged("gpt", "gpt-1")
    came = {
        "calls": 9,
        "cost_usd": 0.5,
        "agreement": {"score": 0.8},
        "metrics": {"x": MetricValue(value=1.0, n=1)},
    }
    other = one.model_copy(update={"judge": one.judge.model_copy(update=came)})
    assert side_by_side.settings_apart([one, other]) == {}
    owners, own = (
        result(frames="uniform:8").model_copy(update={"data": data}) for data in ("owners", "own")
    )
    assert side_by_side.settings_apart([owners, own]) == {"data": ["owners", "own"]}


def test_sound_that_is_not_stated_follows_from_the_frames():
    assert (
        side_by_side.settings_apart(
            [result(frames="uniform:8"), result(frames="uniform:8", audio="dropped")]
        )
        == {}
    )


def test_items_side_by_side():
    spec = discovery.get("dramaqa_cogme")
    a = [sample("1", {"correct": 1.0}), sample("2", {}, reason="media_missing")]
    b = [sample("1", {"correct": 0.0}), sample("3", {"correct": 1.0})]
    first, second, third = side_by_side.items(spec, a, b)
    assert (first["id"], first["a"]["right"], first["b"]["right"]) == ("1", True, False)
    assert (first["a"]["scores"], first["b"]["scores"]) == ({"correct": 1.0}, {"correct": 0.0})
    assert first["difference"] == {"correct": 1.0}
    assert (second["a"]["state"], second["a"]["reason"], second["b"], second["difference"]) == (
        "unscored",
        "media_missing",
        None,
        {},
    )
    assert (third["id"], third["a"], third["b"]["score"]) == ("3", None, 100.0)
