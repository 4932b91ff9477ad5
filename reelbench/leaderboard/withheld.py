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

from reelbench.base.files import read_json, read_text, write_text
from reelbench.leaderboard import aliases, trust
from reelbench.leaderboard.checks import Check, read_own
from reelbench.leaderboard.entries import BoardEntry, RankingGroup
from reelbench.leaderboard.ranking import Noise
from reelbench.leaderboard.store import StoredResult
from reelbench.leaderboard.table_pairs import PairedDifference
from reelbench.registry import discovery
from reelbench.registry.records import Record, Result

FOLDER = "withheld"
OWN = (aliases.FILE, trust.FILE)
"""Files of a store that its maintainers alone write."""


_OF_ENTRY: dict[str, Any] = {field.name: (field.type, ...) for field in fields(BoardEntry)}
del _OF_ENTRY["group"], _OF_ENTRY["stored"]
_Entry = create_model("_Entry", __base__=Record, **_OF_ENTRY)


class Row(_Entry):
    """A run's row (`entries.BoardEntry`), its record and its check.

    The record is without the names of videos.
    """

    key: str
    kind: Literal["run", "baseline", "human"]
    date: str | None
    result: Result
    check: Check
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

    def entries(self) -> Iterator[BoardEntry]:
        """Yield its rows; InputError where their benchmark is not known."""
        for row in self.rows:
            videos: frozenset[str] | None = None
            if "#" in row.key:
                videos = frozenset()
            stored = StoredResult(
                row.key,
                Path(),
                row.result,
                row.check,
                discovery.spec_of(row.result.benchmark),
                differs=self.group.differs,
                videos=videos,
                withheld=self.why,
            )
            yield BoardEntry(**Row.of_entry(row), group=self.group, stored=stored)


class Withheld(Record):
    """The whole file: a benchmark's tables, and how those of the same answers relate.

    That is as in `leaderboard.json`.
    """

    benchmark: str
    tables: list[Table]
    bridges: list[dict[str, Any]]


def parse(path: Path) -> Withheld:
    """Read a file of withheld rows; InputError where it is not one."""
    return read_own(
        Withheld, path, "what a results dataset keeps of withheld rows", "get it again from there"
    )


def read(store: Path) -> list[Withheld]:
    """Return a store's withheld rows."""
    return [parse(path) for path in sorted((store / FOLDER).glob("*.json"))]


def bring(path: Path, store: Path, *, believed: bool) -> Iterator[Path]:
    """Copy what a results dataset has beside its results into a store.

    That is the rows whose samples are withheld, the Hub's own boards, the names of models and the
    board's settings. Nothing takes the place of the same, or of newer.

    Yields:
        The files; of those that aren't `believed`, which can't be compared with anything, the ones
        that are left.
    """
    for folder in (path, path / "results"):
        sources = sorted([*folder.glob(f"{FOLDER}/*.json"), *folder.glob("community/*.json")])
        sources += [folder / name for name in OWN]
        for source in sources:
            target = store / source.relative_to(folder)
            if not _is_own_file(source, path) or source.resolve() == target.resolve():
                continue
            if target.is_file() and (source.name in OWN or _newest(target) >= _newest(source)):
                continue
            if believed:
                write_text(target, read_text(source))
                yield target
            else:
                yield source


def _is_own_file(file: Path, folder: Path) -> bool:
    """Return True of a file in a folder, and no link to elsewhere."""
    if not file.is_file() or file.is_symlink():
        return False
    return file.resolve().is_relative_to(folder.resolve())


def _newest(path: Path) -> str:
    if path.parent.name != FOLDER:
        return str(read_json(path).get("fetched", ""))
    newest = ""
    for table in parse(path).tables:
        for row in table.rows:
            newest = max(newest, row.date or "")
    return newest
