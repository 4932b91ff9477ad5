"""The questions of a diagnosis to language models: evidence graphs, and votes on errors (CURVE).

Roles share one cache of replies, one budget, and the prompts (supplement, Fig. 5 and 6). A tagger
gives several votes over the whole graph, text against text.
"""

import asyncio
import json
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from reelbench.base.errors import PendingError, ReelbenchError
from reelbench.base.files import write_json, write_text
from reelbench.base.progress import Show, no_show
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import (
    BUDGET,
    PENDING,
    REFUSED,
    UNAVAILABLE,
    UNPARSABLE,
    AskResult,
)
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Budget
from reelbench.llm.material import PromptFiles
from reelbench.llm.reading import UnreadableError, last_dictionary
from reelbench.llm.runner import PENDING_SHOWN, Runner
from reelbench.llm.structured import schema_of
from reelbench.scoring.answers import past_reasoning, strip_reasoning
from reelbench.studio.diagnosis.folder import (
    GRAPHS,
    Attempt,
    ReasonedQuestion,
    SpentByRole,
    write_records,
)
from reelbench.studio.evidence.findings import Finding, read_cue, read_findings
from reelbench.studio.evidence.graph_svg import to_dot, to_mermaid, to_svg
from reelbench.studio.evidence.graphs import (
    Graph,
    Node,
    count_warnings,
    printed_map,
    read_nodes,
    statistics,
)
from reelbench.studio.evidence.isolation import Round, Vote, nodes_to_tag

GRAPH = "graph"
TAGGER = "tagger"
TRANSLATOR = "translator"
ROLES = (GRAPH, TAGGER, TRANSLATOR)

COMES_BACK = frozenset({UNAVAILABLE, BUDGET, REFUSED, PENDING})
"""Reasons why there is no reply now, though there may be one another time."""

_TOLD = 5
"""Problems of a reply that are told to the model."""

T = TypeVar("T")


class _Nodes(BaseModel):
    """The reply that a graph is read from."""

    nodes: list[Node]


class _Findings(BaseModel):
    """The reply that a tagger's findings are read from."""

    nodes: list[Finding]


class DiagnosisPrompts(PromptFiles):
    """The prompts of a diagnosis.

    The paper's (supplement, Fig. 5 to 7) are read as they are printed. There they are templates of
    Python's `str.format`, in which a brace that stands for itself is written twice.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Take the user's folder, without reading it yet.

        Its files take the place of ours.

        Raises:
            InputError: There is no such folder.
        """
        super().__init__(resources.files("reelbench.studio.diagnosis"), folder)

    def text(self, name: str) -> str:
        """Return a prompt, its double braces single."""
        text = super().text(name)
        if "{{" not in text:
            return text
        return text.replace("{{", "{").replace("}}", "}")


def read_whole(reply: str, read: Callable[[object], tuple[T, list[str]]]) -> T:
    """Return the value that `read` makes of the object at a reply's end.

    `read` returns the value and its problems.

    Raises:
        UnreadableError: The object is wrong, or not there.
    """
    document = last_dictionary(reply)
    if document is None:
        raise UnreadableError(
            "the reply does not end in one complete JSON object with each key once"
        )
    value, problems = read(document)
    if problems:
        raise UnreadableError("; ".join(problems[:_TOLD]))
    return value


@dataclass(frozen=True, slots=True)
class RoleModels:
    """The model of each role, the budget that they share, and their prompts."""

    options: Mapping[str, AskOptions]
    budget: Budget = field(default_factory=Budget)
    note: Callable[[str], None] = field(default=lambda _: None)
    prompts: PromptFiles = field(default_factory=DiagnosisPrompts)

    def askers(self, roles: Iterable[str]) -> dict[str, Asker]:
        """Return an asker for each role.

        Nothing is sent yet.
        """
        askers: dict[str, Asker] = {}
        for role in roles:
            options = self.options[role]
            askers[role] = Asker(
                options, on_note=self.note, budget=self.budget, reports_totals=True
            )
        return askers


def spent(askers: Mapping[str, Asker]) -> dict[str, Any]:
    """Return the models' usage by role, without what differs between a run and its repetition."""
    usage: dict[str, dict[str, Any]] = {}
    for role, asker in askers.items():
        if asker.tally.replies:
            usage[role] = {
                **asker.tally.record_fields(),
                "model": asker.options.filed_name,
                "replies": asker.tally.replies,
            }
    return SpentByRole.model_validate(usage).model_dump()


# --- graphs
# -------------------------------------------------------------------------------------------------

GRAPH_INVALID = "graph_invalid"
DRAWN: dict[str, tuple[str, Callable[[Graph], str]]] = {
    "dot": (".dot", to_dot),
    "mermaid": (".mmd", to_mermaid),
    "svg": (".svg", to_svg),
}
"""Format -> a file's ending, and the function that draws a graph."""

_LONGEST = 100
"""Characters of an id in a file's name."""


class MadeGraphs(NamedTuple):
    """Graphs in the questions' order, and how they were made.

    `lacking`: question id -> the reason why it has none. `models` has the models that were asked
    and their prompts.
    """

    graphs: list[Graph]
    lacking: dict[str, str]
    models: dict[str, Any]


def make(
    questions: Sequence[ReasonedQuestion], role_models: RoleModels, progress: Show = no_show
) -> MadeGraphs:
    """Ask for a graph of each question's steps.

    A reply that is no graph is asked for again, with its problems.

    Raises:
        ReelbenchError: Some replies can't be had now.
    """
    askers = role_models.askers([GRAPH])

    async def make_graph(question: ReasonedQuestion) -> Graph | str:
        return await graph_of(question, askers[GRAPH], role_models.prompts)

    runner = Runner(askers.values(), progress)
    results = loop.run(runner.results(questions, make_graph))
    graphs: list[Graph] = []
    lacking: dict[str, str] = {}
    for question, graph in zip(questions, results, strict=True):
        if isinstance(graph, str):
            lacking[question.id] = graph
        else:
            graphs.append(graph)
    check_answered(lacking.values(), "graphs")
    models = {"models": spent(askers), "prompts": role_models.prompts.hashes()}
    return MadeGraphs(graphs, lacking, models)


async def graph_of(question: ReasonedQuestion, asker: Asker, prompts: PromptFiles) -> Graph | str:
    """Return the graph of a question's steps, or the reason why there is none."""

    def read(reply: str) -> Graph:
        nodes = read_whole(reply, read_nodes)
        return Graph(id=question.id, nodes=tuple(nodes))

    material = [
        ("question", question.question),
        ("answer", question.answer),
        ("notes", question.steps),
    ]
    messages = prompts.messages("graph.txt", material, parts={"human_response": question.steps})
    reply = await asker.ask(
        messages, past_reasoning(read), again=prompts.retry, schema=schema_of(_Nodes)
    )
    if reply.value is not None:
        return reply.value
    if reply.reason is not None and reply.reason in COMES_BACK:
        return reply.reason
    return GRAPH_INVALID


def check_answered(reasons: Iterable[str | None], what: str) -> None:
    """Check that every reply could be had.

    `what` names the things that need one.

    Raises:
        ReelbenchError: A reason says that a reply can't be had now.
        PendingError: All such replies are in a batch.
    """
    lacking = [reason for reason in reasons if reason is not None and reason in COMES_BACK]
    kinds = sorted(set(lacking))
    if kinds == [PENDING]:
        raise PendingError(PENDING_SHOWN.format(len(lacking)))
    if kinds:
        raise ReelbenchError(
            f"{len(lacking)} {what} lack a reply ({', '.join(kinds)}); the replies so far are "
            "saved: run the same command again to continue"
        )


def write(
    folder: Path,
    graphs: Sequence[Graph],
    questions: Sequence[ReasonedQuestion],
    lacking: Mapping[str, str],
    made_by: Mapping[str, Any],
    *,
    form: str | None,
) -> dict[str, Any]:
    """Write graphs and their statistics to a folder.

    Return the statistics.

    Args:
        folder: It gets `graphs.jsonl`, `statistics.json` and the drawings.
        graphs: The graphs.
        questions: The graphs' questions, as far as they are known, for figures by locale and for
            the warning that needs the answer.
        lacking: Question id -> the reason why a model gave no graph.
        made_by: The models that made the graphs, and their prompts (`MadeGraphs.models`).
        form: The format of `DRAWN` in which each graph is drawn. None for no drawings.
    """
    locales = {question.id: question.group for question in questions}
    answers = {question.id: question.answer for question in questions}
    document = {
        **statistics(graphs, locales or None),
        "warnings": count_warnings(graphs, answers),
        GRAPH_INVALID: len(lacking),
        "invalid": sorted(lacking),
        **made_by,
    }
    write_records(folder / GRAPHS, graphs)
    write_json(folder / "statistics.json", document)
    if form is not None:
        ending, draw = DRAWN[form]
        for graph in graphs:
            path = folder / "graphs" / (_file_name(graph.id) + ending)
            write_text(path, draw(graph))
    return document


def _file_name(key: str) -> str:
    """Return an id as a file's name.

    A long one is cut, and has a hash.
    """
    name = quote(key, safe="")
    if len(name) <= _LONGEST:
        return name
    digest = sha256(key.encode()).hexdigest()
    return f"{name[:_LONGEST]}-{digest[:8]}"


# --- votes
# -------------------------------------------------------------------------------------------------

VOTES = 3
"""The number of votes in the paper (supplement, D.3)."""

_PRINTED = {
    "question_english": "question",
    "additional_cues": "cues",
    "ground_truth_answer_english": "answer",
    "model_prediction_english": "prediction",
    "model_output_thoughts": "output",
    "human_reasoning": "notes",
}
"""Place in the paper's prompt (Fig. 7) -> the material that stands there."""


class TaggerVotes(NamedTuple):
    """The votes of a tagger, and each vote's cue for the next attempt."""

    votes: list[Vote]
    cues: list[str | None]


class _Reply(NamedTuple):
    """A vote as it was read, and its cue."""

    verdicts: Vote
    cue: str | None


async def tag(
    question: ReasonedQuestion,
    graph: Graph,
    history: Sequence[Round],
    attempt: Attempt,
    askers: Mapping[str, Asker],
    *,
    prompts: PromptFiles,
    votes: int = VOTES,
) -> TaggerVotes | str:
    """Ask a tagger for its votes on an attempt.

    The model was told the cue of the last round in `history`.

    Returns:
        The votes, or the reason why some could not be had. A reply that can't be read is a vote.
    """
    texts = (question.question, question.answer, attempt.answer)
    translator = askers[TRANSLATOR]
    translations = await asyncio.gather(
        *(_translate_to_english(text, question.language, translator, prompts) for text in texts)
    )
    for translation in translations:
        if translation.reason is not None:
            return translation.reason
    english_question, english_answer, english_prediction = translations
    asked_nodes = nodes_to_tag(graph, history)
    cue = history[-1].cue if history else None
    material = {
        "question": english_question.text,
        "answer": english_answer.text,
        "prediction": english_prediction.text,
        "cues": cue or "none",
        "output": attempt.output,
        "graph": _graph_for_tagger(graph, history, asked_nodes),
        "notes": question.steps,
    }
    parts = {place: material[name] for place, name in _PRINTED.items()}
    parts["evidence_graph_json"] = printed_map(graph)

    def read(reply: str) -> _Reply:
        verdicts = read_whole(reply, lambda document: read_findings(document, graph, asked_nodes))
        return _Reply(verdicts, read_cue(last_dictionary(reply)))

    messages = prompts.messages("tag.txt", list(material.items()), parts=parts)
    schema = schema_of(_Findings)
    calls: list[Coroutine[Any, Any, AskResult[_Reply]]] = []
    for vote in range(votes):
        call = askers[TAGGER].ask(
            messages, past_reasoning(read), vote=vote, again=prompts.retry, schema=schema
        )
        calls.append(call)
    return _votes_of_replies(await asyncio.gather(*calls))


def _votes_of_replies(replies: Sequence[AskResult[_Reply]]) -> TaggerVotes | str:
    """Return the votes that were read, or why a reply is lacking."""
    reasons = {reply.reason for reply in replies} - {None, UNPARSABLE}
    if reasons:
        # A reply that may come another time is told of first: then the same is asked again.
        return min(map(str, reasons), key=lambda reason: reason not in COMES_BACK)
    tagger_votes = TaggerVotes([], [])
    for reply in replies:
        read_reply = reply.value or _Reply(None, None)
        tagger_votes.votes.append(read_reply.verdicts)
        tagger_votes.cues.append(read_reply.cue)
    return tagger_votes


def _graph_for_tagger(graph: Graph, history: Sequence[Round], asked_nodes: Collection[str]) -> str:
    """Return the whole graph as JSON.

    It says which nodes the tagger is asked about, and which the model knows by now.
    """
    corrected = {record.corrects for record in history}
    nodes: list[dict[str, Any]] = []
    for key in graph.order:
        is_asked = key in asked_nodes
        nodes.append(
            {
                **graph.by_id[key].model_dump(mode="json"),
                "asked": is_asked,
                "established": not is_asked or key in corrected,
            }
        )
    return json.dumps({"nodes": nodes}, ensure_ascii=False, indent=1)


class _Translation(NamedTuple):
    """A text in English, and the reason why it can't be had."""

    text: str
    reason: str | None


async def _translate_to_english(
    text: str, language: str, asker: Asker, prompts: PromptFiles
) -> _Translation:
    if language.partition("-")[0] == "en" or not text.strip():
        return _Translation(text, None)
    messages = prompts.messages("translate.txt", [("text", text)], language=language)
    reply = await asker.ask(messages, _read_translation)
    return _Translation(reply.value or text, reply.reason)


def _read_translation(reply: str) -> str | None:
    answer = strip_reasoning(reply) or ""
    return answer.strip() or None
