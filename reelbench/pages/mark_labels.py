"""The names beside marks: each stands where it covers no mark, interval or name.

Of few marks those without room have a number there, and their names are listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reelbench.pages.chart import Anchor
from reelbench.pages.letters import Letters
from reelbench.pages.shapes import Area, Line, Part, Point, Stroke, Words

_MOST_NAMES = 30
_MOST_LEADERS = 5
"""So many of the highest marks are named first."""
_FEW_MARKS = 24
"""So many marks all have names: further off, or as a number and in a list."""
_NEAR = 9
"""Pixels across from a mark to a name that is beside it."""
_WIDEST_NAME = 340
_ASCENT = 10
_DESCENT = 3
_HALF_MARK = 6
_OVERHANG = 14
"""Pixels by which a name may stand out of a panel on the right."""
_LEADER_LINE = Stroke("#c7caf7", 1)


class _Offset(NamedTuple):
    """A name's place from its mark in pixels, and its anchor."""

    dx: float
    dy: float
    anchor: Anchor


_BESIDE = (
    _Offset(9, 4, "start"),
    _Offset(-9, 4, "end"),
    _Offset(0, -10, "middle"),
    _Offset(0, 17, "middle"),
    _Offset(7, -7, "start"),
    _Offset(7, 15, "start"),
)
_CORNERS = (
    _Offset(7, -10, "start"),
    _Offset(7, 14, "start"),
    _Offset(-7, -10, "end"),
    _Offset(-7, 14, "end"),
)
_FAR_FACTORS = (2, 3, 4.5, 6)


@dataclass(frozen=True, slots=True)
class CoveredArea:
    """An area that a mark, words or a line cover: no name stands there.

    A line is crossed by names that stand further off.
    """

    area: Area
    is_line: bool = False

    @classmethod
    def around(cls, place: Point) -> "CoveredArea":
        """Return the square that a mark covers."""
        x, y = place
        return cls(Area(x - _HALF_MARK, y - _HALF_MARK, x + _HALF_MARK, y + _HALF_MARK))

    def is_hidden_by(self, name_area: Area, *, is_far: bool) -> bool:
        """Return True where a name would stand on it."""
        if self.is_line and is_far:
            return False
        return self.area.overlaps(name_area)


@dataclass(frozen=True, slots=True)
class LabelledMark:
    """A mark's place in pixels, its name, and its height in numbers of the axis."""

    place: Point
    name: str
    height: float


class MarkLabels(NamedTuple):
    """The names of marks.

    Attributes:
        parts: Names and numbers beside their marks.
        listed: The names without room, each behind its number where that has room.
    """

    parts: list[Part]
    listed: list[str]


def label_marks(
    marks: Sequence[LabelledMark],
    panel_area: Area,
    covered_areas: Sequence[CoveredArea],
    font: Letters,
) -> MarkLabels:
    """Return the names of marks, each where it covers no mark and no other name.

    Args:
        marks: All marks, named or not.
        panel_area: Names stand within it.
        covered_areas: What lines and other words cover.
        font: The letters by which names are measured.
    """
    areas_of_marks = [CoveredArea.around(mark.place) for mark in marks]
    labeller = _Labeller(panel_area, [*areas_of_marks, *covered_areas], font)
    by_height = sorted(range(len(marks)), key=lambda number: -marks[number].height)
    leaders = by_height[:_MOST_LEADERS]
    leaders_first = dict.fromkeys([*leaders, *range(len(marks))])
    named = [number for number in leaders_first if marks[number].name]
    parts: list[Part] = []
    crowded: list[int] = []
    for number in named[:_MOST_NAMES]:
        mark = marks[number]
        offsets = list(_BESIDE)
        if len(marks) <= _FEW_MARKS or number in leaders:
            offsets += _far_offsets()
        name = font.cut(mark.name, _WIDEST_NAME)
        label = labeller.label(name, mark.place, areas_of_marks[number], offsets)
        parts += label
        if not label:
            crowded.append(number)
    listed: list[str] = []
    if len(marks) > _FEW_MARKS:
        return MarkLabels(parts, listed)
    count = 0
    offsets = [*_BESIDE, *_far_offsets()]
    for number in crowded:
        mark = marks[number]
        label = labeller.label(str(count + 1), mark.place, areas_of_marks[number], offsets)
        parts += label
        if label:
            count += 1
            listed.append(f"{count} {mark.name}")
        else:
            listed.append(mark.name)
    return MarkLabels(parts, listed)


class _Labeller:
    """The names of one panel, set one after the other into what is still free."""

    def __init__(self, panel_area: Area, covered_areas: list[CoveredArea], font: Letters) -> None:
        self._panel_area = panel_area
        self._covered_areas = covered_areas
        self._font = font

    def label(
        self, text: str, place: Point, area_of_mark: CoveredArea, offsets: Sequence[_Offset]
    ) -> list[Part]:
        """Return words at the first free place by a mark, else nothing.

        What stands further off has a line to its mark.
        """
        width = self._font.width(text)
        x, y = place
        for offset in offsets:
            name_place = (x + offset.dx, y + offset.dy)
            name_area = _area_of_words(name_place, width, offset.anchor)
            is_far = abs(offset.dx) > _NEAR
            if not self._is_free(name_area, area_of_mark, is_far=is_far):
                continue
            self._covered_areas.append(CoveredArea(name_area))
            words = Words(name_place, text, offset.anchor)
            if not is_far:
                return [words]
            line_end = (x + offset.dx, y + offset.dy - 4)
            return [Line((place, line_end), _LEADER_LINE), words]
        return []

    def _is_free(self, name_area: Area, area_of_mark: CoveredArea, *, is_far: bool) -> bool:
        """Return True where a name stands within the panel and hides nothing but its mark."""
        panel = self._panel_area
        is_inside_across = name_area.left > panel.left and name_area.right < panel.right + _OVERHANG
        is_inside = is_inside_across and name_area.top > 0 and name_area.bottom < panel.bottom
        if not is_inside:
            return False
        for covered_area in self._covered_areas:
            if covered_area is area_of_mark:
                continue
            if covered_area.is_hidden_by(name_area, is_far=is_far):
                return False
        return True


def _area_of_words(place: Point, width: float, anchor: Anchor) -> Area:
    """Return the area that a name of this width covers."""
    x, y = place
    left_of_anchor = {"start": 0, "middle": width / 2, "end": width}
    start = x - left_of_anchor[anchor]
    return Area(start, y - _ASCENT, start + width, y + _DESCENT)


def _far_offsets() -> list[_Offset]:
    """Return places further off, from which a line leads to the mark."""
    offsets: list[_Offset] = []
    for factor in _FAR_FACTORS:
        for corner in _CORNERS:
            offsets.append(_Offset(corner.dx * factor, corner.dy * factor, corner.anchor))
    return offsets
