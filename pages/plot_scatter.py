"""A score against another number as SVG, a point with its name for each thing, joined where a thing has several."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import dist

from reelbench.pages.plots import WIDTH, Mark, about, dashes, dot, grid, ticks
from reelbench.pages.svg import SOFT, colour, framed, shown, text

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 420, 76, 110, 72, 62
_INSIDE = 40
_SIZE, _WIDE = 12, 6.6  # of a name: its height, and the width of a letter

_NEAR = 4  # pixels

_Box = tuple[float, float, float, float]


def scatter(title: str, axes: tuple[str, str], series: Mapping[str, Sequence[Mark]], least: tuple[float, float]) -> str:
    """Draw points; a name stands at its last one, the marks' own labels at each where there are several.

    Args:
        title: Stands above.
        axes: What the numbers are: of `Mark.at`, below; of `Mark.value`, above.
        series: Name -> its marks, at least one, in the order in which they are joined.
        least: What the axes span at least.
    """
    marks = [mark for line in series.values() for mark in line]
    across = ticks(min(mark.at for mark in marks), max(mark.at for mark in marks), least[0])
    ends = [end for mark in marks for end in (mark.value, *(mark.ci95 or ()))]
    up = ticks(min(ends), max(ends), least[1])
    floor, right = _HEIGHT - _BOTTOM, WIDTH - _RIGHT

    def x(at: float) -> float:
        # Off the axis, so that there is room for names on the left of points.
        return _LEFT + _INSIDE + (right - _LEFT - _INSIDE) * (at - across[0]) / (across[-1] - across[0])

    def y(value: float) -> float:
        return floor - (floor - _TOP) * (value - up[0]) / (up[-1] - up[0])

    parts = [
        text(_LEFT, 28, title, size=17, weight="bold"),
        text(_LEFT, 50, f"{axes[1]}{about(marks)}", size=13, fill=SOFT),
    ]
    parts += grid(up, y, _LEFT, right)
    parts += [text(x(tick), floor + 20, shown(tick), "middle", size=13) for tick in across]
    parts.append(text((_LEFT + right) / 2, floor + 44, axes[0], "middle", size=13, fill=SOFT))
    places = {name: [(x(mark.at), y(mark.value)) for mark in line] for name, line in series.items()}
    for number, (name, line) in enumerate(series.items()):
        stroke = colour(number)
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in places[name])
        if len(line) > 1:
            parts.append(
                f"<polyline points='{path}' fill='none' stroke='{stroke}' stroke-width='1.5'{dashes(number)}/>"
            )
        for (px, _), mark in zip(places[name], line, strict=True):
            parts += dot(name, stroke, px, mark, y, digits=3)
    parts += _names(series, places)
    return framed(title, _HEIGHT, parts, width=WIDTH)


def _names(series: Mapping[str, Sequence[Mark]], places: Mapping[str, Sequence[tuple[float, float]]]) -> Iterator[str]:
    """Return the names and labels, each where it covers no point and no other one."""
    taken = [(px - 6, py - 6, px + 6, py + 6) for line in places.values() for px, py in line]
    wanted: list[tuple[str, tuple[float, float]]] = []
    for name, line in series.items():
        # Marks in one place, as the first candidate of however many, have one label.
        apart = [place for place in places[name] if dist(place, places[name][-1]) > _NEAR]
        wanted.append((f"{name}, {line[-1].label}" if apart else name, places[name][-1]))
        wanted += [(mark.label, place) for mark, place in zip(line, places[name], strict=True) if place in apart]
    wanted.sort(key=lambda one: -len(one[0]))  # names first: they need the room
    for words, (px, py) in wanted:
        wide = _WIDE * len(words)
        free = [box for box in _around(px, py, wide) if not any(_overlap(box, other) for other in taken)]
        box = free[0] if free else next(_around(px, py, wide))
        taken.append(box)
        yield text(box[0], box[3] - 3, words, size=_SIZE)


def _around(px: float, py: float, wide: float) -> Iterator[_Box]:
    """Return the places for a name: beside its point, then above or below it, nearest first."""
    for far, (beside, up) in product(
        (8, 18, 32), ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))
    ):
        left = px + far if beside > 0 else px - far - wide if beside < 0 else px - wide / 2
        middle = py + up * (far + (4 if not beside else 0))
        if left > _LEFT and left + wide <= WIDTH and middle < _HEIGHT - _BOTTOM - _SIZE / 2:
            yield left, middle - _SIZE / 2 - 1, left + wide, middle + _SIZE / 2 + 1


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
