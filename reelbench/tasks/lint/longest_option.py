"""The longest option is right more often than chance."""

from collections.abc import Iterator

from reelbench.tasks.lint.findings import Rule, Shortcut
from reelbench.tasks.lint.questions import ChoiceQuestions

_SMALLEST = 0.05


def _longest_option_shortcut(choices: ChoiceQuestions) -> Iterator[Shortcut]:
    credit = choices.zero_credit()
    for number, options in enumerate(choices.plain_options):
        lengths = [len(option) for option in options]
        longest_length = max(lengths)
        longest = [index for index, length in enumerate(lengths) if length == longest_length]
        credit[number, longest] = 1 / len(longest)
    questions = choices.has_specific_options()
    yield Shortcut("the longest option", questions, credit, _SMALLEST)


RULE = Rule(
    name="longest_option",
    title="the longest option is right too often",
    threshold="5 points above chance; of several longest ones, each counts its part",
    find_shortcuts=_longest_option_shortcut,
)
