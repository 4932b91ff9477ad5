"""The only option with a full stop, a capital, a comma or a digit is right more often than chance.

So is the only option without one.
"""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from reelbench.tasks.lint.findings import Rule, Way
from reelbench.tasks.lint.questions import Choices

_SMALLEST = 0.10
_FEWEST_OPTIONS = 3  # of two, each is the odd one
_STOPS = (".", "。", "．", "।")
_COMMA = re.compile("[,，、،]")
_DIGIT = re.compile(r"\d")


def _ends_in_stop(option: str) -> bool | None:
    return option.rstrip().endswith(_STOPS)


def _has_comma(option: str) -> bool | None:
    return _COMMA.search(option) is not None


def _has_digit(option: str) -> bool | None:
    return _DIGIT.search(option) is not None


def _begins_with_capital(option: str) -> bool | None:
    """Return None where an option begins with no letter that has a case."""
    first = option.lstrip()[:1]
    if not first or first.lower() == first.upper():
        return None
    return first.isupper()


_MARKS: dict[str, Callable[[str], bool | None]] = {
    "full stop": _ends_in_stop,
    "case": _begins_with_capital,
    "comma": _has_comma,
    "digit": _has_digit,
}


def _ways(choices: Choices) -> Iterator[Way]:
    own_options = choices.with_options_of_their_own()
    for name, has_mark in _MARKS.items():
        worth = choices.no_worth()
        chosen = np.zeros(len(choices.questions), dtype=np.bool_)
        for number, question in enumerate(choices.questions):
            odd_place = _odd_place([has_mark(option) for option in question.options])
            if odd_place is not None:
                worth[number, odd_place] = 1
                chosen[number] = own_options[number]
        yield Way(f"the odd one out by {name}", chosen, worth, _SMALLEST)


def _odd_place(marks: Sequence[bool | None]) -> int | None:
    """Return the place of the only option with a mark, or the only one without."""
    if len(marks) < _FEWEST_OPTIONS or None in marks:
        return None
    for mark in (True, False):
        if marks.count(mark) == 1:
            return marks.index(mark)
    return None


RULE = Rule(
    name="odd_option",
    title="the only option with (or without) a mark is right too often",
    threshold="10 points above chance, by full stop, case, comma or digit; three options or more",
    ways=_ways,
)
