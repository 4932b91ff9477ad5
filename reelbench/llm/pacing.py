"""How many calls are in flight: as many as asked for, fewer while the server says 429, and none once asking stops."""

import asyncio
import random
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self


class StoppedError(Exception):
    """Asking is over for this run; `reason` is that which questions without an answer get."""

    def __init__(self, reason: str, line: str) -> None:
        super().__init__(line)
        self.reason = reason


class Pacer:
    """Lets calls to one server pass, at most `limit` at once, whoever makes them.

    The first call goes alone, so that a wrong key costs one refusal and not 32; unless `proven`,
    where the server has given a reply before. After that the limit is the concurrency asked for,
    the most of anybody's. A 429 halves it (once for all calls that were in flight at the time) and
    holds everything for as long as the server asks; each full round of good replies raises it by
    one again.

    Lives in one event loop.
    """

    def __init__(self, concurrency: int = 1, *, proven: bool = False) -> None:
        self._most = concurrency
        self._limit = float(concurrency) if proven else 1.0
        self._probing = not proven
        self.had_reply = proven
        """Whether the server has given a reply."""
        self.in_flight = 0
        """Calls that were let in and have not left."""
        self._round = 0
        self._held_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.shared = False
        """Whether other machines ask the same: then the next is any of those who wait, or all would want the same."""
        self._timer: asyncio.TimerHandle | None = None
        self.making = asyncio.Semaphore(
            2
        )  # who waits with what is sent made ready: 32 pictures are 10 MB
        self._stop = asyncio.Event()
        self.stopped: StoppedError | None = None

    def allow(self, concurrency: int) -> None:
        """Let at least so many calls pass at once, where the server takes them."""
        if concurrency > self._most:
            self._most = concurrency
            if not self._probing and not self._round:
                self._limit = float(concurrency)

    async def enter(self, *, again: bool = False) -> int:
        """Wait to be let in and return the round it is; StoppedError once asking is over.

        Who comes `again` goes ahead of the others, so that few requests are in trouble at once.
        """
        if self.stopped is not None:
            raise self.stopped
        if not self._waiting and self._free():
            self.in_flight += 1
            return self._round
        gate = asyncio.get_running_loop().create_future()
        if again:
            self._waiting.appendleft(gate)
        else:
            self._waiting.append(gate)
        self._wake()
        try:
            await gate
        except asyncio.CancelledError:
            if gate.done() and not gate.cancelled() and gate.exception() is None:
                self.leave()  # let in and cancelled in the same moment
            raise
        if self.stopped is not None:  # let in, and stopped in the same moment
            self.leave()
            raise self.stopped
        return self._round

    def leave(self) -> None:
        """Make room for the next."""
        self.in_flight -= 1
        self._wake()

    def good(self) -> None:
        """Note a reply: the server takes what it gets."""
        self.had_reply = True
        self.note_answer()
        self._limit = min(self._most, self._limit + 1 / self._limit)

    def note_answer(self) -> None:
        """Note an answer of any kind: the first call goes alone no more."""
        if self._probing:
            self._probing = False
            self._limit = float(self._most)
            self._wake()

    def note_limit(self, round_: int, wait: float | None) -> None:
        """Note a 429 for a call of `round_`; hold all calls for `wait` seconds."""
        if wait:
            now = asyncio.get_running_loop().time()
            # Some spread, or several processes would come back in one burst.
            self._held_until = max(self._held_until, now + wait * random.uniform(1.0, 1.1))  # noqa: S311
        self.note_answer()
        if round_ == self._round:
            self._round += 1
            self._limit = max(1.0, self._limit / 2)

    def stop(self, stopped: StoppedError) -> None:
        """End asking: who waits, or comes, gets `stopped`."""
        if self.stopped is not None:
            return
        self.stopped = stopped
        self._stop.set()
        while self._waiting:
            gate = self._waiting.popleft()
            if not gate.done():
                gate.set_exception(stopped)

    async def unless_stopped(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for work, or until asking stops: StoppedError then."""
        waited = [asyncio.ensure_future(some) for some in (work, self._stop.wait())]
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if self.stopped is not None:
                raise self.stopped
            await waited[0]
        finally:
            for task in waited:
                task.cancel()

    def _free(self) -> bool:
        return (
            self.in_flight < int(self._limit)
            and asyncio.get_running_loop().time() >= self._held_until
        )

    def _wake(self, *, held_over: bool = False) -> None:
        self._timer = None if held_over else self._timer
        while self._waiting and self._free():
            if self.shared:
                self._waiting.rotate(random.randrange(len(self._waiting)))  # noqa: S311
            gate = self._waiting.popleft()
            if not gate.done():
                self.in_flight += 1
                gate.set_result(None)
        if self._waiting and self._timer is None:
            loop = asyncio.get_running_loop()
            if self._held_until > loop.time():
                self._timer = loop.call_at(self._held_until, partial(self._wake, held_over=True))


@dataclass(eq=False)
class Turn:
    """A call's place among those in flight, from `async with` on; `round` is the pacer's when it was let in last.

    Of those that wait two have what they send made by `make`, in a thread.
    """

    pacer: Pacer
    make: Callable[[], bytes] | None = None
    round: int = field(default=0, init=False)
    _making: asyncio.Future[bytes] | None = field(default=None, init=False)
    _inside: bool = field(default=False, init=False)

    async def __aenter__(self) -> Self:
        async with self.pacer.making if self.make else nullcontext():
            self._making = (
                asyncio.ensure_future(asyncio.to_thread(self.make)) if self.make else None
            )
            self.round = await self.pacer.enter()
        self._inside = True
        return self

    async def result(self) -> bytes | None:
        """Return what was made; None where that failed, and once the turn was left."""
        with suppress(Exception):
            return await self._making if self._making else None

    async def __aexit__(self, *error: object) -> None:
        self.leave()

    async def come_back(self) -> None:
        """Wait to be let in again where the turn was left, ahead of those who never were."""
        if not self._inside:
            self.round = await self.pacer.enter(again=True)
            self._inside = True

    def leave(self) -> None:
        """Let others in."""
        if self._inside:
            self._inside, self._making = False, None
            self.pacer.leave()
