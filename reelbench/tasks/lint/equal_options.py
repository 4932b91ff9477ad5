"""Two options of a question are equal."""

from collections.abc import Iterator, Sequence

from reelbench.registry.rows import LETTERS
from reelbench.tasks.lint.findings import Fault, Rule
from reelbench.tasks.lint.questions import Question


def _faults(questions: Sequence[Question]) -> Iterator[Fault]:
    for question in questions:
        places_of_text: dict[str, list[int]] = {}
        for place, text in enumerate(question.plain_options):
            places_of_text.setdefault(text, []).append(place)
        for places in places_of_text.values():
            if len(places) > 1:
                letters = " = ".join(LETTERS[place] for place in places)
                of_right = ""
                if not set(places).isdisjoint(question.right):
                    of_right = ", the right answer among them"
                yield Fault((question,), letters, of_right)


RULE = Rule(
    name="equal_options",
    title="two options of a question are equal",
    threshold="the same text, case and spaces aside",
    look=_faults,
)
