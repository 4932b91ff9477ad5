"""Read a score from a judge's reply: strictly, or not at all.

A reply counts only as a whole: one JSON or Python dictionary with an integer `score` in range, or, where the prompt
asks for it, one integer. A number in a sentence, a boolean, `"4"`, `4.0`, a key that is there twice, or a reply that
was cut short is not a score: what a judge did not plainly say is never guessed.
"""

import re
from typing import Any

from reelbench.llm.reading import dictionary, unfenced

MAX_CHARACTERS = 20_000

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,3}")  # in ASCII


def parse_score(reply: str | None, low: int, high: int, *, bare_integer: bool) -> int | None:
    """Return the score in `reply`, or None where it is not plainly there.

    Args:
        reply: The reply's text; None where the server gave none.
        low: Lowest score of the scale.
        high: Highest score of the scale.
        bare_integer: Whether an integer and nothing else is a score too.
    """
    if reply is None or len(reply) > MAX_CHARACTERS:
        return None
    text = unfenced(reply)
    bare = bare_integer and _INTEGER.fullmatch(text)
    score: Any = int(text) if bare else (dictionary(text) or {}).get("score")
    if type(score) is not int or not low <= score <= high:
        return None
    return score
