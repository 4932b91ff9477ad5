"""Rows of any table as a `benchmark.yaml` maps them: its columns, and how the right option is named.

What can't be read is an InputError with file, line and row; nothing is guessed where two readings
differ.
"""

import ast
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base import bounds, tables
from reelbench.base.errors import InputError, first_of
from reelbench.base.files import read_text
from reelbench.base.tables import as_text
from reelbench.base.values import is_array, is_number, is_object
from reelbench.registry import rows
from reelbench.registry.mapping_words import ANSWERS, PLACE, is_number_text
from reelbench.registry.row_columns import ASKED
from reelbench.registry.rows import LETTERS
from reelbench.registry.spec import AnswerForm, BenchmarkSpec, Join, RowMapping, SpanUnit

ROW = "row"  # in a template, the number of the row in its file, where no column has this name
OUTER = "outer"  # of nested rows, the number of the row that holds them
VALUE = "value"  # of nested JSON, the column of what `each` leads to where that is no mapping


Cells = Mapping[str, Any]


class Found(NamedTuple):
    """What was found at a place of a file: a row, or its fault; `moved` where its span began a little before 0."""

    where: str
    row: "rows.Row | InputError"
    moved: bool = False


def read(spec: BenchmarkSpec, paths: Sequence[Path], split: str) -> Iterator[rows.Row]:
    """Yield the rows of a benchmark that a file declares; the reader of all such benchmarks."""
    found = [each.row for each in read_each(spec, paths, split)]
    faults = [row for row in found if isinstance(row, InputError)]
    skips = spec.mapping is not None and spec.mapping.skip is not None
    if faults and (
        not skips or len(faults) == len(found)
    ):  # where none can be read there is something else wrong
        raise faults[0]
    yield from (row for row in found if not isinstance(row, InputError))


def read_each(spec: BenchmarkSpec, paths: Sequence[Path], split: str = "") -> Iterator[Found]:
    """Yield each row with its place, or its fault; InputError where no file can be read."""
    mapping = spec.mapping
    if mapping is None:
        raise InputError(f"{spec.id}: its own reader reads its rows")
    questions: list[tuple[str, _Question | InputError]] = []
    groups: dict[str, int] = {}
    for number, (where, cells) in enumerate(
        table(paths, mapping.each, mapping.line, mapping.join), start=1
    ):
        try:
            if isinstance(cells, InputError):
                raise cells
            question = _Question(
                spec, mapping, where, {ROW: number, **cells}, split=split, groups=groups
            )
            questions.append((where, question))
        except InputError as error:
            questions.append((where, error))
    choices = [
        question
        for _, question in questions
        if isinstance(question, _Question) and question.asks_choice
    ]
    form = mapping.answer_is
    if form is None and choices:
        # The form in which all answers can be read; where some can't be read in any way, the one
        # for most.
        asked: list[tuple[Options, str]] = []
        for question in choices:
            with suppress(InputError):  # said when it is the row's turn
                options, answers = question.choice
                asked += [(options, answer) for answer in answers]
        forms = answer_forms(asked)
        if len(forms) > 1:
            differ = f"the answers can be read as {' or as '.join(forms)}, which differ; say which with answer_is"
            raise InputError(f"{questions[0][0]}: {differ}")
        form = (forms or answer_forms(asked, share=0) or ["letter"])[0]
    places: dict[str, str] = {}
    for where, question in questions:
        try:
            if isinstance(question, InputError):
                raise question
            yield Found(where, question.row(form, places), question.moved)
        except InputError as error:
            yield Found(where, error)


class _Question:
    """One row as the mapping reads it."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        mapping: RowMapping,
        where: str,
        cells: Cells,
        *,
        split: str,
        groups: dict[str, int],
    ) -> None:
        """`groups` counts the rows of each group so far; InputError where its kind or its group can't be read."""
        self.where, self.moved = where, False
        self._spec, self._mapping, self._cells = spec, mapping, cells
        self._told = bool(ANSWERS & mapping.columns.keys())
        self._kind = spec.row_kind
        if spec.row_kind == "mixed":
            self._kind = self._value_or(mapping.kinds, mapping.kind_column, "kind", split)
        self.asks_choice = self._kind in {"choice", "grounded_choice"}
        self._group: list[str] = []
        """Its group, the rule, and its level: as the row's nested list places it, or in the order of rows."""
        if group := mapping.group:
            name = "|".join(as_text(cell(cells, part, where), part) or "" for part in group.by)
            stated = _literal(cell(cells, group.levels, where)) if group.levels else None
            rule = self._value_or(group.rules, group.column, "group.rule")
            at = groups[name] = groups.get(name, 0) + 1
            levels = stated if is_array(stated) else ()
            depths = [depth for depth, part in enumerate(levels, 1) for _ in _listed(part)]
            self._group = [name, rule, str(depths[at - 1] if at <= len(depths) else at)]

    @cached_property
    def choice(self) -> "tuple[Options, list[str]]":
        """Its options, and the right ones as the row names them; InputError where they can't be read."""
        answers = self._answers() if self._told else []
        if self._mapping.options_are:
            return read_options(self._mapping.options_are, ""), answers
        if self._mapping.options_in_question:
            return split_options(
                self._text("question"), f"{self.where}: {self._column_title('question')}"
            )[1], answers
        return read_options(
            self._value("options"), f"{self.where}: options", self._mapping.absent
        ), answers

    def _answers(self) -> list[str]:
        """Return the right answers as the row names them: one, unless the file says that there may be several."""
        if self._mapping.answers is None:
            return [self._text("answer")]
        value = _literal(self._value("answer"))
        if isinstance(value, str) and self.asks_choice and _SEVERAL.fullmatch(value):
            value = re.findall("[A-Za-z]", value)
        return self._some("answer", value)

    def _some(self, name: str, value: Any) -> list[str]:  # noqa: ANN401 - a cell
        """Return the texts of a column that must have one."""
        what = f"{self.where}: {self._column_title(name)}"
        if not (texts := _texts(value, what)):
            raise InputError(f"{what} is empty")
        return texts

    def _value_or(
        self, known: Mapping[str, str], column: str, key: str, otherwise: str = ""
    ) -> str:
        """Return what a column's value stands for, or `otherwise` where there is no column."""
        said = (
            (as_text(cell(self._cells, column, self.where), column) or "").strip()
            if column
            else otherwise
        )
        if said not in known:
            raise InputError(
                f"{self.where}: {column} is {said!r}, expected {', '.join(known)} ({key})"
            )
        return known[said]

    def row(self, form: AnswerForm | None, places: dict[str, str]) -> rows.Row:
        """Return the row; `form` is how the right option is named, `places` where each id stands so far."""
        row: rows.Row = {"id": self._text("id")}
        if "videos" in self._mapping.columns:
            row["videos"] = self._some("videos", _literal(self._value("videos")))
        row["video"] = self._text("video") if "video" in self._mapping.columns else row["videos"][0]
        row["question"] = self._text("question")
        if self._mapping.options_in_question:
            row["question"] = split_options(row["question"], f"{self.where}: question")[0]
        language = self._value("language") if "language" in self._mapping.columns else None
        row["language"] = as_text(language, self.where) if language else self._spec.languages[0]
        row |= self._answer_columns(form)
        if self._group:
            row[rows.GROUP.name] = self._group
        if self._spec.asks_span:
            row["span"] = self._span() if self._told else []
        for facet in self._spec.facets:
            if facet.in_rows and facet.name not in row:
                value, separator = self._value(facet.name), self._mapping.separators.get(facet.name)
                if separator is not None and isinstance(value, str):
                    value = [part.strip() for part in value.split(separator)]
                row[facet.name] = _texts(value, f"{self.where}: {facet.name}")
        for column in self._spec.columns:
            if column.name not in row:
                row[column.name] = self._extra_value(column.name, column.dtype)
        if (first := places.setdefault(row["id"], self.where)) != self.where:
            raise InputError(f"{self.where}: the id {row['id']!r} occurs twice, first at {first}")
        return row

    def _answer_columns(self, form: AnswerForm | None) -> rows.Row:
        """Return the columns of its options and right answers, as its kind has them."""
        mixed = self._spec.row_kind == "mixed"
        row: rows.Row = {ASKED.name: [self._kind], "options": []} if mixed else {}
        answers: list[str] = []
        if self.asks_choice and form is not None:
            options, named = self.choice
            letters = sorted({self._letter(form, options, answer) for answer in named})
            row |= {"options": list(options.texts), "answer": "".join(letters)}
        elif mixed or self._spec.row_kind == "open":
            answers = self._answers() if self._told else [""]
            row |= {"answer": answers[0]}
        if self._mapping.answers is not None and (mixed or self._spec.row_kind == "open"):
            row[rows.ALSO.name] = answers[1:]
        return row

    def _letter(self, form: AnswerForm, options: "Options", answer: str) -> str:
        if (at := place_of(answer, options, form)) is not None:
            return LETTERS[at]
        same = [text for text in options.texts if _plain(text) == _plain(answer)]
        listed = "; ".join(
            f"{key}: {text}" for key, text in zip(options.keys, options.texts, strict=True)
        )
        what = f"is not one of its options ({listed}), read as {form}"
        letters = {*re.findall(r"\w", answer.upper())} if _SEVERAL.fullmatch(answer) else set[str]()
        if len(same) > 1:
            what = f"is {len(same)} of its options, which are alike"
        elif form == "letter" and letters and letters <= {*options.keys}:
            what = "names several options: `answers: any`, or `all`, says that several may be right"
        raise InputError(f"{self.where}: the answer {answer!r} {what}")

    def _column_title(self, name: str) -> str:
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
        what = f"{self.where}: {self._column_title(name)}"
        text = as_text(self._value(name), what)
        if not text or not text.strip():
            raise InputError(f"{what} is empty")
        return text.strip() if name in {"id", "video"} else text

    def _span(self) -> list[float]:
        unit = self._mapping.span_unit
        factor = 0.001 if unit == "milliseconds" else 1.0
        if "span" in self._mapping.columns:
            value, where = self._value("span"), f"{self.where}: {self._column_title('span')}"
        else:
            value, where = (
                [self._value("start"), self._value("end")],
                f"{self.where}: start and end",
            )
        if unit == "frames":
            fps = self._mapping.fps  # a number, or a column's name
            stated = fps if is_number_text(fps) else cell(self._cells, fps, self.where)
            if (rate := seconds(stated, f"{self.where}: fps")) <= 0:
                raise InputError(f"{self.where}: fps is {rate:g}, expected frames a second")
            factor = 1 / rate
        elif unit in {"ratio", "percent"}:
            length = seconds(self._value("duration"), f"{self.where}: duration")
            factor = length / (100 if unit == "percent" else 1)
        ends = read_windows(value, where, unit)
        self.moved = min(ends) < 0
        return [max(0.0, end) * factor for end in ends]

    def _extra_value(self, name: str, dtype: str) -> Any:  # noqa: ANN401 - as the column's type says
        value, where = self._value(name), f"{self.where}: {self._column_title(name)}"
        if dtype == "float64":
            return seconds(value, where)
        if dtype == "list<float64>":
            return [max(0.0, end) for end in read_windows(value, where)[:2]]
        if dtype == "list<string>":
            parts = _literal(value)
            return _texts(parts if is_array(parts) else value, where)
        return "\n".join(map(str, value)) if is_array(value) else as_text(value, where) or ""


# --- from files to tables
# -------------------------------------------------------------------------------------------

Entry = tuple[str, Cells | InputError]
"""Where a row stands, and its cells, or why it has none."""


def table(
    paths: Sequence[Path], each: Sequence[str] = (), line: str = "", join: Join | None = None
) -> list[Entry]:
    """Read the rows of files as `each`, `line` and `join` say, of which the last file is the joined one."""
    join = join if len(paths) > 1 else None
    found = (
        entry for path in (paths[:-1] if join else paths) for entry in _table(path, each, line)
    )
    entries, cells = list[Entry](), 0
    for where, row in _join_columns(found, paths[-1], join) if join else found:
        if (each or join) and not isinstance(
            row, InputError
        ):  # what stands beside several rows is held in each
            cells += len(row)
            bounds.hold(f"{where}: cells of the rows so far", cells, tables.MOST_CELLS)
        entries.append((where, row))
    return entries


def _table(path: Path, each: Sequence[str] = (), line: str = "") -> Iterator[Entry]:
    """Read a file's rows: a table's, those that `each` leads to in nested JSON, or a text's lines parted by `line`."""
    if line:  # what stands between the fixed parts, each found at its first place
        first, *parts = PLACE.split(line)
        ends = (f"(?>(.*?){re.escape(after)})" if after else "(.*)" for after in parts[1::2])
        pattern = re.compile(re.escape(first) + "".join(ends))
        for at, text in enumerate(read_text(path).splitlines(), start=1):
            where = f"{path}, line {at}"
            if match := pattern.match(text):
                yield where, dict(zip(parts[::2], map(str.strip, match.groups()), strict=True))
            elif text.strip():
                yield where, InputError(f"{where}: is {text[:80]!r}, expected {line} (line)")
    elif not each:
        yield from tables.read(path)
    else:
        whole = path.suffix.lower() == ".json" and read_text(path).lstrip().startswith(
            "{"
        )  # none is outer
        for number, (where, cells) in enumerate(tables.read(path, nested=True), start=1):
            yield from _within(cells, each, {} if whole else {OUTER: number}, where)


def _within(value: Any, steps: Sequence[str], beside: Cells, where: str) -> Iterator[Entry]:  # noqa: ANN401 - any JSON
    """Yield the rows to which the steps lead, each with what stands beside them on the way."""
    value = _literal(value)
    if not steps:
        if is_array(value) and value and all(map(is_object, value)):
            for number, part in enumerate(value, start=1):
                yield f"{where}, {number}", {**beside, **part}
        else:
            yield where, {**beside, **(value if is_object(value) else {VALUE: value})}
        return
    step, rest = steps[0], steps[1:]
    place = PLACE.fullmatch(step)
    if place is None:
        names = [step] if is_object(value) and step in value else step.split("+")
        if not is_object(value) or not value.keys() >= set(names):
            there = f"; it has {first_of(list(value), 12)}" if is_object(value) else ""
            yield where, InputError(f"{where}: has no {step!r} (each){there}")
            return
        others = {name: part for name, part in value.items() if name not in names}
        try:  # of parallel lists each place is a row
            lists = zip(*(_listed(_literal(value[name])) for name in names), strict=True)
            under = (
                value[step]
                if len(names) == 1
                else [dict(zip(names, cells, strict=True)) for cells in lists]
            )
        except ValueError:
            yield (
                where,
                InputError(
                    f"{where}: the lists {', '.join(names)} are of different lengths (each: {step})"
                ),
            )
            return
        parts: list[tuple[str | int, Any]] = [(step, under)] if under or len(names) == 1 else []
        beside = {**beside, **others}
    elif is_array(value):
        parts = list(enumerate(value, start=1))
    elif is_object(value):
        nested = [entry for entry in value.items() if is_object(entry[1])]
        parts = [
            *(nested or [entry for entry in value.items() if is_array(entry[1])] or value.items())
        ]
        beside = {
            **beside,
            **{name: part for name, part in value.items() if name not in dict(parts)},
        }
    else:
        yield (
            where,
            InputError(
                f"{where}: is a {type(value).__name__}, expected a list or a mapping (each: {step})"
            ),
        )
        return
    for name, part in parts:
        yield from _within(
            part, rest, {**beside, **({place[1]: name} if place else {})}, f"{where}, {name}"
        )


def _join_columns(entries: Iterable[Entry], path: Path, join: Join) -> Iterator[Entry]:
    """Add a second file's columns to the rows that it names too; a row that it lacks is a fault."""

    def key(cells: Cells, where: str) -> tuple[str | None, ...]:
        return tuple(as_text(cell(cells, name, where), name) for name in join.by)

    by, others = ", ".join(join.by), dict[tuple[str | None, ...], Cells]()
    for where, cells in _table(path, join.each):
        if isinstance(cells, InputError):
            raise cells
        if (named := key(cells, where)) in others:
            raise InputError(
                f"{where}: {by} is {', '.join(map(str, named))} as in a row before (join)"
            )
        others[named] = cells
    for where, cells in entries:
        if not isinstance(cells, InputError):
            named = key(cells, where)
            lacks = InputError(
                f"{where}: {path.name} has no row with {by} {', '.join(map(str, named))} (join)"
            )
            cells = {**others[named], **cells} if named in others else lacks  # noqa: PLW2901
        yield where, cells


def cell(cells: Cells, name: str, where: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return a row's value of a column, or within one (`annotation.question`); InputError where it has none."""
    if name in cells:
        return cells[name]
    bare = name.replace(" ", "_").casefold()
    if alike := [column for column in cells if column.replace(" ", "_").casefold() == bare]:
        return cells[alike[0]]
    value: Any = cells
    for part in name.split("."):
        of_all: Sequence[Any] = (
            value if is_array(value) and value else [value]
        )  # of a list of objects a list
        if not all(is_object(each) and part in each for each in of_all):
            names = [column for column in cells if column != ROW]
            raise InputError(f"{where}: has no column {name!r}; it has {first_of(names, 12)}")
        values = [each[part] for each in of_all]
        value = values if is_array(value) else values[0]
    return value


def _listed(value: Any) -> Sequence[Any]:  # noqa: ANN401 - a cell
    return value if is_array(value) else [value]


def _texts(value: Any, what: str) -> list[str]:  # noqa: ANN401 - a cell
    """Return the texts of a cell that holds one or several, but for empty ones."""
    return [text for part in _listed(value) if (text := as_text(part, what))]


def _literal(text: Any) -> Any:  # noqa: ANN401 - a cell, and any JSON or Python literal
    """Return the value that a text spells as JSON or as a Python literal; the cell itself where it is neither."""
    if (
        not isinstance(text, str)
        or len(text) > bounds.TEXT
        or text.strip()[:1] not in {"[", "{", "("}
    ):
        return text
    for reader in (json.loads, ast.literal_eval):
        with suppress(
            ValueError, TypeError, SyntaxError, RecursionError, MemoryError
        ):  # of `{[]: 1}` the second
            return reader(text.strip())
    return text


# --- spans
# ------------------------------------------------------------------------------------------------------------

_CLOCK = re.compile(r"(?:(\d{1,9}):)?(\d{1,2}):(\d{1,2}(?:\.\d+)?)")
_RANGE = re.compile(r"\s*([\d:.]+)\s*(?:-|–|,|to)\s*([\d:.]+)\s*")
_PAIR = 2
_BEFORE_START = 0.5


def seconds(value: Any, where: str) -> float:  # noqa: ANN401 - whatever a cell holds
    """Return a time in seconds: a number, a number as text, or a clock (`1:02:03.5`)."""
    if is_number(value):
        return float(value)
    if isinstance(value, str):
        if clock := _CLOCK.fullmatch(value.strip()):
            hours, minutes, rest = clock.groups()
            return 3600 * int(hours or 0) + 60 * int(minutes) + float(rest)
        with suppress(ValueError):
            if math.isfinite(number := float(value)):
                return number
    raise InputError(f"{where} is {value!r}, expected a time in seconds")


def read_windows(value: Any, where: str, unit: SpanUnit = "seconds") -> list[float]:  # noqa: ANN401 - any cell
    """Return the ends of one or more parts of a video, in `unit`: a pair, pairs, either as JSON text, or `3-7`.

    InputError where it is something else, begins more than half a second before 0, or ends before
    it starts.
    """
    parts = _literal(value)
    if isinstance(parts, str) and (range_ := _RANGE.fullmatch(parts)):
        parts = range_.groups()
    parts = list(parts.values()) if is_object(parts) else parts
    wrong = InputError(f"{where} is {value!r}, expected [start, end] in seconds, or a list of such")
    if not is_array(parts) or not parts:
        raise wrong
    nested = all(is_array(part) or is_object(part) for part in parts)
    ends: list[float] = []
    for entry in parts if nested else [parts]:
        pair = list(entry.values()) if is_object(entry) else entry
        if len(pair) != _PAIR:
            raise wrong
        start, end = (seconds(number, where) for number in pair)
        if unit == "clock" and not all(
            isinstance(number, str) and ":" in number for number in pair
        ):
            raise InputError(
                f"{where} is {value!r}, expected clocks such as 1:02 (span_unit: clock)"
            )
        fault = (
            "begins before 0"
            if start < -_BEFORE_START
            else "ends before it starts"
            if start > end
            else ""
        )
        if fault:
            counted = "seconds" if unit == "clock" else unit
            raise InputError(
                f"{where} is {value!r}, which {fault}; expected [start, end] in {counted}"
            )
        ends += [start, end]
    return ends


# --- options and answers
# ----------------------------------------------------------------------------------------------

_LABEL = re.compile(r"\s*(?:\(([A-Za-z])\)|([A-Za-z])\s*[.:)、])\s*(.+)", re.DOTALL)
_SEVERAL = re.compile(r"\s*[A-Za-z](?:\s*+[,;/&+]?\s*+[A-Z])+\s*")
_LETTER = re.compile(r"\s*(?:\(([A-Za-z])\)|([A-Za-z])\s*+[.:)、]?)\s*")


@dataclass(frozen=True, slots=True)
class Options:
    """A question's options in their order: the texts without letters, and what names each, its key or its letter."""

    texts: tuple[str, ...]
    keys: tuple[str, ...]
    raw: tuple[str, ...]  # the texts as they stand


def read_options(value: Any, where: str, absent: Sequence[str] = ()) -> Options:  # noqa: ANN401 - whatever a cell holds
    """Return options from a list, a mapping of keys to texts, either as JSON or Python text, or a text of a line each.

    Letters in front of all of them (`A. …`, `(A) …`) are taken off. InputError where there are
    fewer than two.
    """
    parts = _literal(value)
    if isinstance(parts, str):
        parts = [line for line in parts.splitlines() if line.strip()]
    if is_object(parts):
        named = [
            (str(key), text) for key, text in parts.items()
        ]  # a Python literal's keys may be numbers
        if all(len(key) == 1 and key.isalpha() for key, _ in named):
            named.sort(key=lambda option: option[0].upper())
    elif is_array(parts):
        named = [(LETTERS[at : at + 1], text) for at, text in enumerate(parts)]
    else:
        raise InputError(f"{where} is a {type(value).__name__}, expected a list of options")
    texts = [
        None if (text := as_text(entry, where)) and text.strip() in absent else text
        for _, entry in named
    ]
    while (
        texts and not (texts[-1] or "").strip()
    ):  # a table has as many columns as its longest question needs
        texts.pop()
    if not all(text and text.strip() for text in texts):
        raise InputError(
            f"{where}: option {1 + [bool(text and text.strip()) for text in texts].index(False)} is empty"
        )
    if not 2 <= len(texts) <= len(LETTERS):  # noqa: PLR2004
        raise InputError(f"{where} has {len(texts)} options, expected 2 to {len(LETTERS)}")
    raw, keys = (
        tuple(text.strip() for text in texts if text),
        tuple(key for key, _ in named[: len(texts)]),
    )
    labels = [_LABEL.fullmatch(text) for text in raw]
    labelled = [(match[1] or match[2]).upper() for match in labels if match]
    if labelled == list(LETTERS[: len(raw)]):
        return Options(tuple(match[3].strip() for match in labels if match), keys, raw)
    return Options(raw, keys, raw)


_OPTION_WORD = r"(?<![ \t])[ \t]*+(?:option|choice|sentence|caption|statement|description)[ \t]++"
_OPTION_LINE = re.compile(
    rf"^(?:{_OPTION_WORD})?[ \t]*\(?([A-Za-z]|\d{{1,2}})[).:、]+[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_OPTION_NAMED = re.compile(rf"{_OPTION_WORD}(?=([A-Za-z]|\d{{1,2}})\s*$)", re.IGNORECASE)


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


def split_options(question: str, where: str) -> tuple[str, Options]:
    """As `options_within`; InputError where a question has none."""
    if (found := options_within(question)) is None:
        raise InputError(
            f"{where} ends in no options: expected a line each, `A. …` (options: {{in: question}})"
        )
    return found


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


_FORMS: tuple[AnswerForm, ...] = (
    "letter",
    "text",
    "index0",
    "index1",
)  # those that come first are preferred


def place_of(answer: str, options: Options, form: AnswerForm) -> int | None:
    """Return the place of the option that an answer in this form names; None where it names none of them."""
    if form in ("index0", "index1"):
        at = int(answer) - (form == "index1") if re.fullmatch(r"\d{1,3}", answer.strip()) else -1
        return at if 0 <= at < len(options.texts) else None
    if form == "text":
        for texts in (options.texts, options.raw):
            if texts.count(answer.strip()) == 1:
                return texts.index(answer.strip())
        same = [at for at, text in enumerate(options.texts) if _plain(text) == _plain(answer)]
        return same[0] if len(same) == 1 else None
    answer = _OPTION_NAMED.sub("", answer)
    if answer in options.keys:
        return options.keys.index(answer)
    letters = all(len(key) == 1 and key.isalpha() for key in options.keys)
    letter = (_LETTER.fullmatch(answer) or _LABEL.fullmatch(answer)) if letters else None
    if letter is None:
        return None
    at = LETTERS.index((letter[1] or letter[2]).upper())
    alone = letter.re is _LETTER or _plain(answer) == _plain(
        options.raw[at] if at < len(options.raw) else ""
    )
    return (
        at
        if at < len(options.texts) and (alone or _plain(letter[3]) == _plain(options.texts[at]))
        else None
    )


def answer_forms(questions: Sequence[tuple[Options, str]], share: float = 1.0) -> list[AnswerForm]:
    """Return the ways in which most answers, a `share` at least, name one of their options; of alike ones the first."""
    read: dict[AnswerForm, tuple[int | None, ...]] = {
        form: tuple(place_of(answer, options, form) for options, answer in questions)
        for form in _FORMS
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
