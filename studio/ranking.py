"""Candidates ranked by a small language model (`scoring.candidates`): each in a request of its own, or all in one.

The question, where it is known, and the candidates stand verbatim in the user message. Replies are kept as they come,
so a run that ended early goes on where it was, and equal requests are asked once.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources
from typing import get_args

from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.material import PromptFiles, marked
from reelbench.llm.messages import Message
from reelbench.llm.reading import UnreadableError
from reelbench.llm.retry_cursor import REJECTED, UNPARSABLE, AskResult, Read
from reelbench.llm.runner import Runner
from reelbench.methods.candidates import CandidateSet
from reelbench.registry.errors import InputError
from reelbench.registry.progress import Bar, no_bar
from reelbench.registry.records import RankerRecord
from reelbench.scoring.candidates import HIGH, LOW, Mode, place_of, score_of, shuffled

MODES: tuple[Mode, ...] = get_args(Mode)

_LOCAL_TOKENS = 32  # a server's model ends by itself; one in this process may never, and is not billed by the token


@dataclass(frozen=True, slots=True)
class Ranker:
    """The model that ranks, and how it is asked."""

    model: AskOptions
    mode: Mode = "pointwise"
    votes: int = 1

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError(f"--mode: {self.mode!r} is neither {' nor '.join(MODES)}")

    def record(self, k: int) -> RankerRecord:
        """Return the record, for a result's settings, of a choice among `k` candidates."""
        digest = hashlib.sha256(_prompts().text(f"{self.mode}.txt").encode()).hexdigest()
        return RankerRecord(
            model=self.model.model,
            k=k,
            mode=self.mode,
            votes=self.votes,
            prompt_sha256=digest,
            sampling=self.model.sampling({}) or None,
        )


@dataclass(slots=True)
class Ranked:
    """The replies by question id (as `judges.candidates.Replies`), and what they came to."""

    replies: dict[str, list[list[str | None]]] = field(default_factory=dict)
    calls: int = 0
    cached: int = 0
    returned: dict[str, int] = field(default_factory=dict)


def rank(cases: Sequence[CandidateSet], ranker: Ranker, *, note: Callable[[str], None], bar: Bar = no_bar) -> Ranked:
    """Ask the ranker about all candidates; `note` is told each line that the user should know.

    Raises:
        ReelbenchError: Some replies can't be had now; what came is kept.
    """
    return loop.run(_rank(cases, ranker, note, bar))


async def _rank(cases: Sequence[CandidateSet], ranker: Ranker, note: Callable[[str], None], bar: Bar) -> Ranked:
    asker = Asker(ranker.model, {"max_tokens": _LOCAL_TOKENS} if ranker.model.local else None, on_note=note, tells=True)

    async def reply(messages: list[Message], read: Read[int], vote: int) -> str | None:
        asked: AskResult[int] = await asker.ask(messages, read, vote=vote, again=_prompts().again)
        if asked.reason not in (None, UNPARSABLE, REJECTED):
            runner.lacking[str(asked.reason)] += 1
        return asked.replies[-1].reply.raw if asked.replies else None

    async def replies(case: CandidateSet) -> list[list[str | None]]:
        requests: list[list[Message] | None] = [None]
        if ranker.mode == "pointwise":
            requests = [_messages("pointwise", case.question, [("candidate", text)]) for text in case.candidates]
        return await asyncio.gather(
            *(
                asyncio.gather(*(reply(*_request(case, request, vote), vote) for vote in range(ranker.votes)))
                for request in requests
            )
        )

    with bar(f"ranking by {ranker.model.model}", len(cases)) as show:
        runner = Runner([asker], show)
        ranked = await runner.results(cases, replies)
    runner.check("of the ranker's replies are lacking", "the ranker gave no reply")
    tally = asker.tally
    by_id = {case.id: given for case, given in zip(cases, ranked, strict=True)}
    return Ranked(by_id, tally.calls, max(tally.replies - tally.calls, 0), dict(sorted(tally.returned.items())))


def _request(case: CandidateSet, messages: list[Message] | None, vote: int) -> tuple[list[Message], Read[int]]:
    """Return the request of one vote, and the reader of its reply; listwise, each vote has an order of its own."""
    if messages is not None:
        return messages, partial(_number, read=score_of, scale=f"{LOW} to {HIGH}")
    count = len(case.candidates)
    order = shuffled(case.id, count, vote)
    listed = [(f"candidate_{place}", case.candidates[n]) for place, n in enumerate(order, start=1)]
    read = partial(_number, read=lambda reply: place_of(reply, count), scale=f"1 to {count}")
    return _messages("listwise", case.question, listed, count=count), read


def _number(reply: str, *, read: Read[int], scale: str) -> int:
    number = read(reply)
    if number is None:
        raise UnreadableError(f"it is not one whole number from {scale}, with nothing else")
    return number


def _messages(prompt: str, question: str, candidates: list[tuple[str, str]], **places: object) -> list[Message]:
    mark, text = marked([*([("question", question)] if question.strip() else []), *candidates])
    system = _prompts().text(f"{prompt}.txt").format(mark=mark, **places)
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


@cache
def _prompts() -> PromptFiles:
    return PromptFiles(resources.files("reelbench.studio").joinpath("prompts", "ace"))
