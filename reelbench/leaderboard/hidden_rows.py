"""Make rows of hidden tests: rounded totals that the owner scored, one for each account and phase.

They follow from the ledger and from the submitters' own words in `submission.json`. Nobody else can
compute them again.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from reelbench.base.errors import InputError
from reelbench.leaderboard import entries, hidden_key
from reelbench.leaderboard.board_settings import BoardSettings
from reelbench.leaderboard.board_state import BoardState, same_account
from reelbench.leaderboard.entries import BoardEntry, RankingGroup
from reelbench.leaderboard.hidden_rules import HiddenRules, moment_in_words, unanswered_in_words
from reelbench.leaderboard.ledger import Received, Scored
from reelbench.registry import discovery
from reelbench.registry.records import About
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.value_bounds import is_few
from reelbench.tasks import hidden_submission
from reelbench.tasks.hidden_submission import Submission

NOTE = "scored by the owner, on answers that nobody else has"


class HiddenRow(NamedTuple):
    """A row, and the benchmark that it is of."""

    entry: BoardEntry
    spec: BenchmarkSpec


def rules_of(settings: BoardSettings | None, benchmark: str) -> HiddenRules:
    """Return the rules of a benchmark's hidden test."""
    if settings is None:
        return HiddenRules()
    return settings.hidden_tests.get(benchmark, HiddenRules())


class ShownFile(NamedTuple):
    """The file that a row shows: its entries in the ledger."""

    received: Received
    scored: Scored


def place_of(received: Received) -> tuple[str | int, ...]:
    """Return the table of a file with its account, which has one row there."""
    table = (received.benchmark, received.version, received.split, received.phase)
    return *table, received.who.casefold()


def shown_files(state: BoardState) -> list[ShownFile]:
    """Return the file that each account's row shows: the last one that took it."""
    files: dict[tuple[str | int, ...], ShownFile] = {}
    for file in state.hidden.values():
        if file.scored is not None and file.scored.totals:
            files[place_of(file.received)] = ShownFile(file.received, file.scored)
    return list(files.values())


def rows_of_hidden_tests(
    store: Path,
    state: BoardState,
    settings: BoardSettings | None,
    left_out: Callable[[str, str], None],
) -> Iterator[HiddenRow]:
    """Yield the rows of a store's hidden tests.

    `left_out` is called with the key of each row whose submission is not as it was handed in.
    """
    for file in shown_files(state):
        received = file.received
        try:
            record = record_of(store, received)
            spec = discovery.spec_of(record.benchmark)
        except InputError as error:
            left_out(received.key, str(error))
            continue
        rules = rules_of(settings, received.benchmark)
        yield HiddenRow(_board_entry(file, record, spec, state, rules), spec)


def record_of(store: Path, received: Received) -> Submission:
    """Return the record of a file that was taken.

    Raises:
        InputError: Its files are not there as they were handed in.
    """
    folder = store / received.key
    if not hidden_key.is_whole(folder, received.files):
        raise InputError(f"{folder}: its files are not as they were submitted")
    return hidden_submission.read_record(folder)


def _board_entry(
    file: ShownFile,
    record: Submission,
    spec: BenchmarkSpec,
    state: BoardState,
    rules: HiddenRules,
) -> BoardEntry:
    """Return the board's row of a file."""
    received = file.received
    model = record.model
    setting = entries.setting_of_model(spec, model)
    questions = max(total.n for total in file.scored.totals.values())
    return BoardEntry(
        key=f"{received.key}/{received.who}",
        model=state.name_of(model.id),
        revision=model.revision,
        kind="owner",
        setting=setting,
        group=_group(received, setting, rules),
        frames=entries.frames_text(record.settings),
        metrics=file.scored.totals,
        date=file.scored.at.isoformat(),
        unranked=_unranked(received, questions, rules),
        open_weights=entries.has_open_weights(model),
        note=_note(received, questions),
        about=model.about or About(),
        facts={
            "items": questions,
            "scored": questions - received.unanswered,
            "stated_by": received.who,
        },
    )


def _group(received: Received, setting: str, rules: HiddenRules) -> RankingGroup:
    """Return the table in which a file has its row: each phase has one."""
    phase: str | None = None
    if len(rules.phases_of(received.split)) > 1:
        phase = f"phase {received.phase}"
    return RankingGroup(
        benchmark=received.benchmark,
        version=received.version,
        split=received.split,
        protocol=phase,
        setting=entries.setting_apart(setting),
    )


def _note(received: Received, questions: int) -> str:
    """Return the words under a row: who scored it, and what got no answer."""
    if not received.unanswered:
        return NOTE
    return f"{NOTE}; {unanswered_in_words(received.unanswered, questions)}"


def _unranked(received: Received, items: int, rules: HiddenRules) -> str | None:
    """Return why a row is listed and not ranked."""
    reason = rules.reason_against(received.who)
    if reason is not None:
        return f"disqualified: {reason}"
    if received.late:
        return f"late: submitted on {moment_in_words(received.at)}, after the close"
    if not is_few(received.unanswered, items):
        return f"{received.unanswered} of {items} items unscored"
    return None


def times_of(state: BoardState, benchmark: str, account: str) -> list[datetime]:
    """Return when an account's files to a benchmark's hidden test were taken."""
    times: list[datetime] = []
    for file in state.hidden.values():
        received = file.received
        if received.benchmark == benchmark and same_account(received.who, account):
            times.append(received.at)
    return times


def times_in(state: BoardState, benchmark: str, phase: str) -> list[datetime]:
    """Return when the files of a phase were taken, of all accounts."""
    times: list[datetime] = []
    for file in state.hidden.values():
        if file.received.benchmark == benchmark and file.received.phase == phase:
            times.append(file.received.at)
    return times
