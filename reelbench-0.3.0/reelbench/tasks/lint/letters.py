"""One letter is right more often, or less often, than its share."""

from collections.abc import Iterator

from reelbench.registry.rows import LETTERS
from reelbench.tasks.lint.findings import Rule, Way
from reelbench.tasks.lint.questions import Choices

_SMALLEST = 0.05


def _ways(choices: Choices) -> Iterator[Way]:
    worth = choices.no_worth()
    for place in range(worth.shape[1]):
        letter_worth = worth.copy()
        letter_worth[:, place] = 1
        yield Way(
            f"always {LETTERS[place]}",
            choices.right.options > place,
            letter_worth,
            _SMALLEST,
            both_sides=True,
            names_rows=False,
        )


RULE = Rule(
    name="letters",
    title="a letter is right more or less often than its share",
    threshold="5 points from chance",
    ways=_ways,
)
