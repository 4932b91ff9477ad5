"""Radars as SVG: a panel for each group of labels, a polygon for each series (as CogME's Fig. 3).

A polygon shows a profile at a glance and no interval: the numbers stand at the labels, and with their intervals in the
table or file beside the picture.
"""

import math
from collections.abc import Mapping, Sequence

from reelbench.pages.svg import GRID, SOFT, colour, framed, rectangle, text

Values = Sequence[float | None]
"""One value for each series; None where it has none, and its polygon leaves the label out."""

_RADIUS, _PANEL, _TOP = 105, 400, 76
_TALL = 2 * _RADIUS + 112
_RINGS = 4
_DASHES = ("", " stroke-dasharray='6 3'", " stroke-dasharray='2 3'", " stroke-dasharray='8 3 2 3'")


def radars(
    title: str, names: Sequence[str], panels: Mapping[str, Mapping[str, Values]], *, unit: str, high: float, digits: int
) -> str:
    """Draw radars side by side.

    Args:
        title: Stands above.
        names: The series'.
        panels: Title of a panel -> label -> a value for each series; three labels at least.
        unit: What the values are; stands below the title.
        high: The rim; the centre is 0.
        digits: Of a value, after the point.
    """
    width = _PANEL * len(panels)
    parts = [text(12, 26, title, size=15, weight="bold"), text(12, 46, f"{unit}; the rim is {high:g}", fill=SOFT)]
    x = 12.0
    for number, name in enumerate(names if len(names) > 1 else ()):
        parts += [rectangle(x, 56, 11, 11, colour(number)), text(x + 16, 66, name)]
        x += 34 + 7.5 * len(name)
    for place, (panel, labels) in enumerate(panels.items()):
        parts += _panel(panel, labels, (place + 0.5) * _PANEL, high, digits)
    spoken = "; ".join(
        f"{label}: " + ", ".join(f"{name} {_shown(value, digits)}" for name, value in zip(names, values, strict=True))
        for labels in panels.values()
        for label, values in labels.items()
    )
    return framed(title, _TOP + _TALL, parts, width=width, description=spoken)


def _panel(title: str, labels: Mapping[str, Values], x: float, high: float, digits: int) -> list[str]:
    y = _TOP + _TALL / 2 + 10
    angles = [2 * math.pi * place / len(labels) for place in range(len(labels))]

    def point(angle: float, share: float) -> str:
        return f"{x + _RADIUS * share * math.sin(angle):.1f},{y - _RADIUS * share * math.cos(angle):.1f}"

    parts = [text(x, _TOP + 20, title, "middle", size=13, weight="bold")]
    for ring in range(1, _RINGS + 1):
        path = " ".join(point(angle, ring / _RINGS) for angle in angles)
        parts.append(f"<polygon points='{path}' fill='none' stroke='{GRID}'/>")
    parts += [
        f"<polyline points='{point(angle, 0)} {point(angle, 1)}' fill='none' stroke='{GRID}'/>" for angle in angles
    ]
    for number in range(max(map(len, labels.values()))):
        known = [
            (angle, min(max(value / high, 0), 1))
            for angle, values in zip(angles, labels.values(), strict=True)
            if (value := values[number]) is not None
        ]
        style = f"stroke='{colour(number)}' stroke-width='2'{_DASHES[number % len(_DASHES)]}"
        path = " ".join(point(*vertex) for vertex in known)
        parts.append(f"<polygon points='{path}' fill='{colour(number)}' fill-opacity='0.12' {style}/>")
        parts += [
            f"<circle cx='{at[0]}' cy='{at[1]}' r='2.5' fill='{colour(number)}'/>"
            for at in (point(*vertex).split(",") for vertex in known)
        ]
    for angle, (label, values) in zip(angles, labels.items(), strict=True):
        side, down = math.sin(angle), -math.cos(angle)
        anchor = "middle" if abs(side) < 0.1 else "start" if side > 0 else "end"  # noqa: PLR2004
        left, top = x + (_RADIUS + 10) * side, y + (_RADIUS + 16) * down + (0 if down < 0 else 6)
        parts.append(text(left, top - 4, label, anchor))
        shown = " | ".join(_shown(value, digits) for value in values)
        parts.append(text(left, top + 9, shown, anchor, size=11, fill=SOFT))
    return parts


def _shown(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
