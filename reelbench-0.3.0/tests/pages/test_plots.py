"""Plots as pictures are looked at with the cards; here, that they say the numbers."""

import re
import xml.etree.ElementTree as ET

import pytest

from reelbench.pages import figures, plots, svg
from reelbench.pages.plots import Mark
from reelbench.pages.shell_page import page_asset

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


def test_bars_are_as_long_as_their_shares():
    svg = plots.bars("Kinds", {"val": {"a": 50.0, "b": 25.0}, "test": {"a": 10.0, "b": 0.0}})
    widths = [width for _, _, width, _, _ in rectangles(svg)]
    # Two panels of 256 pixels beside the labels' 200, of which 62 are for numbers: 194 for 50 %.
    assert widths == pytest.approx([194, 97, 38.8, 0], abs=0.1)
    assert {"a", "b", "50.0 %", "25.0 %", "10.0 %", "0.0 %", "val", "test"} <= set(words(svg))


def test_pictures_have_the_colours_of_pages_and_write_numbers_as_they_do():
    palette = dict(re.findall(r"--([\w-]+): light-dark\((#\w+),", page_asset("palette.css")))
    assert [svg.COLOURS[n] for n in range(6)] == [palette[f"c{n}"] for n in range(6)]
    assert (palette["ink"], palette["soft"], palette["line"]) == (svg.INK, svg.SOFT, svg.GRID)
    marks = [Mark(0, "a", -1.25, (-3.0, 0.5), 9), Mark(1, "b", -2.0, None, 9)]
    drawn = plots.intervals("Shifts", "points", marks, 2)
    assert "−1.25 (n 9)" in words(drawn)
    assert not [text for text in words(drawn) if re.match(r"-\d", text)]
    assert len({plots.dashes(number) for number in range(4)}) == 4


def test_shares_say_of_how_many_questions_they_are():
    two = plots.bars(
        "Kinds", {"val": {"a": 50.0}, "test": {"a": 10.0}}, n={"val": 1200, "test": 40}
    )
    assert {"n = 1,200", "n = 40"} <= set(words(two))
    one = plots.bars("Kinds", {"val": {"a": 50.0}}, n={"val": 1200})
    assert "n = 1,200; share of them with each label" in words(one)


def test_labels_can_t_break_out_and_long_ones_are_cut():
    svg = plots.bars("A <b> & c", {"val": {"<script>alert(1)</script>": 1.0, "x" * 60: 2.0}})
    assert "<script>" not in svg
    assert "x" * 29 + "…" in words(svg)


def test_a_histogram_has_each_value_in_its_bin():
    svg = plots.histogram("Lengths", {"val": [1, 1, 1, 2, 4]}, "words")
    heights = [round(height, 1) for _, _, _, height, _ in rectangles(svg)]
    # 60 %, 20 %, none, 20 % of a scale that ends at 60 %, 180 pixels high.
    assert heights == [180.0, 60.0, 0.0, 60.0]
    assert {"60 %", "n = 5, median 1; share of them in each bin"} <= set(words(svg))
    assert [text for text in words(svg) if re.fullmatch(r"\d", text or "")] == ["1", "2", "3", "4"]


def test_seconds_have_edges_and_one_outlier_does_not_press_the_rest_together():
    values = [0.5 * number for number in range(1, 200)] + [5000.0]
    svg = plots.histogram("Spans", {"val": values}, "s")
    assert "90 and more" in words(svg)
    heights = [round(height, 1) for _, _, _, height, _ in rectangles(svg)]
    # Of 200 values 19, then 8 times 20, then 20 and the outlier; the scale ends at 15 %, 180 pixels
    # high.
    assert heights == [114.0, *[120.0] * 8, 126.0]


def test_whole_numbers_share_bins_that_say_what_is_in_them():
    svg = plots.histogram("Lengths", {"a": range(100), "b": [5, 95]}, "words")
    assert "10–19" in words(svg)
    assert len(rectangles(svg)) == 20


def test_the_same_numbers_give_the_same_bytes():
    series = {"val": [1, 2, 3]}
    assert plots.histogram("Lengths", series, "words") == plots.histogram(
        "Lengths", series, "words"
    )


def test_a_curve_has_each_run_at_its_frames_and_its_score():
    points = [(0, 20.0, None, 9), (1, 30.0, (25.0, 35.0), 9), (3, 40.0, (30.0, 50.0), 8)]
    marks = [plots.frames_mark(*point) for point in points]
    svg = plots.lines(
        "rextime · org/model", "Accuracy", {"": marks}, "frames (log scale)", least=10
    )
    dots = list(ET.fromstring(svg).iter(f"{SVG}circle"))  # noqa: S314 - our own
    # log2(N + 1): 0, 1, 2, so the steps are equal; a score ten higher is as much higher each time.
    x, y = ([float(dot.get(name)) for dot in dots] for name in ("cx", "cy"))
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.1)
    assert y[0] - y[1] == pytest.approx(y[1] - y[2], abs=0.1)
    assert y[0] > y[1]
    assert [dot[0].text for dot in dots] == [
        "0 frames: 20.00, n = 9",
        "1 frames: 30.00 (25.00 to 35.00), n = 9",
        "3 frames: 40.00 (30.00 to 50.00), n = 8",
    ]
    assert {
        "text only",
        "20",
        "50",
        "frames (log scale)",
        "Accuracy, 95 % interval, n = 8 to 9",
    } <= set(words(svg))
    # Where no interval is drawn, none is claimed.
    assert "Accuracy, no interval, n = 9" in words(
        plots.lines("rextime", "Accuracy", {"": marks[:1]}, "frames", least=10)
    )


def test_several_lines_have_a_key_and_stand_beside_each_other():
    series = {
        name: [
            plots.Mark(place, label, 10.0 * place + n, None, 5)
            for place, label in enumerate(("low", "high"))
        ]
        for n, name in enumerate(("ja-JP", "en-GB", "es-MX", "de-DE", "fr-FR"))
    }
    root = ET.fromstring(plots.lines("curve", "Score", series, "effort", least=10))  # noqa: S314 - our own
    dots = list(root.iter(f"{SVG}circle"))
    assert [dot[0].text for dot in dots[:2]] == [
        "ja-JP, low: 0.00, n = 5",
        "ja-JP, high: 10.00, n = 5",
    ]
    assert len({dot.get("cx") for dot in dots}) == len(dots) == 10
    strokes = [
        (line.get("stroke"), line.get("stroke-dasharray")) for line in root.iter(f"{SVG}polyline")
    ]
    assert len(set(strokes)) == 5  # the fifth has the first one's colour, and dashes
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {*series, "low", "high", "effort"} <= set(texts)


def test_a_matrix_has_its_numbers_and_darkens_within_a_row():
    rows = {
        "ja-JP": {"native": (50.0, (40.0, 60.0), 9), "en": (25.0, None, 9)},
        "en-GB": {"native": (10.0, None, 3)},
    }
    root = ET.fromstring(figures.matrix("curve", "Score", rows, ["native", "en"]))  # noqa: S314 - our own
    cells = [cell for cell in root.iter(f"{SVG}rect") if len(cell)]
    assert [cell[0].text for cell in cells] == [
        "ja-JP, native: 50.00 (40.0 to 60.0), n = 9", "ja-JP, en: 25.00, n = 9", "en-GB, native: 10.00, n = 3",
    ]  # fmt: skip
    assert cells[1].get("fill") == cells[2].get("fill") == "#ffffff" != cells[0].get("fill")


def names_of(svg):
    """Words of the plot -> where they stand: left, baseline."""
    found = ET.fromstring(svg).iter(f"{SVG}text")  # noqa: S314 - our own
    return {one.text: (float(one.get("x")), float(one.get("y"))) for one in found}


def test_points_of_a_scatter_stand_at_their_numbers_under_names_that_do_not_overlap():
    series = {
        "first": [Mark(10, "3", 0.1, None, 9), Mark(10, "5", 0.1, None, 9)],
        "random": [Mark(10.1, "3", 0.1, None, 9), Mark(10.2, "5", 0.1, None, 9)],
        "longest": [Mark(14, "3", 0.15, (0.12, 0.18), 9), Mark(20, "5", 0.2, None, 9)],
    }
    svg = figures.scatter("A & <b>", ("words", "METEOR"), series, least=(1.0, 0.02))
    circles = list(ET.fromstring(svg).iter(f"{SVG}circle"))  # noqa: S314 - our own
    places = [(float(one.get("cx")), float(one.get("cy"))) for one in circles]
    # Axes from 10 to 20 and 0.1 to 0.2 over 494 and 286 pixels: 14 is 0.4 of the way, 0.15 half.
    assert places[-1] == (610, 72)
    assert places[-2] == (
        pytest.approx(116 + 0.4 * 494, abs=0.1),
        pytest.approx(358 - 0.5 * 286, abs=0.1),
    )
    assert circles[-2].find(f"{SVG}title").text == "longest, 3: 0.150 (0.120 to 0.180), n = 9"
    where = names_of(svg)
    # Both of `first` are one point; the others say how many.
    assert {
        "first",
        "random, 5",
        "longest, 5",
        "3",
        "A & <b>",
        "METEOR, 95 % interval, n = 9",
        "words",
    } <= set(where)
    boxes = [
        (x, y - 11, x + 6.6 * len(name), y + 3)
        for name, (x, y) in where.items()
        if name.split(",")[0] in series
    ]
    for number, a in enumerate(boxes):
        assert not any(
            a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in boxes[number + 1 :]
        )
        assert not any(a[0] < x < a[2] and a[1] < y < a[3] for x, y in places)


def test_intervals_lie_on_the_scale_that_stands_below():
    marks = [plots.Mark(0, "all <b>", 0.5, (0.25, 1.0), 12), plots.Mark(0, "few", 0.0, None, 3)]
    svg = plots.intervals("Title", "Score", marks, 4)
    root = ET.fromstring(svg)  # noqa: S314 - our own
    scale = {
        one.text: float(one.get("x"))
        for one in root.iter(f"{SVG}text")
        if one.get("text-anchor") == "middle"
    }
    circles = [float(one.get("cx")) for one in root.iter(f"{SVG}circle")]
    assert circles == [pytest.approx((scale["0"] + scale["1"]) / 2, abs=0.1), scale["0"]]
    (path,) = root.iter(f"{SVG}path")
    low, high = (
        float(end) for end in re.match(r"M([0-9.]+) [0-9.]+H([0-9.]+)", path.get("d")).groups()
    )
    assert high == scale["1"]
    assert low == pytest.approx(scale["0"] + (scale["1"] - scale["0"]) / 4, abs=0.1)
    assert {"all <b>", "0.5000 (n 12)", "0.0000 (n 3)", "Score, 95 % interval, n = 3 to 12"} <= set(
        words(svg)
    )
