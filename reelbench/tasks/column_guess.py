"""Which column of a table is the question, which the video, and so on: guessed by values first, then by names.

Values decide what a column can be (ids are unique, a video has a file's suffix, an answer is one of
the options); of several that can, the usual name wins. Nothing is taken that the rows contradict.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_number, is_object
from reelbench.data import mapped_rows
from reelbench.registry.benchmark_file import FileKind
from reelbench.registry.mapping_words import PLACE
from reelbench.registry.spec import AnswerForm
from reelbench.video.library import has_video_suffix

Cells = Mapping[str, Any]

_WORDS: Mapping[str, Mapping[str, str]] = json.loads(
    Path(__file__).with_name("column_names.json").read_text(encoding="utf-8")
)
NAMES = {name: usual.split() for name, usual in _WORDS["columns"].items()}
"""Column of ours -> what it is usually called, the likeliest first; case and signs don't count."""

_FACETS, _RUBRICS, _RATES = (
    frozenset(_WORDS["labels"][name].split()) for name in ("facets", "rubrics", "rates")
)
_UNIT_WORDS = {unit: frozenset(words.split()) for unit, words in _WORDS["units"].items()}
_OPTION = re.compile(r"(.*?)[ _-]?(\d{1,2}|[A-Za-z])")
_OPTION_KEY = re.compile(
    r"(?:option|choice|answer|opt|ans)?[ _-]?(?:[A-Za-z]|\d{1,2})", re.IGNORECASE
)
_LETTERS = re.compile(r"[A-J](?:\s*[,;/&]?\s*[A-J])+")
_YOUTUBE = re.compile(r"[\w-]{11}")
_SHARE = 0.98
_NAMED_SHARE = 0.2  # of a column with a usual name: most answers may be kept back
_FEW = 30
_SHORT_WORDS = 4
_LONGEST_KEY = 64

_IN_QUESTION, _YES_NO = "{in: question}", "{are: [yes, no]}"
OPTIONS_SEEN = {_IN_QUESTION: "the questions end in them", _YES_NO: "every answer is yes or no"}
"""What the key `options` may say -> what it was seen by."""

Column = str | tuple[str, ...]


@dataclass
class Guess:
    """What was understood of a table: a benchmark's kind, its columns (ours -> theirs), and why each was taken.

    `options` is what the key of that name says, where no column holds them; `units` why spans may
    not be seconds: then nothing is guessed. `held` has the unused and doubtful columns that hold
    more than is taken, and which key takes it.
    """

    kind: FileKind
    columns: dict[str, Column] = field(default_factory=dict[str, Column])
    why: dict[str, str] = field(default_factory=dict[str, str])
    answer_is: AnswerForm | None = None
    facets: list[str] = field(default_factory=list[str])
    lacking: list[str] = field(default_factory=list[str])
    options: str = ""
    units: list[str] = field(default_factory=list[str])
    unused: list[str] = field(default_factory=list[str])
    held: dict[str, str] = field(default_factory=dict[str, str])


def guess(
    rows: Sequence[Cells],
    kind: FileKind | None = None,
    *,
    given: Mapping[str, Column] | None = None,
    media: Path | None = None,
) -> Guess:
    """Guess how a table's columns are to be read, for a kind of benchmark where it is known.

    What is `given`, ours -> theirs, is taken as it is. A column that names files in the folder
    `media` is the video.
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
            self._taken.update(name for part in parts for name in (PLACE.findall(part) or [part]))
        self._why: dict[str, str] = {}
        self._found: dict[str, Column] = dict(given)

    def guess(self, kind: FileKind | None) -> Guess:
        form, within = None, False
        if kind in (None, "choice", "grounded_choice"):
            form = self._options_and_answer()
            if "options" not in self._found:
                within, form = self._options_within()
                kind = kind or ("choice" if within else None)
        within_options = f"{self._found.get('options')}."  # none of them is the answer
        self._taken.update(name for name in self._columns if name.startswith(within_options))
        if kind in (None, "span", "grounded_choice") and "clip" not in self._given:
            self._span()
        choice, span = "options" in self._found, bool({"span", "start"} & self._found.keys())
        chosen = kind or (
            "grounded_choice"
            if choice and span
            else "choice"
            if choice
            else "span"
            if span
            else "open"
        )
        if not chosen.endswith("choice") and kind is None:
            self._found.pop("options", None)
        self._video()
        self._id()
        self._question()
        if chosen in {"open", "exact"} or (
            chosen.endswith("choice") and "answer" not in self._found
        ):
            self._take(
                "answer",
                lambda values: all(_is_plain(value) for value in values),
                "name",
                named=True,
            )
        answers = self._columns.get(str(self._found.get("answer")), [])
        if kind is None and chosen == "open" and answers:
            words = median(len(str(value).split()) for value in answers)
            chosen = "exact" if words < _SHORT_WORDS else chosen
        stated = _IN_QUESTION if within else ""
        if (
            kind is None
            and chosen == "exact"
            and {str(value).strip().lower() for value in answers} <= {"yes", "no"}
        ):
            chosen, stated = "choice", _YES_NO
        for name, fits in (("duration", is_number), ("language", _is_text)):
            self._take(name, lambda values, fits=fits: all(map(fits, values)), "name", named=True)
        self._take("reasoning", lambda _: True, "name", named=True)
        wanted = ["id", "videos" if "videos" in self._found else "video", "question"]
        wanted += ["options", "answer"] if chosen.endswith("choice") else []
        wanted += ["answer"] if chosen in {"open", "exact"} else []
        spans = ["span", "start", "end"] if chosen in {"span", "grounded_choice"} else []
        beside = (
            "duration",
            "language",
            "reasoning",
            *(("clip",) if "clip" in self._given else ()),
        )
        columns = {
            name: self._found[name] for name in (*wanted, *spans, *beside) if name in self._found
        }
        made = Guess(chosen, columns, self._why, form, options=stated)

        def labels(values: list[Any]) -> bool:
            flat = [part for value in values for part in (value if is_array(value) else [value])]
            few = len(set(map(str, flat))) <= min(_FEW, max(2, len(self._rows) // 2))
            return bool(flat) and few and all(_is_text(part) and len(part) <= 60 for part in flat)  # noqa: PLR2004

        made.facets = [
            name
            for name, values in self._columns.items()
            if name not in self._taken
            and "." not in name
            and _plain_name(name) in _FACETS
            and labels(values)
        ]
        made.units = self._signs_of_units(columns)
        made.lacking = self._lacking(made, wanted)
        made.unused = [
            name for name in self._columns if name not in self._taken and name not in made.facets
        ]
        # How many answers name several options, and the key that says so; empty where none does.
        named = [str(value) for value in self._columns.get(str(columns.get("answer")), [])]
        many = sum(_LETTERS.fullmatch(value.strip()) is not None for value in named)
        several = (
            f"{many} of {len(named)} answers name several of them: --set answers=all, or any, and"
            if many
            else ""
        )
        made.held = dict(self._unread_content(made, several))
        if (
            several
            and isinstance(options := columns.get("options"), str)
            and "options" not in self._given
        ):
            made.held[options] = f"{options!r}: {several} --column options={options} says so"
        return made

    def _unread_content(self, made: Guess, several: str) -> Iterator[tuple[str, str]]:
        """Yield what an unused column holds that scores would miss, and whether start and end bound what is shown."""
        asked, _, within = str(made.columns.get("question")).partition(".")
        asking = [
            name for name in made.unused if self._asks(name) and not (within and name == asked)
        ]
        one = (
            asking[0]
            if len(asking) == 1 and any(map(is_array, self._columns[asking[0]]))
            else "{part}"
        )
        if outer := {name.rpartition(".")[0] for name in asking} - {""}:
            one = f"{'/'.join(min(outer).split('.'))}/{{part}}"
        named = f"{', '.join(map(repr, asking))} hold{'s' * (len(asking) == 1)} whole questions"
        for name in made.unused:
            values = self._columns[name]
            if name in asking:
                yield name, f"{named}: --set each={one} makes a row of each"
            elif "question" not in self._given and _mostly(values, _ends_in_question):
                yield (
                    name,
                    f"{name!r} holds questions too, and one is asked: --column question={asked}, or {name}",
                )
            elif _plain_name(name) in _RUBRICS:
                yield (
                    name,
                    f"{name!r} holds what an answer is marked by, row by row: no key takes it",
                )
            elif _rank("options", name) < _UNNAMED and str(self._found.get("options")).startswith(
                f"{name}."
            ):
                continue
            elif _rank("options", name) < _UNNAMED and (texts := _texts_of_objects(values)):
                yield (
                    name,
                    f"{name!r} holds options as objects: --column options={name}.{texts[0]} takes their texts",
                )
            elif _rank("options", name) < _UNNAMED and (some := sum(map(_several, values))):
                said = f"{name!r} holds options in {some} of {len(self._rows)} rows"
                kinds = "with `kind: {column: …}` where the others are answered in words,"
                yield name, f"{said}; {several or kinds} --column options={name} takes them"
        for group in () if made.kind.endswith("choice") else self._option_groups():
            if not self._taken & set(group):
                yield (
                    group[0],
                    f"{', '.join(group)} hold options: --column options={','.join(group)} takes them",
                )
        start, end = made.columns.get("start"), made.columns.get("end")
        answered = made.kind == "grounded_choice" or any(
            _rank("answer", name) < _UNNAMED for name in made.unused
        )
        if (
            isinstance(start, str)
            and answered
            and not {"start", "end", "clip", "span"} & self._given.keys()
        ):
            shown = f"the part that is shown (--column clip={start},{end})"
            asked = f"what is asked for (--column start={start} --column end={end})"
            yield start, f"{start} and {end} bound {shown}, or are {asked}: say which"

    def _asks(self, name: str) -> bool:
        """Whether a column holds objects that have a question beside its answer or options: subtitles have none."""

        def named(part: Mapping[Any, Any], *names: str) -> set[str]:
            return {
                str(key) for key in part if any(_rank(name, str(key)) < _UNNAMED for name in names)
            }

        cells = [
            part
            for value in self._columns[name]
            for part in (value if is_array(value) else [value])
        ]
        parts = [
            (named(part, "question"), named(part, "answer", "options"))
            for part in cells
            if is_object(part)
        ]
        return any(asked and beside - asked for asked, beside in parts)

    def _lacking(self, made: Guess, wanted: Sequence[str]) -> list[str]:
        columns, choice = made.columns, made.kind.endswith("choice")
        there = columns.keys() | ({"options"} if made.options else set[str]())
        lacking = [f"no column is the {name}" for name in wanted if name not in there]
        if made.kind in {"span", "grounded_choice"} and not columns.keys() & {"span", "start"}:
            lacking.append("no column is the span, nor two its start and end")
        if choice and {"options", "answer"} <= columns.keys() and made.answer_is is None:
            forms = self._forms(columns["options"], columns["answer"])
            if len(forms) > 1:
                lacking.append(
                    f"answers can be read as {' or as '.join(forms)}, which differ: give --answer-is"
                )
        return lacking

    # --- one column after another ---

    def _take(
        self, name: str, fits: Callable[[list[Any]], bool], why: str, *, named: bool = False
    ) -> bool:
        """Take the column that fits and has the likeliest name; with `named` only one that has a usual name."""
        if name in self._found:
            return True
        able = [
            column
            for column, values in self._columns.items()
            if column not in self._taken
            and values
            and (not named or _rank(name, column) < _UNNAMED)
            and fits(values)
        ]
        if able:
            self._keep(name, min(able, key=lambda column: _rank(name, column)), why)
        return bool(able)

    def _keep(self, name: str, column: Column, why: str) -> None:
        self._found[name] = column
        self._why[name] = why
        self._taken.update([column] if isinstance(column, str) else column)

    def _options_within(self) -> tuple[bool, AnswerForm | None]:
        """Whether nearly every question ends in its options, a line each (`A. a cup`); how the answers name them."""
        self._question()
        question = self._found.get("question")
        texts = self._columns.get(question, []) if isinstance(question, str) else []
        if not _mostly(
            texts, lambda text: _is_text(text) and bool(mapped_rows.options_within(text))
        ):
            return False, None
        named: list[tuple[tuple[int, str], str, list[AnswerForm]]] = []
        for column in self._able_to_answer():
            rank = _rank("answer", column)
            pairs = [
                (found[1], mapped_rows.as_text(row.get(column), "") or "")
                for row in self._rows
                if _is_plain(row.get(column))
                and (found := mapped_rows.options_within(str(row.get(str(question)))))
            ]
            share = _SHARE if rank == _UNNAMED else _NAMED_SHARE
            if column != question and pairs and (forms := mapped_rows.answer_forms(pairs, share)):
                named.append(((rank, column), column, forms))
        return True, self._take_answer(named)

    def _option_groups(self) -> list[tuple[str, ...]]:
        """Return columns that hold an option each (`a0`, `a1`), the largest group first."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self._columns:
            if match := _OPTION.fullmatch(name):
                groups.setdefault(match[1], []).append((match[2], name))
        made: list[tuple[str, ...]] = []
        for members in groups.values():
            ordered = tuple(
                name
                for _, name in sorted(members, key=lambda each: (len(each[0]), each[0].upper()))
            )
            if len(ordered) >= 2 and self._options(ordered) is not None:  # noqa: PLR2004
                made.append(ordered)
        return sorted(made, key=len, reverse=True)

    def _options_and_answer(self) -> AnswerForm | None:
        listed: list[Column] = [
            column for column in self._columns if self._options(column) is not None
        ]
        candidates = [
            *sorted(listed, key=lambda column: _rank("options", str(column))),
            *self._option_groups(),
        ]
        if "options" in self._found:
            candidates = [self._found["options"]]
        for column in candidates:
            parts = {column} if isinstance(column, str) else set(column)
            ranked: list[tuple[tuple[bool, bool, int], str, list[AnswerForm]]] = []
            for answer in self._able_to_answer():
                rank = _rank(
                    "answer", answer
                )  # numbers that are no answers fit, too: a name is worth a bad row
                share = _SHARE if rank == _UNNAMED else _NAMED_SHARE
                if not parts & {answer, answer.partition(".")[0]} and (
                    forms := self._forms(column, answer, share)
                ):
                    some = not self._forms(column, answer, share=1)
                    ranked.append(((rank == _UNNAMED, some, rank), answer, forms))
            if ranked or "options" in self._given:
                if "options" not in self._given:
                    why = "lists of options" if isinstance(column, str) else "columns of options"
                    self._keep("options", column, why)
                return self._take_answer(ranked)
        return None

    def _able_to_answer(self) -> list[str]:
        if "answer" in self._given:
            return [str(self._given["answer"])]
        return [column for column in self._columns if column not in self._taken]

    def _take_answer(
        self, ranked: Sequence[tuple[Any, str, list[AnswerForm]]]
    ) -> AnswerForm | None:
        """Take the first by rank of the columns that name an option each; return how, None where that isn't one way."""
        if not ranked:
            return None
        _, answer, forms = min(ranked, key=lambda entry: entry[0])
        if "answer" not in self._given:
            self._keep("answer", answer, f"each is one of the options ({', '.join(forms)})")
        return forms[0] if len(forms) == 1 else None

    def _signs_of_units(self, columns: Mapping[str, Column]) -> list[str]:
        """Return the signs that the spans are in something else than seconds."""
        spans = [
            str(columns[name])
            for name in (("span",) if "span" in columns else ("start", "end"))
            if name in columns
        ]
        if not spans:
            return []
        why = [
            f"{', '.join(spans)}: a name that says {unit}"
            for unit, words in _UNIT_WORDS.items()
            if any(
                _plain_name(part) in words
                for name in spans
                for part in [*re.split(r"[^A-Za-z]", name), name]
            )
        ]
        if rates := [name for name in self._columns if _plain_name(name) in _RATES]:
            why.append(f"there is a column {rates[0]}: frames a second")
        ends: list[float] = []
        for row in self._rows:
            cells = [row.get(name) for name in spans]
            with suppress(InputError):
                ends += mapped_rows.read_windows(cells[0] if "span" in columns else cells, "")
        points = sum(start == end for start, end in zip(ends[::2], ends[1::2], strict=True))
        if not why and points and points >= len(ends) / 4:
            why.append(
                f"{', '.join(spans)}: {points} of {len(ends) // 2} begin where they end, as numbers of pieces do"
            )
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
        spans = (
            isinstance(column, str)
            and numbers == len(texts)
            and _rank("options", column) == _UNNAMED
        )
        multiline = isinstance(column, str) and all(
            isinstance(value, str) for value in self._columns.get(column, ())
        )
        if spans or (multiline and _rank("options", str(column)) == _UNNAMED):
            return None
        return read

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
                pairs = (
                    [mapped_rows.cell(row, name, "") for name in (start, end)] for row in self._rows
                )
                if _rank("end", end) < _UNNAMED and end != start and _are_windows(pairs):
                    self._keep("start", start, "a time before the end")
                    self._keep("end", end, "a time after the start")
                    return

    def _video(self) -> None:
        ways: list[tuple[Callable[[Any], bool], str, bool]] = [
            (
                lambda value: Path(str(value)).name in self._files,
                "its files are in the folder",
                False,
            ),
            (lambda value: _is_text(value) and has_video_suffix(value), "a video's suffix", False),
            (lambda value: _is_plain(value) and "\n" not in str(value), "name", True),
            (
                lambda value: _is_text(value) and bool(_YOUTUBE.fullmatch(value)),
                "ids as YouTube has them",
                False,
            ),
        ]
        of_id = set(
            PLACE.findall(str(self._given.get("id", "")))
        )  # an id is often video and number
        self._taken -= of_id
        for fits, why, named in ways if self._files else ways[1:]:
            if self._take(
                "video", lambda values, fits=fits: _mostly(values, fits), why, named=named
            ):
                break
        self._taken |= of_id
        for column, values in self._columns.items() if "video" not in self._found else ():
            names = [str(name) for value in values if is_array(value) for name in value]
            if (
                all(map(is_array, values))
                and _mostly(names, has_video_suffix)
                and "videos" not in self._found
            ):
                self._keep("videos", column, "several videos' suffixes")

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
            numbered = all(
                is_number(value) or (_is_text(value) and value.isdigit()) for value in values
            )
            if (
                isinstance(video, str)
                and column != video
                and column not in self._taken
                and numbered
            ):
                pairs = {(str(row.get(video)), str(row.get(column))) for row in self._rows}
                if len(pairs) == len(self._rows):
                    self._found["id"], self._why["id"] = (
                        f"{{{video}}}_{{{column}}}",
                        "unique together",
                    )
                    return
        if isinstance(video, str):
            videos = [str(row.get(video)) for row in self._rows]
            if len(set(videos)) == len(videos):
                self._found["id"], self._why["id"] = video, "unique: a question a video"
                return
        self._found["id"], self._why["id"] = (
            f"{{{mapped_rows.ROW}}}",
            "no column is unique: the row's number",
        )

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
            if name not in self._taken
            and asks(values)
            and _mostly(values, lambda value: " " in str(value).strip())
        }
        marked = [name for name in texts if _mostly(self._columns[name], _ends_in_question, 0.5)]
        if best := max(marked or texts, key=lambda name: texts[name], default=None):
            self._keep("question", best, "texts that end in ?" if marked else "the longest texts")


# --- what values look like
# --------------------------------------------------------------------------------------------

_UNNAMED = 1000
_WITHIN = 100


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


def _ends_in_question(value: object) -> bool:
    return str(value).strip().endswith(("?", "\uff1f"))


def _several(value: Any) -> bool:  # noqa: ANN401 - a cell
    """Whether a cell holds options: two or more texts, in a list, a mapping or a text that is one."""
    with suppress(InputError):
        return not isinstance(value, str) and len(mapped_rows.read_options(value, "").texts) > 1
    return False


def _texts_of_objects(values: Iterable[Any]) -> list[str]:
    """Return the keys that have texts in the first object of lists of objects."""
    objects = (part for value in values if is_array(value) for part in value if is_object(part))
    return [key for key, text in next(objects, {}).items() if _is_text(text)]


def _is_plain(value: object) -> bool:
    return isinstance(value, str) or is_number(value)


def _are_windows(values: Iterable[Any]) -> bool:
    try:
        return all(mapped_rows.read_windows(value, "") for value in values)
    except InputError:
        return False
