"""What the rules give: faults of rows, and ways to choose an option that are right too often."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelbench.stats.intervals import Array
from reelbench.tasks.lint.questions import Choices, Question

FAMILY_LEVEL = 0.001
"""The chance of any false alarm of all statistical rules together."""

FEWEST_ROWS = 20
"""Questions from which on a statistical rule is tried."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of one row, or of several that don't go together.

    Attributes:
        rows: The rows.
        what: What is wrong, without any text of the rows: it may stand in a public log.
        of_right: What it says of the right answer; of a secret one this is left out.
    """

    rows: tuple[Question, ...]
    what: str
    of_right: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to choose an option without understanding it.

    Attributes:
        what: The way, without any text of the rows.
        chosen: A mask of the questions for which it can be tried.
        worth: Questions x places: what it is worth where the right option stands there.
        smallest: The smallest difference from chance that is a finding, as a share.
        least: The smallest share of right choices that is a finding.
        both_sides: True where it is a finding, too, that the way is right too seldom.
        names_rows: True where the questions that it gets right are worth naming.
    """

    what: str
    chosen: NDArray[np.bool_]
    worth: Array
    smallest: float
    least: float = 0.0
    both_sides: bool = False
    names_rows: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: it looks at all questions, or tries ways to choose on each split's.

    Attributes:
        name: Its name in files and on the command line.
        title: What is wrong where it finds something.
        threshold: From where on that is a finding, in words.
        look: Yields the faults of all splits' questions.
        ways: Yields the ways to choose.
    """

    name: str
    title: str
    threshold: str
    look: Callable[[Sequence[Question]], Iterator[Fault]] | None = None
    ways: Callable[[Choices], Iterator[Way]] | None = None
