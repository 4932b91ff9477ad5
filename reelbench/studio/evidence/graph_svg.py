"""Drawings of an evidence graph: SVG, or text for other programs (Graphviz DOT, Mermaid).

Ids and evidence are foreign text. The programs see names of ours (`n0`, `n1`, …), and the foreign
words only as quoted labels in which nothing means anything. In SVG there is a column for each
depth, and arrows go from evidence to the nodes that rest on it.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean

from reelbench.base.files import valid_text
from reelbench.pages.svg import INK, SOFT, element, svg_document, text
from reelbench.studio.evidence.graphs import NOT_APPLICABLE, Graph, Node

_DOT_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
# They would reorder what stands after them; the marks that only help (LRM, RLM, joiners) stay.
_EMBEDDINGS = range(0x202A, 0x202F)
_ISOLATES = range(0x2066, 0x206A)
_DIRECTION = dict.fromkeys([*_EMBEDDINGS, *_ISOLATES])
_NO_TEXT = ("Cc", "Cn", "Zl", "Zp")
_NO_WIDTH = ("Mn", "Me", "Cf")


# --- text for other programs
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _NamedGraph:
    """A graph under names of ours: the lines of each node's label, and the edges."""

    labels: dict[str, list[str]]
    edges: list[tuple[str, str]]


def to_dot(graph: Graph) -> str:
    """Return the graph in Graphviz's DOT language, from left to right."""
    named_graph = _with_our_names(graph)
    title = one_line(graph.id).translate(_DOT_ESCAPES)
    lines = [
        f'digraph "{title}" {{',
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans"];',
    ]
    for name, label_lines in named_graph.labels.items():
        escaped_lines = [line.translate(_DOT_ESCAPES) for line in label_lines]
        label = "\\n".join(escaped_lines)
        lines.append(f'  {name} [label="{label}"];')
    lines += [f"  {parent} -> {child};" for parent, child in named_graph.edges]
    lines.append("}")
    return "\n".join(lines) + "\n"


def to_mermaid(graph: Graph) -> str:
    """Return the graph as a Mermaid flow chart, from left to right.

    GitHub draws it in Markdown.
    """
    named_graph = _with_our_names(graph)
    lines = ["flowchart LR"]
    for name, label_lines in named_graph.labels.items():
        label = "<br/>".join(map(_mermaid_text, label_lines))
        lines.append(f'  {name}["{label}"]')
    lines += [f"  {parent} --> {child}" for parent, child in named_graph.edges]
    return "\n".join(lines) + "\n"


def _mermaid_text(line: str) -> str:
    """Return text as Mermaid shows it as it is.

    All but letters, digits, combining marks and spaces becomes a character code: Mermaid finds
    quotes, brackets, Markdown, comments, styles and HTML in labels.
    """
    coded = ""
    for char in line:
        is_mark = unicodedata.category(char).startswith("M")
        if char.isalnum() or char == " " or is_mark:
            coded += char
        else:
            coded += f"#{ord(char)};"
    return coded


def one_line(text: str) -> str:
    """Return text on one line, without characters that a picture can't hold.

    These are control characters, overrides of direction, and those that XML or UTF-8 lacks.
    """
    line = ""
    for char in valid_text(text.translate(_DIRECTION)):
        if unicodedata.category(char) in _NO_TEXT:
            line += " "
        else:
            line += char
    return " ".join(line.split())


def _with_our_names(graph: Graph) -> _NamedGraph:
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    labels: dict[str, list[str]] = {}
    edges: list[tuple[str, str]] = []
    for node in graph.nodes:
        name = names[node.id]
        heading = node_heading(node)
        labels[name] = [one_line(heading), one_line(node.evidence)]
        for parent in node.parents:
            edges.append((names[parent], name))
    return _NamedGraph(labels, edges)


def node_heading(node: Node) -> str:
    """Return a node's name, and its time where it has one."""
    if node.timestamp == NOT_APPLICABLE:
        return node.id
    return f"{node.id} · {node.timestamp}"


# --- SVG
# -------------------------------------------------------------------------------------------------

# Light enough for dark text at a contrast of 7 to 1, whatever the page's own colours.
_FILL = "#f6f8fa"
_STROKE = "#57606a"
_BOX = 216
_ACROSS = 56
_DOWN = 18
_MARGIN = 14
_TOP = 44
_PADDING = 10
_LINE = 16
_SIZE = 12
_LANE = 4
_COLUMNS = 30
"""Columns of text in a box. A wide character (Chinese, Japanese, Korean) takes two."""
_MOST_LINES = 5
_ARROW_HEAD = 6
"""Pixels of an arrow's last curve that lie under its head."""

_Layout = list[dict[str, float]]
"""By column: the height of the middle of each node, and of the lane of each passing edge."""


@dataclass(frozen=True, slots=True)
class _TextLine:
    """A line of a node's box and its colour."""

    words: str
    colour: str


@dataclass(frozen=True, slots=True)
class _Box:
    """A node as a box.

    `height` in pixels.
    """

    node: Node
    lines: list[_TextLine]

    @property
    def height(self) -> int:
        return 2 * _PADDING + _LINE * len(self.lines)


def to_svg(graph: Graph) -> str:
    """Draw a graph.

    The question's id stands above and is the picture's name.
    """
    boxes = {key: _node_box(graph.by_id[key]) for key in graph.order}
    layout = _node_and_lane_heights(graph, boxes)
    title = one_line(graph.id)
    right_edge = _column_x(len(layout) - 1) + _BOX
    width = right_edge + _MARGIN
    title_columns = max(_COLUMNS, int(width / 8))
    (shown_title,) = _break_lines(title, title_columns, 1)
    parts = [text(_MARGIN, 26, shown_title, size=15, weight="bold")]
    for node in graph.nodes:
        for parent in node.parents:
            edge = _draw_edge(graph.depths, layout, parent, node.id)
            parts.append(edge)
    bottom = 0.0
    for key, box in boxes.items():
        column = graph.depths[key]
        middle = layout[column][key]
        half = box.height / 2
        parts += _box_parts(box, _column_x(column), middle - half)
        bottom = max(bottom, middle + half)
    return svg_document(title, bottom + _MARGIN, parts, width=width)


def _node_box(node: Node) -> _Box:
    head = _break_lines(node_heading(node), _COLUMNS, 1)
    evidence = _break_lines(node.evidence, _COLUMNS, _MOST_LINES)
    lines = [_TextLine(words, SOFT) for words in head]
    lines += [_TextLine(words, INK) for words in evidence]
    return _Box(node, lines)


def _node_and_lane_heights(graph: Graph, boxes: Mapping[str, _Box]) -> _Layout:
    """Return the heights of nodes and lanes, by column.

    Each column is stacked by the mean height of what its nodes come from. An edge passes a column
    in a lane, never behind a box.
    """
    last_columns = _last_columns(graph)
    layout: _Layout = []
    for column, layer in enumerate(graph.layers):
        before: dict[str, float] = {}
        if layout:
            before = layout[-1]
        sources: dict[str, Sequence[str]] = {}
        for key in layer:
            sources[key] = graph.by_id[key].parents
        for key in before:
            if last_columns[key] > column:
                sources[key] = (key,)
        heights: dict[str, float] = {}
        y = float(_TOP)
        for key in _by_mean_height(sources, before):
            height = _LANE
            if graph.depths[key] == column:
                height = boxes[key].height
            heights[key] = y + height / 2
            y += height + _DOWN
        layout.append(heights)
    return layout


def _last_columns(graph: Graph) -> dict[str, int]:
    """Return the column of the last child of each node.

    It is 0 where it has none.
    """
    columns: dict[str, int] = {}
    for key in graph.order:
        child_columns = [graph.depths[child] for child in graph.children[key]]
        columns[key] = max(child_columns, default=0)
    return columns


def _by_mean_height(
    sources: Mapping[str, Sequence[str]], heights: Mapping[str, float]
) -> list[str]:
    means: dict[str, float] = {}
    for key, parents in sources.items():
        means[key] = 0.0
        if parents:
            means[key] = fmean(heights[parent] for parent in parents)
    return sorted(sources, key=means.__getitem__)


def _draw_edge(depths: Mapping[str, int], layout: _Layout, parent: str, child: str) -> str:
    """Draw an edge: a curve into each column, straight through all but the last."""
    first = depths[parent]
    last = depths[child]
    x = _column_x(first) + _BOX
    y = layout[first][parent]
    path = f"M{x:.1f} {y:.1f}"
    for column in range(first + 1, last + 1):
        is_last = column == last
        to_x = _column_x(column)
        if is_last:
            to_y = layout[column][child]
            end_x = to_x - _ARROW_HEAD
        else:
            to_y = layout[column][parent]
            end_x = to_x
        bend_x = x + _ACROSS / 2
        to_bend_x = to_x - _ACROSS / 2
        path += f"C{bend_x:.1f} {y:.1f} {to_bend_x:.1f} {to_y:.1f}"
        path += f" {end_x:.1f} {to_y:.1f}"
        x = to_x + _BOX
        y = to_y
        if not is_last:
            path += f"H{x:.1f}"
    line = element("path", d=path, fill="none", stroke=SOFT, stroke_width=1.5)
    head = f"M{_column_x(last):.1f} {y:.1f}l-8 -4v8z"
    return line + element("path", d=head, fill=SOFT)


def _box_parts(box: _Box, x: float, top: float) -> list[str]:
    rectangle = element(
        "rect",
        x=float(x),
        y=top,
        width=_BOX,
        height=float(box.height),
        rx=6,
        fill=_FILL,
        stroke=_STROKE,
        stroke_width=2,
    )
    name = escape(one_line(box.node.id))
    evidence = escape(one_line(box.node.evidence))
    parts = [
        f"<g data-node='{name}'>",
        f"<title>{evidence}</title>",
        rectangle,
    ]
    baseline = top + _PADDING + _SIZE
    for number, line in enumerate(box.lines):
        y = baseline + _LINE * number
        parts.append(text(x + _PADDING, y, line.words, fill=line.colour))
    parts.append("</g>")
    return parts


def _column_x(column: int) -> float:
    return _MARGIN + column * (_BOX + _ACROSS)


def _break_lines(words: str, columns: int, most: int) -> list[str]:
    """Break a text into at most so many lines, at spaces if any.

    A text that is cut off ends in `…`.
    """
    lines = _wrap_at_spaces(one_line(words), columns)
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    while _display_width(last) > columns - 1:
        last = last[:-1]
    return [*lines[: most - 1], f"{last}…"]


def _wrap_at_spaces(words: str, columns: int) -> list[str]:
    lines = [""]
    for word in words.split():
        joined = f"{lines[-1]} {word}".lstrip()
        if _display_width(joined) <= columns:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for char in word:
            # A combining mark has no width, so it never leaves its letter.
            if _display_width(lines[-1] + char) > columns:
                lines.append("")
            lines[-1] += char
    return lines


def _display_width(words: Iterable[str]) -> int:
    """Return the number of columns that a text takes."""
    columns = 0
    for char in words:
        if unicodedata.category(char) in _NO_WIDTH:
            continue
        columns += 1
        if unicodedata.east_asian_width(char) in "WF":
            columns += 1
    return columns
