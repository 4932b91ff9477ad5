"""A server of replies that may be away for a while.

While it can't be reached, it is waited for, nothing new is asked, and replies that arrive are kept
in a spool: one file of lines per process. The file belongs to its process as long as that lives (a
lock on it says so). Replies that a process left are put into the store by the next process that
opens it from the same home.
"""

import json
import os
import secrets
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from reelbench.base.errors import ReelbenchError, number_of
from reelbench.base.settings import home
from reelbench.llm.reply import Reply
from reelbench.llm.store import AwayError, SqlStore, StoredReply

if TYPE_CHECKING:
    from pathlib import Path

    from filelock import BaseFileLock

_T = TypeVar("_T")
_AGAIN = 0.25  # seconds between looks at whether a server is back


def opened_patiently(
    opening: Callable[[], SqlStore], note: Callable[[str], None], patience: float
) -> SqlStore:
    """Open a store as soon as it takes connections.

    A store on a server is patient from then on.

    Args:
        opening: Opens the store.
        note: Called with each line that the user should know.
        patience: Seconds that are waited at most.

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
                raise ReelbenchError(
                    f"{error}, for {patience:g} s (--cache-patience); run again"
                ) from None
            time.sleep(_AGAIN)
        else:
            if store.is_remote:
                return cast("SqlStore", PatientStore(store, note, patience))
            return store


class PatientStore:
    """A store whose every method waits for its server.

    Every method raises ReelbenchError where the server stays away, or refuses.
    """

    def __init__(self, store: SqlStore, note: Callable[[str], None], patience: float) -> None:
        self._store = store
        self._note = note
        self._patience = patience
        self._spool = Spool(store.name)
        self._away_since: float | None = None
        self._gone: str | None = None  # once all patience is over: the message
        self._closed = threading.Event()
        for replies, path in self._spool.left_over():
            self._when_server_answers(store.put, replies)
            path.unlink(missing_ok=True)
            number = number_of(len(replies), "reply is in it now", "replies are in it now")
            note(f"judge cache {store.name}: {number}, left by an earlier run")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store's is
        value = getattr(self._store, name)
        if callable(value) and name != "replies":
            return partial(self._when_server_answers, value)
        return value

    def get(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return the replies kept under `keys`. Those that came meanwhile are in the spool."""
        spooled: dict[bytes, StoredReply] = {}
        for key in keys:
            reply = self._spool.replies.get(key)
            if reply is not None:
                spooled[key] = reply
        if spooled and len(spooled) == len(set(keys)):
            return spooled
        return self._when_server_answers(self._store.get, keys)

    def put(self, replies: Sequence[StoredReply]) -> int:
        """Keep replies, in the spool where the server is away or refuses.

        Returns:
            How many were new at the server.
        """
        refused = None
        if self._away_since is None:
            try:
                return self._store.put(replies)
            except AwayError as error:
                self._note_away(error)
            except ReelbenchError as error:  # as where its disk is full: paid for all the same
                refused = error
        try:
            with self._spool.lock:
                for reply in replies:
                    self._spool.add(reply)
        except OSError as error:
            raise ReelbenchError(
                f"judge cache {self._store.name}: can't be written, "
                f"and {self._spool.path} can't either ({error.strerror}); "
                "replies in it are kept"
            ) from None
        if refused is not None:
            raise refused
        return 0

    def close(self) -> None:
        """Hand over the spool, and close. The next process hands over what is left."""
        self._closed.set()
        try:
            self._flush_spool()
        except ReelbenchError:
            with self._spool.lock:
                is_left = self._spool.close()
            if is_left:
                self._note(f"judge cache {self._store.name}: can't be written; {self._spool.shown}")
        self._store.close(away=self._gone is not None)

    def _when_server_answers(self, work: Callable[..., _T], *args: Any, **named: Any) -> _T:  # noqa: ANN401 - the work's
        """Do work as soon as the server is there."""
        while True:
            try:
                self._flush_spool()
                result = work(*args, **named)
            except AwayError as error:
                self._note_away(error)
                self._note_away(error, over=self._closed.wait(_AGAIN))
            else:
                self._away_since = None
                return result

    def _note_away(self, error: AwayError, *, over: bool = False) -> None:
        """Note a try that failed.

        The first is told to the user. After one beyond all patience nothing is tried any more.

        Args:
            error: The error of the try.
            over: True to end the patience now.
        """
        with self._spool.lock:
            if over or self._is_patience_over():
                self._gone = self._gone or self._last_message(error)
            elif self._away_since is None:
                self._away_since = time.monotonic()
                self._note(
                    f"{error}; waiting for it, {self._patience:g} s at most; replies "
                    f"that arrive are kept in {self._spool.path}"
                )

    def _is_patience_over(self) -> bool:
        if self._away_since is None:
            return False
        return time.monotonic() - self._away_since > self._patience

    def _last_message(self, error: AwayError) -> str:
        """Return the message of all further tries."""
        spool = ""
        if self._spool.replies:
            spool = f"; {self._spool.shown}"
        return (
            f"{error}, for {self._patience:g} s (--cache-patience){spool}; "
            "run again when it is there: what was paid for is kept"
        )

    def _flush_spool(self) -> None:
        """Put the replies in the spool into the store, before anything else is done."""
        if self._gone is None and not self._spool.replies:
            return
        with self._spool.lock:
            # Each further try would cost seconds, and as many may be waiting as ask.
            if self._gone is not None:
                raise ReelbenchError(self._gone)
            if not self._spool.replies:
                return
            try:
                self._store.put(list(self._spool.replies.values()))
            except AwayError as error:
                self._note_away(error)  # before the next that waits for the lock tries
                raise
            self._spool.replies.clear()
            self._spool.path.unlink(missing_ok=True)
            self._spool.close()


class Spool:
    """The replies that a process could not put into a store.

    Attributes:
        lock: To be held for changes.
        held: The replies, by key.
        path: The file.
    """

    def __init__(self, name: str) -> None:
        """Prepare the spool of the store called `name`."""
        self.lock = threading.RLock()
        self.replies: dict[bytes, StoredReply] = {}
        self._stem = f"replies-{sha256(name.encode()).hexdigest()[:12]}"
        self.path = home() / "spool" / f"{self._stem}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._lock: BaseFileLock | None = None
        self._file: IO[bytes] | None = None

    @property
    def shown(self) -> str:
        """The replies and their place, for the user."""
        number = number_of(len(self.replies), "reply is", "replies are")
        return f"{number} in {self.path}, and the next run with this REELBENCH_HOME puts them there"

    def add(self, reply: StoredReply) -> None:
        """Write a reply to the disk.

        Raises:
            OSError: It can't be written.
        """
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            from filelock import FileLock  # imported late, as below: few processes ever need it

            self._lock = FileLock(self.path.with_suffix(".lock"))
            self._lock.acquire()
            self._file = self.path.open("ab")
        document = asdict(reply) | {
            "key": reply.key.hex(),
            "checksum": b64encode(reply.checksum or b"").decode(),
        }
        self._file.write(json.dumps(document).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.replies[reply.key] = reply

    def close(self) -> bool:
        """Leave the file to the next process.

        Returns:
            True where there is a file that was not left before.
        """
        if self._file is None or self._lock is None:
            return False
        self._file.close()
        self._file = None
        self._lock.release()
        self.path.with_suffix(".lock").unlink(missing_ok=True)
        return True

    def left_over(self) -> Iterator["tuple[list[StoredReply], Path]"]:
        """Yield the replies that each ended process left, and their file.

        The file is to be removed once they are in the store.
        """
        from filelock import FileLock, Timeout

        for path in sorted(self.path.parent.glob(f"{self._stem}-*.jsonl")):
            lock = FileLock(path.with_suffix(".lock"))
            try:
                with lock.acquire(timeout=0), path.open("rb") as file:
                    replies = list(filter(None, map(_reply_of_line, file)))
                    yield [reply for reply in replies if not reply.is_damaged], path
            except (Timeout, FileNotFoundError):
                continue  # its process lives, or another has seen to it
            path.with_suffix(".lock").unlink(missing_ok=True)


def _reply_of_line(line: bytes) -> StoredReply | None:
    """Read the reply of a line. None of one that was not written whole."""
    try:
        document = json.loads(line)
        reply = Reply(**document.pop("reply"))
        key = bytes.fromhex(document.pop("key"))
        checksum = b64decode(document.pop("checksum"))
        return StoredReply(key=key, checksum=checksum, reply=reply, **document)
    except (ValueError, LookupError, TypeError):
        return None
