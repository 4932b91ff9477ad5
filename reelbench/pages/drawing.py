"""The one drawer of charts in Python: a description becomes lines, shapes and words at places.

`canvases.py` writes these as SVG, PNG or PDF. A page's script draws the same description
(`drawing.js`): same order, same rules for what has no room.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reelbench.pages.chart import Anchor, Chart, Panel, Texts
from reelbench.pages.chart_layout import (
    REACH,
    Column,
    ToPixel,
    chart_layout,
    labels_apart,
    pixel_scale,
    widest,
)
from reelbench.pages.letters import Letters
from reelbench.pages.mark_shapes import mark_shape
from reelbench.pages.panel_parts import PanelParts, Span
from reelbench.pages.shapes import (
    LINE_HEIGHT,
    SIZE,
    Area,
    Drawing,
    Line,
    Part,
    Stroke,
    Words,
    move_parts,
)
from reelbench.pages.svg import GRID, INK, SOFT, colour

EDGE = 14
"""Pixels around a chart."""
_TITLE_SIZE = 16
_TITLE_HEIGHT = 20
_KEY_HEIGHT = 17
_WIDEST_SLANTED_LABEL = 70
_SLANTED_LABELS_HEIGHT = 60
_STACKED_PANEL_HEIGHT = 120


def draw(chart: Chart, width: float, font: Letters) -> Drawing:
    """Draw a chart with its title, what it is of, its key and its source.

    Args:
        chart: The description.
        width: Pixels, edges included. A chart that needs more is wider.
        font: The letters by which texts are measured.
    """
    body = _Body(chart, width - 2 * EDGE, font)
    head = _TextLines(font, body.width)
    head.add(chart.title, _TITLE_SIZE, _TITLE_HEIGHT, colour=INK, bold=True)
    head.add(chart.about, SIZE, LINE_HEIGHT)
    if chart.key:
        head.add_key(chart.key)
    body_top = head.y + 4
    body_parts = body.parts()
    listing = _TextLines(font, body.width, body.height + 12)
    listing.add(" · ".join(body.listed), SIZE, LINE_HEIGHT)
    body_parts += listing.parts
    foot = _TextLines(font, body.width, body_top + listing.y + 4)
    foot.add(chart.source, SIZE, LINE_HEIGHT)
    parts = head.parts + move_parts(body_parts, down=body_top) + foot.parts
    return Drawing(
        title=chart.title,
        description=_description(chart),
        width=body.width + 2 * EDGE,
        height=math.ceil(foot.y),
        parts=move_parts(parts, across=EDGE),
    )


def _description(chart: Chart) -> str:
    """Return a chart in words, for people who can't see the picture."""
    values = "; ".join(_words_of_values(chart))
    return f"{chart.about} {chart.source} {values}".strip()


def _words_of_values(chart: Chart) -> Iterator[str]:
    for panel in _panels_of(chart):
        for value in (*panel.marks, *panel.boxes):
            if value.text:
                yield value.text


def _panels_of(chart: Chart) -> list[Panel]:
    return [part for part in chart.across if isinstance(part, Panel)]


class _TextLines:
    """Lines of words under one another, above or below a chart."""

    def __init__(self, font: Letters, width: float, y: float = EDGE + 8) -> None:
        self.font = font
        self.width = width
        self.y = y
        self.parts: list[Part] = []

    def add(
        self,
        words: str,
        size: float,
        line_height: float,
        *,
        colour: str = SOFT,
        bold: bool = False,
    ) -> None:
        """Add words in as many lines as they need."""
        for line in self.font.lines(words, self.width, size, bold=bold):
            self.parts.append(Words((0, self.y), line, colour=colour, size=size, bold=bold))
            self.y += line_height

    def add_key(self, names: Sequence[str]) -> None:
        """Add the mark and the name of each series, side by side if they fit."""
        x = 0.0
        for number, name in enumerate(names):
            width = 16 + self.font.width(name) + 16
            is_too_wide = x + width > self.width
            if x and is_too_wide:
                x = 0.0
                self.y += _KEY_HEIGHT
            self.parts.append(mark_shape((x + 6, self.y), number, colour(number)))
            self.parts.append(Words((x + 16, self.y + 4), name))
            x += width
        self.y += _KEY_HEIGHT + 1


@dataclass(frozen=True, slots=True)
class _HeadLine:
    """A line of words above a column."""

    text: str
    is_bold: bool


class _Body:
    """All of a chart between its heading and its source.

    Attributes:
        width: Its pixels from left to right.
        head_height: The pixels above its panels.
        panel_height: The pixels between the axes of each panel.
        foot_height: The pixels below its panels.
        listed: The names of marks that have no room for theirs, once it is drawn.
    """

    def __init__(self, chart: Chart, width: float, font: Letters) -> None:
        self.chart = chart
        self.font = font
        self.layout = chart_layout(chart, width, font)
        self.width = max(width, self.layout.width)
        self.panels = _panels_of(chart)
        self.listed: list[str] = []
        # Names above their rows take a line of each row.
        self.name_height = LINE_HEIGHT
        if self.layout.number_above is None:
            self.name_height = 0
        self.has_slanted_labels = any(self._has_slanted_labels(panel) for panel in self.panels)
        self.head_height = self._head_height()
        self.panel_height = self._panel_height(width)
        self.foot_height = self._foot_height()

    # --- heights

    def _head_height(self) -> float:
        numbers_of_lines = [len(self._head_lines(number)) for number in range(len(self._columns))]
        height = max(numbers_of_lines) * LINE_HEIGHT + 6
        if not self.panels[0].x.top:
            return height
        if self.has_slanted_labels:
            return height + _SLANTED_LABELS_HEIGHT
        return height + 16

    def _panel_height(self, width: float) -> float:
        if self.chart.rows:
            return self.chart.rows * (self.chart.row + self.name_height)
        first_panel = self.panels[0]
        if first_panel.square:
            return self.layout.panel_width * first_panel.y.length / first_panel.x.length
        if len(self.panels) > 1:
            return _STACKED_PANEL_HEIGHT
        height = max(300, width * 0.6)
        return min(420, height) - 54

    def _foot_height(self) -> float:
        height = 6
        if any(panel.x.ticks and not panel.x.top for panel in self.panels):
            height = 20
        if any(panel.x.title for panel in self.panels):
            height += LINE_HEIGHT + 3
        return height

    @property
    def _line_height(self) -> float:
        """The pixels of a panel with what stands above and below it."""
        return self.head_height + self.panel_height + self.foot_height

    @property
    def height(self) -> float:
        """The pixels of all lines of panels."""
        lines = math.ceil(len(self.panels) / self.layout.panels_in_a_line)
        return self._line_height * lines

    # --- all parts

    @property
    def _columns(self) -> Sequence[Column]:
        return self.layout.columns

    def parts(self) -> list[Part]:
        """Return all parts. What lies behind comes first."""
        parts: list[Part] = []
        if self.chart.lined:
            parts += self._lines_between_rows()
        panel_number = 0
        for number, column in enumerate(self._columns):
            if isinstance(column.part, Texts):
                parts += self._texts(number, column, column.part)
                continue
            line = panel_number // self.layout.panels_in_a_line
            top = self.head_height + line * self._line_height
            parts += self._panel(number, column, column.part, top)
            panel_number += 1
        return parts

    def _lines_between_rows(self) -> list[Part]:
        parts: list[Part] = []
        row_height = self.chart.row + self.name_height
        for row in range(self.chart.rows + 1):
            y = self.head_height + row * row_height
            parts.append(Line(((0, y), (self.width, y)), Stroke(GRID)))
        return parts

    # --- heads of columns

    def _head_start(self, number: int) -> float:
        """Return the start of a panel's heading, which stands over its numbers, too."""
        if number > 0:
            column_before = self._columns[number - 1]
            if isinstance(column_before.part, Texts) and column_before.part.of:
                return column_before.x_start
        return self._columns[number].x_start + 8

    def _head_lines(self, number: int) -> list[_HeadLine]:
        """Return the lines above a column."""
        column = self._columns[number]
        part = column.part
        if isinstance(part, Texts):
            if not part.title:
                return []
            return [_HeadLine(part.title, is_bold=True)]
        width = column.x_end - self._head_start(number) - 8
        head_lines: list[_HeadLine] = []
        for line in self.font.lines(part.title, width, bold=True):
            head_lines.append(_HeadLine(line, is_bold=True))
        for line in self.font.lines(part.about, width):
            head_lines.append(_HeadLine(line, is_bold=False))
        return head_lines

    # --- texts

    def _texts(self, number: int, column: Column, texts: Texts) -> list[Part]:
        """Return a column of texts, one for each row."""
        is_above = number == self.layout.number_above
        x = column.x_start
        anchor: Anchor = "start"
        if texts.align == "end" and not is_above:
            x = column.x_end - 8
            anchor = "end"
        parts: list[Part] = []
        for head_line in self._head_lines(number):
            place = (x, self.head_height - 6)
            parts.append(Words(place, head_line.text, anchor, bold=head_line.is_bold))
        ink = SOFT if texts.soft else INK
        for row, text in enumerate(texts.texts):
            if not text:
                continue
            y = self._y_of_row(row + 0.5, self.head_height) + 4
            size = SIZE
            if is_above:
                y = self._y_of_row(row, self.head_height) - 3
                size = self._size_that_fits(text, bold=texts.strong)
            parts.append(Words((x, y), text, anchor, ink, size, bold=texts.strong))
        return parts

    def _size_that_fits(self, text: str, *, bold: bool) -> float:
        """Return the size of letters at which a text is no wider than the chart."""
        width = self.font.width(text, bold=bold) or 1
        return min(SIZE, SIZE * self.width / width)

    def _y_of_row(self, row: float, top: float) -> float:
        """Return the height of a row in pixels. 0.5 is the middle of the first."""
        row_within_reach = min(max(row, -REACH), self.chart.rows + REACH)
        whole_rows = math.floor(row_within_reach)
        share_of_row = row_within_reach - whole_rows
        row_height = self.chart.row + self.name_height
        return top + whole_rows * row_height + self.name_height + share_of_row * self.chart.row

    # --- panels

    def _panel(self, number: int, column: Column, panel: Panel, top: float) -> list[Part]:
        """Return a panel: its heading, what lies between its axes, and their labels."""
        area = self._area_between_axes(column, panel, top)
        row_height = self.chart.row if self.chart.rows else 0
        x_of = pixel_scale(panel.x, area.left, area.right)
        y_of = self._y_scale(panel, area)
        panel_parts = PanelParts(
            panel=panel,
            area=area,
            x_of=x_of,
            y_of=y_of,
            row_height=row_height,
            spans=self._spans_of_uprights(area),
            font=self.font,
        )
        drawn = panel_parts.draw()
        self.listed += drawn.listed
        return [
            *self._panel_head(number, top),
            *drawn.parts,
            *self._x_labels(panel, column, area, x_of),
            *_y_labels(panel, area, y_of),
            *_axis_titles(panel, column, area),
        ]

    def _y_scale(self, panel: Panel, area: Area) -> ToPixel:
        if not self.chart.rows:
            return pixel_scale(panel.y, area.bottom, area.top)

        def y_of_row(row: float) -> float:
            return self._y_of_row(row, area.top)

        return y_of_row

    def _spans_of_uprights(self, area: Area) -> list[Span]:
        """Return the heights between which lines go up. Names above rows stand on no line."""
        if not self.name_height:
            return [Span(area.top, area.bottom)]
        spans: list[Span] = []
        for row in range(self.chart.rows):
            y = self._y_of_row(row, area.top)
            spans.append(Span(y, y + self.chart.row))
        return spans

    def _area_between_axes(self, column: Column, panel: Panel, top: float) -> Area:
        labels_width = 0 if panel.square else 6
        if panel.y.ticks:
            labels_width = widest((text for _, text in panel.y.ticks), self.font) + 8
        x_start = column.x_start + labels_width
        if panel.y.title:
            x_start += 18
        right_margin = 14 if panel.x.grid and not panel.square else 2
        x_end = column.x_end - right_margin
        return Area(x_start, top, x_end, top + self.panel_height)

    def _panel_head(self, number: int, top: float) -> list[Part]:
        parts: list[Part] = []
        x = self._head_start(number)
        y = top - self.head_height + 12
        for head_line in self._head_lines(number):
            ink = INK if head_line.is_bold else SOFT
            parts.append(Words((x, y), head_line.text, colour=ink, bold=head_line.is_bold))
            y += LINE_HEIGHT
        return parts

    def _has_slanted_labels(self, panel: Panel) -> bool:
        """Return True where labels above columns are wider than these."""
        if not panel.x.top or not panel.x.ticks:
            return False
        column_width = self.layout.panel_width / len(panel.x.ticks) - 4
        return widest((text for _, text in panel.x.ticks), self.font) > column_width

    def _x_labels(self, panel: Panel, column: Column, area: Area, x_of: ToPixel) -> list[Part]:
        parts: list[Part] = []
        labels = [(x_of(value), text) for value, text in panel.x.ticks]
        if panel.x.top and self.has_slanted_labels:
            for x, text in labels:
                short_text = self.font.cut(text, _WIDEST_SLANTED_LABEL)
                parts.append(Words((x, area.top - 8), short_text, colour=SOFT, angle=40))
            return parts
        y = area.bottom + 15
        if panel.x.top:
            y = area.top - 6
        for label in labels_apart(labels, column.x_end, self.font):
            parts.append(Words((label.middle, y), label.text, "middle", SOFT))
        return parts


def _y_labels(panel: Panel, area: Area, y_of: ToPixel) -> list[Part]:
    parts: list[Part] = []
    for value, text in panel.y.ticks:
        parts.append(Words((area.left - 6, y_of(value) + 4), text, "end", SOFT))
    return parts


def _axis_titles(panel: Panel, column: Column, area: Area) -> list[Part]:
    """Return the title of x below the panel, that of y beside it."""
    parts: list[Part] = []
    if panel.x.title:
        centre = (area.left + area.right) / 2
        parts.append(Words((centre, area.bottom + 33), panel.x.title, "middle", SOFT))
    if panel.y.title:
        middle = (area.top + area.bottom) / 2
        place = (column.x_start + 12, middle)
        parts.append(Words(place, panel.y.title, "middle", SOFT, angle=90))
    return parts
