"""Plots as pictures are looked at in test_page.py; here, that they say the numbers."""

import re
import xml.etree.ElementTree as ET

import pytest

from reelbench.hub_cards import plots
from reelbench.hub_cards.statistics import Distribution

SVG = "{http://www.w3.org/2000/svg}"


def rectangles(svg):
    """Return the bars of the plot: x, y, width, height, colour."""
    found = ET.fromstring(svg).iter(f"{SVG}rect")  # noqa: S314 - our own
    return [
        (*(float(one.get(name)) for name in ("x", "y", "width", "height")), one.get("fill"))
        for one in found
        if one.get("rx") is None and one.get("height") != "11.0"
    ]


def words(svg):
    return [one.text for one in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own


def distribution(*values, unit="words"):
    return Distribution("Lengths", unit, tuple(sorted(map(float, values))))


def test_bars_are_as_long_as_their_shares():
    svg = plots.bars("Kinds", {"val": {"a": 50.0, "b": 25.0}, "test": {"a": 10.0, "b": 0.0}})
    widths = [width for _, _, width, _, _ in rectangles(svg)]
    assert widths == pytest.approx([440, 88, 220, 0], abs=0.1)
    assert {"a", "b", "50.0 %", "25.0 %", "10.0 %", "0.0 %", "val", "test"} <= set(words(svg))


def test_labels_can_t_break_out_and_long_ones_are_cut():
    svg = plots.bars("A <b> & c", {"val": {"<script>alert(1)</script>": 1.0, "x" * 60: 2.0}})
    assert "<script>" not in svg
    assert "x" * 29 + "…" in words(svg)


def test_a_histogram_has_each_value_in_its_bin():
    svg = plots.histogram("Lengths", {"val": distribution(1, 1, 1, 2, 4)})
    heights = [round(height, 1) for _, _, _, height, _ in rectangles(svg)]
    # 60 %, 20 %, none, 20 % of a scale that ends at 80 %, 180 pixels high.
    assert heights == [135.0, 45.0, 0.0, 45.0]
    assert [text for text in words(svg) if re.fullmatch(r"\d", text or "")] == ["1", "2", "3", "4"]


def test_seconds_have_edges_and_one_outlier_does_not_press_the_rest_together():
    values = [0.5 * number for number in range(1, 200)] + [5000.0]
    svg = plots.histogram("Spans", {"val": distribution(*values, unit="s")})
    assert "90 and more" in words(svg)
    heights = [round(height, 1) for _, _, _, height, _ in rectangles(svg)]
    # Of 200 values 19, then 8 times 20, then 20 and the outlier; the scale ends at 20 %, 180 pixels high.
    assert heights == [85.5, *[90.0] * 8, 94.5]


def test_whole_numbers_share_bins_that_say_what_is_in_them():
    svg = plots.histogram("Lengths", {"a": distribution(*range(100)), "b": distribution(5, 95)})
    assert "10–19" in words(svg)
    assert len(rectangles(svg)) == 20


def test_the_same_numbers_give_the_same_bytes():
    series = {"val": distribution(1, 2, 3)}
    assert plots.histogram("Lengths", series) == plots.histogram("Lengths", series)
