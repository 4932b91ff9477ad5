"""A sweep's plot as SVG: score against number of frames, with 95 % intervals.

No plotting library, and the same bytes each time.

Positions on the x axis are log2(N + 1), so that 0 (text only) has a place and each doubling takes the same step.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 32, 72, 76
_LINE, _TEXT, _GREY = "#0072B2", "#24292f", "#57606a"
_CAP = 5
_FONT = "font-family='Helvetica, Arial, Noto Sans, sans-serif'"


@dataclass(frozen=True, slots=True)
class Point:
    """One run: the number of frames asked for, its score, the interval where there is one, and the items behind it."""

    frames: int
    value: float
    ci95: Sequence[float] | None
    n: int


def draw(title: str, metric: str, points: Sequence[Point], least: float) -> str:
    """Return the plot; `points` rise in frames, and the y axis spans at least `least`."""
    ends = [end for point in points for end in (point.value, *(point.ci95 or ()))]
    ticks = _ticks(min(ends), max(ends), least)
    places = [math.log2(point.frames + 1) for point in points]
    across = max(places[-1] - places[0], 1e-9)
    # The first and last points stand off the edges, so that no interval lies on the axis.
    inner = _WIDTH - _LEFT - _RIGHT - 60

    def x(place: float) -> float:
        return _LEFT + 30 + (inner * (place - places[0]) / across if len(points) > 1 else inner / 2)

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (value - ticks[0]) / (ticks[-1] - ticks[0])

    parts = [
        _text(_LEFT, 28, title, size=17, weight="bold"),
        _text(_LEFT, 50, f"{metric}, 95 % interval", colour=_GREY),
    ]
    for tick in ticks:
        parts.append(
            f"<line x1='{_LEFT}' y1='{y(tick):.1f}' x2='{_WIDTH - _RIGHT}' y2='{y(tick):.1f}' stroke='#d8dee4'/>"
        )
        parts.append(_text(_LEFT - 8, y(tick) + 4, f"{tick:g}", "end"))
    line = " ".join(f"{x(place):.1f},{y(point.value):.1f}" for place, point in zip(places, points, strict=True))
    parts.append(f"<polyline points='{line}' fill='none' stroke='{_LINE}' stroke-width='2'/>")
    for number, (place, point) in enumerate(zip(places, points, strict=True)):
        parts += _point(x(place), point, y)
        # The value stands on the side that the line leaves free.
        rises = points[min(number + 1, len(points) - 1)].value > point.value
        parts.append(_text(x(place) + 8, y(point.value) + (18 if rises else -8), f"{point.value:.1f}", size=12))
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 18, "frames (log scale)", "middle", colour=_GREY))
    size = f"width='{_WIDTH}' height='{_HEIGHT}' viewBox='0 0 {_WIDTH} {_HEIGHT}'"
    body = "\n".join(parts)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img' {_FONT}>\n<title>{escape(title)}</title>\n"
        f"<rect width='100%' height='100%' fill='#ffffff'/>\n{body}\n</svg>\n"
    )


def _point(at: float, point: Point, y: Callable[[float], float]) -> list[str]:
    parts = []
    if point.ci95 is not None:
        low, high = (y(end) for end in point.ci95)
        path = (
            f"M{at:.1f} {low:.1f}V{high:.1f}M{at - _CAP:.1f} {low:.1f}h{2 * _CAP}M{at - _CAP:.1f} {high:.1f}h{2 * _CAP}"
        )
        parts.append(f"<path d='{path}' stroke='{_LINE}' stroke-width='1.5' fill='none'/>")
    known = "" if point.ci95 is None else f" ({point.ci95[0]:.2f} to {point.ci95[1]:.2f})"
    parts.append(
        f"<circle cx='{at:.1f}' cy='{y(point.value):.1f}' r='5' fill='{_LINE}'>"
        f"<title>{point.frames} frames: {point.value:.2f}{known}, n = {point.n}</title></circle>"
    )
    parts.append(_text(at, _HEIGHT - _BOTTOM + 20, str(point.frames), "middle"))
    if point.frames == 0:
        parts.append(_text(at, _HEIGHT - _BOTTOM + 36, "text only", "middle", size=11, colour=_GREY))
    return parts


def _ticks(low: float, high: float, least: float) -> list[float]:
    """Return four to seven even ticks that hold both ends."""
    span = max(high - low, least)
    high = low + span
    power = 10 ** math.floor(math.log10(span / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= 5)  # noqa: PLR2004 - a plot's look
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]


def _text(
    x: float, y: float, text: str, anchor: str = "start", *, size: int = 13, colour: str = _TEXT, weight: str = "normal"
) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}' font-weight='{weight}' "
        f"fill='{colour}'>{escape(text)}</text>"
    )
