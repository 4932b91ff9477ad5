"""Give each row what its model's rows state together: weights, licence, size, release.

A run that states nothing has what the model's other rows agree on. Where they contradict each
other, no row has it, and each says why.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reelbench.leaderboard.entries import BoardEntry

COLUMN = "model_facts"
"""The fact of a row that says what is not of its own run."""
_Facts = dict[str, Any]
"""Name of a fact -> its value, None where it isn't stated."""


def with_model_facts(rows: Sequence[BoardEntry], names: Mapping[str, str]) -> list[BoardEntry]:
    """Return the rows, each with what its model's rows state together.

    Args:
        rows: All rows of a board.
        names: A row's model -> the one name of all that are the same model.
    """
    rows_of_model: dict[str, list[BoardEntry]] = defaultdict(list)
    for row in rows:
        rows_of_model[names[row.model]].append(row)
    stated_values = {name: _stated_values(model_rows) for name, model_rows in rows_of_model.items()}
    return [_with_facts(row, stated_values[names[row.model]]) for row in rows]


def _facts_of(row: BoardEntry) -> _Facts:
    return {
        "weights": row.open_weights,
        "licence": row.about.licence,
        "parameters": row.about.parameters,
        "released": row.about.released,
    }


def _stated_values(rows: Sequence[BoardEntry]) -> dict[str, list[Any]]:
    """Return the different values that rows state of each fact, in their order."""
    values: dict[str, list[Any]] = defaultdict(list)
    seen: set[tuple[str, Any]] = set()
    for row in rows:
        for name, value in _facts_of(row).items():
            spelling = value.casefold() if isinstance(value, str) else value
            if value is not None and (name, spelling) not in seen:
                seen.add((name, spelling))
                values[name].append(value)
    values["released"] = _most_precise(values["released"])
    return values


def _most_precise(days: list[str]) -> list[str]:
    """Return the one day that says the most, else all.

    2025-09-23 says all that 2025-09 does.
    """
    for day in days:
        if all(day.startswith(coarser_day) for coarser_day in days):
            return [day]
    return days


def _with_facts(row: BoardEntry, stated_values: Mapping[str, Sequence[Any]]) -> BoardEntry:
    own_facts = _facts_of(row)
    facts = dict(own_facts)
    taken_names: list[str] = []
    contradictions: list[str] = []
    for name, own_value in own_facts.items():
        values = stated_values.get(name, ())
        if len(values) > 1:
            facts[name] = None
            words = " and ".join(_in_words(name, value) for value in values)
            contradictions.append(f"{name}: its rows state {words}")
        elif values and own_value is None:
            facts[name] = values[0]
            taken_names.append(name)
    remarks = list(contradictions)
    if taken_names:
        remarks.insert(0, f"{', '.join(taken_names)}: as the model’s other rows state")
    if not remarks:
        return row
    changes = {name: facts[name] for name in ("licence", "parameters", "released")}
    return replace(
        row,
        open_weights=facts["weights"],
        about=row.about.model_copy(update=changes),
        facts={**row.facts, COLUMN: "; ".join(remarks)},
    )


def _in_words(name: str, value: Any) -> str:  # noqa: ANN401 - as the facts are
    if name == "weights":
        return "open" if value else "closed"
    if name == "parameters":
        return f"{value / 1e9:g} B"
    return str(value)
