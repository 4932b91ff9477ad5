"""People's views of a diagnosis: its evidence graphs, checked and mended, and each node's code.

People who tag nodes again don't see the tagger's labels. Those who check a graph read and mend it
as lines, a node each: its id, its time where it has one, the nodes that it rests on, and the
evidence.

    n1 [0:59]: A red book lies on the shelf.
    n2 [1:02 - 1:10] <- n1: Its corner is torn.
    n3 <- n1, n2: The writer studied in Cambridge.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_jsonl
from reelbench.base.text_tables import Table, number
from reelbench.data import loading
from reelbench.registry import discovery
from reelbench.registry.rows import Row, steps
from reelbench.registry.spec import BenchmarkSpec
from reelbench.studio.diagnosis.folder import Folder, Step, judged_steps
from reelbench.studio.diagnosis.tagger_agreement import CODES
from reelbench.studio.diagnosis.tagger_agreement import Node as NodeKey
from reelbench.studio.evidence.graphs import (
    NOT_APPLICABLE,
    Graph,
    Node,
    ReadNodes,
    read_graphs,
    read_nodes,
)
from reelbench.studio.review import KindName, review_kind
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.review_kind import (
    Content,
    Draw,
    Marks,
    ReviewKind,
    Reviews,
    ReviewSummary,
    Sources,
)

# --- nodes
# -------------------------------------------------------------------------------------------------


class NodeCodes(NamedTuple):
    """People's codes of nodes, the ids of open ones, and their agreement before they talked."""

    codes: dict[NodeKey, str]
    open_ids: list[str]
    alpha: float | None


class EvidenceNodes(ReviewKind):
    """The error at each node of an evidence graph."""

    name = KindName.NODES
    says = "code"
    known_by = "node"

    def content(
        self,
        sources: Sources,
        draw: Draw | None,
        only: Container[str] = (),  # noqa: ARG002
    ) -> Content:
        """Draw questions, each with all its attempts and the nodes that were settled on them.

        The draw's seed decides which questions. Without a draw it is all of them, every node at a
        place of its own.
        """
        folder = Folder(sources.beside["diagnosis"])
        spec_and_task = discovery.find_task(sources.name)
        spec = spec_and_task[0] if spec_and_task else discovery.find(sources.name)
        settings = folder.settings()
        if settings.get("benchmark") != spec.id:
            raise InputError(f"{folder.path}: is of {settings.get('benchmark')}, not of {spec.id}")
        split = str(settings.get("split"))
        attempts = judged_steps(folder)
        if not attempts:
            raise InputError("nothing to tag again: the tagger settled no node in this diagnosis")
        if draw is None:
            places = _places_of_nodes(attempts)
        else:
            by_question: dict[str, list[Step]] = {}
            for attempt in attempts:
                by_question.setdefault(attempt.question.id, []).append(attempt)
            rows: list[Row] = [{"id": key} for key in by_question]
            if draw.per is not None:
                all_rows = loading.locate(sources.name, split, sources.data).read()
                rows = [row for row in all_rows if row["id"] in by_question]
            places = _places_of_attempts(by_question, draw.names(spec, rows))
        questions = {attempt.question.video: attempt.question.id for attempt in attempts}
        row_of_video = {
            place.video: {"id": questions[place.video], "video": place.video} for place in places
        }
        return Content(self, spec, split, places, row_of_video)

    def settled_codes(self, reviews: Reviews) -> NodeCodes:
        """Return the code of each node.

        It is the decision, or the code of more than half of the node's judges.

        Raises:
            InputError: Nothing is tagged.
        """
        codes_by_item = self.verdicts_of_all(reviews)
        facts = reviews.items
        settled, open_ids = self.settle(reviews, codes_by_item, majority=True)
        codes: dict[NodeKey, str] = {}
        for name, code in settled.items():
            key = str(facts[name]["question"]), str(facts[name]["node"])
            codes[key] = code
        item_codes = [by_reviewer.values() for by_reviewer in codes_by_item.values()]
        return NodeCodes(codes, open_ids, review_kind.choice_alpha(item_codes, CODES))

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the count of each code, and agreement.

        Written is `{"id", "node", "code"}` in JSON Lines.
        """
        codes, open_ids, alpha = self.settled_codes(reviews)
        counts = Counter(codes.values())

        def write(path: Path) -> str:
            lines: list[dict[str, str]] = []
            for (question, node), code in codes.items():
                line = {"id": question, "node": node, "code": code}
                lines.append(line)
            write_jsonl(path, lines)
            nodes = number_of(len(codes), "node")
            return f"{nodes} written to {path}, {len(open_ids)} open"

        figures = {
            "nodes": len(codes) + len(open_ids),
            "codes": {code: counts[code] for code in CODES},
            "open": open_ids,
            "alpha": alpha,
        }
        rows = [(code, str(counts[code])) for code in CODES]
        rows.append(("open", str(len(open_ids))))
        title = f"{reviews.heading}, Krippendorff's alpha {number(alpha)}"
        table = Table(title, ("code", "#nodes"), rows)
        return ReviewSummary(self, reviews, figures, [table], write)


NODES = EvidenceNodes()


def _places_of_nodes(attempts: Iterable[Step]) -> list[parts.Place]:
    places: list[parts.Place] = []
    for attempt in attempts:
        for item in _node_items(attempt, alone=True):
            video = attempt.question.video
            places.append(parts.Place(video, item["id"], [item]))
    return places


def _places_of_attempts(
    by_question: Mapping[str, Sequence[Step]], names: Iterable[str]
) -> list[parts.Place]:
    places: list[parts.Place] = []
    for name in names:
        for step in by_question[name]:
            label = f"{name}, attempt {step.record.round}"
            places.append(parts.Place(step.question.video, label, _node_items(step)))
    return places


def _node_items(step: Step, *, alone: bool = False) -> list[parts.Item]:
    """Return the nodes that were settled on an attempt.

    The texts of the attempt stand above the first node, or above each where nodes stand `alone`.
    """
    question = step.question
    attempt_texts = _attempt_texts(step)
    items: list[parts.Item] = []
    for key in step.settled_tags:
        node = step.graph.by_id[key]
        parents = [step.graph.by_id[parent].evidence for parent in node.parents]
        rests_on = [f"rests on: {evidence}" for evidence in parents]
        shows: list[parts.Part] = []
        if alone or not items:
            shows += attempt_texts
        shows.append(parts.shown_text("Evidence", node.evidence, below=rests_on))
        if node.windows:
            shows.append(parts.shown_span("Its time", node.windows[0]))
        item = parts.review_item(f"{question.id} {node.id}", question.video, shows, NODES.asks)
        item["about"]["question"] = question.id
        item["about"]["node"] = node.id
        item["about"]["round"] = step.record.round
        items.append(item)
    return items


def _attempt_texts(step: Step) -> list[parts.Part]:
    """Return the texts that are the same for all nodes: none of the tagger's words."""
    question = step.question
    texts = {
        "Question": question.question,
        "Answer": question.answer,
        "A person's notes": question.steps,
        "The model was told": step.cue,
        "The model wrote": step.attempt.output or "(nothing)",
    }
    shows: list[parts.Part] = []
    for heading, text in texts.items():
        if text:
            shows.append(parts.shown_text(heading, text, question.language))
    return shows


# --- graphs
# -------------------------------------------------------------------------------------------------

RIGHT = "right"
MENDED = "mended"
UNUSABLE = "unusable"
STATES = (RIGHT, MENDED, UNUSABLE)
"""People's verdicts on a graph. `mended` is right with their changes."""

_CHANGES = ("added", "removed", "reworded", "retimed", "rewired")


class _GraphVerdict(NamedTuple):
    """The state of a graph, and its lines where they were mended."""

    state: str
    lines: str


class EvidenceGraphs(ReviewKind):
    """The agreement of a graph with a person's steps, and its mended form."""

    name = KindName.GRAPHS
    says = "state"
    known_by = "graph"

    def content(
        self,
        sources: Sources,
        draw: Draw | None,
        only: Container[str] = (),  # noqa: ARG002
    ) -> Content:
        """Draw questions that have a graph, each at a place of its own.

        Without a draw it is all of them.

        Raises:
            InputError: None of the graphs is of the benchmark's rows.
        """
        located = loading.locate(sources.name, sources.split, sources.data)
        spec = located.spec
        graphs = {graph.id: graph for graph in read_graphs(sources.beside["graphs"])}
        rows = {row["id"]: row for row in located.read() if row["id"] in graphs}
        if not rows:
            raise InputError(
                f"--graphs: none of these {len(graphs)} graphs is of a question "
                f"of {spec.id} {located.split}"
            )
        names = list(rows)
        if draw is not None:
            names = draw.names(spec, list(rows.values()))
        places: list[parts.Place] = []
        for name in names:
            item = self._graph_item(spec, rows[name], graphs[name])
            places.append(parts.Place(rows[name]["video"], name, [item]))
        row_of_video = {place.video: rows[place.label] for place in places}
        return Content(self, spec, located.split, places, row_of_video)

    def _graph_item(self, spec: BenchmarkSpec, row: Row, graph: Graph) -> parts.Item:
        """Return a question with a person's steps and the graph as lines."""
        text = to_text(graph)
        shows = [
            parts.question_part(row),
            parts.shown_answer(spec, row),
            parts.shown_text("A person's steps", "\n".join(steps(row)), row["language"]),
        ]
        lines_ask, *further_asks = self.asks
        lines_ask = {**lines_ask, "start": text, "line": LINE}
        item = parts.row_item(row, shows, [lines_ask, *further_asks])
        item["about"]["graph"] = text
        return item

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check the marks, and that a changed graph is one."""
        super().check_marks(marks, where)
        if marks.get("state") == RIGHT and marks.get("graph"):
            problems = from_text(str(marks["graph"])).problems
            if problems:
                raise InputError(f"{where}.graph: {problems[0]}")

    def verdict_of(self, marks: Marks) -> _GraphVerdict | None:
        """Return the graph's state, and its lines where they were mended."""
        if not marks.get("state"):
            return None
        lines = parts.lines_of(str(marks.get("graph") or ""))
        text = "\n".join(" ".join(line.split()) for line in lines)
        if marks["state"] == RIGHT and text:
            return _GraphVerdict(MENDED, text)
        return _GraphVerdict(marks["state"], "")

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the counts of verdicts, agreement, and the nodes that mending changed.

        Written are the graphs that are right, mended or decided, as `diagnose --graphs` takes them.

        Raises:
            InputError: Nothing is checked.
        """
        verdicts_by_item = self.verdicts_of_all(reviews)
        settled, open_ids = self.settle(reviews, verdicts_by_item)
        states: Counter[str] = Counter()
        changes: Counter[str] = Counter()
        unusable: list[str] = []
        graphs: list[Graph] = []
        for name, verdict in settled.items():
            states[verdict.state] += 1
            if verdict.state == UNUSABLE:
                unusable.append(name)
                continue
            shown_nodes = from_text(str(reviews.items[name]["graph"])).nodes
            nodes = shown_nodes
            if verdict.lines:
                nodes = from_text(verdict.lines).nodes
            graph = Graph(id=name, nodes=tuple(nodes))
            graphs.append(graph)
            shown_by_id = {node.id: node for node in shown_nodes}
            changes += _count_node_changes(shown_by_id, graph.by_id)
        alpha = _alpha_of_states(verdicts_by_item)
        figures = {
            "states": {state: states[state] for state in STATES},
            "open": open_ids,
            "unusable": unusable,
            "changed": {name: changes[name] for name in _CHANGES},
            "alpha": alpha,
        }
        state_rows = [(state, str(states[state])) for state in STATES]
        state_rows.append(("open", str(len(open_ids))))
        change_rows = [(f"nodes {name}", str(changes[name])) for name in _CHANGES]
        title = f"{reviews.heading}, Krippendorff's alpha {number(alpha)}"
        tables = [
            Table(title, ("graphs", "#questions"), state_rows),
            Table("what corrections changed", ("", "#n"), change_rows),
        ]
        left_out = len(unusable) + len(open_ids)
        write = partial(_write_graphs, graphs, left_out)
        return ReviewSummary(self, reviews, figures, tables, write)


GRAPHS = EvidenceGraphs()


def _alpha_of_states(verdicts_by_item: Mapping[str, Mapping[str, _GraphVerdict]]) -> float | None:
    """Return the agreement of reviewers on the states of graphs."""
    states_by_item: list[list[str]] = []
    for by_reviewer in verdicts_by_item.values():
        states = [verdict.state for verdict in by_reviewer.values()]
        states_by_item.append(states)
    return review_kind.choice_alpha(states_by_item, STATES)


def _write_graphs(graphs: Sequence[Graph], left_out: int, path: Path) -> str:
    """Write graphs as mended, and return a line on them."""
    write_jsonl(path, (graph.model_dump(mode="json") for graph in graphs))
    number_of_graphs = number_of(len(graphs), "graph")
    return f"{number_of_graphs} written to {path}; {left_out} left out as unusable or open"


def _count_node_changes(before: Mapping[str, Node], after: Mapping[str, Node]) -> Counter[str]:
    """Count the changes from a graph's nodes as shown to those as mended, by id."""
    changes = Counter(
        added=len(after.keys() - before.keys()),
        removed=len(before.keys() - after.keys()),
    )
    for key in before.keys() & after.keys():
        node = before[key]
        mended_node = after[key]
        changes["reworded"] += node.evidence != mended_node.evidence
        changes["retimed"] += node.windows != mended_node.windows
        changes["rewired"] += set(node.parents) != set(mended_node.parents)
    return changes


LINE = r"^\s*([^\s:<\[\],]+)\s*(?:\[([^\]]*)\])?\s*(?:<-\s*([^:]*?))?\s*:\s*(.+?)\s*$"
"""A node's line: id, time, parents, evidence. The page reads by it, too."""

_LINE = re.compile(LINE)


def to_text(graph: Graph) -> str:
    """Return a graph as lines, in its own order.

    Where a line can't hold an id, all become n1, n2 and so on.
    """
    names = {node.id: node.id for node in graph.nodes}
    if not all(_LINE.fullmatch(f"{name}: e") for name in names):
        names = {node.id: f"n{place}" for place, node in enumerate(graph.nodes, start=1)}
    lines: list[str] = []
    for node in graph.nodes:
        line = names[node.id]
        if node.timestamp != NOT_APPLICABLE:
            line += f" [{node.timestamp}]"
        if node.parents:
            parents = ", ".join(names[parent] for parent in node.parents)
            line += f" <- {parents}"
        evidence = " ".join(node.evidence.split())
        lines.append(f"{line}: {evidence}")
    return "\n".join(lines)


def from_text(text: str) -> ReadNodes:
    """Read a graph from its lines, as `graphs.read_nodes` does from JSON."""
    entries: list[dict[str, Any]] = []
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            return ReadNodes([], [f"line {place}: expected `id [time] <- parents: evidence`"])
        key, time, parent_list, evidence = match.groups()
        parents: list[str] = []
        for part in (parent_list or "").split(","):
            parent = part.strip()
            if parent:
                parents.append(parent)
        entry = {
            "id": key,
            "timestamp": time,
            "parents": parents,
            "evidence": evidence,
        }
        entries.append(entry)
    return read_nodes({"nodes": entries})
