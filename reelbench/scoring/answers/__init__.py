"""Read an option's letter and a span of time out of a model's free text.

Runs, files and rechecks use the same readers. Both readers return None when the text does not say:
that is the model's error and counts as one. Nothing is guessed. Reasoning goes first, then the most
explicit form wins. Each reader stands in a small ordered list.

The names here are loaded when they are first used: the readers' many patterns take a quarter of a
second, and a caller that only drops reasoning needs none of them.
"""

from typing import TYPE_CHECKING

from reelbench.base.lazy import names_of

if TYPE_CHECKING:
    from reelbench.registry.rows import LETTERS
    from reelbench.scoring.answers.options import read_option
    from reelbench.scoring.answers.reasoning import past_reasoning, strip_reasoning
    from reelbench.scoring.answers.scored import (
        Given,
        flags,
        parse,
        parse_all,
        reread,
        unknown_unit,
    )
    from reelbench.scoring.answers.spans import is_span, is_span_word, read_span, read_spans

VERSION = 11
"""The version of the readings. Every change that reads any answer otherwise raises it."""

__all__ = [
    "LETTERS",
    "VERSION",
    "Given",
    "flags",
    "is_span",
    "is_span_word",
    "parse",
    "parse_all",
    "past_reasoning",
    "read_option",
    "read_span",
    "read_spans",
    "reread",
    "strip_reasoning",
    "unknown_unit",
]

__getattr__ = names_of(
    __name__,
    {
        "reelbench.registry.rows": ("LETTERS",),
        "reelbench.scoring.answers.options": ("read_option",),
        "reelbench.scoring.answers.reasoning": ("past_reasoning", "strip_reasoning"),
        "reelbench.scoring.answers.scored": (
            "Given",
            "flags",
            "parse",
            "parse_all",
            "reread",
            "unknown_unit",
        ),
        "reelbench.scoring.answers.spans": ("is_span", "is_span_word", "read_span", "read_spans"),
    },
)
