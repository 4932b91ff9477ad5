"""Plots of a card as SVG: text that a diff can show, the same bytes for the same numbers, and no plotting library.

Every number that a plot shows stands in a table beside it; the plot is for the eye.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

from reelbench.hub_cards.statistics import Distribution

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
WIDTH = 720
_TEXT = "#24292f"
_GREY = "#8c959f"
_FONT = "font-family='Helvetica, Arial, Noto Sans, sans-serif'"
_BINS = 15
_LABEL_CHARACTERS = 30


def bars(title: str, series: Mapping[str, Mapping[str, float]], *, counts: bool = False) -> str:
    """Draw horizontal bars, labels in the first series' order.

    Args:
        title: Stands above.
        series: Name of a series -> label -> per cent of the series' questions, or with `counts` a number.
        counts: Whether the values are numbers.
    """
    labels = list(dict.fromkeys(label for values in series.values() for label in values))
    top, left, right, height = _top(series), 220, 60, 16
    step = height * len(series) + 10
    most = max((value for values in series.values() for value in values.values()), default=0) or 1
    scale = (WIDTH - left - right) / most
    parts = _legend(title, list(series))
    for row, label in enumerate(labels):
        y = top + row * step
        parts.append(_text(left - 8, y + height * len(series) / 2 + 4, _cut(label), "end"))
        for number, values in enumerate(series.values()):
            value = values.get(label, 0)
            bar = y + number * height
            parts.append(_rectangle(left, bar + 1, value * scale, height - 2, number))
            told = f"{value:,.0f}" if counts else f"{value:.1f} %"
            parts.append(_text(left + value * scale + 5, bar + height - 4, told, size=11))
    return _svg(title, top + len(labels) * step + 6, parts)


def histogram(title: str, series: Mapping[str, Distribution]) -> str:
    """Draw a histogram of one quantity: name of a series -> its values, as per cent of the series in bins they share.

    The last bin takes the longest hundredth of the values, so that one outlier doesn't press the rest together.
    """
    found = list(series.values())
    whole = all(value == int(value) for one in found for value in one.values)
    edges = _edges(found, whole=whole)
    shares = {name: _shares(one.values, edges) for name, one in series.items()}
    top, left, right, plot = _top(series), 56, 16, 180
    tick = _nice(max(value for values in shares.values() for value in values) / 4, whole=False)
    most = 4 * tick
    slot = (WIDTH - left - right) / (len(edges) - 1)
    floor = top + plot
    parts = _legend(title, list(series))
    for step in range(5):
        y = floor - plot * step / 4
        parts.append(f"<line x1='{left}' y1='{y:.1f}' x2='{WIDTH - right}' y2='{y:.1f}' stroke='#d8dee4'/>")
        parts.append(_text(left - 6, y + 4, f"{tick * step:g} %", "end", size=11))
    width = (slot - 3) / len(series)
    for number, values in enumerate(shares.values()):
        for place, value in enumerate(values):
            tall = plot * value / most
            parts.append(_rectangle(left + place * slot + 1.5 + number * width, floor - tall, width, tall, number))
    longest = max(one.values[-1] for one in found)
    beyond = longest >= edges[-1] if whole else longest > edges[-1]
    for x, label in _axis(edges, whole=whole, beyond=beyond):
        parts.append(_text(left + x * slot, floor + 16, label, "middle", size=11))
    if beyond:
        tall = plot * max(values[-1] for values in shares.values()) / most
        parts.append(_text(WIDTH - right, floor - tall - 5, f"{edges[-2]:g} and more", "end", size=11))
    parts.append(_text(left + (WIDTH - left - right) / 2, floor + 36, found[0].unit, "middle", fill=_GREY))
    return _svg(title, floor + 46, parts)


def _axis(edges: Sequence[float], *, whole: bool, beyond: bool) -> list[tuple[float, str]]:
    """Return where labels stand, in bins from the left: edges of what is measured, the values of what is counted."""
    if not whole:
        return [(place, f"{edge:g}") for place, edge in enumerate(edges) if not (beyond and place == len(edges) - 1)]
    labels = []
    for place, (low, high) in enumerate(pairwise(edges)):
        last = beyond and place == len(edges) - 2
        labels.append(
            (place + 0.5, f"{low:g}+" if last else f"{low:g}" if high - low == 1 else f"{low:g}–{high - 1:g}")
        )
    return labels


def _edges(found: Sequence[Distribution], *, whole: bool) -> list[float]:
    low = min(one.values[0] for one in found)
    high = max(one.values[math.ceil(0.99 * len(one.values)) - 1] for one in found)
    width = _nice((high - low) / _BINS or 1, whole=whole)
    first = math.floor(low / width)
    # A measured value on an edge belongs to the bin below where that is the last one: 100 % is no bin of its own.
    count = math.floor(high / width) - first + 1 if whole else math.ceil(high / width) - first
    return [round((first + place) * width, 10) for place in range(max(count, 1) + 1)]


def _nice(width: float, *, whole: bool) -> float:
    """Return the least of 1, 2, 2.5 and 5 times a power of ten that is at least `width`, for whole numbers whole."""
    power = 10.0 ** math.floor(math.log10(width))
    steps = [power * factor for factor in (1, 2, 2.5, 5, 10)]
    fitting = [step for step in steps if step >= width * (1 - 1e-9) and not (whole and step != int(step))]
    return fitting[0] if fitting else 1.0


def _shares(values: Sequence[float], edges: Sequence[float]) -> list[float]:
    width = edges[1] - edges[0]
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(int((value - edges[0]) / width + 1e-9), len(counts) - 1)] += 1
    return [100 * count / len(values) for count in counts]


def _top(series: Mapping[str, object]) -> int:
    return 58 if len(series) > 1 else 40


def _legend(title: str, names: Sequence[str]) -> list[str]:
    parts = [_text(12, 24, title, size=15, weight="bold")]
    x = 12.0
    for number, name in enumerate(names if len(names) > 1 else ()):
        parts.append(_rectangle(x, 36, 11, 11, number))
        parts.append(_text(x + 16, 46, name, size=12))
        x += 34 + 7.5 * len(name)
    return parts


def _cut(label: str) -> str:
    return label if len(label) <= _LABEL_CHARACTERS else label[: _LABEL_CHARACTERS - 1] + "…"


def _rectangle(x: float, y: float, width: float, height: float, number: int) -> str:
    fill = COLOURS[number % len(COLOURS)]
    return f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' fill='{fill}'/>"


def _text(
    x: float, y: float, text: str, anchor: str = "start", *, size: int = 12, fill: str = _TEXT, weight: str = "normal"
) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}' font-weight='{weight}' "
        f"fill='{fill}'>{escape(text)}</text>"
    )


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    # White behind it: the page may be dark.
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0f}' width='{WIDTH}' "
        f"height='{height:.0f}' role='img' {_FONT}>"
    )
    back = f"<rect width='{WIDTH}' height='{height:.0f}' rx='6' fill='#ffffff'/>"
    return "\n".join([head, f"<title>{escape(title)}</title>", back, *parts, "</svg>"]) + "\n"
