"""The pace of one server: how many calls may be in flight there, by what it finished so far.

A line at a server costs nothing where it is short, so throughput isn't searched for: calls are as
many as the user allows, and never so many that one stands in line for half its time limit.
"""

import statistics
from collections import deque
from typing import NamedTuple

FIRST = 4
"""Calls that go out before the first reply that can be read."""

_NEXT = 8
"""Calls in flight after it, at a server that doesn't say how many it works on at a time."""

_GOOD_ROUNDS = 4
"""Good rounds for one more call, once a server has asked for fewer."""

_LATEST = 64
"""Replies whose times are remembered."""


class _Moment(NamedTuple):
    """The end of a round, in busy seconds and replies of the server."""

    busy: float
    replies: int


class Pace:
    """The number of calls that may be in flight at one server.

    Times are an event loop's, in seconds.

    Attributes:
        most: The most calls in flight that somebody allows.
        time_limit: Seconds in which the server has to finish something.
        slots: Calls that the server works on at a time, as it says. None where it doesn't say.
    """

    def __init__(self, most: int = 1, time_limit: float = 120.0) -> None:
        self.most = most
        self.time_limit = time_limit
        self.slots: int | None = None
        self._limit = float(FIRST)
        self._is_proven = False
        self._was_refused = False
        self._good_rounds = 0
        self._replies = 0
        self._round_began = 0
        self._round_size = FIRST
        self._rounds: deque[_Moment] = deque([_Moment(0.0, 0)], maxlen=3)
        self._seconds: deque[float] = deque(maxlen=_LATEST)
        self._shortest: float | None = None
        self._busy = 0.0
        self._busy_since: float | None = None
        self.per_second: float | None = None
        """Replies a busy second, of the last two rounds. None before the first."""

    @property
    def limit(self) -> int:
        """The number of calls that may be in flight."""
        limit = min(self._limit, self.most)
        if self.per_second is not None and self._shortest is not None:
            in_time = self.per_second * (self.time_limit / 2 + self._shortest)
            limit = min(limit, max(FIRST, in_time))
        return max(1, int(limit))

    @property
    def median_seconds(self) -> float | None:
        """The median time of the latest replies, their time in line with it."""
        if not self._seconds:
            return None
        return statistics.median(self._seconds)

    def allow(self, most: int, time_limit: float, *, first: bool) -> None:
        """Let somebody's calls go to the server.

        Args:
            most: The most of them in flight.
            time_limit: Seconds in which the server has to finish something.
            first: True where nobody else asks it now.
        """
        if first:
            self.most = most
            self.time_limit = time_limit
            self._begin_round()
        self.most = max(self.most, most)
        self.time_limit = min(self.time_limit, time_limit)

    def state_slots(self, slots: int) -> None:
        """Note the number of calls that the server says it works on at a time."""
        if slots == self.slots:
            return
        self.slots = slots
        if self._is_proven and not self._was_refused:
            self._limit = float(slots)
            self._begin_round()

    def begin_work(self, now: float) -> None:
        """Note that the server has a call to work on, and had none before."""
        self._busy_since = now

    def end_work(self, now: float) -> None:
        """Note that no call is in flight any more: no time counts until the next."""
        self._busy = self._busy_at(now)
        self._busy_since = None

    def prove(self) -> None:
        """Note a reply that can be read, now or in an earlier run."""
        if self._is_proven:
            return
        self._is_proven = True
        if not self._was_refused:
            self._limit = float(self.slots or _NEXT)
            self._round_size = self.limit

    def finish(self, now: float, seconds: float) -> None:
        """Note a reply that took so many seconds."""
        self._replies += 1
        self._seconds.append(seconds)
        if self._shortest is None or seconds < self._shortest:
            self._shortest = seconds
        replies_in_round = self._replies - self._round_began
        if replies_in_round >= self._round_size:
            self._end_round(now)
        elif self.per_second is None:
            self._measure(_Moment(self._busy_at(now), self._replies))

    def refuse(self) -> None:
        """Note that the server asks for fewer calls."""
        self._limit = max(1.0, self.limit / 2)
        self._was_refused = True
        self._good_rounds = 0
        self._begin_round()

    def start_over(self) -> None:
        """Begin as at first, after a time in which the server finished nothing."""
        self._limit = float(FIRST)
        self._begin_round()

    def _end_round(self, now: float) -> None:
        moment = _Moment(self._busy_at(now), self._replies)
        self._measure(moment)
        self._rounds.append(moment)
        if self._was_refused:
            self._good_rounds += 1
            if self._good_rounds == _GOOD_ROUNDS:
                self._good_rounds = 0
                self._limit += 1
        elif self._is_proven:
            self._limit *= 2
        self._limit = min(self._limit, float(max(self.most, FIRST)))
        self._begin_round()

    def _begin_round(self) -> None:
        self._round_began = self._replies
        self._round_size = self.limit

    def _measure(self, moment: _Moment) -> None:
        """Measure what was finished a second, from the beginning of the last round but one."""
        before = self._rounds[-1]
        if len(self._rounds) > 1:
            before = self._rounds[-2]
        seconds = moment.busy - before.busy
        if seconds > 0:
            self.per_second = (moment.replies - before.replies) / seconds

    def _busy_at(self, now: float) -> float:
        if self._busy_since is None:
            return self._busy
        return self._busy + now - self._busy_since
