"""A panel: one judge or several over the same items, each asked for itself, their scores taken together.

Each judge's replies are its own, under the keys that they have without a panel: one that was asked alone is not asked
again. An item's score is the mean or the median of the judges', and only where all of them gave one.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import reduce
from itertools import islice
from typing import Any

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.member import Place, members
from reelbench.judges.prompting import PromptSet
from reelbench.judges.verdicts import Verdict, panel_scores
from reelbench.llm.budget import Budget, Tally, added
from reelbench.llm.retry_cursor import AskResult, RetryCursor
from reelbench.registry.records import Item, JudgeRecord
from reelbench.registry.spec import JudgeSpec

_AT_ONCE = 64
"""Items of which a server of replies is asked at once."""


class Panel:
    """Judges items on one scale. Shared by `JudgeRun` and `LiveJudge`; safe to call from several threads.

    The event loop, in a thread of its own, is started by the first reply that is not in the cache.
    """

    def __init__(
        self,
        scale: JudgeSpec,
        prompts: PromptSet,
        options: JudgeOptions,
        on_note: Callable[[str], None] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.options = options
        self._criteria = scale.criteria
        self._members = members(scale, prompts, options, on_note, budget)
        self._rule = "median" if options.vote_rule == "median" else "mean"
        self._items = 0
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def notes(self) -> list[str]:
        """One line for each thing that the user should know."""
        return [note for member in self._members for note in member.asker.notes]

    @property
    def tally(self) -> Tally:
        """What judging has come to so far; `items` are those that every judge is done with."""
        return replace(Tally.total([member.asker.tally for member in self._members]), items=self._items)

    @property
    def ahead(self) -> int:
        """How many times more items are begun where several machines share them (see `Asker.ahead`)."""
        return max(member.asker.ahead for member in self._members)

    def read_ahead(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, after reading what a server of replies has of some of them at a time."""
        left = iter(items)
        while some := list(islice(left, _AT_ONCE if self.ahead > 1 else 1)):
            for member in self._members:
                member.read_ahead(some)
            yield from some

    def start(self, item: Item) -> Verdict | Future[Verdict]:
        """Return an item's verdict where the cache holds all of it, else a future of it."""
        asked = [member.questions(item) for member in self._members]
        if any(cursor.key is not None for cursors in asked for cursor in cursors.values()):
            return asyncio.run_coroutine_threadsafe(self._finished(item, asked), self._running_loop())
        results = [
            {place: member.asker.counted(cursor) for place, cursor in cursors.items()}
            for member, cursors in zip(self._members, asked, strict=True)
        ]
        return self._verdict(item, results)

    def settle(self, items: Sequence[Item]) -> None:
        """Settle with each judge's batches (see `Member.settle`)."""
        for member in self._members:
            member.settle(items)

    def record(self) -> JudgeRecord:
        """Return the record, over all verdicts given so far."""
        records = [member.record() for member in self._members]
        return records[0] if len(records) == 1 else panel_record(records, self._rule)

    def close(self) -> None:
        """End what is under way and close the cache; may be called twice."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            asyncio.run_coroutine_threadsafe(self._shut(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()
        for member in self._members:
            member.asker.close()

    async def _finished(self, item: Item, asked: Sequence[Mapping[Place, RetryCursor[int]]]) -> Verdict:
        places = [(member, place) for member, cursors in enumerate(asked) for place in cursors]
        results = await asyncio.gather(
            *(self._members[member].asker.finish(asked[member][place]) for member, place in places)
        )
        by_member: list[dict[Place, AskResult[int]]] = [{} for _ in asked]
        for (member, place), result in zip(places, results, strict=True):
            by_member[member][place] = result
        return self._verdict(item, by_member)

    def _verdict(self, item: Item, results: Sequence[Mapping[Place, AskResult[int]]]) -> Verdict:
        verdicts = [member.verdict(item, votes) for member, votes in zip(self._members, results, strict=True)]
        with self._lock:
            self._items += 1
        if len(verdicts) == 1:
            return verdicts[0]
        scores = panel_scores([verdict.scores for verdict in verdicts], self._criteria, self._rule)
        reasons = {
            criterion: reason
            for verdict in reversed(verdicts)
            for criterion, reason in verdict.reasons.items()
            if criterion not in scores
        }
        replies = [
            reply.model_copy(update={"judge": member.options.model})
            for member, verdict in zip(self._members, verdicts, strict=True)
            for reply in verdict.replies
        ]
        return Verdict(item.id, scores, reasons, replies)

    async def _shut(self) -> None:
        for member in self._members:
            await member.asker.shut()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_default_executor()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="reelbench-judge", daemon=True)
                self._thread.start()
            return self._loop


def panel_record(records: Sequence[JudgeRecord], rule: str) -> JudgeRecord:
    """Return the record of a panel, of its judges'."""
    records = sorted(records, key=lambda record: record.requested)
    hosts = sorted({record.url for record in records if record.url})
    return records[0].model_copy(
        update={
            **summed(records),
            "requested": ",".join(record.requested for record in records),
            "url": ", ".join(hosts) or None,
            "panel": records,
            "panel_rule": rule,
        }
    )


def summed(records: Sequence[JudgeRecord]) -> dict[str, Any]:
    """Return what several records come to together: replies, tokens and dollars."""
    returned: Counter[str] = Counter()
    for record in records:
        returned.update(record.returned)
    costs = [record.cost_usd for record in records]
    plain = ("calls", "cached", "prompt_tokens", "completion_tokens")
    perhaps = ("reasoning_tokens", "cached_tokens")
    return {
        "returned": dict(sorted(returned.items())),
        **{name: sum(getattr(record, name) for record in records) for name in plain},
        **{name: reduce(added, (getattr(record, name) for record in records), None) for name in perhaps},
        "cost_usd": None if None in costs else sum(cost for cost in costs if cost is not None),
    }
