"""Which column of a table is the question, which the video, and so on: guessed by values first, then by names.

Values decide what a column can be (ids are unique, a video has a file's suffix, an answer is one of the options); of
several that can, the usual name wins. Nothing is taken that the rows contradict.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from reelbench.registry.benchmark_file import FileKind
from reelbench.registry.data import mapped_rows
from reelbench.registry.errors import InputError
from reelbench.registry.media.library import SUFFIXES
from reelbench.registry.spec import AnswerForm
from reelbench.registry.values import is_array, is_number, is_object

Cells = Mapping[str, Any]

_WORDS: Mapping[str, Mapping[str, str]] = json.loads(
    Path(__file__).with_name("column_names.json").read_text(encoding="utf-8")
)
NAMES = {name: usual.split() for name, usual in _WORDS["columns"].items()}
"""Column of ours -> what it is usually called, the likeliest first; case and signs don't count."""

_FACETS = frozenset(_WORDS["labels"]["facets"].split())
_UNIT_WORDS = {unit: frozenset(words.split()) for unit, words in _WORDS["units"].items()}
_RATES = frozenset(_WORDS["labels"]["rates"].split())
_SHOWN_SHAPE = 200
_OPTION = re.compile(r"(.*?)[ _-]?(\d{1,2}|[A-Za-z])")
_OPTION_KEY = re.compile(r"(?:option|choice|answer|opt|ans)?[ _-]?(?:[A-Za-z]|\d{1,2})", re.IGNORECASE)
_LETTERS = re.compile(r"[A-J](?:\s*[,;/&]?\s*[A-J])+")
_YOUTUBE = re.compile(r"[\w-]{11}")
_SHARE = 0.98
_FEW = 30
_SHORT_WORDS = 4
_LONGEST_KEY = 64

Column = str | tuple[str, ...]


@dataclass
class Guess:
    """What was understood of a table.

    Attributes:
        kind: Of the benchmark.
        columns: Ours -> theirs.
        why: Ours -> what it was seen by, for a comment.
        answer_is: How the right option is named.
        facets: Columns of labels.
        lacking: What could not be found, a line each.
        options_in_question: Whether the questions end in their options.
        units: Why spans may be no seconds: nothing is guessed then.
        unused: Columns that nothing is taken from.
    """

    kind: FileKind
    columns: dict[str, Column] = field(default_factory=dict[str, Column])
    why: dict[str, str] = field(default_factory=dict[str, str])
    answer_is: AnswerForm | None = None
    facets: list[str] = field(default_factory=list[str])
    lacking: list[str] = field(default_factory=list[str])
    options_in_question: bool = False
    units: list[str] = field(default_factory=list[str])
    unused: list[str] = field(default_factory=list[str])


def guess(
    rows: Sequence[Cells],
    kind: FileKind | None = None,
    *,
    given: Mapping[str, Column] | None = None,
    media: Path | None = None,
) -> Guess:
    """Guess how a table's columns are to be read.

    Args:
        rows: The rows.
        kind: The kind of benchmark, where it is known.
        given: What the user says, ours -> theirs, which is taken as it is.
        media: Folder with the videos: a column that names files in it is the video.
    """
    return _Table(rows, dict(given or {}), media).guess(kind)


class _Table:
    def __init__(self, rows: Sequence[Cells], given: dict[str, Column], media: Path | None) -> None:
        self._rows = rows
        self._given = given
        self._files = {path.name for path in media.rglob("*")} if media else set[str]()
        self._files |= {Path(name).stem for name in self._files}
        self._columns = _columns(rows)
        self._taken: set[str] = set()
        for column in given.values():
            parts = [column] if isinstance(column, str) else column
            self._taken.update(name for part in parts for name in (mapped_rows.PLACE.findall(part) or [part]))
        self._why: dict[str, str] = {}
        self._found: dict[str, Column] = dict(given)

    def guess(self, kind: FileKind | None) -> Guess:
        form, within = None, False
        if kind in (None, "choice", "grounded_choice"):
            form = self._options_and_answer()
            if "options" not in self._found:
                within, form = self._options_within()
                kind = kind or ("choice" if within else None)
        if kind in (None, "span", "grounded_choice"):
            self._span()
        choice, span = "options" in self._found, bool({"span", "start"} & self._found.keys())
        chosen = kind or ("grounded_choice" if choice and span else "choice" if choice else "span" if span else "open")
        if not chosen.endswith("choice") and kind is None:
            self._found.pop("options", None)
        self._video()
        self._id()
        self._question()
        if chosen in {"open", "exact"} or (chosen.endswith("choice") and "answer" not in self._found):
            self._take("answer", lambda values: all(_is_plain(value) for value in values), "name", named=True)
        answers = self._columns.get(str(self._found.get("answer")), [])
        if kind is None and chosen == "open" and answers:
            words = median(len(str(value).split()) for value in answers)
            chosen = "exact" if words < _SHORT_WORDS else chosen
        for name, fits in (("duration", is_number), ("language", _is_text)):
            self._take(name, lambda values, fits=fits: all(map(fits, values)), "name", named=True)
        self._take("reasoning", lambda _: True, "name", named=True)
        wanted = ["id", "video", "question"]
        wanted += ["options", "answer"] if chosen.endswith("choice") else []
        wanted += ["answer"] if chosen in {"open", "exact"} else []
        spans = ["span", "start", "end"] if chosen in {"span", "grounded_choice"} else []
        beside = ("duration", "language", "reasoning")
        columns = {name: self._found[name] for name in (*wanted, *spans, *beside) if name in self._found}
        made = Guess(chosen, columns, self._why, form, options_in_question=within)
        made.facets = self._facets()
        made.units = self._units(columns)
        made.lacking = self._lacking(made, wanted)
        made.unused = [name for name in self._columns if name not in self._taken and name not in made.facets]
        return made

    def _lacking(self, made: Guess, wanted: Sequence[str]) -> list[str]:
        columns, choice = made.columns, made.kind.endswith("choice")
        there = columns.keys() | ({"options"} if made.options_in_question else set[str]())
        lacking = [f"no column is the {name}" for name in wanted if name not in there]
        for column, values in self._columns.items() if lacking else ():  # of a table whose cells hold whole questions
            cell = values[0] if values else None
            inner = cell[0] if is_array(cell) and cell else cell
            if is_object(inner) and any(_rank("question", str(key)) < _UNNAMED for key in inner):
                shape = {"video": "clip.mp4", **{str(key): inner[key] for key in list(inner)[:4]}}
                shown = json.dumps(shape, ensure_ascii=False, default=str)[:_SHOWN_SHAPE]
                lacking.append(f"{column!r} holds whole questions: one row a question is wanted, such as {shown}")
                break
        answer = columns.get("answer") or self._given.get("answer")
        listed = [name for name in self._columns if self._options(name) is not None and name not in self._taken]
        if not choice and listed and isinstance(answer, str):
            values = [str(value) for value in self._columns.get(answer, [])]
            if many := [value for value in values if _LETTERS.fullmatch(value.strip())]:
                lacking.append(
                    f"{len(many)} of {len(values)} answers name several options of {listed[0]!r}, such as {many[0]!r}: "
                    "no kind has several right ones (leave those rows out)"
                )
        if made.kind in {"span", "grounded_choice"} and not columns.keys() & {"span", "start"}:
            lacking.append("no column is the span, nor two its start and end")
        if choice and {"options", "answer"} <= columns.keys() and made.answer_is is None:
            forms = self._forms(columns["options"], columns["answer"])
            if len(forms) > 1:
                lacking.append(f"answers can be read as {' or as '.join(forms)}, which differ: give --answer-is")
        return lacking

    # --- one column after another ---

    def _take(self, name: str, fits: Callable[[list[Any]], bool], why: str, *, named: bool = False) -> bool:
        """Take the column that fits and has the likeliest name; with `named` only one that has a usual name."""
        if name in self._found:
            return True
        able = [
            column
            for column, values in self._columns.items()
            if column not in self._taken and values and (not named or _rank(name, column) < _UNNAMED) and fits(values)
        ]
        if able:
            self._keep(name, min(able, key=lambda column: _rank(name, column)), why)
        return bool(able)

    def _keep(self, name: str, column: Column, why: str) -> None:
        self._found[name] = column
        self._why[name] = why
        self._taken.update([column] if isinstance(column, str) else column)

    def _options_and_answer(self) -> AnswerForm | None:
        listed: list[Column] = [column for column in self._columns if self._options(column) is not None]
        candidates = [*sorted(listed, key=lambda column: _rank("options", str(column))), *self._option_groups()]
        if "options" in self._found:
            candidates = [self._found["options"]]
        for column in candidates:
            parts = {column} if isinstance(column, str) else set(column)
            ranked: list[tuple[tuple[bool, int], str, list[AnswerForm]]] = []
            for answer in self._able_to_answer():
                if not parts & {answer, answer.partition(".")[0]} and (forms := self._forms(column, answer)):
                    some = not self._forms(column, answer, share=1)
                    ranked.append(((some, _rank("answer", answer)), answer, forms))
            if ranked or "options" in self._given:
                if "options" not in self._given:
                    why = "lists of options" if isinstance(column, str) else "columns of options"
                    self._keep("options", column, why)
                return self._take_answer(ranked)
        return None

    def _options_within(self) -> tuple[bool, AnswerForm | None]:
        """Whether nearly every question ends in its options, a line each (`A. a cup`); how the answers name them."""
        self._question()
        question = self._found.get("question")
        texts = self._columns.get(question, []) if isinstance(question, str) else []
        if not _mostly(texts, lambda text: _is_text(text) and bool(mapped_rows.options_within(text))):
            return False, None
        named: list[tuple[tuple[int, str], str, list[AnswerForm]]] = []
        for column in self._able_to_answer():
            pairs = [
                (found[1], mapped_rows.as_text(row.get(column), "") or "")
                for row in self._rows
                if _is_plain(row.get(column)) and (found := mapped_rows.options_within(str(row.get(str(question)))))
            ]
            if column != question and pairs and (forms := mapped_rows.answer_forms(pairs, _SHARE)):
                named.append(((_rank("answer", column), column), column, forms))
        return True, self._take_answer(named)

    def _able_to_answer(self) -> list[str]:
        if "answer" in self._given:
            return [str(self._given["answer"])]
        return [column for column in self._columns if column not in self._taken]

    def _take_answer(self, ranked: Sequence[tuple[Any, str, list[AnswerForm]]]) -> AnswerForm | None:
        """Take the first by rank of the columns that name an option each; return how, None where that isn't one way."""
        if not ranked:
            return None
        _, answer, forms = min(ranked, key=lambda entry: entry[0])
        if "answer" not in self._given:
            self._keep("answer", answer, f"each is one of the options ({', '.join(forms)})")
        return forms[0] if len(forms) == 1 else None

    def _units(self, columns: Mapping[str, Column]) -> list[str]:
        """Return why the spans may be in something else than seconds."""
        spans = [
            str(columns[name]) for name in (("span",) if "span" in columns else ("start", "end")) if name in columns
        ]
        if not spans:
            return []
        why = [
            f"{', '.join(spans)}: a name that says {unit}"
            for unit, words in _UNIT_WORDS.items()
            if any(_plain_name(part) in words for name in spans for part in [*re.split(r"[^A-Za-z]", name), name])
        ]
        if rates := [name for name in self._columns if _plain_name(name) in _RATES]:
            why.append(f"there is a column {rates[0]}: frames a second")
        ends: list[float] = []
        for row in self._rows:
            cells = [row.get(name) for name in spans]
            with suppress(InputError):
                ends += mapped_rows.read_windows(cells[0] if "span" in columns else cells, "")
        if not why and len(ends) > 1 and max(ends) <= 1:
            why.append(f"{', '.join(spans)}: all lie between 0 and 1, as ratios do")
        return why

    def _options(self, column: Column) -> list[mapped_rows.Options | None] | None:
        """Return each row's options, None for a damaged one; None where the column, or columns, hold none."""
        read: list[mapped_rows.Options | None] = []
        for row in self._rows:
            try:
                value = (
                    mapped_rows.cell(row, column, "")
                    if isinstance(column, str)
                    else [mapped_rows.cell(row, part, "") for part in column]
                )
                read.append(mapped_rows.read_options(value, ""))
            except InputError:
                read.append(None)
        options = [each for each in read if each is not None]
        if not options or len(options) < _SHARE * len(read):
            return None
        keys = {key for each in options for key in each.keys if not _OPTION_KEY.fullmatch(key)}
        if keys and _rank("options", str(column)) == _UNNAMED:
            return None
        texts = [text for each in options for text in each.texts]
        numbers = sum(text.replace(".", "", 1).isdigit() for text in texts)
        spans = isinstance(column, str) and numbers == len(texts) and _rank("options", column) == _UNNAMED
        multiline = isinstance(column, str) and all(isinstance(value, str) for value in self._columns.get(column, ()))
        if spans or (multiline and _rank("options", str(column)) == _UNNAMED):
            return None
        return read

    def _option_groups(self) -> list[Column]:
        groups: dict[str, list[tuple[str, str]]] = {}
        for column in self._columns:
            if match := _OPTION.fullmatch(column):
                groups.setdefault(match[1], []).append((match[2], column))
        made: list[Column] = []
        for members in groups.values():
            ordered = tuple(column for _, column in sorted(members, key=lambda each: (len(each[0]), each[0].upper())))
            if len(ordered) >= 2 and self._options(ordered) is not None:  # noqa: PLR2004
                made.append(ordered)
        return sorted(made, key=len, reverse=True)

    def _forms(self, options: Column, answer: Column, share: float = _SHARE) -> list[AnswerForm]:
        every = self._options(options)
        if every is None:
            return []
        pairs: list[tuple[mapped_rows.Options, str]] = []
        for row, each in zip(self._rows, every, strict=True):
            try:
                text = mapped_rows.as_text(mapped_rows.cell(row, str(answer), ""), "")
            except InputError:
                return []
            if each is not None:
                pairs.append((each, text or ""))
        return mapped_rows.answer_forms(pairs, share)

    def _span(self) -> None:
        if "span" in self._found or "start" in self._found:
            return
        if self._take("span", _are_windows, "pairs of times"):
            return
        starts = [column for column in self._columns if _rank("start", column) < _UNNAMED]
        for start in sorted(starts, key=lambda column: _rank("start", column)):
            for end in sorted(self._columns, key=lambda column: _rank("end", column)):
                pairs = ([mapped_rows.cell(row, name, "") for name in (start, end)] for row in self._rows)
                if _rank("end", end) < _UNNAMED and end != start and _are_windows(pairs):
                    self._keep("start", start, "a time before the end")
                    self._keep("end", end, "a time after the start")
                    return

    def _video(self) -> None:
        def is_named(value: Any) -> bool:  # noqa: ANN401 - a cell
            return _is_plain(value) and "\n" not in str(value)

        ways: list[tuple[Callable[[Any], bool], str, bool]] = [
            (lambda value: Path(str(value)).name in self._files, "its files are in the folder", False),
            (lambda value: _is_text(value) and Path(value).suffix.lower() in _SUFFIXES, "a video's suffix", False),
            (is_named, "name", True),
            (lambda value: _is_text(value) and bool(_YOUTUBE.fullmatch(value)), "ids as YouTube has them", False),
        ]
        for fits, why, named in ways if self._files else ways[1:]:
            if self._take("video", lambda values, fits=fits: _mostly(values, fits), why, named=named):
                return

    def _id(self) -> None:
        if "id" in self._found:
            return
        if self._take("id", self._is_unique, "unique", named=True):
            return
        short = [
            name
            for name, values in self._columns.items()
            if name not in self._taken
            and self._is_unique(values)
            and all(len(str(value)) <= _LONGEST_KEY and " " not in str(value) for value in values)
        ]
        if short:
            self._keep("id", min(short, key=lambda column: _rank("id", column)), "unique")
            return
        video = self._found.get("video")
        for column, values in self._columns.items():
            numbered = all(is_number(value) or (_is_text(value) and value.isdigit()) for value in values)
            if isinstance(video, str) and column != video and column not in self._taken and numbered:
                pairs = {(str(row.get(video)), str(row.get(column))) for row in self._rows}
                if len(pairs) == len(self._rows):
                    self._found["id"], self._why["id"] = f"{{{video}}}_{{{column}}}", "unique together"
                    return
        if isinstance(video, str):
            videos = [str(row.get(video)) for row in self._rows]
            if len(set(videos)) == len(videos):
                self._found["id"], self._why["id"] = video, "unique: a question a video"
                return
        self._found["id"], self._why["id"] = f"{{{mapped_rows.ROW}}}", "no column is unique: the row's number"

    def _is_unique(self, values: list[Any]) -> bool:
        plain = all(_is_plain(value) for value in values)
        return plain and len(values) == len(self._rows) == len({str(value) for value in values})

    def _question(self) -> None:
        def asks(values: list[Any]) -> bool:
            return _mostly(values, lambda value: _is_text(value) and len(value.strip()) > 1)

        if self._take("question", asks, "name", named=True):
            return
        texts = {
            name: median(len(str(value)) for value in values)
            for name, values in self._columns.items()
            if name not in self._taken and asks(values) and _mostly(values, lambda value: " " in str(value).strip())
        }
        marked = [
            name
            for name in texts
            if _mostly(self._columns[name], lambda value: str(value).strip().endswith(("?", "\uff1f")), 0.5)
        ]
        if best := max(marked or texts, key=lambda name: texts[name], default=None):
            self._keep("question", best, "texts that end in ?" if marked else "the longest texts")

    def _facets(self) -> list[str]:
        def labels(values: list[Any]) -> bool:
            flat = [part for value in values for part in (value if is_array(value) else [value])]
            few = len(set(map(str, flat))) <= min(_FEW, max(2, len(self._rows) // 2))
            return bool(flat) and few and all(_is_text(part) and len(part) <= 60 for part in flat)  # noqa: PLR2004

        return [
            name
            for name, values in self._columns.items()
            if name not in self._taken and "." not in name and _plain_name(name) in _FACETS and labels(values)
        ]


# --- what values look like --------------------------------------------------------------------------------------------

_UNNAMED = 1000
_WITHIN = 100
_SUFFIXES = frozenset(suffix.lower() for suffix in (*SUFFIXES, ".m4v", ".flv", ".ts", ".gif"))


def _columns(rows: Sequence[Cells]) -> dict[str, list[Any]]:
    """Return each column's values that are not empty; what lies within an object as `object.name` too."""
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, [])
            if value is not None and value != "":
                values[name].append(value)
            for inner, part in value.items() if is_object(value) else ():
                values.setdefault(f"{name}.{inner}", []).append(part)
    return values


def _plain_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _rank(name: str, column: str) -> int:
    """Return the rank of a column's name for one of ours: 0 is the likeliest, `_UNNAMED` none of the usual ones."""
    last = column.rpartition(".")[2]
    if (plain := _plain_name(last)) in NAMES[name]:
        return NAMES[name].index(plain) + _WITHIN * ("." in column)
    if name in {"start", "end"} and name in re.split(r"[^a-z0-9]", last.lower()):
        return len(NAMES[name])  # raw_start, start_clip
    return _UNNAMED


def _mostly(values: Sequence[Any], fits: Callable[[Any], bool], share: float = _SHARE) -> bool:
    return bool(values) and sum(map(fits, values)) >= share * len(values)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_plain(value: object) -> bool:
    return isinstance(value, str) or is_number(value)


def _are_windows(values: Iterable[Any]) -> bool:
    try:
        return all(mapped_rows.read_windows(value, "") for value in values)
    except InputError:
        return False
