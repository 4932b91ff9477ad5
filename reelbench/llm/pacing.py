"""Pacing: who is let in to a server, and which call nothing comes back of any more.

How many are in flight is the server's `Pace`. Once asking stops there are none.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self

from reelbench.llm.pace import FIRST, Pace

_HANGS = 10
"""Times the median after which a call hangs, while others are finished."""


class Cause(NamedTuple):
    """Why a server gave no reply.

    Attributes:
        line: A few words. Causes that are counted as one have the same.
        is_timeout: True where the time for a call was over.
    """

    line: str
    is_timeout: bool = False


class StoppedError(Exception):
    """Asking is over for this run.

    Attributes:
        reason: The reason of questions without an answer.
        cause: The server's part in it, if any.
    """

    def __init__(self, reason: str, line: str, cause: Cause | None = None) -> None:
        super().__init__(line)
        self.reason = reason
        self.cause = cause


class Pacer:
    """Lets calls to one server pass, as many at once as its `Pace` allows.

    It does not matter who makes them. At most `FIRST` go out before the first reply that can be
    read. Where the server asks for fewer calls, the limit is halved, once for all calls that were
    in flight at the time, and everything is held for as long as the server asks. After a time in
    which the server finished nothing, one call goes alone.

    It lives in one event loop.
    """

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.in_flight = 0
        """Calls that were let in and have not left."""
        self.most_in_flight = 0
        self.last_reply_at = 0.0
        """The loop's time of the latest reply; 0 before the first."""
        self._round = 0
        self._paused_until = 0.0
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
        self._watched: set[CallTimeout] = set()
        self._watch_timer: asyncio.TimerHandle | None = None
        self._is_server_silent = False
        self.elsewhere: Callable[[], Coroutine[Any, Any, float | None]] | None = None
        """Returns the seconds since the server's latest reply to any process, or None."""
        self._elsewhere_task: asyncio.Task[None] | None = None

    @property
    def has_room(self) -> bool:
        """True where another call could be in flight."""
        return self.in_flight < self.pace.limit

    async def enter(self, *, is_retry: bool = False) -> int:
        """Wait until a call may be sent, and return the number of the back-off round.

        Args:
            is_retry: True for a call that was let in before. It goes ahead of the others, so that
                few requests are in trouble at once.

        Raises:
            StoppedError: Asking is over.
        """
        if self.stopped is not None:
            raise self.stopped
        if not self._waiting and self._can_start_call():
            self._count_started_call()
            return self._round
        await self._wait_in_line(at_front=is_retry)
        if self.stopped is not None:  # let in, and stopped in the same moment
            self.leave()
            raise self.stopped
        return self._round

    async def _wait_in_line(self, *, at_front: bool) -> None:
        """Wait until `_start_waiting_calls` starts this call."""
        started = asyncio.get_running_loop().create_future()
        if at_front:
            self._waiting.appendleft(started)
        else:
            self._waiting.append(started)
        self._start_waiting_calls()
        try:
            await started
        except asyncio.CancelledError:
            if started.done() and not started.cancelled() and started.exception() is None:
                self.leave()  # started and cancelled in the same moment
            raise

    def leave(self) -> None:
        """Make room for the next."""
        self.in_flight -= 1
        if not self.in_flight:
            self.pace.end_work(_now())
        self._start_waiting_calls()

    def note_reply(self, seconds: float) -> None:
        """Note a reply that took so many seconds."""
        now = _now()
        self.last_reply_at = now
        self.pace.finish(now, seconds)
        if self._is_server_silent:
            self._is_server_silent = False
            self.pace.start_over()
        self._start_waiting_calls()

    def prove(self) -> None:
        """Note that a reply can be read, or could be in an earlier run."""
        self.pace.prove()
        self._start_waiting_calls()

    def slow_down(self, round_: int, wait: float | None) -> None:
        """Let fewer calls pass, as the server asked a call of a round to.

        All calls are held for `wait` seconds.
        """
        if wait:
            # Some spread, or several processes would come back in one burst.
            paused_until = _now() + wait * random.uniform(1.0, 1.1)  # noqa: S311
            self._paused_until = max(self._paused_until, paused_until)
        if round_ == self._round:
            self._round += 1
            self.pace.refuse()

    # --- calls that nothing comes back of

    def watch(self, time_limit: float, probe_limit: float) -> "CallTimeout":
        """Return the limit on a call's time, to be entered while it is in flight.

        It ends the call where the server has finished nothing for the time limit, or, while other
        calls are finished, after ten times the median, at least the limit. It never ends one that
        stands in line.

        Args:
            time_limit: Seconds.
            probe_limit: Seconds for a call that goes alone.
        """
        if self._is_server_silent:
            return CallTimeout(self, probe_limit, is_probe=True)
        return CallTimeout(self, time_limit)

    def begin_watch(self, call: "CallTimeout") -> None:
        """Watch a call from now on."""
        self._watched.add(call)
        deadline = call.began + call.time_limit
        if self._watch_timer is not None:
            if self._watch_timer.when() <= deadline:
                return
            self._watch_timer.cancel()
        self._schedule_check(deadline)

    def end_watch(self, call: "CallTimeout") -> None:
        """Watch a call no more."""
        self._watched.discard(call)
        if not self._watched and self._watch_timer is not None:
            self._watch_timer.cancel()
            self._watch_timer = None

    def note_server_silence(self) -> None:
        """Note that a call ended because the server finished nothing: the next goes alone."""
        self._is_server_silent = True

    def _schedule_check(self, at: float) -> None:
        self._watch_timer = asyncio.get_running_loop().call_at(at, self._check_deadlines)

    def _check_deadlines(self) -> None:
        """End the calls whose time is over.

        First it is seen whether another process has had a reply.
        """
        self._watch_timer = None
        now = _now()
        is_quiet = any(self._silence_deadline(call) <= now for call in self._watched)
        if is_quiet and self.elsewhere is not None:
            self._elsewhere_task = asyncio.ensure_future(
                self._check_other_processes(self.elsewhere())
            )
        else:
            self._end_overdue_calls()

    async def _check_other_processes(
        self, last_reply_age: Coroutine[Any, Any, float | None]
    ) -> None:
        """Take a reply to another process for a sign of life, then end overdue calls."""
        seconds = await last_reply_age
        if seconds is not None:
            self.last_reply_at = max(self.last_reply_at, _now() - seconds)
        self._end_overdue_calls()

    def _end_overdue_calls(self) -> None:
        now = _now()
        deadlines: list[float] = []
        for call in self._watched:
            deadline = self._deadline(call)
            if deadline <= now:
                call.server_was_silent = self._silence_deadline(call) <= now
                call.end()
            else:
                deadlines.append(deadline)
        if deadlines and self._watch_timer is None:
            self._schedule_check(min(deadlines))

    def _deadline(self, call: "CallTimeout") -> float:
        """Return the moment at which a call is given up, as things are now."""
        median = self.pace.median_seconds
        if median is None:  # all replies so far are other processes'
            median = call.time_limit
        longest = max(call.time_limit, _HANGS * median)
        return min(self._silence_deadline(call), call.began + longest)

    def _silence_deadline(self, call: "CallTimeout") -> float:
        """Return the moment until which the server has time to finish something."""
        return max(call.began, self.last_reply_at) + call.time_limit

    # --- the end

    def stop(self, stopped: StoppedError) -> None:
        """End asking: all calls that wait, or come, raise `stopped`."""
        if self.stopped is not None:
            return
        self.stopped = stopped
        self._stop.set()
        while self._waiting:
            started = self._waiting.popleft()
            if not started.done():
                started.set_exception(stopped)

    async def run_unless_stopped(self, work: Coroutine[Any, Any, None]) -> None:
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

    def _can_start_call(self) -> bool:
        """Return True where a call may be let in now."""
        if _now() < self._paused_until:
            return False
        if self._is_server_silent:
            return not self.in_flight
        return self.has_room

    def _count_started_call(self) -> None:
        if not self.in_flight:
            self.pace.begin_work(_now())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def _start_waiting_calls(self, *, pause_is_over: bool = False) -> None:
        """Let in calls that wait. `pause_is_over` says that a server's hold has ended."""
        if pause_is_over:
            self._timer = None
        while self._waiting and self._can_start_call():
            if self.shared:
                self._waiting.rotate(random.randrange(len(self._waiting)))  # noqa: S311
            started = self._waiting.popleft()
            if not started.done():
                self._count_started_call()
                started.set_result(None)
        if self._waiting and self._timer is None:
            loop = asyncio.get_running_loop()
            if self._paused_until > loop.time():
                self._timer = loop.call_at(
                    self._paused_until, partial(self._start_waiting_calls, pause_is_over=True)
                )


def _now() -> float:
    return asyncio.get_running_loop().time()


class CallTimeout:
    """The limit on the time of one call, by what its server finishes (`Pacer.watch`).

    Attributes:
        time_limit: Seconds in which the server has to finish something.
        is_probe: True for the one call after a time in which it finished nothing.
        began: The loop's time at which the call went out.
    """

    def __init__(self, pacer: Pacer, time_limit: float, *, is_probe: bool = False) -> None:
        self._pacer = pacer
        self.time_limit = time_limit
        self.is_probe = is_probe
        self.began = 0.0
        self.server_was_silent = False
        """True where the call was ended because the server had finished nothing."""
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self.began = _now()
        self._pacer.begin_watch(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        self._pacer.end_watch(self)
        return await self._timeout.__aexit__(kind, error, trace)

    def end(self) -> None:
        """End the call: TimeoutError where it stands."""
        self._timeout.reschedule(_now())

    @property
    def seconds(self) -> float:
        """Seconds since the call went out."""
        return _now() - self.began


class ModelSlots:
    """The places of one model's calls among those in flight.

    They are `FIRST` until its first reply that can be read, and then as many as the user allows.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._is_full_limit = False
        self._semaphore = asyncio.Semaphore(min(FIRST, most))

    def open(self) -> None:
        """Let in as many calls as the user allows, from now on."""
        if self._is_full_limit:
            return
        self._is_full_limit = True
        for _ in range(self._most - FIRST):
            self._semaphore.release()

    async def acquire(self) -> None:
        """Wait for a place, and take it."""
        await self._semaphore.acquire()

    def release(self) -> None:
        """Give a place back."""
        self._semaphore.release()


@dataclass(eq=False)
class CallSlot:
    """A call's place among those in flight, from `async with` on.

    Attributes:
        pacer: Lets the call in.
        slots: The model's places.
        make: Makes the body to send, in a thread, for two calls of those that wait.
        round: The pacer's round when the call was let in last.
    """

    pacer: Pacer
    slots: ModelSlots
    make: Callable[[], bytes] | None = None
    round: int = field(default=0, init=False)
    _making: asyncio.Future[bytes] | None = field(default=None, init=False)
    _holds_slot: bool = field(default=False, init=False)

    async def __aenter__(self) -> Self:
        if self.make is None:
            await self._enter(is_retry=False)
        else:
            async with self.pacer.making:
                self._making = asyncio.ensure_future(asyncio.to_thread(self.make))
                await self._enter(is_retry=False)
        return self

    async def result(self) -> bytes | None:
        """Return the body. None where it was not made, and once the turn was left."""
        if self._making is None:
            return None
        with suppress(Exception):
            return await self._making
        return None

    async def __aexit__(self, *error: object) -> None:
        self.leave()

    async def reacquire(self) -> None:
        """Wait to be let in again where the turn was left, ahead of new calls."""
        if not self._holds_slot:
            await self._enter(is_retry=True)

    async def _enter(self, *, is_retry: bool) -> None:
        await self.slots.acquire()
        try:
            self.round = await self.pacer.enter(is_retry=is_retry)
        except BaseException:
            self.slots.release()
            raise
        self._holds_slot = True

    def leave(self) -> None:
        """Give the place to the next call."""
        if self._holds_slot:
            self._holds_slot = False
            self._making = None
            self.slots.release()
            self.pacer.leave()
