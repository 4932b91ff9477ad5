"""Where the parts of a chart stand: columns of texts and panels, and the scales of axes."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reelbench.pages.chart import Axis, Chart, Panel, Texts
from reelbench.pages.letters import Letters

REACH = 100
"""Lengths of an axis, or rows beyond them, beyond which nothing is drawn: dashes have an end."""
_SQUARE_WIDTH = 300
"""Pixels that a square panel takes at least."""
_TEXTS_MARGIN = 14
_LABELS_GAP = 4

ToPixel = Callable[[float], float]
"""From a number of an axis to its pixel."""


# --- scales
# -------------------------------------------------------------------------------------------------


def _number_on_scale(axis: Axis, value: float) -> float:
    if axis.scale == "log":
        return math.log10(value)
    if axis.scale == "doubling":
        return math.log2(value + 1)
    return value


def pixel_scale(axis: Axis, start: float, end: float) -> ToPixel:
    """Return the function from a number of an axis to its pixel.

    Args:
        axis: The axis.
        start: The pixel of its first number.
        end: The pixel of its last number.
    """
    first, last = axis.ends
    low = _number_on_scale(axis, first)
    high = _number_on_scale(axis, last)
    length = (high - low) or 1

    def to_pixel(value: float) -> float:
        share = (_number_on_scale(axis, value) - low) / length
        share_within_reach = min(max(share, -REACH), REACH)
        return start + (end - start) * share_within_reach

    return to_pixel


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """A label of an axis around its middle. Places are pixels."""

    middle: float
    end: float
    text: str


def labels_apart(
    labels: Sequence[tuple[float, str]], x_end: float, font: Letters
) -> list[AxisLabel]:
    """Return those labels that don't stand on one another. The last has precedence.

    Args:
        labels: The middle and the text of each, from left to right.
        x_end: The pixel at which they end at the latest.
        font: The letters by which they are measured.
    """
    apart: list[AxisLabel] = []
    last_number = len(labels) - 1
    for number, (middle, text) in enumerate(labels):
        width = font.width(text)
        latest_middle = x_end - width / 2
        start = min(middle, latest_middle) - width / 2
        if number == last_number:
            while apart and apart[-1].end > start:
                apart.pop()
        if apart and apart[-1].end > start:
            continue
        end = start + width + _LABELS_GAP
        apart.append(AxisLabel(start + width / 2, end, text))
    return apart


# --- columns
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """A part of a chart with its left edge and its width."""

    part: Texts | Panel
    x_start: float
    width: float

    @property
    def x_end(self) -> float:
        """Its right edge."""
        return self.x_start + self.width


@dataclass(frozen=True, slots=True)
class ChartLayout:
    """The parts of a chart side by side.

    Attributes:
        columns: All parts from left to right.
        number_above: The number of the part whose texts stand above the rows, None without one.
        panels_in_a_line: Panels side by side. More stand under them.
        panel_width: The width of each panel.
    """

    columns: list[Column]
    number_above: int | None
    panels_in_a_line: int
    panel_width: float

    @property
    def width(self) -> float:
        """The pixels of the widest line of parts."""
        return max(column.x_end for column in self.columns)


def chart_layout(chart: Chart, width: float, font: Letters) -> ChartLayout:
    """Return the layout of a chart, at least as wide as its panels need."""
    widths = [_width_of_texts(part, font) for part in chart.across]
    number_above = None
    # Where names would take the room of what is drawn, they stand above it, whole.
    if chart.rows and not chart.lined and sum(widths) > width / 2:
        number_above = widths.index(max(widths))
        widths[number_above] = 0.0
    panels = [part for part in chart.across if isinstance(part, Panel)]
    panels_in_a_line = _panels_in_a_line(chart, panels, width)
    width_left = width - sum(widths)
    least_width = max(panel.x.least for panel in panels)
    panel_width = max(least_width, width_left / panels_in_a_line)
    columns: list[Column] = []
    x_start = 0.0
    for number, part in enumerate(chart.across):
        is_first_of_line = not chart.rows and number % panels_in_a_line == 0
        if is_first_of_line:
            x_start = 0.0
        column_width = widths[number]
        if isinstance(part, Panel):
            column_width = panel_width
        columns.append(Column(part, x_start, column_width))
        x_start += column_width
    return ChartLayout(columns, number_above, panels_in_a_line, panel_width)


def _panels_in_a_line(chart: Chart, panels: Sequence[Panel], width: float) -> int:
    """Return the number of panels side by side.

    Panels with rows share these. Others stand under one another, and square ones where there is no
    room for all.
    """
    if panels[0].square:
        most = int(width / _SQUARE_WIDTH)
        return max(1, min(len(panels), most))
    if chart.rows:
        return len(panels)
    return 1


def _width_of_texts(part: Texts | Panel, font: Letters) -> float:
    """Return the pixels that texts need. A panel takes what they leave."""
    if isinstance(part, Panel):
        return 0.0
    texts_width = widest(part.texts, font, bold=part.strong)
    title_width = font.width(part.title, bold=True)
    return max(texts_width, title_width) + _TEXTS_MARGIN


def widest(texts: Iterable[str], font: Letters, *, bold: bool = False) -> float:
    """Return the width of the widest of some texts, 0 without any."""
    widths = [font.width(text, bold=bold) for text in texts]
    return max(widths, default=0.0)
