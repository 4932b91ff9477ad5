"""An evidence graph as text that other programs draw: Graphviz DOT and Mermaid.

Ids and evidence are other people's words. The programs see names of ours (`n0`, `n1`, …), and the words only as quoted
labels in which nothing means anything.
"""

import unicodedata

from reelbench.registry.files import valid_text
from reelbench.studio.evidence.graphs import Graph, Node
from reelbench.studio.evidence.timestamps import NOT_APPLICABLE

_DOT_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
# They would reorder what stands after them; the marks that only help (LRM, RLM, joiners) stay.
_DIRECTION = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def to_dot(graph: Graph) -> str:
    """Return the graph in Graphviz's DOT language, from left to right."""
    lines = [f'digraph "{_dot(graph.id)}" {{', "  rankdir=LR;", '  node [shape=box, style=rounded, fontname="sans"];']
    for name, node in _named(graph).items():
        label = "\\n".join(_dot(line) for line in _label(node))
        lines.append(f'  {name} [label="{label}"];')
    lines += [f"  {parent} -> {child};" for parent, child in _edges(graph)]
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(graph: Graph) -> str:
    """Return the graph as a Mermaid flow chart, from left to right; GitHub draws it in Markdown."""
    lines = ["flowchart LR"]
    for name, node in _named(graph).items():
        label = "<br/>".join(_mermaid(line) for line in _label(node))
        lines.append(f'  {name}["{label}"]')
    lines += [f"  {parent} --> {child}" for parent, child in _edges(graph)]
    return "\n".join(lines) + "\n"


def one_line(text: str) -> str:
    """Return text on one line, without control characters, overrides of direction, and what XML or UTF-8 can't hold."""
    text = text.translate(_DIRECTION)
    kept = "".join(" " if unicodedata.category(char) in ("Cc", "Cn", "Zl", "Zp") else char for char in valid_text(text))
    return " ".join(kept.split())


def _named(graph: Graph) -> dict[str, Node]:
    return {f"n{number}": node for number, node in enumerate(graph.nodes)}


def _edges(graph: Graph) -> list[tuple[str, str]]:
    names = {node.id: name for name, node in _named(graph).items()}
    return [(names[parent], names[node.id]) for node in graph.nodes for parent in node.parents]


def heading(node: Node) -> str:
    """Return a node's name, and its time where it has one."""
    return node.id if node.timestamp == NOT_APPLICABLE else f"{node.id} · {node.timestamp}"


def _label(node: Node) -> list[str]:
    return [one_line(heading(node)), one_line(node.evidence)]


def _dot(text: str) -> str:
    return one_line(text).translate(_DOT_ESCAPES)


def _mermaid(text: str) -> str:
    # All but letters, digits, combining marks and spaces goes as a character code: Mermaid finds quotes, brackets,
    # Markdown, comments, styles and HTML in labels.
    return "".join(
        char if char.isalnum() or char == " " or unicodedata.category(char).startswith("M") else f"#{ord(char)};"
        for char in text
    )
