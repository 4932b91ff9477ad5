"""TimeLens-Bench's result files.

They are an object of `VIDEO>>>QUERY>>>SPAN` -> `{"timestamps": [[start, end]], "answers": text}`,
or JSON Lines of such objects; either field may be missing. Where there are timestamps the owners'
script compares their first pair, else the first that it finds in the text (README of
TencentARC/TimeLens at 5d2110f). The right span in the name tells queries apart that a video has
twice.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.temporary_tables import UniqueIds
from reelbench.base.values import describe, is_array, is_number, is_object
from reelbench.tasks import submissions

EXPECTED = '"timestamps" ([[start, end]]), "answers" (a text), or both'
_SEPARATOR = ">>>"
_PAIR = 2


class _Query(NamedTuple):
    """A query about a video, in the form in which two of them are compared."""

    video: str
    text: str

    @classmethod
    def plain(cls, video: str, text: str) -> "_Query":
        """Return a query with its video's file name alone, as the owners' loader has it."""
        file_name = video.replace("\\", "/").rpartition("/")[2]
        plain_text = " ".join(text.split()).strip(".").strip()
        return cls(file_name, plain_text)


class _QueryRow(NamedTuple):
    """A row with a query, and its right spans as JSON."""

    id: str
    spans: str


_RowsByQuery = dict[_Query, list[_QueryRow]]


class _Name(NamedTuple):
    """An entry's name: a query, and the right span as JSON."""

    query: _Query
    span: str


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return True where a document is meant to be in this format."""
    for part in _objects_of_document(document):
        for name in part:
            return _SEPARATOR in name
    return False


def read(
    questions: submissions.Questions,
    path: Path,
    document: Any,  # noqa: ANN401 - any JSON value
) -> dict[str, submissions.Prediction]:
    """Read predictions by id. InputError where one is wrong or occurs twice.

    One whose query no row has goes by its name in the file.
    """
    rows_by_query = _rows_by_query(questions.references())
    predictions: dict[str, submissions.Prediction] = {}
    places = UniqueIds()
    for part in _objects_of_document(document):
        for name, entry in part.items():
            where = f"{path}: {name!r}"
            if not is_object(entry) or entry.keys().isdisjoint(("timestamps", "answers")):
                raise InputError(f"{where} is {describe(entry)}, expected {EXPECTED}")
            row_id = _row_id_or_name(name, rows_by_query)
            places.add(row_id, where)
            predictions[row_id] = _prediction_in_entry(questions, entry, where)
    return predictions


def reread(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading of a recorded entry: its first pair of timestamps, or None."""
    return {"span": _first_pair(entry.get("timestamps"))}


def _objects_of_document(document: object) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a document: itself, or the values of a list."""
    if is_array(document):
        yield from filter(is_object, document)
    elif is_object(document):
        yield document


def _prediction_in_entry(
    questions: submissions.Questions, entry: Mapping[str, Any], where: str
) -> submissions.Prediction:
    """Return the prediction in an entry, by its timestamps where it has any."""
    if entry.get("timestamps") is not None:
        parsed = reread(entry)
        flags: tuple[str, ...] = ()
        if not parsed["span"]:
            flags = ("parse_failed",)
        fields = {name: entry[name] for name in ("timestamps", "answers") if name in entry}
        return submissions.Prediction(fields, parsed, flags)
    text = entry.get("answers")
    if not isinstance(text, str):
        raise InputError(f"{where}: answers is {describe(text)}, expected the answer's text")
    return submissions.parse_answer(questions.spec, text)


def _first_pair(timestamps: object) -> list[float] | None:
    """Return the first pair of a list of pairs, or None."""
    if not is_array(timestamps) or not timestamps:
        return None
    pair: object = timestamps
    if is_array(timestamps[0]):
        pair = timestamps[0]
    if not is_array(pair) or len(pair) < _PAIR:
        return None
    start, end, *_ = pair
    if not is_number(start) or not is_number(end):
        return None
    return [float(start), float(end)]


def _rows_by_query(references: Sequence[submissions.Reference]) -> _RowsByQuery:
    rows: _RowsByQuery = {}
    for reference in references:
        query = _Query.plain(reference.video, reference.question)
        spans = json.dumps(reference.target["spans"])
        rows.setdefault(query, []).append(_QueryRow(reference.id, spans))
    return rows


def _row_id_or_name(name: str, rows_by_query: _RowsByQuery) -> str:
    """Return the id of the row that an entry's name means, or the name."""
    parts = _name_parts(name)
    rows = rows_by_query.get(parts.query, [])
    if len(rows) == 1:
        return rows[0].id
    for row in rows:
        one_span = row.spans[1:-1]  # the owners write the pair alone
        if parts.span in (row.spans, one_span):
            return row.id
    return name


def _name_parts(name: str) -> _Name:
    video, _, rest = name.partition(_SEPARATOR)
    text, _, span = rest.rpartition(_SEPARATOR)
    query = _Query.plain(video, text)
    return _Name(query, _plain_json(span))


def _plain_json(text: str) -> str:
    try:
        return json.dumps(json.loads(text))
    except (ValueError, RecursionError):
        return text
