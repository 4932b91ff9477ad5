"""Reading an option's letter and a span of time out of a model's free text; one home for runs, files and rechecks.

Both readers return None when the text does not say: that is the model's error and counts as one.
Nothing is guessed. Reasoning goes first, then the most explicit form wins; each reader stands in a
small ordered list.

What is named here is loaded when it is first used: the readers' many patterns take a quarter of a
second, and who only drops reasoning needs none of them.
"""

from typing import TYPE_CHECKING

from reelbench.base.lazy import names_of

if TYPE_CHECKING:
    from reelbench.registry.rows import LETTERS
    from reelbench.scoring.answers.options import read_option
    from reelbench.scoring.answers.reasoning import past_reasoning, strip_reasoning
    from reelbench.scoring.answers.scored import Given, flags, parse, parse_all, reread
    from reelbench.scoring.answers.spans import is_span, is_span_word, read_span, read_spans

VERSION = 4
"""Raised by every change that reads any answer otherwise. 1: Reelbench 0.1.0. 2: reasoning, tags, statements, 14
languages. 3: form beats context, every letter alike in either case, every space and dash, 35
languages, one rule for several windows. 4: a number ends its sentence, a made-up next turn is cut
off, "no" before a noun and an equation's letter are no options, "a 2x speed" is no A, counts,
LaTeX's plain forms, long decimals; a `<131>` is no
second."""

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
]

__getattr__ = names_of(
    __name__,
    {
        "reelbench.registry.rows": ("LETTERS",),
        "reelbench.scoring.answers.options": ("read_option",),
        "reelbench.scoring.answers.reasoning": ("past_reasoning", "strip_reasoning"),
        "reelbench.scoring.answers.scored": ("Given", "flags", "parse", "parse_all", "reread"),
        "reelbench.scoring.answers.spans": ("is_span", "is_span_word", "read_span", "read_spans"),
    },
)
