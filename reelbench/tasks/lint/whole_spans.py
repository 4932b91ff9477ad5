"""A right span is the whole video, so that nothing has to be found."""

from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question

_SHARE = 0.95


def _spans_of_whole_video(questions: Sequence[Question]) -> Iterator[RowIssue]:
    for question in questions:
        length = question.duration
        if question.clip is not None:
            length = question.clip[1] - question.clip[0]
        if not question.spans or not length:
            continue
        covered = _covered_seconds(question)
        # More than the whole is a matter of other rules.
        if _SHARE * length <= covered <= length / _SHARE:
            yield RowIssue((question,), f"{100 * covered / length:.0f} % of {length:,.10g} s")


def _covered_seconds(question: Question) -> float:
    """Return the seconds that a question's windows cover together."""
    seconds = 0.0
    last_end = float("-inf")
    for start, end in sorted(question.spans):
        seconds += max(0.0, end - max(start, last_end))
        last_end = max(last_end, end)
    return seconds


RULE = Rule(
    name="whole_span",
    title="a span is the whole video, and nothing has to be found",
    threshold="95 % of its length, as the row states it",
    find_issues=_spans_of_whole_video,
)
