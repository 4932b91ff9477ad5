"""One question about one video has two answers."""

from collections.abc import Hashable, Iterator, Sequence

from reelbench.base.errors import number_of
from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question, plain

_STOPS = ".!?。！？ "


def _conflicting_answers(questions: Sequence[Question]) -> Iterator[RowIssue]:
    questions_by_key: dict[tuple[str, Hashable], list[Question]] = {}
    for question in questions:
        if question.right or question.answer or question.spans:
            questions_by_key.setdefault((question.split, question.key), []).append(question)
    for equal_questions in questions_by_key.values():
        answers = {_comparable_answer(question) for question in equal_questions}
        if len(answers) > 1:
            rows = number_of(len(equal_questions), "row")
            description = f"{rows} with {number_of(len(answers), 'answer')}"
            yield RowIssue(tuple(equal_questions), description)


def _comparable_answer(question: Question) -> Hashable:
    options = question.plain_options
    right_texts = frozenset(options[index] for index in question.right)
    return right_texts, plain(question.answer).rstrip(_STOPS), question.spans


RULE = Rule(
    name="two_answers",
    title="one question about one video has two answers",
    threshold="the same video, clip, question and options, and another answer",
    find_issues=_conflicting_answers,
)
