"""Rows of any table as a `benchmark.yaml` maps them: its columns, and how the right option is named.

What can't be read is an InputError with file, line and row; nothing is guessed where two readings differ.
"""

import ast
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from reelbench.registry import rows, tables
from reelbench.registry.errors import InputError, first_of
from reelbench.registry.rows import LETTERS
from reelbench.registry.spec import AnswerForm, BenchmarkSpec, RowMapping, SpanUnit
from reelbench.registry.tables import as_text
from reelbench.registry.values import is_array, is_number, is_object

ROW = "row"  # in a template, the number of the row in its file, where no column has this name

PLACE = re.compile(r"\{([^{}]+)\}")  # a column's name in a template

ANSWERS = {"answer", "span", "start", "end"}
"""Columns of right answers, which rows whose answers are hidden need not have."""

Cells = Mapping[str, Any]


def read(spec: BenchmarkSpec, paths: Sequence[Path], split: str) -> Iterator[rows.Row]:
    """Yield the rows of a benchmark that a file declares; the reader of all such benchmarks."""
    del split  # each has its own files
    for _, row in read_each(spec, paths):
        if isinstance(row, InputError):
            raise row
        yield row


def read_each(spec: BenchmarkSpec, paths: Sequence[Path]) -> Iterator[tuple[str, rows.Row | InputError]]:
    """Yield the place of each row with the row, or with its fault; InputError where no file can be read."""
    mapping = spec.mapping
    if mapping is None:
        raise InputError(f"{spec.id}: its own reader reads its rows")
    table = [entry for path in paths for entry in tables.read(path)]
    questions = [_Question(spec, mapping, where, number, cells) for number, (where, cells) in enumerate(table, start=1)]
    form = mapping.answer_is if spec.asks_choice else None
    if spec.asks_choice and form is None:
        # The form in which all answers can be read; where some can't be read in any way, the one for most.
        asked: list[tuple[Options, str]] = []
        for question in questions:
            with suppress(InputError):  # said when it is the row's turn
                asked.append(question.choice)
        forms = answer_forms(asked)
        if len(forms) > 1:
            raise InputError(
                f"{questions[0].where}: the answers can be read as {' or as '.join(forms)}, which differ; say which "
                "with answer_is"
            )
        form = (forms or answer_forms(asked, share=0) or ["letter"])[0]
    places: dict[str, str] = {}
    for question in questions:
        try:
            row = question.row(form)
        except InputError as error:
            yield question.where, error
            continue
        first = places.setdefault(row["id"], question.where)
        twice = f"{question.where}: the id {row['id']!r} occurs twice, first at {first}"
        yield question.where, row if first == question.where else InputError(twice)


class _Question:
    """One row as the mapping reads it."""

    def __init__(self, spec: BenchmarkSpec, mapping: RowMapping, where: str, number: int, cells: Cells) -> None:
        self.where = where
        self._spec = spec
        self._mapping = mapping
        self._cells = {ROW: number, **cells}
        self._told = bool(ANSWERS & mapping.columns.keys())

    @cached_property
    def choice(self) -> "tuple[Options, str]":
        """Its options, and the right one as the row names it; InputError where they can't be read."""
        answer = self._text("answer") if self._told else ""
        if self._mapping.options_in_question:
            where = f"{self.where}: {self._named('question')}"
            return parted(self._text("question"), where)[1], answer
        return read_options(self._value("options"), f"{self.where}: options"), answer

    def row(self, form: AnswerForm | None) -> rows.Row:
        """Return the row; `form` is how the right option is named."""
        row: rows.Row = {name: self._text(name) for name in ("id", "video", "question")}
        language = self._value("language") if "language" in self._mapping.columns else None
        row["language"] = as_text(language, self.where) if language else self._spec.languages[0]
        if self._mapping.options_in_question:
            row["question"] = parted(row["question"], f"{self.where}: question")[0]
        if form is not None:
            row |= {"options": list(self.choice[0].texts), "answer": self._letter(form) if self._told else ""}
        elif self._spec.row_kind == "open":
            row["answer"] = self._text("answer") if self._told else ""
        if self._spec.asks_span:
            row["span"] = self._span() if self._told else []
        for facet in self._spec.facets:
            if facet.in_rows:
                value = self._value(facet.name)
                separator = self._mapping.separators.get(facet.name)
                if separator is not None and isinstance(value, str):
                    value = [part.strip() for part in value.split(separator)]
                labels = [
                    as_text(part, f"{self.where}: {facet.name}") for part in (value if is_array(value) else [value])
                ]
                row[facet.name] = [label for label in labels if label]
        for column in self._spec.columns:
            row[column.name] = self._extra_value(column.name, column.dtype)
        return row

    def _letter(self, form: AnswerForm) -> str:
        options, answer = self.choice
        if (at := READINGS[form](options, answer)) is not None:
            return LETTERS[at]
        same = [text for text in options.texts if _plain(text) == _plain(answer)]
        listed = "; ".join(f"{key}: {text}" for key, text in zip(options.keys, options.texts, strict=True))
        what = f"is not one of its options ({listed}), read as {form}"
        if len(same) > 1:
            what = f"is {len(same)} of its options, which are alike"
        elif _SEVERAL.fullmatch(answer) and form == "letter":
            what = "names several options; no kind has several right ones: leave such rows out"
        raise InputError(f"{self.where}: the answer {answer!r} {what}")

    def _named(self, name: str) -> str:
        """Return a column of ours, with theirs where it is called otherwise."""
        source = self._mapping.columns.get(name, name)
        theirs = source if isinstance(source, str) else ", ".join(source)
        return name if theirs == name else f"{name} ({theirs})"

    def _value(self, name: str) -> Any:  # noqa: ANN401 - a cell, or a list of cells
        source = self._mapping.columns.get(name, name)
        if not isinstance(source, str):
            return [cell(self._cells, part, self.where) for part in source]
        if "{" not in source:
            return cell(self._cells, source, self.where)

        def text(place: re.Match[str]) -> str:
            text = as_text(cell(self._cells, place[1], self.where), f"{self.where}: {place[1]}")
            if text is None:
                raise InputError(f"{self.where}: {place[1]} is empty")
            return text

        return PLACE.sub(text, source)

    def _text(self, name: str) -> str:
        what = f"{self.where}: {self._named(name)}"
        text = as_text(self._value(name), what)
        if not text or not text.strip():
            raise InputError(f"{what} is empty")
        return text.strip() if name in {"id", "video"} else text

    def _span(self) -> list[float]:
        columns, unit, factor = self._mapping.columns, self._mapping.span_unit, 1.0
        if "span" in columns:
            value, where = self._value("span"), f"{self.where}: {self._named('span')}"
        else:
            value, where = [self._value("start"), self._value("end")], f"{self.where}: start and end"
        match unit:
            case "clock":
                if not _is_clock(value):
                    raise InputError(f"{where} is {value!r}, expected clocks such as 1:02 (span_unit: clock)")
            case "frames":
                fps = self._mapping.fps  # a number, or a column's name
                stated = fps if is_number_text(fps) else cell(self._cells, fps, self.where)
                rate = seconds(stated, f"{self.where}: fps")
                if rate <= 0:
                    raise InputError(f"{self.where}: fps is {rate:g}, expected frames a second")
                factor = 1 / rate
            case "ratio" | "percent":
                length = seconds(self._value("duration"), f"{self.where}: duration")
                factor = length / (100 if unit == "percent" else 1)
            case "milliseconds":
                factor = 0.001
            case "seconds":
                pass
        return [end * factor for end in read_windows(value, where, "seconds" if unit == "clock" else unit)]

    def _extra_value(self, name: str, dtype: str) -> Any:  # noqa: ANN401 - as the column's type says
        value = self._value(name)
        where = f"{self.where}: {self._named(name)}"
        if dtype == "float64":
            return seconds(value, where)
        if dtype == "list<string>":
            parts = _literal(value) if isinstance(value, str) else value
            parts = parts if is_array(parts) else [value]
            return [text for part in parts if (text := as_text(part, where))]
        return "\n".join(map(str, value)) if is_array(value) else as_text(value, where) or ""


def cell(cells: Cells, name: str, where: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return a row's value of a column, or within one (`annotation.question`); InputError where it has none."""
    if name in cells:
        return cells[name]
    bare = name.replace(" ", "_").casefold()
    if alike := [column for column in cells if column.replace(" ", "_").casefold() == bare]:
        return cells[alike[0]]
    value: Any = cells
    for part in name.split("."):
        if not is_object(value) or part not in value:
            names = [column for column in cells if column != ROW]
            raise InputError(f"{where}: has no column {name!r}; it has {first_of(names, 12)}")
        value = value[part]
    return value


def _literal(text: str) -> Any:  # noqa: ANN401 - any JSON or Python literal
    """Return the value that a text spells as JSON or as a Python literal; the text itself where it is neither."""
    if text.strip()[:1] not in {"[", "{", "("}:
        return text
    for reader in (json.loads, ast.literal_eval):
        try:
            return reader(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text


# --- spans ------------------------------------------------------------------------------------------------------------

_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{1,2}(?:\.\d+)?)")
_RANGE = re.compile(r"\s*([\d:.]+)\s*(?:-|–|,|to)\s*([\d:.]+)\s*")
_PAIR = 2
_BEFORE_START = 0.1


def seconds(value: Any, where: str) -> float:  # noqa: ANN401 - whatever a cell holds
    """Return a time in seconds: a number, a number as text, or a clock (`1:02:03.5`)."""
    if is_number(value):
        return float(value)
    if isinstance(value, str):
        if clock := _CLOCK.fullmatch(value.strip()):
            hours, minutes, rest = clock.groups()
            return 3600 * int(hours or 0) + 60 * int(minutes) + float(rest)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return number
    raise InputError(f"{where} is {value!r}, expected a time in seconds")


def _is_clock(value: Any) -> bool:  # noqa: ANN401 - whatever a cell holds
    """Return whether every time in a cell is a clock."""
    if is_array(value) or is_object(value):
        return all(map(_is_clock, value.values() if is_object(value) else value))
    return isinstance(value, str) and (":" in value or not any(char.isdigit() for char in value))


def is_number_text(text: str) -> bool:
    """Return whether a text is a number, and no column's name."""
    return re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text) is not None


def read_windows(value: Any, where: str, unit: SpanUnit = "seconds") -> list[float]:  # noqa: ANN401 - any cell
    """Return the ends of one or more parts of a video, in `unit`: a pair, pairs, either as JSON text, or `3-7`.

    A start of at most a tenth of a second before 0 is 0. InputError where it is something else, or a part ends before
    it starts.
    """
    parts = _literal(value) if isinstance(value, str) else value
    if isinstance(parts, str) and (range_ := _RANGE.fullmatch(parts)):
        parts = list(range_.groups())
    if is_object(parts):
        parts = list(parts.values())
    if not is_array(parts) or not parts:
        raise InputError(f"{where} is {value!r}, expected [start, end] in seconds, or a list of such")
    nested = all(is_array(part) or is_object(part) for part in parts)
    ends: list[float] = []
    for part in parts if nested else [parts]:
        pair = list(part.values()) if is_object(part) else list(part)
        if len(pair) != _PAIR:
            raise InputError(f"{where} is {value!r}, expected [start, end] in seconds, or a list of such")
        start, end = (seconds(number, where) for number in pair)
        if -_BEFORE_START <= start < 0:
            start = 0.0
        if start < 0:
            raise InputError(f"{where} is {value!r}, which begins before 0; expected [start, end] in {unit}")
        if start > end:
            raise InputError(f"{where} is {value!r}, which ends before it starts; expected [start, end] in {unit}")
        ends += [start, end]
    return ends


# --- options and answers ----------------------------------------------------------------------------------------------

_LABEL = re.compile(r"\s*(?:\(([A-Za-z])\)|([A-Za-z])\s*[.:)、])\s*(.+)", re.DOTALL)
_SEVERAL = re.compile(r"\s*[A-Za-z](?:\s*[,;/&+]?\s*[A-Z])+\s*")
_LETTER = re.compile(r"\s*(?:\(([A-Za-z])\)|([A-Za-z])\s*[.:)、]?)\s*")


@dataclass(frozen=True, slots=True)
class Options:
    """A question's options in their order: the texts without letters, and what names each, its key or its letter."""

    texts: tuple[str, ...]
    keys: tuple[str, ...]
    raw: tuple[str, ...]  # the texts as they stand


def read_options(value: Any, where: str) -> Options:  # noqa: ANN401 - whatever a cell holds
    """Return options from a list, a mapping of keys to texts, either as JSON or Python text, or a text of a line each.

    Letters in front of all of them (`A. …`, `(A) …`) are taken off. InputError where there are fewer than two.
    """
    parts = _literal(value) if isinstance(value, str) else value
    if isinstance(parts, str):
        parts = [line for line in parts.splitlines() if line.strip()]
    if is_object(parts):
        keys = tuple(map(str, parts))
        if all(len(key) == 1 and key.isalpha() for key in keys):
            keys = tuple(sorted(keys, key=str.upper))
        keyed = {str(key): text for key, text in parts.items()}  # a Python literal's keys may be numbers
        entries = [keyed[key] for key in keys]
    elif is_array(parts):
        entries, keys = list(parts), tuple(LETTERS[: len(parts)])
    else:
        raise InputError(f"{where} is a {type(value).__name__}, expected a list of options")
    texts = [as_text(entry, where) for entry in entries]
    while texts and not (texts[-1] or "").strip():  # a table has as many columns as its longest question needs
        texts.pop()
    if not all(text and text.strip() for text in texts):
        raise InputError(f"{where}: option {1 + [bool(text and text.strip()) for text in texts].index(False)} is empty")
    if not 2 <= len(texts) <= len(LETTERS):  # noqa: PLR2004
        raise InputError(f"{where} has {len(texts)} options, expected 2 to {len(LETTERS)}")
    raw = tuple(text.strip() for text in texts if text)
    labels = [_LABEL.fullmatch(text) for text in raw]
    labelled = [(match[1] or match[2]).upper() for match in labels if match]
    if labelled == list(LETTERS[: len(raw)]):
        return Options(tuple(match[3].strip() for match in labels if match), keys[: len(raw)], raw)
    return Options(raw, keys[: len(raw)], raw)


_OPTION_LINE = re.compile(
    r"^[ \t]*(?:(?:option|choice|sentence|caption|statement|description)[ \t]+)?"
    r"\(?([A-Za-z]|\d{1,2})[).:、]+[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def options_within(question: str) -> "tuple[str, Options] | None":
    """Return a question without the options that it ends in, a line each with its letter or number, and these."""
    lines = list(_OPTION_LINE.finditer(question))
    names = [match[1].upper() for match in lines]
    count = len(names)
    ordered = names in (list(LETTERS[:count]), [str(number) for number in range(1, count + 1)])
    if count < 2 or not ordered or not question[: lines[0].start()].strip():  # noqa: PLR2004
        return None
    texts = tuple(match[2].strip() for match in lines)
    between = [question[left.end() : right.start()] for left, right in pairwise(lines)]
    if any(text.strip() for text in (*between, question[lines[-1].end() :])):
        return None
    raw = tuple(match[0].strip() for match in lines)
    return question[: lines[0].start()].strip(), Options(texts, tuple(names), raw)


def parted(question: str, where: str) -> tuple[str, Options]:
    """As `options_within`; InputError where a question has none."""
    if (found := options_within(question)) is None:
        raise InputError(f"{where} ends in no options: expected a line each, `A. …` (options: {{in: question}})")
    return found


def _by_letter(options: Options, answer: str) -> int | None:
    if answer in options.keys:
        return options.keys.index(answer)
    if options.keys and not all(len(key) == 1 and key.isalpha() for key in options.keys):
        return None
    letter = _LETTER.fullmatch(answer) or _LABEL.fullmatch(answer)
    if letter is None:
        return None
    at = LETTERS.index((letter[1] or letter[2]).upper())
    same = letter.re is _LETTER or _plain(answer) == _plain(options.raw[at] if at < len(options.raw) else "")
    return at if at < len(options.texts) and (same or _plain(letter[3]) == _plain(options.texts[at])) else None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _by_text(options: Options, answer: str) -> int | None:
    for texts in (options.texts, options.raw):
        if texts.count(answer.strip()) == 1:
            return texts.index(answer.strip())
    same = [at for at, text in enumerate(options.texts) if _plain(text) == _plain(answer)]
    return same[0] if len(same) == 1 else None


def _by_index(options: Options, answer: str, first: int) -> int | None:
    at = int(answer) - first if re.fullmatch(r"\d{1,3}", answer.strip()) else -1
    return at if 0 <= at < len(options.texts) else None


READINGS: Mapping[AnswerForm, Callable[[Options, str], int | None]] = {
    "letter": _by_letter,
    "text": _by_text,
    "index0": lambda options, answer: _by_index(options, answer, 0),
    "index1": lambda options, answer: _by_index(options, answer, 1),
}
"""How an answer is named -> the option that one means; None where it means none of them."""


def answer_forms(questions: Sequence[tuple[Options, str]], share: float = 1.0) -> list[AnswerForm]:
    """Return the ways in which most of the answers name one of their options; of those that mean the same, the first.

    None where that is less than a `share` of them.
    """
    read: dict[AnswerForm, tuple[int | None, ...]] = {
        form: tuple(reading(*question) for question in questions) for form, reading in READINGS.items()
    }
    named = {form: sum(place is not None for place in places) for form, places in read.items()}
    most = max(named.values())
    if not most or most < share * len(questions):
        return []
    meant: dict[tuple[int | None, ...], AnswerForm] = {}
    for form, places in read.items():
        if named[form] == most:
            meant.setdefault(places, form)
    return list(meant.values())
