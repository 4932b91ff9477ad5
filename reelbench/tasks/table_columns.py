"""The columns of a table: their values, their usual names, and the options that they hold."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.tables import as_text
from reelbench.base.values import is_array, is_number, is_object
from reelbench.data import option_texts, row_cells, video_windows
from reelbench.registry.spec import AnswerFormat

Cells = Mapping[str, Any]
Column = str | tuple[str, ...]
Options = option_texts.Options
ValuesByColumn = dict[str, list[Any]]

SHARE = 0.98
"""Part of the rows in which a column must be what it is taken for: a few may be damaged."""

ANY_SHARE = 0.0

SENTENCE_WORDS = 4
"""Words from which on an answer is a sentence, which a judge reads."""

UNNAMED = 1000
"""Rank of a column that has none of the usual names."""

_WORDS: Mapping[str, Mapping[str, str]] = json.loads(
    Path(__file__).with_name("column_names.json").read_text(encoding="utf-8")
)
NAMES = {name: words.split() for name, words in _WORDS["columns"].items()}
"""Column of ours -> its usual names, the likeliest first. Case and signs don't count."""

LABELS = {name: frozenset(words.split()) for name, words in _WORDS["labels"].items()}
"""Use of a column -> the usual names, or words in a name, of those that have it."""

UNIT_WORDS = {unit: frozenset(words.split()) for unit, words in _WORDS["units"].items()}

_OPTION = re.compile(r"(.*?)[ _-]?(\d{1,2}|[A-Za-z])")
_OPTION_KEY = re.compile(
    r"(?:option|choice|answer|opt|ans)?[ _-]?(?:[A-Za-z]|\d{1,2})", re.IGNORECASE
)
_FIRST_ENDINGS = frozenset({"A", "0", "1"})
_SIGNS_OF_OPTIONS = ("|", ";", "\n")
_BEGINNINGS_OF_OPTIONS = frozenset({"[", "{", "(", "A", "a"})
_FEWEST_OPTIONS = 2
_FEWEST_BARE = 3
"""Columns `a`, `b` or `a1`, `a2` may be anything. Three of them are options."""

_PLAIN_STEMS = frozenset({"answer", "candidate", "choice", "opt", "option"})
OPTION_STEMS = _PLAIN_STEMS | {"", "a", "ans", "mc", "o"}
"""Beginnings of the names of columns that hold an option each (`a0`, `option_1`, `B`)."""

_MOST_WITHIN = 40
"""Names within an object. More of them are keys of its own, such as frames."""

_WITHIN = 100
_SAMPLE = 200
_SAMPLE_SHARE = 0.5


class TableColumns:
    """A table's rows, and what their columns hold. What takes long is found once."""

    def __init__(self, rows: Sequence[Cells], without: Iterable[str] = ()) -> None:
        """Read the columns of rows, apart from those to leave out."""
        self.rows = rows
        self.values = _values_by_column(rows)
        for name in without:
            self.values.pop(name, None)
        self._options: dict[Column, list[Options | None]] = {}

    def row_options(self, column: Column) -> list[Options | None]:
        """Return the options that a column, or several, hold in each row. None for none."""
        if column not in self._options:
            self._options[column] = [self._options_of_row(row, column) for row in self.rows]
        return self._options[column]

    def _options_of_row(self, row: Cells, column: Column) -> Options | None:
        try:
            if isinstance(column, str):
                value = row_cells.cell(row, column, "")
            else:
                value = [row_cells.cell(row, part, "") for part in column]
            if not _may_hold_options(value):
                return None
            return option_texts.read_options(value, "")
        except InputError:
            return None

    def are_options(self, column: Column, share: float = SHARE) -> bool:
        """Return True where a column, or several, hold options in a share of the rows."""
        options_of_rows = self.row_options(column)
        fewest_rows = share * len(options_of_rows)
        keys: list[str] = []
        texts: list[str] = []
        rows_with_options = 0
        for options in options_of_rows:
            if options is not None:
                rows_with_options += 1
                keys += options.keys
                texts += options.texts
        if not rows_with_options or rows_with_options < fewest_rows:
            return False
        if has_usual_name("options", str(column)):
            return True
        if not all(_OPTION_KEY.fullmatch(key) for key in keys):
            return False
        if not isinstance(column, str):
            return True
        if all(_is_number(text) for text in texts):
            return False
        values = self.values.get(column, ())
        return not all(_is_line(value) for value in values)

    @staticmethod
    def has_name_of_options(column: Column) -> bool:
        """Return True where a column, or several of an option each, have a usual name."""
        if isinstance(column, str):
            return has_usual_name("options", column)
        match = _OPTION.fullmatch(column[0])
        return match is not None and plain_name(match[1]) in OPTION_STEMS

    def option_groups(self, used: Iterable[str], share: float = SHARE) -> list[tuple[str, ...]]:
        """Return columns that hold an option each (`a0`, `a1`), the largest group first.

        They do so in a share of the rows at least. Columns in use belong to none.
        """
        columns_by_stem: dict[str, list[_NumberedColumn]] = {}
        for name in self.values:
            match = _OPTION.fullmatch(name)
            if match and name not in used:
                stem, ending = match.groups()
                column = _NumberedColumn(name, ending.upper())
                columns_by_stem.setdefault(stem, []).append(column)
        groups: list[tuple[str, ...]] = []
        for columns in columns_by_stem.values():
            names = _names_up_to_gap(columns)
            if len(names) >= _FEWEST_OPTIONS and self.are_options(names, share):
                groups.append(names)
        return sorted(groups, key=len, reverse=True)

    def columns_called_options(self, used: Iterable[str]) -> list[str]:
        """Return the columns that are called an option each, and hold something."""
        names_by_stem: dict[str, list[str]] = {}
        for name, values in self.values.items():
            match = _OPTION.fullmatch(name)
            if match and name not in used and values:
                stem = plain_name(match[1])
                names_by_stem.setdefault(stem, []).append(name)
        names: list[str] = []
        for stem, names_of_stem in names_by_stem.items():
            fewest = _FEWEST_BARE
            if stem in _PLAIN_STEMS:
                fewest = _FEWEST_OPTIONS
            if stem in OPTION_STEMS and len(names_of_stem) >= fewest:
                names += names_of_stem
        return names

    def matching_answer_formats(
        self, column: Column, answer: str, share: float = SHARE
    ) -> list[AnswerFormat]:
        """Return the forms in which a column's values name one of the options.

        A share of the rows with options must do so.
        """
        pairs: list[tuple[Options, str]] = []
        for row, options in zip(self.rows, self.row_options(column), strict=True):
            if options is None:
                continue
            try:
                cell = row_cells.cell(row, answer, "")
                text = as_text(cell, "")
            except InputError:
                return []
            pairs.append((options, text or ""))
        if not pairs or not _may_be_named(pairs, share):
            return []
        return option_texts.matching_answer_formats(pairs, share)


def _may_hold_options(value: object) -> bool:
    """Return False for a cell that plainly holds no options: most cells of most tables."""
    if isinstance(value, str):
        has_signs = any(sign in value for sign in _SIGNS_OF_OPTIONS)
        beginning = value.lstrip()[:1]
        return has_signs or beginning in _BEGINNINGS_OF_OPTIONS
    return is_array(value) or is_object(value)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _is_line(value: object) -> bool:
    """Return True for a text that spells no list, as a cell of CSV may."""
    if not isinstance(value, str):
        return False
    return not value.lstrip().startswith(("[", "{", "("))


def _may_be_named(pairs: Sequence[tuple[Options, str]], share: float) -> bool:
    """Return False where a sample of all rows names far too few options."""
    step = len(pairs) // _SAMPLE
    if step < _FEWEST_OPTIONS:
        return True
    sample = pairs[::step]
    forms = option_texts.matching_answer_formats(sample, share * _SAMPLE_SHARE)
    return bool(forms)


def _values_by_column(rows: Sequence[Cells]) -> ValuesByColumn:
    """Return each column's values that are not empty.

    What lies within an object is a column `object.name` too, and so is what lies one step deeper.
    """
    columns: ValuesByColumn = {}
    for row in rows:
        for name, value in row.items():
            values = columns.setdefault(name, [])
            if value is not None and value != "":
                values.append(value)
    for name in tuple(columns):
        columns_within = _columns_within(name, columns[name])
        columns |= columns_within
        for inner, values in columns_within.items():
            columns |= _columns_within(inner, values)
    return columns


def _columns_within(name: str, values: Iterable[Any]) -> ValuesByColumn:
    """Return the columns within a column's objects. None where their keys are no names."""
    parts_by_key: ValuesByColumn = {}
    for value in values:
        if is_object(value):
            for key, part in value.items():
                parts_by_key.setdefault(str(key), []).append(part)
    are_numbers = all(key.isdigit() for key in parts_by_key)
    if are_numbers or len(parts_by_key) > _MOST_WITHIN:
        return {}
    return {f"{name}.{key}": parts for key, parts in parts_by_key.items()}


class _NumberedColumn(NamedTuple):
    """A column whose name ends in a number or a capital letter."""

    name: str
    ending: str

    @property
    def order(self) -> tuple[int, str]:
        """The order in its group: 10 after 9."""
        return len(self.ending), self.ending

    @property
    def number(self) -> int:
        """The number that the ending stands for."""
        if self.ending.isdigit():
            return int(self.ending)
        return ord(self.ending)


def _names_up_to_gap(columns: Iterable[_NumberedColumn]) -> tuple[str, ...]:
    """Return the names of columns from A, 0 or 1 up to a gap.

    A column `n` is none of the options `A` and `B`, and `x` and `y` are none.
    """
    names: list[str] = []
    number_before = 0
    for column in sorted(columns, key=lambda column: column.order):
        if names:
            follows = column.number == number_before + 1
        else:
            follows = column.ending in _FIRST_ENDINGS
        if not follows:
            break
        names.append(column.name)
        number_before = column.number
    return tuple(names)


# --- names
# --------------------------------------------------------------------------------------------


def column_parts(column: Column) -> tuple[str, ...]:
    """Return the columns of one, or of several."""
    if isinstance(column, str):
        return (column,)
    return column


def plain_name(name: str) -> str:
    """Return a name's letters and digits, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def words_of_name(name: str) -> set[str]:
    """Return the words of a name (`videoPath`, `video_path`), in lower case."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]+", spaced.lower()))


def rank_of_name(name: str, column: str) -> int:
    """Return the rank of a column's name among the usual names for one of ours.

    0 is the likeliest, `UNNAMED` none of the usual ones.
    """
    outer, _, inner = column.rpartition(".")
    if inner.startswith("outer_"):
        outer, _, inner = inner.partition("_")
    rank = _rank_of_inner_name(name, inner)
    if outer and rank < UNNAMED:
        return rank + _WITHIN
    return rank


def _rank_of_inner_name(name: str, column: str) -> int:
    """Return the rank of a column's name, whatever it lies within."""
    usual_names = NAMES[name]
    plain = plain_name(column)
    if plain in usual_names:
        return usual_names.index(plain)
    if name not in {"start", "end"}:
        return UNNAMED
    lower = column.lower()
    if name not in re.split(r"[^a-z0-9]", lower):  # raw_start, start_clip
        return UNNAMED
    if "frame" in lower:
        return len(usual_names) + 1
    return len(usual_names)


def has_usual_name(name: str, column: str) -> bool:
    """Return True where a column has one of the usual names for one of ours."""
    return rank_of_name(name, column) < UNNAMED


def keys_named(cells: Mapping[Any, Any], name: str) -> set[str]:
    """Return the keys with a usual name for one of ours."""
    keys = map(str, cells)
    return {key for key in keys if has_usual_name(name, key)}


# --- what values look like
# --------------------------------------------------------------------------------------------


def flattened(values: Iterable[Any]) -> list[Any]:
    """Return values, with the parts of a list in place of it."""
    parts: list[Any] = []
    for value in values:
        if is_array(value):
            parts += value
        else:
            parts.append(value)
    return parts


def are_mostly(values: Sequence[Any], is_kind: Callable[[Any], bool], share: float = SHARE) -> bool:
    """Return True where a share of the values are of a kind."""
    most_unfit = len(values) - share * len(values)
    unfit = 0
    for value in values:
        if not is_kind(value):
            unfit += 1
            if unfit > most_unfit:
                return False
    return bool(values)


def is_text(value: object) -> bool:
    """Return True for a text."""
    return isinstance(value, str)


def is_text_or_number(value: object) -> bool:
    """Return True for a text or a number."""
    return isinstance(value, str) or is_number(value)


def are_windows(values: Iterable[Any]) -> bool:
    """Return True where all cells hold parts of a video."""
    try:
        return all(video_windows.read_windows(value, "") for value in values)
    except InputError:
        return False


def ends_in_options(value: object) -> bool:
    """Return True for a text that ends in its options."""
    if not isinstance(value, str):
        return False
    return option_texts.split_off_options(value) is not None


def ends_in_question(value: object) -> bool:
    """Return True for a text that ends in a question mark."""
    return str(value).strip().endswith(("?", "\uff1f"))
