"""The columns of a row beside its metrics (`columns.yaml`), which CSV, JSON, Parquet, the page and Python all read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from reelbench.base.errors import InputError
from reelbench.base.yaml_text import read_mapping
from reelbench.leaderboard.board import Board, make
from reelbench.leaderboard.entries import BoardEntry
from reelbench.pages.shell_page import page_asset

Type = Literal["text", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column, as `columns.yaml` declares it; `get` is board and row -> value, None where it is the row's fact."""

    id: str
    title: str
    type: Type
    get: Callable[[Board, BoardEntry], Any] | None = None
    about: str = ""
    digits: int | None = 0
    part: str = "How it was run"
    of_group: bool = False
    shown: bool = False
    filter: bool = False
    order: tuple[str, ...] = ()

    def value(self, board: Board, row: BoardEntry) -> Any:  # noqa: ANN401 - of the column's type
        """Return a row's value."""
        return row.facts.get(self.id) if self.get is None else self.get(board, row)


def rank_range(board: Board, row: BoardEntry) -> str | None:
    """Return `1–3`, or `2` where only one rank is possible; None where none can be told."""
    return _as_range(board.noise[row.group].ranges.get(row.key))


def _as_range(best_worst: tuple[int, int] | None) -> str | None:
    return None if best_worst is None else "–".join(map(str, dict.fromkeys(best_worst)))


def _declared(*, at: str = "", order: list[str] | None = None, **column: Any) -> BoardColumn:  # noqa: ANN401
    """Return a column of `columns.yaml`: its value is an attribute of the row, or the board's for the row's key."""
    whose, _, path = at.partition(".")
    value = attrgetter(path or "key")
    ways: dict[str, Callable[[Board, BoardEntry], Any]] = {
        "row": lambda _, row: value(row),
        "board": lambda board, row: value(board).get(row.key),
        "rank_range": rank_range,
        "ranks_over_judges": lambda board, row: _as_range(board.over_judges.get(row.key)),
    }
    return BoardColumn(get=ways.get(whose or column["id"]), order=tuple(order or ()), **column)


_COLUMNS = read_mapping(page_asset("columns.yaml", "leaderboard"), "columns.yaml")
BEFORE = tuple(_declared(**column) for column in _COLUMNS["before"])
AFTER = tuple(_declared(**column) for column in _COLUMNS["after"])
COLUMNS = (*BEFORE, *AFTER)


def plain_row(board: Board, row: BoardEntry) -> dict[str, Any]:
    """Return a row as plain data, without its metrics."""
    return {column.id: column.value(board, row) for column in COLUMNS}


def metric_records(board: Board) -> Iterator[dict[str, Any]]:
    """Yield each metric of each row: the row's key in the store and its columns, then the metric's own."""
    for row in board.entries:
        shared = {"key": row.stored.key if row.stored else None, **plain_row(board, row)}
        spec = row.stored.spec if row.stored else board.specs[row.group.benchmark]
        units = {metric.name: metric.unit for metric in spec.metrics}
        for name, metric in row.metrics.items():
            low, high = metric.ci95 or (None, None)
            numbers = {
                "metric": name,
                "value": metric.value,
                "low": low,
                "high": high,
                "n": metric.n,
            }
            yield shared | numbers | {"unit": units[name]}


def of_store(path: Path) -> list[dict[str, Any]]:
    """Return the metrics of a store's own results, as `metric_records` has them; InputError where one can't be read."""
    made = make(path, published=False)
    if made.left_out:
        raise InputError(next(iter(made.left_out.values())))
    return [row for row in metric_records(made) if row["key"] is not None]
