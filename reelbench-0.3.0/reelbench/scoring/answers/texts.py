"""Prepare a text for the readers.

They need one plain form, its tags and boxes, and the words of its statements as kinds.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from reelbench.base.languages import ascii_digits, ascii_signs
from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.vocabulary import KINDS, WORDS

# An answer stands at the end: of what is left without the reasoning, so many characters are read.
TAIL = 16_000

_SIGNS_OF_EMPHASIS = "*`_#>"
_MOST_BOXED = 4_000
_WORDS = re.compile(r"\w+")


def plain_text(text: str) -> str:
    """Return `text` in NFKC with ASCII spaces, dashes and digits.

    Emphasis, struck-out words and invisible signs go. LaTeX's fractions, symbols and upright words
    stand in plain signs.
    """
    if "\\" in text:
        text = patterns.UPRIGHT.sub(r"\1", text)
        text = patterns.FRACTION.sub(r"\1/\2", text)
        text = patterns.LATEX_SYMBOL.sub(lambda match: WORDS["latex"][match[1]], text)
    if not text.isascii():
        text = patterns.INVISIBLE.sub("", text)
        if not unicodedata.is_normalized("NFKC", text):
            text = patterns.PIECE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = patterns.STRUCK.sub(" ", ascii_digits(ascii_signs(text)))
    if any(sign in text for sign in _SIGNS_OF_EMPHASIS):
        return patterns.EMPHASIS.sub("", text)
    return text


def words_alone(text: str) -> str:
    """Return a text's words in small letters, without signs."""
    return " ".join(_WORDS.findall(text.casefold()))


def tail(text: str) -> str:
    """Return the last TAIL characters, from a new line or word on."""
    if len(text) <= TAIL:
        return text
    # A cut text begins nowhere: what would be a label at its start is in the middle of something.
    return "… " + text[-TAIL:].partition(" ")[2]


def without_markup(text: str) -> str:
    """Return `text` without tags, special tokens and LaTeX commands."""
    return patterns.SPACES.sub(" ", patterns.COMMAND.sub(" ", patterns.MARKUP.sub(" ", text)))


def marked_answers(text: str) -> list[tuple[str, int]]:
    """Return the texts in answer tags and boxes, and their ends, the last first.

    One that is never closed reaches to the next or to the text's end. Of boxes within boxes the
    innermost are read, until they hold twice the text.
    """
    openings = list(patterns.ANSWER_OPENS.finditer(text))
    closings = [match.start() for match in patterns.ANSWER_CLOSES.finditer(text)]
    contents: list[tuple[str, int]] = []
    next_start = len(text)
    budget = 2 * len(text)
    for opening in reversed(openings):
        while closings and closings[-1] >= next_start:
            closings.pop()
        if opening["box"]:
            end = min(len(text), opening.end() + _MOST_BOXED)
            depth = 1
            for brace in patterns.BRACE.finditer(text, opening.end(), end):
                depth += 1 if brace[0] == "{" else -1
                if not depth:
                    end = brace.start()
                    break
        else:
            later = [closing for closing in closings[-2:] if closing >= opening.end()]
            end = later[0] if later else next_start
        budget -= end - opening.end()
        if budget < 0:
            break
        contents.append((text[opening.end() : end], end))
        next_start = opening.start()
    return contents


# --- words as kinds
# -----------------------------------------------------------------------------------------------


class Token(NamedTuple):
    """A phrase of the vocabulary, a word or a sign: its kind and its place.

    The kind is one character, see `vocabulary`. The letter is the option's that it names.
    """

    kind: str
    start: int
    end: int
    text: str
    letter: str = ""


class _Phrase(NamedTuple):
    """A phrase of the vocabulary: the words behind its first, their number, its kind."""

    further_words: list[str]
    length: int
    kind: str


@cache
def _phrases() -> dict[str, list[_Phrase]]:
    """Return the vocabulary by its phrases' first words, the longest phrase first."""
    table: dict[str, list[_Phrase]] = {}
    for kind, phrases in KINDS.items():
        for phrase in phrases:
            first, *rest = patterns.WORD.findall(_folded(plain_text(phrase)))
            table.setdefault(first, []).append(_Phrase(rest, len(rest), kind))
    for entries in table.values():
        entries.sort(key=lambda entry: -entry.length)
    return table


def _folded(text: str) -> str:
    return text.casefold().replace("’", "'")


def tokens(text: str) -> list[Token]:
    """Cut `text` into tokens. Phrases of the vocabulary are taken whole, the longest first."""
    table = _phrases()
    places = [match.span() for match in patterns.WORD.finditer(text)]
    words = _folded_words(text, places)
    cut: list[Token] = []
    at = 0
    while at < len(words):
        phrase = _phrase_at(words, at, table) if words[at] in table else None
        last = at
        if phrase is None:
            kind = _kind_of(words[at])
        else:
            kind = phrase.kind
            last += phrase.length
        start = places[at][0]
        end = places[last][1]
        cut.append(Token(kind, start, end, text[start:end]))
        at = last + 1
    return cut


def has_only_kinds(text: str, kinds: Collection[str]) -> bool:
    """Return True where each token of `text` has one of some kinds."""
    table = _phrases()
    words = [_folded(word) for word in patterns.WORD.findall(text)]
    at = 0
    while at < len(words):
        phrase = _phrase_at(words, at, table) if words[at] in table else None
        kind = _kind_of(words[at]) if phrase is None else phrase.kind
        if kind not in kinds:
            return False
        at += 1
        if phrase is not None:
            at += phrase.length
    return True


def _folded_words(text: str, places: Sequence[tuple[int, int]]) -> list[str]:
    folded = _folded(text)
    if len(folded) == len(text):  # each letter has kept its place
        return [folded[start:end] for start, end in places]
    return [_folded(text[start:end]) for start, end in places]


def _phrase_at(
    words: Sequence[str], at: int, table: Mapping[str, Sequence[_Phrase]]
) -> _Phrase | None:
    """Return the longest phrase of the vocabulary that begins at a word."""
    for phrase in table[words[at]]:
        if not phrase.length or words[at + 1 : at + 1 + phrase.length] == phrase.further_words:
            return phrase
    return None


@lru_cache(maxsize=4096)
def _kind_of(word: str) -> str:
    """Return the kind of a word or a sign that is not in the vocabulary."""
    if word[0].isdigit():
        return "#"
    if word[0].isalnum():
        return "w"
    return "\n" if word == "\n" else "~"
