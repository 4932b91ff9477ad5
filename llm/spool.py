"""Replies that arrived while their store could not be reached: one file of lines per process, put there later.

The file is this process's as long as it lives (a lock on it says so); what a process left is put there by the next one
that opens the same store from the same home.
"""

import json
import os
import secrets
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING

from reelbench.llm.reply import Reply
from reelbench.llm.store import StoredReply
from reelbench.registry.errors import number_of
from reelbench.registry.home import home

if TYPE_CHECKING:
    from filelock import BaseFileLock


_spools: dict[tuple[int, Path, str], "Spool"] = {}  # of this process, its home and each store's name
_sharing = threading.Lock()


def spool_of(name: str) -> "Spool":
    """Return this process's spool for the store called `name`: one, however many models it asks."""
    with _sharing:
        key = (os.getpid(), folder(), name)
        return _spools.setdefault(key, Spool(name))


class Spool:
    """What a process could not put into the store called `name`; who changes it holds its lock.

    Attributes:
        lock: Of all who ask from this process.
        away_since: When the store could not be reached any more (`time.monotonic`); None while it can be.
    """

    def __init__(self, name: str) -> None:
        self.lock = threading.Lock()
        self.away_since: float | None = None
        self._stem = f"replies-{sha256(name.encode()).hexdigest()[:12]}"
        self.path = folder() / f"{self._stem}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._lock: BaseFileLock | None = None
        self._file: IO[bytes] | None = None
        self._held: dict[bytes, StoredReply] = {}

    def __len__(self) -> int:
        return len(self._held)

    @property
    def shown(self) -> str:
        """What is here, and where, for the user."""
        return f"{number_of(len(self), 'reply is', 'replies are')} in {self.path}, and the next run puts them there"

    def get(self, key: bytes) -> StoredReply | None:
        """Return the reply under `key` where it is here."""
        return self._held.get(key)

    def add(self, reply: StoredReply) -> None:
        """Write a reply to the disk; OSError where that can't be done."""
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            from filelock import FileLock  # here, and below: few processes ever need it

            self._lock = FileLock(_lock_of(self.path))
            self._lock.acquire()
            self._file = self.path.open("ab")
        self._file.write(_line(reply))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._held[reply.key] = reply

    def replies(self) -> list[StoredReply]:
        """Return what is here."""
        return list(self._held.values())

    def clear(self) -> None:
        """Forget what is in the store by now, and remove the file."""
        self._held.clear()
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> bool:
        """Leave what is here to the next process -> whether there is a file that was not left before."""
        if self._file is None or self._lock is None:
            return False
        self._file.close()
        self._file = None
        self._lock.release()
        _lock_of(self.path).unlink(missing_ok=True)
        return True

    def left_over(self) -> Iterator["tuple[list[StoredReply], Path]"]:
        """Yield what each process that is no more has left, with its file: to be removed once it is in the store."""
        from filelock import FileLock, Timeout

        for path in sorted(self.path.parent.glob(f"{self._stem}-*.jsonl")):
            lock = FileLock(_lock_of(path))
            try:
                with lock.acquire(timeout=0), path.open("rb") as file:
                    yield [reply for reply in map(_reply, file) if reply is not None and not reply.is_damaged], path
            except (Timeout, FileNotFoundError):
                continue  # its process lives, or another has seen to it
            _lock_of(path).unlink(missing_ok=True)


def folder() -> Path:
    """Return where spools lie."""
    return home() / "spool"


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")


def _line(reply: StoredReply) -> bytes:
    document = asdict(reply) | {"key": reply.key.hex(), "checksum": b64encode(reply.checksum or b"").decode()}
    return json.dumps(document).encode() + b"\n"


def _reply(line: bytes) -> StoredReply | None:
    """Return the reply of a line; None where it is not whole: its process was killed as it wrote it."""
    try:
        document = json.loads(line)
        reply = Reply(**document["reply"])
        return StoredReply(
            bytes.fromhex(document["key"]),
            document["model"],
            document["at"],
            reply,
            b64decode(document["checksum"]),
            giver=document.get("giver"),
        )
    except (ValueError, LookupError, TypeError):
        return None
