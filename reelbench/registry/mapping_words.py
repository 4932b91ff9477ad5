"""Words of a mapping of columns that its declaration and the reader of rows share."""

import re

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
"""A column's name in a template."""

ROW_NUMBER = "row"
"""In a template, the number of the row in its file, where no column has this name."""

ANSWERS = {"answer", "span", "start", "end"}
"""Columns of right answers, which rows whose answers are hidden need not have."""


_WORDS_OF_COLUMN = re.compile(r"\{(always|column):\s*([^,{}]+)[^{}]*\}")


def is_mapping_of_words(text: str) -> bool:
    """Return True for `{always: TEXT}` and `{column: NAME, WORD: OURS}`, and for no template."""
    return _WORDS_OF_COLUMN.fullmatch(text) is not None


def columns_named(text: str) -> list[str]:
    """Return the columns that a value of `columns` is about."""
    mapping = _WORDS_OF_COLUMN.fullmatch(text)
    if mapping is None:
        return PLACEHOLDER.findall(text) or [text]
    return [mapping[2].strip()] if mapping[1] == "column" else []


def is_number_text(text: str) -> bool:
    """Return True for a text that is a number, and no column's name."""
    return re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text) is not None


def normalised_word(text: str) -> str:
    """Return a word as words of keys are compared: `True` is `true`."""
    text = text.strip()
    lower_text = text.lower()
    return lower_text if lower_text in {"true", "false"} else text
