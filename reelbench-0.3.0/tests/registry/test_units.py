"""Units against the metrics that are in them."""

import pytest

from reelbench.registry import discovery
from reelbench.registry.metrics import UNITS


@pytest.mark.parametrize("name", sorted(discovery.specs()))
def test_a_metric_reaches_what_its_unit_says(name):
    spec = discovery.get(name)
    metrics = list(spec.metrics)
    for facet in spec.facets:
        metrics += facet.metrics
    for metric in metrics:
        assert metric.bounds == (
            0,
            {"percent": 100, "points_0_5": 5, "fraction": 1, "cider": 10}[metric.unit],
        )
        # MovieCORE counts 4 and 5 of 5 as right (Table 5); all others what has full points.
        assert metric.right_from == (4 if metric.unit == "points_0_5" else metric.in_unit.high), (
            metric.name
        )
        assert [metric.is_right(value) for value in metric.bounds[::-1]] == [True, False]


def test_units_say_their_scale():
    assert {name: unit.range for name, unit in UNITS.items()} == {
        "percent": "0 to 100",
        "points_0_5": "0 to 5",
        "points_0_2": "0 to 2",
        "fraction": "0 to 1",
        "cider": "0 to 10",
    }
