"""Reading a reply strictly: one JSON object or Python dictionary, or nothing.

An object is read whatever stands around it, fenced or not; of several the one that ends the reply.
What a model did not plainly say is never guessed: an object with a key that is there twice, one
that was cut short, one beyond the caps below, or, where words end the reply, one that another one
contradicts is not read.

Judges' scores are read more strictly (`judges.parsing`).
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from reelbench.base.base_record import wrong_fields
from reelbench.base.errors import first_of
from reelbench.base.values import is_object

MAX_CHARACTERS = 200_000
"""Longest reply that is read."""
MAX_BRACKETS = 200
"""Most opening brackets in a dictionary that may be a Python one: keeps that parser far from the recursion limit."""
MAX_DEPTH = 60
"""Deepest nesting of a JSON object."""

_TRIES = 40  # opening braces tried as the start of an object
_STARTS = re.compile(r"\{(?=\s*[\"'])")  # of what may be an object, and not a brace in prose
_BRACKETS = re.compile(r"[\[{(\])}]")
_STRINGS = {  # by their quote; one that never ends takes the rest of the text
    '"': r"\"[^\"\\]*(?:\\.[^\"\\]*)*(?:\"|(?P<double>\\?\Z))",
    "'": r"(?<=[\[{(,:\s])'[^'\\]*(?:\\.[^'\\]*)*(?:'|(?P<single>\\?\Z))",
}
_EMPTY_FENCE = re.compile(r"```(?:json|python|py)?\s*```", re.IGNORECASE)
_OPENING = re.compile(r"```(?:json|python|py)?[ \t]*\n?", re.IGNORECASE)

_CONTRADICTION = "the reply has two whole JSON objects that differ; give one"

ModelT = TypeVar("ModelT", bound=BaseModel)


class UnreadableError(ValueError):
    """A reply that can't be read; the message says why in one line, fit to be told to the model."""


def read_model(reply: str | None, model: type[ModelT]) -> ModelT:
    """Read the JSON object of a reply, whatever stands around it, into a pydantic model.

    Raises:
        UnreadableError: There is no such object, it is not what the model asks for (the line names
            each field), or the reply has two that are, that differ, and of which none ends it.
    """
    if reply is None:
        raise UnreadableError("the reply is empty or was cut short")
    if len(reply) > MAX_CHARACTERS:
        raise UnreadableError(f"the reply is longer than {MAX_CHARACTERS} characters")
    candidates = _dictionaries(reply)
    if not candidates:
        raise UnreadableError(
            "the reply does not end in one whole JSON object whose keys are there once each"
        )
    fitting: list[ModelT] = []
    shown = ""
    for value in candidates:
        try:
            fitting.append(model.model_validate(value))
        except ValidationError as error:
            shown = first_of(wrong_fields(error), 5, "; ")
    if not fitting:
        raise UnreadableError(shown)
    if any(other != fitting[-1] for other in fitting):
        raise UnreadableError(_CONTRADICTION)
    return fitting[-1]


def last_dictionary(text: str) -> dict[Any, Any] | None:
    """Return the dictionary that a text ends in, else the last one in it.

    None where there is none, or, of several before its end, another one of the same keys differs.
    """
    candidates = _dictionaries(text)
    if not candidates:
        return None
    last = candidates[-1]
    return (
        None if any(other.keys() == last.keys() and other != last for other in candidates) else last
    )


def beside_dictionary(text: str) -> tuple[str, dict[Any, Any] | None]:
    """Return the text around the dictionary that `last_dictionary` reads, and it; the text as it is without one."""
    whole, place = last_dictionary(text), 0
    while whole is not None and (start := _STARTS.search(text, place)) is not None:
        place = _end_of(text, start.start()) or len(text)
        if dictionary(text[start.start() : place]) == whole:
            around = f"{text[: start.start()].rstrip()}\n{text[place:].lstrip()}"
            return _EMPTY_FENCE.sub("", around).strip(), whole
    return text.strip(), whole


_UNABLE = r"(?:i|we)(?:['’]m| am| are)?\s+(?:can(?:no|['’]|\s+no)t|unable\s+to|not\s+able\s+to|won['’]t)\b[^.!?]{0,60}?\b"
_SORRY = r"(?:i(?:['’]m| am) (?:(?:very|so) )?sorry|sorry|i apologi[sz]e|as an ai)\b[^.!?]{0,40}?\W\s*(?:but\s+)?"
_REFUSAL = re.compile(
    rf"\W*(?:{_SORRY}{_UNABLE}(?:assist|help|comply|fulfil|provide|continue|answer|discuss|review|generate|create|do)\b"
    rf"|{_UNABLE}(?:assist|comply|fulfil|help\s+(?:you\s+)?with))",
    re.IGNORECASE,
)
_LONGEST_REFUSAL = 400  # characters: what goes on at length said something after all


def is_refusal(text: str) -> bool:
    """Whether a reply in words is nothing but a refusal ("I'm sorry, but I can't assist with that."), in English."""
    return len(text) <= _LONGEST_REFUSAL and _REFUSAL.match(text.strip()) is not None


def dictionary(text: str) -> dict[Any, Any] | None:
    """Return the dictionary that a text is, as a whole; None where it is not one or a key is there twice."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    levels = accumulate(1 if bracket[0] in "[{(" else -1 for bracket in _BRACKETS.finditer(text))
    if any(level > MAX_DEPTH for level in levels):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except _RepeatedKeyError:
        return None
    except (ValueError, RecursionError):
        value = _python_literal(text)
    return value if is_object(value) else None


def _dictionaries(text: str) -> list[dict[Any, Any]]:
    """Return the dictionary that a text ends in, alone, or else all that are in it, in order.

    Those inside others, or inside a broken one, aren't any.
    """
    text = text.strip().removeprefix("\ufeff").strip()
    if (whole := dictionary(text)) is not None:
        return [whole]
    values: list[dict[Any, Any]] = []
    place = tries = 0
    while tries < _TRIES and (start := _STARTS.search(text, place)) is not None:
        tries += 1
        end = _end_of(text, start.start())
        if end is None:
            return values  # it was cut short: what follows stands inside it
        value = dictionary(text[start.start() : end])
        place = end
        if value is not None:
            values.append(value)
    ends: Iterator[str] = iter(())
    if text.endswith("```") and len(text) > len(
        "```"
    ):  # what the last fence holds ends it, if anything does
        # The longest first, and not from the last fence alone: the object's own texts may hold
        # fences.
        body = text.removesuffix("```")
        ends = (body[match.end() :].strip() for match in islice(_OPENING.finditer(body), _TRIES))
    elif text.endswith("}"):
        ends = (text[match.start() :] for match in islice(re.finditer(r"\{", text), _TRIES))
    ending = next((value for end in ends if (value := dictionary(end)) is not None), None)
    return values if ending is None else [ending]


def _end_of(text: str, start: int) -> int | None:
    """Return the end of the bracket that opens at `start`; None where it has none."""
    level = 0
    for token in _tokens(text, start):
        level += (token[0] in "{[(") - (token[0] in "}])")
        if level == 0:
            return token.end()
    return None


def _tokens(text: str, start: int, quotes: str = "\"'") -> Iterator[re.Match[str]]:
    """Yield the strings and the brackets of a text from `start` on, in one pass.

    A quote whose string never ends is none, and so is any like it behind it: they are all escaped.
    """
    kinds = "|".join([*(_STRINGS[quote] for quote in quotes), _BRACKETS.pattern])
    for token in re.compile(kinds, re.DOTALL).finditer(text, start):
        if token.lastgroup is not None:
            yield from _tokens(text, token.start() + 1, quotes.replace(token[0][0], ""))
            return
        yield token


class _RepeatedKeyError(ValueError):
    """A dictionary that says two things under one key."""


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise _RepeatedKeyError
    return unique


def _python_literal(text: str) -> Any:  # noqa: ANN401 - any literal
    if sum(map(text.count, "{[(")) > MAX_BRACKETS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a stray backslash in a model's remark is no business of the user's
            tree = ast.parse(text, mode="eval")
            for node in ast.walk(tree):
                if isinstance(node, ast.Dict):
                    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                    if len(set(keys)) != len(node.keys):
                        return None
            return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
