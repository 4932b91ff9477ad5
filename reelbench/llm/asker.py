"""`Asker`: asks a language model, from the cache where it can be.

Its rules are:

- A reply is kept before it counts, so nothing is paid twice: not in a rerun, by two processes, or
  for equal requests.
- A failure is a reason beside the question. Only a cache that can't be written ends the work with
  an error.
- Nothing is sent that nobody asked for.
"""

import asyncio
import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from types import TracebackType
from typing import Any, Generic, Self

from reelbench.base import settings
from reelbench.base.errors import ReelbenchError, number_of, visible
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import (
    BUDGET,
    EMPTY_OR_CUT,
    NOT_READ,
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
    Request,
    T,
    reply_failure_kind,
    text_of,
)
from reelbench.llm.batches import Batches
from reelbench.llm.budget import Budget, Tally, shown_dates
from reelbench.llm.cache import ReplyCache
from reelbench.llm.client import ChatClient, last_days
from reelbench.llm.defaults import ATTEMPTS, REJECTIONS
from reelbench.llm.endings import NO_TOKENS, advice_on, ending_of
from reelbench.llm.hopeless import ReplyOutcomes
from reelbench.llm.messages import (
    Message,
    body_of,
    estimated_tokens,
    number_of_pictures,
    reply_key,
    request_shape,
)
from reelbench.llm.open_client import open_client
from reelbench.llm.pacing import CallSlot, CallTimeout, Cause, ModelSlots, StoppedError
from reelbench.llm.parameters import Parameters
from reelbench.llm.reading import UnreadableError
from reelbench.llm.refusals import advice_on_refusal
from reelbench.llm.reply import Reply
from reelbench.llm.reply_bound import giver_of_cut, may_refuse_bound
from reelbench.llm.retry_rules import (
    FailedCalls,
    NotServedError,
    RefusedParameterError,
    RejectedError,
    TransientError,
)
from reelbench.llm.server_pages import ServerStatement, statement_of, takes_pictures
from reelbench.llm.store import Claimed, Limit, StoredReply
from reelbench.llm.structured import FIELD, FORMS_WITH_SCHEMA, Schema, with_schema

_SHORT_REPLY = 64  # tokens
_LONGEST_FACT = 200
_NAMES_SHOWN = 8  # of a server's models
_MODEL_FACTS = ("id", "root", "owned_by", "max_model_len")  # of a model in a server's list
_FOLLOWED = 8
"""Questions followed at once, for each call in flight.

Thousands at once would keep the first from going out.
"""

_SHARED = 8
"""Machines that can share the calls.

With more of them, one would begin only questions that all others have begun too.
"""

_log = logging.getLogger("reelbench.llm")


class RetryCursor(Generic[T]):
    """A question's place among its attempts.

    Attempts in the cache are read. The next one is to be asked for.

    Attributes:
        key: Key of the reply that is to be asked for next. None where nothing is.
        request: The request to send for it.
        read: Reads a reply's text.
        replies: The replies that were read.
    """

    def __init__(
        self,
        asker: "Asker",
        messages: Sequence[Message],
        read: Read[T],
        *,
        vote: int = 0,
        again: Again | None = None,
        schema: Schema | None = None,
        outdated: Outdated | None = None,
        attempts: int = ATTEMPTS,
    ) -> None:
        """Read what the cache has. Nothing is sent or counted.

        Args:
            asker: Asks for the replies that the cache does not have.
            messages: The question.
            read: Reads a reply's text.
            vote: Number of the reply among several to one question.
            again: Makes the messages of the next attempt; by default the same are sent again.
            schema: Goes with each attempt but the first.
            outdated: Returns True for a reply in the cache that is passed over; by default as the
                options say.
            attempts: Replies that are asked for at most, until one can be read.
        """
        self._asker = asker
        self.read = read
        self._vote_number = vote
        self._make_retry_messages = again
        self._schema = schema
        if FIELD in asker.sampling or asker.options.local:
            self._schema = None
        self._outdated = outdated or asker.options.outdated
        self._most_attempts = attempts
        self._may_extend = asker.options.retry_unread
        self._attempt = 0
        self._has_skipped_outdated = False
        self._is_from_cache = True
        self._cut_off_replies = 0
        self._first_request = asker.request(messages)
        self._candidate_requests = [self._first_request]
        self._value: T | None = None
        self._error: str | None = None
        self.request = self._first_request
        self.replies: list[CachedReply] = []
        self.key: bytes | None = None
        self.advance()
        # For what was in the cache alone.
        self._may_extend = False
        self._is_from_cache = False

    def advance(self) -> None:
        """Read on, as far as the cache goes."""
        self.key = None
        while self._value is None:
            stored = self._next_cached_reply()
            if stored is None:
                self._decide_next_call()
                return
            self._attempt += 1
            if self._outdated is not None and self._outdated(stored):
                self._has_skipped_outdated = True
                continue
            self._read_reply(stored)

    def _next_cached_reply(self) -> StoredReply | None:
        """Return the kept reply to the first of the requests that has one."""
        for request in self._candidate_requests:
            self.request = request
            stored = self._asker.cache.get(self._key)
            if stored is not None:
                return stored
        self.request = self._candidate_requests[0]
        return None

    @property
    def _key(self) -> bytes:
        """The key of the reply to the request."""
        return reply_key(self.request.shape, self._vote_number, self._attempt)

    def _decide_next_call(self) -> None:
        """Decide whether a reply that the cache does not have is to be asked for."""
        if self._attempt >= self._most_attempts and self._may_extend:
            self._may_extend = False
            self._most_attempts = self._attempt + ATTEMPTS
        if self._has_skipped_outdated or self._attempt < self._most_attempts:
            self.key = self._key
        # A reply that is asked for now counts.
        self._outdated = None
        self._has_skipped_outdated = False

    def _read_reply(self, stored: StoredReply) -> None:
        """Read the last attempt's reply, and prepare the next where it fails."""
        reply = stored.reply
        self._asker.note_reasoning(reply)
        self._error = self._parse(reply)
        by_schema = self.request.has_schema and self._asker.takes_schema
        attempt = self._attempt - 1
        self.replies.append(
            CachedReply(stored.key, attempt, reply, self._value, stored.at, by_schema)
        )
        if self._error is None:
            return
        self._candidate_requests = self._next_requests(reply, self._error)
        if self._asker.has_outgrown(stored, self.request.messages):
            # A lower limit cut it off: the same request is worth one more attempt.
            self._most_attempts += 1
            self._candidate_requests.insert(0, self._first_request)
        else:
            self._limit_cut_off_attempts(reply)

    def _parse(self, reply: Reply) -> str | None:
        """Read the value from a reply's text. Return the error where it can't be read."""
        text = text_of(reply)
        if reply_failure_kind(reply):
            text = (text or "") if self._asker.accepts_cut_off else None
        if text is None:
            if self._is_from_cache and self._asker.accepts_cut_off and reply.raw is not None:
                # It was kept as an answer, and a kept answer is never paid for again.
                self._most_attempts = self._attempt
            return EMPTY_OR_CUT
        try:
            self._value = self.read(text)
        except UnreadableError as error:
            return str(error)
        return NOT_READ if self._value is None else None

    def _next_requests(self, reply: Reply, error: str) -> list[Request]:
        """Return the requests of the next attempt.

        The first is the one to send. The others are those of other releases, whose replies may be
        kept: without the schema, or in the same words.
        """
        if self._make_retry_messages is None:
            return [self._first_request]
        messages = self._make_retry_messages(self.request.messages, reply.raw, error)
        requests: list[Request] = []
        if self._schema is not None:
            requests.append(self._asker.request(messages, self._schema))
        requests.append(self._asker.request(messages))
        requests.append(self._first_request)
        return requests

    def _limit_cut_off_attempts(self, reply: Reply) -> None:
        """Make this the last attempt once the limit on replies has cut two off."""
        if self._asker.bound is None or reply_failure_kind(reply) != "cut_off":
            return
        self._cut_off_replies += 1
        if self._cut_off_replies > 1:
            self._most_attempts = self._attempt

    def result(self, reason: str | None = None) -> AskResult[T]:
        """Return the question's result so far.

        Args:
            reason: The reason for which it ended before its last attempt.
        """
        if self._value is None and reason is None:
            reason = UNPARSABLE
        return AskResult(self._value, reason, self.replies, self._error)


@dataclass(frozen=True, slots=True)
class _KeyedRequest:
    """A request for one reply.

    Attributes:
        key: The reply's key.
        request: What is asked.
        read: Reads the reply's text.
        made_sampling: The settings in a body that is made ahead.
    """

    key: bytes
    request: Request
    read: Read[Any]
    made_sampling: Mapping[str, Any]


class Asker:
    """Asks one language model.

    A `RetryCursor` may be made in any thread. `ask` belongs to one event loop. aiohttp is imported
    by the first reply that is not in the cache.
    """

    def __init__(
        self,
        options: AskOptions,
        sampling: Mapping[str, Any] | None = None,
        *,
        on_note: Callable[[str], None] | None = None,
        budget: Budget | None = None,
        accepts_cut_off: bool = False,
        notes_shutdown: bool = False,
        reports_totals: bool = False,
        ends_run: bool = True,
    ) -> None:
        """Set up, without sending anything.

        Args:
            options: The model and how to ask it.
            sampling: Sent with each call beside model and messages (`temperature`, …). Part of the
                key.
            on_note: Called with each line that the user should know, perhaps from another thread;
                by default logged.
            budget: Shared with other askers; by default the options' own.
            accepts_cut_off: Read a reply that was cut short too (see `ask_result`). A reply without
                text is a failed one all the same.
            notes_shutdown: After the first reply that is paid for, note the day on which the server
                says that it ends the model, if any, and keep it in the cache.
            reports_totals: At the end tell the user the number of new replies, and of kept ones and
                their dates.
            ends_run: Where a server serves us not, stop all askers of it. Without this, the
                question alone is given up (`cause_of_giving_up`).
        """
        self.options = options
        self.sampling = options.sampling(sampling or {})
        self._parameters = Parameters(options.host, options.model, options.extra)
        self.bound = options.reply_bound(self.sampling)
        """The bound on replies, which is no part of their keys. None for none."""
        self.accepts_cut_off = accepts_cut_off
        self.notes: list[str] = []
        self.takes_text_alone = False
        """True where the server says so of this model (see `served_model`)."""
        self.statement = ServerStatement()
        """The server's statement of itself (see `served_model`)."""
        self.giver: str | None = None
        """The giver of the replies, kept beside each. None says nothing."""
        self.tally = Tally(spent_usd=options.cost_usd(0, 0), filed_id=options.filed_id)
        self._unknown_endings: Counter[str] = Counter()
        self._textless: Counter[str] = Counter()
        self.lock = threading.Lock()
        self._emit: Callable[[str], object] = on_note or partial(_log.warning, "%s")
        self.cache = ReplyCache.shared(options, self.note)
        self.ahead = _SHARED if self.cache.is_shared else 1
        """How many times more questions are begun where several machines share them.

        Most of these wait for other machines.
        """
        self.budget = budget or Budget(options.budget_calls, options.budget_usd)
        # All that follows lives in the event loop alone.
        self.pacer = self.cache.acquire_pacer(options)
        """Lets calls to the server pass, of all askers of this process."""
        self._places = ModelSlots(options.most_in_flight)
        self._outcomes = ReplyOutcomes()
        self._ended: StoppedError | None = None
        self._has_answered_before = False
        self._answers_key = json.dumps(["answers", options.host, options.model])
        self._questions_at_once = asyncio.Semaphore(
            max(_FOLLOWED, 2 * self.ahead) * options.most_in_flight
        )
        self._client: ChatClient | None = None
        self._tasks: dict[bytes, asyncio.Task[str | None]] = {}
        self._causes: dict[bytes, Cause] = {}
        self._ends_run = ends_run
        self.cause_of_giving_up: Cause | None = None
        """Why a question was given up, of an asker that doesn't end a run."""
        self._shutdown_task: asyncio.Task[None] | None = None
        self._statement_task: asyncio.Task[None] | None = None
        self._notes_shutdown = notes_shutdown
        self._reports_totals = reports_totals and on_note is not None
        self._entry_count = 0
        self._has_left_server = False
        self._closed = False
        # Within `async with`; callers that ask otherwise have batches of their own.
        self._batches: Batches | None = None
        self._requests_for_batch: dict[bytes, Request] = {}
        self._collecting = asyncio.Lock()
        self._collected = False
        self._rejections = 0
        self._is_server_named = False

    @property
    def sent_sampling(self) -> dict[str, Any]:
        """The settings that go out with each call, as far as the server is known."""
        return self._parameters.sent(self.sampling)

    @property
    def sent_instead(self) -> dict[str, str | None]:
        """Setting that the server refuses -> the one that goes out. None for nothing."""
        return self._parameters.instead(self.sampling)

    @property
    def cost_usd(self) -> float | None:
        """The cost of the replies behind the answers, kept ones too. None without prices."""
        tally = self.tally
        return self.options.cost_usd(
            tally.prompt_tokens,
            tally.completion_tokens,
            tally.cached_tokens or 0,
            tally.reasoning_tokens or 0,
        )

    @property
    def takes_schema(self) -> bool:
        """False where the server takes no schema of a reply, as far as is known."""
        return self._parameters.schema_form in FORMS_WITH_SCHEMA

    @property
    def in_flight(self) -> int:
        """The number of replies that are being fetched."""
        return len(self._tasks)

    @property
    def has_room(self) -> bool:
        """True where another call could be in flight."""
        return self.pacer.has_room

    @property
    def end_line(self) -> str | None:
        """Why asking was ended as of no use (`end`), or None."""
        if self._ended is None:
            return None
        return str(self._ended)

    # --- for callers

    def cached_replies(self, messages: Sequence[Message], *, vote: int = 0) -> list[Reply]:
        """Return the replies that the cache has to a question, in order.

        The question is one that is sent the same at each attempt.
        """
        shape = self.shape(messages)
        replies: list[Reply] = []
        while True:
            stored = self.cache.get(reply_key(shape, vote, len(replies)))
            if stored is None:
                return replies
            replies.append(stored.reply)

    async def ask(
        self,
        messages: Sequence[Message],
        read: Read[T],
        *,
        vote: int = 0,
        again: Again | None = None,
        schema: Schema | None = None,
        outdated: Outdated | None = None,
    ) -> AskResult[T]:
        """Ask until a reply can be read, at most `ATTEMPTS` times in all.

        The arguments are a `RetryCursor`'s.

        Raises:
            ReelbenchError: The cache can't be written. The replies in it are kept.
        """
        async with self._questions_at_once:
            cursor = await self.cache.run_off_loop(
                RetryCursor[T],
                self,
                messages,
                read,
                vote=vote,
                again=again,
                schema=schema,
                outdated=outdated,
            )
            return await self.finish(cursor)

    async def finish(self, cursor: RetryCursor[T]) -> AskResult[T]:
        """Ask for the missing replies to a question, as `ask` does.

        The replies behind the answer are counted.
        """
        reason = None
        while reason is None and cursor.key is not None:
            key = cursor.key
            if self.options.batch and self._batches is not None:
                # Handed over when the work ends here, all in one.
                self._requests_for_batch[key] = cursor.request
                reason = PENDING
                break
            task = self._reply_task(key, cursor)
            try:
                reason = await asyncio.shield(task)
            except asyncio.CancelledError:
                if not task.cancelled() or self._closed:
                    raise
                reason = UNAVAILABLE  # the asker that asked for it first has ended
            if reason is None:
                await self.cache.read_ahead(key)
                await self.cache.run_off_loop(cursor.advance)
        return self.count_result(cursor, reason)

    def _reply_task(self, key: bytes, cursor: RetryCursor[T]) -> "asyncio.Task[str | None]":
        """Return the task that fetches a cursor's next reply. Equal requests share one."""
        task = self.cache.in_flight.get(key)
        if task is None:
            task = asyncio.ensure_future(self._fetch_reply(key, cursor.request, cursor.read))
            self.cache.in_flight[key] = task
            self._tasks[key] = task
            task.add_done_callback(partial(self._forget_task, key))
        return task

    def _forget_task(self, key: bytes, ended: "asyncio.Task[str | None]") -> None:
        del self.cache.in_flight[key], self._tasks[key]
        if not ended.cancelled():
            # Looked at: where the work has ended by another error, nobody waits for this one.
            ended.exception()

    def _note_first_replies(self, reply: Reply, read: Read[Any]) -> None:
        """Note the outcome of a reply before the first answer.

        Whether one that is read as it stands is an answer, its caller knows.
        """
        text = text_of(reply)
        failure: str | None = reply_failure_kind(reply)
        if failure is None and text is None:
            failure = "without text"
        if self.accepts_cut_off:
            if text is None:
                self.note_outcome(failure)
            return
        if failure is None and text is not None:
            try:
                value = read(text)
            except UnreadableError:
                value = None
            if value is None:
                failure = "unreadable"
        self.note_outcome(failure, text)

    def note_outcome(
        self, failure: str | None, text: str | None = None, finding: str | None = None
    ) -> None:
        """Note the outcome of a new reply, in the event loop.

        Where so many fail and none is an answer, asking ends, with one line.

        Args:
            failure: Why it is no answer, as a word in a list. None where it is one.
            text: The reply.
            finding: What shows the failure, in words.
        """
        if failure is None:
            if not self._outcomes.has_answer:
                self._outcomes.has_answer = True
                self._let_more_calls_go()
            return
        self._outcomes.note_failure(failure, text, finding)
        options = self.options
        if self._ended is not None or options.keep_going or not self._outcomes.is_hopeless:
            return
        who = f"{options.who} {options.model} at {options.host}"
        self.end(self._outcomes.line(who, options.advice))

    def end(self, line: str) -> None:
        """End asking, which is of no use, for the reason that a line gives.

        Who asks for texts as they stand says the line.
        """
        line = self.options.redact(line)
        self._ended = StoppedError(UNAVAILABLE, line)
        self.notes.append(line)
        if not self.accepts_cut_off:
            self._emit(line)

    def _let_more_calls_go(self) -> None:
        """Let in more calls than the first few: the model gives answers."""
        self._places.open()
        self.pacer.prove()

    def count_result(self, cursor: RetryCursor[T], reason: str | None = None) -> AskResult[T]:
        """Return a question's result, its replies added to the tally."""
        tally = self.tally
        host = self.options.host
        result = cursor.result(reason)
        if reason == UNAVAILABLE and cursor.key is not None:
            result = replace(result, cause=self._causes.get(cursor.key))
        with self.lock:
            tally.questions += 1
            tally.unread += result.reason == UNPARSABLE
            tally.failed += result.reason not in {None, PENDING}
            for cached in cursor.replies:
                tally.add(cached.reply, cached.at)
                if cached.reply.host != host:
                    tally.other_hosts[cached.reply.host] += 1
            if result.replies:
                self._count_ending(result.replies[-1].reply)
        return result

    def take_back(self, result: AskResult[Any]) -> None:
        """Count a question's kept replies no more: it is asked again."""
        tally = self.tally
        with self.lock:
            tally.questions -= 1
            for cached in result.replies:
                tally.take_back(cached.reply, cached.at)
                if cached.reply.host != self.options.host:
                    tally.other_hosts[cached.reply.host] -= 1
            tally.other_hosts = +tally.other_hosts

    def _count_ending(self, reply: Reply) -> None:
        """Count an ending that the user should know of."""
        ending = ending_of(reply.finish)
        if ending.group == "unknown":
            self._unknown_endings[ending.name] += 1
        if ending.group == "cut_off" or text_of(reply) is not None:
            return
        if ending.instead is not None:
            self._textless[ending.instead] += 1
        elif not reply.completion_tokens and (reply.raw is not None or reply.prompt_tokens):
            self._textless[NO_TOKENS] += 1

    def note(self, line: str) -> None:
        """Tell the user one line, without the key."""
        line = self.options.redact(line)
        self.notes.append(line)
        self._emit(line)

    async def shut(self) -> None:
        """Stop asking, in the event loop.

        Requests in flight are given up, connections are closed.
        """
        if self._shutdown_task is not None:
            await self._shutdown_task
        if self._statement_task is not None:
            await self._statement_task
        self._leave_server()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            with suppress(ReelbenchError):  # nothing depends on it
                await self._store_whether_answered()
            await self.cache.finish_asking()
            await self._client.close()
            self._client = None

    def close(self) -> None:
        """Close the cache, after `shut` where anything was asked.

        It may be called twice.
        """
        if self._closed:
            return
        self._leave_server()
        self._closed = True
        self.cache.close(self.note)
        if self._reports_totals and self.tally.replies:
            counts = self.tally.record_fields()
            dates = shown_dates(counts["kept_from"], counts["kept_to"])
            self._emit(
                f"{self.options.model}: {counts['calls']} asked, {counts['cached']} kept{dates}"
            )
        self._note_endings()
        for host, replies in self.tally.other_hosts.items():
            self.note(
                f"{replies} replies of {self.options.model} in the cache are from {host}, "
                f"not {self.options.host}; where these serve different models under one name, "
                "give each its own REELBENCH_HOME"
            )
        self.tally.other_hosts.clear()

    def _note_endings(self) -> None:
        """Note the endings that were counted."""
        for name, number in self._unknown_endings.items():
            replies = number_of(number, "reply", "replies")
            self.note(
                f"{replies} of {self.options.model} ended by {visible(name)!r}, which is unknown "
                "here: readable ones count, the rest are unscored"
            )
        for advice_key, number in self._textless.items():
            replies = number_of(number, "reply has", "replies have")
            self.note(f"{self.options.model}: {replies} no text; {advice_on(advice_key)}")

    def _leave_server(self) -> None:
        if not self._has_left_server:
            self._has_left_server = True
            if self.cache.release_pacer(self.options):
                self.pacer.stop(StoppedError(UNAVAILABLE, ""))

    async def __aenter__(self) -> Self:
        self._entry_count += 1
        if self._entry_count > 1:
            return self
        self._batches = Batches(self.options, self.cache.store, self.note, self._announce_server)
        try:
            await self._load_known_facts()
            if self.options.batch:
                await self._collect_batches()
        except BaseException:
            self._entry_count -= 1
            self._batches.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entry_count -= 1
        if self._entry_count:
            return
        await self.shut()
        may_submit = kind is None or issubclass(kind, ReelbenchError)
        try:
            if self._batches is not None and self._requests_for_batch and may_submit:
                bound = None
                if self.bound is not None and not self.bound.is_refused:
                    bound = self.bound.tokens
                await asyncio.to_thread(
                    self._batches.submit, self._requests_for_batch, self._settings_now, bound
                )
        finally:
            if self._batches is not None:
                self._batches.close()
            self.close()

    async def _collect_batches(self) -> None:
        """Keep the replies of this model's batches, once.

        Nothing is sent where no batch is under way.
        """
        async with self._collecting:
            if not self._collected and self._batches is not None:
                store = self.cache.store
                if store.batched_keys(self.options.model, self.options.host):
                    await asyncio.to_thread(self._batches.collect)
            self._collected = True

    def shape(self, messages: Sequence[Message]) -> bytes:
        """Return the digest of a request; with vote and attempt it makes a reply's key."""
        return request_shape(self.options.model, messages, self.sampling)

    def request(self, messages: Sequence[Message], schema: Schema | None = None) -> Request:
        """Return the request of a question, with the schema of its reply, if any."""
        sampling = self.sampling
        if schema is not None:
            sampling = with_schema(sampling, schema)
        shape = request_shape(self.options.model, messages, sampling)
        return Request(messages, sampling, shape, has_schema=schema is not None)

    def note_reasoning(self, reply: Reply) -> None:
        """Raise the bound on replies where the model reasons."""
        if self.bound is not None:
            self.bound.note(reply)

    def has_outgrown(self, stored: StoredReply, messages: Sequence[Message]) -> bool:
        """Return True for a kept reply that a lower bound than today's cut off."""
        if self.bound is None:
            return False
        return self.bound.is_outgrown_by(stored, self._bound_of(messages))

    def _bound_of(self, messages: Sequence[Message]) -> int | None:
        """Return the bound on the reply to a question. None for none."""
        if self.bound is None:
            return None
        return self.bound.of_prompt(messages, self.statement.context)

    def _common_settings(self, request: Request, bound: int | None) -> Mapping[str, Any]:
        """Return a request's settings and the bound on its reply, in the common form."""
        if bound is None:
            return request.sampling
        return {**request.sampling, self.options.limit_name(request.sampling): bound}

    def _settings_of(self, request: Request, bound: int | None) -> dict[str, Any]:
        """Return the settings that go out with a request and a bound on its reply."""
        return self._parameters.sent(self._common_settings(request, bound))

    def _settings_now(self, request: Request) -> dict[str, Any]:
        """Return the settings that go out with a request, with today's bound."""
        return self._settings_of(request, self._bound_of(request.messages))

    async def served_model(self) -> dict[str, Any] | None:
        """Return the server's facts of the model, or None where it states none.

        They are id, root, owned_by and max_model_len. Fields that a server makes anew at each
        request (created, permission) say nothing of the weights. One's own server is asked for its
        statement as well.

        Raises:
            TransientError, NotServedError: The server can't be asked.
        """
        client = self._client or open_client(self.options)
        try:
            models = await client.models()
            if self.options.is_self_hosted:
                await self._note_statement(client, models)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None
        finally:
            if client is not self._client:
                await client.close()
        matching = [model for model in models if model.get("id") == self.options.model]
        if len(matching) != 1:
            return None
        if takes_pictures(matching[0]) is False:
            self.takes_text_alone = True
        facts: dict[str, Any] = {}
        for name in _MODEL_FACTS:
            value = matching[0].get(name)
            if isinstance(value, str):
                facts[name] = self.options.redact(visible(value))[:_LONGEST_FACT]
            elif type(value) is int and abs(value) < 2**53:
                facts[name] = value
        return facts

    async def _load_server_statement(self) -> None:
        """Ask one's own server for its window once, where replies have a bound."""
        if self.bound is None or not self.options.is_self_hosted:
            return
        if self._statement_task is None:
            self._statement_task = asyncio.ensure_future(self._ask_for_statement())
        await asyncio.shield(self._statement_task)

    async def _ask_for_statement(self) -> None:
        """Ask the server for its statement. Nothing depends on it."""
        with suppress(TransientError, NotServedError, ReelbenchError):
            await self.served_model()

    async def _note_statement(
        self, client: ChatClient, models: Sequence[Mapping[str, Any]]
    ) -> None:
        """Note what the server says of itself."""
        self.statement = await statement_of(self.options.model, models, client.page)
        if self.statement.takes_pictures is False:
            self.takes_text_alone = True
        if self.statement.slots is not None:
            self.pacer.pace.state_slots(self.statement.slots)

    async def ask_again(self, messages: Sequence[Message]) -> Reply | None:
        """Ask a question once more whose reply is kept. The new reply is not kept.

        None where there is no new reply.
        """
        try:
            async with CallSlot(self.pacer, self._places):
                return await self._ask_unkept(messages)
        except StoppedError:
            return None
        except (NotServedError, RejectedError, TransientError) as error:
            self.note(str(error))
            return None

    async def _ask_unkept(self, messages: Sequence[Message]) -> Reply | None:
        """Ask for a reply that is not kept. None without a budget for it."""
        estimate = self.options.cost_usd(estimated_tokens(messages), _SHORT_REPLY)
        async with self.budget.call(estimate or 0.0, self.cache, self.options.option) as call:
            if call is None:
                return None
            call.cost = estimate
            call.counts = True
            self._announce_server()
            return await self._opened_client().ask(
                messages, self.sent_sampling, self._next_timeout()
            )

    # --- in the event loop

    async def _fetch_reply(self, key: bytes, request: Request, read: Read[Any]) -> str | None:
        """Get a reply into the cache. Return the reason where there is none."""
        claimed = False
        await self._load_known_facts()
        await self._load_server_statement()
        sampling = self._settings_now(request)
        try:
            build_body = self._body_builder(request.messages, sampling)
            async with CallSlot(self.pacer, self._places, build_body) as turn:
                if self._ended is not None:
                    raise self._ended
                self._opened_client()
                state = await self._claim_key(key, turn)
                claimed = state == "mine"
                if state == "batched":
                    return PENDING
                if not claimed:
                    return None
                await turn.reacquire()
                keyed_request = _KeyedRequest(key, request, read, sampling)
                reason = await self._call_until_answered(keyed_request, turn)
                if reason is None:
                    claimed = False  # given up with the reply
                return reason
        # Nothing is awaited between the end of the turn and this, so no call is let in before
        # asking stops.
        except RejectedError as error:
            return self._reason_of_rejection(error)
        except StoppedError as stopped:
            if stopped.cause is not None:
                self._causes[key] = stopped.cause
            return stopped.reason
        except ReelbenchError:
            # The cache can't be written: one more reply would be lost, so nothing more is asked.
            self._stop_asking(UNAVAILABLE, None)
            raise
        finally:
            if claimed:
                await self.cache.run_off_loop(self.cache.store.release, key)

    def _body_builder(
        self, messages: Sequence[Message], sampling: Mapping[str, Any]
    ) -> Callable[[], bytes] | None:
        """Return a function that makes a request's body ahead, if of use.

        Pictures take a while. But where machines share the questions, most calls wait for another
        machine's reply.
        """
        if type(self._client) is not ChatClient or self.cache.is_shared:
            return None
        for message in messages:
            content = message["content"]
            if not isinstance(content, str) and len(content) > 1:
                return partial(body_of, self.options.model, messages, sampling)
        return None

    async def _call_until_answered(
        self, keyed_request: "_KeyedRequest", turn: CallSlot
    ) -> str | None:
        """Call until a reply is kept. Return the reason where tries are over."""
        loop = asyncio.get_running_loop()
        failed_calls = FailedCalls(self.options, began=loop.time())
        while True:
            try:
                await self._call_with_accepted_parameters(keyed_request, turn)
            except TransientError as error:
                self._causes[keyed_request.key] = error.cause
                failed_calls.add(error)
                end_line = failed_calls.end_line(error, self.pacer.last_reply_at, loop.time())
                if end_line is not None:
                    raise self._stop_asking(UNAVAILABLE, end_line, error.cause) from None
                if failed_calls.are_too_many:
                    return UNAVAILABLE
                if error.rule.slows_all:
                    self.pacer.slow_down(turn.round, error.wait)
                if error.rule.lets_others_first:
                    turn.leave()
                seconds = failed_calls.seconds_to_wait(error)
                await self.pacer.run_unless_stopped(asyncio.sleep(seconds))
                await turn.reacquire()
            else:
                self._causes.pop(keyed_request.key, None)
                return None

    async def _call_with_accepted_parameters(
        self, keyed_request: "_KeyedRequest", turn: CallSlot
    ) -> None:
        """Make one call, and again in other forms while the server refuses the form."""
        request = keyed_request.request
        bound = self._bound_of(request.messages)
        is_bound_refused = False
        while True:
            sampling = self._settings_of(request, bound)
            body = await turn.result()
            if sampling != keyed_request.made_sampling:
                body = None
            try:
                await self._call_once(keyed_request, sampling, bound, body)
            except RejectedError as error:
                # Where another call has learnt it meanwhile, the new form goes out at once.
                if sampling != self._settings_of(request, bound):
                    continue
                if self._can_adapt_to(error, request, bound):
                    continue
                if bound is None or not may_refuse_bound(error.words):
                    raise self._refusal_with_advice(error, request) from None
                is_bound_refused = True
                bound = None
            else:
                if is_bound_refused:
                    self._drop_reply_bound()
                return

    async def _load_known_facts(self) -> None:
        """Read what was learnt of server and model in earlier runs, once."""
        if self._parameters.is_loaded:
            return
        await self.cache.run_off_loop(self._parameters.load, self.cache.store)
        if await self.cache.run_off_loop(self.cache.store.valid_from, self._answers_key):
            self._has_answered_before = True
            self._let_more_calls_go()

    async def _store_whether_answered(self) -> None:
        """Keep whether the model gives answers, for later runs."""
        store = self.cache.store
        if self._ended is not None:
            await self.cache.run_off_loop(store.set_valid_from, self._answers_key, 0.0)
        elif self._outcomes.has_answer and not self._has_answered_before:
            await self.cache.run_off_loop(store.set_valid_from, self._answers_key, time.time())

    def _can_adapt_to(self, error: RejectedError, request: Request, bound: int | None) -> bool:
        """Send a request otherwise from now on, as its refusal says.

        Return False where there is no other form of it.
        """
        if not isinstance(error, RefusedParameterError):
            return False
        line = self._parameters.learn(error.names, self._common_settings(request, bound))
        if line is None:
            return False
        self.note(f"{self.options.model} at {self.options.host} {line}")
        return True

    def _refusal_with_advice(self, error: RejectedError, request: Request) -> RejectedError:
        """Return a refusal with the user's way out of it, if any is known."""
        if error.refusal is not None:
            has_pictures = number_of_pictures(request.messages) > 0
            advice = advice_on_refusal(error.refusal, has_pictures=has_pictures)
            return RejectedError(f"{error}; {advice}", error.words, error.refusal)
        names: list[str] = []
        if isinstance(error, RefusedParameterError):
            names = self._parameters.common_names(error.names, request.sampling)
        if not names:
            return error
        leave_out = json.dumps(dict.fromkeys(names))
        return RejectedError(f"{error}; {self.options.option}-extra '{leave_out}' leaves it out")

    def _drop_reply_bound(self) -> None:
        """Send no bound from now on: the server took a request without it alone."""
        if self.bound is not None and not self.bound.is_refused:
            self.bound.is_refused = True
            self.note(
                f"{self.options.model} at {self.options.host} accepts no limit on a reply, so none "
                "is sent"
            )

    def _reason_of_rejection(self, error: RejectedError) -> str:
        """Return the reason for a request that the server doesn't accept.

        Where it accepts no request, asking stops.
        """
        self._rejections += 1
        if self._rejections == 1:
            self.note(str(error))
        if self.options.keep_going:
            return REJECTED
        if self._rejections < REJECTIONS or self.pacer.last_reply_at:
            self.note_outcome("rejected")
            return REJECTED
        return self._stop_asking(
            REFUSED, f"{error}; {self._rejections} requests were rejected the same way; stopped"
        ).reason

    async def _claim_key(self, key: bytes, turn: CallSlot) -> Claimed:
        """Claim a key, once no other process asks for it."""
        while True:
            state = await self.cache.claims.do(key)
            if state == "batched" and not self._collected and self._batches is not None:
                await self._collect_batches()
            elif state == "theirs":
                turn.leave()  # and claim without a turn: most replies are here by then
                await self.pacer.run_unless_stopped(self.cache.wait_for_release(key))
            else:
                return state

    def _opened_client(self) -> ChatClient:
        """Return the client. StoppedError where the server does not serve us.

        It is opened before the first claim: importing aiohttp takes a while on a busy machine, and
        a claim would lapse meanwhile.
        """
        if self._client is None:
            try:
                self._client = open_client(self.options)
            except NotServedError as error:
                raise self._stop_asking(REFUSED, str(error), Cause(str(error))) from None
            self.cache.start_claim_renewal()
            self._note_budget()
        return self._client

    def _note_budget(self) -> None:
        """Note once where a budget is counted for this process alone."""
        budget = self.budget
        if budget.limit == Limit(None, None) or budget.job is not None or budget.noted:
            return
        if self.cache.is_shared:
            budget.noted = True
            self.note(
                f"the budget of {budget.in_words} is this process's alone; {settings.JOB.name}, "
                "set to one name for several, counts theirs together"
            )

    def _announce_server(self) -> None:
        """Say once which server is asked with whose key, before the first request.

        This is no trouble, so not one of the notes.
        """
        options = self.options
        if options.local or self._is_server_named:
            return
        self._is_server_named = True
        key = "no key"
        if options.unsent_key:
            key = f"no key: {options.unsent_key}"
        elif options.key_from:
            key = f"the key of {options.key_from}"
        elif options.api_key:
            key = "a key"
        line = options.redact(
            f"{options.who} {options.model} is asked at {options.host}, with {key}"
        )
        if line not in self.cache.server_lines:
            self.cache.server_lines.add(line)
            self._emit(line)

    async def _call_once(
        self,
        keyed_request: "_KeyedRequest",
        sampling: Mapping[str, Any],
        bound: int | None,
        body: bytes | None,
    ) -> None:
        """Make one call and keep its reply.

        Args:
            keyed_request: What is asked.
            sampling: The settings that go out.
            bound: The bound on the reply among them, if any.
            body: The body, where it was made ahead.
        """
        options = self.options
        messages = keyed_request.request.messages
        client = self._opened_client()
        prompt_estimate = estimated_tokens(messages)
        estimate = options.cost_usd(prompt_estimate, _SHORT_REPLY) or 0.0
        async with self.budget.call(estimate, self.cache, options.option) as call:
            if call is None:
                raise self._stop_asking(
                    BUDGET,
                    f"the budget of {self.budget.in_words} for {options.who} is used up; "
                    "run again to go on",
                )
            self.tally.requests += 1
            timeout = self._next_timeout()
            began = asyncio.get_running_loop().time()
            try:
                self._announce_server()
                if body is None:
                    reply = await client.ask(messages, sampling, timeout)
                else:
                    reply = await client.send(lambda: body, timeout)
            except NotServedError as error:
                names = await self._list_of_served_models(client, error)
                line = f"{error}{names}; asking stopped; answers so far are kept"
                raise self._stop_asking(REFUSED, line, Cause(str(error))) from None
            except TransientError as error:
                call.counts = error.rule.may_be_paid  # to be on the safe side
                if error.failure == "timeout":
                    error.cause = self._cause_of_timeout(timeout)
                    if timeout.server_was_silent:
                        self._note_silence(timeout, error.cause)
                raise
            self.pacer.note_reply(asyncio.get_running_loop().time() - began)
            giver = self.giver or giver_of_cut(reply, bound)
            await self.cache.put(keyed_request.key, options.model, reply, giver)
            call.counts = True
            call.cost = self._cost_of(reply, prompt_estimate)
        if not self._outcomes.has_answer:
            self._note_first_replies(reply, keyed_request.read)
        if self._parameters.is_unkept:
            await self.cache.run_off_loop(self._parameters.keep, self.cache.store)
        if self._notes_shutdown and self._shutdown_task is None:
            self._shutdown_task = asyncio.ensure_future(self._note_shutdown(client, reply.returned))
        with self.lock:
            self.tally.calls += 1
            if call.cost is not None:
                self.tally.spent_usd = (self.tally.spent_usd or 0.0) + call.cost

    def _cost_of(self, reply: Reply, prompt_estimate: int) -> float | None:
        """Return the cost of a reply, in dollars.

        Where the server does not count tokens, or gives no possible number, estimates are booked.
        """
        prompt_tokens = reply.prompt_tokens or prompt_estimate
        completion_tokens = reply.completion_tokens
        if not completion_tokens:
            text_tokens = estimated_tokens([{"content": reply.raw or ""}])
            completion_tokens = max(_SHORT_REPLY, text_tokens)
        return self.options.cost_usd(
            prompt_tokens, completion_tokens, reply.cached_tokens or 0, reply.reasoning_tokens or 0
        )

    def _next_timeout(self) -> CallTimeout:
        """Return the limit on the next call's time."""
        return self.pacer.watch(self.options.time_limit, self.options.probe_limit)

    def _cause_of_timeout(self, timeout: CallTimeout) -> Cause:
        """Return why a call was ended."""
        line = "no reply in time, while others were finished"
        if timeout.server_was_silent:
            line = f"nothing finished for {self.options.time_limit:g} s"
        return Cause(line, is_timeout=True)

    def _note_silence(self, timeout: CallTimeout, cause: Cause) -> None:
        """Let the next call go alone, as the server finishes nothing.

        Raises:
            StoppedError: This one went alone, and asking is over.
        """
        if not timeout.is_probe:
            self.pacer.note_server_silence()
            return
        options = self.options
        raise self._stop_asking(
            UNAVAILABLE,
            f"{options.who} at {options.host} did not answer within {timeout.time_limit:g} s, "
            f"asked one question alone: asking stopped; answers so far are kept; run again later, "
            f"or with {options.option}-timeout S, which waits longer",
            cause,
        )

    async def _list_of_served_models(self, client: ChatClient, error: NotServedError) -> str:
        """Return the names of the models that a server has, where ours isn't there."""
        if not error.is_unknown_model:
            return ""
        try:
            models = await client.models()
            names = sorted({visible(str(model["id"])) for model in models})
        # Nothing depends on it.
        except (TransientError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return ""
        if not names:
            return ""
        names_to_show = get_close_matches(self.options.model, names, _NAMES_SHOWN, 0.3)
        for name in names:
            if name not in names_to_show and len(names_to_show) < _NAMES_SHOWN:
                names_to_show.append(name)
        more = ""
        if len(names) > len(names_to_show):
            more = f" and {len(names) - len(names_to_show)} more"
        return f"; it has {', '.join(names_to_show)}{more}"

    def _stop_asking(
        self, reason: str, line: str | None, cause: Cause | None = None
    ) -> StoppedError:
        """End asking, with a note, and return the error to raise."""
        stopped = StoppedError(reason, line or "", cause)
        if not self._ends_run:
            self.cause_of_giving_up = cause
            return stopped
        if self.pacer.stopped is None:
            self.pacer.stop(stopped)
            if line:
                self.note(line)
        return stopped

    async def _note_shutdown(self, client: ChatClient, returned: str | None) -> None:
        """Note the day on which the server ends the model, and keep it."""
        options = self.options
        try:
            days = last_days(await client.models())
            day = days.get(options.model) or days.get(returned or "")
            await self.cache.run_off_loop(
                self.cache.store.put_last_day, options.model, options.host, day
            )
        except Exception as error:  # noqa: BLE001 - nothing depends on it
            _log.debug(
                "the models of %s are not known: %s", options.host, options.redact(repr(error))
            )
            return
        if day is not None:
            self.note(
                f"{options.host} reports that {options.who} {options.model} shuts down on {day}; "
                "use another one by then"
            )
