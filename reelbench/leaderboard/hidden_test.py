"""Score submissions to a hidden test on its owner's machine, and say the outcome on each.

A stranger's files are read in a bounded process that knows no answer. Whether a file is taken
follows from the rules and the ledger alone, and what is written is the ledger's line and a comment
with rounded totals. A file is in the ledger before its comment is written: whatever ends the
process in between, it is scored once, and its comment comes with the next look.
"""

import json
import logging
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from reelbench.base.bounded import Bounds, EndedError, OverrunError, run_bounded
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.leaderboard import (
    aliases,
    board_settings,
    board_state,
    hidden_key,
    hidden_page,
    hidden_rows,
    hidden_rules,
    identity,
    ledger,
    results_dataset,
    submission_page,
)
from reelbench.leaderboard.aliases import Aliases
from reelbench.leaderboard.board_state import BoardLedger, BoardState, HiddenFile, same_account
from reelbench.leaderboard.hidden_offer import OfferedSubmission, read_offer
from reelbench.leaderboard.hidden_rules import HiddenRules, Phase, Quota
from reelbench.leaderboard.ledger import Received
from reelbench.leaderboard.pull_request import Done, Offer, PullRequests
from reelbench.registry.declaration import declaration, scoring_sha256
from reelbench.registry.records import Metrics
from reelbench.tasks import hidden_submission
from reelbench.tasks.hidden_answers import HiddenAnswers
from reelbench.tasks.hidden_submission import HandedIn, Submission

log = logging.getLogger("reelbench")

_FOR_ACCOUNT = "all files of this account's week are used"
_FOR_ALL = "all files of this month are used"


@dataclass(frozen=True, slots=True)
class _Turn:
    """The rules and the board as they are when a submission's turn comes."""

    rules: HiddenRules
    names: Aliases
    board: BoardLedger
    now: datetime

    @property
    def state(self) -> BoardState:
        """The state of the board."""
        return self.board.state


class Look(NamedTuple):
    """A look's outcome, with the comment on a submission.

    The comment may stand there already.
    """

    done: Done
    comment: str = ""


class HiddenTest(PullRequests):
    """Pull requests to a results dataset, with submissions to a hidden test."""

    def __init__(self, dataset: str, answers: HiddenAnswers, store: Path) -> None:
        """Raise as `PullRequests` does."""
        super().__init__(dataset)
        self._answers = answers
        self._store = store
        self._waiting: dict[int, str] = {}  # number of a pull request -> why it waits
        self._queue = threading.Lock()  # of `_waiting`: a webhook looks in several threads

    def check(self, number: int, bounds: Bounds, last: bool) -> Done:
        """Check a pull request; where it is a submission to this test, score it."""
        return self.look_at(number, bounds, last=last).done

    def look_at(self, number: int, bounds: Bounds, *, last: bool) -> Look:
        """Check a pull request as `check` does, and return the comment on a submission, too."""
        offers: list[Offer] = []
        with TemporaryDirectory(prefix="reelbench-submission-") as folder:
            account = (self.dataset, self._me)
            arguments = (account, number, Path(folder))
            try:
                offered = run_bounded(read_offer, *arguments, bounds=bounds, hear=offers.append)
            except EndedError as error:
                if isinstance(error, OverrunError) and not last:
                    return Look("not in time")
                if not offers:
                    raise
                comment = submission_page.markdown_unchecked(offers[-1].commit, str(error))
                return Look(self._comment(number, offers[-1].comment, comment), comment)
            if offered is not None:
                results = Path(folder) / results_dataset.RESULTS
                return self._check_offered(offered, offers[-1], results)
        return Look(super().check(number, bounds, last))

    def _check_offered(self, offered: OfferedSubmission, offer: Offer, results: Path) -> Look:
        if self._is_of_another_test(offered):
            return Look("skipped")
        if hidden_page.is_scored(offered.comment, offered.commit):
            return Look("unchanged")
        comment = self._settle(offered, results)
        if comment == offered.comment:
            return Look("unchanged", comment)
        return Look(self._comment(offered.number, offer.comment, comment), comment)

    def _is_of_another_test(self, offered: OfferedSubmission) -> bool:
        if offered.handed_in is None:
            _, benchmark_id, *_ = offered.key.split("/")
            return benchmark_id != self._answers.spec.id
        benchmark = offered.handed_in.record.benchmark
        return (benchmark.id, benchmark.split) != (self._answers.spec.id, self._answers.split)

    @contextmanager
    def _turn(self) -> Generator[_Turn]:
        """Hold the store and the queue against others."""
        rules = hidden_rows.rules_of(board_settings.read(self._store), self._answers.spec.id)
        names = aliases.read(self._store)
        board = BoardLedger(self._store)
        with self._queue, board.locked():
            yield _Turn(rules, names, board, ledger.now())

    def _settle(self, offered: OfferedSubmission, results: Path) -> str:
        """Take, score or refuse a submission, and return its comment."""
        # This may ask the Hub: not while the store is held.
        offered = replace(offered, refusal=offered.refusal or self._reserved_name_fault(offered))
        with self._turn() as turn:
            self._waiting.pop(offered.number, None)
            handed_in = offered.handed_in
            if handed_in is None:
                return hidden_page.refused(offered.commit, offered.refusal)
            entries: list[ledger.Entry] = []
            file = self._taken_before(offered, turn)
            if file is None:
                try:
                    phase = self._phase(offered, handed_in, turn)
                except InputError as error:
                    return hidden_page.refused(offered.commit, str(error))
                wait = self._wait(offered, phase, turn)
                if wait is not None:
                    return wait
                received = self._received(offered, handed_in, phase, results, turn)
                entries.append(received)
                file = HiddenFile(received)
            if self._is_due(file, turn):
                entries.append(self._scored(file, handed_in.texts, turn))
            if entries:
                turn.board.append(*entries)
            return self._outcome(offered, file, turn)

    # --- whether it is taken

    def _phase(self, offered: OfferedSubmission, handed_in: HandedIn, turn: _Turn) -> Phase:
        """Return the phase that takes a submission. InputError where it is refused.

        Its questions, names and account must be as they have to be. Its words too: they are what
        the table says of the benchmark.
        """
        if offered.refusal:
            raise InputError(offered.refusal)
        spec = self._answers.spec
        record = handed_in.record
        benchmark = record.benchmark
        as_owner = (
            benchmark.version == spec.version
            and benchmark.questions_sha256 == self._answers.questions_sha256
            and benchmark.scoring_sha256 == scoring_sha256(spec)
            and _json(benchmark.declaration) == _json(declaration(spec))
        )
        if not as_owner:
            raise InputError(
                f"{spec.id} {self._answers.split}: was run on other questions, or on another "
                f"benchmark.yaml, than the owner's of version {spec.version}; get the folder anew"
            )
        self._answers.refuse_other_ids(handed_in.texts)
        reason = turn.rules.reason_against(offered.author)
        if reason is not None:
            raise InputError(f"{offered.author} is disqualified: {reason}")
        for fault in self._name_faults(offered.author, record, turn):
            raise InputError(fault)
        return turn.rules.phase_at(self._answers.split, turn.now)

    def _reserved_name_fault(self, offered: OfferedSubmission) -> str:
        if offered.handed_in is None:
            return ""
        owner = identity.reserved_name(self._answers.spec, offered.handed_in.record.model)
        if owner is None or self._is_of(offered.author, owner):
            return ""
        return f"its name is {owner}'s, and only {owner}'s own people hand in under it"

    def _name_faults(self, author: str, record: Submission, turn: _Turn) -> Iterator[str]:
        """Yield why a submission can't bear its names."""
        yield from identity.run_problems(record)
        model = record.model.id
        names = turn.names
        state = turn.state
        yield from state.refusals({model}, author, names).values()
        own_id = names.id_of(state.name_of(model))
        for file in state.hidden.values():
            received = file.received
            is_same = names.id_of(state.name_of(received.model)) == own_id
            if is_same and not same_account(received.who, author):
                yield f"{model} was handed in first by {received.who}; use a name of your own"
                return

    def _taken_before(self, offered: OfferedSubmission, turn: _Turn) -> HiddenFile | None:
        """Return this very file, where it was taken in this pull request or this phase."""
        files = [file for file in self._own_files(turn.state) if offered.is_of(file)]
        for file in files:
            if file.received.request == offered.number:
                return file
        with suppress(InputError):  # no phase takes files now
            phase = turn.rules.phase_at(self._answers.split, turn.now)
            for file in files:
                if file.received.phase == phase.name:
                    return file
        return None

    def _own_files(self, state: BoardState) -> list[HiddenFile]:
        """Return the files that were taken of this test, as its version is now."""
        spec = self._answers.spec
        own_table = (spec.id, spec.version, self._answers.split)
        files: list[HiddenFile] = []
        for file in state.hidden.values():
            received = file.received
            if (received.benchmark, received.version, received.split) == own_table:
                files.append(file)
        return files

    def _quotas(self, author: str, phase: str, turn: _Turn) -> tuple[Quota, Quota]:
        """Return the quotas of an account, and of all accounts."""
        benchmark = self._answers.spec.id
        own_times = hidden_rows.times_of(turn.state, benchmark, author)
        all_times = hidden_rows.times_in(turn.state, benchmark, phase)
        cap = turn.rules.cap(len(self._answers.references))
        return (
            hidden_rules.quota(own_times, turn.rules.files_per_week, hidden_rules.WEEK, turn.now),
            hidden_rules.quota(all_times, cap, hidden_rules.MONTH, turn.now),
        )

    def _wait(self, offered: OfferedSubmission, phase: Phase, turn: _Turn) -> str | None:
        """Return the comment on a file that must wait. None where it is taken.

        Who waits for the quota of all accounts keeps his place before later files.
        """
        own_quota, all_quota = self._quotas(offered.author, phase.name, turn)
        earlier = [number for number in self._waiting if number < offered.number]
        before = [number for number in earlier if self._waiting[number] == _FOR_ALL]
        if own_quota.remaining and all_quota.remaining > len(before):
            return None
        if own_quota.remaining:
            why = _FOR_ALL
        else:
            why = _FOR_ACCOUNT
        self._waiting[offered.number] = why
        limits = _limits(offered.author, own_quota, all_quota)
        return hidden_page.waits(offered.commit, len(earlier) + 1, why, limits)

    def _received(
        self,
        offered: OfferedSubmission,
        handed_in: HandedIn,
        phase: Phase,
        results: Path,
        turn: _Turn,
    ) -> ledger.Received:
        """Keep a submission's files, and return the ledger's entry on it."""
        hidden_key.keep(results / offered.key, self._store)
        return ledger.Received(
            at=turn.now,
            who=offered.author,
            act="received",
            key=offered.key,
            model=handed_in.record.model.id,
            benchmark=self._answers.spec.id,
            version=self._answers.spec.version,
            split=self._answers.split,
            phase=phase.name,
            request=offered.number,
            files=hidden_key.hashes(results / offered.key),
            unanswered=len(handed_in.unanswered),
            late=phase.is_over(turn.now),
        )

    # --- what it scores

    def score_due(self) -> None:
        """Score the files that were kept for the day of their phase's results.

        Their pull requests may be closed by now, or offer something else.
        """
        with self._turn() as turn:
            for file in self._own_files(turn.state):
                if not self._is_due(file, turn):
                    continue
                try:
                    hidden_rows.record_of(self._store, file.received)
                    handed_in = hidden_submission.read(self._store / file.received.key)
                    turn.board.append(self._scored(file, handed_in.texts, turn))
                except ReelbenchError as error:
                    log.warning("%s: not scored: %s", file.received.key, error)

    def _is_due(self, file: HiddenFile, turn: _Turn) -> bool:
        """Return True of a file that is to be scored now."""
        results_at = self._results_at(file, turn.rules)
        is_open = results_at is None or turn.now >= results_at
        return file.scored is None and is_open

    def _results_at(self, file: HiddenFile, rules: HiddenRules) -> datetime | None:
        """Return when files of the same phase are scored. None where they are at once."""
        for phase in rules.phases_of(self._answers.split):
            if phase.name == file.received.phase:
                return phase.results
        return None

    def _scored(
        self, file: HiddenFile, predictions: Mapping[str, str], turn: _Turn
    ) -> ledger.Scored:
        """Score a submission, and return the ledger's entry on it."""
        try:
            totals = self._answers.totals(predictions)
        except Exception:  # noqa: BLE001 - its words might tell an answer
            raise ReelbenchError("could not be scored here; the next look tries again") from None
        metric = self._answers.spec.primary
        row_totals = _row_totals(file.received, turn.state)
        row_total = row_totals.get(metric.name)
        if not hidden_rules.takes_the_row(metric, totals[metric.name], row_total):
            totals = {}
        return ledger.Scored(
            at=turn.now,
            who=file.received.who,
            act="scored",
            key=file.received.key,
            phase=file.received.phase,
            totals=totals,
        )

    def _outcome(self, offered: OfferedSubmission, file: HiddenFile, turn: _Turn) -> str:
        """Return the comment on a file that is in the ledger."""
        quotas = self._quotas(offered.author, file.received.phase, turn)
        limits = _limits(offered.author, *quotas)
        unanswered = file.received.unanswered
        if unanswered:
            questions = len(self._answers.references)
            limits.insert(0, hidden_rules.unanswered_in_words(unanswered, questions))
        filed = turn.state.hidden[board_state.submitted(file.received)]
        results_at = self._results_at(file, turn.rules)
        if filed.scored is None:
            place = self._place_in_phase(filed, turn.state)
            assert results_at is not None  # noqa: S101 - else it was scored
            why = f"files of this phase are scored from {hidden_rules.in_words(results_at)} on"
            return hidden_page.waits(offered.commit, place, why, limits)
        return hidden_page.scored(
            offered.commit,
            self._answers.spec,
            _row_totals(filed.received, turn.state),
            limits,
            takes_row=bool(filed.scored.totals),
        )

    def _place_in_phase(self, file: HiddenFile, state: BoardState) -> int:
        """Return the place of a file among the waiting ones of its phase."""
        waiting: list[HiddenFile] = []
        for own_file in self._own_files(state):
            if own_file.scored is None and own_file.received.phase == file.received.phase:
                waiting.append(own_file)
        return waiting.index(file) + 1

    def open(self) -> dict[int, str]:
        """Score what is due, and return the authors of the open ones, the oldest first."""
        self.score_due()
        authors = super().open()
        with self._queue:
            for number in self._waiting.keys() - authors.keys():
                del self._waiting[number]
        return authors


def _row_totals(received: Received, state: BoardState) -> Metrics:
    """Return the totals that the row of a file's account shows in the file's table."""
    place = hidden_rows.place_of(received)
    for row in hidden_rows.shown_files(state):
        if hidden_rows.place_of(row.received) == place:
            return row.scored.totals
    return {}


def _json(document: object) -> str:
    return json.dumps(document, sort_keys=True)


def _limits(author: str, own_quota: Quota, all_quota: Quota) -> list[str]:
    return [
        hidden_page.limit_in_words(f"of {author}", own_quota, "7 days"),
        hidden_page.limit_in_words("of all accounts", all_quota, "30 days"),
    ]
