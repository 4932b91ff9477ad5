"""The main tables as they were published, by the ledger's entries alone."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from reelbench.leaderboard.ledger import Published


class _PlacedRow(NamedTuple):
    """A row's value in an edition, and the hash of its answers then."""

    value: float
    answers: str


@dataclass(frozen=True, slots=True)
class Edition:
    """A table as it was published.

    Attributes:
        at: When.
        values: Key of each model's best row -> its main value.
    """

    at: datetime
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Filed:
    """An edition with the answers behind each value, by the row's key."""

    at: datetime
    rows: Mapping[str, _PlacedRow]


class Editions:
    """The editions of all tables."""

    def __init__(self) -> None:
        """Begin without any."""
        self._of_table: dict[str, list[_Filed]] = {}

    def add(self, entry: Published, answers: Mapping[str, str]) -> None:
        """Add what an entry says. `answers` has the hash of each row's answers now."""
        editions = self._of_table.setdefault(entry.table.casefold(), [])
        values: dict[str, float] = {}
        if editions:
            values = {key: row.value for key, row in editions[-1].rows.items()}
        for key, value in entry.rows.items():
            values.pop(key, None)
            if value is not None:
                values[key] = value
        rows = {key: _PlacedRow(value, answers.get(key, "")) for key, value in values.items()}
        if editions and editions[-1].at == entry.at:
            editions.pop()  # another part of the same publication
        editions.append(_Filed(entry.at, rows))

    def newest(self, table: str) -> dict[str, float]:
        """Return key -> value in a table's newest edition, of withdrawn rows too."""
        editions = self._of_table.get(table.casefold())
        if not editions:
            return {}
        return {key: row.value for key, row in editions[-1].rows.items()}

    def without(self, withdrawn: Container[tuple[str, str]], table: str) -> list[Edition]:
        """Return a table's editions without some keys and answers, the first one first."""
        editions: list[Edition] = []
        for edition in self._of_table.get(table.casefold(), []):
            values: dict[str, float] = {}
            for key, row in edition.rows.items():
                if (key, row.answers) not in withdrawn:
                    values[key] = row.value
            if values and (not editions or values != editions[-1].values):
                editions.append(Edition(edition.at, values))
        return editions
