"""Tables on disk that end with this process: entries may be more than memory holds."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import valid_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_UNIQUE_IDS = "(id BLOB PRIMARY KEY, number INTEGER, place TEXT, text TEXT) WITHOUT ROWID"
_CACHE_KB = 16_000  # of a table in memory; the rest is on disk
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


def no_room(error: sqlite3.Error) -> ReelbenchError:
    """Return the error for a table that can't be written."""
    return ReelbenchError(
        f"a temporary table can't be written ({error}); the environment's TMPDIR names the folder "
        "of such files"
    )


class KnownId(NamedTuple):
    """An id's number, from 1 in the order of the file, and its text."""

    number: int
    text: str | None


class UniqueIds:
    """The ids of a file, with the place of each, and a text.

    The same id twice would make the result depend on their order.
    """

    def __init__(self) -> None:
        self._run = temporary_table(_UNIQUE_IDS).execute
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def add(self, name: str, where: str, text: str | None = None) -> None:
        """Note an id's place and text. InputError where it is there already."""
        first_place = self.first_place(name, where, text)
        if first_place is not None:
            raise InputError(
                f"{where}: the id {name!r} occurs twice, first at {first_place}; keep one of them"
            )

    def first_place(self, name: str, where: str, text: str | None = None) -> str | None:
        """Note an id's place and text. Return the place that it has already, or None."""
        key = name.encode("utf-8", "surrogatepass")
        try:
            entry = (key, self._number + 1, where, text)
            self._run("INSERT INTO entries VALUES (?, ?, ?, ?)", entry)
        except sqlite3.IntegrityError:
            return self._run("SELECT place FROM entries WHERE id = ?", (key,)).fetchone()[0]
        except UnicodeEncodeError:  # a file's name may be no text
            return self.first_place(name, valid_text(where), text)
        except sqlite3.OperationalError as error:
            raise no_room(error) from None
        self._number += 1
        return None

    def find(self, name: str) -> KnownId | None:
        """Return an id's number and text. None where it is not there."""
        key = name.encode("utf-8", "surrogatepass")
        row = self._run("SELECT number, text FROM entries WHERE id = ?", (key,)).fetchone()
        return None if row is None else KnownId(*row)

    def __iter__(self) -> Iterator[str]:
        for (name,) in self._run("SELECT id FROM entries ORDER BY number"):
            yield name.decode("utf-8", "surrogatepass")


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
            raise no_room(error) from None
        self._number += len(keys)

    def __iter__(self) -> Iterator[bytes]:
        for (key,) in self._database.execute("SELECT key FROM entries ORDER BY key"):
            yield key

    def places(self) -> "NDArray[np.intc]":
        """Return the places at which the keys were added, in the keys' order."""
        import numpy as np

        rows = self._database.execute("SELECT rowid - 1 FROM entries ORDER BY key, rowid")
        places = (place for (place,) in rows)
        return np.fromiter(places, dtype=np.intc, count=self._number)
