"""The longest option is right more often than chance."""

from collections.abc import Iterator

from reelbench.tasks.lint.findings import Rule, Way
from reelbench.tasks.lint.questions import Choices

_SMALLEST = 0.05


def _ways(choices: Choices) -> Iterator[Way]:
    worth = choices.no_worth()
    for number, options in enumerate(choices.plain_options):
        lengths = [len(option) for option in options]
        longest = max(lengths)
        places = [place for place, length in enumerate(lengths) if length == longest]
        worth[number, places] = 1 / len(places)
    yield Way("the longest option", choices.with_options_of_their_own(), worth, _SMALLEST)


RULE = Rule(
    name="longest_option",
    title="the longest option is right too often",
    threshold="5 points above chance; of several longest ones, each counts its part",
    ways=_ways,
)
