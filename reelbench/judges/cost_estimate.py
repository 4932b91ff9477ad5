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
class _CachedReplies:
    """The cached replies to some questions, and the calls that are left."""

    replies: int = 0
    pending: int = 0  # replies that a batch is to bring
    counted: Tally = field(default_factory=Tally)  # the replies whose tokens are known
    estimated_tokens: int = 0  # of the prompts of these
    seconds: list[float] = field(default_factory=list[float])  # that replies took
    tokens_by_key: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """Key of a call that is left -> estimated tokens of its prompt."""


def estimate_cost(
    spec: BenchmarkSpec, items: Sequence[Item], options: JudgeOptions
) -> list[CostEstimate]:
    """Return the cost of judging the answered items, judge by judge. Nothing is asked."""
    if spec.judge is None:
        return []
    answered_items = [item for item in items if item.reason is None and is_judged(item)]
    with closing(Panel(spec.judge, load_prompts(spec, options.prompts), options)) as panel:
        return [_estimate_member_cost(member, answered_items) for member in panel.members]


def _estimate_member_cost(member: Member, items: Sequence[Item]) -> CostEstimate:
    """Return the cost of judging items by one judge, by what its cached replies used."""
    options = member.options
    cached = _cached_replies(member, items)
    counted = cached.counted
    calls = len(cached.tokens_by_key)
    tokens_per_estimated = 1.0
    if cached.estimated_tokens:
        tokens_per_estimated = counted.prompt_tokens / cached.estimated_tokens
    prompt_tokens = round(sum(cached.tokens_by_key.values()) * tokens_per_estimated)
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
    if cached.seconds:
        mean_seconds = sum(cached.seconds) / len(cached.seconds)
        rounds_of_calls = math.ceil(calls / options.most_in_flight)
        seconds = mean_seconds * rounds_of_calls
    return CostEstimate(
        judge=options.model,
        items=len(items),
        cached=cached.replies,
        pending=cached.pending,
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


def _cached_replies(member: Member, items: Sequence[Item]) -> _CachedReplies:
    """Look up the questions about items in the judge's cache."""
    options = member.options
    batched_keys = member.asker.cache.store.batched_keys(options.model, options.host)
    cached = _CachedReplies()
    for item in items:
        for cursor in member.cursors_of(item).values():
            estimate = estimated_tokens(cursor.request.messages)
            cached.replies += len(cursor.replies)
            for cached_reply in cursor.replies:
                reply = cached_reply.reply
                if reply.seconds is not None:
                    cached.seconds.append(reply.seconds)
                if reply.prompt_tokens and reply.completion_tokens:
                    cached.counted.add(reply)
                    cached.estimated_tokens += estimate
            if cursor.key in batched_keys:
                cached.pending += 1
            elif cursor.key is not None:
                cached.tokens_by_key[cursor.key] = estimate
    return cached
