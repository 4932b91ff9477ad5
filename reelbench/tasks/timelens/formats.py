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


class _Name(NamedTuple):
    """An entry's name: a video's file, a query, and the right span as JSON."""

    video: str
    query: str
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
    ids_by_query = _ids_by_query(questions.references())
    predictions: dict[str, submissions.Prediction] = {}
    places = UniqueIds()
    for part in _objects_of_document(document):
        for name, entry in part.items():
            where = f"{path}: {name!r}"
            if not is_object(entry) or entry.keys().isdisjoint(("timestamps", "answers")):
                raise InputError(f"{where} is {describe(entry)}, expected {EXPECTED}")
            key = _id_of(name, ids_by_query)
            places.add(key, where)
            predictions[key] = _prediction_in_entry(questions, entry, where)
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
        flags = () if parsed["span"] else ("parse_failed",)
        fields = {name: entry[name] for name in ("timestamps", "answers") if name in entry}
        return submissions.Prediction(fields, parsed, flags)
    text = entry.get("answers")
    if not isinstance(text, str):
        raise InputError(f"{where}: answers is {describe(text)}, expected the answer's text")
    return submissions.answered(questions.spec, text)


def _first_pair(timestamps: object) -> list[float] | None:
    """Return the first pair of a list of pairs, or None."""
    if not is_array(timestamps) or not timestamps:
        return None
    pair: object = timestamps
    if is_array(timestamps[0]):
        pair = timestamps[0]
    if not is_array(pair) or len(pair) < _PAIR or not all(map(is_number, pair[:_PAIR])):
        return None
    return [float(pair[0]), float(pair[1])]


def _ids_by_query(
    references: Sequence[submissions.Reference],
) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return the ids of the rows, and their right spans, by video and query."""
    ids: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for reference in references:
        key = (_file_name(reference.video), _plain_query(reference.question))
        span = json.dumps(reference.target["spans"])
        ids.setdefault(key, []).append((reference.id, span))
    return ids


def _id_of(name: str, ids_by_query: Mapping[tuple[str, str], list[tuple[str, str]]]) -> str:
    """Return the id of the row that an entry's name means, or the name."""
    parts = _name_parts(name)
    ids = ids_by_query.get((_file_name(parts.video), _plain_query(parts.query)), [])
    if len(ids) == 1:
        return ids[0][0]
    for row_id, spans in ids:
        if parts.span in (spans, spans[1:-1]):  # of one span the owners write the pair alone
            return row_id
    return name


def _name_parts(name: str) -> _Name:
    video, _, rest = name.partition(_SEPARATOR)
    query, _, span = rest.rpartition(_SEPARATOR)
    return _Name(video, query, _plain_json(span))


def _plain_json(text: str) -> str:
    try:
        return json.dumps(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _plain_query(query: str) -> str:
    """Return a query without further blanks and full stops, as the owners' loader does."""
    return " ".join(query.split()).strip(".").strip()
