"""A right span has no length, so that no answer can meet it."""

from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question


def _empty_spans(questions: Sequence[Question]) -> Iterator[RowIssue]:
    for question in questions:
        for start, end in question.spans:
            if end <= start:
                yield RowIssue((question,), f"begins at {start:,.10g} s and ends at {end:,.10g} s")


RULE = Rule(
    name="empty_span",
    title="a span has no length",
    threshold="it ends where it begins, or before",
    find_issues=_empty_spans,
)
