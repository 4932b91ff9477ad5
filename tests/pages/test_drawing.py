"""Every chart's file has the marks of its description: SVG, PDF, and the pixels of PNG."""

from io import BytesIO

import pytest
from PIL import Image, ImageColor

from reelbench.base.errors import InputError
from reelbench.pages import canvases
from reelbench.pages.chart import Axis, Box, Chart, Mark, Panel, Path, Texts
from reelbench.pages.drawing import draw
from reelbench.pages.letters import Letters
from reelbench.pages.shapes import Line, Words
from tests.pages.drawn import SVG, elements, find_line, pdf_segments, segments, whiskers

LONG = "organisation/A-Model-of-a-Rather-Long-Name-72B-Instruct"


def ticks(*values):
    return tuple((value, f"{value:g}") for value in values)


def _lanes():
    marks = [
        Mark(x=40.0 + 7 * i, y=i // 2 + 0.3 + 0.4 * (i % 2), ends=(30.0 + 7 * i, 45.0 + 7 * i), i=i, text=f"mark {i}")
        for i in range(4)
    ]  # fmt: skip
    return Chart(
        title="Parts",
        about="Accuracy, %: whiskers are 95 % intervals. n = 4 rows.",
        source="ReXTime · val · 4 runs recomputed",
        key=("a", "b", "c", "d"),
        rows=2,
        row=36,
        across=(
            Texts(texts=("one", "two"), align="end"),
            Panel(x=Axis(ticks=ticks(20, 40, 60, 80)), y=Axis(), marks=tuple(marks)),
        ),
    )


def _points(scale, x_ticks, places):
    marks = [
        Mark(x=x, y=20.0 + 10 * i, ends=(15.0 + 10 * i, 26.0 + 10 * i), name=f"m{i}", text=f"point {i}", open=i == 1)
        for i, x in enumerate(places)
    ]  # fmt: skip
    panel = Panel(
        x=Axis(title="size", ticks=ticks(*x_ticks), scale=scale),
        y=Axis(title="score", ticks=ticks(0, 20, 40, 60)),
        marks=tuple(marks),
        paths=(Path(kind="frontier", points=((places[0], 20.0), (places[-1], 20.0))),),
    )
    return Chart(title="Score against size", across=(panel,))


CHARTS = {
    "lanes": _lanes(),
    "linear": _points(None, (0, 10, 20), (2, 9, 18)),
    "logarithmic": _points("log", (1, 10, 100), (2, 30, 72)),
    "frames": _points("doubling", (0, 8, 64), (0, 16, 64)),
}


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("width", [318, 720])
def test_svg_pdf_and_png_have_each_mark_and_interval_at_its_number(name, width):
    pytest.importorskip("matplotlib")
    chart = CHARTS[name]
    drawing = draw(chart, width, canvases.pdf_letters())
    svg = canvases.to_svg(drawing)
    coloured = segments(svg)
    lines = [line for line, _ in coloured]
    of_pdf = pdf_segments(canvases.to_pdf(drawing), drawing.height)
    picture = Image.open(BytesIO(canvases.to_png(drawing, scale=4))).convert("RGB")
    intervals = list(whiskers(chart, svg))
    assert len(intervals) == len(
        next(part for part in chart.across if isinstance(part, Panel)).marks
    )
    for _, low, high in intervals:
        line = find_line(lines, low, high)
        find_line(of_pdf, line[:2], line[2:])
        colour = ImageColor.getrgb(dict(coloured)[line])
        x1, y1, x2, y2 = line
        for x, y in ((x1, y1), (x2, y2)):
            # Half a pixel inside the end; beyond its cap is no more of it.
            inward = (
                (x2 > x) - (x2 < x) or (x1 > x) - (x1 < x),
                (y2 > y) - (y2 < y) or (y1 > y) - (y1 < y),
            )
            inside = picture.getpixel((round(4 * x + 2 * inward[0]), round(4 * y + 2 * inward[1])))
            beyond = picture.getpixel((round(4 * x - 6 * inward[0]), round(4 * y - 6 * inward[1])))
            assert max(abs(a - b) for a, b in zip(inside, colour, strict=True)) < 40
            assert beyond != colour


def test_a_file_says_all_its_words_inside_its_edges_and_the_same_bytes_again():
    chart = _lanes().model_copy(update={"source": "judge of a long name " * 12})
    drawing = draw(chart, 318, Letters())
    svg = canvases.to_svg(drawing)
    assert svg == canvases.to_svg(draw(chart, 318, Letters()))
    texts = [element for element, _, _ in elements(svg) if element.tag == f"{SVG}text"]
    words = " ".join(element.text for element in texts)
    for said in ("Parts", "95 % intervals", "n = 4 rows", "judge of a long name"):
        assert said in words
    letters = Letters()
    for element in texts:
        size = float(element.get("font-size"))
        wide = letters.width(element.text, size, bold=element.get("font-weight") == "600")
        x = float(element.get("x"))
        start = x - {"start": 0, "middle": wide / 2, "end": wide}[element.get("text-anchor")]
        assert start >= -1
        assert start + wide <= drawing.width + 1


def test_long_names_stand_whole_above_their_rows_where_they_would_take_the_room():
    chart = Chart(
        title="Table",
        rows=2,
        across=(
            Texts(texts=(LONG, "short")),
            Panel(
                x=Axis(ticks=ticks(0, 50, 100)),
                y=Axis(),
                marks=(Mark(x=50, y=0.5, text="a"), Mark(x=20, y=1.5, text="b")),
            ),
        ),
    )
    for width, above in ((318, True), (900, False)):
        svg = canvases.to_svg(draw(chart, width, Letters()))
        [name] = [element for element, _, _ in elements(svg) if element.text == LONG]
        [mark] = [e for e, _, _ in elements(svg) if e.tag == f"{SVG}circle" and e.findtext(f"{SVG}title") == "a"]  # fmt: skip
        assert (float(name.get("y")) < float(mark.get("cy")) - 8) == above


def test_a_cell_shows_its_number_and_foreign_words_stay_words():
    box = Box(x=(0, 1), y=(0, 1), kind="heat", strength=0.5, show="<b>", text="a & b")
    panel = Panel(
        x=Axis.model_validate({"from": 0, "to": 1, "ticks": [[0.5, "x<y"]], "top": True}),
        y=Axis(),
        boxes=(box,),
    )
    chart = Chart(title="<script>", rows=1, across=(Texts(texts=("&",)), panel))
    svg = canvases.to_svg(draw(chart, 720, Letters()))
    texts = [element.text for element, _, _ in elements(svg) if element.tag == f"{SVG}text"]
    assert {"<b>", "x<y", "&", "<script>"} <= set(texts)
    assert "<script>" not in svg
    with pytest.raises(InputError, match="pip install"):
        _without_matplotlib()


def test_what_has_no_values_or_lies_far_outside_is_drawn_as_far_as_it_can_be():
    pytest.importorskip("matplotlib")
    axis = Axis(ticks=ticks(0, 10))
    paths = (
        Path(kind="area", closed=True, points=()),
        Path(kind="frontier", points=((0, 0), (1e20, 5))),
    )
    panel = Panel(x=axis, y=axis, marks=(Mark(x=5, y=1e30, name="a\x0bb"),), paths=paths)
    drawing = draw(Chart(title="t\x00", across=(panel,)), 318, Letters())
    assert list(elements(canvases.to_svg(drawing)))
    assert canvases.to_pdf(drawing)
    assert canvases.to_png(drawing)


def _without_matplotlib():
    import sys
    from unittest import mock

    with mock.patch.dict(sys.modules, {"matplotlib.figure": None}):
        canvases.pdf_letters()


def test_no_name_stands_on_an_interval():
    """Marks close together, whose intervals are tall: a name that finds no room is left out."""
    marks = [
        Mark(
            x=50.0 + n,
            y=40.0 + 2 * n,
            ends=(25.0 + 2 * n, 55.0 + 2 * n),
            name=f"Model-of-{n}B-Instruct",
        )
        for n in range(12)
    ]
    panel = Panel(x=Axis(ticks=ticks(40, 70)), y=Axis(ticks=ticks(0, 100)), marks=tuple(marks))
    font = Letters()
    drawing = draw(Chart(title="Crowd", across=(panel,)), 680, font)
    upright = []
    for part in drawing.parts:
        if isinstance(part, Line) and len(part.points) == 2 and part.stroke.width == 1.5:
            (x, y), (end_x, end_y) = part.points
            if x == end_x:
                upright.append((x, min(y, end_y), max(y, end_y)))
    names = [part for part in drawing.parts if isinstance(part, Words) and "Model" in part.text]
    assert len(upright) == 12
    assert len(names) >= 4
    for name in names:
        x, y = name.place
        width = font.width(name.text)
        start = x - {"start": 0, "middle": width / 2, "end": width}[name.anchor]
        for line_x, top, bottom in upright:
            is_across = start < line_x < start + width and top < y and bottom > y - 10
            assert not is_across, (name.text, name.place, line_x)
