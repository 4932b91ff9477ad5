"""Times and windows of a video, read from a table's cells."""

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_number, is_object
from reelbench.data.row_cells import parse_literal
from reelbench.registry.spec import SpanUnit

_CLOCK = re.compile(r"(?:(\d{1,9}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d+)?)")
_CLOCK_TEXT = r"(?:\d{1,9}:)?\d{1,2}:\d{1,2}(?:[.,]\d+)?"
_TIME_TEXT = rf"{_CLOCK_TEXT}|[\d:.]+"
_RANGE = re.compile(rf"\s*({_TIME_TEXT})\s*(?:-->|--|-|–|—|~|,|to)\s*({_TIME_TEXT})\s*")
_STATED_RANGE = re.compile(
    rf"\s*({_TIME_TEXT})\s*(?:-->|--|-|–|—|~|to)\s*({_TIME_TEXT}(?: ?(?:s|secs?|seconds?))?)\s*",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z]{1,20}>")
_BETWEEN_RANGES = re.compile(r"[,;|\n]|\band\b")
_THOUSANDTHS = re.compile(r"\d+,\d{3}")
"""Perhaps a time with a decimal comma, and perhaps two times."""
_IN_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(?:s|secs?|seconds?)")
_BRACKETED = re.compile(r"\s*\[([^\[\]]*)\]\s*")
_PADDED = re.compile(r"(?<![\d:.,])0\d[\d.]*(?![\d:.,]| ?s)")
_PAIR = 2
_LAST_OF_SIXTY = 59
_BEFORE_START = 0.5


def seconds(value: Any, where: str) -> float:  # noqa: ANN401 - whatever a cell holds
    """Return a time in seconds: a number, such as 30 or `30s`, or a clock.

    A clock's fraction stands behind a point or, as in SubRip, a comma (`1:02:03,500`).
    """
    if is_number(value):
        return float(value)
    if isinstance(value, str):
        clock = _CLOCK.fullmatch(value.strip())
        if clock:
            return _seconds_of_clock(clock, value, where)
        stated_seconds = _IN_SECONDS.fullmatch(value.strip().lower())
        if stated_seconds:
            return float(stated_seconds[1])
        with suppress(ValueError):
            number = float(value)
            if math.isfinite(number):
                return number
    raise InputError(f"{where} is {value!r}, expected a time in seconds")


def _seconds_of_clock(clock: re.Match[str], value: str, where: str) -> float:
    hours, minutes, rest = clock.groups()
    whole_seconds = int(re.split("[.,]", rest)[0])
    if whole_seconds > _LAST_OF_SIXTY or (hours and int(minutes) > _LAST_OF_SIXTY):
        raise InputError(f"{where} is {value!r}, expected a clock whose parts end at 59")
    return 3600 * int(hours or 0) + 60 * int(minutes) + float(rest.replace(",", "."))


def padded_time(value: object) -> str:
    """Return the first time with a leading zero, such as `01.30`, or an empty text.

    It may be minutes and seconds. A clock (`01:30`) or a time that states its unit is none.
    """
    if is_number(value) or value is None:
        return ""
    padded = _PADDED.search(str(value))
    return padded[0] if padded else ""


def read_windows(
    value: Any,  # noqa: ANN401 - any cell
    where: str,
    unit: SpanUnit = "seconds",
) -> list[float]:
    """Return the starts and ends of one or more parts of a video, in `unit`.

    A cell holds a pair, a list of pairs, either of these as JSON text, or a range such as `3-7`, or
    `00:00:03,000 --> 00:00:07,000`.

    Raises:
        InputError: It is something else, begins more than half a second before 0, or ends before
            it starts.
    """
    ends: list[float] = []
    for pair in _starts_and_ends(value, where):
        if len(pair) != _PAIR:
            raise _no_windows(value, where)
        if unit not in ("seconds", "clock"):
            refuse_stated_seconds(pair, where, unit)
        start = seconds(pair[0], where)
        end = seconds(pair[1], where)
        are_clocks = _is_clock(pair[0]) and _is_clock(pair[1])
        if unit == "clock" and not are_clocks:
            raise InputError(
                f"{where} is {value!r}, expected clocks such as 1:02 (span_unit: clock)"
            )
        fault = _fault_of_window(start, end)
        if fault is not None:
            counted_in = "seconds" if unit == "clock" else unit
            raise InputError(
                f"{where} is {value!r}, which {fault}; expected [start, end] in {counted_in}"
            )
        ends += [start, end]
    return ends


def _fault_of_window(start: float, end: float) -> str | None:
    if start < -_BEFORE_START:
        return "begins before 0"
    if start > end:
        return "ends before it starts"
    return None


def _starts_and_ends(value: Any, where: str) -> list[Sequence[Any]]:  # noqa: ANN401 - any cell
    """Return the start and end of each window as they stand in a cell."""
    parts = parse_literal(value)
    if isinstance(parts, str):
        bracketed = _BRACKETED.fullmatch(parts)
        if bracketed:
            parts = bracketed[1]
        parts = _range_of_text(parts, where)
    if is_object(parts):
        parts = list(parts.values())
    if not is_array(parts) or not parts:
        raise _no_windows(value, where)
    if not all(is_array(part) or is_object(part) for part in parts):
        return [parts]
    pairs: list[Sequence[Any]] = []
    for part in parts:
        if is_object(part):
            pairs.append(list(part.values()))
        else:
            pairs.append(part)
    return pairs


def _range_of_text(text: str, where: str) -> Any:  # noqa: ANN401 - a pair, or the text
    """Return the two times of a range. The text itself where it is none."""
    if _THOUSANDTHS.fullmatch(text.strip()):
        raise InputError(
            f"{where} is {text!r}, which may be one time or two; write 1.500 for one and a half "
            "seconds, and 1-500 for a range"
        )
    if _CLOCK.fullmatch(text.strip()):
        return text
    text_range = _RANGE.fullmatch(text)
    if text_range is not None:
        return text_range.groups()
    return _ranges_of_text(text) or text


def _ranges_of_text(text: str) -> list[Sequence[str]]:
    """Return the ranges of a text that states nothing else. None where it does.

    Tags around them are left out: `<time>3 - 7.5 seconds</time>, <time>9 - 12 seconds</time>`.
    """
    pairs: list[Sequence[str]] = []
    for piece in _BETWEEN_RANGES.split(_TAG.sub(" ", text)):
        stated_range = _STATED_RANGE.fullmatch(piece)
        if stated_range is None:
            return []
        pairs.append(stated_range.groups())
    return pairs


def _no_windows(value: Any, where: str) -> InputError:  # noqa: ANN401 - any cell
    return InputError(f"{where} is {value!r}, expected [start, end] in seconds, or a list of such")


def refuse_stated_seconds(pair: Sequence[Any], where: str, unit: SpanUnit) -> None:
    """Raise InputError where a time states that it is in seconds, not in `unit`."""
    for time in pair:
        if not isinstance(time, str):
            continue
        if _is_clock(time) or _IN_SECONDS.fullmatch(time.strip().lower()):
            raise InputError(f"{where}: {time!r} is in seconds, and its unit is {unit}")


def _is_clock(value: object) -> bool:
    return isinstance(value, str) and ":" in value
