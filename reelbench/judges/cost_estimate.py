"""What judging would take before anything is asked: calls left after the cache, tokens, dollars, time."""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.panel import Panel
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
    """What judging the items that were given would take one judge."""

    judge: str
    items: int = 0  # with an answer to judge
    cached: int = 0  # replies that are kept already
    pending: int = 0  # replies that a batch is to bring
    calls: int = 0  # left, if every reply can be read at once
    prompt_tokens: int = 0  # about what they send
    completion_tokens: int = 0  # about what they bring
    counted_by: int = 0  # kept replies that both rest on; without any, a token is three bytes, a reply a bare verdict
    cost_usd: float | None = None  # None without prices
    seconds: float | None = (
        None  # at the concurrency asked for, as fast as kept replies came; None where none is timed
    )
    shutdown: str | None = (
        None  # the judge's last day (YYYY-MM-DD), as its server last said; None for none
    )


def estimate_cost(
    spec: BenchmarkSpec, items: Sequence[Item], options: JudgeOptions
) -> list[CostEstimate]:
    """Return the cost of judging the answered ones of `items`, judge by judge; nothing is asked."""
    if spec.judge is None:
        return []
    answered = [item for item in items if item.reason is None and is_judged(item)]
    with closing(Panel(spec.judge, load_prompts(spec, options.prompts), options)) as panel:
        estimates = list[CostEstimate]()
        for judge in panel.members:
            own, store = judge.options, judge.asker.cache.store
            result = CostEstimate(
                own.model, len(answered), shutdown=store.last_day(own.model, own.host)
            )
            under_way = store.batched_keys(own.model, own.host)
            counted, estimated, seconds = (
                Tally(),
                0,
                list[float](),
            )  # of replies that are kept, to go by
            wanted: dict[bytes, int] = {}
            for cursor in (cursor for item in answered for cursor in judge.places(item).values()):
                tokens = estimated_tokens(cursor.messages)
                result.cached += len(cursor.replies)
                for reply in (cached.reply for cached in cursor.replies):
                    seconds += [reply.seconds] if reply.seconds is not None else []
                    if reply.prompt_tokens and reply.completion_tokens:
                        counted.add(reply)
                        estimated += tokens
                if cursor.key in under_way:
                    result.pending += 1
                elif cursor.key is not None:
                    wanted[cursor.key] = tokens
            result.calls, result.counted_by = len(wanted), counted.replies
            result.prompt_tokens = round(
                sum(wanted.values()) * (counted.prompt_tokens / estimated if estimated else 1.0)
            )
            each = counted.completion_tokens / counted.replies if counted.replies else _VERDICT
            result.completion_tokens = round(result.calls * each)
            cached, reasoning = counted.cached_tokens or 0, counted.reasoning_tokens or 0
            result.cost_usd = own.cost_usd(
                result.prompt_tokens,
                result.completion_tokens,
                round(result.prompt_tokens * cached / counted.prompt_tokens) if cached else 0,
                round(result.completion_tokens * reasoning / counted.completion_tokens)
                if reasoning
                else 0,
            )
            if seconds:
                result.seconds = (
                    sum(seconds) / len(seconds) * math.ceil(result.calls / own.concurrency)
                )
            estimates.append(result)
        return estimates
