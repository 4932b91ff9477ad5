"""The columns of a row beside its metrics.

`columns.yaml` declares them. CSV, JSON, Parquet, the page and Python all read them from here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from reelbench.base.errors import InputError
from reelbench.base.yaml_text import read_mapping
from reelbench.leaderboard.board import Board, make
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.pages.shell_page import page_asset

Type = Literal["text", "integer", "number", "boolean"]
_Getter = Callable[[Board, BoardEntry], Any]


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column, as `columns.yaml` declares it.

    `get` returns the value of a board's row. None where the value is one of the row's facts.
    """

    id: str
    title: str
    type: Type
    get: _Getter | None = None
    about: str = ""
    digits: int | None = 0
    part: str = "How it was run"
    of_group: bool = False
    shown: bool = False
    filter: bool = False
    order: tuple[str, ...] = ()

    def value(self, board: Board, row: BoardEntry) -> Any:  # noqa: ANN401 - of the column's type
        """Return a row's value."""
        if self.get is None:
            return row.facts.get(self.id)
        return self.get(board, row)


def rank_range(board: Board, row: BoardEntry) -> str | None:
    """Return `1–3`, or `2` where only that rank is possible, or None."""
    return _range_text(board.noise[row.group].ranges.get(row.key))


def _range_over_judges(board: Board, row: BoardEntry) -> str | None:
    return _range_text(board.over_judges.get(row.key))


def _range_text(ranks: tuple[int, int] | None) -> str | None:
    if ranks is None:
        return None
    best, worst = ranks
    return str(best) if best == worst else f"{best}–{worst}"


def _first_listed(board: Board, row: BoardEntry) -> str | None:
    """Return the day on which a model was published in its table first."""
    history = board.history.get(row.group)
    if history is None or row.key not in history.models:
        return None
    listed = history.first_listed(history.models[row.key])
    return None if listed is None else listed.date().isoformat()


def _rank_before(board: Board, row: BoardEntry) -> int | None:
    """Return the rank that a model had in the edition that today is compared with."""
    history = board.history.get(row.group)
    if history is None or history.base is None or row.key not in history.models:
        return None
    place = history.base.places.get(history.models[row.key])
    return None if place is None else place.rank


def _claimed_score(board: Board, row: BoardEntry) -> float | None:
    """Return the main score that others state of a model.

    None where they state several.
    """
    scores = {_main_score(board, claim) for claim in board.claims.get(row.key, ())}
    return scores.pop() if len(scores) == 1 else None


def _claimed_in(board: Board, row: BoardEntry) -> str | None:
    """Return the sources of what is claimed. Of several scores each stands there."""
    claims = board.claims.get(row.key, ())
    scores = {_main_score(board, claim) for claim in claims}
    texts: dict[str, None] = {}
    for claim in claims:
        text = claim.cite
        if len(scores) > 1:
            text = _claim_in_words(board, claim)
        texts[text] = None
    return "; ".join(texts) or None


def _claim_in_words(board: Board, claim: BoardEntry) -> str:
    """Return a claimed score with its setting, frames and source."""
    score = _main_score(board, claim)
    text = "no main score"
    if score is not None:
        text = f"{score:.{board.spec(claim.group).primary.in_unit.digits}f}"
    if claim.setting != "zero-shot":
        text += f", {claim.setting}"
    if claim.frames != "unknown":
        text += f", frames {claim.frames}"
    return f"{text} ({claim.cite})"


def _main_score(board: Board, row: BoardEntry) -> float | None:
    return metric_value(row.metrics, board.spec(row.group).primary.name)


_COMPUTED: Mapping[str, _Getter] = {
    "claimed": _claimed_score,
    "claimed_in": _claimed_in,
    "first_listed": _first_listed,
    "rank_before": _rank_before,
    "rank_range": rank_range,
    "ranks_over_judges": _range_over_judges,
}


def _column(*, at: str = "", order: list[str] | None = None, **fields: Any) -> BoardColumn:  # noqa: ANN401
    """Return a column of `columns.yaml`.

    Its value stands `at` an attribute of the row (`row.…`), or at one of the board for the row's
    key (`board.…`).
    """
    owner, _, path = at.partition(".")
    getter = _COMPUTED.get(fields["id"])
    if owner == "row":
        getter = _row_getter(path)
    elif owner == "board":
        getter = _board_getter(path)
    return BoardColumn(get=getter, order=tuple(order or ()), **fields)


def _row_getter(path: str) -> _Getter:
    value = attrgetter(path)
    return lambda _, row: value(row)


def _board_getter(path: str) -> _Getter:
    values = attrgetter(path)
    return lambda board, row: values(board).get(row.key)


_COLUMNS = read_mapping(page_asset("columns.yaml", "leaderboard"), "columns.yaml")
BEFORE = tuple(_column(**fields) for fields in _COLUMNS["before"])
AFTER = tuple(_column(**fields) for fields in _COLUMNS["after"])
COLUMNS = BEFORE + AFTER


PlainRows = Mapping[str, Mapping[str, Any]]
"""Key of a row -> its columns as plain data, as `plain_row` returns them."""


def plain_rows(board: Board) -> PlainRows:
    """Return all rows as plain data."""
    return {row.key: plain_row(board, row) for row in board.entries}


def plain_row(board: Board, row: BoardEntry) -> dict[str, Any]:
    """Return a row as plain data, without its metrics."""
    return {column.id: column.value(board, row) for column in COLUMNS}


def metric_records(board: Board) -> Iterator[dict[str, Any]]:
    """Yield each metric of each row.

    A record is the row's key in the store, its columns, then the metric's own fields.
    """
    for row in board.entries:
        key = None
        spec = board.specs[row.group.benchmark]
        if row.stored is not None:
            key = row.stored.key
            spec = row.stored.spec
        row_fields = {"key": key, **plain_row(board, row)}
        units = {metric.name: metric.unit for metric in spec.metrics}
        for name, metric in row.metrics.items():
            low, high = metric.ci95 or (None, None)
            yield {
                **row_fields,
                "metric": name,
                "value": metric.value,
                "low": low,
                "high": high,
                "n": metric.n,
                "unit": units[name],
            }


def of_store(path: Path) -> list[dict[str, Any]]:
    """Return the metrics of a store's own results, as `metric_records` has them.

    Raises:
        InputError: If a result can't be read.
    """
    board = make(path, published=False)
    for reason in board.left_out.values():
        raise InputError(reason)
    return [record for record in metric_records(board) if record["key"] is not None]
