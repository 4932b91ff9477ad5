"""The names beside marks: each stands where it covers no mark, interval or name.

Of few marks those without room have a number there, and their names are listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reelbench.pages.chart import Anchor
from reelbench.pages.letters import Letters
from reelbench.pages.shapes import Area, Line, Part, Point, Stroke, TextLabel

_MOST_NAMES = 30
_MOST_LEADERS = 5
"""Number of the highest marks, which are named before all others."""
_FEW_MARKS = 24
"""Up to so many marks all have names: further off, or as a number and in a list."""
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
    """The position of a name relative to its mark, in pixels, and its anchor."""

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
    def around(cls, position: Point) -> "CoveredArea":
        """Return the square that a mark covers."""
        x, y = position
        return cls(Area(x - _HALF_MARK, y - _HALF_MARK, x + _HALF_MARK, y + _HALF_MARK))

    def is_hidden_by(self, name_area: Area, *, is_far: bool) -> bool:
        """Return True where a name would hide it. Far names may cross lines."""
        if self.is_line and is_far:
            return False
        return self.area.overlaps(name_area)


@dataclass(frozen=True, slots=True)
class LabelledMark:
    """A mark's position in pixels, its name, and its value on the y axis."""

    position: Point
    name: str
    y_value: float


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
        covered_areas: What lines and other labels cover.
        font: The letters by which names are measured.
    """
    areas_of_marks = [CoveredArea.around(mark.position) for mark in marks]
    labeller = _Labeller(panel_area, [*areas_of_marks, *covered_areas], font)
    indices = range(len(marks))
    from_highest = sorted(indices, key=lambda index: -marks[index].y_value)
    leaders = from_highest[:_MOST_LEADERS]
    leaders_first = dict.fromkeys([*leaders, *indices])
    named = [index for index in leaders_first if marks[index].name]
    parts: list[Part] = []
    without_room: list[int] = []
    for index in named[:_MOST_NAMES]:
        mark = marks[index]
        offsets = list(_BESIDE)
        if len(marks) <= _FEW_MARKS or index in leaders:
            offsets += _far_offsets()
        name = font.cut(mark.name, _WIDEST_NAME)
        label = labeller.label(name, mark.position, areas_of_marks[index], offsets)
        parts += label
        if not label:
            without_room.append(index)
    if len(marks) > _FEW_MARKS:
        return MarkLabels(parts, [])
    listed: list[str] = []
    number = 0
    offsets = [*_BESIDE, *_far_offsets()]
    for index in without_room:
        mark = marks[index]
        next_number = str(number + 1)
        label = labeller.label(next_number, mark.position, areas_of_marks[index], offsets)
        if label:
            parts += label
            number += 1
            listed.append(f"{next_number} {mark.name}")
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
        self, text: str, mark: Point, area_of_mark: CoveredArea, offsets: Sequence[_Offset]
    ) -> list[Part]:
        """Return a label at the first free position by a mark, if any.

        A label that stands further off has a line to its mark.
        """
        width = self._font.width(text)
        mark_x, mark_y = mark
        for dx, dy, anchor in offsets:
            position = (mark_x + dx, mark_y + dy)
            label_area = _area_of_text(position, width, anchor)
            is_far = abs(dx) > _NEAR
            if not self._is_free(label_area, area_of_mark, is_far=is_far):
                continue
            self._covered_areas.append(CoveredArea(label_area))
            label = TextLabel(position, text, anchor)
            if not is_far:
                return [label]
            line_end = (mark_x + dx, mark_y + dy - 4)
            return [Line((mark, line_end), _LEADER_LINE), label]
        return []

    def _is_free(self, label_area: Area, area_of_mark: CoveredArea, *, is_far: bool) -> bool:
        """Return True where a label is within the panel and hides nothing but its mark."""
        panel = self._panel_area
        fits_across = label_area.left > panel.left and label_area.right < panel.right + _OVERHANG
        fits_vertically = label_area.top > 0 and label_area.bottom < panel.bottom
        if not fits_across or not fits_vertically:
            return False
        for covered_area in self._covered_areas:
            if covered_area is area_of_mark:
                continue
            if covered_area.is_hidden_by(label_area, is_far=is_far):
                return False
        return True


def _area_of_text(position: Point, width: float, anchor: Anchor) -> Area:
    """Return the area that a text of this width covers."""
    x, y = position
    width_left_of_anchor = {"start": 0, "middle": width / 2, "end": width}
    left_edge = x - width_left_of_anchor[anchor]
    return Area(left_edge, y - _ASCENT, left_edge + width, y + _DESCENT)


def _far_offsets() -> list[_Offset]:
    """Return positions further from the mark, to which a line leads."""
    offsets: list[_Offset] = []
    for factor in _FAR_FACTORS:
        for dx, dy, anchor in _CORNERS:
            offsets.append(_Offset(dx * factor, dy * factor, anchor))
    return offsets
