"""A right span has no length, so that no answer can meet it."""

from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import Fault, Rule
from reelbench.tasks.lint.questions import Question


def _faults(questions: Sequence[Question]) -> Iterator[Fault]:
    for question in questions:
        for start, end in question.spans:
            if end <= start:
                yield Fault((question,), f"begins at {start:,.10g} s and ends at {end:,.10g} s")


RULE = Rule(
    name="empty_span",
    title="a span has no length",
    threshold="it ends where it begins, or before",
    look=_faults,
)
