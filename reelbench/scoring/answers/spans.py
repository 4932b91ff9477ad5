"""Read a span of time, [start, end] in seconds, out of a model's answer."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple
from typing import Literal as OneOf

from reelbench.base.values import is_array, is_object
from reelbench.scoring.answers import cut, patterns, texts
from reelbench.scoring.answers.json_literals import Literal, find_literals, without_objects
from reelbench.scoring.answers.tokens import Tokens
from reelbench.scoring.answers.vocabulary import TIMES, WORDS

SPAN_KEYS: tuple[str, ...] = tuple(WORDS["keys"]["span"])
# Other names of a span's key: evidence_window.
_SPAN_KEY_ENDS: tuple[str, ...] = tuple(WORDS["keys"]["span_ends"])
BOUNDS = tuple((start, end) for start, end in WORDS["keys"]["bounds"])
_ANSWERS: tuple[str, ...] = tuple(WORDS["keys"]["holders"])
_DEEPEST = 6
_SCORED = 3
_MOST_RANGES = 100  # of a text with more, the last so many are looked at
_CONTEXT = 70
_YEARS = (1800, 2100)
_FARTHEST = 200  # signs between a span's two numbers, or beside them: their words are shorter
_SIGNS_OF_VIDEOS = ("video", "clip", "film", "movie", "duration", "length")
_SIGNS_OF_SHARES = (*_SIGNS_OF_VIDEOS, "normali", "relative", "fraction", "ratio", "<t|")
# Of these signs a window in a unit has one; its patterns are slow.
_SIGNS_OF_UNITS: dict[str, tuple[str, ...]] = {
    "frames": ("frame",),
    "milliseconds": ("ms", "millisecond"),
    "percent": ("%",),
    "ratio": _SIGNS_OF_SHARES,
}

_QUOTES = str.maketrans("’”", "'\"")


@dataclass(frozen=True)
class _Range:
    """A range of times in a text, by its place there.

    `is_stated` is True where words state it as the answer; `whole` where it is a line of its own;
    `is_listed` where another one of the same list stands right before it.
    """

    start: int
    end: int
    span: tuple[float, float]
    is_stated: bool
    whole: bool = False
    is_listed: bool = False


class _Unreadable(Exception):  # noqa: N818 - no error: it ends the reading
    """The text has a span in its most explicit form, and it isn't one."""


SpanRule = OneOf["first", "stated", "union"]
"""Which of an answer's ranges counts: the first, the one that it states alone, or all of them."""


def read_span(
    text: str,
    length: float | None = None,
    fps: float | None = None,
    *,
    question: str = "",
    rule: SpanRule = "stated",
) -> list[float] | None:
    """Return [start, end] in seconds, in the order of `text`, or None.

    Args:
        text: A model's answer. It may contain reasoning.
        length: Length of the video in seconds. It is needed for answers in parts of the video, such
            as percent.
        fps: Frames per second. It is needed for answers in frames.
        question: The question as it was asked, where it is known. What repeats it is no answer.
        rule: Which of several ranges counts, in whatever form they are listed. Under `stated` there
            is none.
    """
    spans = _spans(text, length, fps, question)
    return _chosen(spans, rule)


def read_spans(
    text: str, length: float | None = None, fps: float | None = None, *, question: str = ""
) -> list[list[float]]:
    """Return all windows that `text` gives, in its order.

    They are the last list of them in it, else the one that it states. Each may be a clock, and a
    confidence may follow it.
    """
    return _spans(text, length, fps, question)


def _chosen(spans: Sequence[list[float]], rule: SpanRule) -> list[float] | None:
    """Return the range that counts of those in one list."""
    if not spans:
        return None
    distinct = {tuple(span) for span in spans}
    return spans[0] if rule != "stated" or len(distinct) == 1 else None


def _spans(text: str, length: float | None, fps: float | None, question: str) -> list[list[float]]:
    """Return the ranges of the form that decides: one, or those of one list."""
    answer = cut.answer_text(text, question)
    if answer is None:
        return []
    factors = {
        "milliseconds": 0.001,
        "ratio": length,
        "percent": length and length / 100,
        "frames": fps and 1 / fps,
    }
    text = _in_seconds(answer, factors)
    for content, end in texts.marked_answers(text):
        try:
            spans = _in_literals(content) or _in_prose(content)
        except _Unreadable:
            return _stated_in_prose(text[end:])
        if spans:
            return spans
    try:
        return _in_literals(text) or _in_prose(text)
    except _Unreadable:
        return []


def _innermost_last(literals: Sequence[Literal]) -> list[Literal]:
    """Return literals in the order of trial: the last first, nested ones at last.

    In a list the list decides; in the brackets of prose an object is found after those that stand
    by themselves.
    """
    return sorted(literals, key=lambda literal: (literal.nested, -literal.end))


def _windows(value: Any) -> list[list[float]]:  # noqa: ANN401 - any literal
    """Return the windows in a list, or in the list of an object's answer."""
    while is_object(value):
        value = _held_by(value)
    windows: list[list[float]] = []
    for part in value or ():
        if not is_array(part) and not is_object(part):
            return []
        if is_array(part) and len(part) == _SCORED:
            part = part[:2]  # noqa: PLW2901 - the third value is a confidence, 0 too
        try:
            window = _pair([part])
        except _Unreadable:
            return []
        if not window:
            return []
        windows.append(window)
    return windows


def _held_by(value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any literal
    """Return the list or the object behind the first answer key that has one."""
    for key in (*SPAN_KEYS, *_ANSWERS):
        if is_array(value.get(key)) or is_object(value.get(key)):
            return value[key]
    return None


def _in_seconds(text: str, factors: Mapping[str, float | None]) -> str:
    """Write windows in another unit that the text names as seconds.

    They become `?` where their factor isn't known.
    """

    def window(unit: str, match: re.Match[str]) -> str:
        start = float(match["first"].replace(",", ""))
        end = float(match["second"].replace(",", ""))
        if unit == "ratio" and max(start, end) > 1:
            return match[0]
        factor = factors[unit]
        if factor is None:
            return "?"
        return f"{start * factor:.6f} s to {end * factor:.6f} s"

    def bound(match: re.Match[str]) -> str:
        unit = "frames" if match[2].lower() == "frame" else "milliseconds"
        factor = factors[unit]
        if factor is None:
            return match[0]
        return f'"{match[1]}": {float(match[3]) * factor:.6f}'

    low = text.lower()
    for unit, signs in _SIGNS_OF_UNITS.items():
        if not any(sign in low for sign in signs):
            continue
        for pattern in patterns.patterns_of(f"{unit.upper()}_WINDOW"):
            text = pattern.sub(partial(window, unit), text)
    return patterns.UNIT_KEYS.sub(bound, text) if "{" in text else text


def is_span(text: str) -> bool:
    """Return True where a plain text that has digits is a span and nothing else."""
    if len(text) > _CONTEXT * 3 or patterns.LABEL.match(text) or not _in_prose(text):
        return False
    return not patterns.REST.sub("", texts.without_markup(text).lower()).strip()


def is_span_word(word: str) -> bool:
    """Return True of a word with which spans are written ("from", "seconds", "window")."""
    return bool(patterns.SPAN_WORD.fullmatch(word.lower()))


# --- JSON and Python literals
# ---------------------------------------------------------------------------------------


def _in_literals(text: str) -> list[list[float]]:
    """Read literals: `{"span": [3, 12]}`, `{'start': '0:03', 'end': '0:12'}`, `[[3, 12]]`.

    The last one counts, with those before it that only signs part from it.
    """
    literals = _innermost_last(find_literals(text))
    for place, literal in enumerate(literals):
        spans = _windows(literal.value) or _single(_of_literal(literal, text))
        if not spans:
            continue
        if literal.nested:
            return spans
        start = literal.start
        for earlier in literals[place + 1 :]:
            is_next = not earlier.nested and not re.search(r"[^\W\d_]", text[earlier.end : start])
            if not is_next or not patterns.LITERAL_JOINT.fullmatch(text[earlier.end : start]):
                break
            spans = [*(_windows(earlier.value) or _single(_of_literal(earlier, text))), *spans]
            start = earlier.start
        return spans
    return []


def _single(span: list[float] | None) -> list[list[float]]:
    return [span] if span else []


def _of_literal(literal: Literal, text: str) -> list[float] | None:
    """Return the span of one object or list."""
    value = literal.value
    first: Any = value[0] if isinstance(value, list) and value else value
    if is_object(first):
        try:
            return _of_object(first)
        except _Unreadable:
            spans = _stated_in_prose(text[literal.end :])
            if not spans:
                raise
            return spans[0]
    if isinstance(first, list) and not literal.nested:
        return _pair(first)
    return None


def _of_object(value: dict[str, Any], depth: int = 0) -> list[float] | None:
    if depth >= _DEEPEST:
        return None
    for key in SPAN_KEYS:
        if value.get(key) is not None:
            return _behind_key(value[key], depth)
    for start, end in BOUNDS:
        if start in value and end in value:
            return _behind_key([value[start], value[end]], depth)
    for key, inner in value.items():
        if key.endswith(_SPAN_KEY_ENDS) and not patterns.NO_SPAN_KEY.search(key):
            span = _pair(inner)
            if span:
                return span
    if len(value) == 1:
        match = patterns.KEY_OF_MOMENTS.fullmatch(next(iter(value)))
        if match and _moment_of(match, "1").unit:
            return list(_values(match) or ()) or None
    return _of_answers(value, depth)


def _of_answers(value: dict[str, Any], depth: int) -> list[float] | None:
    """Return the span that an answer's key holds, where it holds one."""
    for key in _ANSWERS:
        inner = value.get(key)
        span = None
        if is_object(inner):
            span = _of_object(inner, depth + 1)
        elif isinstance(inner, str | list):
            span = _pair(inner)
        if span:
            return span
    return None


def _behind_key(value: Any, depth: int) -> list[float]:  # noqa: ANN401 - any literal
    """Return the span behind a key that names one; _Unreadable where it is none."""
    span = _of_object(value, depth + 1) if is_object(value) else _pair(value)
    if not span:
        raise _Unreadable
    return span


def _pair(value: Any) -> list[float] | None:  # noqa: ANN401 - any literal
    """Return a span from a text, two moments, or a list's first window.

    A confidence may follow two moments.
    """
    for _ in range(_DEEPEST):
        if is_array(value) and value and is_array(value[0]):
            value = value[0]
    if is_array(value) and value and is_object(value[0]):
        return _of_object(value[0], _DEEPEST - 1)
    if is_array(value) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, str):
        return _chosen(_in_prose(value), "stated")
    if not is_array(value) or len(value) not in (2, 3):
        return None
    moments = [_moment(entry) for entry in value]
    if len(moments) == _SCORED:
        confidence = moments.pop() or 2
        if not confidence <= 1:
            return None
    if None in moments:
        return None
    return [moment for moment in moments if moment is not None]


def _moment(value: Any) -> float | None:  # noqa: ANN401 - any literal
    if not isinstance(value, str):
        return None
    signed = patterns.SIGNED.fullmatch(value)
    if signed:
        number = float(signed[1])
        return number if math.isfinite(number) else None
    match = patterns.SINGLE.fullmatch(value.strip().lower())
    return _moment_of(match, "1").seconds if match else None


# --- prose
# ------------------------------------------------------------------------------------------


def _in_prose(text: str) -> list[list[float]]:
    """Read prose: `from 3 to 12`, `[3, 12]`, `starts at 0:03 and ends at 0:12`.

    It is the only range, the last one that is stated as the answer, or a list of them.
    """
    low = _low_prose(text)
    lines = _of_two_lines(low)
    if lines:
        return [lines]
    ranges = _ranges_in_prose(low)
    # A range between a start and an end is none of its own.
    spans = {entry.span for entry in ranges}
    if len(spans) > 1:
        return _last_stated(ranges) or _listed(ranges)
    return [list(spans.pop())] if spans else []


def _stated_in_prose(text: str) -> list[list[float]]:
    """Read prose as `_in_prose` does, but only a range that is stated."""
    low = _low_prose(text)
    lines = _of_two_lines(low)
    return [lines] if lines else _last_stated(_ranges_in_prose(low))


def _of_two_lines(low: str) -> list[float] | None:
    """Return the span of two moments on two lines and nothing else."""
    lines = patterns.TWO_LINES.fullmatch(low)
    if lines and _moment_of(lines, "1").unit and _moment_of(lines, "2").unit:
        return list(_values(lines) or ()) or None
    return None


def _low_prose(text: str) -> str:
    """Return a text in small letters, without markup and objects, its tagged times in words."""
    if "<" in text:
        text = patterns.DIGIT_TOKENS.sub(_digits_of_tokens, text)
        text = patterns.TAGGED_MOMENTS.sub(" to ", patterns.BIN.sub(" ", text))
        text = patterns.BOUND_TAG.sub(r" \1 ", text)
    prose = texts.without_markup(without_objects(text)).strip().translate(_QUOTES)
    low = prose.lower()
    return low if len(low) == len(prose) else prose


def _digits_of_tokens(match: re.Match[str]) -> str:
    return match[0].replace("dot", ".").replace("<t", "").replace(">", "")


def _ranges_in_prose(low: str) -> list[_Range]:
    named, single_ends = _named_bounds(low)
    bounds = _bounds(low) or named
    ranges = [entry for entry in [*bounds, *_ranges(low)] if entry.end not in single_ends]
    return _without_alternatives(low, ranges) or _openings(low)


def _without_alternatives(low: str, ranges: Sequence[_Range]) -> list[_Range]:
    """Return ranges of which alternatives are not stated: "0:05-0:09 or 0:20-0:31"."""
    weighed = list(ranges)
    for place, (first, second) in enumerate(pairwise(ranges)):
        if patterns.ALTERNATIVE.fullmatch(low[first.end : second.start]):
            weighed[place] = replace(first, is_stated=False, whole=False)
            weighed[place + 1] = replace(second, is_stated=False, whole=False)
    return weighed


def _last_stated(ranges: Sequence[_Range]) -> list[list[float]]:
    """Return the last range that is stated, with the list that it opens.

    A line of its own states a span, unless there are several such lines.
    """
    lines = {entry.span for entry in ranges if entry.whole}
    for place in range(len(ranges) - 1, -1, -1):
        entry = ranges[place]
        if entry.is_stated or (entry.whole and len(lines) == 1):
            return _list_from(ranges, place)
    return []


def _list_from(ranges: Sequence[_Range], place: int) -> list[list[float]]:
    """Return a range and those that are listed behind it."""
    spans = [list(ranges[place].span)]
    for entry in ranges[place + 1 :]:
        if not entry.is_listed:
            break
        spans.append(list(entry.span))
    return spans


def _listed(ranges: Sequence[_Range]) -> list[list[float]]:
    """Return the ranges where they are one list, or a line each."""
    is_list = all(entry.is_listed for entry in ranges[1:])
    if is_list or all(entry.whole for entry in ranges):
        return [list(entry.span) for entry in ranges]
    return []


def _matches_of_two_numbers(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches of a pattern of two numbers, looked for only where two stand."""
    matches: list[re.Match[str]] = []
    for start, end in _stretches_of_numbers(text):
        matches += pattern.finditer(text, start, end)
    return matches


@lru_cache(maxsize=1)
def _stretches_of_numbers(text: str) -> list[tuple[int, int]]:
    """Return the starts and ends of stretches with two close numbers."""
    stretches: list[tuple[int, int]] = []
    for first, second in pairwise(patterns.DIGITS.finditer(text)):
        if second.start() - first.end() > _FARTHEST:
            continue
        start = max(0, first.start() - _FARTHEST)
        if stretches and start <= stretches[-1][1]:
            start, _ = stretches.pop()
        stretches.append((start, second.end() + _FARTHEST))
    return stretches


def _bounds(text: str) -> list[_Range]:
    bound_patterns = [patterns.START_END, patterns.END_START]
    if not text.isascii():
        bound_patterns.append(patterns.POSTPOSED)
    for pattern in bound_patterns:
        ranges: list[_Range] = []
        for match in _matches_of_two_numbers(pattern, text):
            span = _values(match) if _is_bounds(text, match) else None
            if span:
                ranges.append(_Range(match.start(), match.end(), span, True))
        if ranges:
            return ranges
    return []


def _is_bounds(text: str, match: re.Match[str]) -> bool:
    """Return True where a start and an end are no counts, and not the video's."""
    before = _before(text, match.start())
    inside = text[match.start() : match.end()]
    if patterns.OF_VIDEO.search(before) or patterns.OF_VIDEO_ENDS.search(inside):
        return False
    if _is_denied(before):
        return False
    has_units = _moment_of(match, "1").unit and _moment_of(match, "2").unit
    is_counted = patterns.COUNTED.search(inside) or patterns.COUNTED_AFTER.match(text, match.end())
    if is_counted and not has_units:
        return False
    return not patterns.GOES_ON_AS_OTHER.match(text, match.end())


class _NamedBounds(NamedTuple):
    """The range of two named bounds.

    `single_ends` has the ends of ranges that state a single bound.
    """

    ranges: list[_Range]
    single_ends: set[int]


def _named_bounds(text: str) -> _NamedBounds:
    """Read named bounds: `The start time is 0:03. … The end time is 0:12`.

    Without a name for the start it is the one moment at which something happens.
    """
    no_bounds = _NamedBounds([], set())
    if not any(name in text for name in TIMES["end_name"]):
        return no_bounds
    ends = _named_moments(text, patterns.NAMED_END)
    if not ends:
        return no_bounds
    starts = _named_moments(text, patterns.NAMED_START)
    if not starts:
        starts = _named_moments(text, patterns.HAPPENS_AT, explicit=True)
        if None in starts.values():
            return no_bounds
    places = [*starts, *ends]
    if starts and None in {*starts.values(), *ends.values()}:
        return _NamedBounds([], set(places))
    start_times = set(starts.values())
    end_times = set(ends.values())
    if len(start_times) != 1 or len(end_times) != 1:
        return no_bounds
    span = (start_times.pop() or 0.0, end_times.pop() or 0.0)
    return _NamedBounds([_Range(min(places), max(places), span, True)], set())


def _named_moments(
    text: str, name: re.Pattern[str], *, explicit: bool = False
) -> dict[int, float | None]:
    """Return the moments behind a bound's name, by the places where they end.

    Each end of a range has None.
    """
    moments: dict[int, float | None] = {}
    for match in name.finditer(text):
        moment = match.start("moment")
        denied = _is_denied(_before(text, moment))
        if denied or patterns.OF_VIDEO.search(_before(text, match.start())):
            continue
        following = patterns.RANGE.match(text, moment)
        between = patterns.BETWEEN_WORD.search(text, match.start(), moment)
        if following and following["by"] not in ",;" and (between or not following["and"]):
            moments[match.end()] = None
            moments[following.end()] = None
            continue
        is_time = _moment_of(match, "1").unit != ""
        if not is_time and not explicit:
            # "the end time of clip 2 is" counts something
            is_counted = patterns.COUNTED_AFTER.match(text, match.end())
            is_time = bool(patterns.IS.search(text, match.start(), moment)) and not is_counted
        if is_time and not patterns.GOES_ON_AS_OTHER.match(text, match.end()):
            moments[match.end()] = _moment_of(match, "1").seconds
    return moments


def _openings(text: str) -> list[_Range]:
    """Read ranges from 0 on: `in the first 10 seconds`, `until the 10th second`."""
    ranges: list[_Range] = []
    for match in patterns.FROM_ZERO.finditer(text):
        if _moment_of(match, "1").unit in ("", "metre"):
            continue
        denied = _is_denied(_before(text, match.start()))
        if not denied and not patterns.LASTING_AFTER.match(text, match.end()):
            span = (0.0, _moment_of(match, "1").seconds)
            ranges.append(_Range(match.start(), match.end(), span, False))
    return ranges


def _ranges(text: str) -> list[_Range]:
    """Return the ranges in a text. A unit at a list's end is of all."""
    ranges: list[_Range] = []
    following: _Range | None = None
    for match in reversed(_matches_of_two_numbers(patterns.RANGE, text)[-_MOST_RANGES:]):
        before = _before(text, match.start())
        after = text[match.end() : match.end() + _CONTEXT]
        bracketed = match[0].lstrip()[:1] in ("[", "(", "<")
        whole = _is_line_of_span(text, match)
        opens_list = following is not None and bool(
            patterns.RANGE_JOINT.fullmatch(text, match.end(), following.start)
        )
        is_time = _is_time(match, before, after, bracketed=bracketed, whole=whole)
        if not is_time and opens_list and not match["and"]:
            is_time = not _is_denied(before)
        span = _values(match) if is_time else None
        if span is None:
            following = None
            continue
        if following is not None and opens_list:
            ranges[-1] = replace(following, is_listed=True, is_stated=False)
        is_stated = bool(patterns.STATED.search(_governing(before, past_commas=True)))
        following = _Range(match.start(), match.end(), span, is_stated, whole)
        ranges.append(following)
    return ranges[::-1]


def _is_line_of_span(text: str, match: re.Match[str]) -> bool:
    """Return True where a match's line has only a span, a label and their names."""
    first = max(0, match.start() - _CONTEXT)
    start = text.rfind("\n", first, match.start()) + 1 or first
    end = text.find("\n", match.end(), match.end() + _CONTEXT)
    if end < 0:
        end = match.end() + _CONTEXT
    line = patterns.LABEL_WORD.sub(" ", text[start:end])
    at = 0
    while at < len(line):
        piece = patterns.REST.match(line, at)
        if not piece:
            return False
        at = piece.end()
    return True


def _before(text: str, at: int) -> str:
    """Return the words before in the same sentence, a heading's line included."""
    context = text[max(0, at - _CONTEXT) : at]
    stripped = context.rstrip()
    if stripped.endswith(":"):
        context = stripped
    ends = [match.end() for match in patterns.SENTENCE_END.finditer(context)]
    return context[ends[-1] :] if ends else context


def _is_time(  # noqa: PLR0911 - a reason a line
    match: re.Match[str], before: str, after: str, *, bracketed: bool, whole: bool
) -> bool:
    """Return True where two numbers are a start and an end.

    They are by unit, clock or brackets, or else by the words around them.
    """
    units = {_moment_of(match, number).unit for number in "12"} - {""}
    between = patterns.BETWEEN_WORD.search(before) or patterns.BETWEEN_WORD.search(after[:16])
    paired = bracketed and after.lstrip()[:1] in ("]", ")", ">")
    told_apart = (
        match["by"] not in ",;"
        or paired
        or whole
        or (units and (bracketed or patterns.CUE.search(before)))
    )
    if units == {"metre"} or not told_apart or (match["and"] and not between):
        return False
    listed = patterns.MORE_BEFORE.search(before) or patterns.MORE_AFTER.match(after)
    if listed and match["by"] in ",;" and not paired:
        return False
    if patterns.GOES_ON_AS_OTHER.match(after) or _is_denied(before):
        return False
    numbers = (match["number1"], match["number2"])
    years = all(
        number and "." not in number and _YEARS[0] <= float(number) <= _YEARS[1]
        for number in numbers
    )
    if units:
        lasts = "clock" not in units and not bracketed and patterns.LASTING_BEFORE.search(before)
        return not (lasts or patterns.LASTING_AFTER.match(after))
    if paired:
        counted = patterns.COUNTED_HEADING.search(before) or (
            "." not in match[0] and patterns.FRAMES_BEFORE.search(before)
        )
        return not counted and (match["by"] in ",;" or not years)
    if years or patterns.COUNTED_BEFORE.search(before) or patterns.COUNTED_AFTER.match(after):
        return False
    cued = (
        between
        or "=" in match[0]
        or patterns.FROM_BEFORE.search(before)
        or patterns.CUE.search(before)
        or patterns.FROM_BEFORE.match(match[0])
    )
    return whole or bool(cued and not listed and patterns.GOES_ON.match(after))


_tokens = lru_cache(maxsize=1)(Tokens)
"""A context is cut once for both of its uses."""


def _is_denied(before: str) -> bool:
    """Return True behind words that deny or hedge a range."""
    return patterns.DENIED.search(_governing(before)) is not None


def _governing(before: str, *, past_commas: bool = False) -> str:
    """Return the kinds of the words right before a range that say something of it.

    They end at the first that tells a story. `n` is a noun that names a span, `f` another word of
    spans. The rest as in the vocabulary.
    """
    kinds = ""
    tokens = _tokens(before)
    for kind, word in zip(reversed(tokens.kinds), reversed(tokens.words), strict=True):
        denies = kind in "XxHEY" and (
            not patterns.DENIES_NO_TIME_WORD.fullmatch(word) or kinds[:1] in ("C", "n")
        )
        if denies:
            kinds = kind + kinds
        elif kind == "," or (len(word) == 1 and kind == "w"):
            if not past_commas:
                break
        elif patterns.SPAN_NOUN.fullmatch(word):
            kinds = ("N" if kind in "NT" else "n") + kinds
        elif kind in "NTCcFSROVPq(:D)J":
            kinds = kind + kinds
        elif is_span_word(word) or patterns.HAPPENS_WORD.fullmatch(word):
            kinds = "f" + kinds
        else:
            break
    return kinds


def _values(match: re.Match[str]) -> tuple[float, float] | None:
    first = _moment_of(match, "1")
    second = _moment_of(match, "2")
    # "2 to 3 minutes": a number without a unit takes the other's.
    start = first.seconds * (1 if first.unit else _FACTORS.get(second.unit, 1))
    end = second.seconds * (1 if second.unit else _FACTORS.get(first.unit, 1))
    return (start, end) if math.isfinite(start) and math.isfinite(end) else None


# --- moments
# ------------------------------------------------------------------------------------------

_FACTORS = {"h": 3600, "m": 60, "metre": 60}
_PARTS = {"h": 3600, "m": 60, "hm": 60, "s": 1, "hs": 1, "ms": 1, "rest": 1}
"""Seconds of each part of a moment, by the group that has it."""


class _Moment(NamedTuple):
    """A moment in seconds, a bare number as it stands, and its unit.

    That is `clock`, `h`, `m`, `s`, `metre` (a bare m) or none.
    """

    seconds: float
    unit: str


def _moment_of(match: re.Match[str], number: str) -> _Moment:
    """Return a matched moment."""
    clock = match[f"clock{number}"]
    if clock:
        total = 0.0
        for part in clock.replace(",", ".").split(":"):
            total = total * 60 + float(part)
        # 3:2 is as well a score.
        unit = "clock" if patterns.TWO_DIGITS.search(clock) else ""
        return _Moment(total, unit)
    parts = {name: match[name + number] for name in _PARTS if match[name + number]}
    if parts:
        total = sum(_PARTS[name] * float(digits) for name, digits in parts.items())
        unit = "s" if len(parts) > 1 else next(iter(parts))
        if unit == "m" and match[f"m_unit{number}"] in ("m", "'"):
            unit = "metre"
        return _Moment(total, unit)
    digits = match[f"comma{number}"] or match[f"number{number}"] or "0"
    value = float(digits.replace(",", "."))
    prefix = match[f"prefix{number}"] or ""
    if match[f"comma_unit{number}"]:
        return _Moment(value, "s")
    if prefix in ("", "ke", "第"):
        return _Moment(value, "")
    # Behind "minute" a number is of minutes.
    if prefix.startswith(("min", "men", "phút")):
        return _Moment(value * 60, "m")
    return _Moment(value, "s")
