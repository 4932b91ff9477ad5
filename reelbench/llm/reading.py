"""Reading a reply strictly: one JSON object or Python dictionary, or nothing.

An object is read whatever text is around it, fenced or not; of several, the one that ends the
reply. Nothing is guessed that a model did not plainly say. Not read are an object with a key that
is there twice, one that was cut short, one beyond the caps below, and, where words end the reply,
one that another one contradicts.

Judges' scores are read more strictly (`judges.parsing`).
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from reelbench.base.base_record import wrong_fields
from reelbench.base.errors import first_of
from reelbench.base.values import is_object

MAX_CHARACTERS = 200_000
"""Longest reply that is read."""
MAX_BRACKETS = 200
"""Most opening brackets in a Python dictionary. They keep its parser from the recursion limit."""
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
    """A reply that can't be read. Its one line can be sent to the model."""


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
    candidates = _dictionaries_at_end(reply)
    if not candidates:
        raise UnreadableError(
            "the reply does not end in one complete JSON object with each key once"
        )
    fitting: list[ModelT] = []
    wrong = ""
    for value in candidates:
        try:
            fitting.append(model.model_validate(value))
        except ValidationError as error:
            wrong = first_of(wrong_fields(error), 5, "; ")
    if not fitting:
        raise UnreadableError(wrong)
    last = fitting[-1]
    if any(value != last for value in fitting):
        raise UnreadableError(_CONTRADICTION)
    return last


def last_dictionary(text: str) -> dict[Any, Any] | None:
    """Return the dictionary that a text ends in, else the last one in it.

    None where there is none, or, of several before its end, another one of the same keys differs.
    """
    candidates = _dictionaries_at_end(text)
    if not candidates:
        return None
    last = candidates[-1]
    for candidate in candidates:
        if candidate.keys() == last.keys() and candidate != last:
            return None
    return last


class TextAndDictionary(NamedTuple):
    """A text, and the dictionary that was in it, if any."""

    text: str
    dictionary: dict[Any, Any] | None


def beside_dictionary(text: str) -> TextAndDictionary:
    """Return the text around the dictionary that `last_dictionary` reads, and the dictionary.

    A text without a dictionary is returned whole.
    """
    last = last_dictionary(text)
    if last is None:
        return TextAndDictionary(text.strip(), None)
    for place in objects_in(text):
        if place.value == last:
            around = f"{text[: place.start].rstrip()}\n{text[place.end :].lstrip()}"
            return TextAndDictionary(_EMPTY_FENCE.sub("", around).strip(), last)
    return TextAndDictionary(text.strip(), last)


_UNABLE = (
    r"(?:i|we)(?:['’]m| am| are)?\s+"
    r"(?:can(?:no|['’]|\s+no)t|unable\s+to|not\s+able\s+to|won['’]t)\b[^.!?]{0,60}?\b"
)
_SORRY = (
    r"(?:i(?:['’]m| am) (?:(?:very|so) )?sorry|sorry|i apologi[sz]e|as an ai)\b"
    r"[^.!?]{0,40}?\W\s*(?:but\s+)?"
)
_REFUSAL = re.compile(
    rf"\W*(?:{_SORRY}{_UNABLE}(?:assist|help|comply|fulfil|provide|continue|answer|discuss|review"
    r"|generate|create|do)\b"
    rf"|{_UNABLE}(?:assist|comply|fulfil|help\s+(?:you\s+)?with))",
    re.IGNORECASE,
)
_LONGEST_REFUSAL = 400  # characters: what goes on at length said something after all


def is_refusal(text: str) -> bool:
    """Return True where a reply is nothing but a refusal in English.

    For example: "I'm sorry, but I can't assist with that."
    """
    return len(text) <= _LONGEST_REFUSAL and _REFUSAL.match(text.strip()) is not None


def dictionary(text: str) -> dict[Any, Any] | None:
    """Return the dictionary that a whole text is.

    None where it is not one, or a key is there twice.
    """
    if not (text.startswith("{") and text.endswith("}")):
        return None
    if _nesting_depth(text) > MAX_DEPTH:
        return None
    try:
        value = json.loads(text, object_pairs_hook=_dictionary_of_unique_keys)
    except _RepeatedKeyError:
        return None
    except (ValueError, RecursionError):
        value = _python_literal(text)
    if is_object(value):
        return value
    return None


class ObjectPlace(NamedTuple):
    """An object in a text, by its place.

    The end is None where the object was cut short, and the value where it can't be read.
    """

    start: int
    end: int | None
    value: dict[Any, Any] | None


def objects_in(text: str) -> Iterator[ObjectPlace]:
    """Yield the objects of a text, in order and without those inside others.

    One that was cut short is the last: what follows stands inside it.
    """
    start = _start_of(text, 0)
    while start is not None:
        end = _end_of(text, start)
        if end is None:
            yield ObjectPlace(start, None, None)
            return
        yield ObjectPlace(start, end, dictionary(text[start:end]))
        start = _start_of(text, end)


def _nesting_depth(text: str) -> int:
    """Return the deepest nesting of a text's brackets, those in strings too."""
    level = 0
    deepest = 0
    for bracket in _BRACKETS.finditer(text):
        level += _change_of_depth(bracket[0])
        deepest = max(deepest, level)
    return deepest


def _change_of_depth(token: str) -> int:
    """Return by how many levels a bracket, or any other token, leads deeper."""
    if token[0] in "{[(":
        return 1
    if token[0] in "}])":
        return -1
    return 0


def _dictionaries_at_end(text: str) -> list[dict[Any, Any]]:
    """Return the dictionary that ends a text, alone, or else all in it.

    They are in order. Those inside other dictionaries, or inside a broken one, don't count.
    """
    text = text.strip().removeprefix("\ufeff").strip()
    whole = dictionary(text)
    if whole is not None:
        return [whole]
    values: list[dict[Any, Any]] = []
    for place in islice(objects_in(text), _TRIES):
        if place.end is None:
            return values
        if place.value is not None:
            values.append(place.value)
    for ending in _possible_dictionaries(text):
        value = dictionary(ending)
        if value is not None:
            return [value]
    return values


def _possible_dictionaries(text: str) -> Iterator[str]:
    """Yield the ends of a text that may be a dictionary, the longest first.

    The last fence ends a text, if anything does. Not that fence alone is tried: the object's own
    texts may have fences.
    """
    if text.endswith("```") and text != "```":
        body = text.removesuffix("```")
        for opening in islice(_OPENING.finditer(body), _TRIES):
            yield body[opening.end() :].strip()
    elif text.endswith("}"):
        for brace in islice(re.finditer(r"\{", text), _TRIES):
            yield text[brace.start() :]


def _start_of(text: str, place: int) -> int | None:
    """Return the next place at which an object may start."""
    match = _STARTS.search(text, place)
    if match is None:
        return None
    return match.start()


def _end_of(text: str, start: int) -> int | None:
    """Return the end of the bracket that opens at `start`. None where it has none."""
    level = 0
    for token in _tokens(text, start):
        level += _change_of_depth(token[0])
        if level == 0:
            return token.end()
    return None


def _tokens(text: str, start: int, quotes: str = "\"'") -> Iterator[re.Match[str]]:
    """Yield the strings and the brackets of a text, in one pass.

    A quote whose string never ends begins no string. Neither does any such quote behind it: they
    are all escaped.

    Args:
        text: The text.
        start: Where to begin.
        quotes: The signs that may begin a string.
    """
    patterns = [_STRINGS[quote] for quote in quotes]
    patterns.append(_BRACKETS.pattern)
    for token in re.compile("|".join(patterns), re.DOTALL).finditer(text, start):
        if token.lastgroup is not None:
            yield from _tokens(text, token.start() + 1, quotes.replace(token[0][0], ""))
            return
        yield token


class _RepeatedKeyError(ValueError):
    """A dictionary that has two values for one key."""


def _dictionary_of_unique_keys(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise _RepeatedKeyError
    return unique


def _python_literal(text: str) -> Any:  # noqa: ANN401 - any literal
    """Return the value of a Python literal. None of any other text.

    None too where a dictionary has a key twice.
    """
    if sum(map(text.count, "{[(")) > MAX_BRACKETS:
        return None
    try:
        with warnings.catch_warnings():
            # A stray backslash in a model's remark is no business of the user's.
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
            if not all(map(_has_unique_keys, ast.walk(tree))):
                return None
            return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _has_unique_keys(node: ast.AST) -> bool:
    """Return False for a dictionary with a key twice, or one that is no constant."""
    if not isinstance(node, ast.Dict):
        return True
    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    return len(keys) == len(node.keys)
