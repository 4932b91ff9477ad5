"""What lies between the axes of a panel: grid, lines, boxes, rules, marks and words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from reelbench.pages.chart import Box, Mark, Panel, Path, Rule
from reelbench.pages.chart_layout import ToPixel
from reelbench.pages.letters import Letters
from reelbench.pages.mark_labels import CoveredArea, LabelledMark, MarkLabels, label_marks
from reelbench.pages.mark_shapes import mark_shape
from reelbench.pages.shapes import (
    BETTER_COLOUR,
    LINE_HEIGHT,
    SIZE,
    WORSE_COLOUR,
    Area,
    Line,
    Part,
    Point,
    Stroke,
    TextLabel,
    whiskers,
)
from reelbench.pages.svg import COLOURS, GRID, INK, SOFT, colour

_HALF_CAP = 3
"""Pixels of half the cap of an upright interval."""
_NARROW = 26
"""Pixels of an interval whose mark is small, or it would hide that."""
_SMALL_MARK = 0.6
_WIDEST_RULE_LABEL = 170
_MARK_COLOURS = {"above": BETTER_COLOUR, "under": WORSE_COLOUR, "level": SOFT}
_BOX_FILLS = {"heat": COLOURS[0], "win": "#e5f6ef", "loss": "#fef3e2", "level": None}
_BOX_EDGES = {"win": BETTER_COLOUR, "loss": WORSE_COLOUR}
_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 3), (8, 3, 2, 3), (1, 2))
"""Dashes of lines, which tell them from others beside their colour."""
_RULE_STROKES = {
    "baseline": Stroke(WORSE_COLOUR, 1.5, (3, 4)),
    "human": Stroke(BETTER_COLOUR, 1.5),
    "zero": Stroke(SOFT, 1.5, (3, 3)),
}


@dataclass(frozen=True, slots=True)
class Span:
    """The upper and the lower end of an upright line, in pixels."""

    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PanelParts:
    """A panel's parts between its axes.

    Attributes:
        panel: The panel.
        area: The area between its axes.
        x_of: The function from a number of x to its pixel.
        y_of: The same of y.
        row_height: The height of a row in pixels, 0 without rows.
        spans: The heights between which lines go up.
        font: The letters by which words are measured.
    """

    panel: Panel
    area: Area
    x_of: ToPixel
    y_of: ToPixel
    row_height: float
    spans: Sequence[Span]
    font: Letters

    def draw(self) -> MarkLabels:
        """Return all parts, from the back to the front, and the names without room."""
        parts = self._grid()
        covered_areas: list[CoveredArea] = []  # no mark's name is put there
        for path in self.panel.paths:
            parts.append(self._path(path))
            if path.kind == "frontier":
                covered_areas += self._areas_of_steps(path)
        for box in self.panel.boxes:
            parts += self._box(box)
        for number, rule in enumerate(self.panel.rules):
            x = self.x_of(rule.at)
            parts += self._vertical_lines(x, _RULE_STROKES[rule.kind])
            covered_areas.append(self._area_of_vertical_line(x))
            if rule.text:
                rule_label = self._rule_label(rule, number)
                parts.append(rule_label.label)
                covered_areas.append(CoveredArea(rule_label.area))
        parts += self._marks()
        for word in self.panel.words:
            x, y = self._pixels_of(word.x, word.y)
            parts.append(TextLabel((x, y + 4), word.text, word.anchor, bold=word.strong))
        covered_areas += self._areas_of_vertical_intervals()
        labels = self._names_of_marks(covered_areas)
        return MarkLabels(parts + labels.parts, labels.listed)

    def _pixels_of(self, x: float, y: float) -> Point:
        """Return the pixels of a point that is given in numbers of the axes."""
        return self.x_of(x), self.y_of(y)

    # --- lines

    def _grid(self) -> list[Part]:
        parts: list[Part] = []
        stroke = Stroke(GRID)
        if self.panel.x.grid:
            for value, _ in self.panel.x.ticks:
                parts += self._vertical_lines(self.x_of(value), stroke)
        for value, _ in self.panel.y.ticks:
            y = self.y_of(value)
            parts.append(Line(((self.area.left, y), (self.area.right, y)), stroke))
        return parts

    def _vertical_lines(self, x: float, stroke: Stroke) -> list[Part]:
        """Return a vertical line at x, with gaps where names stand above rows."""
        return [Line(((x, span.top), (x, span.bottom)), stroke) for span in self.spans]

    def _area_of_vertical_line(self, x: float) -> CoveredArea:
        area = Area(x - 1, self.area.top, x + 1, self.area.bottom)
        return CoveredArea(area, is_line=True)

    def _rule_label(self, rule: Rule, number: int) -> "_RuleLabel":
        """Return the label to the right of a rule, else to its left."""
        gap = 6
        x = self.x_of(rule.at)
        text = self.font.cut(rule.text, _WIDEST_RULE_LABEL)
        width = self.font.width(text)
        left_edge = x + gap
        if left_edge + width > self.area.right:
            left_edge = x - gap - width
        y = self.area.top + 10 + LINE_HEIGHT * number
        label = TextLabel((left_edge, y), text, colour=WORSE_COLOUR)
        return _RuleLabel(label, Area(left_edge, y - 12, left_edge + width, y + 4))

    def _path(self, path: Path) -> Part:
        """Return a line through the points of a path, or the area within them."""
        points = tuple(self._pixels_of(x, y) for x, y in path.points)
        if path.closed and points:
            points = (*points, points[0])
        if path.kind == "gridline":
            return Line(points, Stroke(GRID))
        if path.kind == "joined":
            return Line(points, Stroke(GRID, 3))
        if path.kind == "frontier":
            return Line(points, Stroke(WORSE_COLOUR, 1.5, (5, 3)))
        series_number = path.i or 0
        series_colour = colour(series_number)
        dashes = _DASHES[series_number % len(_DASHES)]
        stroke = Stroke(series_colour, 2, dashes)
        if path.kind == "area":
            return Line(points, stroke, series_colour, opacity=0.1)
        return Line(points, stroke)

    def _areas_of_steps(self, path: Path) -> list[CoveredArea]:
        """Return the areas of the steps of a frontier, across which no name stands."""
        corners = [self._pixels_of(x, y) for x, y in path.points]
        areas: list[CoveredArea] = []
        for (x, y), (next_x, next_y) in pairwise(corners):
            area = Area(
                left=min(x, next_x),
                top=min(y, next_y),
                right=max(x, next_x),
                bottom=max(y, next_y),
            )
            areas.append(CoveredArea(area))
        return areas

    # --- boxes

    def _box(self, box: Box) -> list[Part]:
        """Return a bar or a cell, its interval, and the labels in it."""
        left_edge, top, right, bottom = self._area_of_box(box)
        outline = (
            (left_edge, top),
            (right, top),
            (right, bottom),
            (left_edge, bottom),
            (left_edge, top),
        )
        opacity = 1 if box.strength is None else box.strength
        parts: list[Part] = [Line(outline, _edge(box), _fill(box), opacity, box.text)]
        middle = (top + bottom) / 2
        if box.ends is not None:
            low, high = box.ends
            ends = (self.x_of(low), self.x_of(high))
            half_cap = (bottom - top) / 2 - 1
            parts += whiskers(ends, middle, Stroke(COLOURS[0], 1.5), half_cap, is_horizontal=True)
        return parts + _labels_in_box(box, (left_edge + right) / 2, middle)

    def _area_of_box(self, box: Box) -> Area:
        x_ends = [self.x_of(x) for x in box.x]
        left_edge = min(x_ends)
        right = max(x_ends)
        if box.show:  # a cell, with a gap to its neighbours
            left_edge += 1
            right -= 1
        if self.row_height:
            first_row, last_row = box.y
            top = self.y_of(first_row) + 1
            height = (last_row - first_row) * self.row_height - 2
            return Area(left_edge, top, right, top + height)
        y_ends = [self.y_of(y) for y in box.y]
        return Area(left_edge, min(y_ends), right, max(y_ends))

    # --- marks

    def _marks(self) -> list[Part]:
        """Return the intervals of all marks, and the marks on top of them."""
        parts: list[Part] = []
        has_series = any(mark.i for mark in self.panel.marks)
        for mark in self.panel.marks:
            parts += self._interval_of_mark(mark, has_series=has_series)
        size = self._mark_size()
        for mark in self.panel.marks:
            shape = mark_shape(
                self._pixels_of(mark.x, mark.y),
                mark.i,
                _MARK_COLOURS.get(mark.kind or "", colour(mark.i)),
                tip=mark.text,
                is_hollow=bool(mark.open),
                size=size,
            )
            parts.append(shape)
        return parts

    def _interval_in_pixels(self, mark: Mark) -> tuple[float, float] | None:
        """Return the ends of a mark's interval: x in a chart with rows, else y."""
        if mark.ends is None:
            return None
        low, high = mark.ends
        if self.row_height:
            return self.x_of(low), self.x_of(high)
        return self.y_of(low), self.y_of(high)

    def _mark_size(self) -> float:
        """Return the size of all marks as a share of the usual one.

        They are smaller where a narrow interval would be hidden by its mark.
        """
        for mark in self.panel.marks:
            interval = self._interval_in_pixels(mark)
            if interval is not None and abs(interval[1] - interval[0]) < _NARROW:
                return _SMALL_MARK
        return 1.0

    def _interval_of_mark(self, mark: Mark, *, has_series: bool) -> list[Part]:
        interval = self._interval_in_pixels(mark)
        if interval is None:
            return []
        series_colour = colour(mark.i) if has_series else COLOURS[0]
        stroke = Stroke(_MARK_COLOURS.get(mark.kind or "", series_colour), 1.5)
        x, y = self._pixels_of(mark.x, mark.y)
        if self.row_height:
            half_cap = 3 if has_series else 6
            return whiskers(interval, y, stroke, half_cap, is_horizontal=True)
        return whiskers(interval, x, stroke, _HALF_CAP, is_horizontal=False)

    def _areas_of_vertical_intervals(self) -> list[CoveredArea]:
        """Return the areas of vertical intervals, on which no name stands."""
        if self.row_height:
            return []
        areas: list[CoveredArea] = []
        for mark in self.panel.marks:
            interval = self._interval_in_pixels(mark)
            if interval is not None:
                x, _ = self._pixels_of(mark.x, mark.y)
                area = Area(x - _HALF_CAP, min(interval), x + _HALF_CAP, max(interval))
                areas.append(CoveredArea(area))
        return areas

    def _names_of_marks(self, covered_areas: Sequence[CoveredArea]) -> MarkLabels:
        labelled_marks: list[LabelledMark] = []
        for mark in self.panel.marks:
            position = self._pixels_of(mark.x, mark.y)
            labelled_marks.append(LabelledMark(position, mark.name or "", mark.y))
        return label_marks(labelled_marks, self.area, covered_areas, self.font)


@dataclass(frozen=True, slots=True)
class _RuleLabel:
    """The label of a rule, and the area that it covers."""

    label: TextLabel
    area: Area


def _fill(box: Box) -> str | None:
    """Return the colour in a box: that of its series or kind."""
    series_number = box.kind[1:]
    if series_number.isdigit():
        return colour(int(series_number))
    return _BOX_FILLS[box.kind]


def _edge(box: Box) -> Stroke | None:
    if box.outlined:
        return Stroke(INK, 2)
    if box.kind in _BOX_EDGES:
        return Stroke(_BOX_EDGES[box.kind])
    return None


def _labels_in_box(box: Box, centre: float, middle: float) -> list[Part]:
    """Return the number in a box and the smaller line under it."""
    labels: list[Part] = []
    if box.show:
        ink = SOFT if box.kind == "level" else INK
        y = middle - 2 if box.note else middle + 4
        labels.append(TextLabel((centre, y), box.show, "middle", ink))
    if box.note:
        y = middle + 12
        labels.append(TextLabel((centre, y), box.note, "middle", SOFT, size=SIZE - 1.5))
    return labels
