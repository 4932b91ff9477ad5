"""Evidence graphs: directed acyclic graphs of what an answer rests on (CURVE, 5.3 and Fig. 5).

A node is one piece of evidence: one moment of the video, one outside fact, or one inference. A
parent is evidence that the node strictly depends on. A file and a model's reply pass the same
checks. `read_nodes` returns the nodes and their problems. `read_graphs` raises an error for a
problem, and the caller that asked a model tells the model.
"""

import json
import re
import statistics as descriptive
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, NamedTuple

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
"""Start and end in seconds. Equal for one moment."""

_NONE = frozenset({"", "n/a", "na", "none", "null", "-"})
_MOMENT = r"\d+:[0-5]\d(?::[0-5]\d)?(?:\.\d+)?"
_RANGE = re.compile(rf"({_MOMENT})(?:\s*(?:[-~]|\bto\b)\s*({_MOMENT}))?")
_BETWEEN = re.compile(r"(?:(?<!\s)\s++)?(?:[,;&/،、]|\band\b)\s*")
_BRACKETS = str.maketrans("", "", "()[]")
_MINUTES = 60


def read_windows(text: str) -> tuple[Window, ...] | None:
    """Return the windows that a text of times names, in its order.

    Read are `m:ss`, `mmm:ss` and `h:mm:ss` with digits of any script, a fraction of a second,
    full-width signs, ranges with any dash, a tilde or `to`, several of these with commas or `and`,
    and brackets around them.

    Returns:
        The windows, empty for `N/A`. It is None where the text can't be read.
    """
    if len(text) > bounds.NAME:
        return None
    signs = ascii_signs(unicodedata.normalize("NFKC", text).casefold())
    # Text written from right to left carries marks of direction around its digits.
    visible = [char for char in signs.translate(_BRACKETS) if unicodedata.category(char) != "Cf"]
    plain = ascii_digits("".join(visible)).strip()
    if plain in _NONE:
        return ()
    windows: list[Window] = []
    for part in _BETWEEN.split(plain):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            return None
        start = _parse_seconds(match[1])
        end = _parse_seconds(match[2] or match[1])
        if start > end:
            return None
        windows.append((start, end))
    return tuple(windows)


def seconds_apart(first: Window, second: Window) -> float:
    """Return the gap between two windows in seconds.

    0 where they touch or overlap.
    """
    first_start, first_end = first
    second_start, second_end = second
    return max(0.0, first_start - second_end, second_start - first_end)


def _parse_seconds(moment: str) -> float:
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

_SHOWN = 60
"""Characters of a user's id or text in a message."""
_SHOWN_NODES = 5
"""Nodes of a cycle in a message: enough to find it by."""


class Node(BaseModel):
    """One piece of evidence.

    `timestamp` as it was written, `N/A` where it has none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    evidence: str
    timestamp: str = NOT_APPLICABLE
    parents: tuple[str, ...] = ()

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """The times of the evidence, in seconds.

        It is empty where there is no time.
        """
        return read_windows(self.timestamp) or ()


class Graph(BaseModel):
    """The evidence of one question (`id`), checked by `read_graphs` or `read_nodes`.

    It has at least one node and no cycles.
    """

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
        children: dict[str, tuple[str, ...]] = {node.id: () for node in self.nodes}
        for node in self.nodes:
            for parent in node.parents:
                children[parent] += (node.id,)
        return children

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Node ids, parents before children and otherwise as they are listed.

        A person listed them in the order of the story.
        """
        places = {node.id: place for place, node in enumerate(self.nodes)}
        sorter = TopologicalSorter({node.id: node.parents for node in self.nodes})
        sorter.prepare()
        ready_places: list[int] = []
        order: list[str] = []
        while sorter:
            for node in sorter.get_ready():
                heappush(ready_places, places[node])
            next_node = self.nodes[heappop(ready_places)].id
            order.append(next_node)
            sorter.done(next_node)
        return tuple(order)

    @cached_property
    def depths(self) -> dict[str, int]:
        """Node id -> edges of the longest path to it from a node without parents."""
        depths: dict[str, int] = {}
        for node in self.order:
            depth = 0
            for parent in self.by_id[node].parents:
                depth = max(depth, depths[parent] + 1)
            depths[node] = depth
        return depths

    @property
    def layers(self) -> list[list[str]]:
        """Node ids by depth, each layer in topological order."""
        number = max(self.depths.values()) + 1
        layers: list[list[str]] = [[] for _ in range(number)]
        for node in self.order:
            layers[self.depths[node]].append(node)
        return layers

    @property
    def ends(self) -> list[str]:
        """Ids of the nodes that no other rests on, in topological order."""
        return [node for node in self.order if not self.children[node]]


class ReadNodes(NamedTuple):
    """The nodes that were read, and their problems, one line each.

    Nodes with problems are those that could be read. They are not a graph.
    """

    nodes: list[Node]
    problems: list[str]


class _Entry(NamedTuple):
    """A node as it stands in JSON.

    `id` is None without a usable id.
    """

    id: str | None
    value: Any

    @property
    def parents(self) -> Any:  # noqa: ANN401 - any JSON value
        return self.value.get("parents", self.value.get("parent_nodes"))


def read_graphs(path: Path | str) -> list[Graph]:
    """Read graphs from JSON Lines.

    A line is `{"id", "nodes": [...]}`, or the paper's `{"id", "solution_graph": {...}}`.

    Raises:
        InputError: Names the first line that is wrong, with its id and node.
    """
    graphs: dict[str, Graph] = {}
    lines: dict[str, int] = {}
    for number, value in read_jsonl(path, unique=True):
        where = f"{path}, line {number}"
        key = None
        if is_object(value):
            key = _id_as_text(value.get("id"))
        if key is None:
            raise InputError(f'{where}: not a graph with an id; expected {{"id": …, "nodes": […]}}')
        name = f"{where}, id {_short_text(key)}"
        if key in graphs:
            raise InputError(f"{name}: this id is on line {lines[key]} already; keep one of them")
        nodes, problems = read_nodes(value)
        if problems:
            raise InputError(f"{name}: {problems[0]}")
        graphs[key] = Graph(id=key, nodes=tuple(nodes))
        lines[key] = number
    if not graphs:
        raise InputError(f"{path}: holds no graph; expected one JSON object per line")
    return list(graphs.values())


def read_nodes(value: object) -> ReadNodes:
    """Read a graph's nodes from decoded JSON.

    The value is `{"nodes": [{"id", "evidence", "timestamp", "parents"}]}`, or the paper's
    `{"solution_graph": {id: {"evidence", "timestamp", "parent_nodes"}}}`. Keys that are not ours
    are passed over.
    """
    try:
        entries = _node_entries(value)
    except ValueError as error:
        return ReadNodes([], [str(error)])
    nodes: list[Node] = []
    problems: list[str] = []
    for number, entry in enumerate(entries, start=1):
        name = f"node number {number}"
        if entry.id is not None:
            name = f"node {_short_text(entry.id)}"
        entry_problems = _entry_problems(entry)
        problems += [f"{name}: {problem}" for problem in entry_problems]
        if entry.id is not None and not entry_problems:
            nodes.append(_parse_node(entry.id, entry))
    counts = Counter(entry.id for entry in entries if entry.id is not None)
    for key, times in counts.items():
        if times > 1:
            problems.append(f"node {_short_text(key)}: this id occurs {times} times")
    for node in nodes:
        problems += _parent_problems(node, counts)
    if not problems:
        problems = _first_cycle(nodes)
    return ReadNodes(nodes, problems)


def _node_entries(value: object) -> list[_Entry]:
    """Return the nodes as they stand in JSON.

    Raises:
        ValueError: There is no graph.
    """
    if not is_object(value) or ("nodes" in value) == ("solution_graph" in value):
        raise ValueError('a graph has either "nodes" (a list) or "solution_graph" (a map)')
    entries: list[_Entry] = []
    if "nodes" in value:
        nodes = value["nodes"]
        if not is_array(nodes):
            raise ValueError('"nodes" is not a list')
        for node in nodes:
            key = None
            if is_object(node):
                key = _id_as_text(node.get("id"))
            entries.append(_Entry(key, node))
    else:
        nodes = value["solution_graph"]
        if not is_object(nodes):
            raise ValueError('"solution_graph" is not a map of node ids')
        for key, node in nodes.items():
            entries.append(_Entry(_id_as_text(key), node))
    size = len(entries)
    for entry in entries:
        if is_object(entry.value) and is_array(entry.parents):
            size += len(entry.parents)
    if size > bounds.GRAPH:
        raise ValueError(f"{size:,} nodes and edges; the maximum is {bounds.GRAPH:,}")
    if not entries:
        raise ValueError("the graph has no node")
    return entries


def _entry_problems(entry: _Entry) -> list[str]:
    value = entry.value
    if not is_object(value):
        return ["is not an object"]
    problems: list[str] = []
    if entry.id is None:
        problems.append("has no id")
    evidence = value.get("evidence")
    if not isinstance(evidence, str):
        problems.append("evidence is missing or is not text")
    elif not evidence.strip():
        problems.append("evidence is blank")
    timestamp = value.get("timestamp")
    is_time = isinstance(timestamp, str) and read_windows(timestamp) is not None
    if timestamp is not None and not is_time:
        problems.append(
            f"timestamp {_short_text(timestamp)} is not m:ss, h:mm:ss, a range of these, or N/A"
        )
    parents = entry.parents
    if not is_array(parents) or not all(is_id(parent) for parent in parents):
        problems.append("parents is not a list of node ids ([] where there are none)")
    return problems


def _parse_node(key: str, entry: _Entry) -> Node:
    timestamp = entry.value.get("timestamp")
    time = NOT_APPLICABLE
    if timestamp and read_windows(timestamp):
        time = timestamp.strip()
    evidence: str = entry.value["evidence"]
    return Node(
        id=key,
        evidence=evidence.strip(),
        timestamp=time,
        parents=tuple(map(str, entry.parents)),
    )


def _parent_problems(node: Node, ids: Collection[str]) -> list[str]:
    name = f"node {_short_text(node.id)}"
    problems: list[str] = []
    for parent, times in Counter(node.parents).items():
        if parent == node.id:
            problems.append(f"{name}: is its own parent")
        elif parent not in ids:
            problems.append(f"{name}: parent {_short_text(parent)} does not exist")
        if times > 1:
            problems.append(f"{name}: parent {_short_text(parent)} is listed {times} times")
    return problems


def _first_cycle(nodes: Iterable[Node]) -> list[str]:
    """Return the first cycle as a problem."""
    sorter = TopologicalSorter({node.id: node.parents for node in nodes})
    try:
        sorter.prepare()
    except CycleError as error:
        cycle = [_short_text(str(node)) for node in error.args[1]]
        path = " → ".join(cycle[:_SHOWN_NODES])
        if len(cycle) > _SHOWN_NODES:
            path += " → …"
        return [f"node {cycle[0]}: is in a cycle ({path})"]
    return []


def printed_map(graph: Graph) -> str:
    """Return a graph as the paper's prompts print it, in JSON.

    It is a map of nodes (supplement, Fig. 5 and 7).
    """
    nodes: dict[str, object] = {}
    for key in graph.order:
        node = graph.by_id[key]
        nodes[key] = {
            "evidence": node.evidence,
            "timestamp": node.timestamp,
            "parent_nodes": list(node.parents),
        }
    return json.dumps({"solution_graph": nodes}, ensure_ascii=False, indent=1)


def warnings(graph: Graph, answer: str | None = None) -> list[str]:
    """Return the `WARNINGS` that apply to a graph.

    The place of the answer, which is in the graph's language, is looked at only where one is given.
    """
    ends = graph.ends
    kinds: list[str] = []
    if len(ends) > 1:
        kinds.append(SEVERAL_ENDS)
    end_nodes = [graph.by_id[end] for end in ends]
    if answer is not None and not _is_in_evidence(answer, end_nodes):
        kinds.append(ANSWER_NOT_AT_END)
    connected = _nodes_connected_with(graph, ends[-1])
    if len(connected) < len(graph.nodes):
        kinds.append(UNCONNECTED)
    if any(len(node.windows) > 1 for node in graph.nodes):
        kinds.append(SEVERAL_TIMES)
    return kinds


def _is_in_evidence(answer: str, nodes: Iterable[Node]) -> bool:
    normal_answer = normalize(answer)
    return any(normal_answer in normalize(node.evidence) for node in nodes)


def _nodes_connected_with(graph: Graph, start: str) -> set[str]:
    """Return the nodes that edges, followed either way, connect with `start`."""
    connected = {start}
    open_nodes = [start]
    while open_nodes:
        node = open_nodes.pop()
        neighbours = {*graph.by_id[node].parents, *graph.children[node]}
        open_nodes += neighbours - connected
        connected |= neighbours
    return connected


def count_warnings(
    graphs: Iterable[Graph], answers: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Return warning -> questions whose graph has it.

    `answers` is question id -> answer.
    """
    counts: dict[str, int] = dict.fromkeys(WARNINGS, 0)
    for graph in graphs:
        answer = None
        if answers:
            answer = answers.get(graph.id)
        for kind in warnings(graph, answer):
            counts[kind] += 1
    return counts


def statistics(graphs: Iterable[Graph], locales: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Count graphs as the paper does (supplement, Tab. 7), unrounded.

    Returns:
        `questions` is their number. `nodes`, `timestamps` (nodes that have one) and `edges` have
        `mean`, `sd` (the population's) and `total`, `depth` (edges of the longest path) has `mean`
        and `sd`. `locales` has all of that by locale, where question -> locale is given. A mean
        over no questions is None.
    """
    graphs = list(graphs)
    nodes: list[int] = []
    timestamps: list[int] = []
    edges: list[int] = []
    depths: list[int] = []
    for graph in graphs:
        nodes.append(len(graph.nodes))
        timestamps.append(sum(bool(node.windows) for node in graph.nodes))
        edges.append(sum(len(node.parents) for node in graph.nodes))
        depths.append(max(graph.depths.values()))
    figures: dict[str, Any] = {
        "questions": len(graphs),
        "nodes": {**_mean_and_sd(nodes), "total": sum(nodes)},
        "timestamps": {**_mean_and_sd(timestamps), "total": sum(timestamps)},
        "edges": {**_mean_and_sd(edges), "total": sum(edges)},
        "depth": _mean_and_sd(depths),
    }
    if locales is not None:
        by_locale: dict[str, list[Graph]] = {}
        for graph in graphs:
            locale = locales.get(graph.id)
            if locale is not None:
                by_locale.setdefault(locale, []).append(graph)
        figures["locales"] = {
            locale: statistics(graphs_of_locale)
            for locale, graphs_of_locale in sorted(by_locale.items())
        }
    return figures


def _mean_and_sd(counts: Sequence[int]) -> dict[str, float | None]:
    if not counts:
        return {"mean": None, "sd": None}
    return {
        "mean": descriptive.fmean(counts),
        "sd": descriptive.pstdev(counts),
    }


def _id_as_text(value: object) -> str | None:
    """Return an id as text.

    None where it is none.
    """
    if not is_id(value):
        return None
    return str(value)


def _short_text(value: object) -> str:
    text = repr(value)
    if len(text) <= _SHOWN:
        return text
    return text[: _SHOWN - 1] + "…"
