"""The results store: a folder of verified results, and the only thing that the table and the site are made from.

    <org>__<model>/<revision>/<benchmark>/<settings-hash>/result.json, samples.jsonl, check.json

`check.json` says what was checked when the result was added, and the hashes of the two files; a
store whose files were changed by hand is not built from. It may come from a stranger: what it says
is compared with the result, and where that says less, that counts. Of two results for one key the
newer one (by date) stays. Links are not followed, neither out of the store nor into it.
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
from typing import Any, Literal

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
from reelbench.leaderboard.identity import answers_key, key_of, keys_of
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
"""Of a result's folder; people's scores of some answers are not always there."""

_DEPTH = 4  # folders in a key

Outcome = Literal["added", "same", "replaced", "older", "refused"]


@dataclass(frozen=True, slots=True)
class Added:
    """What came of one folder; `same` where it was checked alone, and holds.

    `place` is where it lies in the store; `why` the reason where it was refused or not taken, else
    what to know of it. One that was checked alone has what holds (`check`) and its metrics as its
    samples give them, as has a refused one whose samples hold.
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
    """A result in the store; `key` is its folder there.

    Attributes:
        benchmark: As `discovery.spec_of` has it; None where there is none.
        differs: How what was asked, or how it was scored, differs from what was filed first of its
            benchmark.
        rows: The benchmark's by id, where they are here and needed: where an older version read the
            answers.
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
        """What decides which others it stands among."""
        return Filed.of(self.key, self.folder, self.result, self.check)


def add(
    path: Path,
    store: Path,
    *,
    rejudge: Rejudge | None = None,
    about: About | None = None,
    filing: Filing | None = None,
    workers: Workers = ALLOTTED,
) -> list[Added]:
    """Verify every result under `path` and file it; one that is refused leaves the others alone.

    With `rejudge` the judges of judged results are asked again, about a few items each, by one
    worker; else results of one key go to one of them. `about` is said of the model of all these
    results, and refused where it contradicts one. `filing` says who files them, by default the
    board's maintainers, now.
    """
    given = _read_given(result_files.folders(path))
    filing = filing or Filing()
    # Of the results without a judge whose same answers another folder has judged only that one is
    # filed.
    to_judge = {
        folder: result
        for folder, result in given.items()
        if len(given) > 1
        and result is not None
        and (spec := known_spec(result)) is not None
        and spec.judge is not None
    }
    judged = {
        answers_key(result): folder
        for folder, result in to_judge.items()
        if result.judge is not None
    }
    not_filed = {
        folder: Added(
            folder, "older", why=f"the same answers are judged in {there}, which is filed"
        )
        for folder, result in to_judge.items()
        if result.judge is None and (there := judged.get(answers_key(result))) is not None
        if _predictions(folder) == _predictions(there)
    }
    if not filing.as_maintainer:
        # Of models that another account filed first only that one and the maintainers file more
        # results.
        models = {result.model.id for result in given.values() if result is not None}
        refused = trust.refusals(store, models, filing.account)
        for folder, result in given.items():
            if (
                result
                and (why := refused.get(result.model.id))
                and same_bytes(folder, result, store) is None
            ):
                not_filed[folder] = Added(folder, "refused", why=f"{folder}: {why}", result=result)
    left = {folder: result for folder, result in given.items() if folder not in not_filed}
    work = partial(_add_one, store=store, rejudge=rejudge, about=about, filing=filing)
    done = [*not_filed.values(), *_spread(work, left, ALONE if rejudge is not None else workers)]
    # What sets a filed result apart from those that were filed first is told as well.
    of = {
        one.result.benchmark.id for one in done if one.place is not None and one.result is not None
    }
    folders = (path.parent for path in (_checks(store) if of else ()) if path.parts[-3] in of)
    filed = {folder: one for folder in folders if (one := Filed.read(folder, store)) is not None}
    first = FirstFiled(filed.values(), trust.read(store))
    for number, one in enumerate(done):
        if one.place in filed and (differs := first.differs(filed[one.place])):
            done[number] = replace(
                one, why="; ".join(filter(None, (one.why, f"a table of its own: {differs}")))
            )
    return done


def _read_given(folders: Iterable[Path]) -> "dict[Path, Result | None]":
    """Return the results of folders that were handed in; None of one that can't be read, which is said in its turn."""
    given: dict[Path, Result | None] = dict.fromkeys(folders)
    for folder in given:
        with suppress(Exception):
            given[folder] = result_files.read(folder)
    return given


def _predictions(folder: Path) -> dict[str, Any] | None:
    try:
        return {sample.id: sample.prediction for sample in result_files.read_samples(folder)}
    except Exception:  # noqa: BLE001 - said when it is its turn
        return None


def check(*paths: Path, workers: Workers = ALLOTTED) -> list[Added]:
    """Verify every result under `paths` and where it lies, and file nothing: what a pull request is asked for."""
    folders: dict[Path, None] = {}
    refused = []
    for path in paths:
        try:
            folders |= dict.fromkeys(result_files.folders(path))
        except InputError as error:
            if not path.is_dir():
                raise
            refused.append(Added(path, "refused", why=str(error)))
    return [*refused, *_spread(_check_one, _read_given(folders), workers)]


def _check_one(folder: Path, result: Result | None, known: KnownRows) -> Added:
    verified = verify(folder, known=known, result=result)
    keys = keys_of(verified.result)
    # In a results dataset a result lies under its key, or it would stand beside what it replaces.
    path = folder.resolve()
    if "results" in path.parts[:-1] and not any(
        path.as_posix().endswith(f"/{key}") for key in keys
    ):
        raise MismatchError(f"{folder}: belongs at results/{keys[0]}", verified.metrics)
    if (folder / CHECK_FILE).is_file():
        compare(folder / CHECK_FILE, verified.check, verified.result)
    why = (
        f"ids {verified.check.ids}; {checks.summary(verified.check, verified.result)}".removesuffix(
            "; "
        )
    )
    return Added(folder, "same", folder, why, verified.check, verified.metrics, verified.result)


def _spread(
    work: Callable[..., Added], given: "Mapping[Path, Result | None]", workers: Workers
) -> Iterator[Added]:
    """Do each folder's work; whatever is wrong with one is said of it alone."""
    if workers.alone(len(given)):
        known = KnownRows()
        yield from (_refusing(work, folder, result, known) for folder, result in given.items())
        return
    # Each worker reads its results anew, which takes it less than to be sent them; results of which
    # one takes the other's place go to one of them.
    places: dict[Path, Hashable] = {folder: folder for folder in given}
    for folder, result in given.items():
        with suppress(Exception):  # said when it is its turn
            places[folder] = key_of(result) if result is not None else folder
    for added in workers.map(partial(_afresh, work), list(given), by=places.__getitem__):
        yield replace(added, result=given[added.source])


def _afresh(work: Callable[..., Added], folder: Path) -> Added:
    return replace(_refusing(work, folder, _read_given([folder])[folder], _known), result=None)


_known = KnownRows()


def _refusing(
    work: Callable[..., Added], folder: Path, result: Result | None, known: KnownRows
) -> Added:
    try:
        return work(folder, result, known=known)
    except Exception as error:  # noqa: BLE001 - one bad folder never stops the others
        metrics = error.metrics if isinstance(error, MismatchError) else None
        return Added(
            folder, "refused", why=refusal_of(folder, error), metrics=metrics, result=result
        )


def _add_one(
    folder: Path,
    result: Result | None,
    store: Path,
    known: KnownRows,
    *,
    rejudge: Rejudge | None,
    about: About | None,
    filing: Filing,
) -> Added:
    if rejudge is None and about is None and result is not None:
        place = same_bytes(folder, result, store)
        if place is not None:
            return Added(folder, "same", place, result=result)
    verified = verify(folder, known=known, result=result)
    result, counts = verified.result, verified.result.counts
    if counts.items and not aggregation.answered(counts):
        shown = ", ".join(f"{number} {why}" for why, number in counts.unscored.items())
        raise InputError(
            f"{folder}: no question has an answer ({shown}), so there is nothing to file; run it again"
        )
    rejudged = rejudge(result, verified.samples, known) if rejudge and result.judge else None
    result = result if about is None else _with_about(result, about)
    return _file(folder, store, verified, result, rejudged=rejudged, filing=filing)


def place_of(result: Result, store: Path) -> Path:
    """Return a result's folder in a store; InputError where it would lie outside, or behind a link."""
    discovery.spec_of(result.benchmark)  # before its name is part of a path
    key, earlier = keys_of(result)
    if earlier != key and (store / earlier / CHECK_FILE).is_file():
        there = result_files.read(store / earlier)
        key = earlier if key_of(there) in (earlier, key) else key
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
    """Return the folder in which these very bytes lie in the store, verified; None without one."""
    place = place_of(result, store)
    if not (place / CHECK_FILE).is_file() or not result_files.samples_of(folder).is_file():
        return None
    check = read_check(place / CHECK_FILE)
    same = (
        check.stated is not None
        and sha256_of(folder / result_files.RESULT_FILE)
        == check.result_sha256
        == sha256_of(place / result_files.RESULT_FILE)
        and sha256_of(result_files.samples_of(folder)) == check.samples_sha256
        and calibration_sha256(folder) in (None, check.calibration_sha256)
    )
    return place if same and folder.resolve() != place.resolve() else None


def _with_about(result: Result, about: About) -> Result:
    model, settings = abouts.applied(about, result.benchmark.id, result.model, result.settings)
    return result.model_copy(update={"model": model, "settings": settings})


def public(result: Result) -> Result:
    """Return a result without the paths of the machine that made it: of each its last part."""
    source = result.benchmark.source.model_copy(
        update={"location": without_folders(result.benchmark.source.location)}
    )
    benchmark = result.benchmark.model_copy(update={"source": source})
    model = result.model.model_copy(update={"args": without_folders(result.model.args)})
    settings = result.settings.model_copy(
        update={"generation": without_folders(result.settings.generation)}
    )
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
    old = read_check(place / CHECK_FILE) if (place / CHECK_FILE).is_file() else None
    there = result_files.read(place) if old is not None else None
    if there is not None and result.model.about is None and there.model.about is not None:
        result = _with_about(result, there.model.about)  # what was said once stays said
    result = public(result)
    document = (folder / result_files.RESULT_FILE).read_bytes()
    written = result_files.as_text(result)
    stated = set(
        texts_in(json.loads(document))
    )  # a record that is read lacks the keys that its file may have
    if result.model_dump() != verified.result.model_dump() or stated - set(
        texts_in(json.loads(written))
    ):
        document = written.encode()
    digest = hashlib.sha256(document).hexdigest()
    check = verified.check.model_copy(update={"result_sha256": digest, "rejudged": rejudged})
    outcome: Outcome = "added"
    if old is not None and there is not None:
        if (there.model.id, there.model.revision) != (result.model.id, result.model.revision):
            raise InputError(
                f"{folder}: its place in the store has a result of {there.model.id!r}, and it is of "
                f"{result.model.id!r}; another's result is not replaced"
            )
        if there.model_dump() == result.model_dump():
            outcome = "same"
            check = carry_over(old, check)
        elif made_at(there) > date_of(result):
            why = f"a newer result of the same model and settings is there ({there.provenance.date}); it stays"
            return Added(folder, "older", place, why, result=result)
        else:
            outcome = "replaced"
    files = {result_files.SAMPLES_FILE: result_files.samples_of(folder).read_bytes()}
    files[result_files.RESULT_FILE] = document
    for source in (place, folder):
        if check.calibration_sha256 is not None and check.calibration_sha256 == calibration_sha256(
            source
        ):
            files[calibration_file.FILE] = (source / calibration_file.FILE).read_bytes()
    check = filing.with_owner(folder, check, old)
    files[CHECK_FILE] = check.text.encode()
    # No flush to disk for each of thousands of small files: the hashes in check.json show a file
    # that is not whole.
    with replacing_folder(place) as aside:
        for name, content in files.items():
            (aside / name).write_bytes(content)
        same = sha256_of(aside / result_files.SAMPLES_FILE) == check.samples_sha256
        if not same or result_files.as_text(result_files.read(aside)) != written:
            raise MismatchError(f"{folder}: was changed while it was checked; add it again")
    return Added(folder, outcome, place, checks.summary(check, result), result=result)


def made_at(result: Result) -> datetime:
    """When a stored result was made; one whose date can't be is older than any."""
    try:
        date = date_of(result)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return date if date <= datetime.now(UTC) + AHEAD else datetime.min.replace(tzinfo=UTC)


def read(
    store: Path,
    workers: Workers = ALONE,
    *,
    left_out: Callable[[str, str], None] | None = None,
    benchmarks: Collection[str] | None = None,
) -> list[StoredResult]:
    """Return every result in a store, in the order of their keys.

    With `benchmarks` only results on these are read. `left_out` is called with the key of each
    result that can't be read, and why; without it that is raised: InputError, too, where there is
    no store.
    """
    paths, known = _checks(store), KnownRows()
    if benchmarks is not None:
        paths = [path for path in paths if path.parent.parent.name in benchmarks]
    if workers.alone(len(paths)):
        kept = [_read_or_refused(path, store, known) for path in paths]
    else:
        kept = list(workers.map(partial(_read_or_refused, store=store), paths))
    stored = []
    for path, result_and_check in zip(paths, kept, strict=True):
        key = path.parent.relative_to(store).as_posix()
        if not isinstance(result_and_check, str):
            stored.append(as_stored(key, path.parent, *result_and_check, known))
        elif left_out is None:
            raise InputError(result_and_check)
        else:
            left_out(key, result_and_check)
    first = FirstFiled((one.filed for one in stored), trust.read(store))
    return [replace(one, differs=first.differs(one.filed)) for one in stored]


def unreadable(kept: Iterable[StoredResult]) -> dict[str, str]:
    """Return key -> what is wrong with the samples of each result that an earlier version let in with such."""
    wrong: dict[str, str] = {}
    for stored in kept:
        try:
            for _ in result_files.read_samples(stored.folder):
                pass
        except Exception as error:  # noqa: BLE001 - one bad result never stops the others
            wrong[stored.key] = refusal_of(stored.folder, error)
    return wrong


def _read_or_refused(
    path: Path, store: Path, known: KnownRows | None = None
) -> tuple[Result, Check] | str:
    """Read the result beside a check, and the check as it holds today; or return why that can't be done."""
    folder = path.parent
    try:
        _refuse_links(path, store)
        check = read_check(path)
        of_file = {
            result_files.RESULT_FILE: check.result_sha256,
            result_files.SAMPLES_FILE: check.samples_sha256,
        }
        if check.calibration_sha256 or (folder / calibration_file.FILE).exists():
            of_file[calibration_file.FILE] = str(check.calibration_sha256)
        for name, digest in of_file.items():
            _refuse_links(folder / name, store)
            if not (folder / name).is_file() or sha256_of(folder / name) != digest:
                return (
                    f"{folder / name}: changed since it was checked; add the result again with `reelbench leaderboard "
                    f"add {folder} --store {store}` or delete the folder"
                )
        result = result_files.read(folder)
        return result, revalidate(check, result, folder, known or _known)
    except Exception as error:  # noqa: BLE001 - one bad result never stops the others
        return refusal_of(folder, error)


def refusal_of(folder: Path, error: Exception) -> str:
    """Return in a line what is wrong with a result's folder."""
    if isinstance(error, ReelbenchError):
        return str(error) if str(folder) in str(error) else f"{folder}: {error}"
    if isinstance(error, OSError):
        return f"{folder}: can't be read, or filed ({first_line(error)}); what was there stays"
    return f"{folder}: can't be checked ({type(error).__name__}: {first_line(error)})"


def as_stored(
    key: str, folder: Path, result: Result, check: Check, known: KnownRows
) -> StoredResult:
    """Return a result with what is needed to rank it, whether it lies in a store or is only checked."""
    spec = known_spec(result)
    rows = None if spec is None or is_current(result) else known.rows_of(result)
    return StoredResult(key, folder, result, check, spec, rows=rows)


def remove(keys: Sequence[str], store: Path) -> list[str]:
    """Remove results by their keys; InputError, and nothing removed, where one of them is not there."""
    there = {path.parent.relative_to(store).as_posix(): path.parent for path in _checks(store)}
    if absent := [key for key in keys if key.strip("/") not in there]:
        raise InputError(
            f"{store}: has no result {absent[0]!r}; `reelbench leaderboard list --store {store}` has all"
        )
    for key in dict.fromkeys(keys):
        folder = there[key.strip("/")]
        _refuse_links(folder, store)
        (folder / CHECK_FILE).unlink()  # first: without its check a result is not read
        shutil.rmtree(folder)
        for parent in list(folder.parents)[: _DEPTH - 1]:
            if any(parent.iterdir()):
                break
            parent.rmdir()
    return list(dict.fromkeys(keys))


def _checks(store: Path) -> list[Path]:
    if not store.is_dir():
        raise InputError(
            f"{store}: no such store; `reelbench leaderboard add RUN_DIR --store {store}` makes one"
        )
    return sorted(
        path
        for path in store.glob(f"{'*/' * _DEPTH}{CHECK_FILE}")
        if not is_aside(path.relative_to(store))
    )
