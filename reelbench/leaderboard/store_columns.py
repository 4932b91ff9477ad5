"""The columns of a store's samples: a cache in `.columns`, beside the ledger.

A file is named by the hash of its source: the samples, or today's reading of samples that another
version read (`store.hash_for_columns`). Its own hash is in an index of this machine, in
`REELBENCH_HOME`, so whoever can write to a store still can't give it columns: a file that isn't in
the index, or whose bytes are others, is not read, and is made again from the samples. A result
whose answers are secret has none, as scores would tell the answers.
"""

import hashlib
import logging
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from reelbench.base import files
from reelbench.base.settings import record_of
from reelbench.base.values import is_object

log = logging.getLogger("reelbench")

FOLDER = ".columns"
_INDEX_FOLDER = "stores"
_VERSION = 1
"""Of the columns. A change to what they hold raises it, and all are made again."""
_UNUSED_S = 3600
"""Seconds after which a file of no row is taken for a leftover, not for one that is being filed."""


@dataclass(frozen=True, slots=True)
class ColumnsFile:
    """The columns of a result's samples.

    Attributes:
        path: The file.
        sha256: Its hash, as this machine wrote it.
    """

    path: Path
    sha256: str

    def read(self) -> bytes | None:
        """Return the file's bytes. None where they are not those that were written."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return None
        return data if _sha256(data) == self.sha256 else None


class StoreColumns:
    """The columns of a store that this machine has written."""

    def __init__(self, store: Path) -> None:
        """Read the index of a store."""
        self.folder = store / FOLDER
        self._index = record_of(store, _INDEX_FOLDER)
        self._known = self._read_index()
        self._new: dict[str, str] = {}

    def _read_index(self) -> dict[str, str]:
        """Return hash of a source -> hash of its columns. Nothing of a broken index."""
        document = files.read_record(self._index) or {}
        columns = document.get("columns")
        if document.get("version") != _VERSION or not is_object(columns):
            return {}
        return {name: str(digest) for name, digest in columns.items()}

    def of(self, source_sha256: str) -> ColumnsFile | None:
        """Return the columns of a source, by its hash. None of an unknown one."""
        digest = self._known.get(source_sha256)
        if digest is None or self.folder.is_symlink():
            return None
        return ColumnsFile(self._path_of(source_sha256), digest)

    def _path_of(self, source_sha256: str) -> Path:
        return self.folder / _name_of(source_sha256)

    def write(self, source_sha256: str, data: bytes) -> bool:
        """Write the columns of a source. False where the store can't be written to."""
        if self.folder.is_symlink():
            log.warning("%s: is a link; nothing is written there", self.folder)
            return False
        try:
            with files.written_aside(self._path_of(source_sha256)) as aside:
                aside.write_bytes(data)
        except OSError as error:
            log.warning("%s: can't be written (%s); samples are read instead", self.folder, error)
            return False
        self.know(source_sha256, _sha256(data))
        return True

    def know(self, source_sha256: str, digest: str) -> None:
        """Take over the hash of columns that another process wrote."""
        self._new[source_sha256] = digest
        self._known[source_sha256] = digest

    @contextmanager
    def saved(self) -> Generator[None]:
        """Write the index at the end, with what other processes wrote meanwhile."""
        try:
            yield
        finally:
            if self._new:
                self._save()

    def _save(self) -> None:
        from filelock import FileLock

        self._index.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._index.with_suffix(".lock")):
            columns: dict[str, str] = {}
            for source_sha256, digest in (self._read_index() | self._new).items():
                if self._path_of(source_sha256).is_file():
                    columns[source_sha256] = digest
            files.write_json(self._index, {"version": _VERSION, "columns": columns})
        self._new.clear()

    def remove_unused(self, used: Sequence[str]) -> None:
        """Remove the columns of all samples but those in use, given by their hashes."""
        names = set(map(_name_of, used))
        oldest = time.time() - _UNUSED_S
        for path in self.folder.glob("*"):
            with suppress(OSError):  # another process removed it, or may
                if path.name not in names and path.lstat().st_mtime < oldest:
                    path.unlink()


def _name_of(source_sha256: str) -> str:
    return f"{source_sha256}.parquet"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
