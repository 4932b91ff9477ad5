"""A funnel as SVG: a row for each stage, what came out of it as a bar, and what was lost by reason.

Colours only repeat what the words say.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.pages.svg import COLOURS, GRID, SOFT, framed, rectangle, text

_KEPT, _LOST, _EMPTY = COLOURS[0], COLOURS[1], GRID
_MARGIN, _NAME, _BAR, _LOSSES, _ROW, _HEIGHT = 12, 150, 320, 430, 34, 20
_LONGEST = 70  # characters of a row's losses


def to_svg(stages: Sequence[Mapping[str, Any]]) -> str:
    """Draw the stages of a `funnel.json`; a bar's length is the share of the stage's own `in` that came out."""
    description = "; ".join(f"{stage['name']}: {stage['out']} of {stage['in']}" for stage in stages)
    parts = [part for place, stage in enumerate(stages) for part in _row(stage, _MARGIN + place * _ROW)]
    width, height = 2 * _MARGIN + _NAME + _BAR + _LOSSES, 2 * _MARGIN + _ROW * len(stages)
    return framed("What came through", height, parts, width=width, description=description)


def _row(stage: Mapping[str, Any], top: int) -> list[str]:
    left, middle = _MARGIN + _NAME, top + _HEIGHT / 2 + 4
    share = stage["out"] / stage["in"] if stage["in"] else 0.0
    losses = ", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in stage["dropped"].items())
    if len(losses) > _LONGEST:
        losses = losses[: _LONGEST - 1] + "…"
    return [
        text(_MARGIN, middle, stage["name"].replace("_", " "), size=13),
        rectangle(left, top, _BAR, _HEIGHT, _LOST if stage["in"] else _EMPTY),
        rectangle(left, top, _BAR * share, _HEIGHT, _KEPT),
        text(left + _BAR + 10, middle, f"{stage['out']} of {stage['in']}", size=13),
        text(left + _BAR + 110, middle, losses, size=13, fill=SOFT),
    ]
