"""The limit of what asking may cost, and the tally of what it has cost."""

import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reelbench.base import settings
from reelbench.llm.store import Limit

if TYPE_CHECKING:
    from reelbench.llm.cache import ReplyCache
    from reelbench.llm.reply import Reply


@dataclass(slots=True)
class Tally:
    """The counts and costs of asking so far.

    Attributes:
        items: Finished, as the caller counts them.
        questions: Questions that were asked in this run.
        unread: Questions of these whose replies came, and none could be read.
        failed: Questions of these that have no answer, unread ones too. Those in a batch do not
            count yet.
        replies: Replies behind the answers.
        calls: Replies that this run asked for and got.
        requests: Requests sent, failed ones too.
        prompt_tokens: Behind the answers, whenever they were paid.
        completion_tokens: Likewise.
        reasoning_tokens: Of these, reasoning. None where no server said.
        cached_tokens: Prompt tokens that servers had in caches of their own. None where none said.
        spent_usd: What this run's calls cost. None without prices.
        returned: Model id that the server returned, as it is filed -> replies.
        kept_from: When the first of the replies came that were there before, in seconds since 1970.
            None for none.
        kept_to: When the last of them came.
        other_hosts: Host -> replies reused that another host than the one asked gave.
        started: When asking began (`time.monotonic`).
        since: The same, in seconds since 1970.
        filed_id: Turns a returned id into what is filed of it.
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
    filed_id: Callable[[str], str] = str
    _kept_at: Counter[float] = field(default_factory=Counter[float])

    def add(self, reply: "Reply", at: float | None = None) -> None:
        """Count a reply behind an answer, which came `at` a moment."""
        # A damaged file may have anything in it.
        if isinstance(at, float | int) and 0 < at < self.since:
            self.kept_from = min(at, self.kept_from or at)
            self.kept_to = max(at, self.kept_to or at)
            self._kept_at[at] += 1
        self.replies += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.reasoning_tokens = add_known(self.reasoning_tokens, reply.reasoning_tokens)
        self.cached_tokens = add_known(self.cached_tokens, reply.cached_tokens)
        if reply.returned is not None:
            self.returned[self.filed_id(reply.returned)] += 1

    def take_back(self, reply: "Reply", at: float) -> None:
        """Count a kept reply no more: it is behind no answer."""
        self._kept_at[at] -= 1
        kept_moments = [time_kept for time_kept, number in self._kept_at.items() if number > 0]
        self.kept_from = min(kept_moments, default=None)
        self.kept_to = max(kept_moments, default=None)
        self.replies -= 1
        self.prompt_tokens -= reply.prompt_tokens
        self.completion_tokens -= reply.completion_tokens
        if self.reasoning_tokens is not None:
            self.reasoning_tokens -= reply.reasoning_tokens or 0
        if self.cached_tokens is not None:
            self.cached_tokens -= reply.cached_tokens or 0
        if reply.returned is not None:
            self.returned[self.filed_id(reply.returned)] -= 1
            self.returned = +self.returned

    @classmethod
    def total(cls, tallies: Sequence["Tally"]) -> "Tally":
        """Return the sum of several tallies. Dollars only where each has some."""
        if len(tallies) == 1:
            return tallies[0]
        whole = cls(started=min((tally.started for tally in tallies), default=time.monotonic()))
        for tally in tallies:
            whole.returned += tally.returned
            whole.other_hosts += tally.other_hosts
            for name in _COUNTS:
                total = add_known(getattr(whole, name), getattr(tally, name))
                setattr(whole, name, total)
        first_kept = [tally.kept_from for tally in tallies if tally.kept_from]
        last_kept = [tally.kept_to for tally in tallies if tally.kept_to]
        whole.kept_from = min(first_kept, default=None)
        whole.kept_to = max(last_kept, default=None)
        dollars = [tally.spent_usd for tally in tallies if tally.spent_usd is not None]
        if len(dollars) == len(tallies):
            whole.spent_usd = sum(filter(None, dollars))
        return whole

    def record_fields(self) -> dict[str, Any]:
        """Return the tally as records have it.

        Tokens are those behind the answers, whenever they were paid.
        """
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
        """Calls, calls a second and dollars, for beside a progress bar."""
        rate = self.calls / max(time.monotonic() - self.started, 1e-6)
        text = f"{self.calls} calls, {rate:.1f}/s"
        if self.spent_usd is not None:
            text += f", ${self.spent_usd:.2f}"
        return text


_COUNTS = (
    "items",
    "questions",
    "unread",
    "failed",
    "replies",
    "calls",
    "requests",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
)


@dataclass(slots=True)
class Call:
    """A call.

    Attributes:
        cost: Its cost in dollars, where that is known.
        counts: False for a call that brought nothing.
    """

    cost: float | None = None
    counts: bool = False


class Budget:
    """Calls and dollars that a run may spend.

    Several askers may share it, from several threads. Where there is a `job`, all its processes
    share it, on whatever machine: it is counted in the store of replies.
    """

    def __init__(self, calls: int | None = None, usd: float | None = None) -> None:
        self.limit = Limit(calls, usd)
        self.job: str | None = None
        if calls is not None or usd is not None:
            self.job = _job_name()
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
        """Set aside one call while it is made, and then book its cost.

        Args:
            estimate: The call's estimated dollars.
            cache: The asker's cache.
            option: The asker's option (`--judge`).

        Yields:
            The call. None where there is no room.
        """
        if self.limit.usd is None:
            estimate = 0.0
        job = f"{self.job} {option}"
        if self.job is not None:
            reserved = await cache.run_off_loop(cache.store.reserve, job, self.limit, estimate)
        else:
            reserved = self._reserve_dollars(estimate)
        if reserved is None:
            yield None
            return
        call = Call()
        try:
            yield call
        finally:
            cost = call.cost or 0.0
            if self.job is not None:
                await cache.run_off_loop(
                    cache.store.settle, job, reserved, cost, counts=call.counts
                )
            else:
                self._book_cost(reserved, cost, counts=call.counts)

    def _reserve_dollars(self, estimate: float) -> float | None:
        """Set aside one call's dollars. None where there is no room."""
        with self._lock:
            if self.limit.calls is not None and self._calls >= self.limit.calls:
                return None
            reserved = estimate
            if self.limit.usd is not None:
                reserved = max(estimate, self._dearest_usd)
                if self._spent_usd + self._reserved_usd + reserved > self.limit.usd:
                    return None
            self._calls += 1
            self._reserved_usd += reserved
            return reserved

    def _book_cost(self, reserved: float, cost: float, *, counts: bool) -> None:
        """Book the cost of a call of this process."""
        with self._lock:
            self._reserved_usd -= reserved
            self._spent_usd += cost
            self._dearest_usd = max(self._dearest_usd, cost)
            if not counts:
                self._calls -= 1

    @property
    def in_words(self) -> str:
        """The limits, for the user."""
        limits: list[str] = []
        if self.limit.calls is not None:
            limits.append(f"{self.limit.calls} calls")
        if self.limit.usd is not None:
            limits.append(f"${self.limit.usd:g}")
        text = " or ".join(limits)
        if self.job:
            text += f" of the job {self.job}"
        return text


def _job_name() -> str | None:
    """Return the name of the job that this process is part of, if any."""
    job = settings.JOB.get()
    if job:
        return job
    slurm_job = settings.SLURM_ARRAY_JOB_ID.get() or settings.SLURM_JOB_ID.get()
    if slurm_job:
        return f"slurm-{slurm_job}"
    return None


def moment(at: float | None) -> str | None:
    """Return a moment in seconds since 1970 as records have it, in ISO 8601."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def shown_dates(first: str | None, last: str | None) -> str:
    """Return the dates of kept replies, as text behind their number.

    Args:
        first: When the first came, in ISO 8601. None where none is kept.
        last: When the last came.
    """
    minutes = [day[:16].replace("T", " ") for day in (first, last) if day is not None]
    if not minutes:
        return ""
    return f" from {' to '.join(dict.fromkeys(minutes))}"


def add_known(total: int | None, more: int | None) -> int | None:
    """Return a sum of counts of which some are not known. None while none is."""
    if more is None:
        return total
    return (total or 0) + more
