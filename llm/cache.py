"""Every reply that a language model ever gave.

A reply's key is the sha256 of everything that shapes it: model asked, messages, sampling settings, vote, attempt.
The server's address is not in the key, so a server that comes back on another port is not paid again; the host is kept
beside the reply and a run says when it reuses replies of another host.

Each reply is kept the moment it arrives, so that a killed process loses only what was in flight. A process *claims* a
reply before it asks for it; the others then wait for it instead of paying for it too. A claim is a lease: it lapses by
itself when its owner dies.

A reply has a checksum, against disks that forget and not against forgers: one that does not hold is asked for again.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from reelbench.llm.reply import Reply
from reelbench.llm.sqlite_store import EDITED, SqliteStore
from reelbench.llm.store import Claimed, ReplyStore, StoredReply


class ReplyCache:
    """The replies of a store, to one process; safe to use from several threads."""

    def __init__(self, place: Path, on_note: Callable[[str], None]) -> None:
        self._on_note = on_note
        self._owner = secrets.token_hex(8)
        self._edited_noted = False
        self.store: ReplyStore = SqliteStore(place, on_note)

    def get(self, key: bytes) -> Reply | None:
        """Return the reply kept under `key`, or None."""
        stored = self.store.get(key)
        if stored is None:
            return None
        if stored.edited:
            self._note_edited()
            return None
        if stored.is_damaged:
            self.store.drop(key)
            self._on_note(
                f"judge cache {self.store.name}: a reply in it is damaged (its checksum does not hold); left out"
            )
            return None
        return stored.reply

    def _note_edited(self) -> None:
        if not self._edited_noted:
            self._edited_noted = True
            count = sum(stored.edited for stored in self.store.replies())
            self._on_note(
                f"judge cache {self.store.name}: {count} replies in it hold {EDITED}, which an earlier version wrote "
                "over the text of a key; those that are needed are asked again, once"
            )

    def claim(self, key: bytes) -> Claimed:
        """Claim the right to ask for `key`, unless its reply is here by now or it is being asked for elsewhere."""
        return self.store.claim(key, self._owner)

    def taken(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of `keys` that another process is asking for now."""
        return self.store.taken(keys, self._owner)

    def renew(self) -> None:
        """Make this process's claims last a full lease again."""
        self.store.renew(self._owner)

    def put(self, key: bytes, model: str, reply: Reply) -> None:
        """Keep a reply, for good, and give up the claim on it."""
        self.store.put(stored_now(key, model, reply))

    def release(self, key: bytes) -> None:
        """Give up the claim on `key`: its reply could not be had."""
        self.store.release(key, self._owner)

    def close(self) -> None:
        """Give up all claims and close the store; nothing that was kept depends on it."""
        self.store.close(self._owner)


def stored_now(key: bytes, model: str, reply: Reply) -> StoredReply:
    """Return a reply that came just now, as a store keeps it."""
    return StoredReply(key, model, time.time(), reply, reply.checksum(key))
