"""One letter is right more often, or less often, than its share."""

from collections.abc import Iterator

from reelbench.registry.rows import LETTERS
from reelbench.tasks.lint.findings import Rule, Shortcut
from reelbench.tasks.lint.questions import ChoiceQuestions

_SMALLEST = 0.05


def _letter_shortcuts(choices: ChoiceQuestions) -> Iterator[Shortcut]:
    credit = choices.zero_credit()
    for index in range(credit.shape[1]):
        letter_worth = credit.copy()
        letter_worth[:, index] = 1
        yield Shortcut(
            f"always {LETTERS[index]}",
            choices.right.options > index,
            letter_worth,
            _SMALLEST,
            is_two_sided=True,
            lists_questions=False,
        )


RULE = Rule(
    name="letters",
    title="a letter is right more or less often than its share",
    threshold="5 points from chance",
    find_shortcuts=_letter_shortcuts,
)
