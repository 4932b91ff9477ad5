"""Two options of a question are equal."""

from collections.abc import Iterator, Sequence

from reelbench.registry.rows import LETTERS
from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question


def _equal_options(questions: Sequence[Question]) -> Iterator[RowIssue]:
    for question in questions:
        indices_by_text: dict[str, list[int]] = {}
        for index, text in enumerate(question.plain_options):
            indices_by_text.setdefault(text, []).append(index)
        for indices in indices_by_text.values():
            if len(indices) > 1:
                letters = " = ".join(LETTERS[index] for index in indices)
                answer_note = ""
                if not set(indices).isdisjoint(question.right):
                    answer_note = ", the right answer among them"
                yield RowIssue((question,), letters, answer_note)


RULE = Rule(
    name="equal_options",
    title="two options of a question are equal",
    threshold="the same text, case and spaces aside",
    find_issues=_equal_options,
)
