"""Decide whether a submission to a hidden test is taken: by its questions, its names and the day.

The decision follows from the rules, the ledger and the submission. No answer is looked at.
"""

import json
from collections.abc import Iterator
from contextlib import suppress

from reelbench.base.errors import InputError
from reelbench.leaderboard import identity
from reelbench.leaderboard.board_state import HiddenFile
from reelbench.leaderboard.hidden_board import HiddenBoard
from reelbench.leaderboard.hidden_offer import OfferedSubmission
from reelbench.leaderboard.hidden_rules import Phase
from reelbench.leaderboard.ledger import Received
from reelbench.registry.declaration import declaration, scoring_sha256
from reelbench.tasks.hidden_answers import HiddenAnswers
from reelbench.tasks.hidden_submission import HandedIn, Submission


def refuse_other_questions(handed_in: HandedIn, answers: HiddenAnswers) -> None:
    """Refuse a submission on other questions than the owner's. InputError.

    Its words of the benchmark must be the owner's too: they are what the table says.
    """
    spec = answers.spec
    benchmark = handed_in.record.benchmark
    as_owner = (
        benchmark.version == spec.version
        and benchmark.questions_sha256 == answers.questions_sha256
        and benchmark.scoring_sha256 == scoring_sha256(spec)
        and _json(benchmark.declaration) == _json(declaration(spec))
    )
    if not as_owner:
        raise InputError(
            f"{spec.id} {answers.split}: was run on other questions, or on another "
            f"benchmark.yaml, than the owner's of version {spec.version}; get the folder again"
        )
    answers.refuse_other_ids(handed_in.texts)


def _json(document: object) -> str:
    return json.dumps(document, sort_keys=True)


def phase_that_takes(author: str, record: Submission, board: HiddenBoard) -> Phase:
    """Return the phase that takes a submission now.

    Raises:
        InputError: None does, or its account or its names are refused.
    """
    reason = board.rules.reason_against(author)
    if reason is not None:
        raise InputError(f"{author} is disqualified: {reason}")
    for fault in _name_faults(author, record, board):
        raise InputError(fault)
    return board.rules.phase_at(board.answers.split, board.now)


def _name_faults(author: str, record: Submission, board: HiddenBoard) -> Iterator[str]:
    """Yield why a submission can't bear its names."""
    yield from identity.run_problems(record)
    yield from board.state.refusals({record.model.id}, author, board.names).values()


def taken_before(offered: OfferedSubmission, board: HiddenBoard) -> HiddenFile | None:
    """Return this very file, where it was taken in this pull request or this phase."""
    files = [file for file in board.own_files() if offered.is_of(file)]
    for file in files:
        if file.received.request == offered.number:
            return file
    with suppress(InputError):  # no phase takes files now
        phase = board.rules.phase_at(board.answers.split, board.now)
        for file in files:
            if file.received.phase == phase.name:
                return file
    return None


def received_entry(
    offered: OfferedSubmission, phase: Phase, files: dict[str, str], board: HiddenBoard
) -> Received:
    """Return the ledger's entry on a submission that is taken.

    Args:
        offered: The submission, which was read.
        phase: The phase that takes it.
        files: The sha256 of each of its files.
        board: The board.
    """
    assert offered.handed_in is not None  # noqa: S101 - it was read
    spec = board.answers.spec
    return Received(
        at=board.now,
        who=offered.author,
        act="received",
        key=offered.key,
        model=offered.handed_in.record.model.id,
        benchmark=spec.id,
        version=spec.version,
        split=board.answers.split,
        phase=phase.name,
        request=offered.number,
        files=files,
        unanswered=len(offered.handed_in.unanswered),
        late=phase.is_over(board.now),
    )
