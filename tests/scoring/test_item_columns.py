"""Items in columns: what is read back of them, and that it doesn't matter in how many parts they came."""

import numpy as np
import pytest

from reelbench.registry.records import Sample
from reelbench.scoring.item_columns import ColumnCollector, ItemColumns, Label

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
