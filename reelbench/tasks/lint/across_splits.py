"""A question stands in two splits, with whatever options: its answer stands there, too."""

from collections.abc import Hashable, Iterator, Sequence

from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question


def _questions_in_several_splits(questions: Sequence[Question]) -> Iterator[RowIssue]:
    questions_by_key: dict[Hashable, list[Question]] = {}
    for question in questions:
        key = (question.videos, question.clip, question.language, question.plain_text)
        questions_by_key.setdefault(key, []).append(question)
    for equal_questions in questions_by_key.values():
        splits = dict.fromkeys(question.split for question in equal_questions)
        if len(splits) > 1:
            names = " and ".join(splits)
            yield RowIssue(tuple(equal_questions), f"the same question in {names}")


RULE = Rule(
    name="question_in_splits",
    title="a question is in two splits",
    threshold="the same video, clip and question, whatever the options",
    find_issues=_questions_in_several_splits,
)
