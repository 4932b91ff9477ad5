"""Tables on disk that end with this process: entries may be more than memory holds."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import valid_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_UNIQUE_IDS = "(id BLOB PRIMARY KEY, number INTEGER, place TEXT, text TEXT) WITHOUT ROWID"
_CACHE_KB = 16_000  # of a table in memory; the rest is on disk
IDS_PER_QUERY = 500  # ids that one statement asks for: older SQLite takes 999 values
IDS_PER_BATCH = 1_000
"""Ids of rows that are noted together: their rows are in memory."""
_SETTINGS = ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{_CACHE_KB}")


def temporary_table(columns: str) -> sqlite3.Connection:
    """Return a database with an empty table `entries`, which nobody else sees.

    Args:
        columns: The table's columns, as SQLite has them.
    """
    # The empty name is a file of SQLite's own, which it opens when the cache is full.
    database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for setting in _SETTINGS:
        database.execute(f"PRAGMA {setting}")
    database.execute(f"CREATE TABLE entries {columns}")
    database.execute("BEGIN")
    return database


def disk_full_error(error: sqlite3.Error) -> ReelbenchError:
    """Return the error for a table that can't be written."""
    return ReelbenchError(
        f"a temporary table can't be written ({error}); the environment's TMPDIR names the folder "
        "of such files"
    )


class KnownId(NamedTuple):
    """An id's number, from 1 in the order of the file, and its text."""

    number: int
    text: str | None


class IdWithLocation(NamedTuple):
    """An id, its place in a file, and a text."""

    name: str
    where: str
    text: str | None


class UniqueIds:
    """The ids of a file, with the place of each, and a text.

    The same id twice would make the result depend on their order.
    """

    def __init__(self) -> None:
        self._database = temporary_table(_UNIQUE_IDS)
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def add(self, name: str, where: str) -> None:
        """Note an id's place. InputError where it is there already."""
        self.add_each([IdWithLocation(name, where, None)])

    def add_each(self, ids: Iterable[IdWithLocation]) -> None:
        """Note places and texts of ids. InputError where an id occurs twice."""
        known_id = self._add_until_repeated(iter(ids))
        if known_id is not None:
            name, where, _ = known_id
            raise InputError(
                f"{where}: the id {name!r} occurs twice, first at {self._location_of(name)}; "
                "keep one of them"
            )

    def first_locations(self, ids: Sequence[IdWithLocation]) -> dict[int, str]:
        """Note the places of ids. Return those of ids that were there already.

        Returns:
            Index in `ids` -> the place that the id had before.
        """
        number_before = self._number
        first_locations: dict[int, str] = {}
        remaining_ids = iter(ids)
        while True:
            known_id = self._add_until_repeated(remaining_ids)
            if known_id is None:
                return first_locations
            name, _, _ = known_id
            new_ids = self._number - number_before
            index = new_ids + len(first_locations)
            first_locations[index] = self._location_of(name)

    def _add_until_repeated(self, ids: Iterator[IdWithLocation]) -> IdWithLocation | None:
        """Note ids until one is there already. Return that one, None where all are new."""
        last_id: IdWithLocation | None = None

        def entries() -> Iterator[tuple[bytes, int, str, str | None]]:
            nonlocal last_id
            for last_id in ids:
                name, where, text = last_id
                # A file's name may be no text.
                yield _key(name), self._number + 1, valid_text(where), text
                self._number += 1

        try:
            self._database.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", entries())
        except sqlite3.IntegrityError:
            return last_id
        except sqlite3.OperationalError as error:
            raise disk_full_error(error) from None
        return None

    def _location_of(self, name: str) -> str:
        """Return the place of an id that is there."""
        query = "SELECT place FROM entries WHERE id = ?"
        return self._database.execute(query, (_key(name),)).fetchone()[0]

    def find(self, names: Sequence[str]) -> dict[str, KnownId]:
        """Return the numbers and texts of ids, as far as they are there.

        Args:
            names: The ids, at most `IDS_PER_QUERY`.
        """
        marks = ", ".join("?" * len(names))
        query = f"SELECT id, number, text FROM entries WHERE id IN ({marks})"  # noqa: S608 - marks alone
        known_ids: dict[str, KnownId] = {}
        keys = [_key(name) for name in names]
        for key, number, text in self._database.execute(query, keys):
            known_ids[_name(key)] = KnownId(number, text)
        return known_ids

    def __iter__(self) -> Iterator[str]:
        for (key,) in self._database.execute("SELECT id FROM entries ORDER BY number"):
            yield _name(key)


def _key(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _name(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")


class SortedKeys:
    """Keys that are sorted when all are there: hashes, or texts' bytes."""

    def __init__(self) -> None:
        self._database = temporary_table("(key BLOB)")
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def extend(self, keys: Sequence[bytes]) -> None:
        """Add keys, which may be there already."""
        try:
            self._database.executemany("INSERT INTO entries VALUES (?)", [(key,) for key in keys])
        except sqlite3.OperationalError as error:
            raise disk_full_error(error) from None
        self._number += len(keys)

    def __iter__(self) -> Iterator[bytes]:
        for (key,) in self._database.execute("SELECT key FROM entries ORDER BY key"):
            yield key

    def insertion_order(self) -> "NDArray[np.intc]":
        """Return the places at which the keys were added, in the keys' order."""
        import numpy as np

        rows = self._database.execute("SELECT rowid - 1 FROM entries ORDER BY key, rowid")
        insertion_order = (place for (place,) in rows)
        return np.fromiter(insertion_order, dtype=np.intc, count=self._number)
