"""The cells of a table's row: found by a column's name, and read as texts, lists or literals."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError, first_of
from reelbench.base.tables import as_text
from reelbench.base.values import is_array, is_object
from reelbench.registry.mapping_words import PLACEHOLDER, ROW_NUMBER

ROW = ROW_NUMBER
FILE = "file"
"""The column with the name of the row's file, without its ending, where none has that name."""

Cells = Mapping[str, Any]


def cell(cells: Cells, name: str, where: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return a row's value in a column, or within one (`annotation.question`).

    Raises:
        InputError: The row has no such column.
    """
    if name in cells:
        return cells[name]
    plain_name = _normalised_column(name)
    for column in cells:
        if _normalised_column(column) == plain_name:
            return cells[column]
    value: Any = cells
    for part in name.split("."):
        value = _nested_value(value, part)
        if value is _ABSENT:
            names = [column for column in cells if column not in (ROW, FILE)]
            raise InputError(f"{where}: has no column {name!r}; it has {first_of(names, 12)}")
    return value


def fill_template(cells: Cells, source: str, where: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return a row's value in a column, or the text of a template of columns.

    Raises:
        InputError: The row has no such column, or one of a template is null.
    """
    if "{" not in source:
        return cell(cells, source, where)

    def text_of(placeholder: re.Match[str]) -> str:
        column = placeholder[1]
        text = as_text(cell(cells, column, where), f"{where}: {column}")
        if text is None:
            raise InputError(f"{where}: {column} is empty")
        return text

    return PLACEHOLDER.sub(text_of, source)


def parse_template(text: str, template: str) -> dict[str, str] | None:
    """Return the named parts of a text. None where it has another form.

    A part begins behind the last place of the text before it: of `{film}_{place}` and `a_b_3` the
    place is 3.
    """
    first_text, *names_and_texts = PLACEHOLDER.split(template)
    names = names_and_texts[::2]
    texts_between = names_and_texts[1:-1:2]
    last_text = names_and_texts[-1]
    if not text.startswith(first_text) or not text.endswith(last_text):
        return None
    remainder = text.removeprefix(first_text).removesuffix(last_text)
    values: list[str] = []
    for text_between in reversed(texts_between):
        remainder, separator, value = remainder.rpartition(text_between)
        if not separator:
            return None
        values.append(value)
    values.append(remainder)
    return dict(zip(names, reversed(values), strict=True))


_ABSENT = object()


def _normalised_column(name: str) -> str:
    return name.replace(" ", "_").casefold()


def _nested_value(value: Any, key: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return an object's value of a key, or the list of several objects' values."""
    if not is_array(value) or not value:
        return _value_of_key(value, key)
    values = [_value_of_key(part, key) for part in value]
    if any(part is _ABSENT for part in values):
        return _ABSENT
    return values


def _value_of_key(value: Any, key: str) -> Any:  # noqa: ANN401 - any JSON value
    if is_object(value) and key in value:
        return value[key]
    return _ABSENT


def is_filled(value: Any) -> bool:  # noqa: ANN401 - a cell
    """Return False for a null, a number that is none, and a blank text."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value == value  # noqa: PLR0124 - a NaN is not itself


def as_list(value: Any) -> Sequence[Any]:  # noqa: ANN401 - a cell
    """Return a list as it is, any other value in a list."""
    return value if is_array(value) else [value]


def cell_texts(value: Any, what: str) -> list[str]:  # noqa: ANN401 - a cell
    """Return the texts of a cell that holds one or several, without the empty ones."""
    texts = [as_text(part, what) for part in as_list(value)]
    return [text for text in texts if text]


def parse_literal(text: Any) -> Any:  # noqa: ANN401 - a cell, and any JSON or Python literal
    """Return the value that a text spells as JSON or as a Python literal.

    A cell that is not such a text is returned as it is.
    """
    if not isinstance(text, str) or len(text) > bounds.TEXT:
        return text
    literal = text.strip()
    if literal[:1] not in {"[", "{", "("}:
        return text
    for reader in (json.loads, ast.literal_eval):
        # `{[]: 1}` is a TypeError of the second.
        with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return reader(literal)
    return text
