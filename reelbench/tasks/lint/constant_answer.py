"""One answer is right throughout a label, or throughout a split.

Of options this is held to chance. Without options there is no chance: then it takes many videos.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from reelbench.base.errors import number_of
from reelbench.tasks.lint.findings import FEWEST_ROWS, Fault, Rule, Way
from reelbench.tasks.lint.questions import Choices, Question, plain

_SHARE = 0.90
_SMALLEST = 0.10
_FEWEST_VIDEOS = 10


def _ways(choices: Choices) -> Iterator[Way]:
    all_numbers = list(range(len(choices.questions)))
    yield from _ways_of_part(choices, all_numbers, "")
    for label, numbers in choices.numbers_by_label().items():
        is_label_of_all = len(numbers) == len(all_numbers)
        if not is_label_of_all:
            yield from _ways_of_part(choices, numbers, f" of {label}")


def _ways_of_part(choices: Choices, numbers: Sequence[int], of_label: str) -> Iterator[Way]:
    """Yield a way for each option that nearly all questions of a part have.

    Which these are doesn't depend on the right answers, so that chance can be told.
    """
    if len(numbers) < FEWEST_ROWS:
        return
    chosen = np.zeros(len(choices.questions), dtype=np.bool_)
    chosen[numbers] = True
    shared = _shared_options(choices, numbers)
    for order, text in enumerate(shared, start=1):
        worth = choices.no_worth()
        for number in numbers:
            for place, option in enumerate(choices.plain_options[number]):
                if option == text:
                    worth[number, place] = 1
        what = f"shared option {order} of {len(shared)}{of_label}"
        yield Way(what, chosen, worth, _SMALLEST, least=_SHARE)


def _shared_options(choices: Choices, numbers: Sequence[int]) -> list[str]:
    """Return the options that nearly all of the numbered questions have, sorted."""
    questions_with: Counter[str] = Counter()
    for number in numbers:
        options = set(choices.plain_options[number])
        questions_with.update(options)
    fewest = _SHARE * len(numbers)
    return sorted(option for option, count in questions_with.items() if count >= fewest)


def _faults(questions: Sequence[Question]) -> Iterator[Fault]:
    questions_of_part: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        if question.answer:
            for label in ("", *question.labels):
                part = (question.split, label)
                questions_of_part.setdefault(part, []).append(question)
    for (_, label), of_part in questions_of_part.items():
        fault = _fault_of_part(label, of_part)
        if fault is not None:
            yield fault


def _fault_of_part(label: str, questions: Sequence[Question]) -> Fault | None:
    """Return the fault of a label, or of a split. None where answers differ."""
    questions_by_answer: dict[str, list[Question]] = {}
    for question in questions:
        answer = plain(question.answer)
        questions_by_answer.setdefault(answer, []).append(question)
    most = max(questions_by_answer.values(), key=len)
    videos = {question.videos for question in most}
    fewest = max(FEWEST_ROWS, _SHARE * len(questions))
    if len(most) < fewest or len(videos) < _FEWEST_VIDEOS:
        return None
    part = "the split"
    if label:
        part = label
    number = number_of(len(questions), "question")
    what = f"{len(most):,} of {number} of {part} have one answer"
    return Fault(tuple(most), what)


RULE = Rule(
    name="constant_answer",
    title="one answer is right throughout a label, or throughout a split",
    threshold=(
        "90 % of 20 questions or more, and 10 points above chance; "
        "without options, on 10 videos or more"
    ),
    look=_faults,
    ways=_ways,
)
