"""`Asker`: a question to a language model, answered from the cache where it can be and by the model where it must.

What it holds to:

- A reply is kept before it counts, so nothing is paid twice: not in a rerun, by two processes, or
  for equal requests.
- What goes wrong is a reason beside the question; only a cache that can't be written ends the work
  with an error.
- Nothing is sent that nobody asked for: the first question is the probe.
"""

import asyncio
import logging
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Generic, Self

from reelbench.base import settings
from reelbench.base.errors import ReelbenchError, visible
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import (
    BUDGET,
    PENDING,
    REFUSED,
    REJECTED,
    UNAVAILABLE,
    UNPARSABLE,
    Again,
    AskResult,
    CachedReply,
    Outdated,
    Read,
    T,
    unfinished,
)
from reelbench.llm.batches import Batches
from reelbench.llm.budget import Budget, Tally, shown_dates
from reelbench.llm.cache import ReplyCache
from reelbench.llm.client import (
    ChatClient,
    NotServedError,
    RejectedError,
    TransientError,
    last_days,
)
from reelbench.llm.defaults import ATTEMPTS, REJECTIONS
from reelbench.llm.messages import Message, body_of, estimated_tokens, reply_key, request_shape
from reelbench.llm.pacing import StoppedError, Turn
from reelbench.llm.providers import open_client
from reelbench.llm.reading import UnreadableError
from reelbench.llm.reply import Reply
from reelbench.llm.store import Claimed, Limit

_SHORT_REPLY = 64  # tokens
_LONGEST_FACT = 200
_SAYS = ("id", "root", "owned_by", "max_model_len")  # of what a list of models says of one
_FOLLOWED = 8
"""Questions followed at once, for each call in flight: thousands at once would keep the first from going out."""

_SHARED = 8
"""Machines that can share the calls before one begins the same questions as all others, and none of its own."""

_log = logging.getLogger("reelbench.llm")


class RetryCursor(Generic[T]):
    """A question's place among its attempts: those that the cache has are read, the next one is to be asked for.

    Attributes:
        key: Key of the reply that is to be asked for next; None where nothing is.
        messages: What is to be sent for it.
    """

    def __init__(
        self,
        asker: "Asker",
        messages: Sequence[Message],
        read: Read[T],
        *,
        vote: int = 0,
        again: Again | None = None,
        outdated: Outdated | None = None,
    ) -> None:
        """Read what the cache has; nothing is sent or counted.

        Args:
            asker: Who is to ask what the cache does not have.
            messages: The question.
            read: What a reply's text says.
            vote: Number of the reply among several wanted for one question.
            again: Makes the messages of the next attempt; by default the same are sent again.
            outdated: Says of a reply in the cache that it is passed over; by default as the options
                say.
        """
        self._asker = asker
        self._read = read
        self._vote = vote
        self._again = again
        self._outdated = outdated or asker.options.outdated
        self._limit = ATTEMPTS
        self._may_extend = asker.options.retry_unread
        self._attempt = 0
        self._passed = False
        self._shape = asker.shape(messages)
        self._value: T | None = None
        self._error: str | None = None
        self.messages = messages
        self.replies: list[CachedReply] = []
        self.key: bytes | None = None
        self.advance()
        self._may_extend = False  # for what was in the cache alone

    def advance(self) -> None:
        """Read on, as far as the cache goes."""
        self.key = None
        while self._value is None:
            key = reply_key(self._shape, self._vote, self._attempt)
            stored = self._asker.cache.get(key)
            if stored is None:
                if self._attempt >= self._limit and self._may_extend:
                    self._may_extend, self._limit = False, self._attempt + ATTEMPTS
                self.key = key if self._passed or self._attempt < self._limit else None
                self._outdated, self._passed = None, False  # what is asked for now counts
                return
            if self._outdated is not None and self._outdated(stored):
                self._passed = True
                self._attempt += 1
                continue
            reply, text = stored.reply, stored.reply.raw
            if unfinished(reply):
                text = (text or "") if self._asker.as_it_stands else None
            self._error = (
                "the reply is empty or was cut short" if text is None else "it could not be read"
            )
            try:
                self._value = None if text is None else self._read(text)
            except UnreadableError as error:
                self._error = str(error)
            if self._value is not None:
                self._error = None
            self.replies.append(CachedReply(key, self._attempt, reply, self._value, stored.at))
            self._attempt += 1
            if self._value is None and self._again is not None:
                self.messages = self._again(self.messages, reply.raw, self._error or "")
                self._shape = self._asker.shape(self.messages)

    def result(self, reason: str | None = None) -> AskResult[T]:
        """Return the question's result so far; `reason` says why it ended before its last attempt."""
        if self._value is None and reason is None:
            reason = UNPARSABLE
        return AskResult(self._value, reason, self.replies, self._error)


class Asker:
    """Asks one language model. A `RetryCursor` may be made in any thread; `ask` belongs to one event loop.

    aiohttp is imported by the first reply that is not in the cache.
    """

    def __init__(
        self,
        options: AskOptions,
        sampling: Mapping[str, Any] | None = None,
        *,
        on_note: Callable[[str], None] | None = None,
        budget: Budget | None = None,
        as_it_stands: bool = False,
        notes_end: bool = False,
        tells: bool = False,
    ) -> None:
        """Set up, without sending anything.

        Args:
            options: The model and how to ask it.
            sampling: Sent with each call beside model and messages (`temperature`, …); part of the
                key.
            on_note: Called with each line that the user should know, perhaps from another thread;
                by default logged.
            budget: Shared with other askers; by default the options' own.
            as_it_stands: Read a reply that was cut short too (see `ask_result`); what has no text
                at all, or none that is text, is a failed reply all the same.
            notes_end: After the first reply that is paid for, note the day on which the server says
                that it ends the model, if any, and keep it in the cache.
            tells: At the end tell the user how many replies were asked for and how many were kept,
                and from when.
        """
        self.options = options
        self.sampling = options.sampling(sampling or {})
        self.as_it_stands = as_it_stands
        self.notes: list[str] = []
        self.giver: str | None = None
        """Who gives the replies, kept beside each; None says nothing."""
        self.tally = Tally(spent_usd=options.cost_usd(0, 0))
        self.lock = threading.Lock()
        self._say: Callable[[str], object] = on_note or partial(_log.warning, "%s")
        self.cache = ReplyCache.shared(options, self.note)
        self.ahead = _SHARED if self.cache.is_shared else 1
        """How many times more questions are begun where several machines share them: most wait for the others."""
        self._budget = budget or Budget(options.budget_calls, options.budget_usd)
        # What follows lives in the event loop alone.
        self._pacer = self.cache.join(options)
        self._followed = asyncio.Semaphore(max(_FOLLOWED, 2 * self.ahead) * options.concurrency)
        self._client: ChatClient | None = None
        self._tasks: dict[bytes, asyncio.Task[str | None]] = {}
        self._asking_for_end: asyncio.Task[None] | None = None
        self._notes_end = notes_end
        self._tells = tells and on_note is not None
        self._entered = 0
        self._left = self._closed = False
        self._batches: Batches | None = (
            None  # within `async with`; whoever asks otherwise has their own
        )
        self._for_batch: dict[bytes, Sequence[Message]] = {}
        self._collecting = asyncio.Lock()
        self._collected = False
        self._last_good = 0.0
        self._rejected = 0
        self._who_said = False

    @property
    def in_flight(self) -> int:
        """How many replies are being fetched."""
        return len(self._tasks)

    # --- the outside
    # -------------------------------------------------------------------------------------------------

    def cached_replies(self, messages: Sequence[Message], *, vote: int = 0) -> list[Reply]:
        """Return the replies that the cache has to a question that is sent the same at each attempt, in order."""
        shape, replies = self.shape(messages), list[Reply]()
        while (stored := self.cache.get(reply_key(shape, vote, len(replies)))) is not None:
            replies.append(stored.reply)
        return replies

    async def ask(
        self,
        messages: Sequence[Message],
        read: Read[T],
        *,
        vote: int = 0,
        again: Again | None = None,
        outdated: Outdated | None = None,
    ) -> AskResult[T]:
        """Ask until a reply reads, at most `ATTEMPTS` times in all; the arguments are a `RetryCursor`'s.

        ReelbenchError where the cache can't be written; what it holds is kept.
        """
        async with self._followed:
            cursor = await self.cache.aside(
                RetryCursor[T], self, messages, read, vote=vote, again=again, outdated=outdated
            )
            return await self.finish(cursor)

    async def finish(self, cursor: RetryCursor[T]) -> AskResult[T]:
        """Ask what the cache does not have of a question, as `ask` does, and count the replies behind the answer."""
        reason = None
        while reason is None and (key := cursor.key) is not None:
            if self.options.batch and self._batches is not None:
                self._for_batch[key] = (
                    cursor.messages
                )  # handed over when the work ends here, all in one
                reason = PENDING
                break
            if (task := self.cache.in_flight.get(key)) is None:  # equal requests are asked once
                task = self.cache.in_flight[key] = asyncio.ensure_future(
                    self._fetch(key, cursor.messages)
                )
                self._tasks[key] = task
                task.add_done_callback(lambda ended, key=key: self._forget(key, ended))
            try:
                reason = await asyncio.shield(task)
            except asyncio.CancelledError:
                if not task.cancelled() or self._closed:
                    raise
                reason = UNAVAILABLE  # who asked for it first has ended
            if reason is None:
                await self.cache.look(key)
                await self.cache.aside(cursor.advance)
        return self.count_result(cursor, reason)

    def _forget(self, key: bytes, ended: "asyncio.Task[str | None]") -> None:
        del self.cache.in_flight[key], self._tasks[key]
        if not ended.cancelled():
            ended.exception()  # looked at: where the work has ended by another error, nobody waits for this one

    def count_result(self, cursor: RetryCursor[T], reason: str | None = None) -> AskResult[T]:
        """Return a question's result, its replies added to the tally."""
        tally, host, result = self.tally, self.options.host, cursor.result(reason)
        with self.lock:
            tally.questions += 1
            tally.unread += result.reason == UNPARSABLE
            tally.failed += result.reason not in {None, PENDING}
            for cached in cursor.replies:
                tally.add(cached.reply, cached.at)
                if cached.reply.host != host:
                    tally.other_hosts[cached.reply.host] += 1
        return result

    def note(self, line: str) -> None:
        """Tell the user one line, without the key."""
        line = self.options.redact(line)
        self.notes.append(line)
        self._say(line)

    async def shut(self) -> None:
        """Stop asking, in the event loop: what is in flight is given up, connections are closed."""
        if self._asking_for_end is not None:
            await self._asking_for_end
        self._leave()
        for task in (tasks := list(self._tasks.values())):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            await self.cache.end_asking()
            await self._client.close()
            self._client = None

    def close(self) -> None:
        """Close the cache, after `shut` where anything was asked; may be called twice."""
        if self._closed:
            return
        self._leave()
        self._closed = True
        self.cache.close(self.note)
        if self._tells and self.tally.replies:
            taken = self.tally.record_fields()
            dates = shown_dates(taken["kept_from"], taken["kept_to"])
            self._say(
                f"{self.options.model}: {taken['calls']} asked, {taken['cached']} kept{dates}"
            )
        for host, replies in self.tally.other_hosts.items():
            self.note(
                f"{replies} replies of {self.options.model} in the cache are from {host}, not {self.options.host};"
                " where these serve different models under one name, give each its own REELBENCH_HOME"
            )
        self.tally.other_hosts.clear()

    def _leave(self) -> None:
        if not self._left:
            self._left = True
            if self.cache.leave(self.options):
                self._pacer.stop(StoppedError(UNAVAILABLE, ""))

    async def __aenter__(self) -> Self:
        self._entered += 1
        if self._entered > 1:
            return self
        self._batches = Batches(self.options, self.cache.store, self.note, self._tell)
        try:
            if self.options.batch:
                await self._collect_batches()
        except BaseException:
            self._entered -= 1
            self._batches.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered -= 1
        if self._entered:
            return
        await self.shut()
        try:
            if (
                self._batches is not None
                and self._for_batch
                and (kind is None or issubclass(kind, ReelbenchError))
            ):
                await asyncio.to_thread(self._batches.submit, self._for_batch, self.sampling)
        finally:
            if self._batches is not None:
                self._batches.close()
            self.close()

    async def _collect_batches(self) -> None:
        """Keep what this model's batches have answered, once; nothing is sent where none is under way."""
        async with self._collecting:
            whose = self.options.model, self.options.host
            if (
                not self._collected
                and self._batches is not None
                and self.cache.store.batched_keys(*whose)
            ):
                await asyncio.to_thread(self._batches.collect)
            self._collected = True

    def shape(self, messages: Sequence[Message]) -> bytes:
        """Return the digest of a request, of which vote and attempt make a reply's key."""
        return request_shape(self.options.model, messages, self.sampling)

    async def served_model(self) -> dict[str, Any] | None:
        """Return the server's facts of the model: id, root, owned_by, max_model_len; None where it states none.

        TransientError or NotServedError where it can't be asked.
        """
        client = self._client or open_client(self.options)
        try:
            listed = await client.models()
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None
        finally:
            if client is not self._client:
                await client.close()
        one = [model for model in listed if model.get("id") == self.options.model]
        # What a server makes anew at each request (created, permission) says nothing of the
        # weights.
        if len(one) != 1:
            return None
        stated = ((name, one[0].get(name)) for name in _SAYS)
        return {
            name: self.options.redact(visible(value))[:_LONGEST_FACT]
            if isinstance(value, str)
            else value
            for name, value in stated
            if isinstance(value, str) or (type(value) is int and abs(value) < 2**53)
        }

    async def ask_again(self, messages: Sequence[Message]) -> Reply | None:
        """Ask a question whose reply is kept once more, which is not kept; None where nothing comes of it."""
        estimate = self.options.cost_usd(estimated_tokens(messages), _SHORT_REPLY)
        async with (
            Turn(self._pacer),
            self._budget.call(estimate or 0.0, self.cache, self.options.option) as call,
        ):
            if call is None:
                return None
            call.cost, call.counts = estimate, True
            try:
                self._tell()
                return await self._ready().ask(messages, self.sampling)
            except (NotServedError, RejectedError, TransientError) as error:
                self.note(str(error))
                return None

    # --- in the event loop
    # -------------------------------------------------------------------------------------------

    async def _fetch(self, key: bytes, messages: Sequence[Message]) -> str | None:
        """Get a reply into the cache -> None, or the reason why there is none."""
        claimed = False
        # Pictures take a while; but where machines share the questions most wait for what another
        # one asks.
        ahead = any(
            not isinstance(one["content"], str) and len(one["content"]) > 1 for one in messages
        )
        ahead = ahead and type(self._client) is ChatClient and not self.cache.is_shared
        make = partial(body_of, self.options.model, messages, self.sampling) if ahead else None
        try:
            async with Turn(self._pacer, make) as turn:
                self._ready()
                state = await self._claim(key, turn)
                if not (claimed := state == "mine"):
                    return PENDING if state == "batched" else None
                await turn.come_back()
                began, failures, tries = asyncio.get_running_loop().time(), 0, 0
                while True:
                    try:
                        await self._call(key, messages, await turn.result())
                    except TransientError as error:
                        failures, tries = failures + 1, tries + (not error.limited)
                        self._stop_if_hopeless(began, error, tries)
                        if tries >= self.options.tries:
                            return UNAVAILABLE
                        wait = (
                            self.options.backoff
                            * 2 ** min(failures - 1, 6)
                            * random.uniform(0.5, 1.0)
                        )  # noqa: S311
                        wait = max(wait, error.wait or 0.0)
                        if error.limited:
                            self._pacer.note_limit(turn.round, error.wait)
                            turn.leave()  # to others, meanwhile; at a server in trouble these would only fail too
                        else:
                            self._pacer.note_answer()
                        await self._pacer.unless_stopped(asyncio.sleep(wait))
                        await turn.come_back()
                    else:
                        claimed = False  # given up with the reply
                        return None
        # Nothing is awaited between the end of the turn and what follows, so nobody is let in
        # before asking stops.
        except RejectedError as error:
            return self._rejection(error)
        except StoppedError as stopped:
            return stopped.reason
        except ReelbenchError:
            # The cache can't be written: a reply more would be lost, so nothing more is asked.
            self._stop(UNAVAILABLE, None)
            raise
        finally:
            if claimed:
                await self.cache.aside(self.cache.store.release, key)

    def _rejection(self, error: RejectedError) -> str:
        """Return the reason for a request that the server doesn't take; where it takes none, asking stops."""
        self._pacer.note_answer()
        self._rejected += 1
        if self._rejected == 1:
            self.note(str(error))
        if self._rejected < REJECTIONS or self._last_good:
            return REJECTED
        return self._stop(
            REFUSED, f"{error}; {self._rejected} requests were rejected the same way; stopped"
        ).reason

    async def _claim(self, key: bytes, turn: Turn) -> Claimed:
        """Claim a key, once no other process asks for it -> whose it is: ours, nobody's (it is here), or a batch's."""
        while True:
            state = await self.cache.claims.do(key)
            if state == "batched" and not self._collected and self._batches is not None:
                await self._collect_batches()
            elif state == "theirs":
                turn.leave()  # and claim without one from here on: most have the reply by then
                await self._pacer.unless_stopped(self.cache.wait_for_release(key))
            else:
                return state

    def _ready(self) -> ChatClient:
        # Before the first claim: importing aiohttp takes a while on a busy machine, and a claim
        # would lapse meanwhile.
        if self._client is None:
            try:
                self._client = open_client(self.options)
            except NotServedError as error:
                raise self._stop(REFUSED, str(error)) from None
            self.cache.begin_asking()
            budget = self._budget
            if (
                budget.limit != Limit(None, None)
                and budget.job is None
                and self.cache.is_shared
                and not budget.noted
            ):
                budget.noted = True
                self.note(
                    f"the budget of {budget.in_words} is this process's alone; {settings.JOB.name}, set to one name "
                    "for several, counts theirs together"
                )
        return self._client

    def _tell(self) -> None:
        """Say once who is asked with whose key, before the first request: no trouble, so not one of the notes."""
        options = self.options
        if options.local or self._who_said:
            return
        self._who_said = True
        key = (
            f"the key of {options.key_from}"
            if options.key_from
            else "a key"
            if options.api_key
            else "no key"
        )
        line = options.redact(
            f"{options.who} {options.model} is asked at {options.host}, with {key}"
        )
        if line not in self.cache.told:
            self.cache.told.add(line)
            self._say(line)

    async def _call(self, key: bytes, messages: Sequence[Message], body: bytes | None) -> None:
        """Make one call and keep its reply."""
        options, tokens, client = self.options, estimated_tokens(messages), self._ready()
        estimate = options.cost_usd(tokens, _SHORT_REPLY) or 0.0
        async with self._budget.call(estimate, self.cache, options.option) as call:
            if call is None:
                line = f"the budget of {self._budget.in_words} for {options.who} is used up; run again to go on"
                raise self._stop(BUDGET, line)
            self.tally.requests += 1
            try:
                self._tell()
                reply = await (
                    client.ask(messages, self.sampling)
                    if body is None
                    else client.send(lambda: body)
                )
            except NotServedError as error:
                raise self._stop(
                    REFUSED, f"{error}; asking stopped, what was answered is kept"
                ) from None
            except TransientError as error:
                call.counts = error.maybe_paid  # to be on the safe side
                raise
            await self.cache.put(key, options.model, reply, self.giver)
            # Where the server does not count, or not so that it can be, what was estimated is
            # booked.
            prompt = reply.prompt_tokens or tokens
            completion = reply.completion_tokens or max(
                _SHORT_REPLY, estimated_tokens([{"content": reply.raw or ""}])
            )
            call.counts = True
            call.cost = options.cost_usd(
                prompt, completion, reply.cached_tokens or 0, reply.reasoning_tokens or 0
            )
        if self._notes_end and self._asking_for_end is None:
            self._asking_for_end = asyncio.ensure_future(self._note_end(client, reply.returned))
        self._pacer.good()
        self._last_good = asyncio.get_running_loop().time()
        with self.lock:
            self.tally.calls += 1
            if call.cost is not None:
                self.tally.spent_usd = (self.tally.spent_usd or 0.0) + call.cost

    def _stop_if_hopeless(self, began: float, error: TransientError, tries: int) -> None:
        """End asking, by StoppedError, where trying again is of no use to anybody."""
        options, line = self.options, None
        idle = asyncio.get_running_loop().time() - max(began, self._last_good)
        if error.wait is not None and error.wait > options.patience:
            line = f"{error}; it asks to wait {error.wait:.0f} s: asking stopped, run again then"
        elif error.limited and idle > options.patience:
            line = f"{error}; so for {idle:.0f} s: asking stopped, run again later"
        elif tries >= options.tries and self._last_good <= began:
            # Nobody else got a reply either: the server is down, not the request bad.
            line = f"{error}; {options.tries} tries: asking stopped, run again later"
        if line is not None:
            raise self._stop(UNAVAILABLE, line)

    def _stop(self, reason: str, line: str | None) -> StoppedError:
        stopped = StoppedError(reason, line or "")
        if self._pacer.stopped is None:
            self._pacer.stop(stopped)
            if line:
                self.note(line)
        return stopped

    async def _note_end(self, client: ChatClient, returned: str | None) -> None:
        options = self.options
        try:
            days = last_days(await client.models())
            day = days.get(options.model) or days.get(returned or "")
            await self.cache.aside(self.cache.store.put_last_day, options.model, options.host, day)
        except Exception as error:  # noqa: BLE001 - nothing depends on it
            _log.debug(
                "the models of %s are not known: %s", options.host, options.redact(repr(error))
            )
            return
        if day is not None:
            self.note(
                f"{options.who} {options.model} shuts down on {day}, says {options.host}; then name another"
            )
