"""Guess which column of a table is the question, which the video, and so on.

Values decide what a column can be (ids are unique, a video has a file's suffix, an answer is one of
the options). Where several columns fit, the usual name wins. Nothing is guessed against the rows.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.tables import as_text
from reelbench.base.values import is_array, is_number
from reelbench.data import option_texts, row_cells, video_windows
from reelbench.registry.benchmark_kinds import FileKind
from reelbench.registry.mapping_words import PLACEHOLDER, columns_named
from reelbench.registry.spec import AnswerFormat
from reelbench.tasks import unused_columns
from reelbench.tasks.table_columns import (
    ANY_SHARE,
    LABELS,
    NAMES,
    SENTENCE_WORDS,
    SHARE,
    UNIT_WORDS,
    UNNAMED,
    Cells,
    Column,
    TableColumns,
    are_mostly,
    are_windows,
    column_parts,
    ends_in_options,
    ends_in_question,
    flattened,
    has_usual_name,
    is_text,
    is_text_or_number,
    plain_name,
    rank_of_name,
    words_of_name,
)
from reelbench.tasks.unused_columns import ChosenMapping
from reelbench.video.folder_layouts import VideoFolder
from reelbench.video.media_roots import has_video_suffix

_YOUTUBE = re.compile(r"[\w-]{11}")
_NAMED_SHARE = 0.2  # of a column with a usual name: most answers may be kept back
_NEARLY_ALL = 0.9
_FEW_LABELS = 30
_LONGEST_LABEL = 60
_PAIR = 2
_LONGEST_KEY = 64

_IN_QUESTION = "{in: question}"
_YES_NO = "{are: [yes, no]}"
OPTIONS_SEEN = {_IN_QUESTION: "the questions end in them", _YES_NO: "every answer is yes or no"}
"""Value of the key `options` -> the sign that it was guessed by."""


@dataclass
class Guess:
    """A guess of a benchmark's kind and of its columns (ours -> theirs).

    `why` has the reason for each column. `options` is the value of that key, where no column holds
    them. `units` has the signs that spans may not be in seconds: then nothing is guessed.
    `several_windows` is the line on rows with several, where there are such. `unused` has what each
    column that nothing uses holds, in a word or two; `unread` has a line for each unused or
    doubtful column whose content scores would miss; the line says which key reads it. `beside` has
    such lines on what stands beside the rows in their file. `videos_found` says how many videos
    the user's folder has.
    """

    kind: FileKind
    columns: dict[str, Column] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    answer_is: AnswerFormat | None = None
    facets: list[str] = field(default_factory=list)
    missing_columns: list[str] = field(default_factory=list)
    options: str = ""
    units: list[str] = field(default_factory=list)
    several_windows: str = ""
    unused: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    videos_found: str = ""


class _AnswerColumn(NamedTuple):
    """A column whose values name options, and the forms in which they can be read."""

    sort_key: tuple[Any, ...]
    name: str
    answer_formats: list[AnswerFormat]

    @property
    def is_named(self) -> bool:
        """True where the column has a usual name for the answer."""
        return has_usual_name("answer", self.name)


def guess(
    rows: Sequence[Cells],
    kind: FileKind | None = None,
    *,
    columns: Mapping[str, Column] | None = None,
    media: VideoFolder | None = None,
    without: Sequence[str] = (),
) -> Guess:
    """Guess how a table's columns are to be read.

    Args:
        rows: The table's rows.
        kind: The benchmark's kind, where the user says it.
        columns: Columns that the user names, ours -> theirs. They are taken as they are.
        media: The folder with the videos. A column that names files in it is the video.
        without: Columns that are left unused, whatever they hold.
    """
    return _Table(rows, dict(columns or {}), media, without).guess(kind)


class _Table:
    def __init__(
        self,
        rows: Sequence[Cells],
        user_columns: dict[str, Column],
        media: VideoFolder | None,
        without: Sequence[str],
    ) -> None:
        self._rows = rows
        self._user_columns = user_columns
        self._media = media
        self._table = TableColumns(rows, without)
        self._columns = self._table.values
        self._why: dict[str, str] = {}
        self._chosen: dict[str, Column] = dict(user_columns)
        self._used: set[str] = set()
        self._template_columns: set[str] = set()
        for name, column in user_columns.items():
            self._use_column_of_user(name, column)

    def _use_column_of_user(self, name: str, column: Column) -> None:
        """Mark a column of the user's as used.

        The columns within a template stay free: that of `{id}.mp4` may be the id, too. The times
        of a clip are nothing else.
        """
        for part in column_parts(column):
            if PLACEHOLDER.search(part) and name != "clip":
                self._template_columns.update(columns_named(part))
            else:
                self._used.update(columns_named(part))

    def guess(self, kind: FileKind | None) -> Guess:
        """Guess the columns one after another. Each that is taken is not tried again."""
        answer_format = None
        options_key = ""
        if kind in (None, "choice", "grounded_choice"):
            answer_format = self._choose_options_and_answer(self._columns_named_options())
            if "options" not in self._chosen and self._questions_end_in_options():
                options_key = _IN_QUESTION
                answer_format = self._choose_answer_to_options_in_questions()
            elif "options" not in self._chosen:
                answer_format = self._choose_options_and_answer(self._columns_of_lists())
        self._use_columns_within_options()
        if kind in (None, "span", "grounded_choice") and not options_key:
            self._choose_span()
        guessed_kind = kind or self._kind_of_columns(options_key)
        self._choose_video()
        self._choose_id()
        self._choose_question()
        if guessed_kind in {"open", "exact"} or guessed_kind.endswith("choice"):
            self._choose_answer_by_name()
        if kind is None and guessed_kind == "open":
            guessed_kind = self._kind_of_answers()
            if guessed_kind == "choice":
                options_key = _YES_NO
        self._choose_by_name("duration", _is_time)
        self._choose_by_name("language", is_text)
        self._choose_by_name("reasoning", _is_reasoning)
        columns = self._columns_of_kind(guessed_kind)
        result = Guess(guessed_kind, columns, self._why, answer_format, options=options_key)
        result.facets = self._facets()
        result.units = self._signs_of_other_units(columns)
        result.several_windows = self._hint_on_several_windows(columns)
        result.missing_columns = self._missing_columns(result)
        chosen_mapping = ChosenMapping(
            guessed_kind,
            columns,
            used=frozenset({*self._used, *self._template_columns, *result.facets}),
            user_columns=self._user_columns,
            is_kind_stated=kind is not None,
            answer_format=answer_format,
            options_key=options_key,
        )
        unused = unused_columns.report_unused_columns(self._table, chosen_mapping)
        result.unused = unused.content_by_column
        result.unread = unused.hint_by_column
        return result

    # --- what the guess says ---

    def _kind_of_columns(self, options_key: str) -> FileKind:
        has_span = "span" in self._chosen or "start" in self._chosen
        if options_key:
            return "choice"
        if "options" in self._chosen:
            return "grounded_choice" if has_span else "choice"
        return "span" if has_span else "open"

    def _kind_of_answers(self) -> FileKind:
        """Return the kind of questions without options or spans, by the look of their answers."""
        answer, *_ = column_parts(self._chosen.get("answer", ""))
        answers = self._columns.get(answer, [])
        if not answers:
            return "open"
        word_counts = [len(str(value).split()) for value in answers]
        if median(word_counts) >= SENTENCE_WORDS:
            return "open"
        distinct = {str(value).strip().lower().removesuffix(".") for value in answers}
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
        # What the user names beside our usual columns: `clip`, `rubric`, facets.
        for name in self._user_columns:
            if name not in NAMES and name != "videos":
                names.append(name)
        columns: dict[str, Column] = {}
        for name in names:
            if name in self._chosen:
                columns[name] = self._chosen[name]
        return columns

    def _facets(self) -> list[str]:
        names: list[str] = []
        for name, values in self._columns.items():
            if "." in name or name in self._used:
                continue
            if plain_name(name) in LABELS["facets"] and self._are_labels(values):
                names.append(name)
        return names

    def _are_labels(self, values: list[Any]) -> bool:
        labels = flattened(values)
        distinct_labels = set(map(str, labels))
        half_of_rows = len(self._rows) // 2
        most_labels = min(_FEW_LABELS, max(2, half_of_rows))
        if not labels or len(distinct_labels) > most_labels:
            return False
        return all(map(_is_label, labels))

    def _missing_columns(self, guess: Guess) -> list[str]:
        """Return a line for each thing that the kind needs and no column is."""
        columns = guess.columns
        missing = [name for name in self._needed_columns(guess.kind) if name not in columns]
        if guess.options and "options" in missing:
            missing.remove("options")
        missing_columns = [f"no column looks like the {name}" for name in missing]
        if guess.kind in {"span", "grounded_choice"} and not columns.keys() & {"span", "start"}:
            missing_columns.append(
                "no column looks like the span, and no two like its start and end"
            )
        has_options = {"options", "answer"} <= columns.keys()
        is_choice = guess.kind.endswith("choice")
        if is_choice and has_options and guess.answer_is is None:
            answer_formats = self._table.matching_answer_formats(
                columns["options"], str(columns["answer"])
            )
            if len(answer_formats) > 1:
                readings = " or as ".join(answer_formats)
                missing_columns.append(
                    f"answers can be read as {readings}, which differ: give --answer-is"
                )
        return missing_columns

    # --- taking a column ---

    def _choose_best(
        self,
        name: str,
        fits: Callable[[list[Any]], bool],
        why: str,
        *,
        requires_usual_name: bool = False,
        among: Sequence[str] | None = None,
    ) -> bool:
        """Choose the column that fits and has the likeliest name.

        Return False where no column fits. With `requires_usual_name`, only a column that has one of
        the usual names fits; with `among`, only one of these.
        """
        if name in self._chosen:
            return True
        fitting: list[str] = []
        for column in self._columns if among is None else among:
            values = self._columns[column]
            if column in self._used or not values:
                continue
            if requires_usual_name and not has_usual_name(name, column):
                continue
            if fits(values):
                fitting.append(column)
        if fitting:
            self._choose(name, min(fitting, key=lambda column: rank_of_name(name, column)), why)
        return bool(fitting)

    def _choose_by_name(self, name: str, fits: Callable[[Any], bool]) -> None:
        """Choose a column that has a usual name, where all its values fit."""
        self._choose_best(
            name, lambda values: all(map(fits, values)), "name", requires_usual_name=True
        )

    def _choose_by_name_with_exceptions(self, name: str, fits: Callable[[Any], bool]) -> bool:
        """Choose a column that has a usual name, where nearly all its values fit."""
        return self._choose_best(
            name, lambda values: are_mostly(values, fits), "name", requires_usual_name=True
        )

    def _choose_by_values(self, name: str, fits: Callable[[Any], bool], why: str) -> bool:
        """Choose a column of which nearly all values fit, whatever its name."""
        return self._choose_best(name, lambda values: are_mostly(values, fits), why)

    def _choose(self, name: str, column: Column, why: str) -> None:
        self._chosen[name] = column
        self._why[name] = why
        self._used.update(column_parts(column))

    # --- options and answers ---

    def _use_columns_within_options(self) -> None:
        """Mark the columns within the options as used: none is the answer."""
        options = self._chosen.get("options")
        if isinstance(options, str):
            inner = [name for name in self._columns if name.startswith(f"{options}.")]
            self._used.update(inner)

    def _questions_end_in_options(self) -> bool:
        """Return True where nearly every question ends in its options."""
        if not any(are_mostly(values, ends_in_options) for values in self._columns.values()):
            return False
        self._choose_question()
        question = self._chosen.get("question")
        return isinstance(question, str) and are_mostly(
            self._columns.get(question, []), ends_in_options
        )

    def _choose_answer_to_options_in_questions(self) -> AnswerFormat | None:
        """Choose the column that names the options in the questions. Return how it names them."""
        question = str(self._chosen["question"])
        candidates: list[_AnswerColumn] = []
        for column in self._answer_candidates():
            rank = rank_of_name("answer", column)
            pairs = self._pairs_of_options_and_answer(question, column)
            if column == question or not pairs:
                continue
            answer_formats = option_texts.matching_answer_formats(
                pairs, _min_share_of_answers(rank)
            )
            if answer_formats:
                candidates.append(_AnswerColumn((rank, column), column, answer_formats))
        return self._choose_answer(candidates)

    def _pairs_of_options_and_answer(
        self, question: str, column: str
    ) -> list[tuple[option_texts.Options, str]]:
        """Return the options that each question ends in, with the answer in a column."""
        pairs: list[tuple[option_texts.Options, str]] = []
        for row in self._rows:
            answer = row.get(column)
            question_parts = option_texts.split_off_options(str(row.get(question)))
            if is_text_or_number(answer) and question_parts:
                pairs.append((question_parts.options, as_text(answer, "") or ""))
        return pairs

    def _choose_options_and_answer(self, candidates: Sequence[Column]) -> AnswerFormat | None:
        """Choose the first options that some column's values name. Return how it names them."""
        for options in candidates:
            answer_columns = self._columns_naming_options(options)
            if "options" in self._user_columns:
                return self._choose_answer(answer_columns)
            if answer_columns:
                is_one_column = isinstance(options, str)
                why = "lists of options" if is_one_column else "columns of options"
                self._choose("options", options, why)
                return self._choose_answer(answer_columns)
        return None

    def _columns_named_options(self) -> list[Column]:
        """Return the user's options, else lists with a usual name, and columns of one each."""
        if "options" in self._chosen:
            return [self._chosen["options"]]
        named = [column for column in self._lists() if has_usual_name("options", column)]
        named.sort(key=lambda column: rank_of_name("options", column))
        return [*named, *self._groups(within_objects=False)]

    def _columns_of_lists(self) -> list[Column]:
        """Return lists of texts by other names: options, or a film's labels or events."""
        lists = [column for column in self._lists() if not has_usual_name("options", column)]
        return [*lists, *self._groups(within_objects=True)]

    def _groups(self, *, within_objects: bool) -> list[tuple[str, ...]]:
        groups = self._table.option_groups(self._used)
        return [group for group in groups if ("." in group[0]) == within_objects]

    def _lists(self) -> list[str]:
        return [column for column in self._columns if self._table.are_options(column)]

    def _columns_naming_options(self, options: Column) -> list[_AnswerColumn]:
        """Return the columns whose values name one of the options."""
        is_usual = self._table.has_name_of_options(options)
        candidates: list[_AnswerColumn] = []
        for column in self._answer_candidates():
            if {column, column.partition(".")[0]} & set(column_parts(options)):
                continue
            # Numbers that are no answers fit too, so a usual name is worth a bad row.
            rank = rank_of_name("answer", column)
            answer_formats = self._table.matching_answer_formats(
                options, column, _min_share_of_answers(rank)
            )
            names_places = {"index0", "index1"} & set(answer_formats) or not isinstance(
                options, str
            )
            if not is_usual and rank == UNNAMED and names_places and "text" not in answer_formats:
                # Their number, or anybody's count, is the place of one of them by chance.
                continue
            if answer_formats:
                fits_partly = not self._table.matching_answer_formats(options, column, share=1)
                sort_key = (rank == UNNAMED, fits_partly, rank)
                candidates.append(_AnswerColumn(sort_key, column, answer_formats))
        return candidates

    def _choose_answer_by_name(self) -> None:
        """Choose a column that is called an answer, but none of a group of options."""
        option_columns = set(self._table.columns_called_options(self._used))
        for group in self._table.option_groups(self._used, ANY_SHARE):
            option_columns.update(group)
        among = [name for name in self._columns if name not in option_columns]
        self._choose_best(
            "answer",
            lambda values: all(map(is_text_or_number, values)),
            "name",
            requires_usual_name=True,
            among=among,
        )

    def _answer_candidates(self) -> list[str]:
        if "answer" in self._user_columns:
            return [str(self._user_columns["answer"])]
        able: list[str] = []
        for column in self._columns:
            # The number within an id may be the place of an option by chance.
            is_part = column in self._template_columns and not has_usual_name("answer", column)
            if column not in self._used and not is_part:
                able.append(column)
        return able

    def _choose_answer(self, candidates: Sequence[_AnswerColumn]) -> AnswerFormat | None:
        """Choose the first column by order. Return its form, or None where it has several."""
        if not candidates:
            return None
        answer = min(candidates, key=lambda candidate: candidate.sort_key)
        if "answer" not in self._user_columns:
            why = f"each is one of the options ({', '.join(answer.answer_formats)})"
            self._choose("answer", answer.name, why)
        return answer.answer_formats[0] if len(answer.answer_formats) == 1 else None

    # --- spans ---

    def _choose_span(self) -> None:
        if "span" in self._chosen or "start" in self._chosen:
            return
        ends = {*self._columns_named("start"), *self._columns_named("end")}
        spans = [name for name in self._columns if name not in ends and _may_be_times(name)]
        if "clip" in self._user_columns:
            # What is shown is known; only what is called an answer is asked for.
            is_choice = "options" in self._chosen
            spans = [name for name in spans if has_usual_name("answer", name) and not is_choice]
        if self._choose_best("span", are_windows, "pairs of times", among=spans):
            return
        if "clip" in self._user_columns:
            return
        for start in self._columns_named("start"):
            for end in self._columns_named("end"):
                if end != start and are_windows(self._start_and_end_cells(start, end)):
                    self._choose("start", start, "a time before the end")
                    self._choose("end", end, "a time after the start")
                    return

    def _hint_on_several_windows(self, columns: Mapping[str, Column]) -> str:
        """Return the line on rows whose span is several windows. Empty where none is."""
        name = columns.get("span")
        if not isinstance(name, str) or "question" not in columns:
            return ""
        count = 0
        for row in self._rows:
            with suppress(InputError):
                count += len(video_windows.read_windows(row_cells.cell(row, name, ""), "")) > _PAIR
        if not count:
            return ""
        return (
            f"{name!r} contains several windows in {count} of {len(self._rows)} rows: say which "
            "count "
            "with --set windows=best (the one that fits the answer best), union (all, merged), "
            "f1 (all, counted), matched (one to one) or ranked (an answer lists several)"
        )

    def _columns_named(self, name: str) -> list[str]:
        """Return the columns with a usual name for one of ours, the likeliest first."""
        columns = [column for column in self._columns if has_usual_name(name, column)]
        return sorted(columns, key=lambda column: rank_of_name(name, column))

    def _start_and_end_cells(self, start: str, end: str) -> Iterator[list[Any]]:
        for row in self._rows:
            yield [row_cells.cell(row, start, ""), row_cells.cell(row, end, "")]

    def _signs_of_other_units(self, columns: Mapping[str, Column]) -> list[str]:
        """Return the signs that the spans are in something else than seconds."""
        keys = ["span"] if "span" in columns else ["start", "end"]
        names = [str(columns[key]) for key in keys if key in columns]
        if not names:
            return []
        names_text = ", ".join(names)
        words = {plain_name(name) for name in names}
        for name in names:
            words.update(map(plain_name, re.split(r"[^A-Za-z]", name)))
        signs: list[str] = []
        for unit, unit_words in UNIT_WORDS.items():
            if words & unit_words:
                signs.append(f"{names_text}: a name that says {unit}")
        for name in self._columns:
            unit = self._stated_unit(name)
            if unit:
                signs.append(f"there is a column {name}: {unit}")
        rates = [name for name in self._columns if plain_name(name) in LABELS["rates"]]
        if rates:
            signs.append(f"there is a column {rates[0]}: frames a second")
        padded = self._padded_time(names)
        if padded:
            signs.append(
                f"{names_text}: {padded!r} has a leading zero, as minutes and seconds do "
                "(write these as 1:30)"
            )
        sign_in_times = self._unit_sign_in_times(names, is_span="span" in columns)
        if sign_in_times and not signs:
            signs.append(sign_in_times)
        return signs

    def _stated_unit(self, name: str) -> str:
        """Return the unit that a column states of all rows, if it is not seconds."""
        if plain_name(name) not in LABELS["stated_units"]:
            return ""
        units = {str(value).strip() for value in self._columns[name]}
        if len(units) != 1:
            return ""
        [unit] = units
        if unit.lower() in LABELS["words_of_seconds"]:
            return ""
        return repr(unit)

    def _padded_time(self, names: Sequence[str]) -> str:
        """Return the first time with a leading zero in these columns. Empty where none has."""
        for row in self._rows:
            for name in names:
                padded = video_windows.padded_time(row.get(name))
                if padded:
                    return padded
        return ""

    def _unit_sign_in_times(self, names: Sequence[str], *, is_span: bool) -> str:
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
            return f"{names_text}: all are between 0 and 1, as ratios are"
        return ""

    # --- videos, ids and questions ---

    def _choose_video(self) -> None:
        self._choose_single_video()
        if not {"video", "videos"} & self._chosen.keys():
            self._choose_list_of_videos()

    def _choose_single_video(self) -> None:
        if self._media is not None and self._choose_by_values(
            "video", self._is_in_media, "its files are in the folder"
        ):
            return
        if self._choose_by_values("video", _is_video_file, "a video's suffix"):
            return
        if self._choose_by_name_with_exceptions("video", _is_one_line):
            return
        self._choose_by_values("video", _is_youtube_id, "ids as YouTube has them")

    def _is_in_media(self, value: object) -> bool:
        return self._media is not None and self._media.has(str(value))

    def _choose_list_of_videos(self) -> None:
        """Choose a column of lists of videos."""
        for column, values in self._columns.items():
            names = [str(name) for name in flattened(values)]
            if not all(map(is_array, values)) or not are_mostly(names, has_video_suffix):
                continue
            if len(names) == len(values):
                self._choose("video", column, "lists of one video")
            else:
                self._choose("videos", column, "several videos' suffixes")
            return

    def _choose_id(self) -> None:
        if "id" in self._chosen or self._choose_best(
            "id", self._is_unique, "unique", requires_usual_name=True
        ):
            return
        # Of ids of which a few are double these are told; a column of other things repeats more.
        if self._choose_best("id", self._is_nearly_unique, "name", requires_usual_name=True):
            return
        keys = [name for name in self._columns if self._is_unique_key(name)]
        if keys:
            self._choose("id", min(keys, key=lambda column: rank_of_name("id", column)), "unique")
            return
        column, why = f"{{{row_cells.ROW}}}", "no free column is unique: the row's number"
        video = self._chosen.get("video")
        if isinstance(video, str) and not PLACEHOLDER.search(video):
            number = self._question_number_column(video)
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
        if not all(map(is_text_or_number, values)):
            return False
        distinct_values = set(map(str, values))
        return len(values) == len(self._rows) == len(distinct_values)

    def _is_nearly_unique(self, values: list[Any]) -> bool:
        distinct_values = set(map(str, values))
        return all(map(_is_key, values)) and len(distinct_values) >= _NEARLY_ALL * len(self._rows)

    def _question_number_column(self, video: str) -> str | None:
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

    def _choose_question(self) -> None:
        if self._choose_by_name_with_exceptions("question", _is_wordy):
            return
        lengths: dict[str, float] = {}
        for name, values in self._columns.items():
            if name in self._used or has_usual_name("options", name):
                continue
            if plain_name(name) in LABELS["wrong"]:
                continue
            if are_mostly(values, _is_wordy) and are_mostly(values, _has_space):
                lengths[name] = median([len(str(value)) for value in values])
        marked: list[str] = []
        for name in lengths:
            if are_mostly(self._columns[name], ends_in_question, 0.5):
                marked.append(name)
        if lengths:
            longest = max(marked or lengths, key=lambda name: lengths[name])
            why = "texts that end in ?" if marked else "the longest texts"
            self._choose("question", longest, why)


# --- what values look like
# --------------------------------------------------------------------------------------------


def _min_share_of_answers(rank: int) -> float:
    """Return the share of answers that must be options in a column of this rank."""
    return SHARE if rank == UNNAMED else _NAMED_SHARE


def _is_time(value: object) -> bool:
    """Return True for a number of seconds, and for `30s` and `03:28`."""
    with suppress(InputError):
        video_windows.seconds(value, "")
        return True
    return False


def _may_be_times(name: str) -> bool:
    """Return False for a name that says that pairs of numbers are none of times."""
    return not words_of_name(name) & LABELS["no_times"]


def _is_label(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_LABEL


def _is_key(value: object) -> bool:
    text = str(value)
    is_media = text.lower().endswith((*unused_columns.PICTURES, *unused_columns.SOUNDS))
    return len(text) <= _LONGEST_KEY and " " not in text and not is_media


def _is_digits(value: object) -> bool:
    return is_number(value) or (isinstance(value, str) and value.isdigit())


def _is_reasoning(value: object) -> bool:
    return all(map(is_text_or_number, value)) if is_array(value) else is_text_or_number(value)


def _is_one_line(value: object) -> bool:
    return is_text_or_number(value) and "\n" not in str(value)


def _is_video_file(value: object) -> bool:
    return isinstance(value, str) and has_video_suffix(value)


def _is_youtube_id(value: object) -> bool:
    return isinstance(value, str) and _YOUTUBE.fullmatch(value) is not None


def _is_wordy(value: object) -> bool:
    return isinstance(value, str) and len(value.strip()) > 1


def _has_space(value: object) -> bool:
    return " " in str(value).strip()
