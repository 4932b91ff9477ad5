"""What the rules give: faults of rows, and ways to choose an option that are right too often."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelbench.stats.intervals import Array
from reelbench.tasks.lint.questions import ChoiceQuestions, Question

FAMILY_LEVEL = 0.001
"""The chance of any false alarm of all statistical rules together."""

FEWEST_ROWS = 20
"""Questions from which on a statistical rule is tried."""


@dataclass(frozen=True, slots=True)
class RowIssue:
    """Something wrong in one row, or in several that contradict each other.

    Attributes:
        rows: The rows.
        description: What is wrong, without any text of the rows: it may stand in a public log.
        answer_note: What it says of the right answer; of a secret one this is left out.
    """

    rows: tuple[Question, ...]
    description: str
    answer_note: str = ""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A way to choose an option without understanding it, such as "always the longest".

    Attributes:
        description: The way, without any text of the rows.
        applicable: A mask of the questions for which it can be tried.
        credit: Questions x options: the share of its choice that each option gets.
        min_difference: The smallest difference from chance that is a finding, as a share.
        min_accuracy: The smallest share of right choices that is a finding.
        is_two_sided: True where it is a finding, too, that it is right too seldom.
        lists_questions: True where the questions that it gets right are worth naming.
    """

    description: str
    applicable: NDArray[np.bool_]
    credit: Array
    min_difference: float
    min_accuracy: float = 0.0
    is_two_sided: bool = False
    lists_questions: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: it looks at all questions, or tries ways to choose on each split's.

    Attributes:
        name: Its name in files and on the command line.
        title: What is wrong where it finds something.
        threshold: From where on that is a finding, in words.
        find_issues: Yields the issues of all splits' questions.
        find_shortcuts: Yields the shortcuts to be tested on a split.
    """

    name: str
    title: str
    threshold: str
    find_issues: Callable[[Sequence[Question]], Iterator[RowIssue]] | None = None
    find_shortcuts: Callable[[ChoiceQuestions], Iterator[Shortcut]] | None = None
