"""Rows whose samples may not be passed on, as they were published.

With them whoever has the dataset alone makes the same page.

A results dataset keeps of each such benchmark `withheld/<benchmark>.json`: the runs' rows, and of
their tables what only the samples can tell (pairs, ranges, shortcuts, other judges). Nothing in it
is of a question or a single answer, and nothing of it can be computed again, so its rows stand in
tables of their own alone.
"""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from pydantic import create_model

from reelbench.leaderboard.board_state import BoardState
from reelbench.leaderboard.entries import BoardEntry, RankingGroup
from reelbench.leaderboard.marks import read_own
from reelbench.leaderboard.ranking import Noise
from reelbench.leaderboard.store import ROWS_FOLDER, StoredResult
from reelbench.leaderboard.table_pairs import PairedDifference
from reelbench.registry import discovery
from reelbench.registry.records import Record, Result

_OF_ENTRY: dict[str, Any] = {field.name: (field.type, ...) for field in fields(BoardEntry)}
del _OF_ENTRY["group"], _OF_ENTRY["stored"]
_Entry = create_model("_Entry", __base__=Record, **_OF_ENTRY)


class Row(_Entry):
    """A run's row (`entries.BoardEntry`) and its record, without the names of videos.

    What the board knows of it is in the ledger.
    """

    key: str
    model: str
    kind: Literal["run", "blind", "baseline", "human"]
    date: str | None
    result: Result
    without_shortcuts: float | None
    other_judges: str | None

    @staticmethod
    def of_entry(entry: "BoardEntry | Row") -> dict[str, Any]:
        """Return the fields that a row says of itself, and not of its group."""
        return {name: getattr(entry, name) for name in _OF_ENTRY}


class Table(Record):
    """A group's rows, what their samples say together, and why these are withheld."""

    group: RankingGroup
    why: str
    rows: list[Row]
    ranges: dict[str, tuple[int, int]]
    smallest: float | None
    pairs: list[tuple[str, str, PairedDifference]]
    videos: int
    shares: dict[str, dict[str, Any]]
    relations: list[str]

    @property
    def noise(self) -> Noise:
        """The noise of its pairs."""
        pairs = {(first, second): pair for first, second, pair in self.pairs}
        return Noise(self.ranges, self.smallest, pairs, self.videos)

    def entries(self, state: BoardState) -> Iterator[BoardEntry]:
        """Yield its rows that are not withdrawn.

        Raises:
            InputError: Their benchmark is not known.
        """
        for row in self.rows:
            filed_row = state.rows.get(row.key.partition("#")[0])
            if filed_row is None:
                continue
            videos: frozenset[str] | None = None
            if "#" in row.key:
                videos = frozenset()
            model = state.name_of(row.model)
            named_model = row.result.model.model_copy(update={"id": model})
            stored = StoredResult(
                row.key,
                Path(),
                row.result.model_copy(update={"model": named_model}),
                filed_row,
                discovery.spec_of(row.result.benchmark),
                differs=self.group.differs,
                videos=videos,
                withheld=self.why,
            )
            fields_of_row = Row.of_entry(row)
            fields_of_row["model"] = model
            yield BoardEntry(**fields_of_row, group=self.group, stored=stored)


class RowsOnly(Record):
    """The whole file: a benchmark's tables, and how those of the same answers relate.

    That is as in `leaderboard.json`.
    """

    benchmark: str
    tables: list[Table]
    bridges: list[dict[str, Any]]


def parse(path: Path) -> RowsOnly:
    """Read a file of withheld rows. InputError where it is not one."""
    return read_own(
        RowsOnly, path, "what a results dataset keeps of withheld rows", "get it again from there"
    )


def read(store: Path) -> list[RowsOnly]:
    """Return a store's withheld rows."""
    return [parse(path) for path in sorted((store / ROWS_FOLDER).glob("*.json"))]
