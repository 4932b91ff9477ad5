"""Guess which column of a table is the question, which the video, and so on.

Values decide what a column can be (ids are unique, a video has a file's suffix, an answer is one of
the options). Where several columns fit, the usual name wins. Nothing is guessed against the rows.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.tables import as_text
from reelbench.base.values import is_array, is_number, is_object
from reelbench.data import option_texts, row_cells, video_windows
from reelbench.registry.benchmark_kinds import FileKind
from reelbench.registry.mapping_words import PLACE
from reelbench.registry.spec import AnswerForm
from reelbench.video.folder_layouts import VideoFolder
from reelbench.video.media_roots import has_video_suffix

Cells = Mapping[str, Any]

_WORDS: Mapping[str, Mapping[str, str]] = json.loads(
    Path(__file__).with_name("column_names.json").read_text(encoding="utf-8")
)
NAMES = {name: words.split() for name, words in _WORDS["columns"].items()}
"""Column of ours -> its usual names, the likeliest first; case and signs don't count."""

_FACETS = frozenset(_WORDS["labels"]["facets"].split())
_RUBRICS = frozenset(_WORDS["labels"]["rubrics"].split())
_RATES = frozenset(_WORDS["labels"]["rates"].split())
_UNIT_WORDS = {unit: frozenset(words.split()) for unit, words in _WORDS["units"].items()}
_OPTION = re.compile(r"(.*?)[ _-]?(\d{1,2}|[A-Za-z])")
_OPTION_KEY = re.compile(
    r"(?:option|choice|answer|opt|ans)?[ _-]?(?:[A-Za-z]|\d{1,2})", re.IGNORECASE
)
_LETTERS = re.compile(r"[A-J](?:\s*[,;/&]?\s*[A-J])+")
_YOUTUBE = re.compile(r"[\w-]{11}")
_SHARE = 0.98
_NAMED_SHARE = 0.2  # of a column with a usual name: most answers may be kept back
_NEARLY_ALL = 0.9
_ANY_SHARE = 0.0
_TELLING_ROWS = 2
_FEW_LABELS = 30
_LONGEST_LABEL = 60
_SHORT_WORDS = 4
_LONGEST_KEY = 64
_FEWEST_OPTIONS = 2

_IN_QUESTION = "{in: question}"
_YES_NO = "{are: [yes, no]}"
OPTIONS_SEEN = {_IN_QUESTION: "the questions end in them", _YES_NO: "every answer is yes or no"}
"""Value of the key `options` -> the sign that it was guessed by."""

Column = str | tuple[str, ...]


@dataclass
class Guess:
    """A guess of a benchmark's kind and of its columns (ours -> theirs).

    `why` has the reason for each column. `options` is the value of that key, where no column holds
    them. `units` has the signs that spans may not be in seconds: then nothing is guessed. `unread`
    has a line for each unused or doubtful column whose content scores would miss; the line says
    which key reads it.
    """

    kind: FileKind
    columns: dict[str, Column] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    answer_is: AnswerForm | None = None
    facets: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    options: str = ""
    units: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)


class _AnswerColumn(NamedTuple):
    """A column whose values name options, and the forms in which they can be read."""

    order: tuple[Any, ...]
    name: str
    forms: list[AnswerForm]


def guess(
    rows: Sequence[Cells],
    kind: FileKind | None = None,
    *,
    columns: Mapping[str, Column] | None = None,
    media: VideoFolder | None = None,
) -> Guess:
    """Guess how a table's columns are to be read.

    Args:
        rows: The table's rows.
        kind: The benchmark's kind, where the user says it.
        columns: Columns that the user names, ours -> theirs; they are taken as they are.
        media: The folder with the videos. A column that names files in it is the video.
    """
    return _Table(rows, dict(columns or {}), media).guess(kind)


class _Table:
    def __init__(
        self, rows: Sequence[Cells], user_columns: dict[str, Column], media: VideoFolder | None
    ) -> None:
        self._rows = rows
        self._user_columns = user_columns
        self._media = media
        self._columns = _columns(rows)
        self._why: dict[str, str] = {}
        self._chosen: dict[str, Column] = dict(user_columns)
        self._used: set[str] = set()
        for column in user_columns.values():
            for part in _parts(column):
                self._used.update(PLACE.findall(part) or [part])

    def guess(self, kind: FileKind | None) -> Guess:
        """Guess the columns one after another; each that is taken is not tried again."""
        form = None
        options_key = ""
        if kind in (None, "choice", "grounded_choice"):
            form = self._find_options_and_answer()
            if "options" not in self._chosen and self._questions_end_in_options():
                options_key = _IN_QUESTION
                form = self._find_answer_to_options_in_questions()
                kind = kind or "choice"
        self._use_columns_within_options()
        if kind in (None, "span", "grounded_choice") and "clip" not in self._user_columns:
            self._find_span()
        guessed_kind = kind or self._kind_of_columns()
        self._find_video()
        self._find_id()
        self._find_question()
        if guessed_kind in {"open", "exact"} or guessed_kind.endswith("choice"):
            self._take_by_name("answer", _is_plain)
        if kind is None and guessed_kind == "open":
            guessed_kind = self._kind_of_answers()
            if guessed_kind == "choice":
                options_key = _YES_NO
        self._take_by_name("duration", is_number)
        self._take_by_name("language", _is_text)
        self._take_by_name("reasoning", lambda _: True)
        columns = self._columns_of_kind(guessed_kind)
        result = Guess(guessed_kind, columns, self._why, form, options=options_key)
        result.facets = self._facets()
        result.units = self._signs_of_units(columns)
        result.lacking = self._lacking(result)
        for name in self._columns:
            if name not in self._used and name not in result.facets:
                result.unused.append(name)
        result.unread = self._unread_content(result)
        return result

    # --- what the guess says ---

    def _kind_of_columns(self) -> FileKind:
        has_span = "span" in self._chosen or "start" in self._chosen
        if "options" in self._chosen:
            return "grounded_choice" if has_span else "choice"
        return "span" if has_span else "open"

    def _kind_of_answers(self) -> FileKind:
        """Return the kind of questions without options or spans, by the look of their answers."""
        answers = self._columns.get(str(self._chosen.get("answer")), [])
        if not answers:
            return "open"
        word_counts = [len(str(value).split()) for value in answers]
        if median(word_counts) >= _SHORT_WORDS:
            return "open"
        distinct = {str(value).strip().lower() for value in answers}
        return "choice" if distinct <= {"yes", "no"} else "exact"

    def _needed_columns(self, kind: FileKind) -> list[str]:
        video = "videos" if "videos" in self._chosen else "video"
        names = ["id", video, "question"]
        if kind.endswith("choice"):
            names += ["options", "answer"]
        if kind in {"open", "exact"}:
            names.append("answer")
        return names

    def _columns_of_kind(self, kind: FileKind) -> dict[str, Column]:
        names = self._needed_columns(kind)
        if kind in {"span", "grounded_choice"}:
            names += ["span", "start", "end"]
        names += ["duration", "language", "reasoning"]
        if "clip" in self._user_columns:
            names.append("clip")
        return {name: self._chosen[name] for name in names if name in self._chosen}

    def _facets(self) -> list[str]:
        names: list[str] = []
        for name, values in self._columns.items():
            if "." in name or name in self._used:
                continue
            if _plain_name(name) in _FACETS and self._are_labels(values):
                names.append(name)
        return names

    def _are_labels(self, values: list[Any]) -> bool:
        labels = _flattened(values)
        distinct_labels = set(map(str, labels))
        half_of_rows = len(self._rows) // 2
        most_labels = min(_FEW_LABELS, max(2, half_of_rows))
        if not labels or len(distinct_labels) > most_labels:
            return False
        return all(map(_is_label, labels))

    def _lacking(self, guess: Guess) -> list[str]:
        """Return a line for each thing that the kind needs and no column is."""
        columns = guess.columns
        missing = [name for name in self._needed_columns(guess.kind) if name not in columns]
        if guess.options and "options" in missing:
            missing.remove("options")
        lacking = [f"no column is the {name}" for name in missing]
        if guess.kind in {"span", "grounded_choice"} and not columns.keys() & {"span", "start"}:
            lacking.append("no column is the span, nor two its start and end")
        has_options = {"options", "answer"} <= columns.keys()
        is_choice = guess.kind.endswith("choice")
        if is_choice and has_options and guess.answer_is is None:
            forms = self._forms(columns["options"], columns["answer"])
            if len(forms) > 1:
                readings = " or as ".join(forms)
                lacking.append(f"answers can be read as {readings}, which differ: give --answer-is")
        return lacking

    # --- content that no column reads ---

    def _unread_content(self, guess: Guess) -> dict[str, str]:
        """Return a line for each column with content that scores would miss, by its name."""
        answers = self._columns.get(str(guess.columns.get("answer")), [])
        several = _several_answers(answers)
        lines: dict[str, str] = {}
        asking = self._asking_columns(guess)
        for name in guess.unused:
            if name in asking:
                lines[name] = self._line_of_questions(asking)
            else:
                line = self._line_of_unused(name, guess, several)
                if line:
                    lines[name] = line
        if not guess.kind.endswith("choice"):
            for group in self._option_groups(_ANY_SHARE):
                if not self._used & set(group):
                    lines[group[0]] = self._line_of_group(group)
        lines |= self._line_of_start_and_end(guess)
        options = guess.columns.get("options")
        if several and isinstance(options, str) and "options" not in self._user_columns:
            lines[options] = f"{options!r}: {several} --column options={options} says so"
        return lines

    def _line_of_group(self, group: tuple[str, ...]) -> str:
        """Return the line on columns that hold an option each."""
        names = ",".join(group)
        with_options = sum(each is not None for each in self._read_options(group))
        line = f"{', '.join(group)} hold options: --column options={names} takes them"
        if with_options < len(self._rows):
            line += (
                f" (of {with_options} of {len(self._rows)} rows; --set skip=unreadable leaves the "
                "others out)"
            )
        return line

    def _asking_columns(self, guess: Guess) -> list[str]:
        """Return the unused columns that hold whole questions."""
        outer, _, inner = str(guess.columns.get("question")).partition(".")
        names = [name for name in guess.unused if self._holds_questions(name)]
        if inner:
            names = [name for name in names if name != outer]
        return names

    def _holds_questions(self, name: str) -> bool:
        """Return True where a column holds objects with a question and its answer or options.

        Subtitles have a text, and nothing beside it.
        """
        for part in _flattened(self._columns[name]):
            if is_object(part):
                questions = _keys_named(part, "question")
                answers = _keys_named(part, "answer") | _keys_named(part, "options")
                if questions and answers - questions:
                    return True
        return False

    def _line_of_questions(self, asking: Sequence[str]) -> str:
        steps = "{part}"
        if len(asking) == 1 and any(map(is_array, self._columns[asking[0]])):
            steps = asking[0]
        outer_columns = {name.rpartition(".")[0] for name in asking} - {""}
        if outer_columns:
            steps = min(outer_columns).replace(".", "/") + "/{part}"
        verb = "holds" if len(asking) == 1 else "hold"
        names = ", ".join(map(repr, asking))
        return f"{names} {verb} whole questions: --set each={steps} makes a row of each"

    def _line_of_unused(self, name: str, guess: Guess, several: str) -> str:
        """Return a line on what a column holds beside whole questions; empty where nothing."""
        values = self._columns[name]
        if "question" not in self._user_columns and _mostly(values, _ends_in_question):
            question = str(guess.columns.get("question")).partition(".")[0]
            return (
                f"{name!r} holds questions too, and one is asked: "
                f"--column question={question}, or {name}"
            )
        if _plain_name(name) in _RUBRICS:
            return f"{name!r} holds what an answer is marked by, row by row: no key takes it"
        if str(self._chosen.get("options")).startswith(f"{name}."):
            return ""
        if _has_usual_name("options", name):
            return self._line_of_options(name, several)
        return self._line_of_answers_within(name, guess)

    def _line_of_options(self, name: str, several: str) -> str:
        """Return a line on a column that has a usual name for options."""
        values = self._columns[name]
        texts = _texts_of_objects(values)
        if texts:
            return (
                f"{name!r} holds options as objects: "
                f"--column options={name}.{texts[0]} takes their texts"
            )
        count = sum(map(_holds_options, values))
        if not count:
            return ""
        key = several or "with `kind: {column: …}` where the others are answered in words,"
        return (
            f"{name!r} holds options in {count} of {len(self._rows)} rows; "
            f"{key} --column options={name} takes them"
        )

    def _line_of_answers_within(self, name: str, guess: Guess) -> str:
        """Return a line on a column with lists of texts that the answers are among."""
        answer = guess.columns.get("answer")
        if guess.kind.endswith("choice") or not isinstance(answer, str):
            return ""
        count = 0
        for row, options in zip(self._rows, self._read_options(name), strict=True):
            if options is None or not isinstance(row.get(answer), str):
                continue
            place = option_texts.place_of(str(row[answer]), options, "text")
            count += place is not None
        if count < _TELLING_ROWS:
            return ""
        return (
            f"{name!r} holds options, and the answer is one of them in {count} of "
            f"{len(self._rows)} rows: --column options={name} takes them"
        )

    def _line_of_start_and_end(self, guess: Guess) -> dict[str, str]:
        """Return a line where start and end may bound what is shown."""
        start = guess.columns.get("start")
        end = guess.columns.get("end")
        if not isinstance(start, str) or self._user_columns.keys() & {
            "start",
            "end",
            "clip",
            "span",
        }:
            return {}
        has_answer = any(_has_usual_name("answer", name) for name in guess.unused)
        if guess.kind != "grounded_choice" and not has_answer:
            return {}
        as_clip = f"the part that is shown (--column clip={start},{end})"
        as_span = f"what is asked for (--column start={start} --column end={end})"
        return {start: f"{start} and {end} bound {as_clip}, or are {as_span}: say which"}

    # --- taking a column ---

    def _take(
        self, name: str, fits: Callable[[list[Any]], bool], why: str, *, usual_name: bool = False
    ) -> bool:
        """Take the column that fits and has the likeliest name.

        Return False where no column fits. With `usual_name`, only a column that has one of the
        usual names fits.
        """
        if name in self._chosen:
            return True
        fitting: list[str] = []
        for column, values in self._columns.items():
            if column in self._used or not values:
                continue
            if usual_name and not _has_usual_name(name, column):
                continue
            if fits(values):
                fitting.append(column)
        if fitting:
            self._choose(name, min(fitting, key=lambda column: _rank(name, column)), why)
        return bool(fitting)

    def _take_by_name(self, name: str, fits: Callable[[Any], bool]) -> None:
        """Take a column that has a usual name, where all its values fit."""
        self._take(name, lambda values: all(map(fits, values)), "name", usual_name=True)

    def _take_mostly_named(self, name: str, fits: Callable[[Any], bool]) -> bool:
        """Take a column that has a usual name, where nearly all its values fit."""
        return self._take(name, lambda values: _mostly(values, fits), "name", usual_name=True)

    def _take_by_values(self, name: str, fits: Callable[[Any], bool], why: str) -> bool:
        """Take a column of which nearly all values fit, whatever its name."""
        return self._take(name, lambda values: _mostly(values, fits), why)

    def _choose(self, name: str, column: Column, why: str) -> None:
        self._chosen[name] = column
        self._why[name] = why
        self._used.update(_parts(column))

    # --- options and answers ---

    def _use_columns_within_options(self) -> None:
        """Mark the columns within the options as used: none is the answer."""
        options = self._chosen.get("options")
        if isinstance(options, str):
            inner = [name for name in self._columns if name.startswith(f"{options}.")]
            self._used.update(inner)

    def _questions_end_in_options(self) -> bool:
        """Return True where nearly every question ends in its options.

        They stand there a line each (`A. a cup`).
        """
        self._find_question()
        question = self._chosen.get("question")
        return isinstance(question, str) and _mostly(
            self._columns.get(question, []), _ends_in_options
        )

    def _find_answer_to_options_in_questions(self) -> AnswerForm | None:
        """Take the column that names the options in the questions; return how it names them."""
        question = str(self._chosen["question"])
        candidates: list[_AnswerColumn] = []
        for column in self._able_to_answer():
            rank = _rank("answer", column)
            pairs = self._answers_to_options_in(question, column)
            if column == question or not pairs:
                continue
            forms = option_texts.answer_forms(pairs, _least_share(rank))
            if forms:
                candidates.append(_AnswerColumn((rank, column), column, forms))
        return self._take_answer(candidates)

    def _answers_to_options_in(
        self, question: str, column: str
    ) -> list[tuple[option_texts.Options, str]]:
        pairs: list[tuple[option_texts.Options, str]] = []
        for row in self._rows:
            value = row.get(column)
            question_parts = option_texts.options_within(str(row.get(question)))
            if _is_plain(value) and question_parts:
                _, options = question_parts
                pairs.append((options, as_text(value, "") or ""))
        return pairs

    def _option_groups(self, share: float = _SHARE) -> list[tuple[str, ...]]:
        """Return columns that hold an option each (`a0`, `a1`), the largest group first.

        They do so in a share of the rows at least.
        """
        endings: dict[str, list[tuple[str, str]]] = {}
        for name in self._columns:
            match = _OPTION.fullmatch(name)
            if match and name not in self._used:
                beginning, ending = match.groups()
                endings.setdefault(beginning, []).append((ending, name))
        groups: list[tuple[str, ...]] = []
        for members in endings.values():
            members.sort(key=_order_of_ending)
            names = _first_run(members)
            if len(names) >= _FEWEST_OPTIONS and self._options(names, share) is not None:
                groups.append(names)
        return sorted(groups, key=len, reverse=True)

    def _find_options_and_answer(self) -> AnswerForm | None:
        """Take the options that some column's values name; return how it names them."""
        for options in self._able_to_be_options():
            candidates = self._able_to_name(options)
            if candidates or "options" in self._user_columns:
                if "options" not in self._user_columns:
                    is_list = isinstance(options, str)
                    why = "lists of options" if is_list else "columns of options"
                    self._choose("options", options, why)
                return self._take_answer(candidates)
        return None

    def _able_to_be_options(self) -> list[Column]:
        if "options" in self._chosen:
            return [self._chosen["options"]]
        lists = [column for column in self._columns if self._options(column) is not None]
        lists.sort(key=lambda column: _rank("options", column))
        return [*lists, *self._option_groups()]

    def _able_to_name(self, options: Column) -> list[_AnswerColumn]:
        """Return the columns whose values name one of the options."""
        candidates: list[_AnswerColumn] = []
        for column in self._able_to_answer():
            if {column, column.partition(".")[0]} & set(_parts(options)):
                continue
            # Numbers that are no answers fit too, so a usual name is worth a bad row.
            rank = _rank("answer", column)
            forms = self._forms(options, column, _least_share(rank))
            if forms:
                fits_partly = not self._forms(options, column, share=1)
                order = (rank == _UNNAMED, fits_partly, rank)
                candidates.append(_AnswerColumn(order, column, forms))
        return candidates

    def _able_to_answer(self) -> list[str]:
        if "answer" in self._user_columns:
            return [str(self._user_columns["answer"])]
        return [column for column in self._columns if column not in self._used]

    def _take_answer(self, candidates: Sequence[_AnswerColumn]) -> AnswerForm | None:
        """Take the first column by order; return its form, or None where it has several."""
        if not candidates:
            return None
        answer = min(candidates, key=lambda candidate: candidate.order)
        if "answer" not in self._user_columns:
            why = f"each is one of the options ({', '.join(answer.forms)})"
            self._choose("answer", answer.name, why)
        return answer.forms[0] if len(answer.forms) == 1 else None

    def _options(
        self, column: Column, share: float = _SHARE
    ) -> list[option_texts.Options | None] | None:
        """Return each row's options, with None for a damaged one.

        None where the column, or the columns, hold none in a share of the rows.
        """
        row_options = self._read_options(column)
        options = [each for each in row_options if each is not None]
        if not options or len(options) < share * len(row_options):
            return None
        if _has_usual_name("options", str(column)):
            return row_options
        keys: list[str] = []
        texts: list[str] = []
        for each in options:
            keys += each.keys
            texts += each.texts
        if not all(_OPTION_KEY.fullmatch(key) for key in keys):
            return None
        if isinstance(column, str):
            are_numbers = all(text.replace(".", "", 1).isdigit() for text in texts)
            are_lines = all(map(_is_text, self._columns.get(column, ())))
            if are_numbers or are_lines:
                return None
        return row_options

    def _read_options(self, column: Column) -> list[option_texts.Options | None]:
        row_options: list[option_texts.Options | None] = []
        for row in self._rows:
            try:
                if isinstance(column, str):
                    value = row_cells.cell(row, column, "")
                else:
                    value = [row_cells.cell(row, part, "") for part in column]
                row_options.append(option_texts.read_options(value, ""))
            except InputError:
                row_options.append(None)
        return row_options

    def _forms(self, options: Column, answer: Column, share: float = _SHARE) -> list[AnswerForm]:
        """Return the forms in which a share of the answers name one of the options."""
        row_options = self._options(options)
        if row_options is None:
            return []
        pairs: list[tuple[option_texts.Options, str]] = []
        for row, each in zip(self._rows, row_options, strict=True):
            try:
                text = as_text(row_cells.cell(row, str(answer), ""), "")
            except InputError:
                return []
            if each is not None:
                pairs.append((each, text or ""))
        return option_texts.answer_forms(pairs, share)

    # --- spans ---

    def _find_span(self) -> None:
        if "span" in self._chosen or "start" in self._chosen:
            return
        if self._take("span", _are_windows, "pairs of times"):
            return
        for start in self._columns_named("start"):
            for end in self._columns_named("end"):
                if end != start and _are_windows(self._cells_of(start, end)):
                    self._choose("start", start, "a time before the end")
                    self._choose("end", end, "a time after the start")
                    return

    def _columns_named(self, name: str) -> list[str]:
        """Return the columns with a usual name for one of ours, the likeliest first."""
        columns = [column for column in self._columns if _has_usual_name(name, column)]
        return sorted(columns, key=lambda column: _rank(name, column))

    def _cells_of(self, start: str, end: str) -> Iterator[list[Any]]:
        for row in self._rows:
            yield [row_cells.cell(row, start, ""), row_cells.cell(row, end, "")]

    def _signs_of_units(self, columns: Mapping[str, Column]) -> list[str]:
        """Return the signs that the spans are in something else than seconds."""
        keys = ["span"] if "span" in columns else ["start", "end"]
        names = [str(columns[key]) for key in keys if key in columns]
        if not names:
            return []
        names_text = ", ".join(names)
        words = {_plain_name(name) for name in names}
        for name in names:
            words.update(map(_plain_name, re.split(r"[^A-Za-z]", name)))
        signs: list[str] = []
        for unit, unit_words in _UNIT_WORDS.items():
            if words & unit_words:
                signs.append(f"{names_text}: a name that says {unit}")
        rates = [name for name in self._columns if _plain_name(name) in _RATES]
        if rates:
            signs.append(f"there is a column {rates[0]}: frames a second")
        sign_in_times = self._sign_in_times(names, is_span="span" in columns)
        if sign_in_times and not signs:
            signs.append(sign_in_times)
        return signs

    def _sign_in_times(self, names: Sequence[str], *, is_span: bool) -> str:
        """Return the sign in the spans' numbers that they are not seconds.

        Empty where there is none.
        """
        times: list[float] = []
        for row in self._rows:
            cells: Any = [row.get(name) for name in names]
            if is_span:
                cells = cells[0]
            with suppress(InputError):
                times += video_windows.read_windows(cells, "")
        starts = times[::2]
        ends = times[1::2]
        points = sum(start == end for start, end in zip(starts, ends, strict=True))
        names_text = ", ".join(names)
        if points and points >= len(times) / 4:
            return (
                f"{names_text}: {points} of {len(starts)} begin where they end, "
                "as numbers of pieces do"
            )
        if len(times) > 1 and max(times) <= 1:
            return f"{names_text}: all lie between 0 and 1, as ratios do"
        return ""

    # --- videos, ids and questions ---

    def _find_video(self) -> None:
        # A column of the id may be the video too: an id is often video and number.
        columns_of_id = set(PLACE.findall(str(self._user_columns.get("id", ""))))
        self._used -= columns_of_id
        self._take_video()
        self._used |= columns_of_id
        if not {"video", "videos"} & self._chosen.keys():
            self._find_videos()

    def _take_video(self) -> None:
        if self._media is not None and self._take_by_values(
            "video", self._is_in_media, "its files are in the folder"
        ):
            return
        if self._take_by_values("video", _is_video_file, "a video's suffix"):
            return
        if self._take_mostly_named("video", _is_one_line):
            return
        self._take_by_values("video", _is_youtube_id, "ids as YouTube has them")

    def _is_in_media(self, value: object) -> bool:
        return self._media is not None and self._media.has(str(value))

    def _find_videos(self) -> None:
        """Take a column of lists of videos."""
        for column, values in self._columns.items():
            names = [str(name) for name in _flattened(values)]
            if all(map(is_array, values)) and _mostly(names, has_video_suffix):
                self._choose("videos", column, "several videos' suffixes")
                return

    def _find_id(self) -> None:
        if "id" in self._chosen or self._take("id", self._is_unique, "unique", usual_name=True):
            return
        # Of ids of which a few are double these are told; a column of other things repeats more.
        if self._take("id", self._is_nearly_unique, "name", usual_name=True):
            return
        keys = [name for name in self._columns if self._is_unique_key(name)]
        if keys:
            self._choose("id", min(keys, key=lambda column: _rank("id", column)), "unique")
            return
        column, why = f"{{{row_cells.ROW}}}", "no column is unique: the row's number"
        video = self._chosen.get("video")
        if isinstance(video, str):
            number = self._number_within(video)
            names = [str(row.get(video)) for row in self._rows]
            if number:
                column, why = f"{{{video}}}_{{{number}}}", "unique together"
            elif len(set(names)) == len(names):
                column, why = video, "unique: a question a video"
        self._chosen["id"] = column
        self._why["id"] = why

    def _is_unique_key(self, name: str) -> bool:
        values = self._columns[name]
        if name in self._used:
            return False
        return self._is_unique(values) and all(map(_is_key, values))

    def _is_unique(self, values: list[Any]) -> bool:
        if not all(map(_is_plain, values)):
            return False
        distinct_values = set(map(str, values))
        return len(values) == len(self._rows) == len(distinct_values)

    def _is_nearly_unique(self, values: list[Any]) -> bool:
        distinct_values = set(map(str, values))
        return all(map(_is_key, values)) and len(distinct_values) >= _NEARLY_ALL * len(self._rows)

    def _number_within(self, video: str) -> str | None:
        """Return a column of numbers that tells the rows of a video apart."""
        for column, values in self._columns.items():
            if column == video or column in self._used:
                continue
            if not all(map(_is_digits, values)):
                continue
            pairs: set[tuple[str, str]] = set()
            for row in self._rows:
                pairs.add((str(row.get(video)), str(row.get(column))))
            if len(pairs) == len(self._rows):
                return column
        return None

    def _find_question(self) -> None:
        if self._take_mostly_named("question", _is_wordy):
            return
        lengths: dict[str, float] = {}
        for name, values in self._columns.items():
            if name in self._used:
                continue
            if _mostly(values, _is_wordy) and _mostly(values, _has_space):
                lengths[name] = median([len(str(value)) for value in values])
        marked = [name for name in lengths if _mostly(self._columns[name], _ends_in_question, 0.5)]
        if lengths:
            longest = max(marked or lengths, key=lambda name: lengths[name])
            why = "texts that end in ?" if marked else "the longest texts"
            self._choose("question", longest, why)


# --- columns and their names
# --------------------------------------------------------------------------------------------

_UNNAMED = 1000
_WITHIN = 100


def _columns(rows: Sequence[Cells]) -> dict[str, list[Any]]:
    """Return each column's values that are not empty.

    What lies within an object is a column `object.name` too.
    """
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values = columns.setdefault(name, [])
            if value is not None and value != "":
                values.append(value)
            if is_object(value):
                for inner, part in value.items():
                    columns.setdefault(f"{name}.{inner}", []).append(part)
    return columns


def _order_of_ending(member: tuple[str, str]) -> tuple[int, str]:
    """Return the order of a column among its group: by its ending, 10 after 9."""
    ending, _ = member
    return len(ending), ending.upper()


def _first_run(members: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the names of columns up to the first gap in their endings.

    A column `n` is none of the options `A` and `B`.
    """
    names: list[str] = []
    place_before: int | None = None
    for ending, name in members:
        place = int(ending) if ending.isdigit() else ord(ending.upper())
        if place_before is not None and place != place_before + 1:
            break
        names.append(name)
        place_before = place
    return tuple(names)


def _parts(column: Column) -> tuple[str, ...]:
    return (column,) if isinstance(column, str) else column


def _plain_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _rank(name: str, column: str) -> int:
    """Return the rank of a column's name among the usual names for one of ours.

    0 is the likeliest, `_UNNAMED` none of the usual ones.
    """
    outer, _, inner = column.rpartition(".")
    plain = _plain_name(inner)
    if plain in NAMES[name]:
        rank = NAMES[name].index(plain)
        return rank + _WITHIN if outer else rank
    if name in {"start", "end"} and name in re.split(r"[^a-z0-9]", inner.lower()):
        return len(NAMES[name])  # raw_start, start_clip
    return _UNNAMED


def _has_usual_name(name: str, column: str) -> bool:
    return _rank(name, column) < _UNNAMED


def _keys_named(cells: Mapping[Any, Any], name: str) -> set[str]:
    return {str(key) for key in cells if _has_usual_name(name, str(key))}


def _least_share(rank: int) -> float:
    """Return the share of answers that must be options in a column of this rank."""
    return _SHARE if rank == _UNNAMED else _NAMED_SHARE


# --- what values look like
# --------------------------------------------------------------------------------------------


def _flattened(values: Iterable[Any]) -> list[Any]:
    """Return values, with the parts of a list in place of it."""
    parts: list[Any] = []
    for value in values:
        if is_array(value):
            parts += value
        else:
            parts.append(value)
    return parts


def _mostly(values: Sequence[Any], fits: Callable[[Any], bool], share: float = _SHARE) -> bool:
    return bool(values) and sum(map(fits, values)) >= share * len(values)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_plain(value: object) -> bool:
    return isinstance(value, str) or is_number(value)


def _is_label(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_LABEL


def _is_key(value: object) -> bool:
    text = str(value)
    return len(text) <= _LONGEST_KEY and " " not in text


def _is_digits(value: object) -> bool:
    return is_number(value) or (isinstance(value, str) and value.isdigit())


def _is_one_line(value: object) -> bool:
    return _is_plain(value) and "\n" not in str(value)


def _is_video_file(value: object) -> bool:
    return isinstance(value, str) and has_video_suffix(value)


def _is_youtube_id(value: object) -> bool:
    return isinstance(value, str) and _YOUTUBE.fullmatch(value) is not None


def _is_wordy(value: object) -> bool:
    return isinstance(value, str) and len(value.strip()) > 1


def _has_space(value: object) -> bool:
    return " " in str(value).strip()


def _ends_in_question(value: object) -> bool:
    return str(value).strip().endswith(("?", "\uff1f"))


def _ends_in_options(value: object) -> bool:
    return isinstance(value, str) and option_texts.options_within(value) is not None


def _holds_options(value: Any) -> bool:  # noqa: ANN401 - a cell
    """Return True where a cell is a list or mapping of two or more texts."""
    with suppress(InputError):
        return not isinstance(value, str) and len(option_texts.read_options(value, "").texts) > 1
    return False


def _several_answers(answers: Sequence[Any]) -> str:
    """Return the note on answers that name several options; empty where none does."""
    count = 0
    for answer in answers:
        if _LETTERS.fullmatch(str(answer).strip()):
            count += 1
    if not count:
        return ""
    return f"{count} of {len(answers)} answers name several of them: --set answers=all, or any, and"


def _texts_of_objects(values: Iterable[Any]) -> list[str]:
    """Return the keys that have texts in the first object of lists of objects."""
    for value in values:
        if is_array(value):
            for part in value:
                if is_object(part):
                    return [key for key, text in part.items() if _is_text(text)]
    return []


def _are_windows(values: Iterable[Any]) -> bool:
    try:
        return all(video_windows.read_windows(value, "") for value in values)
    except InputError:
        return False
