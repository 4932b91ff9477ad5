"""Decide which option an answer states, by one written order.

`ORDER` is that order. The first form of which an answer has any candidate decides. Within a form
the later candidate counts, or all must agree.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from reelbench.scoring.answers.collect import (
    Answer,
    Candidates,
    count_candidates,
    head_candidates,
    label_candidates,
    last_line_candidates,
    marked_candidates,
    object_candidates,
    own_word_candidates,
    statement_candidates,
)
from reelbench.scoring.answers.option_words import OptionWords


class Form(NamedTuple):
    """A form in which an answer may name an option."""

    name: str
    example: str
    collect: Callable[[Answer], Candidates]
    must_agree: bool


ORDER: tuple[Form, ...] = (
    Form("mark", "<answer>B</answer>, \\boxed{B}", marked_candidates, False),
    Form("object", '{"answer": "B"}', object_candidates, False),
    Form("head", "Answer: B", head_candidates, False),
    Form("last line", "He runs because it rains.\\n\\nB", last_line_candidates, False),
    Form("statement", "The answer is B, I choose B, B is correct", statement_candidates, False),
    Form("label", "B. because it is late", label_candidates, True),
    Form("own words", "He left because it is late.", own_word_candidates, True),
    Form("count", "There are 4 people.", count_candidates, True),
)

_SHORTEST_BROKEN = 120
_NAMES = tuple(form.name for form in ORDER)


def stated_letter(text: str, options: OptionWords, forms: Sequence[str] = _NAMES) -> str | None:
    """Return the letter that a text states, or None.

    Args:
        text: From `cut.answer_text`, or a part of it.
        options: The question's options.
        forms: The names of the forms that are tried.
    """
    answer = Answer(text, options, partial(_decide_part, options))
    # What a text that breaks off was about to say of an option is not known.
    breaks_off = len(text) > _SHORTEST_BROKEN and _breaks_off(text)
    for form in ORDER:
        if form.name not in forms or (breaks_off and form.must_agree):
            continue
        candidates = form.collect(answer)
        if candidates:
            return _agreed_letter(candidates) if form.must_agree else _latest_letter(candidates)
    return None


def _breaks_off(text: str) -> bool:
    """Return True of a text that ends in dots or within braces."""
    return text.rstrip().endswith(("...", "…")) or text.rfind("{") > text.rfind("}")


def _decide_part(options: OptionWords, text: str, forms: Sequence[str]) -> str | None:
    return stated_letter(text, options, forms)


def _latest_letter(candidates: Candidates) -> str | None:
    return max(candidates, key=lambda candidate: candidate.at).letter


def _agreed_letter(candidates: Candidates) -> str | None:
    letters = {candidate.letter for candidate in candidates}
    return letters.pop() if len(letters) == 1 else None
