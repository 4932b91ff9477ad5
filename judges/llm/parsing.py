"""Read a score from a judge's reply: strictly, or not at all.

A reply counts only as a whole: one JSON or Python dictionary with an integer `score` in range, or, where the prompt
asks for it, one integer. A number in a sentence, a boolean, `"4"`, `4.0`, a key that is there twice, or a reply that
was cut short is not a score: what a judge did not plainly say is never guessed.
"""

import ast
import json
import re
import warnings
from typing import Any

MAX_CHARACTERS = 20_000
MAX_BRACKETS = 200  # keeps both parsers far from Python's recursion limit

_FENCE = re.compile(r"```(?:json|python|py)?[ \t]*\n?(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
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
    text = reply.strip().removeprefix("\ufeff").strip()
    fenced = _FENCE.fullmatch(text)
    if fenced:
        text = fenced.group(1).strip()
    if bare_integer and _INTEGER.fullmatch(text):
        score: Any = int(text)
    else:
        score = _dictionary(text).get("score")
    if type(score) is not int or not low <= score <= high:
        return None
    return score


class _RepeatedKeyError(ValueError):
    """A dictionary that says two things under one key."""


def _dictionary(text: str) -> dict[Any, Any]:
    if not (text.startswith("{") and text.endswith("}")) or sum(map(text.count, "{[(")) > MAX_BRACKETS:
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except _RepeatedKeyError:
        return {}
    except (ValueError, RecursionError):
        value = _python_literal(text)
    return value if isinstance(value, dict) else {}


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise _RepeatedKeyError
    return unique


def _python_literal(text: str) -> Any:  # noqa: ANN401 - any literal
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray backslash in a judge's remark is no business of the user's
            tree = ast.parse(text, mode="eval")
            if isinstance(tree.body, ast.Dict):
                names = [key.value for key in tree.body.keys if isinstance(key, ast.Constant)]
                if names.count("score") != 1:
                    return None
            return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
