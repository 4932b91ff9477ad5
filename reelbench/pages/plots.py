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


def svg_of(chart_mark: Chart) -> str:
    """Draw a chart's description as SVG, as wide as a page."""
    return to_svg(draw(chart_mark, chart_mark.width or WIDTH, Letters()))


def labelled_ticks(values: Iterable[float], sign: str = "") -> tuple[tuple[float, str], ...]:
    """Return an axis's ticks: each value, and its label with a sign after it."""
    return tuple((value, numeral(value) + sign) for value in values)


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
        if bar_row.box_kind is not None:
            box = Box(
                x=(0, bar_row.value),
                y=(row, row + 1),
                kind=bar_row.box_kind,
                text=bar_row.tip,
            )
            boxes.append(box)
    highest = max((bar_row.value for bar_row in bar_rows), default=0.0)
    tick_values = _ticks_from_zero(highest or 1, integers_only=counts)
    sign = "" if counts else " %"
    across = (
        Texts(texts=tuple(bar_row.name for bar_row in bar_rows), align="end"),
        Panel(x=Axis(ticks=labelled_ticks(tick_values, sign)), y=Axis(), boxes=tuple(boxes)),
        Texts(texts=tuple(bar_row.value_text for bar_row in bar_rows), align="end"),
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
    """A row of a bar chart.

    One without a kind is empty, and separates two labels.
    """

    name: str = ""
    value: float = 0.0
    value_text: str = ""
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
    """Return a row for each series. The first one has the label."""
    short_label = cut_in_the_middle(label, bounds.NAME)
    bar_rows: list[_BarRow] = []
    for series_number, values in enumerate(series.values()):
        value = values.get(label, 0)
        value_text = f"{value:,.0f}" if counts else f"{value:.1f} %"
        name = ""
        if series_number == 0:
            name = short_label.replace("_", " ")
        bar_row = _BarRow(
            name=name,
            value=value,
            value_text=value_text,
            box_kind=f"c{series_number % 6}",
            tip=f"{short_label}: {value_text}",
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
    """Bins of equal width.

    Attributes:
        edges: Their edges, from the lowest to the highest.
        count_integers: All values are whole numbers.
        open_end: The last bin also takes the values beyond its edge.
    """

    edges: Sequence[float]
    count_integers: bool
    open_end: bool

    @property
    def number(self) -> int:
        return len(self.edges) - 1

    @property
    def width(self) -> float:
        return self.edges[1] - self.edges[0]

    def position_of(self, value: float) -> float:
        """Return the value's distance from the first edge, in bins."""
        return (value - self.edges[0]) / self.width

    def shares(self, values: Sequence[float]) -> list[float]:
        """Return the per cent of the values that are in each bin."""
        counts: Counter[int] = Counter()
        last_bin = self.number - 1
        for value in values:
            bin_number = int(self.position_of(value) + _ROUNDING)
            counts[min(bin_number, last_bin)] += 1
        return [100 * counts[bin_number] / len(values) for bin_number in range(self.number)]


def _bins_for(series: Iterable[Sequence[float]]) -> _Bins:
    """Return the bins for all series, whose values are sorted.

    The last bin takes the highest hundredth of the values, so that one outlier doesn't press the
    rest together.
    """
    minima: list[float] = []
    percentiles_99: list[float] = []
    maxima: list[float] = []
    all_integers = True
    for values in series:
        index_of_percentile = math.ceil(0.99 * len(values)) - 1
        minima.append(values[0])
        percentiles_99.append(values[index_of_percentile])
        maxima.append(values[-1])
        all_integers = all_integers and all(value == int(value) for value in values)
    low = min(minima)
    high = max(percentiles_99)
    width = _round_step((high - low) / _BINS or 1, integers_only=all_integers)
    # Edges are multiples of the width. A measured value on the last edge belongs to the bin below:
    # 100 % is no bin of its own.
    first_edge = math.floor(low / width)
    last_edge = math.ceil(high / width)
    if all_integers:
        last_edge = math.floor(high / width) + 1
    last_edge = max(last_edge, first_edge + 1)
    edges = [round(number * width, 10) for number in range(first_edge, last_edge + 1)]
    has_values_beyond = max(maxima) > edges[-1]
    if all_integers:
        has_values_beyond = max(maxima) >= edges[-1]
    return _Bins(edges, all_integers, has_values_beyond)


def histogram(title: str, series: Mapping[str, Sequence[float]], unit: str) -> str:
    """Draw a histogram of one quantity, one panel under the other for each series.

    They share their bins and their scale. Values are sorted. A line marks the median.
    """
    bins = _bins_for(series.values())
    shares_by_series = {name: bins.shares(values) for name, values in series.items()}
    highest_share = max(max(shares) for shares in shares_by_series.values())
    y = Axis(ticks=labelled_ticks(_ticks_from_zero(highest_share, integers_only=False), " %"))
    last_name = list(series)[-1]
    panels: list[Panel] = []
    for name, values in series.items():
        median_value = median(values)
        note = f"n = {len(values):,}, median {numeral(round(median_value, 1))}"
        panel_title = name if len(series) > 1 else ""
        x_title = unit if name == last_name else ""
        panel = Panel(
            title=panel_title,
            about=f"{note}; share of them in each bin, the line is the median",
            x=_axis_of_bins(bins, x_title),
            y=y,
            boxes=_bars_of_bins(bins, shares_by_series[name]),
            rules=(_median_rule(bins, median_value),),
        )
        panels.append(panel)
    return svg_of(Chart(title=title, across=tuple(panels)))


def _bars_of_bins(bins: _Bins, shares: Sequence[float]) -> tuple[Box, ...]:
    bars: list[Box] = []
    for bin_number, share in enumerate(shares):
        low = numeral(bins.edges[bin_number])
        high = numeral(bins.edges[bin_number + 1])
        bar = Box(
            x=(bin_number + 0.06, bin_number + 0.94),
            y=(0, share),
            kind="c0",
            text=f"{low} to {high}: {share:.1f} %",
        )
        bars.append(bar)
    return tuple(bars)


def _median_rule(bins: _Bins, median_value: float) -> Rule:
    """Return the line at the median.

    The median of counts stands in the middle of its bin, that of measurements at its own position.
    """
    if bins.count_integers:
        median_value += 0.5
    position = min(bins.position_of(median_value), bins.number)
    return Rule(at=position, kind="zero")


def _axis_of_bins(bins: _Bins, title: str) -> Axis:
    labels = _value_labels(bins) if bins.count_integers else _edge_labels(bins)
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
    """Return the label of each edge, with its position in bins from the left."""
    labels: list[tuple[float, str]] = []
    for edge_number, edge in enumerate(bins.edges):
        labels.append((edge_number, numeral(edge)))
    if bins.open_end:
        # One label in the middle of the last bin, in place of its two edges.
        last_bin_start = numeral(bins.edges[-2])
        labels[-2:] = [(bins.number - 0.5, f"{last_bin_start} and more")]
    return labels


def _value_labels(bins: _Bins) -> list[tuple[float, str]]:
    """Return the label of each bin of whole numbers, with the position of its middle."""
    labels: list[tuple[float, str]] = []
    last_bin = bins.number - 1
    for bin_number, (low, high) in enumerate(pairwise(bins.edges)):
        if bins.open_end and bin_number == last_bin:
            label = f"{low:g}+"
        elif high - low == 1:
            label = numeral(low)
        else:
            label = f"{low:g}–{high - 1:g}"
        labels.append((bin_number + 0.5, label))
    return labels


# --- a score against a setting
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """One value of a series, with its interval and the number of items behind it.

    Attributes:
        x: Its position on the axis of the setting.
        label: The setting's name.
        value: The score.
        ci95: The ends of its 95 % interval.
        n: The number of items.
        below: A text under the setting's name.
        hover: The setting's name in full, shown under the pointer.
    """

    x: float
    label: str
    value: float
    ci95: Sequence[float] | None
    n: int
    below: str = ""
    hover: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of its interval. None without one."""
        if self.ci95 is None:
            return None
        low, high = self.ci95
        return low, high


def point_at_frames(frames: int, value: float, ci95: Sequence[float] | None, n: int) -> PlotPoint:
    """Return the point of a run on an axis of frames.

    Its x is log2(N + 1), so that 0 (text only) has a position and each doubling takes the same
    step.
    """
    below = "" if frames else "text only"
    return PlotPoint(
        x=math.log2(frames + 1),
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
    series: Mapping[str, Sequence[PlotPoint]],
    x_title: str,
    *,
    least: float,
    greatest: float = math.inf,
) -> str:
    """Draw a score against a setting, one line for each series.

    Points have their 95 % intervals.

    Args:
        title: The picture's title.
        metric: The score's name and unit.
        series: At least one point each, from left to right, by the series' name.
        x_title: The setting's name.
        least: The length that the y axis has at least.
        greatest: The greatest value that there can be.
    """
    points = points_of_all(series)
    first_x = min(point.x for point in points)
    last_x = max(point.x for point in points)
    x_length = (last_x - first_x) or 1.0
    low, high = value_span(points)
    y_ticks = labelled_ticks(ticks(low, high, least, greatest))
    marks: list[chart.Mark] = []
    paths: list[Path] = []
    middle = (len(series) - 1) / 2
    for number, (name, line) in enumerate(series.items()):
        # Points of several series at one setting stand beside each other.
        shift = 0.01 * x_length * (number - middle)
        marks_of_line = [chart_mark(point, number, name, x=point.x + shift) for point in line]
        marks += marks_of_line
        corners = tuple((mark.x, mark.y) for mark in marks_of_line)
        paths.append(Path(kind="path", i=number, points=corners))
    panel = Panel(
        x=_axis_of_settings(x_title, points, first_x, last_x, x_length),
        y=Axis(ticks=y_ticks),
        marks=tuple(marks),
        paths=tuple(paths),
    )
    key = tuple(series) if len(series) > 1 else None
    about = metric + interval_note(points)
    return svg_of(Chart(title=title, about=about, key=key, across=(panel,)))


def _axis_of_settings(
    title: str, points: Sequence[PlotPoint], first_x: float, last_x: float, length: float
) -> Axis:
    """Return the x axis of settings, a little longer than needed at both ends.

    So no interval lies on the y axis.
    """
    labels: dict[float, str] = {}
    for point in points:
        labels[point.x] = f"{point.label} {point.below}".strip()
    return Axis.model_validate(
        {
            "title": title,
            "from": first_x - 0.06 * length,
            "to": last_x + 0.06 * length,
            "ticks": sorted(labels.items()),
        }
    )


def chart_mark(
    point: PlotPoint,
    series_number: int,
    series_name: str,
    *,
    x: float,
    label: str | None = None,
    digits: int = 2,
) -> chart.Mark:
    """Return the mark of a point in a chart.

    `label` stands beside it. Without one that is the value, unless the series has a name.
    """
    tip = point.hover or point.label
    if series_name:
        tip = f"{series_name}, {tip}"
    if label is None:
        label = "" if series_name else numeral(point.value, 1)
    return chart.Mark(
        x=x,
        y=point.value,
        ends=point.interval,
        i=series_number,
        name=label,
        text=f"{tip}: {_value_text(point, digits)}",
    )


def intervals(title: str, metric: str, points: Sequence[PlotPoint], digits: int) -> str:
    """Draw values and their 95 % intervals, one under the other.

    There is at least one point, whose `x` is unused. `metric` is the score's name and unit.
    """
    marks: list[chart.Mark] = []
    for row, point in enumerate(points):
        mark = chart.Mark(
            x=point.value,
            y=row + 0.5,
            ends=point.interval,
            text=f"{point.label}: {_value_text(point, digits)}",
        )
        marks.append(mark)
    low, high = value_span(points)
    axis = Axis(ticks=labelled_ticks(ticks(min(0, low), high, 1)))
    names = tuple(point.label for point in points)
    numbers = tuple(f"{numeral(point.value, digits)} (n {point.n})" for point in points)
    across = (
        Texts(texts=names, align="end"),
        Panel(x=axis, y=Axis(), marks=tuple(marks)),
        Texts(texts=numbers, align="end"),
    )
    about = metric + interval_note(points)
    return svg_of(Chart(title=title, about=about, rows=len(points), row=26, across=across))


# --- parts of charts
# -------------------------------------------------------------------------------------------------


def points_of_all(series: Mapping[str, Sequence[PlotPoint]]) -> list[PlotPoint]:
    """Return the points of all series in one list."""
    points: list[PlotPoint] = []
    for points_of_series in series.values():
        points += points_of_series
    return points


def value_span(points: Sequence[PlotPoint]) -> tuple[float, float]:
    """Return the lowest and highest value, ends of intervals included."""
    values: list[float] = []
    for point in points:
        values.append(point.value)
        values += point.ci95 or ()
    return min(values), max(values)


def interval_note(points: Sequence[PlotPoint]) -> str:
    """Return the end of a chart's subtitle: whether it has intervals, and n."""
    numbers = sorted({point.n for point in points})
    n = f"{numbers[0]:,}"
    if len(numbers) > 1:
        n += f" to {numbers[-1]:,}"
    if all(point.ci95 is None for point in points):
        return f", no interval, n = {n}"
    return f", 95 % interval, n = {n}"


def _value_text(point: PlotPoint, digits: int) -> str:
    text = numeral(point.value, digits)
    if point.interval is not None:
        low, high = point.interval
        text += f" ({numeral(low, digits)} to {numeral(high, digits)})"
    return f"{text}, n = {point.n}"


def ticks(low: float, high: float, least: float, greatest: float = math.inf) -> list[float]:
    """Return evenly spaced ticks that enclose two values, about six of them.

    From the first tick to the last is at least `least`. A shorter axis is made longer upwards, but
    not beyond `greatest`, and else downwards.
    """
    length = max(high - low, least) or 1.0
    start = min(low, greatest - length)
    end = start + length
    step = _round_step(length / 5, integers_only=False)
    first = math.floor(start / step)
    last = max(math.ceil(end / step), first + 1)
    return [round(number * step, 10) for number in range(first, last + 1)]


def _ticks_from_zero(highest: float, *, integers_only: bool) -> list[float]:
    """Return evenly spaced ticks from 0 to a value or a little more."""
    step = _round_step(highest / 5, integers_only=integers_only)
    last = math.ceil(highest / step - _ROUNDING)
    return [step * number for number in range(last + 1)]


def _round_step(width: float, *, integers_only: bool) -> float:
    """Return the smallest round number that is at least `width`.

    Round numbers are 1, 2, 2.5 and 5 times a power of ten.
    """
    power = 10.0 ** math.floor(math.log10(width))
    least = width * (1 - _ROUNDING)
    for factor in (1, 2, 2.5, 5, 10):
        step = power * factor
        is_allowed = not integers_only or step == int(step)
        if step >= least and is_allowed:
            return step
    return 1.0
