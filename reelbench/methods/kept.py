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
from collections.abc import Callable, Sequence
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
class Keeping:
    """The use that is made of kept answers, and what is asked beside the questions."""

    as_they_are: bool = False
    """Take them, whoever gave them, and though no server can be asked."""

    fresh: bool = False
    """Ask all anew. What is kept stays, and counts no more for this model."""

    recheck: bool = True
    """Ask some once more, where the temperature is 0."""

    probe: bool = True
    """Ask two small questions with known pictures, the first time that a model is shown any."""


class _KeptAnswer(NamedTuple):
    """A kept answer that may be asked for once more."""

    row: Row
    text: str


class _Reading(NamedTuple):
    """The reading of an answer. Its value is None where it says nothing."""

    value: object


Read = Callable[[Row, str], Any]
"""Turns an answer to a question into what it says."""
QuestionOf = Callable[[Row], Sequence[Message]]
"""Makes the messages that ask a row's question."""


class KeptAnswers:
    """The kept answers of one model to the questions of a run.

    It lives in the asker's event loop.
    """

    def __init__(self, asker: Asker, keeping: Keeping, revision: str | None, what: str) -> None:
        """Set up. `what` names the questions."""
        self._asker = asker
        self._keeping = keeping
        self._what = what
        self._giver: dict[str, Any] = {
            "server": asker.options.host,
            "name": asker.options.model,
            "revision": revision,
            "served": None,
        }
        self._why_away: str | None = None
        self._began = time.time()
        self._since = 0.0
        self._kept_answers: dict[str, _KeptAnswer] = {}
        self._repeats = Repeats()

    async def begin(self) -> None:
        """Ask the server what it serves.

        Where all is to be asked anew, that is put down.
        """
        asker = self._asker
        try:
            self._giver["served"] = await asker.served_model()
        except (TransientError, NotServedError) as error:
            self._why_away = str(error)
        asker.giver = json.dumps(self._giver, sort_keys=True)
        asked_of_whom = json.dumps([self._giver, self._what, asker.sampling], sort_keys=True)
        place = hashlib.sha256(asked_of_whom.encode()).hexdigest()
        store = asker.cache.store
        if self._keeping.fresh and self._why_away is None:
            await asker.cache.run_off_loop(store.set_valid_from, place, time.time())
        self._since = await asker.cache.run_off_loop(store.valid_from, place)

    async def cursor(
        self, messages: Sequence[Message], vote: int, outdated: Outdated | None
    ) -> RetryCursor[str]:
        """Return a question's place among the replies that are kept.

        Raises:
            ReelbenchError: They are another giver's.
        """
        foreign_replies: list[tuple[StoredReply, str]] = []

        def is_passed_over(stored: StoredReply) -> bool:
            is_outdated = outdated is not None and outdated(stored)
            if self._keeping.as_they_are:
                return is_outdated
            giver: dict[str, Any] | None = None
            if stored.giver is not None:
                giver = json.loads(stored.giver)
            difference = self._difference_to_asked_model(giver)
            if difference is not None:
                foreign_replies.append((stored, difference))
                return True
            return stored.at < self._since or is_outdated

        cursor = await self._asker.cache.run_off_loop(
            RetryCursor[str], self._asker, messages, str, vote=vote, outdated=is_passed_over
        )
        if cursor.key is not None and foreign_replies and not self._keeping.fresh:
            stored, difference = foreign_replies[-1]
            raise ReelbenchError(
                f"{self._what}: kept answers of {self._giver['name']} ({_date(stored.at)}) are "
                f"from a different source than the one asked now: {difference}; --fresh asks all "
                "again and keeps both, "
                "--kept takes the kept answers"
            )
        return cursor

    def _difference_to_asked_model(self, giver: dict[str, Any] | None) -> str | None:
        """Return in what a giver differs from the one that is asked now.

        None where nothing tells of a difference.
        """
        if giver is None:
            return None
        if giver["revision"] != self._giver["revision"]:
            before = giver["revision"] or "not stated"
            now = self._giver["revision"] or "not stated"
            return f"revision was {before}, is {now}"
        served_before = giver["served"]
        served_now = self._giver["served"]
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
        """Note an answer that can be read. A kept one may be asked for again."""
        if at < self._began:
            self._kept_answers[row["id"]] = _KeptAnswer(row, text)

    async def check(self, read: Read, question_of: QuestionOf) -> None:
        """Raise ReelbenchError where kept answers are another's, or nobody can say whose."""
        tally = self._asker.tally
        if self._keeping.as_they_are or tally.kept_from is None:
            return
        answers = number_of(max(0, tally.replies - tally.calls), "kept answer")
        whose = f"{self._what}: {answers} of {self._giver['name']} from {_date(tally.kept_from)}"
        if self._why_away is not None:
            raise ReelbenchError(
                f"{whose}; the server does not answer ({self._why_away}), so they can't be "
                "checked; --kept takes them anyway"
            )
        if self._asker.sent_sampling.get("temperature") != 0:
            if not tally.calls and self._giver["served"] is None:
                raise ReelbenchError(
                    f"{whose}, and {self._giver['server']} doesn't say what it serves "
                    "(/v1/models); --kept takes them, --fresh asks all again and keeps both"
                )
            return
        if self._keeping.recheck and self._kept_answers:
            await self._ask_drawn_questions_again(read, question_of, whose)

    async def _ask_drawn_questions_again(
        self, read: Read, question_of: QuestionOf, whose: str
    ) -> None:
        """Ask drawn questions once more. ReelbenchError where another model answers."""

        def before(name: str) -> _Reading:
            answer = self._kept_answers[name]
            return _Reading(read(answer.row, answer.text))

        async def ask_again(names: Sequence[str]) -> Sequence[_Reading | None]:
            rows = [self._kept_answers[name].row for name in names]
            return await asyncio.gather(*(self._read_again(read, question_of, row) for row in rows))

        drawn_ids = sorted(self._kept_answers, key=self._place_in_draw)
        self._repeats = await repeat(drawn_ids, before, ask_again, _are_alike)
        if not self._repeats.number:
            if self._asker.tally.calls:
                return  # of the same run: a budget that is used up, say
            why = "it gave no reply"
            if self._asker.notes:
                why = self._asker.notes[-1]
            raise ReelbenchError(
                f"{whose}, and none of them can be asked again ({why}); --kept takes them"
            )
        if self._repeats.verdict == "another":
            firm = len(self._repeats.firm)
            raise ReelbenchError(
                f"{whose}, and the server answers differently now: {firm} of "
                f"{self._repeats.number} asked again, each with one new answer four times "
                f"(first: {self._repeats.firm[0]!r}); "
                "--fresh asks all again and keeps both, --kept takes the kept answers"
            )

    def _place_in_draw(self, name: str) -> bytes:
        """Return a question's place in the draw of those that are asked once more."""
        return hashlib.sha256(f"{self._what} {name}".encode()).digest()

    async def _read_again(self, read: Read, question_of: QuestionOf, row: Row) -> _Reading | None:
        """Ask a question once more, and return the new answer's reading. None without a reply."""
        reply = await self._asker.ask_again(question_of(row))
        if reply is None or reply.raw is None:
            return None
        return _Reading(read(row, reply.raw))

    def record(self) -> AskedRecord:
        """Return the record of how the answers were come by."""
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
            server=self._giver["server"],
            revision=self._giver["revision"],
            served=self._filed_facts(),
            states=self._asker.statement.record_fields(),
            returned=tally_fields["returned"] or None,
            in_flight=pacer.most_in_flight or None,
            price=self._price(),
            per_second=per_second,
            rechecked=tuple(self._repeats.same),
            unlike=tuple(self._repeats.otherwise) or None,
            firmly_unlike=tuple(self._repeats.firm) or None,
            sent_instead=self._asker.sent_instead or None,
        )

    def _price(self) -> PriceRecord | None:
        options = self._asker.options
        prompt_price = options.usd_per_million_prompt
        completion_price = options.usd_per_million_completion
        if prompt_price is None or completion_price is None:
            return None
        return PriceRecord(prompt=prompt_price, completion=completion_price)

    def _filed_facts(self) -> dict[str, Any] | None:
        """Return the server's facts of the model, names as they are filed."""
        served = self._giver["served"]
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
