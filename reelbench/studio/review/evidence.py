"""What people say of a diagnosis: its evidence graphs, checked and mended, and what a model has of each node of them.

People who tag nodes again don't see what a tagger said. Those who check a graph read and mend it as
lines, a node each: its id, its time where it has one, the nodes that it rests on, and the evidence.

    n1 [0:59]: A red book lies on the shelf.
    n2 [1:02 - 1:10] <- n1: Its corner is torn.
    n3 <- n1, n2: The writer studied in Cambridge.
"""

import re
from collections import Counter
from collections.abc import Container, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_jsonl
from reelbench.base.text_tables import Table, number
from reelbench.data import loading
from reelbench.registry import discovery
from reelbench.registry.rows import steps
from reelbench.studio.diagnosis.folder import Folder, Step, judged_steps
from reelbench.studio.diagnosis.tagger_agreement import CODES
from reelbench.studio.diagnosis.tagger_agreement import Node as NodeKey
from reelbench.studio.evidence.graphs import NOT_APPLICABLE, Graph, Node, read_graphs, read_nodes
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
# ----------------------------------------------------------------------------------------------------------


class EvidenceNodes(ReviewKind):
    """What went wrong at each node of an evidence graph."""

    name = KindName.NODES
    says = "code"
    known_by = "node"

    def content(self, given: Sources, draw: Draw | None, only: Container[str] = ()) -> Content:  # noqa: ARG002
        """Draw questions, each with all its attempts (one after the other) and the nodes that were settled on them.

        The draw's seed decides which questions; without a draw it is all of them, every node at a
        place of its own.
        """
        folder, known = Folder(given.beside["diagnosis"]), discovery.find_task(given.name)
        spec, settings = known[0] if known else discovery.find(given.name), folder.settings()
        if settings.get("benchmark") != spec.id:
            raise InputError(f"{folder.path}: is of {settings.get('benchmark')}, not of {spec.id}")
        split, attempts = str(settings.get("split")), judged_steps(folder)
        if not attempts:
            raise InputError("nothing to tag again: the tagger settled no node in this diagnosis")
        rows = {
            asked.video: {"id": asked.id, "video": asked.video}
            for asked in (step.question for step in attempts)
        }
        if draw is None:
            items = [item for attempt in attempts for item in _node_items(attempt, alone=True)]
            alone = [parts.Place(item["about"]["video"], item["id"], [item]) for item in items]
            return Content(self, spec, split, alone, rows)
        by_question = {
            key: list(group) for key, group in groupby(attempts, key=lambda step: step.question.id)
        }
        questions = [{"id": key} for key in by_question]
        if draw.per is not None:
            questions = [
                row
                for row in loading.locate(given.name, split, given.data).read()
                if row["id"] in by_question
            ]
        places = [
            parts.Place(
                step.question.video, f"{key}, attempt {step.record.round}", _node_items(step)
            )
            for key in draw.names(spec, questions)
            for step in by_question[key]
        ]
        return Content(
            self, spec, split, places, {place.video: rows[place.video] for place in places}
        )

    def settled_codes(self, reviews: Reviews) -> tuple[dict[NodeKey, str], list[str], float | None]:
        """Return the code of each node, the ids of open ones, and the alpha of what each gave before they talked.

        A node's code is what was decided, or what more than half of those who judged it gave;
        InputError where nothing is tagged.
        """
        given, about = self.verdicts_of_all(reviews), reviews.items
        settled, still_open = self.settle(reviews, given, majority=True)
        codes = {
            (str(about[name]["question"]), str(about[name]["node"])): code
            for name, code in settled.items()
        }
        return (
            codes,
            still_open,
            review_kind.choice_alpha((said.values() for said in given.values()), CODES),
        )

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the count of each code, and agreement; what is written is `{"id", "node", "code"}` in JSON Lines."""
        codes, still_open, alpha = self.settled_codes(reviews)
        counts = Counter(codes.values())

        def write(path: Path) -> str:
            write_jsonl(
                path,
                ({"id": key, "node": node, "code": code} for (key, node), code in codes.items()),
            )
            return f"{number_of(len(codes), 'node')} written to {path}, {len(still_open)} open"

        figures = {
            "nodes": len(codes) + len(still_open),
            "codes": {code: counts[code] for code in CODES},
            "open": still_open,
            "alpha": alpha,
        }
        rows = [*((code, str(counts[code])) for code in CODES), ("open", str(len(still_open)))]
        table = Table(
            f"{reviews.heading}, Krippendorff's alpha {number(alpha)}", ("code", "#nodes"), rows
        )
        return ReviewSummary(self, reviews, figures, [table], write)


NODES = EvidenceNodes()


def _node_items(step: Step, *, alone: bool = False) -> list[parts.Item]:
    asked, graph = step.question, step.graph
    texts = {  # whatever node is judged: nothing that a tagger said
        "Question": asked.question,
        "Answer": asked.answer,
        "A person's notes": asked.steps,
        "The model was told": step.cue,
        "The model wrote": step.attempt.output or "(nothing)",
    }
    of_attempt = [
        parts.shown_text(heading, text, asked.language) for heading, text in texts.items() if text
    ]
    items: list[parts.Item] = []
    for key in step.settled_tags:
        node = graph.by_id[key]
        parents = [graph.by_id[parent].evidence for parent in node.parents]
        # What is one for all nodes of an attempt stands above the first of them.
        shows = [] if items and not alone else list(of_attempt)
        shows.append(
            parts.shown_text(
                "Evidence", node.evidence, others=[f"rests on: {text}" for text in parents]
            )
        )
        if node.windows:
            shows.append(parts.shown_span("Its time", node.windows[0]))
        item = parts.review_item(f"{asked.id} {node.id}", asked.video, shows, NODES.asks)
        item["about"] |= {"question": asked.id, "node": node.id, "round": step.record.round}
        items.append(item)
    return items


# --- graphs
# ---------------------------------------------------------------------------------------------------------

RIGHT, MENDED, UNUSABLE = STATES = ("right", "mended", "unusable")
"""What people say of a graph; `mended` is right as they changed it."""


class EvidenceGraphs(ReviewKind):
    """Whether a graph is what a person's steps say, and how it should be."""

    name = KindName.GRAPHS
    says = "state"
    known_by = "graph"

    def content(self, given: Sources, draw: Draw | None, only: Container[str] = ()) -> Content:  # noqa: ARG002
        """Draw questions (all, without a draw) that have a graph, each at a place of its own beside a person's steps.

        InputError where none of the graphs is of the benchmark's rows.
        """
        located = loading.locate(given.name, given.split, given.data)
        spec, graphs = (
            located.spec,
            {graph.id: graph for graph in read_graphs(given.beside["graphs"])},
        )
        known = {row["id"]: row for row in located.read() if row["id"] in graphs}
        if not known:
            raise InputError(
                f"--graphs: none of these {len(graphs)} graphs is of a question of {spec.id} {located.split}"
            )
        places = []
        for name in list(known) if draw is None else draw.names(spec, list(known.values())):
            row, text = known[name], to_text(graphs[name])
            shows = [
                parts.question_part(row),
                parts.shown_answer(spec, row),
                parts.shown_text("A person's steps", "\n".join(steps(row)), row["language"]),
            ]
            lines, *asks = self.asks
            item = parts.row_item(row, shows, [{**lines, "start": text, "line": LINE}, *asks])
            item["about"]["graph"] = text
            places.append(parts.Place(row["video"], name, [item]))
        return Content(
            self, spec, located.split, places, {place.video: known[place.label] for place in places}
        )

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check what is said, and that a changed graph is one."""
        super().check_marks(marks, where)
        if marks.get("state") == RIGHT and marks.get("graph"):
            _, problems = from_text(str(marks["graph"]))
            if problems:
                raise InputError(f"{where}.graph: {problems[0]}")

    def verdict_of(self, marks: Marks) -> tuple[str, str] | None:
        """What becomes of the graph, and its lines where they were mended."""
        if not marks.get("state"):
            return None
        lines = "\n".join(
            " ".join(line.split())
            for line in str(marks.get("graph") or "").splitlines()
            if line.strip()
        )
        return (MENDED, lines) if marks["state"] == RIGHT and lines else (marks["state"], "")

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the counts of verdicts, agreement, and how many nodes were added, taken out or changed by mending.

        Written are the graphs that are right, mended or decided, as `diagnose --graphs` takes them.
        InputError where nothing is checked.
        """
        given = self.verdicts_of_all(reviews)
        settled, still_open = self.settle(reviews, given)
        about, unusable = (
            reviews.items,
            [name for name, (state, _) in settled.items() if state == UNUSABLE],
        )
        states, changed = Counter(state for state, _ in settled.values()), Counter[str]()
        graphs: dict[str, Graph] = {}
        for name, (state, lines) in settled.items():
            if state == UNUSABLE:
                continue
            shown, _ = from_text(str(about[name]["graph"]))
            nodes = from_text(lines)[0] if lines else shown
            graphs[name] = Graph(id=name, nodes=tuple(nodes))
            changed += _changes({node.id: node for node in shown}, graphs[name].by_id)
        alpha = review_kind.choice_alpha(
            [[state for state, _ in said.values()] for said in given.values()], STATES
        )

        def write(path: Path) -> str:
            write_jsonl(path, (graph.model_dump(mode="json") for graph in graphs.values()))
            left = len(unusable) + len(still_open)
            return f"{number_of(len(graphs), 'graph')} written to {path}; {left} left out as unusable or open"

        figures = {
            "states": {state: states[state] for state in STATES},
            "open": still_open,
            "unusable": unusable,
            "changed": {name: changed[name] for name in _CHANGES},
            "alpha": alpha,
        }
        verdicts = [
            *((state, str(states[state])) for state in STATES),
            ("open", str(len(still_open))),
        ]
        title = f"{reviews.heading}, Krippendorff's alpha {number(alpha)}"
        mending = [(f"nodes {name}", str(changed[name])) for name in _CHANGES]
        tables = [
            Table(title, ("graphs", "#questions"), verdicts),
            Table("what mending changed", ("", "#n"), mending),
        ]
        return ReviewSummary(self, reviews, figures, tables, write)


GRAPHS = EvidenceGraphs()
_CHANGES = ("added", "removed", "reworded", "retimed", "rewired")


def _changes(before: Mapping[str, Node], after: Mapping[str, Node]) -> Counter[str]:
    """Return the counts of changes, from a graph's nodes by id as shown to those as mended."""
    both = before.keys() & after.keys()
    return Counter(
        added=len(after.keys() - before.keys()),
        removed=len(before.keys() - after.keys()),
        reworded=sum(before[key].evidence != after[key].evidence for key in both),
        retimed=sum(before[key].windows != after[key].windows for key in both),
        rewired=sum(set(before[key].parents) != set(after[key].parents) for key in both),
    )


LINE = r"^\s*([^\s:<\[\],]+)\s*(?:\[([^\]]*)\])?\s*(?:<-\s*([^:]*?))?\s*:\s*(.+?)\s*$"
"""A node's line: id, time, parents, evidence; the page of `review page --ask graphs` reads by it, too."""

_LINE = re.compile(LINE)


def to_text(graph: Graph) -> str:
    """Return a graph as lines, in its own order; where a line can't hold an id, all become n1, n2 and so on."""
    names = {node.id: node.id for node in graph.nodes}
    if any(_LINE.fullmatch(f"{name}: e") is None for name in names):
        names = {node.id: f"n{place}" for place, node in enumerate(graph.nodes, start=1)}
    lines = []
    for node in graph.nodes:
        time = "" if node.timestamp == NOT_APPLICABLE else f" [{node.timestamp}]"
        parents = (
            f" <- {', '.join(names[parent] for parent in node.parents)}" if node.parents else ""
        )
        lines.append(f"{names[node.id]}{time}{parents}: {' '.join(node.evidence.split())}")
    return "\n".join(lines)


def from_text(text: str) -> tuple[list[Node], list[str]]:
    """Read lines -> (nodes, what is wrong with them, each in one line); as `graphs.read_nodes`."""
    entries: list[dict[str, Any]] = []
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            return [], [f"line {place}: is not `id [time] <- parents: evidence`"]
        parents = [parent.strip() for parent in (match[3] or "").split(",") if parent.strip()]
        entries.append(
            {"id": match[1], "timestamp": match[2], "parents": parents, "evidence": match[4]}
        )
    return read_nodes({"nodes": entries})
