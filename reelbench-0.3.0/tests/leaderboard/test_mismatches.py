"""Where stated numbers differ from those that samples give."""

import pytest

from reelbench.leaderboard.mismatches import metric_mismatches
from reelbench.registry.records import MetricValue


def value(number, ci95=None, n=3):
    return MetricValue(value=number, ci95=ci95, n=n)


@pytest.mark.parametrize(
    ("stated", "computed", "difference"),
    [
        (value(None, n=0), value(None, n=0), None),
        (value(1.0), value(1.0 + 1e-12), None),
        (value(None), value(1.0), "metrics.x is None, recomputed 1.0"),
        (value(1.0), value(None), "metrics.x is 1.0, recomputed None"),
        (value(1.0), value(1.01), "metrics.x is 1.0, recomputed 1.01"),
        (value(1.0), value(1.0, n=4), "metrics.x.n is 3, recomputed 4"),
        (value(1.0, (0, 2)), value(1.0), "metrics.x.ci95 is (0.0, 2.0), recomputed None"),
        (
            value(1.0, (0, 2)),
            value(1.0, (0, 3)),
            "metrics.x.ci95 is (0.0, 2.0), recomputed (0.0, 3.0)",
        ),
        (value(1.0, (0, 2)), value(1.0, (0, 2)), None),
    ],
)
def test_a_metric_differs_in_its_value_its_items_or_its_interval(stated, computed, difference):
    assert list(metric_mismatches("metrics", {"x": stated}, {"x": computed})) == (
        [difference] if difference else []
    )


def test_what_one_side_alone_has_is_said():
    assert list(metric_mismatches("metrics", {"x": value(1.0)}, {})) == [
        "metrics.x is 1.0, recomputed absent"
    ]
    assert list(metric_mismatches("metrics", {}, {"x": value(None)})) == [
        "metrics.x is absent, recomputed None"
    ]
