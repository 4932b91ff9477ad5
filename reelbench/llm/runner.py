"""The one way to ask many questions: bounded, in the items' order, with one tally and one account of what is lacking.

A run has no state of its own to keep: every reply is in the cache the moment it arrives. A run that
was killed and is started again reads what is there and asks for the rest.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from typing import TypeVar

from reelbench.base.errors import PendingError, ReelbenchError
from reelbench.base.progress import Show, no_show
from reelbench.llm.ask_result import PENDING
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Tally

WINDOW = 2048
"""Items held at once: bounds memory, and lets work go on behind one slow reply."""

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


PENDING_SHOWN = "{} wait for replies in a batch; the same command again collects them and goes on"
"""The note on so many replies that are under way in a batch."""


class Runner:
    """Works on many items at once, and counts what comes of it.

    Attributes:
        lacking: Reason (`unavailable`, `budget`, …) -> replies that could not be had for it. The
            work counts them.
    """

    def __init__(
        self, askers: Iterable[Asker], show: Show = no_show, *, at_once: int | None = None
    ) -> None:
        """Set up, without asking anything.

        Args:
            askers: Those that the work asks; the same one may be there for several roles.
            show: Called whenever an item is done, with how many are, and with the tally in words.
            at_once: Items at work at most; by default two for each call in flight, so that the next
                is ready.
        """
        self._askers = list({id(asker): asker for asker in askers}.values())
        self._show = show
        self._at_once = at_once or 2 * max(
            (asker.ahead * asker.options.concurrency for asker in self._askers), default=1
        )
        self.lacking: Counter[str] = Counter()

    @property
    def tally(self) -> Tally:
        """What all askers have come to so far."""
        return Tally.total([asker.tally for asker in self._askers])

    async def run(
        self, items: Iterable[ItemT], work: Callable[[ItemT], Awaitable[ResultT]]
    ) -> AsyncIterator[tuple[ItemT, ResultT]]:
        """Yield each item with what `work` made of it, in the order of the items; an error of the work ends the run."""
        room = asyncio.Semaphore(self._at_once)
        begun: deque[tuple[ItemT, asyncio.Task[ResultT]]] = deque()
        done = 0

        def ended(task: asyncio.Task[ResultT]) -> None:
            nonlocal done
            room.release()
            if not task.cancelled() and task.exception() is None:
                done += 1
                tally = self.tally
                self._show(done, tally.progress_text, failed=tally.failed, cost_usd=tally.spent_usd)

        try:
            for item in items:
                await room.acquire()  # no more is prepared than is soon asked
                task = asyncio.ensure_future(work(item))
                task.add_done_callback(ended)
                begun.append((item, task))
                while begun and (begun[0][1].done() or len(begun) >= WINDOW):
                    yield begun[0][0], await begun[0][1]
                    begun.popleft()
            while begun:
                yield begun[0][0], await begun[0][1]
                begun.popleft()
        finally:
            for _, task in begun:
                task.cancel()
            await asyncio.gather(*(task for _, task in begun), return_exceptions=True)

    async def results(
        self, items: Iterable[ItemT], work: Callable[[ItemT], Awaitable[ResultT]]
    ) -> list[ResultT]:
        """Return the result of `work` on each item, in their order; the askers are there meanwhile, and closed then."""
        async with AsyncExitStack() as stack:
            for asker in self._askers:
                await stack.enter_async_context(asker)
            results: list[ResultT] = []
            async for _, result in self.run(items, work):
                results.append(result)
            return results

    @property
    def lacking_shown(self) -> str:
        """How many replies are lacking for which reason, for the user."""
        return ", ".join(f"{number} {reason}" for reason, number in self.lacking.items())

    def check(self, what: str, otherwise: str) -> None:
        """Raise ReelbenchError where replies are lacking: why, or else `otherwise`, and how many of `what`.

        PendingError where all of these are under way in a batch.
        """
        if self.lacking.keys() == {PENDING}:
            raise PendingError(PENDING_SHOWN.format(self.lacking.total()))
        if self.lacking:
            raise ReelbenchError(
                f"{self.why_lacking(otherwise)}; {self.lacking_shown} {what}; rerun the command to continue"
            )

    def why_lacking(self, otherwise: str) -> str:
        """Return the last thing that an asker noted, which says why replies are lacking, or else `otherwise`."""
        return next((asker.notes[-1] for asker in self._askers if asker.notes), otherwise)
