"""The one drawer of charts in Python: a description becomes lines, shapes and words at places.

`canvases.py` writes these as SVG, PNG or PDF. A page's script draws the same description
(`drawing.js`): same order, same rules for what has no room.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from reelbench.pages.chart import Anchor, Axis, Box, Chart, Mark, Panel, Path, Rule, Texts
from reelbench.pages.letters import Letters
from reelbench.pages.svg import COLOURS, GRID, INK, SOFT, colour

FLOOR = "#b45309"
"""The colour of floors and of what is worse."""
HUMAN = "#047857"
"""The colour of people and of what is better."""
SIZE = 11.0
"""Pixels of a letter."""
EDGE = 14
"""Pixels around a chart."""
_LINE = 15
_SQUARE = 300
_REACH = 100
"""Lengths of an axis, or rows beyond them, beyond which nothing is drawn: dashes have an end."""
_MOST_NAMES = 30
_FEW = 16
"""So many marks may all have names that stand further off."""
_NARROW = 26
"""Pixels of an interval whose mark is small, or it would hide that."""
_NEAR = 9
"""Pixels across from a mark to a name that is beside it."""
_KINDS = {"above": HUMAN, "under": FLOOR, "level": SOFT}
_BOX_FILLS = {"heat": COLOURS[0], "win": "#e5f6ef", "loss": "#fef3e2", "level": None}
_BOX_EDGES = {"win": HUMAN, "loss": FLOOR}
_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 3), (8, 3, 2, 3), (1, 2))
"""Dashes of lines, which tell them from others beside their colour."""
_BESIDE: tuple[tuple[float, float, Anchor], ...] = (
    (9, 4, "start"),
    (-9, 4, "end"),
    (0, -10, "middle"),
    (0, 17, "middle"),
    (7, -7, "start"),
    (7, 15, "start"),
)
"""Places of a name from its mark."""
_FAR = (2, 3, 4.5, 6)
_CORNERS = ((7, -10), (7, 14), (-7, -10), (-7, 14))


# --- what is drawn
# -------------------------------------------------------------------------------------------------

Point = tuple[float, float]
Area = tuple[float, float, float, float]
"""Left, top, right and bottom."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """The look of a line. Widths and dashes are pixels."""

    colour: str
    width: float = 1
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points, closed and filled or not.

    Attributes:
        points: The places it goes through.
        stroke: Its look, None for an area alone.
        fill: The colour inside.
        opacity: The strength of that.
        tip: Its meaning in words.
    """

    points: tuple[Point, ...]
    stroke: Stroke | None
    fill: str | None = None
    opacity: float = 1
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Disc:
    """A filled circle."""

    place: Point
    radius: float
    stroke: Stroke
    fill: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text, `angle` degrees against the clock around its place."""

    place: Point
    text: str
    anchor: Anchor = "start"
    colour: str = INK
    size: float = SIZE
    bold: bool = False
    angle: float = 0


Part = Line | Disc | Words


@dataclass(frozen=True, slots=True)
class Drawing:
    """All parts of a picture, and its size in pixels."""

    title: str
    description: str
    width: float
    height: float
    parts: list[Part] = field(default_factory=list[Part])


_RULES = {
    "baseline": Stroke(FLOOR, 1.5, (3, 4)),
    "human": Stroke(HUMAN, 1.5),
    "zero": Stroke(SOFT, 1.5, (3, 3)),
}


# --- axes
# -------------------------------------------------------------------------------------------------


def _place_on_scale(axis: Axis, value: float) -> float:
    if axis.scale == "log":
        return math.log10(value)
    if axis.scale == "doubling":
        return math.log2(value + 1)
    return value


def _pixels(axis: Axis, start: float, end: float) -> Callable[[float], float]:
    """Return the function from a number of an axis to its pixel."""
    low, high = (_place_on_scale(axis, value) for value in axis.ends)

    def pixel_of(value: float) -> float:
        share = (_place_on_scale(axis, value) - low) / ((high - low) or 1)
        share = min(max(share, -_REACH), _REACH)
        return start + (end - start) * share

    return pixel_of


@dataclass(frozen=True, slots=True)
class _Label:
    """A label of an axis around its middle. Places are pixels."""

    middle: float
    end: float
    text: str


def _labels_apart(labels: Sequence[tuple[float, str]], x_end: float, font: Letters) -> list[_Label]:
    """Return those labels that don't stand on one another; the last has precedence."""
    apart: list[_Label] = []
    for number, (middle, text) in enumerate(labels):
        half = font.width(text) / 2
        start = min(middle, x_end - half) - half
        if number == len(labels) - 1:
            while apart and apart[-1].end > start:
                apart.pop()
        if not apart or apart[-1].end <= start:
            apart.append(_Label(start + half, start + 2 * half + 4, text))
    return apart


# --- the places of texts and panels
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of a chart with its left edge and its width."""

    part: Texts | Panel
    x_start: float
    width: float


@dataclass(frozen=True, slots=True)
class _Places:
    """The parts of a chart side by side.

    Attributes:
        places: All parts from left to right.
        above: The number of the part whose texts stand above the rows, -1 without one.
        wraps: Panels side by side. More stand under them.
        panel_width: The width of each panel.
    """

    places: list[_Place]
    above: int
    wraps: int
    panel_width: float

    @property
    def width(self) -> float:
        return max(place.x_start + place.width for place in self.places)


def _widest(texts: Iterable[str], font: Letters, *, bold: bool = False) -> float:
    return max((font.width(text, bold=bold) for text in texts), default=0.0)


def _natural_width(part: Texts | Panel, font: Letters) -> float:
    if isinstance(part, Panel):
        return 0.0
    of_texts = _widest(part.texts, font, bold=part.strong)
    return max(of_texts, font.width(part.title, bold=True)) + 14


def _places(chart: Chart, width: float, font: Letters) -> _Places:
    widths = [_natural_width(part, font) for part in chart.across]
    above = -1
    # Where names would take the room of what is drawn, they stand above it, whole.
    if chart.rows and not chart.lined and sum(widths) > 0.5 * width:
        above = widths.index(max(widths))
        widths[above] = 0.0
    panels = [part for part in chart.across if isinstance(part, Panel)]
    # Panels with rows share these. Others stand under one another, radars where there is no room.
    wraps = len(panels) if chart.rows else 1
    if panels[0].square:
        wraps = max(1, min(len(panels), int(width / _SQUARE)))
    least = max(panel.x.least for panel in panels)
    panel_width = max(least, (width - sum(widths)) / wraps)
    x_start = 0.0
    places: list[_Place] = []
    for number, part in enumerate(chart.across):
        part_width = panel_width if isinstance(part, Panel) else widths[number]
        if not chart.rows and number % wraps == 0:
            x_start = 0.0
        places.append(_Place(part, x_start, part_width))
        x_start += part_width
    return _Places(places, above, wraps, panel_width)


# --- a whole chart
# -------------------------------------------------------------------------------------------------


def draw(chart: Chart, width: float, font: Letters) -> Drawing:
    """Draw a chart with its title, what it is of, its key and its source.

    Args:
        chart: The description.
        width: Pixels, edges included. A chart that needs more is wider.
        font: The letters by which texts are measured.
    """
    body = _Body(chart, width - 2 * EDGE, font)
    room = body.width
    head = _Column(font, room)
    head.add(chart.title, 16, 20, colour=INK, bold=True)
    head.add(chart.about, SIZE, _LINE)
    if chart.key:
        head.add_key(chart.key)
    head.y += 4
    parts = [*head.parts, *_moved(body.parts(), head.y)]
    foot = _Column(font, room, head.y + body.height + 16)
    foot.add(chart.source, SIZE, _LINE)
    parts += foot.parts
    in_words = "; ".join(_words_of_values(body.panels))
    description = f"{chart.about} {chart.source} {in_words}".strip()
    height = math.ceil(foot.y)
    return Drawing(chart.title, description, room + 2 * EDGE, height, _moved(parts, 0, EDGE))


def _words_of_values(panels: Iterable[Panel]) -> Iterator[str]:
    """Yield all values in words, for people who can't see the picture."""
    for panel in panels:
        for value in (*panel.marks, *panel.boxes):
            if value.text:
                yield value.text


def _moved(parts: Iterable[Part], down: float, across: float = 0) -> list[Part]:
    moved: list[Part] = []
    for part in parts:
        if isinstance(part, Line):
            points = tuple((x + across, y + down) for x, y in part.points)
            moved.append(replace(part, points=points))
        else:
            x, y = part.place
            moved.append(replace(part, place=(x + across, y + down)))
    return moved


class _Column:
    """Lines of words under one another, above or below a chart."""

    def __init__(self, font: Letters, room: float, y: float = EDGE + 8) -> None:
        self.font = font
        self.room = room
        self.y = y
        self.parts: list[Part] = []

    def add(
        self, words: str, size: float, step: float, *, colour: str = SOFT, bold: bool = False
    ) -> None:
        """Add words in as many lines as they need."""
        for line in self.font.lines(words, self.room, size, bold=bold):
            self.parts.append(Words((0, self.y), line, colour=colour, size=size, bold=bold))
            self.y += step

    def add_key(self, names: Sequence[str]) -> None:
        """Add the mark and the name of each series, side by side if they fit."""
        x = 0.0
        for number, name in enumerate(names):
            width = 16 + self.font.width(name) + 16
            if x and x + width > self.room:
                x = 0.0
                self.y += 17
            self.parts.append(_mark_shape((x + 6, self.y), number, colour(number)))
            self.parts.append(Words((x + 16, self.y + 4), name))
            x += width
        self.y += 18


_CORNERED_FORMS: tuple[tuple[Point, ...], ...] = (
    ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
    ((0, -6), (5.5, 4.5), (-5.5, 4.5)),
    ((0, -6), (6, 0), (0, 6), (-6, 0)),
    ((0, 6), (5.5, -4.5), (-5.5, -4.5)),
    (
        (-6, -2),
        (-2, -2),
        (-2, -6),
        (2, -6),
        (2, -2),
        (6, -2),
        (6, 2),
        (2, 2),
        (2, 6),
        (-2, 6),
        (-2, 2),
        (-6, 2),
    ),
)
"""The forms of series after the first, whose form is a disc."""


def _mark_shape(
    place: Point,
    number: int,
    fill: str,
    *,
    tip: str = "",
    hollow: bool = False,
    size: float = 1,
) -> Part:
    """Return a mark in the form of its series.

    Eyes that can't tell colours apart tell forms. `size` is a share of the usual one.
    """
    edge = Stroke("#ffffff")
    if hollow or number >= len(COLOURS):
        edge = Stroke(fill, 1.5)
        fill = "#ffffff"
    form = number % len(COLOURS)
    if form == 0:
        return Disc(place, 5 * size, edge, fill, tip)
    x, y = place
    points = tuple((x + dx * size, y + dy * size) for dx, dy in _CORNERED_FORMS[form - 1])
    return Line((*points, points[0]), edge, fill, tip=tip)


class _Body:
    """All of a chart between its heading and its source."""

    def __init__(self, chart: Chart, width: float, font: Letters) -> None:
        self.chart = chart
        self.font = font
        self.layout = _places(chart, width, font)
        self.width = max(width, self.layout.width)
        self.panels = [part for part in chart.across if isinstance(part, Panel)]
        self.lead = 0 if self.layout.above < 0 else _LINE
        first = self.panels[0]
        heads = [len(self._head(number)) for number in range(len(chart.across))]
        self.slant = any(self._is_slanted(panel) for panel in self.panels)
        self.head = max(heads) * _LINE + 6
        if first.x.top:
            self.head += 60 if self.slant else 16
        if chart.rows:
            self.tall = chart.rows * (chart.row + self.lead)
        elif first.square:
            self.tall = self.layout.panel_width * first.y.length / first.x.length
        elif len(self.panels) > 1:
            self.tall = 120
        else:
            self.tall = min(420, max(300, width * 0.6)) - 54
        has_labels = any(panel.x.ticks and not panel.x.top for panel in self.panels)
        self.foot = 20 if has_labels else 6
        if any(panel.x.title for panel in self.panels):
            self.foot += _LINE + 3

    @property
    def height(self) -> float:
        lines = math.ceil(len(self.panels) / self.layout.wraps)
        return (self.head + self.tall + self.foot) * lines

    def parts(self) -> list[Part]:
        """Return all parts, what lies behind first."""
        parts: list[Part] = []
        if self.chart.lined:
            for row in range(self.chart.rows + 1):
                y = self.head + row * (self.chart.row + self.lead)
                parts.append(Line(((0, y), (self.width, y)), Stroke(GRID)))
        panel_number = 0
        for number, place in enumerate(self.layout.places):
            if isinstance(place.part, Texts):
                parts += self._texts(number, place, place.part)
            else:
                line = panel_number // self.layout.wraps
                top = self.head + line * (self.head + self.tall + self.foot)
                parts += self._panel(number, place, place.part, top)
                panel_number += 1
        return parts

    def _is_slanted(self, panel: Panel) -> bool:
        """Return True where labels above columns are wider than these."""
        if not panel.x.top or not panel.x.ticks:
            return False
        room = self.layout.panel_width / len(panel.x.ticks) - 4
        return _widest((text for _, text in panel.x.ticks), self.font) > room

    def _head_start(self, number: int) -> float:
        """Return the start of a panel's heading, which stands over its numbers, too."""
        place = self.layout.places[number]
        if number:
            before = self.layout.places[number - 1]
            if isinstance(before.part, Texts) and before.part.of:
                return before.x_start
        return place.x_start + 8

    def _head(self, number: int) -> list[tuple[str, bool]]:
        """Return the lines above a part, and which of them are bold."""
        place = self.layout.places[number]
        part = place.part
        if isinstance(part, Texts):
            return [(part.title, True)] if part.title else []
        room = place.x_start + place.width - self._head_start(number) - 8
        lines = [(line, True) for line in self.font.lines(part.title, room, bold=True)]
        return lines + [(line, False) for line in self.font.lines(part.about, room)]

    def _y_of_row(self, value: float, top: float) -> float:
        value = min(max(value, -_REACH), self.chart.rows + _REACH)
        row = math.floor(value)
        return top + row * (self.chart.row + self.lead) + self.lead + (value - row) * self.chart.row

    def _texts(self, number: int, place: _Place, part: Texts) -> list[Part]:
        is_above = number == self.layout.above
        x = place.x_start
        anchor: Anchor = "start"
        if part.align == "end" and not is_above:
            x = place.x_start + place.width - 8
            anchor = "end"
        parts: list[Part] = []
        for text, bold in self._head(number):
            parts.append(Words((x, self.head - 6), text, anchor, bold=bold))
        ink = SOFT if part.soft else INK
        for row, text in enumerate(part.texts):
            y = self._y_of_row(row + 0.5, self.head) + 4
            size = SIZE
            if is_above:
                y = self._y_of_row(row, self.head) - 3
                size = min(SIZE, SIZE * self.width / (self.font.width(text, bold=part.strong) or 1))
            if text:
                parts.append(Words((x, y), text, anchor, ink, size, bold=part.strong))
        return parts

    def _panel(self, number: int, place: _Place, panel: Panel, top: float) -> list[Part]:
        box = self._axes_box(place, panel, top)
        x_start, _, x_end, bottom = box
        x_of = _pixels(panel.x, x_start, x_end)
        y_of = self._rows_from(top)
        if not self.chart.rows:
            y_of = _pixels(panel.y, bottom, top)
        parts: list[Part] = []
        for line, (text, bold) in enumerate(self._head(number)):
            y = top - self.head + 12 + line * _LINE
            ink = INK if bold else SOFT
            parts.append(Words((self._head_start(number), y), text, colour=ink, bold=bold))
        row = self.chart.row if self.chart.rows else 0
        spans = [(top, bottom)]
        if self.lead:
            # Names above their rows stand on no line.
            starts = [self._y_of_row(number, top) for number in range(self.chart.rows)]
            spans = [(start, start + row) for start in starts]
        inside = _Inside(panel, box, x_of, y_of, row, spans)
        parts += inside.parts(self.font)
        parts += self._x_labels(panel, place, box, x_of)
        for value, text in panel.y.ticks:
            parts.append(Words((x_start - 6, y_of(value) + 4), text, "end", SOFT))
        if panel.x.title:
            parts.append(Words(((x_start + x_end) / 2, bottom + 33), panel.x.title, "middle", SOFT))
        if panel.y.title:
            middle = (top + bottom) / 2
            parts.append(
                Words((place.x_start + 12, middle), panel.y.title, "middle", SOFT, angle=90)
            )
        return parts

    def _rows_from(self, top: float) -> Callable[[float], float]:
        def y_of(value: float) -> float:
            return self._y_of_row(value, top)

        return y_of

    def _axes_box(self, place: _Place, panel: Panel, top: float) -> Area:
        """Return the left, top, right and bottom of what lies between a panel's axes."""
        labels = 0 if panel.square else 6
        if panel.y.ticks:
            labels = _widest((text for _, text in panel.y.ticks), self.font) + 8
        x_start = place.x_start + labels
        if panel.y.title:
            x_start += 18
        right_margin = 14 if panel.x.grid and not panel.square else 2
        return x_start, top, place.x_start + place.width - right_margin, top + self.tall

    def _x_labels(
        self, panel: Panel, place: _Place, box: Area, x_of: Callable[[float], float]
    ) -> list[Part]:
        _, top, _, bottom = box
        ticks = [(x_of(value), text) for value, text in panel.x.ticks]
        parts: list[Part] = []
        if panel.x.top and self.slant:
            for x, text in ticks:
                words_shown = self.font.cut(text, 70)
                parts.append(Words((x, top - 8), words_shown, "start", SOFT, angle=40))
            return parts
        y = top - 6 if panel.x.top else bottom + 15
        for label in _labels_apart(ticks, place.x_start + place.width, self.font):
            parts.append(Words((label.middle, y), label.text, "middle", SOFT))
        return parts


# --- a panel between its axes
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Inside:
    """A panel's parts between its axes.

    Attributes:
        panel: The panel.
        box: Left, top, right and bottom.
        x_of: The function from a number of x to its pixel.
        y_of: The same of y.
        row: The height of a row in pixels, 0 without rows.
        spans: The heights between which lines go up.
    """

    panel: Panel
    box: Area
    x_of: Callable[[float], float]
    y_of: Callable[[float], float]
    row: float
    spans: Sequence[Point]

    def parts(self, font: Letters) -> list[Part]:
        """Return all parts, what lies behind first."""
        parts: list[Part] = []
        covered: list[_Covered] = []
        parts += self._grid()
        for path in self.panel.paths:
            parts.append(self._path(path))
            if path.kind == "frontier":
                covered += self._steps(path)
        for cell in self.panel.boxes:
            parts += self._box(cell)
        for number, rule in enumerate(self.panel.rules):
            parts += self._rule(rule, number, font, covered)
        has_series = any(mark.i for mark in self.panel.marks)
        for mark in self.panel.marks:
            parts += self._mark_whiskers(mark, has_series=has_series)
        size = self._mark_size()
        parts += [self._mark(mark, size) for mark in self.panel.marks]
        for word in self.panel.words:
            x, y = self._place(word.x, word.y)
            parts.append(Words((x, y + 4), word.text, word.anchor, bold=word.strong))
        return parts + self._names(font, covered)

    def _place(self, x: float, y: float) -> Point:
        return self.x_of(x), self.y_of(y)

    def _mark(self, mark: Mark, size: float) -> Part:
        place = self._place(mark.x, mark.y)
        fill = _KINDS.get(mark.kind or "", colour(mark.i))
        return _mark_shape(place, mark.i, fill, tip=mark.text, hollow=bool(mark.open), size=size)

    def _mark_size(self) -> float:
        """Return the marks' share of their usual size: large ones would hide narrow intervals."""
        pixel_of = self.x_of if self.row else self.y_of
        for mark in self.panel.marks:
            if mark.ends is None:
                continue
            low, high = map(pixel_of, mark.ends)
            if abs(high - low) < _NARROW:
                return 0.6
        return 1.0

    def _grid(self) -> list[Part]:
        x_start, _, x_end, _ = self.box
        parts: list[Part] = []
        if self.panel.x.grid:
            for value, _ in self.panel.x.ticks:
                x = self.x_of(value)
                parts += self._upright(x, Stroke(GRID))
        for value, _ in self.panel.y.ticks:
            y = self.y_of(value)
            parts.append(Line(((x_start, y), (x_end, y)), Stroke(GRID)))
        return parts

    def _upright(self, x: float, stroke: Stroke) -> list[Part]:
        return [Line(((x, top), (x, bottom)), stroke) for top, bottom in self.spans]

    def _rule(
        self, rule: Rule, number: int, font: Letters, covered: "list[_Covered]"
    ) -> list[Part]:
        """Draw a line across the panel and its label, and note what they cover."""
        _, top, x_end, bottom = self.box
        x = self.x_of(rule.at)
        look = _RULES[rule.kind]
        parts = self._upright(x, look)
        covered.append(_Covered((x - 1, top, x + 1, bottom), is_line=True))
        if not rule.text:
            return parts
        label = font.cut(rule.text, 170)
        width = font.width(label)
        is_left = x + 6 + width > x_end
        y = top + 10 + _LINE * number
        start = x - 6 - width if is_left else x + 6
        parts.append(Words((start, y), label, colour=FLOOR))
        covered.append(_Covered((start, y - 12, start + width, y + 4)))
        return parts

    def _path(self, path: Path) -> Part:
        points = tuple(self._place(x, y) for x, y in path.points)
        if path.closed and points:
            points = (*points, points[0])
        if path.kind == "gridline":
            return Line(points, Stroke(GRID))
        if path.kind == "joined":
            return Line(points, Stroke(GRID, 3))
        if path.kind == "frontier":
            return Line(points, Stroke(FLOOR, 1.5, (5, 3)))
        number = path.i or 0
        stroke = Stroke(colour(number), 2, _DASHES[number % len(_DASHES)])
        if path.kind == "area":
            return Line(points, stroke, colour(number), 0.1)
        return Line(points, stroke)

    def _steps(self, path: Path) -> "list[_Covered]":
        """Return the areas of a front's steps, across which no name stands."""
        places = [self._place(x, y) for x, y in path.points]
        covered: list[_Covered] = []
        for (x, y), (next_x, next_y) in pairwise(places):
            area = (min(x, next_x), min(y, next_y), max(x, next_x), max(y, next_y))
            covered.append(_Covered(area))
        return covered

    def _box(self, box: Box) -> list[Part]:
        x_start = min(map(self.x_of, box.x))
        x_end = max(map(self.x_of, box.x))
        low, high = map(self.y_of, box.y)
        top = min(low, high)
        bottom = max(low, high)
        if self.row:
            top = self.y_of(box.y[0]) + 1
            bottom = top + (box.y[1] - box.y[0]) * self.row - 2
        if box.show:
            x_start += 1
            x_end -= 1
        fill = _BOX_FILLS.get(box.kind, SOFT)
        if box.kind[1:].isdigit():
            fill = colour(int(box.kind[1:]))
        edge = Stroke(_BOX_EDGES[box.kind]) if box.kind in _BOX_EDGES else None
        if box.outlined:
            edge = Stroke(INK, 2)
        corners = ((x_start, top), (x_end, top), (x_end, bottom), (x_start, bottom), (x_start, top))
        strength = 1 if box.strength is None else box.strength
        parts: list[Part] = [Line(corners, edge, fill, strength, box.text)]
        middle = (top + bottom) / 2
        if box.ends is not None:
            low_x, high_x = map(self.x_of, box.ends)
            half = (bottom - top) / 2 - 1
            parts += _whiskers((low_x, high_x), middle, Stroke(COLOURS[0], 1.5), half, flat=True)
        centre = (x_start + x_end) / 2
        ink = SOFT if box.kind == "level" else INK
        if box.show:
            y = middle + 4 if not box.note else middle - 2
            parts.append(Words((centre, y), box.show, "middle", ink))
        if box.note:
            parts.append(Words((centre, middle + 12), box.note, "middle", SOFT, size=SIZE - 1.5))
        return parts

    def _mark_whiskers(self, mark: Mark, *, has_series: bool) -> list[Part]:
        if mark.ends is None:
            return []
        flat = self.row > 0
        series_colour = colour(mark.i) if has_series else COLOURS[0]
        stroke = Stroke(_KINDS.get(mark.kind or "", series_colour), 1.5)
        pixel_of = self.x_of if flat else self.y_of
        low, high = map(pixel_of, mark.ends)
        x, y = self._place(mark.x, mark.y)
        if flat:
            half = 3 if has_series else 6
            return _whiskers((low, high), y, stroke, half, flat=True)
        return _whiskers((low, high), x, stroke, 3, flat=False)

    def _names(self, font: Letters, covered: "list[_Covered]") -> list[Part]:
        """Draw marks' names, each where it covers no mark and no other name."""
        marks = self.panel.marks
        covered_by_mark = [_Covered.around(self._place(mark.x, mark.y)) for mark in marks]
        covered = [*covered_by_mark, *covered]
        by_height = sorted(range(len(marks)), key=lambda number: -marks[number].y)
        leaders = by_height[:5]
        order = list(dict.fromkeys([*leaders, *range(len(marks))]))
        named = [number for number in order if marks[number].name]
        parts: list[Part] = []
        for number in named[:_MOST_NAMES]:
            may_be_far = len(marks) <= _FEW or number in leaders
            parts += self._name(
                marks[number], covered_by_mark[number], covered, font, may_be_far=may_be_far
            )
        return parts

    def _name(
        self,
        mark: Mark,
        covered_by_mark: "_Covered",
        covered: "list[_Covered]",
        font: Letters,
        *,
        may_be_far: bool,
    ) -> list[Part]:
        """Draw a name at the first free place, or not at all."""
        x_start, _, x_end, bottom = self.box
        text = font.cut(mark.name or "", 340)
        width = font.width(text)
        x, y = self._place(mark.x, mark.y)
        places = [*_BESIDE]
        if may_be_far:
            places += _far_places()
        in_the_way = [hiding for hiding in covered if hiding is not covered_by_mark]
        for dx, dy, anchor in places:
            start = x + dx - {"start": 0, "middle": width / 2, "end": width}[anchor]
            area = (start, y + dy - 10, start + width, y + dy + 3)
            is_far = abs(dx) > _NEAR
            inside = area[0] > x_start and area[2] < x_end + 14 and area[1] > 0 and area[3] < bottom
            if not inside or any(hiding.hides(area, is_far=is_far) for hiding in in_the_way):
                continue
            covered.append(_Covered(area))
            words = Words((x + dx, y + dy), text, anchor)
            if not is_far:
                return [words]
            return [Line(((x, y), (x + dx, y + dy - 4)), Stroke("#c7caf7", 1)), words]
        return []


def _far_places() -> list[tuple[float, float, Anchor]]:
    """Return places further off, from which a line leads to the mark."""
    places: list[tuple[float, float, Anchor]] = []
    for far in _FAR:
        for dx, dy in _CORNERS:
            places.append((dx * far, dy * far, "start" if dx > 0 else "end"))
    return places


def _whiskers(ends: Point, across: float, stroke: Stroke, half: float, *, flat: bool) -> list[Part]:
    """Return an interval with its caps; `flat` ones lie along x."""
    low, high = ends
    lines = [((low, across), (high, across))]
    lines += [((end, across - half), (end, across + half)) for end in ends]
    if not flat:
        lines = [((y1, x1), (y2, x2)) for (x1, y1), (x2, y2) in lines]
    return [Line(line, stroke) for line in lines]


@dataclass(frozen=True, slots=True)
class _Covered:
    """An area that words or a mark cover.

    A line is crossed by names that stand further off.
    """

    area: Area
    is_line: bool = False

    @classmethod
    def around(cls, point: Point) -> "_Covered":
        """Return the square around a mark."""
        x, y = point
        return cls((x - 6, y - 6, x + 6, y + 6))

    def hides(self, area: Area, *, is_far: bool) -> bool:
        """Return True where a name would stand on it."""
        if self.is_line and is_far:
            return False
        x_start, top, x_end, bottom = self.area
        across = x_start <= area[2] and area[0] <= x_end
        return across and top <= area[3] and area[1] <= bottom
