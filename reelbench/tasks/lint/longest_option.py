"""The longest option is right more often than chance."""

from collections.abc import Iterator

from reelbench.tasks.lint.findings import Rule, Way
from reelbench.tasks.lint.questions import Choices

_SMALLEST = 0.05


def _ways(choices: Choices) -> Iterator[Way]:
    worth = choices.no_worth()
    for number, options in enumerate(choices.plain_options):
        lengths = [len(option) for option in options]
        most_letters = max(lengths)
        longest_places = [place for place, letters in enumerate(lengths) if letters == most_letters]
        worth[number, longest_places] = 1 / len(longest_places)
    questions = choices.with_options_of_their_own()
    yield Way("the longest option", questions, worth, _SMALLEST)


RULE = Rule(
    name="longest_option",
    title="the longest option is right too often",
    threshold="5 points above chance; of several longest ones, each counts its part",
    ways=_ways,
)
