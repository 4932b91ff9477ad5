"""Evidence graphs: what a question's answer rests on, as a directed acyclic graph (CURVE, section 5.3 and Fig. 5).

A node is one piece of evidence: one moment of the video, one outside fact, or one inference. A
parent is evidence that the node strictly depends on. The same checks serve a file and a model's
reply: `read_nodes` returns what it read and what is wrong with it, `read_graphs` turns the latter
into an error, and whoever asked a model tells it.
"""

import json
import re
import statistics as descriptive
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.base.files import read_jsonl
from reelbench.base.languages import ascii_digits, ascii_signs
from reelbench.base.values import is_array, is_id, is_object
from reelbench.scoring.exact_match import normalize

NOT_APPLICABLE = "N/A"
"""What stands where a piece of evidence has no time."""

Window = tuple[float, float]
"""Start and end in seconds; equal for one moment."""

_NONE = frozenset({"", "n/a", "na", "none", "null", "-"})
_MOMENT = r"\d+:[0-5]\d(?::[0-5]\d)?(?:\.\d+)?"
_RANGE = re.compile(rf"({_MOMENT})(?:\s*(?:[-~]|\bto\b)\s*({_MOMENT}))?")
_BETWEEN = re.compile(r"\s*(?:[,;&/،、]|\band\b)\s*")
_BRACKETS = str.maketrans("", "", "()[]")
_MINUTES = 60


def read_windows(text: str) -> tuple[Window, ...] | None:
    """Return the windows that a text of times names, in its order; empty for `N/A`, None where it can't be read.

    Read are `m:ss`, `mmm:ss` and `h:mm:ss` with digits of any script, a fraction of a second,
    full-width signs, ranges with any dash, a tilde or `to`, several of these with commas or `and`,
    and brackets around them.
    """
    # Format characters go: text written from right to left carries marks of direction around its
    # digits.
    if len(text) > bounds.NAME:
        return None
    text = ascii_signs(unicodedata.normalize("NFKC", text).casefold()).translate(_BRACKETS)
    plain = ascii_digits(
        "".join(char for char in text if unicodedata.category(char) != "Cf")
    ).strip()
    windows: list[Window] = []
    for part in () if plain in _NONE else _BETWEEN.split(plain):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            return None
        start, end = _seconds(match[1]), _seconds(match[2] or match[1])
        if start > end:
            return None
        windows.append((start, end))
    return tuple(windows)


def seconds_apart(one: Window, other: Window) -> float:
    """Return the gap between two windows in seconds; 0 where they touch or overlap."""
    return max(0.0, one[0] - other[1], other[0] - one[1])


def _seconds(moment: str) -> float:
    seconds = 0.0
    for part in moment.split(":"):
        seconds = seconds * _MINUTES + float(part)
    return seconds


SEVERAL_ENDS = "several_ends"
"""More than one node that no other rests on."""
ANSWER_NOT_AT_END = "answer_not_at_end"
"""The answer's text stands in no such node."""
UNCONNECTED = "unconnected"
"""Evidence that no edges, followed either way, connect with the last node."""
SEVERAL_TIMES = "several_times"
"""A node with more than one time, which is more than one piece of evidence."""

WARNINGS = (SEVERAL_ENDS, ANSWER_NOT_AT_END, UNCONNECTED, SEVERAL_TIMES)

_SHOWN = 60  # characters of a user's id or text in a message


class Node(BaseModel):
    """One piece of evidence; `timestamp` as it was written, `N/A` where it has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    evidence: str
    timestamp: str = NOT_APPLICABLE
    parents: tuple[str, ...] = ()

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """When it is seen or heard, in seconds; empty where it has no time."""
        return read_windows(self.timestamp) or ()


class Graph(BaseModel):
    """The evidence of one question (`id`), at least one node, without cycles; made by `read_graphs` or `read_nodes`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    nodes: tuple[Node, ...]

    @cached_property
    def by_id(self) -> dict[str, Node]:
        """Node id -> node."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """Node id -> ids of the nodes that rest on it, in the graph's order."""
        children: dict[str, list[str]] = {node.id: [] for node in self.nodes}
        for node in self.nodes:
            for parent in node.parents:
                children[parent].append(node.id)
        return {node: tuple(ids) for node, ids in children.items()}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Node ids, parents before children and otherwise as they are listed, which is how a person told them."""
        place = {node.id: index for index, node in enumerate(self.nodes)}
        sorter = TopologicalSorter({node.id: node.parents for node in self.nodes})
        sorter.prepare()
        ready, order = list[int](), list[str]()
        while sorter:
            for node in sorter.get_ready():
                heappush(ready, place[node])
            order.append(self.nodes[heappop(ready)].id)
            sorter.done(order[-1])
        return tuple(order)

    @cached_property
    def depths(self) -> dict[str, int]:
        """Node id -> edges of the longest path to it from a node without parents."""
        depths: dict[str, int] = {}
        for node in self.order:
            depths[node] = max(
                (depths[parent] + 1 for parent in self.by_id[node].parents), default=0
            )
        return depths

    @property
    def layers(self) -> list[list[str]]:
        """Node ids by depth, each layer in topological order."""
        layers: list[list[str]] = [[] for _ in range(max(self.depths.values()) + 1)]
        for node in self.order:
            layers[self.depths[node]].append(node)
        return layers

    @property
    def ends(self) -> list[str]:
        """Ids of the nodes that no other rests on, in topological order."""
        return [node for node in self.order if not self.children[node]]


def read_graphs(path: Path | str) -> list[Graph]:
    """Read graphs from JSON Lines: `{"id", "nodes": [...]}`, or the paper's `{"id", "solution_graph": {...}}`.

    InputError names the first line that is wrong, with its id and node.
    """
    graphs: dict[str, Graph] = {}
    lines: dict[str, int] = {}
    for number, value in read_jsonl(path, unique=True):
        where = f"{path}, line {number}"
        key = _key(value.get("id")) if is_object(value) else None
        if key is None:
            raise InputError(f'{where}: not a graph with an id; expected {{"id": …, "nodes": […]}}')
        if key in graphs:
            raise InputError(
                f"{where}, id {_shown(key)}: this id is on line {lines[key]} already; keep one of them"
            )
        nodes, problems = read_nodes(value)
        if problems:
            raise InputError(f"{where}, id {_shown(key)}: {problems[0]}")
        graphs[key], lines[key] = Graph(id=key, nodes=tuple(nodes)), number
    if not graphs:
        raise InputError(f"{path}: holds no graph; expected one JSON object per line")
    return list(graphs.values())


def read_nodes(value: object) -> tuple[list[Node], list[str]]:
    """Read a graph's nodes from decoded JSON -> (nodes, what is wrong with them, each in one line).

    Where something is wrong, the nodes are those that could be read and are not a graph. Keys that
    are not ours are passed over. The value is `{"nodes": [{"id", "evidence", "timestamp",
    "parents"}]}`, or the paper's `{"solution_graph": {id: {"evidence", "timestamp",
    "parent_nodes"}}}`.
    """
    entries, problem = _entries(value)
    edges = sum(
        len(part) for _, entry in entries if is_object(entry) and is_array(part := _parents(entry))
    )
    if len(entries) + edges > bounds.GRAPH:
        problem = (
            f"{len(entries) + edges:,} nodes and edges, and at most {bounds.GRAPH:,} are taken"
        )
    if problem:
        return [], [problem]
    nodes: list[Node] = []
    problems: list[str] = []
    for number, (key, entry) in enumerate(entries, start=1):
        name = f"node {_shown(key)}" if key is not None else f"node number {number}"
        wrong = _entry_problems(key, entry)
        problems += [f"{name}: {text}" for text in wrong]
        if key is not None and not wrong:
            time = entry.get("timestamp")
            time = time.strip() if time and read_windows(time) else NOT_APPLICABLE
            parents = tuple(map(str, _parents(entry)))
            nodes.append(
                Node(id=key, evidence=entry["evidence"].strip(), timestamp=time, parents=parents)
            )
    counts = Counter(key for key, _ in entries if key is not None)
    problems += [
        f"node {_shown(key)}: this id is there {n} times" for key, n in counts.items() if n > 1
    ]
    for node in nodes:
        name = f"node {_shown(node.id)}"
        for parent, times in Counter(node.parents).items():
            if parent == node.id:
                problems.append(f"{name}: is its own parent")
            elif parent not in counts:
                problems.append(f"{name}: parent {_shown(parent)} does not exist")
            if times > 1:
                problems.append(f"{name}: parent {_shown(parent)} is listed {times} times")
    if not problems:
        try:
            TopologicalSorter({node.id: node.parents for node in nodes}).prepare()
        except CycleError as error:
            cycle = [_shown(str(node)) for node in error.args[1]]
            more = " → …" if len(cycle) > 5 else ""  # noqa: PLR2004 - enough to find it by
            problems = [f"node {cycle[0]}: is in a cycle ({' → '.join(cycle[:5])}{more})"]
    return nodes, problems


def printed_map(graph: Graph) -> str:
    """Return a graph as the paper's prompts print one, a map of JSON (supplement, Fig. 5 and 7)."""
    nodes = {
        key: {
            "evidence": node.evidence,
            "timestamp": node.timestamp,
            "parent_nodes": list(node.parents),
        }
        for key, node in ((key, graph.by_id[key]) for key in graph.order)
    }
    return json.dumps({"solution_graph": nodes}, ensure_ascii=False, indent=1)


def warnings(graph: Graph, answer: str | None = None) -> list[str]:
    """Return the `WARNINGS` that hold; without the answer, in the graph's language, its place is not looked at."""
    ends = graph.ends
    connected, todo = {ends[-1]}, [ends[-1]]
    while todo:
        node = todo.pop()
        new = {*graph.by_id[node].parents, *graph.children[node]} - connected
        connected |= new
        todo += new
    told = [normalize(graph.by_id[end].evidence) for end in ends] if answer is not None else []
    holds = {
        SEVERAL_ENDS: len(ends) > 1,
        ANSWER_NOT_AT_END: answer is not None
        and not any(normalize(answer) in text for text in told),
        UNCONNECTED: len(connected) < len(graph.nodes),
        SEVERAL_TIMES: any(len(node.windows) > 1 for node in graph.nodes),
    }
    return [kind for kind in WARNINGS if holds[kind]]


def count_warnings(
    graphs: Iterable[Graph], answers: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Return warning -> questions whose graph has it; `answers` is question id -> answer."""
    counts = Counter(
        kind for graph in graphs for kind in warnings(graph, (answers or {}).get(graph.id))
    )
    return {kind: counts[kind] for kind in WARNINGS}


def statistics(graphs: Iterable[Graph], locales: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Count graphs as the paper does (supplement, Tab. 7), unrounded.

    `questions`; `nodes`, `timestamps` (nodes that have one) and `edges`, each with `mean`, `sd`
    (the population's) and `total`; `depth` (edges of the longest path) with `mean` and `sd`; with
    `locales`, question -> locale, all of that by locale, too. A mean over no questions is None.
    """
    graphs = list(graphs)
    counts = {
        "nodes": [len(graph.nodes) for graph in graphs],
        "timestamps": [sum(bool(node.windows) for node in graph.nodes) for graph in graphs],
        "edges": [sum(len(node.parents) for node in graph.nodes) for graph in graphs],
        "depth": [max(graph.depths.values()) for graph in graphs],
    }
    figures: dict[str, Any] = {"questions": len(graphs)}
    for name, of in counts.items():
        mean, sd = (descriptive.fmean(of), descriptive.pstdev(of)) if of else (None, None)
        figures[name] = {"mean": mean, "sd": sd} | ({} if name == "depth" else {"total": sum(of)})
    if locales is not None:
        figures["locales"] = {
            locale: statistics(graph for graph in graphs if locales.get(graph.id) == locale)
            for locale in sorted({locales[graph.id] for graph in graphs if graph.id in locales})
        }
    return figures


def _entries(value: object) -> tuple[list[tuple[str | None, Any]], str | None]:
    """Return (id, entry) of each node, and what is wrong where there are none."""
    if not is_object(value) or ("nodes" in value) == ("solution_graph" in value):
        return [], 'a graph has either "nodes" (a list) or "solution_graph" (a map)'
    nodes = value.get("nodes", value.get("solution_graph"))
    if "nodes" in value:
        if not is_array(nodes):
            return [], '"nodes" is not a list'
        entries = [(entry.get("id") if is_object(entry) else None, entry) for entry in nodes]
    elif is_object(nodes):
        entries = list(nodes.items())
    else:
        return [], '"solution_graph" is not a map of node ids'
    return [
        (_key(key), entry) for key, entry in entries
    ], None if entries else "the graph has no node"


def _entry_problems(key: str | None, entry: object) -> list[str]:
    if not is_object(entry):
        return ["is not an object"]
    problems: list[str] = [] if key is not None else ["has no id"]
    evidence, timestamp = entry.get("evidence"), entry.get("timestamp")
    if not isinstance(evidence, str):
        problems.append("evidence is missing or is not text")
    elif not evidence.strip():
        problems.append("evidence is blank")
    if timestamp is not None and (
        not isinstance(timestamp, str) or read_windows(timestamp) is None
    ):
        problems.append(
            f"timestamp {_shown(timestamp)} is not m:ss, h:mm:ss, a range of these, or N/A"
        )
    parents = _parents(entry)
    if not is_array(parents) or any(_key(parent) is None for parent in parents):
        problems.append("parents is not a list of node ids ([] where there are none)")
    return problems


def _parents(entry: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    return entry.get("parents", entry.get("parent_nodes"))


def _key(value: object) -> str | None:
    """Return an id as text."""
    return str(value) if is_id(value) else None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
