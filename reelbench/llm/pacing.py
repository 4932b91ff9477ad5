"""Pacing: as many calls in flight as the user allows, fewer while the server answers 429.

Once asking stops there are none.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self


class StoppedError(Exception):
    """Asking is over for this run.

    Attributes:
        reason: The reason of questions without an answer.
    """

    def __init__(self, reason: str, line: str) -> None:
        super().__init__(line)
        self.reason = reason


class Pacer:
    """Lets calls to one server pass, at most `limit` at once, whoever makes them.

    The first call goes alone, so that a wrong key costs one refusal and not 32; unless the server
    is `proven`: it has given a reply before. After that the limit is the largest concurrency that
    anybody allows. A 429 halves it (once for all calls that were in flight at the time) and
    holds everything for as long as the server asks; each full round of good replies raises it by
    one again.

    It lives in one event loop.
    """

    def __init__(self, concurrency: int = 1, *, proven: bool = False) -> None:
        self._most = concurrency
        self._limit = 1.0
        if proven:
            self._limit = float(concurrency)
        self._probing = not proven
        self.had_reply = proven
        """True once the server has given a reply."""
        self.in_flight = 0
        """Calls that were let in and have not left."""
        self._round = 0
        self._held_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.shared = False
        """True where other machines ask the same.

        The next is then any of those that wait, or all machines would take the same.
        """
        self._timer: asyncio.TimerHandle | None = None
        # Calls that wait with their body ready: 32 pictures are 10 MB.
        self.making = asyncio.Semaphore(2)
        self._stop = asyncio.Event()
        self.stopped: StoppedError | None = None

    def allow(self, concurrency: int) -> None:
        """Let at least so many calls pass at once, where the server takes them."""
        if concurrency > self._most:
            self._most = concurrency
            if not self._probing and not self._round:
                self._limit = float(concurrency)

    async def enter(self, *, again: bool = False) -> int:
        """Wait to be let in, and return the number of the round.

        Args:
            again: True for a call that was let in before. It goes ahead of the others, so that few
                requests are in trouble at once.

        Raises:
            StoppedError: Asking is over.
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
        """Note a reply: the server takes the calls that it gets."""
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
        """End asking: all calls that wait, or come, raise `stopped`."""
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
        work_task = asyncio.ensure_future(work)
        stop_task = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait((work_task, stop_task), return_when=asyncio.FIRST_COMPLETED)
            if self.stopped is not None:
                raise self.stopped
            await work_task
        finally:
            work_task.cancel()
            stop_task.cancel()

    def _free(self) -> bool:
        """Return True where a call may be let in now."""
        is_held = asyncio.get_running_loop().time() < self._held_until
        return self.in_flight < int(self._limit) and not is_held

    def _wake(self, *, held_over: bool = False) -> None:
        """Let in calls that wait; `held_over` says that a server's hold has ended."""
        if held_over:
            self._timer = None
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
    """A call's place among those in flight, from `async with` on.

    Attributes:
        pacer: Lets the call in.
        make: Makes the body to send, in a thread, for two calls of those that wait.
        round: The pacer's round when the call was let in last.
    """

    pacer: Pacer
    make: Callable[[], bytes] | None = None
    round: int = field(default=0, init=False)
    _making: asyncio.Future[bytes] | None = field(default=None, init=False)
    _inside: bool = field(default=False, init=False)

    async def __aenter__(self) -> Self:
        if self.make is None:
            self.round = await self.pacer.enter()
        else:
            async with self.pacer.making:
                self._making = asyncio.ensure_future(asyncio.to_thread(self.make))
                self.round = await self.pacer.enter()
        self._inside = True
        return self

    async def result(self) -> bytes | None:
        """Return the body; None where it was not made, and once the turn was left."""
        if self._making is None:
            return None
        with suppress(Exception):
            return await self._making
        return None

    async def __aexit__(self, *error: object) -> None:
        self.leave()

    async def come_back(self) -> None:
        """Wait to be let in again where the turn was left, ahead of new calls."""
        if not self._inside:
            self.round = await self.pacer.enter(again=True)
            self._inside = True

    def leave(self) -> None:
        """Give the place to the next call."""
        if self._inside:
            self._inside = False
            self._making = None
            self.pacer.leave()
