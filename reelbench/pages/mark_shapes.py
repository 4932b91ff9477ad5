"""The forms of marks: each series has its own, for eyes that can't tell its colour."""

from reelbench.pages.shapes import Disc, Line, Part, Point, Stroke
from reelbench.pages.svg import COLOURS

_WHITE = "#ffffff"
_RADIUS = 5
_SQUARE: tuple[Point, ...] = (
    (-4.5, -4.5),
    (4.5, -4.5),
    (4.5, 4.5),
    (-4.5, 4.5),
)
_TRIANGLE: tuple[Point, ...] = ((0, -6), (5.5, 4.5), (-5.5, 4.5))
_DIAMOND: tuple[Point, ...] = ((0, -6), (6, 0), (0, 6), (-6, 0))
_TRIANGLE_ON_ITS_TIP: tuple[Point, ...] = ((0, 6), (5.5, -4.5), (-5.5, -4.5))
_CROSS: tuple[Point, ...] = (
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
)
_CORNERED_FORMS = (_SQUARE, _TRIANGLE, _DIAMOND, _TRIANGLE_ON_ITS_TIP, _CROSS)
"""The forms of series after the first, whose form is a disc."""


def mark_shape(
    place: Point,
    series_number: int,
    fill: str,
    *,
    tip: str = "",
    hollow: bool = False,
    size: float = 1,
) -> Part:
    """Return a mark in the form of its series.

    Args:
        place: The middle of the mark.
        series_number: The number of its series, from 0.
        fill: Its colour.
        tip: Its meaning in words.
        hollow: It is a white form with a coloured edge.
        size: Its size as a share of the usual one.
    """
    edge = Stroke(_WHITE)
    # There are as many forms as colours: a series beyond them is hollow.
    if hollow or series_number >= len(COLOURS):
        edge = Stroke(fill, 1.5)
        fill = _WHITE
    form = series_number % len(COLOURS)
    if form == 0:
        return Disc(place, _RADIUS * size, edge, fill, tip)
    x, y = place
    corners: list[Point] = []
    for dx, dy in _CORNERED_FORMS[form - 1]:
        corners.append((x + dx * size, y + dy * size))
    return Line((*corners, corners[0]), edge, fill, tip=tip)
