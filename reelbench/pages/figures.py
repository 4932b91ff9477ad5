"""Figures as SVG beside bars and lines: a score matrix, radars, points by two numbers.

A polygon shows a profile at a glance and no interval: its numbers stand at the labels, and with
their intervals in the table or file beside the picture.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from reelbench.pages import chart
from reelbench.pages.chart import Anchor, Axis, Box, Chart, Panel, Path, Texts, Word
from reelbench.pages.plots import (
    WIDTH,
    Mark,
    described,
    interval_note,
    labelled,
    marks_of,
    svg_of,
    ticks,
    value_span,
)
from reelbench.pages.svg import numeral

# --- a matrix
# -------------------------------------------------------------------------------------------------

Cell = tuple[float, Sequence[float] | None, int]
"""Value, 95 % interval or None, and the number of items behind it."""

_STRONGEST = 0.5
"""The strength of the colour of a row's highest cell, on which black is read well."""


def matrix(
    title: str,
    metric: str,
    rows: Mapping[str, Mapping[str, Cell]],
    columns: Sequence[str],
    *,
    marked: Collection[tuple[str, str]] = (),
    mark: str = "",
) -> str:
    """Draw a matrix of scores with their intervals.

    Each row has its own scale of colours (as CURVE's Fig. 2): columns are compared within a row.
    The numbers stand in the cells, so colour says nothing alone. A cell that a row lacks stays
    empty.

    Args:
        title: The picture's title.
        metric: The score's name and unit.
        rows: The cells by column, by the row's name.
        columns: The columns, from left to right.
        marked: The cells (row, column) that are outlined.
        mark: The outline's meaning, for the subtitle.
    """
    boxes: list[Box] = []
    has_intervals = False
    for number, (name, cells) in enumerate(rows.items()):
        values = [value for value, _, _ in cells.values()]
        for place, column in enumerate(columns):
            if column not in cells:
                continue
            value, ci95, n = cells[column]
            note = ""
            tip = f"{name}, {column}: {value:.2f}"
            if ci95 is not None:
                has_intervals = True
                note = f"{ci95[0]:.1f} to {ci95[1]:.1f}"
                tip += f" ({note})"
            boxes.append(
                Box(
                    x=(place, place + 1),
                    y=(number, number + 1),
                    kind="heat",
                    strength=_strength(value, values),
                    show=f"{value:.1f}",
                    note=note,
                    outlined=(name, column) in marked,
                    text=f"{tip}, n = {n}",
                )
            )
    about = metric
    if has_intervals:
        about += ", 95 % interval"
    about += "; darker is higher within a row"
    if mark:
        about += f"; {mark}"
    heads = [(place + 0.5, column) for place, column in enumerate(columns)]
    axis = {"from": 0, "to": len(columns), "ticks": heads, "top": True, "grid": False}
    axis["least"] = 84 * len(columns)
    across = (
        Texts(texts=tuple(rows), align="end"),
        Panel(x=Axis.model_validate(axis), y=Axis(), boxes=tuple(boxes)),
    )
    return svg_of(Chart(title=title, about=about, rows=len(rows), row=46, across=across))


def _strength(value: float, row_values: Sequence[float]) -> float:
    """Return the strength of a cell's colour: more for a higher value in its row."""
    low = min(row_values)
    high = max(row_values)
    if high == low:
        return 0.0
    return _STRONGEST * (value - low) / (high - low)


# --- radars
# -------------------------------------------------------------------------------------------------

Values = Sequence[float | None]
"""One value for each series. None where it has none, and its polygon leaves the label out."""

_RINGS = (0.25, 0.5, 0.75, 1)
_UPRIGHT = 0.1
"""An axis whose sine is below this points up or down: its label stands in the middle."""
_OUTSIDE = 1.14
"""Where a label stands, in radii."""
_PANEL = 350
"""Pixels of a panel."""
_REACH = 1.7
"""Radii that a panel shows to each side, which leaves room for labels."""
_UP = 1.3
"""The same up and down."""


def radars(
    title: str,
    names: Sequence[str],
    panels: Mapping[str, Mapping[str, Values]],
    *,
    unit: str,
    high: float,
    digits: int,
) -> str:
    """Draw radars side by side, each of at least three labels.

    Args:
        title: The picture's title.
        names: The names of the series.
        panels: Label -> values, one for each series, by the panel's name.
        unit: The unit of the values, which stands below the title.
        high: The value at the rim. The centre is 0.
        digits: Digits of a value after the point.
    """
    across: list[Panel] = []
    for panel, labels in panels.items():
        paths = _web(len(labels))
        words: list[Word] = []
        for place, (label, values) in enumerate(labels.items()):
            numbers = " | ".join(numeral(value, digits) for value in values)
            words += _axis_words(_on_axis(place, len(labels), _OUTSIDE), label, numbers)
        marks: list[chart.Mark] = []
        for number, name in enumerate(names):
            corners: list[tuple[float, float]] = []
            for place, (label, values) in enumerate(labels.items()):
                value = values[number]
                if value is None:
                    continue
                corner = _on_axis(place, len(labels), min(max(value / high, 0), 1))
                corners.append(corner)
                series = f"{label}, {name}" if name else label
                tip = f"{series}: {numeral(value, digits)}"
                marks.append(chart.Mark(x=corner[0], y=corner[1], i=number, text=tip))
            paths.append(Path(kind="area", i=number, closed=True, points=tuple(corners)))
        x = Axis.model_validate({"from": -_REACH, "to": _REACH})
        y = Axis.model_validate({"from": -_UP, "to": _UP})
        across.append(
            Panel(
                title=panel,
                square=True,
                x=x,
                y=y,
                marks=tuple(marks),
                paths=tuple(paths),
                words=tuple(words),
            )
        )
    key = tuple(names) if len(names) > 1 else None
    about = f"{unit}; the rim is {high:g}"
    width = max(WIDTH, _PANEL * len(across))
    return svg_of(Chart(title=title, about=about, key=key, width=width, across=tuple(across)))


def _on_axis(place: int, axes: int, share: float) -> tuple[float, float]:
    """Return x and y of an axis's place at a share of the radius."""
    angle = 2 * math.pi * place / axes
    return share * math.sin(angle), share * math.cos(angle)


def _web(axes: int) -> list[Path]:
    """Return the rings and the axes."""
    paths: list[Path] = []
    for ring in _RINGS:
        points = tuple(_on_axis(place, axes, ring) for place in range(axes))
        paths.append(Path(kind="gridline", closed=True, points=points))
    for place in range(axes):
        paths.append(Path(kind="gridline", points=((0, 0), _on_axis(place, axes, 1))))
    return paths


def _axis_words(place: tuple[float, float], label: str, numbers: str) -> list[Word]:
    """Return an axis's label beyond the rim, with its values under it."""
    x, y = place
    anchor: Anchor = "middle"
    if abs(x) >= _UPRIGHT:
        anchor = "start" if x > 0 else "end"
    return [
        Word(x=x, y=y + 0.06, text=label, anchor=anchor),
        Word(x=x, y=y - 0.07, text=numbers, anchor=anchor),
    ]


# --- points
# -------------------------------------------------------------------------------------------------


def scatter(
    title: str,
    axes: tuple[str, str],
    series: Mapping[str, Sequence[Mark]],
    least: tuple[float, float],
) -> str:
    """Draw points by two numbers, each series under its name.

    A series' marks are joined in their order. Its name stands at the last. Where there are several,
    the marks' labels stand at them, too.

    Args:
        title: The picture's title.
        axes: The names of `Mark.at`, which is below, and of `Mark.value`.
        series: At least one mark each, by the series' name.
        least: The spans that the axes have at least.
    """
    marks = marks_of(series)
    places = [mark.at for mark in marks]
    low, high = value_span(marks)
    x_name, y_name = axes
    x = Axis(title=x_name, ticks=labelled(ticks(min(places), max(places), least[0])))
    y = Axis(title=y_name, ticks=labelled(ticks(low, high, least[1])))
    drawn: list[chart.Mark] = []
    paths: list[Path] = []
    for number, (name, line) in enumerate(series.items()):
        last = line[-1]
        apart = [mark for mark in line if (mark.at, mark.value) != (last.at, last.value)]
        for mark in line:
            label = mark.label if mark in apart else ""
            if mark is last:
                label = f"{name}, {mark.label}" if apart else name
            drawn.append(described(mark, number, name, x=mark.at, label=label, digits=3))
        points = tuple((mark.at, mark.value) for mark in line)
        paths.append(Path(kind="path", i=number, points=points))
    panel = Panel(x=x, y=y, marks=tuple(drawn), paths=tuple(paths))
    return svg_of(Chart(title=title, about=y_name + interval_note(marks), across=(panel,)))
