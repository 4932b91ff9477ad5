"""Rows state different lengths of one video."""

from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import Fault, Rule
from reelbench.tasks.lint.questions import Question, Window

_SMALLEST = 1.0  # seconds


def _faults(questions: Sequence[Question]) -> Iterator[Fault]:
    questions_of_video: dict[tuple[tuple[str, ...], Window | None], list[Question]] = {}
    for question in questions:
        if question.duration:
            # A length may be that of the part which is shown.
            part = (question.videos, question.clip)
            questions_of_video.setdefault(part, []).append(question)
    for alike in questions_of_video.values():
        first_of_length: dict[float, Question] = {}
        for question in alike:
            first_of_length.setdefault(question.duration or 0.0, question)
        shortest = min(first_of_length)
        longest = max(first_of_length)
        if longest - shortest > _SMALLEST:
            rows = (first_of_length[shortest], first_of_length[longest])
            yield Fault(rows, f"one video of {shortest:,.10g} s and of {longest:,.10g} s")


RULE = Rule(
    name="lengths",
    title="one video has different lengths",
    threshold="lengths that rows state, more than a second apart",
    look=_faults,
)
