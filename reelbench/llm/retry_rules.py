"""The rules of asking again: what follows when a call brings no reply.

A failed call is one of three errors. `NotServedError` ends asking, `RejectedError` gives the one
request up, and after `TransientError` the call is made again. `STATUS_RULES` says which error a
status is, `RETRY_RULES` how a call is made again, and `FailedCalls` how often and after how long.

Only batches have rules of their own: openai's client sends them, and repeats its calls by itself.
"""

import math
import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.pacing import Cause
from reelbench.llm.refusals import Kind

Failure = Literal["slow_down", "server_error", "no_connection", "timeout", "no_whole_reply"]
"""A failure after which the call is made again."""

Consequence = Literal["stop_asking", "give_request_up", "slow_down", "server_error"]
"""What follows a status that is no success."""

STATUS_RULES: dict[int, Consequence] = {
    401: "stop_asking",
    403: "stop_asking",
    404: "stop_asking",
    408: "server_error",
    409: "server_error",
    429: "slow_down",
    503: "slow_down",
    529: "slow_down",  # Anthropic's
}
"""Of other statuses, those from 500 on are server errors. The rest give the one request up."""

STOPPING_CODES = {"insufficient_quota"}
"""Codes in a server's error that end asking, whatever the status."""

_AMBIGUOUS = {404}
"""Of these statuses the server's words decide first: OpenRouter refuses pictures with 404."""

_FIRST_SERVER_ERROR = 500


class RetryRule(NamedTuple):
    """The way in which a call is made again after a failure.

    Attributes:
        is_try: True where it counts among the calls that are made for one reply at most.
        lets_others_first: True where other calls go out while this one waits.
        slows_all: True where fewer calls are in flight from then on, and all of them wait as long
            as the server asks.
        may_be_paid: True where the server may have done the work.
    """

    is_try: bool
    lets_others_first: bool
    slows_all: bool
    may_be_paid: bool


RETRY_RULES: dict[Failure, RetryRule] = {
    # The server works, and asks for fewer calls.
    "slow_down": RetryRule(is_try=False, lets_others_first=True, slows_all=True, may_be_paid=False),
    "server_error": RetryRule(
        is_try=True, lets_others_first=False, slows_all=False, may_be_paid=False
    ),
    "no_connection": RetryRule(
        is_try=True, lets_others_first=False, slows_all=False, may_be_paid=False
    ),
    # At a server in trouble the next call would only fail too.
    "timeout": RetryRule(is_try=True, lets_others_first=True, slows_all=False, may_be_paid=True),
    # Broken off, too long, or no chat completion.
    "no_whole_reply": RetryRule(
        is_try=True, lets_others_first=False, slows_all=False, may_be_paid=True
    ),
}


class NotServedError(Exception):
    """The server will serve none of our requests. The message is one line.

    Attributes:
        is_unknown_model: True for a 404 at an address with a path: the model's name is not there.
    """

    def __init__(self, line: str, *, is_unknown_model: bool = False) -> None:
        super().__init__(line)
        self.is_unknown_model = is_unknown_model


class RejectedError(Exception):
    """The server does not take this one request. The message is one line.

    Attributes:
        words: The server's own words alone.
        refusal: The kind of refusal, where its words are known.
    """

    def __init__(self, line: str, words: str = "", refusal: Kind | None = None) -> None:
        super().__init__(line)
        self.words = words
        self.refusal: Kind | None = refusal


class RefusedParameterError(RejectedError):
    """The server doesn't take parameters that have another form (`llm.parameters`).

    Attributes:
        names: The parameters that its error names.
    """

    def __init__(self, line: str, words: str, names: frozenset[str]) -> None:
        super().__init__(line, words)
        self.names = names


class TransientError(Exception):
    """The call failed and may succeed later. The message is one line.

    Attributes:
        failure: The kind of failure.
        rule: How the call is made again.
        wait: Seconds that the server asks to wait, or None.
        cause: Why there is no reply, for a summary.
    """

    def __init__(self, line: str, failure: Failure, *, wait: float | None = None) -> None:
        super().__init__(line)
        self.failure: Failure = failure
        self.rule = RETRY_RULES[failure]
        self.wait = wait
        self.cause = Cause(line)


def consequence_of_status(status: int, code: object) -> Consequence:
    """Return the consequence of a status that is no success.

    Args:
        status: The status.
        code: The code in the server's error, if any.
    """
    if code in STOPPING_CODES:
        return "stop_asking"
    if status in STATUS_RULES:
        return STATUS_RULES[status]
    if status >= _FIRST_SERVER_ERROR:
        return "server_error"
    return "give_request_up"


def is_decided_by_words(status: int) -> bool:
    """Return True where the known words of a refusal count before the status."""
    return status in _AMBIGUOUS or status not in STATUS_RULES


class FailedCalls:
    """The failed calls for one reply, and whether and when another one is made.

    Attributes:
        tries: How many count as tries.
    """

    def __init__(self, options: AskOptions, began: float) -> None:
        """Begin without any.

        Args:
            options: The limits: `tries`, `backoff` and `patience`.
            began: The loop's time before the first call.
        """
        self._options = options
        self._began = began
        self._number = 0
        self.tries = 0

    def add(self, error: TransientError) -> None:
        """Count a failed call."""
        self._number += 1
        if error.rule.is_try:
            self.tries += 1

    @property
    def are_too_many(self) -> bool:
        """True where no further call is made for this reply."""
        return self.tries >= self._options.tries

    def end_line(self, error: TransientError, last_reply_at: float, now: float) -> str | None:
        """Return the line with which all asking ends, or None where it goes on.

        Args:
            error: The last failure.
            last_reply_at: The loop's time of the server's latest reply to any call.
            now: The loop's time.
        """
        options = self._options
        silence = now - max(self._began, last_reply_at)
        if error.wait is not None and error.wait > options.patience:
            return f"{error}; it asks to wait {error.wait:.0f} s: asking stopped, run again then"
        if error.failure == "slow_down" and silence > options.patience:
            return f"{error}, for {silence:.0f} s: asking stopped, run again later"
        has_other_replies = last_reply_at > self._began
        if self.are_too_many and not has_other_replies:
            # The server is down, not the request bad.
            return f"{error}; {options.tries} tries: asking stopped, run again later"
        return None

    def seconds_to_wait(self, error: TransientError) -> float:
        """Return the seconds to wait before the next call: ours, or the server's if longer."""
        doublings = min(self._number - 1, 6)
        spread = random.uniform(0.5, 1.0)  # noqa: S311
        backoff = self._options.backoff * 2**doublings * spread
        return max(backoff, error.wait or 0.0)


def requested_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, or None.

    It says so as `retry-after-ms`, or as `Retry-After` in seconds or as a date.
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        seconds = _seconds_of(value, unit)
        if seconds is not None and math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _seconds_of(value: str, unit: float) -> float | None:
    """Return the seconds of a number, or until a date. None of any other text."""
    try:
        return float(value) * unit
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
