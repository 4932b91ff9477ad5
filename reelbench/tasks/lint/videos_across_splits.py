"""A video stands in two splits."""

from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import Fault, Rule
from reelbench.tasks.lint.questions import Question


def _faults(questions: Sequence[Question]) -> Iterator[Fault]:
    first_of_split: dict[str, dict[str, Question]] = {}
    for question in questions:
        for video in question.videos:
            first_of_split.setdefault(video, {}).setdefault(question.split, question)
    for by_split in first_of_split.values():
        if len(by_split) > 1:
            splits = " and ".join(by_split)
            yield Fault(tuple(by_split.values()), f"questions about one video in {splits}")


RULE = Rule(
    name="video_in_splits",
    title="a video is in two splits",
    threshold="the same media key; the first question of each split is named",
    look=_faults,
)
