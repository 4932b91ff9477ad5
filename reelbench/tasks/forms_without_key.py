"""Rows that no key of a `benchmark.yaml` can read, each with a sentence that says so."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.values import is_array, is_object
from reelbench.data.row_cells import parse_literal

_LOOKED_AT = 200
_NEARLY_ALL = 0.9
_TURN_KEYS = ({"role", "content"}, {"from", "value"})
_OF_USERS = frozenset({"user", "human"})
_FEWEST_PLACES = 3

Cells = Mapping[str, Any]


def sentences(rows: Sequence[Cells], unused: frozenset[str]) -> Iterator[str]:
    """Yield a sentence for each column whose form no key can read.

    Args:
        rows: The rows.
        unused: Columns that the user leaves unused.
    """
    first_rows = rows[:_LOOKED_AT]
    names: dict[str, None] = {}
    for row in first_rows:
        names.update(dict.fromkeys(row))
    for name in names:
        if name in unused:
            continue
        values = [parse_literal(row[name]) for row in first_rows if row.get(name)]
        if values and _share(map(_is_conversation, values)) >= _NEARLY_ALL:
            yield _sentence_of_conversations(name, values)
        elif values and _share(map(_is_order, values)) >= _NEARLY_ALL:
            yield (
                f"{name!r} holds orders, such as {values[0]}: no key scores an order; as options "
                "(each order a text) it is a `choice`"
            )


def _share(truths: Iterator[bool]) -> float:
    found_truths = list(truths)
    return found_truths.count(True) / len(found_truths)


def _is_conversation(value: object) -> bool:
    """Return True for a list of turns, each with its speaker and its text."""
    if not is_array(value) or not value:
        return False
    return all(map(_is_turn, value))


def _is_turn(value: object) -> bool:
    if not is_object(value):
        return False
    return any(keys <= value.keys() for keys in _TURN_KEYS)


def _sentence_of_conversations(name: str, values: Sequence[Any]) -> str:
    most_questions = max(map(_count_of_questions, values))
    if most_questions > 1:
        return (
            f"{name!r} holds conversations of up to {most_questions} questions: no key asks "
            "several turns, since one question has one answer; write a row for each question, with "
            "what was said before in its text"
        )
    return (
        f"{name!r} holds chat turns: no key parts them; write the user's text as the column "
        "`question` and the reply as `answer`"
    )


def _count_of_questions(turns: Sequence[Mapping[str, Any]]) -> int:
    speakers = [str(turn.get("role", turn.get("from"))).lower() for turn in turns]
    return sum(speaker in _OF_USERS for speaker in speakers)


def _is_order(value: object) -> bool:
    """Return True for the whole numbers from 0 or 1 up, each once."""
    if not is_array(value) or len(value) < _FEWEST_PLACES:
        return False
    numbers = [number for number in value if type(number) is int]
    if len(numbers) < len(value):
        return False
    first = min(numbers)
    return first in (0, 1) and sorted(numbers) == list(range(first, first + len(numbers)))
