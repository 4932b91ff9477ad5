"""Score submissions to a hidden test on its owner's machine, and say the outcome on each.

A stranger's files are read in a bounded process that knows no answer. Whether a file is taken
follows from the rules and the ledger alone, and what is written is the ledger's lines and a comment
with rounded totals. A file is in the ledger before its comment is written: whatever ends the
process in between, it is scored once, and its comment comes with the next look.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from reelbench.base.bounded import Bounds, EndedError, OverrunError, run_bounded
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.leaderboard import (
    hidden_admission,
    hidden_key,
    hidden_page,
    hidden_queue,
    hidden_rows,
    hidden_rules,
    identity,
    ledger,
    results_dataset,
    submission_page,
)
from reelbench.leaderboard.board_state import HiddenFile
from reelbench.leaderboard.hidden_board import HiddenBoard, Quotas
from reelbench.leaderboard.hidden_offer import OfferedSubmission, read_offer
from reelbench.leaderboard.hidden_queue import Queue
from reelbench.leaderboard.hidden_rules import Phase
from reelbench.leaderboard.pull_request import Commenting, Offer, PullRequests
from reelbench.registry.records import Metrics
from reelbench.tasks import hidden_submission
from reelbench.tasks.hidden_answers import HiddenAnswers
from reelbench.tasks.hidden_submission import HandedIn

log = logging.getLogger("reelbench")

_NOT_SCORED = "could not be scored here; the next look tries again"


class Look(NamedTuple):
    """A look's outcome, with the comment on a submission.

    The comment may stand there already.
    """

    done: Commenting
    comment: str = ""


class Decision(NamedTuple):
    """A submission's file in the ledger, or the comment that says why it has none."""

    file: HiddenFile | None
    comment: str = ""


class HiddenTest(PullRequests):
    """Pull requests to a results dataset, with submissions to a hidden test."""

    def __init__(self, dataset: str, answers: HiddenAnswers, store: Path) -> None:
        """Raise as `PullRequests` does."""
        super().__init__(dataset)
        self._answers = answers
        self._store = store
        self._queue = Queue()

    def open(self) -> dict[int, str]:
        """Score what is due, and return the authors of the open ones, the oldest first."""
        self.score_due()
        authors = super().open()
        self._queue.drop_others(authors)
        return authors

    def check(self, number: int, bounds: Bounds, last: bool) -> Commenting:
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
        if hidden_page.says_scored(offered.comment, offered.commit):
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

    # --- a submission, from its pull request to its comment

    def _settle(self, offered: OfferedSubmission, results: Path) -> str:
        """Take, score or refuse a submission, and return its comment."""
        handed_in = offered.handed_in
        if handed_in is None:
            self._queue.leave(offered.number)
            return hidden_page.comment_on_refusal(offered.commit, offered.refusal)
        # This reads long texts, and may ask the Hub: not while the store is held.
        offered = replace(offered, refusal=self._own_fault(offered, handed_in))
        board = HiddenBoard(self._answers, self._store)
        with board.held():
            decision = self._decide(offered, handed_in, results, board)
            file = decision.file
            if file is None:
                return decision.comment
            is_due = board.is_due(file)
        if is_due:
            self._score(file, handed_in.texts, board)
        return self._outcome(offered, file, board)

    def _own_fault(self, offered: OfferedSubmission, handed_in: HandedIn) -> str:
        """Return the fault of a submission whatever the board says, or an empty text."""
        try:
            hidden_admission.refuse_other_questions(handed_in, self._answers)
        except InputError as error:
            return str(error)
        owner = identity.reserved_name(self._answers.spec, handed_in.record.model)
        if owner is None or self._is_of(offered.author, owner):
            return ""
        return f"its name is {owner}'s, and only {owner}'s own people submit under it"

    def _decide(
        self,
        offered: OfferedSubmission,
        handed_in: HandedIn,
        results: Path,
        board: HiddenBoard,
    ) -> Decision:
        """Decide on a submission, and let the ledger have the one that is taken."""
        self._queue.leave(offered.number)
        file = hidden_admission.taken_before(offered, board)
        if file is not None:
            return Decision(file)
        if offered.refusal:
            return Decision(None, hidden_page.comment_on_refusal(offered.commit, offered.refusal))
        try:
            phase = hidden_admission.phase_that_takes(offered.author, handed_in.record, board)
        except InputError as error:
            return Decision(None, hidden_page.comment_on_refusal(offered.commit, str(error)))
        wait = self._wait(offered, phase, board)
        if wait is not None:
            return Decision(None, wait)
        hidden_key.copy_submission(results, offered.key, self._store)
        files = hidden_key.hashes_of_files(self._store / offered.key)
        received = hidden_admission.received_entry(offered, phase, files, board)
        board.append(received)
        return Decision(HiddenFile(received))

    def _wait(self, offered: OfferedSubmission, phase: Phase, board: HiddenBoard) -> str | None:
        """Return the comment on a file that must wait. None where it is taken.

        Who waits for the quota of all accounts keeps his place before later files.
        """
        quotas = board.quotas(offered.author, phase.name)
        earlier = self._queue.earlier_for_all(offered.number)
        if quotas.of_account.remaining and quotas.of_all.remaining > earlier:
            return None
        why = hidden_queue.FOR_ACCOUNT
        if quotas.of_account.remaining:
            why = hidden_queue.FOR_ALL
        place = self._queue.enter(offered.number, why)
        return hidden_page.comment_on_wait(
            offered.commit, place, why, _limits(offered.author, quotas)
        )

    def _outcome(self, offered: OfferedSubmission, file: HiddenFile, board: HiddenBoard) -> str:
        """Return the comment on a file that is in the ledger."""
        received = file.received
        limits = _limits(offered.author, board.quotas(offered.author, received.phase))
        if received.unanswered:
            questions = len(self._answers.references)
            limits.insert(0, hidden_rules.unanswered_in_words(received.unanswered, questions))
        filed = board.file_of(received)
        if filed.scored is not None:
            return hidden_page.comment_on_score(
                offered.commit,
                self._answers.spec,
                board.row_totals(received),
                limits,
                takes_row=bool(filed.scored.totals),
            )
        results_at = board.results_at(received)
        assert results_at is not None  # noqa: S101 - else it was scored
        why = f"files of this phase are scored from {hidden_rules.moment_in_words(results_at)} on"
        place = board.place_in_phase(filed)
        return hidden_page.comment_on_wait(offered.commit, place, why, limits)

    # --- what it scores

    def score_due(self) -> None:
        """Score the files that were kept for the day of their phase's results.

        Their pull requests may be closed by now, or offer something else. So are files that a
        process took and could not score before it was ended.
        """
        board = HiddenBoard(self._answers, self._store)
        with board.held():
            due_files = board.due_files()
        for file in due_files:
            self._score_or_warn(file, board)

    def _score_or_warn(self, file: HiddenFile, board: HiddenBoard) -> None:
        """Score a kept file. A fault of one stops no other."""
        received = file.received
        try:
            hidden_rows.record_of(self._store, received)
            handed_in = hidden_submission.read_submission(self._store / received.key)
            self._score(file, handed_in.texts, board)
        except ReelbenchError as error:
            log.warning("%s: not scored: %s", received.key, error)
        except Exception as error:  # noqa: BLE001 - its words might tell an answer
            log.warning("%s: not scored: %s", received.key, type(error).__name__)

    def _score(self, file: HiddenFile, texts: Mapping[str, str], board: HiddenBoard) -> None:
        """Score a file. Only then the store is held, and the ledger gets its line.

        Two looks may score it at once: the ledger gets the line of the first.
        """
        totals = self._totals(texts)
        received = file.received
        with board.held():
            if board.file_of(received).scored is not None:
                return
            metric = self._answers.spec.primary
            row_total = board.row_totals(received).get(metric.name)
            if not hidden_rules.takes_the_row(metric, totals[metric.name], row_total):
                totals = {}
            entry = ledger.Scored(
                at=board.now,
                who=received.who,
                act="scored",
                key=received.key,
                phase=received.phase,
                totals=totals,
            )
            board.append(entry)

    def _totals(self, texts: Mapping[str, str]) -> Metrics:
        """Return the totals. ReelbenchError where the primary metric has none."""
        try:
            totals = self._answers.totals(texts)
        except Exception:  # noqa: BLE001 - its words might tell an answer
            raise ReelbenchError(_NOT_SCORED) from None
        if self._answers.spec.primary.name not in totals:
            raise ReelbenchError(_NOT_SCORED)
        return totals


def _limits(author: str, quotas: Quotas) -> list[str]:
    return [
        hidden_page.quota_in_words(f"of {author}", quotas.of_account, "7 days"),
        hidden_page.quota_in_words("of all accounts", quotas.of_all, "30 days"),
    ]
