"""Exact match for short answers in many languages: equal once what does not change an answer is taken away.

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

import unicodedata
from functools import lru_cache

from reelbench.base.languages import DECIMAL_COMMA, NUMBER_SIGNS, ascii_digits, language_of
from reelbench.registry.records import Item
from reelbench.scoring.answers import patterns, texts

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘´`ʼ", "'"))
# Dropped without a trace (`U.S.`, `don't`); all other punctuation stands between words.
_WITHIN_WORDS = frozenset(".'")
# What is longer is a name (of a telephone, say), and num2words overflows on some.
_MOST_DIGITS = 12
_GROUP = 3


def matches(prediction: str, reference: str, locale: str | None = None) -> bool:
    """Return whether two texts are the same answer; of more than `texts.TAIL` characters the end is read.

    The locale, a BCP-47 tag such as `ja-JP`, decides on number words and on the decimal sign.
    """
    predicted = normalize(texts.tail(prediction), locale)
    # Two texts of punctuation alone agree in nothing.
    return bool(predicted) and predicted == normalize(texts.tail(reference), locale)


def normalize(text: str, locale: str | None = None) -> str:
    """Return `text` without what does not change an answer: the steps above. Without a locale the last is left out."""
    language = language_of(locale) if locale else None
    text = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES))
    text = unicodedata.normalize("NFKC", text.casefold())
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    text = " ".join(ascii_digits(text).split())
    text = patterns.GROUPED_NUMBER.sub(lambda match: _number(match[0], language), text)
    pieces = enumerate(patterns.DECIMAL.split(patterns.MINUS.sub("\N{MINUS SIGN}", text)))
    text = "".join(piece if number % 2 else _without_punctuation(piece) for number, piece in pieces)
    text = patterns.SPACE_BESIDE_UNSPACED.sub("", " ".join(text.split()))
    return patterns.WHOLE.sub(lambda match: _words(match[0], locale), text) if locale else text


def columns(item: Item, column: str = "exact_match") -> dict[str, float]:
    """Return `{"exact_match": 0.0 or 1.0}`; nothing without predicted text. The facet `locale` names the language.

    It is another `column` where items with options stand beside it.
    """
    if not isinstance(item.prediction, str):
        return {}
    locale = next(iter(item.facets.get("locale", ())), None)
    references = [item.target["text"], *item.target.get("also", ())]
    return {column: float(any(matches(item.text, reference, locale) for reference in references))}


def _number(text: str, language: str | None) -> str:
    """Write a number as `1234` or `1234.5`; what is not one number (a date, a list) as its parts with spaces."""
    parts = patterns.NUMBER_SIGN.split(text)
    signs = [char for char in text if char in NUMBER_SIGNS]
    last = signs[-1]
    if last == "٫" or (last in ".," and signs.count(last) == 1):
        decimal_sign = "," if language in DECIMAL_COMMA else "."
        undecided = len(signs) == 1 and len(parts[-1]) == _GROUP and parts[0] != "0"
        if (last in ("٫", decimal_sign) or not undecided) and _is_grouped(parts[:-1], signs[:-1]):
            return f"{''.join(parts[:-1])}.{parts[-1]}"
    return ("" if _is_grouped(parts, signs) else " ").join(parts)


def _is_grouped(parts: list[str], signs: list[str]) -> bool:
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
    kept = (
        char if not unicodedata.category(char).startswith("P") else " "
        for char in text
        if char not in _WITHIN_WORDS
    )
    return "".join(kept)


@lru_cache(maxsize=4096)
def _words(digits: str, locale: str) -> str:
    """Return a whole number in the locale's words; the digits themselves where there are none."""
    from num2words import CONVERTER_CLASSES, num2words

    language, _, region = locale.replace("-", "_").partition("_")
    known = [name for name in (f"{language}_{region}", language) if name in CONVERTER_CLASSES]
    # 007 is not seven.
    if not known or len(digits) > _MOST_DIGITS or (digits[0] == "0" and digits != "0"):
        return digits
    try:
        words = num2words(int(digits), lang=known[0])
    except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError):
        # Its languages end at different sizes, each in its own way.
        return digits
    return normalize(words)
