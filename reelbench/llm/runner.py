"""Asking many questions: bounded, in the items' order, with one tally.

A run has no state of its own to keep: every reply is in the cache the moment it arrives. A run that
was killed and is started again reads what is there and asks for the rest.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from reelbench.base.errors import PendingError, ReelbenchError, number_of
from reelbench.base.progress import Show, no_show
from reelbench.llm.ask_result import PENDING, AskResult
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Tally
from reelbench.llm.own_order import places_in_own_order
from reelbench.llm.pacing import Cause

WINDOW = 2048
"""Items held at once: bounds memory, and lets work go on behind one slow reply."""

SHOWN_EVERY_S = 10.0
"""Seconds after which progress is shown again, though no item ended: calls in flight differ."""

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


_CAUSES_SHOWN = 3

PENDING_SHOWN = "{} wait for replies in a batch; the same command again collects them and goes on"
"""The note on so many replies that are under way in a batch."""


def causes_shown(causes: Counter[Cause]) -> str:
    """Return the causes of lacking replies, the commonest first, with their numbers."""
    if len(causes) == 1:
        return next(iter(causes)).line
    parts: list[str] = []
    rest = causes.total()
    for cause, number in causes.most_common(_CAUSES_SHOWN):
        parts.append(f"{number_of(number, 'time')} {cause.line}")
        rest -= number
    if rest:
        parts.append(f"{number_of(rest, 'time')} other causes")
    return "; ".join(parts)


class Runner:
    """Works on many items at once, and counts the results.

    Attributes:
        lacking: Reason (`unavailable`, `budget`, …) -> replies that are lacking for it. The work
            counts them.
        causes: Cause -> replies that no server gave for it.
    """

    def __init__(
        self, askers: Iterable[Asker], show: Show = no_show, *, at_once: int | None = None
    ) -> None:
        """Set up, without asking anything.

        Args:
            askers: Those that the work uses. The same one may be there for several roles.
            show: Called whenever an item is done, with how many are, and with the tally in words.
            at_once: Items at work at most; by default two for each call in flight, so that the next
                is ready.
        """
        self._askers: list[Asker] = []
        most_calls = 1
        for asker in askers:
            if asker not in self._askers:
                self._askers.append(asker)
                most_calls = max(most_calls, asker.ahead * asker.options.most_in_flight)
        self._show = show
        self._at_once = at_once or 2 * most_calls
        self.lacking: Counter[str] = Counter()
        self.causes: Counter[Cause] = Counter()

    def note_lacking(self, result: AskResult[Any]) -> None:
        """Count a reply that is lacking, and its cause."""
        self.lacking[str(result.reason)] += 1
        if result.cause is not None:
            self.causes[result.cause] += 1

    @property
    def tally(self) -> Tally:
        """The sum of all askers' tallies."""
        return Tally.total([asker.tally for asker in self._askers])

    @property
    def _traffic(self) -> str:
        """The calls in flight, and those that wait to be let in, in words."""
        in_flight = 0
        for pacer in {id(asker.pacer): asker.pacer for asker in self._askers}.values():
            in_flight += pacer.in_flight
        begun = sum(asker.in_flight for asker in self._askers)
        return f"{in_flight} in flight, {max(0, begun - in_flight)} waiting"

    async def run(
        self, items: Iterable[ItemT], work: Callable[[ItemT], Awaitable[ResultT]]
    ) -> AsyncIterator[tuple[ItemT, ResultT]]:
        """Yield each item with the result of `work`, in the order of the items.

        An error of the work ends the run.
        """
        room = asyncio.Semaphore(self._at_once)
        begun: deque[tuple[ItemT, asyncio.Task[ResultT]]] = deque()  # the oldest first
        done = 0

        def ended(task: asyncio.Task[ResultT]) -> None:
            nonlocal done
            room.release()
            if not task.cancelled() and task.exception() is None:
                done += 1
                self._show_progress(done)

        async def show_while_nothing_ends() -> None:
            while True:
                await asyncio.sleep(SHOWN_EVERY_S)
                self._show_progress(done)

        showing = asyncio.ensure_future(show_while_nothing_ends())
        try:
            for item in items:
                await room.acquire()  # no more is prepared than is soon asked
                task = asyncio.ensure_future(work(item))
                task.add_done_callback(ended)
                begun.append((item, task))
                while begun:
                    oldest_item, oldest_task = begun[0]
                    if not oldest_task.done() and len(begun) < WINDOW:
                        break
                    yield oldest_item, await oldest_task
                    begun.popleft()
            while begun:
                oldest_item, oldest_task = begun[0]
                yield oldest_item, await oldest_task
                begun.popleft()
        finally:
            showing.cancel()
            for _, task in begun:
                task.cancel()
            tasks = [task for _, task in begun]
            await asyncio.gather(showing, *tasks, return_exceptions=True)

    def _show_progress(self, done: int) -> None:
        """Show how many items are done, and what is under way."""
        tally = self.tally
        line = f"{tally.progress_text}, {self._traffic}"
        self._show(done, line, failed=tally.failed, cost_usd=tally.spent_usd)

    async def results(
        self, items: Iterable[ItemT], work: Callable[[ItemT], Awaitable[ResultT]]
    ) -> list[ResultT]:
        """Return the result of `work` on each item, in their order; then close the askers."""
        async with AsyncExitStack() as stack:
            for asker in self._askers:
                await stack.enter_async_context(asker)
            results: list[ResultT] = []
            async for _, result in self.run(items, work):
                results.append(result)
            return results

    async def shared_results(
        self,
        items: Sequence[ItemT],
        work: Callable[[ItemT], Awaitable[ResultT]],
        video_of: Callable[[ItemT], str],
    ) -> list[ResultT]:
        """Return `results`, with the items asked in this machine's own order.

        Where no other machine shares the replies it is the order of the items.
        """
        places: Sequence[int] = range(len(items))
        if any(asker.cache.is_shared for asker in self._askers):
            places = places_in_own_order([video_of(item) for item in items])
        ordered_items = [items[place] for place in places]
        results = await self.results(ordered_items, work)
        result_by_place = dict(zip(places, results, strict=True))
        return [result_by_place[place] for place in range(len(items))]

    @property
    def lacking_shown(self) -> str:
        """The number of lacking replies for each reason and cause, for the user."""
        reasons = ", ".join(f"{number} {reason}" for reason, number in self.lacking.items())
        if self.causes:
            reasons += f": {causes_shown(self.causes)}"
        return reasons

    @property
    def has_timeouts(self) -> bool:
        """True where a call took longer than its time limit."""
        return any(cause.is_timeout for cause in self.causes)

    def check(self, what: str, otherwise: str) -> None:
        """Raise an error where replies are lacking.

        Args:
            what: The kind of the replies, for the message.
            otherwise: The reason where no asker noted one.

        Raises:
            PendingError: All of these are under way in a batch.
            ReelbenchError: They are lacking for other reasons.
        """
        if self.lacking.keys() == {PENDING}:
            raise PendingError(PENDING_SHOWN.format(self.lacking.total()))
        if self.lacking:
            raise ReelbenchError(
                f"{self.why_lacking(otherwise)}; {self.lacking_shown} {what}; "
                "rerun the command to continue"
            )

    def why_lacking(self, otherwise: str) -> str:
        """Return an asker's last note, which gives the reason, or else `otherwise`."""
        for asker in self._askers:
            if asker.notes:
                return asker.notes[-1]
        return otherwise
