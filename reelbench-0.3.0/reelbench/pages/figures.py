"""Figures as SVG beside bars and lines: a score matrix, radars, points by two numbers.

A polygon shows a profile at a glance and no interval: its numbers stand at the labels, and with
their intervals in the table or file beside the picture.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from reelbench.pages.plots import (
    WIDTH,
    Mark,
    dashes,
    dot,
    grid,
    heading,
    interval_note,
    marks_of,
    polyline,
    tick_scale,
    ticks,
    value_span,
)
from reelbench.pages.svg import (
    GRID,
    SOFT,
    colour,
    element,
    numeral,
    rectangle,
    svg_document,
    text,
)

# --- a matrix
# -------------------------------------------------------------------------------------------------

Cell = tuple[float, Sequence[float] | None, int]
"""Value, 95 % interval or None, and the number of items behind it."""

_ROW_NAMES = 150
_ROW = 46
_HEAD = 92
_NARROWEST_CELL = 78
_WIDEST_CELL = 130
_DARKEST = (0, 114, 178)


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
    cell_width = min(_WIDEST_CELL, max(_NARROWEST_CELL, 560 // max(len(columns), 1)))
    subtitle = f"{metric}{_matrix_interval_note(rows)}; darker is higher within a row"
    if mark:
        subtitle += f"; {mark}"
    parts = [text(12, 28, title, size=17, weight="bold"), text(12, 50, subtitle, size=13)]
    for place, column in enumerate(columns):
        x = _ROW_NAMES + cell_width * (place + 0.5)
        parts.append(text(x, _HEAD - 8, column, "middle", size=13))
    for number, (name, cells) in enumerate(rows.items()):
        top = _HEAD + number * _ROW
        middle = top + _ROW / 2
        parts.append(text(_ROW_NAMES - 10, middle + 4, name, "end", size=13))
        values = [value for value, _, _ in cells.values()]
        for place, column in enumerate(columns):
            if column not in cells:
                continue
            parts += _cell_parts(
                f"{name}, {column}",
                cells[column],
                values,
                (_ROW_NAMES + place * cell_width, top, cell_width),
                outlined=(name, column) in marked,
            )
    width = max(_ROW_NAMES + cell_width * len(columns) + 16, 480)
    height = _HEAD + len(rows) * _ROW + 14
    return svg_document(title, height, parts, width=width)


def _matrix_interval_note(rows: Mapping[str, Mapping[str, Cell]]) -> str:
    for cells in rows.values():
        if any(ci95 for _, ci95, _ in cells.values()):
            return ", 95 % interval"
    return ""


def _cell_parts(
    name: str,
    cell: Cell,
    row_values: Sequence[float],
    place: tuple[int, int, int],
    *,
    outlined: bool,
) -> list[str]:
    """Draw one cell.

    `place` is its left edge, its top and its width.
    """
    x, top, width = place
    value, ci95, n = cell
    interval = ""
    if ci95 is not None:
        low, high = ci95
        interval = f"{low:.1f} to {high:.1f}"
    tip = f"{name}: {value:.2f}"
    if interval:
        tip += f" ({interval})"
    outline = {"stroke": "#000", "stroke_width": 2} if outlined else {}
    box = element(
        "rect",
        f"{tip}, n = {n}",
        x=x + 1.0,
        y=top + 1.0,
        width=width - 2.0,
        height=_ROW - 2,
        fill=_cell_colour(value, row_values),
        **outline,
    )
    middle = x + width / 2
    parts = [box, text(middle, top + 20, f"{value:.1f}", "middle", size=14)]
    if interval:
        parts.append(text(middle, top + 36, interval, "middle", size=10))
    return parts


def _cell_colour(value: float, row_values: Sequence[float]) -> str:
    """Return the cell's blue: darker for a higher value in its row.

    Black text on the darkest has a contrast of 4.5 and more.
    """
    low = min(row_values)
    high = max(row_values)
    darkness = (value - low) / (high - low) if high > low else 0.0
    fill = "#"
    for part in _DARKEST:
        fill += f"{round(255 - 0.55 * darkness * (255 - part)):02x}"
    return fill


# --- radars
# -------------------------------------------------------------------------------------------------

Values = Sequence[float | None]
"""One value for each series. None where it has none, and its polygon leaves the label out."""

_RADIUS = 105
_PANEL = 400
_ABOVE = 76
_PANEL_HEIGHT = 2 * _RADIUS + 112
_RINGS = 4
_UPRIGHT = 0.1
"""An axis whose sine is below this points up or down: its label stands in the middle."""


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
    width = _PANEL * len(panels)
    parts = [
        text(12, 26, title, size=15, weight="bold"),
        text(12, 46, f"{unit}; the rim is {high:g}", fill=SOFT),
    ]
    if len(names) > 1:
        parts += _radar_key(names)
    for place, (panel, labels) in enumerate(panels.items()):
        radar = _Radar((place + 0.5) * _PANEL, len(labels), high)
        parts.append(text(radar.x, _ABOVE + 20, panel, "middle", size=13, weight="bold"))
        parts += radar.web()
        for number in range(len(names)):
            parts += radar.polygon(number, [values[number] for values in labels.values()])
        for angle, (label, values) in zip(radar.angles, labels.items(), strict=True):
            parts += radar.label(angle, label, values, digits)
    description = _radar_values(names, panels, digits)
    height = _ABOVE + _PANEL_HEIGHT
    return svg_document(title, height, parts, width=width, description=description)


def _radar_key(names: Sequence[str]) -> list[str]:
    parts: list[str] = []
    x = 12.0
    for number, name in enumerate(names):
        parts.append(rectangle(x, 56, 11, 11, colour(number)))
        parts.append(text(x + 16, 66, name))
        x += 34 + 7.5 * len(name)
    return parts


def _radar_values(
    names: Sequence[str], panels: Mapping[str, Mapping[str, Values]], digits: int
) -> str:
    """Return all values in words, for people who can't see the picture."""
    lines: list[str] = []
    for labels in panels.values():
        for label, values in labels.items():
            words: list[str] = []
            for name, value in zip(names, values, strict=True):
                words.append(f"{name} {numeral(value, digits)}")
            lines.append(f"{label}: {', '.join(words)}")
    return "; ".join(lines)


class _Radar:
    """One radar: the places of its axes, and what stands on them.

    Args:
        x: The centre's place from the left.
        axes: The number of axes.
        high: The value at the rim.
    """

    def __init__(self, x: float, axes: int, high: float) -> None:
        self.x = x
        self.y = _ABOVE + _PANEL_HEIGHT / 2 + 10
        self.high = high
        self.angles = [2 * math.pi * place / axes for place in range(axes)]

    def place(self, angle: float, share: float) -> tuple[str, str]:
        """Return x and y of an axis's place at a share of the radius."""
        x = self.x + _RADIUS * share * math.sin(angle)
        y = self.y - _RADIUS * share * math.cos(angle)
        return f"{x:.1f}", f"{y:.1f}"

    def path(self, corners: Sequence[tuple[float, float]]) -> str:
        """Return the path through places, each an angle and a share of the radius."""
        places = [self.place(angle, share) for angle, share in corners]
        return " ".join(map(",".join, places))

    def web(self) -> list[str]:
        """Draw the rings and the axes."""
        parts: list[str] = []
        for ring in range(1, _RINGS + 1):
            path = self.path([(angle, ring / _RINGS) for angle in self.angles])
            parts.append(element("polygon", points=path, fill="none", stroke=GRID))
        for angle in self.angles:
            path = self.path([(angle, 0), (angle, 1)])
            parts.append(element("polyline", points=path, fill="none", stroke=GRID))
        return parts

    def polygon(self, number: int, values: Values) -> list[str]:
        """Draw the polygon of the series with this number, and its corners."""
        corners: list[tuple[float, float]] = []
        for angle, value in zip(self.angles, values, strict=True):
            if value is not None:
                share = min(max(value / self.high, 0), 1)
                corners.append((angle, share))
        fill = colour(number)
        outline = element(
            "polygon",
            points=self.path(corners),
            fill=fill,
            fill_opacity="0.12",
            stroke=fill,
            stroke_width=2,
            stroke_dasharray=dashes(number),
        )
        parts = [outline]
        for angle, share in corners:
            x, y = self.place(angle, share)
            parts.append(element("circle", cx=x, cy=y, r=2.5, fill=fill))
        return parts

    def label(self, angle: float, label: str, values: Values, digits: int) -> list[str]:
        """Draw an axis's label beyond the rim, with its values under it."""
        across = math.sin(angle)
        down = -math.cos(angle)
        if abs(across) < _UPRIGHT:
            anchor = "middle"
        elif across > 0:
            anchor = "start"
        else:
            anchor = "end"
        x = self.x + (_RADIUS + 10) * across
        y = self.y + (_RADIUS + 16) * down
        if down >= 0:
            y += 6
        numbers = " | ".join(numeral(value, digits) for value in values)
        return [
            text(x, y - 4, label, anchor),
            text(x, y + 9, numbers, anchor, size=11, fill=SOFT),
        ]


# --- points
# -------------------------------------------------------------------------------------------------

_HEIGHT = 420
_LEFT = 76
_RIGHT = WIDTH - 110
_TOP = 72
_FLOOR = _HEIGHT - 62
_INSIDE = 40
_NAME_SIZE = 12
_POINT_RADIUS = 6
_LETTER_WIDTH = 6.6
_NEAR = 4
"""Marks within so many pixels of each other have one label."""
_NAME_DISTANCES = (8, 18, 32)
_NAME_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))
"""Directions from a point to its name: across and down."""

_Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Box:
    """A rectangle that words or a point cover."""

    start: float
    top: float
    end: float
    bottom: float

    @classmethod
    def around(cls, point: _Point, radius: float) -> "_Box":
        """Return the square around a point."""
        x, y = point
        return cls(x - radius, y - radius, x + radius, y + radius)

    def overlaps(self, box: "_Box") -> bool:
        across = self.start < box.end and box.start < self.end
        return across and self.top < box.bottom and box.top < self.bottom


@dataclass(frozen=True, slots=True)
class _PointName:
    """Words that stand at a point."""

    words: str
    point: _Point


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
    places_across = [mark.at for mark in marks]
    x_ticks = ticks(min(places_across), max(places_across), least[0])
    low, high = value_span(marks)
    y_ticks = ticks(low, high, least[1])
    # Off the axis, so that there is room for names on the left of points.
    x = tick_scale(x_ticks, _LEFT + _INSIDE, _RIGHT)
    y = tick_scale(y_ticks, _FLOOR, _TOP)
    x_name, y_name = axes
    parts = heading(_LEFT, title, y_name + interval_note(marks))
    parts += grid(y_ticks, y, _LEFT, _RIGHT)
    for tick in x_ticks:
        label = numeral(tick)
        parts.append(text(x(tick), _FLOOR + 20, label, "middle", size=13))
    middle = (_LEFT + _RIGHT) / 2
    parts.append(text(middle, _FLOOR + 44, x_name, "middle", size=13, fill=SOFT))
    names: list[_PointName] = []
    covered: list[_Box] = []
    for number, (name, line) in enumerate(series.items()):
        points = [(x(mark.at), y(mark.value)) for mark in line]
        if len(line) > 1:
            parts.append(polyline(points, number, 1.5))
        for (point_x, _), mark in zip(points, line, strict=True):
            parts += dot(name, colour(number), point_x, mark, y, digits=3)
        names += _names_of_series(name, line, points)
        covered += [_Box.around(point, _POINT_RADIUS) for point in points]
    parts += _placed_names(names, covered)
    return svg_document(title, _HEIGHT, parts, width=WIDTH)


def _names_of_series(name: str, line: Sequence[Mark], points: Sequence[_Point]) -> list[_PointName]:
    """Return the series' name at its last point, and labels at those apart from it.

    Marks in one place, as the first candidate of however many, have one label.
    """
    last_point = points[-1]
    labels: list[_PointName] = []
    for mark, point in zip(line, points, strict=True):
        if math.dist(point, last_point) > _NEAR:
            labels.append(_PointName(mark.label, point))
    words = f"{name}, {line[-1].label}" if labels else name
    return [_PointName(words, last_point), *labels]


def _placed_names(names: Sequence[_PointName], covered: list[_Box]) -> list[str]:
    """Draw names, each where it covers no point and no other name.

    The longest are placed first.
    """
    parts: list[str] = []
    covered = list(covered)
    for name in sorted(names, key=lambda name: -len(name.words)):
        boxes = list(_boxes_around(name.point, _LETTER_WIDTH * len(name.words)))
        box = _first_free(boxes, covered)
        covered.append(box)
        parts.append(text(box.start, box.bottom - 3, name.words, size=_NAME_SIZE))
    return parts


def _first_free(boxes: Sequence[_Box], covered: Sequence[_Box]) -> _Box:
    for box in boxes:
        if not any(box.overlaps(covered_box) for covered_box in covered):
            return box
    return boxes[0]


def _boxes_around(point: _Point, width: float) -> Iterator[_Box]:
    """Yield the places for a name inside the picture: beside its point first, nearest first."""
    px, py = point
    for distance, (across, down) in product(_NAME_DISTANCES, _NAME_DIRECTIONS):
        if across > 0:
            start = px + distance
        elif across < 0:
            start = px - distance - width
        else:
            start = px - width / 2
        drop = distance if across else distance + 4
        middle = py + down * drop
        inside = start > _LEFT and start + width <= WIDTH
        if inside and middle < _FLOOR - _NAME_SIZE / 2:
            half = _NAME_SIZE / 2 + 1
            yield _Box(start, middle - half, start + width, middle + half)
