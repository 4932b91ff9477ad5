"""An estimate of the cost of judging, before anything is asked: calls, tokens, dollars and time."""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.panel import Member, Panel
from reelbench.judges.prompting import load_prompts
from reelbench.judges.verdicts import is_judged
from reelbench.llm.budget import Tally
from reelbench.llm.messages import estimated_tokens
from reelbench.registry.records import Item
from reelbench.registry.spec import BenchmarkSpec

_VERDICT = 16
"""Tokens of a reply before any is there to count: a score in its dictionary."""


@dataclass(slots=True)
class CostEstimate:
    """The cost of judging items by one judge.

    Attributes:
        judge: The judge's model.
        items: Number of items with an answer to judge.
        cached: Replies that are kept already.
        pending: Replies that a batch is to bring.
        calls: Calls that are left, if every reply can be read at once.
        prompt_tokens: About the tokens that the calls send.
        completion_tokens: About the tokens that they bring.
        counted_by: Number of kept replies by which both are estimated. Without any, a token is
            three bytes, and a reply a bare verdict.
        cost_usd: None without prices.
        seconds: At the concurrency asked for, as fast as kept replies came. None where none is
            timed.
        shutdown: The judge's last day (YYYY-MM-DD), as its server last said. None for none.
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
class _Replies:
    """The kept replies to some questions, and the questions without one."""

    cached: int = 0
    pending: int = 0
    counted: Tally = field(default_factory=Tally)  # of kept replies whose tokens are known
    estimated_tokens: int = 0  # of the prompts of these
    seconds: list[float] = field(default_factory=list[float])  # of kept replies
    tokens_by_key: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """Key of a call that is left -> estimated tokens of its prompt."""


def estimate_cost(
    spec: BenchmarkSpec, items: Sequence[Item], options: JudgeOptions
) -> list[CostEstimate]:
    """Return the cost of judging the answered items, judge by judge. Nothing is asked."""
    if spec.judge is None:
        return []
    answered = [item for item in items if item.reason is None and is_judged(item)]
    with closing(Panel(spec.judge, load_prompts(spec, options.prompts), options)) as panel:
        return [_estimate_member_cost(member, answered) for member in panel.members]


def _estimate_member_cost(member: Member, items: Sequence[Item]) -> CostEstimate:
    options = member.options
    replies = _look_up(member, items)
    counted = replies.counted
    calls = len(replies.tokens_by_key)
    tokens_per_estimated = 1.0
    if replies.estimated_tokens:
        tokens_per_estimated = counted.prompt_tokens / replies.estimated_tokens
    prompt_tokens = round(sum(replies.tokens_by_key.values()) * tokens_per_estimated)
    tokens_of_reply: float = _VERDICT
    if counted.replies:
        tokens_of_reply = counted.completion_tokens / counted.replies
    completion_tokens = round(calls * tokens_of_reply)
    cached_tokens = 0
    if counted.cached_tokens:
        cached_tokens = round(prompt_tokens * counted.cached_tokens / counted.prompt_tokens)
    reasoning_tokens = 0
    if counted.reasoning_tokens:
        share = completion_tokens * counted.reasoning_tokens / counted.completion_tokens
        reasoning_tokens = round(share)
    seconds = None
    if replies.seconds:
        mean_seconds = sum(replies.seconds) / len(replies.seconds)
        seconds = mean_seconds * math.ceil(calls / options.most_in_flight)
    return CostEstimate(
        judge=options.model,
        items=len(items),
        cached=replies.cached,
        pending=replies.pending,
        calls=calls,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        counted_by=counted.replies,
        cost_usd=options.cost_usd(
            prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens
        ),
        seconds=seconds,
        shutdown=member.asker.cache.store.last_day(options.model, options.host),
    )


def _look_up(member: Member, items: Sequence[Item]) -> _Replies:
    """Look up the questions about items in the judge's cache."""
    options = member.options
    batched_keys = member.asker.cache.store.batched_keys(options.model, options.host)
    replies = _Replies()
    for item in items:
        for cursor in member.places(item).values():
            tokens = estimated_tokens(cursor.request.messages)
            replies.cached += len(cursor.replies)
            for cached in cursor.replies:
                reply = cached.reply
                if reply.seconds is not None:
                    replies.seconds.append(reply.seconds)
                if reply.prompt_tokens and reply.completion_tokens:
                    replies.counted.add(reply)
                    replies.estimated_tokens += tokens
            if cursor.key in batched_keys:
                replies.pending += 1
            elif cursor.key is not None:
                replies.tokens_by_key[cursor.key] = tokens
    return replies
