"""Prepare a text for the readers: its one plain form, and its tags and boxes."""

import re
import unicodedata
from collections.abc import Iterator

from reelbench.base.languages import ascii_digits, ascii_signs
from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.vocabulary import WORDS

# An answer stands at the end: of what is left without the reasoning, so many characters are read.
TAIL = 16_000

_SIGNS_OF_MARKS = "<[\\"
_SIGNS_OF_COMMANDS = "\\{}$"
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
    text = ascii_digits(ascii_signs(text))
    if "~~" in text:
        text = patterns.STRUCK.sub(" ", text)
    text = patterns.DRESSED.sub(r"\2", text)
    if "_" in text:
        text = patterns.UNDERSCORES.sub("", text)
    if "#" in text or ">" in text:
        text = patterns.HEADING.sub("", text)
    return text.replace("*", "").replace("`", "")


def words_alone(text: str) -> str:
    """Return a text's words in small letters, without signs."""
    return " ".join(_WORDS.findall(text.casefold()))


def places(piece: str, text: str) -> Iterator[int]:
    """Yield where a piece stands in a text."""
    place = text.find(piece)
    while place >= 0:
        yield place
        place = text.find(piece, place + 1)


def closing_part(text: str) -> str:
    """Return the last TAIL characters, from a new line or word on."""
    if len(text) <= TAIL:
        return text
    # A cut text begins nowhere: what would be a label at its start is in the middle of something.
    return "… " + text[-TAIL:].partition(" ")[2]


def without_markup(text: str) -> str:
    """Return `text` without tags, special tokens and LaTeX commands."""
    if "<" in text:
        text = patterns.MARKUP.sub(" ", text)
    if any(sign in text for sign in _SIGNS_OF_COMMANDS):
        text = patterns.COMMAND.sub(" ", text)
    return patterns.SPACES.sub(" ", text)


def marked_answers(text: str) -> list[tuple[str, int]]:
    """Return the texts in answer tags and boxes, and their ends, the last first.

    One that is never closed reaches to the next or to the text's end. Of boxes within boxes the
    innermost are read, until they hold twice the text.
    """
    if not any(sign in text for sign in _SIGNS_OF_MARKS):
        return []
    openings = list(patterns.ANSWER_OPENS.finditer(text))
    closings = [match.start() for match in patterns.ANSWER_CLOSES.finditer(text)]
    contents: list[tuple[str, int]] = []
    next_start = len(text)
    budget = 2 * len(text)
    for opening in reversed(openings):
        while closings and closings[-1] >= next_start:
            closings.pop()
        end = next_start
        if opening["box"]:
            end = _end_of_box(text, opening.end())
        else:
            for closing in reversed(closings[-2:]):
                if closing >= opening.end():
                    end = closing
        budget -= end - opening.end()
        if budget < 0:
            break
        contents.append((text[opening.end() : end], end))
        next_start = opening.start()
    return contents


def _end_of_box(text: str, start: int) -> int:
    """Return the end of a box, or how far it may reach."""
    end = min(len(text), start + _MOST_BOXED)
    depth = 1
    for brace in patterns.BRACE.finditer(text, start, end):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return end
