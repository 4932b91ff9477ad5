"""A question stands in two splits."""

from collections.abc import Hashable, Iterator, Sequence

from reelbench.tasks.lint.findings import Fault, Rule
from reelbench.tasks.lint.questions import Question


def _look(questions: Sequence[Question]) -> Iterator[Fault]:
    first_of_split: dict[Hashable, dict[str, Question]] = {}
    for question in questions:
        first_of_split.setdefault(question.key, {}).setdefault(question.split, question)
    for by_split in first_of_split.values():
        if len(by_split) > 1:
            splits = " and ".join(by_split)
            yield Fault(tuple(by_split.values()), f"the same question in {splits}")


RULE = Rule(
    name="question_in_splits",
    title="a question stands in two splits",
    threshold="the same video, clip, question and options",
    look=_look,
)
