"""Answers that are numbers, scored by their distance from the right one.

An answer's number is the only one that it holds, in digits or in words up to twenty. Where it holds
several, the marked one counts (`<answer>5</answer>`), else the only one of its last line, else the
one that it begins with. An answer without one is wrong, as in the owners' scorers.
"""

# num2words has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import math
import re
from collections.abc import Callable
from functools import cache, lru_cache

from reelbench.base.errors import InputError
from reelbench.base.languages import language_of
from reelbench.registry.metrics import UNITS
from reelbench.registry.records import Item
from reelbench.scoring.answers import texts
from reelbench.scoring.answers.reasoning import last_line
from reelbench.scoring.exact_match import normalize

_NUMBER = re.compile("\N{MINUS SIGN}?\\d+(?:\\.\\d+)?")
_POINT_FIRST = re.compile(r"(?<![\w.,])\.(?=\d)")
"""The point of `.5`, which would else be taken for a full stop."""
_MOST_IN_WORDS = 20
_RELATIVE_THRESHOLDS = 10
_ONE = 1.0
_NEAR_ZERO = 0.1
"""What is added to a right number before an error is divided by it, as TransRAC does."""
_LARGEST_ERROR = UNITS["error"].high

Closeness = Callable[[float, float], float]
"""From the answered and the right number to a score, 0 to 1."""


def relative_accuracy(answered: float, right: float) -> float:
    """Return the mean relative accuracy: the share of ten tolerances that an answer keeps.

    They are 50, 45 and so on to 5 percent of the right number (VSI-Bench,
    `lmms_eval/tasks/vsibench/utils.py`). Of a right answer of 0 the answer 0 alone keeps any.
    """
    if right == 0:
        return float(answered == 0)
    error = abs(answered - right) / abs(right)
    kept_tolerances = [tolerance for tolerance in _tolerances() if error <= tolerance]
    return len(kept_tolerances) / _RELATIVE_THRESHOLDS


@cache
def _tolerances() -> list[float]:
    """Return the tolerances with the owners' rounding, which decides at their ends."""
    import numpy as np

    confidences = np.linspace(0.5, 0.95, _RELATIVE_THRESHOLDS)
    return (1 - confidences).tolist()


def off_by_one(answered: float, right: float) -> float:
    """Return 1 where a count is right or one off (RepNet, arXiv:2006.15418, OBO accuracy)."""
    return float(abs(answered - right) <= _ONE)


def absolute_error(answered: float, right: float) -> float:
    """Return the distance of two numbers (MAE of CG-AV-Counting, PushUpBench and OVR)."""
    return min(abs(answered - right), _LARGEST_ERROR)


def relative_error(answered: float, right: float) -> float:
    """Return the distance by the right number (MAE of TransRAC, RepCount and Countix)."""
    return min(abs(answered - right) / (abs(right) + _NEAR_ZERO), _LARGEST_ERROR)


def number_of(text: str, locale: str | None = None) -> float | None:
    """Return the number that an answer states. None where it states none, or several.

    Args:
        text: The answer.
        locale: A BCP-47 tag, whose number words are read beside English ones, and whose decimal
            sign counts.
    """
    text = texts.closing_part(text)
    marked = texts.marked_answers(text)
    parts = [text, last_line(text)]
    if marked:
        parts.insert(0, marked[-1][0])
    for part in parts:
        numbers = _numbers_in(part, locale)
        if len(set(numbers)) == 1:
            return numbers[0]
    first_word = text.split(maxsplit=1)[:1]
    numbers = _numbers_in("".join(first_word), locale)
    return numbers[0] if len(numbers) == 1 else None


def _numbers_in(text: str, locale: str | None) -> list[float]:
    """Return the numbers of a text, in order."""
    words = _number_words("en")
    if locale:
        words = words | _number_words(language_of(locale))
    numbers: list[float] = []
    for word in normalize(_POINT_FIRST.sub("0.", text), locale, in_words=False).split():
        if word in words:
            numbers.append(words[word])
        for match in _NUMBER.finditer(word):
            number = float(match[0].replace("\N{MINUS SIGN}", "-"))
            if math.isfinite(number):
                numbers.append(number)
    return numbers


@lru_cache(maxsize=64)
def _number_words(language: str) -> dict[str, float]:
    """Return a language's words of whole numbers, as far as they are single ones."""
    from num2words import CONVERTER_CLASSES, num2words

    if language not in CONVERTER_CLASSES:
        return {}
    words: dict[str, float] = {}
    for number in range(_MOST_IN_WORDS + 1):
        word = normalize(num2words(number, lang=language))
        if " " not in word:
            words[word] = float(number)
    return words


def columns(item: Item, column: str, closeness: Closeness) -> dict[str, float]:
    """Return an item's closeness to the nearest right number. None without predicted text.

    Args:
        item: Its facet `locale` names the language.
        column: The column's name.
        closeness: The rule.

    Raises:
        InputError: A right answer is no number.
    """
    if not isinstance(item.prediction, str):
        return {}
    answered = _answered_number(item)
    best = 0.0
    for right in _right_numbers(item):
        if answered is not None:
            best = max(best, closeness(answered, right))
    return {column: best}


def error_columns(item: Item) -> dict[str, float]:
    """Return the columns of an item's number: right, and its errors. None without a text.

    An answer without a number counts as 0, as at the owners of CG-AV-Counting, PushUpBench, OVR
    and RepCount.
    """
    if not isinstance(item.prediction, str):
        return {}
    stated_number = _answered_number(item)
    right_numbers = _right_numbers(item)
    answered = stated_number or 0.0
    return {
        "number_right": float(stated_number in right_numbers),
        "error": min(absolute_error(answered, right) for right in right_numbers),
        "relative_error": min(relative_error(answered, right) for right in right_numbers),
    }


def _answered_number(item: Item) -> float | None:
    locale = next(iter(item.facets.get("locale", ())), None)
    return number_of(item.text, locale)


def _right_numbers(item: Item) -> list[float]:
    texts_of_right = [item.target["text"], *item.target.get("also", ())]
    return [_right_number(text) for text in texts_of_right]


def _right_number(text: str) -> float:
    number = number_of(text)
    if number is None:
        raise InputError(f"numbers: the right answer {text!r} is not a number")
    return number
