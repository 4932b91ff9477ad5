"""The results store: a folder of verified results, and the only thing that the table and the site are made from.

    <org>__<model>/<revision>/<benchmark>/<settings-hash>/result.json, samples.jsonl, check.json

`check.json` says what was checked when the result was added, and the hashes of the two files; a store whose files were
changed by hand is not built from. Of two results for one key the newer one (by date) stays.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from reelbench.judges import results
from reelbench.leaderboard.recompute import Ids, KnownRows, Verified, verify
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.files import read_json, sha256_of, write_text
from reelbench.registry.records import Record, Result

CHECK_FILE = "check.json"
_MANY = 64  # results from which on it pays to start a second process
_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80

Outcome = Literal["added", "same", "replaced", "older", "refused"]


class Check(Record):
    """`check.json`: what was verified of a stored result."""

    ids: Ids
    subset: str | None
    partial: str | None
    result_sha256: str
    samples_sha256: str


@dataclass(frozen=True, slots=True)
class Added:
    """What came of one folder; `why` is the reason where it was refused or not taken."""

    source: Path
    outcome: Outcome
    place: Path | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A result in the store."""

    key: str
    folder: Path
    result: Result
    check: Check


def settings_hash(result: Result) -> str:
    """Return 12 hex digits of what makes two results of one model on one benchmark different things.

    Everything that shapes the answers or the scores: split, version, adapter and its arguments, settings, and the
    judge; not what a run merely came to (frames given, replies, cost).
    """
    judge = result.judge
    shape = {
        "version": result.benchmark.version,
        "split": result.benchmark.split,
        "adapter": result.model.adapter,
        "args": result.model.args,
        "settings": result.settings.model_dump(mode="json", exclude={"frames_given"}),
        "judge": judge
        and judge.model_dump(
            mode="json", include={"requested", "prompt", "prompt_sha256", "temperature", "votes", "vote_rule"}
        ),
    }
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:12]


def key_of(result: Result) -> str:
    """Return a result's folder in the store."""
    model = result.model
    name = _folder_name(model.id.replace("/", "__"), model.id)
    revision = _folder_name(model.revision or "unknown", model.revision or "unknown")
    return f"{name}/{revision}/{result.benchmark.id}/{settings_hash(result)}"


def _folder_name(wanted: str, identity: str) -> str:
    """Return a name that is safe on every file system; two identities never share one."""
    safe = _NAME.sub("_", wanted).strip(".")[:_LONGEST]
    if safe == wanted:
        return safe
    return f"{safe or 'model'}-{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def run_folders(path: Path) -> list[Path]:
    """Return the folders with a result in `path`: itself, or those somewhere below it."""
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; give the folder that `reelbench score --output` wrote")
    if (path / results.RESULT_FILE).is_file():
        return [path]
    found = sorted(file.parent for file in path.rglob(results.RESULT_FILE))
    if not found:
        raise InputError(f"{path}: no {results.RESULT_FILE} in it; `reelbench score … --output {path}` writes one")
    return found


def add(
    path: Path,
    store: Path,
    *,
    progress: Callable[[Added], None] | None = None,
) -> list[Added]:
    """Verify every result under `path` and file it; one that is refused leaves the others alone."""
    folders = run_folders(path)
    added = []
    for one in _each(partial(_add_one, store=store), folders):
        added.append(one)
        if progress is not None:
            progress(one)
    return added


def check(path: Path) -> list[Added]:
    """Verify every result under `path` and where it lies, and file nothing: what a results dataset asks of a change."""
    return list(_each(_check_one, run_folders(path)))


def _check_one(folder: Path, known: KnownRows | None = None) -> Added:
    try:
        verified = verify(folder, known=known or _known)
    except ReelbenchError as error:
        return Added(folder, "refused", why=str(error))
    key = key_of(verified.result)
    parts = folder.resolve().parts
    # In a results dataset a result lies under its key, or it would stand beside what it replaces.
    if "results" in parts[:-1] and not folder.resolve().as_posix().endswith(f"/{key}"):
        return Added(folder, "refused", why=f"{folder}: belongs at results/{key}")
    return Added(
        folder, "same", folder, f"ids {verified.ids}" + (f", partial: {verified.partial}" if verified.partial else "")
    )


def _each(work: Callable[..., Any], folders: Sequence[Path]) -> Iterator[Any]:
    processes = min(os.cpu_count() or 1, 8)
    if len(folders) < _MANY or processes < 2:  # noqa: PLR2004
        known = KnownRows()
        yield from (work(folder, known=known) for folder in folders)
        return
    # Spawned, not forked: the caller may have threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, folders, chunksize=max(1, min(200, len(folders) // (4 * processes))))


_known = KnownRows()


def _add_one(folder: Path, store: Path, known: KnownRows | None = None) -> Added:
    try:
        if (place := _same(folder, store)) is not None:
            return Added(folder, "same", place)
        verified = verify(folder, known=known or _known)
        return _file(folder, store, verified)
    except ReelbenchError as error:
        return Added(folder, "refused", why=str(error))


def _same(folder: Path, store: Path) -> Path | None:
    """Return where these very bytes lie in the store, verified; None where they don't."""
    place = store / key_of(results.read(folder))
    if not (place / CHECK_FILE).is_file() or not (folder / results.SAMPLES_FILE).is_file():
        return None
    check = Check.model_validate(read_json(place / CHECK_FILE))
    same = (
        sha256_of(folder / results.RESULT_FILE) == check.result_sha256 == sha256_of(place / results.RESULT_FILE)
        and sha256_of(folder / results.SAMPLES_FILE) == check.samples_sha256
    )
    return place if same and folder.resolve() != place.resolve() else None


def _file(folder: Path, store: Path, verified: Verified) -> Added:
    result = verified.result
    place = store / key_of(result)
    check = Check(
        ids=verified.ids,
        subset=verified.subset,
        partial=verified.partial,
        result_sha256=sha256_of(folder / results.RESULT_FILE),
        samples_sha256=str(result.provenance.samples_sha256),
    )
    outcome: Outcome = "added"
    if (place / CHECK_FILE).is_file():
        there = results.read(place)
        if folder.resolve() == place.resolve() or there.model_dump() == result.model_dump():
            return Added(folder, "same", place)
        if _date(there) > _date(result):
            why = f"a newer result of the same model and settings is there ({there.provenance.date}); it stays"
            return Added(folder, "older", place, why)
        outcome = "replaced"
        # Gone first: without its check a half-replaced result is not read.
        (place / CHECK_FILE).unlink()
    place.mkdir(parents=True, exist_ok=True)
    for name in (results.SAMPLES_FILE, results.RESULT_FILE):
        _copy(folder / name, place / name)
    _replace(place / CHECK_FILE, (json.dumps(check.model_dump(mode="json")) + "\n").encode())
    return Added(folder, outcome, place)


def _copy(source: Path, target: Path) -> None:
    _replace(target, source.read_bytes())


def _replace(target: Path, data: bytes) -> None:
    # No flush to disk for each of thousands of small files: the hashes in check.json show a file that is not whole.
    aside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    aside.write_bytes(data)
    aside.replace(target)


def _date(result: Result) -> datetime:
    try:
        found = datetime.fromisoformat(result.provenance.date)
    except ValueError:
        raise InputError(f"provenance.date {result.provenance.date!r} is not an ISO date") from None
    return found if found.tzinfo else found.astimezone()


def read(store: Path) -> list[Stored]:
    """Return every result in a store, in the order of their keys.

    Raises:
        InputError: There is no store, or a file in it was changed after it was checked.
    """
    if not store.is_dir():
        raise InputError(f"{store}: no such store; `reelbench leaderboard add RUN_DIR --store {store}` makes one")
    found = []
    for path in sorted(store.glob(f"*/*/*/*/{CHECK_FILE}")):
        folder = path.parent
        check = Check.model_validate(read_json(path))
        for name, digest in (
            (results.RESULT_FILE, check.result_sha256),
            (results.SAMPLES_FILE, check.samples_sha256),
        ):
            if sha256_of(folder / name) != digest:
                raise InputError(
                    f"{folder / name}: changed since it was checked; add the result again with `reelbench leaderboard "
                    f"add {folder} --store {store}` or delete the folder"
                )
        found.append(Stored(folder.relative_to(store).as_posix(), folder, results.read(folder), check))
    return found


def write_json(path: Path, document: object) -> None:
    """Write a JSON document in one step."""
    write_text(path, json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n")
