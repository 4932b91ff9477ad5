"""What a diagnosis asks of language models: evidence graphs of people's steps, and votes on what is wrong (CURVE).

Roles share one cache of replies, one budget, and the prompts (supplement, Fig. 5 and 6). A tagger
gives several votes over the whole graph, text against text.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from reelbench.base.errors import PendingError, ReelbenchError
from reelbench.base.files import write_json, write_text
from reelbench.base.progress import Show, no_show
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import BUDGET, PENDING, REFUSED, UNAVAILABLE, UNPARSABLE
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Budget
from reelbench.llm.material import PromptFiles
from reelbench.llm.reading import UnreadableError, last_dictionary
from reelbench.llm.runner import PENDING_SHOWN, Runner
from reelbench.scoring.answers import past_reasoning, strip_reasoning
from reelbench.studio.diagnosis.folder import (
    GRAPHS,
    Attempt,
    ReasonedQuestion,
    SpentByRole,
    write_records,
)
from reelbench.studio.evidence.findings import NodeVerdict, read_cue, read_findings
from reelbench.studio.evidence.graph_svg import to_dot, to_mermaid, to_svg
from reelbench.studio.evidence.graphs import (
    Graph,
    count_warnings,
    printed_map,
    read_nodes,
    statistics,
)
from reelbench.studio.evidence.isolation import Round, Vote, nodes_to_tag

GRAPH, TAGGER, TRANSLATOR = ROLES = ("graph", "tagger", "translator")

COMES_BACK = frozenset({UNAVAILABLE, BUDGET, REFUSED, PENDING})
"""Why there is no reply now, though there may be one when the same is asked another time."""


class DiagnosisPrompts(PromptFiles):
    """What models are told; the paper's prompts (supplement, Fig. 5 to 7) are read as they are printed.

    There they are templates of Python's `str.format`, in which a brace that stands for itself is
    written twice.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Read nothing yet but the user's folder, whose files take the place of ours; InputError where it has none."""
        super().__init__(resources.files("reelbench.studio.diagnosis"), folder)

    def text(self, name: str) -> str:
        """Return a prompt, its double braces single."""
        text = super().text(name)
        return text.replace("{{", "{").replace("}}", "}") if "{{" in text else text


TOLD = 5  # problems of a reply that are told to the model
T = TypeVar("T")


def read_whole(reply: str, read: Callable[[object], tuple[T, list[str]]]) -> T:
    """Return what `read` makes of the object that a reply ends in; UnreadableError where it is wrong, or not there."""
    value = last_dictionary(reply)
    if value is None:
        raise UnreadableError(
            "the reply does not end in one whole JSON object whose keys are there once each"
        )
    found, problems = read(value)
    if problems:
        raise UnreadableError("; ".join(problems[:TOLD]))
    return found


@dataclass(frozen=True, slots=True)
class RoleModels:
    """Which model plays which role, what all of them may spend together, and what they are told."""

    options: Mapping[str, AskOptions]
    budget: Budget = field(default_factory=Budget)
    note: Callable[[str], None] = field(default=lambda _: None)
    prompts: PromptFiles = field(default_factory=DiagnosisPrompts)

    def askers(self, roles: Iterable[str]) -> dict[str, Asker]:
        """Return an asker for each role; nothing is sent yet."""
        return {
            role: Asker(self.options[role], on_note=self.note, budget=self.budget, tells=True)
            for role in roles
        }


def spent(askers: Mapping[str, Asker]) -> dict[str, Any]:
    """Return the models' usage by role, without what differs between a run and its repetition."""
    asked = {role: asker for role, asker in askers.items() if asker.tally.replies}
    models = {
        role: {"model": asker.options.model, "replies": asker.tally.replies}
        for role, asker in asked.items()
    }
    by_role = {role: asked[role].tally.record_fields() | models[role] for role in asked}
    return SpentByRole.model_validate(by_role).model_dump()


# --- graphs
# ---------------------------------------------------------------------------------------------------------

GRAPH_INVALID = "graph_invalid"
DRAWN: dict[str, tuple[str, Callable[[Graph], str]]] = {
    "dot": (".dot", to_dot),
    "mermaid": (".mmd", to_mermaid),
    "svg": (".svg", to_svg),
}
"""Format -> a file's ending, and what draws a graph."""

_LONGEST = 100  # characters of an id in a file's name


def make(
    questions: Sequence[ReasonedQuestion], asked: RoleModels, progress: Show = no_show
) -> tuple[list[Graph], dict[str, str], dict[str, Any]]:
    """Ask for a graph of each question's steps; a reply that is no graph is asked for again, with what is wrong.

    Returns the graphs in the questions' order, question id -> why it has none, and which models
    were asked and by which prompts; ReelbenchError where some replies can't be had now.
    """
    askers = asked.askers([GRAPH])
    runner = Runner(askers.values(), progress)
    found = loop.run(runner.results(questions, lambda q: graph_of(q, askers[GRAPH], asked.prompts)))
    lacking = {
        q.id: reason for q, reason in zip(questions, found, strict=True) if isinstance(reason, str)
    }
    check_answered(lacking.values(), "graphs")
    by = {"models": spent(askers), "prompts": asked.prompts.hashes()}
    return [graph for graph in found if isinstance(graph, Graph)], lacking, by


async def graph_of(question: ReasonedQuestion, asker: Asker, prompts: PromptFiles) -> Graph | str:
    """Return the graph of a question's steps, or the reason why there is none."""

    def read(reply: str) -> Graph:
        return Graph(id=question.id, nodes=tuple(read_whole(reply, read_nodes)))

    material = [
        ("question", question.question),
        ("answer", question.answer),
        ("notes", question.steps),
    ]
    messages = prompts.messages("graph.txt", material, parts={"human_response": question.steps})
    asked = await asker.ask(messages, past_reasoning(read), again=prompts.retry)
    if asked.value is not None:
        return asked.value
    return (
        asked.reason if asked.reason is not None and asked.reason in COMES_BACK else GRAPH_INVALID
    )


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
    questions: Sequence[ReasonedQuestion],
    lacking: Mapping[str, str],
    asked: Mapping[str, Any],
    *,
    form: str | None,
) -> dict[str, Any]:
    """Write `graphs.jsonl` and `statistics.json` to a folder, and each graph in a format of `DRAWN` -> the statistics.

    `questions` are the graphs', where they are known, for figures by locale and for the warning
    that needs the answer; `lacking` says for which a model gave none, and why; `asked` which models
    made them and by which prompts.
    """
    locales = {question.id: question.group for question in questions}
    answers = {question.id: question.answer for question in questions}
    counted = statistics(graphs, locales or None) | {
        "warnings": count_warnings(graphs, answers),
        GRAPH_INVALID: len(lacking),
        "invalid": sorted(lacking),
        **asked,
    }
    write_records(folder / GRAPHS, graphs)
    write_json(folder / "statistics.json", counted)
    if form is not None:
        ending, drawn = DRAWN[form]
        for graph in graphs:
            name = quote(graph.id, safe="")
            if len(name) > _LONGEST:
                name = f"{name[:_LONGEST]}-{sha256(graph.id.encode()).hexdigest()[:8]}"
            write_text(folder / "graphs" / f"{name}{ending}", drawn(graph))
    return counted


# --- votes
# ----------------------------------------------------------------------------------------------------------

VOTES = 3
"""How often the paper asks (supplement, D.3)."""


async def tag(
    question: ReasonedQuestion,
    graph: Graph,
    history: Sequence[Round],
    attempt: Attempt,
    askers: Mapping[str, Asker],
    *,
    prompts: PromptFiles,
    votes: int = VOTES,
) -> tuple[list[Vote], list[str | None]] | str:
    """Ask for the votes of a tagger on an attempt; the cue of the last of its `history` is what it was told.

    Returns the votes, and the cue that each brings for the next attempt, where the prompt asks for
    one; or the reason why some could not be had, which is not that they could not be read.
    """
    texts = (question.question, question.answer, attempt.answer)
    english = await asyncio.gather(
        *(_english(text, question.language, askers[TRANSLATOR], prompts) for text in texts)
    )
    asked = nodes_to_tag(graph, history)
    corrected = {record.corrects for record in history}
    # The whole graph: what the tagger is asked about, and what is known to the model by now.
    nodes = [
        {
            **graph.by_id[key].model_dump(mode="json"),
            "asked": key in asked,
            "established": key not in asked or key in corrected,
        }
        for key in graph.order
    ]
    material = {
        **dict(
            zip(("question", "answer", "prediction"), (text for text, _ in english), strict=True)
        ),
        "cues": (history[-1].cue if history else None) or "none",
        "output": attempt.output,
        "graph": json.dumps({"nodes": nodes}, ensure_ascii=False, indent=1),
        "notes": question.steps,
    }
    lacking = next((reason for _, reason in english if reason is not None), None)
    if lacking is not None:
        return lacking

    def read(reply: str) -> tuple[dict[str, NodeVerdict], str | None]:
        verdicts = read_whole(reply, lambda value: read_findings(value, graph, asked))
        return verdicts, read_cue(last_dictionary(reply))

    parts = {place: material[tag] for place, tag in _PRINTED.items()} | {
        "evidence_graph_json": printed_map(graph)
    }
    messages = prompts.messages("tag.txt", list(material.items()), parts=parts)
    replies = await asyncio.gather(
        *(
            askers[TAGGER].ask(messages, past_reasoning(read), vote=vote, again=prompts.retry)
            for vote in range(votes)
        )
    )
    reasons = {reply.reason for reply in replies} - {None, UNPARSABLE}
    if reasons:  # what may come another time is said first: then the same is asked again
        return min(map(str, reasons), key=lambda reason: reason not in COMES_BACK)
    read_votes = [reply.value or (None, None) for reply in replies]
    return [vote for vote, _ in read_votes], [cue for _, cue in read_votes]


async def _english(
    text: str, language: str, asker: Asker, prompts: PromptFiles
) -> tuple[str, str | None]:
    """Return a text in English, and why it can't be had."""
    if language.partition("-")[0] == "en" or not text.strip():
        return text, None
    messages = prompts.messages("translate.txt", [("text", text)], language=language)
    asked = await asker.ask(messages, lambda reply: (strip_reasoning(reply) or "").strip() or None)
    return asked.value or text, asked.reason


_PRINTED = {
    "question_english": "question",
    "additional_cues": "cues",
    "ground_truth_answer_english": "answer",
    "model_prediction_english": "prediction",
    "model_output_thoughts": "output",
    "human_reasoning": "notes",
}
"""Place in the paper's prompt (Fig. 7) -> the material that stands there."""
