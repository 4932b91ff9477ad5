"""The cache of every reply that a language model ever gave.

A reply's key is the sha256 of everything that shapes it: model asked, messages, sampling settings,
vote, attempt. The server's address is not in the key, so a server that comes back on another port
is not paid again. The host is kept beside the reply and a run says when it reuses replies of
another host.

Each reply is kept the moment it arrives, so that a killed process loses only the replies in flight.
A process *claims* a reply before it asks for it. All others then wait for it instead of paying for
it too. A claim is a lease: it lapses by itself when its owner dies.

A reply has a checksum, against disks that forget and not against forgers. A reply that does not
have its checksum is asked for again.

All askers of one process share one cache of a place, and with it the requests in flight and the
pace of each server.
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
from reelbench.llm.ask_options import AskOptions, cache_location
from reelbench.llm.away_store import opened_patiently
from reelbench.llm.defaults import CACHE_PATIENCE
from reelbench.llm.pace import Pace
from reelbench.llm.pacing import Pacer
from reelbench.llm.reply import Reply
from reelbench.llm.sqlite_store import SqliteStore
from reelbench.llm.store import Claimed, SqlStore, StoredReply, is_address

_T = TypeVar("_T")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

# Threads: replies that arrive don't wait behind questions that wait for the server.
_READERS = 4
_WRITERS = 2
_POLL_SECONDS = 0.2  # seconds between looks at what other processes ask for
_BATCH_SIZE = 500  # rows or keys in one request

_sharing = threading.Lock()
_open: dict[tuple[int, str], "ReplyCache"] = {}  # of this process, by place
# The paces of servers that this process has asked, by cache, URL and key.
_paces: dict[tuple[object, ...], Pace] = {}


@dataclass(slots=True)
class _SharedPacer:
    """A server's pacer, and the number of askers that have it."""

    pacer: Pacer
    askers: int = 0


@dataclass(eq=False)
class Batcher(Generic[ItemT, ResultT]):
    """Does `work` on several items at once, for the coroutines of one event loop.

    Items that come in one round of the loop go together: replies come in bursts, and a write to a
    file costs as much for ten as for one.

    Attributes:
        work: Returns the result of each item.
        threads: Where the work is done. None is in the event loop itself.
    """

    work: Callable[[Sequence[ItemT]], Sequence[ResultT]]
    threads: Executor | None
    _waiting: list[tuple[ItemT, asyncio.Future[ResultT]]] = field(
        default_factory=list[tuple[ItemT, asyncio.Future[ResultT]]], init=False
    )
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    async def do(self, item: ItemT) -> ResultT:
        """Return the result of `work` on an item.

        Work that has begun is done, though nobody waits for it any more.
        """
        future: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        return await future

    async def wait_until_done(self) -> None:
        """Wait until all items are done."""
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._waiting:
            batch = self._waiting[:_BATCH_SIZE]
            del self._waiting[:_BATCH_SIZE]
            try:
                results = await self._results([item for item, _ in batch])
            except Exception as error:  # noqa: BLE001 - whoever waits gets it
                for _, future in batch:
                    if not future.done():  # its waiter may be gone
                        future.set_exception(error)
            else:
                for (_, future), result in zip(batch, results, strict=True):
                    if not future.done():
                        future.set_result(result)
        self._task = None

    async def _results(self, items: Sequence[ItemT]) -> Sequence[ResultT]:
        if self.threads is None:
            return self.work(items)
        loop = asyncio.get_running_loop()
        return await asyncio.shield(loop.run_in_executor(self.threads, self.work, items))


class ReplyCache:
    """The replies of a store, for one process.

    It is safe to use from several threads, its coroutines from one event loop.
    """

    @classmethod
    def shared(cls, options: AskOptions, on_note: Callable[[str], None]) -> "ReplyCache":
        """Return this process's cache of the place of options.

        It is to be closed as often as it was returned.
        """
        place = options.cache
        if place is None:
            place = cache_location()
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
        self.server_lines: set[str] = set()
        """Lines on the asked servers that the user knows by now, once for all askers."""
        self.in_flight: dict[bytes, asyncio.Task[str | None]] = {}
        """The requests of this process, by key: equal requests are asked once."""
        self.store = opened_patiently(lambda: open_store(place, self._note), self._note, patience)
        self.is_shared = self.store.is_remote
        """True where other machines may ask for the same."""
        self._closed = False
        self._replies_read_ahead: dict[bytes, StoredReply | None] = {}
        self._readers: ThreadPoolExecutor | None = None
        self._writers: ThreadPoolExecutor | None = None
        if self.store.is_remote:
            self._readers = ThreadPoolExecutor(_READERS, "reelbench-cache")
            self._writers = ThreadPoolExecutor(_WRITERS, "reelbench-cache")
        self._batched_reads = Batcher[bytes, StoredReply | None](self._get_all, self._readers)
        self.claims = Batcher[bytes, Claimed](self._claim_all, self._readers)
        """Claims the right to ask for a key.

        A claim fails where the reply is here by now, or is being asked for elsewhere.
        """
        self._batched_writes = Batcher[StoredReply, bool](self._put_all, self._writers)
        self._pacers: dict[tuple[str | None, str | None], _SharedPacer] = {}
        self._keys_claimed_elsewhere: dict[bytes, asyncio.Future[None]] = {}
        self._background_tasks: list[asyncio.Task[None]] = []
        self._asker_count = 0

    async def run_off_loop(self, work: Callable[..., _T], *args: Any, **named: Any) -> _T:  # noqa: ANN401 - the work's
        """Do work that may wait for the store.

        Where a server keeps the replies it is done in a thread, off the event loop.
        """
        if self._readers is None:
            return work(*args, **named)
        loop = asyncio.get_running_loop()
        result = loop.run_in_executor(self._readers, partial(work, *args, **named))
        result.add_done_callback(_retrieve_error)  # its waiter may be gone
        return await asyncio.shield(result)

    async def read_ahead(self, *keys: bytes) -> None:
        """Read the replies under keys ahead. The next `get` of each key takes its reply."""
        missing = [key for key in keys if self._replies_read_ahead.get(key) is None]
        replies = await asyncio.gather(*map(self._batched_reads.do, missing))
        self._replies_read_ahead |= dict(zip(missing, replies, strict=True))

    def get(self, key: bytes) -> StoredReply | None:
        """Return the reply kept under `key`, or None."""
        if key in self._replies_read_ahead:
            stored = self._replies_read_ahead.pop(key)
        else:
            replies = self.store.get([key])
            stored = replies.get(key)
        if stored is None:
            return None
        if stored.is_damaged:
            self.store.drop(stored)
            self._note(
                f"judge cache {self.store.name}: a reply in it is damaged "
                "(its checksum is wrong); left out"
            )
            return None
        return stored

    async def put(self, key: bytes, model: str, reply: Reply, giver: str | None = None) -> None:
        """Keep a reply and its giver, and give up the claim on it."""
        stored = stored_now(key, model, reply, giver)
        if await self._batched_writes.do(stored):
            self._replies_read_ahead[key] = stored  # its asker reads it next

    async def wait_for_release(self, key: bytes) -> None:
        """Wait until no other process is asking for `key`.

        The store is asked a few times a second for all such keys together.

        Raises:
            ReelbenchError: The store can't be read.
        """
        if not self._keys_claimed_elsewhere:
            polling = asyncio.ensure_future(self._poll_claims())
            self._background_tasks.append(polling)
        if key not in self._keys_claimed_elsewhere:
            loop = asyncio.get_running_loop()
            self._keys_claimed_elsewhere[key] = loop.create_future()
        await asyncio.shield(self._keys_claimed_elsewhere[key])

    # --- askers

    def acquire_pacer(self, options: AskOptions) -> Pacer:
        """Return the pacer of a server.

        All askers of this process that ask the server with one key share it.
        """
        server = (options.url, options.api_key)
        with _sharing:
            shared_pacer = self._pacers.get(server)
            if shared_pacer is None:
                pace = _paces.setdefault((self._key, *server), Pace())
                shared_pacer = _SharedPacer(Pacer(pace))
                self._pacers[server] = shared_pacer
            pacer = shared_pacer.pacer
            pacer.pace.allow(
                options.most_in_flight,
                options.time_limit,
                first=shared_pacer.askers == 0,
                is_stated=options.concurrency is not None,
            )
            pacer.shared = self.is_shared
            pacer.elsewhere = partial(self._seconds_since_reply, options.host)
            shared_pacer.askers += 1
        return pacer

    def release_pacer(self, options: AskOptions) -> bool:
        """Give a server's pacer up, and return True where nobody else has it."""
        server = (options.url, options.api_key)
        with _sharing:
            shared_pacer = self._pacers[server]
            shared_pacer.askers -= 1
            if shared_pacer.askers:
                return False
            del self._pacers[server]
            if shared_pacer.pacer.stopped is not None:
                _paces.pop((self._key, *server), None)
        return True

    def start_claim_renewal(self) -> None:
        """Keep this process's claims alive from now on, in the running event loop."""
        self._asker_count += 1
        if self._asker_count == 1:
            renewal = asyncio.ensure_future(self._renew_claims())
            self._background_tasks.append(renewal)

    async def finish_asking(self) -> None:
        """Wait until all received replies are written. The last asker ends background tasks."""
        self._asker_count -= 1
        if self._asker_count == 0:
            await self._cancel_background_tasks()
        await self._batched_writes.wait_until_done()

    async def _cancel_background_tasks(self) -> None:
        """End the tasks that renew claims and poll for those of other processes."""
        tasks = self._background_tasks
        self._background_tasks = []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._keys_claimed_elsewhere.clear()

    def close(self, on_note: Callable[[str], None] | None = None) -> None:
        """Give up all claims and close the store, where nobody else uses it.

        It may be called twice.

        Args:
            on_note: That of the asker that leaves.
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

    async def _seconds_since_reply(self, host: str) -> float | None:
        """Return the seconds since a server's latest reply to any process of the store."""
        try:
            at = await self.run_off_loop(self.store.latest_reply, host)
        except ReelbenchError:  # the next to write meets the same error, and tells
            return None
        if at is None:
            return None
        return max(0.0, time.time() - at)

    def _get_all(self, keys: Sequence[bytes]) -> list[StoredReply | None]:
        replies = self.store.get(keys)
        return [replies.get(key) for key in keys]

    def _claim_all(self, keys: Sequence[bytes]) -> list[Claimed]:
        claims = self.store.claim(keys)
        return [claims[key] for key in keys]

    def _put_all(self, replies: Sequence[StoredReply]) -> list[bool]:
        """Keep replies. Return True for each that is known to be stored now."""
        all_new = self.store.put(replies) == len(replies)
        return [all_new] * len(replies)

    def _note(self, line: str) -> None:
        self._listeners[0](line)

    async def _poll_claims(self) -> None:
        while self._keys_claimed_elsewhere:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                claimed_keys = await self.run_off_loop(
                    self.store.claimed_elsewhere, list(self._keys_claimed_elsewhere)
                )
            except ReelbenchError as error:
                for future in self._keys_claimed_elsewhere.values():
                    future.set_exception(error)
                    _retrieve_error(future)  # its waiter may be gone
                self._keys_claimed_elsewhere.clear()
                return
            for key in self._keys_claimed_elsewhere.keys() - claimed_keys:
                self._keys_claimed_elsewhere.pop(key).set_result(None)

    async def _renew_claims(self) -> None:
        with suppress(ReelbenchError):  # the next to write meets the same error, and tells
            while True:
                await self.run_off_loop(self.store.renew)
                await asyncio.sleep(self.store.lease / 6)


def open_store(place: Path | str, on_note: Callable[[str], None]) -> SqlStore:
    """Open a store: a file, or the database of an address (`postgresql://…`).

    Raises:
        InputError: It can't be used at all.
        ReelbenchError: It can't be used now.
    """
    if is_address(place):
        from reelbench.llm.postgres_store import PostgresStore

        return PostgresStore.open(str(place))
    return SqliteStore.open(Path(place), on_note)


def stored_now(key: bytes, model: str, reply: Reply, giver: str | None = None) -> StoredReply:
    """Return a reply that came just now, as a store keeps it."""
    return StoredReply(
        key=key,
        model=model,
        at=time.time(),
        reply=reply,
        checksum=reply.checksum(key),
        giver=giver,
    )


def _retrieve_error(future: "asyncio.Future[Any]") -> None:
    """Look at a future's error, or asyncio would complain of one that nobody saw."""
    if not future.cancelled():
        future.exception()
