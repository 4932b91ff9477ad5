"""The description of a chart, as JSON: marks on axes, their labels, and what the chart is of.

A page's script (`drawing.js`) and `drawing.py` draw the same description. Numbers are those of the
axes. In a chart with rows a height is a number of rows, so 0.5 is the middle of the first.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from reelbench.base import bounds
from reelbench.base.base_record import Record
from reelbench.base.errors import printable

_MOST_PIXELS = 100_000
"""The height of all rows, and the width of all panels beside one another."""
_MOST_ROWS = 2000
_MOST_PARTS = 300
_MOST_POINTS = 10_000
_FINEST = 1e-9
"""The least length of an axis, as a share of its larger end: below it floats have no steps."""
_Number = Annotated[float, Field(ge=-1e30, le=1e30)]
"""A number whose products with pixels are numbers, too."""
_Pair = tuple[_Number, _Number]
_Line = Annotated[str, Field(max_length=2 * bounds.NAME), AfterValidator(printable)]
"""A shown line: a name and what is said of it, without characters that are not printed."""
_Prose = Annotated[str, Field(max_length=bounds.NOTE), AfterValidator(printable)]
_Series = Annotated[int, Field(ge=0, le=_MOST_POINTS)]
Anchor = Literal["start", "middle", "end"]


class Axis(Record):
    """An axis: its ends, or its first and last tick, and what stands at it.

    Attributes:
        title: Its name and unit.
        ticks: The places that have a label.
        start: Its first number, as `from` in JSON.
        end: Its last number, as `to` in JSON.
        scale: Logarithms, or those of n + 1 (0 has a place). Linear without it.
        grid: Each tick has a line.
        top: Labels stand above the panel.
        least: The pixels that it takes at least.
    """

    title: _Line = ""
    ticks: tuple[tuple[_Number, _Line], ...] = Field(default=(), max_length=_MOST_ROWS)
    start: _Number | None = Field(default=None, alias="from")
    end: _Number | None = Field(default=None, alias="to")
    scale: Literal["log", "doubling"] | None = None
    grid: bool = True
    top: bool = False
    least: float = Field(default=60, ge=0, le=10_000)

    @property
    def ends(self) -> tuple[float, float]:
        """Its first and last number: those it states, or its outer ticks."""
        first = self.ticks[0][0] if self.start is None else self.start
        last = self.ticks[-1][0] if self.end is None else self.end
        return first, last

    @property
    def length(self) -> float:
        """The distance of its ends."""
        first, last = self.ends
        return last - first

    @model_validator(mode="after")
    def _has_steps(self) -> Self:
        """Refuse ends that floats can't tell apart. An axis of one number is drawn."""
        if not _has_ends(self) or not self.length:
            return self
        first, last = self.ends
        larger_end = max(abs(first), abs(last))
        least_length = max(_FINEST * larger_end, 1e-30)
        if abs(self.length) < least_length:
            raise ValueError(f"its ends, {first:g} and {last:g}, are too close")
        return self


class Mark(Record):
    """A value with its interval.

    Attributes:
        x: Its place along the panel.
        y: Its place up the panel.
        ends: The ends of its interval: along x in a chart with rows, else along y.
        i: The number of its series, which gives it form and colour.
        open: It is hollow.
        kind: A difference's sign: above, under, or level.
        name: Words beside it, where there is room.
        text: The same in words.
    """

    x: _Number
    y: _Number
    ends: _Pair | None = None
    i: _Series = 0
    open: bool | None = False
    kind: Literal["above", "under", "level", ""] | None = ""
    name: _Line | None = ""
    text: _Prose = ""


class Box(Record):
    """A rectangle: a bar, or a cell that shows a number.

    Attributes:
        x: Its left and right end.
        y: Its lower and upper end.
        kind: The colour: a series (`c0`), `heat`, `win`, `loss`, `level`.
        strength: The strength of its colour, from 0 to 1.
        show: The number in it.
        note: A smaller line under that.
        ends: The ends of its interval, along x.
        outlined: It has a dark edge.
        text: The same in words.
    """

    x: _Pair
    y: _Pair
    kind: str = Field(pattern="^(c[0-9]|heat|win|loss|level)$")
    strength: float | None = Field(default=None, ge=0, le=1)
    show: _Line = ""
    note: _Line = ""
    ends: _Pair | None = None
    outlined: bool = False
    text: _Prose = ""


class Path(Record):
    """A line through points: a web, a front, or between runs.

    Attributes:
        points: The places that it goes through. Of a series with fewer than two nothing is drawn.
        kind: Its look: `gridline`, `joined`, `path`, `frontier`, `area`.
        i: The number of its series.
        closed: It ends where it began.
    """

    points: tuple[_Pair, ...] = Field(max_length=_MOST_POINTS)
    kind: Literal["gridline", "joined", "path", "frontier", "area"]
    i: _Series | None = None
    closed: bool = False


class Rule(Record):
    """A line across a panel at a number of x: a floor, people, zero."""

    at: _Number
    kind: Literal["baseline", "human", "zero"] = "baseline"
    text: _Line = ""


class Word(Record):
    """Words at a place."""

    x: _Number
    y: _Number
    text: _Line
    anchor: Anchor = "middle"
    strong: bool = False


class Texts(Record):
    """A column of texts, one for each row.

    Attributes:
        texts: The texts from above.
        title: What they are.
        align: The side on which they are even.
        strong: They are bold.
        soft: They are grey.
        of: They are the numbers of the next panel, whose title stands over both.
    """

    texts: tuple[_Line, ...] = Field(max_length=_MOST_ROWS)
    title: _Line = ""
    align: Literal["start", "end"] = "start"
    strong: bool = False
    soft: bool = False
    of: bool = False


class Panel(Record):
    """Two axes with what is drawn between them.

    `square` gives both axes the same pixels for a number.
    """

    x: Axis
    y: Axis
    title: _Line = ""
    about: _Prose = ""
    square: bool = False
    marks: tuple[Mark, ...] = ()
    boxes: tuple[Box, ...] = ()
    paths: tuple[Path, ...] = ()
    rules: tuple[Rule, ...] = ()
    words: tuple[Word, ...] = ()

    @model_validator(mode="after")
    def _has_places(self) -> Self:
        """Refuse an axis without ends, and numbers that its scale has no place for."""
        if not _has_ends(self.x):
            raise ValueError("x: it has neither ticks nor `from` and `to`")
        if self.x.scale is not None:
            bound = 0.0 if self.x.scale == "log" else -1.0
            if min(self._numbers_of_x()) <= bound:
                raise ValueError(f"x: a number at or below {bound:g} has no place on its scale")
        if self.y.scale is not None:
            raise ValueError("y: it has a scale, which is for x alone")
        return self

    @property
    def highest_box(self) -> float:
        """The height of its highest box, 0 without one."""
        highest = 0.0
        for box in self.boxes:
            low, high = box.y
            highest = max(highest, abs(high - low))
        return highest

    def _numbers_of_x(self) -> Iterator[float]:
        for number, _ in self.x.ticks:
            yield number
        for end in (self.x.start, self.x.end):
            if end is not None:
                yield end
        for mark in self.marks:
            yield mark.x
        for rule in self.rules:
            yield rule.at
        for word in self.words:
            yield word.x
        for box in self.boxes:
            yield from box.x
        for path in self.paths:
            for x, _ in path.points:
                yield x


def _has_like_lengths(panel: Panel) -> bool:
    """Return True where neither axis is over ten times as long as the other."""
    shorter = min(panel.x.length, panel.y.length)
    longer = max(panel.x.length, panel.y.length)
    return 0 < longer <= 10 * shorter


def _has_ends(axis: Axis) -> bool:
    return bool(axis.ticks) or None not in (axis.start, axis.end)


def _kind_of_part(part: object) -> str:
    """Return the kind of a part of a chart: texts, or else a panel."""
    if isinstance(part, Texts):
        return "texts"
    if isinstance(part, Mapping) and "texts" in part:
        return "texts"
    return "panel"


_Part = Annotated[
    Annotated[Texts, Tag("texts")] | Annotated[Panel, Tag("panel")], Discriminator(_kind_of_part)
]


class Chart(Record):
    """A chart.

    Attributes:
        title: Its title.
        about: What is drawn: unit, intervals, number of rows.
        source: Where the numbers are from: benchmark, judge, address, day.
        across: Its columns of texts and its panels, from left to right.
        key: The names of the series.
        rows: The number of rows that all panels share, 0 without rows.
        row: The height of a row in pixels.
        lined: Rows are parted by lines.
        width: The pixels of its file, where it is not as wide as others.
        table: The same numbers as rows of cells.
    """

    title: _Line
    across: tuple[_Part, ...] = Field(max_length=_MOST_PARTS)
    about: _Prose = ""
    source: _Prose = ""
    key: tuple[_Line, ...] | None = Field(default=None, max_length=_MOST_PARTS)
    rows: int = Field(default=0, ge=0, le=_MOST_ROWS)
    row: float = Field(default=22, ge=10, le=2000)
    lined: bool = False
    width: float | None = Field(default=None, ge=100, le=10_000)
    table: tuple[tuple[Any, ...], ...] = ()

    @model_validator(mode="after")
    def _has_panels(self) -> Self:
        panels = [part for part in self.across if isinstance(part, Panel)]
        if not panels:
            raise ValueError("across: there is no panel")
        if self.rows:
            self._refuse_high_rows(panels)
        else:
            _refuse_panels_without_height(panels)
        if sum(panel.x.least for panel in panels) > _MOST_PIXELS:
            raise ValueError(f"across: it is wider than {_MOST_PIXELS:,} pixels")
        return self

    def _refuse_high_rows(self, panels: Sequence[Panel]) -> None:
        if self.rows * self.row > _MOST_PIXELS:
            raise ValueError(f"rows: they are higher than {_MOST_PIXELS:,} pixels")
        if any(panel.highest_box > self.rows for panel in panels):
            raise ValueError("across: a box is higher than all rows")


def _refuse_panels_without_height(panels: Sequence[Panel]) -> None:
    """Refuse panels without rows whose y axes don't say how high they are."""
    if not all(_has_ends(panel.y) for panel in panels):
        raise ValueError("across: y of a panel has neither ticks nor `from` and `to`")
    if panels[0].square and not _has_like_lengths(panels[0]):
        raise ValueError("across: an axis of a square panel has no length, or far more")
