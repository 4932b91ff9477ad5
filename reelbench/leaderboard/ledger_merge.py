"""Merge the ledger of a store with the published one, which another maintainer's commit moved on.

What is published comes first, and what only the store has is appended again after it. Two entries
that contradict each other stop the merge, and both are named.
"""

from collections.abc import Sequence

from reelbench.base.errors import InputError, number_of
from reelbench.leaderboard import ledger
from reelbench.leaderboard.aliases import NO_ALIASES, Aliases
from reelbench.leaderboard.board_state import BoardState, same_account, state_of, submitted
from reelbench.leaderboard.ledger import (
    Checked,
    Entry,
    Filed,
    Line,
    Moved,
    Published,
    Received,
    Removed,
    Renamed,
    Scored,
)

_Subject = tuple[str, str]


def merge(
    own_lines: Sequence[Line], published_lines: Sequence[Line], names: Aliases = NO_ALIASES
) -> list[Line]:
    """Return the lines of both, those that are published first.

    Args:
        own_lines: The lines of the store.
        published_lines: The published lines.
        names: The board's names of models.

    Raises:
        InputError: An entry of the store contradicts one that is published.
    """
    shared = 0
    for own_line, published_line in zip(own_lines, published_lines, strict=False):
        if own_line.chain != published_line.chain:
            break
        shared += 1
    merged = _Merged(own_lines[:shared], published_lines, own_lines[shared:], names)
    further: list[tuple[Entry | None, str]] = []
    for line in own_lines[shared:]:
        if merged.takes(line):
            further.append((line.entry, line.sha256))
    chain = published_lines[-1].chain if published_lines else ledger.START
    return [*published_lines, *ledger.chained(further, chain)]


class _Merged:
    """The state of what is published, and of the store's lines after it."""

    def __init__(
        self,
        shared_lines: Sequence[Line],
        published_lines: Sequence[Line],
        new_lines: Sequence[Line],
        names: Aliases,
    ) -> None:
        published_since = published_lines[len(shared_lines) :]
        self._is_moved_on = bool(published_since)
        self._own_state = state_of(shared_lines)
        self._state = state_of(published_lines)
        self._names = names
        self._renames = [line.entry for line in published_since if isinstance(line.entry, Renamed)]
        self._published_models = _models(published_since, self._state, names)
        self._withdrawn = _withdrawn_answers(new_lines)
        self._done_hashes: set[str] = set()
        published_entries = _by_subject(published_since)
        for subject, entries in _by_subject(new_lines).items():
            self._done_hashes |= _done(entries, published_entries.get(subject, []))

    def takes(self, line: Line) -> bool:
        """Return True of a line of the store that is appended, after those before it.

        Raises:
            InputError: It contradicts an entry that is published.
        """
        entry = line.entry
        if entry is None:
            return True
        is_done = line.sha256 in self._done_hashes
        if not is_done:
            _refuse_withdrawn(entry, self._state, self._names)
            _refuse_taken_name(entry, self._state)
            _refuse_name_given_meanwhile(entry, self._renames, self._state, self._names)
        self._refuse_name_of_another(entry)
        self._own_state.apply([entry])
        if is_done or self._is_stale_check(entry):
            return False
        if self._is_moved_on and isinstance(entry, Published):
            return False  # a table without what others published is none of the board's
        self._state.apply([entry])
        return True

    def _is_stale_check(self, entry: Entry) -> bool:
        """Return True of a check of answers that others took the place of."""
        if not isinstance(entry, Checked):
            return False
        own_row = self._own_state.rows.get(entry.key)
        row = self._state.rows.get(entry.key)
        return own_row is None or row is None or own_row.checked_parts != row.checked_parts

    def _refuse_name_of_another(self, entry: Entry) -> None:
        """Raise InputError of a model that another account has where it is published.

        What the store's maintainers let in against its own ledger's word stays in.
        """
        if not isinstance(entry, Filed | Received):
            return
        if isinstance(entry, Filed) and (entry.key, entry.answers) in self._withdrawn:
            return
        if self._names.id_of(self._state.name_of(entry.model)) not in self._published_models:
            return
        reason = _refusal(entry, self._state, self._names)
        if reason is not None and _refusal(entry, self._own_state, self._names) is None:
            raise _two_accounts(reason, entry)


def _by_subject(lines: Sequence[Line]) -> dict[_Subject, list[Entry]]:
    """Return the entries on each row, name or owner, in order.

    Checks and published tables contradict nothing.
    """
    entries: dict[_Subject, list[Entry]] = {}
    for line in lines:
        if line.entry is not None and not isinstance(line.entry, Checked | Published):
            entries.setdefault(_subject(line.entry), []).append(line.entry)
    return entries


def _done(own_entries: Sequence[Entry], published: Sequence[Entry]) -> set[str]:
    """Return the hashes of the store's entries on a subject that need not be appended.

    The same was published, or the store took it back itself.

    Raises:
        InputError: The store and what is published say different things.
    """
    same = 0
    for own_entry, published_entry in zip(own_entries, published, strict=False):
        if not _says_the_same(own_entry, published_entry):
            break
        same += 1
    done = list(own_entries[:same])
    further = list(own_entries[same:])
    contrary_entries = published[same:]
    if contrary_entries:
        taken_back = _taken_back(further)
        done += taken_back
        further = [entry for entry in further if entry not in taken_back]
    for entry in further:
        for published_entry in contrary_entries:
            if not _can_follow(entry, published_entry):
                raise _contradiction(entry, published_entry)
    return {ledger.entry_sha256(entry) for entry in done}


def _taken_back(entries: Sequence[Entry]) -> list[Entry]:
    """Return the filings among entries whose answers were withdrawn again."""
    withdrawn = {entry.answers for entry in entries if isinstance(entry, Removed)}
    filings = [entry for entry in entries if isinstance(entry, Filed)]
    return [entry for entry in filings if entry.answers in withdrawn]


def _can_follow(entry: Entry, published_entry: Entry) -> bool:
    """Return True of a withdrawal of other answers than those that were published."""
    if not isinstance(entry, Removed) or not isinstance(published_entry, Filed | Removed):
        return False
    return entry.answers != published_entry.answers


def _refuse_withdrawn(entry: Entry, state: BoardState, names: Aliases) -> None:
    """Raise InputError of answers that a published withdrawal is about."""
    if isinstance(entry, Filed):
        removed = state.tombstone(entry.key, entry.model, entry.answers, names)
        if removed is not None:
            raise _contradiction(entry, removed)


def _refuse_taken_name(entry: Entry, state: BoardState) -> None:
    """Raise InputError of a name that a published row of another model has."""
    if not isinstance(entry, Renamed):
        return
    new_name = state.name_of(entry.to).casefold()
    if new_name == state.name_of(entry.model).casefold():
        return
    for row in state.rows.values():
        if state.name_of(row.model).casefold() == new_name:
            raise _two_models(f"{row.key} of {entry.to}", entry)
    for file in state.hidden.values():
        if state.name_of(file.received.model).casefold() == new_name:
            raise _two_models(in_words(file.received), entry)


def _refuse_name_given_meanwhile(
    entry: Entry, renames: Sequence[Renamed], state: BoardState, names: Aliases
) -> None:
    """Raise InputError of a filing under a name that another account's model got since."""
    if not isinstance(entry, Filed):
        return
    name = entry.model.casefold()
    named = [renamed for renamed in renames if renamed.to.casefold() == name]
    if not named:
        return
    account = ledger.account_of(entry.who)
    for row in state.rows.values():
        has_name = state.name_of(row.model).casefold() == name
        if has_name and not same_account(state.owner_of(row, names), account):
            raise _two_models(in_words(named[-1]), entry)


def _models(lines: Sequence[Line], state: BoardState, names: Aliases) -> set[str]:
    """Return the ids of the models that some entries are on."""
    models: set[str] = set()
    for line in lines:
        if isinstance(line.entry, Filed | Received | Renamed | Moved):
            models.add(names.id_of(state.name_of(line.entry.model)))
    return models


def _withdrawn_answers(lines: Sequence[Line]) -> set[tuple[str, str]]:
    """Return the keys and answers that some entries withdraw."""
    withdrawn: set[tuple[str, str]] = set()
    for line in lines:
        if isinstance(line.entry, Removed):
            withdrawn.add((line.entry.key, line.entry.answers))
    return withdrawn


def _refusal(entry: Filed | Received, state: BoardState, names: Aliases) -> str | None:
    """Return why an entry's account may not file its model.

    It is None where it may. The maintainers may file whatever they want.
    """
    account = ledger.account_of(entry.who)
    if account is None:
        return None
    return state.refusals({entry.model}, account, names).get(entry.model)


def _two_accounts(reason: str, entry: Filed | Received) -> InputError:
    published, _, _ = reason.partition("; ")
    advice = "begin with a clone of the published dataset, and take another name"
    if isinstance(entry, Filed):
        advice = f"withdraw your own with `reelbench leaderboard remove {entry.key} --store STORE`"
    return InputError(
        f"two maintainers did different things: published, {published}; here is "
        f"{in_words(entry)}, and a name belongs to one account; {advice}"
    )


def _two_models(published: str, entry: Entry) -> InputError:
    return InputError(
        f"two maintainers did different things: published is {published}; here is "
        f"{in_words(entry)}, and two models don't become one by a new name; begin with a clone of "
        "the published dataset, and take another name"
    )


def _contradiction(entry: Entry, published_entry: Entry) -> InputError:
    advice = "undo one of the two"
    if isinstance(entry, Filed):
        advice = f"withdraw your own with `reelbench leaderboard remove {entry.key} --store STORE`"
    return InputError(
        f"two maintainers did different things: published is {in_words(published_entry)}; here is "
        f"{in_words(entry)}; {advice}, or undo the published one"
    )


def _subject(entry: Entry) -> tuple[str, str]:
    """Return the row, the model's name or its owner that an entry is about."""
    if isinstance(entry, Renamed):
        return "name", entry.model.casefold()
    if isinstance(entry, Moved):
        return "owner", entry.model.casefold()
    if isinstance(entry, Received | Scored):
        return "submission", " ".join(submitted(entry))
    if isinstance(entry, Published):
        return "table", entry.table
    return "row", entry.key


def _says_the_same(first: Entry, second: Entry) -> bool:
    if isinstance(first, Filed) and isinstance(second, Filed):
        return first.answers == second.answers and first.files == second.files
    if isinstance(first, Removed) and isinstance(second, Removed):
        return first.answers == second.answers
    if isinstance(first, Renamed) and isinstance(second, Renamed):
        return first.to == second.to
    if isinstance(first, Moved) and isinstance(second, Moved):
        return first.account == second.account
    return first.act == second.act


def in_words(entry: Entry) -> str:
    """Return an entry in a line: when, who, what."""
    text = f"{entry.at:%Y-%m-%d %H:%M} {entry.who}: {entry.act}"
    if isinstance(entry, Renamed):
        return f"{text} {entry.model} to {entry.to}"
    if isinstance(entry, Moved):
        return f"{text} {entry.model} to {entry.account or 'the maintainers'}"
    if isinstance(entry, Published):
        gone = sum(value is None for value in entry.rows.values())
        changed = number_of(len(entry.rows) - gone, "row")
        return f"{text} {entry.table}, {changed} new or changed, {gone} gone"
    text += f" {entry.key}"
    if isinstance(entry, Scored):
        totals: list[str] = []
        for name, total in entry.totals.items():
            if total.value is not None:
                totals.append(f"{name} {total.value:g}")
        outcome = ", ".join(totals) or "its row stays"
        return f"{entry.at:%Y-%m-%d %H:%M} the owner: scored {entry.key} of {entry.who}, {outcome}"
    if isinstance(entry, Removed):
        return f"{text} ({entry.reason})"
    if isinstance(entry, Filed | Checked):
        text += f", ids {entry.verified.ids}"
        if entry.verified.stated:
            text += f", as stated: {', '.join(entry.verified.stated)}"
        if entry.verified.failed:
            text += f", failed: {entry.verified.failed}"
        if entry.rejudged is not None:
            text += f", {entry.rejudged}"
    return text
