"""A matrix of scores as SVG: a row for each of one thing, a column for each of another, with their intervals.

Each row has its own scale of colours (as CURVE's Fig. 2): columns are compared within a row. The numbers stand in the
cells, so colour says nothing alone.
"""

from collections.abc import Collection, Mapping, Sequence
from html import escape

from reelbench.pages.svg import framed, text

Cell = tuple[float, Sequence[float] | None, int]
"""Value, 95 % interval or None, and the items behind it."""

_LABEL, _TALL, _HEAD = 150, 46, 92
_LEAST, _MOST = 78, 130  # width of a cell
_DEEPEST = (0, 114, 178)  # the first of the plots' colours


def matrix(
    title: str,
    metric: str,
    rows: Mapping[str, Mapping[str, Cell]],
    columns: Sequence[str],
    *,
    marked: Collection[tuple[str, str]] = (),
    mark: str = "",
) -> str:
    """Draw a matrix.

    Args:
        title: Stands above.
        metric: The score's name.
        rows: Row -> column -> cell; a column that is not there stays empty.
        columns: In their order.
        marked: (row, column) of cells that are outlined.
        mark: What an outline says.
    """
    known = ", 95 % interval" if any(ci95 for cells in rows.values() for _, ci95, _ in cells.values()) else ""
    wide = min(_MOST, max(_LEAST, 560 // max(len(columns), 1)))
    parts = [
        text(12, 28, title, size=17, weight="bold"),
        text(12, 50, f"{metric}{known}; darker is higher within a row{f'; {mark}' if mark else ''}", size=13),
    ]
    parts += [text(_LABEL + wide * (n + 0.5), _HEAD - 8, name, "middle", size=13) for n, name in enumerate(columns)]
    for number, (name, cells) in enumerate(rows.items()):
        top = _HEAD + number * _TALL
        parts.append(text(_LABEL - 10, top + _TALL / 2 + 4, name, "end", size=13))
        values = [value for value, _, _ in cells.values()]
        for place, column in enumerate(columns):
            if column in cells:
                x = _LABEL + place * wide
                outline = " stroke='#000' stroke-width='2'" if (name, column) in marked else ""
                parts += _cell((x, top, wide), f"{name}, {column}", cells[column], values, outline)
    width = max(_LABEL + wide * len(columns) + 16, 480)
    return framed(title, _HEAD + len(rows) * _TALL + 14, parts, width=width)


def _cell(place: tuple[float, float, float], name: str, cell: Cell, row: Sequence[float], outline: str) -> list[str]:
    (x, y, wide), (value, ci95, n) = place, cell
    share = (value - min(row)) / (max(row) - min(row)) if max(row) > min(row) else 0.0
    # From white to a blue on which black text has a contrast of 4.5 and more.
    fill = "#" + "".join(f"{round(255 - 0.55 * share * (255 - part)):02x}" for part in _DEEPEST)
    known = "" if ci95 is None else f"{ci95[0]:.1f} to {ci95[1]:.1f}"
    hover = escape(f"{name}: {value:.2f}" + (f" ({known})" if known else "") + f", n = {n}")
    size = f"width='{wide - 2:.1f}' height='{_TALL - 2}'"
    return [
        f"<rect x='{x + 1:.1f}' y='{y + 1:.1f}' {size} fill='{fill}'{outline}><title>{hover}</title></rect>",
        text(x + wide / 2, y + 20, f"{value:.1f}", "middle", size=14),
        *([text(x + wide / 2, y + 36, known, "middle", size=10)] if known else []),
    ]
