"""Rows of any table as a `benchmark.yaml` maps them.

A row that can't be read is an InputError with file, line and row. Nothing is guessed where two
readings differ.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import filterfalse
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError, first_of
from reelbench.base.tables import as_text
from reelbench.base.temporary_tables import IDS_PER_BATCH, IdWithLocation, UniqueIds
from reelbench.base.values import batches, is_array
from reelbench.data import row_pictures
from reelbench.data.option_texts import (
    SEVERAL_LETTERS,
    Options,
    matching_answer_formats,
    normalised_text,
    option_index,
    read_options,
    split_options,
)
from reelbench.data.row_cells import (
    ROW,
    Cells,
    as_list,
    cell,
    cell_texts,
    fill_template,
    is_filled,
    parse_literal,
    parse_template,
)
from reelbench.data.row_tables import table
from reelbench.data.video_windows import (
    padded_time,
    read_windows,
    refuse_stated_seconds,
    seconds,
)
from reelbench.registry import rows
from reelbench.registry.mapping_words import ANSWERS, is_number_text, normalised_word
from reelbench.registry.row_columns import ALSO, ASKED, DURATION, GROUP, PICTURES
from reelbench.registry.rows import LETTERS
from reelbench.registry.scoring_kinds import KINDS_OF_NUMBERS
from reelbench.registry.spec import (
    AnswerFormat,
    BenchmarkSpec,
    DrawnOptions,
    RowMapping,
    SpanUnit,
)

_PAIR = 2
_SECONDS_PER_UNIT: Mapping[SpanUnit, float] = {"milliseconds": 0.001, "minutes": 60.0}
_COLUMNS_WITHOUT_ANSWER = ("id", "video", "videos", "question", "language", "options")
_RULES_WITH_LEVELS = ("chain", "gate")


class RowOrError(NamedTuple):
    """A row or its fault, and its place in the file."""

    where: str
    row: "rows.Row | InputError"
    is_clamped_to_zero: bool = False
    """True where the row's span began a little before 0, and was moved there."""

    padded_time: str = ""
    """A time of the row's span with a leading zero, such as `01.30`, counted in seconds."""

    row_without_answer: "rows.Row | None" = None
    """Of a row that can't be read: its question and options, where these can be."""


def read(spec: BenchmarkSpec, paths: Sequence[Path], split: str) -> Iterator[rows.Row]:
    """Yield the rows of a benchmark that a file declares."""
    skips_unreadable = spec.mapping is not None and spec.mapping.skip is not None
    first_error: InputError | None = None
    has_rows = False
    for entry in read_rows_or_errors(spec, paths, split):
        if not isinstance(entry.row, InputError):
            has_rows = True
            yield entry.row
            continue
        first_error = first_error or entry.row
        if not skips_unreadable:
            raise first_error
    # Where no row can be read at all, something else is wrong than a row.
    if first_error is not None and not has_rows:
        raise first_error


def read_rows_or_errors(
    spec: BenchmarkSpec, paths: Sequence[Path], split: str = ""
) -> Iterator[RowOrError]:
    """Yield each row or its fault, with its place.

    Raises:
        InputError: A file can't be read, or the answers can be read in several ways.
    """
    mapping = spec.mapping
    if mapping is None:
        raise InputError(f"{spec.id}: its own reader reads its rows")
    answer_format = mapping.answer_is
    if answer_format is None and (spec.asks_choice or spec.row_kind == "mixed"):
        answer_format = _infer_answer_format(_question_entries(spec, mapping, paths, split))
    ids = UniqueIds()
    for entries in batches(
        _read_questions(spec, mapping, paths, split, answer_format), IDS_PER_BATCH
    ):
        yield from _mark_repeated_ids(entries, ids)


def _mark_repeated_ids(entries: list[RowOrError], ids: UniqueIds) -> list[RowOrError]:
    """Return rows, with an error in place of each whose id occurred before.

    Args:
        entries: The next rows.
        ids: The ids so far, to which these rows' are added.
    """
    valid_rows: list[_ValidRow] = []
    for position, entry in enumerate(entries):
        if not isinstance(entry.row, InputError):
            valid_rows.append(_ValidRow(position, entry.where, entry.row))
    ids_with_location = [IdWithLocation(row["id"], where, None) for _, where, row in valid_rows]
    checked_entries = list(entries)
    for repeat, first_location in ids.first_locations(ids_with_location).items():
        valid_row = valid_rows[repeat]
        checked_entries[valid_row.position] = _repeated_id_error(valid_row, first_location)
    return checked_entries


class _ValidRow(NamedTuple):
    """A readable row, its index in the batch, and its location in the file."""

    position: int
    where: str
    row: rows.Row


def _repeated_id_error(valid_row: _ValidRow, first_location: str) -> RowOrError:
    """Return the error in place of a row whose id occurred before."""
    _, where, row = valid_row
    error = InputError(f"{where}: the id {row['id']!r} occurs twice, first at {first_location}")
    if not row.get("options"):
        return RowOrError(where, error)
    row_without_answer = {name: row[name] for name in _COLUMNS_WITHOUT_ANSWER if name in row}
    return RowOrError(where, error, row_without_answer={**row_without_answer, "answer": ""})


def _read_questions(
    spec: BenchmarkSpec,
    mapping: RowMapping,
    paths: Sequence[Path],
    split: str,
    answer_format: AnswerFormat | None,
) -> Iterator[RowOrError]:
    """Yield each row or its fault, whether or not its id occurred before."""
    absent_columns: list[str] = []
    if not isinstance(mapping.columns.get("answer", ""), str):
        absent_columns += mapping.columns["answer"]
    has_rows = False
    for where, question in _question_entries(spec, mapping, paths, split):
        if isinstance(question, InputError):
            yield RowOrError(where, question)
            continue
        has_rows = True
        absent_columns = list(filterfalse(question.has, absent_columns))
        try:
            row = question.row(answer_format)
        except InputError as error:
            yield RowOrError(where, error, row_without_answer=question.row_without_answer())
        else:
            yield RowOrError(where, row, question.is_clamped_to_zero, question.padded_time)
    if has_rows and absent_columns:
        raise InputError(
            f"{first_of(list(map(str, paths)))}: no row has the column {absent_columns[0]!r}, "
            "which `answer` names"
        )


class _QuestionEntry(NamedTuple):
    """A question or its fault, and its place in the file."""

    where: str
    question: "_Question | InputError"


def _question_entries(
    spec: BenchmarkSpec, mapping: RowMapping, paths: Sequence[Path], split: str
) -> Iterator[_QuestionEntry]:
    """Yield the questions of files, one after the other: a table may have millions."""
    group_sizes: dict[str, int] = {}
    table_rows = table(paths, mapping.each, mapping.line, mapping.join, names_files=True)
    filtered_out = 0
    number = 0
    for number, (where, row_cells) in enumerate(table_rows, start=1):
        if isinstance(row_cells, InputError):
            yield _QuestionEntry(where, row_cells)
            continue
        try:
            cells = _with_parts(row_cells, mapping.parts, where)
            if not _passes_filter(cells, mapping.where, where):
                filtered_out += 1
                continue
            question = _Question(spec, mapping, where, {ROW: number, **cells}, split=split)
            question.assign_group(group_sizes)
        except InputError as error:
            yield _QuestionEntry(where, error)
        else:
            yield _QuestionEntry(where, question)
    if filtered_out and filtered_out == number:
        raise InputError(_no_row_passes_message(paths, mapping.where))


def _no_row_passes_message(
    paths: Sequence[Path], allowed_by_column: Mapping[str, Sequence[str]]
) -> str:
    conditions: list[str] = []
    for column, words in allowed_by_column.items():
        conditions.append(f"{column}: {' or '.join(words)}")
    return f"{first_of(list(map(str, paths)))}: `where` asks no row ({'; '.join(conditions)})"


def _with_parts(cells: Cells, templates: Mapping[str, str], where: str) -> Cells:
    """Return a row's cells and the parts of those that are parted."""
    all_cells: dict[str, Any] = dict(cells)
    for column, template in templates.items():
        title = f"{where}: {column}"
        text = as_text(cell(cells, column, where), title) or ""
        parts = parse_template(text, template)
        if parts is None:
            raise InputError(f"{title} is {text[:80]!r}, expected {template}")
        all_cells.update(parts)
    return all_cells


def _passes_filter(
    cells: Cells, allowed_by_column: Mapping[str, Sequence[str]], where: str
) -> bool:
    """Return True for a row that has one of the words in each column."""
    for column, words in allowed_by_column.items():
        text = as_text(cell(cells, column, where), f"{where}: {column}")
        if normalised_word(text or "") not in words:
            return False
    return True


def _infer_answer_format(entries: Iterable[_QuestionEntry]) -> AnswerFormat | None:
    """Return the form in which all answers can be read, or most of them."""
    first_place = ""
    has_choices = False
    answered_options: list[tuple[Options, str]] = []
    for where, question in entries:
        first_place = first_place or where
        if isinstance(question, InputError) or not question.asks_choice:
            continue
        has_choices = True
        with suppress(InputError):  # said when it is the row's turn
            choice = question.choice
            answered_options += [(choice.options, answer) for answer in choice.answers]
    if not has_choices:
        return None
    forms = matching_answer_formats(answered_options)
    if len(forms) > 1:
        ways = " or as ".join(forms)
        raise InputError(
            f"{first_place}: the answers can be read as {ways}, which differ; say which with "
            "answer_is"
        )
    if not forms:
        forms = matching_answer_formats(answered_options, share=0)
    return forms[0] if forms else "letter"


class _Choice(NamedTuple):
    """A question's options, and the right ones as the row names them."""

    options: Options
    answers: list[str]


class _Question:
    """One row as the mapping reads it."""

    def __init__(
        self, spec: BenchmarkSpec, mapping: RowMapping, where: str, cells: Cells, *, split: str
    ) -> None:
        """Read the row's kind. InputError where it can't be read."""
        self.where = where
        self.is_clamped_to_zero = False
        self.padded_time = ""
        self._spec = spec
        self._mapping = mapping
        self._cells = cells
        self._has_answers = bool(ANSWERS & mapping.columns.keys())
        self._kind = spec.row_kind
        if spec.row_kind == "mixed":
            self._kind = self._translated_value(mapping.kinds, mapping.kind_column, "kind", split)
        self.asks_choice = self._kind in {"choice", "grounded_choice"}
        self._group: list[str] = []

    # --- groups

    def assign_group(self, sizes: dict[str, int]) -> None:
        """Find the row's group, its rule and its level.

        Args:
            sizes: The number of rows in each group so far, which is counted on.

        Raises:
            InputError: The group can't be read.
        """
        group = self._mapping.group
        if group is None:
            return
        names = [as_text(self._cell(column), column) or "" for column in group.by]
        name = "|".join(names)
        rule = self._translated_value(group.rules, group.column, "group.rule")
        place = sizes.get(name, 0) + 1
        sizes[name] = place
        level = place
        if group.levels and rule in _RULES_WITH_LEVELS:
            where = f"{self.where}: {group.levels}"
            level = _level_in_group(parse_literal(self._cell(group.levels)), place, where)
            if rule == "chain" and level == 0:
                raise InputError(f"{where} is 0, and the levels of a chain begin at 1")
        self._group = [name, rule, str(level)]

    def _translated_value(
        self, words: Mapping[str, str], column: str, key: str, default: str = ""
    ) -> str:
        """Return the word that a column's value, or the default, stands for."""
        value = default
        if column:
            value = normalised_word(as_text(self._cell(column), column) or "")
        for word, meaning in words.items():
            if normalised_word(word) == value:
                return meaning
        raise InputError(
            f"{self.where}: {column} is {value!r}, expected {', '.join(words)} ({key})"
        )

    # --- options and answers

    @cached_property
    def choice(self) -> _Choice:
        """The options and right answers. InputError where they can't be read."""
        answers = self._right_answers() if self._has_answers else []
        if self._mapping.drawn is not None:
            options = self._drawn_options(self._mapping.drawn)
        elif self._mapping.options_are:
            options = read_options(self._mapping.options_are, "")
        elif self._mapping.options_in_question:
            options = split_options(
                self._required_text("question"), self._title("question")
            ).options
        else:
            where = f"{self.where}: options"
            options = read_options(self._cell_value("options"), where, self._mapping.absent)
        return _Choice(options, answers)

    def _drawn_options(self, drawn: DrawnOptions) -> Options:
        """Return the right option and the wrong ones, ordered by the row's id."""
        texts = [self._required_text("answer")]
        for column in drawn.wrong:
            value = parse_literal(self._cell(column))
            for text in cell_texts(value, f"{self.where}: {column}"):
                if text.strip() not in self._mapping.absent:
                    texts.append(text)
        row_id = self._required_text("id")

        def random_key(text: str) -> str:
            seed = f"{drawn.seed}\0{row_id}\0{text}"
            return hashlib.sha256(seed.encode()).hexdigest()

        texts.sort(key=random_key)
        return read_options(texts, f"{self.where}: options")

    def _right_answers(self) -> list[str]:
        """Return the right answers as the row names them."""
        if self._mapping.answers is None:
            return [self._required_text("answer")]
        value = self._cells_of_answers()
        if isinstance(value, str) and self.asks_choice and SEVERAL_LETTERS.fullmatch(value):
            value = re.findall("[A-Za-z]", value)
        return self._required_texts("answer", value)

    def _cells_of_answers(self) -> Any:  # noqa: ANN401 - a cell, or a list of cells
        """Return the cell of right answers, or all that several columns hold.

        A row may lack the columns after the first.
        """
        columns = self._mapping.columns["answer"]
        if isinstance(columns, str):
            return parse_literal(self._cell_value("answer"))
        cells = list(as_list(parse_literal(self._cell(columns[0]))))
        for column in columns[1:]:
            with suppress(InputError):
                cells += as_list(parse_literal(self._cell(column)))
        return cells

    def _letter_of_answer(self, answer_format: AnswerFormat, options: Options, answer: str) -> str:
        """Return the letter of the option that an answer names. InputError where it names none."""
        place = option_index(answer, options, answer_format)
        if place is not None:
            return LETTERS[place]
        alike = [text for text in options.texts if normalised_text(text) == normalised_text(answer)]
        letters: set[str] = set()
        if SEVERAL_LETTERS.fullmatch(answer):
            letters.update(re.findall(r"\w", answer.upper()))
        if len(alike) > 1:
            fault = f"is {len(alike)} of its options, which are alike"
        elif answer_format == "letter" and letters and letters <= set(options.keys):
            fault = (
                "names several options: `answers: any`, or `all`, says that several may be right"
            )
        else:
            named = zip(options.keys, options.texts, strict=True)
            listed = "; ".join(f"{key}: {text}" for key, text in named)
            fault = f"is not one of its options ({listed}), read as {answer_format}"
        raise InputError(f"{self.where}: the answer {answer!r} {fault}")

    # --- the row

    def row(self, answer_format: AnswerFormat | None) -> rows.Row:
        """Return the normalised row. InputError where a cell can't be read.

        Args:
            answer_format: How the right option is named.
        """
        row: rows.Row = {}
        self._add_question(row)
        self._add_answers(row, answer_format)
        if self._group:
            row[GROUP.name] = self._group
        if self._spec.asks_span:
            row["span"] = self._span_in_seconds() if self._has_answers else []
        self._add_facets(row)
        for column in self._spec.columns:
            if column.name not in row:
                row[column.name] = self._extra_value(column.name, column.dtype)
        return row

    def row_without_answer(self) -> rows.Row | None:
        """Return the question and its options without the answer. None where they can't be read."""
        if not self.asks_choice:
            return None
        row: rows.Row = {}
        try:
            self._add_question(row)
            row["options"] = list(self.choice.options.texts)
        except InputError:
            return None
        row["answer"] = ""
        return row

    def _add_question(self, row: rows.Row) -> None:
        """Add the columns of the question and its videos. InputError where they can't be read."""
        row["id"] = self._required_text("id")
        self._add_videos(row)
        row["question"] = self._required_text("question")
        if self._mapping.options_in_question:
            row["question"] = split_options(row["question"], f"{self.where}: question").question
        row["language"] = self._language()

    def _add_videos(self, row: rows.Row) -> None:
        if "videos" in self._mapping.columns:
            row["videos"] = self._required_texts(
                "videos", parse_literal(self._cell_value("videos"))
            )
        if "video" in self._mapping.columns:
            row["video"] = self._name_of_video()
        else:
            row["video"] = row["videos"][0]

    def _name_of_video(self) -> str:
        """Return the row's media key, which may stand in a list of one."""
        value = parse_literal(self._cell_value("video"))
        if is_array(value) and len(value) == 1:
            name = as_text(value[0], self._title("video"))
            if name and name.strip():
                return name.strip()
        return self._required_text("video")

    def _language(self) -> str | None:
        language = None
        if "language" in self._mapping.columns:
            language = self._cell_value("language")
        if not language:
            return self._spec.languages[0]
        return as_text(language, self.where)

    def _add_answers(self, row: rows.Row, answer_format: AnswerFormat | None) -> None:
        """Add the columns of options and right answers that the row's kind has."""
        is_mixed = self._spec.row_kind == "mixed"
        has_texts = is_mixed or self._spec.row_kind == "open"
        if is_mixed:
            row[ASKED.name] = [self._kind]
            row["options"] = []
        answers: list[str] = []
        if self.asks_choice and answer_format is not None:
            letters = {
                self._letter_of_answer(answer_format, self.choice.options, a)
                for a in self.choice.answers
            }
            row["options"] = list(self.choice.options.texts)
            row["answer"] = "".join(sorted(letters))
        elif has_texts:
            answers = self._right_answers() if self._has_answers else [""]
            row["answer"] = answers[0]
            self._check_numbers(answers)
        if self._mapping.answers is not None and has_texts:
            row[ALSO.name] = answers[1:]

    def _check_numbers(self, answers: Sequence[str]) -> None:
        """Raise InputError where an answer is no number, and the benchmark counts by numbers."""
        if not self._has_answers or not KINDS_OF_NUMBERS & set(self._spec.kinds):
            return
        for answer in answers:
            if re.fullmatch(r"\s*[-+]?\d{1,12}(?:\.\d{1,12})?\s*", answer) is None:
                raise InputError(f"{self.where}: the answer {answer!r} is not a number (numbers)")

    def _add_facets(self, row: rows.Row) -> None:
        for facet in self._spec.facets:
            if not facet.in_rows or facet.name in row:
                continue
            value = self._cell_value(facet.name)
            separator = self._mapping.separators.get(facet.name)
            if separator is not None and isinstance(value, str):
                value = [part.strip() for part in value.split(separator)]
            row[facet.name] = cell_texts(value, f"{self.where}: {facet.name}")

    def _span_in_seconds(self) -> list[float]:
        """Return the span in seconds. Notes where it began a little before 0."""
        unit = self._mapping.span_unit
        if "span" in self._mapping.columns:
            value = self._cell_value("span")
            where = self._title("span")
        else:
            value = [self._cell_value("start"), self._cell_value("end")]
            where = f"{self.where}: start and end"
        factor = self._seconds_per(unit)
        ends = read_windows(value, where, unit)
        if unit == "seconds":
            self.padded_time = padded_time(value)
        self.is_clamped_to_zero = min(ends) < 0
        first_second = 0.0
        if self._mapping.span_from == "clip":
            first_second = next(iter(self._clip_in_seconds()), 0.0)
        return [first_second + max(0.0, end) * factor for end in ends]

    def _clip_in_seconds(self) -> list[float]:
        """Return the start and end of the part that is shown.

        It is empty for the whole video. A part without a start begins with the video, and one
        without an end ends with it.
        """
        title = self._title("clip")
        unit = self._mapping.clip_unit or "seconds"
        factor = self._seconds_per(unit)
        source = self._mapping.columns.get("clip", "clip")
        if not isinstance(source, str) and not any(map(self.has, source)):
            return []
        value = parse_literal(self._cell_value("clip"))
        if not is_array(value):
            value = value or None
        if value is None or not any(is_filled(end) for end in as_list(value)):
            return []
        if is_array(value) and len(value) == _PAIR and not all(map(is_filled, value)):
            start, end = value
            if not is_filled(start):
                value = [0, end]
            elif "duration" in self._mapping.columns:
                if not factor:
                    raise InputError(f"{title} has no end, and the video's length is 0")
                value = [start, self._length_in_seconds() / factor]
            else:
                raise InputError(f"{title} has no end; columns.duration would say it")
        ends = read_windows(value, title, unit)[:_PAIR]
        return [max(0.0, end) * factor for end in ends]

    def _length_in_seconds(self) -> float:
        """Return the video's length in seconds, as the row states it."""
        unit = self._mapping.duration_unit or "seconds"
        value = self._cell_value("duration")
        title = self._title("duration")
        if unit != "seconds":
            refuse_stated_seconds([value], title, unit)
        return seconds(value, title) * self._seconds_per(unit)

    def _seconds_per(self, unit: SpanUnit) -> float:
        if unit in _SECONDS_PER_UNIT:
            return _SECONDS_PER_UNIT[unit]
        if unit == "frames":
            fps: Any = self._mapping.fps
            if not is_number_text(fps):
                fps = self._cell(fps)
            rate = seconds(fps, f"{self.where}: fps")
            if rate <= 0:
                raise InputError(f"{self.where}: fps is {rate:g}, expected frames a second")
            return 1 / rate
        if unit == "ratio":
            return self._length_in_seconds()
        if unit == "percent":
            return self._length_in_seconds() / 100
        return 1.0

    def _extra_value(self, name: str, dtype: str) -> Any:  # noqa: ANN401 - as the column's type says
        if dtype == "list<float64>":
            return self._clip_in_seconds()
        if name == DURATION.name:
            return self._length_in_seconds()
        value = self._cell_value(name)
        where = self._title(name)
        if dtype == "float64":
            return seconds(value, where)
        if dtype == "list<string>":
            parts = parse_literal(value)
            if name == PICTURES.name:
                parts = row_pictures.names(self._spec, parts, where)
            if is_array(parts):
                value = parts
            return cell_texts(value, where)
        if is_array(value):
            return "\n".join(map(str, value))
        return as_text(value, where) or ""

    # --- cells

    def has(self, column: str) -> bool:
        """Return True where the row has a column."""
        with suppress(InputError):
            self._cell(column)
            return True
        return False

    def _cell(self, column: str) -> Any:  # noqa: ANN401 - a cell
        return cell(self._cells, column, self.where)

    def _title(self, name: str) -> str:
        """Return the row's place and a column's name, ours and upstream's."""
        source = self._mapping.columns.get(name, name)
        table_rows = source if isinstance(source, str) else ", ".join(source)
        if table_rows == name:
            return f"{self.where}: {name}"
        return f"{self.where}: {name} ({table_rows})"

    def _cell_value(self, name: str) -> Any:  # noqa: ANN401 - a cell, or a list of cells
        """Return the value of a column of ours: a cell, several, or a filled template."""
        if name in self._mapping.constants:
            return self._mapping.constants[name]
        source = self._mapping.columns.get(name, name)
        if not isinstance(source, str):
            return [self._cell(column) for column in source]
        value = fill_template(self._cells, source, self.where)
        words = self._mapping.words.get(name)
        if words is None:
            return value
        word = normalised_word(as_text(value, self._title(name)) or "")
        if word not in words:
            listed = first_of(list(words), 12)
            raise InputError(f"{self._title(name)} is {word!r}, expected {listed}")
        return words[word]

    def _required_text(self, name: str) -> str:
        """Return the text of a column that must have one."""
        title = self._title(name)
        text = as_text(self._cell_value(name), title)
        if not text or not text.strip():
            raise InputError(f"{title} is empty")
        return text.strip() if name in {"id", "video"} else text

    def _required_texts(self, name: str, value: Any) -> list[str]:  # noqa: ANN401 - a cell
        """Return the texts of a column that must have one or more."""
        title = self._title(name)
        texts = cell_texts(value, title)
        if not texts:
            raise InputError(f"{title} is empty")
        return texts


def _level_in_group(levels: Any, place: int, where: str) -> int:  # noqa: ANN401 - a cell
    """Return a row's level in its group.

    Args:
        levels: The row's level, or the nested list that places the group's rows.
        place: The row's place in the group, from 1.
        where: Names the cell in errors.

    Raises:
        InputError: The cell states no level of this row.
    """
    if is_array(levels):
        placed_rows = 0
        for level, part in enumerate(levels, start=1):
            placed_rows += len(as_list(part))
            if place <= placed_rows:
                return level
        raise InputError(f"{where} places {placed_rows} rows, and its group has {place} or more")
    text = as_text(levels, where) or ""
    if re.fullmatch(r"\d{1,3}", text) is None:
        raise InputError(f"{where} is {text[:80]!r}, expected a level, or a list that places rows")
    return int(text)
