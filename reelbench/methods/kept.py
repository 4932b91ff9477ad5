"""Kept answers of an asked model: who gave them, and whether the server that is asked now would give them too.

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
from typing import Any

from reelbench.base.errors import ReelbenchError, number_of
from reelbench.llm.ask_result import Outdated
from reelbench.llm.asker import Asker, RetryCursor
from reelbench.llm.budget import moment
from reelbench.llm.client import NotServedError, TransientError, one_line
from reelbench.llm.messages import Message
from reelbench.llm.store import StoredReply
from reelbench.registry.records import AskedRecord
from reelbench.registry.rows import Row

_SAME_WORDS = 0.6
"""Share of an open answer's words, in order, from which on two are taken for one model's: servers' replies to one
question differ in words at temperature 0 too."""

_TELLING_WORDS = 30
"""Words of an answer from which on more tell no more: two servers' long replies part somewhere."""

_TELLING = 8
"""Questions that are asked once more. Two checkpoints of one training gave 47 to 77 % of 3,720 windows alike (28 pairs
of KlayMa527/autovmr's published outputs at 37ceb8bb75a9, Charades-STA): of eight all, by chance, in under 1 to 12 %."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is done with answers that are kept."""

    as_they_are: bool = False  # take them, whoever gave them, and though no server can be asked
    fresh: bool = False  # ask all anew; what is kept stays, and counts no more for this model
    recheck: bool = (
        True  # where nothing else was asked, and the temperature is 0, ask some once more
    )


class KeptAnswers:
    """What is kept of one model's answers to the questions of a run.

    Lives in the asker's event loop.
    """

    def __init__(self, asker: Asker, keeping: Keeping, revision: str | None, what: str) -> None:
        """Set up; `what` names the questions."""
        self._asker = asker
        self._keeping = keeping
        self._what = what
        who = {
            "server": asker.options.host,
            "name": asker.options.model,
            "revision": revision,
            "served": None,
        }
        self._now: dict[str, Any] = who
        self._away: str | None = None
        self._began = time.time()
        self._since = 0.0
        self._unsaid = False
        self._places: dict[str, int] = {}
        self._telling: list[tuple[tuple[bool, int, int], Row, Sequence[Message], str]] = []
        self._rechecked: tuple[str, ...] = ()

    async def begin(self, rows: Sequence[Row]) -> None:
        """Ask the server what it serves, and put down that all is asked anew where that is wanted.

        `rows` are the questions in the data's order.
        """
        self._places = {row["id"]: place for place, row in enumerate(rows)}
        asker = self._asker
        try:
            self._now["served"] = await asker.served_model()
        except (TransientError, NotServedError) as error:
            self._away = str(error)
        asker.giver = json.dumps(self._now, sort_keys=True)
        place = hashlib.sha256(
            json.dumps([self._now, self._what, asker.sampling], sort_keys=True).encode()
        ).hexdigest()
        store = asker.cache.store
        if self._keeping.fresh and self._away is None:
            await asker.cache.aside(store.set_valid_from, place, time.time())
        self._since = await asker.cache.aside(store.valid_from, place)

    async def cursor(
        self, messages: Sequence[Message], vote: int, outdated: Outdated | None
    ) -> RetryCursor[str]:
        """Return a question's place among the replies that are kept.

        ReelbenchError where they are another giver's.
        """
        others: list[tuple[StoredReply, str]] = []

        def passed(stored: StoredReply) -> bool:
            if self._keeping.as_they_are:
                return outdated is not None and outdated(stored)
            given: dict[str, Any] | None = (
                None if stored.giver is None else json.loads(stored.giver)
            )
            why: str | None = (
                None  # in what a giver is another one than is asked now; None where nothing says so
            )
            if given is not None and given["revision"] != self._now["revision"]:
                why = f"revision was {given['revision'] or 'not stated'}, is {self._now['revision'] or 'not stated'}"
            elif (
                given is not None
                and (then := given["served"]) is not None
                and (now := self._now["served"]) is not None
            ):
                differ = (name for name in then | now if then.get(name) != now.get(name))
                why = (
                    "; ".join(f"{name} was {then.get(name)}, is {now.get(name)}" for name in differ)
                    or None
                )
            if why is not None:
                others.append((stored, why))
                return True
            if stored.at < self._since or (outdated is not None and outdated(stored)):
                return True
            self._unsaid |= given is None or given["served"] is None or self._now["served"] is None
            return False

        cursor = await self._asker.cache.aside(
            RetryCursor[str], self._asker, messages, str, vote=vote, outdated=passed
        )
        if cursor.key is not None and others and not self._keeping.fresh:
            stored, why = others[-1]
            raise ReelbenchError(
                f"{self._what}: kept answers of {self._now['name']} ({_day(stored.at)}) are not "
                "by who is asked now: "
                f"{why}; --fresh asks all again and keeps both, --kept takes the kept answers"
            )
        return cursor

    def note_answer(
        self, row: Row, messages: Sequence[Message], text: str, at: float, *, wrong: bool
    ) -> None:
        """Note an answer that can be read, and when it came; of those kept some that tell most may be asked once more.

        That is a `wrong` one before a right one, which other models share, then a longer one; of
        several the first in the data's order, whichever came first.
        """
        if at >= self._began:
            return
        telling = wrong, min(len(text.split()), _TELLING_WORDS), -self._places[row["id"]]
        noted = [*self._telling, (telling, row, messages, text)]
        self._telling = sorted(noted, key=lambda answer: answer[0], reverse=True)[:_TELLING]

    async def check(self, read: Callable[[Row, str], Any]) -> None:
        """Raise ReelbenchError where what was kept is another's, or nobody can say whose.

        `read` is what an answer to a question reads as.
        """
        tally, keeping = self._asker.tally, self._keeping
        if keeping.as_they_are or tally.kept_from is None:
            return
        kept = number_of(max(0, tally.replies - tally.calls), "kept answer")
        whose = f"{self._what}: {kept} of {self._now['name']} from {_day(tally.kept_from)}"
        if self._away is not None:
            raise ReelbenchError(
                f"{whose}, and who gave them can't be asked ({self._away}); --kept takes them"
            )
        if tally.calls and not self._unsaid:
            return
        if self._asker.sampling.get("temperature") != 0:
            if not tally.calls and self._now["served"] is None:
                raise ReelbenchError(
                    f"{whose}, and {self._now['server']} doesn't say what it serves "
                    "(/v1/models); --kept takes them, "
                    "--fresh asks all again and keeps both"
                )
            return
        if not keeping.recheck or not self._telling:
            return
        again = (
            self._ask_again(read, row, messages, text) for _, row, messages, text in self._telling
        )
        found = await asyncio.gather(*again)
        if found == [None] * len(found):
            why = self._asker.notes[-1] if self._asker.notes else "it gave no reply"
            raise ReelbenchError(
                f"{whose}, and none of them can be asked once more ({why}); --kept takes them"
            )
        if differing := next(filter(None, found), None):
            raise ReelbenchError(
                f"{whose}, but {differing}: another model is served; --fresh asks all again and "
                "keeps both, --kept "
                "takes the kept answers"
            )
        ids = [row["id"] for _, row, *_ in self._telling]
        self._rechecked = tuple(
            id_ for id_, differs in zip(ids, found, strict=True) if differs == ""
        )

    async def _ask_again(
        self, read: Callable[[Row, str], Any], row: Row, messages: Sequence[Message], text: str
    ) -> str | None:
        """Ask a kept question once more -> in what the answer differs, "" where in nothing; None without a reply.

        A server that batches differs from itself now and then, so that what differs is asked for
        twice.
        """
        differs = ""
        for _ in range(2):
            reply = await self._asker.ask_again(messages)
            if reply is None or reply.raw is None:
                return None
            before, after = read(row, text), read(row, reply.raw)
            alike = before == after
            if isinstance(before, str) and isinstance(after, str):
                words = [said.casefold().split() for said in (before, after)]
                alike = difflib.SequenceMatcher(None, *words, autojunk=False).ratio() >= _SAME_WORDS
            if alike:
                return ""
            differs = f"{one_line(str(before), 60)}, now {one_line(str(after), 60)}"
        return f"{row['id']!r}, asked once more, is answered otherwise now ({differs})"

    def record(self) -> AskedRecord:
        """Return the record of how the answers were come by."""
        taken = self._asker.tally.record_fields()
        return AskedRecord(
            asked=taken["calls"],
            kept=taken["cached"],
            kept_from=taken["kept_from"],
            kept_to=taken["kept_to"],
            server=self._now["server"],
            revision=self._now["revision"],
            served=self._now["served"],
            rechecked=self._rechecked,
        )


def _day(at: float) -> str:
    return str(moment(at))[:16].replace("T", " ")
