"""The only option with a full stop, a capital, a comma or a digit is right more often than chance.

So is the only option without one.
"""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from reelbench.tasks.lint.findings import Rule, Shortcut
from reelbench.tasks.lint.questions import ChoiceQuestions

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


_FEATURES: dict[str, Callable[[str], bool | None]] = {
    "full stop": _ends_in_stop,
    "case": _begins_with_capital,
    "comma": _has_comma,
    "digit": _has_digit,
}


def _odd_option_shortcuts(choices: ChoiceQuestions) -> Iterator[Shortcut]:
    specific_options = choices.has_specific_options()
    for name, has_feature in _FEATURES.items():
        credit = choices.zero_credit()
        applicable = np.zeros(len(choices.questions), dtype=np.bool_)
        for number, question in enumerate(choices.questions):
            odd_index = _index_of_odd_one([has_feature(option) for option in question.options])
            if odd_index is not None:
                credit[number, odd_index] = 1
                applicable[number] = specific_options[number]
        yield Shortcut(f"the odd one out by {name}", applicable, credit, _SMALLEST)


def _index_of_odd_one(flags: Sequence[bool | None]) -> int | None:
    """Return the index of the only True, or of the only False."""
    if len(flags) < _FEWEST_OPTIONS or None in flags:
        return None
    for flag in (True, False):
        if flags.count(flag) == 1:
            return flags.index(flag)
    return None


RULE = Rule(
    name="odd_option",
    title="the only option with (or without) a mark is right too often",
    threshold="10 points above chance, by full stop, case, comma or digit; three options or more",
    find_shortcuts=_odd_option_shortcuts,
)
