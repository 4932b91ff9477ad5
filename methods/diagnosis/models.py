"""The models that a diagnosis asks, a role each: they share one cache of replies, one budget, and its prompts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from reelbench.llm.asked import BUDGET, REFUSED, UNAVAILABLE, Again, Asked, Read, T
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Budget
from reelbench.llm.material import Prompts
from reelbench.llm.messages import Message
from reelbench.llm.options import AskOptions

GRAPH, TAGGER, TRANSLATOR = ROLES = ("graph", "tagger", "translator")

COMES_BACK = frozenset({UNAVAILABLE, BUDGET, REFUSED})
"""Why there is no reply now, though there may be one when the same is asked another time."""

GRAPH_PROMPT, TAG_PROMPT, TRANSLATE_PROMPT = "graph.txt", "tag.txt", "translate.txt"

Spent = dict[str, dict[str, Any]]
"""Role -> model, replies and tokens behind the answers, whenever they were paid."""


def prompts_of(folder: Path | None = None) -> Prompts:
    """Return what models are told; files of `folder` take the place of ours (InputError where it has none)."""
    return Prompts(resources.files("reelbench.methods.diagnosis"), folder)


@dataclass(frozen=True, slots=True)
class Models:
    """Which model plays which role, what all of them may spend together, and what they are told."""

    options: Mapping[str, AskOptions]
    budget: Budget = field(default_factory=Budget)
    note: Callable[[str], None] = field(default=lambda _: None)
    prompts: Prompts = field(default_factory=prompts_of)

    @asynccontextmanager
    async def asked(self, roles: Iterable[str]) -> AsyncIterator[dict[str, Asker]]:
        """Open an asker for each role, in the running event loop; calls in flight are those of all roles together."""
        named = {role: self.options[role] for role in roles}
        room = asyncio.Semaphore(max(options.concurrency for options in named.values()))
        async with AsyncExitStack() as stack:
            yield {
                role: await stack.enter_async_context(
                    _InTurn(options, room=room, on_note=self.note, budget=self.budget)
                )
                for role, options in named.items()
            }


class _InTurn(Asker):
    """One role's asker, which shares its turns with the others'."""

    def __init__(self, options: AskOptions, *, room: asyncio.Semaphore, **more: Any) -> None:  # noqa: ANN401
        super().__init__(options, **more)
        self._room = room

    async def ask(
        self, messages: Sequence[Message], read: Read[T], *, vote: int = 0, again: Again | None = None
    ) -> Asked[T]:
        """Ask as any asker does, once there is room."""
        async with self._room:
            return await super().ask(messages, read, vote=vote, again=again)


def spent(askers: Mapping[str, Asker]) -> Spent:
    """Return what asking came to, by role, without what differs between a run and its repetition."""
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
