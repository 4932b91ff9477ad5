"""A text has characters that nobody sees, or that a wrong encoding left."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from reelbench.registry.name_faults import code_point
from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question

_NEVER = frozenset("\u00ad\u200b\u2060\ufeff\ufffd")
"""Soft hyphen, blanks without width, and the sign for what could not be decoded."""

_JOINERS = frozenset("\u200c\u200d")
_LINES = frozenset("\t\n\r\u2028\u2029")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,6});")
_OUTSIDE_ASCII = re.compile(r"[^\x00-\x7f]{2,}")
_LATIN = "LATIN"


def _odd_characters(questions: Sequence[Question]) -> Iterator[RowIssue]:
    for question in questions:
        if _is_plain("".join((question.text, question.answer, *question.options))):
            continue
        signs: list[str] = []
        for text_name, text in question.texts.items():
            signs += [f"{sign} in {text_name}" for sign in dict.fromkeys(_odd_signs(text))]
        if signs:
            yield RowIssue((question,), "; ".join(signs))


def _is_plain(text: str) -> bool:
    """Return True for a text that can have nothing odd, as nearly all have."""
    return text.isascii() and text.isprintable() and "&" not in text


def _odd_signs(text: str) -> Iterator[str]:
    """Yield the name of each odd character, and of each damage."""
    for index, character in enumerate(text):
        if _is_odd(text, index):
            yield code_point(character)
    yield from _ENTITY.findall(text)
    for match in _OUTSIDE_ASCII.finditer(text):
        if _is_wrongly_decoded(match[0]):
            yield "UTF-8 read as Windows-1252"


def _is_odd(text: str, index: int) -> bool:
    character = text[index]
    if character in _NEVER:
        return True
    if character in _JOINERS:
        # Persian, Indic scripts and emoji need them.
        return _is_latin(text[index - 1 : index]) or _is_latin(text[index + 1 : index + 2])
    category = unicodedata.category(character)
    return category in {"Cc", "Co", "Cs"} and character not in _LINES


def _is_latin(character: str) -> bool:
    return character == "" or unicodedata.name(character, "").startswith(_LATIN)


def _is_wrongly_decoded(text: str) -> bool:
    """Return True where a text is UTF-8 that was decoded as Windows-1252."""
    try:
        text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return False
    return True


RULE = Rule(
    name="odd_characters",
    title="a text has invisible or damaged characters",
    threshold=(
        "without width, control, private, not decodable; HTML entities; UTF-8 read as Windows-1252"
    ),
    find_issues=_odd_characters,
)
