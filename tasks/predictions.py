"""Tables of predictions from anywhere: an id and a text a row, as CSV, TSV, JSON, JSON Lines, Parquet or Excel.

Ids and texts are text and stay as they stand: `007`, `NA`, `None` and `nan` too. A row whose text is null has no
prediction; an empty text is an empty answer. What the text says is read as the answers of a run are.
"""

import csv
import math
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reelbench.registry.data.loading import imported
from reelbench.registry.errors import InputError, first_line, first_of
from reelbench.registry.files import opened, read_json_or_jsonl, valid_text
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.tasks.submissions import (
    Inputs,
    Prediction,
    PredictionSet,
    Reference,
    UniqueIds,
    answered,
    hides,
    join,
    references_of,
    tagged,
)

IDS = ("id", "question_id", "qid", "key", "index")
"""Columns taken for the ids, in this order; VLMEvalKit's sheets have `index`. Case does not count."""

TEXTS = ("prediction", "pred", "response", "output", "model_answer", "generated_text", "text")
"""Columns taken for the texts, in this order. `answer` is not among them: many files have the reference there."""

_LONGEST_FIELD = 2**31 - 1

Cells = tuple[str, Any, Any]
"""Where a row stands, its id, and its text."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the ids and the texts, as the user names them; None: found by their usual names."""

    id: str | None = None
    text: str | None = None

    def __bool__(self) -> bool:
        return self.id is not None or self.text is not None


def read(spec: BenchmarkSpec, inputs: Inputs, columns: Columns) -> PredictionSet:
    """Read predictions and hold them against their references.

    The owners' format wins where a file is in it and no columns are named; anything else is a table of ids and texts.
    On a split whose answers are hidden a table is read all the same,
    for the file that the owners' server takes.

    Raises:
        InputError: The file can't be read, lacks a column or has an id twice, or none of its ids is among the
            references.
        DataUnavailableError: The references are not here.
    """
    joined = _read(spec, inputs, columns)
    return joined if inputs.tags is None else joined.with_tags(tagged(spec, joined.items, inputs.tags))


def _read(spec: BenchmarkSpec, inputs: Inputs, columns: Columns) -> PredictionSet:
    if reader := _READERS.get(inputs.predictions.suffix.lower()):
        return submission(spec, inputs, reader(inputs.predictions, columns))
    document = read_json_or_jsonl(inputs.predictions, partial(_unique_keys, inputs.predictions))
    formats = imported(spec.formats)
    if not columns and getattr(formats, "official", lambda _: True)(document):
        return formats.read(spec, inputs)
    try:
        cells = _of_json(inputs.predictions, document, columns)
    except InputError as error:
        if columns:
            raise
        return _read_by_owners(spec, inputs, str(error))
    return submission(spec, inputs, cells)


def _unique_keys(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise InputError(f"{path}: the key {key!r} is there twice in one object; keep one of them")
    return made


def _read_by_owners(spec: BenchmarkSpec, inputs: Inputs, why: str) -> PredictionSet:
    """Read a file in the owners' format; where it is not in it either, the error says both."""
    try:
        return imported(spec.formats).read(spec, inputs)
    except InputError as error:
        raise InputError(f"{error}; nor is it a table: {why.removeprefix(f'{inputs.predictions}: ')}") from None


def submission(spec: BenchmarkSpec, inputs: Inputs, cells: Iterable[Cells]) -> PredictionSet:
    """Hold a table's rows against their references; for the errors see `read`."""
    path = inputs.predictions
    texts = _by_id(cells)
    if not texts:
        raise InputError(f"{path}: no predictions in it; expected a row per question with an id and a text")
    formats = imported(spec.formats)
    read_references = getattr(formats, "read_references", _read_none)
    references, source, split = references_of(spec, inputs, read_references, hidden=True)
    options = defaultdict(tuple, {reference.id: reference.options for reference in references})
    predictions = {
        name: Prediction(None, reason=aggregation.PREDICTION_MISSING)
        if text is None
        else answered(spec, text, options[name])
        for name, text in texts.items()
    }
    joined = join(
        predictions,
        references,
        source,
        path=path,
        split=split,
        notes=_notes(spec, predictions.values(), options.values()),
        advice="; --id-column names the column of the ids",
    )
    return joined.with_hidden_answers() if inputs.references is None and hides(spec, split) else joined


def _read_none(path: Path) -> list[Reference]:
    raise InputError(f"{path}: this benchmark reads no references from a file; leave out --references")


def _notes(spec: BenchmarkSpec, predictions: Iterable[Prediction], options: Iterable[Sequence[str]]) -> list[str]:
    if spec.row_kind == "open":
        return []
    notes = []
    if spec.asks_choice and not any(any(some) for some in options):
        notes.append("the references list no options: letters are read, an option's own words can't be")
    read_as = [given.parsed for given in predictions if given.parsed is not None]
    if read_as and all("span" in parsed and parsed["span"] is None for parsed in read_as):
        notes.append("no text states a span of time: what needs one counts as wrong")
    return notes


def _by_id(cells: Iterable[Cells]) -> dict[str, str | None]:
    texts: dict[str, str | None] = {}
    ids = UniqueIds()
    for where, given, value in cells:
        name, text = _as_text(given, f"{where}: the id"), _as_text(value, f"{where}: the prediction")
        if not name:
            if text:
                raise InputError(f"{where}: the id is empty")
            continue  # what a spreadsheet leaves below its table
        ids.add(name, where)
        texts[name] = text
    return texts


def _as_text(value: Any, what: str) -> str | None:  # noqa: ANN401 - whatever a cell holds
    """Return a cell as text, None where it is null; a whole number as its digits, whatever type a file gave it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool | int | float):
        return str(value)
    raise InputError(f"{what} is a {type(value).__name__}, expected text")


# --- files ------------------------------------------------------------------------------------------------------------


def _keyed(path: Path, name: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    if isinstance(value, list):
        raise InputError(f"{path}: {name!r} holds a list, expected a text, or an object with one")
    return {"id": name, **value} if isinstance(value, dict) else {"id": name, "prediction": value}


def _of_json(path: Path, document: Any, columns: Columns) -> list[Cells]:  # noqa: ANN401 - any JSON value
    rows = document if isinstance(document, list) else [document]
    if isinstance(document, dict) and not {name.lower() for name in document} & {*IDS, (columns.id or "").lower()}:
        rows = [_keyed(path, name, value) for name, value in document.items()]
    names: dict[str, None] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(
                f"{path}: row {number} is a {type(row).__name__}, expected an object with an id and a text"
            )
        names.update(dict.fromkeys(row))
    name, text = chosen(path, list(names), columns) if rows else ("", "")
    return [(f"{path}: row {number}", row.get(name), row.get(text)) for number, row in enumerate(rows, start=1)]


def chosen(path: Path, names: Sequence[str], columns: Columns) -> tuple[str, str]:
    """Return the columns of the ids and the texts; InputError lists what is there and the option that names one."""
    return (
        _column(path, names, columns.id, IDS, "--id-column"),
        _column(path, names, columns.text, TEXTS, "--text-column"),
    )


def _column(path: Path, names: Sequence[str], named: str | None, known: Sequence[str], option: str) -> str:
    there = f"it has {first_of(names, 12)}" if names else "it has no columns"
    if named is not None:
        if named not in names:
            raise InputError(f"{path}: no column {named!r}; {there}")
        return named
    by_name = {name.strip().lower(): name for name in reversed(names)}
    column = next((by_name[name] for name in known if name in by_name), None)
    if column is None:
        what = "ids" if known is IDS else "predicted texts"
        raise InputError(f"{path}: no column of {what} ({', '.join(known)}); {there}; name it with {option}")
    return column


def _of_csv(path: Path, columns: Columns) -> Iterator[Cells]:
    """Read a CSV or TSV row by row: pandas drops what stands after a comma that nobody quoted, and says nothing."""
    csv.field_size_limit(_LONGEST_FIELD)
    with opened(path) as file:
        lines = (_decoded(line, path, number) for number, line in enumerate(file, start=1))
        table = csv.reader(lines, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        try:
            header = next(table, [])
            name, text = chosen(path, header, columns)
            at = header.index(name), header.index(text)
            for row in table:
                if row and len(row) != len(header):
                    raise InputError(
                        f"{path}, line {table.line_num}: {len(row)} fields where the header has {len(header)}; "
                        "put a text that holds commas, tabs or line ends into double quotes"
                    )
                if row:
                    yield f"{path}, line {table.line_num}", row[at[0]], row[at[1]]
        except csv.Error as error:
            raise InputError(f"{path}, line {table.line_num}: {error}; check its double quotes") from None


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}, line {number}: not UTF-8 text; save it as UTF-8") from None


def _of_parquet(path: Path, columns: Columns) -> Iterator[Cells]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with opened(path) as file:
        try:
            table = pq.ParquetFile(file)
            name, text = chosen(path, table.schema_arrow.names, columns)
            number = 0
            for batch in table.iter_batches(columns=[name, text]):  # never the whole file, nor its other columns
                for given, value in zip(batch[name].to_pylist(), batch[text].to_pylist(), strict=True):
                    number += 1
                    yield f"{path}: row {number}", given, value
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: not a Parquet file that can be read ({first_line(error)})") from None


def _of_excel(path: Path, columns: Columns) -> Iterator[Cells]:
    import pandas as pd

    with opened(path) as file:
        try:
            sheet = pd.read_excel(file, engine="openpyxl", dtype=object, keep_default_na=False, na_filter=False)
        except (zipfile.BadZipFile, ValueError, KeyError, OSError) as error:
            raise InputError(f"{path}: not an Excel workbook that can be read ({first_line(error)})") from None
    sheet.columns = [str(name) for name in sheet.columns]
    name, text = chosen(path, list(sheet.columns), columns)
    for number, (given, value) in enumerate(zip(sheet[name], sheet[text], strict=True), start=2):
        yield f"{path}, row {number}", given, value


_READERS: Mapping[str, Callable[[Path, Columns], Iterator[Cells]]] = {
    ".csv": _of_csv,
    ".tsv": _of_csv,
    ".parquet": _of_parquet,
    ".xlsx": _of_excel,
}

SUFFIXES = (*_READERS, ".json", ".jsonl")
"""Files that can hold predictions; one with another name is read as JSON or JSON Lines."""
