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
    labels: dict[str, None] = {}
    highest = 0.0
    for values in series.values():
        labels |= dict.fromkeys(values)
        for value in values.values():
            highest = max(highest, value)
    names: list[str] = []
    shown_values: list[str] = []
    boxes: list[Box] = []
    for label in labels:
        for number, values in enumerate(series.values()):
            value = values.get(label, 0)
            words = f"{value:,.0f}" if counts else f"{value:.1f} %"
            row = len(names)
            is_first = number == 0
            shown_label = cut_in_the_middle(label, bounds.NAME)
            name = shown_label.replace("_", " ") if is_first else ""
            names.append(name)
            shown_values.append(words)
            tip = f"{shown_label}: {words}"
            boxes.append(Box(x=(0, value), y=(row, row + 1), kind=f"c{number % 6}", text=tip))
        if len(series) > 1:
            names.append("")
            shown_values.append("")
    sign = "" if counts else " %"
    axis = Axis(ticks=labelled(_steps_from_zero(highest or 1, whole=counts), sign))
    across = (
        Texts(texts=tuple(names), align="end"),
        Panel(x=axis, y=Axis(), boxes=tuple(boxes)),
        Texts(texts=tuple(shown_values), align="end"),
    )
    about = ""
    if not counts:
        about = "Share of the questions with each label."
    key: tuple[str, ...] | None = tuple(series)
    if n is not None:
        key = tuple(f"{name}, n = {n[name]:,}" for name in series)
    if len(series) == 1:
        key = None
        if n is not None:
            lone_n = next(iter(n.values()))
            about = f"n = {lone_n:,}. {about}"
    return svg_of(Chart(title=title, about=about, key=key, rows=len(names), row=16, across=across))


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
    highest = max(map(max, shares.values()))
    y = Axis(ticks=labelled(_steps_from_zero(highest, whole=False), " %"))
    edge_labels = _value_labels(bins) if bins.whole else _edge_labels(bins)
    panels: list[Panel] = []
    for name, values in series.items():
        boxes: list[Box] = []
        for place, share in enumerate(shares[name]):
            tip = f"{numeral(bins.edges[place])} to {numeral(bins.edges[place + 1])}: {share:.1f} %"
            boxes.append(Box(x=(place + 0.06, place + 0.94), y=(0, share), kind="c0", text=tip))
        middle = median(values)
        # A whole number stands in the middle of its place, a measured one on it.
        shift = 0.5 if bins.whole else 0
        place = min(bins.place_of(middle + shift), bins.number)
        panel_title = name if len(series) > 1 else ""
        note = f"n = {len(values):,}, median {numeral(round(middle, 1))}"
        is_last = len(panels) == len(series) - 1
        x_title = unit if is_last else ""
        x = Axis.model_validate(
            {
                "title": x_title,
                "from": 0,
                "to": bins.number,
                "grid": False,
                "ticks": edge_labels,
            }
        )
        panels.append(
            Panel(
                title=panel_title,
                about=f"{note}; share of them in each bin, the line is the median",
                x=x,
                y=y,
                boxes=tuple(boxes),
                rules=(Rule(at=place, kind="zero"),),
            )
        )
    return svg_of(Chart(title=title, across=tuple(panels)))


def _edge_labels(bins: _Bins) -> list[tuple[float, str]]:
    """Return the edges and their places, in bins from the left."""
    if not bins.open_end:
        return [(place, numeral(edge)) for place, edge in enumerate(bins.edges)]
    labels = [(float(place), numeral(edge)) for place, edge in enumerate(bins.edges[:-2])]
    labels.append((bins.number - 0.5, f"{numeral(bins.edges[-2])} and more"))
    return labels


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
    low, high = value_span(marks)
    first = min(mark.at for mark in marks)
    last = max(mark.at for mark in marks)
    span = (last - first) or 1.0
    settings = {mark.at: f"{mark.label} {mark.below}".strip() for mark in marks}
    # The first and last marks stand off the edges, so that no interval lies on the axis.
    x = Axis.model_validate(
        {
            "title": axis,
            "from": first - 0.06 * span,
            "to": last + 0.06 * span,
            "ticks": sorted(settings.items()),
        }
    )
    drawn: list[chart.Mark] = []
    paths: list[Path] = []
    for number, (name, line) in enumerate(series.items()):
        # Marks of several lines at one setting stand beside each other.
        beside = 0.01 * span * (number - (len(series) - 1) / 2)
        line_marks = [described(mark, number, name, x=mark.at + beside) for mark in line]
        drawn += line_marks
        points = tuple((mark.x, mark.y) for mark in line_marks)
        paths.append(Path(kind="path", i=number, points=points))
    y = Axis(ticks=labelled(ticks(low, high, least, greatest)))
    panel = Panel(x=x, y=y, marks=tuple(drawn), paths=tuple(paths))
    key = tuple(series) if len(series) > 1 else None
    return svg_of(Chart(title=title, about=metric + interval_note(marks), key=key, across=(panel,)))


def described(
    mark: Mark, number: int, name: str, *, x: float, label: str | None = None, digits: int = 2
) -> chart.Mark:
    """Return a mark of the series of this number as a chart has it.

    `label` stands beside it. Without one it is the value, unless several series have names.
    """
    setting = mark.hover or mark.label
    name_and_setting = f"{name}, {setting}" if name else setting
    if label is None:
        label = "" if name else numeral(mark.value, 1)
    ends = None if mark.ci95 is None else (mark.ci95[0], mark.ci95[1])
    tip = f"{name_and_setting}: {_numbers(mark, digits)}"
    return chart.Mark(x=x, y=mark.value, ends=ends, i=number, name=label, text=tip)


def intervals(title: str, metric: str, marks: Sequence[Mark], digits: int) -> str:
    """Draw values and their 95 % intervals, one under the other.

    There is at least one mark. Where it stands (`at`) goes unused. `metric` is the score's name and
    unit.
    """
    low, high = value_span(marks)
    drawn: list[chart.Mark] = []
    for row, mark in enumerate(marks):
        ends = None if mark.ci95 is None else (mark.ci95[0], mark.ci95[1])
        tip = f"{mark.label}: {_numbers(mark, digits)}"
        drawn.append(chart.Mark(x=mark.value, y=row + 0.5, ends=ends, text=tip))
    axis = Axis(ticks=labelled(ticks(min(0, low), high, 1)))
    numbers = tuple(f"{numeral(mark.value, digits)} (n {mark.n})" for mark in marks)
    across = (
        Texts(texts=tuple(mark.label for mark in marks), align="end"),
        Panel(x=axis, y=Axis(), marks=tuple(drawn)),
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


def _numbers(mark: Mark, digits: int) -> str:
    words = numeral(mark.value, digits)
    if mark.ci95 is not None:
        low, high = mark.ci95
        shown_low = numeral(low, digits)
        shown_high = numeral(high, digits)
        words += f" ({shown_low} to {shown_high})"
    return f"{words}, n = {mark.n}"


def ticks(low: float, high: float, least: float, greatest: float = math.inf) -> list[float]:
    """Return even ticks that enclose both ends, at most five steps of them between.

    The ticks span at least `least`. What is added for that lies below where it would pass
    `greatest`, which no value does.
    """
    span = max(high - low, least) or 1.0
    start = min(low, greatest - span)
    step = _round_step(span / 5, whole=False)
    first = math.floor(start / step)
    last = max(math.ceil((start + span) / step), first + 1)
    return [round(number * step, 10) for number in range(first, last + 1)]


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
