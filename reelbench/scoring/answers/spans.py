"""Reading a span of time, [start, end] in seconds, out of a model's answer."""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from reelbench.base.values import is_array, is_object
from reelbench.scoring.answers import patterns, texts
from reelbench.scoring.answers.json_literals import find_literals, without_objects
from reelbench.scoring.answers.vocabulary import WORDS

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

_QUOTES = str.maketrans("’”", "'\"")


@dataclass(frozen=True)
class _Range:
    start: int
    end: int
    span: tuple[float, float]
    stated: bool
    bracketed: bool
    whole: bool = False


class _Unreadable(Exception):  # noqa: N818 - no error: it ends the reading
    """The text has a span in its most explicit form, and it isn't one."""


def read_span(
    text: str, length: float | None = None, fps: float | None = None
) -> list[float] | None:
    """Return [start, end] in seconds, in the order of `text`, or None.

    Args:
        text: A model's answer; it may contain reasoning.
        length: Length of the video in seconds. It is needed for answers in parts of the video, such
            as percent.
        fps: Frames per second. It is needed for answers in frames.
    """
    answer = texts.answer_text(text)
    if answer is None:
        return None
    factors = {
        "milliseconds": 0.001,
        "ratio": length,
        "percent": length and length / 100,
        "frames": fps and 1 / fps,
    }
    text = _in_seconds(answer, factors)
    for content, end in texts.marked_answers(text):
        try:
            span = _in_literals(content) or _in_prose(content)
        except _Unreadable:
            return _in_prose(text[end:], stated=True)
        if span:
            return span
    try:
        return _in_literals(text) or _in_prose(text)
    except _Unreadable:
        return None


def read_spans(
    text: str, length: float | None = None, fps: float | None = None
) -> list[list[float]]:
    """Return all windows that `text` gives, in its order: the last list of them in it, else the one of `read_span`.

    Each is read as `read_span` reads one: clocks, and a confidence after it, too.
    """
    answer = texts.answer_text(text) or ""
    contents = [content for content, _ in texts.marked_answers(answer)] or [answer]
    for literal in sorted(find_literals(contents[0]), key=lambda one: (one.nested, -one.end)):
        value: Any = literal.value
        while is_object(value):
            held = (
                value[key]
                for key in (*SPAN_KEYS, *_ANSWERS)
                if is_array(value.get(key)) or is_object(value.get(key))
            )
            value = next(held, None)
        with suppress(_Unreadable):
            # What stands third is a confidence, 0 too.
            parts = [
                part[:2] if is_array(part) and len(part) == _SCORED else part
                for part in value or ()
            ]
            windows = [_pair([part]) for part in parts if is_array(part) or is_object(part)]
            read = [window for window in windows if window]
            if read and len(read) == len(value):
                return read
    first = read_span(text, length, fps)
    return [first] if first else []


def _in_seconds(text: str, factors: Mapping[str, float | None]) -> str:
    """Write windows in another unit that the text names as seconds; as `?` where their factor isn't known."""

    def window(unit: str, match: re.Match[str]) -> str:
        factor = factors[unit]
        ends = [float(match[name].replace(",", "")) for name in ("first", "second")]
        if unit == "ratio" and max(ends) > 1:
            return match[0]
        return (
            "?"
            if factor is None
            else "{:.6f} s to {:.6f} s".format(*(end * factor for end in ends))
        )

    def bound(match: re.Match[str]) -> str:
        factor = factors["frames" if match[2].lower() == "frame" else "milliseconds"]
        return match[0] if factor is None else f'"{match[1]}": {float(match[3]) * factor:.6f}'

    for unit in ("frames", "milliseconds", "percent", "ratio"):
        for pattern in patterns.several(f"{unit.upper()}_WINDOW"):
            text = pattern.sub(partial(window, unit), text)
    return patterns.UNIT_KEYS.sub(bound, text)


def is_span(text: str) -> bool:
    """Return whether a plain text that has digits is a span and nothing else."""
    if len(text) > _CONTEXT * 3 or patterns.LABEL.match(text):
        return False
    return (
        _in_prose(text) is not None
        and not patterns.REST.sub("", texts.without_markup(text).lower()).strip()
    )


def is_span_word(word: str) -> bool:
    """Return whether a word belongs to how spans are written ("from", "seconds", "window")."""
    return bool(patterns.SPAN_WORD.fullmatch(word.lower()))


# --- JSON and Python literals
# ---------------------------------------------------------------------------------------


def _in_literals(text: str) -> list[float] | None:
    """`{"span": [3, 12]}`, `{'start': '0:03', 'end': '0:12'}`, `[[3, 12], [20, 30]]`: the last; in a list the first."""
    literals = find_literals(text)
    # In a list the list decides; in the brackets of prose an object is found after what stands by
    # itself.
    for literal in sorted(literals, key=lambda literal: (literal.nested, -literal.end)):
        first = (
            literal.value[0] if isinstance(literal.value, list) and literal.value else literal.value
        )
        span = None
        if is_object(first):
            try:
                span = _of_object(first)
            except _Unreadable:
                if not (span := _in_prose(text[literal.end :], stated=True)):
                    raise
        elif isinstance(first, list) and not literal.nested:
            span = _pair(first)
        if span:
            return span
    return None


def _of_object(value: dict[str, Any], depth: int = 0) -> list[float] | None:
    if depth >= _DEEPEST:
        return None
    if stated := [value[key] for key in SPAN_KEYS if value.get(key) is not None]:
        return _stated(stated[0], depth)
    if bounds := [pair for pair in BOUNDS if value.keys() >= set(pair)]:
        return _stated([value[key] for key in bounds[0]], depth)
    for key, inner in value.items():
        if (
            key.endswith(_SPAN_KEY_ENDS)
            and not patterns.NO_SPAN_KEY.search(key)
            and (span := _pair(inner))
        ):
            return span
    if (
        len(value) == 1
        and (match := patterns.KEY_OF_MOMENTS.fullmatch(next(iter(value))))
        and _unit(match, "1")
    ):
        return list(_values(match) or ()) or None
    return _of_answers(value, depth)


def _of_answers(value: dict[str, Any], depth: int) -> list[float] | None:
    """Return the span that an answer's key holds, where it holds one."""
    for key in _ANSWERS:
        inner = value.get(key)
        if is_object(inner) and (span := _of_object(inner, depth + 1)):
            return span
        if isinstance(inner, str | list) and (span := _pair(inner)):
            return span
    return None


def _stated(value: Any, depth: int) -> list[float]:  # noqa: ANN401 - any literal
    """Return the span behind a key that names one; _Unreadable where it is none."""
    span = _of_object(value, depth + 1) if is_object(value) else _pair(value)
    if not span:
        raise _Unreadable
    return span


def _pair(value: Any) -> list[float] | None:  # noqa: ANN401 - any literal
    """Return a span from a text, two moments (a confidence may follow), or the first of a list of windows."""
    for _ in range(_DEEPEST):
        if is_array(value) and value and is_array(value[0]):
            value = value[0]
    if is_array(value) and value and is_object(value[0]):
        return _of_object(value[0], _DEEPEST - 1)
    if is_array(value) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, str):
        return _in_prose(value)
    if not is_array(value) or len(value) not in (2, 3):
        return None
    moments = [_moment(entry) for entry in value]
    if len(moments) == 3 and not (moments.pop() or 2) <= 1:  # noqa: PLR2004
        return None
    return [entry for entry in moments if entry is not None] if None not in moments else None


def _moment(value: Any) -> float | None:  # noqa: ANN401 - any literal
    if not isinstance(value, str):
        return None
    if signed := patterns.SIGNED.fullmatch(value):
        number = float(signed[1])
        return number if math.isfinite(number) else None
    match = patterns.SINGLE.fullmatch(value.strip().lower())
    return _seconds(match, "1") if match else None


# --- prose
# ----------------------------------------------------------------------------------------------------------


def _in_prose(text: str, *, stated: bool = False) -> list[float] | None:
    """`from 3 to 12`, `[3, 12]`, `starts at 0:03 and ends at 0:12`: the only range, or the last stated as the answer.

    With `stated` one that isn't stated is none, be it the only one.
    """
    if "<" in text:
        text = patterns.DIGIT_TOKENS.sub(
            lambda match: match[0].replace("dot", ".").replace("<t", "").replace(">", ""), text
        )
        text = patterns.BOUND_TAG.sub(
            r" \1 ", patterns.TAGGED_MOMENTS.sub(" to ", patterns.BIN.sub(" ", text))
        )
    low = texts.without_markup(without_objects(text)).strip()
    low = low.translate(_QUOTES)
    low = low.lower() if len(low.lower()) == len(low) else low
    if (lines := patterns.TWO_LINES.fullmatch(low)) and _unit(lines, "1") and _unit(lines, "2"):
        return list(_values(lines) or ()) or None
    named, single = _named_bounds(low)
    ranges = [
        entry for entry in [*(_bounds(low) or named), *_ranges(low)] if entry.end not in single
    ]
    # Leave out the further windows of a bracketed list.
    kept: list[_Range] = []
    last: _Range | None = None
    for entry in ranges:
        joined = last and last.bracketed and entry.bracketed
        if not (joined and last and patterns.LIST_JOINT.fullmatch(low[last.end : entry.start])):
            kept.append(entry)
        last = entry
    # Take back what was stated of ranges that stand as alternatives: "0:05-0:09 or 0:20-0:31"
    # states neither.
    weighed = list(kept)
    for number, (left, right) in enumerate(pairwise(kept)):
        if patterns.ALTERNATIVE.fullmatch(low[left.end : right.start]):
            weighed[number] = replace(left, stated=False, whole=False)
            weighed[number + 1] = replace(right, stated=False, whole=False)
    ranges = weighed or _openings(low)
    # What a start and an end hold between them is no range of its own.
    spans = {entry.span for entry in ranges}
    if len(spans) > 1 or stated:
        # A line of its own states a span, unless there are several such lines.
        lines = {entry.span for entry in ranges if entry.whole}
        ranges = [entry for entry in ranges if entry.stated or (entry.whole and len(lines) == 1)][
            -1:
        ]
        spans = {entry.span for entry in ranges}
    return list(spans.pop()) if len(spans) == 1 else None


def _bounds(text: str) -> list[_Range]:
    ranges: list[_Range] = []
    for pattern in (
        patterns.START_END,
        patterns.END_START,
        *([] if text.isascii() else [patterns.POSTPOSED]),
    ):
        for match in pattern.finditer(text):
            before = _before(text, match.start())
            inside = text[match.start() : match.end()]
            if (
                patterns.OF_VIDEO.search(before)
                or patterns.OF_VIDEO_ENDS.search(inside)
                or patterns.DENIED.search(_governing(before))
            ):
                continue
            explicit = _unit(match, "1") and _unit(match, "2")
            if not explicit and (
                patterns.COUNTED.search(inside) or patterns.COUNTED_AFTER.match(text, match.end())
            ):
                continue
            if not patterns.GOES_ON_AS_OTHER.match(text, match.end()) and (span := _values(match)):
                ranges.append(
                    _Range(match.start(), match.end(), span, stated=True, bracketed=False)
                )
        if ranges:
            break
    return ranges


def _named_bounds(text: str) -> tuple[list[_Range], set[int]]:
    """`The start time is 0:03. … The end time is 0:12`: the span, and where ranges end that state a single bound.

    Without a name for the start it is the one moment at which something happens.
    """
    ends = _named_moments(text, patterns.NAMED_END)
    starts = _named_moments(text, patterns.NAMED_START) if ends else {}
    if ends and not starts:
        starts = _named_moments(text, patterns.HAPPENS_AT, explicit=True)
        if None in starts.values():
            return [], set()
    if starts and None in {*starts.values(), *ends.values()}:
        return [], {*starts, *ends}
    span = tuple({*moments.values()} for moments in (starts, ends))
    if [len(values) for values in span] != [1, 1]:
        return [], set()
    start, end = (values.pop() or 0.0 for values in span)
    return [
        _Range(min(*starts, *ends), max(*starts, *ends), (start, end), stated=True, bracketed=False)
    ], set()


def _named_moments(
    text: str, name: re.Pattern[str], *, explicit: bool = False
) -> dict[int, float | None]:
    """Return the moments behind a bound's name by where they end; None for each end of a range."""
    moments: dict[int, float | None] = {}
    for match in name.finditer(text):
        moment = match.start("moment")
        if patterns.OF_VIDEO.search(_before(text, match.start())) or patterns.DENIED.search(
            _governing(_before(text, moment))
        ):
            continue
        range_ = patterns.RANGE.match(text, moment)
        # "the end time of clip 2 is" counts something
        bare = patterns.IS.search(text, match.start(), moment) and not patterns.COUNTED_AFTER.match(
            text, match.end()
        )
        known = _unit(match, "1") or (bare and not explicit)
        between = patterns.BETWEEN_WORD.search(text, match.start(), moment)
        if range_ and range_["by"] not in ",;" and (between or not range_["and"]):
            moments |= {match.end(): None, range_.end(): None}
        elif known and not patterns.GOES_ON_AS_OTHER.match(text, match.end()):
            moments[match.end()] = _seconds(match, "1")
    return moments


def _openings(text: str) -> list[_Range]:
    """`in the first 10 seconds`, `from the beginning to 0:10`, `until the 10th second`: from 0 on."""
    ranges: list[_Range] = []
    for match in patterns.FROM_ZERO.finditer(text):
        known = _unit(match, "1") not in ("", "metre")
        denied = patterns.DENIED.search(_governing(_before(text, match.start())))
        if known and not denied and not patterns.LASTING_AFTER.match(text, match.end()):
            ranges.append(
                _Range(match.start(), match.end(), (0.0, _seconds(match, "1")), False, False)
            )
    return ranges


def _ranges(text: str) -> list[_Range]:
    ranges: list[_Range] = []
    for match in list(patterns.RANGE.finditer(text))[-_MOST_RANGES:]:
        before, after = _before(text, match.start()), text[match.end() : match.end() + _CONTEXT]
        bracketed = match[0].lstrip()[:1] in ("[", "(", "<")
        # Whether a match's line holds nothing but a span, an option's label and their names.
        first = max(0, match.start() - _CONTEXT)
        start = text.rfind("\n", first, match.start()) + 1 or first
        end = text.find("\n", match.end(), match.end() + _CONTEXT)
        line = patterns.LABEL_WORD.sub(
            " ", text[start : end if end >= 0 else match.end() + _CONTEXT]
        )
        at = 0
        while at < len(line) and (piece := patterns.REST.match(line, at)):
            at = piece.end()
        whole = at == len(line)
        if _is_time(match, before, after, bracketed=bracketed, whole=whole) and (
            span := _values(match)
        ):
            stated = bool(patterns.STATED.search(_governing(before, past_commas=True)))
            ranges.append(_Range(match.start(), match.end(), span, stated, bracketed, whole))
    return ranges


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
    """Whether two numbers are a start and an end: by unit, clock or brackets, or else by the words around them."""
    units = {_unit(match, "1"), _unit(match, "2")} - {""}
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
    if patterns.GOES_ON_AS_OTHER.match(after) or patterns.DENIED.search(_governing(before)):
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


_tokens = lru_cache(maxsize=1)(texts.tokens)
"""A context is cut once for both that is asked of it."""


def _governing(before: str, *, past_commas: bool = False) -> str:
    """Return the kinds of the words right before a range that say something of it, up to the first that tells a story.

    `n` is a noun that names a span, `f` another word of spans; the rest as in the vocabulary.
    """
    kinds = ""
    for token in reversed(_tokens(before)):
        word = token.text
        if token.kind in "XHEY" and (
            not patterns.DENIES_NO_TIME_WORD.fullmatch(word) or kinds[:1] in ("C", "n")
        ):
            kinds = token.kind + kinds
        elif token.kind == "," or (len(word) == 1 and token.kind == "w"):
            if not past_commas:
                break
        elif patterns.SPAN_NOUN.fullmatch(word):
            kinds = ("N" if token.kind in "NT" else "n") + kinds
        elif token.kind in "NTCcFSROVPq(:D)J":
            kinds = token.kind + kinds
        elif is_span_word(word) or patterns.HAPPENS_WORD.fullmatch(word):
            kinds = "f" + kinds
        else:
            break
    return kinds


def _values(match: re.Match[str]) -> tuple[float, float] | None:
    start, end = _seconds(match, "1"), _seconds(match, "2")
    units = _unit(match, "1"), _unit(match, "2")
    factor = {"h": 3600.0, "m": 60.0, "metre": 60.0}
    # "2 to 3 minutes": what has no unit takes the other's.
    if not units[0] and units[1] in factor:
        start *= factor[units[1]]
    if not units[1] and units[0] in factor:
        end *= factor[units[0]]
    return (start, end) if math.isfinite(start) and math.isfinite(end) else None


# --- moments
# ----------------------------------------------------------------------------------------------------------


def _seconds(match: re.Match[str], number: str) -> float:
    """Return a matched moment in seconds (behind "minute" in minutes), a bare number as it stands."""
    if clock := match[f"clock{number}"]:
        total = 0.0
        for part in clock.replace(",", ".").split(":"):
            total = total * 60 + float(part)
        return total
    parts = {
        name: float(match[f"{key}{number}"])
        for name, keys in (("h", ("h",)), ("m", ("m", "hm")), ("s", ("s", "hs", "ms", "rest")))
        for key in keys
        if match[f"{key}{number}"]
    }
    if parts:
        return parts.get("h", 0.0) * 3600 + parts.get("m", 0.0) * 60 + parts.get("s", 0.0)
    value = float((match[f"comma{number}"] or match[f"number{number}"] or "0").replace(",", "."))
    return value * 60 if _unit(match, number) == "m" else value


def _unit(match: re.Match[str], number: str) -> str:  # noqa: PLR0911 - a table
    """Return a matched moment's form: `clock`, `h`, `m`, `s`, `metre` (a bare m) or none."""
    if clock := match[f"clock{number}"]:
        # 3:2 is as well a score.
        return "clock" if patterns.TWO_DIGITS.search(clock) else ""
    if match[f"h_unit{number}"]:
        return "h" if not (match[f"hm{number}"] or match[f"hs{number}"]) else "s"
    if match[f"m_unit{number}"]:
        if match[f"ms{number}"] or match[f"rest{number}"]:
            return "s"
        return "metre" if match[f"m_unit{number}"] in ("m", "'") else "m"
    if match[f"s_unit{number}"] or match[f"comma_unit{number}"]:
        return "s"
    prefix = match[f"prefix{number}"]
    if prefix:
        return (
            "m"
            if prefix.startswith(("min", "men", "phút"))
            else "s"
            if prefix not in ("ke", "第")
            else ""
        )
    return ""
