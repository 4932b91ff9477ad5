"""An evidence graph drawn: as SVG, or as text that other programs draw (Graphviz DOT, Mermaid).

Ids and evidence are other people's words. The programs see names of ours (`n0`, `n1`, …), and the
words only as quoted labels in which nothing means anything. In SVG: a column per depth, arrows from
what is known to what rests on it.
"""

import unicodedata
from html import escape
from statistics import fmean
from typing import TYPE_CHECKING

from reelbench.base.files import valid_text
from reelbench.pages.svg import INK, SOFT, svg_document, text
from reelbench.studio.evidence.graphs import NOT_APPLICABLE, Graph, Node

if TYPE_CHECKING:
    from collections.abc import Sequence

_DOT_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
# They would reorder what stands after them; the marks that only help (LRM, RLM, joiners) stay.
_DIRECTION = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def to_dot(graph: Graph) -> str:
    """Return the graph in Graphviz's DOT language, from left to right."""
    named, edges = _named(graph)
    lines = [
        f'digraph "{one_line(graph.id).translate(_DOT_ESCAPES)}" {{',
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans"];',
    ]
    for name, label in named.items():
        escaped = "\\n".join(line.translate(_DOT_ESCAPES) for line in label)
        lines.append(f'  {name} [label="{escaped}"];')
    return "\n".join([*lines, *(f"  {parent} -> {child};" for parent, child in edges), "}"]) + "\n"


def to_mermaid(graph: Graph) -> str:
    """Return the graph as a Mermaid flow chart, from left to right; GitHub draws it in Markdown."""
    named, edges = _named(graph)
    lines = ["flowchart LR"]
    for name, label in named.items():
        # All but letters, digits, combining marks and spaces goes as a character code: Mermaid
        # finds quotes, brackets, Markdown, comments, styles and HTML in labels.
        coded = "<br/>".join(
            "".join(
                char
                if char.isalnum() or char == " " or unicodedata.category(char).startswith("M")
                else f"#{ord(char)};"
                for char in line
            )
            for line in label
        )
        lines.append(f'  {name}["{coded}"]')
    return "\n".join([*lines, *(f"  {parent} --> {child}" for parent, child in edges)]) + "\n"


def one_line(text: str) -> str:
    """Return text on one line, without control characters, overrides of direction, and what XML or UTF-8 can't hold."""
    text = text.translate(_DIRECTION)
    kept = "".join(
        " " if unicodedata.category(char) in ("Cc", "Cn", "Zl", "Zp") else char
        for char in valid_text(text)
    )
    return " ".join(kept.split())


def _named(graph: Graph) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """Return the lines of each node by a name of ours, and the edges between these names."""
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    edges = [(names[parent], names[node.id]) for node in graph.nodes for parent in node.parents]
    return {
        names[node.id]: [one_line(heading(node)), one_line(node.evidence)] for node in graph.nodes
    }, edges


def heading(node: Node) -> str:
    """Return a node's name, and its time where it has one."""
    return node.id if node.timestamp == NOT_APPLICABLE else f"{node.id} · {node.timestamp}"


# Light enough for dark text at a contrast of 7 to 1, whatever the page's own colours.
_FILL, _STROKE = "#f6f8fa", "#57606a"
_BOX, _ACROSS, _DOWN, _MARGIN, _TOP = 216, 56, 18, 14, 44
_PADDING, _LINE, _SIZE, _LANE = 10, 16, 12, 4
_COLUMNS, _MOST_LINES = 30, 5  # a wide character (Chinese, Japanese, Korean) takes two columns


def to_svg(graph: Graph) -> str:
    """Draw a graph; the question's id stands above and is the picture's name."""
    depths = graph.depths
    lines: dict[
        str, list[tuple[str, str]]
    ] = {}  # a node's words, broken into lines, and their colours
    for node in map(graph.by_id.__getitem__, graph.order):
        lines[node.id] = [(words, SOFT) for words in _lines(heading(node), _COLUMNS, 1)]
        lines[node.id] += [(words, INK) for words in _lines(node.evidence, _COLUMNS, _MOST_LINES)]
    heights = {key: 2 * _PADDING + _LINE * len(words) for key, words in lines.items()}
    # Stack each column, what comes from above on top; an edge passes a column in a lane, never
    # behind a box. By column, the height of the middle of each node and of the lane of each parent.
    layout: list[dict[str, float]] = []
    reach = {
        key: max((depths[child] for child in graph.children[key]), default=0) for key in graph.order
    }
    for column, layer in enumerate(graph.layers):
        before = layout[-1] if layout else {}
        sources: dict[str, Sequence[str]] = {key: graph.by_id[key].parents for key in layer}
        sources |= {key: (key,) for key in before if reach[key] > column}
        # By the mean height of what a node comes from.
        means = {
            key: fmean(map(before.__getitem__, come)) if come else 0.0
            for key, come in sources.items()
        }
        y = float(_TOP)
        layout.append({})
        for key in sorted(sources, key=means.__getitem__):
            tall = heights[key] if depths[key] == column else _LANE
            layout[-1][key] = y + tall / 2
            y += tall + _DOWN
    arrows = list[str]()
    for parent, child in ((parent, node.id) for node in graph.nodes for parent in node.parents):
        first, last = depths[parent], depths[child]
        x, y = _left(first) + _BOX, layout[first][parent]
        path = f"M{x:.1f} {y:.1f}"
        for column in range(first + 1, last + 1):
            to_x, to_y = _left(column), layout[column][child if column == last else parent]
            # The last curve ends under the arrow's head.
            end = to_x - (6 if column == last else 0)
            path += f"C{x + _ACROSS / 2:.1f} {y:.1f} {to_x - _ACROSS / 2:.1f} {to_y:.1f} {end:.1f} {to_y:.1f}"
            x, y = to_x + _BOX, to_y
            if column < last:
                path += f"H{x:.1f}"
        head = f"M{_left(last):.1f} {y:.1f}l-8 -4v8z"
        arrows.append(
            f"<path d='{path}' fill='none' stroke='{SOFT}' stroke-width='1.5'/><path d='{head}' fill='{SOFT}'/>"
        )
    boxes = list[str]()
    look = f"rx='6' fill='{_FILL}' stroke='{_STROKE}' stroke-width='2'"
    for key, words in lines.items():
        x, top = _left(depths[key]), layout[depths[key]][key] - heights[key] / 2
        boxes += [
            f"<g data-node='{escape(one_line(key))}'>",
            f"<title>{escape(one_line(graph.by_id[key].evidence))}</title>",
            f"<rect x='{x:.1f}' y='{top:.1f}' width='{_BOX}' height='{heights[key]:.1f}' {look}/>",
        ]
        first_line = top + _PADDING + _SIZE
        boxes += [
            text(x + _PADDING, first_line + _LINE * n, line, fill=fill)
            for n, (line, fill) in enumerate(words)
        ]
        boxes.append("</g>")
    title, width = one_line(graph.id), len(layout) * (_BOX + _ACROSS) - _ACROSS + 2 * _MARGIN
    height = max(layout[depths[key]][key] + tall / 2 for key, tall in heights.items()) + _MARGIN
    heading_line = text(
        _MARGIN, 26, _lines(title, max(_COLUMNS, int(width / 8)), 1)[0], size=15, weight="bold"
    )
    return svg_document(title, height, [heading_line, *arrows, *boxes], width=width)


def _left(column: int) -> float:
    return _MARGIN + column * (_BOX + _ACROSS)


def _lines(words: str, columns: int, most: int) -> list[str]:
    """Break a text into at most so many lines, at spaces where there are any; what is cut off ends in `…`."""
    lines = [""]
    for word in one_line(words).split():
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


def _width(words: str) -> int:
    return sum(
        0
        if unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in words
    )
