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
    FLOOR,
    HUMAN,
    LINE_HEIGHT,
    SIZE,
    Area,
    Line,
    Part,
    Point,
    Stroke,
    Words,
    whiskers,
)
from reelbench.pages.svg import COLOURS, GRID, INK, SOFT, colour

_HALF_CAP = 3
"""Pixels of half the cap of an upright interval."""
_NARROW = 26
"""Pixels of an interval whose mark is small, or it would hide that."""
_SMALL_MARK = 0.6
_WIDEST_RULE_LABEL = 170
_MARK_COLOURS = {"above": HUMAN, "under": FLOOR, "level": SOFT}
_BOX_FILLS = {"heat": COLOURS[0], "win": "#e5f6ef", "loss": "#fef3e2", "level": None}
_BOX_EDGES = {"win": HUMAN, "loss": FLOOR}
_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 3), (8, 3, 2, 3), (1, 2))
"""Dashes of lines, which tell them from others beside their colour."""
_RULE_STROKES = {
    "baseline": Stroke(FLOOR, 1.5, (3, 4)),
    "human": Stroke(HUMAN, 1.5),
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
        """Return all parts, and the names without room. What lies behind comes first."""
        parts = self._grid()
        covered_areas: list[CoveredArea] = []
        for path in self.panel.paths:
            parts.append(self._path(path))
            if path.kind == "frontier":
                covered_areas += self._areas_of_steps(path)
        for box in self.panel.boxes:
            parts += self._box(box)
        for number, rule in enumerate(self.panel.rules):
            x = self.x_of(rule.at)
            parts += self._upright_lines(x, _RULE_STROKES[rule.kind])
            covered_areas.append(self._area_of_upright(x))
            if rule.text:
                label = self._rule_label(rule, number)
                parts.append(label.words)
                covered_areas.append(CoveredArea(label.area))
        parts += self._marks()
        for word in self.panel.words:
            x, y = self._place(word.x, word.y)
            parts.append(Words((x, y + 4), word.text, word.anchor, bold=word.strong))
        covered_areas += self._areas_of_intervals()
        labels = self._names_of_marks(covered_areas)
        return MarkLabels(parts + labels.parts, labels.listed)

    def _place(self, x: float, y: float) -> Point:
        """Return the pixels of a place on the axes."""
        return self.x_of(x), self.y_of(y)

    # --- lines

    def _grid(self) -> list[Part]:
        parts: list[Part] = []
        stroke = Stroke(GRID)
        if self.panel.x.grid:
            for value, _ in self.panel.x.ticks:
                parts += self._upright_lines(self.x_of(value), stroke)
        for value, _ in self.panel.y.ticks:
            y = self.y_of(value)
            parts.append(Line(((self.area.left, y), (self.area.right, y)), stroke))
        return parts

    def _upright_lines(self, x: float, stroke: Stroke) -> list[Part]:
        """Return a line up, with gaps where names stand above rows."""
        return [Line(((x, span.top), (x, span.bottom)), stroke) for span in self.spans]

    def _area_of_upright(self, x: float) -> CoveredArea:
        area = Area(x - 1, self.area.top, x + 1, self.area.bottom)
        return CoveredArea(area, is_line=True)

    def _rule_label(self, rule: Rule, number: int) -> "_RuleLabel":
        """Return the words on a rule's right, else on its left."""
        x = self.x_of(rule.at)
        text = self.font.cut(rule.text, _WIDEST_RULE_LABEL)
        width = self.font.width(text)
        start = x + 6
        if start + width > self.area.right:
            start = x - 6 - width
        y = self.area.top + 10 + LINE_HEIGHT * number
        words = Words((start, y), text, colour=FLOOR)
        return _RuleLabel(words, Area(start, y - 12, start + width, y + 4))

    def _path(self, path: Path) -> Part:
        """Return a line through the points of a path, or the area within them."""
        points = tuple(self._place(x, y) for x, y in path.points)
        if path.closed and points:
            points = (*points, points[0])
        if path.kind == "gridline":
            return Line(points, Stroke(GRID))
        if path.kind == "joined":
            return Line(points, Stroke(GRID, 3))
        if path.kind == "frontier":
            return Line(points, Stroke(FLOOR, 1.5, (5, 3)))
        series_number = path.i or 0
        series_colour = colour(series_number)
        stroke = Stroke(series_colour, 2, _DASHES[series_number % len(_DASHES)])
        if path.kind == "area":
            return Line(points, stroke, series_colour, opacity=0.1)
        return Line(points, stroke)

    def _areas_of_steps(self, path: Path) -> list[CoveredArea]:
        """Return the areas of a front's steps, across which no name stands."""
        places = [self._place(x, y) for x, y in path.points]
        areas: list[CoveredArea] = []
        for (x, y), (next_x, next_y) in pairwise(places):
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
        """Return a bar or a cell, its interval, and the words in it."""
        area = self._area_of_box(box)
        x_start, top, x_end, bottom = area
        corners = (
            (x_start, top),
            (x_end, top),
            (x_end, bottom),
            (x_start, bottom),
            (x_start, top),
        )
        strength = 1 if box.strength is None else box.strength
        parts: list[Part] = [Line(corners, _edge(box), _fill(box), strength, box.text)]
        middle = (top + bottom) / 2
        if box.ends is not None:
            low, high = box.ends
            ends = (self.x_of(low), self.x_of(high))
            half = (bottom - top) / 2 - 1
            parts += whiskers(ends, middle, Stroke(COLOURS[0], 1.5), half, flat=True)
        return parts + _words_in_box(box, (x_start + x_end) / 2, middle)

    def _area_of_box(self, box: Box) -> Area:
        x_ends = [self.x_of(x) for x in box.x]
        x_start = min(x_ends)
        x_end = max(x_ends)
        if box.show:
            x_start += 1
            x_end -= 1
        if self.row_height:
            first_row, last_row = box.y
            top = self.y_of(first_row) + 1
            height = (last_row - first_row) * self.row_height - 2
            return Area(x_start, top, x_end, top + height)
        y_ends = [self.y_of(y) for y in box.y]
        return Area(x_start, min(y_ends), x_end, max(y_ends))

    # --- marks

    def _marks(self) -> list[Part]:
        """Return the intervals of all marks, and the marks on top of them."""
        parts: list[Part] = []
        has_series = any(mark.i for mark in self.panel.marks)
        for mark in self.panel.marks:
            parts += self._interval_of_mark(mark, has_series=has_series)
        size = self._size_of_marks()
        for mark in self.panel.marks:
            shape = mark_shape(
                self._place(mark.x, mark.y),
                mark.i,
                _MARK_COLOURS.get(mark.kind or "", colour(mark.i)),
                tip=mark.text,
                hollow=bool(mark.open),
                size=size,
            )
            parts.append(shape)
        return parts

    def _ends_in_pixels(self, mark: Mark) -> Point | None:
        """Return an interval's ends: along x in a chart with rows, else along y."""
        if mark.ends is None:
            return None
        low, high = mark.ends
        if self.row_height:
            return self.x_of(low), self.x_of(high)
        return self.y_of(low), self.y_of(high)

    def _size_of_marks(self) -> float:
        """Return the marks' share of their usual size: large ones would hide narrow intervals."""
        for mark in self.panel.marks:
            ends = self._ends_in_pixels(mark)
            if ends is not None and abs(ends[1] - ends[0]) < _NARROW:
                return _SMALL_MARK
        return 1.0

    def _interval_of_mark(self, mark: Mark, *, has_series: bool) -> list[Part]:
        ends = self._ends_in_pixels(mark)
        if ends is None:
            return []
        series_colour = colour(mark.i) if has_series else COLOURS[0]
        stroke = Stroke(_MARK_COLOURS.get(mark.kind or "", series_colour), 1.5)
        x, y = self._place(mark.x, mark.y)
        if self.row_height:
            half = 3 if has_series else 6
            return whiskers(ends, y, stroke, half, flat=True)
        return whiskers(ends, x, stroke, _HALF_CAP, flat=False)

    def _areas_of_intervals(self) -> list[CoveredArea]:
        """Return the areas of the intervals that stand upright, on which no name stands."""
        areas: list[CoveredArea] = []
        for mark in self.panel.marks:
            ends = self._ends_in_pixels(mark)
            if ends is None or self.row_height:
                continue
            x, _ = self._place(mark.x, mark.y)
            area = Area(x - _HALF_CAP, min(ends), x + _HALF_CAP, max(ends))
            areas.append(CoveredArea(area))
        return areas

    def _names_of_marks(self, covered_areas: Sequence[CoveredArea]) -> MarkLabels:
        labelled_marks: list[LabelledMark] = []
        for mark in self.panel.marks:
            place = self._place(mark.x, mark.y)
            labelled_marks.append(LabelledMark(place, mark.name or "", mark.y))
        return label_marks(labelled_marks, self.area, covered_areas, self.font)


@dataclass(frozen=True, slots=True)
class _RuleLabel:
    """The words beside a rule, and the area that they cover."""

    words: Words
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


def _words_in_box(box: Box, centre: float, middle: float) -> list[Part]:
    """Return the number in a box and the smaller line under it."""
    parts: list[Part] = []
    if box.show:
        ink = SOFT if box.kind == "level" else INK
        y = middle - 2 if box.note else middle + 4
        parts.append(Words((centre, y), box.show, "middle", ink))
    if box.note:
        parts.append(Words((centre, middle + 12), box.note, "middle", SOFT, size=SIZE - 1.5))
    return parts
