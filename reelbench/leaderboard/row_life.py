"""Withdraw a row, put it back, give a model another name or another owner, and read the ledger.

Each is an entry of the ledger. Nothing is done in part: where one of several keys is not there,
nothing is done.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from reelbench.base.errors import InputError
from reelbench.leaderboard import ledger, store
from reelbench.leaderboard.board_state import BoardLedger, BoardState, FiledRow, state_of
from reelbench.leaderboard.ledger import (
    Entry,
    Filed,
    Ledger,
    Moved,
    Published,
    Removed,
    Renamed,
    Restored,
)
from reelbench.leaderboard.ledger_merge import in_words
from reelbench.registry import name_faults
from reelbench.scoring import result_files


def remove(keys: Sequence[str], place: Path, reason: str) -> list[str]:
    """Withdraw rows by their keys: their answers are not taken again until they are restored.

    Their files stay in the store's folder `removed`, which is never published.

    Raises:
        InputError: One of them is not there; then nothing is withdrawn.
    """
    store.refuse_no_store(place)
    board = BoardLedger(place)
    removed = list(dict.fromkeys(key.strip("/") for key in keys))
    with board.locked():
        rows = [_row(board.state, key, place) for key in removed]
        for row in rows:
            store.keep_earlier(store.place_of(row.key, place), store.REMOVED_FOLDER)
        entries = [
            Removed(
                at=ledger.now(),
                who=ledger.MAINTAINER,
                act="removed",
                key=row.key,
                model=row.model,
                answers=row.answers,
                reason=reason,
            )
            for row in rows
        ]
        board.append(*entries)
        for row in rows:
            store.delete_files(row.key, place)
    return removed


def _row(state: BoardState, key: str, place: Path) -> FiledRow:
    if key not in state.rows:
        raise InputError(
            f"{place}: has no result {key!r}; `reelbench leaderboard list --store {place}` has all"
        )
    return state.rows[key]


def restore(key: str, place: Path) -> bool:
    """Put a withdrawn row back. Return True where its files were kept here.

    Without its files there is no row: its answers can then be added again.

    Raises:
        InputError: No row of that key is withdrawn, or another one took its place.
    """
    key = key.strip("/")
    store.refuse_no_store(place)
    board = BoardLedger(place)
    with board.locked():
        state = board.state
        withdrawals = state.withdrawn_of(key)
        if not withdrawals:
            raise InputError(f"{place}: {key!r} is not withdrawn, so there is nothing to restore")
        if key in state.rows:
            raise InputError(
                f"{place}: other answers were filed as {key} since; withdraw these first with "
                f"`reelbench leaderboard remove {key} --store {place}`"
            )
        removed = withdrawals[-1]
        kept_folder = _kept_folder(place, removed)
        if kept_folder is not None:
            shutil.copytree(kept_folder, place / key, dirs_exist_ok=True)
        entry = Restored(
            at=ledger.now(),
            who=ledger.MAINTAINER,
            act="restored",
            key=key,
            answers=removed.answers,
            with_files=kept_folder is not None,
        )
        board.append(entry)
    return kept_folder is not None


def _kept_folder(place: Path, removed: Removed) -> Path | None:
    """Return the folder with the withdrawn answers, None where they are not here."""
    for folder in sorted((place / store.REMOVED_FOLDER / removed.key).glob("*")):
        samples = result_files.read_samples(folder)
        if result_files.answers_sha256(samples) == removed.answers:
            return folder
    return None


def rename(old_name: str, new_name: str, place: Path) -> int:
    """Give a model another name. Return the number of its rows.

    Results that come under the old name are its too, and old addresses lead to the new one.

    Raises:
        InputError: No row is of that model, another model has the new name, or no submission may
            have it.
    """
    for fault in name_faults.id_faults("the new name", new_name):
        raise InputError(fault)
    store.refuse_no_store(place)
    board = BoardLedger(place)
    with board.locked():
        state = board.state
        today = state.name_of(old_name)
        rows = _rows_of_model(state, today)
        if not rows:
            raise InputError(
                f"{place}: has no result of {old_name!r}; "
                f"`reelbench leaderboard list --store {place}` has all models"
            )
        if new_name.casefold() == today.casefold():
            raise InputError(f"{place}: {today!r} is the model's name already")
        # A name that it had before may come back.
        name_of_new = state.name_of(new_name)
        is_own_name = name_of_new.casefold() == today.casefold()
        if not is_own_name and state.has_model(name_of_new):
            raise InputError(
                f"{place}: has results of {new_name!r} already; two models don't become one by a "
                "new name (aliases.yaml says which names are one model)"
            )
        entry = Renamed(
            at=ledger.now(), who=ledger.MAINTAINER, act="renamed", model=today, to=new_name
        )
        board.append(entry)
    return len(rows)


def _rows_of_model(state: BoardState, name: str) -> list[FiledRow]:
    rows = state.rows.values()
    return [row for row in rows if state.name_of(row.model).casefold() == name.casefold()]


def move(model: str, account: str | None, place: Path) -> None:
    """Let a model's rows belong to another account. None is the board's maintainers.

    Raises:
        InputError: No row is of that model.
    """
    store.refuse_no_store(place)
    board = BoardLedger(place)
    with board.locked():
        today = board.state.name_of(model)
        # A withdrawn row's name has an owner, too.
        if not board.state.was_claimed(today, board.names):
            raise InputError(
                f"{place}: has no result of {model!r}; "
                f"`reelbench leaderboard list --store {place}` has all models"
            )
        entry = Moved(
            at=ledger.now(), who=ledger.MAINTAINER, act="moved", model=today, account=account
        )
        board.append(entry)


def log(place: Path, key: str | None = None) -> Iterator[str]:
    """Yield the ledger's entries in words, all or those of one row and its model.

    Raises:
        InputError: It has none of that row.
    """
    store.refuse_no_store(place)
    book = Ledger(place)
    lines = list(enumerate(book.lines, start=1))
    if key is not None:
        wanted_key = key.strip("/")
        models = _models_of(book, wanted_key)
        lines = [line for line in lines if _is_about(line[1].entry, wanted_key, models)]
    if key is not None and not lines:
        raise InputError(
            f"{place}: nothing was ever filed as {key!r}; `reelbench leaderboard log --store "
            f"{place}` has all entries"
        )
    for number, line in lines:
        text = "(blanked)"
        if line.entry is not None:
            text = " ".join(in_words(line.entry).split())
        yield f"{number}  {text}"
    if book.torn:
        yield f"{book.torn} bytes after the last line were torn while they were written: left out"


def _is_about(entry: Entry | None, key: str, models: set[str]) -> bool:
    """Return True of an entry on a row, or on its model."""
    if entry is None:
        return False
    if isinstance(entry, Renamed | Moved):
        return entry.model.casefold() in models
    if isinstance(entry, Published):
        return key in entry.rows
    return entry.key == key


def _models_of(book: Ledger, key: str | None) -> set[str]:
    """Return the names of a row's model, in small letters."""
    state = state_of(book.lines)
    models: set[str] = set()
    for entry in book.entries:
        if isinstance(entry, Filed) and entry.key == key:
            names = [entry.model, *state.names_of(entry.model)]
            models.update(name.casefold() for name in names)
    return models
