"""A question stands in two splits, with whatever options: its answer stands there, too."""

from collections.abc import Hashable, Iterator, Sequence

from reelbench.tasks.lint.findings import Fault, Rule
from reelbench.tasks.lint.questions import Question


def _faults(questions: Sequence[Question]) -> Iterator[Fault]:
    alike: dict[Hashable, list[Question]] = {}
    for question in questions:
        key = (question.videos, question.clip, question.language, question.plain_text)
        alike.setdefault(key, []).append(question)
    for group in alike.values():
        splits = list(dict.fromkeys(question.split for question in group))
        if len(splits) > 1:
            yield Fault(tuple(group), f"the same question in {' and '.join(splits)}")


RULE = Rule(
    name="question_in_splits",
    title="a question stands in two splits",
    threshold="the same video, clip and question, whatever the options",
    look=_faults,
)
