"""Reading an option's letter and a span of time out of a model's free text; one home for runs, files and rechecks.

Both readers return None when the text does not say: that is the model's error and counts as one. Nothing is guessed.
Reasoning goes first, then the most explicit form wins; each reader stands in a small ordered list.

What is named here is loaded when it is first used: the readers' many patterns take a quarter of a second, and who only
drops reasoning needs none of them.
"""

from typing import TYPE_CHECKING

from reelbench.scoring.answers.version import VERSION

if TYPE_CHECKING:
    from reelbench.registry.rows import LETTERS
    from reelbench.scoring.answers.options import read_option
    from reelbench.scoring.answers.reasoning import past_reasoning, strip_reasoning
    from reelbench.scoring.answers.scored import flags, parse, reread
    from reelbench.scoring.answers.spans import read_span

__all__ = [
    "LETTERS",
    "VERSION",
    "flags",
    "parse",
    "past_reasoning",
    "read_option",
    "read_span",
    "reread",
    "strip_reasoning",
]

_HOMES = {
    "LETTERS": "reelbench.registry.rows",
    "flags": "reelbench.scoring.answers.scored",
    "parse": "reelbench.scoring.answers.scored",
    "past_reasoning": "reelbench.scoring.answers.reasoning",
    "read_option": "reelbench.scoring.answers.options",
    "read_span": "reelbench.scoring.answers.spans",
    "reread": "reelbench.scoring.answers.scored",
    "strip_reasoning": "reelbench.scoring.answers.reasoning",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
