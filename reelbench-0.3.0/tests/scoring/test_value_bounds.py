"""A run with unscored items is ranked by what it has at least, so that leaving answers out never pays."""

import random
from itertools import chain, combinations

import pytest

from reelbench.registry import discovery
from reelbench.registry.records import Sample
from reelbench.scoring import aggregation
from reelbench.scoring.value_bounds import few_left_out, is_few, value_bounds, with_unscored_at

SPECS = list(discovery.specs().values())
COLUMNS = {
    "curve": {"score": (0, 1, 2), "exact_match": (0, 1)},
    "dramaqa_cogme": {"correct": (0, 1)},
    "minerva": {"correct": (0, 1)},
    "moviechat": {"accuracy": (0, 1, 2, 3, 4, 5)},
    "moviecore": dict.fromkeys(
        ("accuracy", "comprehensiveness", "depth", "evidence", "coherence"), (0, 1, 2, 3, 4, 5)
    ),
    "rextime": {"correct": (0, 1), "iou": (0, 0.3, 1), "correct_at_iou_0.5": (0, 1)},
    "timelens": {"iou": (0, 0.3, 1), "recall_at_0.5": (0, 1)},
    "video_holmes": {"correct": (0, 1)},
}


def sample(name, scores, reason=None, *, video=None, facets=None):
    state = "unscored" if reason else "scored"
    return Sample(
        id=name, video=video or name, prediction="x", target={}, state=state, reason=reason, scores=scores,
        facets=facets or {},
    )  # fmt: skip


def some_samples(spec, number=9):
    rng = random.Random(spec.id)
    for n in range(number):
        facets = {
            "classification": rng.sample(["Theme", "Plot", "Emotion"], rng.randint(0, 3)),
            "locale": [rng.choice(["de-DE", "en-GB", "ta-IN"])],
            "difficulty": [rng.choice("1234")],
        }
        scores = {name: float(rng.choice(steps)) for name, steps in COLUMNS[spec.id].items()}
        yield sample(f"q{n}", scores, video=f"v{n % 4}", facets=facets)


def metrics_of_items():
    for spec in SPECS:
        for metric in spec.metrics:
            if (
                metric.aggregate.how != "corpus"
                and value_bounds(spec, metric, list(some_samples(spec))) is not None
            ):
                yield pytest.param(spec, metric, id=f"{spec.id}.{metric.name}")


@pytest.mark.parametrize(("spec", "metric"), list(metrics_of_items()))
def test_leaving_out_never_pays(spec, metric):
    samples = list(some_samples(spec))
    whole = aggregation.metric_value(spec, metric, samples)
    everyone = range(len(samples))
    subsets = chain.from_iterable(combinations(everyone, size) for size in range(len(samples)))
    for left_out in subsets:
        some = [
            each.model_copy(update={"scores": {}, "state": "unscored", "reason": "refused"})
            if n in left_out
            else each
            for n, each in enumerate(samples)
        ]
        at_least, at_most = (
            aggregation.metric_value(spec, metric, with_unscored_at(end, spec, metric, some))
            for end in ("lowest", "highest")
        )
        assert (
            metric.in_unit.low
            <= at_least
            <= whole + 1e-9
            <= at_most + 2e-9
            <= metric.in_unit.high + 3e-9
        ), left_out


def test_every_primary_metric_is_tried():
    tried = {(param.values[0].id, param.values[1].name) for param in metrics_of_items()}
    assert {(spec.id, spec.primary.name) for spec in SPECS} <= tried


def test_the_bounds_by_hand():
    rextime = discovery.get("rextime")
    accuracy = rextime.metric("accuracy")
    right, wrong = {"correct": 1.0}, {"correct": 0.0}
    samples = [
        sample("a", right),
        sample("b", wrong),
        sample("c", right),
        sample("d", {}, "refused"),
    ]
    bounds = value_bounds(rextime, accuracy, [*samples, sample("e", {}, "media_missing")])
    assert (bounds.lower.value, bounds.upper.value) == (50.0, 75.0)  # 2 of 4, 3 of 4
    assert (bounds.items, is_few(1, 4)) == (4, False)
    assert value_bounds(rextime, rextime.metric("miou"), samples) is None  # no answer names a span


def test_one_refused_question_bars_no_run_of_4250():
    rextime = discovery.get("rextime")
    samples = [
        sample(f"q{n:04}", {"correct": float(n % 2)}, video=f"v{n % 400}") for n in range(4249)
    ]
    bounds = value_bounds(
        rextime, rextime.metric("accuracy"), [*samples, sample("odd", {}, "refused")]
    )
    assert is_few(1, bounds.items)
    assert bounds.lower.value == pytest.approx(100 * 2124 / 4250)
    assert bounds.upper.value == pytest.approx(100 * 2125 / 4250)
    assert (
        bounds.lower.ci95[0]
        == bounds.ci95[0]
        < bounds.lower.value
        < bounds.upper.value
        < bounds.ci95[1]
    )
    assert bounds.ci95[1] == bounds.upper.ci95[1]


@pytest.mark.parametrize(("unscored", "few"), [(0, True), (2, True), (3, False)])
def test_two_in_a_hundred_are_few(unscored, few):
    spec = discovery.get("dramaqa_cogme")
    samples = [sample(f"q{n:03}", {} if n < unscored else {"correct": 1.0}, "refused" if n < unscored else None)
               for n in range(100)]  # fmt: skip
    bounds = value_bounds(spec, spec.primary, samples)
    assert few_left_out(samples) is is_few(unscored, bounds.items) is few


def test_an_item_keeps_the_scores_that_it_has():
    spec = discovery.get("moviecore")
    four = dict.fromkeys(("accuracy", "comprehensiveness", "depth", "evidence"), 5.0)
    samples = [sample("a", four | {"coherence": 5.0}), sample("b", four, "judge_unparsable")]
    bounds = value_bounds(spec, spec.primary, samples)
    assert (bounds.lower.value, bounds.upper.value) == (
        4.5,
        5.0,
    )  # coherence: 5 and 0, the mean of five dimensions


def test_a_metric_of_all_answers_at_once_has_no_bounds():
    spec = discovery.get("moviecore")
    assert value_bounds(spec, spec.metric("bleu4"), list(some_samples(spec))) is None
