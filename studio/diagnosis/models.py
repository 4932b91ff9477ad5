"""The models that a diagnosis asks, a role each: they share one cache of replies, one budget, and its prompts."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import BUDGET, PENDING, REFUSED, UNAVAILABLE
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Budget
from reelbench.llm.material import PromptFiles
from reelbench.llm.reading import UnreadableError, last_dictionary

GRAPH, TAGGER, TRANSLATOR = ROLES = ("graph", "tagger", "translator")

COMES_BACK = frozenset({UNAVAILABLE, BUDGET, REFUSED, PENDING})
"""Why there is no reply now, though there may be one when the same is asked another time."""

GRAPH_PROMPT, TAG_PROMPT, TRANSLATE_PROMPT = "graph.txt", "tag.txt", "translate.txt"

Spent = dict[str, dict[str, Any]]
"""Role -> model, replies and tokens behind the answers, whenever they were paid."""


class DiagnosisPrompts(PromptFiles):
    """What models are told; the paper's prompts (supplement, Fig. 5 to 7) are read as they are printed.

    There they are templates of Python's `str.format`, in which a brace that stands for itself is written twice.
    """

    def text(self, name: str) -> str:
        """Return a prompt, its double braces single."""
        text = super().text(name)
        return text.replace("{{", "{").replace("}}", "}") if "{{" in text else text


def prompts_of(folder: Path | None = None) -> DiagnosisPrompts:
    """Return the models' prompts; files of `folder` take the place of ours (InputError where it has none)."""
    return DiagnosisPrompts(resources.files("reelbench.studio.diagnosis"), folder)


TOLD = 5  # problems of a reply that are told to the model


def whole_object(reply: str) -> dict[Any, Any]:
    """Return the object that a reply ends in; UnreadableError where there is none."""
    value = last_dictionary(reply)
    if value is None:
        raise UnreadableError("the reply does not end in one whole JSON object whose keys are there once each")
    return value


@dataclass(frozen=True, slots=True)
class RoleModels:
    """Which model plays which role, what all of them may spend together, and what they are told."""

    options: Mapping[str, AskOptions]
    budget: Budget = field(default_factory=Budget)
    note: Callable[[str], None] = field(default=lambda _: None)
    prompts: PromptFiles = field(default_factory=prompts_of)

    @asynccontextmanager
    async def asked(self, roles: Iterable[str]) -> AsyncIterator[dict[str, Asker]]:
        """Open an asker for each role, in the running event loop."""
        askers = {role: Asker(self.options[role], on_note=self.note, budget=self.budget, tells=True) for role in roles}
        async with AsyncExitStack() as stack:
            yield {role: await stack.enter_async_context(asker) for role, asker in askers.items()}


def spent(askers: Mapping[str, Asker]) -> Spent:
    """Return the models' usage by role, without what differs between a run and its repetition."""
    return {
        role: {
            "model": asker.options.model,
            "returned": dict(sorted(asker.tally.returned.items())),
            "replies": asker.tally.replies,
            "prompt_tokens": asker.tally.prompt_tokens,
            "completion_tokens": asker.tally.completion_tokens,
        }
        for role, asker in askers.items()
        if asker.tally.replies
    }
