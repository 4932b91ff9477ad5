"""A server of replies that may be away for a while: waited for, while replies that arrive are put into a file here.

Where it can't be reached nothing new is asked, and what was paid for is kept in a spool (`llm.spool`) until it can.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from reelbench.llm.spool import Spool
from reelbench.llm.store import AwayError, SqlStore, StoredReply
from reelbench.registry.errors import ReelbenchError, number_of

_T = TypeVar("_T")
_AGAIN = 0.25  # seconds between looks at whether a server is back


def opened_patiently(opening: Callable[[], SqlStore], note: Callable[[str], None], patience: float) -> SqlStore:
    """Open a store, as soon as it takes connections; one that a server keeps is patient from then on.

    Raises:
        InputError: It can't be used at all.
        ReelbenchError: It stayed away for `patience` seconds.
    """
    since = None
    while True:
        try:
            store = opening()
        except AwayError as error:
            if since is None:
                since = time.monotonic()
                note(f"{error}; waiting for it, {patience:g} s at most")
            if time.monotonic() - since >= patience:
                raise ReelbenchError(f"{error}, for {patience:g} s (--cache-patience); run again") from None
            time.sleep(_AGAIN)
        else:
            return cast("SqlStore", PatientStore(store, note, patience)) if store.is_remote else store


class PatientStore:
    """A store whose every method waits for its server; ReelbenchError where that stays away, or refuses."""

    def __init__(self, store: SqlStore, note: Callable[[str], None], patience: float) -> None:
        self._store = store
        self._note = note
        self._patience = patience
        self._spool = Spool(store.name)
        self._away_since: float | None = None
        self._gone: str | None = None
        self._closed = threading.Event()
        for replies, path in self._spool.left_over():
            self._patiently(lambda replies=replies: store.put(replies))
            path.unlink(missing_ok=True)
            kept = number_of(len(replies), "reply is in it now", "replies are in it now")
            note(f"judge cache {store.name}: {kept}, left by an earlier run")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store's is
        there = getattr(self._store, name)
        return partial(self._called, there) if callable(there) and name != "replies" else there

    def get(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return the replies kept under those of `keys` that have one; what came meanwhile is found in the spool."""
        return self._patiently(lambda: self._store.get(keys), otherwise=lambda: self._spooled(keys))

    def put(self, replies: Sequence[StoredReply]) -> int:
        """Keep replies, in the spool where the server is away or refuses -> how many were new there."""
        if self._away_since is None:
            try:
                return self._store.put(replies)
            except AwayError as error:
                self._note_away(error)
            except ReelbenchError:  # refused, as where its disk is full: paid for all the same
                self._put_aside(replies)
                raise
        self._put_aside(replies)
        return 0

    def close(self) -> None:
        """Hand over what came meanwhile, and close; what can't be handed over the next process does."""
        self._closed.set()
        if self._spool:
            try:
                if self._gone is not None:
                    raise AwayError(self._gone)
                self._flush()
            except ReelbenchError:
                with self._spool.lock:
                    is_left = self._spool.close()
                if is_left:
                    self._note(f"judge cache {self._store.name}: can't be written; {self._spool.shown}")
        self._store.close()

    def _called(self, method: Callable[..., _T], *args: Any, **named: Any) -> _T:  # noqa: ANN401 - the method's
        return self._patiently(lambda: method(*args, **named))

    def _patiently(self, work: Callable[[], _T], otherwise: Callable[[], _T | None] = lambda: None) -> _T:
        """Do work as soon as the server is there; what the spool has does meanwhile."""
        while True:
            if self._spool and (here := otherwise()) is not None:
                return here
            if self._gone is not None:  # each further try would cost seconds, and as many may be waiting as ask
                raise ReelbenchError(self._gone)
            try:
                if self._spool:
                    self._flush()
                done = work()
            except AwayError as error:
                self._note_away(error)
                self._wait(error)
            else:
                self._away_since = None
                return done

    def _spooled(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply] | None:
        """Return the spooled replies of `keys`, where those are all of them."""
        there = {key: reply for key in keys if (reply := self._spool.get(key)) is not None}
        return there if len(there) == len(set(keys)) else None

    def _put_aside(self, replies: Sequence[StoredReply]) -> None:
        try:
            with self._spool.lock:
                for reply in replies:
                    self._spool.add(reply)
        except OSError as error:
            raise ReelbenchError(
                f"judge cache {self._store.name}: can't be written, and {self._spool.path} can't either "
                f"({error.strerror}); replies that it holds are kept"
            ) from None

    def _note_away(self, error: AwayError) -> None:
        with self._spool.lock:
            if self._away_since is None:
                self._away_since = time.monotonic()
                self._note(
                    f"{error}; waiting for it, {self._patience:g} s at most; replies "
                    f"that arrive are kept in {self._spool.path}"
                )

    def _wait(self, error: AwayError) -> None:
        since = self._away_since or time.monotonic()
        if self._closed.wait(_AGAIN) or time.monotonic() - since > self._patience:
            held = f"; {self._spool.shown}" if self._spool else ""
            self._gone = (
                f"{error}, for {self._patience:g} s (--cache-patience){held}; run again when it is there: "
                "what was paid for is kept"
            )
            raise ReelbenchError(self._gone) from None

    def _flush(self) -> None:
        with self._spool.lock:
            if self._spool:
                self._store.put(self._spool.replies())
                self._spool.clear()
