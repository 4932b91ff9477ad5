"""Rows whose samples may not be passed on, as they were published: whoever has the dataset alone makes the same page.

A results dataset keeps of each such benchmark `withheld/<benchmark>.json`: the runs' rows, and of
their tables what only the samples can tell (pairs, ranges, shortcuts, other judges). Nothing in it
is of a question or a single answer, and nothing of it can be computed again, so its rows stand in
tables of their own alone.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import create_model

from reelbench.base.files import read_json, read_text, write_text
from reelbench.leaderboard import aliases, trust
from reelbench.leaderboard.checks import Check, read_own
from reelbench.leaderboard.entries import BoardEntry, RankingGroup
from reelbench.leaderboard.ranking import Noise, PairedDifference
from reelbench.leaderboard.store import StoredResult
from reelbench.registry import discovery
from reelbench.registry.records import Record, Result

FOLDER = "withheld"
OWN = (aliases.FILE, trust.FILE)
"""Files of a store that its maintainers alone write."""


_OF_ENTRY: dict[str, Any] = {field.name: (field.type, ...) for field in fields(BoardEntry)}
del _OF_ENTRY["group"], _OF_ENTRY["stored"]
_Entry = create_model("_Entry", __base__=Record, **_OF_ENTRY)


class Row(_Entry):
    """A run's row (`entries.BoardEntry`), its record without the names of videos, and what was checked of it."""

    key: str
    kind: Literal["run", "baseline", "human"]
    date: str | None
    result: Result
    check: Check
    without_shortcuts: float | None
    other_judges: str | None

    @staticmethod
    def of_entry(entry: "BoardEntry | Row") -> dict[str, Any]:
        """Return what a row says of itself, and not of its group."""
        return {name: getattr(entry, name) for name in _OF_ENTRY}


class Table(Record):
    """A group's rows and what their samples say together (`ranking.Noise`), and why these are withheld."""

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
        """What its pairs say."""
        return Noise(
            self.ranges, self.smallest, {(a, b): found for a, b, found in self.pairs}, self.videos
        )

    def entries(self) -> Iterator[BoardEntry]:
        """Yield its rows; InputError where their benchmark is not known."""
        for row in self.rows:
            stored = StoredResult(
                row.key,
                Path(),
                row.result,
                row.check,
                discovery.spec_of(row.result.benchmark),
                videos=frozenset() if "#" in row.key else None,
                withheld=self.why,
            )
            yield BoardEntry(
                **Row.of_entry(row),
                group=self.group,
                stored=replace(stored, differs=self.group.differs),
            )


class Withheld(Record):
    """The whole file: a benchmark's tables, and how those of the same answers relate (as in `leaderboard.json`)."""

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
    """Copy what a results dataset has beside its results into a store, unless the same or newer is there.

    That is the rows whose samples are withheld, the Hub's own boards, the names of models and the
    board's settings. Yields the files: of those that aren't `believed`, which nothing can be held
    to, the ones that are left.
    """
    for folder in (path, path / "results"):
        files = [*folder.glob(f"{FOLDER}/*.json"), *folder.glob("community/*.json")]
        for source in [*sorted(files), *(folder / name for name in OWN)]:
            target = store / source.relative_to(folder)
            own = source.resolve().is_relative_to(
                path.resolve()
            )  # and no link to what lies elsewhere
            if (
                not source.is_file()
                or source.is_symlink()
                or not own
                or source.resolve() == target.resolve()
            ):
                continue
            if target.is_file() and (source.name in OWN or _newest(target) >= _newest(source)):
                continue
            if believed:
                write_text(target, read_text(source))
            yield target if believed else source


def _newest(path: Path) -> str:
    if path.parent.name != FOLDER:
        return str(read_json(path).get("fetched", ""))
    return max((row.date or "" for table in parse(path).tables for row in table.rows), default="")
