"""Every reply that a language model ever gave.

A reply's key is the sha256 of everything that shapes it: model asked, messages, sampling settings, vote, attempt.
The server's address is not in the key, so a server that comes back on another port is not paid again; the host is kept
beside the reply and a run says when it reuses replies of another host.

Each reply is kept the moment it arrives, so that a killed process loses only what was in flight. A process *claims* a
reply before it asks for it; the others then wait for it instead of paying for it too. A claim is a lease: it lapses by
itself when its owner dies.

A reply has a checksum, against disks that forget and not against forgers: one that does not hold is asked for again.

Where replies are kept by a server that can't be reached for a while, nothing new is asked, and what arrives is put into
a file here (`llm.spool`) until it can be.
"""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from reelbench.llm.gathered import Gathered
from reelbench.llm.reply import Reply
from reelbench.llm.spool import spool_of
from reelbench.llm.sqlite_store import EDITED, SqliteStore
from reelbench.llm.store import AwayError, Claimed, Limit, ReplyStore, StoredReply
from reelbench.registry.errors import InputError, ReelbenchError, number_of

PATIENCE = 60.0
"""Seconds for which a server of replies that can't be reached is waited for."""

_T = TypeVar("_T")
_P = ParamSpec("_P")

_OTHER_ADDRESS = re.compile(r"\s*(?:[a-z][\w+.-]+:/|(?:\w+\s*=\s*\S*\s+)*(?:host|dbname|password)\s*=)", re.IGNORECASE)
_AGAIN = 0.25  # seconds between looks at whether a server is back
_READERS, _WRITERS = 4, 2  # threads: replies that arrive don't wait behind questions that wait for the server


class ReplyCache:
    """The replies of a store, to one process; safe to use from several threads."""

    def __init__(self, place: Path | str, on_note: Callable[[str], None], *, patience: float = PATIENCE) -> None:
        """Open it.

        Args:
            place: A file, or the address of a PostgreSQL database (`postgresql://…`).
            on_note: Called with each line that the user should know.
            patience: Seconds for which a server that can't be reached is waited for.
        """
        self._on_note = on_note
        self._patience = patience
        self._edited_noted = False
        self.in_flight: dict[bytes, asyncio.Task[str | None]] = {}
        """What this process asks for now, by key: equal requests are asked once."""
        self.store = self._opened(place)
        self._spool = spool_of(self.store.name)
        self._spool.away_since = None
        self._closed = threading.Event()
        self._ahead: dict[bytes, StoredReply | None] = {}
        self._readers = ThreadPoolExecutor(_READERS, "reelbench-cache")
        self._writers = ThreadPoolExecutor(_WRITERS, "reelbench-cache")
        self._looks = Gathered(self._found, self._readers)
        self._claims = Gathered(self._claimed, self._readers)
        self._puts = Gathered(self._kept, self._writers)
        if self.store.is_remote:
            self._take_left_over()

    def _opened(self, place: Path | str) -> ReplyStore:
        since = None
        while True:
            try:
                return open_store(place, self._on_note)
            except AwayError as error:
                if since is None:
                    since = time.monotonic()
                    self._on_note(f"{error}; waiting for it, {self._patience:g} s at most")
                if time.monotonic() - since >= self._patience:
                    raise ReelbenchError(f"{error}, for {self._patience:g} s (--cache-patience); run again") from None
                time.sleep(_AGAIN)

    async def aside(self, work: Callable[..., _T], *args: Any, **named: Any) -> _T:  # noqa: ANN401 - the work's
        """Do what may wait for the store: off the event loop, in a thread, where a server keeps the replies."""
        if not self.store.is_remote:
            return work(*args, **named)
        done = asyncio.get_running_loop().run_in_executor(self._readers, partial(work, *args, **named))
        return await asyncio.shield(done)

    def read_ahead(self, keys: Sequence[bytes]) -> None:
        """Read what a server has of `keys` in one request; the next `get` of each takes it from there."""
        if self.store.is_remote:
            there = self.patiently(self.store.get, keys)
            self._ahead |= {key: there.get(key) for key in keys}

    async def look(self, key: bytes) -> None:
        """Read ahead what a server has under `key`, with whatever else is wanted at the time."""
        if self.store.is_remote:
            self._ahead[key] = (await self._looks.do(key))[0]

    def get(self, key: bytes) -> Reply | None:
        """Return the reply kept under `key`, or None."""
        if not self.store.is_remote:
            stored = self._ahead.pop(key, None) or self.store.get((key,)).get(key)
        elif key in self._ahead:
            stored = self._ahead.pop(key)
        else:
            stored = self._patiently(lambda: self.store.get([key]).get(key), otherwise=lambda: self._spool.get(key))
        if stored is None:
            return None
        if stored.edited:
            self._note_edited()
            return None
        if stored.is_damaged:
            self.patiently(self.store.drop, stored)
            self._on_note(
                f"judge cache {self.store.name}: a reply in it is damaged (its checksum does not hold); left out"
            )
            return None
        return stored.reply

    def _note_edited(self) -> None:
        if not self._edited_noted:
            self._edited_noted = True
            count = sum(stored.edited for stored in self.store.replies())
            hold = number_of(count, "reply in it holds", "replies in it hold")
            self._on_note(
                f"judge cache {self.store.name}: {hold} {EDITED}, which an earlier version wrote "
                "over the text of a key; those that are needed are asked again, once"
            )

    def claim(self, key: bytes) -> Claimed:
        """Claim the right to ask for `key`, unless its reply is here by now or it is being asked for elsewhere."""
        if not self.store.is_remote:
            return self.store.claim((key,))[key]
        return self.patiently(self.store.claim, [key])[key]

    async def claim_soon(self, key: bytes) -> Claimed:
        """Claim likewise, with whatever else is to be claimed at the time."""
        return await self._claims.do(key) if self.store.is_remote else self.claim(key)

    def taken(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` that another process is asking for now."""
        return self.patiently(self.store.taken, keys)

    def renew(self) -> None:
        """Make this process's claims last a full lease again."""
        self.patiently(self.store.renew)

    def put(self, key: bytes, model: str, reply: Reply) -> StoredReply | None:
        """Keep a reply, for good, and give up the claim on it; return what a file then has, where that is known."""
        stored = stored_now(key, model, reply)
        if not self.store.is_remote:
            return stored if self.store.put((stored,)) else None
        self._put((stored,))
        return None

    async def put_soon(self, key: bytes, model: str, reply: Reply) -> None:
        """Keep a reply likewise, with whatever else has come at the time."""
        if self.store.is_remote:
            await self._puts.do(stored_now(key, model, reply))
        elif (stored := self.put(key, model, reply)) is not None:
            self._ahead[key] = stored  # its asker reads it next

    def _put(self, replies: Sequence[StoredReply]) -> None:
        if self._spool.away_since is None:
            try:
                self.store.put(replies)
            except AwayError as error:
                self._note_away(error)
            except ReelbenchError:  # refused, as where its disk is full: paid for all the same
                self._put_aside(replies)
                raise
            else:
                return
        self._put_aside(replies)

    def _put_aside(self, replies: Sequence[StoredReply]) -> None:
        try:
            with self._spool.lock:
                for reply in replies:
                    self._spool.add(reply)
        except OSError as error:
            raise ReelbenchError(
                f"judge cache {self.store.name}: can't be written, and {self._spool.path} can't either "
                f"({error.strerror}); replies that it holds are kept"
            ) from None

    async def drained(self) -> None:
        """Wait until all replies that came are put down."""
        await self._puts.drained()

    def release(self, key: bytes) -> None:
        """Give up the claim on `key`: its reply could not be had."""
        self.patiently(self.store.release, key)

    def reserve(self, job: str, limit: Limit, estimate: float) -> float | None:
        """Set aside one call of about `estimate` dollars of a job's -> these dollars; None where there is no room."""
        return self.patiently(self.store.reserve, job, limit, estimate)

    def settle(self, job: str, reserved: float, cost: float, *, kept: bool) -> None:
        """Book what a job's call cost, in dollars; one that brought nothing (not `kept`) is given back."""
        self.patiently(self.store.settle, job, reserved, cost, kept=kept)

    def close(self) -> None:
        """Give up all claims and close the store; nothing that was kept depends on it. May be called twice."""
        if self._closed.is_set():
            return
        self._closed.set()
        for threads in (self._readers, self._writers):
            threads.shutdown()
        if self._spool:
            try:
                self._flush()
            except ReelbenchError:
                with self._spool.lock:
                    is_left = self._spool.close()
                if is_left:
                    self._on_note(f"judge cache {self.store.name}: can't be written; {self._spool.shown}")
        self.store.close()

    # --- many requests in one ----------------------------------------------------------------------------------------

    def _found(self, keys: Sequence[bytes]) -> list[tuple[StoredReply | None]]:
        there = self._patiently(lambda: self.store.get(keys), otherwise=lambda: self._spooled(keys))
        return [(there.get(key),) for key in keys]

    def _spooled(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply] | None:
        """Return what the spool has of `keys`, where that is all of them."""
        there = {key: reply for key in keys if (reply := self._spool.get(key)) is not None}
        return there if len(there) == len(set(keys)) else None

    def _claimed(self, keys: Sequence[bytes]) -> list[Claimed]:
        states = self.patiently(self.store.claim, keys)
        return [states[key] for key in keys]

    def _kept(self, replies: Sequence[StoredReply]) -> list[None]:
        self._put(replies)
        return [None] * len(replies)

    # --- a server that can't be reached ------------------------------------------------------------------------------

    def patiently(self, work: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
        """Do work as soon as the server is there; ReelbenchError where it stays away, or refuses."""
        return self._patiently(lambda: work(*args, **named))

    def _patiently(self, work: Callable[[], _T], otherwise: Callable[[], _T | None] = lambda: None) -> _T:
        """Do work likewise; what the spool has does meanwhile."""
        while True:
            if self._spool and (here := otherwise()) is not None:
                return here
            try:
                if self._spool:
                    self._flush()
                done = work()
            except AwayError as error:
                self._note_away(error)
                self._wait(error)
            else:
                self._spool.away_since = None
                return done

    def _note_away(self, error: AwayError) -> None:
        with self._spool.lock:
            if self._spool.away_since is None:
                self._spool.away_since = time.monotonic()
                self._on_note(
                    f"{error}; waiting for it, {self._patience:g} s at most; replies "
                    f"that arrive are kept in {self._spool.path}"
                )

    def _wait(self, error: AwayError) -> None:
        since = self._spool.away_since or time.monotonic()
        if self._closed.wait(_AGAIN) or time.monotonic() - since > self._patience:
            held = f"; {self._spool.shown}" if self._spool else ""
            raise ReelbenchError(
                f"{error}, for {self._patience:g} s (--cache-patience){held}; run again when it is there: "
                "what was paid for is kept"
            ) from None

    def _flush(self) -> None:
        with self._spool.lock:
            if self._spool:
                self.store.put(self._spool.replies())
                self._spool.clear()

    def _take_left_over(self) -> None:
        for replies, path in self._spool.left_over():
            self.patiently(self.store.put, replies)
            path.unlink(missing_ok=True)
            kept = number_of(len(replies), "reply is in it now", "replies are in it now")
            self._on_note(f"judge cache {self.store.name}: {kept}, left by an earlier run")


def open_store(place: Path | str, on_note: Callable[[str], None]) -> ReplyStore:
    """Open what keeps replies: a file, or the database of an address (`postgresql://…`).

    Raises:
        InputError: It can't be used at all.
        ReelbenchError: It can't be used now.
    """
    if is_address(place):
        from reelbench.llm.postgres_store import PostgresStore

        return PostgresStore(str(place))
    return SqliteStore(Path(place), on_note)


def is_address(place: Path | str) -> bool:
    """Whether a place of replies is a database's address, and no file; InputError for another kind of address."""
    if str(place).startswith(("postgresql://", "postgres://")):
        return True
    if _OTHER_ADDRESS.match(str(place)):  # as a file's name its password would be shown
        raise InputError(
            "a judge cache: its address can't be read; give a file, or postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        )
    return False


def stored_now(key: bytes, model: str, reply: Reply) -> StoredReply:
    """Return a reply that came just now, as a store keeps it."""
    return StoredReply(key, model, time.time(), reply, reply.checksum(key))
