"""Items in columns: what is read back of them, and that it doesn't matter in how many parts they came."""

import random
import tracemalloc

import numpy as np
import pytest

from reelbench.registry import discovery
from reelbench.registry.records import Sample
from reelbench.scoring.aggregation import aggregate_columns
from reelbench.scoring.item_columns import ColumnCollector, ItemColumns, Label
from reelbench.stats.intervals import Clusters

SAMPLES = [
    Sample(id=name, video=video, prediction="x", target={}, facets=facets, scores=scores, state="scored")
    for name, video, facets, scores in [
        ("a", "sea", {"kind": ["plot", "mood"]}, {"right": 1.0}),
        ("b", "air", {"kind": ["plot"]}, {}),
        ("c", "sea", {}, {"right": 0.0, "deep": 3.0}),
        ("d", "fog", {"kind": ["mood"]}, {"deep": 4.0}),
    ]
]  # fmt: skip


def collected(size):
    collector = ColumnCollector()
    for start in range(0, len(SAMPLES), size):
        collector.extend(SAMPLES[start : start + size])
    return collector


@pytest.mark.parametrize("size", [1, 3, 4])
def test_samples_in_parts_have_the_columns_of_all(size):
    columns = collected(size).columns()
    assert columns.clusters.places.tolist() == [2, 0, 2, 1]  # air, fog, sea
    assert columns.having(Label("kind", "mood")).tolist() == [True, False, False, True]
    assert columns.labels("kind") == ["mood", "plot"]
    assert columns.labels("kind", Label("kind", "plot")) == ["mood", "plot"]
    np.testing.assert_array_equal(columns.scores["right"], [1, np.nan, 0, np.nan])
    np.testing.assert_array_equal(columns.scores["deep"], [np.nan, np.nan, 3, 4])


def test_columns_in_another_order():
    columns = collected(3).columns(np.array([3, 2, 1, 0]))
    assert columns.clusters.places.tolist() == [1, 2, 0, 2]
    assert columns.having(Label("kind", "plot")).tolist() == [False, False, True, True]
    np.testing.assert_array_equal(columns.scores["right"], [np.nan, 0, np.nan, 1])


def test_one_sample_alone():
    columns = ItemColumns.of(SAMPLES[:1])
    assert len(columns) == columns.clusters.number == 1
    assert columns.having(Label("kind", "plot")).tolist() == [True]
    assert columns.scores["right"].tolist() == [1]


def test_numbers_of_many_items_take_few_bytes_an_item_beside_the_columns():
    number = 400_000
    draw = np.random.default_rng(5)
    videos = Clusters(draw.integers(0, 50, number).astype(np.intc), 50)
    score = (draw.random(number) < 0.4).astype(np.float64)
    spec = discovery.get("video_holmes")
    labels = np.zeros(number, dtype=np.intc)
    columns = ItemColumns(videos, [{}], labels, {"correct": score})
    aggregate_columns(spec, columns)  # what is kept of the draws is there now
    tracemalloc.start()
    numbers = aggregate_columns(spec, columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert numbers.metrics["accuracy"].value == pytest.approx(100 * score.sum() / number)
    # Places in four bytes, and some truth values.
    assert peak / number < 10


def test_sums_of_clusters_are_added_in_the_order_of_items():
    draw = random.Random(2)
    places = [draw.randrange(7) for _ in range(3000)]
    values = [draw.gauss(0, 1) * 10 ** draw.randrange(-9, 9) for _ in places]
    sums = [0.0] * 7
    for place, value in zip(places, values, strict=True):
        sums[place] += value
    clusters = Clusters(np.array(places, dtype=np.intc), 7)
    assert clusters.sums(np.array(values), slice(None)).tolist() == sums
