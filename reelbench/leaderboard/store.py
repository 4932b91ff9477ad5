"""The results store: a folder of verified results, from which the table and the site are made.

    ledger.jsonl
    <org>__<model>/<revision>/<benchmark>/<settings-hash>/result.json, samples.jsonl
    .columns/<hash of samples.jsonl>.parquet            what boards need of it (`store_columns`)
    replaced/<key>/<start of a hash>/                   what a corrected run took the place of
    removed/<key>/<start of a hash>/                    what was withdrawn. It is never published

The ledger says what was checked of each result, who handed it in and when it was filed, and has the
hashes of its files: a store whose files were changed by hand is not built from. Of a folder that is
added, the result, its samples and people's scores are read, and nothing else. `add` never replaces
other answers. Links are not followed, neither out of the store nor into it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.base.files import read_json, replacing_folder, sha256_of
from reelbench.base.values import texts_in, without_folders
from reelbench.base.workers import ALLOTTED, ALONE, Workers
from reelbench.data import ownership
from reelbench.leaderboard import (
    aliases,
    board_settings,
    board_state,
    hidden_key,
    ledger,
    marks,
    sample_columns,
)
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.board_state import (
    NOT_FILED_YET,
    BoardLedger,
    BoardState,
    FiledRow,
)
from reelbench.leaderboard.checked_files import CheckedFiles
from reelbench.leaderboard.identity import answers_key, key_of, keys_in_other_settings
from reelbench.leaderboard.ledger import Checked, Removed, Verification
from reelbench.leaderboard.marks import known_spec
from reelbench.leaderboard.mismatches import MismatchError
from reelbench.leaderboard.recompute import AHEAD, date_of, verify
from reelbench.leaderboard.rejudge import Rejudge, Rejudged
from reelbench.leaderboard.rereading import hash_of_reading, is_current
from reelbench.leaderboard.store_columns import ColumnsFile, StoreColumns
from reelbench.leaderboard.table_differences import Filed, FirstFiled
from reelbench.registry import discovery
from reelbench.registry.reasons import Reason
from reelbench.registry.records import About, Metrics, Result, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, calibration_file, result_files
from reelbench.tasks import about as abouts
from reelbench.tasks import hidden_submission

FILES = (result_files.RESULT_FILE, result_files.SAMPLES_FILE, calibration_file.FILE)
"""Files of a result's folder. People's scores of some answers are not always there."""
ROWS_FOLDER = "withheld"
"""The folder of rows whose samples may not be passed on."""
REPLACED_FOLDER = "replaced"
REMOVED_FOLDER = "removed"

_DEPTH = 4  # folders in a key
_DIGITS = 12  # of the hash that names a folder of earlier answers
_EARLIER_CHECK = "check.json"

Outcome = Literal["added", "same", "replaced", "older", "refused"]
_Results = Mapping[Path, Result | None]
"""Folder -> its result. None of one that can't be read, which its own check then says."""
_Work = Callable[..., "Added"]
"""What is done with one folder: called with the folder, its result and `known_rows`."""


@dataclass(frozen=True, slots=True)
class Added:
    """The outcome for one folder that was added or checked.

    Attributes:
        source: The folder.
        outcome: `same` also where it was only checked, and holds.
        place: Its folder in the store.
        why: The reason where it was refused or not taken, else a note on it.
        check: What was verified of it, where it holds.
        metrics: Of one that was only checked, or refused although its samples hold: as these give
            them.
        result: The result itself.
    """

    source: Path
    outcome: Outcome
    place: Path | None = None
    why: str = ""
    check: Verification | None = None
    metrics: Metrics | None = None
    result: Result | None = field(default=None, repr=False)
    candidate: "_Candidate | None" = field(default=None, repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the object that scripts read."""
        document: dict[str, Any] = {
            "source": str(self.source),
            "outcome": self.outcome,
            "place": None if self.place is None else str(self.place),
            "why": self.why,
            "check": None if self.check is None else self.check.model_dump(mode="json"),
            "metrics": None,
        }
        if self.metrics is not None:
            document["metrics"] = _METRICS.dump_python(self.metrics, mode="json")
        return document


_METRICS: TypeAdapter[Metrics] = TypeAdapter(Metrics)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A result that holds and was not filed yet.

    Attributes:
        result: The result, with what is said of its model.
        stated: The result as its file states it.
        verified: What was verified of it.
        answers: The hash of its ids and predictions.
        samples_sha256: The hash of its samples.
        calibration_sha256: The hash of people's scores, where it has some.
        rejudged: What came of asking its judge again.
        columns: The columns of its samples. None where it has none.
    """

    result: Result
    stated: Result
    verified: Verification
    answers: str
    samples_sha256: str
    calibration_sha256: str | None
    rejudged: Rejudged | None
    columns: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Filing:
    """The account that files results, and the time.

    Attributes:
        account: None where they are the maintainers' own.
        as_maintainer: The maintainers say that results may be filed, whoever filed their model
            first.
        judged: The maintainers say that they asked the judge of these themselves.
        replaces: Other answers take the place of those that were filed under the same key.
        keeps_newer: A filed result that was made later stays, even where others are replaced.
        at: When.
    """

    account: str | None = None
    as_maintainer: bool = False
    judged: bool = False
    replaces: bool = False
    keeps_newer: bool = True
    at: datetime = field(default_factory=ledger.now)


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A result in the store.

    Attributes:
        key: Its folder, from the store on.
        folder: Its folder.
        result: What its result.json says.
        filed_row: What the board's ledger says of it.
        benchmark: As `discovery.spec_of` has it. None where there is none.
        differs: How what was asked, or how it was scored, differs from what was filed first of its
            benchmark.
        rows: The benchmark's by id, where they are needed and on this machine: where another
            version read the answers.
        rows_sha256: Their hash (`rereading.rows_hash`).
        videos: Where set, only the items on these count.
        withheld: Why its samples are not here, where the row is kept as it was published
            (`leaderboard.rows_only`).
        runs: The results that it is made of, where it is several runs taken together
            (`standing.of_runs`).
        columns: Where set, what boards need of its samples as today's rules read them.
    """

    key: str
    folder: Path
    result: Result
    filed_row: FiledRow
    benchmark: BenchmarkSpec | None = field(default=None, compare=False, repr=False)
    differs: str | None = None
    rows: Mapping[str, Row] | None = field(default=None, compare=False, repr=False)
    rows_sha256: str | None = field(default=None, compare=False, repr=False)
    videos: frozenset[str] | None = field(default=None, repr=False)
    withheld: str | None = None
    runs: "tuple[StoredResult, ...]" = field(default=(), repr=False)
    columns: ColumnsFile | None = field(default=None, compare=False, repr=False)

    @property
    def spec(self) -> BenchmarkSpec:
        """Its benchmark. InputError where there is none."""
        return self.benchmark or discovery.spec_of(self.result.benchmark)

    @property
    def each(self) -> "tuple[StoredResult, ...]":
        """The results that lie in the store: itself, or each run's."""
        return self.runs or (self,)

    @property
    def filed(self) -> Filed:
        """The facts that decide which other results it is compared with."""
        result = self.result
        return Filed(self.key, self.folder, result.benchmark, result.data, self.filed_row)


# --- adding and checking results ------------------------------------------------------------------


def add(
    path: Path,
    store: Path,
    *,
    rejudge: Rejudge | None = None,
    about: About | None = None,
    filing: Filing | None = None,
    workers: Workers = ALLOTTED,
) -> list[Added]:
    """Verify every result under a path and file it.

    One that is refused leaves the others alone.

    Args:
        path: A result's folder, or a folder of such folders.
        store: The store.
        rejudge: Asks the judges of judged results again, about a few items each, in one worker.
        about: Said of the model of all these results, and refused where it contradicts one.
        filing: Who files them; by default the board's maintainers, now.
        workers: Results of one key go to one worker.
    """
    folders = _folders_of_rows(path)
    results = _read_results(folders)
    submissions = _without_submissions(results)
    filing = filing or Filing()
    # A run that is named alone takes any one's place. A dataset's copy has others' older ones too.
    filing = replace(filing, keeps_newer=not filing.replaces or len(results) > 1)
    board = BoardLedger(store)
    not_filed = _judged_elsewhere(results)
    if rejudge is None and about is None:
        not_filed |= _unchanged(results, store, board.state)
    if not filing.as_maintainer:
        not_filed |= _of_another_account(results, store, board.state, filing, not_filed)
    to_file = {folder: result for folder, result in results.items() if folder not in not_filed}
    if rejudge is not None:
        workers = ALONE
    work = partial(_candidate, rejudge=rejudge, about=about)
    outcomes = list(not_filed.values())
    known_rows = KnownRows()
    for folder, result in submissions.items():
        outcomes.append(_kept_for_its_owner(folder, result, store, about, known_rows))
    columns = StoreColumns(store)
    with columns.saved():
        verifications = _spread(work, to_file, workers)
        for verified in workers.shown("checking results", verifications, len(to_file)):
            added = _filed_or_refused(verified, store, board, filing)
            outcomes.append(added)
            _keep_columns(verified.candidate, added, columns)
    return _with_notes_on_tables(outcomes, store, board.state)


def _without_submissions(results: dict[Path, Result | None]) -> dict[Path, Result]:
    """Take the submissions to hidden tests out of the results, and return them."""
    submissions: dict[Path, Result] = {}
    for folder, result in list(results.items()):
        if result is not None and _is_submission(folder, result):
            submissions[folder] = result
            del results[folder]
    return submissions


def _is_submission(folder: Path, result: Result) -> bool:
    """Return True of a run that its benchmark's owner alone can score."""
    if not (folder / hidden_submission.FILE).is_file():
        return False
    # The file may be older than the result: a run whose answers are public by now is a row.
    return Reason.ANSWERS_HIDDEN in result.counts.unscored


def _kept_for_its_owner(
    folder: Path, result: Result, store: Path, about: About | None, known_rows: KnownRows
) -> Added:
    """Keep answers to a hidden test, which nobody here can score.

    A file that its owner would refuse is refused already.
    """
    try:
        _refuse_other_questions(folder, result, known_rows)
        key = hidden_key.keep_own_submission(folder, store, about)
    except Exception as error:  # noqa: BLE001 - one bad folder never stops the others
        return Added(folder, "refused", why=refusal_of(folder, error))
    why = "its owner scores it: `publish --dataset ORG/RESULTS --create-pr` hands it in"
    return Added(folder, "added", store / key, why)


def _refuse_other_questions(folder: Path, result: Result, known_rows: KnownRows) -> None:
    """Refuse a submission on other questions than its run's, or the test's that are here."""
    handed_in = hidden_submission.read_submission(folder)
    rows_here = known_rows.rows_of(result)
    if rows_here is None:
        own_ids = [sample.id for sample in result_files.read_samples(folder)]
    else:
        own_ids = [*rows_here]
    where = f"{folder / hidden_submission.PREDICTIONS_FILE}"
    hidden_submission.refuse_other_ids(handed_in.texts, own_ids, where)


def _folders_of_rows(path: Path) -> list[Path]:
    """Return the folders with a result in `path`, without those of replaced or removed answers."""
    folders = result_files.folders(path)
    if not path.is_dir():
        return folders
    rows = [folder for folder in folders if not _is_earlier(folder.relative_to(path))]
    if not rows:
        raise InputError(
            f"{path}: has nothing but replaced answers; name the folder of one of them"
        )
    return rows


def _is_earlier(below: Path) -> bool:
    """Return True of `replaced/KEY/HASH` and `removed/KEY/HASH`, in a store or a dataset."""
    folders_above = below.parts[: -(_DEPTH + 1)]
    return folders_above[-1:] in ((REPLACED_FOLDER,), (REMOVED_FOLDER,))


def _keep_columns(candidate: _Candidate | None, added: Added, columns: StoreColumns) -> None:
    """Write the columns of a result that was filed, where it has some."""
    if candidate is None or candidate.columns is None or added.outcome == "refused":
        return
    columns.write(candidate.samples_sha256, candidate.columns)


def _filed_or_refused(added: Added, store: Path, board: BoardLedger, filing: Filing) -> Added:
    candidate = added.candidate
    if candidate is None:
        return added
    try:
        with board.locked():
            return _file(added.source, store, board, candidate, filing)
    except Exception as error:  # noqa: BLE001 - one bad folder never stops the others
        why = refusal_of(added.source, error)
        return Added(added.source, "refused", why=why, result=candidate.result)


def _read_results(folders: Iterable[Path]) -> dict[Path, Result | None]:
    results: dict[Path, Result | None] = dict.fromkeys(folders)
    for folder in results:
        with suppress(Exception):
            results[folder] = result_files.read(folder)
    return results


def _judged_elsewhere(results: _Results) -> dict[Path, Added]:
    """Return the unjudged results whose same answers are judged in another of the folders.

    Only the judged ones are filed.
    """
    unjudged: dict[Path, str] = {}
    judged: dict[str, Path] = {}
    if len(results) == 1:
        return {}
    for folder, result in results.items():
        spec = known_spec(result) if result is not None else None
        if result is None or spec is None or spec.judge is None:
            continue
        key = answers_key(result)
        if result.judge is None:
            unjudged[folder] = key
        else:
            judged[key] = folder
    outcomes: dict[Path, Added] = {}
    for folder, key in unjudged.items():
        twin = judged.get(key)
        if twin is not None and _predictions(folder) == _predictions(twin):
            why = f"the same answers are judged in {twin}, which is filed"
            outcomes[folder] = Added(folder, "older", why=why)
    return outcomes


def _predictions(folder: Path) -> dict[str, Any] | None:
    try:
        return {sample.id: sample.prediction for sample in result_files.read_samples(folder)}
    except Exception:  # noqa: BLE001 - said when it is its turn
        return None


def _unchanged(results: _Results, store: Path, state: BoardState) -> dict[Path, Added]:
    """Return the results whose very bytes are filed."""
    outcomes: dict[Path, Added] = {}
    for folder, result in results.items():
        if result is None:
            continue
        with suppress(Exception):  # said when it is its turn
            place = same_bytes(folder, result, store, state)
            if place is not None:
                outcomes[folder] = Added(folder, "same", place, result=result)
    return outcomes


def _of_another_account(
    results: _Results,
    store: Path,
    state: BoardState,
    filing: Filing,
    not_filed: Collection[Path],
) -> dict[Path, Added]:
    """Return the refusals of results whose model another account filed first.

    Only that account and the maintainers file more results of it.
    """
    models = {result.model.id for result in results.values() if result is not None}
    reasons = state.refusals(models, filing.account, aliases.read(store))
    outcomes: dict[Path, Added] = {}
    for folder, result in results.items():
        if result is None or result.model.id not in reasons or folder in not_filed:
            continue
        why = f"{folder}: {reasons[result.model.id]}"
        outcomes[folder] = Added(folder, "refused", why=why, result=result)
    return outcomes


def _with_notes_on_tables(outcomes: Sequence[Added], store: Path, state: BoardState) -> list[Added]:
    """Add a note to filed results that differ from those that were filed first."""
    benchmarks: set[str] = set()
    for added in outcomes:
        if added.place is not None and added.result is not None:
            benchmarks.add(added.result.benchmark.id)
    if not benchmarks:
        return list(outcomes)
    filed: dict[Path, Filed] = {}
    for row in _rows(state, benchmarks):
        folder = store / row.key
        facts = Filed.read(folder, row)
        if facts is not None:
            filed[folder] = facts
    first = FirstFiled(filed.values(), board_settings.read(store))
    noted: list[Added] = []
    for added in outcomes:
        facts = filed.get(added.place) if added.place is not None else None
        difference = first.difference_from_first(facts) if facts is not None else None
        if difference is None:
            noted.append(added)
            continue
        why = f"a table of its own: {difference}"
        if added.why:
            why = f"{added.why}; {why}"
        noted.append(replace(added, why=why))
    return noted


def check(*paths: Path, workers: Workers = ALLOTTED) -> list[Added]:
    """Verify every result under the paths, and where it lies. File nothing.

    This is the check of a pull request.
    """
    folders: dict[Path, None] = {}
    refused: list[Added] = []
    for path in paths:
        try:
            folders |= dict.fromkeys(_folders_of_rows(path))
        except InputError as error:
            if not path.is_dir():
                raise
            refused.append(Added(path, "refused", why=str(error)))
    results = _read_results(folders)
    checked = _spread(_check_one, results, workers)
    return [*refused, *workers.shown("checking results", checked, len(results))]


def _check_one(folder: Path, result: Result | None, known_rows: KnownRows) -> Added:
    verified = verify(folder, known_rows=known_rows, result=result)
    key = key_of(verified.result)
    # In a results dataset a result lies under its key, or it would stand beside what it replaces.
    path = folder.resolve()
    if "results" in path.parts[:-1] and not path.as_posix().endswith(f"/{key}"):
        raise MismatchError(f"{folder}: belongs at results/{key}", verified.metrics)
    why = f"ids {verified.verified.ids}"
    summary = marks.summary(verified.verified, verified.result)
    if summary:
        why += f"; {summary}"
    return Added(
        folder,
        "same",
        place=folder,
        why=why,
        check=verified.verified,
        metrics=verified.metrics,
        result=verified.result,
    )


def _spread(work: _Work, results: _Results, workers: Workers) -> Iterator[Added]:
    """Do each folder's work. A fault of one is said of it alone."""
    if workers.alone(len(results)):
        known_rows = KnownRows()
        for folder, result in results.items():
            yield _done_or_refused(work, folder, result, known_rows)
        return
    # Each worker reads its results anew, which takes it less than to be sent them. Results of one
    # key go to one worker, as one takes the other's place.
    places: dict[Path, Hashable] = {folder: folder for folder in results}
    for folder, result in results.items():
        with suppress(Exception):  # said when it is its turn
            if result is not None:
                places[folder] = key_of(result)
    afresh = partial(_done_afresh, work)
    for added in workers.map(afresh, list(results), by=places.__getitem__):
        yield replace(added, result=results[added.source])


_worker_rows = KnownRows()


def _done_afresh(work: _Work, folder: Path) -> Added:
    result = _read_results([folder])[folder]
    added = _done_or_refused(work, folder, result, _worker_rows)
    return replace(added, result=None)


def _done_or_refused(
    work: _Work, folder: Path, result: Result | None, known_rows: KnownRows
) -> Added:
    try:
        return work(folder, result, known_rows=known_rows)
    except Exception as error:  # noqa: BLE001 - one bad folder never stops the others
        metrics = error.metrics if isinstance(error, MismatchError) else None
        why = refusal_of(folder, error)
        return Added(folder, "refused", why=why, metrics=metrics, result=result)


def _candidate(
    folder: Path,
    result: Result | None,
    known_rows: KnownRows,
    *,
    rejudge: Rejudge | None,
    about: About | None,
) -> Added:
    """Verify a result that is to be filed."""
    verified = verify(folder, known_rows=known_rows, result=result)
    result = verified.result
    counts = result.counts
    if counts.items and not aggregation.answered(counts):
        reasons = ", ".join(f"{number} {reason}" for reason, number in counts.unscored.items())
        raise InputError(
            f"{folder}: no question has an answer ({reasons}), so there is nothing to file; "
            "run it again"
        )
    rejudged = None
    if rejudge is not None and result.judge is not None:
        rejudged = rejudge(result, verified.samples, known_rows)
    if about is not None:
        result = abouts.with_about(result, about)
    candidate = _Candidate(
        result=result,
        stated=verified.result,
        verified=verified.verified,
        answers=result_files.answers_sha256(verified.samples),
        samples_sha256=verified.files[result_files.SAMPLES_FILE],
        calibration_sha256=verified.files.get(calibration_file.FILE),
        rejudged=rejudged,
        columns=_columns_of(result, verified.samples),
    )
    return Added(folder, "added", check=verified.verified, result=result, candidate=candidate)


def _columns_of(result: Result, samples: Sequence[Sample]) -> bytes | None:
    """Return the columns of a result that may have some."""
    if is_secret(result) or not is_current(result):
        return None
    return sample_columns.as_parquet(samples)


# --- where a result is filed ----------------------------------------------------------------------


def place_of(key: str, store: Path) -> Path:
    """Return the folder of a key in a store.

    Raises:
        InputError: If it would lie outside, or behind a link.
    """
    place = store / key
    _refuse_links(place, store)
    if not key or place.resolve() != store.resolve() / key:
        raise InputError(f"{place}: is outside the store {store}")
    return place


def _refuse_links(path: Path, store: Path) -> None:
    """Raise InputError where a path, or a folder above it, is a link.

    Args:
        path: The path.
        store: The store. What lies above it may be behind links.
    """
    end = str(store)
    step = str(path)
    while step not in (end, ""):
        if os.path.islink(step):  # noqa: PTH114 - a Path costs ten times that
            raise InputError(
                f"{step}: is a link; a store contains only its own folders and files; remove it"
            )
        above = os.path.dirname(step)  # noqa: PTH120
        if above == step:  # the root
            return
        step = above


def same_bytes(folder: Path, result: Result, store: Path, state: BoardState) -> Path | None:
    """Return the folder of the store with these very bytes. None without one."""
    row = row_of(result, state)
    if row is None:
        return None
    place = place_of(row.key, store)
    if folder.resolve() == place.resolve():
        return None
    for name in FILES:
        old_file = place / name
        new_file = folder / name
        if name == calibration_file.FILE and not new_file.is_file():
            continue
        if not old_file.is_file() or not new_file.is_file():
            return None
        digest = sha256_of(old_file)
        if row.files and row.files.get(name) != digest:
            return None
        if sha256_of(new_file) != digest:
            return None
    return place


def row_of(result: Result, state: BoardState) -> FiledRow | None:
    """Return the row of a result's model and setting, whatever the model was called then."""
    for named in _under_each_name(result, state):
        row = state.rows.get(key_of(named))
        if row is not None:
            return row
    return None


def _under_each_name(result: Result, state: BoardState) -> Iterator[Result]:
    """Yield a result with each name that its model has or had."""
    for name in [result.model.id, *state.names_of(result.model.id)]:
        model = result.model.model_copy(update={"id": name})
        yield result.model_copy(update={"model": model})


def _row_of_same_answers(result: Result, answers: str, state: BoardState) -> FiledRow | None:
    """Return the row of the same run with another setting, or none, stated of it."""
    for named in _under_each_name(result, state):
        for key in keys_in_other_settings(named):
            row = state.rows.get(key)
            if row is not None and row.answers == answers:
                return row
    return None


def public(result: Result) -> Result:
    """Return a result without folders: of each path its last part alone."""
    location = without_folders(result.benchmark.source.location)
    source = result.benchmark.source.model_copy(update={"location": location})
    benchmark = result.benchmark.model_copy(update={"source": source})
    arguments = without_folders(result.model.args)
    model = result.model.model_copy(update={"args": arguments})
    generation = without_folders(result.settings.generation)
    settings = result.settings.model_copy(update={"generation": generation})
    return result.model_copy(update={"benchmark": benchmark, "model": model, "settings": settings})


def _file(
    folder: Path, store: Path, board: BoardLedger, candidate: _Candidate, filing: Filing
) -> Added:
    """File a result that holds. The store is locked."""
    state = board.state
    result = candidate.result
    discovery.spec_of(result.benchmark)  # before its name is part of a path
    found_rows = _rows_of_run(result, candidate.answers, state)
    row = found_rows.row
    key = key_of(result) if row is None else row.key
    place = place_of(key, store)
    removed = state.tombstone(key, result.model.id, candidate.answers, board.names)
    if removed is not None:
        raise InputError(
            f"{folder}: these answers were withdrawn on {removed.at:%Y-%m-%d} ({removed.reason}); "
            f"`reelbench leaderboard restore {removed.key} --store {store}` takes them again"
        )
    if is_secret(result):
        _refuse_second_total(folder, store, state, candidate)
    old_result = _result_of_row(row, place)
    if old_result is not None and result.model.about is None and old_result.model.about is not None:
        result = abouts.with_about(result, old_result.model.about)  # what was said once stays said
    result = public(result)
    outcome: Outcome = "added"
    if row is not None:
        work = _Refiling(folder, store, row, old_result, result, candidate)
        kept_outcome = _kept_outcome(work, board, filing)
        if kept_outcome is not None:
            return kept_outcome
        outcome = work.outcome
    if found_rows.moved_from is not None:
        outcome = "replaced"
    files = _contents(folder, place, row, candidate, result)
    if row is not None or not _has_samples(place, candidate):
        _keep_replaced(place, files)
    _write_place(folder, place, files, candidate, result)
    entry = _filed_entry(key, files, found_rows, candidate, filing)
    if found_rows.moved_from is None:
        board.append(entry)
    else:
        _append_moved(entry, found_rows.moved_from, result, store, board)
    filed_row = state.rows[key]
    notes = [
        marks.summary(filed_row.verified, result, filed_row.rejudged),
        state.note_on_withdrawn(key, candidate.answers),
    ]
    why = "; ".join(filter(None, notes))
    return Added(folder, outcome, place, why, check=filed_row.verified, result=result)


@dataclass(frozen=True, slots=True)
class _RowsOfRun:
    """The rows that a run has before it is filed.

    Attributes:
        row: Its row.
        moved_from: The row of these answers as long as another setting, or none, was stated.
    """

    row: FiledRow | None
    moved_from: FiledRow | None = None


def _rows_of_run(result: Result, answers: str, state: BoardState) -> _RowsOfRun:
    """Return the rows that a run has before it is filed."""
    row = row_of(result, state)
    if row is not None and row.answers == answers:
        return _RowsOfRun(row)
    row_elsewhere = _row_of_same_answers(result, answers, state)
    if row_elsewhere is not None and result.model.setting_stated is None:
        return _RowsOfRun(row_elsewhere)  # what was said once stays said
    if row is not None:
        return _RowsOfRun(row)
    return _RowsOfRun(None, row_elsewhere)


def _result_of_row(row: FiledRow | None, place: Path) -> Result | None:
    """Return a row's result. None where its files are not whole: it is filed anew."""
    if row is not None:
        with suppress(InputError):
            return result_files.read(place)
    return None


def _filed_entry(
    key: str,
    files: Mapping[str, bytes],
    found_rows: _RowsOfRun,
    candidate: _Candidate,
    filing: Filing,
) -> ledger.Filed:
    """Return the ledger's entry on a result that is filed."""
    result = candidate.result
    row = found_rows.row
    hashes: dict[str, str] = {}
    if not is_secret(result):
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    account = filing.account
    judged = filing.judged
    row_of_answers = row or found_rows.moved_from
    has_answers = row_of_answers is not None and row_of_answers.answers == candidate.answers
    if row_of_answers is not None and has_answers and not filing.judged:
        account = row_of_answers.account
        judged = row_of_answers.judged
    act: Literal["filed", "replaced"] = "replaced"
    if row is None:
        act = "filed"
    return ledger.Filed(
        at=filing.at,
        who=ledger.who_is(account),
        act=act,
        key=key,
        model=result.model.id,
        files=hashes,
        answers=candidate.answers,
        verified=_known_of(row_of_answers, candidate),
        judged=judged,
        rejudged=candidate.rejudged,
    )


def _append_moved(
    entry: ledger.Filed, row: FiledRow, result: Result, store: Path, board: BoardLedger
) -> None:
    """File a run whose setting changed, and withdraw its row of before."""
    setting = result.model.setting_stated
    removed = Removed(
        at=entry.at,
        who=ledger.MAINTAINER,
        act="removed",
        key=row.key,
        model=row.model,
        answers=row.answers,
        reason=f"its setting is {setting} now: filed as {entry.key}",
    )
    keep_earlier(place_of(row.key, store), REMOVED_FOLDER)
    board.append(entry, removed)
    delete_files(row.key, store)


def delete_files(key: str, store: Path) -> None:
    """Delete the files of a row that was withdrawn, the replaced ones too."""
    for folder in (store / key, store / REPLACED_FOLDER / key):
        if not folder.is_dir():
            continue
        shutil.rmtree(folder)
        for parent in list(folder.parents)[:_DEPTH]:
            if parent == store or any(parent.iterdir()):
                break
            parent.rmdir()


def _refuse_second_total(
    folder: Path, store: Path, state: BoardState, candidate: _Candidate
) -> None:
    """Raise InputError where secret answers would get a second total of the same predictions.

    Two totals, with errata and without, would tell the right answers that these correct.
    """
    benchmark = candidate.result.benchmark
    keys = [row.key for row in state.rows.values() if row.answers == candidate.answers]
    for key in keys:
        filed = Filed.read(store / key, state.rows[key])
        if filed is None or filed.benchmark.id != benchmark.id:
            continue
        if filed.benchmark.errata != benchmark.errata:
            raise InputError(
                f"{folder}: the same predictions are filed as {key}, scored by other errata; the "
                "right answers are secret, and two totals would tell which of them changed. Errata "
                "open a new phase: file new predictions in it"
            )


def _known_of(row: FiledRow | None, candidate: _Candidate) -> Verification:
    """Return the verification of a result, with the data where there was one."""
    if row is None or row.files.get(result_files.SAMPLES_FILE) != candidate.samples_sha256:
        return candidate.verified
    if row.ids == "checked" and candidate.verified.ids == "unchecked":
        return row.verified
    return candidate.verified


def is_secret(result: Result) -> bool:
    """Return True where the right answers, which samples repeat, are public nowhere."""
    spec = discovery.spec_of(result.benchmark)
    return ownership.has_secret_answers(spec, result.benchmark.split)


@dataclass(frozen=True, slots=True)
class _Refiling:
    """A result whose key has a row.

    Attributes:
        folder: Its folder.
        store: The store.
        row: The row.
        old_result: The row's result. None where it can't be read.
        result: The new result, as it would be filed.
        candidate: The new result, as it was verified.
    """

    folder: Path
    store: Path
    row: FiledRow
    old_result: Result | None
    result: Result
    candidate: _Candidate

    @property
    def says_the_same(self) -> bool:
        """True where the filed files are whole and say all that the new ones say.

        Files of the new answers without an entry are of a command that was ended between them.
        """
        if self.old_result is None or self.row.answers != self.candidate.answers:
            return False
        if _changed_file(self.row, self.store / self.row.key, self.store) is not None:
            return False
        return self.old_result.model_dump() == self.result.model_dump()

    @property
    def outcome(self) -> Outcome:
        """The outcome of filing it: `same` where only people's scores are others."""
        return "same" if self.says_the_same else "replaced"


def _kept_outcome(work: _Refiling, board: BoardLedger, filing: Filing) -> Added | None:
    """Return the outcome where the row stays. None where it is to be replaced.

    Raises:
        InputError: Other answers are filed under the key, or another model's.
    """
    row = work.row
    result = work.result
    old_result = work.old_result
    place = work.store / row.key
    if old_result is not None:
        _refuse_another_model(work.folder, old_result, result, board.state)
    if row.answers != work.candidate.answers and not filing.replaces:
        command = f"reelbench leaderboard replace {work.folder} --store {work.store}"
        if filing.account is not None:
            command += f" --account {filing.account}"
        raise InputError(
            f"{work.folder}: other answers of {result.model.id} in this setting are filed as "
            f"{row.key}, and add replaces nothing; a corrected run: `{command}`; another model: "
            "score it with another --name"
        )
    digest = work.candidate.calibration_sha256
    has_same_people = digest is None or row.files.get(calibration_file.FILE) == digest
    if work.says_the_same and has_same_people:
        return _same(work.folder, place, board, row, work.candidate)
    if old_result is not None and filing.keeps_newer and made_at(old_result) > date_of(result):
        date = old_result.provenance.date
        why = f"a newer result of the same model and settings is there ({date}); it stays"
        return Added(work.folder, "older", place, why, result=result)
    return None


def _same(
    folder: Path, place: Path, board: BoardLedger, row: FiledRow, candidate: _Candidate
) -> Added:
    """Return the outcome of a filed result, and file what its judge said again."""
    if candidate.rejudged is not None:
        entry = Checked(
            at=ledger.now(),
            who=ledger.MAINTAINER,
            act="checked",
            key=row.key,
            answers=row.answers,
            verified=_known_of(row, candidate),
            rejudged=candidate.rejudged,
        )
        board.append(entry)
    rejudged = board.state.rows[row.key].rejudged
    why = marks.summary(row.verified, candidate.result, rejudged)
    return Added(folder, "same", place, why, check=row.verified, result=candidate.result)


def _contents(
    folder: Path, place: Path, row: FiledRow | None, candidate: _Candidate, result: Result
) -> dict[str, bytes]:
    """Return the files to be filed by their names.

    People's scores of the same samples stay where the new folder has none.
    """
    files = {
        result_files.SAMPLES_FILE: result_files.samples_of(folder).read_bytes(),
        result_files.RESULT_FILE: _document(folder, candidate.stated, result),
    }
    people_file = folder / calibration_file.FILE
    is_same = row is not None and row.answers == candidate.answers
    if candidate.calibration_sha256 is None and is_same:
        old_samples = place / result_files.SAMPLES_FILE
        if old_samples.is_file() and sha256_of(old_samples) == candidate.samples_sha256:
            people_file = place / calibration_file.FILE
    if people_file.is_file():
        files[calibration_file.FILE] = people_file.read_bytes()
    return files


def _write_place(
    folder: Path,
    place: Path,
    files: Mapping[str, bytes],
    candidate: _Candidate,
    result: Result,
) -> None:
    """Write a result's folder, in place of the one that was there."""
    # No flush to disk for each of thousands of small files: the hashes in the ledger show a file
    # that is not whole.
    with replacing_folder(place) as aside:
        for name, content in files.items():
            (aside / name).write_bytes(content)
        is_same = sha256_of(aside / result_files.SAMPLES_FILE) == candidate.samples_sha256
        text = result_files.as_text(result_files.read(aside))
        if not is_same or text != result_files.as_text(result):
            raise MismatchError(f"{folder}: was changed while it was checked; add it again")


def _has_samples(place: Path, candidate: _Candidate) -> bool:
    """Return True of a folder with these very samples."""
    samples_file = place / result_files.SAMPLES_FILE
    return samples_file.is_file() and sha256_of(samples_file) == candidate.samples_sha256


def _keep_replaced(place: Path, files: Mapping[str, bytes]) -> None:
    """Keep the answers that other ones take the place of."""
    # The same files are there where a command was ended, or where a merge of the dataset put them.
    if not _has(place, files):
        keep_earlier(place, REPLACED_FOLDER)


def _has(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Return True of a folder with these files, to the byte."""
    for name, content in files.items():
        file = folder / name
        if not file.is_file() or file.read_bytes() != content:
            return False
    return True


def keep_earlier(place: Path, kind: str) -> Path | None:
    """Copy a row's folder to where earlier or withdrawn answers are. Return that folder."""
    result_file = place / result_files.RESULT_FILE
    if not result_file.is_file():
        return None
    parts = place.parts[-_DEPTH:]
    store = place.parents[_DEPTH - 1]
    folder = store.joinpath(kind, *parts, sha256_of(result_file)[:_DIGITS])
    with replacing_folder(folder) as aside:
        for name in FILES:
            if (place / name).is_file():
                shutil.copyfile(place / name, aside / name)
    return folder


def _document(folder: Path, result_of_file: Result, result: Result) -> bytes:
    """Return the result.json to file: the very bytes where the file says nothing else.

    A record that is read lacks the fields that it doesn't know, and these may hold paths.
    """
    document = (folder / result_files.RESULT_FILE).read_bytes()
    text = result_files.as_text(result)
    unknown_texts = set(texts_in(json.loads(document))) - set(texts_in(json.loads(text)))
    if unknown_texts or result.model_dump() != result_of_file.model_dump():
        return text.encode()
    return document


def _refuse_another_model(
    folder: Path, old_result: Result, result: Result, state: BoardState
) -> None:
    old_model = old_result.model
    model = result.model
    is_same_name = state.name_of(old_model.id) == state.name_of(model.id)
    if not is_same_name or old_model.revision != model.revision:
        raise InputError(
            f"{folder}: its place in the store has a result of {old_model.id!r}, and it is of "
            f"{model.id!r}; another's result is not replaced"
        )


def made_at(result: Result) -> datetime:
    """Return the time when a stored result was made.

    One whose date can't be is older than any.
    """
    never = datetime.min.replace(tzinfo=UTC)
    try:
        date = date_of(result)
    except ValueError:
        return never
    return never if date > datetime.now(UTC) + AHEAD else date


# --- reading the store ----------------------------------------------------------------------------


def read(
    store: Path,
    workers: Workers = ALONE,
    *,
    left_out: Callable[[str, str], None] | None = None,
    benchmarks: Collection[str] | None = None,
    checked: CheckedFiles | None = None,
    state: BoardState | None = None,
) -> list[StoredResult]:
    """Return every result whose samples are here, in the order of keys.

    Args:
        store: The store.
        workers: They read the files.
        left_out: Called with the key of each result that can't be read, and why.
        benchmarks: Ids. Only results on these are read.
        checked: Files that need not be hashed again. By default all are hashed.
        state: What the store's ledger says, where it is read already.

    Raises:
        InputError: If there is no store, its ledger is broken, or a result can't be read and there
            is no `left_out`.
    """
    refuse_no_store(store)
    if state is None:
        state = board_state.read(store)
    keys_without_samples = rows_only_keys(store)
    rows: list[FiledRow] = []
    for row in _rows(state, benchmarks):
        has_samples = row.key not in keys_without_samples
        if has_samples or (store / row.key / result_files.RESULT_FILE).is_file():
            rows.append(row)
    known_rows = KnownRows()
    readings: list[_Reading] = []
    for row in rows:
        is_checked = checked is not None and checked.has(row, FILES)
        readings.append(_Reading(row, store, is_checked))
    results = list(workers.each("reading results", _read_or_refused, readings))
    stored: list[StoredResult] = []
    hashed_rows: list[FiledRow] = []
    for row, read_result in zip(rows, results, strict=True):
        if isinstance(read_result, _Read):
            if read_result.folder == store / row.key:
                hashed_rows.append(row)
            named_result = with_name(read_result.result, state)
            stored.append(as_stored(read_result.folder, named_result, row, known_rows))
        elif left_out is None:
            raise InputError(read_result)
        else:
            left_out(row.key, read_result)
    if checked is not None:
        checked.remember(hashed_rows)
    first = FirstFiled((result.filed for result in stored), board_settings.read(store))
    columns = StoreColumns(store)
    return [
        replace(
            result,
            differs=first.difference_from_first(result.filed),
            columns=known_columns(result, columns),
        )
        for result in stored
    ]


def known_columns(stored: StoredResult, columns: StoreColumns) -> ColumnsFile | None:
    """Return the columns of a result's samples that this machine wrote. None without any."""
    digest = hash_for_columns(stored)
    return None if digest is None else columns.of(digest)


def hash_for_columns(stored: StoredResult) -> str | None:
    """Return the hash that a result's columns follow from. None where it may have none.

    It is that of the samples, and where another version read them that of today's reading. Secret
    answers have no columns, nor have those that can't be read again here.
    """
    if stored.benchmark is None or is_secret(stored.result):
        return None
    samples_sha256 = stored.filed_row.files.get(result_files.SAMPLES_FILE)
    if samples_sha256 is None or is_current(stored.result):
        return samples_sha256
    if stored.rows_sha256 is None and stored.benchmark.row_kind != "open":
        return None
    return hash_of_reading(stored.benchmark, stored.result, samples_sha256, stored.rows_sha256)


def with_name(result: Result, state: BoardState) -> Result:
    """Return a result under the name that its model has today."""
    name = state.name_of(result.model.id)
    if name == result.model.id:
        return result
    model = result.model.model_copy(update={"id": name})
    return result.model_copy(update={"model": model})


def rows_only_keys(store: Path) -> set[str]:
    """Return the keys of the rows that a store has without their samples."""
    keys: set[str] = set()
    for path in sorted((store / ROWS_FOLDER).glob("*.json")):
        # What is wrong in it is said where its rows are read (`rows_only.parse`).
        with suppress(LookupError, TypeError):
            for table in read_json(path)["tables"]:
                keys.update(str(row["key"]).partition("#")[0] for row in table["rows"])
    return keys


def unreadable(results: Iterable[StoredResult]) -> dict[str, str]:
    """Return key -> fault of each result whose samples can't be read.

    A result that somebody else's version filed may have such samples.
    """
    faults: dict[str, str] = {}
    for stored in results:
        try:
            for _ in result_files.read_samples(stored.folder):
                pass
        except Exception as error:  # noqa: BLE001 - one bad result never stops the others
            faults[stored.key] = refusal_of(stored.folder, error)
    return faults


@dataclass(frozen=True, slots=True)
class _Reading:
    """A row to be read from a store.

    Attributes:
        row: The row.
        store: The store.
        is_checked: Its files are known to be those that were filed.
    """

    row: FiledRow
    store: Path
    is_checked: bool


@dataclass(frozen=True, slots=True)
class _Read:
    """A result, and the folder that it was read from."""

    folder: Path
    result: Result


def _read_or_refused(reading: _Reading) -> _Read | str:
    """Return the result of a row; or the reason why it can't be read."""
    row = reading.row
    store = reading.store
    folder = store / row.key
    try:
        changed_file: Path | None = None
        if not reading.is_checked:
            changed_file = _changed_file(row, folder, store)
        if changed_file is not None:
            # A process that was ended while it put other files there leaves the earlier ones.
            digest = row.files.get(result_files.RESULT_FILE, "")
            earlier_folder = store / REPLACED_FOLDER / row.key / digest[:_DIGITS]
            if _changed_file(row, earlier_folder, store) is not None:
                return (
                    f"{changed_file}: is not the file that was filed; bring it back, or withdraw "
                    f"the row with `reelbench leaderboard remove {row.key} --store {store}`"
                )
            folder = earlier_folder
        result = result_files.read(folder)
        if not row.files and result_files.changed_after_scoring(folder, result):
            return f"{folder}: its samples were changed after scoring; bring them back"
        return _Read(folder, result)
    except Exception as error:  # noqa: BLE001 - one bad result never stops the others
        return refusal_of(folder, error)


def _changed_file(row: FiledRow, folder: Path, store: Path) -> Path | None:
    """Return the first file that is not as it was filed, None where all are.

    Raises:
        InputError: One of them is behind a link.
    """
    _refuse_links(folder, store)
    hashes = dict(row.files)
    if (folder / calibration_file.FILE).exists() and row.files:
        hashes.setdefault(calibration_file.FILE, "")
    for name, digest in hashes.items():
        file = folder / name
        _refuse_links(file, folder)
        if not file.is_file() or sha256_of(file) != digest:
            return file
    return None


def refusal_of(folder: Path, error: Exception) -> str:
    """Return the fault of a result's folder, in a line."""
    if isinstance(error, ReelbenchError):
        text = str(error)
        return text if str(folder) in text else f"{folder}: {text}"
    line = first_line(error)
    if isinstance(error, OSError):
        return f"{folder}: can't be read, or filed ({line}); what was there stays"
    return f"{folder}: can't be checked ({type(error).__name__}: {line})"


def as_stored(folder: Path, result: Result, row: FiledRow, known_rows: KnownRows) -> StoredResult:
    """Return a result as it is ranked, whether it is filed or only checked."""
    spec = known_spec(result)
    rows = None
    rows_sha256 = None
    if spec is not None and not is_current(result):
        rows = known_rows.rows_of(result)
    if rows is not None:
        rows_sha256 = known_rows.rows_sha256(rows)
    return StoredResult(row.key, folder, result, row, spec, rows=rows, rows_sha256=rows_sha256)


def checked_row(result: Result, verified: Verification, account: str | None) -> FiledRow:
    """Return the row of a result that is only checked, after all that are filed."""
    return FiledRow(
        key=key_of(result),
        model=result.model.id,
        order=NOT_FILED_YET,
        taken=None,
        account=account,
        files={},
        answers="",
        verified=verified,
    )


def refuse_no_store(store: Path) -> None:
    """Raise InputError where there is no store, or one of an earlier version."""
    if not store.is_dir():
        raise InputError(
            f"{store}: no such store; `reelbench leaderboard add RUN_DIR --store {store}` makes one"
        )
    if (store / ledger.FILE).is_file():
        return
    if any(store.glob(f"*/*/*/*/{_EARLIER_CHECK}")):
        raise InputError(
            f"{store}: is a store of an earlier version, without {ledger.FILE}; file its results "
            f"again: `reelbench leaderboard add {store} --store ANOTHER`"
        )


def _rows(state: BoardState, benchmarks: Collection[str] | None = None) -> list[FiledRow]:
    """Return a store's rows in the order of keys, of all benchmarks or of some."""
    rows = list(state.rows.values())
    if benchmarks is not None:
        rows = [row for row in rows if row.key.split("/")[2] in benchmarks]
    return sorted(rows, key=lambda row: row.key.split("/"))
