"""Tagging an attempt: several votes of a tagger over the whole graph, text against text (CURVE, supplement, Fig. 6)."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from reelbench.llm.ask_result import UNPARSABLE
from reelbench.llm.asker import Asker
from reelbench.llm.material import PromptFiles
from reelbench.llm.reading import UnreadableError
from reelbench.scoring.answers import past_reasoning, strip_reasoning
from reelbench.studio.diagnosis.models import (
    COMES_BACK,
    TAG_PROMPT,
    TAGGER,
    TOLD,
    TRANSLATE_PROMPT,
    TRANSLATOR,
    whole_object,
)
from reelbench.studio.diagnosis.questions import ReasonedQuestion
from reelbench.studio.evidence.findings import NodeVerdict, read_cue, read_findings
from reelbench.studio.evidence.graphs import Graph, printed_map
from reelbench.studio.evidence.isolation import Round, to_judge

VOTES = 3
"""How often the paper asks (supplement, D.3)."""

Vote = Mapping[str, NodeVerdict] | None
"""Node id -> verdict; None for a reply that could not be read."""


class Attempt(BaseModel):
    """What a model made of a question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    answer: str = ""
    """The answer alone."""
    output: str = ""
    """All that the model wrote."""
    right: bool | None = None
    """Whether the judge gave the answer its full score; None where nothing judged it."""
    reason: str | None = None
    """Why there is no answer or no judgement."""
    scores: dict[str, float] = {}
    """The judge's."""


@dataclass(frozen=True, slots=True)
class TagVotes:
    """The votes on one attempt, and the cue that each brings for the next one, where the prompt asks for one.

    `lacking` is why some could not be had, which is not that they could not be read.
    """

    votes: list[Vote]
    cues: list[str | None] = field(default_factory=list[str | None])
    lacking: str | None = None


async def tag(
    question: ReasonedQuestion,
    graph: Graph,
    history: Sequence[Round],
    attempt: Attempt,
    askers: Mapping[str, Asker],
    *,
    prompts: PromptFiles,
    votes: int = VOTES,
) -> TagVotes:
    """Ask for the votes of a tagger on an attempt; the cue of the last of its `history` is what it was told."""
    texts = (question.question, question.answer, attempt.answer)
    english = await asyncio.gather(*(_english(text, question.language, askers[TRANSLATOR], prompts) for text in texts))
    asked = to_judge(graph, history)
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
        **dict(zip(("question", "answer", "prediction"), (text for text, _ in english), strict=True)),
        "cues": (history[-1].cue if history else None) or "none",
        "output": attempt.output,
        "graph": json.dumps({"nodes": nodes}, ensure_ascii=False, indent=1),
        "notes": question.steps,
    }
    lacking = next((reason for _, reason in english if reason is not None), None)
    if lacking is not None:
        return TagVotes([], lacking=lacking)

    def read(reply: str) -> tuple[dict[str, NodeVerdict], str | None]:
        value = whole_object(reply)
        verdicts, problems = read_findings(value, graph, asked)
        if problems:
            raise UnreadableError("; ".join(problems[:TOLD]))
        return verdicts, read_cue(value)

    parts = {place: material[tag] for place, tag in _PRINTED.items()} | {"evidence_graph_json": printed_map(graph)}
    messages = prompts.messages(TAG_PROMPT, list(material.items()), parts=parts)
    replies = await asyncio.gather(
        *(askers[TAGGER].ask(messages, past_reasoning(read), vote=vote, again=prompts.again) for vote in range(votes))
    )
    reasons = {reply.reason for reply in replies} - {None, UNPARSABLE}
    # What may come another time is said first: then the same is asked again.
    lacking = min((str(reason) for reason in reasons), key=lambda reason: reason not in COMES_BACK, default=None)
    read_votes = [reply.value or (None, None) for reply in replies]
    return TagVotes([vote for vote, _ in read_votes], [cue for _, cue in read_votes], lacking)


async def _english(text: str, language: str, asker: Asker, prompts: PromptFiles) -> tuple[str, str | None]:
    """Return a text in English, and why it can't be had."""
    if language.partition("-")[0] == "en" or not text.strip():
        return text, None
    messages = prompts.messages(TRANSLATE_PROMPT, [("text", text)], language=language)
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
