"""Columns of orders (`[2, 0, 1]`), which no key of a `benchmark.yaml` scores."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.values import is_array
from reelbench.data.row_cells import parse_literal
from reelbench.tasks.table_columns import NAMES, plain_name

_LOOKED_AT = 200
_NEARLY_ALL = 0.9
_FEWEST_PLACES = 3
_NAMES_OF_OPTIONS = {*NAMES["options"]} - {*NAMES["answer"]}
"""Usual names of options, which may be numbers to choose from: [1, 2, 3, 4]."""

Cells = Mapping[str, Any]


def lines_of_orders(rows: Sequence[Cells], named: frozenset[str]) -> Iterator[str]:
    """Yield a line for each column of orders that the user does not name.

    Args:
        rows: The rows.
        named: Columns that the user names, or leaves unused.
    """
    first_rows = rows[:_LOOKED_AT]
    names: dict[str, None] = {}
    for row in first_rows:
        names.update(dict.fromkeys(row))
    for name in names:
        if name in named or plain_name(name) in _NAMES_OF_OPTIONS:
            continue
        values = [parse_literal(row[name]) for row in first_rows if row.get(name)]
        orders = [value for value in values if _is_order(value)]
        if not orders or len(orders) < _NEARLY_ALL * len(values):
            continue
        yield (
            f"{name!r} contains orders, such as {orders[0]}: no key scores an order; as options "
            "(each "
            "order a text) it is a `choice`"
        )


def _is_order(value: object) -> bool:
    """Return True for the whole numbers from 0 or 1 up, each once."""
    if not is_array(value) or len(value) < _FEWEST_PLACES:
        return False
    numbers = [number for number in value if type(number) is int]
    if len(numbers) < len(value):
        return False
    first = min(numbers)
    return first in (0, 1) and sorted(numbers) == list(range(first, first + len(numbers)))
