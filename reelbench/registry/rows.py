"""Normalised rows: one documented schema per kind of benchmark, whatever shape the owners publish.

A row is a plain dict with the columns of its kind, one list of labels per facet, and the
benchmark's own columns.
"""
# pyright: reportMissingTypeStubs=false

import json
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base import tables
from reelbench.base.errors import InputError
from reelbench.base.files import read_json_or_jsonl
from reelbench.base.values import describe, is_array, is_id, is_number, is_object
from reelbench.registry.spec import BenchmarkSpec, Column

if TYPE_CHECKING:
    from datasets import Features

_DECLARED = json.loads(Path(__file__).with_name("row_columns.json").read_text("utf-8"))
_COLUMNS = {
    part: tuple(Column(**said) for said in columns)
    for part, columns in _DECLARED["columns"].items()
}
[_SPLIT] = _COLUMNS["split"]
KIND_COLUMNS: dict[str, tuple[Column, ...]] = {
    kind: tuple(column for part in parts for column in _COLUMNS[part])
    for kind, parts in _DECLARED["kinds"].items()
}
"""Columns by `BenchmarkSpec.row_kind`."""

OPTIONAL = {column.name: column for column in _COLUMNS["optional"]}
"""Columns that rows of any kind may have."""
DURATION, FPS, CLIP = OPTIONAL["duration"], OPTIONAL["fps"], OPTIONAL["clip"]
ASKED, GROUP = OPTIONAL["asked_for"], OPTIONAL["counts_with"]
ALSO, VIDEOS = OPTIONAL["also_right"], OPTIONAL["videos"]

Row = dict[str, Any]


def videos(row: Mapping[str, Any]) -> list[str]:
    """Return the media keys of all that a question is about: one, but where its row names several."""
    return row.get(VIDEOS.name) or [row["video"]]


Timing = tuple[float | None, float | None]
"""Of a video, where its row says it: the length in seconds, and the frames a second that answers count in."""
UNTIMED: Timing = (None, None)


def timing(row: Row | None) -> Timing:
    """Return the statements of a row on its video's times; none without a row."""
    return (row.get("duration"), row.get(FPS.name)) if row else UNTIMED


def columns(spec: BenchmarkSpec) -> tuple[Column, ...]:
    """Return all columns of the benchmark's rows: its kind's, one per facet of the rows, and its own."""
    facets = (
        Column(name=facet.name, dtype="list<string>", description=facet.title)
        for facet in spec.facets
        if facet.in_rows
    )
    return (*KIND_COLUMNS[spec.row_kind], *facets, *spec.columns, _SPLIT)


def features(spec: BenchmarkSpec) -> "Features":
    """Return the columns as a `datasets.Features`."""
    from datasets import Features, List, Value

    kinds = {column.name: column.dtype for column in columns(spec)}
    return Features(
        {
            name: List(Value(kind[5:-1])) if kind.startswith("list<") else Value(kind)
            for name, kind in kinds.items()
        }
    )


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of a question's options, in their order

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "float64": (int, float), "int64": (int,)}


def _fits(value: object, dtype: str) -> bool:
    if dtype.startswith("list<"):
        return is_array(value) and all(_fits(part, dtype[5:-1]) for part in value)
    return isinstance(value, _TYPES[dtype]) and not isinstance(value, bool)


def check_rows(spec: BenchmarkSpec, split: str, rows: Iterable[Row], where: str) -> Iterator[Row]:
    """Yield a reader's rows, each held to the schema and told its split; InputError names what is wrong and where."""
    wanted = [column for column in columns(spec) if column is not _SPLIT]
    names = {column.name for column in wanted}
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        label = f"{where}: row {number} (id {row.get('id')!r})"
        if row.keys() != names:
            raise InputError(f"{label} has the columns {sorted(row)}, expected {sorted(names)}")
        for column in wanted:
            if not _fits(row[column.name], column.dtype):
                raise InputError(
                    f"{label}: {column.name} is {row[column.name]!r}, expected {column.dtype}"
                )
        check_answer(label, row, row.get("options", ()), several=several_right(spec))
        if row["id"] in seen:
            raise InputError(f"{label}: the id occurs twice; the file must have each question once")
        seen.add(row["id"])
        yield {**row, "split": split}
    if not seen:
        raise InputError(f"{where}: no rows; expected at least one question")


def questions_of(
    path: Path, key: str, what: str, fits: Callable[[dict[str, Any]], object] = bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an owners' file's questions with their places, the `key` as text; InputError where one is not `what`."""
    seen: set[str] = set()
    for number, entry in enumerate(tables.entries(read_json_or_jsonl(path), key), start=1):
        at = f"{path}: entry {number}"
        if not is_object(entry) or not is_id(entry.get(key)) or not fits(entry):
            raise InputError(f"{at} is not {what}; found {describe(entry)}")
        name = str(entry[key])
        if name in seen:
            raise InputError(
                f"{at}: {key} {name!r} occurs twice; the file must have each question once"
            )
        seen.add(name)
        yield at, {**entry, key: name}


def text_of(entry: Mapping[str, Any], field: str, where: str, expected: str) -> str:
    """Return a text of an owners' file, or a number as text; InputError says what was expected and what is there."""
    value = entry.get(field)
    if is_number(value):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"{where} has no {field!r}; expected {expected}; found {', '.join(sorted(entry))}"
        )
    return value


def several_right(spec: BenchmarkSpec) -> bool:
    """Whether a question may have several right options, whose letters stand together (`AC`)."""
    return bool({"any_choice", "all_choices"} & set(spec.kinds))


def check_answer(
    where: str, target: Mapping[str, Any], options: Sequence[str], *, several: bool = False
) -> None:
    """Raise InputError where the right answer is not one of its options' letters, or `several` in their order."""
    answer, letters = target.get("answer"), LETTERS[: len(options)]
    if several and isinstance(answer, str) and sorted(set(answer) & set(letters)) == list(answer):
        return
    if options and answer and answer not in list(letters):
        expected = ", ".join(letters)
        raise InputError(
            f"{where}: answer is {answer!r}, expected the letter of one of its options: {expected}"
        )


STEP_COLUMNS = ("reasoning_steps", "reasoning")
"""Where a benchmark's rows have a person's steps to the answer: CURVE's column, and that of a declared file."""


def steps(row: Row) -> list[str]:
    """Return the steps by which a person got to a row's answer; none where the benchmark has none."""
    return [text for name in STEP_COLUMNS for text in row.get(name) or () if text]


RANGES: dict[str, list[float]] = _DECLARED["ranges"]
"""Of a right span, in seconds -> where its second and further ranges begin; a facet's labels name all of them."""


def facets(spec: BenchmarkSpec, row: Row) -> dict[str, list[str]]:
    """Return the row's labels by facet."""
    labels = {
        facet.name: list(row[facet.name])
        for facet in spec.facets
        if facet.in_rows and facet.name in row
    }
    if GROUP.name in row:
        labels[GROUP.name] = list(row[GROUP.name])
    for facet in spec.facets:
        if facet.made_of in RANGES and (ends := row.get("span")):
            spans = [ends[at : at + 2] for at in range(0, len(ends), 2)]
            seconds = (
                spans[0][0]
                if facet.made_of == "span start"
                else sum(end - start for start, end in spans)
            )
            at = bisect(RANGES[facet.made_of], seconds)
            labels[facet.name] = list((facet.labels or ())[at : at + 1])
        elif facet.made_of and (value := row.get(facet.made_of)):
            labels[facet.name] = [value] if isinstance(value, str) else list(value)
    return labels


def in_words(spec: BenchmarkSpec, row: Row) -> bool:
    """Whether a row's answer is a text, and no option or span."""
    return spec.row_kind == "open" or (spec.row_kind == "mixed" and not row["options"])


def target(spec: BenchmarkSpec, row: Row) -> dict[str, Any]:
    """Return the row's reference as scorers take it: `text`, or `answer` and `spans`."""
    if in_words(spec, row):
        also = list(row.get(ALSO.name, ()))
        return {"text": row["answer"]} | ({"also": also} if also else {})
    chosen = {"answer": row["answer"]} if spec.asks_choice or spec.row_kind == "mixed" else {}
    if not spec.asks_span:
        return chosen
    ends = row["span"]
    return {**chosen, "spans": [list(ends[at : at + 2]) for at in range(0, len(ends), 2)]}
