"""Exact match for short answers in many languages: equal after normalisation.

It needs no judge, and it is a lower bound: a synonym or an inflection counts as wrong. Both texts
go through

1. Unicode NFKC and full case folding (Unicode Standard, section 3.13), invisible format characters
dropped;
2. digits of every script as ASCII digits, the signs that group them dropped (`1,00,000`, `1.000`),
a decimal point;
3. punctuation of every script dropped, whitespace collapsed, and dropped beside scripts that are
written without it;
4. whole numbers as words where `num2words` knows the language, so that `12` equals `twelve`.

Combining marks stay: in Indic scripts and in Thai they are the vowels.
"""

# num2words has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import re
import unicodedata
from functools import lru_cache

from reelbench.base.languages import DECIMAL_COMMA, NUMBER_SIGNS, ascii_digits, language_of
from reelbench.registry.records import Item
from reelbench.scoring.answers import patterns, texts

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘´`ʼ", "'"))
# Dropped without a trace (`U.S.`, `don't`); all other punctuation stands between words.
_WITHIN_WORDS = frozenset(".'")
_ARABIC_DECIMAL = "٫"
# What is longer is a name (of a telephone, say), and num2words overflows on some.
_MOST_DIGITS = 12
_GROUP = 3


def matches(prediction: str, reference: str, locale: str | None = None) -> bool:
    """Return True where two texts are the same answer.

    Args:
        prediction: Of more than `texts.TAIL` characters the end is read.
        reference: The true answer, read in the same way.
        locale: A BCP-47 tag such as `ja-JP`. It decides on number words and on the decimal sign.
    """
    predicted = normalize(texts.closing_part(prediction), locale)
    if not predicted:  # two texts of punctuation alone agree in nothing
        return False
    return predicted == normalize(texts.closing_part(reference), locale)


def normalize(text: str, locale: str | None = None, *, in_words: bool = True) -> str:
    """Return `text` after the four steps above.

    Args:
        text: The text.
        locale: As in `matches`. Without one the last step is left out.
        in_words: If False, whole numbers stay digits: the last step is left out.
    """
    language = None
    if locale:
        language = language_of(locale)

    def plain_number(match: re.Match[str]) -> str:
        return _plain_number(match[0], language)

    text = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES))
    text = unicodedata.normalize("NFKC", text.casefold())
    if not text.isascii():  # no ASCII character is one of format
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    text = " ".join(ascii_digits(text).split())
    text = patterns.GROUPED_NUMBER.sub(plain_number, text)
    text = patterns.MINUS.sub("\N{MINUS SIGN}", text)
    text = _without_punctuation(text)
    text = patterns.SPACE_BESIDE_UNSPACED.sub("", " ".join(text.split()))
    if not locale or not in_words:
        return text

    def number_words(match: re.Match[str]) -> str:
        return _number_words(match[0], locale)

    return patterns.WHOLE.sub(number_words, text)


def columns(item: Item, column: str = "exact_match") -> dict[str, float]:
    """Return `{"exact_match": 0.0 or 1.0}`; nothing without predicted text.

    Args:
        item: Its facet `locale` names the language.
        column: The column's name, where items with options share one with these.
    """
    if not isinstance(item.prediction, str):
        return {}
    locales = item.facets.get("locale", ())
    locale = locales[0] if locales else None
    references = [item.target["text"], *item.target.get("also", ())]
    is_match = any(matches(item.text, reference, locale) for reference in references)
    return {column: float(is_match)}


def _plain_number(text: str, language: str | None) -> str:
    """Write a number as `1234` or `1234.5`.

    A text that is not one number (a date, a list) becomes its parts with spaces.
    """
    parts = patterns.NUMBER_SIGN.split(text)
    signs = [char for char in text if char in NUMBER_SIGNS]
    if _ends_in_decimals(parts, signs, language) and _is_grouped(parts[:-1], signs[:-1]):
        whole = "".join(parts[:-1])
        return f"{whole}.{parts[-1]}"
    if _is_grouped(parts, signs):
        return "".join(parts)
    return " ".join(parts)


def _ends_in_decimals(parts: list[str], signs: list[str], language: str | None) -> bool:
    """Return True where the last sign of a number is its decimal sign."""
    last = signs[-1]
    if last == _ARABIC_DECIMAL:
        return True
    if last not in ".," or signs.count(last) > 1:
        return False
    decimal_sign = "."
    if language in DECIMAL_COMMA:
        decimal_sign = ","
    # One sign before three digits may group them: 1.234 or 1,234.
    may_be_group = len(signs) == 1 and len(parts[-1]) == _GROUP and parts[0] != "0"
    return last == decimal_sign or not may_be_group


def _is_grouped(parts: list[str], signs: list[str]) -> bool:
    """Return True where signs group the digits of a whole number."""
    if not signs:
        return True
    # India groups by two up to the last three: 1,00,000.
    by_two_or_three = all(len(part) in (_GROUP - 1, _GROUP) for part in parts[1:-1])
    return (
        len(set(signs)) == 1
        and len(parts[0]) <= _GROUP
        and by_two_or_three
        and len(parts[-1]) == _GROUP
    )


def _without_punctuation(text: str) -> str:
    """Drop punctuation, but not within a number with decimals."""
    pieces: list[str] = []
    for number, piece in enumerate(patterns.DECIMAL.split(text)):
        is_decimal_number = number % 2 == 1
        if is_decimal_number:
            pieces.append(piece)
        else:
            pieces += map(_without_sign, piece)
    return "".join(pieces)


@lru_cache(maxsize=4096)
def _without_sign(char: str) -> str:
    """Return a character, or what stands in place of a punctuation sign."""
    if char in _WITHIN_WORDS:
        return ""
    if unicodedata.category(char).startswith("P"):
        return " "
    return char


@lru_cache(maxsize=4096)
def _number_words(digits: str, locale: str) -> str:
    """Return a whole number in the locale's words. The digits themselves where there are none."""
    from num2words import CONVERTER_CLASSES, num2words

    # 007 is not seven.
    if len(digits) > _MOST_DIGITS or (digits[0] == "0" and digits != "0"):
        return digits
    language, _, region = locale.replace("-", "_").partition("_")
    for name in (f"{language}_{region}", language):
        if name not in CONVERTER_CLASSES:
            continue
        try:
            words = num2words(int(digits), lang=name)
        except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError):
            # Its languages end at different sizes, each in its own way.
            return digits
        return normalize(words)
    return digits
