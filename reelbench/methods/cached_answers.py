"""Kept answers of an asked model: who gave them, and whether today's server would give them too.

A model is asked for by a name at an address, and both stay where another checkpoint is served. So
beside each reply stands who gave it (`StoredReply.giver`): the server, the model's name, the
`revision` that the user states, and what `/v1/models` says of it. What is kept of another giver is
passed over, or ends the run before it counts.
"""

import asyncio
import difflib
import hashlib
import json
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reelbench.base.errors import ReelbenchError, number_of
from reelbench.llm.ask_result import Outdated
from reelbench.llm.asker import Asker, RetryCursor
from reelbench.llm.budget import moment
from reelbench.llm.messages import Message
from reelbench.llm.retry_rules import NotServedError, TransientError
from reelbench.llm.store import StoredReply
from reelbench.methods.repeats import Repeats, repeat
from reelbench.registry.model_ids import filed_part
from reelbench.registry.records import AskedRecord, PriceRecord
from reelbench.registry.rows import Row

_SAME_WORDS = 0.6
"""Share of an open answer's words, in order, from which on two are taken for one model's.

Servers' replies to one question differ in words at temperature 0 too.
"""


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """The use that is made of kept answers, and what is asked beside the questions."""

    trust_all: bool = False
    """Take them, whoever gave them, and though no server can be asked."""

    fresh: bool = False
    """Ask all anew. What is kept stays, and counts no more for this model."""

    recheck: bool = True
    """Ask some once more, where the temperature is 0."""

    probe: bool = True
    """Ask two small questions with known pictures, the first time that a model is shown any."""


class _CachedAnswer(NamedTuple):
    """A cached answer that may be asked for once more."""

    row: Row
    text: str


class _ForeignReply(NamedTuple):
    """A cached reply of another model or server, and in what that one differs."""

    stored: StoredReply
    difference: str


class _Reading(NamedTuple):
    """The reading of an answer. Its value is None where it says nothing."""

    value: object


Read = Callable[[Row, str], Any]
"""Turns an answer to a question into what it says."""
QuestionOf = Callable[[Row], Sequence[Message]]
"""Makes the messages that ask a row's question."""


class CachedAnswers:
    """The cached answers of one model to a run's questions.

    It lives in the asker's event loop.
    """

    def __init__(
        self, asker: Asker, policy: CachePolicy, revision: str | None, task_name: str
    ) -> None:
        self._asker = asker
        self._policy = policy
        self._task_name = task_name
        self._source: dict[str, Any] = {
            "server": asker.options.host,
            "name": asker.options.model,
            "revision": revision,
            "served": None,
        }
        self._unreachable_reason: str | None = None
        self._began = time.time()
        self._valid_from = 0.0
        self._cached_answers: dict[str, _CachedAnswer] = {}
        self._repeats = Repeats()

    async def begin(self) -> None:
        """Ask the server which model it serves.

        Cached replies are valid from a time on, which is read; with `fresh` that is now.
        """
        asker = self._asker
        try:
            self._source["served"] = await asker.served_model()
        except (TransientError, NotServedError) as error:
            self._unreachable_reason = str(error)
        asker.giver = json.dumps(self._source, sort_keys=True)
        scope = json.dumps([self._source, self._task_name, asker.sampling], sort_keys=True)
        scope_key = hashlib.sha256(scope.encode()).hexdigest()
        store = asker.cache.store
        if self._policy.fresh and self._unreachable_reason is None:
            await asker.cache.run_off_loop(store.set_valid_from, scope_key, time.time())
        self._valid_from = await asker.cache.run_off_loop(store.valid_from, scope_key)

    async def cursor(
        self, messages: Sequence[Message], vote: int, outdated: Outdated | None
    ) -> RetryCursor[str]:
        """Return a question's cursor, behind those cached replies that may be used.

        Raises:
            ReelbenchError: The cached replies come from another model or server.
        """
        foreign_replies: list[_ForeignReply] = []

        def is_unusable(stored: StoredReply) -> bool:
            is_outdated = outdated is not None and outdated(stored)
            if self._policy.trust_all:
                return is_outdated
            difference = self._difference_of(stored)
            if difference is not None:
                foreign_replies.append(_ForeignReply(stored, difference))
                return True
            return stored.at < self._valid_from or is_outdated

        cursor = await self._asker.cache.run_off_loop(
            RetryCursor[str], self._asker, messages, str, vote=vote, outdated=is_unusable
        )
        needs_call = cursor.key is not None
        if needs_call and foreign_replies and not self._policy.fresh:
            last = foreign_replies[-1]
            raise ReelbenchError(
                f"{self._task_name}: kept answers of {self._source['name']} "
                f"({_date(last.stored.at)}) are from a different source than the one asked now: "
                f"{last.difference}; --fresh asks all again and keeps both, "
                "--kept takes the kept answers"
            )
        return cursor

    def _difference_of(self, stored: StoredReply) -> str | None:
        """Return in what a reply's source differs from the model that is asked now.

        None where nothing tells of a difference.
        """
        if stored.giver is None:
            return None
        source: dict[str, Any] = json.loads(stored.giver)
        if source["revision"] != self._source["revision"]:
            before = source["revision"] or "not stated"
            now = self._source["revision"] or "not stated"
            return f"revision was {before}, is {now}"
        served_before = source["served"]
        served_now = self._source["served"]
        if served_before is None or served_now is None:
            return None
        differences: list[str] = []
        for name in served_before | served_now:
            before = served_before.get(name)
            now = served_now.get(name)
            if before != now:
                differences.append(f"{name} was {before}, is {now}")
        return "; ".join(differences) or None

    def note_answer(self, row: Row, text: str, at: float) -> None:
        """Note an answer that can be read.

        One from the cache may be asked for again.
        """
        if at < self._began:
            self._cached_answers[row["id"]] = _CachedAnswer(row, text)

    async def check(self, read: Read, question_of: QuestionOf) -> None:
        """Check that the cached answers come from the model that is asked now.

        Raises:
            ReelbenchError: They come from another model, or that can't be known.
        """
        tally = self._asker.tally
        if self._policy.trust_all or tally.kept_from is None:
            return
        answers = number_of(max(0, tally.replies - tally.calls), "kept answer")
        name = self._source["name"]
        answers_text = f"{self._task_name}: {answers} of {name} from {_date(tally.kept_from)}"
        if self._unreachable_reason is not None:
            raise ReelbenchError(
                f"{answers_text}; the server does not answer ({self._unreachable_reason}), so "
                "they can't be checked; --kept takes them anyway"
            )
        if self._asker.sent_sampling.get("temperature") == 0:
            if self._policy.recheck and self._cached_answers:
                await self._recheck(read, question_of, answers_text)
        elif not tally.calls and self._source["served"] is None:
            raise ReelbenchError(
                f"{answers_text}, and {self._source['server']} doesn't say what it serves "
                "(/v1/models); --kept takes them, --fresh asks all again and keeps both"
            )

    async def _recheck(self, read: Read, question_of: QuestionOf, answers_text: str) -> None:
        """Ask a random sample of the questions again.

        Raises:
            ReelbenchError: The new answers are another model's, or there are none.
        """

        def cached_reading(question_id: str) -> _Reading:
            answer = self._cached_answers[question_id]
            return _Reading(read(answer.row, answer.text))

        async def new_readings(question_ids: Sequence[str]) -> Sequence[_Reading | None]:
            asking: list[Coroutine[Any, Any, _Reading | None]] = []
            for question_id in question_ids:
                row = self._cached_answers[question_id].row
                asking.append(self._ask_and_read(read, question_of, row))
            return await asyncio.gather(*asking)

        shuffled_ids = sorted(self._cached_answers, key=self._shuffle_key)
        self._repeats = await repeat(shuffled_ids, cached_reading, new_readings, _are_alike)
        if not self._repeats.number:
            if self._asker.tally.calls:
                return  # new answers count, and e.g. the budget ended before this check
            reason = "it gave no reply"
            if self._asker.notes:
                reason = self._asker.notes[-1]
            raise ReelbenchError(
                f"{answers_text}, and none of them can be asked again ({reason}); --kept takes them"
            )
        if self._repeats.verdict == "another":
            different_ids = self._repeats.consistently_different
            raise ReelbenchError(
                f"{answers_text}, and the server answers differently now: {len(different_ids)} of "
                f"{self._repeats.number} asked again, each with one new answer four times "
                f"(first: {different_ids[0]!r}); "
                "--fresh asks all again and keeps both, --kept takes the kept answers"
            )

    def _shuffle_key(self, question_id: str) -> bytes:
        """Return the sort key that puts questions in a random, repeatable order."""
        return hashlib.sha256(f"{self._task_name} {question_id}".encode()).digest()

    async def _ask_and_read(self, read: Read, question_of: QuestionOf, row: Row) -> _Reading | None:
        """Ask a question again, and return the new answer's reading. None without a reply."""
        reply = await self._asker.ask_again(question_of(row))
        if reply is None or reply.raw is None:
            return None
        return _Reading(read(row, reply.raw))

    def record(self) -> AskedRecord:
        """Return the record of the calls and cached replies behind the answers."""
        pacer = self._asker.pacer
        per_second = None
        if self._asker.tally.calls and pacer.pace.per_second is not None:
            per_second = round(pacer.pace.per_second, 3)
        tally_fields = self._asker.tally.record_fields()
        return AskedRecord(
            asked=tally_fields["calls"],
            kept=tally_fields["cached"],
            kept_from=tally_fields["kept_from"],
            kept_to=tally_fields["kept_to"],
            server=self._source["server"],
            revision=self._source["revision"],
            served=self._served_model(),
            states=self._asker.statement.record_fields(),
            returned=tally_fields["returned"] or None,
            in_flight=pacer.most_in_flight or None,
            price=self._price(),
            per_second=per_second,
            rechecked=tuple(self._repeats.same),
            unlike=tuple(self._repeats.different) or None,
            firmly_unlike=tuple(self._repeats.consistently_different) or None,
            sent_instead=self._asker.sent_instead or None,
        )

    def _price(self) -> PriceRecord | None:
        options = self._asker.options
        prompt_price = options.usd_per_million_prompt
        completion_price = options.usd_per_million_completion
        if prompt_price is None or completion_price is None:
            return None
        return PriceRecord(prompt=prompt_price, completion=completion_price)

    def _served_model(self) -> dict[str, Any] | None:
        """Return the server's facts of the model, with names as results have them."""
        served = self._source["served"]
        if served is None:
            return None
        facts = dict(served)
        if "id" in facts:
            facts["id"] = self._asker.options.filed_id(str(facts["id"]))
        if "root" in facts:
            facts["root"] = filed_part(str(facts["root"]))
        return facts


def _are_alike(before: _Reading, after: _Reading) -> bool:
    """Return True where two answers are equal, or texts that share most of their words."""
    if isinstance(before.value, str) and isinstance(after.value, str):
        words_before = before.value.casefold().split()
        words_after = after.value.casefold().split()
        matcher = difflib.SequenceMatcher(None, words_before, words_after, autojunk=False)
        return matcher.ratio() >= _SAME_WORDS
    return before.value == after.value


def _date(at: float) -> str:
    return str(moment(at))[:16].replace("T", " ")
