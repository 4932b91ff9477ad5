"""What judging would take before anything is asked: calls left after the cache, tokens, dollars, time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.member import Member, members
from reelbench.judges.prompting import load_prompts
from reelbench.llm.budget import Tally
from reelbench.llm.messages import Message, estimated_tokens
from reelbench.llm.reply import Reply
from reelbench.registry.records import Item
from reelbench.registry.spec import BenchmarkSpec

_VERDICT = 16
"""Tokens of a reply before any is there to count: a score in its dictionary."""


@dataclass(slots=True)
class CostEstimate:
    """What judging the items that were given would take one judge.

    Attributes:
        judge: The model asked.
        items: Items with an answer to judge.
        cached: Replies that are kept already.
        pending: Replies that a batch is to bring.
        calls: Calls that are left, if every reply can be read at once.
        prompt_tokens: About what they send.
        completion_tokens: About what they bring.
        counted_by: Replies kept whose tokens the two rest on; where there is none they are about a token for three
            bytes, and a reply is a bare verdict.
        cost_usd: Dollars; None without prices.
        seconds: At the concurrency asked for, as fast as the kept replies came; None where none was timed.
        shutdown: Day on which the judge ends (YYYY-MM-DD), as its server said when it was last asked; None for none.
    """

    judge: str
    items: int = 0
    cached: int = 0
    pending: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    counted_by: int = 0
    cost_usd: float | None = None
    seconds: float | None = None
    shutdown: str | None = None


@dataclass(slots=True)
class _Known:
    """Replies that are kept, to go by: those whose tokens the server counted, and those that were timed."""

    counted: Tally = field(default_factory=Tally)
    estimated: int = 0
    timed: int = 0
    seconds: float = 0.0

    def add(self, messages: Sequence[Message], reply: Reply) -> None:
        if reply.seconds is not None:
            self.timed += 1
            self.seconds += reply.seconds
        if reply.prompt_tokens and reply.completion_tokens:
            self.counted.add(reply)
            self.estimated += estimated_tokens(messages)


def estimate_cost(spec: BenchmarkSpec, items: Sequence[Item], options: JudgeOptions) -> list[CostEstimate]:
    """Return what judging the answered ones of `items` would take, judge by judge; nothing is asked."""
    if spec.judge is None:
        return []
    answered = [item for item in items if item.reason is None]
    judges = members(spec.judge, load_prompts(spec, options.prompts), options)
    try:
        return [_estimate(judge, answered) for judge in judges]
    finally:
        for judge in judges:
            judge.asker.close()


def _estimate(judge: Member, items: Sequence[Item]) -> CostEstimate:
    result, known = CostEstimate(judge.options.model, items=len(items)), _Known()
    under_way = judge.batches().under_way()
    wanted: dict[bytes, int] = {}
    for item in items:
        for cursor in judge.questions(item).values():
            result.cached += len(cursor.replies)
            for cached in cursor.replies:
                known.add(cursor.messages, cached.reply)
            if cursor.key in under_way:
                result.pending += 1
            elif cursor.key is not None:
                wanted[cursor.key] = estimated_tokens(cursor.messages)
    result.calls = len(wanted)
    counted = known.counted
    result.counted_by = counted.replies
    ratio = counted.prompt_tokens / known.estimated if known.estimated else 1.0
    result.prompt_tokens = round(sum(wanted.values()) * ratio)
    each = counted.completion_tokens / counted.replies if counted.replies else _VERDICT
    result.completion_tokens = round(result.calls * each)
    cached, reasoning = counted.cached_tokens or 0, counted.reasoning_tokens or 0
    result.cost_usd = judge.options.cost_usd(
        result.prompt_tokens,
        result.completion_tokens,
        round(result.prompt_tokens * cached / counted.prompt_tokens) if cached else 0,
        round(result.completion_tokens * reasoning / counted.completion_tokens) if reasoning else 0,
    )
    result.shutdown = judge.asker.cache.store.shutdown(judge.options.model, judge.options.host)
    if known.timed:
        result.seconds = known.seconds / known.timed * math.ceil(result.calls / judge.options.concurrency)
    return result
