"""Make the columns that a store's results lack, before a board is made of them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from reelbench.base.errors import number_of
from reelbench.base.workers import Workers
from reelbench.leaderboard import rereading, sample_columns, store
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.store import StoredResult
from reelbench.leaderboard.store_columns import StoreColumns
from reelbench.scoring import result_files

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _WrittenColumns:
    """The columns that a worker wrote.

    Attributes:
        source_sha256: The hash of what they are of.
        sha256: Their own. None where the samples can't be read, or nothing can be written.
    """

    source_sha256: str
    sha256: str | None


def with_columns(
    results: Sequence[StoredResult], path: Path, workers: Workers, note: Note
) -> list[StoredResult]:
    """Return a store's results with their columns, and make those that are missing or forged.

    Args:
        results: The results, as `store.read` returns them.
        path: The store.
        workers: They read the samples.
        note: Called with a line where columns were made.
    """
    columns = StoreColumns(path)
    lacking: list[StoredResult] = []
    used: list[str] = []
    for stored in results:
        source_sha256 = store.hash_for_columns(stored)
        if source_sha256 is None:
            continue
        used.append(source_sha256)
        file = stored.columns
        if file is not None and file.read() is not None:
            continue
        if file is not None and file.path.is_file():
            note(f"{file.path}: it is not as it was written; it is rebuilt")
        lacking.append(stored)
    if not lacking:
        columns.remove_unused(used)
        return list(results)
    with columns.saved():
        number = _make(lacking, path, workers, columns)
    if number:
        note(f"{columns.folder}: columns of {number_of(number, 'result')} made")
    columns.remove_unused(used)
    return [replace(stored, columns=store.known_columns(stored, columns)) for stored in results]


def make(path: Path, workers: Workers, note: Note) -> None:
    """Make the columns that a store's readable results lack, as `with_columns` does."""
    with_columns(store.read(path, workers, left_out=_ignore), path, workers, note)


def _ignore(_key: str, _why: str) -> None:
    """Leave a result out that can't be read, which the check itself says."""


def _make(
    lacking: Sequence[StoredResult], path: Path, workers: Workers, columns: StoreColumns
) -> int:
    """Make columns, and return their number."""
    # The data's rows are nothing that a worker needs.
    small = [replace(stored, rows=None) for stored in lacking]
    number = 0
    for file in workers.each("reading answers", partial(_make_one, path=path), small):
        if file.sha256 is not None:
            columns.know(file.source_sha256, file.sha256)
            number += 1
    return number


def _make_one(stored: StoredResult, path: Path) -> _WrittenColumns:
    source_sha256 = store.hash_for_columns(stored)
    assert source_sha256 is not None  # noqa: S101 - the caller has looked
    try:
        data = _columns_of(stored)
    except Exception:  # noqa: BLE001 - said where the board reads the samples
        return _WrittenColumns(source_sha256, None)
    if data is None or not StoreColumns(path).write(source_sha256, data):
        return _WrittenColumns(source_sha256, None)
    return _WrittenColumns(source_sha256, hashlib.sha256(data).hexdigest())


def _columns_of(stored: StoredResult) -> bytes | None:
    """Return the columns of a result's samples as today's rules read them.

    None where these can't read them here.
    """
    samples = list(result_files.read_samples(stored.folder))
    if rereading.is_current(stored.result):
        return sample_columns.as_parquet(samples)
    rows = stored.rows
    if rows is None and stored.rows_sha256 is not None:
        rows = _known_rows().rows_of(stored.result)
    samples_today = rereading.read_today(stored.spec, stored.result, samples, rows)
    if samples_today is None:
        return None
    return sample_columns.as_parquet(samples_today, are_changed=samples_today != samples)


@cache
def _known_rows() -> KnownRows:
    """Return the rows of a worker, which reads each benchmark once."""
    return KnownRows()
