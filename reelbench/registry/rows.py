"""Normalised rows: one documented schema per kind of benchmark, whatever shape the owners publish.

A row is a plain dict with the columns of its kind, one list of labels per facet, and the
benchmark's own columns.
"""
# pyright: reportMissingTypeStubs=false

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base import tables
from reelbench.base.errors import InputError
from reelbench.base.files import read_json_or_jsonl
from reelbench.base.temporary_tables import IDS_PER_BATCH, IdWithLocation, UniqueIds
from reelbench.base.values import batches, describe, is_array, is_id, is_number, is_object
from reelbench.registry.row_columns import (
    ALSO,
    DURATION,
    FPS,
    GROUP,
    KIND_COLUMNS,
    OPTION_COUNT,
    RUBRIC,
    SPLIT,
    VIDEOS,
)
from reelbench.registry.spec import BenchmarkSpec, Column, Facet

if TYPE_CHECKING:
    from datasets import Features

Row = dict[str, Any]


def videos(row: Mapping[str, Any]) -> list[str]:
    """Return the media keys of the videos that a question is about."""
    return row.get(VIDEOS.name) or [row["video"]]


Timing = tuple[float | None, float | None]
"""A video's length in seconds, and the frames a second that answers count in, where known."""

UNTIMED: Timing = (None, None)


def timing(row: Row | None) -> Timing:
    """Return the times that a row states of its video. None without a row."""
    if not row:
        return UNTIMED
    return row.get(DURATION.name), row.get(FPS.name)


def columns(spec: BenchmarkSpec) -> tuple[Column, ...]:
    """Return all columns of the benchmark's rows: its kind's, its facets' and its own."""
    facet_columns: list[Column] = []
    for facet in spec.facets:
        if facet.in_rows:
            column = Column(
                name=facet.name,
                dtype="list<string>",
                description=facet.title,
            )
            facet_columns.append(column)
    return (
        *KIND_COLUMNS[spec.row_kind],
        *facet_columns,
        *spec.columns,
        SPLIT,
    )


def features(spec: BenchmarkSpec) -> "Features":
    """Return the columns as a `datasets.Features`."""
    from datasets import Features, List, Value

    features_by_name: dict[str, Any] = {}
    for column in columns(spec):
        element = _element_type(column.dtype)
        if element is None:
            features_by_name[column.name] = Value(column.dtype)
        else:
            features_by_name[column.name] = List(Value(element))
    return Features(features_by_name)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of a question's options, in their order

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "float64": (int, float), "int64": (int,)}


def _element_type(dtype: str) -> str | None:
    """Return the type of a list's elements. None for a type that is no list."""
    if not dtype.startswith("list<"):
        return None
    return dtype.removeprefix("list<").removesuffix(">")


def _is_of_type(value: object, dtype: str) -> bool:
    types = _TYPES.get(dtype)
    if types is not None:
        return isinstance(value, types) and not isinstance(value, bool)
    element = _element_type(dtype)
    if element is None or not is_array(value):
        return False
    return all(_is_of_type(part, element) for part in value)


def check_rows(spec: BenchmarkSpec, split: str, rows: Iterable[Row], where: str) -> Iterator[Row]:
    """Yield a reader's rows, each checked by the schema and with its split.

    Raises:
        InputError: A row is wrong. It is named.
    """
    labelled_rows = _checked_rows(spec, rows, where)
    if spec.mapping is None:  # ids of a mapping are told apart where they are read
        labelled_rows = _with_unique_ids(labelled_rows)
    has_rows = False
    for _, row in labelled_rows:
        has_rows = True
        yield {**row, "split": split}
    if not has_rows:
        raise InputError(f"{where}: no rows; expected at least one question")


_LabelledRow = tuple[str, Row]
"""What errors call a row, and the row."""


def _checked_rows(spec: BenchmarkSpec, rows: Iterable[Row], where: str) -> Iterator[_LabelledRow]:
    """Yield a reader's rows, each checked by the schema."""
    reader_columns = {column.name: column for column in columns(spec) if column is not SPLIT}
    several = allows_several_answers(spec)
    for number, row in enumerate(rows, start=1):
        label = f"{where}: row {number} (id {row.get('id')!r})"
        _check_row(label, row, reader_columns)
        options = row.get("options", ())
        check_answer(label, row, options, several=several)
        yield label, row


def _with_unique_ids(labelled_rows: Iterable[_LabelledRow]) -> Iterator[_LabelledRow]:
    """Yield rows. InputError where an id occurs twice."""
    seen_ids = UniqueIds()
    for batch in batches(labelled_rows, IDS_PER_BATCH):
        placed_ids = [IdWithLocation(row["id"], "", None) for _, row in batch]
        for place in seen_ids.first_locations(placed_ids):
            label, _ = batch[place]
            raise InputError(f"{label}: the id occurs twice; the file must have each question once")
        yield from batch


def _check_row(label: str, row: Row, reader_columns: Mapping[str, Column]) -> None:
    if row.keys() != reader_columns.keys():
        raise InputError(
            f"{label} has the columns {sorted(row)}, expected {sorted(reader_columns)}"
        )
    for name, column in reader_columns.items():
        value = row[name]
        if not _is_of_type(value, column.dtype):
            raise InputError(f"{label}: {name} is {value!r}, expected {column.dtype}")


def read_owners_questions(
    path: Path, key: str, what: str, fits: Callable[[dict[str, Any]], object] = bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an owners' file's questions after their places, the value of `key` as text.

    Args:
        path: The file.
        key: Name of the question's id.
        what: What an entry is, in words, for errors.
        fits: Returns a true value for an entry that is one.

    Raises:
        InputError: An entry is none, or its id occurs twice.
    """
    seen_ids: set[str] = set()
    entries = tables.rows_of_document(read_json_or_jsonl(path), key)
    for number, entry in enumerate(entries, start=1):
        place = f"{path}: entry {number}"
        has_id = is_object(entry) and is_id(entry.get(key))
        if not has_id or not fits(entry):
            raise InputError(f"{place} is not {what}; found {describe(entry)}")
        name = str(entry[key])
        if name in seen_ids:
            raise InputError(
                f"{place}: {key} {name!r} occurs twice; the file must have each question once"
            )
        seen_ids.add(name)
        yield place, {**entry, key: name}


def required_text_of(entry: Mapping[str, Any], field: str, where: str, expected: str) -> str:
    """Return a text of an owners' file, or a number as text.

    Raises:
        InputError: It is not there. The line says what was expected.
    """
    value = entry.get(field)
    if is_number(value):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    names = ", ".join(sorted(entry))
    raise InputError(f"{where} has no {field!r}; expected {expected}; found {names}")


def allows_several_answers(spec: BenchmarkSpec) -> bool:
    """Return True where a question may have several right options (`AC`)."""
    return "any_choice" in spec.kinds or "all_choices" in spec.kinds


def check_answer(
    where: str, target: Mapping[str, Any], options: Sequence[str], *, several: bool = False
) -> None:
    """Raise InputError where the right answer is not the letter of one of its options.

    With `several` it may be letters of several, in their order.
    """
    answer = target.get("answer")
    if not options or not answer:
        return
    letters = list(LETTERS[: len(options)])
    if several and isinstance(answer, str):
        right_letters = sorted(set(answer).intersection(letters))
        if right_letters == list(answer):
            return
    if answer not in letters:
        expected = ", ".join(letters)
        raise InputError(
            f"{where}: answer is {answer!r}, expected the letter of one of its options: {expected}"
        )


STEP_COLUMNS = ("reasoning_steps", "reasoning")
"""Columns with a person's steps to the answer: CURVE's, and that of a declared file."""


def steps(row: Row) -> list[str]:
    """Return the steps by which a person got to a row's answer."""
    texts: list[str] = []
    for name in STEP_COLUMNS:
        for text in row.get(name) or ():
            if text:
                texts.append(text)
    return texts


_SPAN_LENGTH = "span length"
_SPAN_START = "span start"
RANGES: dict[str, list[float]] = {
    _SPAN_LENGTH: [5, 15, 30, 60],
    _SPAN_START: [10, 30, 60, 120],
}
"""Property of a right span -> the seconds at which its second and further ranges begin.

A facet's labels name all ranges.
"""


def facets(spec: BenchmarkSpec, row: Row) -> dict[str, list[str]]:
    """Return the row's labels by facet."""
    labels: dict[str, list[str]] = {}
    for facet in spec.facets:
        if facet.in_rows and facet.name in row:
            labels[facet.name] = list(row[facet.name])
    if GROUP.name in row:
        labels[GROUP.name] = list(row[GROUP.name])
    for facet in spec.facets:
        labels_of_facet = _derived_labels(facet, row)
        if labels_of_facet is not None:
            labels[facet.name] = labels_of_facet
    return labels


def labels_from_span(spec: BenchmarkSpec, row: Row) -> dict[str, list[str]]:
    """Return the row's labels by facet, of the facets that its right span makes."""
    labels: dict[str, list[str]] = {}
    for facet in spec.facets:
        if facet.made_of in RANGES:
            labels[facet.name] = _derived_labels(facet, row) or []
    return labels


def _derived_labels(facet: Facet, row: Row) -> list[str] | None:
    """Return the labels that are made of another column. None where there are none."""
    if facet.made_of in RANGES:
        ends = row.get("span")
        if not ends:
            return None
        seconds = _seconds_of_property(facet.made_of, ends)
        index = bisect(RANGES[facet.made_of], seconds)
        labels = facet.labels or ()
        return list(labels[index : index + 1])
    if facet.made_of == OPTION_COUNT:
        return [str(len(row["options"]))]
    value = row.get(facet.made_of)
    if not value:
        return None
    if isinstance(value, str):
        return [value]
    return list(value)


def _seconds_of_property(property_of_span: str, ends: Sequence[float]) -> float:
    if property_of_span == _SPAN_START:
        return ends[0]
    return sum(end - start for start, end in _spans_of_ends(ends))


def _spans_of_ends(ends: Sequence[float]) -> list[list[float]]:
    """Return [start, end] of each span of a row's flat list."""
    return [list(ends[index : index + 2]) for index in range(0, len(ends), 2)]


def has_text_answer(spec: BenchmarkSpec, row: Row) -> bool:
    """Return True where a row's answer is a text, and no option or span."""
    if spec.row_kind == "mixed":
        return not row["options"]
    return spec.row_kind == "open"


def target(spec: BenchmarkSpec, row: Row) -> dict[str, Any]:
    """Return the row's reference as scorers take it: `text`, or `answer` and `spans`."""
    reference: dict[str, Any] = {}
    if has_text_answer(spec, row):
        reference["text"] = row["answer"]
        also_right = list(row.get(ALSO.name, ()))
        if also_right:
            reference["also"] = also_right
        if row.get(RUBRIC.name):
            reference[RUBRIC.name] = row[RUBRIC.name]
        return reference
    if spec.asks_choice or spec.row_kind == "mixed":
        reference["answer"] = row["answer"]
    if spec.asks_span:
        reference["spans"] = _spans_of_ends(row["span"])
    return reference
