"""How many calls are in flight: as many as asked for, fewer while the server says 429, and none once judging stops."""

import asyncio
import random
from collections import deque


class StoppedError(Exception):
    """Judging is over for this run.

    Attributes:
        reason: The reason that unscored items get.
        line: What happened and what to do, for the user.
    """

    def __init__(self, reason: str, line: str) -> None:
        super().__init__(line)
        self.reason = reason
        self.line = line


class Pacer:
    """Lets calls pass, at most `limit` at once.

    The first call goes alone, so that a wrong key costs one refusal and not 32. After that the limit is the concurrency
    asked for. A 429 halves it (once for all calls that were in flight at the time) and holds everything for as long as
    the server asks; each full round of good replies raises it by one again.

    Lives in one event loop.
    """

    def __init__(self, concurrency: int) -> None:
        self._most = concurrency
        self._limit = 1.0
        self._probing = True
        self._active = 0
        self._round = 0
        self._held_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._stop = asyncio.Event()
        self.stopped: StoppedError | None = None

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""
        return int(self._limit)

    async def enter(self) -> int:
        """Wait for a turn and return the round it belongs to; StoppedError once judging is over."""
        if self.stopped is not None:
            raise self.stopped
        if self._waiting or not self._free():
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._wake()
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    self.leave()  # the turn was given in the same moment as we were cancelled
                raise
        else:
            self._active += 1
        return self._round

    def leave(self) -> None:
        """End a turn."""
        self._active -= 1
        self._wake()

    def good(self) -> None:
        """Note a reply: the server takes what it gets."""
        self._open()
        self._limit = min(self._most, self._limit + 1 / self._limit)

    def failed(self) -> None:
        """Note a failure that is not for want of capacity."""
        self._open()

    def limited(self, round_: int, wait: float | None) -> None:
        """Note a 429 for a call of `round_`; hold all calls for `wait` seconds."""
        self._open()
        if round_ == self._round:
            self._round += 1
            self._limit = max(1.0, self._limit / 2)
        if wait:
            now = asyncio.get_running_loop().time()
            # Some spread, or all that waited would come back in one burst.
            self._held_until = max(self._held_until, now + wait * random.uniform(1.0, 1.1))  # noqa: S311

    def stop(self, stopped: StoppedError) -> None:
        """End judging: who waits for a turn, or will, gets `stopped`."""
        if self.stopped is not None:
            return
        self.stopped = stopped
        self._stop.set()
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(stopped)

    async def sleep(self, seconds: float) -> None:
        """Sleep, or until judging stops."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return

    def _open(self) -> None:
        if self._probing:
            self._probing = False
            self._limit = float(self._most)
            self._wake()

    def _free(self) -> bool:
        return self._active < int(self._limit) and asyncio.get_running_loop().time() >= self._held_until

    def _wake(self) -> None:
        while self._waiting and self._free():
            turn = self._waiting.popleft()
            if not turn.done():
                self._active += 1
                turn.set_result(None)
        if self._waiting and self._timer is None:
            loop = asyncio.get_running_loop()
            if self._held_until > loop.time():
                self._timer = loop.call_at(self._held_until, self._held_over)

    def _held_over(self) -> None:
        self._timer = None
        self._wake()
