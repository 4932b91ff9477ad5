"""All rules, in the order in which they are shown."""

from reelbench.tasks.lint import (
    across_splits,
    constant_answer,
    empty_spans,
    equal_options,
    late_spans,
    late_times,
    lengths,
    letters,
    longest_option,
    odd_characters,
    odd_option,
    two_answers,
    videos_across_splits,
    whole_spans,
    words_alone,
)

RULES = (
    equal_options.RULE,
    two_answers.RULE,
    late_spans.RULE,
    empty_spans.RULE,
    whole_spans.RULE,
    late_times.RULE,
    lengths.RULE,
    across_splits.RULE,
    videos_across_splits.RULE,
    odd_characters.RULE,
    letters.RULE,
    longest_option.RULE,
    odd_option.RULE,
    constant_answer.RULE,
)
"""The rules that `linter` runs."""

ALL_RULES = (*RULES, words_alone.RULE)
"""These and the trained one, which takes longer."""
