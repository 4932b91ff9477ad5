"""Rows state different lengths of one video."""

from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question, Window

_SMALLEST = 1.0  # seconds


def _conflicting_durations(questions: Sequence[Question]) -> Iterator[RowIssue]:
    questions_of_video: dict[tuple[tuple[str, ...], Window | None], list[Question]] = {}
    for question in questions:
        if question.duration:
            # A row may state the length of the clip, and not that of the whole video.
            clip_key = (question.videos, question.clip)
            questions_of_video.setdefault(clip_key, []).append(question)
    for questions_of_one_video in questions_of_video.values():
        question_by_duration: dict[float, Question] = {}
        for question in questions_of_one_video:
            question_by_duration.setdefault(question.duration or 0.0, question)
        shortest = min(question_by_duration)
        longest = max(question_by_duration)
        if longest - shortest > _SMALLEST:
            rows = (question_by_duration[shortest], question_by_duration[longest])
            yield RowIssue(rows, f"one video of {shortest:,.10g} s and of {longest:,.10g} s")


RULE = Rule(
    name="lengths",
    title="one video has different lengths",
    threshold="lengths that rows state, more than a second apart",
    find_issues=_conflicting_durations,
)
