"""Plots as SVG: text that a diff can show, the same bytes for the same numbers, and no plotting library.

Bars and histograms of a data set, a score against frames. Every number that a plot shows stands in
a table or a file beside it; the plot is for the eye.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from statistics import median

from reelbench.pages.svg import GRID, INK, SOFT, colour, numeral, rectangle, svg_document, text

WIDTH = 720
_BINS = 15
_LABEL_CHARACTERS = 30
_TITLE, _PANEL_HEAD = 40, 20
_PANELS = 3
"""Panels of bars side by side; more stand under them."""


def bars(
    title: str,
    series: Mapping[str, Mapping[str, float]],
    *,
    counts: bool = False,
    n: Mapping[str, int] | None = None,
) -> str:
    """Draw horizontal bars, labels in the first series' order, a panel beside the other for each series, of one scale.

    Values are per cent of the series' questions, of which there are `n`; or numbers, with `counts`.
    """
    labels = list(dict.fromkeys(label for values in series.values() for label in values))
    left, room, height = 200, 62, 20
    most = max((value for values in series.values() for value in values.values()), default=0) or 1
    across = min(len(series), _PANELS)
    wide = (WIDTH - left - 8) / across
    block = _PANEL_HEAD + len(labels) * height + 10
    parts = [text(12, 24, title, size=15, weight="bold")]
    for number, (name, values) in enumerate(series.items()):
        x, top = left + number % across * wide, _TITLE + number // across * block
        if len(series) > 1:
            parts.append(text(x, top + 14, _cut(name), weight="bold"))
        if n is not None:
            y = top + 14 if len(series) > 1 else 24
            words = (
                f"n = {n[name]:,}"
                if len(series) > 1
                else f"n = {n[name]:,}; share of them with each label"
            )
            parts.append(text(x + wide - 8, y, words, "end", size=11, fill=SOFT))
        for row, label in enumerate(labels):
            y = top + _PANEL_HEAD + row * height
            if number % across == 0:
                parts.append(text(left - 8, y + 14, _cut(label.replace("_", " ")), "end"))
            value = values.get(label, 0)
            length = value * (wide - room) / most
            number_shown = f"{value:,.0f}" if counts else f"{value:.1f} %"
            parts.append(rectangle(x, y + 2, length, height - 4, colour(0)))
            parts.append(text(x + length + 5, y + 14, number_shown, size=11))
    return svg_document(title, _TITLE + math.ceil(len(series) / across) * block, parts, width=WIDTH)


def histogram(title: str, series: Mapping[str, Sequence[float]], unit: str) -> str:
    """Draw a histogram of one quantity, a panel under the other for each series, in bins and on a scale they share.

    The last bin takes the longest hundredth of the values, which are sorted, so that one outlier
    doesn't press the rest together. A line marks the median.
    """
    whole = all(value == int(value) for values in series.values() for value in values)
    low = min(values[0] for values in series.values())
    high = max(values[math.ceil(0.99 * len(values)) - 1] for values in series.values())
    width = _nice((high - low) / _BINS or 1, whole=whole)
    first = math.floor(low / width)
    # A measured value on an edge belongs to the bin below where that is the last one: 100 % is no
    # bin of its own.
    number = math.floor(high / width) - first + 1 if whole else math.ceil(high / width) - first
    edges = [round((first + place) * width, 10) for place in range(max(number, 1) + 1)]
    shares: dict[str, list[float]] = {}
    for name, values in series.items():
        bins = Counter(
            min(int((v - edges[0]) / (edges[1] - edges[0]) + 1e-9), len(edges) - 2) for v in values
        )
        shares[name] = [100 * bins[place] / len(values) for place in range(len(edges) - 1)]
    longest = max(values[-1] for values in series.values())
    beyond = longest >= edges[-1] if whole else longest > edges[-1]
    most = max(value for values in shares.values() for value in values)
    tick = _nice(most / 4, whole=False)
    steps = [tick * step for step in range(math.ceil(most / tick - 1e-9) + 1)]
    plot = 180 if len(series) == 1 else 110
    left, right = 64, 16
    slot = (WIDTH - left - right) / (len(edges) - 1)
    parts = [text(12, 24, title, size=15, weight="bold")]
    floor = float(_TITLE)
    for name, values in shares.items():
        top = floor + (30 if len(series) == 1 else 40)
        floor = top + plot
        if len(series) > 1:
            parts.append(text(left, top - 10, _cut(name), weight="bold"))
        middle = median(series[name])
        told = f"n = {len(series[name]):,}, median {numeral(round(middle, 1))}; share of them in each bin"
        parts.append(text(WIDTH - 16, top - 10, told, "end", size=11, fill=SOFT))
        parts += grid(steps, scale((0, steps[-1]), (floor, top)), left, WIDTH - right, sign=" %")
        for place, value in enumerate(values):
            tall = plot * value / steps[-1]
            parts.append(
                rectangle(left + place * slot + 1.5, floor - tall, slot - 3, tall, colour(0))
            )
        at = left + slot * min(
            (middle + whole / 2 - edges[0]) / (edges[1] - edges[0]), len(edges) - 1
        )
        parts.append(
            f"<line x1='{at:.1f}' y1='{top}' x2='{at:.1f}' y2='{floor}' stroke='{INK}' stroke-dasharray='3 3'/>"
        )
    for x, label in _axis(edges, whole=whole, beyond=beyond):
        parts.append(text(left + x * slot, floor + 16, label, "middle", size=11))
    if beyond and not whole:
        parts.append(
            text(WIDTH - right, floor + 32, f"{numeral(edges[-2])} and more", "end", size=11)
        )
    parts.append(text(left + (WIDTH - left - right) / 2, floor + 36, unit, "middle", fill=SOFT))
    return svg_document(title, floor + 46, parts, width=WIDTH)


def _axis(edges: Sequence[float], *, whole: bool, beyond: bool) -> list[tuple[float, str]]:
    """Return the labels' places, in bins from the left: edges of what is measured, the values of what is counted."""
    if not whole:
        return [
            (place, numeral(edge))
            for place, edge in enumerate(edges)
            if not (beyond and place == len(edges) - 1)
        ]
    labels: list[tuple[float, str]] = []
    for place, (low, high) in enumerate(pairwise(edges)):
        last = beyond and place == len(edges) - 2
        labels.append(
            (
                place + 0.5,
                f"{low:g}+"
                if last
                else numeral(low)
                if high - low == 1
                else f"{low:g}–{high - 1:g}",
            )
        )
    return labels


# --- a score against a setting
# ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """One value of a line: where it stands, what the setting is called, its score and interval, the items behind it.

    `below` stands under the setting's name; `hover` is its name in full, shown under the pointer.
    """

    at: float
    label: str
    value: float
    ci95: Sequence[float] | None
    n: int
    below: str = ""
    hover: str = ""


_CURVE_HEIGHT = 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 32, 72, 76
_CAP = 5
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2")  # tell lines of one colour apart
_BESIDE = 7  # pixels between marks of several lines at one setting


def frames_mark(frames: int, value: float, ci95: Sequence[float] | None, n: int) -> Mark:
    """Return the mark of a run, asked with so many frames, on an axis of frames.

    It stands at log2(N + 1), so that 0 (text only) has a place and each doubling takes the same
    step.
    """
    below = "" if frames else "text only"
    return Mark(
        math.log2(frames + 1), str(frames), value, ci95, n, below=below, hover=f"{frames} frames"
    )


def lines(
    title: str, metric: str, series: Mapping[str, Sequence[Mark]], axis: str, least: float
) -> str:
    """Draw a score against a setting, a line for each series, with 95 % intervals where there are any.

    A series has at least one mark, from left to right; `metric` is the score's name and unit,
    `axis` what the setting is; the y axis spans at least `least`.
    """
    marks = [mark for line in series.values() for mark in line]
    ends = [end for mark in marks for end in (mark.value, *(mark.ci95 or ()))]
    steps = ticks(min(ends), max(ends), least)
    key = []
    if len(series) > 1:
        # Rows with each line's stroke and name.
        names = list(series)
        key: list[list[str]] = [[]]
        across = float(_LEFT)
        for number, name in enumerate(names):
            width = 44 + 7.5 * len(name)
            if key[-1] and across + width > WIDTH - _RIGHT:
                key.append([])
                across = float(_LEFT)
            down = 66 + 18 * (len(key) - 1)
            stroke = f"stroke='{colour(number)}' stroke-width='2'{dashes(number)}"
            key[-1] += [
                f"<line x1='{across:.1f}' y1='{down - 4}' x2='{across + 24:.1f}' y2='{down - 4}' {stroke}/>",
                text(across + 29, down, name, size=12),
            ]
            across += width
    top = _TOP + 18 * len(key)
    floor = top + _CURVE_HEIGHT - _TOP - _BOTTOM
    # The first and last marks stand off the edges, so that no interval lies on the axis.
    x = scale(
        (min(mark.at for mark in marks), max(mark.at for mark in marks)),
        (_LEFT + 30, WIDTH - _RIGHT - 30),
    )
    y = scale((steps[0], steps[-1]), (floor, top))
    parts = [
        text(_LEFT, 28, title, size=17, weight="bold"),
        text(_LEFT, 50, f"{metric}{interval_note(marks)}", size=13, fill=SOFT),
        *(part for row in key for part in row),
    ]
    parts += grid(steps, y, _LEFT, WIDTH - _RIGHT)
    for number, (name, line) in enumerate(series.items()):
        beside = _BESIDE * (number - (len(series) - 1) / 2)
        places = [(x(mark.at) + beside, y(mark.value)) for mark in line]
        parts.append(polyline(places, number, 2))
        for place, ((at, height), mark) in enumerate(zip(places, line, strict=True)):
            parts += dot(name, colour(number), at, mark, y)
            if not name:  # the values of several lines would hide one another
                # The value stands on the side that the line leaves free, not among the axis's own
                # numbers.
                rises = line[min(place + 1, len(line) - 1)].value > mark.value
                under = rises and height + 22 < floor
                parts.append(text(at + 8, height + (18 if under else -8), numeral(mark.value, 1)))
    for at, mark in {mark.at: mark for mark in marks}.items():
        parts.append(text(x(at), floor + 20, mark.label, "middle", size=13))
        if mark.below:
            parts.append(text(x(at), floor + 36, mark.below, "middle", size=11, fill=SOFT))
    parts.append(text((_LEFT + WIDTH - _RIGHT) / 2, floor + 58, axis, "middle", size=13, fill=SOFT))
    return svg_document(title, floor + _BOTTOM, parts, width=WIDTH)


def intervals(title: str, metric: str, marks: Sequence[Mark], digits: int) -> str:
    """Draw values as points with their 95 % intervals, where there are any, one under the other.

    There is at least one mark; where it stands (`at`) goes unused. `metric` is the score's name and
    unit.
    """
    ends = [end for mark in marks for end in (mark.value, *(mark.ci95 or ()))]
    steps = ticks(min(0, *ends), max(ends), 1)
    left, right, top, height = 200, 96, _TOP, 26
    floor = top + len(marks) * height
    x = scale((steps[0], steps[-1]), (left, WIDTH - right))
    parts = [
        text(12, 24, title, size=15, weight="bold"),
        text(12, 46, f"{metric}{interval_note(marks)}", fill=SOFT),
    ]
    for tick in steps:
        parts.append(
            f"<line x1='{x(tick):.1f}' y1='{top}' x2='{x(tick):.1f}' y2='{floor}' stroke='{GRID}'/>"
        )
        parts.append(text(x(tick), floor + 18, numeral(tick), "middle", size=11))
    for row, mark in enumerate(marks):
        y = top + (row + 0.5) * height
        parts.append(text(left - 8, y + 4, _cut(mark.label), "end"))
        if mark.ci95 is not None:
            low, high = map(x, mark.ci95)
            path = f"M{low:.1f} {y:.1f}H{high:.1f}" + "".join(
                f"M{end:.1f} {y - _CAP:.1f}v{2 * _CAP}" for end in (low, high)
            )
            parts.append(f"<path d='{path}' stroke='{colour(0)}' stroke-width='1.5' fill='none'/>")
        hover = f"{escape(mark.label)}: {_numbers(mark, digits)}"
        parts.append(
            f"<circle cx='{x(mark.value):.1f}' cy='{y:.1f}' r='5' fill='{colour(0)}'><title>{hover}</title></circle>"
        )
        parts.append(
            text(WIDTH - 8, y + 4, f"{numeral(mark.value, digits)} (n {mark.n})", "end", size=11)
        )
    return svg_document(title, floor + 32, parts, width=WIDTH)


def interval_note(marks: Sequence[Mark]) -> str:
    """Return the end of a chart's subtitle: the interval where one is drawn, and n."""
    numbers = sorted({mark.n for mark in marks})
    n = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
    said = "no interval" if all(mark.ci95 is None for mark in marks) else "95 % interval"
    return f", {said}, n = {n}"


def polyline(points: Sequence[tuple[float, float]], number: int, width: float) -> str:
    """Return the line through some points, with the colour and the dashes of the series of this number."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f"<polyline points='{path}' fill='none' stroke='{colour(number)}' stroke-width='{width:g}'{dashes(number)}/>"


def dot(
    name: str, stroke: str, at: float, mark: Mark, y: Callable[[float], float], *, digits: int = 2
) -> list[str]:
    """Return a mark's point and interval; the pointer shows its numbers."""
    parts: list[str] = []
    if mark.ci95 is not None:
        low, high = (y(end) for end in mark.ci95)
        path = f"M{at:.1f} {low:.1f}V{high:.1f}M{at - _CAP:.1f} {low:.1f}h{2 * _CAP}M{at - _CAP:.1f} {high:.1f}h{2 * _CAP}"
        parts.append(f"<path d='{path}' stroke='{stroke}' stroke-width='1.5' fill='none'/>")
    setting = mark.hover or mark.label
    hover = escape(f"{name}, {setting}" if name else setting)
    parts.append(
        f"<circle cx='{at:.1f}' cy='{y(mark.value):.1f}' r='5' fill='{stroke}'>"
        f"<title>{hover}: {_numbers(mark, digits)}</title></circle>"
    )
    return parts


def _numbers(mark: Mark, digits: int) -> str:
    known = (
        ""
        if mark.ci95 is None
        else f" ({numeral(mark.ci95[0], digits)} to {numeral(mark.ci95[1], digits)})"
    )
    return f"{numeral(mark.value, digits)}{known}, n = {mark.n}"


def dashes(number: int) -> str:
    """Return a line's dashes, which tell it from others beside its colour, as an attribute."""
    pattern = _DASHES[number % len(_DASHES)]
    return f" stroke-dasharray='{pattern}'" if pattern else ""


def grid(
    steps: Sequence[float],
    y: Callable[[float], float],
    left: float,
    right: float,
    *,
    sign: str = "",
) -> list[str]:
    """Return a line from `left` to `right` at each tick of the y axis, and its number with `sign` behind it."""
    parts: list[str] = []
    for tick in steps:
        parts.append(
            f"<line x1='{left}' y1='{y(tick):.1f}' x2='{right}' y2='{y(tick):.1f}' stroke='{GRID}'/>"
        )
        parts.append(
            text(left - 8, y(tick) + 4, f"{numeral(tick)}{sign}", "end", size=11 if sign else 13)
        )
    return parts


def scale(values: tuple[float, float], places: tuple[float, float]) -> Callable[[float], float]:
    """Return the place of a value in pixels, `places` being the first and the last one's; a lone one's is between."""
    (low, high), (start, end) = values, places
    return lambda value: (
        start + ((end - start) * (value - low) / (high - low) if high != low else (end - start) / 2)
    )


def ticks(low: float, high: float, least: float) -> list[float]:
    """Return even ticks that hold both ends, at most five steps of them between."""
    span = max(high - low, least)
    step = _nice(span / 5, whole=False)
    first, last = math.floor(low / step), math.ceil((low + span) / step)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]


# --- what all share
# --------------------------------------------------------------------------------------------------


def _nice(width: float, *, whole: bool) -> float:
    """Return the least of 1, 2, 2.5 and 5 times a power of ten that is at least `width`, for whole numbers whole."""
    power = 10.0 ** math.floor(math.log10(width))
    steps = [power * factor for factor in (1, 2, 2.5, 5, 10)]
    fitting = [
        step for step in steps if step >= width * (1 - 1e-9) and not (whole and step != int(step))
    ]
    return fitting[0] if fitting else 1.0


def _cut(label: str) -> str:
    return label if len(label) <= _LABEL_CHARACTERS else label[: _LABEL_CHARACTERS - 1] + "…"
