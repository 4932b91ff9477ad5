"""JSON documents without the environment's secret values, as they are written.

Names of fields and the fixed values of our formats stay, whatever a password is: without them a
file could not be read again.
"""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from reelbench.base.credentials import HIDDEN, traces_of_all, traces_of_keys
from reelbench.base.secret_traces import SecretTraces
from reelbench.base.values import is_array, is_object

_DECLARATION = "declaration"
"""The field with the words of a benchmark's file, by which results are told to be of one."""


def clean_document(document: object) -> object:
    """Return a document without any secret value of the environment."""
    return _clean_value(document, traces_of_all())


def clean_row(row: object) -> object:
    """Return a row of answers or replies without the values that are made like keys.

    A password may be any word, and a model may say it.
    """
    return _clean_value(row, traces_of_keys())


def _clean_value(value: Any, traces: SecretTraces) -> Any:  # noqa: ANN401 - any JSON value
    if is_object(value):
        result: dict[str, Any] = {}
        for name, part in value.items():
            traces_of_part = traces
            if name == _DECLARATION:
                traces_of_part = traces_of_keys()
            result[name] = _clean_value(part, traces_of_part)
        return result
    if is_array(value):
        return [_clean_value(part, traces) for part in value]
    if isinstance(value, str):
        return _clean_text(value, traces)
    return value


def _clean_text(text: str, traces: SecretTraces) -> str:
    clean_text = traces.masked(text, HIDDEN)
    if clean_text != text and text in _format_words():
        return text
    return clean_text


def _format_words() -> set[str]:
    """Return the fixed values of all records."""
    words: set[str] = set()
    for record in _record_types(BaseModel):
        for field in record.model_fields.values():
            words.update(_literal_texts(field.annotation))
    return words


def _record_types(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for record in base.__subclasses__():
        yield record
        yield from _record_types(record)


def _literal_texts(annotation: object) -> Iterator[str]:
    """Yield the texts of each `Literal` in a type."""
    for part in get_args(annotation):
        if get_origin(annotation) is Literal:
            if isinstance(part, str):
                yield part
        else:
            yield from _literal_texts(part)
