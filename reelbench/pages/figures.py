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
    for row_number, (row_name, cells) in enumerate(rows.items()):
        row_values = [value for value, _, _ in cells.values()]
        for column_number, column in enumerate(columns):
            if column not in cells:
                continue
            value, ci95, n = cells[column]
            interval = _interval_in_words(ci95)
            tip = f"{row_name}, {column}: {value:.2f}"
            if interval:
                tip += f" ({interval})"
            box = Box(
                x=(column_number, column_number + 1),
                y=(row_number, row_number + 1),
                kind="heat",
                strength=_strength(value, row_values),
                show=f"{value:.1f}",
                note=interval,
                outlined=(row_name, column) in marked,
                text=f"{tip}, n = {n}",
            )
            boxes.append(box)
    about = metric
    if any(box.note for box in boxes):
        about += ", 95 % interval"
    about += "; darker is higher within a row"
    if mark:
        about += f"; {mark}"
    heads = [(number + 0.5, column) for number, column in enumerate(columns)]
    x = Axis.model_validate(
        {
            "from": 0,
            "to": len(columns),
            "ticks": heads,
            "top": True,
            "grid": False,
            "least": _CELL_WIDTH * len(columns),
        }
    )
    across = (
        Texts(texts=tuple(rows), align="end"),
        Panel(x=x, y=Axis(), boxes=tuple(boxes)),
    )
    return svg_of(Chart(title=title, about=about, rows=len(rows), row=46, across=across))


def _interval_in_words(ci95: Sequence[float] | None) -> str:
    if ci95 is None:
        return ""
    low, high = ci95
    return f"{low:.1f} to {high:.1f}"


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
    for panel_title, values_by_label in panels.items():
        polygons = _polygons(names, values_by_label, high=high, digits=digits)
        panel = Panel(
            title=panel_title,
            square=True,
            x=Axis.model_validate({"from": -_REACH, "to": _REACH}),
            y=Axis.model_validate({"from": -_UP, "to": _UP}),
            marks=tuple(polygons.marks),
            paths=(*_web(len(values_by_label)), *polygons.paths),
            words=tuple(_words_around(values_by_label, digits)),
        )
        across.append(panel)
    key = tuple(names) if len(names) > 1 else None
    about = f"{unit}; the rim is {high:g}"
    width = max(WIDTH, _PANEL * len(across))
    return svg_of(Chart(title=title, about=about, key=key, width=width, across=tuple(across)))


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
    axes = len(values_by_label)
    for number, name in enumerate(names):
        corners: list[tuple[float, float]] = []
        for place, (label, values) in enumerate(values_by_label.items()):
            value = values[number]
            if value is None:
                continue
            share = min(max(value / high, 0), 1)
            x, y = _on_axis(place, axes, share)
            corners.append((x, y))
            label_and_name = f"{label}, {name}" if name else label
            tip = f"{label_and_name}: {numeral(value, digits)}"
            polygons.marks.append(chart.Mark(x=x, y=y, i=number, text=tip))
        path = Path(kind="area", i=number, closed=True, points=tuple(corners))
        polygons.paths.append(path)
    return polygons


def _words_around(values_by_label: Mapping[str, Values], digits: int) -> list[Word]:
    """Return each label beyond the rim, with the values of all series under it."""
    words: list[Word] = []
    axes = len(values_by_label)
    for place, (label, values) in enumerate(values_by_label.items()):
        numbers = [numeral(value, digits) for value in values]
        words += _axis_words(_on_axis(place, axes, _OUTSIDE), label, " | ".join(numbers))
    return words


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
    x_name, y_name = axes
    x_least, y_least = least
    places = [mark.at for mark in marks]
    low, high = value_span(marks)
    x = Axis(title=x_name, ticks=labelled(ticks(min(places), max(places), x_least)))
    y = Axis(title=y_name, ticks=labelled(ticks(low, high, y_least)))
    chart_marks: list[chart.Mark] = []
    paths: list[Path] = []
    for number, (name, line) in enumerate(series.items()):
        labels = _labels_of_line(name, line)
        for mark, label in zip(line, labels, strict=True):
            chart_marks.append(described(mark, number, name, x=mark.at, label=label, digits=3))
        points = tuple((mark.at, mark.value) for mark in line)
        paths.append(Path(kind="path", i=number, points=points))
    panel = Panel(x=x, y=y, marks=tuple(chart_marks), paths=tuple(paths))
    return svg_of(Chart(title=title, about=y_name + interval_note(marks), across=(panel,)))


def _labels_of_line(name: str, line: Sequence[Mark]) -> list[str]:
    """Return the words beside each mark of a series. Its name stands at the last.

    Where all marks lie on one place, only the name stands there.
    """
    last = line[-1]
    labels: list[str] = []
    for mark in line:
        is_elsewhere = (mark.at, mark.value) != (last.at, last.value)
        label = mark.label if is_elsewhere else ""
        labels.append(label)
    labels[-1] = name
    if any(labels[:-1]):
        labels[-1] = f"{name}, {last.label}"
    return labels
