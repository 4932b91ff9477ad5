"""The history of a main table: each model's place and value at each publication.

It follows from the ledger and the table alone, so the same store gives the same history.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from reelbench.base import bounds
from reelbench.leaderboard import ledger
from reelbench.leaderboard.board_state import BoardState
from reelbench.leaderboard.editions import Edition
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.overall import ModelKey
from reelbench.registry.spec import BenchmarkSpec

RECENT = timedelta(days=14)
"""What came since is new."""
_DIGITS = 7
_LINE = bounds.PART // 2  # characters of the keys in one entry


class Place(NamedTuple):
    """A model's rank and main value in a table."""

    rank: int
    value: float


@dataclass(frozen=True, slots=True)
class PastTable:
    """A table at one time.

    Attributes:
        at: When it was published. None of the table of today.
        models: How many models had a rank.
        places: The places of the models that the board still has.
    """

    at: datetime | None
    models: int
    places: Mapping[ModelKey, Place]


@dataclass(frozen=True, slots=True)
class TableHistory:
    """A table's editions, and itself.

    Attributes:
        past: The editions, the first one first.
        today: The table of today.
        models: Key of each model's best row today -> the model.
        base: The edition that today is compared with: the last one that is older by `RECENT` than
            the newest, else the first. None where nothing changed since.
    """

    past: Sequence[PastTable]
    today: PastTable
    models: Mapping[str, ModelKey]
    base: PastTable | None

    @property
    def values(self) -> dict[str, float]:
        """The main values of today, by the rows' keys."""
        return {key: self.today.places[model].value for key, model in self.models.items()}

    def is_new(self, key: str) -> bool:
        """Return True of the best row of a model without a place in `base`."""
        if self.base is None or key not in self.models:
            return False
        return self.models[key] not in self.base.places

    def first_listed(self, model: ModelKey) -> datetime | None:
        """Return when a model was published in this table first."""
        for table in self.past:
            if model in table.places:
                return table.at
        return None


def values_of_table(
    spec: BenchmarkSpec, ranked_rows: Sequence[BoardEntry], models: Mapping[str, ModelKey]
) -> dict[str, float]:
    """Return key -> main value of each model's best run.

    Args:
        spec: The table's benchmark.
        ranked_rows: Its ranked rows, the best one first.
        models: Key of a row -> its model.
    """
    values: dict[str, float] = {}
    known_models: set[ModelKey] = set()
    for row in ranked_rows:
        value = metric_value(row.metrics, spec.primary.name)
        is_run = row.stored is not None or row.kind == "owner"
        if value is not None and is_run and models[row.key] not in known_models:
            known_models.add(models[row.key])
            values[row.key] = float(f"{value:.{_DIGITS}g}")
    return values


def history_of_table(
    editions: Sequence[Edition], values: Mapping[str, float], models: Mapping[str, ModelKey]
) -> TableHistory:
    """Return the history of a table.

    Args:
        editions: Its editions.
        values: Its values today, by the rows' keys.
        models: Key of a row -> its model.
    """
    past = [_past_table(edition.at, edition.values, models) for edition in editions]
    today = _past_table(None, values, models)
    base: PastTable | None = None
    if past:
        base = past[0]
        newest = editions[-1].at
        for edition, table in zip(editions, past, strict=True):
            if newest - edition.at >= RECENT:
                base = table
        if base.places == today.places:
            base = None
    return TableHistory(past, today, {key: models[key] for key in values}, base)


def _past_table(
    at: datetime | None, values: Mapping[str, float], models: Mapping[str, ModelKey]
) -> PastTable:
    places: dict[ModelKey, Place] = {}
    in_order = sorted(values.values())
    for key, value in values.items():
        rank = 1 + len(in_order) - bisect_right(in_order, value)
        if key in models:
            place = Place(rank, value)
            # Of two rows whose models got one name since, the better one is the model's.
            places[models[key]] = min(places.get(models[key], place), place)
    return PastTable(at, len(values), places)


def new_entries(
    tables: Mapping[str, Mapping[str, float]], state: BoardState, at: datetime
) -> list[ledger.Published]:
    """Return the ledger's entries on tables that changed since they were published.

    Args:
        tables: Id of each main table -> key of a row -> its main value.
        state: What the ledger says.
        at: The time of the entries.
    """
    entries: list[ledger.Published] = []
    for table, values in tables.items():
        published = state.editions.newest(table)
        changes: dict[str, float | None] = {}
        for key, value in values.items():
            if published.get(key) != value:
                changes[key] = value
        for key in published:
            if key not in values:
                changes[key] = None
        for part in _parts(changes):
            entry = ledger.Published(
                at=at, who=ledger.MAINTAINER, act="published", table=table, rows=part
            )
            entries.append(entry)
    return entries


def _parts(changes: Mapping[str, float | None]) -> list[dict[str, float | None]]:
    """Part changes, so that no line of the ledger is too long."""
    parts: list[dict[str, float | None]] = []
    size = _LINE
    for key, value in changes.items():
        size += len(key)
        if size > _LINE:
            parts.append({})
            size = len(key)
        parts[-1][key] = value
    return parts
