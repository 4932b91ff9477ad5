"""Normalised rows: one documented schema per kind of benchmark, whatever shape the owners publish.

A row is a plain dict with the columns of its kind, one list of labels per facet, and the benchmark's own columns.
"""
# pyright: reportMissingTypeStubs=false

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from reelbench.registry.errors import InputError
from reelbench.registry.spec import BenchmarkSpec, Column, Facet
from reelbench.registry.values import is_array

if TYPE_CHECKING:
    from datasets import Features

_SPLIT = Column(name="split", dtype="string", description="The split that the row is from, as asked for.")
_COMMON = (
    Column(name="id", dtype="string", description="Question id, unique in the split."),
    Column(name="video", dtype="string", description="Media key: which video the question is about."),
    Column(name="question", dtype="string", description="The question as published."),
    Column(name="language", dtype="string", description="Language of the question, as a BCP-47 tag."),
)
_SPAN = Column(
    name="span",
    dtype="list<float64>",
    unit="s",
    description="Start and end of the part of the video that answers the question, and so on where there are several; "
    "empty if hidden.",
)
DURATION = Column(name="duration", dtype="float64", unit="s", description="Length of the video.")
FPS = Column(name="fps", dtype="float64", unit="1/s", description="Frames a second, in which spans are counted.")
_CHOICE = (
    Column(name="options", dtype="list<string>", description="The options in order, without letters."),
    Column(name="answer", dtype="string", description="Letter of the right option (A is the first); empty if hidden."),
)
KIND_COLUMNS: dict[str, tuple[Column, ...]] = {
    "open": (*_COMMON, Column(name="answer", dtype="string", description="Reference answer.")),
    "choice": (*_COMMON, *_CHOICE),
    "span": (*_COMMON, _SPAN),
    "grounded_choice": (*_COMMON, *_CHOICE, _SPAN),
}
"""Columns by `BenchmarkSpec.row_kind`."""

Row = dict[str, Any]

Timing = tuple[float | None, float | None]
"""Of a video, where its row says it: the length in seconds, and the frames a second that answers count in."""
UNTIMED: Timing = (None, None)


def timing(row: Row | None) -> Timing:
    """Return what a row says of its video's times; nothing without a row."""
    return (row.get("duration"), row.get(FPS.name)) if row else UNTIMED


def columns(spec: BenchmarkSpec) -> tuple[Column, ...]:
    """Return all columns of the benchmark's rows: its kind's, one per facet of the rows, and its own."""
    facets = (
        Column(name=facet.name, dtype="list<string>", description=facet.title) for facet in spec.facets if facet.in_rows
    )
    return (*KIND_COLUMNS[spec.row_kind], *facets, *spec.columns, _SPLIT)


def features(spec: BenchmarkSpec) -> "Features":
    """Return the columns as a `datasets.Features`."""
    from datasets import Features, List, Value

    kinds = {column.name: column.dtype for column in columns(spec)}
    return Features(
        {name: List(Value(kind[5:-1])) if kind.startswith("list<") else Value(kind) for name, kind in kinds.items()}
    )


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of a question's options, in their order

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "float64": (int, float), "int64": (int,)}


def _fits(value: object, dtype: str) -> bool:
    if dtype.startswith("list<"):
        return is_array(value) and all(_fits(part, dtype[5:-1]) for part in value)
    return isinstance(value, _TYPES[dtype]) and not isinstance(value, bool)


def checked(spec: BenchmarkSpec, split: str, rows: Iterable[Row], where: str) -> Iterator[Row]:
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
                raise InputError(f"{label}: {column.name} is {row[column.name]!r}, expected {column.dtype}")
        check_answer(label, row, row.get("options", ()))
        if row["id"] in seen:
            raise InputError(f"{label}: the id occurs twice; the file must have each question once")
        seen.add(row["id"])
        yield {**row, "split": split}
    if not seen:
        raise InputError(f"{where}: no rows; expected at least one question")


def check_answer(where: str, target: Mapping[str, Any], options: Sequence[str]) -> None:
    """Raise InputError where the right answer is not one of its options' letters."""
    answer, letters = target.get("answer"), LETTERS[: len(options)]
    if options and answer and answer not in list(letters):
        expected = ", ".join(letters)
        raise InputError(f"{where}: answer is {answer!r}, expected the letter of one of its options: {expected}")


STEP_COLUMNS = ("reasoning_steps", "reasoning")
"""Where a benchmark's rows have a person's steps to the answer: CURVE's column, and that of a declared file."""


def steps(row: Row) -> list[str]:
    """Return the steps by which a person got to a row's answer; none where the benchmark has none."""
    return [text for name in STEP_COLUMNS for text in row.get(name) or () if text]


RANGES: dict[str, tuple[tuple[float, str], ...]] = {
    "span length": ((5, "under 5 s"), (15, "5 to 15 s"), (30, "15 to 30 s"), (60, "30 to 60 s"), (inf, "60 s or more")),
    "span start": (
        *((10, "within 10 s"), (30, "after 10 to 30 s"), (60, "after 30 to 60 s"), (120, "after 60 to 120 s")),
        (inf, "after 120 s or more"),
    ),
}
"""What is measured of a right span, in seconds -> (below this, label), the ranges in order."""


SPAN_FACETS = tuple(
    Facet(name=name, title=title, labels=tuple(label for _, label in RANGES[made_of]), in_rows=False, made_of=made_of)
    for made_of, name, title in (
        ("span length", "span_length", "Length of the right span."),
        ("span start", "lead", "How far into the video the right span begins."),
    )
)
"""The facets of a benchmark with right spans: how long one is, and how far into the video it begins."""


def facets(spec: BenchmarkSpec, row: Row) -> dict[str, list[str]]:
    """Return the row's labels by facet."""
    labels = {facet.name: list(row[facet.name]) for facet in spec.facets if facet.in_rows and facet.name in row}
    for facet in spec.facets:
        if facet.made_of in RANGES and (ends := row.get("span")):
            spans = [ends[at : at + 2] for at in range(0, len(ends), 2)]
            seconds = spans[0][0] if facet.made_of == "span start" else sum(end - start for start, end in spans)
            labels[facet.name] = [next(label for below, label in RANGES[facet.made_of] if seconds < below)]
        elif facet.made_of and (value := row.get(facet.made_of)):
            labels[facet.name] = [value] if isinstance(value, str) else list(value)
    return labels


def target(spec: BenchmarkSpec, row: Row) -> dict[str, Any]:
    """Return the row's reference as scorers take it: `text`, or `answer` and `spans`."""
    if spec.row_kind == "open":
        return {"text": row["answer"]}
    chosen = {"answer": row["answer"]} if spec.asks_choice else {}
    if not spec.asks_span:
        return chosen
    ends = row["span"]
    return {**chosen, "spans": [list(ends[at : at + 2]) for at in range(0, len(ends), 2)]}
