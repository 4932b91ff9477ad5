"""Every reply that a language model ever gave.

A reply's key is the sha256 of everything that shapes it: model asked, messages, sampling settings,
vote, attempt. The server's address is not in the key, so a server that comes back on another port
is not paid again; the host is kept beside the reply and a run says when it reuses replies of
another host.

Each reply is kept the moment it arrives, so that a killed process loses only what was in flight. A
process *claims* a reply before it asks for it; the others then wait for it instead of paying for it
too. A claim is a lease: it lapses by itself when its owner dies.

A reply has a checksum, against disks that forget and not against forgers: one that does not hold is
asked for again.

All who ask from one process share one cache of a place, and by it what is in flight and each
server's pace.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from reelbench.base.errors import ReelbenchError
from reelbench.llm.ask_options import AskOptions, cache_place
from reelbench.llm.away_store import opened_patiently
from reelbench.llm.defaults import CACHE_PATIENCE
from reelbench.llm.pacing import Pacer
from reelbench.llm.reply import Reply
from reelbench.llm.sqlite_store import SqliteStore
from reelbench.llm.store import Claimed, SqlStore, StoredReply, is_address

_T = TypeVar("_T")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_READERS, _WRITERS = (
    4,
    2,
)  # threads: replies that arrive don't wait behind questions that wait for the server
_LOOK = 0.2  # seconds between looks at what other processes ask for
_MOST = 500  # rows or keys in one request

_sharing = threading.Lock()
_open: dict[tuple[int, str], "ReplyCache"] = {}  # of this process, by place
_proven: set[tuple[object, ...]] = (
    set()
)  # cache, URL and key of servers that have given this process a reply


@dataclass(eq=False)
class Gathered(Generic[ItemT, ResultT]):
    """Does `work` on several items at once, in a thread, or without threads in the event loop itself: used in one.

    What comes in one round of the loop goes together: replies come in bursts, and a write to a file
    costs as much for ten as for one.
    """

    work: Callable[[Sequence[ItemT]], Sequence[ResultT]]
    threads: Executor | None
    _waiting: list[tuple[ItemT, asyncio.Future[ResultT]]] = field(
        default_factory=list[tuple[ItemT, asyncio.Future[ResultT]]], init=False
    )
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    async def do(self, item: ItemT) -> ResultT:
        """Return the result of `work` on an item; what is begun is done, though nobody waits for it any more."""
        future: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        return await future

    async def wait_until_done(self) -> None:
        """Wait until all that was asked for is done."""
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            try:
                items = [item for item, _ in batch]
                if self.threads is None:
                    results = self.work(items)
                else:
                    work = asyncio.get_running_loop().run_in_executor(
                        self.threads, self.work, items
                    )
                    results = await asyncio.shield(work)
            except Exception as error:  # noqa: BLE001 - whoever waits gets it
                for future in (one for _, one in batch if not one.done()):  # who waited may be gone
                    future.set_exception(error)
            else:
                for (_, future), result in zip(batch, results, strict=True):
                    if not future.done():
                        future.set_result(result)
        self._task = None


class ReplyCache:
    """The replies of a store, to one process; safe to use from several threads, its coroutines from one event loop."""

    @classmethod
    def shared(cls, options: AskOptions, on_note: Callable[[str], None]) -> "ReplyCache":
        """Return this process's cache where options keep their replies; to be closed as often as it was asked for."""
        place = options.cache if options.cache is not None else cache_place()
        with _sharing:
            cache = _open.get((os.getpid(), str(place)))
            if cache is None:
                cache = cls(place, on_note, patience=options.cache_patience)
                _open[os.getpid(), str(place)] = cache
            else:
                cache._listeners.append(on_note)
            return cache

    def __init__(
        self, place: Path | str, on_note: Callable[[str], None], *, patience: float = CACHE_PATIENCE
    ) -> None:
        """Open it.

        Args:
            place: A file, or the address of a PostgreSQL database (`postgresql://…`).
            on_note: Called with each line that the user should know.
            patience: Seconds for which a server that can't be reached is waited for.
        """
        self._key = (os.getpid(), str(place))
        self._listeners = [on_note]
        self.told: set[str] = set()
        """What was said of who is asked, once for all who ask."""
        self.in_flight: dict[bytes, asyncio.Task[str | None]] = {}
        """What this process asks for now, by key: equal requests are asked once."""
        self.store = opened_patiently(lambda: open_store(place, self._note), self._note, patience)
        self.is_shared = self.store.is_remote
        """Whether other machines may ask for the same."""
        self._closed = False
        self._ahead: dict[bytes, StoredReply | None] = {}
        remote = self.store.is_remote
        self._readers = ThreadPoolExecutor(_READERS, "reelbench-cache") if remote else None
        self._writers = ThreadPoolExecutor(_WRITERS, "reelbench-cache") if remote else None
        store = self.store
        self._looks = Gathered[bytes, StoredReply | None](
            lambda keys: list(map(store.get(keys).get, keys)), self._readers
        )
        self.claims = Gathered[bytes, Claimed](
            lambda keys: [claims[key] for claims in (store.claim(keys),) for key in keys],
            self._readers,
        )
        """Claims the right to ask for a key, unless its reply is here by now or it is being asked for elsewhere."""
        self._puts = Gathered[
            StoredReply, bool
        ](  # whether each is what is kept now, where that is known
            lambda replies: [store.put(replies) == len(replies)] * len(replies), self._writers
        )
        self._pacers: dict[tuple[str | None, str | None], tuple[Pacer, int]] = {}
        self._awaited: dict[bytes, asyncio.Future[None]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._asking = 0

    async def aside(self, work: Callable[..., _T], *args: Any, **named: Any) -> _T:  # noqa: ANN401 - the work's
        """Do what may wait for the store: off the event loop, in a thread, where a server keeps the replies."""
        if self._readers is None:
            return work(*args, **named)
        done = asyncio.get_running_loop().run_in_executor(
            self._readers, partial(work, *args, **named)
        )
        done.add_done_callback(
            lambda _: done.cancelled() or done.exception()
        )  # known: who waited may be gone
        return await asyncio.shield(done)

    async def look(self, *keys: bytes) -> None:
        """Read what is kept under keys, with whatever else is wanted at the time; the next `get` of each takes it."""
        if wanted := [key for key in keys if self._ahead.get(key) is None]:
            self._ahead |= dict(
                zip(wanted, await asyncio.gather(*map(self._looks.do, wanted)), strict=True)
            )

    def get(self, key: bytes) -> StoredReply | None:
        """Return the reply kept under `key`, or None."""
        stored = self._ahead.pop(key) if key in self._ahead else self.store.get((key,)).get(key)
        if stored is None:
            return None
        if stored.is_damaged:
            self.store.drop(stored)
            self._note(
                f"judge cache {self.store.name}: a reply in it is damaged (its checksum does not hold); left out"
            )
            return None
        return stored

    async def put(self, key: bytes, model: str, reply: Reply, giver: str | None = None) -> None:
        """Keep a reply and who gave it, for good, and give up the claim on it."""
        stored = stored_now(key, model, reply, giver)
        if await self._puts.do(stored):
            self._ahead[key] = stored  # its asker reads it next

    async def wait_for_release(self, key: bytes) -> None:
        """Wait until no other process is asking for `key`; one look at all that are waited for, a few times a second.

        ReelbenchError where the store can't be read.
        """
        if not self._awaited:
            self._tasks.append(asyncio.ensure_future(self._watch()))
        future = self._awaited.setdefault(key, asyncio.get_running_loop().create_future())
        await asyncio.shield(future)

    # --- who asks
    # ----------------------------------------------------------------------------------------------------

    def join(self, options: AskOptions) -> Pacer:
        """Return the pacer of a server, which all share who ask it with one key from this process."""
        server = (options.url, options.api_key)
        with _sharing:
            pacer, users = self._pacers.get(server) or (
                Pacer(proven=(self._key, *server) in _proven),
                0,
            )
            pacer.allow(options.concurrency)
            pacer.shared = self.is_shared
            self._pacers[server] = pacer, users + 1
        return pacer

    def leave(self, options: AskOptions) -> bool:
        """Give a server's pacer up -> whether nobody else has it."""
        server = (options.url, options.api_key)
        with _sharing:
            pacer, users = self._pacers.pop(server)
            if users > 1:
                self._pacers[server] = pacer, users - 1
            elif pacer.had_reply and pacer.stopped is None:
                _proven.add((self._key, *server))
            else:
                _proven.discard((self._key, *server))
        return users == 1

    def begin_asking(self) -> None:
        """Keep this process's claims alive from now on, in the running event loop."""
        self._asking += 1
        if self._asking == 1:
            self._tasks.append(asyncio.ensure_future(self._beat()))

    async def end_asking(self) -> None:
        """Wait until all replies that came are put down; the last to ask ends what was begun."""
        self._asking -= 1
        if not self._asking:
            tasks, self._tasks = self._tasks, []
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._awaited.clear()
        await self._puts.wait_until_done()

    def close(self, on_note: Callable[[str], None] | None = None) -> None:
        """Give up all claims and close the store, where nobody else uses it; may be called twice.

        `on_note` is that of who leaves.
        """
        with _sharing:
            if on_note is not None and len(self._listeners) > 1:
                self._listeners.remove(on_note)
                return
            if self._closed:
                return
            self._closed = True
            if _open.get(self._key) is self:
                del _open[self._key]
        for threads in filter(None, (self._readers, self._writers)):
            threads.shutdown()
        self.store.close()

    # --- inside
    # ------------------------------------------------------------------------------------------------------

    def _note(self, line: str) -> None:
        self._listeners[0](line)

    async def _watch(self) -> None:
        while self._awaited:
            await asyncio.sleep(_LOOK)
            try:
                taken = await self.aside(self.store.claimed_elsewhere, list(self._awaited))
            except ReelbenchError as error:
                for future in self._awaited.values():
                    future.set_exception(error)
                    future.exception()  # known: who waited may be gone
                self._awaited.clear()
                return
            for key in self._awaited.keys() - taken:
                self._awaited.pop(key).set_result(None)

    async def _beat(self) -> None:
        with suppress(ReelbenchError):  # whoever writes next meets the same error, and tells
            while True:
                await self.aside(self.store.renew)
                await asyncio.sleep(self.store.lease / 6)


def open_store(place: Path | str, on_note: Callable[[str], None]) -> SqlStore:
    """Open what keeps replies: a file, or the database of an address (`postgresql://…`).

    InputError where it can't be used at all, ReelbenchError where it can't be used now.
    """
    if is_address(place):
        from reelbench.llm.postgres_store import PostgresStore

        return PostgresStore.open(str(place))
    return SqliteStore.open(Path(place), on_note)


def stored_now(key: bytes, model: str, reply: Reply, giver: str | None = None) -> StoredReply:
    """Return a reply that came just now, as a store keeps it."""
    return StoredReply(key, model, time.time(), reply, reply.checksum(key), giver=giver)
