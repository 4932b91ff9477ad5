"""Tables of predictions from anywhere: an id and a text a row, as CSV, TSV, JSON, JSON Lines, Parquet or Excel.

Ids and texts are text and stay as they stand: `007`, `NA`, `None` and `nan` too. A row whose text
is null has no prediction; an empty text is an empty answer. What the text says is read as the
answers of a run are.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from reelbench.base import tables
from reelbench.base.errors import InputError, first_of
from reelbench.base.files import read_json_or_jsonl
from reelbench.base.lazy import import_object
from reelbench.base.tables import as_text
from reelbench.data import hub
from reelbench.registry.reasons import Reason
from reelbench.registry.rows import UNTIMED
from reelbench.tasks.submissions import (
    Prediction,
    PredictionSet,
    Questions,
    UniqueIds,
    all_answered,
    join,
)

IDS = ("id", "question_id", "qid", "key", "index")
"""Columns taken for the ids, in this order; VLMEvalKit's sheets have `index`. Case does not count."""

TEXTS = ("prediction", "pred", "response", "output", "model_answer", "generated_text", "text")
"""Columns taken for the texts, in this order. `answer` is not among them: many files have the reference there."""

Cells = tuple[str, Any, Any]
"""Where a row stands, its id, and its text."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the ids and the texts, as the user names them; None: found by their usual names."""

    id: str | None = None
    text: str | None = None
    owners_id: str | None = None
    """The owners' own column of ids: taken where none of the usual ones is there."""

    def __bool__(self) -> bool:
        return self.id is not None or self.text is not None


def read(questions: Questions, path: Path, columns: Columns) -> PredictionSet:
    """Read predictions and hold them against their references.

    The owners' format wins where a file is in it and no columns are named; anything else is a table
    of ids and texts. On a split whose answers are hidden a table is read all the same, for the file
    that the owners' server takes.

    InputError where the file can't be read, lacks a column or has an id twice, or none of its ids
    is among the references; DataUnavailableError where these are not here.
    """
    spec = questions.spec
    if spec.mapping is not None and isinstance(own := spec.mapping.columns.get("id"), str):
        columns = replace(columns, owners_id=own)
    if reader := tables.READERS.get(path.suffix.lower()):
        cells = (
            (where, *pair)
            for where, pair in reader(path, lambda names: choose_columns(path, names, columns))
        )
        return of_table(questions, path, cells)
    document = read_json_or_jsonl(path, unique=True)
    formats = import_object(spec.formats)
    owners, official = getattr(formats, "read", None), getattr(formats, "official", None)
    as_owners = owners is not None and not columns and (official is None or official(document))
    wrong: InputError | None = None
    try:
        cells = None if as_owners else _of_json(path, document, columns)
    except InputError as error:
        if columns or owners is None:
            raise
        cells, wrong = None, error
    if cells is not None:
        del document  # a large one goes as its rows are read
        return of_table(questions, path, cells)
    try:
        if (
            questions.file is None
            and hasattr(formats, "own_references")
            and formats.own_references(path, document)
        ):
            questions = replace(questions, file=path)
        given: dict[str, Prediction] = formats.read(questions, path, document)
        found = join(questions, given, questions.references(), path)
    except InputError as error:
        if wrong is None:
            raise
        # Where it is not in their format either, the error says both.
        raise InputError(
            f"{wrong}; nor is it the owners' format: {str(error).removeprefix(f'{path}: ')}"
        ) from None
    if wrong is not None and official is not None:
        raise wrong  # it is not in that format, and only reads as if: one odd value must not turn the rest
    return found


def of_table(questions: Questions, path: Path, cells: Iterable[Cells]) -> PredictionSet:
    """Hold a table's rows against their references; for the errors see `read`."""
    spec = questions.spec
    texts: dict[str, str | None] = {}
    ids = UniqueIds()
    for where, id_given, value in cells:
        name, text = (
            as_text(id_given, f"{where}: the id"),
            as_text(value, f"{where}: the prediction"),
        )
        if not name:
            if text:
                raise InputError(f"{where}: the id is empty")
            continue  # what a spreadsheet leaves below its table
        ids.add(name, where)
        texts[name] = text
    if not texts:
        raise InputError(
            f"{path}: no predictions in it; expected a row per question with an id and a text"
        )

    references = questions.references()
    known = {reference.id: reference for reference in references}
    given = {
        name: (text, known[name].options, known[name].timing)
        if name in known
        else (text, (), UNTIMED)
        for name, text in texts.items()
        if text is not None
    }
    predictions = dict.fromkeys(texts, Prediction(None, reason=Reason.PREDICTION_MISSING))
    predictions |= zip(given, all_answered(spec, list(given.values())), strict=True)
    notes: list[str] = []
    if spec.row_kind != "open":
        if spec.asks_choice and not any(any(reference.options) for reference in references):
            notes.append(
                "the references list no options: letters are read, an option's own words can't be"
            )
        read_as = [one.parsed for one in predictions.values() if one.parsed is not None]
        if read_as and all("span" in parsed and parsed["span"] is None for parsed in read_as):
            notes.append(
                "no answer contains a span of time; metrics that need one count these as wrong"
            )
    advice = (
        "; --id-column names the column of the ids, and --template writes a table of the right ones"
    )
    return join(questions, predictions, references, path, notes=notes, advice=advice)


# --- files
# ------------------------------------------------------------------------------------------------------------


def _of_json(path: Path, document: Any, columns: Columns) -> Iterator[Cells]:  # noqa: ANN401 - any JSON value
    rows = document if isinstance(document, list) else [document]
    if isinstance(document, dict) and not {name.lower() for name in document} & {
        *IDS,
        (columns.id or "").lower(),
    }:
        if held := next(
            (name for name, value in document.items() if isinstance(value, list)), None
        ):
            raise InputError(
                f"{path}: {held!r} holds a list, expected a text, or an object with one"
            )
        rows = [
            {"id": name, **value} if isinstance(value, dict) else {"id": name, "prediction": value}
            for name, value in document.items()
        ]
    names: dict[str, None] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(
                f"{path}: row {number} is a {type(row).__name__}, expected an object with an id and a text"
            )
        names.update(dict.fromkeys(row))
    name, text = choose_columns(path, list(names), columns) if rows else ("", "")
    return (
        (f"{path}: row {number}", row.get(name), row.get(text))
        for number, row in enumerate(rows, start=1)
    )


def choose_columns(path: Path, names: Sequence[str], columns: Columns) -> tuple[str, str]:
    """Return the columns of the ids and the texts; InputError lists what is there and the option that names one."""
    ids = IDS if columns.owners_id is None else (*IDS, columns.owners_id.lower())
    return (
        _column(path, names, columns.id, ids, "--id-column"),
        _column(path, names, columns.text, TEXTS, "--text-column"),
    )


def _column(
    path: Path, names: Sequence[str], named: str | None, known: Sequence[str], option: str
) -> str:
    there = f"it has {first_of(names, 12)}" if names else "it has no columns"
    if named is not None:
        if named not in names:
            raise InputError(f"{path}: no column {named!r}; {there}")
        return named
    by_name = {name.strip().lower(): name for name in reversed(names)}
    column = next((by_name[name] for name in known if name in by_name), None)
    if column is None:
        what = "predicted texts" if known is TEXTS else "ids"
        raise InputError(
            f"{path}: no column of {what} ({', '.join(known)}); {there}; name it with {option}"
        )
    return column


# --- in a data set on the Hugging Face Hub
# ----------------------------------------------------------------------------

SCHEME = "hf://"
_ADDRESS = re.compile(
    r"hf://datasets/(?P<repo>[^/@\s]+/[^/@\s]+)(?:@(?P<revision>[^/\s]+))?(?:/(?P<file>.+?))?/?"
)


def fetch(address: str) -> tuple[Path, str, str]:
    """Fetch the file of predictions that `hf://datasets/ORG/NAME[@REVISION][/FILE]` names, or find it in the cache.

    Without a revision it is what `main` is now; without a file, the one in the data set that can
    hold predictions. Return its path, the data set's id, and the address with its commit.
    InputError where that is no such address, or several files could be meant; DataUnavailableError
    where the data set can't be had.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise InputError(
            f"{address}: not an address of predictions; expected hf://datasets/ORG/NAME[@REVISION][/FILE]"
        )
    repo, name = match["repo"], match["file"]
    listing = hub.list_files(repo, unquote(match["revision"] or "main"))
    if name is None:
        files = [
            file for file in sorted(listing.files) if PurePosixPath(file).suffix in tables.SUFFIXES
        ]
        if not files:
            raise InputError(
                f"{address}: no file that can hold predictions ({', '.join(tables.SUFFIXES)}) in this data set"
            )
        if len(files) > 1:
            several = f"{len(files)} files could be meant ({first_of(files)})"
            raise InputError(f"{address}: {several}; end the address with one")
        [name] = files
    path = hub.download(repo, name, revision=listing.commit)
    return path, repo, f"hf://datasets/{repo}@{listing.commit}/{name}"
