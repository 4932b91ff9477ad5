"""Evidence graphs from people's steps, by a language model (CURVE, supplement, Fig. 5)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reelbench.llm import loop
from reelbench.llm.ask_result import PENDING
from reelbench.llm.material import PromptFiles
from reelbench.llm.reading import UnreadableError
from reelbench.llm.runner import PENDING_SHOWN, Runner
from reelbench.registry.errors import PendingError, ReelbenchError
from reelbench.registry.files import write_json, write_jsonl, write_text
from reelbench.registry.progress import Show, no_show
from reelbench.scoring.answers import past_reasoning
from reelbench.studio.diagnosis import models
from reelbench.studio.diagnosis.models import COMES_BACK, TOLD, RoleModels, whole_object
from reelbench.studio.diagnosis.questions import ReasonedQuestion
from reelbench.studio.evidence.graph_svg import to_dot, to_mermaid, to_svg
from reelbench.studio.evidence.graphs import Graph, count_warnings, read_nodes, statistics

if TYPE_CHECKING:
    from reelbench.llm.asker import Asker

GRAPH_INVALID = "graph_invalid"
GRAPHS, STATISTICS = "graphs.jsonl", "statistics.json"
DRAWN: dict[str, tuple[str, Callable[[Graph], str]]] = {
    "dot": (".dot", to_dot),
    "mermaid": (".mmd", to_mermaid),
    "svg": (".svg", to_svg),
}
"""Format -> a file's ending, and what draws a graph."""

_LONGEST = 100  # characters of an id in a file's name


@dataclass(slots=True)
class GraphSet:
    """Graphs by question, in the questions' order; why there is none for the rest; and what asking came to."""

    graphs: dict[str, Graph] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)
    spent: models.Spent = field(default_factory=dict)


def make(questions: Sequence[ReasonedQuestion], asked: RoleModels, progress: Show = no_show) -> GraphSet:
    """Ask for a graph of each question's steps; a reply that is no graph is asked for again, with what is wrong.

    Raises:
        ReelbenchError: Some replies can't be had now; those that came are kept.
    """

    async def graphs() -> tuple[list[Graph | str], models.Spent]:
        async with asked.asked([models.GRAPH]) as askers:
            asker = askers[models.GRAPH]
            made = await Runner([asker], progress).results(questions, lambda q: graph_of(q, asker, asked.prompts))
            return made, models.spent(askers)

    found, spent = loop.run(graphs())
    made = GraphSet(spent=spent)
    for question, graph in zip(questions, found, strict=True):
        if isinstance(graph, Graph):
            made.graphs[question.id] = graph
        else:
            made.lacking[question.id] = graph
    check_answered(made.lacking.values(), "graphs")
    return made


async def graph_of(question: ReasonedQuestion, asker: "Asker", prompts: PromptFiles) -> Graph | str:
    """Return the graph of a question's steps, or the reason why there is none."""

    def read(reply: str) -> Graph:
        nodes, problems = read_nodes(whole_object(reply))
        if problems:
            raise UnreadableError("; ".join(problems[:TOLD]))
        return Graph(id=question.id, nodes=tuple(nodes))

    material = [("question", question.question), ("answer", question.answer), ("notes", question.steps)]
    messages = prompts.messages(models.GRAPH_PROMPT, material, parts={"human_response": question.steps})
    asked = await asker.ask(messages, past_reasoning(read), again=prompts.again)
    if asked.value is not None:
        return asked.value
    return asked.reason if asked.reason is not None and asked.reason in COMES_BACK else GRAPH_INVALID


def check_answered(reasons: Iterable[str | None], what: str) -> None:
    """Raise ReelbenchError where a reason says that a reply can't be had now; PendingError where all are in a batch."""
    lacking = [reason for reason in reasons if reason is not None and reason in COMES_BACK]
    if set(lacking) == {PENDING}:
        raise PendingError(PENDING_SHOWN.format(len(lacking)))
    if lacking:
        raise ReelbenchError(
            f"{len(lacking)} {what} lack a reply ({', '.join(sorted(set(lacking)))}); what came is kept: run the same "
            "command again to go on"
        )


def write(
    folder: Path,
    graphs: Sequence[Graph],
    questions: Sequence[ReasonedQuestion] = (),
    lacking: Mapping[str, str] | None = None,
    asked: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write `graphs.jsonl` and `statistics.json` to a folder -> the statistics.

    `questions` are the graphs', for figures by locale and for the warning that needs the answer; `lacking` says for
    which a model gave none, and why; `asked` which models made them and by which prompts, where they were made here.
    """
    locales = {question.id: question.group for question in questions}
    answers = {question.id: question.answer for question in questions}
    counted = statistics(graphs, locales or None) | {
        "warnings": count_warnings(graphs, answers),
        GRAPH_INVALID: len(lacking or {}),
        "invalid": sorted(lacking or {}),
        **(asked or {}),
    }
    write_graphs(folder, graphs)
    write_json(folder / STATISTICS, counted)
    return counted


def write_graphs(folder: Path, graphs: Iterable[Graph]) -> None:
    """Write `graphs.jsonl` to a folder."""
    write_jsonl(folder / GRAPHS, (graph.model_dump(mode="json") for graph in graphs))


def draw(folder: Path, graphs: Iterable[Graph], form: str) -> None:
    """Write each graph to a file of its own in `graphs/`, in a format of `DRAWN`."""
    ending, drawn = DRAWN[form]
    for graph in graphs:
        name = quote(graph.id, safe="")
        if len(name) > _LONGEST:
            name = f"{name[:_LONGEST]}-{sha256(graph.id.encode()).hexdigest()[:8]}"
        write_text(folder / "graphs" / f"{name}{ending}", drawn(graph))
