"""The assignment of rows to columns with the largest sum (the Hungarian method).

This is our own code because scipy is no dependency. It is the method of shortest augmenting paths
(Jonker and Volgenant 1987, Computing 38), in time of the cube of the size.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

OptionalPlaces = list[int | None]


class Pair(NamedTuple):
    """A row and the column that it is assigned to."""

    row: int
    column: int


def largest_assignment(values: Sequence[Sequence[float]]) -> list[Pair]:
    """Return the pairs of rows and columns whose values have the largest sum.

    Each row and each column is in one pair at most, and all of the fewer ones are in one.

    Args:
        values: Rows of equal length. None may be empty.
    """
    rows = len(values)
    columns = len(values[0])
    if rows > columns:
        transposed = list(zip(*values, strict=True))
        swapped_pairs = largest_assignment(transposed)
        return sorted(Pair(pair.column, pair.row) for pair in swapped_pairs)
    assignment = _Assignment(values)
    for row in range(rows):
        assignment.add_row(row)
    return assignment.pairs()


class _Assignment:
    """An assignment of the rows so far, whose sum is the largest, with its prices."""

    def __init__(self, values: Sequence[Sequence[float]]) -> None:
        self._values = values
        self._columns = len(values[0])
        self._row_prices = [0.0] * len(values)
        self._column_prices = [0.0] * self._columns
        self._row_of_column: OptionalPlaces = [None] * self._columns

    def add_row(self, new_row: int) -> None:
        """Assign one more row, along the cheapest path of exchanges to a free column."""
        distances = [math.inf] * self._columns
        before: OptionalPlaces = [None] * self._columns
        """The column before each on the path. None where the path begins."""
        visited: list[int] = []
        open_columns = list(range(self._columns))
        last: int | None = None
        row: int | None = new_row
        reached = 0.0
        while row is not None:
            for column in open_columns:
                distance = reached + self._reduced_cost(row, column)
                if distance < distances[column]:
                    distances[column] = distance
                    before[column] = last
            last = min(open_columns, key=distances.__getitem__)
            reached = distances[last]
            row = self._row_of_column[last]
            if row is not None:
                visited.append(last)
                open_columns.remove(last)
        self._change_prices(new_row, visited, distances, reached)
        self._exchange(new_row, last, before)

    def _reduced_cost(self, row: int, column: int) -> float:
        value = self._values[row][column]
        return -value - self._row_prices[row] - self._column_prices[column]

    def _change_prices(
        self, new_row: int, visited: Sequence[int], distances: Sequence[float], reached: float
    ) -> None:
        """Change the prices so that no reduced cost is below 0."""
        self._row_prices[new_row] += reached
        for column in visited:
            change = reached - distances[column]
            self._column_prices[column] -= change
            row = self._row_of_column[column]
            if row is not None:
                self._row_prices[row] += change

    def _exchange(self, new_row: int, last: int | None, before: OptionalPlaces) -> None:
        """Move each row on the path by one column, from the free one back."""
        column = last
        while column is not None:
            previous = before[column]
            row: int | None = new_row
            if previous is not None:
                row = self._row_of_column[previous]
            self._row_of_column[column] = row
            column = previous

    def pairs(self) -> list[Pair]:
        """Return the pairs, by row."""
        pairs: list[Pair] = []
        for column, row in enumerate(self._row_of_column):
            if row is not None:
                pairs.append(Pair(row, column))
        return sorted(pairs)
