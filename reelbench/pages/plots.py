"""Plots of numbers as SVG: bars, histograms, lines, intervals.

Every number that a plot shows stands in a table or a file beside it. The plot is for the eye. Each
is described (`chart.py`) and drawn by the one drawer.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from reelbench.base import bounds
from reelbench.base.errors import cut_in_the_middle
from reelbench.pages import chart
from reelbench.pages.canvases import to_svg
from reelbench.pages.chart import Axis, Box, Chart, Panel, Path, Rule, Texts
from reelbench.pages.drawing import draw
from reelbench.pages.letters import Letters
from reelbench.pages.svg import numeral

WIDTH = 720
_ROUNDING = 1e-9
"""Quotients this close to a whole number are that number."""


def svg_of(described: Chart) -> str:
    """Draw a chart's description as SVG, as wide as a page."""
    return to_svg(draw(described, described.width or WIDTH, Letters()))


def labelled(steps: Iterable[float], sign: str = "") -> tuple[tuple[float, str], ...]:
    """Return an axis's ticks, each with its number and a sign."""
    return tuple((step, numeral(step) + sign) for step in steps)


# --- bars
# -------------------------------------------------------------------------------------------------


def bars(
    title: str,
    series: Mapping[str, Mapping[str, float]],
    *,
    counts: bool = False,
    n: Mapping[str, int] | None = None,
) -> str:
    """Draw horizontal bars, under each label one for each series.

    Labels stand in the order in which the series first name them.

    Args:
        title: The picture's title.
        series: Label -> value, by the series' name.
        counts: Values are numbers. Without it they are per cent of the series' questions.
        n: The number of questions of each series.
    """
    bar_rows: list[_BarRow] = []
    for label in _labels_in_order(series):
        bar_rows += _rows_of_label(label, series, counts=counts)
    boxes: list[Box] = []
    for row, bar_row in enumerate(bar_rows):
        if bar_row.box_kind is None:
            continue
        bar = Box(
            x=(0, bar_row.value),
            y=(row, row + 1),
            kind=bar_row.box_kind,
            text=bar_row.tip,
        )
        boxes.append(bar)
    highest = max((bar_row.value for bar_row in bar_rows), default=0.0)
    sign = "" if counts else " %"
    axis = Axis(ticks=labelled(_steps_from_zero(highest or 1, whole=counts), sign))
    across = (
        Texts(texts=tuple(bar_row.name for bar_row in bar_rows), align="end"),
        Panel(x=axis, y=Axis(), boxes=tuple(boxes)),
        Texts(texts=tuple(bar_row.shown_value for bar_row in bar_rows), align="end"),
    )
    bar_chart = Chart(
        title=title,
        about=_about_bars(series, counts=counts, n=n),
        key=_key_of_bars(series, n),
        rows=len(bar_rows),
        row=16,
        across=across,
    )
    return svg_of(bar_chart)


@dataclass(frozen=True, slots=True)
class _BarRow:
    """A row of a bar chart. An empty one, without a kind, parts the labels."""

    name: str = ""
    value: float = 0.0
    shown_value: str = ""
    box_kind: str | None = None
    tip: str = ""


def _labels_in_order(series: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return all labels in the order in which the series first name them."""
    labels: dict[str, None] = {}
    for values in series.values():
        labels |= dict.fromkeys(values)
    return list(labels)


def _rows_of_label(
    label: str, series: Mapping[str, Mapping[str, float]], *, counts: bool
) -> list[_BarRow]:
    """Return a row for each series. The label stands at the first."""
    shown_label = cut_in_the_middle(label, bounds.NAME)
    bar_rows: list[_BarRow] = []
    for number, values in enumerate(series.values()):
        value = values.get(label, 0)
        shown_value = f"{value:,.0f}" if counts else f"{value:.1f} %"
        name = ""
        if number == 0:
            name = shown_label.replace("_", " ")
        bar_row = _BarRow(
            name=name,
            value=value,
            shown_value=shown_value,
            box_kind=f"c{number % 6}",
            tip=f"{shown_label}: {shown_value}",
        )
        bar_rows.append(bar_row)
    if len(series) > 1:
        bar_rows.append(_BarRow())
    return bar_rows


def _about_bars(
    series: Mapping[str, Mapping[str, float]], *, counts: bool, n: Mapping[str, int] | None
) -> str:
    about = ""
    if not counts:
        about = "Share of the questions with each label."
    if len(series) == 1 and n is not None:
        only_n = next(iter(n.values()))
        return f"n = {only_n:,}. {about}"
    return about


def _key_of_bars(
    series: Mapping[str, Mapping[str, float]], n: Mapping[str, int] | None
) -> tuple[str, ...] | None:
    """Return the names of several series. One alone needs no key."""
    if len(series) == 1:
        return None
    if n is None:
        return tuple(series)
    return tuple(f"{name}, n = {n[name]:,}" for name in series)


# --- histograms
# -------------------------------------------------------------------------------------------------

_BINS = 15


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
    first_place = math.floor(low / width)
    # A measured value on the last edge belongs to the bin below: 100 % is no bin of its own.
    last_place = math.ceil(high / width)
    if whole:
        last_place = math.floor(high / width) + 1
    last_place = max(last_place, first_place + 1)
    edges = [round(place * width, 10) for place in range(first_place, last_place + 1)]
    has_values_beyond = max(longest) > edges[-1]
    if whole:
        has_values_beyond = max(longest) >= edges[-1]
    return _Bins(edges, whole, has_values_beyond)


def histogram(title: str, series: Mapping[str, Sequence[float]], unit: str) -> str:
    """Draw a histogram of one quantity, one panel under the other for each series.

    They share their bins and their scale. Values are sorted. A line marks the median.
    """
    bins = _bins_for(series.values())
    shares_by_series = {name: bins.shares(values) for name, values in series.items()}
    highest = max(map(max, shares_by_series.values()))
    y = Axis(ticks=labelled(_steps_from_zero(highest, whole=False), " %"))
    last_name = list(series)[-1]
    panels: list[Panel] = []
    for name, values in series.items():
        middle = median(values)
        note = f"n = {len(values):,}, median {numeral(round(middle, 1))}"
        panel_title = name if len(series) > 1 else ""
        x_title = unit if name == last_name else ""
        panel = Panel(
            title=panel_title,
            about=f"{note}; share of them in each bin, the line is the median",
            x=_axis_of_bins(bins, x_title),
            y=y,
            boxes=_bars_of_bins(bins, shares_by_series[name]),
            rules=(_median_rule(bins, middle),),
        )
        panels.append(panel)
    return svg_of(Chart(title=title, across=tuple(panels)))


def _bars_of_bins(bins: _Bins, shares: Sequence[float]) -> tuple[Box, ...]:
    boxes: list[Box] = []
    for place, share in enumerate(shares):
        low = numeral(bins.edges[place])
        high = numeral(bins.edges[place + 1])
        box = Box(
            x=(place + 0.06, place + 0.94),
            y=(0, share),
            kind="c0",
            text=f"{low} to {high}: {share:.1f} %",
        )
        boxes.append(box)
    return tuple(boxes)


def _median_rule(bins: _Bins, middle: float) -> Rule:
    """Return the line at the median.

    A whole number stands in the middle of its bin, a measured one at its place.
    """
    if bins.whole:
        middle += 0.5
    place = min(bins.place_of(middle), bins.number)
    return Rule(at=place, kind="zero")


def _axis_of_bins(bins: _Bins, title: str) -> Axis:
    labels = _value_labels(bins) if bins.whole else _edge_labels(bins)
    return Axis.model_validate(
        {
            "title": title,
            "from": 0,
            "to": bins.number,
            "grid": False,
            "ticks": labels,
        }
    )


def _edge_labels(bins: _Bins) -> list[tuple[float, str]]:
    """Return the edges and their places, in bins from the left."""
    labels: list[tuple[float, str]] = []
    for place, edge in enumerate(bins.edges):
        labels.append((place, numeral(edge)))
    if bins.open_end:
        start_of_last_bin = numeral(bins.edges[-2])
        labels[-2:] = [(bins.number - 0.5, f"{start_of_last_bin} and more")]
    return labels


def _value_labels(bins: _Bins) -> list[tuple[float, str]]:
    """Return the values that each bin counts, and the middles of the bins."""
    labels: list[tuple[float, str]] = []
    last_bin = bins.number - 1
    for place, (low, high) in enumerate(pairwise(bins.edges)):
        if bins.open_end and place == last_bin:
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

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of its interval. None without one."""
        if self.ci95 is None:
            return None
        low, high = self.ci95
        return low, high


def frames_mark(frames: int, value: float, ci95: Sequence[float] | None, n: int) -> Mark:
    """Return the mark of a run on an axis of frames.

    It stands at log2(N + 1), so that 0 (text only) has a place and each doubling takes the same
    step.
    """
    below = "" if frames else "text only"
    return Mark(
        at=math.log2(frames + 1),
        label=str(frames),
        value=value,
        ci95=ci95,
        n=n,
        below=below,
        hover=f"{frames} frames",
    )


def lines(
    title: str,
    metric: str,
    series: Mapping[str, Sequence[Mark]],
    axis: str,
    *,
    least: float,
    greatest: float = math.inf,
) -> str:
    """Draw a score against a setting, one line for each series.

    A mark's 95 % interval is drawn where it has one.

    Args:
        title: The picture's title.
        metric: The score's name and unit.
        series: At least one mark each, from left to right, by the series' name.
        axis: The setting's name.
        least: The span that the y axis has at least.
        greatest: The greatest value that there can be.
    """
    marks = marks_of(series)
    first = min(mark.at for mark in marks)
    last = max(mark.at for mark in marks)
    span = (last - first) or 1.0
    settings: dict[float, str] = {}
    for mark in marks:
        settings[mark.at] = f"{mark.label} {mark.below}".strip()
    # The first and last marks stand off the edges, so that no interval lies on the axis.
    x = Axis.model_validate(
        {
            "title": axis,
            "from": first - 0.06 * span,
            "to": last + 0.06 * span,
            "ticks": sorted(settings.items()),
        }
    )
    low, high = value_span(marks)
    y = Axis(ticks=labelled(ticks(low, high, least, greatest)))
    chart_marks: list[chart.Mark] = []
    paths: list[Path] = []
    for number, (name, line) in enumerate(series.items()):
        # Marks of several lines at one setting stand beside each other.
        lines_from_middle = number - (len(series) - 1) / 2
        shift = 0.01 * span * lines_from_middle
        line_marks = [described(mark, number, name, x=mark.at + shift) for mark in line]
        chart_marks += line_marks
        points = tuple((mark.x, mark.y) for mark in line_marks)
        paths.append(Path(kind="path", i=number, points=points))
    panel = Panel(x=x, y=y, marks=tuple(chart_marks), paths=tuple(paths))
    key = tuple(series) if len(series) > 1 else None
    about = metric + interval_note(marks)
    return svg_of(Chart(title=title, about=about, key=key, across=(panel,)))


def described(
    mark: Mark, number: int, name: str, *, x: float, label: str | None = None, digits: int = 2
) -> chart.Mark:
    """Return a mark of the series of this number as a chart has it.

    `label` stands beside it. Without one it is the value, unless several series have names.
    """
    tip = mark.hover or mark.label
    if name:
        tip = f"{name}, {tip}"
    if label is None:
        label = "" if name else numeral(mark.value, 1)
    return chart.Mark(
        x=x,
        y=mark.value,
        ends=mark.ends,
        i=number,
        name=label,
        text=f"{tip}: {_value_in_words(mark, digits)}",
    )


def intervals(title: str, metric: str, marks: Sequence[Mark], digits: int) -> str:
    """Draw values and their 95 % intervals, one under the other.

    There is at least one mark. Where it stands (`at`) goes unused. `metric` is the score's name and
    unit.
    """
    chart_marks: list[chart.Mark] = []
    for row, mark in enumerate(marks):
        chart_mark = chart.Mark(
            x=mark.value,
            y=row + 0.5,
            ends=mark.ends,
            text=f"{mark.label}: {_value_in_words(mark, digits)}",
        )
        chart_marks.append(chart_mark)
    low, high = value_span(marks)
    axis = Axis(ticks=labelled(ticks(min(0, low), high, 1)))
    names = tuple(mark.label for mark in marks)
    numbers = tuple(f"{numeral(mark.value, digits)} (n {mark.n})" for mark in marks)
    across = (
        Texts(texts=names, align="end"),
        Panel(x=axis, y=Axis(), marks=tuple(chart_marks)),
        Texts(texts=numbers, align="end"),
    )
    about = metric + interval_note(marks)
    return svg_of(Chart(title=title, about=about, rows=len(marks), row=26, across=across))


# --- parts of charts
# -------------------------------------------------------------------------------------------------


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


def _value_in_words(mark: Mark, digits: int) -> str:
    words = numeral(mark.value, digits)
    if mark.ends is not None:
        low, high = mark.ends
        words += f" ({numeral(low, digits)} to {numeral(high, digits)})"
    return f"{words}, n = {mark.n}"


def ticks(low: float, high: float, least: float, greatest: float = math.inf) -> list[float]:
    """Return even ticks that enclose both ends, at most five steps of them between.

    The ticks span at least `least`. What is added for that lies below where it would pass
    `greatest`, which no value does.
    """
    span = max(high - low, least) or 1.0
    start = min(low, greatest - span)
    end = start + span
    step = _round_step(span / 5, whole=False)
    first_step = math.floor(start / step)
    last_step = max(math.ceil(end / step), first_step + 1)
    return [round(number * step, 10) for number in range(first_step, last_step + 1)]


def _steps_from_zero(highest: float, *, whole: bool) -> list[float]:
    """Return even ticks from 0 on that enclose a value; `whole` allows only whole numbers."""
    step = _round_step(highest / 5, whole=whole)
    number = math.ceil(highest / step - _ROUNDING)
    return [step * place for place in range(number + 1)]


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
