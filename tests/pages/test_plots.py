"""Plots as pictures are looked at with the cards; here, that they say the numbers."""

import re
import xml.etree.ElementTree as ET

import pytest

from reelbench.pages import figures, plots, svg
from reelbench.pages.plots import Mark
from reelbench.pages.shell_page import page_asset
from tests.pages.drawn import SVG


def boxes(picture):
    """Return the bars and cells of a plot: x, y, width, height, by their words."""
    found = {}
    for one in ET.fromstring(picture).iter(f"{SVG}polyline"):  # noqa: S314 - our own
        tip = one.findtext(f"{SVG}title")
        if tip is None:
            continue
        places = [tuple(map(float, pair.split(","))) for pair in one.get("points").split()]
        xs, ys = zip(*places, strict=True)
        found[tip] = (min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
    return found


def words(picture):
    return [one.text for one in ET.fromstring(picture).iter(f"{SVG}text")]  # noqa: S314 - our own


def discs(picture):
    return list(ET.fromstring(picture).iter(f"{SVG}circle"))  # noqa: S314 - our own


def test_bars_are_as_long_as_their_shares():
    svg = plots.bars("Kinds", {"val": {"a": 50.0, "b": 25.0}, "test": {"a": 10.0, "b": 0.0}})
    widths = {tip: width for tip, (_, _, width, _) in boxes(svg).items()}
    longest = widths["a: 50.0 %"]
    assert longest > 400
    assert widths["b: 25.0 %"] == pytest.approx(longest / 2, abs=0.2)
    assert widths["a: 10.0 %"] == pytest.approx(longest / 5, abs=0.2)
    assert widths["b: 0.0 %"] == 0
    assert {"a", "b", "50.0 %", "25.0 %", "10.0 %", "0.0 %", "val", "test"} <= set(words(svg))


def test_pictures_have_the_colours_of_pages_and_write_numbers_as_they_do():
    palette = dict(re.findall(r"--([\w-]+): light-dark\((#\w+),", page_asset("palette.css")))
    assert [svg.COLOURS[n] for n in range(6)] == [palette[f"c{n}"] for n in range(6)]
    assert (palette["ink"], palette["soft"], palette["line"]) == (svg.INK, svg.SOFT, svg.GRID)
    script = page_asset("drawing.js")
    for name in ("c0", "c1", "c2", "c3", "c4", "c5", "ink", "soft", "line", "floor", "human"):
        assert palette[name] in script
    marks = [Mark(0, "a", -1.25, (-3.0, 0.5), 9), Mark(1, "b", -2.0, None, 9)]
    drawn = plots.intervals("Shifts", "points", marks, 2)
    assert "−1.25 (n 9)" in words(drawn)
    assert not [text for text in words(drawn) if re.match(r"-\d", text)]


def test_shares_say_of_how_many_questions_they_are():
    two = plots.bars(
        "Kinds", {"val": {"a": 50.0}, "test": {"a": 10.0}}, n={"val": 1200, "test": 40}
    )
    assert {"val, n = 1,200", "test, n = 40"} <= set(words(two))
    one = plots.bars("Kinds", {"val": {"a": 50.0}}, n={"val": 1200})
    assert "n = 1,200. Share of the questions with each label." in words(one)


def test_labels_can_t_break_out_and_long_ones_stand_whole():
    long = "x" * 60
    svg = plots.bars("A <b> & c", {"val": {"<script>alert(1)</script>": 1.0, long: 2.0}})
    assert "<script>" not in svg
    assert long in words(svg)


def test_a_histogram_has_each_value_in_its_bin():
    svg = plots.histogram("Lengths", {"val": [1, 1, 1, 2, 4]}, "words")
    heights = [height for _, _, _, height in boxes(svg).values()]
    # 60 %, 20 %, none, 20 %.
    assert heights[1] == pytest.approx(heights[0] / 3, abs=2)
    assert heights[3] == heights[1]
    assert heights[2] < 3
    assert {"60 %", "n = 5, median 1; share of them in each bin, the line is the median"} <= set(
        words(svg)
    )
    assert [text for text in words(svg) if re.fullmatch(r"\d", text or "")] == ["1", "2", "3", "4"]


def test_seconds_have_edges_and_one_outlier_does_not_press_the_rest_together():
    values = [0.5 * number for number in range(1, 200)] + [5000.0]
    svg = plots.histogram("Spans", {"val": values}, "s")
    assert "90 and more" in words(svg)
    # Of 200 values 19, then 8 times 20, then 20 and the outlier.
    shares = [tip.rpartition(": ")[2] for tip in boxes(svg)]
    assert shares == ["9.5 %", *["10.0 %"] * 8, "10.5 %"]


def test_whole_numbers_share_bins_that_say_what_is_in_them():
    svg = plots.histogram("Lengths", {"a": range(100), "b": [5, 95]}, "words")
    assert "10–19" in words(svg)
    assert svg.count("<title>0 to 10: ") == 2


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
    dots = discs(svg)
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
        "0 text only",
        "20",
        "50",
        "frames (log scale)",
        "Accuracy, 95 % interval, n = 8 to 9",
    } <= set(words(svg))
    # Where no interval is drawn, none is claimed.
    assert "Accuracy, no interval, n = 9" in words(
        plots.lines("rextime", "Accuracy", {"": marks[:1]}, "frames", least=10)
    )


@pytest.mark.parametrize(
    ("low", "high", "least", "numbers"),
    [
        (100, 100, 10, [90, 92, 94, 96, 98, 100]),
        (98, 100, 10, [90, 92, 94, 96, 98, 100]),
        (95, 99, 10, [90, 92, 94, 96, 98, 100]),
        (20, 100, 10, [20, 40, 60, 80, 100]),
        (0, 0, 10, [0, 2, 4, 6, 8, 10]),
        (50, 50, 0, [50, 50.2, 50.4, 50.6, 50.8, 51]),
    ],
)
def test_ticks_enclose_the_values_and_pass_no_greatest_one(low, high, least, numbers):
    assert plots.ticks(low, high, least, greatest=100) == numbers


def test_several_lines_have_a_key_and_stand_beside_each_other():
    series = {
        name: [
            plots.Mark(place, label, 10.0 * place + n, None, 5)
            for place, label in enumerate(("low", "high"))
        ]
        for n, name in enumerate(("ja-JP", "en-GB", "es-MX", "de-DE", "fr-FR"))
    }
    picture = plots.lines("curve", "Score", series, "effort", least=10)
    tips = set(re.findall(r"<title>([^<]*)</title>", picture))
    assert {"ja-JP, low: 0.00, n = 5", "fr-FR, high: 14.00, n = 5"} <= tips
    root = ET.fromstring(picture)  # noqa: S314 - our own
    strokes = {
        (line.get("stroke"), line.get("stroke-dasharray"))
        for line in root.iter(f"{SVG}polyline")
        if line.get("stroke-width") == "2"
    }
    assert len(strokes) == 5
    assert {*series, "low", "high", "effort"} <= set(words(picture))


def test_a_matrix_has_its_numbers_and_darkens_within_a_row():
    rows = {
        "ja-JP": {"native": (50.0, (40.0, 60.0), 9), "en": (25.0, None, 9)},
        "en-GB": {"native": (10.0, None, 3)},
    }
    root = ET.fromstring(figures.matrix("curve", "Score", rows, ["native", "en"]))  # noqa: S314 - our own
    cells = [cell for cell in root.iter(f"{SVG}polyline") if len(cell)]
    assert [cell[0].text for cell in cells] == [
        "ja-JP, native: 50.00 (40.0 to 60.0), n = 9", "ja-JP, en: 25.00, n = 9", "en-GB, native: 10.00, n = 3",
    ]  # fmt: skip
    strengths = [float(cell.get("fill-opacity")) for cell in cells]
    assert strengths == [0.5, 0, 0]


def test_points_of_a_scatter_stand_at_their_numbers_under_names_that_do_not_overlap():
    series = {
        "first": [Mark(10, "3", 0.1, None, 9), Mark(10, "5", 0.1, None, 9)],
        "random": [Mark(10.1, "3", 0.1, None, 9), Mark(10.2, "5", 0.1, None, 9)],
        "longest": [Mark(14, "3", 0.15, (0.12, 0.18), 9), Mark(20, "5", 0.2, None, 9)],
    }
    picture = figures.scatter("A & <b>", ("words", "METEOR"), series, least=(1.0, 0.02))
    assert "longest, 3: 0.150 (0.120 to 0.180), n = 9" in picture
    root = ET.fromstring(picture)  # noqa: S314 - our own
    where = {
        one.text: (float(one.get("x")), float(one.get("y")), one.get("text-anchor"))
        for one in root.iter(f"{SVG}text")
    }
    # Both of `first` are one point; the others say how many.
    assert {"first", "random, 5", "longest, 5", "3", "A & <b>", "words"} <= set(where)
    assert "METEOR, 95 % interval, n = 9" in where
    letters = plots.Letters()
    covered = []
    for name, (x, y, anchor) in where.items():
        if name.split(",")[0] in series:
            wide = letters.width(name)
            start = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
            covered.append((start, y - 10, start + wide, y + 3))
    for number, a in enumerate(covered):
        assert not any(
            a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
            for b in covered[number + 1 :]
        )


def test_intervals_lie_on_the_scale_that_stands_below():
    marks = [plots.Mark(0, "all <b>", 0.5, (0.25, 1.0), 12), plots.Mark(0, "few", 0.0, None, 3)]
    svg = plots.intervals("Title", "Score", marks, 4)
    root = ET.fromstring(svg)  # noqa: S314 - our own
    scale = {
        one.text: float(one.get("x"))
        for one in root.iter(f"{SVG}text")
        if one.get("text-anchor") == "middle"
    }
    places = [float(one.get("cx")) for one in root.iter(f"{SVG}circle")]
    assert places == [pytest.approx((scale["0"] + scale["1"]) / 2, abs=0.1), scale["0"]]
    lines = [one.get("points").split() for one in root.iter(f"{SVG}polyline")]
    whisker = (scale["0"] + (scale["1"] - scale["0"]) / 4, scale["1"])
    assert any(
        len(points) == 2
        and [float(point.split(",")[0]) for point in points] == pytest.approx(whisker, abs=0.1)
        for points in lines
    )
    assert {"all <b>", "0.5000 (n 12)", "0.0000 (n 3)", "Score, 95 % interval, n = 3 to 12"} <= set(
        words(svg)
    )
