"""An evidence graph as SVG: a column per depth, arrows from what is known to what rests on it.

No plotting library, and the same bytes each time. A node's state is a sign, words and the line around it; its colour
only repeats them. Nothing in the picture has an XML id, so any number of them can stand in one page.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from reelbench.judges.graph_export import one_line
from reelbench.judges.graphs import Graph, Node
from reelbench.judges.isolation import Status
from reelbench.judges.timestamps import NOT_APPLICABLE


@dataclass(frozen=True, slots=True)
class _Look:
    sign: str
    words: str
    fill: str
    stroke: str
    dashes: str


# Each fill is light enough for dark text at a contrast of 7 to 1, whatever the page's own colours.
_LOOKS: dict[Status, _Look] = {
    "right": _Look("✓", "right", "#d5f0e3", "#007a55", "none"),
    "wrong": _Look("✗", "wrong", "#fbdcd3", "#b3400a", "none"),
    "divergent": _Look("↷", "another path", "#d6e8f7", "#0062a0", "8 3"),
    "undetermined": _Look("…", "not evaluated", "#fdf0b8", "#7d6200", "3 3"),
    "undecided": _Look("?", "votes differ", "#e9e3f1", "#6a4a93", "8 3 2 3"),
}
_PLAIN = _Look("", "", "#f6f8fa", "#57606a", "none")

_TEXT, _GREY = "#1f2328", "#57606a"
_FONT = "font-family='Helvetica, Arial, Noto Sans, sans-serif'"
_BOX, _ACROSS, _DOWN, _MARGIN, _TOP = 216, 56, 18, 14, 44
_PADDING, _LINE, _SIZE = 10, 16, 12
_COLUMNS, _MOST_LINES = 30, 5  # a wide character (Chinese, Japanese, Korean) takes two columns


@dataclass(frozen=True, slots=True)
class _Placed:
    node: Node
    look: _Look
    head: list[str]
    body: list[str]
    x: float
    y: float
    height: float


def to_svg(
    graph: Graph, states: Mapping[str, Status] | None = None, labels: Mapping[str, str] | None = None, title: str = ""
) -> str:
    """Draw a graph.

    Args:
        graph: What to draw.
        states: Node id -> its state; without it no state is shown.
        labels: Node id -> words beside its state, such as an error's label.
        title: Stands above and is the picture's name; the question's id by default.
    """
    placed = _place(graph, states or {}, labels or {})
    title = one_line(title or graph.id)
    width = len(graph.layers) * (_BOX + _ACROSS) - _ACROSS + 2 * _MARGIN
    height = max(box.y + box.height for box in placed.values()) + _MARGIN
    edges = [_arrow(placed[parent], placed[node.id]) for node in graph.nodes for parent in node.parents]
    size = f"width='{width}' height='{height:.0f}' viewBox='0 0 {width} {height:.0f}'"
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img' {_FONT}>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height:.0f}' rx='6' fill='#ffffff'/>",  # the page may be dark
        _text(_MARGIN, 26, _lines(title, max(_COLUMNS, int(width / 8)), 1)[0], size=15, weight="bold"),
        *edges,
        *(_box(box) for box in placed.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _place(graph: Graph, states: Mapping[str, Status], labels: Mapping[str, str]) -> dict[str, _Placed]:
    placed = {}
    for column, layer in enumerate(graph.layers):
        y = float(_TOP)
        for key in layer:
            node = graph.by_id[key]
            look = _LOOKS[states[key]] if key in states else _PLAIN
            name = node.id if node.timestamp == NOT_APPLICABLE else f"{node.id} · {node.timestamp}"
            head = _lines(name, _COLUMNS, 1)
            state = " ".join(filter(None, (look.sign, look.words)))
            if state:
                head += _lines(f"{state}: {labels[key]}" if labels.get(key) else state, _COLUMNS, 2)
            body = _lines(node.evidence, _COLUMNS, _MOST_LINES)
            height = 2 * _PADDING + _LINE * (len(head) + len(body))
            placed[key] = _Placed(node, look, head, body, _MARGIN + column * (_BOX + _ACROSS), y, height)
            y += height + _DOWN
    return placed


def _box(box: _Placed) -> str:
    look = box.look
    line = f"fill='{look.fill}' stroke='{look.stroke}' stroke-width='2' stroke-dasharray='{look.dashes}'"
    y = box.y + _PADDING + _SIZE
    parts = [
        f"<g data-node='{escape(one_line(box.node.id))}'>",
        f"<title>{escape(one_line(box.node.evidence))}</title>",
        f"<rect x='{box.x:.1f}' y='{box.y:.1f}' width='{_BOX}' height='{box.height:.1f}' rx='6' {line}/>",
    ]
    for number, words in enumerate([*box.head, *box.body]):
        weight = "bold" if 0 < number < len(box.head) else "normal"
        fill = _GREY if number == 0 else _TEXT
        parts.append(_text(box.x + _PADDING, y + number * _LINE, words, fill=fill, weight=weight))
    return "\n".join([*parts, "</g>"])


def _arrow(start: _Placed, end: _Placed) -> str:
    x, y = start.x + _BOX, start.y + start.height / 2
    to_x, to_y = end.x, end.y + end.height / 2
    bend = min(_ACROSS, (to_x - x) / 2)
    curve = f"M{x:.1f} {y:.1f}C{x + bend:.1f} {y:.1f} {to_x - bend:.1f} {to_y:.1f} {to_x - 6:.1f} {to_y:.1f}"
    head = f"M{to_x:.1f} {to_y:.1f}l-8 -4v8z"
    return f"<path d='{curve}' fill='none' stroke='{_GREY}' stroke-width='1.5'/><path d='{head}' fill='{_GREY}'/>"


def _lines(text: str, columns: int, most: int) -> list[str]:
    """Break a text into at most so many lines, at spaces where there are any; what is cut off ends in `…`."""
    lines = [""]
    for word in one_line(text).split():
        joined = f"{lines[-1]} {word}".lstrip()
        if _width(joined) <= columns:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for char in word:
            # A combining mark has no width, so it never leaves its letter.
            if _width(lines[-1] + char) > columns:
                lines.append("")
            lines[-1] += char
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    while _width(last) > columns - 1:
        last = last[:-1]
    return [*lines[: most - 1], f"{last}…"]


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.category(char) in ("Mn", "Me", "Cf") else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def _text(x: float, y: float, text: str, *, size: int = _SIZE, fill: str = _TEXT, weight: str = "normal") -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' font-weight='{weight}' fill='{fill}'>{escape(text)}</text>"
    )
