"""What a store's ledger says of its rows now: whose they are, their order, what is withdrawn.

The state follows from the entries alone. So do the owner of a model (who filed it first, or to whom
it was moved), its name (as renamed), and the answers that are not taken again.
"""

from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from reelbench.leaderboard import aliases, ledger
from reelbench.leaderboard.aliases import NO_ALIASES, Aliases
from reelbench.leaderboard.editions import Edition, Editions
from reelbench.leaderboard.ledger import (
    Checked,
    Entry,
    Filed,
    Ids,
    Ledger,
    Line,
    Moved,
    Published,
    Received,
    Removed,
    Renamed,
    Restored,
    Scored,
    Stated,
    Verification,
)
from reelbench.leaderboard.rejudge import Rejudged
from reelbench.scoring import result_files

_Answers = tuple[str, str]
"""The key of a row, and the hash of its answers."""

_Submitted = tuple[str, str, str]
"""A hidden test's phase, the key of a submission, and its account in small letters."""

NOT_FILED_YET = 2**62
"""The place in the order of filing of a result that is only checked: after all others."""


@dataclass(frozen=True, slots=True)
class FiledRow:
    """The board's knowledge of a row.

    Attributes:
        key: Its key.
        model: Its model's id, as the result states it.
        order: Its place in the order of filing.
        taken: When the board took the row first. None of one that is only checked.
        account: Who handed its answers in. None for the maintainers.
        files: The sha256 of each file, by name. None where the answers are secret.
        answers: The hash of its ids and predictions.
        verified: What was verified of it.
        judged: The maintainers asked its judge themselves.
        rejudged: What came of asking its judge again about some answers.
        earlier: The file hashes of the answers that were replaced, oldest first.
    """

    key: str
    model: str
    order: int
    taken: datetime | None
    account: str | None
    files: Mapping[str, str]
    answers: str
    verified: Verification
    judged: bool = False
    rejudged: Rejudged | None = None
    earlier: tuple[Mapping[str, str], ...] = ()

    @property
    def checked_parts(self) -> tuple[str, str | None]:
        """The hashes of its answers, and of its samples where these are filed."""
        return self.answers, self.files.get(result_files.SAMPLES_FILE)

    @property
    def ids(self) -> Ids:
        """As `Verification` has it."""
        return self.verified.ids

    @property
    def subset(self) -> str | None:
        """As `Verification` has it."""
        return self.verified.subset

    @property
    def partial(self) -> str | None:
        """Why it covers too little to be ranked."""
        return self.verified.partial

    @property
    def failed(self) -> str | None:
        """The fault that a check with more data found later."""
        return self.verified.failed

    @property
    def stated(self) -> tuple[Stated, ...]:
        """The parts for which nobody but the submitter vouches."""
        if self.judged:
            return tuple(part for part in self.verified.stated if part != "judge replies")
        return self.verified.stated

    @property
    def vouched(self) -> bool:
        """True where the maintainers vouch for its judge's scores.

        They asked the judge for all of these, or again for some, most of which agreed.
        """
        if self.judged:
            return True
        return self.rejudged is not None and 2 * self.rejudged.agree > self.rejudged.scores

    def with_verified(self, **fields: str | None) -> "FiledRow":
        """Return the row with other fields of what was verified."""
        return replace(self, verified=self.verified.model_copy(update=fields))


@dataclass(frozen=True, slots=True)
class HiddenFile:
    """A submission to a hidden test, and what it scored so far."""

    received: Received
    scored: Scored | None = None


@dataclass(frozen=True, slots=True)
class _Claim:
    """A row's claim, or that of a hidden test's file, to its model.

    Attributes:
        number: Its place in the order of the ledger.
        account: Who handed it in. None for the maintainers.
        at: When.
        act: What was done, in words.
    """

    number: int
    account: str | None
    at: datetime
    act: str


@dataclass(slots=True)
class BoardState:
    """The state of a board after some entries.

    Attributes:
        rows: Key -> the row, withdrawn ones left out.
        withdrawn: Key and hash of the answers -> why and when they were withdrawn.
        names: Model, in small letters -> the name that it got.
        owners: Model's name today, in small letters -> the account to which it was moved.
        hidden: Submissions to hidden tests, in the order in which they were taken.
        editions: The main tables as they were published.
    """

    rows: dict[str, FiledRow] = field(default_factory=dict[str, FiledRow])
    withdrawn: dict[_Answers, Removed] = field(default_factory=dict[_Answers, Removed])
    names: dict[str, str] = field(default_factory=dict[str, str])
    owners: dict[str, str | None] = field(default_factory=dict[str, str | None])
    hidden: dict[_Submitted, HiddenFile] = field(default_factory=dict[_Submitted, HiddenFile])
    editions: Editions = field(default_factory=Editions)
    _gone: dict[_Answers, FiledRow] = field(default_factory=dict[_Answers, FiledRow])
    _claims: dict[str, dict[str, _Claim]] = field(default_factory=dict[str, dict[str, _Claim]])
    """Model's name today, in small letters -> key -> its claim, of withdrawn rows too."""
    _filings: int = 0

    def apply(self, entries: Iterable[Entry]) -> None:
        """Let the state follow further entries."""
        for entry in entries:
            if isinstance(entry, Filed):
                self._file(entry)
            elif isinstance(entry, Checked):
                self._check(entry)
            elif isinstance(entry, Removed):
                self._remove(entry)
            elif isinstance(entry, Restored):
                self._restore(entry)
            elif isinstance(entry, Renamed):
                self._rename(entry)
            elif isinstance(entry, Moved):
                self._move(entry)
            elif isinstance(entry, Received):
                self._receive(entry)
            elif isinstance(entry, Published):
                answers = {key: row.answers for key, row in self.rows.items()}
                self.editions.add(entry, answers)
            else:
                self._score(entry)

    def _file(self, entry: Filed) -> None:
        old_row = self.rows.get(entry.key)
        order = self._filings
        first_filed_at: datetime | None = entry.at
        earlier: tuple[Mapping[str, str], ...] = ()
        rejudged = entry.rejudged
        if old_row is not None:
            order = old_row.order
            first_filed_at = old_row.taken
            earlier = old_row.earlier
            if old_row.files != entry.files:
                earlier = (*earlier, old_row.files)
            if rejudged is None and old_row.answers == entry.answers:
                rejudged = old_row.rejudged
        self._claim(entry, "was filed first by")
        self.rows[entry.key] = FiledRow(
            key=entry.key,
            model=entry.model,
            order=order,
            taken=first_filed_at,
            account=ledger.account_of(entry.who),
            files=entry.files,
            answers=entry.answers,
            verified=entry.verified,
            judged=entry.judged,
            rejudged=rejudged,
            earlier=earlier,
        )

    def _move(self, entry: Moved) -> None:
        name = self.name_of(entry.model).casefold()
        self.owners.pop(name, None)  # the last word on a model's names comes last
        self.owners[name] = entry.account

    def _receive(self, entry: Received) -> None:
        self._claim(entry, "was submitted first by")
        self.hidden.setdefault(submitted(entry), HiddenFile(entry))

    def _claim(self, entry: Filed | Received, act: str) -> None:
        """Note whose a model is.

        Who replaces a row has it from then on.
        """
        claims = self._claims.setdefault(self.name_of(entry.model).casefold(), {})
        account = ledger.account_of(entry.who)
        first_claim = claims.setdefault(entry.key, _Claim(self._filings, account, entry.at, act))
        if isinstance(entry, Filed):
            claims[entry.key] = replace(first_claim, account=account)
        self._filings += 1

    def _check(self, entry: Checked) -> None:
        row = self.rows.get(entry.key)
        if row is not None and entry.answers in (None, row.answers):
            self.rows[entry.key] = replace(
                row, verified=entry.verified, rejudged=entry.rejudged or row.rejudged
            )

    def _score(self, entry: Scored) -> None:
        file = self.hidden.get(submitted(entry))
        if file is not None and file.scored is None:
            # Scored files stand in the order of their scoring: of two, the later took the row.
            del self.hidden[submitted(entry)]
            self.hidden[submitted(entry)] = replace(file, scored=entry)

    def _rename(self, entry: Renamed) -> None:
        old_name = entry.model.casefold()
        new_name = entry.to.casefold()
        # Of a name that a model has again nothing else is today's.
        self.names.pop(new_name, None)
        self.names[old_name] = entry.to
        if old_name in self.owners:
            self.owners[new_name] = self.owners.pop(old_name)
        else:
            self.owners.pop(new_name, None)  # of a model that has no rows any more
        self._claims[new_name] = self._claims.pop(old_name, {})

    def _remove(self, entry: Removed) -> None:
        answers = (entry.key, entry.answers)
        self.withdrawn[answers] = entry
        row = self.rows.get(entry.key)
        if row is not None and row.answers == entry.answers:
            self._gone[answers] = self.rows.pop(entry.key)

    def _restore(self, entry: Restored) -> None:
        answers = (entry.key, entry.answers)
        self.withdrawn.pop(answers, None)
        if entry.with_files and answers in self._gone:
            self.rows.setdefault(entry.key, self._gone.pop(answers))

    def editions_of(self, table: str) -> list[Edition]:
        """Return a table's editions, the first one first, without withdrawn rows."""
        return self.editions.without(self.withdrawn, table)

    def withdrawn_of(self, key: str) -> list[Removed]:
        """Return the withdrawals of a key, the last one last."""
        return [removed for removed in self.withdrawn.values() if removed.key == key]

    # --- names and owners

    def name_of(self, model: str) -> str:
        """Return a model's name today, whatever it was called when it was filed."""
        name = model
        passed: dict[str, None] = {}
        while name.casefold() in self.names and name.casefold() not in passed:
            passed[name.casefold()] = None
            name = self.names[name.casefold()]
        for old_name in passed:  # the next look takes one step
            self.names[old_name] = name
        return name

    def names_of(self, model: str) -> list[str]:
        """Return all names that a model had and has, today's first."""
        today = self.name_of(model)
        names = [today]
        names += [name for name in self.names if self.name_of(name).casefold() == today.casefold()]
        return names

    def has_model(self, name: str) -> bool:
        """Return True of a name today that a row has, or a hidden test's file."""
        models = [row.model for row in self.rows.values()]
        models += [file.received.model for file in self.hidden.values()]
        return any(self.name_of(model).casefold() == name.casefold() for model in models)

    def was_claimed(self, name: str, aliases_of_board: Aliases) -> bool:
        """Return True of a name today whose model ever had a result."""
        return aliases_of_board.id_of(name) in self._first_claims(aliases_of_board)

    def _first_claims(self, aliases_of_board: Aliases) -> dict[str, _Claim]:
        """Return the id of a model -> its first claim. Withdrawn rows keep theirs."""
        first_claims: dict[str, _Claim] = {}
        for name, claims in self._claims.items():
            model_id = aliases_of_board.id_of(name)
            for claim in claims.values():
                first_claim = first_claims.setdefault(model_id, claim)
                if claim.number < first_claim.number:
                    first_claims[model_id] = claim
        return first_claims

    def refusals(
        self, models: Collection[str], account: str | None, aliases_of_board: Aliases
    ) -> dict[str, str]:
        """Return model -> why an account may file none of it.

        Another one filed it first, or it was moved to another. None is the board's maintainers.
        """
        first_claims = self._first_claims(aliases_of_board)
        moved_to = {aliases_of_board.id_of(name): owner for name, owner in self.owners.items()}
        reasons: dict[str, str] = {}
        for model in models:
            model_id = aliases_of_board.id_of(self.name_of(model))
            if model_id in moved_to:
                owner = moved_to[model_id]
                whose = "belongs to"
                since = ""
            elif model_id in first_claims:
                claim = first_claims[model_id]
                owner = claim.account
                whose = claim.act
                since = f", {claim.at:%Y-%m-%d}"
            else:
                continue
            if same_account(owner, account):
                continue
            owner_text = owner or "the maintainers of this board"
            reasons[model] = (
                f"{model} {whose} {owner_text}{since}; "
                "others need their permission, or --as-maintainer"
            )
        return reasons

    def owner_of(self, row: FiledRow, aliases_of_board: Aliases = NO_ALIASES) -> str | None:
        """Return the account that may change a row. None is the maintainers."""
        moved_to = {aliases_of_board.id_of(name): owner for name, owner in self.owners.items()}
        return moved_to.get(aliases_of_board.id_of(self.name_of(row.model)), row.account)

    def tombstone(
        self, key: str, model: str, answers: str, aliases_of_board: Aliases
    ) -> Removed | None:
        """Return the withdrawal that a result falls under, or None.

        That is of the same answers of the same model in the same setting, whatever its date, its
        revision or the model's other names.
        """
        model_id = aliases_of_board.id_of(self.name_of(model))
        for removed in self.withdrawn.values():
            is_same_model = aliases_of_board.id_of(self.name_of(removed.model)) == model_id
            is_same_setting = _setting(removed.key) == _setting(key)
            if is_same_model and is_same_setting and removed.answers == answers:
                return removed
        return None

    def note_on_withdrawn(self, key: str, answers: str) -> str:
        """Return a note where the same answers were withdrawn under another name or setting.

        It refuses nothing, as two honest models may give the same answers. Empty without any.
        """
        note = ""
        for removed in self.withdrawn.values():
            is_same_benchmark = _benchmark(removed.key) == _benchmark(key)
            if is_same_benchmark and removed.answers == answers:
                note = (
                    f"the same answers were withdrawn on {removed.at:%Y-%m-%d} as {removed.key} "
                    f"({removed.reason})"
                )
        return note


def submitted(entry: Received | Scored) -> _Submitted:
    """Return the phase, the key and the account of a submission."""
    return entry.phase, entry.key, entry.who.casefold()


def _setting(key: str) -> str:
    """Return the benchmark and the hash of the settings in a key."""
    _, _, setting = key.partition("/")
    return setting.partition("/")[2]


def _benchmark(key: str) -> str:
    """Return the benchmark in a key."""
    benchmark, _, _ = _setting(key).partition("/")
    return benchmark


def same_account(first: str | None, second: str | None) -> bool:
    """Return True where two accounts are one. None is the board's maintainers."""
    return (first or "").casefold() == (second or "").casefold()


def state_of(lines: Iterable[Line]) -> BoardState:
    """Return the state after some lines of a ledger."""
    state = BoardState()
    state.apply(line.entry for line in lines if line.entry is not None)
    return state


class BoardLedger:
    """A store's ledger, together with the state that follows from it."""

    def __init__(self, store: Path) -> None:
        """Read a store's ledger. InputError where it is broken."""
        self._store = store
        self._ledger = Ledger(store)
        self.state = state_of(self._ledger.lines)

    @contextmanager
    def locked(self) -> Generator[None]:
        """Hold the store against other writers. The state is then that of the whole ledger."""
        with self._ledger.locked() as new_entries:
            self.state.apply(new_entries)
            yield

    @cached_property
    def names(self) -> Aliases:
        """The board's names of models, as they are when it is first asked."""
        return aliases.read(self._store)

    @property
    def lines(self) -> list[Line]:
        """The lines of the ledger."""
        return self._ledger.lines

    def append(self, *entries: Entry) -> None:
        """Append entries, only within `locked`."""
        self._ledger.append(entries)
        self.state.apply(entries)


def read(store: Path) -> BoardState:
    """Return the state of a store's board. InputError where its ledger is broken."""
    return BoardLedger(store).state
