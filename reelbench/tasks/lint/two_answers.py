"""One question about one video has two answers."""

from collections.abc import Hashable, Iterator, Sequence

from reelbench.base.errors import number_of
from reelbench.tasks.lint.findings import Fault, Rule
from reelbench.tasks.lint.questions import Question, plain

_STOPS = ".!?。！？ "


def _look(questions: Sequence[Question]) -> Iterator[Fault]:
    alike: dict[tuple[str, Hashable], list[Question]] = {}
    for question in questions:
        if question.right or question.answer or question.spans:
            alike.setdefault((question.split, question.key), []).append(question)
    for group in alike.values():
        answers = {_answer(question) for question in group}
        if len(answers) > 1:
            what = f"{number_of(len(group), 'row')} with {number_of(len(answers), 'answer')}"
            yield Fault(tuple(group), what)


def _answer(question: Question) -> Hashable:
    options = question.plain_options
    right_texts = frozenset(options[place] for place in question.right)
    return right_texts, plain(question.answer).rstrip(_STOPS), question.spans


RULE = Rule(
    name="two_answers",
    title="one question about one video has two answers",
    threshold="the same video, clip, question and options, and another answer",
    look=_look,
)
