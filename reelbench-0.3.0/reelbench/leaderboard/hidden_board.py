"""The board of a hidden test as a look at a submission finds it: rules, ledger and time."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from reelbench.leaderboard import (
    aliases,
    board_settings,
    board_state,
    hidden_rows,
    hidden_rules,
    ledger,
)
from reelbench.leaderboard.board_state import BoardLedger, BoardState, HiddenFile
from reelbench.leaderboard.hidden_rules import Quota
from reelbench.leaderboard.ledger import Entry, Received
from reelbench.registry.records import Metrics
from reelbench.tasks.hidden_answers import HiddenAnswers


class Quotas(NamedTuple):
    """The limits on the files of an account, and on those of all accounts."""

    of_account: Quota
    of_all: Quota


class HiddenBoard:
    """The board of one hidden test.

    Attributes:
        answers: The test's questions and answers.
        rules: The owner's rules.
        names: The board's names of models.
        now: The time at which the store was held last.
    """

    def __init__(self, answers: HiddenAnswers, store: Path) -> None:
        """Read a store. InputError where its settings, names or ledger are broken."""
        settings = board_settings.read(store)
        self.answers = answers
        self.rules = hidden_rows.rules_of(settings, answers.spec.id)
        self.names = aliases.read(store)
        self.now = ledger.now()
        self._ledger = BoardLedger(store)

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold the store against other writers. The state is then that of the whole ledger.

        Whoever holds it keeps all others waiting: no server is asked and nothing is scored
        meanwhile.
        """
        with self._ledger.locked():
            self.now = ledger.now()
            yield

    @property
    def state(self) -> BoardState:
        """The state of the whole board."""
        return self._ledger.state

    def append(self, entry: Entry) -> None:
        """Append an entry to the ledger, only within `held`."""
        self._ledger.append(entry)

    def own_files(self) -> list[HiddenFile]:
        """Return the files that were taken of this test, as its version is now."""
        spec = self.answers.spec
        own_table = (spec.id, spec.version, self.answers.split)
        files: list[HiddenFile] = []
        for file in self.state.hidden.values():
            received = file.received
            if (received.benchmark, received.version, received.split) == own_table:
                files.append(file)
        return files

    def file_of(self, received: Received) -> HiddenFile:
        """Return a file that was taken, with what it scored since."""
        return self.state.hidden[board_state.submitted(received)]

    def quotas(self, author: str, phase: str) -> Quotas:
        """Return the limits on an account, and on all accounts in a phase."""
        benchmark = self.answers.spec.id
        own_times = hidden_rows.times_of(self.state, benchmark, author)
        all_times = hidden_rows.times_in(self.state, benchmark, phase)
        own_most = self.rules.files_per_week
        all_most = self.rules.cap(len(self.answers.references))
        return Quotas(
            hidden_rules.quota_after(own_times, own_most, hidden_rules.WEEK, self.now),
            hidden_rules.quota_after(all_times, all_most, hidden_rules.MONTH, self.now),
        )

    def results_at(self, received: Received) -> datetime | None:
        """Return when files of the same phase are scored. None where they are at once."""
        for phase in self.rules.phases_of(self.answers.split):
            if phase.name == received.phase:
                return phase.results
        return None

    def is_due(self, file: HiddenFile) -> bool:
        """Return True of a file that is to be scored now."""
        results_at = self.results_at(file.received)
        is_open = results_at is None or self.now >= results_at
        return file.scored is None and is_open

    def due_files(self) -> list[HiddenFile]:
        """Return the files of this test that are to be scored now."""
        return [file for file in self.own_files() if self.is_due(file)]

    def place_in_phase(self, file: HiddenFile) -> int:
        """Return the place of a file among the waiting ones of its phase."""
        waiting: list[HiddenFile] = []
        for own_file in self.own_files():
            if own_file.scored is None and own_file.received.phase == file.received.phase:
                waiting.append(own_file)
        return waiting.index(file) + 1

    def row_totals(self, received: Received) -> Metrics:
        """Return the totals that the row of a file's account shows in the file's table."""
        place = hidden_rows.place_of(received)
        for row in hidden_rows.shown_files(self.state):
            if hidden_rows.place_of(row.received) == place:
                return row.scored.totals
        return {}
