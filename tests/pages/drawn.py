"""What a file of a chart has drawn, held against the chart's description."""

import math
import re
import xml.etree.ElementTree as ET
import zlib

from reelbench.pages.chart import Panel
from reelbench.pages.svg import GRID

SVG = "{http://www.w3.org/2000/svg}"
NEAR = 0.75
"""Pixels by which a rounded place may be off."""
_SCALES = {None: float, "log": math.log10, "doubling": lambda value: math.log2(value + 1)}


def _shift(words):
    """Return x and y of a `translate(…)`."""
    found = re.search(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)", words or "")
    return (float(found[1]), float(found[2])) if found else (0.0, 0.0)


def elements(svg):
    """Yield all elements of an SVG with what their groups shift them by."""

    def walk(element, x, y):
        if element.tag == f"{SVG}g":
            dx, dy = _shift(element.get("transform"))
            x, y = x + dx, y + dy
        yield element, x, y
        for child in element:
            yield from walk(child, x, y)

    return walk(ET.fromstring(svg), 0.0, 0.0)  # noqa: S314 - our own


def _ends_of(element):
    """Return the places that a line goes through."""
    if element.tag == f"{SVG}line":
        places = [(element.get(f"x{end}"), element.get(f"y{end}")) for end in (1, 2)]
    elif element.tag in (f"{SVG}polyline", f"{SVG}polygon"):
        places = [pair.split(",") for pair in element.get("points").split()]
    else:
        return []
    return [(float(x), float(y)) for x, y in places]


def segments(svg):
    """Return all lines of two points: (x1, y1, x2, y2), and the colour of each."""
    lines = []
    for element, x, y in elements(svg):
        places = _ends_of(element)
        if len(places) == 2 and element.get("stroke", "none") != "none":
            (x1, y1), (x2, y2) = places
            lines.append(((x1 + x, y1 + y, x2 + x, y2 + y), element.get("stroke")))
    return lines


def mark_place(svg, tip):
    """Return the middle of the mark of this title."""
    for element, x, y in elements(svg):
        if element.findtext(f"{SVG}title") != tip or element.tag == f"{SVG}svg":
            continue
        if element.tag == f"{SVG}circle":
            return float(element.get("cx")) + x, float(element.get("cy")) + y
        if element.tag == f"{SVG}path":
            dx, dy = _shift(element.get("transform"))
            return x + dx, y + dy
        xs, ys = zip(*_ends_of(element), strict=True)
        return (min(xs) + max(xs)) / 2 + x, (min(ys) + max(ys)) / 2 + y
    raise AssertionError(f"no mark is called {tip}")


def _between(axis, first, last):
    """Return the function from a number of an axis to its pixel, by its first and last tick."""
    place = _SCALES[axis.scale]
    low, high = place(axis.ticks[0][0]), place(axis.ticks[-1][0])
    return lambda value: first + (last - first) * (place(value) - low) / (high - low)


def whiskers(chart, svg):
    """Yield each interval of a chart of one panel with its places: (mark, low, high) along its axis.

    Places follow from the lines at the first and last tick alone.
    """
    [panel] = [part for part in chart.across if isinstance(part, Panel)]
    grid = [line for line, colour in segments(svg) if colour == GRID]
    upright = sorted({line[0] for line in grid if line[0] == line[2]})
    level = sorted({line[1] for line in grid if line[1] == line[3]})
    x_of = _between(panel.x, upright[0], upright[-1])
    y_of = None if chart.rows else _between(panel.y, level[-1], level[0])
    for mark in panel.marks:
        place = mark_place(svg, mark.text)
        assert abs(place[0] - x_of(mark.x)) < NEAR, mark
        if y_of is not None:
            assert abs(place[1] - y_of(mark.y)) < NEAR + 1, mark  # a triangle's middle is above it
        if mark.ends is None:
            continue
        if chart.rows:
            low, high = map(x_of, mark.ends)
            yield mark, (low, None), (high, None)
        else:
            low, high = map(y_of, mark.ends)
            yield mark, (x_of(mark.x), low), (x_of(mark.x), high)


def find_line(lines, low, high):
    """Return the line between two places, of which a y that is None may be any."""
    for line in lines:
        ends = sorted([line[:2], line[2:]])
        wanted = sorted([low, high], key=lambda place: (place[0], place[1] or 0))
        for given in (ends, ends[::-1]):
            pairs = zip(given, wanted, strict=True)
            if all(
                abs(a[0] - b[0]) < NEAR and (b[1] is None or abs(a[1] - b[1]) < NEAR)
                for a, b in pairs
            ):
                return line
    raise AssertionError(f"no line from {low} to {high}")


def pdf_segments(pdf, height):
    """Return the lines of two points of a PDF of one page, in pixels from above."""
    lines = []
    for packed in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            text = zlib.decompress(packed).decode("latin-1")
        except zlib.error:
            continue
        number = r"([-\d.]+)"
        for x1, y1, x2, y2 in re.findall(rf"{number} {number} m\s+{number} {number} l\s+S", text):
            lines.append(
                tuple(
                    value / 0.75 if place % 2 == 0 else height - value / 0.75
                    for place, value in enumerate(map(float, (x1, y1, x2, y2)))
                )
            )
    return lines
