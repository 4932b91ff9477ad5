"""Find JSON objects, Python literals and their near misses in free text, in one pass.

The text of models is often neither JSON nor Python: trailing commas, comments, single quotes, bare
keys, an end that was cut off. No recursion, and numbers stay text until they are read, so that
depth and digits do no harm.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from reelbench.scoring.answers import patterns

_CLOSING = {"{": "}", "[": "]", "(": ")"}
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}
_NOTHING = frozenset({"null", "none", "nil", "true", "false", "nan"})


@dataclass
class Literal:
    """An object or a list in a text: its value and its place.

    The value holds dict, list, str or None.
    """

    value: dict[str, Any] | list[Any]
    start: int
    end: int
    nested: bool = False


@dataclass
class _Container:
    mark: str
    start: int
    items: list[Any] = field(default_factory=list[Any])
    pairs: dict[str, Any] = field(default_factory=dict[str, Any])
    key: str | None = None
    words: list[Any] = field(default_factory=list[Any])
    whole: bool = False  # the value at hand is a string or a container, so it isn't cut off

    def take(self, value: Any, *, whole: bool = False) -> None:  # noqa: ANN401 - any literal
        self.words.append(value)
        self.whole = whole

    def end_item(self) -> None:
        if self.words:
            value = self.words[0]
            if len(self.words) > 1:
                texts = [word for word in self.words if isinstance(word, str)]
                value = " ".join(texts).replace(" : ", ":")
            if self.key is not None:
                self.pairs[self.key] = value
            else:
                self.items.append(value)
        self.key = None
        self.words = []


@lru_cache(maxsize=2)
def find_literals(text: str) -> list[Literal]:  # noqa: C901, PLR0912 - one pass over the tokens
    """Return the objects and lists of `text` in the order in which they end.

    An object that the end cuts off is last. Keys are lower case with `_` between words. Values are
    str (numbers too), None, list or dict.
    """
    literals: list[Literal] = []
    stack: list[_Container] = []
    position = 0
    expects_value = True
    while position < len(text):
        if not stack:
            opening = patterns.LITERAL_OPENS.search(text, position)
            if not opening:
                break
            position = opening.start()
        token = patterns.LITERAL_TOKEN.match(text, position)
        assert token  # noqa: S101 - the last alternative takes any character
        position = token.end()
        kind = token.lastgroup
        piece = token[0]
        if kind == "blank":
            continue
        if kind == "opened":
            stack.append(_Container(piece, token.start()))
        elif kind == "closed":
            _close(stack, piece, position, literals)
        elif kind == "mark":
            _separate(stack[-1], piece)
        elif kind == "string" and expects_value:
            stack[-1].take(patterns.ESCAPE.sub(_unescaped, piece[1:-1]), whole=True)
        elif kind == "string":
            # An apostrophe in prose, not the start of a string.
            position = token.start() + 1
        else:
            word = None if piece.lower() in _NOTHING else piece
            stack[-1].take(word)
        expects_value = kind in ("opened", "mark")
    for container in reversed(stack):
        if container.whole:
            container.end_item()
        if container.mark == "{" and container.pairs:
            literals.append(Literal(container.pairs, container.start, len(text)))
    return literals


def _separate(container: _Container, mark: str) -> None:
    if mark == ",":
        container.end_item()
    elif container.mark == "{" and container.key is None and len(container.words) == 1:
        key = container.words.pop()
        container.key = ""
        if isinstance(key, str):
            words = patterns.CAMEL.sub("_", key.strip())
            container.key = re.sub(r"[\s-]+", "_", words).lower()
    else:
        container.take(mark)


def _close(stack: list[_Container], piece: str, end: int, literals: list[Literal]) -> None:
    container = stack.pop()
    if _CLOSING[container.mark] != piece:
        stack.clear()
        return
    container.end_item()
    value = container.pairs if container.mark == "{" else container.items
    if stack:
        stack[-1].take(value, whole=True)
    if value:
        literals.append(Literal(value, container.start, end, nested=bool(stack)))


def _unescaped(escape: re.Match[str]) -> str:
    sign = escape[1]
    if len(sign) > 1:
        return chr(int(sign[1:], 16))
    return _PLAIN_ESCAPES.get(sign, sign)


@lru_cache(maxsize=2)
def without_objects(text: str) -> str:
    """Return `text` with a space in the place of each object that holds something."""
    if "{" not in text:
        return text
    places: list[tuple[int, int]] = []
    for literal in find_literals(text):
        is_object = isinstance(literal.value, dict) and literal.value
        if is_object and not literal.nested:
            places.append((literal.start, literal.end))
    pieces: list[str] = []
    end = 0
    for start, stop in sorted(places):
        if start >= end:
            pieces.append(text[end:start])
            end = stop
    return " ".join([*pieces, text[end:]])
