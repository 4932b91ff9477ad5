"""The shapes of a drawing: lines, discs and words at places in pixels."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from reelbench.pages.chart import Anchor
from reelbench.pages.svg import INK

WORSE_COLOUR = "#b45309"
"""The colour of floors and of what is worse."""
BETTER_COLOUR = "#047857"
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

    position: Point
    radius: float
    stroke: Stroke
    fill: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class TextLabel:
    """One line of text, rotated by `angle` degrees counterclockwise around its position."""

    position: Point
    text: str
    anchor: Anchor = "start"
    colour: str = INK
    size: float = SIZE
    bold: bool = False
    angle: float = 0


Part = Line | Disc | TextLabel


@dataclass(frozen=True, slots=True)
class Drawing:
    """All parts of a picture, and its size in pixels."""

    title: str
    description: str
    width: float
    height: float
    parts: list[Part] = field(default_factory=list[Part])


def move_parts(parts: Iterable[Part], *, down: float = 0, right: float = 0) -> list[Part]:
    """Return the parts moved by so many pixels."""
    moved_parts: list[Part] = []
    for part in parts:
        if isinstance(part, Line):
            points = tuple((x + right, y + down) for x, y in part.points)
            moved_parts.append(replace(part, points=points))
        else:
            x, y = part.position
            moved_parts.append(replace(part, position=(x + right, y + down)))
    return moved_parts


def whiskers(
    ends: tuple[float, float],
    centre: float,
    stroke: Stroke,
    half_cap: float,
    *,
    is_horizontal: bool,
) -> list[Part]:
    """Return an interval as a line with a cap at each end.

    Args:
        ends: The interval's two ends: x of a horizontal one, y of a vertical one.
        centre: The line's position on the other axis.
        stroke: The look of all three lines.
        half_cap: Half the length of a cap.
        is_horizontal: The interval lies along x. Without it, it stands along y.
    """
    low, high = ends
    lines = [((low, centre), (high, centre))]
    for end in ends:
        lines.append(((end, centre - half_cap), (end, centre + half_cap)))
    parts: list[Part] = []
    for start, stop in lines:
        if is_horizontal:
            parts.append(Line((start, stop), stroke))
        else:
            parts.append(Line((_swapped(start), _swapped(stop)), stroke))
    return parts


def _swapped(point: Point) -> Point:
    x, y = point
    return y, x
