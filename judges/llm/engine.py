"""The engine: turns answers into verdicts, from the cache where it can and from the judge where it must.

What it holds to:

- A score is only ever read from a reply of the judge (or is the scale's minimum for an answer that is all white space).
- A reply is kept before it counts, so nothing is paid twice: not in a rerun, by two processes, or for equal requests.
- What goes wrong leaves an item unscored with a reason; only a cache that can't be written ends the run with an error.
"""

import asyncio
import hashlib
import itertools
import json
import logging
import random
import statistics
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reelbench.judges.llm.cache import Reply, ReplyCache
from reelbench.judges.llm.client import ChatClient, RefusedError, RejectedError, TransientError
from reelbench.judges.llm.options import JudgeOptions
from reelbench.judges.llm.pacing import Pacer, StoppedError, Turn
from reelbench.judges.llm.parsing import parse_score
from reelbench.judges.llm.prompting import Judgeable, JudgeItem, Message, PromptSet, load_prompts
from reelbench.registry.errors import ReelbenchError
from reelbench.registry.records import JudgeRecord, JudgeReply

if TYPE_CHECKING:
    from concurrent.futures import Future

    from reelbench.registry.spec import JudgeSpec

ATTEMPTS = 3
"""Replies asked for at most where they do not parse."""

JUDGE_UNAVAILABLE = "judge_unavailable"
JUDGE_UNPARSABLE = "judge_unparsable"
JUDGE_BUDGET = "judge_budget"
JUDGE_REFUSED = "judge_refused"
JUDGE_REJECTED = "judge_rejected"

_OTHERS = 0.2  # seconds between looks at whether another process has got its reply
_CUT = {"length", "content_filter"}
_REJECTIONS = 8  # refused requests, without one good reply, that mean it is not the request

_log = logging.getLogger("reelbench.judges.llm")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge said of one item.

    Attributes:
        id: The item's id.
        scores: Criterion -> score, for the criteria that have one; whole numbers, except under mean votes.
        reasons: Criterion -> why it has none (`judge_unavailable`, `judge_unparsable`, `judge_budget`, `judge_refused`:
            the server serves us not at all, `judge_rejected`: it does not take this request).
        replies: All replies behind it, in order of criterion, vote and attempt.
    """

    id: str
    scores: dict[str, float]
    reasons: dict[str, str]
    replies: list[JudgeReply]

    @property
    def reason(self) -> str | None:
        """Why the item is not (wholly) scored, or None: of several reasons the commonest."""
        return Counter(self.reasons.values()).most_common(1)[0][0] if self.reasons else None


@dataclass(slots=True)
class Tally:
    """What judging has come to so far.

    Attributes:
        items: Verdicts given.
        replies: Replies behind them.
        calls: Replies that this run asked for and got.
        requests: Requests sent, failed ones too.
        prompt_tokens: Behind the verdicts, whenever they were paid.
        completion_tokens: Likewise.
        spent_usd: What this run's calls cost; None without prices.
        returned: Model id that the server returned -> replies.
        other_hosts: Host -> replies reused that another host than the one asked gave.
    """

    items: int = 0
    replies: int = 0
    calls: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    spent_usd: float | None = None
    returned: Counter[str] = field(default_factory=Counter)
    other_hosts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Ask:
    """One reply that is wanted and not here."""

    criterion: str
    vote: int
    key: bytes
    messages: list[Message]


@dataclass(frozen=True, slots=True)
class _Found:
    """What the cache gives for an item: its verdict, whole if nothing is missing, and the replies behind it."""

    verdict: Verdict
    replies: list[Reply] = field(default_factory=list)
    missing: list[_Ask] = field(default_factory=list)


@dataclass(slots=True)
class _Plan:
    """An item's requests, hashed once; and what is known to have failed."""

    item: JudgeItem
    requests: list[tuple[str, list[Message], bytes]]
    failed: dict[tuple[str, int], str] = field(default_factory=dict)
    limits: dict[tuple[str, int], int] = field(default_factory=dict)


class Engine:
    """Judges items of one benchmark. Shared by `judge_items` and `LiveJudge`; safe to call from several threads.

    The event loop, in a thread of its own, and `openai` are started by the first reply that is not in the cache.
    """

    def __init__(self, spec: Judgeable, options: JudgeOptions, on_note: Callable[[str], None] | None = None) -> None:
        self.options = options
        self.prompts: PromptSet = load_prompts(spec, options.prompts)
        self.notes: list[str] = []
        self.tally = Tally(spent_usd=options.cost_usd(0, 0))
        assert spec.judge is not None  # noqa: S101 - load_prompts refuses a spec without one
        self._judge: JudgeSpec = spec.judge
        self._on_note = on_note
        temperature = self.prompts.temperature if options.temperature == "auto" else options.temperature
        self._temperature = None if temperature == "none" else temperature
        self._sampling = {} if self._temperature is None else {"temperature": self._temperature}
        self._cache = ReplyCache(options.cache_path, self._note)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        # What follows lives in the event loop alone.
        self._pacer = Pacer(options.concurrency)
        self._client: ChatClient | None = None
        self._asking: dict[bytes, asyncio.Task[str | None]] = {}
        self._heart: asyncio.Task[None] | None = None
        self._last_good = 0.0
        self._rejected = 0
        self._reserved_calls = 0
        self._reserved_usd = 0.0
        self._dearest_usd = 0.0

    # --- the outside -------------------------------------------------------------------------------------------------

    def start(self, item: JudgeItem) -> "Verdict | Future[Verdict]":
        """Return an item's verdict where the cache holds all of it, else a future of it."""
        plan = self._plan(item)
        found = self._look(plan)
        if not found.missing:
            return self._given(found)
        return asyncio.run_coroutine_threadsafe(self._finish(plan, found), self._running_loop())

    def record(self) -> JudgeRecord:
        """Return the judge's record, over all verdicts given so far."""
        options, tally = self.options, self.tally
        with self._lock:
            return JudgeRecord(
                requested=options.model,
                returned=dict(sorted(tally.returned.items())),
                url=options.host,
                prompt=self.prompts.name,
                prompt_sha256=self.prompts.sha256,
                temperature=self._temperature,
                votes=options.votes,
                vote_rule="single" if options.votes == 1 else options.vote_rule,
                calls=tally.calls,
                cached=max(0, tally.replies - tally.calls),
                prompt_tokens=tally.prompt_tokens,
                completion_tokens=tally.completion_tokens,
                cost_usd=options.cost_usd(tally.prompt_tokens, tally.completion_tokens),
            )

    def close(self) -> None:
        """End what is under way and close the cache; may be called twice."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            asyncio.run_coroutine_threadsafe(self._shut(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()
        self._cache.close()
        for host, replies in self.tally.other_hosts.items():
            self._note(
                f"{replies} replies of {self.options.model} in the cache are from {host}, not {self.options.host};"
                " where these serve different models under one name, give each its own REELBENCH_HOME"
            )
        self.tally.other_hosts.clear()

    # --- verdicts ----------------------------------------------------------------------------------------------------

    def _plan(self, item: JudgeItem) -> _Plan:
        if not item.prediction.strip():
            return _Plan(item, [])
        requests = []
        for criterion in self._judge.criteria:
            messages = self.prompts.messages(criterion, item)
            shape = json.dumps([self.options.model, messages, self._sampling], ensure_ascii=True)
            requests.append((criterion, messages, hashlib.sha256(shape.encode()).digest()))
        return _Plan(item, requests)

    def _look(self, plan: _Plan) -> _Found:
        found = _Found(Verdict(plan.item.id, {}, {}, []))
        scores, reasons = found.verdict.scores, found.verdict.reasons
        if not plan.requests:  # nothing but white space: the minimum, without asking
            scores.update(dict.fromkeys(self._judge.criteria, self._judge.low))
        for criterion, messages, shape in plan.requests:
            votes: list[int | None] = []
            for vote in range(self.options.votes):
                score, key = self._walk(plan, (criterion, vote), shape, found)
                if key is None:
                    votes.append(score)
                elif (reason := plan.failed.get((criterion, vote))) is not None:
                    reasons[criterion] = reason
                else:
                    found.missing.append(_Ask(criterion, vote, key, messages))
            if criterion in reasons or found.missing:
                continue
            counted = self._count(votes)
            if counted is None:
                reasons[criterion] = JUDGE_UNPARSABLE
            else:
                scores[criterion] = counted
        return found

    def _walk(
        self, plan: _Plan, place: tuple[str, int], shape: bytes, found: _Found
    ) -> tuple[int | None, bytes | None]:
        """Follow one (criterion, vote)'s attempts through the cache -> (score, None), or (None, key to ask for)."""
        criterion, vote = place
        judge = self._judge
        for attempt in itertools.count():
            key = hashlib.sha256(b"%s|%d|%d" % (shape, vote, attempt)).digest()
            reply = self._cache.get(key)
            if reply is None:
                limit = plan.limits.get(place, ATTEMPTS)
                if attempt >= limit and self.options.retry_unscored and place not in plan.limits:
                    limit = plan.limits[place] = attempt + ATTEMPTS
                return None, key if attempt < limit else None
            text = None if reply.finish in _CUT else reply.raw
            score = parse_score(text, judge.low, judge.high, bare_integer=self.prompts.bare_integer)
            found.replies.append(reply)
            found.verdict.replies.append(
                JudgeReply(
                    criterion=criterion,
                    vote=vote,
                    attempt=attempt,
                    raw=reply.raw,
                    score=score,
                    model=reply.returned,
                    key=key.hex(),
                )
            )
            if score is not None:
                return score, None
        raise AssertionError

    def _count(self, votes: list[int | None]) -> float | None:
        cast = [vote for vote in votes if vote is not None]
        if 2 * len(cast) <= len(votes):
            return None
        if len(votes) == 1:
            return cast[0]
        if self.options.vote_rule == "mean":
            return statistics.fmean(cast)
        most = statistics.multimode(cast)
        return most[0] if len(most) == 1 else statistics.median_low(cast)

    def _given(self, found: _Found) -> Verdict:
        tally = self.tally
        with self._lock:
            tally.items += 1
            tally.replies += len(found.replies)
            for reply in found.replies:
                tally.prompt_tokens += reply.prompt_tokens
                tally.completion_tokens += reply.completion_tokens
                if reply.returned is not None:
                    tally.returned[reply.returned] += 1
                if reply.host != self.options.host:
                    tally.other_hosts[reply.host] += 1
        return found.verdict

    # --- in the event loop -------------------------------------------------------------------------------------------

    async def _finish(self, plan: _Plan, found: _Found) -> Verdict:
        while found.missing:
            reasons = await asyncio.gather(*map(self._asked, found.missing))
            for ask, reason in zip(found.missing, reasons, strict=True):
                if reason is not None:
                    plan.failed[ask.criterion, ask.vote] = reason
            found = self._look(plan)
        return self._given(found)

    async def _asked(self, ask: _Ask) -> str | None:
        """Get a reply into the cache -> None, or the reason why it can't be had. Equal requests are asked once."""
        task = self._asking.get(ask.key)
        if task is None:
            task = self._asking[ask.key] = asyncio.ensure_future(self._ask(ask))
            task.add_done_callback(lambda _: self._asking.pop(ask.key, None))
        return await asyncio.shield(task)

    async def _ask(self, ask: _Ask) -> str | None:
        try:
            return await self._try(ask)
        except StoppedError as stopped:
            return stopped.reason
        except ReelbenchError:
            # The cache can't be written: a reply more would be lost, so nothing more is asked.
            self._stop(JUDGE_UNAVAILABLE, None)
            raise

    async def _try(self, ask: _Ask) -> str | None:
        started, failures, tries, claimed = asyncio.get_running_loop().time(), 0, 0, False
        async with Turn(self._pacer) as turn:
            client = self._ready()
            try:
                while True:
                    if not claimed:
                        state = self._cache.claim(ask.key)
                        claimed = state == "mine"
                        if state == "stored":
                            return None
                        if state == "theirs":
                            await turn.pass_on(_OTHERS)
                            continue
                    try:
                        await self._call(client, ask)
                    except TransientError as error:
                        failures += 1
                        tries += not error.limited
                        self._give_up_if_hopeless(started, error)
                        if tries >= self.options.tries:
                            return self._exhausted(started, error)
                        wait = self.options.backoff * 2 ** min(failures - 1, 6) * random.uniform(0.5, 1.0)  # noqa: S311
                        wait = max(wait, error.wait or 0.0)
                        if error.limited:
                            self._pacer.limited(turn.round, error.wait)
                            await turn.pass_on(wait)
                        else:
                            # Others would only fail at a server in trouble, so the turn is kept.
                            self._pacer.failed()
                            await turn.wait(wait)
                    else:
                        return None
            except RejectedError as error:
                return self._reject(error)
            finally:
                if claimed:
                    self._cache.release(ask.key)

    def _ready(self) -> ChatClient:
        # Before the first claim: importing `openai` takes seconds on a busy machine, and a claim would lapse meanwhile.
        if self._client is None:
            try:
                self._client = ChatClient(self.options)
            except RefusedError as error:
                raise self._stop(JUDGE_REFUSED, str(error)) from None
            self._heart = asyncio.ensure_future(self._beat())
        return self._client

    async def _call(self, client: ChatClient, ask: _Ask) -> None:
        """Make one call and keep its reply."""
        estimate = self._reserve(ask)
        self.tally.requests += 1
        kept = False
        try:
            reply = await client.ask(ask.messages, self._sampling)
            self._cache.put(ask.key, self.options.model, reply)
            kept = True
        except RefusedError as error:
            raise self._stop(JUDGE_REFUSED, f"{error}; judging stopped, what was judged is kept") from None
        except TransientError as error:
            kept = error.maybe_paid  # counts against the budget, to be on the safe side
            raise
        finally:
            self._reserved_usd -= estimate
            if not kept:
                self._reserved_calls -= 1
        self._pacer.good()
        self._last_good = asyncio.get_running_loop().time()
        cost = self.options.cost_usd(reply.prompt_tokens, reply.completion_tokens)
        with self._lock:
            self.tally.calls += 1
            if cost is not None:
                self.tally.spent_usd = (self.tally.spent_usd or 0.0) + cost
                self._dearest_usd = max(self._dearest_usd, cost)

    def _reserve(self, ask: _Ask) -> float:
        """Set aside the budget for one call -> dollars set aside; StoppedError where there is none left."""
        options = self.options
        if options.budget_calls is not None and self._reserved_calls >= options.budget_calls:
            raise self._stop(
                JUDGE_BUDGET, f"the judge's budget of {options.budget_calls} calls is used up; run again to go on"
            )
        estimate = 0.0
        if options.budget_usd is not None:
            # Before the first bill: three bytes a token, and a short reply.
            text = sum(len(message["content"].encode("utf-8", "replace")) for message in ask.messages)
            estimate = max(options.cost_usd(text // 3, 64) or 0.0, self._dearest_usd)
            if (self.tally.spent_usd or 0.0) + self._reserved_usd + estimate > options.budget_usd:
                raise self._stop(
                    JUDGE_BUDGET, f"the judge's budget of ${options.budget_usd:g} is used up; run again to go on"
                )
        self._reserved_calls += 1
        self._reserved_usd += estimate
        return estimate

    def _reject(self, error: RejectedError) -> str:
        self._pacer.failed()
        self._rejected += 1
        if self._rejected == 1:
            self._note(str(error))
        if self._rejected >= _REJECTIONS and not self._last_good:
            raise self._stop(
                JUDGE_REFUSED, f"{error}; so for {self._rejected} requests and none was taken: judging stopped"
            )
        return JUDGE_REJECTED

    def _give_up_if_hopeless(self, started: float, error: TransientError) -> None:
        options = self.options
        idle = asyncio.get_running_loop().time() - max(started, self._last_good)
        if error.wait is not None and error.wait > options.patience:
            raise self._stop(
                JUDGE_UNAVAILABLE, f"{error}; it asks to wait {error.wait:.0f} s: judging stopped, run again then"
            )
        if error.limited and idle > options.patience:
            raise self._stop(JUDGE_UNAVAILABLE, f"{error}; so for {idle:.0f} s: judging stopped, run again later")

    def _exhausted(self, started: float, error: TransientError) -> str:
        if self._last_good <= started:  # nobody else got a reply either: the server is down, not the request bad
            raise self._stop(
                JUDGE_UNAVAILABLE, f"{error}; {self.options.tries} tries: judging stopped, run again later"
            )
        return JUDGE_UNAVAILABLE

    def _stop(self, reason: str, line: str | None) -> StoppedError:
        stopped = StoppedError(reason, line or "")
        if self._pacer.stopped is None:
            self._pacer.stop(stopped)
            if line:
                self._note(line)
        return stopped

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            try:
                self._cache.renew()
            except ReelbenchError:  # whoever writes next meets the same error, and tells
                return

    async def _shut(self) -> None:
        self._pacer.stop(StoppedError(JUDGE_UNAVAILABLE, ""))
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.close()
        await asyncio.get_running_loop().shutdown_default_executor()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="reelbench-judge", daemon=True)
                self._thread.start()
            return self._loop

    def _note(self, line: str) -> None:
        line = self.options.redact(line)
        self.notes.append(line)
        if self._on_note is None:
            _log.warning("%s", line)
        else:
            self._on_note(line)
