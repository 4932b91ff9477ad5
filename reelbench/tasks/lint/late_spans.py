"""A right span ends behind the end of its video."""

from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question, is_behind


def _late_spans(questions: Sequence[Question]) -> Iterator[RowIssue]:
    for question in questions:
        if not question.spans or not question.duration:
            continue
        end = max(end for _, end in question.spans)
        if is_behind(end, question.duration):
            description = f"ends at {end:,.10g} s, and the video at {question.duration:,.10g} s"
            yield RowIssue((question,), description)


RULE = Rule(
    name="late_span",
    title="a span ends after the end of its video",
    threshold="by more than 2 % of the length that the row states, and a second",
    find_issues=_late_spans,
)
