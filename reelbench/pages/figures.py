"""Pictures as SVG beside bars and lines: a matrix of scores, radars of a profile, points by two numbers.

A polygon shows a profile at a glance and no interval: its numbers stand at the labels, and with
their intervals in the table or file beside the picture.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from itertools import product

from reelbench.pages.plots import (
    WIDTH,
    Mark,
    dashes,
    dot,
    grid,
    interval_note,
    polyline,
    scale,
    ticks,
)
from reelbench.pages.svg import GRID, SOFT, colour, numeral, rectangle, svg_document, text

# --- a matrix
# ---------------------------------------------------------------------------------------------------------

Cell = tuple[float, Sequence[float] | None, int]
"""Value, 95 % interval or None, and the items behind it."""

_BESIDE, _ROW, _HEAD = 150, 46, 92
_LEAST, _MOST = 78, 130  # width of a cell
_DEEPEST = (0, 114, 178)  # the first of the plots' colours


def matrix(
    title: str,
    metric: str,
    rows: Mapping[str, Mapping[str, Cell]],
    columns: Sequence[str],
    *,
    marked: Collection[tuple[str, str]] = (),
    mark: str = "",
) -> str:
    """Draw a matrix of scores, a row for each of one thing, a column for each of another, with their intervals.

    Each row has its own scale of colours (as CURVE's Fig. 2): columns are compared within a row.
    The numbers stand in the cells, so colour says nothing alone. A column that a row hasn't stays
    empty; `marked` cells (row, column) are outlined, which says `mark`.
    """
    said = (
        ", 95 % interval"
        if any(ci95 for cells in rows.values() for _, ci95, _ in cells.values())
        else ""
    )
    wide = min(_MOST, max(_LEAST, 560 // max(len(columns), 1)))
    parts = [
        text(12, 28, title, size=17, weight="bold"),
        text(
            12,
            50,
            f"{metric}{said}; darker is higher within a row{f'; {mark}' if mark else ''}",
            size=13,
        ),
    ]
    parts += [
        text(_BESIDE + wide * (n + 0.5), _HEAD - 8, name, "middle", size=13)
        for n, name in enumerate(columns)
    ]
    for number, (name, cells) in enumerate(rows.items()):
        top = _HEAD + number * _ROW
        parts.append(text(_BESIDE - 10, top + _ROW / 2 + 4, name, "end", size=13))
        values = [value for value, _, _ in cells.values()]
        for place, column in enumerate(columns):
            if column in cells:
                x, (value, ci95, n) = _BESIDE + place * wide, cells[column]
                share = (
                    (value - min(values)) / (max(values) - min(values))
                    if max(values) > min(values)
                    else 0.0
                )
                # From white to a blue on which black text has a contrast of 4.5 and more.
                fill = "#" + "".join(
                    f"{round(255 - 0.55 * share * (255 - part)):02x}" for part in _DEEPEST
                )
                known = "" if ci95 is None else f"{ci95[0]:.1f} to {ci95[1]:.1f}"
                hover = escape(
                    f"{name}, {column}: {value:.2f}"
                    + (f" ({known})" if known else "")
                    + f", n = {n}"
                )
                size = f"width='{wide - 2:.1f}' height='{_ROW - 2}'"
                look = f"fill='{fill}'" + (
                    " stroke='#000' stroke-width='2'" if (name, column) in marked else ""
                )
                parts.append(
                    f"<rect x='{x + 1:.1f}' y='{top + 1:.1f}' {size} {look}><title>{hover}</title></rect>"
                )
                parts.append(text(x + wide / 2, top + 20, f"{value:.1f}", "middle", size=14))
                if known:
                    parts.append(text(x + wide / 2, top + 36, known, "middle", size=10))
    width = max(_BESIDE + wide * len(columns) + 16, 480)
    return svg_document(title, _HEAD + len(rows) * _ROW + 14, parts, width=width)


# --- radars
# -----------------------------------------------------------------------------------------------------------

Values = Sequence[float | None]
"""One value for each series; None where it has none, and its polygon leaves the label out."""

_RADIUS, _PANEL, _ABOVE = 105, 400, 76
_TALL = 2 * _RADIUS + 112
_RINGS = 4


def radars(
    title: str,
    names: Sequence[str],
    panels: Mapping[str, Mapping[str, Values]],
    *,
    unit: str,
    high: float,
    digits: int,
) -> str:
    """Draw radars side by side, of three labels at least, each with a value for each series (`names`).

    The centre is 0, the rim `high`, in `unit`, which stands below the title; `digits` are those of
    a value after the point.
    """
    width = _PANEL * len(panels)
    parts = [
        text(12, 26, title, size=15, weight="bold"),
        text(12, 46, f"{unit}; the rim is {high:g}", fill=SOFT),
    ]
    x = 12.0
    for number, name in enumerate(names if len(names) > 1 else ()):
        parts += [rectangle(x, 56, 11, 11, colour(number)), text(x + 16, 66, name)]
        x += 34 + 7.5 * len(name)
    for place, (panel, labels) in enumerate(panels.items()):
        parts += _radar(panel, labels, (place + 0.5) * _PANEL, high, digits)
    spoken = "; ".join(
        f"{label}: "
        + ", ".join(
            f"{name} {numeral(value, digits)}" for name, value in zip(names, values, strict=True)
        )
        for labels in panels.values()
        for label, values in labels.items()
    )
    return svg_document(title, _ABOVE + _TALL, parts, width=width, description=spoken)


def _radar(
    title: str, labels: Mapping[str, Values], x: float, high: float, digits: int
) -> list[str]:
    y = _ABOVE + _TALL / 2 + 10
    angles = [2 * math.pi * place / len(labels) for place in range(len(labels))]

    def point(angle: float, share: float) -> str:
        return f"{x + _RADIUS * share * math.sin(angle):.1f},{y - _RADIUS * share * math.cos(angle):.1f}"

    parts = [text(x, _ABOVE + 20, title, "middle", size=13, weight="bold")]
    for ring in range(1, _RINGS + 1):
        path = " ".join(point(angle, ring / _RINGS) for angle in angles)
        parts.append(f"<polygon points='{path}' fill='none' stroke='{GRID}'/>")
    parts += [
        f"<polyline points='{point(angle, 0)} {point(angle, 1)}' fill='none' stroke='{GRID}'/>"
        for angle in angles
    ]
    for number in range(max(map(len, labels.values()))):
        known = [
            (angle, min(max(value / high, 0), 1))
            for angle, values in zip(angles, labels.values(), strict=True)
            if (value := values[number]) is not None
        ]
        style = f"stroke='{colour(number)}' stroke-width='2'{dashes(number)}"
        path = " ".join(point(*vertex) for vertex in known)
        parts.append(
            f"<polygon points='{path}' fill='{colour(number)}' fill-opacity='0.12' {style}/>"
        )
        parts += [
            f"<circle cx='{at[0]}' cy='{at[1]}' r='2.5' fill='{colour(number)}'/>"
            for at in (point(*vertex).split(",") for vertex in known)
        ]
    for angle, (label, values) in zip(angles, labels.items(), strict=True):
        side, down = math.sin(angle), -math.cos(angle)
        anchor = "middle" if abs(side) < 0.1 else "start" if side > 0 else "end"  # noqa: PLR2004
        left, top = x + (_RADIUS + 10) * side, y + (_RADIUS + 16) * down + (0 if down < 0 else 6)
        parts.append(text(left, top - 4, label, anchor))
        numbers = " | ".join(numeral(value, digits) for value in values)
        parts.append(text(left, top + 9, numbers, anchor, size=11, fill=SOFT))
    return parts


# --- points
# -----------------------------------------------------------------------------------------------------------

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 420, 76, 110, 72, 62
_INSIDE = 40
_SIZE, _WIDE = 12, 6.6  # of a name: its height, and the width of a letter

_NEAR = 4  # pixels

_Box = tuple[float, float, float, float]


def scatter(
    title: str,
    axes: tuple[str, str],
    series: Mapping[str, Sequence[Mark]],
    least: tuple[float, float],
) -> str:
    """Draw points; a name stands at its last one, the marks' own labels at each where there are several.

    The first of `axes` is what `Mark.at` is, below, the second `Mark.value`; they span at least
    `least`. A series' marks, at least one, are joined in their order.
    """
    marks = [mark for line in series.values() for mark in line]
    across = ticks(min(mark.at for mark in marks), max(mark.at for mark in marks), least[0])
    ends = [end for mark in marks for end in (mark.value, *(mark.ci95 or ()))]
    up = ticks(min(ends), max(ends), least[1])
    floor, right = _HEIGHT - _BOTTOM, WIDTH - _RIGHT
    # Off the axis, so that there is room for names on the left of points.
    x, y = (
        scale((across[0], across[-1]), (_LEFT + _INSIDE, right)),
        scale((up[0], up[-1]), (floor, _TOP)),
    )
    parts = [
        text(_LEFT, 28, title, size=17, weight="bold"),
        text(_LEFT, 50, f"{axes[1]}{interval_note(marks)}", size=13, fill=SOFT),
    ]
    parts += grid(up, y, _LEFT, right)
    parts += [text(x(tick), floor + 20, numeral(tick), "middle", size=13) for tick in across]
    parts.append(text((_LEFT + right) / 2, floor + 44, axes[0], "middle", size=13, fill=SOFT))
    places = {name: [(x(mark.at), y(mark.value)) for mark in line] for name, line in series.items()}
    for number, (name, line) in enumerate(series.items()):
        if len(line) > 1:
            parts.append(polyline(places[name], number, 1.5))
        for (px, _), mark in zip(places[name], line, strict=True):
            parts += dot(name, colour(number), px, mark, y, digits=3)
    parts += _names(series, places)
    return svg_document(title, _HEIGHT, parts, width=WIDTH)


def _names(
    series: Mapping[str, Sequence[Mark]], places: Mapping[str, Sequence[tuple[float, float]]]
) -> Iterator[str]:
    """Return the names and labels, each where it covers no point and no other one."""
    taken = [(px - 6, py - 6, px + 6, py + 6) for line in places.values() for px, py in line]
    wanted: list[tuple[str, tuple[float, float]]] = []
    for name, line in series.items():
        # Marks in one place, as the first candidate of however many, have one label.
        apart = [place for place in places[name] if math.dist(place, places[name][-1]) > _NEAR]
        wanted.append((f"{name}, {line[-1].label}" if apart else name, places[name][-1]))
        wanted += [
            (mark.label, place)
            for mark, place in zip(line, places[name], strict=True)
            if place in apart
        ]
    wanted.sort(key=lambda one: -len(one[0]))  # names first: they need the room
    for words, (px, py) in wanted:
        wide = _WIDE * len(words)
        free = [
            (left, top, right, bottom)
            for left, top, right, bottom in _around(px, py, wide)
            if not any(
                left < x2 and x1 < right and top < y2 and y1 < bottom for x1, y1, x2, y2 in taken
            )
        ]
        box = free[0] if free else next(_around(px, py, wide))
        taken.append(box)
        yield text(box[0], box[3] - 3, words, size=_SIZE)


def _around(px: float, py: float, wide: float) -> Iterator[_Box]:
    """Return the places for a name: beside its point, then above or below it, nearest first."""
    for far, (beside, up) in product(
        (8, 18, 32), ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))
    ):
        left = px + far if beside > 0 else px - far - wide if beside < 0 else px - wide / 2
        middle = py + up * (far + (4 if not beside else 0))
        if left > _LEFT and left + wide <= WIDTH and middle < _HEIGHT - _BOTTOM - _SIZE / 2:
            yield left, middle - _SIZE / 2 - 1, left + wide, middle + _SIZE / 2 + 1
