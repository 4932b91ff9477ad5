"""An evidence graph as lines that a person can read and mend.

    n1 [0:59]: A red book lies on the shelf.
    n2 [1:02 - 1:10] <- n1: Its corner is torn.
    n3 <- n1, n2: The writer studied in Cambridge.

A line is a node: its id, its time where it has one, the nodes that it rests on, and the evidence.
"""

import re
from typing import Any

from reelbench.studio.evidence.graphs import Graph, Node, read_nodes
from reelbench.studio.evidence.timestamps import NOT_APPLICABLE

LINE = r"^\s*([^\s:<\[\],]+)\s*(?:\[([^\]]*)\])?\s*(?:<-\s*([^:]*?))?\s*:\s*(.+?)\s*$"
"""A node's line: id, time, parents, evidence; the page of `review page --ask graphs` reads by it, too."""

_LINE = re.compile(LINE)


def to_text(graph: Graph) -> str:
    """Return a graph as lines, in its own order; where a line can't hold an id, all become n1, n2 and so on."""
    names = {node.id: node.id for node in graph.nodes}
    if any(_LINE.fullmatch(f"{name}: e") is None for name in names):
        names = {node.id: f"n{place}" for place, node in enumerate(graph.nodes, start=1)}
    return "\n".join(_line(node, names) for node in graph.nodes)


def from_text(text: str) -> tuple[list[Node], list[str]]:
    """Read lines -> (nodes, what is wrong with them, each in one line); as `graphs.read_nodes`."""
    entries: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            return [], [f"line {number}: is not `id [time] <- parents: evidence`"]
        parents = [parent.strip() for parent in (match[3] or "").split(",") if parent.strip()]
        entries.append({"id": match[1], "timestamp": match[2], "parents": parents, "evidence": match[4]})
    return read_nodes({"nodes": entries})


def _line(node: Node, names: dict[str, str]) -> str:
    time = "" if node.timestamp == NOT_APPLICABLE else f" [{node.timestamp}]"
    parents = f" <- {', '.join(names[parent] for parent in node.parents)}" if node.parents else ""
    return f"{names[node.id]}{time}{parents}: {' '.join(node.evidence.split())}"
