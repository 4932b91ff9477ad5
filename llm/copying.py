"""Replies copied from one store into another, as from a file into a database."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from reelbench.llm.store import SqlStore, StoredReply
from reelbench.registry.progress import Show, no_show

_AT_ONCE = 500


@dataclass(slots=True)
class Copied:
    """What came of replies: how many were copied, were there already, or are damaged and were left out."""

    copied: int = 0
    there: int = 0
    damaged: int = 0


def copy(source: SqlStore, target: SqlStore, show: Show = no_show) -> Copied:
    """Copy all replies as they are; what is there already isn't sent again, so a copy that was stopped goes on.

    A reply that an earlier version may have edited counts as damaged: where it is needed it is asked again.
    """
    copied = Copied()
    replies = source.replies()
    while chunk := list(islice(replies, _AT_ONCE)):
        whole = [reply for reply in chunk if not reply.edited and not reply.is_damaged]
        there = target.kept([reply.key for reply in whole])
        copied.damaged += len(chunk) - len(whole)
        copied.there += len(there)
        copied.copied += target.put(list(_but(whole, there)))
        show(copied.copied + copied.there + copied.damaged, "")
    return copied


def _but(replies: list[StoredReply], there: set[bytes]) -> Iterator[StoredReply]:
    return (reply for reply in replies if reply.key not in there)
