"""One answer is right throughout a label, or throughout a split.

Of options this is held to chance. Without options there is no chance: then it takes many videos.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from reelbench.base.errors import number_of
from reelbench.tasks.lint.findings import FEWEST_ROWS, RowIssue, Rule, Shortcut
from reelbench.tasks.lint.questions import ChoiceQuestions, Question, plain

_SHARE = 0.90
_SMALLEST = 0.10
_FEWEST_VIDEOS = 10
_WHOLE_SPLIT = ""  # in place of a label


def _constant_option_shortcuts(choices: ChoiceQuestions) -> Iterator[Shortcut]:
    all_indices = list(range(len(choices.questions)))
    yield from _shortcuts_of_part(choices, all_indices, "")
    for label, indices in choices.indices_by_label().items():
        is_label_of_all = len(indices) == len(all_indices)
        if not is_label_of_all:
            yield from _shortcuts_of_part(choices, indices, f" of {label}")


def _shortcuts_of_part(
    choices: ChoiceQuestions, indices: Sequence[int], of_label: str
) -> Iterator[Shortcut]:
    """Yield a way for each option that nearly all questions of a part have.

    Which these are doesn't depend on the right answers, so that chance can be told.
    """
    if len(indices) < FEWEST_ROWS:
        return
    applicable = np.zeros(len(choices.questions), dtype=np.bool_)
    applicable[indices] = True
    shared = _shared_options(choices, indices)
    for number, text in enumerate(shared, start=1):
        credit = choices.zero_credit()
        for question_index in indices:
            for option_index, option in enumerate(choices.plain_options[question_index]):
                if option == text:
                    credit[question_index, option_index] = 1
        description = f"shared option {number} of {len(shared)}{of_label}"
        yield Shortcut(description, applicable, credit, _SMALLEST, min_accuracy=_SHARE)


def _shared_options(choices: ChoiceQuestions, indices: Sequence[int]) -> list[str]:
    """Return the options that nearly all of the numbered questions have, sorted."""
    questions_by_option: Counter[str] = Counter()
    for index in indices:
        options = set(choices.plain_options[index])
        questions_by_option.update(options)
    fewest = _SHARE * len(indices)
    return sorted(option for option, count in questions_by_option.items() if count >= fewest)


def _constant_answers(questions: Sequence[Question]) -> Iterator[RowIssue]:
    groups: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        if question.answer:
            for label in (_WHOLE_SPLIT, *question.labels):
                groups.setdefault((question.split, label), []).append(question)
    for (_, label), group in groups.items():
        issue = _constant_answer_of_group(label, group)
        if issue is not None:
            yield issue


def _constant_answer_of_group(label: str, questions: Sequence[Question]) -> RowIssue | None:
    """Return an issue where nearly all questions of a label, or split, have one answer."""
    questions_by_answer: dict[str, list[Question]] = {}
    for question in questions:
        answer = plain(question.answer)
        questions_by_answer.setdefault(answer, []).append(question)
    largest_group = max(questions_by_answer.values(), key=len)
    videos = {question.videos for question in largest_group}
    fewest = max(FEWEST_ROWS, _SHARE * len(questions))
    if len(largest_group) < fewest or len(videos) < _FEWEST_VIDEOS:
        return None
    total = number_of(len(questions), "question")
    group_name = label or "the split"
    description = f"{len(largest_group):,} of {total} of {group_name} have one answer"
    return RowIssue(tuple(largest_group), description)


RULE = Rule(
    name="constant_answer",
    title="one answer is right throughout a label, or throughout a split",
    threshold=(
        "90 % of 20 questions or more, and 10 points above chance; "
        "without options, on 10 videos or more"
    ),
    find_issues=_constant_answers,
    find_shortcuts=_constant_option_shortcuts,
)
