"""Reading a choice and a span of time out of a model's free text.

Both return None when the text does not say: that is the model's error and counts as one. Nothing is guessed: where a
text names two options without saying which is its answer, there is no answer.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.registry.data.loading import imported
from reelbench.registry.spec import BenchmarkSpec

LETTERS = "ABCDEFGHIJ"

_ANSWER_KEYS = ("answer", "option", "choice", "ans", "correct_option", "correct_answer")
_SPAN_KEYS = ("span", "relevant_span", "window", "time_span", "timestamps", "segment", "relevant_windows", "windows")
_BOUNDS = (("start", "end"), ("start_time", "end_time"), ("from", "to"))

# A moment: hh:mm:ss(.f), mm:ss(.f), or seconds with an optional unit.
_MOMENT = r"(?:\d+:)?\d{1,3}:\d{1,2}(?:\.\d+)?|\d+(?:\.\d+)?"
_UNIT = r"\s*(?:s|sec|secs|second|seconds)?\b\.?"
_RANGE = re.compile(
    rf"(?P<start>{_MOMENT}){_UNIT}\s*[\])>]?\s*(?:,|-|–|—|~|→|->|to|until|till|and|through)\s*"
    rf"(?:second\s+|[\[(<]\s*)?(?P<end>{_MOMENT})",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)
_COMMENT = re.compile(r"//[^\n\"]*$", re.MULTILINE)


def read_option(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that `text` answers with, or None.

    Understood, most explicit first: JSON with an answer in it; `answer: (B)`, `the answer is B`; a text that is or
    starts with `(B)`, `B.`, `B)` or `B`; one option's own text; a single `(B)` somewhere.
    """
    letters = LETTERS[: len(options)]
    for found in _objects(text):
        for key in _ANSWER_KEYS:
            if isinstance(value := found.get(key), str):
                return _letter(value, letters) or _own_text(value, options)
    rest = _OBJECT.sub(" ", text)
    # A small letter counts only where nothing but punctuation follows: "answer a question" names no option.
    statement = (
        rf"(?i:\b(?:answer|option|choice)\b(?:\s+(?:is|would be))?)\s*[:=]?\s*[\"'*(\[]*"
        rf"(?:([{letters}])(?![A-Za-z'])|([{letters.lower()}])(?=\s*(?:[)\].,*\"']|$)))"
    )
    stated = {(upper or lower).upper() for upper, lower in re.findall(statement, rest)}
    if stated:
        return stated.pop() if len(stated) == 1 else None
    bracketed = {match.upper() for match in re.findall(rf"[(\[]\s*([{letters}])\s*[)\]]", rest, re.IGNORECASE)}
    if len(bracketed) > 1:
        return None
    if letter := _letter(rest, letters):
        return letter
    if letter := _own_text(rest, options):
        return letter
    return bracketed.pop() if bracketed else None


def read_span(text: str) -> list[float] | None:
    """Return [start, end] in seconds as `text` states it, in its order, or None.

    Understood: JSON with a span in it (numbers, `mm:ss` or `hh:mm:ss`), and ranges such as `From 3 to 12`,
    `[3, 12]`, `00:03 - 00:12`. Of several different ranges outside JSON none is taken, except after `From`.
    """
    for found in _objects(text):
        if span := _object_span(found):
            return span
    rest = _OBJECT.sub(" ", text)
    explicit = re.search(rf"\b(?:from|between)\s+(?:second\s+|[\[(<]\s*)?{_RANGE.pattern}", rest, re.IGNORECASE)
    if explicit:
        return [_seconds(explicit["start"]), _seconds(explicit["end"])]
    ranges = {(_seconds(match["start"]), _seconds(match["end"])) for match in _RANGE.finditer(rest)}
    return list(ranges.pop()) if len(ranges) == 1 else None


def _seconds(moment: str) -> float:
    seconds = 0.0
    for part in moment.strip().split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def _moment(value: Any) -> float | None:  # noqa: ANN401 - any JSON value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and (match := re.fullmatch(rf"\s*({_MOMENT}){_UNIT}\s*", value, re.IGNORECASE)):
        return _seconds(match[1])
    return None


def _pair(values: Any) -> list[float] | None:  # noqa: ANN401 - any JSON value
    if isinstance(values, str):
        return read_span(values)
    if not isinstance(values, list | tuple) or not values:
        return None
    if isinstance(values[0], list | tuple):  # a list of windows: the first is the answer, as the authors read it
        return _pair(values[0])
    moments = [_moment(value) for value in values[:2]]
    return [m for m in moments if m is not None] if len(moments) == 2 and None not in moments else None  # noqa: PLR2004


def _object_span(found: dict[str, Any]) -> list[float] | None:
    for key in _SPAN_KEYS:
        if key in found and (span := _pair(found[key])):
            return span
        if isinstance(found.get(key), dict) and (span := _object_span(found[key])):
            return span
    for start, end in _BOUNDS:
        if span := _pair([found.get(start), found.get(end)]):
            return span
    return None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in `text`, the last one first: models reason first and answer last."""
    candidates = [text.strip(), *_OBJECT.findall(text)]
    for candidate in reversed(candidates):
        try:
            found = json.loads(_COMMENT.sub("", candidate))
        except (json.JSONDecodeError, RecursionError):
            continue
        if isinstance(found, dict):
            yield {str(key).strip().lower(): value for key, value in found.items()}


def _letter(text: str, letters: str) -> str | None:
    """The letter that a text is, or starts with in the way of a label."""
    text = text.strip().strip("*_`\"' \t\n")
    if re.fullmatch(rf"[(\[]?[{letters}{letters.lower()}][)\]]?[.:,]?", text):
        return re.sub(r"[^A-Za-z]", "", text).upper()
    label = re.match(rf"(?:\(([{letters}{letters.lower()}])\)|([{letters}{letters.lower()}])[.):])\s*\**\s+\S", text)
    if label:
        return (label[1] or label[2]).upper()
    return None


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[^\w]+", " ", text).strip()


def _own_text(text: str, options: Sequence[str]) -> str | None:
    """The letter of the one option whose own words stand in `text` (the longest, where one contains another)."""
    said = f" {_plain(text)} "
    found = [(letter, plain) for letter, option in zip(LETTERS, options, strict=False) if (plain := _plain(option))]
    found = [(letter, plain) for letter, plain in found if f" {plain} " in said]
    longest = [
        letter
        for letter, plain in found
        if not any(plain != other and f" {plain} " in f" {other} " for _, other in found)
    ]
    return longest[0] if len(longest) == 1 else None


# --- what scoring asks -----------------------------------------------------------------------------------------------


def parse(spec: BenchmarkSpec, answer: str, options: Sequence[str]) -> dict[str, Any]:
    """Read a choice, and a span where the benchmark asks for one, out of free text; None for what isn't there."""
    parsed: dict[str, Any] = {"answer": read_option(answer, options)}
    if spec.row_kind == "grounded_choice":
        parsed["span"] = read_span(answer)
    return parsed


def flags(answer: str, parsed: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Say what is wrong with an answer by the model's own doing: it counts as wrong, and is counted."""
    if not answer.strip():
        return ("empty",)
    return ("parse_failed",) if parsed is not None and None in parsed.values() else ()


def reread(spec: BenchmarkSpec, prediction: Any, options: Sequence[str] | None) -> Mapping[str, Any]:  # noqa: ANN401
    """Return what a recorded prediction reads as: the columns of `Sample.parsed` that can be told, none where none can.

    Args:
        spec: The benchmark.
        prediction: Raw, as a sample records it: a model's text, or an entry of a submission file.
        options: The question's options where its row is known; a letter in free text can't be told without them.
    """
    if spec.row_kind == "open":
        return {}
    if isinstance(prediction, Mapping):
        of_entry = getattr(imported(spec.formats), "reread", None)
        return {} if of_entry is None else of_entry(prediction)
    parsed: dict[str, Any] = {}
    if isinstance(prediction, str):
        if options is not None:
            parsed["answer"] = read_option(prediction, options)
        if spec.row_kind == "grounded_choice":
            parsed["span"] = read_span(prediction)
    return parsed
