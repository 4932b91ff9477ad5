"""Plots as SVG, without a plotting library: bars, histograms, lines, intervals.

Every number that a plot shows stands in a table or a file beside it. The plot is for the eye.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from reelbench.pages.svg import (
    GRID,
    INK,
    SOFT,
    colour,
    element,
    numeral,
    rectangle,
    svg_document,
    text,
)

WIDTH = 720
_LABEL_CHARACTERS = 30
_TITLE = 40
_ROUNDING = 1e-9
"""Quotients this close to a whole number are that number."""

# --- bars
# -------------------------------------------------------------------------------------------------

_PANELS = 3
"""Panels of bars side by side. More stand under them."""
_PANEL_HEAD = 20
_BAR_LABELS = 200
_BAR_ROW = 20
_BAR_NUMBER = 62


def bars(
    title: str,
    series: Mapping[str, Mapping[str, float]],
    *,
    counts: bool = False,
    n: Mapping[str, int] | None = None,
) -> str:
    """Draw horizontal bars, one panel for each series, all on one scale.

    Labels stand in the order in which the series first name them.

    Args:
        title: The picture's title.
        series: Label -> value, by the series' name.
        counts: Values are numbers. Without it they are per cent of the series' questions.
        n: The number of questions of each series.
    """
    all_labels: dict[str, None] = {}
    highest = 0.0
    for values in series.values():
        all_labels |= dict.fromkeys(values)
        highest = max(highest, *values.values()) if values else highest
    labels = list(all_labels)
    panels_across = min(len(series), _PANELS)
    panel_width = (WIDTH - _BAR_LABELS - 8) / panels_across
    panel_height = _PANEL_HEAD + len(labels) * _BAR_ROW + 10
    longest = panel_width - _BAR_NUMBER
    lone = len(series) == 1
    parts = [text(12, 24, title, size=15, weight="bold")]
    for number, (name, values) in enumerate(series.items()):
        panel_row, panel_column = divmod(number, panels_across)
        x = _BAR_LABELS + panel_column * panel_width
        top = _TITLE + panel_row * panel_height
        if not lone:
            parts.append(text(x, top + 14, _cut(name), weight="bold"))
        if n is not None:
            end = x + panel_width - 8
            parts.append(_question_count(n[name], end, top, lone=lone))
        for row, label in enumerate(labels):
            y = top + _PANEL_HEAD + row * _BAR_ROW
            if panel_column == 0:
                shown_label = _cut(label.replace("_", " "))
                parts.append(text(_BAR_LABELS - 8, y + 14, shown_label, "end"))
            value = values.get(label, 0)
            length = value * longest / (highest or 1)
            words = f"{value:,.0f}" if counts else f"{value:.1f} %"
            parts += _bar(x, y, length, words)
    panel_rows = math.ceil(len(series) / panels_across)
    height = _TITLE + panel_rows * panel_height
    return svg_document(title, height, parts, width=WIDTH)


def _question_count(count: int, end: float, top: float, *, lone: bool) -> str:
    words = f"n = {count:,}"
    baseline = top + 14
    if lone:
        words += "; share of them with each label"
        baseline = 24
    return text(end, baseline, words, "end", size=11, fill=SOFT)


def _bar(x: float, y: float, length: float, words: str) -> list[str]:
    return [
        rectangle(x, y + 2, length, _BAR_ROW - 4, colour(0)),
        text(x + length + 5, y + 14, words, size=11),
    ]


# --- histograms
# -------------------------------------------------------------------------------------------------

_BINS = 15
_HISTOGRAM_LEFT = 64
_HISTOGRAM_RIGHT = WIDTH - 16
_HISTOGRAM_WIDTH = _HISTOGRAM_RIGHT - _HISTOGRAM_LEFT


@dataclass(frozen=True, slots=True)
class _Bins:
    """Equal bins from edge to edge.

    `whole` bins are of whole numbers that are counted. `open_end` says that the last bin takes
    values beyond its edge, too.
    """

    edges: Sequence[float]
    whole: bool
    open_end: bool

    @property
    def number(self) -> int:
        return len(self.edges) - 1

    @property
    def width(self) -> float:
        return self.edges[1] - self.edges[0]

    def place_of(self, value: float) -> float:
        """Return the value's distance from the first edge, in bins."""
        return (value - self.edges[0]) / self.width

    def shares(self, values: Sequence[float]) -> list[float]:
        """Return the per cent of the values that are in each bin."""
        counts: Counter[int] = Counter()
        last_bin = self.number - 1
        for value in values:
            bin_number = int(self.place_of(value) + _ROUNDING)
            counts[min(bin_number, last_bin)] += 1
        total = len(values)
        return [100 * counts[place] / total for place in range(self.number)]


def _bins_for(series: Iterable[Sequence[float]]) -> _Bins:
    """Return the bins for all series, whose values are sorted.

    The last bin takes the longest hundredth of the values, so that one outlier doesn't press the
    rest together.
    """
    lows: list[float] = []
    highs: list[float] = []
    longest: list[float] = []
    whole = True
    for values in series:
        last_of_most = math.ceil(0.99 * len(values)) - 1
        lows.append(values[0])
        highs.append(values[last_of_most])
        longest.append(values[-1])
        whole = whole and all(value == int(value) for value in values)
    low = min(lows)
    high = max(highs)
    width = _round_step((high - low) / _BINS or 1, whole=whole)
    first = math.floor(low / width)
    # A measured value on the last edge belongs to the bin below: 100 % is no bin of its own.
    end = math.ceil(high / width)
    if whole:
        end = math.floor(high / width) + 1
    last = max(end, first + 1)
    edges = [round(place * width, 10) for place in range(first, last + 1)]
    last_edge = edges[-1]
    open_end = max(longest) > last_edge
    if whole:
        open_end = max(longest) >= last_edge
    return _Bins(edges, whole, open_end)


def histogram(title: str, series: Mapping[str, Sequence[float]], unit: str) -> str:
    """Draw a histogram of one quantity, one panel under the other for each series.

    They share their bins and their scale. Values are sorted. A line marks the median.
    """
    bins = _bins_for(series.values())
    shares = {name: bins.shares(values) for name, values in series.items()}
    highest_shares = map(max, shares.values())
    steps = _share_ticks(max(highest_shares))
    lone = len(series) == 1
    head_height = 30 if lone else 40
    panel_height = 180 if lone else 110
    parts = [text(12, 24, title, size=15, weight="bold")]
    floor = float(_TITLE)
    for name, values in series.items():
        top = floor + head_height
        floor = top + panel_height
        if not lone:
            parts.append(text(_HISTOGRAM_LEFT, top - 10, _cut(name), weight="bold"))
        parts += _histogram_panel(values, shares[name], bins, steps, (top, floor))
    parts += _histogram_axis(bins, floor)
    middle = _HISTOGRAM_LEFT + _HISTOGRAM_WIDTH / 2
    parts.append(text(middle, floor + 36, unit, "middle", fill=SOFT))
    return svg_document(title, floor + 46, parts, width=WIDTH)


def _share_ticks(highest: float) -> list[float]:
    step = _round_step(highest / 4, whole=False)
    number = math.ceil(highest / step - _ROUNDING)
    return [step * place for place in range(number + 1)]


def _slot_width(bins: _Bins) -> float:
    return _HISTOGRAM_WIDTH / bins.number


def _histogram_panel(
    values: Sequence[float],
    shares: Sequence[float],
    bins: _Bins,
    steps: Sequence[float],
    span: tuple[float, float],
) -> list[str]:
    """Draw one series: its number of values, the grid, the bins, its median.

    `span` is the top and the floor of its panel.
    """
    top, floor = span
    height = floor - top
    highest = steps[-1]
    slot = _slot_width(bins)
    middle = median(values)
    shown_median = numeral(round(middle, 1))
    note = f"n = {len(values):,}, median {shown_median}; share of them in each bin"
    parts = [text(WIDTH - 16, top - 10, note, "end", size=11, fill=SOFT)]
    y = tick_scale(steps, floor, top)
    parts += grid(steps, y, _HISTOGRAM_LEFT, _HISTOGRAM_RIGHT, sign=" %")
    for place, share in enumerate(shares):
        tall = height * share / highest
        x = _HISTOGRAM_LEFT + place * slot + 1.5
        y_top = floor - tall
        parts.append(rectangle(x, y_top, slot - 3, tall, colour(0)))
    # A whole number stands in the middle of its place, a measured one on it.
    shift = 0.5 if bins.whole else 0
    median_place = min(bins.place_of(middle + shift), bins.number)
    x = _HISTOGRAM_LEFT + slot * median_place
    median_line = element("line", x1=x, y1=top, x2=x, y2=floor, stroke=INK, stroke_dasharray="3 3")
    parts.append(median_line)
    return parts


def _histogram_axis(bins: _Bins, floor: float) -> list[str]:
    labels = _value_labels(bins) if bins.whole else _edge_labels(bins)
    slot = _slot_width(bins)
    parts: list[str] = []
    for place, label in labels:
        x = _HISTOGRAM_LEFT + place * slot
        parts.append(text(x, floor + 16, label, "middle", size=11))
    if bins.open_end and not bins.whole:
        words = f"{numeral(bins.edges[-2])} and more"
        parts.append(text(_HISTOGRAM_RIGHT, floor + 32, words, "end", size=11))
    return parts


def _edge_labels(bins: _Bins) -> list[tuple[float, str]]:
    """Return the edges and their places, in bins from the left."""
    edges = bins.edges[:-1] if bins.open_end else bins.edges
    return [(place, numeral(edge)) for place, edge in enumerate(edges)]


def _value_labels(bins: _Bins) -> list[tuple[float, str]]:
    """Return the values that each bin counts, and the middles of the bins."""
    labels: list[tuple[float, str]] = []
    for place, (low, high) in enumerate(pairwise(bins.edges)):
        if bins.open_end and place == bins.number - 1:
            label = f"{low:g}+"
        elif high - low == 1:
            label = numeral(low)
        else:
            label = f"{low:g}–{high - 1:g}"
        labels.append((place + 0.5, label))
    return labels


# --- a score against a setting
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """One value of a line, with its interval and the number of items behind it.

    Attributes:
        at: Where it stands on the axis.
        label: The setting's name.
        value: The score.
        ci95: The ends of its 95 % interval.
        n: The number of items.
        below: Words under the setting's name.
        hover: The setting's name in full, shown under the pointer.
    """

    at: float
    label: str
    value: float
    ci95: Sequence[float] | None
    n: int
    below: str = ""
    hover: str = ""


_CURVE_HEIGHT = 420
_LEFT = 76
_TOP = 72
_BOTTOM = 76
_CURVE_RIGHT = WIDTH - 32
_CAP = 5
_CAP_LENGTH = 2 * _CAP
_DASHES = (None, "6 3", "2 3", "8 3 2 3", "1 2")  # tell lines of one colour apart
_BESIDE = 7
"""Pixels between marks of several lines at one setting."""
_KEY_ROW = 18
_INTERVAL_LABELS = 200
_INTERVAL_ROW = 26


def frames_mark(frames: int, value: float, ci95: Sequence[float] | None, n: int) -> Mark:
    """Return the mark of a run on an axis of frames.

    It stands at log2(N + 1), so that 0 (text only) has a place and each doubling takes the same
    step.
    """
    below = "" if frames else "text only"
    at = math.log2(frames + 1)
    hover = f"{frames} frames"
    return Mark(at, str(frames), value, ci95, n, below=below, hover=hover)


def lines(
    title: str, metric: str, series: Mapping[str, Sequence[Mark]], axis: str, least: float
) -> str:
    """Draw a score against a setting, one line for each series.

    A mark's 95 % interval is drawn where it has one.

    Args:
        title: The picture's title.
        metric: The score's name and unit.
        series: At least one mark each, from left to right, by the series' name.
        axis: The setting's name.
        least: The span that the y axis has at least.
    """
    marks = marks_of(series)
    key: list[list[str]] = []
    if len(series) > 1:
        key = _line_key(list(series))
    top = _TOP + _KEY_ROW * len(key)
    floor = top + _CURVE_HEIGHT - _TOP - _BOTTOM
    places = [mark.at for mark in marks]
    place_span = (min(places), max(places))
    # The first and last marks stand off the edges, so that no interval lies on the axis.
    x = scale(place_span, (_LEFT + 30, _CURVE_RIGHT - 30))
    low, high = value_span(marks)
    steps = ticks(low, high, least)
    y = tick_scale(steps, floor, top)
    parts = heading(_LEFT, title, metric + interval_note(marks))
    for key_row in key:
        parts += key_row
    parts += grid(steps, y, _LEFT, _CURVE_RIGHT)
    middle_line = (len(series) - 1) / 2
    for number, (name, line) in enumerate(series.items()):
        beside = _BESIDE * (number - middle_line)
        points = [(x(mark.at) + beside, y(mark.value)) for mark in line]
        parts.append(polyline(points, number, 2))
        for place, mark in enumerate(line):
            point = points[place]
            parts += dot(name, colour(number), point[0], mark, y)
            if not name:  # the values of several lines would hide one another
                next_place = min(place + 1, len(line) - 1)
                rises = line[next_place].value > mark.value
                parts.append(_value_beside(mark.value, point, floor, line_rises=rises))
    parts += _setting_labels(marks, x, floor)
    middle = (_LEFT + _CURVE_RIGHT) / 2
    parts.append(text(middle, floor + 58, axis, "middle", size=13, fill=SOFT))
    return svg_document(title, floor + _BOTTOM, parts, width=WIDTH)


def _setting_labels(marks: Sequence[Mark], x: Callable[[float], float], floor: float) -> list[str]:
    parts: list[str] = []
    settings = {mark.at: mark for mark in marks}
    for at, mark in settings.items():
        place = x(at)
        parts.append(text(place, floor + 20, mark.label, "middle", size=13))
        if mark.below:
            parts.append(text(place, floor + 36, mark.below, "middle", size=11, fill=SOFT))
    return parts


def _line_key(names: Sequence[str]) -> list[list[str]]:
    """Return the key as rows of parts: the stroke and the name of each line."""
    rows: list[list[str]] = [[]]
    x = float(_LEFT)
    for number, name in enumerate(names):
        width = 44 + 7.5 * len(name)
        if rows[-1] and x + width > _CURVE_RIGHT:
            rows.append([])
            x = float(_LEFT)
        baseline = 66 + _KEY_ROW * (len(rows) - 1)
        middle = baseline - 4
        stroke = element(
            "line",
            x1=x,
            y1=middle,
            x2=x + 24,
            y2=middle,
            stroke=colour(number),
            stroke_width=2,
            stroke_dasharray=dashes(number),
        )
        label = text(x + 29, baseline, name, size=12)
        rows[-1] += [stroke, label]
        x += width
    return rows


def _value_beside(
    value: float, point: tuple[float, float], floor: float, *, line_rises: bool
) -> str:
    """Draw a mark's value where neither the line nor the axis stands."""
    x, height = point
    under = line_rises and height + 22 < floor
    baseline = height + 18 if under else height - 8
    return text(x + 8, baseline, numeral(value, 1))


def intervals(title: str, metric: str, marks: Sequence[Mark], digits: int) -> str:
    """Draw values and their 95 % intervals, one under the other.

    There is at least one mark. Where it stands (`at`) goes unused. `metric` is the score's name and
    unit.
    """
    low, high = value_span(marks)
    steps = ticks(min(0, low), high, 1)
    floor = _TOP + len(marks) * _INTERVAL_ROW
    x = tick_scale(steps, _INTERVAL_LABELS, WIDTH - 96)
    parts = heading(12, title, metric + interval_note(marks), small=True)
    for tick in steps:
        tick_x = float(x(tick))
        parts.append(element("line", x1=tick_x, y1=_TOP, x2=tick_x, y2=floor, stroke=GRID))
        parts.append(text(tick_x, floor + 18, numeral(tick), "middle", size=11))
    for row, mark in enumerate(marks):
        y = _TOP + (row + 0.5) * _INTERVAL_ROW
        label = _cut(mark.label)
        parts.append(text(_INTERVAL_LABELS - 8, y + 4, label, "end"))
        parts += _interval_row(mark, x, y, digits)
    return svg_document(title, floor + 32, parts, width=WIDTH)


def _interval_row(mark: Mark, x: Callable[[float], float], y: float, digits: int) -> list[str]:
    parts: list[str] = []
    if mark.ci95 is not None:
        low, high = map(x, mark.ci95)
        cap_start = y - _CAP
        low_cap = f"M{low:.1f} {cap_start:.1f}v{_CAP_LENGTH}"
        high_cap = f"M{high:.1f} {cap_start:.1f}v{_CAP_LENGTH}"
        line = f"M{low:.1f} {y:.1f}H{high:.1f}"
        parts.append(_interval_path(line + low_cap + high_cap, colour(0)))
    tip = f"{mark.label}: {_numbers(mark, digits)}"
    place = float(x(mark.value))
    parts.append(element("circle", tip, cx=place, cy=y, r=5, fill=colour(0)))
    value = numeral(mark.value, digits)
    words = f"{value} (n {mark.n})"
    parts.append(text(WIDTH - 8, y + 4, words, "end", size=11))
    return parts


# --- parts of charts
# -------------------------------------------------------------------------------------------------


def heading(x: float, title: str, subtitle: str, *, small: bool = False) -> list[str]:
    """Return a title and the line under it, at this distance from the left."""
    if small:
        return [
            text(x, 24, title, size=15, weight="bold"),
            text(x, 46, subtitle, fill=SOFT),
        ]
    return [
        text(x, 28, title, size=17, weight="bold"),
        text(x, 50, subtitle, size=13, fill=SOFT),
    ]


def marks_of(series: Mapping[str, Sequence[Mark]]) -> list[Mark]:
    """Return the marks of all series in one list."""
    marks: list[Mark] = []
    for line in series.values():
        marks += line
    return marks


def value_span(marks: Sequence[Mark]) -> tuple[float, float]:
    """Return the lowest and highest value, ends of intervals included."""
    ends: list[float] = []
    for mark in marks:
        ends.append(mark.value)
        ends += mark.ci95 or ()
    return min(ends), max(ends)


def interval_note(marks: Sequence[Mark]) -> str:
    """Return the end of a chart's subtitle: the interval where one is drawn, and n."""
    numbers = sorted({mark.n for mark in marks})
    n = f"{numbers[0]:,}"
    if len(numbers) > 1:
        n += f" to {numbers[-1]:,}"
    if all(mark.ci95 is None for mark in marks):
        return f", no interval, n = {n}"
    return f", 95 % interval, n = {n}"


def polyline(points: Sequence[tuple[float, float]], number: int, width: float) -> str:
    """Draw a line through points, in the look of the series of this number."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element(
        "polyline",
        points=path,
        fill="none",
        stroke=colour(number),
        stroke_width=f"{width:g}",
        stroke_dasharray=dashes(number),
    )


def dot(
    name: str, stroke: str, at: float, mark: Mark, y: Callable[[float], float], *, digits: int = 2
) -> list[str]:
    """Return a mark's point and interval.

    The pointer shows its numbers.
    """
    parts: list[str] = []
    if mark.ci95 is not None:
        low, high = map(y, mark.ci95)
        cap_start = at - _CAP
        low_cap = f"M{cap_start:.1f} {low:.1f}h{_CAP_LENGTH}"
        high_cap = f"M{cap_start:.1f} {high:.1f}h{_CAP_LENGTH}"
        line = f"M{at:.1f} {low:.1f}V{high:.1f}"
        parts.append(_interval_path(line + low_cap + high_cap, stroke))
    setting = mark.hover or mark.label
    name_and_setting = f"{name}, {setting}" if name else setting
    tip = f"{name_and_setting}: {_numbers(mark, digits)}"
    height = float(y(mark.value))
    parts.append(element("circle", tip, cx=float(at), cy=height, r=5, fill=stroke))
    return parts


def _interval_path(path: str, stroke: str) -> str:
    return element("path", d=path, stroke=stroke, stroke_width=1.5, fill="none")


def _numbers(mark: Mark, digits: int) -> str:
    words = numeral(mark.value, digits)
    if mark.ci95 is not None:
        low, high = mark.ci95
        shown_low = numeral(low, digits)
        shown_high = numeral(high, digits)
        words += f" ({shown_low} to {shown_high})"
    return f"{words}, n = {mark.n}"


def dashes(number: int) -> str | None:
    """Return the dashes of a line, which tell it from others beside its colour.

    None for a solid line.
    """
    return _DASHES[number % len(_DASHES)]


def grid(
    steps: Sequence[float],
    y: Callable[[float], float],
    start: int,
    end: int,
    *,
    sign: str = "",
) -> list[str]:
    """Draw a line at each tick of the y axis, with its number.

    It goes from `start` to `end`. `sign` stands behind the number.
    """
    size = 11 if sign else 13
    parts: list[str] = []
    for tick in steps:
        height = float(y(tick))
        label = numeral(tick) + sign
        parts.append(element("line", x1=start, y1=height, x2=end, y2=height, stroke=GRID))
        parts.append(text(start - 8, height + 4, label, "end", size=size))
    return parts


def tick_scale(steps: Sequence[float], start: float, end: float) -> Callable[[float], float]:
    """Return the scale whose first tick is at `start` and whose last is at `end`."""
    return scale((steps[0], steps[-1]), (start, end))


def scale(values: tuple[float, float], places: tuple[float, float]) -> Callable[[float], float]:
    """Return the function from a value to its place in pixels.

    `places` are those of the first and the last of `values`. Where both values are the same, it
    stands in the middle.
    """
    low, high = values
    start, end = places

    def place_of(value: float) -> float:
        if high == low:
            return start + (end - start) / 2
        pixels = end - start
        return start + pixels * (value - low) / (high - low)

    return place_of


def ticks(low: float, high: float, least: float) -> list[float]:
    """Return even ticks that enclose both ends, at most five steps of them between."""
    span = max(high - low, least)
    step = _round_step(span / 5, whole=False)
    first = math.floor(low / step)
    end = low + span
    last = max(math.ceil(end / step), first + 1)
    return [round(number * step, 10) for number in range(first, last + 1)]


def _round_step(width: float, *, whole: bool) -> float:
    """Return the least round number that is at least `width`.

    `whole` allows only whole numbers. Round numbers are 1, 2, 2.5 and 5 times a power of ten.
    """
    power = 10.0 ** math.floor(math.log10(width))
    least = width * (1 - _ROUNDING)
    for factor in (1, 2, 2.5, 5, 10):
        step = power * factor
        is_allowed = not whole or step == int(step)
        if step >= least and is_allowed:
            return step
    return 1.0


def _cut(label: str) -> str:
    if len(label) <= _LABEL_CHARACTERS:
        return label
    return label[: _LABEL_CHARACTERS - 1] + "…"
