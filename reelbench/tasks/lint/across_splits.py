"""A question stands in two splits, with whatever options: its answer stands there, too."""

from collections.abc import Hashable, Iterator, Sequence

from reelbench.tasks.lint.findings import Fault, Rule
from reelbench.tasks.lint.questions import Question


def _faults(questions: Sequence[Question]) -> Iterator[Fault]:
    groups: dict[Hashable, list[Question]] = {}
    for question in questions:
        key = (question.videos, question.clip, question.language, question.plain_text)
        groups.setdefault(key, []).append(question)
    for same_questions in groups.values():
        splits = dict.fromkeys(question.split for question in same_questions)
        if len(splits) > 1:
            names = " and ".join(splits)
            yield Fault(tuple(same_questions), f"the same question in {names}")


RULE = Rule(
    name="question_in_splits",
    title="a question is in two splits",
    threshold="the same video, clip and question, whatever the options",
    look=_faults,
)
