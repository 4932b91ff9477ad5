"""Check a store's rows again, with the data that is on this machine now.

Whoever knows more never refuses for that: a mark rises where more was verified, and falls where
something is wrong. A row whose mark fell is not ranked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from reelbench.base.errors import cut_in_the_middle
from reelbench.base.workers import Workers
from reelbench.leaderboard import ledger, store
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.board_state import BoardLedger, FiledRow
from reelbench.leaderboard.ledger import Checked, Verification
from reelbench.leaderboard.mismatches import MismatchError
from reelbench.leaderboard.recompute import verify

_LONGEST = 300  # characters of why a mark fell


@dataclass(frozen=True, slots=True)
class ChangedMark:
    """A row that would be marked otherwise today, and why."""

    row: FiledRow
    direction: Literal["rises", "falls"]
    why: str
    verified: Verification


def changed_marks(place: Path, workers: Workers) -> list[ChangedMark]:
    """Return the rows whose samples are here that would be marked otherwise today."""
    stored_results = store.read(place, workers, left_out=lambda *_: None)
    rows = [stored.filed_row for stored in stored_results]
    if workers.alone(len(rows)):
        known_rows = KnownRows()
        verifications = map(partial(_verified, place=place, known_rows=known_rows), rows)
    else:
        verifications = workers.map(partial(_verified, place=place), rows)
    verifications = workers.shown("checking rows", verifications, len(rows))
    changes: list[ChangedMark] = []
    for row, verified in zip(rows, verifications, strict=True):
        change = _change(row, verified)
        if change is not None:
            changes.append(change)
    return changes


def _verified(row: FiledRow, place: Path, known_rows: KnownRows | None = None) -> Verification:
    """Return today's verification of a row. `failed` says why it does not hold."""
    folder = place / row.key
    try:
        verified = verify(folder, known_rows=known_rows).verified
    except MismatchError as error:
        why = str(error).removeprefix(f"{folder}: ")
        return row.verified.model_copy(update={"failed": cut_in_the_middle(why, _LONGEST)})
    if row.ids == "checked" and verified.ids == "unchecked":
        # The data was on the machine that filed it, and is not on this one.
        return row.verified
    return verified


def _change(row: FiledRow, verified: Verification) -> ChangedMark | None:
    before = row.verified
    if verified.failed:
        if before.failed:
            return None
        return ChangedMark(row, "falls", verified.failed, verified)
    is_better = before.failed is not None or len(verified.stated) < len(before.stated)
    is_better = is_better or (before.ids, verified.ids) == ("unchecked", "checked")
    if is_better:
        verified_parts = sorted(set(before.stated) - set(verified.stated))
        why = f"verified now: {', '.join(verified_parts)}" if verified_parts else "it holds now"
        return ChangedMark(row, "rises", why, verified)
    if verified.partial and not before.partial:
        return ChangedMark(row, "falls", f"partial: {verified.partial}", verified)
    return None


def write(changes: Sequence[ChangedMark], place: Path) -> list[str]:
    """Write changed marks into the ledger.

    Return the keys of rows that got other answers while they were checked: they keep their marks.
    """
    board = BoardLedger(place)
    changed_keys: list[str] = []
    entries: list[Checked] = []
    with board.locked():
        for change in changes:
            row = board.state.rows.get(change.row.key)
            if row is None or row.checked_parts != change.row.checked_parts:
                changed_keys.append(change.row.key)
                continue
            entries.append(_entry(change))
        if entries:
            board.append(*entries)
    return changed_keys


def _entry(change: ChangedMark) -> Checked:
    """Return the ledger's entry on a changed mark."""
    return Checked(
        at=ledger.now(),
        who=ledger.MAINTAINER,
        act="checked",
        key=change.row.key,
        answers=change.row.answers,
        verified=change.verified,
    )
