"""Read tables of predictions from anywhere: an id and a text a row.

They may be CSV, TSV, JSON, JSON Lines, Parquet or Excel. Ids and texts are text and stay as they
stand: `007`, `NA`, `None` and `nan` too. A row whose text is null has no prediction. An empty text
is an empty answer. Texts are read as the answers of a run are.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from reelbench.base import bounds, tables
from reelbench.base.errors import InputError, first_of
from reelbench.base.files import is_json_lines_file, json_lines, read_json_or_jsonl
from reelbench.base.lazy import import_object
from reelbench.base.tables import as_text
from reelbench.data import hub
from reelbench.registry.mapping_words import PLACEHOLDER
from reelbench.registry.records import SourceRecord
from reelbench.tasks.submissions import Prediction, PredictionSet, Questions, join
from reelbench.tasks.table_predictions import Cells, TablePredictions

IDS = ("id", "question_id", "qid", "key", "index")
"""Columns taken for the ids, in this order. Case does not count.

VLMEvalKit's sheets have `index`.
"""

TEXTS = (
    "prediction",
    "pred",
    "response",
    "output",
    "model_answer",
    "generated_text",
    "text",
    "predicted_answer",
    "predicted answer",
    "predicr answer",
)
"""Columns taken for the texts, in this order.

`answer` is not among them: many files have the reference there.
"""

_MISSPELT = {"predicr answer"}
"""Taken as Video-Holmes' evaluate.py spells it (TencentARC/Video-Holmes at 7745c87), never told."""

TableReader = Callable[[Path, tables.Choose], tables.Cells]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the ids and the texts, as the user names them.

    One that is None is found by its usual names. An id may be a template of columns
    (`{video}-{number}`).
    """

    id: str | None = None
    text: str | None = None
    owners_id: str | None = None
    """The owners' own column or template of ids: taken where no usual column is there."""

    def __bool__(self) -> bool:
        return self.id is not None or self.text is not None


class ChosenColumns(NamedTuple):
    """The columns of a table that hold ids and texts.

    `template` is the ids' form where several columns make one: `{video}-{number}`, with the table's
    own names.
    """

    ids: tuple[str, ...]
    text: str
    template: str = ""

    @property
    def all(self) -> list[str]:
        """The columns in the order in which `cells` takes their values."""
        return [*self.ids, self.text]

    def cells(self, where: str, values: Sequence[Any]) -> Cells:
        """Return a row's place, id and text.

        Raises:
            InputError: A column of the template is empty.
        """
        *id_cells, text = values
        if not self.template:
            return where, id_cells[0], text
        id_texts: dict[str, str] = {}
        for name, value in zip(self.ids, id_cells, strict=True):
            id_texts[name] = as_text(value, f"{where}: {name}") or ""
        if not any(id_texts.values()):
            return where, None, text
        for name, id_text in id_texts.items():
            if not id_text:
                raise InputError(f"{where}: {name} is empty, which the id is made of")
        item_id = PLACEHOLDER.sub(lambda place: id_texts[place[1]], self.template)
        return where, item_id, text


def read(
    questions: Questions,
    path: Path,
    columns: Columns,
    in_memory: Any = None,  # noqa: ANN401 - any JSON value
) -> PredictionSet:
    """Read predictions and join them with their references, as `read_any` does."""
    opened = read_any(questions, path, columns, in_memory)
    return opened.gathered() if isinstance(opened, TablePredictions) else opened


def read_any(
    questions: Questions,
    path: Path,
    columns: Columns,
    in_memory: Any = None,  # noqa: ANN401 - any JSON value
) -> PredictionSet | TablePredictions:
    """Read predictions, to be joined with their references.

    The owners' format wins where a file is in it and no columns are named. Anything else is a table
    of ids and texts. On a split whose answers are hidden a table is read all the same, for the file
    that the owners' server takes. Predictions in memory are a JSON value, which `path` names.

    Raises:
        InputError: The file can't be read, lacks a column or has an id twice, or none of its ids is
            among the references.
        DataUnavailableError: The references are not here.
    """
    spec = questions.spec
    if spec.mapping is not None:
        owners_id = spec.mapping.columns.get("id")
        if isinstance(owners_id, str):
            columns = replace(columns, owners_id=owners_id)
    if in_memory is not None:
        return _of_document(questions, path, in_memory, columns, is_file=False)
    suffix = path.suffix.lower()
    read_table = tables.READERS.get(suffix)
    if suffix == ".parquet":
        read_table = partial(tables.read_parquet, times=tables.ONE_BY_ONE)
    if read_table is not None:
        return TablePredictions(questions, path, _of_packed_table(path, read_table, columns))
    has_format = hasattr(import_object(spec.formats), "read")
    if (columns or not has_format) and is_json_lines_file(path):
        return TablePredictions(questions, path, _of_json_lines(path, columns))
    document = read_json_or_jsonl(path, unique=True)
    return _of_document(questions, path, document, columns, is_file=True)


def _of_document(
    questions: Questions,
    path: Path,
    document: Any,  # noqa: ANN401 - any JSON value
    columns: Columns,
    *,
    is_file: bool,
) -> PredictionSet | TablePredictions:
    """Read predictions in the owners' format, or as a table of ids and texts."""
    spec = questions.spec
    formats = import_object(spec.formats)
    has_format = hasattr(formats, "read")
    is_official = getattr(formats, "official", None)
    table_error: InputError | None = None
    if not has_format or columns or (is_official is not None and not is_official(document)):
        try:
            cells = _of_json(path, document, columns)
        except InputError as error:
            if columns or not has_format:
                raise
            table_error = error
        else:
            del document  # a large one goes as its rows are read
            return TablePredictions(questions, path, cells)
    try:
        prediction_set = _of_owners(questions, path, document, formats, is_file=is_file)
    except InputError as error:
        if table_error is None:
            raise
        # Where it is not in their format either, the error says both.
        why = str(error).removeprefix(f"{path}: ")
        raise InputError(f"{table_error}; nor is it the owners' format: {why}") from None
    if table_error is not None and is_official is not None:
        # It is not in their format, and only reads as if: one odd value must not turn the rest.
        raise table_error
    return prediction_set


def _of_owners(
    questions: Questions,
    path: Path,
    document: Any,  # noqa: ANN401 - any JSON value
    formats: Any,  # noqa: ANN401 - a module
    *,
    is_file: bool,
) -> PredictionSet:
    """Read predictions in the owners' format. The references may be in the same file."""
    own_references = getattr(formats, "own_references", None)
    if questions.file is None and own_references is not None and own_references(path, document):
        questions = replace(questions, file=path, document=document)
        if not is_file:
            digest = hashlib.sha256(json.dumps(document).encode()).hexdigest()
            fingerprint = f"{questions.spec.id}:{digest}"
            source = SourceRecord(kind="files", location=path.name, fingerprint=fingerprint)
            questions = replace(questions, stated=source)
    owners_predictions: dict[str, Prediction] = formats.read(questions, path, document)
    return join(questions, owners_predictions, questions.references(), path)


def of_table(questions: Questions, path: Path, cells: Iterable[Cells]) -> PredictionSet:
    """Join a table's rows with their references; for the errors see `read`."""
    return TablePredictions(questions, path, cells).gathered()


# --- files
# ------------------------------------------------------------------------------------------


def _of_packed_table(path: Path, read_table: TableReader, columns: Columns) -> Iterator[Cells]:
    """Yield the rows of a table whose header is read first."""
    chosen: list[ChosenColumns] = []

    def choose(names: list[str]) -> list[str]:
        chosen.append(choose_columns(path, names, columns))
        return chosen[0].all

    for where, values in read_table(path, choose):
        yield chosen[0].cells(where, values)


def _of_json_lines(path: Path, columns: Columns) -> Iterator[Cells]:
    """Yield the rows of JSON Lines.

    Where the first row's names don't settle the columns, all rows are read for theirs before.
    """
    names = dict.fromkeys(next(_objects(path), {}))
    if not _has_first_names(names, columns):
        for row in _objects(path):
            names.update(dict.fromkeys(row))
    if not names:
        return iter(())
    chosen = choose_columns(path, list(names), columns)
    return _cells_of_objects(path, _objects(path), chosen)


def _has_first_names(names: Iterable[str], columns: Columns) -> bool:
    """Return True where the names of further columns change nothing in the choice."""
    first_id = columns.id or IDS[0]
    first_text = columns.text or TEXTS[0]
    return first_id in names and first_text in names


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of JSON Lines. InputError where one is no object."""
    lines = json_lines(path, most=bounds.DATA_BYTES, unique=True)
    for number, (_, row) in enumerate(lines, start=1):
        if not isinstance(row, dict):
            raise _no_object(path, number, row)
        yield row


def _no_object(path: Path, number: int, row: object) -> InputError:
    """Return the error for a row that is no object."""
    return InputError(
        f"{path}: row {number} is a {type(row).__name__}, expected an object with an id and a text"
    )


def _of_json(path: Path, document: Any, columns: Columns) -> Iterator[Cells]:  # noqa: ANN401 - any JSON value
    rows = document if isinstance(document, list) else [document]
    if isinstance(document, dict):
        id_columns = {*IDS, (columns.id or "").lower()}
        if id_columns.isdisjoint(name.lower() for name in document):
            rows = _rows_by_id(path, document)
    names: dict[str, None] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise _no_object(path, number, row)
        names.update(dict.fromkeys(row))
    if not rows:
        return iter(())
    chosen = choose_columns(path, list(names), columns)
    return _cells_of_objects(path, rows, chosen)


def _cells_of_objects(
    path: Path, rows: Iterable[dict[str, Any]], chosen: ChosenColumns
) -> Iterator[Cells]:
    names = chosen.all
    for number, row in enumerate(rows, start=1):
        yield chosen.cells(f"{path}: row {number}", [row.get(name) for name in names])


def _rows_by_id(path: Path, document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object of texts, or of objects, by id."""
    rows: list[dict[str, Any]] = []
    for name, value in document.items():
        if isinstance(value, list):
            raise InputError(
                f"{path}: {name!r} holds a list, expected a text, or an object with one"
            )
        if isinstance(value, dict):
            rows.append({"id": name, **value})
        else:
            rows.append({"id": name, "prediction": value})
    return rows


def choose_columns(path: Path, names: Sequence[str], columns: Columns) -> ChosenColumns:
    """Return the columns of the ids and the texts.

    Raises:
        InputError: One is not there. The message lists the columns and the option that names one.
    """
    table = _Header(path, names)
    template = _id_template(names, columns)
    if template is not None:
        column_of_part: dict[str, str] = {}
        for part in PLACEHOLDER.findall(template):
            if part not in column_of_part:
                column_of_part[part] = table.part(part)
        template_of_columns = PLACEHOLDER.sub(
            lambda place: f"{{{column_of_part[place[1]]}}}", template
        )
        id_columns = tuple(dict.fromkeys(column_of_part.values()))
        return ChosenColumns(id_columns, table.text(columns.text), template_of_columns)
    usual_ids = IDS
    if columns.owners_id is not None:
        usual_ids = (*IDS, columns.owners_id.lower())
    id_column = table.column(columns.id, "ids", usual_ids, "--id-column")
    return ChosenColumns((id_column,), table.text(columns.text))


def _id_template(names: Sequence[str], columns: Columns) -> str | None:
    """Return the template of columns that makes a table's ids, or None.

    The user's own is taken as it is. The owners' where the table has all of its columns, and none
    that is usual for ids.
    """
    if columns.id is not None:
        is_template = columns.id not in names and PLACEHOLDER.search(columns.id) is not None
        return columns.id if is_template else None
    if columns.owners_id is None:
        return None
    parts = PLACEHOLDER.findall(columns.owners_id)
    plain_names = {_plain_name(name) for name in names}
    if (
        not parts
        or not plain_names.isdisjoint(IDS)
        or not plain_names.issuperset(map(_plain_name, parts))
    ):
        return None
    return columns.owners_id


def _plain_name(name: str) -> str:
    return name.strip().lower()


class _Header:
    """The names of a table's columns."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._path = path
        self._names = names
        self._by_plain_name = {_plain_name(name): name for name in reversed(names)}
        self._listed = f"it has {first_of(names, 12)}" if names else "it has no columns"

    def text(self, user_name: str | None) -> str:
        """Return the column of the texts."""
        return self.column(user_name, "predicted texts", TEXTS, "--text-column")

    def column(
        self, user_name: str | None, what: str, usual_names: Sequence[str], option: str
    ) -> str:
        """Return a column by the user's name for it, or by its usual names."""
        if user_name is not None:
            if user_name not in self._names:
                raise InputError(f"{self._path}: no column {user_name!r}; {self._listed}")
            return user_name
        for name in usual_names:
            if name in self._by_plain_name:
                return self._by_plain_name[name]
        told_names = ", ".join(name for name in usual_names if name not in _MISSPELT)
        raise InputError(
            f"{self._path}: no column of {what} ({told_names}); {self._listed}; name it with "
            f"{option}"
        )

    def part(self, name: str) -> str:
        """Return a column that a template of ids names."""
        if _plain_name(name) not in self._by_plain_name:
            raise InputError(
                f"{self._path}: no column {name!r}, which makes the ids; {self._listed}"
            )
        return self._by_plain_name[_plain_name(name)]


# --- in a data set on the Hugging Face Hub
# ----------------------------------------------------------------------------

SCHEME = "hf://"
_ADDRESS = re.compile(
    r"hf://datasets/(?P<repo>[^/@\s]+/[^/@\s]+)(?:@(?P<revision>[^/\s]+))?(?:/(?P<file>.+?))?/?"
)


class FetchedFile(NamedTuple):
    """A file fetched from a data set.

    `address` has the commit.
    """

    path: Path
    repo_id: str
    address: str


def fetch(address: str) -> FetchedFile:
    """Return the file of predictions at an address on the Hub.

    It is from the cache where it is there.

    The address is `hf://datasets/ORG/NAME[@REVISION][/FILE]`. Without a revision it is what `main`
    is now; without a file, the one in the data set that can hold predictions.

    Raises:
        InputError: That is no such address, or several files could be meant.
        DataUnavailableError: The data set can't be had.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise InputError(
            f"{address}: not an address of predictions; "
            "expected hf://datasets/ORG/NAME[@REVISION][/FILE]"
        )
    repo_id = match["repo"]
    listing = hub.list_files(repo_id, unquote(match["revision"] or "main"))
    name = match["file"] or _only_file(address, listing.files)
    path = hub.download(repo_id, name, revision=listing.commit)
    return FetchedFile(path, repo_id, f"hf://datasets/{repo_id}@{listing.commit}/{name}")


def _only_file(address: str, names: Iterable[str]) -> str:
    """Return the one file of a data set that can hold predictions; else InputError."""
    files = [name for name in sorted(names) if PurePosixPath(name).suffix in tables.SUFFIXES]
    if not files:
        raise InputError(
            f"{address}: no file that can hold predictions ({', '.join(tables.SUFFIXES)}) "
            "in this data set"
        )
    if len(files) > 1:
        raise InputError(
            f"{address}: {len(files)} files could be meant ({first_of(files)}); "
            "end the address with one"
        )
    return files[0]
