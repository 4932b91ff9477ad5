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
    everything = list(range(len(choices.questions)))
    yield from _ways_of_part(choices, everything, "")
    for label, numbers in choices.numbers_by_label().items():
        # Where the label is all questions', it says no more.
        if len(numbers) < len(everything):
            yield from _ways_of_part(choices, numbers, f" of {label}")


def _ways_of_part(choices: Choices, numbers: Sequence[int], of_label: str) -> Iterator[Way]:
    """Yield a way for each option that nearly all questions of a part have.

    Which these are doesn't depend on the right answers, so that chance can be told.
    """
    if len(numbers) < FEWEST_ROWS:
        return
    texts: Counter[str] = Counter()
    for number in numbers:
        texts.update(set(choices.plain_options[number]))
    common = [text for text in sorted(texts) if texts[text] >= _SHARE * len(numbers)]
    for order, text in enumerate(common, start=1):
        worth = choices.no_worth()
        chosen = np.zeros(len(choices.questions), dtype=np.bool_)
        for number in numbers:
            chosen[number] = True
            for place, option in enumerate(choices.plain_options[number]):
                if option == text:
                    worth[number, place] = 1
        what = f"shared option {order} of {len(common)}{of_label}"
        yield Way(what, chosen, worth, _SMALLEST, least=_SHARE)


def _look(questions: Sequence[Question]) -> Iterator[Fault]:
    questions_of_part: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        if question.answer:
            questions_of_part.setdefault((question.split, ""), []).append(question)
            for label in question.labels:
                questions_of_part.setdefault((question.split, label), []).append(question)
    for (_, label), part in questions_of_part.items():
        answers = Counter(plain(question.answer) for question in part)
        ((answer, count),) = answers.most_common(1)
        same = tuple(question for question in part if plain(question.answer) == answer)
        videos = {question.videos for question in same}
        if count >= max(FEWEST_ROWS, _SHARE * len(part)) and len(videos) >= _FEWEST_VIDEOS:
            name = f"of {label}" if label else "of the split"
            what = f"{count:,} of {number_of(len(part), 'question')} {name} have one answer"
            yield Fault(same, what)


RULE = Rule(
    name="constant_answer",
    title="one answer is right throughout a label, or throughout a split",
    threshold=(
        "90 % of 20 questions or more, and 10 points above chance; "
        "without options, on 10 videos or more"
    ),
    look=_look,
    ways=_ways,
)
