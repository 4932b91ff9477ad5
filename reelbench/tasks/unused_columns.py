"""The account of a guess: what each column holds that no part of a benchmark uses.

A guess is made from what was looked for. Here everything else is looked at. A column that nothing
uses is named with what it holds, and where that matters for scores (options, answers, times,
media, splits) there is a line that says which key takes it.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, filterfalse
from operator import not_
from pathlib import PurePosixPath
from statistics import median
from typing import Any, NamedTuple

from reelbench.base.errors import InputError, first_of
from reelbench.base.tables import as_text
from reelbench.base.values import is_array, is_number, is_object
from reelbench.data import option_texts, row_cells, video_windows
from reelbench.registry.benchmark_kinds import FileKind
from reelbench.registry.row_columns import MOST_OPTIONS
from reelbench.registry.spec import AnswerFormat
from reelbench.tasks.table_columns import (
    ANY_SHARE,
    LABELS,
    OPTION_STEMS,
    SENTENCE_WORDS,
    Cells,
    Column,
    TableColumns,
    are_mostly,
    column_parts,
    ends_in_options,
    ends_in_question,
    flattened,
    has_usual_name,
    is_text,
    is_text_or_number,
    keys_named,
    plain_name,
    words_of_name,
)
from reelbench.video.media_roots import VIDEO_SUFFIXES

_LETTERS = re.compile(r"[A-J](?:\s*[,;/&]?\s*[A-J])+")
_ONE_LETTER = re.compile(r"\s*\(?[A-J]\)?[.:]?\s*")
_CLOCK = re.compile(r"\s*\d{1,2}(?::\d{1,2}){1,2}(?:[.,]\d+)?\s*")
_DIGITS = re.compile(r"\d{1,9}")
_SEPARATORS = re.compile(r"[,;/|\n]")
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp")
SOUNDS = (".wav", ".mp3", ".flac", ".m4a", ".ogg", ".aac")
_COVERS = frozenset({"thumbnail", "thumb", "cover", "poster", "logo", "icon", "preview"})
_FEWEST_ROWS = 2
_FEWEST_STARTS = 5
_MAX_DEPTH = 6
_SLACK = 1.0
"""Seconds by which a span may leave the part shown: both are rounded."""

_FEW_LABELS = 30
_SHOWN = 40
_NEARLY_ALL = 0.9
_UNREAD_TIME = (
    "'{}' contains no times that can be read ({!r}): write seconds, or clocks such as 1:02"
)


@dataclass(frozen=True, slots=True)
class ChosenMapping:
    """The columns and kind that a guess has settled.

    `columns` and `user_columns` are ours -> theirs; `used` are all of theirs that are in use;
    `answer_format` is how the right option is named; `options_key` the value of the key `options`.
    """

    kind: FileKind
    columns: Mapping[str, Column]
    used: frozenset[str]
    user_columns: Mapping[str, Column]
    is_kind_stated: bool
    answer_format: AnswerFormat | None
    options_key: str

    @property
    def asks_choice(self) -> bool:
        """True where questions have options."""
        return self.kind.endswith("choice")

    @property
    def excludes_spans(self) -> bool:
        """True where the user names a kind beside which there is one with other spans."""
        return self.is_kind_stated and self.kind not in {"open", "exact"}


class _Bounds(NamedTuple):
    """A start and an end that may bound the part shown, and their line."""

    names: tuple[str, ...]
    hint: str


class UnusedColumns(NamedTuple):
    """The contents of unused columns, and the hints on those that matter."""

    content_by_column: dict[str, str]
    hint_by_column: dict[str, str]


def report_unused_columns(table: TableColumns, chosen: ChosenMapping) -> UnusedColumns:
    """Return the contents of columns that nothing uses, and hints on their use."""
    return _UnusedColumnReport(table, chosen).report_unused_columns()


class _UnusedColumnReport:
    def __init__(self, table: TableColumns, chosen: ChosenMapping) -> None:
        self._table = table
        self._chosen = chosen
        self._names = [name for name in table.values if name not in chosen.used]
        self._duplicates: dict[str, str] = {}

    def report_unused_columns(self) -> UnusedColumns:
        """Return the content of each unused column, and the hints on columns that matter."""
        hints: dict[str, str] = {}
        question_columns = self._columns_of_questions()
        option_group_hints = self._hints_on_option_groups()
        bounds = self._hint_on_spans_from_zero()
        if not bounds.hint:
            bounds = self._hint_on_start_and_end()
        columns_with_hint: set[str] = set(bounds.names)
        for group in option_group_hints:
            columns_with_hint.update(group)
        for name in self._names:
            if name in question_columns:
                hints[name] = self._hint_on_questions(question_columns)
            elif name not in columns_with_hint:
                hint = self._hint_on_column(name)
                if hint:
                    hints[name] = hint
        for group, hint in option_group_hints.items():
            hints[group[0]] = hint
        if bounds.hint:
            hints[bounds.names[0]] = bounds.hint
        hints |= self._hint_on_parallel_lists()
        if "question" not in self._chosen.columns and not question_columns:
            hints |= self._hint_on_nested_questions()
        hints |= self._hints_on_answers()
        hints |= self._hint_on_options_in_questions()
        hints |= self._hint_on_spans_outside_clip()
        unused: dict[str, str] = {}
        for name in self._names:
            unused[name] = self._duplicates.get(name) or self._describe_content(name)
        return UnusedColumns(unused, hints)

    def _hint_on_column(self, name: str) -> str:
        """Return the first hint on what a column holds. Empty where nothing matters."""
        checks = (
            self._hint_on_second_question,
            self._hint_on_conversation_turns,
            self._hint_on_keyed_objects,
            self._hint_on_binary_labels,
            self._hint_on_rubrics,
            self._hint_on_wrong_options,
            self._hint_on_too_many_options,
            self._hint_on_options,
            self._hint_on_options_that_are_lists,
            self._hint_on_lists_with_the_answer,
            self._hint_on_second_answer,
            self._hint_on_second_video,
            self._hint_on_media,
            self._hint_on_times,
            self._hint_on_splits,
        )
        if str(self._chosen.columns.get("options")).startswith(f"{name}."):
            return ""
        if self._is_constant(name) and is_object(self._table.values[name][0]):
            return ""  # it stood beside all rows
        if self._is_copy(name):
            return ""
        for check in checks:
            hint = check(name)
            if hint:
                return hint
        return ""

    def _describe_content(self, name: str) -> str:
        """Return the content of a column, in a word or two."""
        values = self._table.values[name]
        if not values:
            return "empty"
        if self._is_constant(name):
            return "the same in all rows"
        if all(map(is_number, values)):
            return "numbers"
        if any(map(is_object, values)):
            return "objects"
        if any(map(is_array, values)):
            return "lists"
        most_labels = min(_FEW_LABELS, max(2, len(values) // 2))
        return "labels" if len(set(map(str, values))) <= most_labels else "texts"

    def _is_constant(self, name: str) -> bool:
        """Return True where several rows all have the same value."""
        values = self._table.values[name]
        if len(values) < _FEWEST_ROWS or len(values) < len(self._table.rows):
            return False
        return all(value is values[0] or value == values[0] for value in values)

    def _is_copy(self, name: str) -> bool:
        """Return True where a column repeats one that is in use, and note which."""
        for used in sorted(self._chosen.used & self._table.values.keys()):
            if all(
                _value_in_column(row, name) == _value_in_column(row, used)
                for row in self._table.rows
            ):
                self._duplicates[name] = f"{used} again"
                return True
        return False

    def _texts_of(self, name: str) -> list[str]:
        """Return a column's text in each row, empty where it has none."""
        texts: list[str] = []
        for row in self._table.rows:
            text: str | None = None
            with suppress(InputError):
                text = as_text(row_cells.fill_template(row, name, ""), "")
            texts.append(text or "")
        return texts

    # --- questions

    def _columns_of_questions(self) -> list[str]:
        """Return the unused columns that hold whole questions."""
        outer, _, inner = str(self._chosen.columns.get("question")).partition(".")
        names = [name for name in self._names if self._holds_questions(name)]
        if inner:
            names = [name for name in names if name != outer]
        return names

    def _holds_questions(self, name: str) -> bool:
        """Return True where a column holds objects with a question and its answer or options.

        Subtitles have a text, and nothing beside it.
        """
        return any(map(_is_question, flattened(self._table.values[name])))

    def _hint_on_questions(self, question_columns: Sequence[str]) -> str:
        steps = "{part}"
        if len(question_columns) == 1 and any(
            map(is_array, self._table.values[question_columns[0]])
        ):
            steps = question_columns[0]
        outer_columns = {name.rpartition(".")[0] for name in question_columns} - {""}
        if outer_columns:
            steps = min(outer_columns).replace(".", "/") + "/{part}"
        verb = "contains" if len(question_columns) == 1 else "contain"
        names = ", ".join(map(repr, question_columns))
        return f"{names} {verb} whole questions: --set each={steps} makes a row of each"

    def _hint_on_nested_questions(self) -> dict[str, str]:
        """Return a hint on questions deep in a column, with their path."""
        for name in self._names:
            if plain_name(name) in LABELS["turns"]:
                continue
            for value in self._table.values[name]:
                steps = _path_to_questions(value)
                if steps:
                    path = "/".join([name, *steps]).rstrip("/")
                    hint = (
                        f"{name!r} contains whole questions: --set each={path} makes a row of each"
                    )
                    return {name: hint}
        return {}

    def _hint_on_parallel_lists(self) -> dict[str, str]:
        """Return a hint where lists side by side hold the questions of a video."""
        if "question" in self._chosen.columns:
            return {}
        names_by_lengths: dict[tuple[int, ...], list[str]] = {}
        for name, values in self._table.values.items():
            if "." not in name and values and all(map(is_array, values)):
                lengths = tuple(len(value) for value in values)
                names_by_lengths.setdefault(lengths, []).append(name)
        for lengths, names in names_by_lengths.items():
            if len(names) > 1 and max(lengths) > 1:
                quoted_names = " and ".join(map(repr, names))
                hint = (
                    f"{quoted_names} are lists of equal length in each row: "
                    f"--set each={'+'.join(names)} makes a row of each place"
                )
                return {names[0]: hint}
        return {}

    def _hint_on_second_question(self, name: str) -> str:
        if "question" in self._chosen.user_columns or words_of_name(name) & LABELS["speech"]:
            return ""
        if not are_mostly(self._table.values[name], ends_in_question):
            return ""
        question = str(self._chosen.columns.get("question")).partition(".")[0]
        return (
            f"{name!r} contains questions too, and one is asked: "
            f"--column question={question}, or {name}"
        )

    def _hint_on_conversation_turns(self, name: str) -> str:
        values = self._table.values[name]
        if plain_name(name) not in LABELS["turns"] or not are_mostly(values, is_array):
            return ""
        if not all(map(is_object, flattened(values))):
            return ""
        return (
            f"{name!r} contains the turns of a conversation, and no key takes them: write a row a "
            "question"
        )

    def _hint_on_keyed_objects(self, name: str) -> str:
        """Return a hint where each row has objects by keys of its own."""
        rows = self._table.rows
        if name != self._first_column_of_single_row or len(rows) < _FEWEST_ROWS:
            return ""
        shared = [column for column, values in self._table.values.items() if len(values) > 1]
        return (
            f"{name!r} and others contain objects by keys of their own (the rows share "
            f"{first_of(shared) or 'no column'}): --set each={{part}} makes a row of each"
        )

    @cached_property
    def _first_column_of_single_row(self) -> str:
        """The first of the columns that one row alone has, where most columns are such."""
        columns = self._table.values
        names = [name for name in columns if name.rpartition(".")[0] not in columns]
        single_row_columns: list[str] = []
        for name in names:
            values = self._table.values[name]
            if len(values) == 1 and is_object(values[0]):
                single_row_columns.append(name)
        are_mostly_single_row = len(single_row_columns) >= _NEARLY_ALL * (len(names) - 1)
        return single_row_columns[0] if single_row_columns and are_mostly_single_row else ""

    def _hint_on_binary_labels(self, name: str) -> str:
        """Return a hint on lists of 0 and 1, such as MECD's causal relations."""
        values = self._table.values[name]
        marks = flattened(values)
        has_several = any(is_array(value) and len(value) > 1 for value in values)
        if not has_several or not all(map(is_array, values)) or not marks:
            return ""
        if not all(mark in (0, 1) and is_number(mark) for mark in marks):
            return ""
        return (
            f"{name!r} marks several places with 0 or 1, and no key takes an answer of several "
            "marks: write a row a place, each with its own question"
        )

    def _hint_on_rubrics(self, name: str) -> str:
        if plain_name(name) not in LABELS["rubrics"] or self._describe_content(name) == "labels":
            return ""
        return (
            f"{name!r} contains what an answer is scored by, row by row: --column rubric={name} "
            "gives "
            "it to the judge ({rubric} in a folder of prompts)"
        )

    # --- options

    def _hints_on_option_groups(self) -> dict[tuple[str, ...], str]:
        """Return a hint for each group of columns that hold an option each."""
        hints: dict[tuple[str, ...], str] = {}
        options = self._chosen.columns.get("options")
        for group in self._table.option_groups(self._chosen.used, ANY_SHARE):
            if not self._is_group_of_options(group):
                continue
            if options and self._are_same_options(group, options):
                self._duplicates |= dict.fromkeys(group, "the options again")
                continue
            hints[group] = self._hint_on_option_group(group)
        if not (hints or self._chosen.asks_choice):
            names = self._table.columns_called_options(self._chosen.used)
            texts = [name for name in names if are_mostly(self._table.values[name], is_text)]
            if len(texts) >= _FEWEST_ROWS:
                hints[tuple(texts)] = (
                    f"{', '.join(texts)} are called options, and no row has its options in them "
                    "without a gap: fill the column between them, or rename it"
                )
        return hints

    def _is_group_of_options(self, group: tuple[str, ...]) -> bool:
        """Return True where the names are usual for options, or answers are among the texts."""
        stem = plain_name(re.sub(r"(?:(?<!\d)\d++|[A-Za-z])$", "", group[0]))
        return stem in OPTION_STEMS or self._count_answers_in_options(group) >= _FEWEST_ROWS

    def _are_same_options(self, column: Column, options: Column) -> bool:
        pairs = zip(self._table.row_options(column), self._table.row_options(options), strict=True)
        for column_options, taken_options in pairs:
            if column_options is None or taken_options is None:
                return False
            if set(column_options.texts) != set(taken_options.texts):
                return False
        return True

    def _hint_on_option_group(self, group: tuple[str, ...]) -> str:
        names = ",".join(group)
        count = sum(options_of_row is not None for options_of_row in self._table.row_options(group))
        hint = f"{', '.join(group)} contain options: --column options={names} takes them"
        if count < len(self._table.rows):
            hint += (
                f" (of {count} of {len(self._table.rows)} rows; --set skip=unreadable leaves the "
                "others out"
            )
            kinds = self._kind_option_by_column(group)
            hint += f", or {kinds} asks for these in words)" if kinds else ")"
        return hint

    def _kind_option_by_column(self, options: Column) -> str:
        """Return the key by which a column tells rows with options from the others."""
        has_options = [row_options is not None for row_options in self._table.row_options(options)]
        lacks_options = list(map(not_, has_options))
        other_kind = self._kind_without_options(lacks_options)
        first_key = ""
        answers = column_parts(self._chosen.columns.get("answer", ""))
        for name in filterfalse(answers.__contains__, self._table.values):
            labels = [row.get(name) for row in self._table.rows]
            if "." in name or not all(map(_is_plain_label, labels)):
                continue
            choice_labels = dict.fromkeys(compress(labels, has_options))
            other_labels = dict.fromkeys(compress(labels, lacks_options))
            label_count = len(choice_labels) + len(other_labels)
            separates_kinds = choice_labels.keys().isdisjoint(other_labels)
            if not separates_kinds or label_count > _FEW_LABELS:
                continue
            is_usual = bool(words_of_name(name) & LABELS["kinds"])
            if not is_usual and 2 * label_count > len(labels):  # ids tell any rows apart
                continue
            kinds = [f"{_label_in_yaml(label)}: choice" for label in choice_labels]
            kinds += [f"{_label_in_yaml(label)}: {other_kind}" for label in other_labels]
            key = f"--set 'kind={{column: {name}, {', '.join(kinds)}}}'"
            if is_usual:
                return key
            first_key = first_key or key
        return first_key

    def _kind_without_options(self, lacks_options: Sequence[bool]) -> FileKind:
        """Return the kind of the rows without options, by the length of their answers."""
        answer = column_parts(self._chosen.columns.get("answer", ""))[0]
        texts = compress(self._texts_of(answer), lacks_options)
        word_counts = [len(text.split()) for text in texts if text]
        if not word_counts:
            return "open"
        return "open" if median(word_counts) >= SENTENCE_WORDS else "exact"

    def _hint_on_wrong_options(self, name: str) -> str:
        is_named = bool({plain_name(name), *words_of_name(name)} & LABELS["wrong"])
        if not is_named or self._chosen.asks_choice or "." in name:
            return ""
        if not are_mostly(flattened(self._table.values[name]), is_text):
            return ""
        right = self._chosen.columns.get("answer", "COLUMN")
        return (
            f"{name!r} contains wrong options beside the right answer: --kind choice --set "
            f"'options={{right: {right}, wrong: {name}}}' draws their order"
        )

    def _hint_on_too_many_options(self, name: str) -> str:
        """Return a hint on a column with more options than there are letters."""
        values = self._table.values[name]
        most = max((len(value) for value in values if is_array(value)), default=0)
        if not has_usual_name("options", name) or most <= MOST_OPTIONS:
            return ""
        return (
            f"{name!r} contains {most} options, and no key takes more than {MOST_OPTIONS}, each "
            "with "
            "a letter"
        )

    def _hint_on_options(self, name: str) -> str:
        """Return a hint on a column that has a usual name for options."""
        if not has_usual_name("options", name):
            return ""
        options = self._chosen.columns.get("options")
        if options and self._are_same_options(name, options):
            self._duplicates[name] = "the options again"
            return ""
        values = self._table.values[name]
        texts = _texts_of_objects(values)
        if texts:
            return (
                f"{name!r} contains options as objects: "
                f"--column options={name}.{texts[0]} takes their texts"
            )
        count = sum(options_of_row is not None for options_of_row in self._table.row_options(name))
        if count:
            key = self._note_on_several_answers() or self._kind_option_by_column(name)
            key = key or "with `kind: {column: …}` where the others are answered in words,"
            return (
                f"{name!r} contains options in {count} of {len(self._table.rows)} rows; "
                f"{key} --column options={name} takes them"
            )
        if not are_mostly(values, _has_separator, _NEARLY_ALL):
            return ""
        text = _short_text(values[0])
        return (
            f"{name!r} contains texts that are not read as options ({text!r}): write them "
            'as a|b|c, or as a list such as ["a", "b", "c"]'
        )

    def _hint_on_options_that_are_lists(self, name: str) -> str:
        """Return a hint on options that are lists themselves."""
        if not has_usual_name("options", name) or self._chosen.asks_choice:
            return ""
        if not are_mostly(self._table.values[name], _holds_lists):
            return ""
        return (
            f"{name!r} contains options that are lists themselves, and no key takes them: write "
            "each "
            "option as one text"
        )

    def _count_answers_in_options(self, options: Column) -> int:
        """Return the number of rows whose answer is the text of one of these options."""
        answer = self._chosen.columns.get("answer")
        if not isinstance(answer, str):
            return 0
        count = 0
        for row, options_of_row in zip(
            self._table.rows, self._table.row_options(options), strict=True
        ):
            text = row.get(answer)
            if options_of_row is not None and isinstance(text, str):
                count += option_texts.option_index(text, options_of_row, "text") is not None
        return count

    def _hint_on_lists_with_the_answer(self, name: str) -> str:
        """Return a hint on a column with lists of texts that the answers are among."""
        if self._chosen.asks_choice or not any(map(_may_be_list, self._table.values[name])):
            return ""
        count = self._count_answers_in_options(name)
        if count < _FEWEST_ROWS:
            return self._hint_on_numbered_options(name)
        if words_of_name(name) & LABELS["answers"] and count < len(self._table.rows) / 2:
            return self._hint_on_further_answers(name)
        return (
            f"{name!r} contains options, and the answer is one of them in {count} of "
            f"{len(self._table.rows)} rows: --column options={name} takes them"
        )

    def _hint_on_further_answers(self, name: str) -> str:
        answer = self._chosen.columns.get("answer")
        hint = f"{name!r} contains further right answers: "
        if self._chosen.kind == "open":
            return f"{hint}a judge is shown one, and no key shows it several"
        return f"{hint}--column answer={answer},{name} --set answers=any takes them"

    def _hint_on_numbered_options(self, name: str) -> str:
        """Return a hint on lists of equal length in which numbers are places."""
        if not self._table.are_options(name):
            return ""
        lengths = {
            len(options_of_row.texts)
            for options_of_row in self._table.row_options(name)
            if options_of_row is not None
        }
        if len(lengths) > 1:
            return ""
        for number_column in self._names:
            numbers = self._table.values[number_column]
            if "." in number_column or self._is_constant(number_column):
                continue
            if not are_mostly(numbers, is_number):
                continue
            if self._table.matching_answer_formats(name, number_column):
                return (
                    f"{name!r} may contain options, and {number_column!r} the number of the right "
                    f"one: --column options={name} --column answer={number_column} takes them so"
                )
        return ""

    def _hint_on_options_in_questions(self) -> dict[str, str]:
        """Return a hint where some questions end in options, and the others don't."""
        chosen = self._chosen
        question = chosen.columns.get("question")
        if chosen.is_kind_stated or chosen.asks_choice or not isinstance(question, str):
            return {}
        count = sum(map(ends_in_options, self._table.values.get(question, ())))
        if count < _FEWEST_ROWS:
            return {}
        hint = (
            f"{count} of {len(self._table.rows)} questions end in options: --kind choice --set "
            "'options={in: question}' takes them (--set skip=unreadable leaves the others out); "
            f"--kind {chosen.kind} asks without"
        )
        return {question: hint}

    # --- answers

    def _note_on_several_answers(self) -> str:
        """Return the note on answers that name several options. Empty where none does."""
        answer = self._chosen.columns.get("answer")
        options = self._chosen.columns.get("options")
        if not isinstance(answer, str):
            return ""
        answers = self._texts_of(answer)
        row_options: Sequence[option_texts.Options | None] = [None] * len(answers)
        if options:
            row_options = self._table.row_options(options)
        count = 0
        for text, options_of_row in zip(answers, row_options, strict=True):
            is_one = (
                options_of_row is not None
                and option_texts.option_index(text, options_of_row, "text") is not None
            )
            if _LETTERS.fullmatch(text.strip()) and not is_one:
                count += 1
        if not count:
            return ""
        return (
            f"{count} of {len(answers)} answers name several of them: "
            "--set answers=all, or any, and"
        )

    def _hints_on_answers(self) -> dict[str, str]:
        """Return hints on answers that are several options, or letters of none."""
        chosen = self._chosen
        options = chosen.columns.get("options")
        if isinstance(options, str) and "options" not in chosen.user_columns:
            several = self._note_on_several_answers()
            if several:
                return {options: f"{options!r}: {several} --column options={options} says so"}
        answer = chosen.columns.get("answer")
        if chosen.kind != "exact" or chosen.is_kind_stated or not isinstance(answer, str):
            return {}
        values = self._table.values.get(answer, [])
        if not are_mostly(values, _is_one_letter):
            return {}
        letters = sorted({str(value).strip() for value in values})
        hint = (
            f"{answer!r} contains letters ({', '.join(letters)}), as options have them, and no "
            "column "
            "contains the options: --column options=COLUMN, or options=a,b,c for a column "
            "each; --kind exact asks for the letters themselves"
        )
        return {answer: hint}

    def _hint_on_second_answer(self, name: str) -> str:
        """Return a hint on a second column of answers that doesn't say the same."""
        words = words_of_name(name)
        if "." in name or not words & LABELS["answers"] or words & LABELS["no_answers"]:
            return ""
        if not are_mostly(self._table.values[name], is_text_or_number):
            return ""
        if self._chosen.kind == "span":
            return self._hint_on_answers_of_span_rows(name)
        if self._chosen.asks_choice:
            return self._hint_on_second_choice_answer(name)
        return self._hint_on_second_text_answer(name)

    def _hint_on_answers_of_span_rows(self, name: str) -> str:
        if self._chosen.is_kind_stated or not any(map(_has_text, self._table.values[name])):
            return ""
        return (
            f"{name!r} contains answers: --kind open or exact asks for them, --kind span for the "
            "spans alone"
        )

    def _hint_on_second_text_answer(self, name: str) -> str:
        answer = self._chosen.columns.get("answer")
        if not isinstance(answer, str):
            return ""
        is_same = True
        for text, right in zip(self._texts_of(name), self._texts_of(answer), strict=True):
            is_same = is_same and option_texts.normalised_text(
                text
            ) == option_texts.normalised_text(right)
        if is_same:
            self._duplicates[name] = "the answer again"
            return ""
        return (
            f"{name!r} contains answers too: --column answer={answer},{name} --set answers=any "
            "takes both"
        )

    def _hint_on_second_choice_answer(self, name: str) -> str:
        """Return a hint on answers that name other options than the taken ones do."""
        chosen = self._chosen
        answer = chosen.columns.get("answer")
        options = chosen.columns.get("options")
        if not isinstance(answer, str) or not options or "answer" in chosen.user_columns:
            return ""
        forms = self._table.matching_answer_formats(options, name, _NEARLY_ALL)
        if not forms:
            if has_usual_name("answer", answer):
                return ""
            return (
                f"{name!r} contains answers that are none of the options, and {answer!r} is taken "
                f"for the answer: --column answer={answer}, or {name}"
            )
        right_texts = self._answer_texts(options, answer, chosen.answer_format or "letter")
        for answer_format in forms:
            if self._answer_texts(options, name, answer_format) == right_texts:
                self._duplicates[name] = "the answer again"
                return ""
        return (
            f"{name!r} and {answer!r} name different options: --column answer={answer}, or {name}"
        )

    def _answer_texts(self, options: Column, answer: str, answer_format: AnswerFormat) -> list[str]:
        """Return the text of the option that each row's answer names, else the answer.

        An answer that is the text of two equal options is this text.
        """
        texts: list[str] = []
        pairs = zip(self._texts_of(answer), self._table.row_options(options), strict=True)
        for text, row_options in pairs:
            index = None
            if row_options is not None:
                index = option_texts.option_index(text, row_options, answer_format)
            named_text = text
            if row_options is not None and index is not None:
                named_text = row_options.texts[index]
            texts.append(option_texts.normalised_text(named_text))
        return texts

    # --- times

    def _hint_on_start_and_end(self) -> "_Bounds":
        """Return a hint where a start and an end may bound what is shown."""
        chosen = self._chosen
        none = _Bounds((), "")
        if chosen.user_columns.keys() & {"start", "end", "clip", "span"}:
            return none
        start = chosen.columns.get("start")
        end = chosen.columns.get("end")
        if isinstance(start, str) and isinstance(end, str):
            has_answer = any(has_usual_name("answer", name) for name in self._names)
            if chosen.kind != "grounded_choice" and not has_answer:
                return none
        else:
            if chosen.is_kind_stated and chosen.kind != "span":
                return none
            start = self._first_time_column("start")
            end = self._first_time_column("end")
            if start is None or end is None or start == end:
                return none
            fault = self._error_in_bounds(start, end)
            if fault:
                return _Bounds((start, end), fault)
        as_clip = f"the part that is shown (--column clip={start},{end})"
        as_span = f"what is asked for (--column start={start} --column end={end})"
        hint = f"{start} and {end} bound {as_clip}, or are {as_span}: say which"
        return _Bounds((start, end), hint)

    def _hint_on_spans_from_zero(self) -> "_Bounds":
        """Return a hint where all spans begin at 0, as whole clips do."""
        span = self._chosen.columns.get("span")
        if not isinstance(span, str):
            return _Bounds((), "")
        starts: list[float] = []
        for row in self._table.rows:
            with suppress(InputError):
                starts += video_windows.read_windows(row_cells.cell(row, span, ""), "")[:1]
        if len(starts) < _FEWEST_STARTS or any(starts):
            return _Bounds((), "")
        hint = (
            f"{span!r} begins at 0 in all rows: is it the part that is shown (--column "
            f"clip={span}), or what is asked for (--column span={span})?"
        )
        return _Bounds((span,), hint)

    def _hint_on_spans_outside_clip(self) -> dict[str, str]:
        """Return a hint where right spans lie outside of the clip that is shown."""
        clip = self._chosen.user_columns.get("clip")
        if clip is None or "{" in str(clip):  # a template of columns holds no times to compare
            return {}
        clip_columns = column_parts(clip)
        span_columns: list[str] = []
        for name in ("span", "start", "end"):
            if name in self._chosen.columns:
                span_columns.append(str(self._chosen.columns[name]))
        if not span_columns:
            return {}
        outside_count = self._count_spans_outside(clip_columns, span_columns)
        if outside_count < _FEWEST_ROWS:
            return {}
        hint = (
            f"{span_columns[0]!r} is outside what {' and '.join(clip_columns)} show in "
            f"{outside_count} of {len(self._table.rows)} rows: if it counts from the start of that "
            "part, --set span_from=clip says so"
        )
        return {span_columns[0]: hint}

    def _count_spans_outside(self, clip_columns: Sequence[str], span_columns: Sequence[str]) -> int:
        """Count the rows whose span begins before their clip, or ends after it."""
        count = 0
        for row in self._table.rows:
            with suppress(InputError):  # a row without readable times is not counted
                clip_start, clip_end = _first_window(row, clip_columns)
                span_start, span_end = _first_window(row, span_columns)
                if span_start < clip_start - _SLACK or span_end > clip_end + _SLACK:
                    count += 1
        return count

    def _error_in_bounds(self, start: str, end: str) -> str:
        """Return the first fault of starts and ends. Empty where there is none."""
        for number, row in enumerate(self._table.rows, start=1):
            cells = [row.get(start), row.get(end)]
            try:
                if all(map(_has_text, cells)):
                    video_windows.read_windows(cells, f"row {number}: {start} and {end}")
            except InputError as error:
                return str(error)
        return ""

    def _first_time_column(self, name: str) -> str | None:
        """Return the first unused column of times with a usual name for starts or ends."""
        for column in self._names:
            is_named = has_usual_name(name, column)
            if is_named and are_mostly(self._table.values[column], _is_time):
                return column
        return None

    def _hint_on_times(self, name: str) -> str:
        """Return a hint on times or parts of a video that nothing uses."""
        chosen = self._chosen
        words = words_of_name(name)
        is_duration = has_usual_name("duration", name)
        if words & LABELS["no_times"] or is_duration or "clip" in chosen.user_columns:
            return ""
        values = self._table.values[name]
        is_named = bool(words & LABELS["times"]) or has_usual_name("span", name)
        if not values or self._is_constant(name):
            return ""
        is_bound = has_usual_name("start", name) or has_usual_name("end", name)
        is_another_bound = is_bound and bool(chosen.columns.keys() & {"start", "span"})
        is_time = are_mostly(values, _is_clock) or (is_named and are_mostly(values, _is_time))
        if is_time and not is_another_bound:
            template = f"{{{name}}}"
            if any(map(is_text, values)):
                template = f"'{template}'"
            return (
                f"{name!r} contains times: if a question is asked at that time, --column "
                f'"clip=[0, {template}]" shows what comes before it'
            )
        windows = sum(map(_is_window, values))
        if is_named and windows and not chosen.excludes_spans:
            return self._hint_on_windows(name, windows)
        unread = [value for value in values if is_text(value) and re.search(r"\d", value)]
        if (is_bound or has_usual_name("span", name)) and unread and not windows:
            return _UNREAD_TIME.format(name, _short_text(unread[0]))
        return ""

    def _hint_on_windows(self, name: str, windows: int) -> str:
        """Return the hint on a column that contains parts of the video in some rows."""
        hint = (
            f"{name!r} contains parts of the video in {windows} of {len(self._table.rows)} rows: "
            f"--column clip={name} shows only these"
        )
        if self._chosen.is_kind_stated:
            return hint
        asking_kind = "grounded_choice" if self._chosen.asks_choice else "span"
        return f"{hint}, --kind {asking_kind} asks for them"

    # --- media and splits

    def _hint_on_second_video(self, name: str) -> str:
        """Return a hint on a further video: its column differs by a number."""
        video = self._chosen.columns.get("video")
        if not isinstance(video, str) or _DIGITS.sub("", name) != _DIGITS.sub("", video):
            return ""
        if not are_mostly(self._table.values[name], is_text_or_number):
            return ""
        return f"{name!r} names a further video: --column videos={video},{name} shows both"

    def _hint_on_media(self, name: str) -> str:
        """Return a hint on pictures, sounds or further videos."""
        values = flattened(self._table.values[name])
        if self._is_constant(name) or words_of_name(name) & _COVERS:
            return ""
        if self._is_video_again(name):
            self._duplicates[name] = "the video's name again"
            return ""
        if any(map(_is_file_content, values)):
            return (
                f"{name!r} contains whole files: --column pictures={name} shows pictures after the "
                "video; write others into a folder, and their names here"
            )
        return self._hint_on_media_paths(name, values)

    def _hint_on_media_paths(self, name: str, values: Sequence[object]) -> str:
        paths = [str(value).lower() for value in values if is_text(value)]
        if any(path.endswith(PICTURES) for path in paths):
            return f"{name!r} names pictures: --column pictures={name} shows them after the video"
        if any(path.endswith(SOUNDS) for path in paths):
            return f"{name!r} names sound files, and no key plays them beside a video"
        if "video" in self._chosen.user_columns:
            return ""
        video = self._chosen.columns.get("video")
        if isinstance(video, str) and any(map(_is_video, paths)):
            return (
                f"{name!r} names videos too: --column videos={video},{name} shows both, --column "
                f"video={name} that one"
            )
        return ""

    def _is_video_again(self, name: str) -> bool:
        """Return True where a column names the row's video, perhaps with another suffix."""
        video = self._chosen.columns.get("video")
        if not isinstance(video, str):
            return False
        for text, path in zip(self._texts_of(name), self._texts_of(video), strict=True):
            if text and PurePosixPath(text).stem != PurePosixPath(path).stem:
                return False
            if text.lower().endswith((*PICTURES, *SOUNDS)):
                return False
        return are_mostly(self._table.values[name], is_text)

    def _hint_on_splits(self, name: str) -> str:
        """Return a hint on the parts of a data set that one file has together."""
        if plain_name(name) not in LABELS["splits"]:
            return ""
        counts = Counter(self._texts_of(name))
        names = [part.lower() for part in counts]
        if len(counts) < _FEWEST_ROWS or not set(names) & LABELS["parts"]:
            return ""
        parts = [f"{part or 'nothing'} ({count})" for part, count in counts.most_common()]
        return (
            f"{name!r} says {first_of(parts)}, and all of them would be asked: write those that "
            f"you mean into a file of their own (--without {name} asks all)"
        )


# --- what values look like
# --------------------------------------------------------------------------------------------


def _first_window(row: Cells, columns: Sequence[str]) -> Sequence[float]:
    """Return start and end of the first window in one column, or in two."""
    cells = [row_cells.cell(row, column, "") for column in columns]
    value = cells if len(cells) > 1 else cells[0]
    return video_windows.read_windows(value, "")[:2]


def _value_in_column(row: Cells, name: str) -> object:
    """Return a row's value in a column, or within one. Null where it has none."""
    with suppress(InputError):
        return row_cells.cell(row, name, "")
    return None


def _is_question(value: object) -> bool:
    """Return True for an object with a question and its answer or options."""
    if not is_object(value):
        return False
    questions = keys_named(value, "question")
    answers = keys_named(value, "answer") | keys_named(value, "options")
    return bool(questions and answers - questions)


def _is_question_on_part(value: object) -> bool:
    """Return True for an object with a question and a start."""
    if not is_object(value):
        return False
    return bool(keys_named(value, "question") and keys_named(value, "start"))


def _path_to_questions(value: object, depth: int = 0) -> list[str]:
    """Return the steps of `each` from a value down to its questions."""
    if depth > _MAX_DEPTH:
        return []
    if is_array(value):
        if any(_is_question(part) or _is_question_on_part(part) for part in value):
            return [""]
        for part in value:
            steps = _path_to_questions(part, depth + 1)
            if steps:
                return [f"{{part{depth}}}", *steps]
        return []
    if is_object(value):
        for key, part in value.items():
            steps = _path_to_questions(part, depth + 1)
            if steps:
                return [str(key), *steps]
    return []


def _is_plain_label(value: object) -> bool:
    if isinstance(value, bool):
        return True
    return isinstance(value, str) and 0 < len(value) <= _SHOWN


def _label_in_yaml(label: object) -> str:
    text = str(label)
    return text if re.fullmatch(r"[A-Za-z][\w-]*", text) else json.dumps(text)


def _has_text(value: object) -> bool:
    return value is not None and bool(str(value).strip())


def _holds_lists(value: object) -> bool:
    return is_array(value) and bool(value) and all(map(is_array, value))


def _has_separator(value: object) -> bool:
    return isinstance(value, str) and _SEPARATORS.search(value) is not None


def _may_be_list(value: object) -> bool:
    return not is_number(value) and (not isinstance(value, str) or _looks_like_list(value))


def _looks_like_list(text: str) -> bool:
    return text.lstrip()[:1] in {"[", "{", "("} or _SEPARATORS.search(text) is not None


def _is_one_letter(value: object) -> bool:
    return isinstance(value, str) and _ONE_LETTER.fullmatch(value) is not None


def _is_clock(value: object) -> bool:
    return isinstance(value, str) and _CLOCK.fullmatch(value) is not None


def _is_time(value: object) -> bool:
    try:
        video_windows.seconds(value, "")
    except InputError:
        return False
    return True


def _is_window(value: object) -> bool:
    try:
        video_windows.read_windows(value, "")
    except InputError:
        return False
    return True


def _is_video(path: str) -> bool:
    """Return True for a video's path. A link says where it is from."""
    return path.endswith(VIDEO_SUFFIXES) and "://" not in path


def _is_file_content(value: object) -> bool:
    """Return True for a file's bytes, or an object with them."""
    if is_object(value):
        return isinstance(value.get("bytes"), bytes)
    return isinstance(value, bytes)


def _short_text(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _texts_of_objects(values: Sequence[Any]) -> list[str]:
    """Return the keys that have texts in the first object of lists of objects."""
    for value in values:
        if is_array(value):
            for part in value:
                if is_object(part):
                    return [key for key, text in part.items() if is_text(text)]
    return []
