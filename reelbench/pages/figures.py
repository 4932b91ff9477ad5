"""Figures as SVG beside bars and lines: a score matrix, radars, points by two numbers.

A polygon shows a profile at a glance and no interval: its numbers stand at the labels, and with
their intervals in the table or file beside the picture.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reelbench.pages import chart
from reelbench.pages.chart import Anchor, Axis, Box, Chart, Panel, Path, Texts, Word
from reelbench.pages.plots import (
    WIDTH,
    PlotPoint,
    chart_mark,
    interval_note,
    labelled_ticks,
    points_of_all,
    svg_of,
    ticks,
    value_span,
)
from reelbench.pages.svg import numeral

# --- a matrix
# -------------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """A score of a matrix.

    Attributes:
        value: The score.
        ci95: The ends of its 95 % interval.
        n: The number of items behind it.
    """

    value: float
    ci95: Sequence[float] | None
    n: int


_CELL_WIDTH = 84
"""Pixels of a cell."""
_STRONGEST = 0.5
"""The strength of the colour of a row's highest cell, on which black is read well."""


def matrix(
    title: str,
    metric: str,
    rows: Mapping[str, Mapping[str, Cell]],
    columns: Sequence[str],
    *,
    outlined: Collection[tuple[str, str]] = (),
    outline_meaning: str = "",
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
        outlined: The cells (row, column) that are outlined.
        outline_meaning: The outline's meaning, for the subtitle.
    """
    boxes: list[Box] = []
    for row_number, (row_name, cells) in enumerate(rows.items()):
        row_values = [cell.value for cell in cells.values()]
        for column_number, column in enumerate(columns):
            if column not in cells:
                continue
            cell = cells[column]
            interval = _interval_text(cell.ci95)
            tip = f"{row_name}, {column}: {cell.value:.2f}"
            if interval:
                tip += f" ({interval})"
            box = Box(
                x=(column_number, column_number + 1),
                y=(row_number, row_number + 1),
                kind="heat",
                strength=_colour_strength(cell.value, row_values),
                show=f"{cell.value:.1f}",
                note=interval,
                outlined=(row_name, column) in outlined,
                text=f"{tip}, n = {cell.n}",
            )
            boxes.append(box)
    about = metric
    if any(box.note for box in boxes):
        about += ", 95 % interval"
    about += "; darker is higher within a row"
    if outline_meaning:
        about += f"; {outline_meaning}"
    across = (
        Texts(texts=tuple(rows), align="end"),
        Panel(x=_axis_of_columns(columns), y=Axis(), boxes=tuple(boxes)),
    )
    return svg_of(Chart(title=title, about=about, rows=len(rows), row=46, across=across))


def _axis_of_columns(columns: Sequence[str]) -> Axis:
    """Return the x axis of a matrix, with the columns' names above it."""
    ticks = [(number + 0.5, column) for number, column in enumerate(columns)]
    return Axis.model_validate(
        {
            "from": 0,
            "to": len(columns),
            "ticks": ticks,
            "top": True,
            "grid": False,
            "least": _CELL_WIDTH * len(columns),
        }
    )


def _interval_text(ci95: Sequence[float] | None) -> str:
    if ci95 is None:
        return ""
    low, high = ci95
    return f"{low:.1f} to {high:.1f}"


def _colour_strength(value: float, row_values: Sequence[float]) -> float:
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
"""A spoke whose sine is below this points up or down: its label is centred."""
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
    """Draw radar charts side by side, each of at least three labels.

    Args:
        title: The picture's title.
        names: The names of the series.
        panels: Label -> values, one for each series, by the panel's name.
        unit: The unit of the values, which stands below the title.
        high: The value at the rim. The centre is 0.
        digits: Digits of a value after the point.
    """
    radar_panels: list[Panel] = []
    for panel_title, values_by_label in panels.items():
        polygons = _polygons(names, values_by_label, high=high, digits=digits)
        panel = Panel(
            title=panel_title,
            square=True,
            x=Axis.model_validate({"from": -_REACH, "to": _REACH}),
            y=Axis.model_validate({"from": -_UP, "to": _UP}),
            marks=tuple(polygons.marks),
            paths=(*_rings_and_spokes(len(values_by_label)), *polygons.paths),
            words=tuple(_labels_around(values_by_label, digits)),
        )
        radar_panels.append(panel)
    key = tuple(names) if len(names) > 1 else None
    radar_chart = Chart(
        title=title,
        about=f"{unit}; the rim is {high:g}",
        key=key,
        width=max(WIDTH, _PANEL * len(radar_panels)),
        across=tuple(radar_panels),
    )
    return svg_of(radar_chart)


@dataclass(frozen=True, slots=True)
class _Polygons:
    """The polygons of all series, and the marks at their corners."""

    paths: list[Path]
    marks: list[chart.Mark]


def _polygons(
    names: Sequence[str], values_by_label: Mapping[str, Values], *, high: float, digits: int
) -> _Polygons:
    """Return a polygon for each series, without corners where it lacks a value."""
    polygons = _Polygons([], [])
    spokes = len(values_by_label)
    for series_number, series_name in enumerate(names):
        corners: list[tuple[float, float]] = []
        for spoke, (label, values) in enumerate(values_by_label.items()):
            value = values[series_number]
            if value is None:
                continue
            radius = min(max(value / high, 0), 1)
            x, y = _point_on_spoke(spoke, spokes, radius)
            corners.append((x, y))
            name = f"{label}, {series_name}" if series_name else label
            tip = f"{name}: {numeral(value, digits)}"
            polygons.marks.append(chart.Mark(x=x, y=y, i=series_number, text=tip))
        polygon = Path(kind="area", i=series_number, closed=True, points=tuple(corners))
        polygons.paths.append(polygon)
    return polygons


def _labels_around(values_by_label: Mapping[str, Values], digits: int) -> list[Word]:
    """Return each label beyond the rim, with the values of all series under it."""
    words: list[Word] = []
    spokes = len(values_by_label)
    for spoke, (label, values) in enumerate(values_by_label.items()):
        numbers = " | ".join(numeral(value, digits) for value in values)
        words += _spoke_label(_point_on_spoke(spoke, spokes, _OUTSIDE), label, numbers)
    return words


def _point_on_spoke(spoke: int, spokes: int, radius: float) -> tuple[float, float]:
    """Return x and y of a spoke's point at a distance from the centre.

    The first spoke points up, and the rim has radius 1.
    """
    angle = 2 * math.pi * spoke / spokes
    return radius * math.sin(angle), radius * math.cos(angle)


def _rings_and_spokes(spokes: int) -> list[Path]:
    """Return the grid of a radar chart."""
    paths: list[Path] = []
    for radius in _RINGS:
        corners = tuple(_point_on_spoke(spoke, spokes, radius) for spoke in range(spokes))
        paths.append(Path(kind="gridline", closed=True, points=corners))
    for spoke in range(spokes):
        rim = _point_on_spoke(spoke, spokes, 1)
        paths.append(Path(kind="gridline", points=((0, 0), rim)))
    return paths


def _spoke_label(position: tuple[float, float], label: str, numbers: str) -> list[Word]:
    """Return a spoke's label beyond the rim, with its values under it."""
    x, y = position
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
    axis_titles: tuple[str, str],
    series: Mapping[str, Sequence[PlotPoint]],
    least: tuple[float, float],
) -> str:
    """Draw points by two numbers, `PlotPoint.x` and `PlotPoint.value`.

    A series' points are joined in their order. Its name stands at the last. Where there are
    several, the points' labels stand at them, too.

    Args:
        title: The picture's title.
        axis_titles: The titles of x and of y.
        series: At least one point each, by the series' name.
        least: The lengths that the x and the y axis have at least.
    """
    points = points_of_all(series)
    x_title, y_title = axis_titles
    least_x_length, least_y_length = least
    xs = [point.x for point in points]
    low, high = value_span(points)
    x_ticks = labelled_ticks(ticks(min(xs), max(xs), least_x_length))
    y_ticks = labelled_ticks(ticks(low, high, least_y_length))
    marks: list[chart.Mark] = []
    paths: list[Path] = []
    for number, (name, line) in enumerate(series.items()):
        for point, label in zip(line, _labels_of_line(name, line), strict=True):
            marks.append(chart_mark(point, number, name, x=point.x, label=label, digits=3))
        corners = tuple((point.x, point.value) for point in line)
        paths.append(Path(kind="path", i=number, points=corners))
    panel = Panel(
        x=Axis(title=x_title, ticks=x_ticks),
        y=Axis(title=y_title, ticks=y_ticks),
        marks=tuple(marks),
        paths=tuple(paths),
    )
    return svg_of(Chart(title=title, about=y_title + interval_note(points), across=(panel,)))


def _labels_of_line(name: str, line: Sequence[PlotPoint]) -> list[str]:
    """Return the label of each point of a series. The last has the series' name.

    Points at the same position as the last have no label of their own.
    """
    last = line[-1]
    labels: list[str] = []
    for point in line:
        is_elsewhere = (point.x, point.value) != (last.x, last.value)
        label = point.label if is_elsewhere else ""
        labels.append(label)
    labels[-1] = name
    if any(labels[:-1]):
        labels[-1] = f"{name}, {last.label}"
    return labels
