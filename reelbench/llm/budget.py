"""What asking may cost, and what it has come to."""

import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reelbench.base import settings
from reelbench.llm.store import Limit

if TYPE_CHECKING:
    from reelbench.llm.cache import ReplyCache
    from reelbench.llm.reply import Reply


@dataclass(slots=True)
class Tally:
    """What asking has come to so far.

    Attributes:
        items: Finished, as the caller counts them.
        questions: That were asked, of this run.
        unread: Questions of these whose replies came, and none could be read.
        failed: Questions of these that have no answer, those among them; what is in a batch is yet
            to come.
        replies: Replies behind what was answered.
        calls: Replies that this run asked for and got.
        requests: Requests sent, failed ones too.
        prompt_tokens: Behind the answers, whenever they were paid.
        completion_tokens: Likewise.
        reasoning_tokens: Of these, reasoning; None where no server said.
        cached_tokens: Prompt tokens that servers had in caches of their own; None where none said.
        spent_usd: What this run's calls cost; None without prices.
        returned: Model id that the server returned -> replies.
        kept_from: When the first of the replies came that were there before, in seconds since 1970;
            None for none.
        kept_to: When the last of them came.
        other_hosts: Host -> replies reused that another host than the one asked gave.
        started: When asking began (`time.monotonic`).
        since: The same, in seconds since 1970.
    """

    items: int = 0
    questions: int = 0
    unread: int = 0
    failed: int = 0
    replies: int = 0
    calls: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    spent_usd: float | None = None
    returned: Counter[str] = field(default_factory=Counter[str])
    other_hosts: Counter[str] = field(default_factory=Counter[str])
    kept_from: float | None = None
    kept_to: float | None = None
    started: float = field(default_factory=time.monotonic)
    since: float = field(default_factory=time.time)

    def add(self, reply: "Reply", at: float | None = None) -> None:
        """Count a reply behind an answer, which came `at` a moment."""
        if isinstance(at, float | int) and 0 < at < self.since:  # a damaged file may hold anything
            self.kept_from, self.kept_to = (
                min(at, self.kept_from or at),
                max(at, self.kept_to or at),
            )
        self.replies += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.reasoning_tokens = add_known(self.reasoning_tokens, reply.reasoning_tokens)
        self.cached_tokens = add_known(self.cached_tokens, reply.cached_tokens)
        if reply.returned is not None:
            self.returned[reply.returned] += 1

    @classmethod
    def total(cls, tallies: Sequence["Tally"]) -> "Tally":
        """Return the sum of several tallies; dollars only where each has some."""
        if len(tallies) == 1:
            return tallies[0]
        whole = cls(started=min((tally.started for tally in tallies), default=time.monotonic()))
        for tally in tallies:
            for name in _ADDED:
                mine, more = getattr(whole, name), getattr(tally, name)
                setattr(
                    whole, name, mine + more if isinstance(mine, Counter) else add_known(mine, more)
                )
        whole.kept_from = min(filter(None, (tally.kept_from for tally in tallies)), default=None)
        whole.kept_to = max(filter(None, (tally.kept_to for tally in tallies)), default=None)
        dollars = [tally.spent_usd for tally in tallies]
        whole.spent_usd = None if None in dollars else sum(filter(None, dollars))
        return whole

    def record_fields(self) -> dict[str, Any]:
        """Return the tally as records have it; tokens are those behind the answers, whenever paid."""
        return {
            "returned": dict(sorted(self.returned.items())),
            "calls": self.calls,
            "cached": max(0, self.replies - self.calls),
            "kept_from": moment(self.kept_from),
            "kept_to": moment(self.kept_to),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "cached_tokens": self.cached_tokens,
        }

    @property
    def progress_text(self) -> str:
        """Calls, calls a second and dollars, to say beside a progress bar."""
        rate = self.calls / max(time.monotonic() - self.started, 1e-6)
        cost = "" if self.spent_usd is None else f", ${self.spent_usd:.2f}"
        return f"{self.calls} calls, {rate:.1f}/s{cost}"


_NOT_ADDED = ("started", "since", "kept_from", "kept_to", "spent_usd")
_ADDED = tuple(count.name for count in fields(Tally) if count.name not in _NOT_ADDED)


@dataclass(slots=True)
class Call:
    """A call: what it cost, in dollars where that is known, and whether it counts; one that brought nothing doesn't."""

    cost: float | None = None
    counts: bool = False


class Budget:
    """Calls and dollars that a run may spend; several askers may share one, from several threads.

    Where there is a `job`, all its processes share it, on whatever machine: it is counted where
    replies are kept.
    """

    def __init__(self, calls: int | None = None, usd: float | None = None) -> None:
        self.limit = Limit(calls, usd)
        self.job: str | None = None
        if calls is not None or usd is not None:
            of_slurm = settings.SLURM_ARRAY_JOB_ID.get() or settings.SLURM_JOB_ID.get()
            self.job = settings.JOB.get() or (f"slurm-{of_slurm}" if of_slurm else None)
        self.noted = False
        self._calls = 0
        self._reserved_usd = 0.0
        self._spent_usd = 0.0
        self._dearest_usd = 0.0
        self._lock = threading.Lock()

    @asynccontextmanager
    async def call(
        self, estimate: float, cache: "ReplyCache", option: str
    ) -> AsyncGenerator["Call | None"]:
        """Set aside one call of about `estimate` dollars while it is made, and book then what it cost.

        Yields None where there is no room. `cache` and `option` (`--judge`) are the asker's.
        """
        estimate = 0.0 if self.limit.usd is None else estimate
        job = f"{self.job} {option}"
        if self.job is not None:
            reserved = await cache.aside(cache.store.reserve, job, self.limit, estimate)
        else:
            with self._lock:
                reserved = estimate if self.limit.usd is None else max(estimate, self._dearest_usd)
                over = self.limit.calls is not None and self._calls >= self.limit.calls
                usd = self._spent_usd + self._reserved_usd + reserved
                if over or (self.limit.usd is not None and usd > self.limit.usd):
                    reserved = None
                else:
                    self._calls += 1
                    self._reserved_usd += reserved
        if reserved is None:
            yield None
            return
        call = Call()
        try:
            yield call
        finally:
            if self.job is not None:
                await cache.aside(
                    cache.store.settle, job, reserved, call.cost or 0.0, kept=call.counts
                )
            else:
                with self._lock:
                    self._reserved_usd -= reserved
                    self._calls -= not call.counts
                    self._spent_usd += call.cost or 0.0
                    self._dearest_usd = max(self._dearest_usd, call.cost or 0.0)

    @property
    def in_words(self) -> str:
        """What may be spent, for the user."""
        calls, usd = self.limit.calls, self.limit.usd
        limits = ([f"{calls} calls"] if calls is not None else []) + (
            [f"${usd:g}"] if usd is not None else []
        )
        return " or ".join(limits) + (f" of the job {self.job}" if self.job else "")


def moment(at: float | None) -> str | None:
    """Return a moment in seconds since 1970 as records have it, in ISO 8601."""
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def shown_dates(first: str | None, last: str | None) -> str:
    """Return from when kept replies are (ISO 8601), to be said behind their number; empty where none is."""
    days = [day[:16].replace("T", " ") for day in (first, last) if day is not None]
    return f" from {' to '.join(dict.fromkeys(days))}" if days else ""


def add_known(total: int | None, more: int | None) -> int | None:
    """Return a sum of counts of which some are not known; None while none is."""
    return total if more is None else (total or 0) + more
