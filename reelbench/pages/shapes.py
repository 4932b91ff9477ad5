"""The shapes of a drawing: lines, discs and words at places in pixels."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from reelbench.pages.chart import Anchor
from reelbench.pages.svg import INK

FLOOR = "#b45309"
"""The colour of floors and of what is worse."""
HUMAN = "#047857"
"""The colour of people and of what is better."""
SIZE = 11.0
"""Pixels of a letter."""
LINE_HEIGHT = 15
"""Pixels from a line of words to the next."""

Point = tuple[float, float]


class Area(NamedTuple):
    """A rectangle. Its edges are pixels from the left and from above."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, area: "Area") -> bool:
        """Return True where two areas share a place, be it an edge."""
        shares_columns = self.left <= area.right and area.left <= self.right
        shares_rows = self.top <= area.bottom and area.top <= self.bottom
        return shares_columns and shares_rows


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


def move_parts(parts: Iterable[Part], *, down: float = 0, across: float = 0) -> list[Part]:
    """Return the parts so many pixels further down and to the right."""
    moved_parts: list[Part] = []
    for part in parts:
        if isinstance(part, Line):
            points = tuple((x + across, y + down) for x, y in part.points)
            moved_parts.append(replace(part, points=points))
        else:
            x, y = part.place
            moved_parts.append(replace(part, place=(x + across, y + down)))
    return moved_parts


def whiskers(
    ends: Point,
    across: float,
    stroke: Stroke,
    half: float,
    *,
    flat: bool,
) -> list[Part]:
    """Return an interval as a line with a cap at each end.

    Args:
        ends: The interval's two ends.
        across: The place of the line on the other axis.
        stroke: The look of all three lines.
        half: Half the length of a cap.
        flat: The interval lies along x. Without it, it stands along y.
    """
    low, high = ends
    lines = [((low, across), (high, across))]
    for end in ends:
        lines.append(((end, across - half), (end, across + half)))
    parts: list[Part] = []
    for start, stop in lines:
        if flat:
            parts.append(Line((start, stop), stroke))
        else:
            parts.append(Line((_swapped(start), _swapped(stop)), stroke))
    return parts


def _swapped(point: Point) -> Point:
    x, y = point
    return y, x
