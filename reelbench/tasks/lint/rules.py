"""All rules, in the order in which they are shown."""

from reelbench.tasks.lint import (
    equal_options,
    letters,
    longest_option,
    odd_option,
    two_answers,
)

RULES = (
    equal_options.RULE,
    two_answers.RULE,
    letters.RULE,
    longest_option.RULE,
    odd_option.RULE,
)
