"""The results store: a folder of verified results, from which the table and the site are made.

    <org>__<model>/<revision>/<benchmark>/<settings-hash>/result.json, samples.jsonl, check.json

`check.json` says what was checked when the result was added, and has the hashes of the two files; a
store whose files were changed by hand is not built from. A check may come from a stranger: what it
says is compared with the result, and where the result says less, that counts. Of two results for
one key the newer one (by date) stays. Links are not followed, neither out of the store nor into it.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter

from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.base.files import is_aside, replacing_folder, sha256_of
from reelbench.base.values import texts_in, without_folders
from reelbench.base.workers import ALLOTTED, ALONE, Workers
from reelbench.leaderboard import checks, trust
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.checks import (
    CHECK_FILE,
    Check,
    carry_over,
    compare,
    known_spec,
    read_check,
    revalidate,
)
from reelbench.leaderboard.first_filed import Filed, FirstFiled
from reelbench.leaderboard.identity import answers_key, key_of
from reelbench.leaderboard.mismatches import MismatchError
from reelbench.leaderboard.recompute import (
    AHEAD,
    VerifiedResult,
    calibration_sha256,
    date_of,
    verify,
)
from reelbench.leaderboard.rejudge import Rejudge, Rejudged
from reelbench.leaderboard.rereading import is_current
from reelbench.leaderboard.trust import Filing
from reelbench.registry import discovery
from reelbench.registry.records import About, Metrics, Result
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, calibration_file, result_files
from reelbench.tasks import about as abouts

FILES = (result_files.RESULT_FILE, result_files.SAMPLES_FILE, CHECK_FILE, calibration_file.FILE)
"""Files of a result's folder; people's scores of some answers are not always there."""

_DEPTH = 4  # folders in a key
_ANY_KEY = "/".join(["*"] * _DEPTH)

Outcome = Literal["added", "same", "replaced", "older", "refused"]
_Results = Mapping[Path, Result | None]
"""Folder -> its result; None of one that can't be read, which its own check then says."""
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
        check: Of one that was only checked: what holds of it.
        metrics: Of one that was only checked, or refused although its samples hold: as these give
            them.
        result: The result itself.
    """

    source: Path
    outcome: Outcome
    place: Path | None = None
    why: str = ""
    check: Check | None = None
    metrics: Metrics | None = None
    result: Result | None = field(default=None, repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the object that scripts read."""
        return _ADDED.dump_python(self, mode="json", exclude={"result"})


_ADDED = TypeAdapter(Added)


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A result in the store.

    Attributes:
        key: Its folder, from the store on.
        folder: Its folder.
        result: What its result.json says.
        check: What its check.json says, as it holds today.
        benchmark: As `discovery.spec_of` has it; None where there is none.
        differs: How what was asked, or how it was scored, differs from what was filed first of its
            benchmark.
        rows: The benchmark's by id, where they are needed and on this machine: where another
            version read the answers.
        videos: Where set, only the items on these count.
        withheld: Why its samples are not here, where the row is kept as it was published
            (`leaderboard.withheld`).
        runs: The results that it is made of, where it is several runs taken together
            (`standing.of_runs`).
    """

    key: str
    folder: Path
    result: Result
    check: Check
    benchmark: BenchmarkSpec | None = field(default=None, compare=False, repr=False)
    differs: str | None = None
    rows: Mapping[str, Row] | None = field(default=None, compare=False, repr=False)
    videos: frozenset[str] | None = field(default=None, repr=False)
    withheld: str | None = None
    runs: "tuple[StoredResult, ...]" = field(default=(), repr=False)

    @property
    def spec(self) -> BenchmarkSpec:
        """Its benchmark; InputError where there is none."""
        return self.benchmark or discovery.spec_of(self.result.benchmark)

    @property
    def each(self) -> "tuple[StoredResult, ...]":
        """The results that lie in the store: itself, or each run's."""
        return self.runs or (self,)

    @property
    def filed(self) -> Filed:
        """The facts that decide which other results it is compared with."""
        return Filed.of(self.key, self.folder, self.result, self.check)


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
    results = _read_results(result_files.folders(path))
    filing = filing or Filing()
    not_filed = _judged_elsewhere(results)
    if not filing.as_maintainer:
        not_filed |= _of_another_account(results, store, filing)
    to_file = {folder: result for folder, result in results.items() if folder not in not_filed}
    if rejudge is not None:
        workers = ALONE
    work = partial(_add_one, store=store, rejudge=rejudge, about=about, filing=filing)
    outcomes = [*not_filed.values(), *_spread(work, to_file, workers)]
    return _with_notes_on_tables(outcomes, store)


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


def _of_another_account(results: _Results, store: Path, filing: Filing) -> dict[Path, Added]:
    """Return the refusals of results whose model another account filed first.

    Only that account and the maintainers file more results of it.
    """
    models = {result.model.id for result in results.values() if result is not None}
    reasons = trust.refusals(store, models, filing.account)
    outcomes: dict[Path, Added] = {}
    for folder, result in results.items():
        if result is None or result.model.id not in reasons:
            continue
        if same_bytes(folder, result, store) is None:
            why = f"{folder}: {reasons[result.model.id]}"
            outcomes[folder] = Added(folder, "refused", why=why, result=result)
    return outcomes


def _with_notes_on_tables(outcomes: Sequence[Added], store: Path) -> list[Added]:
    """Add a note to filed results that differ from those that were filed first."""
    benchmarks: set[str] = set()
    for added in outcomes:
        if added.place is not None and added.result is not None:
            benchmarks.add(added.result.benchmark.id)
    if not benchmarks:
        return list(outcomes)
    filed: dict[Path, Filed] = {}
    for path in _check_files(store, benchmarks):
        facts = Filed.read(path.parent, store)
        if facts is not None:
            filed[path.parent] = facts
    first = FirstFiled(filed.values(), trust.read(store))
    noted: list[Added] = []
    for added in outcomes:
        facts = filed.get(added.place) if added.place is not None else None
        difference = first.differs(facts) if facts is not None else None
        if difference is None:
            noted.append(added)
            continue
        why = f"a table of its own: {difference}"
        if added.why:
            why = f"{added.why}; {why}"
        noted.append(replace(added, why=why))
    return noted


def check(*paths: Path, workers: Workers = ALLOTTED) -> list[Added]:
    """Verify every result under the paths, and where it lies; file nothing.

    This is the check of a pull request.
    """
    folders: dict[Path, None] = {}
    refused: list[Added] = []
    for path in paths:
        try:
            folders |= dict.fromkeys(result_files.folders(path))
        except InputError as error:
            if not path.is_dir():
                raise
            refused.append(Added(path, "refused", why=str(error)))
    return [*refused, *_spread(_check_one, _read_results(folders), workers)]


def _check_one(folder: Path, result: Result | None, known_rows: KnownRows) -> Added:
    verified = verify(folder, known_rows=known_rows, result=result)
    key = key_of(verified.result)
    # In a results dataset a result lies under its key, or it would stand beside what it replaces.
    path = folder.resolve()
    if "results" in path.parts[:-1] and not path.as_posix().endswith(f"/{key}"):
        raise MismatchError(f"{folder}: belongs at results/{key}", verified.metrics)
    check_file = folder / CHECK_FILE
    if check_file.is_file():
        compare(check_file, verified.check, verified.result)
    why = f"ids {verified.check.ids}"
    summary = checks.summary(verified.check, verified.result)
    if summary:
        why += f"; {summary}"
    return Added(
        folder,
        "same",
        place=folder,
        why=why,
        check=verified.check,
        metrics=verified.metrics,
        result=verified.result,
    )


def _spread(work: _Work, results: _Results, workers: Workers) -> Iterator[Added]:
    """Do each folder's work; a fault of one is said of it alone."""
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


def _add_one(
    folder: Path,
    result: Result | None,
    store: Path,
    known_rows: KnownRows,
    *,
    rejudge: Rejudge | None,
    about: About | None,
    filing: Filing,
) -> Added:
    if rejudge is None and about is None and result is not None:
        place = same_bytes(folder, result, store)
        if place is not None:
            return Added(folder, "same", place, result=result)
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
        result = _with_about(result, about)
    return _file(folder, store, verified, result, rejudged=rejudged, filing=filing)


# --- where a result is filed ----------------------------------------------------------------------


def place_of(result: Result, store: Path) -> Path:
    """Return a result's folder in a store.

    Raises:
        InputError: If it would lie outside, or behind a link.
    """
    discovery.spec_of(result.benchmark)  # before its name is part of a path
    key = key_of(result)
    place = store / key
    _refuse_links(place, store)
    if not key or place.resolve() != store.resolve() / key:
        raise InputError(f"{place}: lies outside the store {store}")
    return place


def _refuse_links(path: Path, store: Path) -> None:
    for step in (path, *path.parents):
        if step == store:
            return
        if step.is_symlink():
            raise InputError(
                f"{step}: is a link; a store holds folders and files of its own, remove it"
            )


def same_bytes(folder: Path, result: Result, store: Path) -> Path | None:
    """Return the folder of the store with these very bytes, verified; None without one."""
    place = place_of(result, store)
    samples_file = result_files.samples_of(folder)
    if not (place / CHECK_FILE).is_file() or not samples_file.is_file():
        return None
    check = read_check(place / CHECK_FILE)
    for result_file in (folder / result_files.RESULT_FILE, place / result_files.RESULT_FILE):
        if sha256_of(result_file) != check.result_sha256:
            return None
    if sha256_of(samples_file) != check.samples_sha256:
        return None
    if calibration_sha256(folder) not in (None, check.calibration_sha256):
        return None
    return None if folder.resolve() == place.resolve() else place


def _with_about(result: Result, about: About) -> Result:
    model, settings = abouts.applied(about, result.benchmark.id, result.model, result.settings)
    return result.model_copy(update={"model": model, "settings": settings})


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
    folder: Path,
    store: Path,
    verified: VerifiedResult,
    result: Result,
    *,
    rejudged: Rejudged | None,
    filing: Filing,
) -> Added:
    """File a result that holds; `result` is it with what is said of its model."""
    place = place_of(result, store)
    old_check: Check | None = None
    old_result: Result | None = None
    if (place / CHECK_FILE).is_file():
        old_check = read_check(place / CHECK_FILE)
        old_result = result_files.read(place)
    if old_result is not None and result.model.about is None and old_result.model.about is not None:
        result = _with_about(result, old_result.model.about)  # what was said once stays said
    result = public(result)
    document = _document(folder, verified, result)
    digest = hashlib.sha256(document).hexdigest()
    check = verified.check.model_copy(update={"result_sha256": digest, "rejudged": rejudged})
    outcome: Outcome = "added"
    if old_check is not None and old_result is not None:
        _refuse_another_model(folder, old_result, result)
        if old_result.model_dump() == result.model_dump():
            outcome = "same"
            check = carry_over(old_check, check)
        elif made_at(old_result) > date_of(result):
            date = old_result.provenance.date
            why = f"a newer result of the same model and settings is there ({date}); it stays"
            return Added(folder, "older", place, why, result=result)
        else:
            outcome = "replaced"
    check = filing.with_owner(folder, check, old_check)
    files = {
        result_files.SAMPLES_FILE: result_files.samples_of(folder).read_bytes(),
        result_files.RESULT_FILE: document,
        CHECK_FILE: check.text.encode(),
    }
    for source in (place, folder):
        digest = calibration_sha256(source)
        if digest is not None and digest == check.calibration_sha256:
            files[calibration_file.FILE] = (source / calibration_file.FILE).read_bytes()
    # No flush to disk for each of thousands of small files: the hashes in check.json show a file
    # that is not whole.
    with replacing_folder(place) as aside:
        for name, content in files.items():
            (aside / name).write_bytes(content)
        is_same = sha256_of(aside / result_files.SAMPLES_FILE) == check.samples_sha256
        text = result_files.as_text(result_files.read(aside))
        if not is_same or text != result_files.as_text(result):
            raise MismatchError(f"{folder}: was changed while it was checked; add it again")
    return Added(folder, outcome, place, checks.summary(check, result), result=result)


def _document(folder: Path, verified: VerifiedResult, result: Result) -> bytes:
    """Return the result.json to file: the very bytes where the file says nothing else.

    A record that is read lacks the fields that it doesn't know, and these may hold paths.
    """
    document = (folder / result_files.RESULT_FILE).read_bytes()
    text = result_files.as_text(result)
    unknown_texts = set(texts_in(json.loads(document))) - set(texts_in(json.loads(text)))
    if unknown_texts or result.model_dump() != verified.result.model_dump():
        return text.encode()
    return document


def _refuse_another_model(folder: Path, old_result: Result, result: Result) -> None:
    old_model = old_result.model
    model = result.model
    if (old_model.id, old_model.revision) != (model.id, model.revision):
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


class _Read(NamedTuple):
    """A result and its check as it holds today."""

    result: Result
    check: Check


def read(
    store: Path,
    workers: Workers = ALONE,
    *,
    left_out: Callable[[str, str], None] | None = None,
    benchmarks: Collection[str] | None = None,
) -> list[StoredResult]:
    """Return every result in a store, in the order of their keys.

    Args:
        store: The store.
        workers: They read the files.
        left_out: Called with the key of each result that can't be read, and why.
        benchmarks: Ids; only results on these are read.

    Raises:
        InputError: If there is no store, or a result can't be read and there is no `left_out`.
    """
    paths = _check_files(store, benchmarks)
    known_rows = KnownRows()
    if workers.alone(len(paths)):
        results = [_read_or_refused(path, store, known_rows) for path in paths]
    else:
        results = list(workers.map(partial(_read_or_refused, store=store), paths))
    stored: list[StoredResult] = []
    for path, read_result in zip(paths, results, strict=True):
        key = path.parent.relative_to(store).as_posix()
        if isinstance(read_result, _Read):
            result, check = read_result
            stored.append(as_stored(key, path.parent, result, check, known_rows))
        elif left_out is None:
            raise InputError(read_result)
        else:
            left_out(key, read_result)
    first = FirstFiled((result.filed for result in stored), trust.read(store))
    return [replace(result, differs=first.differs(result.filed)) for result in stored]


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


def _read_or_refused(path: Path, store: Path, known_rows: KnownRows | None = None) -> _Read | str:
    """Return the result beside a check file; or the reason why it can't be read."""
    folder = path.parent
    try:
        _refuse_links(path, store)
        check = read_check(path)
        hashes = {
            result_files.RESULT_FILE: check.result_sha256,
            result_files.SAMPLES_FILE: check.samples_sha256,
        }
        if check.calibration_sha256 or (folder / calibration_file.FILE).exists():
            hashes[calibration_file.FILE] = str(check.calibration_sha256)
        for name, digest in hashes.items():
            file = folder / name
            _refuse_links(file, store)
            if not file.is_file() or sha256_of(file) != digest:
                return (
                    f"{file}: changed since it was checked; add the result again with "
                    f"`reelbench leaderboard add {folder} --store {store}` or delete the folder"
                )
        result = result_files.read(folder)
        return _Read(result, revalidate(check, result, folder, known_rows or _worker_rows))
    except Exception as error:  # noqa: BLE001 - one bad result never stops the others
        return refusal_of(folder, error)


def refusal_of(folder: Path, error: Exception) -> str:
    """Return the fault of a result's folder, in a line."""
    if isinstance(error, ReelbenchError):
        text = str(error)
        return text if str(folder) in text else f"{folder}: {text}"
    line = first_line(error)
    if isinstance(error, OSError):
        return f"{folder}: can't be read, or filed ({line}); what was there stays"
    return f"{folder}: can't be checked ({type(error).__name__}: {line})"


def as_stored(
    key: str, folder: Path, result: Result, check: Check, known_rows: KnownRows
) -> StoredResult:
    """Return a result as it is ranked, whether it is filed or only checked."""
    spec = known_spec(result)
    rows = None
    if spec is not None and not is_current(result):
        rows = known_rows.rows_of(result)
    return StoredResult(key, folder, result, check, spec, rows=rows)


def remove(keys: Sequence[str], store: Path) -> list[str]:
    """Remove results by their keys.

    Raises:
        InputError: If one of them is not there; then nothing is removed.
    """
    folders: dict[str, Path] = {}
    for path in _check_files(store):
        folders[path.parent.relative_to(store).as_posix()] = path.parent
    absent = [key for key in keys if key.strip("/") not in folders]
    if absent:
        raise InputError(
            f"{store}: has no result {absent[0]!r}; "
            f"`reelbench leaderboard list --store {store}` has all"
        )
    removed = list(dict.fromkeys(keys))
    for key in removed:
        folder = folders[key.strip("/")]
        _refuse_links(folder, store)
        (folder / CHECK_FILE).unlink()  # first: without its check a result is not read
        shutil.rmtree(folder)
        for parent in list(folder.parents)[: _DEPTH - 1]:
            if any(parent.iterdir()):
                break
            parent.rmdir()
    return removed


def _check_files(store: Path, benchmarks: Collection[str] | None = None) -> list[Path]:
    """Return the check files of a store, of all benchmarks or of some."""
    if not store.is_dir():
        raise InputError(
            f"{store}: no such store; `reelbench leaderboard add RUN_DIR --store {store}` makes one"
        )
    paths: list[Path] = []
    for path in store.glob(f"{_ANY_KEY}/{CHECK_FILE}"):
        if is_aside(path.relative_to(store)):
            continue
        if benchmarks is None or path.parent.parent.name in benchmarks:
            paths.append(path)
    return sorted(paths)
