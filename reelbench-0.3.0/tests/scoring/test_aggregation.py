"""From items to numbers: MovieCORE as its authors aggregate, and what every aggregation must keep."""

import math

import pytest

from reelbench import registry
from reelbench.judges.verdicts import Verdict
from reelbench.registry.records import Item, JudgeRecord
from reelbench.scoring import aggregation

DIMENSIONS = ("accuracy", "comprehensiveness", "depth", "evidence", "coherence")

# Labels, and the five scores of an item; None where the judge's reply could not be read.
ITEMS = [
    ("Plot", [5, 4, 3, 2, 1]),
    ("Plot, Mood", [0, 1, 2, 3, 4]),
    ("Mood,Theme, Plot", [3, None, 3, 5, 2]),
    ("Theme", [None, 2, 1, 4, None]),
    ("Plot, Plot", [4, 4, 0, 1, 5]),
    ("Mood", [2, 3, 5, 0, 3]),
    ("Theme,  Mood ", [1, 5, 4, 2, 0]),
]

# What calculate_scores of the authors' evaluate_moviecore.py (joslefaure/MovieCORE at 316f1ff)
# gives for them.
OVERALL = {
    "accuracy": 2.3636363636363638,
    "comprehensiveness": 3.2222222222222223,
    "depth": 2.5,
    "evidence": 2.75,
    "coherence": 2.5454545454545454,
    "average": 2.676262626262626,
}
BY_CLASS = {
    "Plot": [3.2, 3.25, 1.6, 2.4, 3.4, 2.7700000000000005],
    "Mood": [1.5, 3.0, 3.5, 2.5, 2.25, 2.55],
    "Theme": [2.0, 3.5, 2.6666666666666665, 3.6666666666666665, 1.0, 2.5666666666666664],
}

SPEC = registry.get("moviecore")


def items():
    for number, (labels, _) in enumerate(ITEMS):
        facets = {"classification": [label.strip() for label in labels.split(",")]}
        yield Item(
            id=f"q{number}",
            video=f"v{number % 3}",
            target={"text": "x"},
            prediction="x",
            facets=facets,
        )


def judged():
    verdicts = {}
    for number, (_, given) in enumerate(ITEMS):
        scores = {
            name: value for name, value in zip(DIMENSIONS, given, strict=True) if value is not None
        }
        lacking = {} if len(scores) == len(DIMENSIONS) else {"?": "judge_unparsable"}
        verdicts[f"q{number}"] = Verdict(f"q{number}", scores, lacking)
    return verdicts, JudgeRecord(requested="m", prompt="reelbench", prompt_sha256="0")


@pytest.fixture
def scored():
    return aggregation.score(SPEC, list(items()), overlap=False, judged=judged())


class TestMovieCORE:
    def test_overall_as_the_authors_do_it(self, scored):
        for name, value in OVERALL.items():
            assert math.isclose(
                scored.numbers.metrics[name].value, value, rel_tol=0, abs_tol=1e-9
            ), name

    def test_by_class_as_the_authors_do_it(self, scored):
        assert scored.numbers.breakdowns["classification"].keys() == BY_CLASS.keys()
        for label, values in BY_CLASS.items():
            found = scored.numbers.breakdowns["classification"][label]
            for name, value in zip((*DIMENSIONS, "average"), values, strict=True):
                assert math.isclose(found[name].value, value, rel_tol=0, abs_tol=1e-9), (
                    label,
                    name,
                )

    def test_per_question_beside_it(self, scored):
        # Worked by hand: the sum of each dimension's scores over the questions that have one.
        expected = [15 / 6, 19 / 6, 18 / 7, 17 / 7, 15 / 6]
        found = [scored.numbers.metrics[f"{name}_per_question"].value for name in DIMENSIONS]
        assert found == pytest.approx(expected, abs=1e-12)
        assert scored.numbers.metrics["average_per_question"].value == pytest.approx(
            sum(expected) / 5, abs=1e-12
        )

    def test_an_item_that_lacks_a_dimension_is_unscored_and_its_others_count(self, scored):
        assert scored.counts.unscored == {"judge_unparsable": 2}
        assert scored.counts.scored == 5
        assert scored.numbers.metrics["accuracy"].n == 6
        assert scored.numbers.metrics["depth"].n == 7


class TestWhatEveryAggregationKeeps:
    def test_the_order_of_items_changes_nothing(self, scored):
        metrics, breakdowns = aggregation.aggregate(SPEC, reversed(scored.samples), overlap=False)
        assert (metrics, breakdowns) == scored.numbers

    def test_the_samples_alone_give_every_number_again(self, scored):
        samples = [
            type(sample).model_validate_json(sample.model_dump_json()) for sample in scored.samples
        ]
        assert aggregation.aggregate(SPEC, samples, overlap=False) == scored.numbers

    def test_an_interval_resamples_videos_and_not_questions(self):
        spec = registry.get("rextime")

        def interval(video_of):
            questions = [
                Item(
                    id=f"q{n:03}",
                    video=video_of(n),
                    target={"answer": "A"},
                    parsed={"answer": "A" if n < 50 else "B"},
                )
                for n in range(100)
            ]
            return aggregation.score(spec, questions).numbers.metrics["accuracy"].ci95

        low, high = interval(lambda n: f"v{n}")
        wide_low, wide_high = interval(
            lambda n: f"v{n // 5}"
        )  # twenty videos, each all right or all wrong
        # 100 independent halves: 50 ± 1.96 · 100 · sqrt(0.25 / 100), that is 40.2 to 59.8
        assert low == pytest.approx(40.2, abs=2)
        assert high == pytest.approx(59.8, abs=2)
        # 20 halves of variance 20/19 · 1/4: Wilson's interval of 19 observations with t(19) =
        # 2.0930.
        assert (wide_low, wide_high) == (pytest.approx(28.4, abs=1), pytest.approx(71.6, abs=1))

    def test_one_video_has_no_interval(self):
        spec = registry.get("rextime")
        one = [
            Item(id=f"q{n}", video="v", target={"answer": "A"}, parsed={"answer": "A"})
            for n in range(3)
        ]
        assert aggregation.score(spec, one).numbers.metrics["accuracy"].ci95 is None

    @pytest.mark.parametrize(("videos", "given"), [(9, False), (10, True)])
    def test_few_videos_have_no_interval(self, videos, given):
        spec = registry.get("rextime")
        items = [
            Item(id=f"q{n}", video=f"v{n}", target={"answer": "A"}, parsed={"answer": "AB"[n % 2]})
            for n in range(videos)
        ]
        metrics = aggregation.score(spec, items).numbers.metrics
        assert (metrics["accuracy"].ci95 is not None) is given

    @pytest.mark.parametrize(("videos", "given"), [(4, False), (5, True)])
    def test_a_mean_over_labels_has_an_interval_from_five_videos_of_each(self, videos, given):
        spec = registry.get("curve")
        samples = [
            Item(
                id=f"{label}{n}",
                video=f"{label}{n}",
                target={"text": "t"},
                facets={"locale": [label]},
            ).sample(None, {"score": n % 3})
            for label in ("ja-JP", "ko-KR", "th-TH")
            for n in range(videos)
        ]
        metrics, _ = aggregation.aggregate(spec, samples, overlap=False)
        assert metrics["score"].ci95 is not None
        assert (metrics["macro"].ci95 is not None) is given
        older, _ = aggregation.aggregate(spec, samples, overlap=False, interval="percentile")
        assert older["macro"].ci95 is not None
        assert older["macro"].value == metrics["macro"].value

    def test_what_the_model_did_not_answer_is_neither_right_nor_wrong(self):
        spec = registry.get("rextime")
        answered = Item(id="a", video="v", target={"answer": "A"}, parsed={"answer": "A"})
        failed = [
            Item(id=reason, video="v", target={"answer": "A"}, reason=reason)
            for reason in ("model_failed", "media_missing", "prediction_missing")
        ]
        scored = aggregation.score(spec, [answered, *failed])
        accuracy = scored.numbers.metrics["accuracy"]
        assert accuracy == accuracy.model_copy(update={"value": 100.0, "n": 1})
        assert scored.counts.items == 4
        assert scored.counts.unscored == {
            "media_missing": 1,
            "model_failed": 1,
            "prediction_missing": 1,
        }


def test_a_label_of_one_video_alone_has_no_interval_and_its_neighbours_have():
    spec = registry.get("dramaqa_cogme")
    asked = [(f"v{n}", level, "AB"[n % 2]) for level in "13" for n in range(12)] + [
        ("v0", "2", "A"),
        ("v0", "2", "B"),
    ]
    made = [
        Item(
            id=f"q{n}",
            video=video,
            target={"answer": "A"},
            prediction=letter,
            parsed={"answer": letter},
            facets={"difficulty": [level]},
        )
        for n, (video, level, letter) in enumerate(asked)
    ]
    levels = aggregation.score(spec, made).numbers.breakdowns["difficulty"]
    assert [levels[level]["accuracy"].value for level in "123"] == [50, 50, 50]
    assert [levels[level]["accuracy"].ci95 is None for level in "123"] == [False, True, False]


def test_what_was_not_answered_has_no_score_at_all():
    spec = registry.get("rextime")
    item = Item(id="q", video="v", target={"answer": "A", "span": [1, 2]}, reason="model_failed")
    sample = aggregation.to_sample(spec, item)
    assert (sample.state, sample.reason, sample.scores) == ("unscored", "model_failed", {})
    assert aggregation.item_columns(spec, item) == {}
